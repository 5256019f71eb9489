"""Laws of editing a JSON text in place: one value changes and no other byte."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uaix_core.packages.manifest.places import edited, spans

KEYS = st.sampled_from(["a", "b", "c", 'q"', "\\", "é", ""])
SCALARS = st.sampled_from([None, True, 0, -1.5, "", "x,]}", 'q"\\', "é\n"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=8,
)
#: Ways to write the same value.
SPELLINGS = (
    {},
    {"indent": 2},
    {"ensure_ascii": False, "separators": (" , ", " :\t")},
    {"separators": (",", ":")},
)


def places(value: object, at: tuple = ()):
    """Every place in a value, and what stands there."""
    yield at, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*at, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, (*at, index))


@given(VALUES, st.sampled_from(SPELLINGS), st.sampled_from(["", " ", "\r\n\t"]))
def test_every_place_is_found(value: object, spelling: dict, around: str) -> None:
    """The span of a place is the text of the value there; others have none."""
    text = around + json.dumps(value, **spelling) + around
    every = dict(places(value))

    found = spans(text, [*every, ("nowhere",), ("a", 99), ("a", "nowhere", 1)])

    assert every == {
        place: json.loads(text[start:stop]) for place, (start, stop) in found.items()
    }


@given(VALUES, st.sampled_from(SPELLINGS), st.data())
def test_one_value_is_replaced(value: object, spelling: dict, data) -> None:
    """An edit changes the value at its place and not one byte beside it."""
    text = json.dumps(value, **spelling)
    place = data.draw(st.sampled_from(list(dict(places(value)))))
    start, stop = spans(text, [place])[place]

    new = edited(text, {place: '"new"', ("nowhere",): "1"})

    assert text[:start] + '"new"' + text[stop:] == new
    assert "new" == dict(places(json.loads(new)))[place]


@given(
    st.dictionaries(KEYS, VALUES, min_size=1, max_size=4),
    st.sampled_from(SPELLINGS),
    st.data(),
)
def test_one_member_is_removed(value: dict, spelling: dict, data) -> None:
    """Without a member the others stand as they did or were to, and it is JSON."""
    key, other = (data.draw(st.sampled_from(list(value))) for _ in range(2))
    edits = {(other,): '"new"', (key,): None}

    new = edited(json.dumps(value, **spelling), edits)

    left = {k: v for k, v in {**value, other: "new"}.items() if k != key}
    assert left == json.loads(new)
    assert list(left) == list(json.loads(new))


@pytest.mark.parametrize(
    "number", ["1e-400", "0.1000000000000000055", "1E2", "9" * 5_000, "-0"]
)
def test_numbers_stay_as_they_are_written(number: str) -> None:
    """A number is a text: neither its spelling nor its length matters."""
    text = f'{{"n": {number}, "x": 1}}'

    assert (6, 6 + len(number)) == spans(text, [("n",)])["n",]
    assert f'{{"n": {number}, "x": 2}}' == edited(text, {("x",): "2"})
    assert f'{{"n": {number}}}' == edited(text, {("x",): None})


def test_what_is_not_there_is_left() -> None:
    """A place that isn't there changes nothing."""
    text = '{"a": [1, {"b": 2}]}'

    assert text == edited(text, {("b",): None})
    assert text == edited(text, {("a", 1, "c"): None})
    assert text == edited(text, {("a", 2): "3"})
    assert '{"a": [1, {}]}' == edited(text, {("a", 1, "b"): None})
