"""What a start-up asks of an index that stands beside a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from uaix_core.values.arguments import check_items
from uaix_core.values.errors import CallerError, UaixError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from uaix_core.values.ids import ScopeId


#: The longest name of an index, in characters.
MAX_NAME: Final = 128


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


def check_indexes(indexes: Iterable[IndexWatermark]) -> tuple[IndexWatermark, ...]:
    """The indexes as a tuple, each with a name.

    Raises:
        CallerError: ``input.list``, ``index.port`` for what is no index.

    """
    found = check_items(indexes, object, "indexes")
    for place, index in enumerate(found):
        name: Any = getattr(index, "name", None)
        if not _is_name(name) or not callable(getattr(index, "covered", None)):
            raise CallerError(
                "an index has a name of one line, and says what it covers",
                code="index.port",
                path=f"indexes[{place}]",
                hint="see uaix_core.IndexWatermark",
            )
    return found


def _is_name(name: Any) -> bool:
    is_short = isinstance(name, str) and 0 < len(name) <= MAX_NAME
    return is_short and name.isprintable()


def covers(index: IndexWatermark, scope: ScopeId, package_id: str, seq: int) -> bool:
    """Whether an index covers a package up to a seq; one that can't say doesn't."""
    try:
        covered: Any = index.covered(scope, package_id)
    except UaixError:
        raise
    except Exception:  # noqa: BLE001 - a port of the host's, which may fail in any way
        return False
    return type(covered) is int and covered >= seq
