"""Rows from results: the inner loop of every read.

A read is to cost little more than the same statement by hand, and then most of it is
the making of rows. Setting the attributes in generated code takes a third of the time
of calling the class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import attrs

from uaix_core.schema.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from uaix_core.schema.relations import Relation
    from uaix_core.schema.rows import Row

    #: A result is the columns in their order, then the version.
    Result = Any

_SOURCE = """
def one(result):
    {names} = result
    row = new(kind)
    {lines}
    return row

def many(results):
    rows = []
    for {names} in results:
        row = new(kind)
        {inner}
        rows.append(row)
    return rows
"""


class Builder:
    """Makes rows as ``relation.make`` does.

    It calls that where a row class does more than hold its fields.
    """

    one: Callable[[Result], Row]
    many: Callable[[Iterable[Result]], list[Row]]

    def __init__(self, relation: Relation) -> None:
        self._relation = relation
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
        for name, column in zip(names, columns, strict=True):
            field = self._relation.fields.get(column)
            value = name
            if field is not None and field.kind is Kind.BOOL:
                value = f"None if {name} is None else {name} == 1"
            lines.append(f"row.{column} = {value}")
        source = _SOURCE.format(
            names=", ".join(names),
            lines="\n    ".join(lines),
            inner="\n        ".join(lines),
        )
        scope = {"new": object.__new__, "kind": self._relation.row}
        exec(source, scope)  # noqa: S102 - of nothing but the names of declared fields
        self.one = cast("Callable[[Result], Row]", scope["one"])
        self.many = cast("Callable[[Iterable[Result]], list[Row]]", scope["many"])

    def _made(self, result: Result) -> Row:
        *values, version = result
        for at, name in enumerate(self._relation.columns):
            if self._relation.fields[name].kind is Kind.BOOL and values[at] is not None:
                values[at] = values[at] == 1
        return self._relation.make(values, version)
