"""Laws of review: who decides, on what was seen, and what only a review may do."""

from __future__ import annotations

import json

import attrs
import pytest
from tests.session.package_kit import (
    ENTRY,
    ID,
    NOTE,
    OTHER,
    acting_as,
    head,
    package,
    position,
)
from tests.session.test_lifecycle import based_on, erase, interrupted, replaced

from uaix_core import (
    AcceptancePolicy,
    CallerError,
    ConflictError,
    EditedFiles,
    NotFoundError,
    QueuedChange,
    ReviewNote,
    RevisionConflictError,
    Session,
    StartupError,
)
from uaix_core.history.relations import Conflict
from uaix_core.packages.reviewing import RECORD_VERDICTS


@pytest.fixture
def installed(session: Session) -> Session:
    """A session whose scope has the package."""
    session.packages.install(package().archive())
    return session


def looked_at(session: Session) -> dict[str, str]:
    """Every record of the package, and the revision that a reviewer sees."""
    return {f.path: f.revision_id for f in session.packages.show(ID).files}


def checkpoint(session: Session) -> str:
    """The checkpoint that a reviewer sees."""
    return session.packages.show(ID).package.checkpoint_id


def activate(session: Session) -> None:
    """Review everything and let the package be active."""
    session.review.records(ID, "reviewed", looked_at(session))
    session.review.package(ID, "active", checkpoint_id=checkpoint(session))


def lose(session: Session, content: bytes = b"Lost.\n") -> RevisionConflictError:
    """A change that loses against another one; the error of it."""
    seen = head(session)
    session.packages.revise(ID, NOTE, b"Won.\n", expected_revision=seen)
    with pytest.raises(RevisionConflictError) as caught:
        session.packages.revise(ID, NOTE, content, expected_revision=seen)
    return caught.value


def test_a_package_is_active_after_review_only(installed: Session) -> None:
    """Quarantine ends when every record was reviewed and the package then too."""
    assert "quarantined" == installed.packages.show(ID).package.state
    with pytest.raises(CallerError) as caught:
        installed.review.package(ID, "active", checkpoint_id=checkpoint(installed))
    assert "review.incomplete" == caught.value.code
    waiting = installed.review.waiting(ID)
    assert looked_at(installed) == {f.path: f.revision_id for f in waiting.records}

    activate(installed)

    assert "active" == installed.packages.show(ID).package.state
    assert not installed.review.waiting(ID).records
    assert {"reviewed"} == {f.review_state for f in installed.packages.show(ID).files}


def test_a_change_needs_review_again(installed: Session) -> None:
    """A new revision is unreviewed, and its package is in quarantine again."""
    activate(installed)

    installed.packages.revise(ID, NOTE, b"Two.\n", expected_revision=head(installed))

    assert "quarantined" == installed.packages.show(ID).package.state
    assert [NOTE] == [f.path for f in installed.review.waiting(ID).records]


def test_an_update_needs_review_again(installed: Session) -> None:
    """Only what an update changed waits; the package is in quarantine."""
    activate(installed)
    one = package()

    installed.packages.update(
        replaced(package(), NOTE, b"Two.\n").archive(), based_on=based_on(one)
    )

    assert "quarantined" == installed.packages.show(ID).package.state
    assert [NOTE] == [f.path for f in installed.review.waiting(ID).records]


@pytest.mark.parametrize("principal", ["agent:bot", "import:x", "system:y"])
def test_reviews_are_a_persons(installed: Session, principal: str) -> None:
    """An agent's, an import's or a system's word decides nothing."""
    other = acting_as(installed, principal)
    lost = lose(installed)
    (opened,) = installed.packages.conflicts(ID)
    gone = installed.packages.tombstone(
        ID, NOTE, expected_revision=head(installed), reason="why"
    )
    for decide in (
        lambda: other.review.package(
            ID, "rejected", checkpoint_id=checkpoint(installed)
        ),
        lambda: other.review.records(ID, "reviewed", looked_at(installed)),
        lambda: other.review.keep(opened),
        lambda: other.review.take(opened, expected_revision=lost.current.revision_id),
        lambda: other.review.restore(ID, NOTE, expected_revision=gone.revision_id),
    ):
        with pytest.raises(CallerError) as caught:
            decide()
        assert "review.reviewer" == caught.value.code


def test_nobody_approves_what_they_have_not_seen(installed: Session) -> None:
    """A review of a revision or a checkpoint that no longer stands is refused."""
    seen, stood = looked_at(installed), checkpoint(installed)
    installed.packages.revise(ID, NOTE, b"Two.\n", expected_revision=head(installed))

    with pytest.raises(ConflictError) as stale:
        installed.review.records(ID, "reviewed", seen)
    assert "revision.stale" == stale.value.code
    with pytest.raises(ConflictError) as old:
        installed.review.package(ID, "rejected", checkpoint_id=stood)
    assert "package.stale" == old.value.code
    assert not installed.review.history(ID)


def test_what_moves_while_it_is_reviewed_is_not_approved(installed: Session) -> None:
    """A record that changes between a decision and its commit stays unreviewed."""
    seen = {NOTE: head(installed)}
    late = interrupted(
        installed,
        lambda: installed.packages.revise(
            ID, NOTE, b"Two.\n", expected_revision=seen[NOTE]
        ),
    )

    with pytest.raises(ConflictError):
        late.review.records(ID, "approved", seen)

    assert NOTE in {f.path for f in installed.review.waiting(ID).records}


def test_a_record_that_fails_takes_its_package_along(installed: Session) -> None:
    """A package with a record that isn't good can't become active."""
    activate(installed)
    for verdict in ("rejected", "review_required"):
        installed.review.records(ID, verdict, {NOTE: head(installed)})
        with pytest.raises(CallerError) as caught:
            installed.review.package(ID, "active", checkpoint_id=checkpoint(installed))
        assert "review.incomplete" == caught.value.code
    installed.review.records(ID, "approved", {NOTE: head(installed)})
    installed.review.package(ID, "active", checkpoint_id=checkpoint(installed))


@pytest.mark.parametrize("verdict", RECORD_VERDICTS)
def test_an_active_package_has_good_records_only(
    installed: Session, verdict: str
) -> None:
    """What a review finds of a record its package and its start-up say at once."""
    activate(installed)
    is_good = verdict in ("reviewed", "approved")

    answer = installed.review.records(ID, verdict, {NOTE: head(installed)})

    state = installed.packages.show(ID).package.state
    assert ("active" if is_good else "review_required") == state
    told = [row for row in installed.review.history(ID) if row.version == answer.seq]
    about = {"record"} if is_good else {"record", "package"}
    assert about == {row.subject for row in told}
    assert {answer.receipt} == {row.receipt_id for row in told}
    if is_good:
        assert installed.start(ID, agent_id="ada").records
        return
    with pytest.raises(StartupError) as caught:
        installed.start(ID, agent_id="ada", triggered=[NOTE])
    assert [("startup.review", NOTE), ("startup.state", ID)] == [
        (check.code, check.path) for check in caught.value.checks
    ]


def test_nobody_activates_what_is_being_rejected(installed: Session) -> None:
    """A record that is rejected while its package becomes active takes it along."""
    installed.review.records(ID, "reviewed", looked_at(installed))
    seen = checkpoint(installed)
    late = interrupted(
        installed,
        lambda: installed.review.package(ID, "active", checkpoint_id=seen),
    )

    late.review.records(ID, "rejected", {NOTE: head(installed)})

    assert "review_required" == installed.packages.show(ID).package.state


@pytest.mark.parametrize("verdict", ["quarantined", "review_required", "rejected"])
def test_a_package_may_leave_the_active_state(installed: Session, verdict: str) -> None:
    """A review may take back what another one gave."""
    activate(installed)

    installed.review.package(ID, verdict, checkpoint_id=checkpoint(installed))

    assert verdict == installed.packages.show(ID).package.state


def test_blockers_block(installed: Session) -> None:
    """What a reviewer calls blocked is not active, and what they say is recorded."""
    installed.review.records(ID, "reviewed", looked_at(installed))
    note = ReviewNote(
        "Later.", blockers=["no consent yet"], agreements={"ada": "asked"}
    )

    with pytest.raises(CallerError) as caught:
        installed.review.package(
            ID, "active", checkpoint_id=checkpoint(installed), note=note
        )
    assert "review.blocked" == caught.value.code
    installed.review.package(
        ID, "review_required", checkpoint_id=checkpoint(installed), note=note
    )

    row = installed.review.history(ID)[-1]
    assert ("package", "review_required", "Later.", "human", "alice") == (
        row.subject,
        row.verdict,
        row.note,
        row.actor_kind,
        row.actor_id,
    )
    assert ["no consent yet"] == json.loads(row.blockers or "")
    assert {"ada": "asked"} == json.loads(row.agreements or "")


def test_a_rejected_record_waits_apart(installed: Session) -> None:
    """What keeps a package from being active is listed, and no yes to all takes it."""
    installed.review.records(ID, "reviewed", looked_at(installed))
    installed.review.records(ID, "rejected", {NOTE: head(installed)})

    waiting = installed.review.waiting(ID)

    assert [NOTE] == [file.path for file in waiting.rejected]
    assert NOTE not in [file.path for file in waiting.records]
    with pytest.raises(CallerError) as caught:
        installed.review.package(ID, "active", checkpoint_id=waiting.checkpoint_id)
    assert ("review.incomplete", NOTE) == (caught.value.code, caught.value.path)
    installed.review.records(ID, "approved", {NOTE: head(installed)})
    assert not installed.review.waiting(ID).rejected


def test_a_conflict_blocks_its_package(installed: Session) -> None:
    """While a candidate waits nobody can call the package active."""
    lose(installed)
    installed.review.records(ID, "reviewed", looked_at(installed))

    with pytest.raises(CallerError) as caught:
        installed.review.package(ID, "active", checkpoint_id=checkpoint(installed))
    assert "review.conflict" == caught.value.code
    (opened,) = installed.review.waiting(ID).conflicts
    installed.review.keep(opened)
    installed.review.package(ID, "active", checkpoint_id=checkpoint(installed))


def test_what_was_erased_is_not_active(installed: Session) -> None:
    """A package of which a part is gone can't become active."""
    installed.review.records(ID, "reviewed", looked_at(installed))
    erase(installed, "revision", head(installed))

    with pytest.raises(CallerError) as caught:
        installed.review.package(ID, "active", checkpoint_id=checkpoint(installed))

    assert "package.erased" == caught.value.code


def test_a_receipt_counts_the_reviews(installed: Session) -> None:
    """The receipt of a review holds its verdict and how many it was of."""
    seen = looked_at(installed)
    for answer, count in (
        (installed.review.records(ID, "reviewed", seen), len(seen)),
        (
            installed.review.package(ID, "active", checkpoint_id=checkpoint(installed)),
            1,
        ),
    ):
        details = json.loads(installed.packages.receipt(answer.receipt).details or "")
        assert {"verdict": answer.verdict, "reviews": count} == details


def test_what_stands_may_be_kept(installed: Session) -> None:
    """Keeping closes a conflict once; the record and the candidate stay."""
    error = lose(installed)
    (opened,) = installed.packages.conflicts(ID)
    before = head(installed)

    answer = installed.review.keep(opened, note=ReviewNote("The other one is right."))

    assert "kept" == answer.verdict
    assert before == head(installed)
    assert not installed.packages.conflicts(ID)
    assert b"Lost.\n" == installed.packages.conflict(error.conflict_ids[0]).content
    with pytest.raises(NotFoundError) as caught:
        installed.review.keep(opened)
    assert "conflict.not-open" == caught.value.code
    assert error.conflict_ids[0] == installed.review.history(ID)[-1].conflict_id


def test_keeping_is_of_what_was_seen(installed: Session) -> None:
    """Who names the revision that is to stay keeps no other one."""
    lose(installed)
    (opened,) = installed.packages.conflicts(ID)
    seen = head(installed)
    installed.packages.revise(ID, NOTE, b"Newer.\n", expected_revision=seen)

    with pytest.raises(ConflictError) as caught:
        installed.review.keep(opened, expected_revision=seen)

    assert "revision.stale" == caught.value.code
    assert (opened,) == tuple(installed.packages.conflicts(ID))
    installed.review.keep(opened, expected_revision=head(installed))
    assert not installed.packages.conflicts(ID)


def test_a_conflict_says_where_its_record_stands(installed: Session) -> None:
    """The queue names the path, until the candidate with its path was erased."""
    error = lose(installed)
    assert [NOTE] == [row.path for row in installed.review.waiting(ID).conflicts]

    erase(installed, "conflict", error.conflict_ids[0])

    for _ in range(2):
        (opened,) = installed.packages.conflicts(ID)
        assert opened.path is None
        installed.store.rebuild(installed.scope)
    installed.review.keep(opened)


def test_the_candidate_may_be_taken(installed: Session) -> None:
    """Taking makes the candidate the next revision and closes the conflict, at once."""
    error = lose(installed)
    (opened,) = installed.packages.conflicts(ID)

    answer = installed.review.take(opened, expected_revision=head(installed))

    assert 3 == answer.number
    assert b"Lost.\n" == installed.packages.export(ID).files[NOTE]
    assert not installed.packages.conflicts(ID)
    row = installed.review.history(ID)[-1]
    assert ("conflict", "taken", answer.receipt) == (
        row.subject,
        row.verdict,
        row.receipt_id,
    )
    assert answer.seq == row.version
    details = json.loads(installed.packages.receipt(answer.receipt).details or "")
    assert error.conflict_ids[0] == details["conflict_id"]


def test_taking_is_compare_and_set_too(installed: Session) -> None:
    """A head that moved meanwhile loses nothing, and the conflict stays open."""
    lose(installed)
    (opened,) = installed.packages.conflicts(ID)
    seen = head(installed)
    installed.packages.revise(ID, NOTE, b"Newer.\n", expected_revision=seen)

    with pytest.raises(RevisionConflictError):
        installed.review.take(opened, expected_revision=seen)

    assert b"Newer.\n" == installed.packages.export(ID).files[NOTE]
    assert opened in installed.packages.conflicts(ID)


def test_a_lost_tombstone_is_a_candidate(installed: Session) -> None:
    """A tombstone that lost may be taken like any other change."""
    seen = head(installed)
    installed.packages.revise(ID, NOTE, b"Won.\n", expected_revision=seen)
    with pytest.raises(RevisionConflictError):
        installed.packages.tombstone(ID, NOTE, expected_revision=seen, reason="old")
    (opened,) = installed.packages.conflicts(ID)

    answer = installed.review.take(opened, expected_revision=head(installed))

    assert "tombstone" == answer.change
    assert NOTE not in installed.packages.export(ID).files


@pytest.mark.every_backend
def test_an_erased_candidate_can_only_be_closed(installed: Session) -> None:
    """Of a candidate whose bytes are gone nothing comes back."""
    error = lose(installed)
    (opened,) = installed.packages.conflicts(ID)
    erase(installed, "conflict", error.conflict_ids[0])

    with pytest.raises(CallerError) as caught:
        installed.review.take(opened, expected_revision=head(installed))
    assert "conflict.erased" == caught.value.code
    installed.review.keep(opened)
    assert not installed.packages.conflicts(ID)


@pytest.mark.parametrize("moves_on", [False, True])
def test_a_retry_of_what_was_taken_is_recognised(
    installed: Session, *, moves_on: bool
) -> None:
    """Its writer is told what was made of it, however far the record has moved."""
    seen, files = head(installed), dict(installed.packages.read(ID))
    error = lose(installed)
    (opened,) = installed.packages.conflicts(ID)
    taken = installed.review.take(opened, expected_revision=head(installed))
    if moves_on:
        installed.packages.revise(
            ID, NOTE, b"More.\n", expected_revision=taken.revision_id
        )
    queued = [
        QueuedChange("a", ID, NOTE, b"Lost.\n", expected_revision=seen),
        QueuedChange("b", ID, NOTE, b"More.\n", after="a"),
    ]
    before = position(installed)

    again = installed.packages.revise(ID, NOTE, b"Lost.\n", expected_revision=seen)
    assert (taken.revision_id, False, not moves_on) == (
        again.revision_id,
        again.is_first,
        again.is_current,
    )
    edited = EditedFiles({**files, NOTE: b"Lost.\n"})
    assert () == installed.packages.adopt(ID, edited).revisions
    assert error.conflict_ids == installed.packages.keep_conflict(
        RevisionConflictError(error.candidates)
    )
    assert before == position(installed)
    outcomes = [one.outcome for one in installed.packages.replay(queued)]
    assert ["already", "already" if moves_on else "applied"] == outcomes
    assert not installed.packages.conflicts(ID)


def test_a_new_file_that_was_taken_is_recognised(installed: Session) -> None:
    """Of two that added a file the one that a review took adds it no more."""
    files = {**installed.packages.read(ID), OTHER: b"Lost.\n"}
    new = {"expected_revision": None, "entry": ENTRY}
    installed.packages.revise(ID, OTHER, b"Won.\n", **new)
    edited, entries = EditedFiles(files), {OTHER: ENTRY}
    with pytest.raises(RevisionConflictError):
        installed.packages.adopt(ID, edited, entries=entries)
    (opened,) = installed.packages.conflicts(ID)
    seen = head(installed, OTHER)
    taken = installed.review.take(opened, expected_revision=seen)
    installed.packages.revise(
        ID, OTHER, b"More.\n", expected_revision=taken.revision_id
    )
    before = position(installed)

    assert () == installed.packages.adopt(ID, edited, entries=entries).revisions
    again = installed.packages.revise(ID, OTHER, b"Lost.\n", **new)

    assert (taken.revision_id, False) == (again.revision_id, again.is_first)
    assert before == position(installed)


def test_what_stood_when_it_was_taken_is_the_answer(installed: Session) -> None:
    """A candidate that said what stands made no revision, and is recognised too."""
    seen = head(installed)
    lose(installed)
    (opened,) = installed.packages.conflicts(ID)
    same = installed.packages.revise(
        ID, NOTE, b"Lost.\n", expected_revision=head(installed)
    )
    installed.review.take(opened, expected_revision=same.revision_id)

    again = installed.packages.revise(ID, NOTE, b"Lost.\n", expected_revision=seen)

    assert (same.revision_id, False) == (again.revision_id, again.is_first)


@pytest.mark.every_backend
@pytest.mark.parametrize("decision", ["kept", "branched"])
def test_what_was_turned_down_stays_decided(installed: Session, decision: str) -> None:
    """It loses again whenever it comes again, and nobody has to decide it anew."""
    seen, files = head(installed), dict(installed.packages.read(ID))
    first = lose(installed)
    (opened,) = installed.packages.conflicts(ID)
    if decision == "kept":
        installed.review.keep(opened)
    else:
        installed.review.branch(opened, package_id="branch")
    edited = EditedFiles({**files, NOTE: b"Lost.\n"})
    before = position(installed)

    for again in (
        lambda: installed.packages.revise(ID, NOTE, b"Lost.\n", expected_revision=seen),
        lambda: installed.packages.adopt(ID, edited),
    ):
        with pytest.raises(RevisionConflictError) as caught:
            again()
        assert first.conflict_ids == caught.value.conflict_ids
    queued = QueuedChange("a", ID, NOTE, b"Lost.\n", expected_revision=seen)
    (replayed,) = installed.packages.replay([queued])

    assert ("conflict", *first.conflict_ids) == (
        replayed.outcome,
        replayed.conflict_id,
    )
    assert before == position(installed)
    assert not installed.packages.conflicts(ID)
    with pytest.raises(RevisionConflictError):
        installed.packages.revise(ID, NOTE, b"Else.\n", expected_revision=seen)
    assert 1 == len(installed.packages.conflicts(ID))


def test_another_entry_was_not_taken(installed: Session) -> None:
    """A retry that says more of the file than the candidate did loses as ever."""
    seen = head(installed)
    lose(installed)
    (opened,) = installed.packages.conflicts(ID)
    installed.review.take(opened, expected_revision=head(installed))

    with pytest.raises(RevisionConflictError):
        installed.packages.revise(
            ID, NOTE, b"Lost.\n", expected_revision=seen, entry={"source": "else"}
        )


def test_a_review_brings_a_record_back(installed: Session) -> None:
    """An un-tombstoned record continues its chain with what it said before."""
    entry = dict(ENTRY, source="a letter")
    installed.packages.revise(
        ID, ".uai/x.uai", b"Old.\n", expected_revision=None, entry=entry
    )
    before = installed.packages.record(ID, ".uai/x.uai")
    gone = installed.packages.tombstone(
        ID, ".uai/x.uai", expected_revision=before.revision.revision_id, reason="old"
    )

    back = installed.review.restore(
        ID, ".uai/x.uai", expected_revision=gone.revision_id
    )

    assert (3, "restore", before.head.record_id) == (
        back.number,
        back.change,
        back.record_id,
    )
    after = installed.packages.record(ID, ".uai/x.uai").revision
    for name in ("content", "role", "scope", "media_type", "source", "required_status"):
        assert getattr(before.revision, name) == getattr(after, name)
    assert "restored" == installed.review.history(ID)[-1].verdict


def test_only_a_tombstone_is_restored(installed: Session) -> None:
    """A record that stands, or another path, has nothing to bring back."""
    seen = head(installed)
    for path in (NOTE, ".uai/none.uai"):
        with pytest.raises(NotFoundError):
            installed.review.restore(ID, path, expected_revision=seen)


@pytest.mark.parametrize(
    ("decide", "code"),
    [
        (lambda s: s.review.package(ID, "good", checkpoint_id="x"), "review.verdict"),
        (lambda s: s.review.records(ID, "active", {NOTE: "x"}), "review.verdict"),
        (lambda s: s.review.records(ID, "reviewed", {}), "review.nothing"),
        (lambda s: s.review.waiting("none"), "package.not-found"),
        (lambda s: s.review.history("none"), "package.not-found"),
        (
            lambda s: s.review.records(ID, "reviewed", {"none": "x"}),
            "record.not-found",
        ),
        (
            lambda s: s.review.records(
                ID,
                "reviewed",
                {NOTE: head(s)},
                note=ReviewNote("ghp_" + "a1B2" * 9),
            ),
            "text.secret",
        ),
        (
            lambda s: s.review.records(
                ID,
                "reviewed",
                {NOTE: head(s)},
                note=ReviewNote(agreements={"ada": "ghp_" + "a1B2" * 9}),
            ),
            "text.secret",
        ),
    ],
)
def test_reviews_that_can_not_be(installed: Session, decide, code: str) -> None:
    """Wrong words, nothing, nobody, and secrets are refused with their codes."""
    with pytest.raises((CallerError, NotFoundError)) as caught:
        decide(installed)

    assert code == caught.value.code
    assert not installed.review.history(ID)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"text": "x" * 10_001}, "review.note"),
        ({"text": "\0"}, "review.note"),
        ({"text": None}, "review.note"),
        ({"blockers": [""]}, "review.blockers"),
        ({"blockers": ["x"] * 101}, "review.blockers"),
        ({"blockers": ["x" * 1_001]}, "review.blockers"),
        ({"agreements": {"": "x"}}, "review.agreements"),
        ({"agreements": {"x": 1}}, "review.agreements"),
    ],
)
def test_notes_are_texts_of_a_sensible_length(fields, code: str) -> None:
    """A note that can't be stored is refused where it is made."""
    with pytest.raises(CallerError) as caught:
        ReviewNote(**fields)

    assert code == caught.value.code


def test_a_review_is_kept_whole(installed: Session) -> None:
    """Reviews are history: all of them are read, in the order in which they came."""
    for verdict in ("reviewed", "rejected", "approved"):
        installed.review.records(ID, verdict, {NOTE: head(installed)})

    rows = installed.review.history(ID)
    assert ["reviewed", "rejected", "approved"] == [row.verdict for row in rows]
    assert "approved" == next(
        f.review_state for f in installed.packages.show(ID).files if f.path == NOTE
    )


def test_candidates_do_not_show_in_reprs(installed: Session) -> None:
    """What was lost is content: no repr of a row or an answer holds it."""
    error = lose(installed, b"Lost secretly.\n")
    kept = installed.packages.conflict(error.conflict_ids[0])

    assert isinstance(kept, Conflict)
    assert "secretly" in str(attrs.asdict(kept)["content"])
    assert "secretly" not in f"{error!r}{error.candidates!r}{error.__dict__!r}"


@pytest.mark.every_backend
def test_taking_what_stands_closes_the_conflict(installed: Session) -> None:
    """A candidate that says what stands by now is taken without a new revision."""
    lose(installed)
    (opened,) = installed.packages.conflicts(ID)
    seen = head(installed)
    now = installed.packages.revise(ID, NOTE, b"Lost.\n", expected_revision=seen)

    answer = installed.review.take(opened, expected_revision=now.revision_id)

    assert (now.revision_id, False) == (answer.revision_id, answer.is_first)
    assert not installed.packages.conflicts(ID)
    assert "taken" == installed.review.history(ID)[-1].verdict


def test_an_older_state_may_be_taken(installed: Session) -> None:
    """A candidate that says what an older revision said becomes a new one."""
    first = head(installed)
    two = installed.packages.revise(ID, NOTE, b"Two.\n", expected_revision=first)
    installed.packages.revise(ID, NOTE, b"3\n", expected_revision=two.revision_id)
    with pytest.raises(RevisionConflictError):
        installed.packages.revise(ID, NOTE, b"4\n", expected_revision=first)
    with pytest.raises(RevisionConflictError):
        installed.packages.revise(
            ID, NOTE, b"A first note.\n", expected_revision=two.revision_id
        )
    opened = installed.packages.conflicts(ID)
    older = next(
        row
        for row in opened
        if installed.packages.conflict(row.conflict_id).content == b"A first note.\n"
    )

    answer = installed.review.take(older, expected_revision=head(installed))

    assert 4 == answer.number
    assert b"A first note.\n" == installed.packages.read(ID)[NOTE]


def test_a_candidate_goes_into_its_own_record(installed: Session) -> None:
    """Where another record stands at the path by now, nothing is taken."""
    lose(installed)
    (opened,) = installed.packages.conflicts(ID)
    base = installed.packages.show(ID).package.manifest_sha256
    without = package()
    without.drop(NOTE)
    installed.packages.update(without.archive(), based_on=base)
    other = package(b"Another record.\n")
    other.entry(NOTE)["stableId"] = "another"
    installed.packages.update(other.archive(), based_on=based_on(without))

    with pytest.raises(CallerError) as caught:
        installed.review.take(opened, expected_revision=head(installed))

    assert "record.moved" == caught.value.code
    assert b"Another record.\n" == installed.packages.read(ID)[NOTE]
    installed.review.keep(opened)


def test_a_policy_is_a_persons(installed: Session) -> None:
    """An agent or an import opens no scope."""
    for principal in ("agent:bot", "import:x"):
        with pytest.raises(CallerError) as caught:
            acting_as(installed, principal).packages.set_policy(AcceptancePolicy())
        assert "review.reviewer" == caught.value.code
