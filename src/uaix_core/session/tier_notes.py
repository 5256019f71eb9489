"""The tiers beside the agent's work: variance, platform notes, and the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from uaix_core.gate.said import check_identities, check_lines, check_paragraphs
from uaix_core.packages.export import find_package
from uaix_core.session.tier_writes import TierVerbs
from uaix_core.tiers.noting import decide_note
from uaix_core.tiers.proposal_relations import POINTER
from uaix_core.tiers.reading import find_pointer, variance_report, view_of
from uaix_core.tiers.recording import AgentOf, Diverging, decide_variance
from uaix_core.tiers.relations import PLATFORM_NOTE
from uaix_core.values.instants import EARLIEST, FOREVER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from uaix_core.leases.holding import Lease
    from uaix_core.tiers.answers import Erased, Written
    from uaix_core.tiers.proposal_relations import Pointer
    from uaix_core.tiers.reading import PointerView, VarianceReport
    from uaix_core.tiers.relations import PlatformNote


class Variances(TierVerbs):
    """How behaviour diverged from a persona at runtime, whose source stays as it is."""

    def record(  # noqa: PLR0913 - the fields of a variance
        self,
        package_id: str,
        agent_id: str,
        path: str,
        *,
        what: str,
        why: str,
        cause: str = "policy",
        occurred_at: int | None = None,
        lease: Lease | None = None,
    ) -> Written:
        """Record that an agent behaved otherwise than its persona says; no receipt.

        Args:
            package_id: whose persona it is.
            agent_id: who diverged; a principal that is an agent records its own.
            path: the file of the persona that it diverged from.
            what: what was otherwise, 1 to 2,000 characters.
            why: why, 1 to 2,000 characters.
            cause: policy or platform.
            occurred_at: when (microseconds UTC); now without it.
            lease: the lease that it is written under; without one nothing is asked.

        Raises:
            NotFoundError: ``package.not-found``, ``record.not-found``.
            ConflictError: ``lease.lost``.
            CallerError: ``tier.*``, ``id.syntax``, ``instant.range``, ``text.secret``,
                ``lease.other``.

        """
        check_identities({"agent_id": agent_id})
        check_lines({"path": path})
        check_paragraphs({"what": what, "why": why})
        agent = AgentOf(package_id, agent_id)
        diverging = Diverging(path, what, why, cause, occurred_at)
        return self._write_as(
            agent,
            lease,
            "variance_id",
            lambda snapshot, writing: decide_variance(
                snapshot, writing, agent, diverging
            ),
        )

    def report(
        self,
        package_id: str,
        *,
        from_at: int = EARLIEST,
        to_at: int = FOREVER,
        after: tuple[int, str] | None = None,
        limit: int = 1_000,
    ) -> VarianceReport:
        """The variance of a package from an instant on until before another.

        ``after`` is the ``next_after`` of the page before.

        Raises:
            NotFoundError: ``package.not-found``.
            CallerError: ``variance.range``, ``instant.range``.

        """
        with self._work.snapshot() as snapshot:
            return variance_report(
                snapshot, package_id, (from_at, to_at), after=after, limit=limit
            )

    def erase(self, package_id: str, variance_ids: Iterable[str]) -> Erased:
        """Erase texts of variance; a person does.

        Raises:
            NotFoundError: ``tier.not-found``; then none is erased.
            CallerError: ``erase.*``.

        """
        return self._erase(package_id, "variance", variance_ids)


class Notes(TierVerbs):
    """Limits that a platform, the law or safety sets, outside of persona files."""

    def add(self, package_id: str, *, kind: str, title: str, text: str) -> Written:
        """Note a limit; no file of the package changes.

        Args:
            package_id: which package it is about.
            kind: platform, legal or safety.
            title: one line of at most 200 characters.
            text: 1 to 10,000 characters.

        Raises:
            NotFoundError: ``package.not-found``.
            CallerError: ``tier.*``, ``text.secret``.

        """
        check_lines({"title": title})
        check_paragraphs({"text": text})
        return self._write(
            "note_id",
            lambda snapshot, writing: decide_note(
                snapshot, writing, package_id, kind=kind, title=title, text=text
            ),
        )

    def list(
        self, package_id: str, *, after: str | None = None, limit: int = 100
    ) -> Sequence[PlatformNote]:
        """The notes of a package in the order of their ids, page by page.

        An erased one stands there without its texts.

        Raises:
            NotFoundError: ``package.not-found``.

        """
        with self._work.snapshot() as snapshot:
            find_package(snapshot, package_id)
            page = snapshot.scan(
                PLATFORM_NOTE.name,
                "by_package",
                (package_id,),
                after=None if after is None else (after,),
                limit=limit,
            )
        return cast("Sequence[PlatformNote]", page)

    def erase(self, package_id: str, note_ids: Iterable[str]) -> Erased:
        """Erase texts of notes; a person does.

        Raises:
            NotFoundError: ``tier.not-found``; then none is erased.
            CallerError: ``erase.*``.

        """
        return self._erase(package_id, "note", note_ids)


class Pointers(TierVerbs):
    """The ledger of long-term memory: pointers that reviews let in, nothing else."""

    def get(self, pointer_id: str) -> PointerView:
        """A pointer; NotFoundError (``pointer.not-found``) without one."""
        with self._work.snapshot() as snapshot:
            return find_pointer(snapshot, pointer_id)

    def list(
        self, package_id: str, *, after: str | None = None, limit: int = 100
    ) -> Sequence[PointerView]:
        """The pointers of a package in the order of their ids, page by page.

        Raises:
            NotFoundError: ``package.not-found``.

        """
        with self._work.snapshot() as snapshot:
            find_package(snapshot, package_id)
            page = snapshot.scan(
                POINTER.name,
                "by_package",
                (package_id,),
                after=None if after is None else (after,),
                limit=limit,
            )
            return [view_of(snapshot, row) for row in cast("Sequence[Pointer]", page)]

    def erase(self, package_id: str, pointer_ids: Iterable[str]) -> Erased:
        """Erase texts of pointers; a person does.

        Raises:
            NotFoundError: ``tier.not-found``; then none is erased.
            CallerError: ``erase.*``.

        """
        return self._erase(package_id, "pointer", pointer_ids)
