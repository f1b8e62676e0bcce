"""Shapes of fleet in the API."""

from typing import Any

from rest_framework import serializers

from apps.fleet.lifecycle.orders import LONGEST_FAULT_S
from apps.fleet.lifecycle.robots import KIND_LENGTH
from apps.fleet.lifecycle.words import NAME_LENGTH
from apps.fleet.types import FAULTS, Need
from apps.kernel.serializers import Strict, Text, page_of

NEEDS = [(need.name.lower(), need.label) for need in Need]


class NeedField(serializers.ChoiceField):
    """How much a robot needs a person, as a word."""

    def __init__(self, **options: Any) -> None:
        super().__init__(choices=NEEDS, **options)

    def to_representation(self, value: Any) -> str:
        """Its word."""
        return Need(value).name.lower()


class ChannelRow(serializers.Serializer[Any]):
    """One measured quantity."""

    name = serializers.CharField()
    unit = serializers.CharField(allow_blank=True)
    low = serializers.FloatField(allow_null=True, help_text="Lower end of the normal band.")
    high = serializers.FloatField(allow_null=True, help_text="Upper end of the normal band.")
    headline = serializers.BooleanField(help_text="Stands on the floor.")


class RobotRow(serializers.Serializer[Any]):
    """One robot, as it last reported itself."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    kind = serializers.CharField()
    is_simulated = serializers.BooleanField()
    need = NeedField(help_text="Lists are sorted by it; `none` works by itself.")
    mode = serializers.CharField(allow_blank=True)
    driver = serializers.CharField(allow_blank=True)
    task = serializers.CharField(allow_blank=True)
    activity = serializers.CharField(allow_blank=True)
    skill = serializers.CharField(allow_blank=True)
    reason = serializers.CharField(allow_blank=True, help_text="Why only a person on the floor can go on.")
    faults = serializers.ListField(child=serializers.CharField(), help_text="Injected faults in effect.")
    bridge = serializers.CharField(allow_blank=True)
    is_connected = serializers.BooleanField()
    received_at = serializers.DateTimeField(allow_null=True, help_text="When its last report was received.")


class BridgeRow(serializers.Serializer[Any]):
    """One bridge and its newest connection."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    epoch = serializers.IntegerField(help_text="Counts its connections; whatever comes from an older one is refused.")
    gateway = serializers.CharField(allow_blank=True)
    software = serializers.CharField(allow_blank=True)
    is_connected = serializers.BooleanField()
    connected_at = serializers.DateTimeField(allow_null=True)
    lost_at = serializers.DateTimeField(allow_null=True)


class EpisodeRow(serializers.Serializer[Any]):
    """One attempt at a task. Times are the console's; `device_ms` is the bridge's clock when it began."""

    id = serializers.UUIDField()
    robot_id = serializers.UUIDField()
    robot = serializers.CharField()
    task = serializers.CharField()
    driver = serializers.CharField()
    skill = serializers.CharField(allow_blank=True)
    seed = serializers.IntegerField()
    started_at = serializers.DateTimeField()
    device_ms = serializers.IntegerField()
    ended_at = serializers.DateTimeField(allow_null=True)
    outcome = serializers.CharField(allow_blank=True, help_text="Empty while it runs.")
    steps = serializers.IntegerField()
    reason = serializers.CharField(allow_blank=True)


class RobotDetailRow(serializers.Serializer[Any]):
    """One robot with its channels, its bridge and its last episodes."""

    robot = RobotRow()
    version = serializers.IntegerField(help_text="Rises when another bridge may speak for it; also the ETag.")
    channels = ChannelRow(many=True)
    cameras = serializers.ListField(child=serializers.CharField(), source="robot.cameras")
    registered_at = serializers.DateTimeField()
    bridge = BridgeRow(allow_null=True)
    contested_by = serializers.CharField(allow_blank=True, help_text="Another bridge that wanted it and was refused.")
    episode = EpisodeRow(allow_null=True)
    episodes = EpisodeRow(many=True)
    outcomes = serializers.DictField(child=serializers.IntegerField(), help_text="Of the last hundred episodes that ended.")


class RobotCreate(Strict):
    """A new robot."""

    name = Text(max_length=NAME_LENGTH)
    kind = Text(max_length=KIND_LENGTH, help_text="As its bridge names it, for instance `arm`.")
    is_simulated = serializers.BooleanField(default=False)


class RobotMade(serializers.Serializer[Any]):
    """A robot and who may speak for it."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    kind = serializers.CharField()
    is_simulated = serializers.BooleanField()
    bridge_id = serializers.UUIDField(allow_null=True)
    version = serializers.IntegerField()


class Seconds(serializers.FloatField):
    """A length of time. Text and true or false are not taken for numbers."""

    def to_internal_value(self, data: Any) -> float:
        """The number, or a reason why it is none."""
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("invalid")
        return float(super().to_internal_value(data))


class FaultInject(Strict):
    """A fault of a simulated robot."""

    name = serializers.ChoiceField(choices=list(FAULTS))
    seconds = Seconds(min_value=0, max_value=LONGEST_FAULT_S, default=0, help_text="0 lasts until it is cleared.")


class OrderRow(serializers.Serializer[Any]):
    """Something asked of a robot, and what became of it."""

    id = serializers.UUIDField()
    robot_id = serializers.UUIDField()
    name = serializers.CharField()
    arguments = serializers.DictField()
    placed_at = serializers.DateTimeField()
    valid_until = serializers.DateTimeField(help_text="It is carried out by then or never.")
    done_at = serializers.DateTimeField(allow_null=True)
    succeeded = serializers.BooleanField(allow_null=True)
    detail = serializers.CharField(allow_blank=True)


RobotPage = page_of(RobotRow)
BridgePage = page_of(BridgeRow)
EpisodePage = page_of(EpisodeRow)
