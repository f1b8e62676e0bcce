"""What every body of the API has in common: unknown fields are refused, text is clean, pages and problems have one shape."""

import unicodedata
from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def clean_text(value: str) -> None:
    """Refuse what cannot be stored or would lie about itself: control characters, lone surrogates, reversed writing."""
    if any(unicodedata.category(letter) in {"Cc", "Cs"} or letter in _BIDI for letter in value):
        raise serializers.ValidationError("Control characters are not accepted.")


class Text(serializers.CharField):
    """One line of clean text. Numbers and true or false are not taken for text."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.validators.append(clean_text)

    def to_internal_value(self, data: Any) -> str:
        """The text, or a reason why it is none."""
        if not isinstance(data, str):
            self.fail("invalid")
        return str(super().to_internal_value(data))


class Strict(serializers.Serializer[Any]):
    """A body in which a field we do not know, or only give out, is an error rather than silence."""

    def to_internal_value(self, data: Any) -> Any:
        """Checked values, or every reason at once."""
        if isinstance(data, Mapping):
            writable = {name for name, field in self.fields.items() if not field.read_only}
            unknown = {_shown(name): ["There is no such field."] for name in data if name not in writable}
            if unknown:
                raise serializers.ValidationError(unknown)
        return super().to_internal_value(data)


class Nothing(Strict):
    """No body at all, or an empty object."""


class Problem(serializers.Serializer[Any]):
    """Why a request was refused, after RFC 9457."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    code = serializers.CharField(help_text="A word for programs; stable.")
    detail = serializers.CharField(allow_blank=True, help_text="A sentence for people.")
    correlation_id = serializers.CharField(help_text="Finds this request in logs and journal.")
    errors = serializers.DictField(  # type: ignore[assignment]
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        help_text="Reasons by the name of the wrong field.",
    )


def page_of(row: type[serializers.BaseSerializer[Any]]) -> type[serializers.Serializer[Any]]:
    """The body of a list: rows and the cursor of the next page."""
    return type(
        f"{row.__name__}Page",
        (serializers.Serializer,),
        {
            "items": row(many=True),
            "next_cursor": serializers.CharField(allow_null=True, help_text="Give it as `cursor`; null at the end."),
            "__doc__": "One page of a list.",
        },
    )


def _shown(name: object) -> str:
    """A field's name as it may be repeated to the caller."""
    return ascii(str(name))[1:-1][:60]
