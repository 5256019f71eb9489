from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.values.parsing.bodies import (
    EXAMPLES,
    FRONT_MATTER,
    KEYS,
    LABELLED,
    PIECES,
    TEXTS,
    VALUES,
)

from uaix_core.values.canonical import canonical_bytes
from uaix_core.values.parsing import canonical_text_digest, parse_body


def digest(text, media_type="text/uaix"):
    return canonical_text_digest(text.encode(), media_type)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


@given(TEXTS)
def test_newlines_do_not_count(text):
    """LF, CR LF and CR give one digest, with and without a byte order mark."""
    unix = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")
    expected = digest(unix)

    assert expected == digest(unix.replace("\n", "\r\n"))
    assert expected == digest(unix.replace("\n", "\r"))
    assert expected == digest("\ufeff" + unix)


@given(st.lists(PIECES, min_size=1, max_size=15), st.integers(0, 14), PIECES)
def test_equal_digests_mean_equal_letters(pieces, at, piece):
    """Two texts with one digest hold the same letters, in whatever layout."""
    at %= len(pieces)
    one, other = "".join(pieces), "".join([*pieces[:at], piece, *pieces[at + 1 :]])

    assert digest(one) != digest(other) or (
        sorted(c for c in one if c.isalpha()) == sorted(c for c in other if c.isalpha())
    )


@given(
    st.sampled_from(sorted(EXAMPLES)),
    st.integers(0, 400),
    st.sampled_from("aZé7"),
)
def test_every_letter_counts(name, at, letter):
    """Another letter or figure anywhere in a text gives another digest."""
    text = EXAMPLES[name]
    at %= len(text)
    assume(text[at].isalnum() and text[at] != letter)

    assert digest(text) != digest(text[:at] + letter + text[at + 1 :])


@given(st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=4), VALUES)
def test_every_field_counts(pairs, value):
    """Another text in the last field gives another digest."""
    assume(pairs[-1][1] != value)
    text = "".join(f"{key}: {said}\n" for key, said in pairs)
    other = [*pairs[:-1], (pairs[-1][0], value)]

    assert digest(text) != digest("".join(f"{k}: {v}\n" for k, v in other))


def test_quotes_in_front_matter_do_not_count():
    """The same string in other quotes is the same front matter."""
    assert digest(FRONT_MATTER) == digest(FRONT_MATTER.replace('"1.0"', "'1.0'"))


def test_unicode_counts_as_it_is():
    """Composed and decomposed spellings have two digests."""
    assert digest("a: \u00e9\n") != digest("a: e\u0301\n")


def test_read_text_is_digested_by_its_view():
    """The digest of read text is that of the RFC 8785 form of its view."""
    view = parse_body(LABELLED.encode(), "text/uaix").as_dict()

    assert sha256(canonical_bytes(view)) == digest(LABELLED)


def test_raw_text_is_digested_as_it_is():
    """The digest of text without structure is that of the text with LF newlines."""
    assert sha256("héllo\nworld".encode()) == digest("héllo\r\nworld", "text/plain")


def test_json_is_digested_by_its_canonical_form():
    """Order, white space and escapes of JSON don't count; values do."""
    one = digest('{"b": 1.0, "a": "\\u00e9"}', "application/json")

    assert sha256('{"a":"é","b":1}'.encode()) == one
    assert one != digest('{"b": 2, "a": "é"}', "application/json")


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', "{", '{"a": 1e999}'])
def test_other_json_is_digested_as_text(text):
    """JSON without a canonical form follows the rule of raw text."""
    assert sha256(text.encode()) == digest(text, "application/json")


@given(st.dictionaries(st.text(max_size=3), st.integers(-9, 9) | st.text(max_size=3)))
def test_any_layout_of_json_has_one_digest(value):
    """Pretty-printed and compact JSON have one digest."""
    compact = json.dumps(value)
    pretty = json.dumps(value, indent=2, ensure_ascii=False)
    assume("\\u0000" not in compact)

    assert digest(compact, "application/json") == digest(pretty, "application/json")


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (b"x", "image/png"),
        (b"\xff", "text/uaix"),
        (b"a\0", "text/uaix"),
        (b"\xff", "application/json"),
    ],
)
def test_what_is_no_text_has_no_digest(data, media_type):
    """Images and bytes that are no text have none."""
    assert canonical_text_digest(data, media_type) is None
