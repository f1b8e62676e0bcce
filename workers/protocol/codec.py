"""Messages to and from frames: binary frames are MessagePack, text frames are JSON, both of the same structs."""

import msgspec

from workers.protocol.base import Message
from workers.protocol.messages import FromBridge, FromGateway

_JSON, _PACK = msgspec.json.Encoder(), msgspec.msgpack.Encoder()
_FROM_BRIDGE = {str: msgspec.json.Decoder(FromBridge), bytes: msgspec.msgpack.Decoder(FromBridge)}
_FROM_GATEWAY = {str: msgspec.json.Decoder(FromGateway), bytes: msgspec.msgpack.Decoder(FromGateway)}


_AT = " - at "


class BadMessage(ValueError):
    """A frame that is no message of this protocol. The message says where it goes wrong and quotes nothing of it."""


def encode(message: Message) -> str:
    """One message as the text of one frame."""
    return _JSON.encode(message).decode()


def pack(message: Message) -> bytes:
    """One message as one binary frame: the only form for pictures, and the cheaper one for samples."""
    return _PACK.encode(message)


def decode_from_bridge(frame: str | bytes) -> FromBridge:
    """What a bridge sent. Raises BadMessage."""
    try:
        return _FROM_BRIDGE[type(frame)].decode(frame)  # type: ignore[attr-defined, no-any-return]
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadMessage(_reason(error, frame)) from None


def decode_from_gateway(frame: str | bytes) -> FromGateway:
    """What the gateway sent. Raises BadMessage."""
    try:
        return _FROM_GATEWAY[type(frame)].decode(frame)  # type: ignore[attr-defined, no-any-return]
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadMessage(_reason(error, frame)) from None


def _reason(error: Exception, frame: str | bytes) -> str:
    if not isinstance(error, msgspec.ValidationError):  # its words may quote what the peer sent
        return "this is no JSON" if isinstance(frame, str) else "this is no MessagePack"
    # Words of a failed validation name a type and a place of ours, but for these, which quote what was found instead.
    words, _, place = str(error).rpartition(_AT)
    if str(error).startswith("Object contains unknown field"):  # its place may be a part of the name
        return "an unknown field"
    if words.startswith(("Invalid value", "Invalid enum value")):
        return f"an unknown value{_AT}{place}"[:200]
    return str(error)[:200]
