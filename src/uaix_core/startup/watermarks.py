"""What a start-up asks of an index that stands beside a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from uaix_core.values.ids import ScopeId


class IndexWatermark(Protocol):
    """How far an index has come; a package doesn't start before it is covered.

    An index only adds to what a package says: no file is ever taken from it.
    """

    @property
    def name(self) -> str:
        """What the index is called, where it is too old."""
        ...

    def covered(self, scope: ScopeId, package_id: str) -> int:
        """The seq of the last commit that it has taken in of a package; 0 for none."""
        ...
