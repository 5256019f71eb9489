"""How a row is named in messages, which never hold what people wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uaix_core.schema.kinds import CONTENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uaix_core.schema.relations import Relation


def row_name(relation: Relation, key: Sequence[Any]) -> str:
    """The relation of a row and the values of its key.

    A value of a kind that may hold what people wrote, or one that its field can't
    hold, shows as ``?``.
    """
    shown = [
        str(value)
        if relation.fields[name].kind not in CONTENT
        and relation.fields[name].rules.holds(value)
        else "?"
        for name, value in zip(relation.key, key, strict=True)
    ]
    return f"{relation.name} {'/'.join(shown)}"
