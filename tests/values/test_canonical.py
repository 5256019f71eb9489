"""Laws of canonical JSON, digests and base64url."""

import hashlib
import json
import struct

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from uaix_core.values.canonical import (
    MAX_SAFE_INTEGER,
    canonical_bytes,
    canonical_digest,
    from_base64url,
    plain_bytes,
    salted_digest,
    to_base64url,
)
from uaix_core.values.errors import CallerError

NUMBERS = [
    ("0000000000000000", "0"),
    ("8000000000000000", "0"),
    ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"),
    ("4340000000000001", "9007199254740994"),
    ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"),
    ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"),
    ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
    ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555554", "333333333.33333325"),
    ("41b3de4355555555", "333333333.3333333"),
    ("41b3de4355555556", "333333333.3333334"),
    ("41b3de4355555557", "333333333.33333343"),
    ("becbf647612f3696", "-0.0000033333333333333333"),
    ("43143ff3c1cb0959", "1424953923781206.2"),
    ("4076000000000000", "352"),
]


@pytest.mark.parametrize(("bits", "text"), NUMBERS)
def test_number_vectors(bits: str, text: str) -> None:
    """A double is written in the shortest ECMAScript form (RFC 8785 appendix B)."""
    number = struct.unpack(">d", bytes.fromhex(bits))[0]

    assert text.encode() == canonical_bytes(number)


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        float("-inf"),
        MAX_SAFE_INTEGER + 1,
        -MAX_SAFE_INTEGER - 1,
        "\ud800",
        {"\udfff": 1},
        {1: 2},
        b"bytes",
        {"a": object()},
    ],
)
def test_values_without_a_canonical_form_are_refused(value: object) -> None:
    """What I-JSON can't carry exactly has no canonical form, instead of a near one."""
    with pytest.raises(CallerError) as caught:
        canonical_bytes(value)

    assert "canonical.invalid" == caught.value.code


def test_keys_sort_by_utf_16_code_unit() -> None:
    """Members are ordered by UTF-16 code units, so an emoji comes before U+FB33."""
    form = canonical_bytes(
        {"\ufb33": 1, "\U0001f602": 2, "10": 3, "111": 4, "é": 5, "A\u030a": 6}
    )

    assert '{"10":3,"111":4,"A\u030a":6,"é":5,"\U0001f602":2,"\ufb33":1}' == (
        form.decode("utf-8")
    )


def test_escapes_are_minimal() -> None:
    """Only the two-letter escapes and lower-case hex are used; the rest is raw."""
    text = '\b\t\n\f\r"\\/\x00\x0f\x1f\x7f\x80\u2028'

    expected = '"\\b\\t\\n\\f\\r\\"\\\\/\\u0000\\u000f\\u001f\x7f\x80\u2028"'
    assert expected.encode() == canonical_bytes(text) == plain_bytes(text)


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER)
    | st.text(st.characters(exclude_categories=("Cs",))),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.text(st.characters(max_codepoint=127)), inner)
    ),
)


@given(PLAIN)
def test_the_fast_path_equals_the_checked_one(value: object) -> None:
    """With ASCII keys, no floats and safe integers all encoders agree on each byte."""
    assert rfc8785.dumps(value) == plain_bytes(value) == canonical_bytes(value)


@given(PLAIN)
def test_canonical_form_is_a_fixed_point(value: object) -> None:
    """Reading a canonical form and writing it again changes nothing."""
    form = canonical_bytes(value)

    assert form == canonical_bytes(json.loads(form))
    assert hashlib.sha256(form).hexdigest() == canonical_digest(value)


@given(st.lists(st.binary(max_size=9), max_size=4), st.binary(min_size=16, max_size=16))
def test_salted_digest_frames_each_part(parts: list[bytes], salt: bytes) -> None:
    """The digest is SHA-256 over the salt and each part behind its 8-byte length."""
    framed = salt + b"".join(struct.pack(">Q", len(p)) + p for p in parts)

    assert hashlib.sha256(framed).hexdigest() == salted_digest(salt, parts)


@pytest.mark.parametrize("size", [65_000, 65_536, 65_537, 200_000])
def test_salted_digest_of_large_parts(size: int) -> None:
    """Joined and streamed hashing give one digest, on either side of the threshold."""
    part = b"x" * size
    framed = b"s" * 16 + struct.pack(">Q", size) + part

    assert hashlib.sha256(framed).hexdigest() == salted_digest(b"s" * 16, [part])


def test_salted_digest_tells_apart_where_parts_end() -> None:
    """Moving a byte from one part to the next changes the digest."""
    assert salted_digest(b"s" * 16, [b"ab", b"c"]) != salted_digest(
        b"s" * 16, [b"a", b"bc"]
    )


@pytest.mark.parametrize("size", [0, 15, 17])
def test_a_salt_has_sixteen_bytes(size: int) -> None:
    """A salt of another length is refused."""
    with pytest.raises(CallerError):
        salted_digest(b"s" * size, [b""])


@given(st.binary(max_size=40))
def test_base64url_round_trip(data: bytes) -> None:
    """Bytes come back, and the text has no padding and only the URL alphabet."""
    text = to_base64url(data)

    assert data == from_base64url(text)
    assert set(text) <= set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    )


@pytest.mark.parametrize("text", ["AA==", "AB", "A", "+/+/", "A A", "Ä", "AAA=", "\n"])
def test_every_other_spelling_of_base64url_is_refused(text: str) -> None:
    """Padding, other alphabets and stray bits are refused: one spelling per value."""
    with pytest.raises(CallerError):
        from_base64url(text)
