"""How pages of accounts answer a form: the same for each."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.accounts.forms import KeyedForm
from apps.kernel.errors import Invalid

Result = TypeVar("Result")


def tried(form: KeyedForm, act: Callable[[], Result]) -> Result | None:
    """What the act returns; None, with the reasons in the form, when the form or the service finds something wrong."""
    if not form.is_valid():
        return None
    try:
        return act()
    except Invalid as refusal:
        form.show(refusal)
        return None


def page_or_part(request: HttpRequest, template: str, part: str, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    """The page or, for htmx, its part, with the same context."""
    name = f"{template}#{part}" if request.headers.get("HX-Request") else template
    return render(request, name, context, status=status)


def secret_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """A page that shows a secret once; nothing on the way may keep it."""
    response = render(request, "accounts/secret_shown.html", context)
    response["Cache-Control"] = "no-store"
    return response


def checked(form: KeyedForm) -> dict[str, Any]:
    """The values of a form behind a button, where nobody types and so no page shows reasons. Raises Invalid."""
    if not form.is_valid():
        fields = {name: [str(reason) for reason in reasons] for name, reasons in form.errors.items()}
        raise Invalid("This request is not one of this page's.", fields=fields)
    return form.cleaned_data
