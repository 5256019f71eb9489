"""Proposing: the only door between tiers, and it changes nothing by itself.

Whoever proposes names what it is made from. Long-term memory and the files of a package
stay as they are until a person accepts it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from uaix_core.history.idempotency import use_key
from uaix_core.history.receipts import receipt_row
from uaix_core.packages.export import find_package
from uaix_core.packages.relations import PACKAGE_FILE
from uaix_core.schema.commits import Commit
from uaix_core.tiers.answers import Written
from uaix_core.tiers.drafts import SOURCES, PointerDraft
from uaix_core.tiers.erasing import expect_no_erasure
from uaix_core.tiers.proposal_relations import PROPOSAL, ProposalSource
from uaix_core.tiers.texts import MAX_LIST, MAX_SAID, check_body
from uaix_core.values.canonical import SALT_BYTES, canonical_text, sha256_hex
from uaix_core.values.errors import CallerError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uaix_core.history.idempotency import KeyUse
    from uaix_core.history.receipts import Writing
    from uaix_core.packages.relations import PackageFile
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Snapshot
    from uaix_core.tiers.drafts import FileDraft, TierRef
    from uaix_core.tiers.proposal_relations import Proposal
    from uaix_core.values.ids import Principal

OPERATION: Final = "propose"


@attrs.frozen
class Proposing:
    """What is proposed: of which package, from what, and why."""

    package_id: str
    draft: PointerDraft | FileDraft
    sources: Sequence[TierRef]
    reason: str = attrs.field(default="", repr=False)
    key: str | None = None


def decide_proposal(
    snapshot: Snapshot, writing: Writing, proposing: Proposing
) -> Commit | Written:
    """The commit of a proposal, or the answer of the first time under its key.

    Raises:
        NotFoundError: ``package.not-found``, ``proposal.source`` for a source that
            isn't there, or is another agent's.
        CallerError: ``proposal.sources``, ``proposal.source-erased``, ``tier.text``,
            ``proposal.quote`` for a title that is what somebody said,
            ``proposal.unchanged`` for a file that already is so,
            ``idempotency.reused``.

    """
    package_id, draft = proposing.package_id, proposing.draft
    sources = sorted(set(proposing.sources))
    if not 0 < len(sources) <= MAX_LIST or len(sources) < len(proposing.sources):
        raise CallerError(
            f"a proposal names 1 to {MAX_LIST} sources, each once",
            code="proposal.sources",
            path="sources",
        )
    check_body(proposing.reason, "reason", MAX_SAID, least=0)
    find_package(snapshot, package_id)
    use = _use_key(snapshot, writing, proposing, sources)
    if use.first is not None:
        return _answered(snapshot, use.first)
    rows = [
        standing_source(snapshot, package_id, source, writing.principal)
        for source in sources
    ]
    if isinstance(draft, PointerDraft):
        _check_no_quote(draft, rows)
    else:
        _check_change(snapshot, package_id, draft)
    receipt_id = writing.ids.new()
    row: Any = PROPOSAL.named_by_header(
        "proposal_id",
        writing.random.bytes(SALT_BYTES),
        package_id=package_id,
        receipt_id=receipt_id,
        actor_kind=writing.principal.kind,
        actor_id=writing.principal.id,
        reason=proposing.reason,
        **_fields(draft),
    )
    named = [
        ProposalSource(
            source_id=source.id,
            proposal_id=row.proposal_id,
            package_id=package_id,
            kind=source.kind,
        )
        for source in sources
    ]
    receipt = receipt_row(
        writing,
        receipt_id,
        operation=OPERATION,
        outcome="accepted",
        details={
            "kind": row.kind,
            "proposal_id": row.proposal_id,
            "sources": len(sources),
        },
        package_id=package_id,
        key_digest=use.key_digest,
        request_digest=use.request_digest,
    )
    return Commit(
        writing.scope,
        writing.now,
        expects=(expect_no_erasure(snapshot, package_id), *use.expects),
        adds=(row, *named, receipt),
        puts=use.puts,
    )


def _use_key(
    snapshot: Snapshot,
    writing: Writing,
    proposing: Proposing,
    sources: Sequence[TierRef],
) -> KeyUse:
    """What an idempotency key says of all that is proposed."""
    fields = _fields(proposing.draft)
    request = {
        **fields,
        "content": sha256_hex(fields["content"]),
        "package_id": proposing.package_id,
        "reason": proposing.reason,
        "sources": [[source.kind, source.id] for source in sources],
    }
    return use_key(
        snapshot,
        writing.random,
        operation=OPERATION,
        key=proposing.key,
        request=canonical_text(request),
        now=writing.now,
    )


def _answered(snapshot: Snapshot, receipt_id: str) -> Written:
    """The answer about the proposal that a receipt is of."""
    (row,) = snapshot.scan(PROPOSAL.name, "by_receipt", (receipt_id,), limit=1)
    proposal = cast("Proposal", row)
    return Written(
        proposal.proposal_id, proposal.version, receipt=receipt_id, is_first=False
    )


def standing_source(
    snapshot: Snapshot,
    package_id: str,
    source: TierRef,
    principal: Principal | None = None,
) -> Row:
    """The row of a source whose text is still there.

    An agent isn't told whether another agent's is.

    Raises:
        NotFoundError: ``proposal.source``.
        CallerError: ``proposal.source-erased``.

    """
    relation = SOURCES[source.kind]
    row: Any = snapshot.get(relation.name, (source.id,))
    is_agent = principal is not None and principal.kind == "agent"
    if (
        row is None
        or row.package_id != package_id
        or (is_agent and getattr(row, "agent_id", principal.id) != principal.id)  # type: ignore[union-attr]
    ):
        raise NotFoundError(
            "no such source of this package", code="proposal.source", path=source.id
        )
    if not relation.has_body(row):
        raise CallerError(
            "the source was erased",
            code="proposal.source-erased",
            path=source.id,
            hint="the proposal can only be declined",
        )
    return cast("Row", row)


def _check_no_quote(draft: PointerDraft, rows: Sequence[Any]) -> None:
    title = draft.title.split()
    for row in rows:
        said = (getattr(row, name, None) or "" for name in ("text", "what", "why"))
        if any(title == text.split() for text in said):
            raise CallerError(
                "a title says what something is about, not what was said",
                code="proposal.quote",
                path="title",
            )


def _check_change(snapshot: Snapshot, package_id: str, draft: FileDraft) -> None:
    found = snapshot.scan(
        PACKAGE_FILE.name, "by_path", (package_id, draft.path), limit=1
    )
    standing = cast("PackageFile", found[0]) if found else None
    if (
        standing is not None
        and draft.entry is None
        and standing.sha256 == sha256_hex(draft.content)
    ):
        raise CallerError(
            "the file already says so", code="proposal.unchanged", path=draft.path
        )


def _fields(draft: PointerDraft | FileDraft) -> dict[str, Any]:
    """The fields of a proposal's row that its draft fills; the others are empty."""
    fields: dict[str, Any] = dict.fromkeys(
        ("title", "locator", "digest", "path", "expected_revision"), ""
    )
    fields |= {"kind": "pointer", "entry": "null", "content": b""}
    if isinstance(draft, PointerDraft):
        return {**fields, **attrs.asdict(draft)}
    return {
        **fields,
        "kind": "file",
        "path": draft.path,
        "content": draft.content,
        "expected_revision": draft.expected_revision or "",
        "entry": canonical_text(None if draft.entry is None else dict(draft.entry)),
    }
