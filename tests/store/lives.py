"""Stores of every kind with the same short life, for the tests of whole stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uaix_backends import open_store
from uaix_backends.postgres.testing import namespace, server
from uaix_conformance.examples import (
    OTHER,
    SCOPE,
    entry,
    fact,
    job,
    lease,
    note,
    vector,
)
from uaix_conformance.schema import KIT
from uaix_core.schema.commits import Commit
from uaix_core.schema.relations import Keep
from uaix_core.store.scanning import all_rows

if TYPE_CHECKING:
    from pathlib import Path

    from uaix_core.store.port import Store
    from uaix_core.values.ids import ScopeId

KINDS = ("memory", "dir", "sqlite", "postgres")
CANARY = "canary-90ab"


def commit(at: int, scope: ScopeId = SCOPE, **parts: Any) -> Commit:
    """A commit at an instant."""
    return Commit(scope, at, **parts)


#: Commits of every kind in two scopes; a body with the canary is erased at the end.
LIFE = (
    commit(1, adds=[note(1, title="one", text=CANARY)], puts=[lease(1), vector(1)]),
    commit(2, adds=[note(2, title="two", text="kept"), fact(1)]),
    commit(1, OTHER, adds=[fact(1, subject="other")], puts=[job(1, due_at=9)]),
    commit(3, puts=[job(1), job(2), entry("a", data=b"\xff\0")]),
    commit(4, adds=[fact(2)], drops=[("job", (False, 2))], puts=[vector(2, text="v")]),
    commit(5, erases=[("note", ("t0", 1))]),
    commit(6, adds=[note(n, topic="t1", title=f"n{n}") for n in range(12)]),
)


def opened(kind: str, folder: Path, name: str = "store") -> Store:
    """A store of a kind; the same data each time where it lasts."""
    if kind == "postgres":
        url = f"{server()}#{namespace(folder / name)}"
        return open_store(url, create=True, schema=KIT)
    path = "" if kind == "memory" else str(folder / name)
    return open_store(f"{kind}:{path}", create=True, schema=KIT)


def lived(kind: str, folder: Path, name: str = "store") -> Store:
    """A store that was given the whole life."""
    store = opened(kind, folder, name)
    for one in LIFE:
        store.append(one)
    return store


def history_of(store: Store, scope: ScopeId = SCOPE) -> Any:
    """The chain, and every HISTORY and VIEW row on every path with its version."""
    with store.snapshot(scope) as snapshot:
        rows = {
            (relation.name, path): [
                (relation.values(row), row.version)
                for row in all_rows(snapshot, relation, path)
            ]
            for relation in KIT.kept(Keep.HISTORY, Keep.VIEW)
            for path in relation.orders
        }
        return snapshot.position, snapshot.head, list(snapshot.commits()), rows


def local_of(store: Store, scope: ScopeId = SCOPE) -> Any:
    """Every WORK and CACHE row."""
    with store.snapshot(scope) as snapshot:
        return {
            relation.name: list(all_rows(snapshot, relation))
            for relation in KIT.kept(Keep.WORK, Keep.CACHE)
        }
