"""Migrations in the words of a database, and which of them a store has had.

A store has one row for each migration: its checksum, which is of the exact statements,
and the digests of the relations that it declared. Opening compares these rows with what
this version would have run.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import attrs

from uaix_core.schema.migrations import Migration
from uaix_core.schema.relations import Keep
from uaix_core.values.canonical import canonical_digest
from uaix_core.values.errors import IntegrityError, StoreOpenError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from uaix_core.schema.schema import Schema


@attrs.frozen
class Script:
    """A migration as the statements of one database.

    Args:
        version: its place, from 1.
        name: with the version it names the migration.
        is_additive: see `uaix_core.schema.migrations.Migration`.
        is_transactional: see there.
        relations: relation to the digest of its declaration.
        statements: run in this order; without an end mark.
        record: the statement that notes in the store that it was run; it goes into the
            same transaction, and fails where that was done before.
        begin: how a transaction for it begins.

    """

    version: int
    name: str
    is_additive: bool
    is_transactional: bool
    relations: Mapping[str, str]
    statements: tuple[str, ...]
    record: str = ""
    begin: str = ""

    @property
    def checksum(self) -> str:
        """SHA-256 (hex) of the RFC 8785 form of the list of statements."""
        return canonical_digest(list(self.statements))

    @property
    def texts(self) -> tuple[str, ...]:
        """All that is to be run: the statements, then the record."""
        return (*self.statements, self.record)

    def as_dict(self) -> dict[str, Any]:
        """The migration as plain data."""
        return {
            "set": "uaix",
            "version": self.version,
            "name": self.name,
            "checksum": self.checksum,
            "is_additive": self.is_additive,
            "is_transactional": self.is_transactional,
            "statements": list(self.texts),
        }


class Applied(NamedTuple):
    """The row of a migration that a store has had."""

    version: int
    name: str
    checksum: str
    relations: Mapping[str, str]
    is_additive: bool


class Standing(NamedTuple):
    """What a store has had of the migrations of a schema.

    ``done`` it has had, ``missing`` not yet; ``later`` are those that it has had and
    this version doesn't know. ``mark`` is version and checksum of the last it has had,
    ``strict`` the version of the last that is not additive.
    """

    done: Sequence[Script] = ()
    missing: Sequence[Script] = ()
    later: Sequence[Applied] = ()
    mark: tuple[int, str] = (0, "")
    strict: int | None = None


class Scripts:
    """The migrations of a schema in the words of one database.

    Args:
        schema: the relations and their migrations.
        digests: relation to the digest of its declaration.
        dialect: the key of `Migration.statements`.
        own: statements that go before all others.
        ddl: gives the statements that make the tables of relations.
        record: the statement that notes a migration, but for its values: version, name,
            checksum, relations and whether it is additive.
        begin: how a transaction begins.
        filled: puts names that a place decides into a text of `Migration.statements`.

    """

    def __init__(  # noqa: PLR0913 - what a database decides
        self,
        schema: Schema,
        digests: Mapping[str, str],
        *,
        dialect: str,
        own: Sequence[str],
        ddl: Callable[[Iterable[str]], list[str]],
        record: str,
        begin: str,
        filled: Callable[[str], str] = str,
    ) -> None:
        self._schema = schema
        self._digests = digests
        self._dialect = dialect
        self._own = own
        self._ddl = ddl
        self._record = record
        self._begin = begin
        self._filled = filled

    def all(self) -> tuple[Script, ...]:
        """Every migration, for a store that has had none."""
        return self._scripts(())

    def standing(self, rows: Iterable[Sequence[Any]], place: str) -> Standing:
        """Compare the rows of a store with what this version would have run.

        A row is version, name, checksum, relations and whether it is additive, and
        they come in the order of versions.

        Raises:
            StoreOpenError: ``store.schema`` when the store holds other relations,
                ``store.newer`` when a later version changed it so that this one can't
                use it.
            IntegrityError: ``store.migration`` when a row is missing, or when other
                statements were run under the name of a migration.

        """
        applied = [_read(row, place) for row in rows]
        if [row.version for row in applied] != [*range(1, len(applied) + 1)]:
            raise _broken(place, "a migration of the store is missing")
        scripts = self._scripts(applied)
        count = sum(1 for script in scripts if script.version <= len(applied))
        if applied and not count:
            raise other_schema(place)
        known, later = applied[:count], applied[count:]
        for row in later:
            if not row.is_additive:
                raise outgrown(place, row.version)
        for row, script in zip(known, scripts, strict=False):
            if set(row.relations) != set(script.relations):
                raise other_schema(place)
        missing = scripts[count:]
        anew = {name for script in missing for name in script.relations}
        stored = {
            name: digest for row in known for name, digest in row.relations.items()
        }
        if any(self._digests[n] != d for n, d in stored.items() if n not in anew):
            raise other_schema(place)
        for row, script in zip(known, scripts, strict=False):
            if (row.name, row.checksum) != (script.name, script.checksum):
                raise _broken(
                    place, f"migration {row.version} isn't the one of its name"
                )
        mark = (applied[-1].version, applied[-1].checksum) if applied else (0, "")
        strict = max((r.version for r in applied if not r.is_additive), default=None)
        return Standing(scripts[:count], missing, later, mark, strict)

    def _scripts(self, applied: Sequence[Applied]) -> tuple[Script, ...]:
        migrations = self._schema.migrations or self._undeclared(applied)
        return tuple(map(self._script, migrations))

    def _undeclared(self, applied: Sequence[Applied]) -> list[Migration]:
        """The migrations of a schema without any: what was done, and what it lacks."""
        relations = self._schema.relations
        done: list[Migration] = []
        for row in applied:
            if not all(name in relations for name in row.relations):
                # Another schema, or a later form of this one.
                return done
            done.append(self._made(row.version, list(row.relations)))
        have = {name for migration in done for name in migration.relations}
        lacking = [name for name in relations if name not in have]
        if lacking:
            done.append(self._made(len(done) + 1, lacking))
        return done

    def _made(self, version: int, relations: Sequence[str]) -> Migration:
        return Migration(version, "relations", relations, is_additive=False)

    def _script(self, migration: Migration) -> Script:
        texts = migration.statements.get(self._dialect)
        made = (
            self._ddl(migration.relations)
            if texts is None
            else [self._filled(text) for text in texts]
        )
        script = Script(
            version=migration.version,
            name=migration.name,
            is_additive=migration.is_additive,
            is_transactional=migration.is_transactional,
            relations={name: self._digests[name] for name in migration.relations},
            statements=(*(self._own if migration.version == 1 else ()), *made),
            begin=self._begin,
        )
        return attrs.evolve(script, record=self._recorded(script))

    def _recorded(self, script: Script) -> str:
        # Names and digests: nothing in them is quoted.
        relations = json.dumps(script.relations)
        values = (
            f"{script.version}, '{script.name}', '{script.checksum}', "
            f"'{relations}', {int(script.is_additive)}"
        )
        return f"{self._record} ({values})"


def has_views(schema: Schema, scripts: Iterable[Script]) -> bool:
    """Whether migrations add views, which are to be filled."""
    relations = schema.relations
    names = (name for script in scripts for name in script.relations)
    return any(relations[name].keep is Keep.VIEW for name in names)


def check_transactional(scripts: Iterable[Script], place: str) -> None:
    """Refuse to run what the keeper of a database has to run.

    Raises:
        StoreOpenError: ``store.migration``.

    """
    for script in scripts:
        if not script.is_transactional:
            raise StoreOpenError(
                f"migration {script.version} can't be run in a transaction",
                code="store.migration",
                path=place,
                hint="run what `uaix migrations` shows of it, then open the store",
            )


def check_whole(
    standing: Standing, place: str, command: str, *, then: str = ""
) -> None:
    """Refuse a host's database that lacks a migration, since the host runs them.

    ``then`` says what else is to be done.

    Raises:
        StoreOpenError: ``store.migration``.

    """
    if standing.missing:
        raise StoreOpenError(
            f"migration {standing.missing[0].version} wasn't run yet",
            code="store.migration",
            path=place,
            hint=f"run what {command} gives, with your own tool{then}",
        )


def outgrown(place: str, version: int) -> StoreOpenError:
    """The error for a store that a later version has changed beyond this one."""
    return StoreOpenError(
        f"a later version has changed the store (migration {version})",
        code="store.newer",
        path=place,
        hint="open it with that version",
    )


def other_schema(place: str) -> StoreOpenError:
    """The error for a store that holds other relations than those asked for."""
    return StoreOpenError(
        "the store was made with another schema",
        code="store.schema",
        path=place,
        hint="open it with the version and schema that it was made with",
    )


def _broken(place: str, why: str) -> IntegrityError:
    return IntegrityError(
        why,
        code="store.migration",
        path=place,
        hint="restore the store from a backup",
    )


def _read(row: Sequence[Any], place: str) -> Applied:
    """A row as it is stored; anything may stand in a damaged one."""
    version, name, checksum, relations, is_additive = row
    try:
        declared = json.loads(relations)
    except (TypeError, ValueError, RecursionError):
        declared = None
    if not isinstance(declared, dict) or type(version) is not int:
        raise other_schema(place)
    return Applied(version, name, checksum, declared, bool(is_additive))
