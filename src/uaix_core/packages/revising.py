"""Revise: one record of a stored package gets its next revision, by compare-and-set.

Whoever changes a record names the revision that they have seen, or None for a record
that is new. When another one stands by then nothing is written: there is no last writer
who wins, and nothing is merged. A change makes a checkpoint of the whole package, so
that what an export carries is always one state that passed all checks.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from uaix_core.history.relations import Revision
from uaix_core.packages.addressing import (
    RecordChange,
    candidate_of,
    check_expected,
    check_record,
    head_of,
    taken,
)
from uaix_core.packages.anchors import check_authoriser
from uaix_core.packages.answers import Refused
from uaix_core.packages.changes import Plan, build_commit, refused_changes
from uaix_core.packages.entry_edits import FileEdit, decided_here, with_edits
from uaix_core.packages.export import find_package
from uaix_core.packages.install import keyed
from uaix_core.packages.keeping import taken_before
from uaix_core.packages.manifest.values import derived_stable_id
from uaix_core.packages.manifest.words import fold
from uaix_core.packages.relations import CHECKPOINT, Checkpoint
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.packages.revisions import (
    Revised,
    made_before,
    not_found,
    tombstoned,
)
from uaix_core.packages.source import PackageSource
from uaix_core.packages.standing import check_open, checkpoint_of, read_standing
from uaix_core.packages.templates.repack import entries_of
from uaix_core.values.canonical import canonical_text, sha256_hex
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from uaix_core.history.receipts import Writing
    from uaix_core.history.relations import Head
    from uaix_core.packages.anchors import Authorisation
    from uaix_core.packages.lint import Report
    from uaix_core.packages.standing import Standing
    from uaix_core.schema.commits import Commit, Expect, Recorded
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Snapshot

OPERATION: Final = "revise"

#: Members of a manifest entry that a revision keeps: its field, and their form there.
_KEPT: Final[Mapping[str, tuple[str, Callable[[Any], Any]]]] = {
    "role": ("role", str),
    "scope": ("scope", str),
    "mediaType": ("media_type", str),
    "requiredStatus": ("required_status", fold),
    "source": ("source", canonical_text),
}


@attrs.frozen
class Wanted:
    """Changes of one package that are made together or not at all.

    ``details``, ``adds`` and ``expects`` are what the verb has to say beyond them.
    """

    package_id: str
    changes: Sequence[RecordChange]
    authorisations: Collection[Authorisation] = ()
    details: Mapping[str, Any] = attrs.field(factory=dict)
    adds: tuple[Row, ...] = ()
    expects: tuple[Expect, ...] = ()
    #: Whether a record that was tombstoned may come back; only a review may say so.
    may_restore: bool = False
    #: Whether it is a review's: then it is written even where nothing differs, and
    #: what loses needs no keeping, because it is kept already.
    is_review: bool = False


@attrs.frozen
class Decided:
    """The commit of changes, None when all of them were made before.

    ``before`` has the answers about those that were, by path.
    """

    commit: Commit | None
    before: Mapping[str, Revised]

    def answers(self, wanted: Wanted, recorded: Recorded | None) -> list[Revised]:
        """The answer about each change, in the order in which they were wanted."""
        made = {} if recorded is None else _answers_in(recorded)
        return [
            self.before.get(change.path) or made[change.path]
            for change in wanted.changes
        ]


def decide_revisions(
    snapshot: Snapshot,
    writing: Writing,
    wanted: Wanted,
    judge: Callable[[PackageSource], Report],
    receipt_id: str,
) -> Decided | Refused:
    """The commit of changes that were seen to be right, or the answer to a retry.

    Args:
        snapshot: the scope as it stands.
        writing: who changes it, when.
        wanted: the changes.
        judge: lints the package as it would become.
        receipt_id: what the receipt will be called.

    Raises:
        NotFoundError: ``package.not-found``, ``record.not-found``.
        RevisionConflictError: ``revision.conflict``; another revision stands.
        CallerError: ``record.tombstoned``, ``revise.entry``, ``revise.manifest``,
            ``package.erased``, ``anchor.authorisation``.

    """
    check_authoriser(writing.principal, wanted.authorisations)
    package = find_package(snapshot, wanted.package_id)
    check_open(package)
    standing = read_standing(snapshot, package)
    before: dict[str, Revised] = {}
    pending: list[RecordChange] = []
    for change in wanted.changes:
        check_record(snapshot, standing, change)
        revision = None if wanted.is_review else _done(snapshot, standing, change)
        if revision is None:
            pending.append(change)
        else:
            before[change.path] = _answer_before(snapshot, standing, revision)
    check_expected(snapshot, standing, pending)
    if not pending:
        return Decided(None, before)
    heads = {one.path: head_of(snapshot, standing, one) for one in pending}
    for change in pending:
        _check_change(standing, change, heads[change.path], wanted)
    stored = standing.read(snapshot).files
    edits = [
        FileEdit(
            one.path,
            one.content,
            one.entry if heads[one.path] else _entry_of(writing, standing, one),
        )
        for one in pending
    ]
    files = with_edits(stored, edits)
    report = judge(PackageSource(files=files))
    if report.package is None:
        return Refused(report)
    plan = Plan(
        OPERATION,
        report,
        keyed(snapshot, writing, OPERATION, report.package, None),
        standing=standing,
        details=dict(wanted.details),
        adds=wanted.adds,
        may_restore=wanted.may_restore,
    )
    refused = refused_changes(plan, wanted.authorisations)
    if refused is not None:
        return refused
    commit = build_commit(writing, plan, receipt_id)
    made = {row.path for row in commit.adds if isinstance(row, Revision)}
    for change in pending:
        head = heads[change.path]
        if change.path not in made and head is not None:
            # Only its manifest entry is another one: that makes no revision.
            revision = standing.revisions[head.record_id]
            before[change.path] = _answer_before(snapshot, standing, revision)
    expects = (*commit.expects, *wanted.expects)
    return Decided(attrs.evolve(commit, expects=expects), before)


def _check_change(
    standing: Standing, change: RecordChange, head: Head | None, wanted: Wanted
) -> None:
    """Refuse a change of what isn't a record, or of one that was retired."""
    if change.path == MANIFEST_PATH:
        raise CallerError(
            "the manifest follows from its files",
            code="revise.manifest",
            path=change.path,
            hint="update the package to change what it declares",
        )
    if head is not None and head.change == "tombstone" and not wanted.may_restore:
        raise tombstoned(change.path)
    if change.content is None and head is None:
        raise not_found(change.path)
    there = standing.records.get(change.path)
    if head is not None and there not in (None, head.record_id):
        raise taken(change.path)


def _entry_of(
    writing: Writing, standing: Standing, change: RecordChange
) -> Mapping[str, Any] | None:
    """The entry of a new record, which never gets the id of one that began there."""
    entry = change.entry
    if entry is None or "stableId" in entry:
        return entry
    own = derived_stable_id(standing.package.package_id, change.path)
    if own not in standing.heads:
        return entry
    return {**entry, "stableId": writing.ids.new()}


def _done(
    snapshot: Snapshot, standing: Standing, change: RecordChange
) -> Revision | None:
    """The revision that this very change made before: a retry without a key.

    A change to what stands already is none, so it counts as made too.
    """
    head = head_of(snapshot, standing, change)
    if head is None:
        return _begun(snapshot, standing, change)
    current = standing.revisions[head.record_id]
    if head.revision_id == change.expected_revision:
        is_same = _is_of(current, change) and _is_listed(snapshot, standing, change)
        return current if is_same else None
    parent = change.expected_revision
    made = made_before(snapshot, head.package_id, head.record_id, parent)
    if made is not None and _is_of(made, change):
        return made
    # What lost at first, and a review took.
    made = taken_before(snapshot, candidate_of(standing, head, change))
    return made if made is not None and _says(made, change.entry or {}) else None


def _is_listed(snapshot: Snapshot, standing: Standing, change: RecordChange) -> bool:
    """Whether the manifest that stands has all members of an entry as they are."""
    if not change.entry:
        return True
    manifest = checkpoint_of(snapshot, standing.package.checkpoint_id).manifest
    if manifest is None:
        return False
    listed = {path: entry for _index, path, entry in entries_of(json.loads(manifest))}
    there = listed.get(change.path, {})
    return not decided_here(change.entry) and all(
        name in there and canonical_text(there[name]) == canonical_text(value)
        for name, value in change.entry.items()
    )


def _begun(
    snapshot: Snapshot, standing: Standing, change: RecordChange
) -> Revision | None:
    """The first revision of the record that began at a path and stands elsewhere."""
    package_id = standing.package.package_id
    own = (change.entry or {}).get("stableId")
    record_id = own or derived_stable_id(package_id, change.path)
    if change.expected_revision or change.is_other or record_id not in standing.heads:
        return None
    made = made_before(snapshot, package_id, record_id, None)
    return made if made is not None and _is_of(made, change) else None


def _is_of(revision: Revision, change: RecordChange) -> bool:
    """Whether a revision says what a change wants."""
    if change.content is None or revision.change == "tombstone":
        return change.content is None and revision.change == "tombstone"
    is_there = revision.path == change.path
    is_same = revision.sha256 == sha256_hex(change.content)
    return is_there and is_same and _says(revision, change.entry or {})


def _says(revision: Revision, entry: Mapping[str, Any]) -> bool:
    """Whether a revision has the members of an entry, as far as it keeps any."""
    return all(
        getattr(revision, field) == form(entry[name])
        for name, (field, form) in _KEPT.items()
        if name in entry
    )


def _answer_before(
    snapshot: Snapshot, standing: Standing, revision: Revision
) -> Revised:
    """The answer about a change that was made before."""
    checkpoint = _checkpoint_at(snapshot, revision.package_id, revision.version)
    answer = _revised(revision, checkpoint, revision.version, is_first=False)
    head = standing.heads[revision.record_id]
    return attrs.evolve(answer, is_current=head.revision_id == revision.revision_id)


def _checkpoint_at(snapshot: Snapshot, package_id: str, seq: int) -> Checkpoint:
    """The checkpoint that the commit of a revision made; the last one nearly always."""
    after: tuple[Any, ...] | None = None
    while page := snapshot.scan(
        CHECKPOINT.name,
        "by_package",
        (package_id,),
        after=after,
        reverse=True,
        limit=20,
    ):
        for row in cast("list[Checkpoint]", page):
            if row.version <= seq:
                return row
        last = cast("Checkpoint", page[-1])
        after = (last.number, last.checkpoint_id)
    raise not_found(package_id)


def _answers_in(recorded: Recorded) -> dict[str, Revised]:
    """The answers about the revisions that a commit made, by path."""
    adds = recorded.commit.adds
    checkpoint = next(row for row in adds if isinstance(row, Checkpoint))
    return {
        row.path or "": _revised(row, checkpoint, recorded.seq, is_first=True)
        for row in adds
        if isinstance(row, Revision)
    }


def _revised(
    revision: Revision, checkpoint: Checkpoint, seq: int, *, is_first: bool
) -> Revised:
    return Revised(
        package_id=revision.package_id,
        record_id=revision.record_id,
        path=revision.path or "",
        revision_id=revision.revision_id,
        number=revision.number,
        change=revision.change,
        checkpoint_id=checkpoint.checkpoint_id,
        seq=seq,
        receipt=checkpoint.receipt_id,
        is_first=is_first,
    )
