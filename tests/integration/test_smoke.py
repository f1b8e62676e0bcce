import pytest


@pytest.mark.django_db
def test_home_sends_a_stranger_to_sign_in(client):
    response = client.get("/")
    assert response.status_code == 302
    assert response["Location"] == "/account/login/?next=%2F"
