"""How a fact looks in the API."""

from rest_framework import serializers

from apps.journal.types import Recorded, SealStatus
from apps.kernel.serializers import page_of


class EventRow(serializers.Serializer[Recorded]):
    """One fact of the journal, with what proves its place."""

    position = serializers.IntegerField()
    id = serializers.UUIDField()
    stream = serializers.CharField()
    sequence = serializers.IntegerField(help_text="Place in its stream, from 1 without gaps.")
    type = serializers.CharField()
    version = serializers.IntegerField()
    payload = serializers.DictField()
    actor_kind = serializers.CharField()
    actor_id = serializers.UUIDField(allow_null=True)
    actor_name = serializers.CharField(allow_blank=True)
    correlation_id = serializers.CharField(allow_blank=True)
    recorded_at = serializers.DateTimeField()
    previous = serializers.SerializerMethodField(help_text="SHA-256 of the event before it in the stream, in hex.")
    digest = serializers.SerializerMethodField(help_text="SHA-256 over the previous digest and this event, in hex.")

    def get_previous(self, event: Recorded) -> str:
        """In hex."""
        return event.previous.hex()

    def get_digest(self, event: Recorded) -> str:
        """In hex."""
        return event.digest.hex()


class SealRow(serializers.Serializer[SealStatus]):
    """How well the journal is kept: the last checkpoint, and the last walk through everything."""

    size = serializers.IntegerField(help_text="Facts under the last checkpoint, of all sites.")
    sealed_at = serializers.DateTimeField(allow_null=True)
    key = serializers.CharField(allow_blank=True, help_text="The public key that signed it.")
    note = serializers.CharField(allow_blank=True, help_text="The checkpoint itself: keep it elsewhere.")
    waiting = serializers.IntegerField(help_text="Facts that wait for the next checkpoint.")
    fault = serializers.CharField(allow_blank=True, help_text="Why nothing is sealed; empty while it is.")
    lag_s = serializers.FloatField(help_text="Seconds since every fact had its number.")
    verified_at = serializers.DateTimeField(allow_null=True)
    verified_events = serializers.IntegerField()
    verified_faults = serializers.ListField(child=serializers.CharField())
    is_seal_checked = serializers.BooleanField(help_text="Whether that walk used the checkpoints outside the database.")


EventPage = page_of(EventRow)
