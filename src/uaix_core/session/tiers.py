"""The tiers of memory that an agent works in: short-term memory and conversations."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

from uaix_core.gate.said import check_identities, check_kept
from uaix_core.packages.export import find_package
from uaix_core.session.tier_notes import Notes, Pointers, Variances
from uaix_core.session.tier_tests import Fidelity, Indexes
from uaix_core.session.tier_writes import TierVerbs
from uaix_core.tiers.agents import check_agent
from uaix_core.tiers.reading import latest_state
from uaix_core.tiers.recording import AgentOf, Saying, decide_state, decide_turn
from uaix_core.tiers.relations import CONVERSATION, TURN, WORKING_STATE
from uaix_core.values.ids import check_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from uaix_core.leases.holding import Lease
    from uaix_core.session.work import Work
    from uaix_core.tiers.answers import Erased, Written
    from uaix_core.tiers.relations import Conversation, Turn, WorkingState

#: How many texts go in one commit where all of something is erased.
_BATCH = 500


class Tiers:
    """What is kept beside a persona, tier by tier; made by a session, not by hand.

    Nothing moves from one tier into another but by a proposal and its review
    (`Session.proposals`); no verb here reads one tier and writes another.
    """

    def __init__(self, work: Work) -> None:
        self._work = work

    @cached_property
    def short_term(self) -> ShortTermMemory:
        """The working state of an agent: put, get, erase."""
        return ShortTermMemory(self._work)

    @cached_property
    def conversations(self) -> Conversations:
        """Turns, append-only and untrusted: add, turns, list, erase, erase_all."""
        return Conversations(self._work)

    @cached_property
    def variance(self) -> Variances:
        """How behaviour diverged from the persona: record, report, erase."""
        return Variances(self._work)

    @cached_property
    def notes(self) -> Notes:
        """Limits of the platform, the law and safety: add, list, erase."""
        return Notes(self._work)

    @cached_property
    def pointers(self) -> Pointers:
        """The ledger of long-term memory: get, list, erase; only a review adds."""
        return Pointers(self._work)

    @cached_property
    def fidelity(self) -> Fidelity:
        """The test set of a persona: put, get, list, record, results, erase."""
        return Fidelity(self._work)

    @cached_property
    def indexes(self) -> Indexes:
        """How far indexes have come: mark, watermark, list."""
        return Indexes(self._work)


class ShortTermMemory(TierVerbs):
    """The working state of one agent on one package, replaced with every turn.

    States that were replaced stay in the history until they are erased, so that a
    proposal can name the one that it was made from.
    """

    def put(
        self,
        package_id: str,
        agent_id: str,
        text: str,
        *,
        seen: int | None = None,
        lease: Lease | None = None,
    ) -> Written:
        """Replace the working state; it leaves no receipt.

        Args:
            package_id: the package that the agent works with.
            agent_id: whose state it is; a principal that is an agent puts its own.
            text: the whole state, at most 100,000 characters.
            seen: the number of the state that is replaced, 0 for none; without it
                whatever stands is.
            lease: the lease that it is written under; without one nothing is asked.

        Raises:
            NotFoundError: ``package.not-found``.
            ConflictError: ``short-term.stale`` when another one than ``seen`` stands,
                ``lease.lost``.
            CallerError: ``tier.agent``, ``tier.text``, ``id.syntax``, ``text.secret``,
                ``lease.other``.

        """
        check_kept({"text": text})
        check_identities({"agent_id": agent_id})
        agent = AgentOf(package_id, agent_id)
        return self._write_as(
            agent,
            lease,
            "state_id",
            lambda snapshot, writing: decide_state(
                snapshot, writing, agent, text, seen
            ),
        )

    def get(self, package_id: str, agent_id: str) -> WorkingState | None:
        """The state that stands; None without one, or when it was erased.

        Raises:
            NotFoundError: ``package.not-found``.
            CallerError: ``tier.agent``, ``id.syntax``.

        """
        check_agent(self._work.principal, agent_id)
        with self._work.snapshot() as snapshot:
            return latest_state(snapshot, AgentOf(package_id, agent_id))

    def erase(
        self, package_id: str, agent_id: str, *, only_replaced: bool = False
    ) -> Erased:
        """Erase all states of an agent, or all but the one that stands.

        Of many it is more than one commit; done again it erases what was left.

        Raises:
            NotFoundError: ``package.not-found``.
            CallerError: ``tier.agent``, ``id.syntax``, ``erase.person``.

        """
        check_agent(self._work.principal, agent_id)
        after: list[tuple[int, str]] = []

        def page() -> list[str] | None:
            with self._work.snapshot() as snapshot:
                find_package(snapshot, package_id)
                rows = cast(
                    "Sequence[WorkingState]",
                    snapshot.scan(
                        WORKING_STATE.name,
                        "by_agent",
                        (package_id, agent_id),
                        after=after[-1] if after else None,
                        limit=_BATCH,
                    ),
                )
                latest = latest_state(snapshot, AgentOf(package_id, agent_id))
            if not rows:
                return None
            after.extend((row.number, row.state_id) for row in rows)
            kept = latest.state_id if latest is not None and only_replaced else None
            return [row.state_id for row in rows if row.state_id != kept]

        return self._erase_pages(package_id, "state", page)


class Conversations(TierVerbs):
    """What was said, turn by turn: appended to, never changed, trusted for nothing."""

    def add(  # noqa: PLR0913 - the fields of a turn
        self,
        package_id: str,
        agent_id: str,
        conversation_id: str,
        role: str,
        text: str,
        *,
        said_at: int | None = None,
        seen: int | None = None,
        lease: Lease | None = None,
    ) -> Written:
        """Append a turn; it leaves no receipt.

        Args:
            package_id: the package that the agent works with.
            agent_id: whose conversation it is; a principal that is an agent adds to
                its own.
            conversation_id: which one; the first turn begins it.
            role: user, assistant, system or tool.
            text: what was said, at most 100,000 characters.
            said_at: when (microseconds UTC); now without it.
            seen: the number of the turn that it follows, 0 for none; so a retry of
                what went through is refused and adds nothing.
            lease: the lease that it is written under; without one nothing is asked.

        Raises:
            NotFoundError: ``package.not-found``.
            ConflictError: ``conversation.stale`` when another turn is the last,
                ``lease.lost``.
            CallerError: ``tier.*``, ``id.syntax``, ``instant.range``, ``text.secret``,
                ``lease.other``.

        """
        check_kept({"text": text})
        check_identities({"agent_id": agent_id, "conversation_id": conversation_id})
        agent = AgentOf(package_id, agent_id)
        saying = Saying(conversation_id, role, text, said_at, seen)
        return self._write_as(
            agent,
            lease,
            "turn_id",
            lambda snapshot, writing: decide_turn(snapshot, writing, agent, saying),
        )

    def turns(
        self,
        package_id: str,
        agent_id: str,
        conversation_id: str,
        *,
        after: int | None = None,
        limit: int = 100,
    ) -> Sequence[Turn]:
        """The turns of a conversation in their order, page by page.

        An erased one stands there without its text. ``after`` is the number of the
        last turn of the page before.

        Raises:
            NotFoundError: ``package.not-found``.
            CallerError: ``tier.agent``, ``id.syntax``.

        """
        check_agent(self._work.principal, agent_id)
        check_id(conversation_id, "conversation_id")
        with self._work.snapshot() as snapshot:
            find_package(snapshot, package_id)
            page = snapshot.scan(
                TURN.name,
                "by_conversation",
                (package_id, agent_id, conversation_id),
                after=None if after is None else (after,),
                limit=limit,
            )
        return cast("Sequence[Turn]", page)

    def list(
        self,
        package_id: str,
        agent_id: str,
        *,
        after: str | None = None,
        limit: int = 100,
    ) -> Sequence[Conversation]:
        """The conversations of an agent in the order of their ids, page by page.

        ``after`` is the id of the last one of the page before.

        Raises:
            NotFoundError: ``package.not-found``.
            CallerError: ``tier.agent``, ``id.syntax``.

        """
        check_agent(self._work.principal, agent_id)
        with self._work.snapshot() as snapshot:
            find_package(snapshot, package_id)
            page = snapshot.scan(
                CONVERSATION.name,
                "key",
                (package_id, agent_id),
                after=None if after is None else (after,),
                limit=limit,
            )
        return cast("Sequence[Conversation]", page)

    def erase(self, package_id: str, turn_ids: Iterable[str]) -> Erased:
        """Erase turns, at most 1,000, in one commit.

        Raises:
            NotFoundError: ``tier.not-found``; then none is erased.
            CallerError: ``erase.*``.

        """
        return self._erase(package_id, "turn", turn_ids)

    def erase_all(self, package_id: str, agent_id: str, conversation_id: str) -> Erased:
        """Erase all turns of a conversation; again it erases what came since.

        Of a long one it is more than one commit.

        Raises:
            NotFoundError: ``package.not-found``.
            CallerError: ``tier.agent``, ``id.syntax``, ``erase.person``.

        """
        after: list[int] = []

        def page() -> list[str] | None:
            turns = self.turns(
                package_id,
                agent_id,
                conversation_id,
                after=after[-1] if after else None,
                limit=_BATCH,
            )
            if not turns:
                return None
            after.extend(turn.number for turn in turns)
            return [turn.turn_id for turn in turns]

        return self._erase_pages(package_id, "turn", page)
