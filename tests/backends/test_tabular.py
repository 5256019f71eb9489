"""What SQLite and PostgreSQL do alike with rows that are none."""

from __future__ import annotations

from contextlib import closing
from functools import partial

import apsw
import pytest
from tests.backends.postgres_server import execute
from tests.store.lives import lived, opened

from uaix_backends.postgres.layout import Layout as PostgresLayout
from uaix_backends.postgres.testing import namespace
from uaix_backends.sqlite.layout import Layout as SqliteLayout
from uaix_conformance.examples import SCOPE
from uaix_conformance.schema import KIT
from uaix_core.store.verifying import verify_scope

DEEP = "[" * 50_000
ERASES = {
    "deep": DEEP,
    "no json": "SECRET",
    "no list": "7",
    "too large": '[["note", [1e999, 1]]]',
    "no relation": '[["nothing", ["t0", 1]]]',
    "no key": '[["note", ["t0"]]]',
    "another kind": '[["note", ["t0", "1"]]]',
    "no name": '[[["note"], ["t0", 1]]]',
}


def change(kind, folder, text, *values):
    """Run a statement on the tables of a store; ``{}`` stands before their names."""
    if kind == "sqlite":
        with closing(apsw.Connection(str(folder / "store"))) as raw:
            raw.execute(text.format("").replace("%s", "?"), values)
    else:
        execute(text.format(f'"{namespace(folder / "store")}".'), *values)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
@pytest.mark.parametrize("what", ERASES)
def test_a_damaged_entry_of_the_log_is_named_by_its_place(kind, what, tmp_path):
    """Whatever stands among the erases of a commit, that commit is named."""
    lived(kind, tmp_path).close()
    text = "UPDATE {}uaix_commit SET erases = %s WHERE seq = 3 AND adds = 1"
    change(kind, tmp_path, text, ERASES[what])
    with closing(opened(kind, tmp_path)) as store:
        (flaw,) = verify_scope(store, SCOPE).flaws

    assert f"{SCOPE.text}#3" == flaw.path
    assert "SECRET" not in flaw.message


def test_deep_notes_about_the_store_are_another_schema(tmp_path):
    """What a store notes of its relations may be anything, and is told as such."""
    from uaix_core.values.errors import StoreOpenError  # noqa: PLC0415 - for this one

    lived("sqlite", tmp_path).close()
    text = "UPDATE {}uaix_migration SET relations = %s"
    change("sqlite", tmp_path, text, DEEP)
    with pytest.raises(StoreOpenError) as caught:
        opened("sqlite", tmp_path)
    assert "store.schema" == caught.value.code


@pytest.mark.parametrize(
    "layout", [SqliteLayout, partial(PostgresLayout, namespace="a")]
)
def test_a_schema_is_put_into_words_once(layout):
    """Who joins for each transaction doesn't wait until all statements are made."""
    first, again = layout(KIT), layout(KIT)

    assert set(KIT.relations) == set(first.tables)
    assert all(table is again.tables[name] for name, table in first.tables.items())
    assert first.standing is not again.standing


def test_each_namespace_has_statements_of_its_own():
    """What is remembered of one namespace is never run in another."""
    one, other = (PostgresLayout(KIT, name) for name in ("a", "b"))

    for name, table in one.tables.items():
        assert '"a".' in table.table
        assert '"b".' in other.tables[name].table
