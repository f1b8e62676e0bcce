"""Words that come from outside, as they can be stored and shown."""

from typing import Any

from apps.kernel.errors import Invalid

NAME_LENGTH = 100
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def clean_words(text: str, most: int = 200) -> str:
    """What a machine wrote, as it can be stored and shown: what is unprintable becomes U+FFFD, so that nothing is hidden."""
    return "".join(letter if letter.isprintable() and letter not in _BIDI else "\ufffd" for letter in text[:most])


def clean_values(value: Any) -> Any:
    """The same for every text in plain JSON values, names among them."""
    if isinstance(value, str):
        return clean_words(value)
    if isinstance(value, dict):
        return {clean_words(str(name)): clean_values(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean_values(item) for item in value]
    return value


def clean_name(text: str, *, field: str = "name", most: int = NAME_LENGTH) -> str:
    """A name that a person gave. Raises Invalid."""
    name = text.strip()
    if not 1 <= len(name) <= most or clean_words(name, most) != name:
        raise Invalid("The name is wrong.", fields={field: [f"Give 1 to {most} printable characters."]})
    return name
