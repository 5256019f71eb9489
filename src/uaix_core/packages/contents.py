"""What a reader of archives or folders gives, and what is measured of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class ContentEntry(Protocol):
    """A file as the reader of archives or folders gives it; sizes in bytes."""

    @property
    def path(self) -> str:
        """The logical path."""
        ...

    @property
    def size(self) -> int:
        """The declared length of the content in bytes."""
        ...

    def read(self) -> bytes | memoryview | None:
        """The content, or None when there is no whole content."""
        ...


class Contents(Protocol):
    """What a reader found: the entries by path, and each body once."""

    @property
    def entries(self) -> Mapping[str, ContentEntry]:
        """The files by path."""
        ...

    @property
    def complete(self) -> bool:
        """Whether all files are known; if not, an absent path proves nothing."""
        ...

    def bodies(self) -> Iterator[tuple[Any, bytes | memoryview | None]]:
        """Each entry with its content, read and checked once."""
        ...


@attrs.frozen(eq=False)
class Measured:
    """What was recomputed from a body: size in bytes, SHA-256 in lower-case hex.

    ``kept`` is the content where it is cheap to keep, else None.
    """

    size: int
    sha256: str
    kept: bytes | None = attrs.field(repr=False)
