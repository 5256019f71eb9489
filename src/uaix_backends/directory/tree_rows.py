"""Which rows of a scope stand in which folder of its working tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from uaix_core.schema.relations import BY_KEY, Ref
from uaix_core.store.advance import Find

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.schema.trees import Tree
    from uaix_core.store.advance import Advance
    from uaix_core.store.tables import Tables


class Shown(NamedTuple):
    """A row and how it stands as a file."""

    tree: Tree
    row: Row

    @property
    def key(self) -> str:
        """The key of the row that holds the bytes."""
        return self.tree.key_of(self.row)

    def content(self, tables: Tables) -> bytes | None:
        """The bytes of the file; None when they were erased."""
        holder = tables.get(Ref(self.tree.relation, (self.key,)))
        return body_of(self.tree, holder)


def body_of(tree: Tree, holder: Row | None) -> bytes | None:
    """The bytes that a HISTORY row holds for a tree; None when it has none."""
    body = getattr(holder, tree.body, None)
    return body.encode("utf-8") if isinstance(body, str) else body


def trees_of(schema: Schema) -> Iterator[tuple[str, Tree]]:
    """The relations that stand as files, and how."""
    for relation in schema.trees:
        if relation.tree is not None:
            yield relation.name, relation.tree


def has_rows(tables: Tables) -> bool:
    """Whether anything stands in the tree."""
    return any(
        True for name, _tree in trees_of(tables.schema) for _row in tables.all(name)
    )


def rows_of(tables: Tables, folder: str) -> dict[str, Shown]:
    """What stands in one folder, by path."""
    return {
        tree.path_of(row): Shown(tree, row)
        for name, tree in trees_of(tables.schema)
        for row in tables.find(Find(name, BY_KEY, (folder,)))
    }


def all_rows(tables: Tables) -> Mapping[str, dict[str, Shown]]:
    """What stands in each folder, by path."""
    found: dict[str, dict[str, Shown]] = {}
    for name, tree in trees_of(tables.schema):
        for row in tables.all(name):
            inner = found.setdefault(tree.folder_of(row), {})
            inner[tree.path_of(row)] = Shown(tree, row)
    return found


def touched(schema: Schema, change: Advance) -> set[str]:
    """The folders in which a change may have changed a file."""
    trees = dict(trees_of(schema))
    found = {str(ref.key[0]) for ref in change.drops if ref.relation in trees}
    for row in change.puts:
        tree = trees.get(schema.of(row).name)
        if tree is not None:
            found.add(tree.folder_of(row))
    return found


def has_news(tables: Tables, after: int) -> bool:
    """Whether commits above this seq may have changed which rows stand as files."""
    holders = {tree.relation for _name, tree in trees_of(tables.schema)}
    return any(
        ref.relation in holders
        for at in range(after, tables.mark.seq)
        for entry in [tables.log.entry(at)]
        for ref in (*entry.adds, *entry.erases)
    )
