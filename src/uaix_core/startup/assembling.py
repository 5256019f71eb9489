"""Start-up assembly: what an agent is given of a package, or why it gets nothing.

A package starts as a whole: every check is made, and one that fails keeps all of it
back. What is marked as private is blanked out of what is given, never of what is
stored, unless a consent lifts it for whoever starts it.

Source: UAIX package format v0.1, "Required sets", start-up order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from uaix_core.history.receipts import Writing, receipt_row
from uaix_core.packages.standing import expect_package
from uaix_core.schema.commits import Commit
from uaix_core.startup import checks
from uaix_core.startup.checks import StartupCheck
from uaix_core.startup.consents import consents_of
from uaix_core.startup.judging import judge_startup
from uaix_core.startup.reading import read_found
from uaix_core.values.canonical import canonical_digest, sha256_hex
from uaix_core.values.parsing.blanking import blanked, unread_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uaix_core.startup.consents import ConsentView
    from uaix_core.startup.judging import Loaded, Wanted
    from uaix_core.startup.reading import Found
    from uaix_core.store.port import Snapshot
    from uaix_core.values.parsing.blanking import HiddenSpan

OPERATION: Final = "start"


@attrs.frozen
class StartupRecord:
    """One record as it is given at start-up.

    ``position`` counts from 1 in start-up order. ``content`` is what may be shown;
    ``size_bytes``, ``sha256`` and ``canonical_sha256`` (None without one) are of the
    stored bytes. ``blanked`` names the fields that were blanked, one name for each.
    """

    position: int
    path: str
    role: str
    media_type: str
    record_id: str
    revision_id: str
    size_bytes: int
    sha256: str
    canonical_sha256: str | None
    content: bytes = attrs.field(repr=False)
    blanked: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The record as plain data, without content."""
        shown = {name: getattr(self, name) for name in _SHOWN}
        return {**shown, "blanked": list(self.blanked)}


_SHOWN: Final = tuple(
    field.name
    for field in attrs.fields(StartupRecord)
    if field.name not in ("content", "blanked")
)


@attrs.frozen
class Assembly:
    """What a package is started with: its records in order, and the receipt of it.

    ``assembly_sha256`` is the SHA-256 of the RFC 8785 form of the list of ``[path,
    SHA-256 of the content]``: the same wherever the same is given. ``consents`` are the
    ids of those that lifted something. ``lease_id`` and ``fence`` are of the lease that
    it was started under, None without one.
    """

    package_id: str
    agent_id: str
    checkpoint_id: str
    manifest_sha256: str
    assembly_sha256: str
    records: tuple[StartupRecord, ...]
    consents: tuple[str, ...] = ()
    lease_id: str | None = None
    fence: int | None = None
    seq: int = 0
    receipt: str = ""
    is_staged: bool = False

    @property
    def blanked_count(self) -> int:
        """How many fields were blanked."""
        return sum(len(record.blanked) for record in self.records)

    @property
    def files(self) -> dict[str, bytes]:
        """The content of each record by path, in start-up order."""
        return {record.path: record.content for record in self.records}

    def as_dict(self) -> dict[str, Any]:
        """The assembly as plain data, without content."""
        return {
            **attrs.asdict(self, recurse=False),
            "records": [record.as_dict() for record in self.records],
            "consents": list(self.consents),
            "blanked_count": self.blanked_count,
        }


@attrs.frozen
class Started:
    """What a start-up came to, and the commit that records it.

    ``assembly`` is None exactly where ``failed`` lists something.
    """

    commit: Commit
    receipt: str
    failed: tuple[StartupCheck, ...]
    assembly: Assembly | None


def decide_start(snapshot: Snapshot, writing: Writing, wanted: Wanted) -> Started:
    """Put a package together for an agent, or find all that keeps it from starting.

    Raises:
        NotFoundError: ``package.not-found``.

    """
    found = read_found(snapshot, wanted.package_id)
    judged = judge_startup(found, wanted, writing.scope, writing.principal)
    consents = [
        consent
        for consent in consents_of(snapshot, wanted.package_id)
        if consent.holds(writing.principal, writing.now)
    ]
    failed = set(judged.failed)
    records: list[StartupRecord] = []
    used: set[str] = set()
    for position, loaded in enumerate(judged.loaded, 1):
        shown = _shown(loaded, consents)
        if shown is None:
            line = unread_line(loaded.content, loaded.file.media_type)
            failed.add(StartupCheck(checks.DISCLOSURE, loaded.file.path, line))
        else:
            records.append(_record(position, loaded, shown))
            used |= shown.lifted_by
    receipt_id = writing.ids.new()
    if failed:
        told = tuple(sorted(failed))
        commit = _commit(writing, found, receipt_id, "refused", _refusal(wanted, told))
        return Started(commit, receipt_id, told, None)
    assembly = _assembly(found, wanted, records, sorted(used), receipt_id)
    details = {
        "agent_id": wanted.agent_id,
        "manifest_sha256": assembly.manifest_sha256,
        "assembly_sha256": assembly.assembly_sha256,
        "records": len(records),
        "blanked": assembly.blanked_count,
        "consents": list(assembly.consents),
    }
    if wanted.lease_id is not None:
        details["lease_id"] = wanted.lease_id
    commit = _commit(writing, found, receipt_id, "accepted", details)
    return Started(commit, receipt_id, (), assembly)


@attrs.frozen
class _Shown:
    """What of a body is shown, the names of what isn't, and which consents lifted."""

    content: bytes
    blanked: tuple[str, ...]
    lifted_by: frozenset[str]


def _shown(loaded: Loaded, consents: Sequence[ConsentView]) -> _Shown | None:
    """What a principal may see of a body; None when nobody can say what that is."""
    hidden = loaded.facts.hidden
    if hidden == ():
        return _Shown(loaded.content, (), frozenset())
    path = loaded.file.path
    whole = {one.consent_id for one in consents if one.names_at(path) is None}
    if whole:
        return _Shown(loaded.content, (), frozenset(whole))
    if hidden is None:
        return None
    used: set[str] = set()
    staying: list[HiddenSpan] = []
    for span in hidden:
        lifting = {
            one.consent_id
            for one in consents
            if span.is_named(one.names_at(path) or ())
        }
        used |= lifting
        if not lifting:
            staying.append(span)
    names = {span.part: span.name for span in staying}
    return _Shown(
        blanked(loaded.content, staying), tuple(names.values()), frozenset(used)
    )


def _record(position: int, loaded: Loaded, shown: _Shown) -> StartupRecord:
    file = loaded.file
    return StartupRecord(
        position=position,
        path=file.path,
        role=file.role,
        media_type=file.media_type,
        record_id=file.record_id,
        revision_id=file.revision_id,
        size_bytes=file.size_bytes,
        sha256=file.sha256,
        canonical_sha256=file.canonical_sha256 or None,
        content=shown.content,
        blanked=shown.blanked,
    )


def _assembly(
    found: Found,
    wanted: Wanted,
    records: Sequence[StartupRecord],
    used: Sequence[str],
    receipt_id: str,
) -> Assembly:
    given = [[record.path, sha256_hex(record.content)] for record in records]
    return Assembly(
        package_id=wanted.package_id,
        agent_id=wanted.agent_id,
        checkpoint_id=found.checkpoint.checkpoint_id,
        manifest_sha256=found.checkpoint.manifest_sha256 or "",
        assembly_sha256=canonical_digest(given),
        records=tuple(records),
        consents=tuple(used),
        lease_id=wanted.lease_id,
        fence=wanted.fence,
        receipt=receipt_id,
    )


def _refusal(wanted: Wanted, failed: Sequence[StartupCheck]) -> dict[str, Any]:
    """What a receipt tells of a refusal: how often each code came."""
    counts: dict[str, int] = {}
    for check in failed:
        counts[check.code] = counts.get(check.code, 0) + 1
    return {"agent_id": wanted.agent_id, "findings": counts}


def _commit(
    writing: Writing,
    found: Found,
    receipt_id: str,
    outcome: str,
    details: dict[str, Any],
) -> Commit:
    receipt = receipt_row(
        writing,
        receipt_id,
        operation=OPERATION,
        outcome=outcome,
        details=details,
        package_id=found.package.package_id,
        checkpoint_id=found.package.checkpoint_id,
    )
    return Commit(
        writing.scope,
        writing.now,
        expects=(expect_package(found.package, found.package.package_id),),
        adds=(receipt,),
    )
