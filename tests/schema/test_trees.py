"""Laws of declaring how rows stand as files."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from tests.backends.tree_stores import LEAF, PAGE, Leaf, Page

from uaix_core import SCHEMA
from uaix_core.schema.relations import Keep, Relation
from uaix_core.schema.schema import Room, Schema
from uaix_core.schema.trees import Tree
from uaix_core.values.errors import SchemaError

TREE = LEAF.tree or Tree("", "", "", "")


def leaf(**changes: Any) -> Relation:
    """A sound relation of leaves with some arguments changed."""
    given: dict[str, Any] = {
        "name": "leaf",
        "row": Leaf,
        "key": ("folder", "record"),
        "keep": Keep.VIEW,
        "paths": {"by_path": ("folder", "path")},
        "unique": ("by_path",),
        "tree": TREE,
        **changes,
    }
    return Relation(**given)


BROKEN = {
    "a tree of HISTORY": lambda: leaf(keep=Keep.HISTORY),
    "a folder that doesn't lead the key": lambda: leaf(key=("record", "folder")),
    "a folder that is no field": lambda: leaf(tree=attrs.evolve(TREE, folder="x")),
    "a folder that is no id": lambda: leaf(
        key=("path", "record"), tree=attrs.evolve(TREE, folder="path")
    ),
    "a key that is no id": lambda: leaf(tree=attrs.evolve(TREE, key="path")),
    "a path that is no field": lambda: leaf(tree=attrs.evolve(TREE, path="x")),
    "a media type that is no field": lambda: leaf(tree=attrs.evolve(TREE, media="x")),
    "a path and a name": lambda: leaf(tree=attrs.evolve(TREE, name="x")),
    "neither path nor name": lambda: leaf(tree=attrs.evolve(TREE, path=None)),
    "a path that two rows may have": lambda: leaf(unique=()),
    "a name that two rows have": lambda: leaf(
        tree=attrs.evolve(TREE, path=None, name="x")
    ),
    "an optional key": lambda: Relation(
        "page2",
        Page,
        ("folder", "record"),
        keep=Keep.VIEW,
        tree=attrs.evolve(TREE, path="path"),
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_tree_is_refused(case: str) -> None:
    """A tree whose folder, key or path could be none or double can't be declared."""
    with pytest.raises(SchemaError):
        BROKEN[case]()


@pytest.mark.parametrize(
    ("field", "value"),
    [("relation", "other"), ("relation", "leaf"), ("body", "folder")],
)
def test_the_bytes_of_a_tree_are_held(field: str, value: str) -> None:
    """A schema refuses a tree whose bytes aren't in the body that it names."""
    broken = leaf(tree=attrs.evolve(TREE, **{field: value}))
    with pytest.raises(SchemaError):
        Schema(Room("pages", (PAGE, broken)))


def test_the_parts_of_a_file() -> None:
    """Folder, path and holder of a file come from its row, or the path is the same."""
    row = Leaf("f", "r", "p1", "in/a.md")
    assert ("f", "in/a.md", "p1") == (
        TREE.folder_of(row),
        TREE.path_of(row),
        TREE.key_of(row),
    )
    assert "x" == attrs.evolve(TREE, path=None, name="x").path_of(row)


def test_the_library_shows_packages() -> None:
    """The trees of the library are the files of packages and their manifests."""
    assert ["package", "package_file"] == [relation.name for relation in SCHEMA.trees]
