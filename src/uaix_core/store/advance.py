"""The pure half of `append`: from a commit and the rows read to what to write.

A backend holds its exclusion, starts `advance` with the scope's mark, answers its
questions, and writes the returned `Advance` in one atomic step::

    change = drive(advance(schema, commit, mark, work), answer)

Every decision (expectations, conflicts, the seal, views, uniqueness, what an erasure
takes along) is made here, so backends can't differ in it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import attrs

from uaix_core.schema.checks import check_commit
from uaix_core.schema.commits import Commit, Mark, Recorded
from uaix_core.schema.reduction import reduce
from uaix_core.schema.relations import Keep, Key, Ref, Relation
from uaix_core.store.forms import check_form, form_refs
from uaix_core.store.seal import check_chained, seal
from uaix_core.values.errors import (
    CallerError,
    ConflictError,
    IntegrityError,
    SchemaError,
)

if TYPE_CHECKING:
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema


class Find(NamedTuple):
    """All rows of a relation whose path begins with these values."""

    relation: str
    path: str
    prefix: Key


@attrs.frozen
class Ask:
    """What `advance` wants to know of the state before the commit."""

    rows: frozenset[Ref] = frozenset()
    finds: frozenset[Find] = frozenset()


@attrs.frozen
class Found:
    """The answer: the rows that exist, and for each find all its rows."""

    rows: Mapping[Ref, Row]
    finds: Mapping[Find, Sequence[Row]] = attrs.field(factory=dict)


@attrs.frozen
class Advance:
    """What to write, all at once.

    ``adds`` are the HISTORY rows in their order (their ord is the index, their version
    is the seq of ``mark``), ``erased`` the rows whose bodies go, ``puts`` and ``drops``
    all VIEW, WORK and CACHE changes with their versions. ``work`` is the scope's work
    number afterwards.
    """

    recorded: Recorded
    mark: Mark
    work: int
    adds: tuple[Row, ...] = ()
    erased: tuple[Ref, ...] = ()
    puts: tuple[Row, ...] = ()
    drops: tuple[Ref, ...] = ()


Steps = Generator[Ask, Found, Advance]
_R = TypeVar("_R")


def drive(steps: Generator[Ask, Found, _R], answer: Callable[[Ask], Found]) -> _R:
    """Run a generator of questions to its result."""
    try:
        ask = next(steps)
        while True:
            ask = steps.send(answer(ask))
    except StopIteration as done:
        result: _R = done.value
        return result


def known(recorded: Recorded, mark: Mark, digest_at: Callable[[int], str]) -> bool:
    """Whether a replayed commit is in the chain already.

    Raises:
        IntegrityError: ``chain.fork`` when another commit has its place.

    """
    if recorded.seq > mark.seq:
        return False
    if recorded.seq < 1 or digest_at(recorded.seq) != recorded.digest:
        raise IntegrityError(
            "another commit stands at this place",
            code="chain.fork",
            path=f"{recorded.commit.scope.text}#{recorded.seq}",
        )
    return True


def advance(
    schema: Schema, submitted: Commit | Recorded, mark: Mark, work: int
) -> Steps:
    """Decide what a commit (or a replayed one that is not yet `known`) changes.

    Args:
        schema: the store's schema.
        submitted: the commit, or a recorded one to replay.
        mark: the scope's last place in the chain.
        work: the scope's work number.

    Returns:
        (of the generator) the `Advance` to write.

    Raises:
        CallerError, ConflictError, IntegrityError: as `Store.append`; nothing has
            been written then.

    """
    replayed = isinstance(submitted, Recorded)
    commit = submitted.commit if isinstance(submitted, Recorded) else submitted
    if replayed:
        # Expectations held when it was recorded; local parts never travel.
        commit = attrs.evolve(commit, expects=(), puts=(), drops=())
    add_refs = _checked(schema, commit, replayed=replayed)
    if isinstance(submitted, Recorded):
        recorded = attrs.evolve(submitted, commit=commit)
        check_chained(schema, recorded, mark)
    else:
        recorded = seal(schema, commit, mark)

    found = yield Ask(
        frozenset(
            [
                *add_refs,
                *commit.erases,
                *form_refs(schema, commit, mark),
                *(Ref(e.relation, e.key) for e in commit.expects),
            ]
        )
    )
    check_form(schema, recorded, mark, found.rows)
    _check_expects(commit, found.rows)
    _check_absent(add_refs, found.rows)
    erased = {
        ref: row
        for ref in commit.erases
        if (row := found.rows.get(ref)) is not None
        and schema.relation(ref.relation).has_body(row)
    }

    overlay = yield from _views(schema, recorded, erased)
    about = yield from _about(schema, tuple(erased))
    yield from _check_unique(schema, overlay)

    touches = bool(commit.puts or commit.drops or about)
    work += touches
    # What this commit puts about a row that it erases goes with the row.
    kept = [
        schema.of(row).stamped(row, work)
        for row in commit.puts
        if _target(schema, row) not in erased
    ]
    staying = {schema.of(row).ref(row) for row in kept}
    local = {ref for ref in about if ref not in commit.drops} - staying
    views = [row for row in overlay.values() if row is not None]
    gone = [ref for ref, row in overlay.items() if row is None]
    return Advance(
        recorded=recorded,
        mark=recorded.mark,
        work=work,
        adds=commit.adds,
        erased=tuple(erased),
        puts=(*views, *kept),
        drops=(*gone, *commit.drops, *local),
    )


def _checked(schema: Schema, commit: Commit, *, replayed: bool) -> list[Ref]:
    """The names of the added rows of a sound commit.

    What is wrong with a replayed one is damage of where it comes from; only a relation
    that this schema lacks is the caller's to mend.
    """
    try:
        return check_commit(schema, commit, replayed=replayed)
    except SchemaError:
        raise
    except CallerError as error:
        if not replayed:
            raise
        raise IntegrityError(
            "a replayed commit breaks its schema",
            code="chain.commit",
            path=f"{commit.scope.text} {error.path or ''}".strip(),
        ) from error


def replay_views(
    schema: Schema, recorded: Recorded
) -> Generator[Ask, Found, tuple[list[Row], list[Ref]]]:
    """The VIEW puts and drops of one surviving commit, for a rebuild.

    Erasures change nothing then: what they took is gone from the rows already. Rows
    that a later commit added are hidden, since there were none when it was new.
    """
    steps = _views(schema, recorded, {})
    try:
        ask = next(steps)
        while True:
            found = yield ask
            past = {
                ref: row
                for ref, row in found.rows.items()
                if schema.relation(ref.relation).keep is not Keep.HISTORY
                or row.version <= recorded.seq
            }
            ask = steps.send(Found(past))
    except StopIteration as done:
        overlay: dict[Ref, Row | None] = done.value
    puts = [row for row in overlay.values() if row is not None]
    return puts, [ref for ref, row in overlay.items() if row is None]


def _views(
    schema: Schema, recorded: Recorded, erased: Mapping[Ref, Row]
) -> Generator[Ask, Found, dict[Ref, Row | None]]:
    if not recorded.commit.is_chained:
        return {}
    steps = reduce(schema, recorded, erased)
    reply: Any = None
    try:
        while True:
            wanted = steps.send(reply)
            reply = (yield Ask(frozenset(wanted))).rows
    except StopIteration as done:
        overlay: dict[Ref, Row | None] = done.value
        return overlay


def _check_expects(commit: Commit, rows: Mapping[Ref, Row]) -> None:
    for expect in commit.expects:
        row = rows.get(Ref(expect.relation, expect.key))
        version = row.version if row is not None else 0
        if version != expect.version:
            raise ConflictError(
                "the row has changed since it was read",
                relation=expect.relation,
                key=expect.key,
                expected=expect.version,
                current=row,
                path=expect.relation,
                hint="read again and decide again",
            )


def _check_absent(refs: Sequence[Ref], rows: Mapping[Ref, Row]) -> None:
    for ref in refs:
        if ref in rows:
            raise ConflictError(
                "a row of this key exists",
                code="conflict.exists",
                relation=ref.relation,
                key=ref.key,
                expected=0,
                current=rows[ref],
                path=ref.relation,
            )


def _about(schema: Schema, erased: Sequence[Ref]) -> Generator[Ask, Found, list[Ref]]:
    """The WORK and CACHE rows that go because the row they are about is erased."""
    finds = frozenset(
        Find(relation.name, path, ref.key)
        for ref in erased
        for relation, path in schema.about.get(ref.relation, ())
    )
    if not finds:
        return []
    found = yield Ask(finds=finds)
    return [
        schema.relation(find.relation).ref(row)
        for find, rows in found.finds.items()
        for row in rows
    ]


def _target(schema: Schema, row: Row) -> Ref | None:
    """The row that a WORK or CACHE row is about."""
    relation = schema.of(row)
    if relation.about is None:
        return None
    about = schema.relation(relation.about)
    return Ref(about.name, tuple(getattr(row, name) for name in about.key))


def _check_unique(
    schema: Schema, overlay: Mapping[Ref, Row | None]
) -> Generator[Ask, Found, None]:
    """No two rows of a VIEW may share the fields of a unique path."""
    taken: dict[Find, Row] = {}
    for ref, row in overlay.items():
        relation = schema.relation(ref.relation)
        for path in relation.unique if row is not None else ():
            find = Find(relation.name, path, _path_values(relation, path, row))
            if find in taken:
                raise _not_unique(relation, taken[find])
            taken[find] = row  # type: ignore[assignment] # not None in this loop
    if not taken:
        return
    found = yield Ask(finds=frozenset(taken))
    for find, rows in found.finds.items():
        relation = schema.relation(find.relation)
        for row in rows:
            # A row that this commit moves or drops no longer holds the place.
            if relation.ref(row) not in overlay:
                raise _not_unique(relation, row)


def _path_values(relation: Relation, path: str, row: Row | None) -> Key:
    return tuple(getattr(row, name) for name in relation.paths[path])


def _not_unique(relation: Relation, holder: Row) -> ConflictError:
    return ConflictError(
        "another row holds what must be unique",
        code="conflict.unique",
        relation=relation.name,
        key=relation.key_of(holder),
        expected=0,
        current=holder,
        path=relation.name,
    )
