"""Static files under names that hold their digest. The manifest cannot change while the process lives, so each address is
worked out once: a page has fifty of them.
"""

from functools import lru_cache
from typing import Any

from django.contrib.staticfiles.storage import ManifestStaticFilesStorage
from whitenoise.storage import CompressedManifestStaticFilesStorage


class _Remembering:
    """Mixin that keeps the addresses it gave."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._known = lru_cache(maxsize=1000)(super().url)  # type: ignore[misc]

    def url(self, name: str | None, force: bool = False) -> str:  # noqa: FBT001, FBT002 - Django's signature
        """The address of a file by its plain name."""
        return str(self._known(name, force))


class Files(_Remembering, ManifestStaticFilesStorage):
    """As they are: for loopback."""


class CompressedFiles(_Remembering, CompressedManifestStaticFilesStorage):
    """With gzip and brotli copies: for networks."""
