"""Shapes of Stop in the API."""

from typing import Any

from rest_framework import serializers

from apps.control.types import Phase, SubjectState
from apps.kernel.serializers import Strict, page_of


class StoppedRow(serializers.Serializer[Any]):
    """One subject of a Stop, by its own reports."""

    kind = serializers.CharField()
    id = serializers.UUIDField()
    name = serializers.CharField()
    state = serializers.ChoiceField(choices=[state.value for state in SubjectState])
    latched_at = serializers.DateTimeField(allow_null=True, help_text="When it received the Stop, by its own clock.")
    ended_at = serializers.DateTimeField(allow_null=True, help_text="When its motion had ended, by its own clock.")
    released_at = serializers.DateTimeField(allow_null=True)


class ClearRow(serializers.Serializer[Any]):
    """What a floor operator asked, for a second person to confirm before it expires."""

    id = serializers.UUIDField()
    by = serializers.UUIDField()
    requested_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()


class StopRow(serializers.Serializer[Any]):
    """One Stop."""

    id = serializers.UUIDField(source="stop.id")
    phase = serializers.ChoiceField(choices=[phase.value for phase in Phase], source="stop.phase")
    round = serializers.IntegerField(source="stop.round", help_text="How often it was pressed, if anew after a clear.")
    is_whole_site = serializers.BooleanField(source="stop.is_whole_site")
    is_recorded = serializers.BooleanField(
        source="stop.is_recorded", help_text="False while only a subject's own report tells of it."
    )
    pressed_by = serializers.UUIDField(source="stop.pressed_by", allow_null=True)
    pressed_by_name = serializers.CharField(source="stop.pressed_by_name", allow_blank=True)
    pressed_at = serializers.DateTimeField(source="stop.pressed_at", allow_null=True, help_text="By the browser's clock.")
    received_at = serializers.DateTimeField(source="stop.received_at", allow_null=True, help_text="By the gateway's clock.")
    of = serializers.IntegerField(help_text="Subjects it named or was sent to.")
    confirmed = serializers.IntegerField(help_text="Subjects that said themselves that it is in effect.")
    released = serializers.IntegerField(help_text="Subjects that said themselves that it ended.")
    subjects = StoppedRow(many=True, help_text="The first of them, those that have not confirmed before the others.")
    clear = ClearRow(allow_null=True)
    cleared_by = serializers.UUIDField(source="stop.cleared_by", allow_null=True)
    cleared_by_name = serializers.CharField(source="stop.cleared_by_name", allow_blank=True)
    cleared_at = serializers.DateTimeField(source="stop.cleared_at", allow_null=True)


class PolicyRow(serializers.Serializer[Any]):
    """How Stops of a site are cleared."""

    one_person_clears = serializers.BooleanField()
    version = serializers.IntegerField()


class PolicyChange(Strict):
    """How Stops of a site are to be cleared."""

    one_person_clears = serializers.BooleanField(help_text="Only at a site marked simulated.")


StopPage = page_of(StopRow)
