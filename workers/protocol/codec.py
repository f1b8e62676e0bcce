"""Messages to and from JSON text."""

import msgspec

from workers.protocol.messages import FromBridge, FromGateway, Message

_ENCODER = msgspec.json.Encoder()
_FROM_BRIDGE = msgspec.json.Decoder(FromBridge)
_FROM_GATEWAY = msgspec.json.Decoder(FromGateway)


class BadMessage(ValueError):
    """Text that is no message of this protocol. The message says where it goes wrong and quotes nothing of it."""


def encode(message: Message) -> str:
    """One message as the text of one frame."""
    return _ENCODER.encode(message).decode()


def decode_from_bridge(text: str | bytes) -> FromBridge:
    """What a bridge sent. Raises BadMessage."""
    try:
        return _FROM_BRIDGE.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadMessage(_reason(error)) from None


def decode_from_gateway(text: str | bytes) -> FromGateway:
    """What the gateway sent. Raises BadMessage."""
    try:
        return _FROM_GATEWAY.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadMessage(_reason(error)) from None


def _reason(error: Exception) -> str:
    # msgspec's own words name the field; those of other faults may quote what the peer sent.
    return str(error)[:200] if isinstance(error, msgspec.ValidationError) else "this is no JSON"
