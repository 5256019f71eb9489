"""The migrations of the library, as the statements of the database that takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from uaix_core.session.schema import SCHEMA
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from uaix_backends.tabular.migrations import Script
    from uaix_core.schema.schema import Schema

Dialect = Literal["sqlite", "postgresql"]
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)


def migrations(
    dialect: Dialect,
    *,
    schema: Schema = SCHEMA,
    namespace: str = "uaix",
    partitions: int = 0,
) -> tuple[Script, ...]:
    """The migrations in the order of their versions; no driver has to be installed.

    Args:
        dialect: ``sqlite`` or ``postgresql``.
        schema: the relations.
        namespace: the database schema for the tables; PostgreSQL only.
        partitions: into how many parts each table is cut; PostgreSQL only.

    Raises:
        CallerError: ``migrations.dialect``.
        StoreOpenError: ``store.option``.

    """
    if dialect == "sqlite":
        from uaix_backends.sqlite.layout import (  # noqa: PLC0415 - on first use
            Layout as SqliteLayout,
        )

        return SqliteLayout(schema).scripts.all()
    if dialect == "postgresql":
        from uaix_backends.postgres.layout import Layout  # noqa: PLC0415
        from uaix_backends.postgres.shapes import checked_partitions  # noqa: PLC0415

        return Layout(schema, namespace).scripts(checked_partitions(partitions)).all()
    raise CallerError(
        "no such dialect",
        code="migrations.dialect",
        path="dialect",
        hint="one of " + ", ".join(DIALECTS),
    )


def as_sql(scripts: tuple[Script, ...]) -> str:
    """Migrations as one SQL text, each under a comment with its name and checksum.

    Each that can be is in a transaction of its own. A shell must stop at the first
    error, since some would go on and commit the rest.
    """
    parts = []
    for script in scripts:
        kinds = [
            "additive" if script.is_additive else "not additive",
            "in one transaction" if script.is_transactional else "outside of any",
        ]
        texts = script.texts
        if script.is_transactional:
            texts = (script.begin, *texts, "COMMIT")
        parts += [
            f"-- uaix migration {script.version}: {script.name}",
            f"-- {', '.join(kinds)}; sha256 of its statements {script.checksum}",
            *(f"{text};" for text in texts),
            "",
        ]
    return "\n".join(parts)
