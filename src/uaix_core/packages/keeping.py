"""Keeping what lost: which candidates the store holds as conflicts, and which it may.

An error goes through the hands of callers, and those of a host keep it by themselves.
So it is judged as everything is that comes from outside: nothing is believed of it but
what the store knows as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from uaix_core.gate.said import check_lines
from uaix_core.history.receipts import Writing, receipt_row
from uaix_core.history.relations import CONFLICT, HEAD, REVISION
from uaix_core.packages.content.bodies import judge_body
from uaix_core.packages.content.body_facts import facts_of
from uaix_core.packages.findings import Findings
from uaix_core.packages.limits import DEFAULT_LIMITS
from uaix_core.packages.paths import judge_path
from uaix_core.packages.revisions import candidate_name, chain_of
from uaix_core.packages.rules.table import RULES
from uaix_core.review.relations import REVIEW
from uaix_core.schema.commits import Commit
from uaix_core.store.scanning import all_rows
from uaix_core.values.canonical import SALT_BYTES, sha256_hex
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from uaix_core.history.relations import Conflict, Revision
    from uaix_core.packages.revisions import Candidate, CandidateName
    from uaix_core.review.relations import Review
    from uaix_core.store.port import Snapshot

#: How many candidates are read at a time; each comes with its content.
_CANDIDATES: Final = 20


def may_be_kept(snapshot: Snapshot, candidate: Candidate) -> bool:
    """Whether a candidate is of a record here, and a package might hold it.

    What the gate refuses is no more stored as a conflict than as a revision.
    """
    return _is_of_a_record(snapshot, candidate) and _is_fit(candidate)


def _is_of_a_record(snapshot: Snapshot, candidate: Candidate) -> bool:
    """Whether the writer saw another revision of the record than the head it names."""
    head, expected = candidate.head, candidate.expected_revision
    if expected == head.revision_id:
        return False
    key = (head.package_id, head.record_id)
    names = [name for name in (head.revision_id, expected) if name is not None]
    rows = [
        cast("Revision | None", snapshot.get(REVISION.name, (name,))) for name in names
    ]
    return (
        snapshot.get(HEAD.name, key) is not None
        and all(
            row is not None and (row.package_id, row.record_id) == key for row in rows
        )
        and candidate.media_type in {row.media_type or "" for row in rows if row}
    )


def _is_fit(candidate: Candidate) -> bool:
    """Whether path and content pass what every file has to pass by itself."""
    findings = Findings(RULES)
    try:
        check_lines({"path": candidate.path, "media_type": candidate.media_type})
    except CallerError:
        return False
    if not judge_path(candidate.path, DEFAULT_LIMITS, findings):
        return False
    content = candidate.content
    if content is None:
        return True
    if len(content) > DEFAULT_LIMITS.entry_bytes:
        return False
    judge_body(candidate.path, content, candidate.media_type, findings)
    digest = sha256_hex(content)
    facts = facts_of(candidate.path, content, candidate.media_type, digest)
    codes = [code for code, _message in facts.findings]
    return not findings.has_error and not any(
        RULES[code].severity == "error" for code in codes
    )


def kept_before(
    snapshot: Snapshot, candidates: Sequence[Candidate]
) -> dict[CandidateName, str]:
    """Which of these candidates the store holds, by name: the ids of their conflicts.

    A candidate that a review has decided about stays decided, so it is one of them.
    """
    kept: dict[CandidateName, str] = {}
    places = {(one.head.package_id, one.head.record_id) for one in candidates}
    for place in sorted(places):
        for name, conflict_id in _kept_of(snapshot, place):
            kept.setdefault(name, conflict_id)
    return {one.name: kept[one.name] for one in candidates if one.name in kept}


def _kept_of(
    snapshot: Snapshot, place: tuple[str, str]
) -> Iterator[tuple[CandidateName, str]]:
    """All candidates of a record with the ids of their conflicts."""
    rows = all_rows(snapshot, CONFLICT, "by_record", place, page=_CANDIDATES)
    for row in cast("Iterator[Conflict]", rows):
        # Of an erased one nobody can tell any more what it was.
        if row.path is not None:
            digest = None if row.change == "tombstone" else row.sha256
            expected = row.expected_revision_id
            name = candidate_name(row.record_id, row.path, expected, digest)
            yield name, row.conflict_id


def taken_before(snapshot: Snapshot, candidate: Candidate) -> Revision | None:
    """The revision that a review made of this very candidate, or None.

    Where the record said so by then already, it is the one that stood.
    """
    package_id, record_id = candidate.head.package_id, candidate.head.record_id
    conflicts = {
        conflict_id
        for name, conflict_id in _kept_of(snapshot, (package_id, record_id))
        if name == candidate.name
    }
    if not conflicts:
        return None
    decided = all_rows(snapshot, REVIEW, "by_package", (package_id, "conflict"))
    for row in cast("Iterator[Review]", decided):
        if row.conflict_id in conflicts and row.verdict == "taken":
            chain = chain_of(snapshot, package_id, record_id)
            return [one for one in chain if one.version <= row.version][-1]
    return None


def keep_candidates(
    writing: Writing, candidates: Sequence[Candidate], receipt_id: str
) -> tuple[Commit, tuple[str, ...]]:
    """The commit that keeps what lost, and the ids of its conflicts."""
    rows = [_conflict(writing, one, receipt_id) for one in candidates]
    names = tuple(row.conflict_id for row in rows)
    receipt = receipt_row(
        writing,
        receipt_id,
        operation="conflict",
        outcome="refused",
        details={"conflict_ids": list(names)},
        package_id=candidates[0].head.package_id,
    )
    return Commit(writing.scope, writing.now, adds=(*rows, receipt)), names


def _conflict(writing: Writing, candidate: Candidate, receipt_id: str) -> Conflict:
    head, content = candidate.head, candidate.content
    row = CONFLICT.named_by_header(
        "conflict_id",
        writing.random.bytes(SALT_BYTES),
        package_id=head.package_id,
        record_id=head.record_id,
        expected_revision_id=candidate.expected_revision,
        head_revision_id=head.revision_id,
        change="tombstone" if content is None else "replace",
        receipt_id=receipt_id,
        actor_kind=writing.principal.kind,
        actor_id=writing.principal.id,
        path=candidate.path,
        media_type=candidate.media_type,
        sha256=sha256_hex(content or b""),
        content=content or b"",
    )
    return cast("Conflict", row)
