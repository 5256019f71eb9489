"""The tables of a SQLite store, and the statements that read them."""

from __future__ import annotations

import re
import tempfile
from contextlib import closing, contextmanager
from itertools import product

import pytest
from tests.backends.pages import (
    LARGER,
    SCOPE,
    SMALL,
    add,
    code_of,
    page,
)

from uaix_backends.memory import MemoryStore
from uaix_backends.sqlite import SqliteStore
from uaix_backends.sqlite.layout import Layout
from uaix_core.schema.commits import Commit
from uaix_core.schema.relations import Keep, Relation
from uaix_core.schema.rows import (
    Bool,
    Id,
    Int,
    Row,
    row,
)
from uaix_core.schema.schema import Room, Schema
from uaix_core.session.schema import SCHEMA
from uaix_core.values.errors import (
    ClosedError,
)


@pytest.mark.parametrize("schema", [SMALL, LARGER, SCHEMA], ids=["1", "2", "whole"])
def test_every_read_searches_its_index(tmp_path, schema):
    """Each scan, in each shape and direction, searches the index of its path."""
    layout = Layout(schema)
    with (
        closing(SqliteStore.open(tmp_path / "s", create=True, schema=schema)) as store,
        store._connections.writer() as connection,
    ):
        for table, path in (
            (t, p) for t in layout.tables.values() for p in t.relation.orders
        ):
            is_own = path == "key" and table.is_narrow
            index = table.indexes[path].strip('"')
            named = "PRIMARY KEY" if is_own else f"INDEX {index}"
            whole = len(table.relation.orders[path])
            texts = [
                table.scan(path, prefix, after, reverse=reverse)
                for prefix, after in product(range(whole + 1), repeat=2)
                if prefix + after <= whole
                for reverse in (False, True)
            ]
            texts += [table.many(path, n, 64) for n in range(1, whole + 1)]
            for text in texts:
                plan = connection.execute(
                    f"EXPLAIN QUERY PLAN {text}", (None,) * text.count("?")
                )
                steps = [step for *_, step in plan if "VALUES" not in step]
                assert 1 == len(steps), (text, steps)
                assert re.match(rf"SEARCH \w+ USING {named} \(", steps[0]), steps


def test_due_and_ledger_search_their_indexes(store):
    """What is due and the rows of a commit are found by indexes of their own."""
    tables = store._layout.tables
    with store._connections.writer() as connection:
        for text, index in (
            (tables["job"].due, "uaix_job.due"),
            (tables["page"].ledger, "uaix_page.ledger"),
        ):
            plan = connection.execute(
                f"EXPLAIN QUERY PLAN {text}", (None,) * text.count("?")
            )
            assert f"USING INDEX {index} (" in next(iter(plan))[3]


def test_names_that_sql_would_mix_up():
    """Fields that differ by case, or are called as our own columns, stay apart."""

    @row
    class Odd(Row):
        scope_no: Id
        seq: Int
        Seq: Int
        ord: Bool
        version_: Int

    @row
    class Scope(Row):
        select: Id
        version__: Bool | None

    odd = Relation(
        "commit", Odd, ("seq", "Seq"), keep=Keep.HISTORY, paths={"KEY": ("ord",)}
    )
    scope = Relation("scope", Scope, ("select",), keep=Keep.CACHE)
    schema = Schema(Room("odd", (odd, scope)))
    rows = [Odd("a", 1, 2, ord=True, version_=3), Odd("b", 2, 1, ord=False, version_=4)]
    puts = [Scope("x", None), Scope("y", version__=True)]
    commit = Commit(SCOPE, 1, adds=rows, puts=puts)
    memory = MemoryStore(schema)
    memory.append(commit)
    with open_temporary(schema) as store:
        store.append(commit)
        for found in (memory, store):
            with found.snapshot(SCOPE) as snapshot:
                assert rows[::-1] == list(snapshot.scan("commit", "KEY", limit=9))
                assert rows[0] == snapshot.get("commit", (1, 2))
                assert puts == list(snapshot.scan("scope", "key", limit=9))
                assert snapshot.get("scope", ("y",)).version__ is True


@contextmanager
def open_temporary(schema):
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(
            SqliteStore.open(f"{folder}/s.sqlite", create=True, schema=schema)
        ) as store,
    ):
        yield store


@pytest.mark.parametrize("count", [0, 1, 31, 32, 33, 64, 97, 511, 512, 513, 1100])
def test_get_many_in_any_number(store, count):
    """Keys are found in whatever portions they are asked for."""
    store.append(add(*(page(n) for n in range(0, 1100, 2))))

    with store.snapshot(SCOPE) as snapshot:
        found = snapshot.get_many("page", [(n,) for n in range(count)])
        assert [(n,) for n in range(0, count, 2)] == sorted(found)
        assert all(row == page(key[0]) for key, row in found.items())


def test_commits_come_in_portions(store):
    """However many commits and rows there are, each comes whole and in order."""
    sizes = [1, 300, 2, 1, 255, 1, *([1] * 300)]
    number = 0
    for size in sizes:
        store.append(add(*(page(number + n) for n in range(size))))
        number += size

    with store.snapshot(SCOPE) as snapshot:
        found = list(snapshot.commits())
        assert sizes == [len(r.commit.adds) for r in found]
        assert list(range(number)) == [p.number for r in found for p in r.commit.adds]
        assert found[300:] == list(snapshot.commits(300))


def test_reading_commits_may_be_given_up(store):
    """Whoever stops in the middle, or goes on after closing, harms nothing."""
    for n in range(600):
        store.append(add(page(n)))
    with store.snapshot(SCOPE) as snapshot:
        commits = snapshot.commits()
        assert 1 == next(commits).seq
    assert "snapshot.closed" == code_of(lambda: list(commits), ClosedError)

    assert 601 == store.append(add(page(600))).seq
