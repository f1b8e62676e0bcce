"""Attack 38: the Host header and forwarding headers of a client change nothing; links in mail are canonical."""

import re

import pytest
from django.conf import settings as live
from django.core import mail

from apps.accounts.services import budgets
from tests.factories.accounts import PASSWORD, make_person
from tests.integration.security.browser import Browser

pytestmark = pytest.mark.django_db
FOREIGN = ["evil.example", "localhost.evil.example", "testserver@evil.example", "evil.example:80", "testserver.", "", "a b"]
RESET = "/account/password/reset/"
NEW = "another long password 77"


@pytest.mark.parametrize("host", FOREIGN)
def test_a_foreign_host_is_refused(host):
    """Attack 38: nothing is served under a name that is not ours."""
    answer = Browser().get("/account/login/", headers={"Host": host})
    if host == "testserver.":  # the same name, fully qualified
        assert answer.status_code == 200
    else:
        assert answer.status_code == 400


@pytest.mark.parametrize(
    "header",
    [
        "X-Forwarded-Host",
        "X-Host",
        "X-Forwarded-Server",
        "X-HTTP-Host-Override",
        "Forwarded",
        "X-Original-Url",
        "X-Rewrite-Url",
    ],
)
def test_a_forwarded_host_is_ignored(header):
    """Attack 38: no address on the page, in a redirect or in a mail comes from it."""
    person = make_person("Mail")
    spoof = {header: "host=evil.example" if header == "Forwarded" else "evil.example"}
    assert b"evil.example" not in Browser().get("/account/login/", headers=spoof).content
    assert "evil.example" not in Browser().get("/", headers=spoof)["Location"]
    Browser().post(RESET, {"email": person.email}, headers=spoof)
    assert "evil.example" not in str(mail.outbox[-1].message())


def test_a_forwarded_scheme_is_ignored():
    """Attack 38: a client cannot talk the console into believing it came by TLS."""
    answer = Browser().get("/account/login/", headers={"X-Forwarded-Proto": "https"})
    assert not answer.wsgi_request.is_secure()


def test_a_forwarded_address_is_ignored():
    """Attack 38: neither limits nor the list of sessions believe it."""
    person = make_person("Seen")
    browser = Browser("198.51.100.7")
    browser.sign_in(person.email, headers={"X-Forwarded-For": "192.0.2.1"})
    page = browser.get("/account/sessions/", headers={"X-Forwarded-For": "192.0.2.1"})
    assert [row.ip for row in page.context["sessions"]] == ["198.51.100.7"]


def test_the_hops_of_our_own_proxies_are_believed_and_no_others(settings):
    """Attack 38: with one proxy of ours only the last entry counts; what the client put before it is noise."""
    settings.TRUSTED_PROXIES = 1
    forged = [f"192.0.2.{number}, 203.0.113.77" for number in range(budgets.BY_ADDRESS.size + 2)]
    answers = [
        Browser("10.0.0.1").sign_in(f"p{number}@example.test", "x", headers={"X-Forwarded-For": chain}).status_code
        for number, chain in enumerate(forged)
    ]
    assert answers[-1] == 429
    other = Browser("10.0.0.1").sign_in("p@example.test", "x", headers={"X-Forwarded-For": "203.0.113.78"})
    assert other.status_code == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "testserver"])
def test_a_reset_link_is_canonical(host):
    """Attack 38: under the one public address, whichever of our names the request used; it works once and signs nobody in."""
    person = make_person("Mail")
    browser = Browser()
    browser.post(RESET, {"email": person.email}, headers={"Host": host})
    text = mail.outbox[-1].body
    links = re.findall(r"https?://\S+", text)
    assert links
    assert all(link.startswith(f"{live.PUBLIC_URL}/") for link in links), links
    assert mail.outbox[-1].subject.startswith("[Pilothouse] ")
    path = links[0].removeprefix(live.PUBLIC_URL)
    form = browser.get(path)["Location"]
    done = browser.post(form, {"password1": NEW, "password2": NEW})
    assert done.status_code == 302
    assert not browser.is_signed_in
    person.refresh_from_db()
    assert person.check_password(NEW)
    assert Browser("203.0.113.8").get(path).status_code == 200, "a used link says so instead of leading on"
    assert Browser("203.0.113.8").get(path).context["token_fail"]


def test_a_mail_to_an_unknown_address_has_no_foreign_link():
    Browser().post(RESET, {"email": "nobody@example.test"}, headers={"Host": "127.0.0.1"})
    links = re.findall(r"https?://\S+", mail.outbox[-1].body)
    assert all(link.startswith(f"{live.PUBLIC_URL}/") for link in links), links


def test_asking_for_links_is_limited():
    """Attack 33: nobody fills a mailbox through us."""
    answers = [
        Browser(f"203.0.113.{number}").post(RESET, {"email": "victim@example.test"}).status_code
        for number in range(budgets.RESET_BY_ACCOUNT.size + 2)
    ]
    assert answers[-1] == 429
    assert len(mail.outbox) == budgets.RESET_BY_ACCOUNT.size


def test_a_reset_lets_its_browser_in_while_strangers_guess():
    """Attack 33: whoever read the mail is known from then on."""
    person = make_person("Mail")
    for number in range(budgets.BY_ACCOUNT.size):
        Browser(f"203.0.113.{number}").sign_in(person.email, "guess")
    browser = Browser("203.0.113.90")
    browser.post(RESET, {"email": person.email})
    path = re.findall(r"https?://\S+", mail.outbox[-1].body)[0].removeprefix(live.PUBLIC_URL)
    browser.post(browser.get(path)["Location"], {"password1": NEW, "password2": NEW})
    for number in range(budgets.BY_ACCOUNT.size + 1):
        Browser(f"203.0.113.{number}").sign_in(person.email, "guess")
    assert browser.sign_in(person.email, NEW).status_code == 302
    assert PASSWORD != NEW


@pytest.mark.parametrize("page", ["/account/login/", "/account/reauthenticate/", "/account/logout/"])
def test_no_page_leads_to_another_site(page):
    """Attack 38: a way back that leaves the console is dropped."""
    person = make_person("Back")
    browser = Browser()
    if "login" not in page:
        browser.sign_in(person.email)
    for back in ("https://evil.example/", "//evil.example/", "/\\evil.example/", "javascript:alert(1)"):
        data = {"login": person.email, "password": PASSWORD, "next": back}
        answer = browser.post(f"{page}?next={back}", data)
        assert "evil" not in answer.get("Location", ""), back
        assert "javascript" not in answer.get("Location", ""), back
        if "reauthenticate" not in page:
            browser = Browser()
            if "login" not in page:
                browser.sign_in(person.email)
