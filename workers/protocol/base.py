"""What all messages share."""

from typing import Annotated

import msgspec

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
Words = Annotated[str, msgspec.Meta(max_length=200)]
SubjectName = Annotated[str, msgspec.Meta(max_length=100)]
SubjectIndex = Annotated[int, msgspec.Meta(ge=0, lt=500)]  # place of a subject in the hello of this socket
Sequence = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Milliseconds = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
MOST_CHANNELS = 64


class Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="op", forbid_unknown_fields=True):
    """Base of every message; `op` names its kind."""


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of what messages are made of."""
