"""Static files under names that hold their digest."""

from functools import lru_cache

from whitenoise.storage import CompressedManifestStaticFilesStorage


class Files(CompressedManifestStaticFilesStorage):
    """The manifest cannot change while the process lives, so each address is worked out once: a page has fifty."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self._known = lru_cache(maxsize=1000)(super().url)

    def url(self, name: str | None, force: bool = False) -> str:  # noqa: FBT001, FBT002 - Django's signature
        """The address of a file by its plain name."""
        return str(self._known(name, force))
