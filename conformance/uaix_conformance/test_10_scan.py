"""Group 10: walking a path."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from uaix_conformance.comparison import exacts, order_of, rows
from uaix_conformance.examples import (
    SCOPE,
    commit,
    entry,
    fact,
    job,
    lease,
    note,
    note_ref,
    vector,
)
from uaix_conformance.harness import site_of
from uaix_conformance.oracle import Oracle, scanned
from uaix_conformance.schema import KIT, RELATIONS
from uaix_conformance.strategies import INSTANTS, INTEGERS, NASTY
from uaix_core.schema.relations import BY_KEY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_conformance.harness import Harness
    from uaix_conformance.oracle import State
    from uaix_core.store.port import Store

_PATHS = [(r.name, path) for r in RELATIONS for path in (BY_KEY, *r.paths)]


def _crowd(store: Store) -> Oracle:
    """Rows in which every leading field of every path repeats."""
    oracle = Oracle(KIT)
    kinds = ("ask", "say", "see", "Say-so")
    for given in (
        commit(
            *(
                note(
                    n % 4,
                    f"t{n // 4}",
                    kind=kinds[n % 3],
                    pinned=n % 2 == 0,
                    noted_at=n % 3 - 1,
                    text=f"w{n % 3} w{n}",
                    title=f"title {n}" if n % 2 else "",
                )
                for n in range(8)
            ),
            *(
                fact(
                    n % 2, f"s{n % 3}", at=n % 2 - 1, sure=n % 4 > 1, word=kinds[n % 4]
                )
                for n in range(12)
            ),
        ),
        commit(
            puts=[
                *(
                    job(n % 3, urgent=n > 2, due_at=n % 2, kind=kinds[n % 2])
                    for n in range(6)
                ),
                *(lease(n % 2, f"t{n // 4}", holder=f"h{n // 2}") for n in range(8)),
                *(vector(n % 2, f"t{n % 2}", model=f"m{n % 3}") for n in range(6)),
                *(
                    entry(
                        name,
                        group="g" if n % 2 else "",
                        flag=n % 3 == 0,
                        at=n % 2,
                        size=n % 3 - 1,
                    )
                    for n, name in enumerate(("", "a", "B", "b", "é", "\U0001f600"))
                ),
            ]
        ),
        commit(erases=[note_ref(1), note_ref(2, "t1")]),
    ):
        store.append(given)
        oracle.append(given)
    return oracle


@pytest.fixture(scope="module")
def crowd(
    harness: Harness, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Store, State]]:
    """A store that nobody changes any more, and what it holds."""
    with site_of(harness, tmp_path_factory.mktemp("crowd")) as site:
        store = site.open()
        yield store, _crowd(store).state(SCOPE)


@pytest.mark.clause("10.1", "10.5", "10.6")
@pytest.mark.parametrize(("relation", "path"), _PATHS)
@pytest.mark.parametrize("reverse", [False, True], ids=["up", "down"])
def test_every_path_reads_as_the_model_does(
    crowd: tuple[Store, State], relation: str, path: str, reverse: bool
) -> None:
    """Each prefix, each after of each length and each limit, in both directions."""
    store, state = crowd
    model = state.all_rows()
    declared = KIT.relation(relation)
    every = scanned(declared, model, path)
    orders = [order_of(declared, path, row) for row in every]
    assert len(every) > 1, "nothing to order"
    with store.snapshot(SCOPE) as snapshot:

        @cache
        def same(*prefix: Any, after: Any = None, limit: int = 1_000) -> None:
            where = {"after": after, "reverse": reverse, "limit": limit}
            assert exacts(scanned(declared, model, path, prefix, **where)) == exacts(
                snapshot.scan(relation, path, prefix, **where)
            )

        for limit in (1, 2, len(every) - 1, len(every), len(every) + 1):
            same(limit=limit)
        for order in orders:
            for cut in range(len(order) + 1):
                same(*order[:cut])
                for to in range(cut + 1, len(order) + 1):
                    same(*order[:cut], after=order[cut:to])
                    same(*order[:cut], after=order[cut:to], limit=1)


@pytest.mark.clause("10.1")
def test_the_key_completes_every_order(store: Store) -> None:
    """Rows that are equal on a path stand in the order of their key."""
    store.append(
        commit(note(2, "a"), note(1, "b"), note(1, "a"), note(0, "c"), note(3, "A"))
    )

    expected = [("A", 3), ("a", 1), ("a", 2), ("b", 1), ("c", 0)]
    for path in ("key", "by_kind", "by_time"):
        found = rows(store, SCOPE, "note", path)
        assert expected == [KIT.relation("note").key_of(row) for row in found]
    # by_pin holds the key's second field, so only the topic is left to follow.
    assert [("c", 0), ("a", 1), ("b", 1), ("a", 2), ("A", 3)] == [
        KIT.relation("note").key_of(row) for row in rows(store, SCOPE, "note", "by_pin")
    ]


@pytest.mark.clause("10.2")
def test_text_is_ordered_by_code_point(store: Store) -> None:
    """Upper case before lower, accents after z, planes beyond the basic one last."""
    store.append(commit(puts=[entry(text) for text in reversed(NASTY)]))
    expected = sorted(NASTY, key=lambda text: [ord(c) for c in text])
    with store.snapshot(SCOPE) as snapshot:
        up = snapshot.scan("entry", "key", limit=1_000)
        down = snapshot.scan("entry", "by_group", ("",), reverse=True, limit=1_000)

    assert expected == [getattr(row, "name", None) for row in up]
    assert expected[::-1] == [getattr(row, "name", None) for row in down]
    assert expected.index("\uffff") < expected.index("\N{GRINNING FACE}")


@pytest.mark.clause("10.2", "10.5")
def test_text_is_ordered_so_after_each_text(store: Store) -> None:
    """`after` each nasty text begins with the next one in code point order."""
    store.append(commit(puts=[entry(text) for text in NASTY]))
    expected = sorted(NASTY, key=lambda text: [ord(c) for c in text])
    with store.snapshot(SCOPE) as snapshot:
        for i, text in enumerate(expected):
            found = snapshot.scan("entry", "key", after=(text,), limit=1)
            assert expected[i + 1 : i + 2] == [getattr(r, "name", None) for r in found]


@pytest.mark.clause("10.2")
def test_ids_and_words_are_ordered_by_code_point(store: Store) -> None:
    """Closed words stand in the order of their text, not of their declaration."""
    store.append(
        commit(
            note(0, "b", kind="see"),
            note(0, "B", kind="ask"),
            note(0, "a.", kind="Say-so"),
            note(0, "a-", kind="say"),
            note(0, "a", kind="say"),
            note(0, "a0", kind="ask"),
            note(0, "0", kind="ask"),
        )
    )

    assert ["0", "B", "a", "a-", "a.", "a0", "b"] == [
        getattr(r, "topic", None) for r in rows(store, SCOPE, "note")
    ]
    assert ["Say-so", "ask", "ask", "ask", "say", "say", "see"] == [
        getattr(r, "kind", None) for r in rows(store, SCOPE, "note", "by_kind")
    ]


@pytest.mark.clause("10.3")
def test_integers_are_ordered_as_numbers(store: Store) -> None:
    """From the lowest to the highest of 64 bits, negative ones before 0."""
    store.append(commit(*(fact(n) for n in reversed(INTEGERS))))
    with store.snapshot(SCOPE) as snapshot:
        for path, prefix in (("by_subject", ("s0",)), ("key", (0, False))):
            found = snapshot.scan("fact", path, prefix, limit=100)
            assert list(INTEGERS) == [getattr(r, "size", None) for r in found]
        for i, n in enumerate(INTEGERS):
            found = snapshot.scan("fact", "by_subject", ("s0",), after=(n,), limit=1)
            assert list(INTEGERS[i + 1 : i + 2]) == [
                getattr(r, "size", 0) for r in found
            ]


@pytest.mark.clause("10.3")
def test_instants_are_ordered_as_numbers(store: Store) -> None:
    """From the earliest instant to FOREVER, those before 1970 first."""
    store.append(commit(*(note(i, noted_at=at) for i, at in enumerate(INSTANTS[::-1]))))
    with store.snapshot(SCOPE) as snapshot:
        found = snapshot.scan("note", "by_time", limit=100)
        assert list(INSTANTS) == [getattr(r, "noted_at", None) for r in found]
        for i, at in enumerate(INSTANTS):
            found = snapshot.scan("note", "by_time", after=(at,), reverse=True, limit=1)
            expected = INSTANTS[i - 1 : i] if i else ()
            assert list(expected) == [getattr(r, "noted_at", None) for r in found]


@pytest.mark.clause("10.3")
def test_false_comes_before_true(store: Store) -> None:
    """In a key and on a path."""
    store.append(
        commit(
            *(note(n, pinned=n < 2) for n in range(4)),
            puts=[job(n, urgent=n < 2) for n in range(4)],
        )
    )

    assert [2, 3, 0, 1] == [
        getattr(r, "number", None) for r in rows(store, SCOPE, "note", "by_pin")
    ]
    assert [2, 3, 0, 1] == [
        getattr(r, "number", None) for r in rows(store, SCOPE, "job")
    ]


@pytest.mark.clause("10.4")
def test_a_prefix_is_compared_exactly(store: Store) -> None:
    """Not as the beginning of a text, and with wildcards as plain characters."""
    names = ["a", "ab", "A", "a%", "%", "_", "a ", ""]
    store.append(commit(puts=[entry(name, group=name) for name in names]))
    with store.snapshot(SCOPE) as snapshot:
        for name in names:
            for path in ("key", "by_group"):
                found = snapshot.scan("entry", path, (name,), limit=9)
                assert [name] == [getattr(r, "name", None) for r in found]
        assert [] == list(snapshot.scan("entry", "by_group", ("b",), limit=9))
        assert len(names) == len(snapshot.scan("entry", "by_group", (), limit=9))


@pytest.mark.clause("10.4")
def test_a_prefix_of_any_length_is_taken(store: Store) -> None:
    """No field, some fields, and the whole order with the key at its end."""
    store.append(commit(*(fact(n % 2, f"s{n // 2}", sure=n % 2 > 0) for n in range(4))))
    with store.snapshot(SCOPE) as snapshot:
        for prefix, count in (
            ((), 4),
            (("say",), 4),
            (("see",), 0),
            (("say", 0), 4),
            (("say", 0, True), 2),
            (("say", 0, True, 1), 2),
            (("say", 0, True, 1, "s0"), 1),
            (("say", 0, True, 0, "s0"), 0),
        ):
            assert count == len(snapshot.scan("fact", "by_word", prefix, limit=9))


@pytest.mark.clause("10.5", "10.8")
@pytest.mark.parametrize(
    ("after", "up", "down"),
    [
        ((0,), [1, 2, 4], []),
        ((1,), [2, 4], [0]),
        ((3,), [4], [2, 1, 0]),
        ((4,), [], [2, 1, 0]),
        ((5,), [], [4, 2, 1, 0]),
        ((-1,), [0, 1, 2, 4], []),
    ],
)
def test_after_is_strict_in_both_directions(
    store: Store, after: tuple[int], up: list[int], down: list[int]
) -> None:
    """Greater than, or less than: at a row, between rows, beyond both ends."""
    store.append(commit(*(note(n) for n in (4, 0, 2, 1)), note(3, "t1")))
    with store.snapshot(SCOPE) as snapshot:
        for reverse, expected in ((False, up), (True, down)):
            found = snapshot.scan(
                "note", "key", ("t0",), after=after, reverse=reverse, limit=9
            )
            assert expected == [getattr(r, "number", None) for r in found]


@pytest.mark.clause("10.5")
def test_a_short_after_skips_all_rows_that_share_it(store: Store) -> None:
    """Rows are cut to the length of `after` before they are compared."""
    store.append(commit(*(note(n, f"t{t}") for n in range(3) for t in range(3))))
    with store.snapshot(SCOPE) as snapshot:
        for reverse, topic in ((False, "t2"), (True, "t0")):
            found = snapshot.scan(
                "note", "key", after=("t1",), reverse=reverse, limit=9
            )
            assert [topic] * 3 == [getattr(r, "topic", None) for r in found]
        found = snapshot.scan("note", "key", after=("t1", 1), limit=9)
        assert [("t1", 2), ("t2", 0), ("t2", 1), ("t2", 2)] == [
            KIT.relation("note").key_of(r) for r in found
        ]


@pytest.mark.clause("10.6")
@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("reverse", [False, True], ids=["up", "down"])
def test_pages_give_every_row_once(store: Store, size: int, reverse: bool) -> None:
    """Each page begins after the last row of the one before, on every path."""
    model = _crowd(store).state(SCOPE).all_rows()
    with store.snapshot(SCOPE) as snapshot:
        for name, path in _PATHS:
            declared = KIT.relation(name)
            found: list[Any] = []
            after = None
            while page := snapshot.scan(
                name, path, after=after, reverse=reverse, limit=size
            ):
                assert len(page) <= size
                found += page
                assert len(found) <= len(model), "pages do not come to an end"
                after = order_of(declared, path, page[-1])
            assert exacts(scanned(declared, model, path, reverse=reverse)) == (
                exacts(found)
            )


@pytest.mark.clause("10.6", "9.1")
def test_pages_of_one_snapshot_ignore_what_comes_between(store: Store) -> None:
    """Rows that are added while pages are turned do not show."""
    store.append(commit(*(note(n) for n in (0, 2, 4, 6))))
    with store.snapshot(SCOPE) as snapshot:
        first = snapshot.scan("note", "key", limit=2)
        store.append(commit(*(note(n) for n in (1, 3, 5, 7))))
        second = snapshot.scan("note", "key", after=("t0", 2), limit=9)
    assert [0, 2, 4, 6] == [getattr(r, "number", None) for r in [*first, *second]]
