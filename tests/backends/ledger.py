"""A history of each way in which a commit can touch a store, and its states."""

from __future__ import annotations

import base64
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from uaix_backends.directory import DirectoryStore
from uaix_backends.directory.root import TREE
from uaix_backends.directory.tree_notes import NEW
from uaix_backends.memory import MemoryStore
from uaix_backends.sqlite import SqliteStore
from uaix_conformance.examples import SCOPE, fact, job, lease, note, vector
from uaix_conformance.schema import KIT
from uaix_core.schema.commits import Commit
from uaix_core.store.scanning import all_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from uaix_core.schema.schema import Schema
    from uaix_core.values.ids import ScopeId

CANARY = "canary-7f3a"
DAY = 86_400_000_000

COMMITS = (
    Commit(SCOPE, DAY, adds=[note(1, title="one", text=CANARY)]),
    Commit(
        SCOPE,
        DAY + 1,
        adds=[note(2, title="two", text="kept")],
        puts=[lease(1, holder="h1"), vector(1, text=CANARY), lease(2)],
    ),
    Commit(SCOPE, DAY + 2, puts=[job(1)]),
    Commit(
        SCOPE,
        DAY + 3,
        adds=[note(3, title="three", text="kept too")],
        puts=[job(2)],
        drops=[("job", (False, 1))],
    ),
    Commit(SCOPE, DAY + 4, adds=[fact(1)]),
    Commit(SCOPE, DAY + 5, erases=[("note", ("t0", 1))], puts=[job(3)]),
    Commit(SCOPE, DAY + 6, drops=[("job", (False, 3))]),
    Commit(SCOPE, DAY + 7, erases=[("note", ("t0", 3))], adds=[fact(2)]),
    Commit(SCOPE, DAY + 8, adds=[fact(3)], puts=[job(1, due_at=5)]),
)
#: So many commits, and the canary is gone.
ERASED_AT = 6
NEXT = Commit(SCOPE, 2 * DAY, adds=[fact(9, subject="next")], puts=[job(9)])

BACKENDS = ("directory", "sqlite")


def opened(backend: str, path: Path, schema: Schema = KIT, **options: Any) -> Any:
    """An open store of a backend, made when it isn't there."""
    if backend == "directory":
        return DirectoryStore.open(path, create=True, schema=schema, **options)
    path.mkdir(exist_ok=True)
    return SqliteStore.open(
        path / "store.sqlite", create=True, schema=schema, **options
    )


def state_of(store: Any, scope: ScopeId = SCOPE) -> Any:
    """All that a snapshot shows, and the work number."""
    with store.snapshot(scope) as snapshot:
        rows = {
            relation.name: [
                (relation.values(row), row.version)
                for row in all_rows(snapshot, relation)
            ]
            for relation in store.schema.relations.values()
        }
        chain = [(r.seq, r.recorded_at, r.digest) for r in snapshot.commits()]
        return (
            rows,
            chain,
            (snapshot.position, snapshot.head),
            _work(store, snapshot, scope),
        )


def _work(store: Any, snapshot: Any, scope: ScopeId) -> int:
    if isinstance(store, SqliteStore):
        return snapshot._rows.work
    if isinstance(store, DirectoryStore):
        return store._scope(scope).current().work
    # A backup has no number of its own.
    tables = getattr(store, "_scopes", {}).get(scope.text)
    return tables.work if tables is not None else 0


def states(commits: Sequence[Commit] = COMMITS, schema: Schema = KIT) -> list[Any]:
    """The states before the first commit, after it, and so on, from memory."""
    store = MemoryStore(schema)
    found = [state_of(store)]
    for commit in commits:
        store.append(commit)
        found.append(state_of(store))
    return found


def state_at(backend: str, path: Path, schema: Schema = KIT) -> Any:
    """The state of a closed store."""
    with contextlib.closing(opened(backend, path, schema)) as store:
        return state_of(store)


def holding(path: Path, text: str = CANARY) -> list[Path]:
    """The files in which a text stands, plain or as base64."""
    data = text.encode()
    spellings = [data, text.encode("utf-16-le")] + [
        base64.urlsafe_b64encode(b"x" * skip + data)[4:-4] for skip in range(3)
    ]
    return [
        file
        for file in path.rglob("*")
        if file.is_file()
        for content in [file.read_bytes()]
        if any(spelling in content for spelling in spellings)
    ]


def strays(path: Path) -> list[str]:
    """Files of a closed store that a writer left on their way."""
    known = {"store.sqlite", "uaix-store.json", "segment.jsonl"}
    known |= {"lock", "intent", "log.jsonl"}
    return [
        str(file.relative_to(path))
        for file in path.rglob("*")
        if file.is_file()
        and file.name not in known
        # In the working tree any name may be that of a package's file.
        and not (file.is_relative_to(path / TREE) and file.name != NEW)
    ]


def check_file(path: Path) -> None:
    """What SQLite itself thinks of a closed store's file."""
    for file in path.glob("*.sqlite"):
        with contextlib.closing(apsw.Connection(str(file))) as connection:
            assert "ok" == connection.pragma("integrity_check")
            assert not list(connection.execute("PRAGMA foreign_key_check"))


@contextlib.contextmanager
def same_descriptors() -> Iterator[None]:
    """Everything that the block opens it closes."""
    before = _descriptors()
    yield
    assert before == _descriptors()


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
