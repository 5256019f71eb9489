"""A damaged SQLite file gives our errors or right answers."""

from __future__ import annotations

import random
from contextlib import closing, suppress

import pytest
from tests.backends.pages import (
    PAGE,
    SCOPE,
    SMALL,
    Job,
    add,
    code_of,
    erase,
    page,
    spoil,
)

from uaix_backends.memory import MemoryStore
from uaix_backends.sqlite import SqliteStore
from uaix_backends.tabular.rows import Builder
from uaix_core.schema.commits import Commit
from uaix_core.schema.kinds import Kind
from uaix_core.session.schema import SCHEMA
from uaix_core.values.errors import (
    ConflictError,
    IntegrityError,
    StorageError,
    StoreOpenError,
)


def test_flipped_bytes_are_an_error_or_no_matter(path, store):
    """A damaged file gives our errors or rows of the right types; nothing crashes."""
    for n in range(8):
        store.append(add(page(n, f"title-{n}", bytes([n]) * 300)))
    store.append(Commit(SCOPE, 1, puts=[Job("j", 1)]))
    store.close()
    whole = path.read_bytes()
    draw = random.Random(5)
    told = 0
    for _ in range(150):
        damaged = bytearray(whole)
        at = draw.randrange(len(whole))
        damaged[at] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged)
        try:
            with closing(SqliteStore.open(path, schema=SMALL)) as opened:
                for call in READS.values():
                    with suppress(StorageError):
                        call(opened)
                opened.append(add(page(100)))
                _read(opened, lambda snapshot: list(snapshot.commits()))
        except (StoreOpenError, StorageError, ConflictError):
            told += 1
    assert told


READS = {
    "get": lambda store: _read(store, lambda s: s.get("page", (1,))),
    "get_many": lambda store: _read(store, lambda s: s.get_many("page", [(1,)])),
    "scan": lambda store: _read(store, lambda s: s.scan("page", "key", limit=9)),
    "commits": lambda store: _read(store, lambda s: list(s.commits())),
    "title": lambda store: _read(store, lambda s: s.scan("title", "key", limit=9)),
    "job": lambda store: _read(store, lambda s: s.get("job", ("j",))),
    "due": lambda store: store.due("job", until=9, limit=9),
    "scopes": lambda store: store.scopes(limit=9),
    "rebuild": lambda store: store.rebuild(SCOPE),
    "replay": lambda store: store.append(_recorded(1)),
}
ALL_PAGES = {"commits", "rebuild"}
PAGE_READS = {"get", "get_many", "scan"} | ALL_PAGES


def _read(store, call):
    with store.snapshot(SCOPE) as snapshot:
        return call(snapshot)


def _recorded(seq):
    with closing(MemoryStore(SMALL)) as other:
        for commit in DAMAGED:
            recorded = other.append(commit)
            if recorded.seq == seq:
                return recorded
    raise AssertionError


DAMAGED = (
    add(page(1, "one", b"ones")),
    Commit(SCOPE, 1, adds=[page(2)], puts=[Job("j", 1)]),
    erase(2),
)


@pytest.mark.parametrize(
    ("statement", "refused"),
    [
        # Text that is no UTF-8 is noticed by every read of it.
        ("update uaix_page set title = NO_TEXT where number = 1", PAGE_READS),
        ("update uaix_page set body_digest = NO_TEXT", PAGE_READS),
        ("update uaix_title set title = NO_TEXT", {"title"}),
        ("update uaix_job set job = NO_TEXT", {"due"}),
        ("update uaix_scope set scope = NO_TEXT", {"scopes", "due"}),
        ("update uaix_commit set digest = NO_TEXT", ALL_PAGES | {"replay"}),
        ("update uaix_commit set erases = NO_TEXT where seq = 3", ALL_PAGES),
        ("update uaix_scope set scope = 'nothing'", {"scopes", "due"}),
        # So is a value of a kind with but a few of them.
        ("update uaix_page set flag = 2 where number = 1", PAGE_READS),
        # Everything else, by whoever reads a history whole.
        ("update uaix_page set title = 'a' || char(0) where number = 1", ALL_PAGES),
        ("update uaix_page set title = 'two' where number = 1", ALL_PAGES),
        ("update uaix_page set data = x'00' where number = 1", ALL_PAGES),
        ("update uaix_page set data = null where number = 1", ALL_PAGES),
        ("update uaix_page set salt = null where number = 1", ALL_PAGES),
        ("update uaix_page set salt = x'00' where number = 1", ALL_PAGES),
        ("update uaix_page set body_digest = 'no digest'", ALL_PAGES),
        ("update uaix_page set body_digest = ' ' where number = 2", ALL_PAGES),
        ("update uaix_commit set erases = '{' where seq = 3", ALL_PAGES),
        ("""update uaix_commit set erases = '[["x", [1]]]'""", ALL_PAGES),
        ("""update uaix_commit set erases = '[["page", []]]'""", ALL_PAGES),
        ("""update uaix_commit set erases = '[["page", 1]]'""", ALL_PAGES),
        ("update uaix_commit set erases = '7'", ALL_PAGES),
    ],
)
def test_a_damaged_row_is_an_integrity_error(path, store, statement, refused):
    """Who reads what can't be read is told so, never that there is nothing."""
    for commit in DAMAGED:
        store.append(commit)
    store.close()
    spoil(path, statement)

    for name, call in READS.items():
        with closing(SqliteStore.open(path, schema=SMALL)) as opened:
            if name in refused:
                assert "storage.row" == code_of(lambda: call(opened), IntegrityError)  # noqa: B023 - called at once
            elif name != "job" or "uaix_job" not in statement:
                call(opened)


def test_a_damaged_row_is_named(path, store):
    """The error of a row names its relation and key, and shows no content."""
    store.append(add(page(7, "content-of-seven")))
    store.close()
    spoil(path, "update uaix_page set title = 'content-of-eight'")

    with closing(SqliteStore.open(path, schema=SMALL)) as opened:
        with pytest.raises(IntegrityError) as caught:
            READS["commits"](opened)
        with pytest.raises(IntegrityError) as again:
            opened.rebuild(SCOPE)

    assert "page 7" == caught.value.path == again.value.path
    assert "content" not in str(caught.value)


@pytest.mark.parametrize("seq", [1, 2, 3])
def test_a_commit_that_is_gone_is_missed(path, store, seq):
    """A gap anywhere in the chain is an error of the chain."""
    for commit in DAMAGED:
        store.append(commit)
    store.close()
    spoil(path, f"delete from uaix_commit where seq = {seq}")  # noqa: S608 - a number

    with closing(SqliteStore.open(path, schema=SMALL)) as opened:
        for name in ("commits", "rebuild"):
            assert "storage.chain" == code_of(lambda: READS[name](opened))  # noqa: B023 - called at once


@pytest.mark.parametrize(
    "statement",
    [
        "update uaix_meta set value = NO_TEXT",
        "update uaix_meta set name = NO_TEXT where name = 'format'",
        "update uaix_migration set name = NO_TEXT",
        "update uaix_migration set checksum = NO_TEXT",
        "update uaix_migration set relations = NO_TEXT",
        """
        pragma writable_schema = on;
        update sqlite_schema set sql = sql || ' --' || NO_TEXT where name = 'uaix_page'
        """,
    ],
)
def test_damaged_texts_about_the_store_keep_it_closed(path, store, statement):
    """Own tables and declarations that are no UTF-8 are no raw error either."""
    store.close()
    spoil(path, statement)

    with pytest.raises((StoreOpenError, IntegrityError)):
        SqliteStore.open(path, schema=SMALL)


def test_a_damaged_schema_text_stops_an_open_store(path, store):
    """The check before each commit reads a text too."""
    spoil(path, "update uaix_migration set checksum = NO_TEXT")

    assert "storage.row" == code_of(lambda: store.append(add(page(1))), IntegrityError)


@pytest.mark.parametrize(
    ("relation", "field"),
    [
        pytest.param(relation, field, id=f"{relation.name}.{field.name}")
        for relation in (*SCHEMA.relations.values(), PAGE)
        for field in relation.ordered
        if field.kind in (Kind.WORD, Kind.BOOL)
    ],
)
def test_a_word_that_is_none_is_no_row(relation, field):
    """No read makes a row of a word or a truth value that its field doesn't have."""
    examples = {
        Kind.ID: "an-id",
        Kind.TEXT: "text",
        Kind.JSON: "{}",
        Kind.BYTES: b"",
        Kind.BOOL: 0,
    }
    values = [
        f.words[-1] if f.kind is Kind.WORD else examples.get(f.kind, 1)
        for f in relation.ordered
    ]
    builder = Builder(relation)
    good = (*values, 3)
    assert [builder.one(good)] == builder.many([good])
    assert 3 == builder.one(good).version

    at = relation.columns.index(field.name)
    for bad in ("SECRET", "SECRET\0", 2, b"x", *([] if field.optional else [None])):
        broken = (*values[:at], bad, *values[at + 1 :], 3)
        for call in (
            lambda: builder.one(broken),  # noqa: B023 - called at once
            lambda: builder.many([good, broken]),  # noqa: B023
        ):
            with pytest.raises(IntegrityError) as caught:
                call()
            assert "storage.row" == caught.value.code
            assert caught.value.path.startswith(f"{relation.name} ")
            assert "SECRET" not in str(caught.value)
