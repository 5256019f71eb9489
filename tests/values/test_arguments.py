"""Laws of arguments: what is handed in is what it is taken for, or refused."""

from __future__ import annotations

from types import MappingProxyType

import pytest

from uaix_core.values.arguments import (
    check_files,
    check_items,
    check_mapping,
    check_texts,
    check_type,
)
from uaix_core.values.errors import CallerError


def code_and_path(call, *args, **named):
    """What a refusal says."""
    with pytest.raises(CallerError) as caught:
        call(*args, **named)
    return caught.value.code, caught.value.path


@pytest.mark.parametrize("one", ["text", "", b"bytes", bytearray(b"x"), 5, None])
def test_one_is_not_several(one):
    """A text, bytes and what is no iterable are not several things."""
    assert ("input.list", "only") == code_and_path(check_texts, one, "only")
    assert ("input.list", "x") == code_and_path(check_items, one, object, "x")


@pytest.mark.parametrize("several", [["a", "b"], ("a", "b"), {"a": 1, "b": 2}])
def test_several_are_taken_from_any_iterable(several):
    """Lists, tuples, keys and iterators come out as a tuple, in their order."""
    assert ("a", "b") == check_texts(several, "x")
    assert ("a", "b") == check_texts(iter(several), "x")
    assert () == check_texts([], "x")


def test_items_are_of_one_type():
    """An item of another type is refused by its place."""
    assert ("input.type", "x[1]") == code_and_path(check_texts, ["a", 1], "x")
    assert ("input.type", "x[0]") == code_and_path(check_items, ["a"], int, "x")
    assert ("text.not-storable", "x[1]") == code_and_path(
        check_texts, ["a", "\ud800"], "x"
    )


def test_a_mapping_has_texts_for_keys():
    """Any mapping comes out as a dict; a key that is no text is refused."""
    assert {"a": 1} == check_mapping(MappingProxyType({"a": 1}), "x")
    assert ("input.type", "x") == code_and_path(check_mapping, [("a", 1)], "x")
    assert ("text.type", "x[0].key") == code_and_path(check_mapping, {1: 2}, "x")


def test_files_map_paths_to_bytes():
    """Bytes of any kind under texts are files, and nothing else is."""
    check_files({"a": b"x", "b": bytearray(b"x"), "c": memoryview(b"x")}, "files")
    assert ("input.type", "files") == code_and_path(check_files, None, "files")
    assert ("input.type", "files[0].key") == code_and_path(
        check_files, {1: b"x"}, "files"
    )
    assert ("input.type", "files[0].value") == code_and_path(
        check_files, {"a": "x"}, "files"
    )
    half = {"\ud800": b"x"}
    assert ("text.not-storable", "files[0].key") == code_and_path(
        check_files, half, "files"
    )
    check_files(half, "files", is_stored=False)


def test_a_type_is_named_in_the_hint():
    """A value of another type is refused with the name of what is needed."""
    with pytest.raises(CallerError) as caught:
        check_type("x", (int, bytes), "seq")

    error = caught.value
    assert ("input.type", "seq", "int or bytes") == (error.code, error.path, error.hint)
    assert 5 == check_type(5, int, "seq")
