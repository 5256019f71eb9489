"""What a backend can say of its medium, beyond what the port shows.

A store that has more to say has a method ``examine()`` that gives a `Condition`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import attrs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_core.store.port import Store

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
    return found
