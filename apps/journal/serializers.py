"""How a fact looks in the API."""

from rest_framework import serializers

from apps.journal.types import Recorded
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


EventPage = page_of(EventRow)
