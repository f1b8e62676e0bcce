"""Malformed requests of strangers: refused or passed over, never a fault of ours with its trace in the log."""

import pytest

from tests.factories.accounts import PASSWORD, make_person
from tests.integration.security.browser import Browser

pytestmark = pytest.mark.django_db
FORM = b'--b\r\nContent-Disposition: form-data; name="login"\r\n\r\na\xff\r\n--b--'


@pytest.mark.parametrize("charset", ["rot13", "hex", "zlib", "utf-7", "utf-16", "latin-1"])
@pytest.mark.parametrize("path", ["/account/login/", "/me/preferences/", "/api/v1/me/invitations/"])
def test_a_body_in_another_encoding_is_refused(path, charset):
    answer = Browser().generic("POST", path, FORM, f"multipart/form-data; boundary=b; charset={charset}")
    assert answer.status_code == 400


@pytest.mark.parametrize("charset", ["utf-8", "UTF8", "no-such-thing"])
def test_utf8_by_any_name_is_read(charset):
    answer = Browser().generic("POST", "/account/login/", FORM, f"multipart/form-data; boundary=b; charset={charset}")
    assert answer.status_code == 200  # the form again, with what is wrong with it


@pytest.mark.parametrize("address", ["http://[::1", "//[", "https://[x]:y/"])
def test_an_address_that_is_none_leads_home(address):
    person, browser = make_person("Lost"), Browser()
    answer = browser.post("/account/login/", {"login": person.email, "password": PASSWORD, "next": address})
    assert (answer.status_code, answer["Location"]) == (302, "/")
    for path in ("/account/login/", "/account/reauthenticate/"):
        assert browser.get(path, {"next": address}).status_code in {200, 302}
    assert browser.post("/account/reauthenticate/", {"password": PASSWORD, "next": address})["Location"] == "/"
    assert browser.post("/account/logout/", {"next": address})["Location"] == "/"
