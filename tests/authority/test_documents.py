"""Laws of registry documents: one canonical form, whatever spelling came in."""

from __future__ import annotations

import hashlib
import json
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uaix_core import CallerError, document_digest
from uaix_core.authority.documents import (
    MAX_DOCUMENT_BYTES,
    MAX_DOCUMENT_DEPTH,
    read_document,
)
from uaix_core.values.errors import LimitError

SMALL = {"namespace": "travel", "version": 1}
CANARY = "hunter2-canary"


def refusal(source):
    with pytest.raises(CallerError) as caught:
        read_document(source)
    return caught.value


def test_the_digest_is_that_of_the_canonical_form():
    """A digest is the SHA-256 of the RFC 8785 bytes, which anyone can compute."""
    source = '{ "version": 1.0, "é": 1e0, "a": "\\u0041/", "namespace": "travel" }'
    written = '{"a":"A/","namespace":"travel","version":1,"é":1}'
    found = read_document(source)

    assert written == found.text
    assert "sha256:" + hashlib.sha256(written.encode()).hexdigest() == found.digest
    assert found.digest == document_digest(json.loads(source))
    assert ("travel", 1) == (found.namespace, found.version)


SCALARS = (
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "a", "é\n"])
)
JSON = st.recursive(
    SCALARS | st.sampled_from([0.5, -1.25]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "é", "\U0001f600"]), inner)
    ),
    max_leaves=6,
)


def turned(value, draw):
    """The same value with its members in another order."""
    if isinstance(value, dict):
        names = draw(st.permutations(list(value)))
        return {name: turned(value[name], draw) for name in names}
    if isinstance(value, list):
        return [turned(one, draw) for one in value]
    return value


@given(st.dictionaries(st.sampled_from(["m", "n", "o"]), JSON), st.data())
def test_order_and_spelling_make_no_other_document(members, data):
    """Member order, white space and escapes change no digest, and values come back."""
    value = {**members, **SMALL}
    other = turned(value, data.draw)
    expected = document_digest(value)

    for indent in (None, 3):
        for is_ascii in (True, False):
            text = json.dumps(other, indent=indent, ensure_ascii=is_ascii)
            assert expected == document_digest(text) == document_digest(text.encode())
    assert expected == document_digest(other)
    assert value == read_document(other).value()


@given(st.dictionaries(st.sampled_from(["m", "n"]), JSON), JSON)
def test_other_content_has_another_digest(members, more):
    """A document with one more member, or one that differs, is another document."""
    value = {**members, **SMALL}
    digests = {
        document_digest(value),
        document_digest({**value, "more": more}),
        document_digest({**value, "version": 2}),
        document_digest({**value, "namespace": "hotels"}),
    }
    assert 4 == len(digests)


def test_a_value_is_the_callers_own():
    """What one caller does to a value, or to what it handed in, reaches nobody else."""
    source = {**SMALL, "list": [1]}
    found = read_document(source)
    source["list"].append(2)
    found.value()["list"].append(3)

    assert {**SMALL, "list": [1]} == found.value()


def test_a_repr_shows_no_content():
    """The repr of a document names it, and holds neither text nor digest."""
    found = read_document({**SMALL, "note": CANARY})
    assert "RegistryDocument(namespace='travel', version=1)" == repr(found)


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ({}, "namespace"),
        ({"version": 1}, "namespace"),
        ({"namespace": "travel"}, "version"),
        ({**SMALL, "namespace": None}, "namespace"),
        ({**SMALL, "namespace": 1}, "namespace"),
        ({**SMALL, "namespace": ""}, "namespace"),
        ({**SMALL, "namespace": CANARY + "!"}, "namespace"),
        ({**SMALL, "namespace": "x" * 129}, "namespace"),
        ({**SMALL, "version": 0}, "version"),
        ({**SMALL, "version": -1}, "version"),
        ({**SMALL, "version": 1.5}, "version"),
        ({**SMALL, "version": "1"}, "version"),
        ({**SMALL, "version": True}, "version"),
        ({**SMALL, "version": None}, "version"),
        ({**SMALL, "version": 2**53}, None),
        ({**SMALL, "n": 10**30}, None),
        ({**SMALL, "n": 10**5_000}, None),
        ({**SMALL, "n": 1e20}, None),
        ({**SMALL, "n": float("nan")}, None),
        ({**SMALL, "n": float("-inf")}, None),
        ({**SMALL, "n": {1: CANARY}}, None),
        ({**SMALL, "n": CANARY.encode()}, None),
        ({**SMALL, "n": {CANARY}}, None),
        ({**SMALL, "n": CANARY + "\ud800"}, None),
        ({**SMALL, CANARY + "\ud800": 1}, None),
        ([SMALL], None),
        (None, None),
        (1, None),
        ("", "line 1, column 1"),
        ("null", None),
        (f'["{CANARY}"]', None),
        (f'{{"{CANARY}": 1, "{CANARY}": 1}}', None),
        ('{"namespace": "travel", "version": NaN}', None),
        ('{"namespace": "travel", "version": 1} 1', None),
        (b"\xff", None),
        ("\ud800", None),
        ("[" * 500_000, None),
        ('{"a":' * 100_000, None),
    ],
)
def test_what_is_no_document_is_refused(source, path):
    """Whatever can't be one canonical document is a typed error without content."""
    error = refusal(source)

    assert "registration.document" == error.code
    assert path is None or path == error.path
    assert CANARY not in "".join(traceback.format_exception(error, chain=True)[1:])
    assert CANARY not in json.dumps(error.as_dict())


ANY = st.recursive(
    SCALARS
    | st.floats()
    | st.integers()
    | st.binary(max_size=2)
    | st.text(st.characters(), max_size=2),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.tuples(inner)
        | st.dictionaries(st.text(max_size=1) | st.integers(), inner, max_size=2)
    ),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(["namespace", "version", "m"]), ANY) | ANY)
def test_any_value_is_a_document_or_a_typed_error(source):
    """Nothing makes the reader fail otherwise, and what it reads it reads again."""
    found = read(source)
    if isinstance(found, str):
        assert "registration.document" == found
    else:
        assert found == read(found.text) == read(found.value())


def read(source):
    """The document, or the code that refuses."""
    try:
        return read_document(source)
    except CallerError as error:
        return error.code


def test_what_refers_to_itself_is_refused():
    """A value that holds itself has no canonical form."""
    source = {**SMALL}
    source["me"] = source
    assert "registration.document" == refusal(source).code


@pytest.mark.parametrize("form", [dict, json.dumps])
def test_a_document_is_so_deep_at_most(form):
    """`MAX_DOCUMENT_DEPTH` containers within each other pass, one more does not."""
    inner = 0
    for _ in range(MAX_DOCUMENT_DEPTH - 1):
        inner = [inner]

    assert read_document(form({**SMALL, "n": inner})).value()["n"] == inner
    assert "registration.document" == refusal(form({**SMALL, "n": [inner]})).code


@pytest.mark.parametrize("letter", ["a", "é"])
@pytest.mark.parametrize("as_text", [False, True])
def test_a_document_is_so_large_at_most(letter, as_text):
    """`MAX_DOCUMENT_BYTES` in canonical UTF-8 pass, one more does not."""
    empty = len(read_document({**SMALL, "n": ""}).text)
    count, odd = divmod(MAX_DOCUMENT_BYTES - empty, len(letter.encode()))
    most = {**SMALL, "n": letter * count + "a" * odd}
    more = {**SMALL, "n": letter * count + "a" * (odd + 1)}
    if as_text:
        most, more = (
            json.dumps(v, ensure_ascii=False, separators=(",", ":"))
            for v in (most, more)
        )

    assert MAX_DOCUMENT_BYTES == len(read_document(most).text.encode())
    error = refusal(more)
    assert (LimitError, "registration.document") == (type(error), error.code)


def test_white_space_counts_as_it_comes():
    """A text above the limit isn't read, though its canonical form were small."""
    text = json.dumps(SMALL)
    padded = text + " " * (MAX_DOCUMENT_BYTES - len(text))

    assert document_digest(text) == document_digest(padded)
    assert LimitError is type(refusal(padded + " "))
