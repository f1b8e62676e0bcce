"""How stored samples look in the API."""

from typing import Any

from rest_framework import serializers

from apps.telemetry.types import ChannelSeries, Gap


def _figures(meaning: str) -> Any:
    return serializers.ListField(child=serializers.FloatField(allow_null=True), help_text=meaning)


class ChannelSeriesRow(serializers.Serializer[ChannelSeries]):
    """One channel, an entry for each pixel; null where no value is known."""

    name = serializers.CharField(source="channel.name")
    unit = serializers.CharField(source="channel.unit", allow_blank=True)
    low = serializers.FloatField(source="channel.low", allow_null=True, help_text="Lower end of the normal band.")
    high = serializers.FloatField(source="channel.high", allow_null=True, help_text="Upper end of the normal band.")
    lowest = _figures("Lowest value in each pixel.")
    highest = _figures("Highest value in each pixel.")
    mean = _figures("Mean of the known values in each pixel.")


class GapRow(serializers.Serializer[Gap]):
    """A time in which nothing was received."""

    since_ms = serializers.IntegerField()
    until_ms = serializers.IntegerField()
    reason = serializers.ChoiceField(["silent", "restart"], help_text="Silence, or the bridge began a new run.")
    missing = serializers.IntegerField(help_text="States known to be lost in it, by their sequence.")


class SeriesRow(serializers.Serializer[Any]):
    """Channels of one subject over a time. Pixel k covers `pixel_ms` from `since_ms` + k * `pixel_ms`; times are of receipt."""

    since_ms = serializers.IntegerField(help_text="Milliseconds since 1970.")
    until_ms = serializers.IntegerField()
    pixel_ms = serializers.IntegerField()
    count = serializers.ListField(child=serializers.IntegerField(), help_text="States received in each pixel.")
    missing = serializers.ListField(child=serializers.IntegerField(), help_text="States known to be lost in each pixel.")
    channels = ChannelSeriesRow(many=True)
    gaps = GapRow(many=True)
