"""Binding values past the adapters that a process registers with sqlite3."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any, Final

from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class _Text(str):
    __slots__ = ()


class _Number(int):
    __slots__ = ()


class _Data(bytes):
    __slots__ = ()


def _same(value: Any) -> Any:
    return value


#: Types of bound values -> types that SQLite keeps alike.
_PAST: Final[dict[type, Callable[[Any], Any]]] = {
    str: _Text,
    int: _Number,
    bool: _Number,
    bytes: _Data,
}
_OF_NONE: Final = (type(None), sqlite3.PrepareProtocol)
_OF_OURS: Final = (_OF_NONE, *((kind, sqlite3.PrepareProtocol) for kind in _PAST))


def past_adapters(values: Sequence[Any]) -> Sequence[Any]:
    """The values as they are bound so that no adapter sees them.

    Adapters are found by the exact type of a value, so each goes as one of a type that
    nobody knows. Only None has no other type that means the same.

    Raises:
        CallerError: ``host.adapters``.

    """
    if sqlite3.adapters.keys().isdisjoint(_OF_OURS):
        return values
    if None in values:
        check_adapters()
    return tuple(_PAST.get(type(value), _same)(value) for value in values)


def check_adapters() -> None:
    """Refuse an adapter that can't be passed by.

    Raises:
        CallerError: ``host.adapters``.

    """
    if _OF_NONE in sqlite3.adapters:
        raise CallerError(
            "the process has an adapter for None, which changes what is stored",
            code="host.adapters",
            hint="take it out of sqlite3.adapters, or join a connection of apsw",
        )
