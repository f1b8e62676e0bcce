"""Shape and parse what people do with Stops. Rules are the services'."""

from django import forms

from apps.kernel.forms import KeyedForm


class PolicyForm(KeyedForm):
    """How Stops are to be cleared, and the version the page showed."""

    one_person_clears = forms.BooleanField(required=False, widget=forms.HiddenInput)
    expected = forms.IntegerField(required=False, min_value=1, widget=forms.HiddenInput)
