"""Shape and parse what people do with alarms. Rules are the services'."""

from django import forms

from apps.kernel.forms import KeyedForm


class SeenForm(KeyedForm):
    """The version of the alarm that the page showed."""

    seen = forms.IntegerField(required=False, min_value=1, widget=forms.HiddenInput)


class ShelveForm(KeyedForm):
    """For how long, and why."""

    minutes = forms.IntegerField(min_value=1, max_value=720, initial=30)
    reason = forms.CharField(max_length=200)
