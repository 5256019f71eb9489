"""Verifying a scope: its chain, every digest, and every row against a replay.

What is read through the port is compared with what follows from the commits, so the
same verification serves every backend. A backend that can say more of its medium (the
pages of a file, the bytes behind a cache) says it apart.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

import attrs

from uaix_core.schema.checks import check_commit, check_row
from uaix_core.schema.relations import BY_KEY, Keep
from uaix_core.schema.row_names import row_name
from uaix_core.store.copying import about_erased
from uaix_core.store.replayed import Replayed
from uaix_core.store.scanning import all_rows
from uaix_core.store.seal import check_chained
from uaix_core.store.tables import Tables
from uaix_core.values.errors import CallerError, IntegrityError, UaixError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_core.schema.commits import Recorded
    from uaix_core.schema.relations import Key, Relation
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.store.copying import Progress
    from uaix_core.store.port import Snapshot, Store
    from uaix_core.values.ids import ScopeId

#: Rows of one relation that are named; more are only counted.
MAX_NAMED = 10
#: Progress is told every so many commits.
_STEP = 256


@attrs.frozen
class Flaw:
    """One thing that is wrong: a stable code, and the record that it is about.

    ``path`` names a commit (``scope#seq``) or a row (its relation and key).
    """

    code: str
    message: str
    path: str


@attrs.define
class Verification:
    """What was verified of a scope, and what is wrong with it.

    ``rows`` counts the HISTORY and VIEW rows that were compared.
    """

    scope: ScopeId
    position: int = 0
    head: str = ""
    rows: int = 0
    flaws: list[Flaw] = attrs.field(factory=list)

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.flaws


def verify_scope(
    store: Store, scope: ScopeId, progress: Progress | None = None
) -> Verification:
    """Verify one scope of a store in one snapshot. Nothing is changed.

    The replay is held in memory: some 2 KB a commit of one row.

    Raises:
        ClosedError: the store is closed.

    """
    found = Verification(scope)
    try:
        with store.snapshot(scope) as snapshot:
            found.position, found.head = snapshot.position, snapshot.head
            _Verifying(store.schema, snapshot, found, progress).run()
    except IntegrityError as error:
        # What can't be read can't be compared either.
        found.flaws.append(Flaw(error.code, error.message, error.path or scope.text))
    return found


class _Verifying:
    def __init__(
        self,
        schema: Schema,
        snapshot: Snapshot,
        found: Verification,
        progress: Progress | None,
    ) -> None:
        self.schema = schema
        self.snapshot = snapshot
        self.found = found
        self.tell = progress or (lambda _done, _all: None)

    def run(self) -> None:
        replica = self._replayed()
        for relation in self.schema.kept(Keep.HISTORY, Keep.VIEW):
            self._compare(relation, replica)
        for relation in self.schema.kept(Keep.WORK, Keep.CACHE):
            for row in all_rows(self.snapshot, relation):
                self._check(relation, row)
        for relation, row in about_erased(self.snapshot, self.schema):
            name = row_name(relation, relation.key_of(row))
            self.found.flaws.append(
                Flaw("verify.about", _MESSAGES["verify.about"], name)
            )

    def _replayed(self) -> Tables:
        """What follows from the commits, each of which continues the chain."""
        found = self.found
        state = Replayed(Tables(self.schema, found.scope))
        for recorded in self.snapshot.commits():
            self._take(state, recorded)
            if recorded.seq % _STEP == 0:
                self.tell(recorded.seq, found.position)
        self.tell(found.position, found.position)
        if (state.mark.seq, state.mark.digest) != (found.position, found.head):
            raise IntegrityError(
                "the chain doesn't end where the scope stands",
                code="chain.gap",
                path=f"{found.scope.text}#{state.mark.seq + 1}",
            )
        return state.tables()

    def _take(self, state: Replayed, recorded: Recorded) -> None:
        check_chained(self.schema, recorded, state.mark)
        try:
            check_commit(self.schema, recorded.commit, replayed=True)
        except CallerError as error:
            raise self._damaged(recorded, error) from error
        state.add(recorded)

    def _damaged(self, recorded: Recorded, error: UaixError) -> IntegrityError:
        """The error for a commit that breaks its schema; the row is named, if any."""
        for row in recorded.commit.adds:
            relation = self.schema.of(row)
            try:
                check_row(relation, row)
            except CallerError as broken:
                return IntegrityError(
                    broken.message,
                    code="storage.row",
                    path=row_name(relation, relation.key_of(row)),
                )
        where = f"{self.found.scope.text}#{recorded.seq}"
        return IntegrityError(error.message, code="chain.commit", path=where)

    def _compare(self, relation: Relation, replica: Tables) -> None:
        """Compare the rows of a relation, and then the order of each of its paths."""
        flaws: list[Flaw] = []
        count = 0
        for stored, due in _pairs(
            relation, all_rows(self.snapshot, relation), replica.all(relation.name)
        ):
            count += stored is not None
            code = _difference(stored, due)
            if code is not None:
                row = stored if stored is not None else due
                assert row is not None  # noqa: S101 - one of a pair is there
                name = row_name(relation, relation.key_of(row))
                flaws.append(Flaw(code, _MESSAGES[code], name))
        self.found.rows += count
        if not flaws:
            flaws = self._compare_paths(relation, replica)
        left = len(flaws) - MAX_NAMED
        self.found.flaws += flaws[:MAX_NAMED]
        if left > 0:
            more = f"{left} more rows are not what the commits say"
            self.found.flaws.append(Flaw("verify.more", more, relation.name))

    def _compare_paths(self, relation: Relation, replica: Tables) -> list[Flaw]:
        """Whether every path gives the rows that its order says."""
        for path in relation.orders:
            if path == BY_KEY:
                continue
            stored = all_rows(self.snapshot, relation, path)
            due = replica.all(relation.name, path)
            if any(one != other for one, other in zip_longest(stored, due)):
                where = f"{relation.name} {path}"
                return [Flaw("verify.path", _MESSAGES["verify.path"], where)]
        return []

    def _check(self, relation: Relation, row: Row) -> None:
        try:
            check_row(relation, row)
        except CallerError as error:
            name = row_name(relation, relation.key_of(row))
            self.found.flaws.append(Flaw("storage.row", error.message, name))


_MESSAGES = {
    "verify.missing": "the commits say that there is a row, and there is none",
    "verify.extra": "no commit says that there is such a row",
    "verify.differs": "the row is not what the commits say",
    "verify.about": "a local row is about a row that was erased",
    "verify.path": "a path doesn't give the rows in its order",
}


def _difference(stored: Row | None, due: Row | None) -> str | None:
    """The code of what is wrong with a stored row, None when nothing is."""
    if stored is None:
        return "verify.missing"
    if due is None:
        return "verify.extra"
    if stored != due or stored.version != due.version:
        return "verify.differs"
    return None


def _pairs(
    relation: Relation, stored: Iterator[Row], due: Iterator[Row]
) -> Iterator[tuple[Row | None, Row | None]]:
    """Two sequences in the order of their keys, side by side; None where one lacks."""
    one, other = next(stored, None), next(due, None)
    while one is not None or other is not None:
        left: Key | None = relation.key_of(one) if one is not None else None
        right: Key | None = relation.key_of(other) if other is not None else None
        if left is not None and (right is None or left < right):
            yield one, None
            one = next(stored, None)
        elif right is not None and (left is None or right < left):
            yield None, other
            other = next(due, None)
        else:
            yield one, other
            one, other = next(stored, None), next(due, None)
