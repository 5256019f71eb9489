"""Rows and the types of their fields.

A row class is written with annotations from this module::

    @row
    class Head(Row):
        package_id: Id
        record_id: Id
        revision_id: Id

Rows are values: whoever holds one may keep it, nobody may change it. The decorator
tells type checkers that they are frozen; at run time they are not, because freezing
makes building one five times dearer and stores build them by the thousand.
"""

from __future__ import annotations

import types
import typing
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    TypeVar,
    Union,
    cast,
    dataclass_transform,
)

import attrs

from uaix_core.schema.kinds import CONTENT, Kind, Rules, rules_of
from uaix_core.values.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Mapping


@attrs.frozen(init=False)
class Word:
    """The annotation of a closed vocabulary: ``Annotated[str, Word("on", "off")]``."""

    words: tuple[str, ...]

    def __init__(self, *words: str) -> None:
        object.__setattr__(self, "words", words)


#: An identifier: `uaix_core.values.ids.ID_PATTERN`; also digests in hex and UUIDs.
Id = Annotated[str, Kind.ID]
#: Microseconds since 1970 UTC; RFC 3339 with six decimals in canonical JSON.
Instant = Annotated[int, Kind.INSTANT]
#: A signed 64-bit integer; in canonical JSON a number up to 2**53 - 1, else a string.
Int = Annotated[int, Kind.INT]
#: True or false.
Bool = Annotated[bool, Kind.BOOL]
#: Text without NUL and lone surrogates.
Text = Annotated[str, Kind.TEXT]
#: Raw bytes; base64url in canonical JSON.
Bytes = Annotated[bytes, Kind.BYTES]
#: A JSON value that nobody queries, held as its RFC 8785 text.
Json = Annotated[str, Kind.JSON]


@attrs.frozen
class Field:
    """One column: its name, kind, whether None is allowed, the words of a Word."""

    name: str
    kind: Kind
    optional: bool = False
    words: tuple[str, ...] = ()
    rules: Rules = attrs.field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        rules = rules_of(self.kind, self.words, optional=self.optional)
        object.__setattr__(self, "rules", rules)


_T = TypeVar("_T")

if TYPE_CHECKING:

    @dataclass_transform(frozen_default=True, field_specifiers=(attrs.field,))
    def row(cls: type[_T]) -> type[_T]:
        """Turn an annotated class into a row class."""
        ...

else:

    def row(cls):  # noqa: ANN001, ANN201 - typed above, as the checkers see it
        """Turn an annotated class into a row class."""
        return attrs.define(cls, slots=True, eq=True, repr=False, unsafe_hash=False)


@row
class Row:
    """The base of all rows.

    ``version`` is set by stores and never by writers: the seq of the commit that
    wrote the row (HISTORY, versioned VIEW), its work number (WORK, CACHE), or 0. It
    takes no part in equality.
    """

    version: int = attrs.field(default=0, kw_only=True, eq=False)
    # What was computed of a row once, since rows never change: the canonical text of
    # its header, and the size of a body whose digest is right by construction.
    _header_text: str | None = attrs.field(default=None, init=False, eq=False)
    _body_size: int | None = attrs.field(default=None, init=False, eq=False)

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields_of(type(self)).values()
            if field.kind not in CONTENT
        )
        return f"{type(self).__name__}({shown})"


@row
class BodyRow(Row):
    """A row with an erasable body: it carries the body's salt and digest.

    ``body_digest`` stays when the body goes; ``salt`` goes with the body, so that the
    digest which outlives it confirms no guess.
    """

    body_digest: Id = attrs.field(default="", kw_only=True)
    salt: Bytes | None = attrs.field(default=None, kw_only=True)


def _read(name: str, annotation: Any, owner: type) -> Field:
    optional = False
    if typing.get_origin(annotation) in (Union, types.UnionType):
        parts = [a for a in typing.get_args(annotation) if a is not type(None)]
        optional = len(parts) < len(typing.get_args(annotation))
        annotation = parts[0] if len(parts) == 1 else None
    for mark in getattr(annotation, "__metadata__", ()):
        if isinstance(mark, Kind):
            return Field(name, mark, optional)
        if isinstance(mark, Word):
            return Field(name, Kind.WORD, optional, mark.words)
    raise SchemaError(
        "a field is annotated with one of the eight kinds",
        code="schema.field",
        path=f"{owner.__name__}.{name}",
    )


#: Fields of `Row` that are no columns.
_STORE_FIELDS = frozenset({"version", "_header_text", "_body_size"})

_FIELDS: dict[type, Mapping[str, Field]] = {}


def fields_of(cls: type[Row]) -> Mapping[str, Field]:
    """The fields of a row class in their order, without those of `Row` itself."""
    known = _FIELDS.get(cls)
    if known is None:
        hints = typing.get_type_hints(cls, include_extras=True)
        known = _FIELDS[cls] = {
            a.name: _read(a.name, hints[a.name], cls)
            for a in attrs.fields(cast("type[attrs.AttrsInstance]", cls))
            if a.name not in _STORE_FIELDS
        }
    return known
