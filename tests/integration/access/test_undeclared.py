"""Attack 28: a view that does not say who may use it is used by nobody."""

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import override_settings
from django.urls import include, path
from rest_framework.response import Response

from apps.kernel.api import Endpoint


def forgotten(_request: HttpRequest) -> HttpResponse:
    """A page whose author forgot."""
    return HttpResponse("secret")


class Forgotten(Endpoint):
    """An address of the API whose author forgot."""

    def get(self, _request: HttpRequest) -> Response:
        """Give it away."""
        return Response("secret")


urlpatterns = [path("forgotten/", forgotten), path("api/v1/forgotten/", Forgotten.as_view()), path("", include("console.urls"))]


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/forgotten/", "/api/v1/forgotten/"])
def test_a_view_without_a_declaration_is_refused_to_everybody(admin, client_of, address: str) -> None:
    with override_settings(ROOT_URLCONF=__name__):
        for client in (client_of(None), client_of(admin)):
            response = client.get(address)
            assert response.status_code == 403
            assert b"secret" not in response.content
