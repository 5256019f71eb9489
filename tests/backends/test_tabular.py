"""What SQLite and PostgreSQL do alike with rows that are none."""

from __future__ import annotations

from contextlib import closing

import apsw
import pytest
from tests.backends.postgres_server import execute
from tests.store.lives import lived, opened

from uaix_backends.postgres.testing import namespace
from uaix_conformance.examples import SCOPE
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
