"""Laws of storable text and of errors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uaix_core.values import errors
from uaix_core.values.errors import (
    CallerError,
    ConflictError,
    StorageError,
    UaixError,
)
from uaix_core.values.text import check_text, is_storable


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_text_without_nul_is_storable(text: str) -> None:
    """Every text of Unicode scalar values without NUL is storable."""
    assert ("\0" not in text) == is_storable(text)


@pytest.mark.parametrize("text", ["\0", "a\0b", "\ud800", "é\udfff"])
def test_what_no_backend_can_hold_is_refused(text: str) -> None:
    """NUL and lone surrogates are refused with a stable code and the path."""
    with pytest.raises(CallerError) as caught:
        check_text(text, "title")

    assert ("text.not-storable", "title") == (caught.value.code, caught.value.path)


@pytest.mark.parametrize("text", [b"bytes", None, 1])
def test_only_text_is_text(text: object) -> None:
    """Bytes and numbers are no text."""
    with pytest.raises(CallerError):
        check_text(text)  # type: ignore[arg-type]


def all_errors() -> list[type[UaixError]]:
    """Every error class of the module."""
    found = [c for c in vars(errors).values() if isinstance(c, type)]
    return [c for c in found if issubclass(c, UaixError) and c is not UaixError]


@pytest.mark.parametrize("kind", all_errors())
def test_each_error_is_of_exactly_one_family(kind: type[UaixError]) -> None:
    """By whose move it is, each error belongs to one of three families."""
    families = (CallerError, ConflictError, StorageError)

    assert 1 == sum(issubclass(kind, family) for family in families)


@pytest.mark.parametrize("kind", all_errors())
def test_each_error_has_a_code_of_its_own_and_one_form(kind: type[UaixError]) -> None:
    """An error shows its code, message, path and hint, and is plain data as well."""
    error = kind("it broke", path="there", hint="mend it")

    assert f"{kind.default_code}: it broke at there (mend it)" == str(error)
    assert {
        "code": kind.default_code,
        "message": "it broke",
        "path": "there",
        "hint": "mend it",
    } == error.as_dict()
    assert 1 == [k.default_code for k in all_errors()].count(kind.default_code)


def test_a_conflict_carries_the_row_but_never_shows_it() -> None:
    """The current row is a field of a conflict and no part of its text."""
    error = ConflictError("changed", relation="r", key=["k"], expected=3, current="ROW")

    assert ("r", ("k",), 3, "ROW") == (
        error.relation,
        error.key,
        error.expected,
        error.current,
    )
    assert "ROW" not in str(error) + repr(error)


@pytest.mark.parametrize(
    ("path", "quoted"),
    [
        ("plain/path.uai", "plain/path.uai"),
        ("C:\\store", "C:\\store"),
        ("naïve/日本.uai", "naïve/日本.uai"),
        ("two\nlines", "two\\u{a}lines"),
        ("\x1b[31mred", "\\u{1b}[31mred"),
        ("a\u202eb\u200bc", "a\\u{202e}b\\u{200b}c"),
        ("\U000e0041\ufe0f\u3164", "\\u{e0041}\\u{fe0f}\\u{3164}"),
        ("\ud800", "\\u{d800}"),
        ("x" * 1_024, "x" * 1_024),
        ("x" * 1_025, "x" * 1_024 + "..."),
        (5, None),
        (b"bytes", None),
        (None, None),
    ],
)
@pytest.mark.parametrize("kind", [CallerError, ConflictError, StorageError])
def test_an_error_quotes_its_path(kind, path, quoted):
    """A path is quoted in one line of bounded length in which all is seen."""
    error = kind("no", path=path)

    assert quoted == error.path == error.as_dict()["path"]
    assert quoted is None or str(error).isprintable()
