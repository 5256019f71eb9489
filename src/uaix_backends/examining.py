"""What a backend can say of its medium, beyond what the port shows.

A store that has more to say has a method ``examine()`` that gives a `Condition`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import attrs

from uaix_core.store.copying import all_scopes
from uaix_core.values.errors import IntegrityError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from uaix_core.store.port import Store
    from uaix_core.values.ids import ScopeId

    Fact = str | int | bool | None


@attrs.frozen
class Advice:
    """Something to know or to mend; an ``error`` means that bytes are damaged."""

    code: str
    level: Literal["info", "warning", "error"]
    message: str
    path: str | None = None
    hint: str | None = None


@attrs.frozen
class Condition:
    """The facts of a medium by name, and what follows from them."""

    facts: Mapping[str, Fact] = attrs.field(factory=dict)
    advice: tuple[Advice, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Whether no advice is an error."""
        return all(advice.level != "error" for advice in self.advice)


def examine(store: Store) -> Condition:
    """Read all of a store's medium and say what is wrong with it.

    Raises:
        StorageError: the medium failed.

    """
    look = getattr(store, "examine", None)
    found = look() if look is not None else Condition()
    assert isinstance(found, Condition)  # noqa: S101 - told to type checkers
    try:
        check_scopes(store)
    except IntegrityError as error:
        lost = Advice(error.code, "error", error.message, error.path)
        if lost not in found.advice:
            return Condition(found.facts, (*found.advice, lost))
    return found


def check_scopes(store: Store) -> None:
    """Refuse a store that can't list all its scopes, before it is read as a whole.

    Raises:
        IntegrityError: a scope is there that the store doesn't list.
        StorageError: the medium failed.

    """
    look = getattr(store, "check_scopes", None)
    if look is not None:
        look()


def readable_scopes(store: Store) -> Iterator[ScopeId]:
    """The scopes that can be listed, although others may be damaged."""
    look = getattr(store, "readable_scopes", None)
    yield from look() if look is not None else all_scopes(store)
