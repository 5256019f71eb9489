"""Laws of ids, scopes, principals and UUIDs."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uaix_core.values.errors import CallerError
from uaix_core.values.ids import (
    NAMESPACE_URL,
    Principal,
    ScopeId,
    check_id,
    is_id,
    uuid5,
    uuid7,
)


@pytest.mark.parametrize(
    "text", ["a", "0", "A.b_c-d", "a" * 128, "01890000-0000-7000-8000-000000000000"]
)
def test_ids(text: str) -> None:
    """Letters, digits, dot, underscore and hyphen up to 128 make an id."""
    assert text == check_id(text)


@pytest.mark.parametrize(
    "text",
    ["", ".a", "-a", "_a", "a" * 129, "a b", "a/b", "a\n", "é", "a\0", "..", "a:b", 5],
)
def test_no_ids(text: object) -> None:
    """Anything else is none, a trailing newline and other scripts among them."""
    assert not is_id(text)
    with pytest.raises(CallerError) as caught:
        check_id(text, "here")  # type: ignore[arg-type]
    assert ("id.syntax", "here") == (caught.value.code, caught.value.path)


def test_scope_text_round_trip() -> None:
    """A scope has one written form and is read back from it."""
    scope = ScopeId("acme", "project", "apollo")

    assert "acme/project/apollo" == str(scope) == scope.text
    assert scope == ScopeId.parse(scope.text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "a/b",
        "a/project",
        "a/project/b/c",
        "a/other/b",
        "/project/b",
        "a/Project/b",
        "a/project/",
        "a/project/b ",
    ],
)
def test_no_scopes(text: str) -> None:
    """A scope without tenant, known kind and key is refused, never defaulted."""
    with pytest.raises(CallerError):
        ScopeId.parse(text)


def test_scopes_compare_exactly() -> None:
    """Scopes that differ in letter case only are different scopes."""
    assert ScopeId.parse("a/project/b") != ScopeId.parse("a/project/B")


def test_principal_round_trip() -> None:
    """A principal has one written form and is read back from it."""
    who = Principal("operator", "local")

    assert "operator:local" == str(who)
    assert who == Principal.parse("operator:local")


@pytest.mark.parametrize("text", ["", "local", "root:x", "human:", "human:a b", ":x"])
def test_no_principals(text: str) -> None:
    """A principal of no known kind or without an id is refused."""
    with pytest.raises(CallerError):
        Principal.parse(text)


@given(st.integers(0, 2**48 - 1), st.binary(min_size=10, max_size=10))
def test_uuid7_layout(millis: int, random: bytes) -> None:
    """A UUIDv7 holds the milliseconds, version 7 and the RFC variant."""
    parsed = uuid.UUID(uuid7(millis, random))

    assert (7, uuid.RFC_4122) == (parsed.version, parsed.variant)
    assert millis == parsed.int >> 80


@given(st.integers(0, 2**48 - 2), st.binary(min_size=10, max_size=10))
def test_uuid7_rises_with_time(millis: int, random: bytes) -> None:
    """A later millisecond sorts later whatever the random bits are."""
    assert uuid7(millis, b"\xff" * 10) < uuid7(millis + 1, random)


@pytest.mark.parametrize(("millis", "size"), [(-1, 10), (2**48, 10), (0, 9), (0, 11)])
def test_uuid7_limits(millis: int, size: int) -> None:
    """Milliseconds beyond 48 bits and too few or many random bytes are refused."""
    with pytest.raises(CallerError):
        uuid7(millis, b"\0" * size)


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_uuid5_equals_the_standard_library(name: str) -> None:
    """A UUIDv5 is the one that any other implementation computes."""
    assert str(uuid.uuid5(uuid.NAMESPACE_URL, name)) == uuid5(NAMESPACE_URL, name)
