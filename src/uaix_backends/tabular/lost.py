"""Scopes that tables hold rows of while no row of the scopes lists them."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from uaix_backends.tabular.damage import stored_scope
from uaix_core.values.errors import IntegrityError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from uaix_backends.tabular.layouts import Layout
    from uaix_core.values.ids import ScopeId

    Run = Callable[[str], Iterable[Any]]


def check_scopes(run: Run, layout: Layout) -> None:
    """Refuse rows of a scope that isn't listed, and a scope that stands elsewhere.

    Args:
        run: gives the results of a statement.
        layout: the tables.

    Raises:
        IntegrityError: ``storage.scope``; ``storage.row`` for a name that is none.

    """
    for (text,) in run(layout.all_scopes):
        stored_scope(text)
    for _ in run(layout.astray):
        raise IntegrityError(
            "a scope doesn't stand where its last commit is",
            code="storage.scope",
            path="scope",
        )
    for name, text in layout.unlisted.items():
        for _ in run(text):
            raise IntegrityError(
                "rows of a scope that isn't listed", code="storage.scope", path=name
            )


def readable_scopes(run: Run, layout: Layout) -> Iterator[ScopeId]:
    """The scopes with a commit whose names can be read, in the order of their text."""
    for (text,) in run(layout.listed):
        with contextlib.suppress(IntegrityError):
            yield stored_scope(text)
