"""The eight kinds of field: what each holds and how it stands in canonical JSON.

The table at the end is the only place that tells kinds apart; every backend maps them
to types of its own.
"""

from __future__ import annotations

import enum
import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import attrs

from uaix_core.values.canonical import (
    MAX_SAFE_INTEGER,
    canonical_text,
    from_base64url,
    plain_text,
    to_base64url,
)
from uaix_core.values.ids import ID_PATTERN, is_id
from uaix_core.values.instants import (
    EARLIEST,
    FOREVER,
    format_instant,
    parse_instant,
)
from uaix_core.values.text import is_storable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_INT64 = 2**63


class Kind(enum.Enum):
    """What a field holds."""

    ID = "id"
    WORD = "word"
    INSTANT = "instant"
    INT = "int"
    BOOL = "bool"
    TEXT = "text"
    BYTES = "bytes"
    JSON = "json"


#: Kinds whose order all backends agree on: they may stand in keys and paths.
ORDERED = frozenset({Kind.ID, Kind.WORD, Kind.INSTANT, Kind.INT, Kind.BOOL, Kind.TEXT})
#: Kinds that may hold what people wrote; a repr never shows them.
CONTENT = frozenset({Kind.TEXT, Kind.BYTES, Kind.JSON})


@attrs.frozen
class Rules:
    """One kind's rules: what it holds, and how a value stands in canonical JSON.

    ``text`` is the JSON text of a value; ``to_json`` gives the value that has this
    text and ``from_json`` reads it back, None for "as it is".
    """

    holds: Callable[[Any], bool]
    text: Callable[[Any], str]
    to_json: Callable[[Any], Any] | None = None
    from_json: Callable[[Any], Any] | None = None


@lru_cache(maxsize=256)
def _is_canonical(value: str) -> bool:
    # Raw NULs are no JSON, and lone surrogates have no canonical text.
    try:
        return canonical_text(json.loads(value)) == value
    except (ValueError, RecursionError):
        return False


#: Longer texts aren't remembered.
_SHORT = 200


def _is_canonical_json(value: Any) -> bool:
    if type(value) is not str:
        return False
    check = _is_canonical if len(value) <= _SHORT else _is_canonical.__wrapped__
    return check(value)


def _int_to_json(value: int) -> int | str:
    return value if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER else str(value)


def _int_text(value: int) -> str:
    written = _int_to_json(value)
    return str(written) if written is value else f'"{written}"'


# Ids, words, digits and base64url need no escapes in JSON.
def _quoted(value: str) -> str:
    return f'"{value}"'


_format = lru_cache(maxsize=4096)(format_instant)
_matches_id = re.compile(ID_PATTERN).fullmatch


def _holds_text(value: Any) -> bool:
    return type(value) is str and is_storable(value)


KINDS: Mapping[Kind, Rules] = {
    Kind.ID: Rules(is_id, _quoted),
    # A Word's rules depend on its words: see `rules_of`.
    Kind.INSTANT: Rules(
        lambda v: type(v) is int and EARLIEST <= v <= FOREVER,
        lambda v: f'"{_format(v)}"',
        _format,
        parse_instant,
    ),
    Kind.INT: Rules(
        lambda v: type(v) is int and -_INT64 <= v < _INT64,
        _int_text,
        _int_to_json,
        int,
    ),
    Kind.BOOL: Rules(lambda v: type(v) is bool, lambda v: "true" if v else "false"),
    Kind.TEXT: Rules(_holds_text, plain_text),
    Kind.BYTES: Rules(
        lambda v: type(v) is bytes,
        lambda v: f'"{to_base64url(v)}"',
        to_base64url,
        from_base64url,
    ),
    Kind.JSON: Rules(_is_canonical_json, plain_text),
}

#: The commonest optional kinds, each without a second call.
_OPTIONAL: Mapping[Kind, Callable[[Any], bool]] = {
    Kind.ID: lambda v: v is None or (type(v) is str and _matches_id(v) is not None),
    Kind.TEXT: lambda v: v is None or (type(v) is str and is_storable(v)),
    Kind.BYTES: lambda v: v is None or type(v) is bytes,
}


def rules_of(kind: Kind, words: tuple[str, ...] = (), *, optional: bool) -> Rules:
    """The rules of one field."""
    if kind is Kind.WORD:
        among = frozenset(words)
        base = Rules(lambda v: type(v) is str and v in among, _quoted)
    else:
        base = KINDS[kind]
    if not optional:
        return base
    held = base.holds
    holds = _OPTIONAL.get(kind, lambda v: v is None or held(v))
    return attrs.evolve(base, holds=holds)
