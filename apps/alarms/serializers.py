"""Shapes of alarms in the API."""

from typing import Any

from rest_framework import serializers

from apps.alarms.lifecycle import REASON_LENGTH
from apps.alarms.types import State
from apps.kernel.serializers import Strict, Text, page_of


class AlarmRow(serializers.Serializer[Any]):
    """One alarm."""

    id = serializers.UUIDField(source="alarm.id")
    definition = serializers.CharField(source="alarm.definition")
    title = serializers.CharField(source="alarm.title")
    priority = serializers.IntegerField(source="alarm.priority", help_text="1 urgent, 2 high, 3 normal, 4 advisory.")
    state = serializers.ChoiceField(choices=[state.value for state in State], source="alarm.state")
    version = serializers.IntegerField(
        source="alarm.version", help_text="Rises whenever the condition begins for a subject; give it back as `seen`."
    )
    annunciations = serializers.IntegerField(source="alarm.annunciations", help_text="How often it called for a person.")
    cause_kind = serializers.CharField(source="alarm.cause_kind")
    cause_id = serializers.UUIDField(source="alarm.cause_id")
    cause_name = serializers.CharField(source="about.name")
    active_count = serializers.IntegerField(source="alarm.active_count", help_text="Subjects for which it holds now.")
    subjects = serializers.SerializerMethodField(help_text="Names of the first subjects it gathered.")
    detail = serializers.CharField(source="alarm.detail", allow_blank=True)
    raised_at = serializers.DateTimeField(source="alarm.raised_at")
    called_at = serializers.DateTimeField(source="alarm.called_at")
    returned_at = serializers.DateTimeField(source="alarm.returned_at", allow_null=True)
    acknowledged_at = serializers.DateTimeField(source="alarm.acknowledged_at", allow_null=True)
    acknowledged_by_name = serializers.CharField(source="alarm.acknowledged_by_name", allow_blank=True)
    closed_at = serializers.DateTimeField(source="alarm.closed_at", allow_null=True)
    shelved_until = serializers.DateTimeField(source="alarm.shelved_until", allow_null=True)
    shelve_reason = serializers.CharField(source="alarm.shelve_reason", allow_blank=True)
    escalated_at = serializers.DateTimeField(source="alarm.escalated_at", allow_null=True)

    def get_subjects(self, value: Any) -> list[str]:
        """Their names."""
        return [one.name for one in value.subjects]


class DefinitionRow(serializers.Serializer[Any]):
    """What deserves one alarm, and what to do then."""

    name = serializers.CharField()
    title = serializers.CharField()
    priority = serializers.IntegerField()
    cause = serializers.CharField()
    consequence = serializers.CharField(source="consequence_text")
    response = serializers.CharField()
    time_to_respond_s = serializers.IntegerField()
    owner = serializers.CharField()
    on_delay_s = serializers.FloatField()
    off_delay_s = serializers.FloatField()
    limit = serializers.FloatField(allow_null=True)
    deadband = serializers.FloatField()
    unit = serializers.CharField(allow_blank=True)
    latches = serializers.BooleanField()


class SourceRow(serializers.Serializer[Any]):
    """One cause that called."""

    title = serializers.CharField()
    kind = serializers.CharField()
    id = serializers.UUIDField()
    calls = serializers.IntegerField()
    most_in_minute = serializers.IntegerField()
    is_chattering = serializers.BooleanField()


class LoadRow(serializers.Serializer[Any]):
    """What alarms asked of people over the last day."""

    since = serializers.DateTimeField()
    calls = serializers.IntegerField()
    per_window = serializers.FloatField(help_text="Calls in ten minutes, on average.")
    last_window = serializers.IntegerField(help_text="Calls in the last ten minutes.")
    busiest_window = serializers.IntegerField(help_text="Calls in the busiest ten minutes.")
    is_flood = serializers.BooleanField()
    flood_share = serializers.FloatField(help_text="Share of the day in flood, of 1.")
    top_share = serializers.FloatField(help_text="Share of the ten loudest causes, of 1.")
    chattering = serializers.IntegerField(help_text="Causes that called three times within a minute.")
    standing_long = serializers.IntegerField(help_text="Alarms that stand for over a day.")
    sources = SourceRow(many=True)


class Acknowledge(Strict):
    """What the caller saw."""

    seen = serializers.IntegerField(min_value=1, required=False, help_text="The version that was shown.")


class Shelve(Strict):
    """For how long an alarm is hidden, and why."""

    minutes = serializers.IntegerField(min_value=1, max_value=720)
    reason = Text(max_length=REASON_LENGTH)


AlarmPage = page_of(AlarmRow)
DefinitionPage = page_of(DefinitionRow)
