"""A small schema whose rows stand as files, and what its tree is to hold."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Final

from uaix_backends.directory import DirectoryStore
from uaix_backends.directory.tree_notes import NEW
from uaix_core.schema.commits import Commit
from uaix_core.schema.reducers import Changes
from uaix_core.schema.relations import Keep, Ref, Relation
from uaix_core.schema.rows import BodyRow, Bytes, Id, Int, Row, Text, row
from uaix_core.schema.schema import Room, Schema
from uaix_core.schema.trees import Tree
from uaix_core.store.copying import all_rows
from uaix_core.values.ids import ScopeId

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.reducers import Steps

SCOPE: Final = ScopeId("acme", "project", "trees")


@row
class Page(BodyRow):
    """One state of a record: its path, none when the record ends, and its bytes."""

    page_id: Id
    folder: Id
    record: Id
    path: Text | None
    content: Bytes | None


@row
class Leaf(Row):
    """A record as its last page says it is."""

    folder: Id
    record: Id
    page_id: Id
    path: Text


@row
class Remark(Row):
    """Something that stands in no tree."""

    number: Int


PAGE = Relation("page", Page, ("page_id",), keep=Keep.HISTORY, body=("path", "content"))
LEAF = Relation(
    "leaf",
    Leaf,
    ("folder", "record"),
    keep=Keep.VIEW,
    paths={"by_path": ("folder", "path")},
    unique=("by_path",),
    tree=Tree("folder", "page", "page_id", "content", path="path"),
)
REMARK = Relation("remark", Remark, ("number",), keep=Keep.HISTORY)


def reduce_pages(recorded: Recorded, erased: Mapping[Ref, Row]) -> Steps:
    """Each record shows its last page, and nothing when that has ended or is gone."""
    pages = [page for page in recorded.commit.adds if isinstance(page, Page)]
    lost = [page for page in erased.values() if isinstance(page, Page)]
    refs = {_leaf_ref(page) for page in (*pages, *lost)}
    before = yield refs
    drops = {_leaf_ref(page) for page in pages}
    for page in lost:
        leaf = before.get(_leaf_ref(page))
        if isinstance(leaf, Leaf) and leaf.page_id == page.page_id:
            drops.add(_leaf_ref(page))
    puts = [
        Leaf(page.folder, page.record, page.page_id, page.path)
        for page in pages
        if page.path
    ]
    stands = {LEAF.ref(leaf) for leaf in puts}
    return Changes(puts=puts, drops=[ref for ref in drops if ref not in stands])


def _leaf_ref(page: Page) -> Ref:
    return Ref(LEAF.name, (page.folder, page.record))


TREES: Final = Schema(Room("pages", (PAGE, LEAF, REMARK), reduce_pages))


def page(
    name: str, path: str, content: bytes = b"", *, folder: str = "f", record: str = "r"
) -> Row:
    """A page of a record; one without a path ends it."""
    return PAGE.with_body(
        name.encode().ljust(16, b"."),
        page_id=name,
        folder=folder,
        record=record,
        path=path,
        content=content,
    )


def put(store: Any, *rows: Row, at: int = 0) -> None:
    """Commit these rows."""
    store.append(Commit(SCOPE, at, adds=rows))


def erase(store: Any, *names: str) -> None:
    """Erase these pages."""
    refs = [Ref(PAGE.name, (name,)) for name in names]
    store.append(Commit(SCOPE, 0, erases=refs))


def opened(path: Path, **options: Any) -> DirectoryStore:
    """The store at a path, made when it isn't there."""
    return DirectoryStore.open(path, create=True, schema=TREES, **options)


def used(path: Path, **options: Any) -> None:
    """Open a store and read its scope once."""
    with contextlib.closing(opened(path, **options)) as store:
        wanted(store)


def wanted(store: Any) -> dict[str, bytes]:
    """What the tree of a scope is to hold, by folder and path."""
    with store.snapshot(SCOPE) as snapshot:
        found = {}
        for leaf in all_rows(snapshot, LEAF):
            held = snapshot.get(PAGE.name, (leaf.page_id,))
            if held is not None and held.content is not None:
                found[f"{leaf.folder}/{leaf.path}"] = held.content
    return found


def scope_tree(path: Path) -> Path | None:
    """The folder of the one scope's tree."""
    found = [inner for tree in path.glob("tree") for inner in tree.iterdir()]
    assert len(found) < 2
    return found[0] if found else None


def shown(path: Path) -> dict[str, bytes]:
    """What the tree holds, by folder and path, without the notes."""
    top = scope_tree(path)
    if top is None:
        return {}
    return {
        name: file.read_bytes()
        for file in sorted(top.rglob("*"))
        if file.is_file()
        and not (name := file.relative_to(top).as_posix()).startswith(".uaix-tree")
    }


def strays(path: Path) -> list[Path]:
    """Files on their way into the tree or the notes."""
    return list(path.rglob(NEW))
