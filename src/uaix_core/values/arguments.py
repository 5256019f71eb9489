"""What callers hand in, checked before anything is done with it.

A text is a sequence of texts to Python, so that ``only="notes"`` would mean five files
of one letter each; here it is refused wherever several things are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from uaix_core.values.errors import CallerError
from uaix_core.values.text import check_text

_T = TypeVar("_T")


def check_type(value: _T, kind: type[Any] | tuple[type[Any], ...], path: str) -> _T:
    """Return the value, or refuse what is of another type (``input.type``)."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        raise CallerError(
            "a value of another type is needed here",
            code="input.type",
            path=path,
            hint=" or ".join(one.__name__ for one in kinds),
        )
    return value


def check_items(values: Iterable[_T], kind: type[Any], path: str) -> tuple[_T, ...]:
    """Several values of one type as a tuple.

    Raises:
        CallerError: ``input.list`` for one text or what is no iterable, ``input.type``
            for an item of another type.

    """
    if isinstance(values, (str, bytes, bytearray)) or not isinstance(values, Iterable):
        raise CallerError(
            "several things are asked for here, in a list or another iterable",
            code="input.list",
            path=path,
            hint="put a single one into a list of one",
        )
    items = tuple(values)
    for index, item in enumerate(items):
        check_type(item, kind, f"{path}[{index}]")
    return items


def check_texts(values: Iterable[str], path: str) -> tuple[str, ...]:
    """Several texts as a tuple.

    Raises:
        CallerError: ``input.list``, ``input.type``, ``text.not-storable``.

    """
    texts = check_items(values, str, path)
    for index, text in enumerate(texts):
        check_text(text, f"{path}[{index}]")
    return texts


def check_mapping(values: Mapping[str, _T], path: str) -> dict[str, _T]:
    """A mapping whose keys are texts as a dict.

    Raises:
        CallerError: ``input.type``, ``text.type``, ``text.not-storable``.

    """
    found = dict(check_type(values, Mapping, path))
    for index, key in enumerate(found):
        check_text(key, f"{path}[{index}].key")
    return found


def check_files(
    files: Mapping[str, bytes], path: str, *, is_stored: bool = True
) -> None:
    """Refuse what maps no paths to bytes.

    ``is_stored`` says that the paths are to be stored, else they are yet to be judged.

    Raises:
        CallerError: ``input.type``, ``text.not-storable``.

    """
    for index, (name, data) in enumerate(check_type(files, Mapping, path).items()):
        check_type(name, str, f"{path}[{index}].key")
        check_type(data, (bytes, bytearray, memoryview), f"{path}[{index}].value")
        if is_stored:
            check_text(name, f"{path}[{index}].key")
