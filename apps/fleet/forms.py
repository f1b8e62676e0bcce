"""Shape and parse what people type about robots. Rules are the services'."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django import forms

from apps.fleet.types import CLEAR, FAULTS, INJECT, Need
from apps.kernel.forms import KeyedForm
from workers.protocol import Driver, Outcome

ALL = "all"


class RobotForm(KeyedForm):
    """A robot that is to be known here."""

    name = forms.CharField(max_length=100, help_text="As people on the floor call it.")
    kind = forms.CharField(max_length=50, initial="arm", help_text="As its bridge names it, for instance arm.")
    is_simulated = forms.BooleanField(required=False, label="It is simulated")


class ReleaseForm(KeyedForm):
    """The version the page showed of who speaks for the robot."""

    expected = forms.IntegerField(required=False, widget=forms.HiddenInput)


class FaultForm(KeyedForm):
    """Which fault of which simulated robots, for how long, or that it is over."""

    robots = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple)
    fault = forms.ChoiceField(choices=[*FAULTS.items(), (ALL, "Every fault (to clear)")])
    seconds = forms.FloatField(initial=10, min_value=0, max_value=600, help_text="0 lasts until it is cleared.")
    order = forms.ChoiceField(choices=[(INJECT, "Inject"), (CLEAR, "Clear")], widget=forms.HiddenInput, initial=INJECT)

    def __init__(self, *args: Any, robots: Sequence[tuple[UUID, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["robots"].choices = [(str(found), name) for found, name in robots]  # type: ignore[attr-defined]

    @property
    def arguments(self) -> dict[str, Any]:
        """What the order says."""
        fault = {"name": self.cleaned_data["fault"]}
        return fault if self.cleaned_data["order"] == CLEAR else fault | {"seconds": self.cleaned_data["seconds"]}


def _any(words: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [("", "any"), *words]


class RobotFilters(forms.Form):
    """What the list of robots may be narrowed by; the selector checks the values."""

    name = forms.CharField(required=False, max_length=100)
    need = forms.ChoiceField(required=False, label="State", choices=_any([(one.name.lower(), one.label) for one in Need]))
    kind = forms.CharField(required=False, max_length=50)


class EpisodeFilters(forms.Form):
    """What the list of episodes may be narrowed by; the selector checks the values."""

    outcome = forms.ChoiceField(required=False, choices=_any([(one.value, one.value) for one in Outcome]))
    driver = forms.ChoiceField(required=False, choices=_any([(one.value, one.value) for one in Driver]))
    task = forms.CharField(required=False, max_length=100)
    skill = forms.CharField(required=False, max_length=100)
