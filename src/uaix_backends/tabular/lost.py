"""Scopes that tables hold rows of while no row of the scopes lists them."""

# ruff: noqa: S608 - texts are made of quoted names; nothing is bound

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from uaix_backends.tabular.damage import stored_scope
from uaix_core.values.errors import IntegrityError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from uaix_core.values.ids import ScopeId


def check_scopes(
    run: Callable[[str], Iterable[Any]], scope: str, commit: str, tables: Iterable[str]
) -> None:
    """Refuse rows of a scope that isn't listed, and a scope that stands elsewhere.

    Args:
        run: gives the results of a statement.
        scope: the table of the scopes.
        commit: the table of the commits.
        tables: every other table, with its column of the scope's number.

    Raises:
        IntegrityError: ``storage.scope``.

    """
    for (text,) in run(f"SELECT scope FROM {scope}"):
        stored_scope(text)
    counted = f"SELECT max(c.seq) FROM {commit} AS c WHERE c.scope_no = s.scope_no"
    for _ in run(
        f"SELECT 1 FROM {scope} AS s WHERE s.seq <> coalesce(({counted}), 0) LIMIT 1"
    ):
        raise IntegrityError(
            "a scope doesn't stand where its last commit is",
            code="storage.scope",
            path=scope,
        )
    for table in tables:
        for _ in run(
            f"SELECT 1 FROM {table} AS t WHERE NOT EXISTS "
            f"(SELECT 1 FROM {scope} AS s WHERE s.scope_no = t.scope_no) LIMIT 1"
        ):
            raise IntegrityError(
                "rows of a scope that isn't listed", code="storage.scope", path=table
            )


def readable_scopes(
    run: Callable[[str], Iterable[Any]], scope: str
) -> Iterator[ScopeId]:
    """The scopes with a commit whose names can be read, in the order of their text."""
    for (text,) in run(f"SELECT scope FROM {scope} WHERE seq > 0 ORDER BY scope"):
        with contextlib.suppress(IntegrityError):
            yield stored_scope(text)
