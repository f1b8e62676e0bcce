"""Attack 41: the admin site is for staff with a second factor, from allowed networks; nothing is written past the journal."""

import pytest
from django.urls import NoReverseMatch, URLPattern, URLResolver, get_resolver, reverse

from apps.accounts.admin import HIDDEN, ReadOnly, site
from apps.accounts.models import Person
from apps.journal.models import Event
from apps.kernel.types import Role
from tests.factories.accounts import grant, make_person, make_site
from tests.integration.security.browser import Browser, code_of

pytestmark = pytest.mark.django_db
INSIDE, OUTSIDE = "127.0.0.1", "203.0.113.5"


@pytest.fixture
def staff():
    person = make_person("Staff")
    Person.objects.filter(pk=person.pk).update(is_staff=True, is_superuser=True)
    person.refresh_from_db()
    return person


def _with_code(person, address=INSIDE):
    browser = Browser(address)
    browser.sign_in(person.email)
    secret = browser.set_up_codes()
    browser.post("/account/logout/")
    browser.sign_in(person.email)
    browser.give_code(code_of(secret))
    assert browser.is_signed_in
    return browser


def _pages(patterns, prefix="admin:"):
    for entry in patterns:
        if isinstance(entry, URLResolver):
            yield from _pages(entry.url_patterns, prefix)
        elif isinstance(entry, URLPattern) and entry.name:
            yield entry.name


def _addresses():
    """Every page of the admin site that needs no row, and the page of one row of each table."""
    resolver = next(entry for entry in get_resolver().url_patterns if getattr(entry, "app_name", "") == "admin")
    names = sorted(set(_pages(resolver.url_patterns)))
    found = []
    for name in names:
        for arguments in ([], ["1"], ["1", "1"], ["accounts"]):
            try:
                found.append(reverse(f"admin:{name}", args=arguments))
            except NoReverseMatch:
                continue
            break
        else:
            pytest.fail(f"no address for {name}")
    return found


def test_there_is_something_to_refuse():
    assert len(_addresses()) > 30
    assert "/admin/" in _addresses()


def test_nobody_but_staff_with_a_second_factor_gets_in(staff):
    """Attack 41: a stranger, somebody with every role and a second factor, and staff by password alone."""
    everything = grant(make_person("Everything"), make_site(), *Role)
    password_only = Browser(INSIDE)
    password_only.sign_in(staff.email)
    assert password_only.is_signed_in
    member = _with_code(everything)
    for address in _addresses():
        assert Browser(INSIDE).get(address)["Location"].startswith("/account/login/"), address
        assert password_only.get(address).status_code == 403, address
        assert password_only.post(address).status_code == 403, address
        assert member.get(address).status_code == 403, address


def test_other_networks_find_nothing(staff):
    """Attack 41: from outside there is no admin site, with or without the slash, whatever the headers claim."""
    browser = _with_code(staff)
    browser.defaults["REMOTE_ADDR"] = OUTSIDE
    for address in [*_addresses(), "/admin", "/admin/nothing/"]:
        assert browser.get(address).status_code == 404, address
        assert browser.get(address, headers={"X-Forwarded-For": INSIDE, "X-Real-Ip": INSIDE}).status_code == 404, address
    browser.defaults["REMOTE_ADDR"] = "::ffff:127.0.0.1"
    assert browser.get("/admin/").status_code == 200


def test_a_session_that_loses_staff_loses_the_site(staff):
    browser = _with_code(staff)
    assert browser.get("/admin/").status_code == 200
    Person.objects.filter(pk=staff.pk).update(is_staff=False)
    assert browser.get("/admin/").status_code == 403


def test_no_table_can_be_written(staff):
    """Attack 41: neither add, change nor delete; what is posted changes nothing and is refused."""
    browser = _with_code(staff)
    browser.raise_request_exception = False
    victim = make_person("Victim")
    for model, table in site._registry.items():
        assert isinstance(table, ReadOnly)
        label = f"{model._meta.app_label}_{model._meta.model_name}"
        assert browser.get(reverse(f"admin:{label}_changelist")).status_code == 200, label
        assert browser.post(reverse(f"admin:{label}_add"), {"name": "x"}).status_code == 403, label
        row = model._default_manager.order_by("pk").first()
        if row is None:
            continue
        assert browser.get(reverse(f"admin:{label}_change", args=[row.pk])).status_code == 200, label
        assert browser.post(reverse(f"admin:{label}_change", args=[row.pk]), {"name": "x"}).status_code == 403, label
        assert browser.post(reverse(f"admin:{label}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403, label
    changed = {"name": "Changed", "is_staff": "on", "email": victim.email}
    assert browser.post(reverse("admin:accounts_person_change", args=[victim.pk]), changed).status_code == 403
    delete = {"action": "delete_selected", "_selected_action": str(victim.pk), "index": "0", "post": "yes"}
    browser.post(reverse("admin:accounts_person_changelist"), delete)
    victim.refresh_from_db()
    assert (victim.name, victim.is_staff) == ("Victim", False)


def test_no_page_shows_what_could_be_guessed_at(staff):
    browser = _with_code(staff)
    page = browser.get(reverse("admin:accounts_person_change", args=[staff.pk])).content.decode()
    assert staff.password not in page
    assert "md5$" not in page
    assert "password" in HIDDEN


@pytest.mark.parametrize(
    ("action", "fact"),
    [
        ("sign_out", "accounts.sessions_ended"),
        ("take_factors", "accounts.second_factor_removed"),
        ("switch_off", "accounts.person_deactivated"),
    ],
)
def test_what_staff_do_leaves_a_fact(staff, action, fact):
    """Attack 41: each act of the admin site is in the journal, with the staff's name."""
    browser = _with_code(staff)
    person = make_person("Lost")
    _with_code(person, OUTSIDE)
    answer = browser.post(
        reverse("admin:accounts_person_changelist"), {"action": action, "_selected_action": str(person.pk), "index": "0"}
    )
    assert answer.status_code == 302, answer.content
    facts = Event.objects.filter(stream=f"accounts.person:{person.pk}", type=fact)
    assert facts.exists()
    assert {event.actor_id for event in facts} == {staff.pk}


def test_what_staff_do_needs_a_fresh_proof(staff):
    browser = _with_code(staff)
    person = make_person("Lost")
    session = browser.session
    key = "account_authentication_methods"
    session[key] = [{**proof, "at": proof["at"] - 301} for proof in session[key]]
    session.save()
    for action in ("sign_out", "take_factors", "switch_off"):
        answer = browser.post(
            reverse("admin:accounts_person_changelist"), {"action": action, "_selected_action": str(person.pk), "index": "0"}
        )
        assert answer["Location"].startswith("/account/reauthenticate/"), action
    assert not Event.objects.filter(stream=f"accounts.person:{person.pk}").exists()


def test_the_admin_site_signs_nobody_in(staff):
    """Attack 41: its own sign-in page, which knows no limits, is not there."""
    answer = Browser(INSIDE).post("/admin/login/", {"username": staff.email, "password": "guess"})
    assert answer.status_code == 302
    assert answer["Location"].startswith("/account/login/")
