"""The edge protocol: what a bridge beside robots or devices and the gateway say to each other.

Plain msgspec structs over one outbound WebSocket a bridge: text frames are JSON, binary frames MessagePack. Released
messages never change their meaning; a new field is optional, anything else is a new version. `tests/contract/protocol`
keeps a golden file of each.
"""

from workers.protocol.base import Message
from workers.protocol.codec import BadMessage, decode_from_bridge, decode_from_gateway, encode, pack
from workers.protocol.facts import (
    ActionRefused,
    EpisodeEnded,
    EpisodeStarted,
    Fact,
    Facts,
    FactsTaken,
    NeedsReset,
    OrderDone,
    Outcome,
    Resume,
    StopLatched,
    StopReleased,
    WasReset,
)
from workers.protocol.messages import Ack, FromBridge, FromGateway, Heartbeat, Hello, Refused, Rejected, Welcome
from workers.protocol.orders import ClearStop, Order, StopNow
from workers.protocol.samples import Driver, Mode, Picture, Report, State, States
from workers.protocol.subjects import Channel, Described, RefusedSubject
from workers.protocol.versions import VERSIONS, agreed

__all__ = [
    "VERSIONS",
    "Ack",
    "ActionRefused",
    "BadMessage",
    "Channel",
    "ClearStop",
    "Described",
    "Driver",
    "EpisodeEnded",
    "EpisodeStarted",
    "Fact",
    "Facts",
    "FactsTaken",
    "FromBridge",
    "FromGateway",
    "Heartbeat",
    "Hello",
    "Message",
    "Mode",
    "NeedsReset",
    "Order",
    "OrderDone",
    "Outcome",
    "Picture",
    "Refused",
    "RefusedSubject",
    "Rejected",
    "Report",
    "Resume",
    "State",
    "States",
    "StopLatched",
    "StopNow",
    "StopReleased",
    "WasReset",
    "Welcome",
    "agreed",
    "decode_from_bridge",
    "decode_from_gateway",
    "encode",
    "pack",
]
