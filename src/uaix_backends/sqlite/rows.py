"""Rows from results: the inner loop of every read.

A scan is to cost little more than the same statement by hand, and then most of it is
the making of rows. Setting the attributes in one generated loop takes a third of the
time of calling the class for each row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from uaix_core.schema.kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from uaix_core.schema.relations import Relation
    from uaix_core.schema.rows import Row


def builder(relation: Relation) -> Callable[[Iterable[Any]], list[Row]]:
    """A function that makes rows of results: the columns in order, then the version.

    It does what ``relation.make`` does, and calls it where a row class does more than
    hold its fields.
    """
    columns = (*relation.columns, "version")
    attributes = attrs.fields_dict(relation.row)
    others = [a for name, a in attributes.items() if name not in columns]
    is_plain = (
        not hasattr(relation.row, "__attrs_post_init__")
        and all(a.converter is None for a in attributes.values())
        and all(a.validator is None for a in attributes.values())
        and all(a.default is None for a in others)
    )
    if not is_plain:
        return lambda results: [_made(relation, values) for values in results]
    names = [f"v{i}" for i in range(len(columns))]
    lines = [f"row.{a.name} = None" for a in others]
    for name, column in zip(names, columns, strict=True):
        field = relation.fields.get(column)
        value = name
        if field is not None and field.kind is Kind.BOOL:
            value = f"{name} == 1"
            if field.optional:
                value = f"None if {name} is None else {value}"
        lines.append(f"row.{column} = {value}")
    body = "\n        ".join(lines)
    source = f"""
def build(results):
    rows = []
    for {", ".join(names)} in results:
        row = new(kind)
        {body}
        rows.append(row)
    return rows
"""
    scope: dict[str, Any] = {"new": object.__new__, "kind": relation.row}
    exec(source, scope)  # noqa: S102 - of nothing but the names of declared fields
    build: Callable[[Iterable[Any]], list[Row]] = scope["build"]
    return build


def _made(relation: Relation, values: tuple[Any, ...]) -> Row:
    *found, version = values
    for at, name in enumerate(relation.columns):
        if relation.fields[name].kind is Kind.BOOL and found[at] is not None:
            found[at] = found[at] == 1
    return relation.make(found, version)
