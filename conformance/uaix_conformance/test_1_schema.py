"""Group 1: the schema a store serves, what a commit may do to it, keys and fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from uaix_conformance.comparison import exact, exacts, get, refused, rows
from uaix_conformance.examples import (
    SCOPE,
    changed,
    commit,
    entry,
    expect,
    fact,
    job,
    lease,
    note,
    note_ref,
    vector,
)
from uaix_conformance.rows import Head, Tally
from uaix_conformance.schema import KIT, RELATIONS
from uaix_core.schema.relations import Keep, Ref
from uaix_core.schema.rows import Row, row
from uaix_core.values.errors import CallerError, SchemaError

if TYPE_CHECKING:
    from collections.abc import Callable

    from uaix_conformance.harness import Site
    from uaix_core.store.port import Store


@row
class Stranger(Row):
    """A row class that no schema declares."""


@pytest.mark.clause("1.1")
def test_the_schema_is_the_one_it_was_opened_with(store: Store) -> None:
    """A store gives the schema it was opened with."""
    assert KIT is store.schema


@pytest.mark.clause("1.1")
def test_the_library_s_own_schema_is_served(site: Site) -> None:
    """A store opened with the library's own schema keeps rows of it."""
    from uaix_core.session.schema import SCHEMA  # noqa: PLC0415 - for this test alone

    store = site.open(SCHEMA)
    relation = SCHEMA.relation("digest_key")
    written = relation.make(("requests", "0" * 64))
    store.append(commit(puts=[written]))
    with store.snapshot(SCOPE) as snapshot:
        came = snapshot.get("digest_key", relation.key_of(written))
        empty = [
            name
            for name, declared in SCHEMA.relations.items()
            for path in declared.orders
            if snapshot.scan(name, path, limit=1)
        ]

    assert SCHEMA is store.schema
    assert came == written
    assert ["digest_key"] == empty


@pytest.mark.clause("1.1")
def test_stores_over_different_schemas_stand_side_by_side(
    new_site: Callable[[], Site],
) -> None:
    """Two stores of one process may serve different schemas."""
    from uaix_core.session.schema import SCHEMA  # noqa: PLC0415 - for this test alone

    own, kit = new_site().open(SCHEMA), new_site().open()
    kit.append(commit(fact()))

    assert (SCHEMA, KIT) == (own.schema, kit.schema)
    assert 1 == len(rows(kit, SCOPE, "fact"))


@pytest.mark.clause("1.2")
def test_reads_of_an_undeclared_relation_are_refused(store: Store) -> None:
    """Each reading verb refuses a relation that the schema does not declare."""
    with store.snapshot(SCOPE) as snapshot:
        with pytest.raises(SchemaError):
            snapshot.get("nothing", ("a",))
        with pytest.raises(SchemaError):
            snapshot.get_many("nothing", [("a",)])
        with pytest.raises(SchemaError):
            snapshot.scan("nothing", "key", limit=1)
    with pytest.raises(SchemaError):
        store.due("nothing", until=0, limit=1)


@pytest.mark.clause("1.2")
@pytest.mark.parametrize("path", ["by_nothing", "", "by_due", "number"])
def test_a_scan_of_an_undeclared_path_is_refused(store: Store, path: str) -> None:
    """A path of another relation, or a field's name, is no path of this one."""
    with store.snapshot(SCOPE) as snapshot, pytest.raises(SchemaError):
        snapshot.scan("note", path, limit=1)


@pytest.mark.clause("1.2")
@pytest.mark.parametrize(
    "wrong",
    [
        commit(Stranger()),
        commit(puts=[Stranger()]),
        commit(drops=[Ref("nothing", ("a",))]),
        commit(erases=[Ref("nothing", ("a",))]),
        commit(fact(), expects=[expect("nothing", ("a",), 0)]),
    ],
    ids=["add", "put", "drop", "erase", "expect"],
)
def test_a_commit_on_an_undeclared_relation_is_refused(
    store: Store, wrong: object
) -> None:
    """No part of a commit may name a relation that the schema does not declare."""
    refused(store, SchemaError, wrong)  # type: ignore[arg-type]


_BY_KEEP = {
    Keep.HISTORY: (note(), note_ref()),
    Keep.VIEW: (Tally("a", 1), Ref("tally", ("a",))),
    Keep.WORK: (job(), Ref("job", (False, 0))),
    Keep.CACHE: (entry(), Ref("entry", ("",))),
}
_WRONG = [
    (part, keep)
    for part, allowed in (
        ("adds", (Keep.HISTORY,)),
        ("erases", (Keep.HISTORY,)),
        ("puts", (Keep.WORK, Keep.CACHE)),
        ("drops", (Keep.WORK, Keep.CACHE)),
    )
    for keep in Keep
    if keep not in allowed
]


@pytest.mark.clause("1.3")
@pytest.mark.parametrize(("part", "keep"), _WRONG)
def test_each_part_of_a_commit_takes_its_own_keeps_only(
    store: Store, part: str, keep: Keep
) -> None:
    """History is added and erased, work and cache put and dropped, views neither."""
    row_, ref = _BY_KEEP[keep]
    value = row_ if part in ("adds", "puts") else ref

    refused(store, SchemaError, changed(commit(fact()), **{part: [value]}))


@pytest.mark.clause("1.3")
def test_a_view_row_beside_good_rows_spoils_the_commit(store: Store) -> None:
    """A VIEW row in a commit is refused with all that stands beside it."""
    head = Head("s0", 0, sure=False, size=0, count=1)

    refused(store, SchemaError, commit(fact(), head))
    refused(store, SchemaError, commit(fact(), puts=[job(), head]))


@pytest.mark.clause("1.8")
def test_only_a_body_can_be_erased(store: Store) -> None:
    """History without a body is refused, whether or not a row stands there."""
    store.append(commit(note(0), fact(0)))

    for size in (0, 1):
        gone = Ref("fact", (0, False, size, "s0"))
        refused(store, SchemaError, commit(erases=[gone]))
        refused(store, SchemaError, commit(note(1), erases=[note_ref(0), gone]))


@pytest.mark.clause("1.4")
def test_every_kind_of_field_comes_back_from_every_keeping(store: Store) -> None:
    """Id, word, instant, int, bool, text, bytes and JSON come back, type and all."""
    extra = '{"a":[1,true,null,"b"]}'
    written = note(
        7,
        "A.b_c-9",
        kind="Say-so",
        pinned=True,
        noted_at=-1,
        extra=extra,
        title="t",
        text="a b",
        data=bytes(range(256)),
        meta="[]",
    )
    cached = entry(
        "n",
        group="g",
        flag=True,
        at=-5,
        size=-7,
        ident="I.1",
        word="Say-so",
        value="",
        data=b"",
        extra=extra,
    )
    work = job(3, urgent=True, due_at=9, kind="see", payload="0")
    plain = fact(-3, "S", at=1, sure=True, word="see", value="false")
    store.append(commit(written, plain, puts=[cached, work]))

    for relation, value, version in (
        ("note", written, 1),
        ("fact", plain, 1),
        ("entry", cached, 1),
        ("job", work, 1),
    ):
        key = KIT.relation(relation).key_of(value)
        came = get(store, SCOPE, relation, *key)
        assert exact(KIT.of(value).stamped(value, version)) == exact(came)
        assert exacts([came]) == exacts(rows(store, SCOPE, relation))  # type: ignore[list-item]


@pytest.mark.clause("1.4")
def test_absent_fields_come_back_as_none(store: Store) -> None:
    """An optional field without a value comes back as None, not as empty or zero."""
    store.append(
        commit(note(extra=None), fact(value=None), puts=[entry(), vector(), job()])
    )

    for relation, field in (
        ("note", "extra"),
        ("fact", "value"),
        ("entry", "value"),
        ("entry", "data"),
        ("entry", "extra"),
        ("vector", "text"),
        ("job", "payload"),
    ):
        (came,) = rows(store, SCOPE, relation)
        assert getattr(came, field) is None


@pytest.mark.clause("1.5")
@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("a", "A"),
        ("a", "a "),
        ("a", " a"),
        ("", " "),
        ("\N{LATIN SMALL LETTER E WITH ACUTE}", "e\N{COMBINING ACUTE ACCENT}"),
        ("\N{ANGSTROM SIGN}", "\N{LATIN CAPITAL LETTER A WITH RING ABOVE}"),
        ("\N{LATIN SMALL LETTER SHARP S}", "ss"),
        ("a\n", "a"),
        ("a", "a\N{ZERO WIDTH SPACE}"),
        ("1", "01"),
    ],
)
def test_text_keys_that_look_alike_are_different_keys(
    store: Store, one: str, two: str
) -> None:
    """Case, spaces and Unicode normalisation make different keys."""
    store.append(commit(puts=[entry(one, value="1"), entry(two, value="2")]))

    assert "1" == getattr(get(store, SCOPE, "entry", one), "value", None)
    assert "2" == getattr(get(store, SCOPE, "entry", two), "value", None)


@pytest.mark.clause("1.5")
def test_ids_that_differ_in_case_are_different_keys(store: Store) -> None:
    """History keys are compared exactly, so both rows are added."""
    store.append(commit(note(topic="t"), note(topic="T"), note(topic="t.")))

    assert ["T", "t", "t."] == [getattr(r, "topic") for r in rows(store, SCOPE, "note")]  # noqa: B009 - rows of notes


@pytest.mark.clause("1.5")
@pytest.mark.parametrize("field", ["at", "sure", "size", "subject"])
def test_each_field_of_a_key_counts(store: Store, field: str) -> None:
    """Rows whose keys differ in one field alone, whichever, are two rows."""
    other = {"at": 1, "sure": True, "size": 1, "subject": "s1"}[field]
    one, two = fact(), changed(fact(), **{field: other}, word="see")
    store.append(commit(one, two))

    for value in (one, two):
        came = get(store, SCOPE, "fact", *KIT.relation("fact").key_of(value))
        assert getattr(came, "word", None) == value.word


#: A row of each relation that a commit may write.
_BY_NAME: dict[str, Row] = {
    "note": note(),
    "fact": fact(),
    "job": job(),
    "lease": lease(),
    "vector": vector(),
    "entry": entry(),
}

_PLACED = [
    (relation.name, field)
    for relation in RELATIONS
    if relation.keep is not Keep.VIEW
    for field in dict.fromkeys(f for order in relation.orders.values() for f in order)
]


_NO_KEYS = [
    ("note", ("t0",)),
    ("note", ("t0", 0, 0)),
    ("note", ()),
    ("note", (0, "t0")),
    ("note", ("not an id", 0)),
    ("note", ("t0", "0")),
    ("note", ("t0", None)),
    ("fact", (0, 0, 0, "s0")),
    ("job", (False, True)),
]


@pytest.mark.clause("1.7")
@pytest.mark.parametrize(("relation", "key"), _NO_KEYS)
def test_a_read_by_what_is_no_key_is_refused(
    store: Store, relation: str, key: tuple[object, ...]
) -> None:
    """Too few values, too many, and values that the field does not hold."""
    good = KIT.relation(relation).key_of(_BY_NAME[relation])
    with store.snapshot(SCOPE) as snapshot:
        with pytest.raises(CallerError):
            snapshot.get(relation, key)
        for keys in ([key], [good, key]):
            with pytest.raises(CallerError):
                snapshot.get_many(relation, keys)


@pytest.mark.clause("1.7")
@pytest.mark.parametrize(("relation", "key"), _NO_KEYS)
def test_a_commit_that_names_what_is_no_key_is_refused(
    store: Store, relation: str, key: tuple[object, ...]
) -> None:
    """In an expect, a drop and an erase alike."""
    store.append(commit(note(0), note(1, "t1"), puts=[job(0)]))
    part = {"note": "erases", "job": "drops"}.get(relation)
    if part is not None:
        named = Ref(relation, key)
        refused(store, CallerError, changed(commit(fact()), **{part: [named]}))
    refused(store, CallerError, commit(fact(1), expects=[expect(relation, key, 0)]))


@pytest.mark.clause("1.6")
@pytest.mark.parametrize(("relation", "field"), _PLACED)
def test_none_in_a_key_or_path_is_refused(
    store: Store, relation: str, field: str
) -> None:
    """Each field of a key or path must have a value."""
    broken = changed(_BY_NAME[relation], **{field: None})
    history = KIT.relation(relation).keep is Keep.HISTORY
    made = commit(broken) if history else commit(puts=[broken])

    refused(store, CallerError, made)
