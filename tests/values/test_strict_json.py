from __future__ import annotations

import contextlib
import json
import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uaix_core.values.canonical import MAX_SAFE_INTEGER
from uaix_core.values.strict_json import REASONS, StrictJsonError, parse

# From 3.13 on the comma itself is named, and what is missing behind it before that.
TRAILING = 2 if sys.version_info >= (3, 13) else 3

REFUSED = [
    (b"\xff{}", "encoding", 0),
    (b'["\xc3("]', "encoding", 2),
    (b'["\xed\xa0\x80"]', "encoding", 2),
    ("[1]".encode("utf-16-le"), "encoding", 1),
    ("[1]".encode("utf-32-be"), "encoding", 0),
    (b"\xef\xbb\xbf{}", "bom", 0),
    (b"[[[[]]]]", "depth", 3),
    (b'{"a":{"b":{"c":{}}}}', "depth", 15),
    (b'["\\"[[[[", [[[]]]]', "depth", 13),
    (b"", "syntax", 0),
    (b"  ", "syntax", 2),
    (b"{'a':1}", "syntax", 1),
    (b"[1,]", "syntax", TRAILING),
    (b'["\t"]', "syntax", 2),
    (b"[01]", "syntax", 2),
    (b"\xc2\xa0[]", "syntax", 0),
    (b'{"a":1,"a":1}', "duplicate-key", 7),
    (b'{"a":1,"\\u0061":2}', "duplicate-key", 7),
    (b'{"a":[{"b":1},{"b":1,"c":"b,","b":2}]}', "duplicate-key", 30),
    (b"[NaN]", "number", 1),
    (b"[1, -Infinity]", "number", 4),
    (b"[Infinity]", "number", 1),
    (b"[1e400]", "number", 1),
    (b"[0.5,-1E+400]", "number", 5),
    (b"[9007199254740991, 9007199254740992]", "number", 19),
    (b"[-9007199254740992]", "number", 1),
    (b'["9007199254740992 NaN 1e400", 9007199254740992]', "number", 31),
    (b"[" + b"9" * 5_000 + b"]", "number", 1),
    (b'["\\ud800"]', "surrogate", 1),
    (b'{"a\\uDC00":1}', "surrogate", 1),
    (b'["\\ud83d\\ude00", "\\ude00\\ud83d"]', "surrogate", 17),
    (b"{}\0", "trailing", 2),
    (b"{} {}", "trailing", 3),
    (b"[]x", "trailing", 2),
    (b"1\x0c", "trailing", 1),
]


@pytest.mark.parametrize(("data", "reason", "position"), REFUSED)
def test_refused_with_reason_and_place(data, reason, position):
    """What isn't strict I-JSON is refused with its reason and its place."""
    with pytest.raises(StrictJsonError) as caught:
        parse(data, max_depth=3)

    assert (reason, position) == (caught.value.reason, caught.value.position)
    assert f"json.{reason}" == caught.value.code


def test_every_reason_has_an_example():
    """The table above shows every reason there is."""
    assert set(REASONS) == {reason for _, reason, _ in REFUSED}


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b" \t\r\n[] \t\r\n", []),
        (b"[[[]]]", [[[]]]),
        (b'["[[[[{{{{"]', ["[[[[{{{{"]),
        (b'["\\\\", "[[[["]', ["\\", "[[[["]),
        (b'["\\"[[[["]', ['"[[[[']),
        (b'[{},{},{},{"a":[]}]', [{}, {}, {}, {"a": []}]),
        (
            b"[9007199254740991,-9007199254740991]",
            [MAX_SAFE_INTEGER, -MAX_SAFE_INTEGER],
        ),
        (b"[1e308, -0.0]", [1e308, -0.0]),
        (b'["\\ud83d\\ude00", "\\\\ud800"]', ["\U0001f600", "\\ud800"]),
        (b'{"a":{"a":1},"b":{"a":1}}', {"a": {"a": 1}, "b": {"a": 1}}),
        (b'"\xc3\xa9"', "é"),
        (b"null", None),
    ],
)
def test_read_as_they_are(data, value):
    """What is strict I-JSON is read as its value, up to the very limits."""
    assert value == parse(data, max_depth=3)
    assert value == parse(bytearray(data), max_depth=3)
    assert value == parse(memoryview(data), max_depth=3)


@pytest.mark.parametrize("opening", [b'{"a":', b"[", b'[{"a":'])
@pytest.mark.parametrize("closed", [True, False])
def test_deep_nesting_is_refused_and_does_no_harm(opening, closed):
    """Twenty thousand levels are refused as depth, closed or not."""
    closing = {b'{"a":': b"}", b"[": b"]", b'[{"a":': b"}]"}[opening]
    data = opening * 20_000 + (b"1" + closing * 20_000 if closed else b"")
    with pytest.raises(StrictJsonError) as caught:
        parse(data, max_depth=32)

    assert "depth" == caught.value.reason


def test_a_limit_beyond_the_stack_does_no_harm():
    """Nesting that the caller allows and the stack doesn't is refused as depth."""
    with pytest.raises(StrictJsonError) as caught:
        parse(b"[" * 200_000 + b"]" * 200_000, max_depth=10**6)

    assert "depth" == caught.value.reason


def test_place_is_told_in_lines_and_columns():
    """Line and column count from one; nothing of the text is quoted."""
    with pytest.raises(StrictJsonError) as caught:
        parse(b'{\n "hush": 1,\n "hush": 2\n}', max_depth=3)

    assert (3, 2) == (caught.value.line, caught.value.column)
    assert "hush" not in str(caught.value)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_agrees_with_json_on_i_json(value, ascii_only, indent):
    """Every I-JSON value that json writes is read back as that value."""
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)

    assert value == parse(text.encode("utf-8"), max_depth=64)


@given(st.text(alphabet='{}[]",:\\u0d8e1.- NaIf', max_size=24))
def test_accepts_nothing_that_json_refuses(text):
    """Text over JSON's own alphabet is refused, or read as json reads it."""
    try:
        value = parse(text.encode("utf-8"), max_depth=8)
    except StrictJsonError:
        return

    assert value == json.loads(text)
    assert not isinstance(value, float) or math.isfinite(value)


@given(st.binary(max_size=64))
def test_any_bytes_are_read_or_refused(data):
    """No bytes raise anything but the one error."""
    with contextlib.suppress(StrictJsonError):
        parse(data, max_depth=4)
