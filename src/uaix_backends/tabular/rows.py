"""Rows from results: the inner loop of every read.

A read is to cost little more than the same statement by hand, and then most of it is
the making of rows. Setting the attributes in generated code takes a third of the time
of calling the class.

Words and truth values are looked up in a table, which costs what comparing them would
and finds those that their field doesn't have.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import attrs

from uaix_backends.tabular.damage import damaged_row
from uaix_core.schema.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from uaix_core.schema.relations import Relation
    from uaix_core.schema.rows import Field, Row
    from uaix_core.values.errors import IntegrityError

    #: A result is the columns in their order, then the version.
    Result = Any

_SOURCE = """
def one(result):
    {names} = result
    row = new(kind)
    try:
        {lines}
    except KeyError:
        raise damaged(result) from None
    return row

def many(results):
    rows = []
    try:
        for {names} in results:
            row = new(kind)
            {inner}
            rows.append(row)
    except KeyError:
        raise damaged(({names})) from None
    return rows
"""


def _known(field: Field) -> Mapping[Any, Any] | None:
    """Stored value -> value, for the kinds that have but a few."""
    none = {None: None} if field.optional else {}
    if field.kind is Kind.BOOL:
        return {0: False, 1: True, **none}
    if field.kind is Kind.WORD:
        return {**{word: word for word in field.words}, **none}
    return None


class Builder:
    """Makes rows as ``relation.make`` does.

    It calls that where a row class does more than hold its fields. A word or a truth
    value that its field doesn't have is an `IntegrityError` (``storage.row``).
    """

    one: Callable[[Result], Row]
    many: Callable[[Iterable[Result]], list[Row]]

    def __init__(self, relation: Relation) -> None:
        self._relation = relation
        self._known = {f.name: _known(f) for f in relation.ordered}
        attributes = attrs.fields_dict(cast("type[attrs.AttrsInstance]", relation.row))
        columns = (*relation.columns, "version")
        others = [a for name, a in attributes.items() if name not in columns]
        is_plain = (
            not hasattr(relation.row, "__attrs_post_init__")
            and all(a.converter is None for a in attributes.values())
            and all(a.validator is None for a in attributes.values())
            and all(a.default is None for a in others)
        )
        if is_plain:
            self._generate(columns, [a.name for a in others])
        else:
            self.one = self._made
            self.many = lambda results: [self._made(result) for result in results]

    def _generate(self, columns: tuple[str, ...], others: list[str]) -> None:
        names = [f"v{i}" for i in range(len(columns))]
        lines = [f"row.{name} = None" for name in others]
        scope: dict[str, Any] = {
            "new": object.__new__,
            "kind": self._relation.row,
            "damaged": self._damaged,
        }
        for name, column in zip(names, columns, strict=True):
            value = name
            known = self._known.get(column)
            if known is not None:
                value = f"known_{name}[{name}]"
                scope[f"known_{name}"] = known
            lines.append(f"row.{column} = {value}")
        source = _SOURCE.format(
            names=", ".join(names),
            lines="\n        ".join(lines),
            inner="\n            ".join(lines),
        )
        exec(source, scope)  # noqa: S102 - of nothing but the names of declared fields
        self.one = cast("Callable[[Result], Row]", scope["one"])
        self.many = cast("Callable[[Iterable[Result]], list[Row]]", scope["many"])

    def _made(self, result: Result) -> Row:
        *values, version = result
        try:
            for at, known in enumerate(self._known.values()):
                if known is not None:
                    values[at] = known[values[at]]
        except KeyError:
            raise self._damaged(result) from None
        return self._relation.make(values, version)

    def _damaged(self, result: Result) -> IntegrityError:
        relation = self._relation
        named = dict(zip(relation.columns, result[:-1], strict=True))
        key = []
        for name in relation.key:
            known = self._known[name]
            value = named[name]
            # A value that isn't known shows as none of its field's.
            key.append(known.get(value) if known is not None else value)
        return damaged_row(relation, key)


@lru_cache(maxsize=256)
def builder_of(relation: Relation) -> Builder:
    """The builder of a relation's rows, whose code is generated once."""
    return Builder(relation)
