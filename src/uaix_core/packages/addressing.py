"""Which record a change is about: that of the revision which the writer has seen.

A path is where a record stands for now. Records move, and others come to stand where
they were, so whoever names a revision means its record. Without one it is the record
at the path, or the one that was retired there last, by the order of commits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import attrs

from uaix_core.history.relations import REVISION
from uaix_core.packages.revisions import (
    Candidate,
    RevisionConflictError,
    not_found,
)
from uaix_core.values.errors import CallerError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from uaix_core.history.relations import Head, Revision
    from uaix_core.packages.standing import Standing
    from uaix_core.store.port import Snapshot


@attrs.frozen
class RecordChange:
    """What is to become of one record, and which revision of it was seen.

    ``content`` is None for a tombstone. ``expected_revision`` is None for a record that
    isn't there yet. ``entry`` are members of its manifest entry by their wire names.
    """

    path: str
    content: bytes | None = attrs.field(repr=False)
    expected_revision: str | None
    entry: Mapping[str, Any] | None = None
    #: The record that has to stand there, where it is known.
    record_id: str | None = None
    #: Whether a new record is known to be another one than that which began at its
    #: path and stands elsewhere by now; else the same bytes are a retry.
    is_other: bool = False


def head_of(
    snapshot: Snapshot, standing: Standing, change: RecordChange
) -> Head | None:
    """The head of the record that a change is about, None for a new one."""
    there = head_at(standing, change.path)
    expected = change.expected_revision
    if not expected or (there is not None and there.revision_id == expected):
        return there
    row = cast("Revision | None", snapshot.get(REVISION.name, (expected,)))
    if row is None or row.package_id != standing.package.package_id:
        return there
    # Of an erased revision nobody knows where it stood.
    is_seen_there = row.path in (None, change.path)
    return standing.heads[row.record_id] if is_seen_there else there


def head_at(standing: Standing, path: str) -> Head | None:
    """The head of the record that stands at a path, or of the last one that did."""
    found = standing.records.get(path)
    if found is not None:
        return standing.heads[found]
    gone = [
        standing.heads[record_id]
        for record_id, revision in standing.revisions.items()
        if revision.path == path
    ]
    # The version is the commit's, and no clock's.
    return max(gone, key=lambda head: head.version, default=None)


def check_record(snapshot: Snapshot, standing: Standing, change: RecordChange) -> None:
    """Refuse a change of a record in whose place another one stands."""
    if change.record_id is None:
        return
    head = head_of(snapshot, standing, change)
    if head is None or head.record_id != change.record_id:
        raise taken(change.path)


def taken(path: str) -> CallerError:
    """The error for a path at which another record stands."""
    return CallerError(
        "another record stands at the path by now",
        code="record.moved",
        path=path,
        hint="keep what stands, or let the candidate branch off",
    )


def candidate_of(standing: Standing, head: Head, change: RecordChange) -> Candidate:
    """What a change is once another revision stands than its writer has seen."""
    before = standing.revisions[head.record_id]
    return Candidate(
        head,
        before.path or change.path,
        change.expected_revision,
        change.content,
        before.media_type or "",
        change.path,
    )


def check_expected(
    snapshot: Snapshot, standing: Standing, changes: Sequence[RecordChange]
) -> None:
    """Refuse all changes when one of them was made without seeing what stands.

    Raises:
        RevisionConflictError: another revision stands, or the record stands elsewhere.
        NotFoundError: ``record.not-found``, ``revision.not-found``.

    """
    lost = []
    for change in changes:
        head = head_of(snapshot, standing, change)
        expected = change.expected_revision
        if head is None:
            if expected is not None:
                raise _nothing_there(snapshot, standing, change)
            continue
        if head.revision_id == expected:
            continue
        _check_known(snapshot, head, change)
        lost.append(candidate_of(standing, head, change))
    if lost:
        raise RevisionConflictError(lost)


def _nothing_there(
    snapshot: Snapshot, standing: Standing, change: RecordChange
) -> NotFoundError:
    """The error for a path at which no record stands, nor ever did by that revision."""
    error = not_found(change.path)
    name = change.expected_revision or ""
    row = cast("Revision | None", snapshot.get(REVISION.name, (name,)))
    if row is not None and row.package_id == standing.package.package_id:
        place = standing.revisions[row.record_id].path
        error.hint = place and f"the record of that revision stands at {place}"
    return error


def _check_known(snapshot: Snapshot, head: Head, change: RecordChange) -> None:
    """Refuse a revision that the record never had: nobody can have seen it."""
    expected = change.expected_revision
    if expected is None:
        return
    row = cast("Revision | None", snapshot.get(REVISION.name, (expected,)))
    if row is None or row.record_id != head.record_id:
        raise NotFoundError(
            "the record never had the revision that is expected",
            code="revision.not-found",
            path=expected,
        )
