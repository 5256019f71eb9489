"""The proposal verbs: propose, decline, accept, and see what waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack, cast

from uaix_core.gate.said import (
    check_bodies,
    check_identities,
    check_lines,
    check_paragraphs,
)
from uaix_core.history.idempotency import check_key
from uaix_core.history.relations import Receipt
from uaix_core.packages.anchors import check_authorisations
from uaix_core.packages.export import find_package
from uaix_core.packages.revising import Wanted
from uaix_core.review.notes import check_reviewer
from uaix_core.session.conflict_reviews import noted
from uaix_core.session.tier_writes import TierVerbs
from uaix_core.session.writes import write
from uaix_core.tiers.deciding import (
    Decided,
    decide_decline,
    decide_pointer,
    find_open,
    move_of_file,
)
from uaix_core.tiers.drafts import FileDraft, PointerDraft, TierRef
from uaix_core.tiers.proposal_relations import PROPOSAL_ENTRY, Pointer
from uaix_core.tiers.proposing import Proposing, decide_proposal
from uaix_core.tiers.reading import read_proposal
from uaix_core.tiers.texts import check_word
from uaix_core.values.arguments import check_items, check_type
from uaix_core.values.errors import CallerError, ConflictError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from uaix_core.packages.anchors import Authorisation
    from uaix_core.packages.lint import Checks
    from uaix_core.review.notes import ReviewNote
    from uaix_core.schema.commits import Commit, Recorded
    from uaix_core.session.package_revisions import PackageRevisions
    from uaix_core.session.work import Work
    from uaix_core.store.port import Snapshot
    from uaix_core.tiers.answers import Erased, Written
    from uaix_core.tiers.proposal_relations import ProposalEntry
    from uaix_core.tiers.reading import ProposalView

_STATES = PROPOSAL_ENTRY.fields["state"].words


class Proposals(TierVerbs):
    """The one way between tiers; made by a session, not by hand.

    Anybody proposes, and a person decides. Until it is accepted a proposal changes
    nothing, and once it was declined it never does.
    """

    def __init__(self, work: Work, packages: PackageRevisions) -> None:
        super().__init__(work)
        self._packages = packages

    def propose(
        self,
        package_id: str,
        draft: PointerDraft | FileDraft,
        *,
        sources: Iterable[TierRef],
        reason: str = "",
        key: str | None = None,
    ) -> Written:
        """Propose that something becomes a pointer, or a change of a file.

        Args:
            package_id: whose tiers they are.
            draft: the pointer, or the file as it is to become.
            sources: what it is made from, 1 to 100; of an agent only what is its own.
            reason: why, at most 2,000 characters.
            key: an idempotency key; kept 30 days.

        Raises:
            NotFoundError: ``package.not-found``, ``proposal.source``.
            CallerError: ``proposal.*``, ``tier.text``, ``text.secret``,
                ``idempotency.*``.

        """
        check_key(key)
        check_type(draft, (PointerDraft, FileDraft), "draft")
        named = check_items(sources, TierRef, "sources")
        check_paragraphs({"reason": reason})
        _check_draft(draft)
        proposing = Proposing(package_id, draft, named, reason, key)
        return self._write(
            "proposal_id",
            lambda snapshot, writing: decide_proposal(snapshot, writing, proposing),
        )

    def get(self, proposal_id: str) -> ProposalView:
        """A proposal; NotFoundError (``proposal.not-found``) without one."""
        with self._work.snapshot() as snapshot:
            return read_proposal(snapshot, proposal_id)

    def list(
        self,
        package_id: str,
        state: str = "open",
        *,
        after: tuple[int, str] | None = None,
        limit: int = 100,
    ) -> Sequence[ProposalEntry]:
        """The proposals of a package that are open, accepted or declined, by time.

        ``after`` are ``opened_at`` and ``proposal_id`` of the last one of the page
        before.

        Raises:
            NotFoundError: ``package.not-found``.
            CallerError: ``tier.word``.

        """
        check_word(state, _STATES, "state")
        with self._work.snapshot() as snapshot:
            find_package(snapshot, package_id)
            page = snapshot.scan(
                PROPOSAL_ENTRY.name,
                "by_state",
                (package_id, state),
                after=after,
                limit=limit,
            )
        return cast("Sequence[ProposalEntry]", page)

    def decline(self, proposal_id: str, *, note: ReviewNote | None = None) -> Decided:
        """Decline a proposal; it changes nothing, now and later.

        Raises:
            NotFoundError: ``proposal.not-found``.
            ConflictError: ``proposal.decided``.
            CallerError: ``review.*``, ``text.secret``.

        """
        said = noted(note)
        writing = self._work.writing()

        def decided(snapshot: Snapshot) -> Commit:
            return decide_decline(snapshot, writing, proposal_id, said)

        return self._decided("declined", proposal_id, decided)

    def accept(
        self,
        proposal_id: str,
        *,
        note: ReviewNote | None = None,
        authorisations: Collection[Authorisation] = (),
        **checks: Unpack[Checks],
    ) -> Decided:
        """Accept a proposal: the pointer stands, or the file has its next revision.

        Args:
            proposal_id: which one.
            note: what there is to say.
            authorisations: which changes of protected files are wanted, as for
                `revise`; for a pointer there are none.
            checks: as for `revise`.

        Raises:
            NotFoundError: ``proposal.not-found``.
            ConflictError: ``proposal.decided``, ``proposal.stale`` when the file has
                moved on.
            PackageRefusedError: what the package would become did not pass.
            CallerError: ``proposal.source-erased``, ``proposal.authorisation``,
                ``review.*``, ``text.secret``, and as `revise`.

        After any of them the proposal is as it was.
        """
        said = noted(note)
        writing = self._work.writing()
        check_reviewer(writing)
        with self._work.snapshot() as snapshot:
            is_file = find_open(snapshot, proposal_id).kind == "file"
        if is_file:
            return self._accept_file(proposal_id, said, authorisations, checks)
        if authorisations:
            raise CallerError(
                "a pointer changes no file",
                code="proposal.authorisation",
                path="authorisations",
            )

        def decided(snapshot: Snapshot) -> Commit:
            return decide_pointer(snapshot, writing, proposal_id, said)

        return self._decided("accepted", proposal_id, decided)

    def erase(self, package_id: str, proposal_ids: Iterable[str]) -> Erased:
        """Erase texts of proposals; a person does. Open ones can only be declined then.

        Raises:
            NotFoundError: ``tier.not-found``; then none is erased.
            CallerError: ``erase.*``.

        """
        return self._erase(package_id, "proposal", proposal_ids)

    def _accept_file(
        self,
        proposal_id: str,
        note: ReviewNote,
        authorisations: Collection[Authorisation],
        checks: Checks,
    ) -> Decided:
        receipt_id = self._work.ids.new()
        with self._work.snapshot() as snapshot:
            move = move_of_file(
                snapshot, self._work.writing(), proposal_id, receipt_id, note
            )
        wanted = Wanted(
            move.package_id,
            [move.change],
            authorisations=check_authorisations(authorisations),
            details={"proposal_id": proposal_id},
            adds=(move.review,),
            expects=move.expects,
        )
        revised = self._packages.apply(wanted, checks, receipt_id)[0]
        if revised.receipt != receipt_id:
            # Somebody made the very change meanwhile, so the review wasn't written.
            raise ConflictError(
                "the file was changed meanwhile",
                code="proposal.stale",
                path=move.change.path,
                hint="read the proposal and decide again",
            )
        return Decided(
            "accepted",
            proposal_id,
            revised.seq,
            receipt_id,
            revision=revised.revision_id,
            is_staged=self._work.is_staged,
        )

    def _decided(
        self, verdict: str, proposal_id: str, decided: Callable[[Snapshot], Commit]
    ) -> Decided:
        recorded: Recorded = write(self._work.store, self._work.scope, decided)
        adds = recorded.commit.adds
        pointers = [row.pointer_id for row in adds if isinstance(row, Pointer)]
        return Decided(
            verdict,
            proposal_id,
            recorded.seq,
            next(row.receipt_id for row in adds if isinstance(row, Receipt)),
            pointer=pointers[0] if pointers else None,
            is_staged=self._work.is_staged,
        )


def _check_draft(draft: PointerDraft | FileDraft) -> None:
    """Let all texts of a draft pass the gate."""
    if isinstance(draft, PointerDraft):
        check_lines({"title": draft.title, "locator": draft.locator})
        return
    check_lines({"path": draft.path})
    check_identities({"expected_revision": draft.expected_revision or ""})
    check_bodies({"content": draft.text, "entry": draft.entry})
