"""Stored rows that are none: how they are told, and what looks for them.

A read of the hot path refuses what it would stumble over anyway: a word and a truth
value that its field doesn't have. Types are the database's to keep, and a check of
every value with the digests of bodies costs more than the read itself; it is made
where whole histories are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uaix_core.schema.checks import check_row
from uaix_core.schema.row_names import row_name
from uaix_core.values.errors import CallerError, IntegrityError
from uaix_core.values.ids import ScopeId

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uaix_core.schema.relations import Relation
    from uaix_core.schema.rows import Row


def damaged_row(relation: Relation, key: Sequence[Any]) -> IntegrityError:
    """The error for a row that is none; its key is shown as far as it is no content."""
    return IntegrityError(
        "a stored row holds what it can't",
        code="storage.row",
        path=row_name(relation, key),
    )


def check_stored(relation: Relation, row: Row) -> None:
    """Refuse a stored row with any value that it can't hold, its body's digest too.

    Raises:
        IntegrityError: ``storage.row``, naming the relation and the key.

    """
    try:
        check_row(relation, row)
    except CallerError as error:
        raise damaged_row(relation, relation.key_of(row)) from error


def stored_scope(text: Any) -> ScopeId:
    """The scope that a row names.

    Raises:
        IntegrityError: ``storage.row`` when it is none.

    """
    try:
        return ScopeId.parse(text)
    except (CallerError, TypeError, AttributeError):
        raise IntegrityError(
            "a stored row names no scope", code="storage.row", path="scope"
        ) from None
