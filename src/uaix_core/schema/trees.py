"""Trees: how the rows of a VIEW stand as plain files in a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from uaix_core.schema.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_core.schema.relations import Relation
    from uaix_core.schema.rows import Row

_CONTENT: Final = (Kind.TEXT, Kind.BYTES)


@attrs.frozen
class Tree:
    """How the rows of a VIEW become files, one file a row.

    The bytes stay in the body of a HISTORY row, where they are kept once and erased
    once. Which rows stand and what they point at changes only with commits that add or
    erase rows of that relation.

    Args:
        folder: the Id field that leads the key; its value names a folder.
        relation: the HISTORY relation that holds the bytes.
        key: the Id field whose value is the key there.
        body: the field of its body that is the content of the file.
        path: the field that is the logical path of the file in its folder.
        name: the logical path of all rows, where no field is it.
        media: the field that is the media type of the content, where one says it.

    """

    folder: str
    relation: str
    key: str
    body: str
    path: str | None = attrs.field(default=None, kw_only=True)
    name: str | None = attrs.field(default=None, kw_only=True)
    media: str | None = attrs.field(default=None, kw_only=True)

    def folder_of(self, row: Row) -> str:
        """The name of the folder in which a row's file stands."""
        return str(getattr(row, self.folder))

    def path_of(self, row: Row) -> str:
        """The logical path of a row's file in its folder."""
        found = self.name if self.path is None else getattr(row, self.path)
        return str(found)

    def key_of(self, row: Row) -> str:
        """The key of the HISTORY row that holds the bytes of a row's file."""
        return str(getattr(row, self.key))

    def media_of(self, row: Row) -> str | None:
        """The media type of a row's file, None where nothing says it."""
        return None if self.media is None else str(getattr(row, self.media))


def fault_of(view: Relation) -> str | None:
    """Which rule the tree of a relation breaks by itself, None for none."""
    tree = view.tree
    if tree is None:
        return None
    if (tree.path is None) is (tree.name is None):
        return "the path of a tree is a field or a name"
    place = {tree.folder} if tree.path is None else {tree.folder, tree.path}
    fields = [view.fields.get(name) for name in (*place, tree.key)]
    if any(field is None or field.optional for field in fields):
        return "the fields of a tree are there and never None"
    ids = [view.fields[name].kind for name in (tree.folder, tree.key)]
    if {Kind.ID} != set(ids) or view.key[0] != tree.folder:
        return "folder and key of a tree are ids, and the folder leads the key"
    orders = [view.key, *(view.paths[name] for name in view.unique)]
    if place not in map(set, orders):
        return "no two rows of a tree stand at one path"
    is_said = tree.media is None or tree.media in view.fields
    return None if is_said else "the media type of a tree is a field"


def is_held(tree: Tree, relations: Mapping[str, Relation]) -> bool:
    """Whether the bytes of a tree are where it says."""
    source = relations.get(tree.relation)
    return (
        source is not None
        and len(source.key) == 1
        and tree.body in source.body
        and source.fields[tree.body].kind in _CONTENT
    )
