"""What is kept about a persona's fidelity, and how far indexes have come."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import attrs

from uaix_core.gate.said import check_identities, check_lines, check_paragraphs
from uaix_core.packages.export import find_package
from uaix_core.session.tier_writes import TierVerbs
from uaix_core.session.writes import write
from uaix_core.store.forms import open_snapshot
from uaix_core.tiers.noting import (
    CaseDraft,
    Outcome,
    decide_case,
    decide_mark,
    decide_result,
    find_entry,
)
from uaix_core.tiers.relations import (
    FIDELITY_CASE,
    FIDELITY_ENTRY,
    FIDELITY_RESULT,
    INDEX_MARK,
)
from uaix_core.values.arguments import check_type
from uaix_core.values.ids import check_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from uaix_core.schema.commits import Commit
    from uaix_core.store.port import Snapshot, Store
    from uaix_core.tiers.answers import Erased, Written
    from uaix_core.tiers.relations import (
        FidelityCase,
        FidelityEntry,
        FidelityResult,
        IndexMark,
    )
    from uaix_core.values.ids import ScopeId


class Fidelity(TierVerbs):
    """The test set of a persona: named cases, and how they came out."""

    def put(self, package_id: str, case: CaseDraft) -> Written:
        """Put a case under its name, in the place of the one that stood there.

        Raises:
            NotFoundError: ``package.not-found``, ``record.not-found``.
            CallerError: ``tier.*``, ``text.secret``.

        """
        check_type(case, CaseDraft, "case")
        check_identities({"name": case.name})
        check_lines({"paths": case.paths})
        check_paragraphs(
            {"prompt": case.prompt, "must": case.must, "must_not": case.must_not}
        )
        return self._write(
            "case_id",
            lambda snapshot, writing: decide_case(snapshot, writing, package_id, case),
        )

    def get(self, package_id: str, name: str) -> FidelityCase:
        """The case that stands under a name; without texts when it was erased.

        Raises:
            NotFoundError: ``fidelity.not-found``.
            CallerError: ``id.syntax``.

        """
        with self._work.snapshot() as snapshot:
            entry = find_entry(snapshot, package_id, name)
            row = snapshot.get(FIDELITY_CASE.name, (entry.case_id,))
        return cast("FidelityCase", row)

    def list(
        self, package_id: str, *, after: str | None = None, limit: int = 100
    ) -> Sequence[FidelityEntry]:
        """The names of the test set in their order, page by page.

        Raises:
            NotFoundError: ``package.not-found``.

        """
        with self._work.snapshot() as snapshot:
            find_package(snapshot, package_id)
            page = snapshot.scan(
                FIDELITY_ENTRY.name,
                "key",
                (package_id,),
                after=None if after is None else (after,),
                limit=limit,
            )
        return cast("Sequence[FidelityEntry]", page)

    def record(
        self, package_id: str, run_id: str, name: str, outcome: str, *, note: str = ""
    ) -> Written:
        """Record how a case came out in a run; it leaves no receipt.

        Args:
            package_id: whose persona was tested.
            run_id: what the run is called.
            name: the name of the case.
            outcome: passed, failed or skipped.
            note: what there is to say, at most 2,000 characters.

        Raises:
            NotFoundError: ``package.not-found``, ``fidelity.not-found``.
            CallerError: ``tier.*``, ``id.syntax``, ``text.secret``.

        """
        check_identities({"run_id": run_id})
        check_paragraphs({"note": note})
        came = Outcome(run_id, name, outcome, note)
        return self._write(
            "result_id",
            lambda snapshot, writing: decide_result(
                snapshot, writing, package_id, came
            ),
        )

    def results(
        self,
        package_id: str,
        run_id: str,
        *,
        after: str | None = None,
        limit: int = 100,
    ) -> Sequence[FidelityResult]:
        """The results of a run in the order of their ids, page by page.

        Raises:
            NotFoundError: ``package.not-found``.
            CallerError: ``id.syntax``.

        """
        check_id(run_id, "run_id")
        with self._work.snapshot() as snapshot:
            find_package(snapshot, package_id)
            page = snapshot.scan(
                FIDELITY_RESULT.name,
                "by_run",
                (package_id, run_id),
                after=None if after is None else (after,),
                limit=limit,
            )
        return cast("Sequence[FidelityResult]", page)

    def erase(self, package_id: str, case_ids: Iterable[str]) -> Erased:
        """Erase texts of cases; a person does.

        Raises:
            NotFoundError: ``tier.not-found``; then none is erased.
            CallerError: ``erase.*``.

        """
        return self._erase(package_id, "case", case_ids)


@attrs.frozen
class StoredWatermark:
    """An index as a start-up asks it how far it has come (`IndexWatermark`)."""

    store: Store = attrs.field(repr=False)
    name: str

    def covered(self, scope: ScopeId, package_id: str) -> int:
        """The seq that the index was marked with for a package; 0 without a mark."""
        with open_snapshot(self.store, scope) as snapshot:
            row = snapshot.get(INDEX_MARK.name, (self.name, package_id))
        return 0 if row is None else cast("IndexMark", row).seq


class Indexes(TierVerbs):
    """How far the indexes beside a store have come.

    Marks are local, as indexes are: no copy and no backup takes them along, so an
    index covers nothing of a copy until it says so.
    """

    def mark(self, name: str, package_id: str, seq: int) -> None:
        """Say that an index has taken in a package up to a seq; it leaves no receipt.

        An index that is built anew may go back.

        Raises:
            NotFoundError: ``package.not-found``.
            CallerError: ``id.syntax``, ``text.secret``, ``index.seq`` for a seq yet to
                come.

        """
        check_identities({"name": name})
        work = self._work
        writing = work.writing()

        def decided(snapshot: Snapshot) -> Commit:
            return decide_mark(snapshot, writing, name, package_id, seq)

        write(work.store, work.scope, decided)

    def watermark(self, name: str) -> StoredWatermark:
        """The index under this name, as `Session.start` takes it in ``indexes``."""
        return StoredWatermark(self._work.store, check_id(name, "name"))

    def list(self, name: str) -> Sequence[IndexMark]:
        """The marks of an index in the order of packages, at most 1,000."""
        with self._work.snapshot() as snapshot:
            page = snapshot.scan(
                INDEX_MARK.name, "key", (check_id(name, "name"),), limit=1_000
            )
        return cast("Sequence[IndexMark]", page)
