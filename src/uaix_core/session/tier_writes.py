"""How the verbs of the tiers write: one way for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from uaix_core.history.relations import Receipt
from uaix_core.leases.holding import check_about
from uaix_core.session.writes import write
from uaix_core.tiers.answers import Erased, Written
from uaix_core.tiers.erasing import Erasing, Plan, decide_erasure
from uaix_core.values.arguments import check_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from uaix_core.history.receipts import Writing
    from uaix_core.leases.holding import Lease
    from uaix_core.schema.commits import Commit, Recorded
    from uaix_core.session.work import Work
    from uaix_core.store.port import Snapshot
    from uaix_core.tiers.recording import AgentOf


class TierVerbs:
    """The verbs of one tier; made by a session, not by hand."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def _write(
        self,
        id_field: str,
        decide: Callable[[Snapshot, Writing], Commit | Written],
        *,
        lease: Lease | None = None,
    ) -> Written:
        """Write the row of a decision, and answer with the id in this field.

        A decision that is an answer already is one about what was written before.
        """
        work = self._work
        writing = work.writing()
        recorded: Recorded | Written = write(
            work.store,
            work.scope,
            lambda snapshot: decide(snapshot, writing),
            lease=lease,
        )
        if isinstance(recorded, Written):
            return attrs.evolve(recorded, is_staged=work.is_staged)
        row: Any = recorded.commit.adds[0]
        receipts = [one for one in recorded.commit.adds if isinstance(one, Receipt)]
        return Written(
            getattr(row, id_field),
            recorded.seq,
            getattr(row, "number", None),
            receipts[0].receipt_id if receipts else None,
            is_staged=work.is_staged,
        )

    def _write_as(
        self,
        agent: AgentOf,
        lease: Lease | None,
        id_field: str,
        decide: Callable[[Snapshot, Writing], Commit],
    ) -> Written:
        """Write what an agent recorded, and nothing once its lease was lost."""
        if lease is not None:
            check_about(lease, agent.package_id, agent.agent_id)
        return self._write(id_field, decide, lease=lease)

    def _erase(self, package_id: str, kind: str, ids: Iterable[str]) -> Erased:
        """Erase texts of a tier, and those of proposals that were made from them."""
        work = self._work
        writing = work.writing()
        erasing = Erasing(package_id, kind, check_texts(ids, "ids"))
        plans: list[Plan] = []

        def decided(snapshot: Snapshot) -> Commit | None:
            plans[:] = [decide_erasure(snapshot, writing, erasing)]
            return plans[0].commit

        recorded: Recorded | None = write(work.store, work.scope, decided)
        return attrs.evolve(plans[0].told(recorded), is_staged=work.is_staged)

    def _erase_pages(
        self, package_id: str, kind: str, page: Callable[[], list[str] | None]
    ) -> Erased:
        """Erase page after page until there is none; one answer for all of them."""
        whole = Erased(0, is_staged=self._work.is_staged)
        while (ids := page()) is not None:
            if not ids:
                continue
            answer = self._erase(package_id, kind, ids)
            whole = attrs.evolve(
                whole,
                count=whole.count + answer.count,
                proposals=_joined(whole.proposals, answer.proposals),
                pointers=_joined(whole.pointers, answer.pointers),
                seq=answer.seq or whole.seq,
                receipt=answer.receipt or whole.receipt,
            )
        return whole


def _joined(first: tuple[str, ...], then: tuple[str, ...]) -> tuple[str, ...]:
    """Both, each name once."""
    return tuple(dict.fromkeys((*first, *then)))
