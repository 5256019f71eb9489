"""Declared migrations: what is refused before any database sees it."""

from __future__ import annotations

import pytest

from uaix_conformance.schema import KIT, ROOMS
from uaix_core.schema.migrations import Migration
from uaix_core.schema.schema import Schema
from uaix_core.session.schema import MIGRATIONS, SCHEMA
from uaix_core.values.errors import SchemaError

ALL = tuple(KIT.relations)


def made(*migrations):
    return Schema(*ROOMS, migrations=migrations)


@pytest.mark.parametrize(
    ("migrations", "path"),
    [
        ([Migration(0, "a", ALL)], "0"),
        ([Migration(2, "a", ALL)], "2"),
        ([Migration(1, "a", ALL), Migration(1, "b")], "1"),
        ([Migration(1, "a", ALL), Migration(3, "b")], "3"),
        ([Migration(1, "", ALL)], "1"),
        ([Migration(1, "No Name", ALL)], "1"),
        ([Migration(1, "it's", ALL)], "1"),
        ([Migration(1, "a", (*ALL, "lost"))], "1"),
        ([Migration(1, "a", ALL[1:])], None),
    ],
)
def test_migrations_that_make_other_relations_are_refused(migrations, path):
    """Versions count from 1, names are plain, and all relations come of them."""
    with pytest.raises(SchemaError) as caught:
        made(*migrations)
    assert ("schema.migration", path) == (caught.value.code, caught.value.path)


def test_what_an_erasure_has_to_reach_is_not_additive():
    """A relation about an older one would outlive what an older version erases."""
    first = Migration(1, "most", [name for name in ALL if name != "vector"])
    with pytest.raises(SchemaError):
        made(first, Migration(2, "vectors", ["vector"]))
    schema = made(first, Migration(2, "vectors", ["vector"], is_additive=False))
    assert 2 == len(schema.migrations)
    # Both at once is no matter.
    assert made(Migration(1, "all", ALL)).migrations


def test_a_relation_may_be_declared_anew():
    """A later migration may name a relation again."""
    anew = Migration(2, "words", ["note"], is_additive=False, statements={"sqlite": []})
    assert anew == made(Migration(1, "all", ALL), anew).migrations[1]


def test_the_product_declares_its_migrations():
    """Every relation of the product's own schema comes of a migration."""
    assert MIGRATIONS == SCHEMA.migrations
    named = [name for migration in MIGRATIONS for name in migration.relations]
    assert set(SCHEMA.relations) == set(named)
