"""Migrations: the steps by which the tables of a schema came to be what they are.

A database keeps which of them it has had, each with a checksum. What is published is
never edited; a change is a further migration.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

from uaix_core.schema.relations import Relation, as_tuple
from uaix_core.values.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NAME = re.compile(r"[a-z][a-z0-9-]{0,47}").fullmatch


def _texts(statements: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    return {dialect: tuple(texts) for dialect, texts in statements.items()}


@attrs.frozen
class Migration:
    """One step, the same for every database.

    Args:
        version: counts from 1 without a gap.
        name: words joined by ``-``; with the version it names the step.
        relations: those that the step adds, or declares anew.
        is_additive: whether a version of the library that lacks the step may go on
            reading and writing the store: nothing that it adds, erases, puts or drops
            would have changed a row of these relations, and no row that it reads holds
            what it doesn't know.
        is_transactional: whether the statements may run in a transaction. Others are
            run by whoever keeps the database, with a tool of their own.
        statements: dialect (``sqlite``, ``postgresql``) to the whole of its
            statements, for what the declarations of ``relations`` don't say; in those
            of PostgreSQL ``{namespace}`` stands for the database schema. They only
            create. A dialect that isn't named creates the tables of ``relations``.

    """

    version: int
    name: str
    relations: tuple[str, ...] = attrs.field(converter=as_tuple, default=())
    is_additive: bool = True
    is_transactional: bool = True
    statements: Mapping[str, tuple[str, ...]] = attrs.field(
        converter=_texts, factory=dict
    )


def check_migrations(
    migrations: Sequence[Migration], relations: Mapping[str, Relation]
) -> None:
    """Refuse migrations that don't end in exactly these relations.

    Raises:
        SchemaError: ``schema.migration``.

    """
    made: dict[str, int] = {}
    for number, migration in enumerate(migrations, 1):
        if migration.version != number:
            raise _refused(migration, "versions count from 1 without a gap")
        if _NAME(migration.name) is None:
            raise _refused(migration, "a name has lower-case words joined by -")
        for name in migration.relations:
            if name not in relations:
                raise _refused(migration, f"{name} isn't declared")
            made.setdefault(name, number)
            about = relations[name].about
            # Who doesn't know the relation erases what it is about, and it stays.
            if migration.is_additive and made.get(about or "", number) < number:
                raise _refused(migration, f"{name} is about an older relation")
    lacking = sorted(set(relations) - set(made))
    if lacking:
        raise SchemaError(
            f"no migration makes {', '.join(lacking)}", code="schema.migration"
        )


def _refused(migration: Migration, why: str) -> SchemaError:
    return SchemaError(why, code="schema.migration", path=str(migration.version))
