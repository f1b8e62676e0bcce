"""The edge protocol: what a bridge beside robots or devices and the gateway say to each other.

Plain msgspec structs as JSON text frames over one outbound WebSocket a bridge. Released messages never change their
meaning; a new field is optional, anything else is a new version. `tests/contract/protocol` keeps a golden file of each.
"""

from workers.protocol.codec import BadMessage, decode_from_bridge, decode_from_gateway, encode
from workers.protocol.messages import Ack, FromBridge, FromGateway, Heartbeat, Hello, Refused, Welcome
from workers.protocol.versions import VERSIONS, agreed

__all__ = [
    "VERSIONS",
    "Ack",
    "BadMessage",
    "FromBridge",
    "FromGateway",
    "Heartbeat",
    "Hello",
    "Refused",
    "Welcome",
    "agreed",
    "decode_from_bridge",
    "decode_from_gateway",
    "encode",
]
