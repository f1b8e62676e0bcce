"""How pages of accounts answer where a secret is shown."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def secret_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """A page that shows a secret once; nothing on the way may keep it."""
    response = render(request, "accounts/secret_shown.html", context)
    response["Cache-Control"] = "no-store"
    return response
