"""How pages take a form and answer it, the same in every app: once for each key, reasons at their fields, parts for htmx."""

from collections.abc import Callable
from typing import Any, TypeVar

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.kernel.errors import Invalid
from apps.kernel.ids import new_id

Result = TypeVar("Result")


class KeyedForm(forms.Form):
    """A form that carries an idempotency key, so that sending it twice does the act once."""

    idempotency_key = forms.CharField(max_length=100, required=False, widget=forms.HiddenInput, initial=lambda: str(new_id()))

    @property
    def key(self) -> str | None:
        """The key, or None where the sender gave none."""
        return self.cleaned_data["idempotency_key"] or None

    def show(self, refusal: Invalid) -> None:
        """Show what a service found wrong, each reason at its field."""
        shown = False
        for name, reasons in refusal.fields.items():
            if name in self.fields:
                self.add_error(name, list(reasons))
                shown = True
        if not shown:
            reasons = [reason for found in refusal.fields.values() for reason in found]
            self.add_error(None, [refusal.message, *reasons])


def tried(form: KeyedForm, act: Callable[[], Result]) -> Result | None:
    """What the act returns; None, with the reasons in the form, when the form or the service finds something wrong."""
    if not form.is_valid():
        return None
    try:
        return act()
    except Invalid as refusal:
        form.show(refusal)
        return None


def checked(form: KeyedForm) -> dict[str, Any]:
    """The values of a form behind a button, where nobody types and so no page shows reasons. Raises Invalid."""
    if not form.is_valid():
        fields = {name: [str(reason) for reason in reasons] for name, reasons in form.errors.items()}
        raise Invalid("This request is not one of this page's.", fields=fields)
    return form.cleaned_data


def page_or_part(request: HttpRequest, template: str, part: str, context: dict[str, Any], *, status: int = 200) -> HttpResponse:
    """The page or, for htmx, its part, with the same context."""
    name = f"{template}#{part}" if request.headers.get("HX-Request") else template
    return render(request, name, context, status=status)
