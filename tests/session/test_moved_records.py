"""Laws of records that moved: a path is where a record stands, and never who it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.packages.package_maker import Maker
from tests.session.package_kit import (
    ENTRY,
    ID,
    NOTE,
    OTHER,
    head,
    package,
    position,
)
from tests.session.test_edits import folder
from tests.session.test_lifecycle import based_on

from uaix_core import (
    CallerError,
    EditedFiles,
    NotFoundError,
    PackageSource,
    RevisionConflictError,
    Session,
)

if TYPE_CHECKING:
    from tests.session.conftest import FrozenClock

MOVED = ".uai/moved-notes.uai"


def moving(session: Session) -> str:
    """The id by which a note stays itself wherever it goes."""
    return session.packages.record(ID, NOTE).head.record_id


def elsewhere(record_id: str) -> Maker:
    """The package with the note at another path."""
    maker = Maker()
    maker.add(MOVED, package().files[NOTE], stableId=record_id)
    return maker


@pytest.fixture
def seen(session: Session) -> str:
    """The revision of the note before it moved; it has moved by now."""
    session.packages.install(package().archive())
    before = head(session)
    maker = elsewhere(moving(session))
    session.packages.update(maker.archive(), based_on=based_on(package()))
    assert NOTE not in session.packages.read(ID)
    return before


def add_other(session: Session, content: bytes = b"Another note.\n") -> str:
    """Let another record stand where the note was; its id."""
    return session.packages.revise(
        ID, NOTE, content, expected_revision=None, entry=ENTRY
    ).record_id


@pytest.mark.parametrize("is_taken", [False, True])
@pytest.mark.parametrize("verb", ["revise", "tombstone", "adopt", "adopt removed"])
def test_a_stale_change_finds_its_record(
    session: Session, seen: str, verb: str, *, is_taken: bool
) -> None:
    """A change at the old path is a conflict of the record, and tells where it is."""
    files = {**folder(session), NOTE: b"Mine.\n"}
    first = session.packages.checkpoints(ID)[0].checkpoint_id
    if verb == "adopt removed":
        del files[NOTE]
    if is_taken:
        add_other(session)
    before = session.packages.read(ID)

    packages, stale = session.packages, {"expected_revision": seen}
    # The folder is one of the state before, whatever its manifest is.
    edited = EditedFiles(files, first)
    call = {
        "revise": lambda: packages.revise(ID, NOTE, b"Mine.\n", **stale),
        "tombstone": lambda: packages.tombstone(ID, NOTE, reason="old", **stale),
    }.get(verb, lambda: packages.adopt(ID, edited, only=[NOTE], removals=True))

    with pytest.raises(RevisionConflictError) as caught:
        call()

    error = caught.value
    assert (NOTE, MOVED) == (error.path, error.candidates[0].path)
    assert MOVED in str(error)
    assert head(session, MOVED) == error.current.revision_id
    assert before == session.packages.read(ID)
    (opened,) = session.packages.conflicts(ID)
    assert (MOVED, error.conflict_ids) == (opened.path, (opened.conflict_id,))


@pytest.mark.parametrize("is_taken", [False, True])
def test_a_candidate_follows_its_record(
    session: Session, seen: str, *, is_taken: bool
) -> None:
    """What lost is taken where its record stands by now, also if it moved since."""
    if is_taken:
        add_other(session)
    with pytest.raises(RevisionConflictError):
        session.packages.revise(ID, NOTE, b"Mine.\n", expected_revision=seen)
    (opened,) = session.packages.conflicts(ID)

    session.review.take(opened, expected_revision=head(session, MOVED))

    files = session.packages.read(ID)
    assert b"Mine.\n" == files[MOVED]
    assert (b"Another note.\n" if is_taken else None) == files.get(NOTE)


def test_a_candidate_that_was_kept_before_the_move_follows_too(
    session: Session,
) -> None:
    """A conflict opened at the old path is decided at the new one, or branches."""
    session.packages.install(package().archive())
    before = head(session)
    session.packages.revise(ID, NOTE, b"Won.\n", expected_revision=before)
    for content in (b"Lost.\n", b"Lost too.\n"):
        with pytest.raises(RevisionConflictError):
            session.packages.revise(ID, NOTE, content, expected_revision=before)
    base = session.packages.show(ID).package.manifest_sha256
    session.packages.update(elsewhere(moving(session)).archive(), based_on=base)
    one, two = session.packages.conflicts(ID)

    session.review.branch(one, package_id="another")
    session.review.take(two, expected_revision=head(session, MOVED))

    lost = {session.packages.read(name)[MOVED] for name in (ID, "another")}
    assert {b"Lost.\n", b"Lost too.\n"} == lost


def test_a_folder_says_where_a_record_went(session: Session, seen: str) -> None:
    """A status names the new path, and a refresh brings an untouched file there."""
    before = dict(package().folder().files or {})
    status = session.packages.edits(ID, EditedFiles({**before, NOTE: b"Mine.\n"}))
    (file,) = (file for file in status.status.files if file.path == NOTE)
    assert ("conflict", MOVED, seen) == (file.state, file.moved_to, file.base)

    found = session.packages.refresh(ID, EditedFiles(before))

    assert (NOTE,) == found.removes
    assert before[NOTE] == found.writes[MOVED]


@pytest.mark.parametrize("verb", ["revise", "adopt"])
@pytest.mark.parametrize("content", [b"Another note.\n", b"A first note.\n"])
def test_a_freed_path_may_be_used_again(
    session: Session, seen: str, verb: str, content: bytes
) -> None:
    """A new file there is a record of its own, and the one that moved stays."""
    note = session.packages.record(ID, MOVED)
    if verb == "adopt":
        files = {**folder(session), NOTE: content}
        made = session.packages.adopt(ID, EditedFiles(files), entries={NOTE: ENTRY})
        (answer,) = made.revisions
    else:
        answer = session.packages.revise(
            ID, NOTE, content, expected_revision=None, entry=ENTRY
        )

    assert ("create", 1) == (answer.change, answer.number)
    assert note == session.packages.record(ID, MOVED)
    assert note.head.record_id != answer.record_id
    assert content == session.packages.read(ID)[NOTE]
    assert seen == note.revision.parent_revision_id
    exported = PackageSource(files=session.packages.read(ID))
    assert session.packages.lint(exported).is_accepted


def test_the_call_that_made_a_record_is_known_when_it_has_moved(
    session: Session,
) -> None:
    """A retry makes no second record; a folder that has seen the move may add one."""
    session.packages.install(package().archive())
    made = session.packages.revise(
        ID, OTHER, b"1\n", expected_revision=None, entry=ENTRY
    )
    maker = package()
    maker.add(MOVED, b"1\n", stableId=made.record_id)
    base = session.packages.show(ID).package.manifest_sha256
    session.packages.update(maker.archive(), based_on=base)
    before = position(session)

    again = session.packages.revise(
        ID, OTHER, b"1\n", expected_revision=None, entry=ENTRY
    )

    assert (made.revision_id, False, False) == (
        again.revision_id,
        again.is_first,
        again.is_current,
    )
    assert before == position(session)
    files = {**folder(session), OTHER: b"1\n"}
    for count in (1, 0):
        added = session.packages.adopt(ID, EditedFiles(files), entries={OTHER: ENTRY})
        assert count == len(added.revisions)
    assert made.record_id != session.packages.record(ID, OTHER).head.record_id


def test_a_retired_record_does_not_come_back_by_its_first_path(
    session: Session, seen: str
) -> None:
    """A record that moved and was tombstoned isn't what a new file there continues."""
    gone = session.packages.tombstone(
        ID, MOVED, expected_revision=head(session, MOVED), reason="old"
    )

    other = add_other(session)

    assert gone.record_id != other
    chain = session.packages.revisions(ID, gone.record_id)
    assert ["create", "replace", "tombstone"] == [row.change for row in chain]
    assert seen == chain[0].revision_id


def test_a_change_of_what_never_stood_there_is_none(
    session: Session, seen: str
) -> None:
    """Who names a revision from the new path at the old one is told where it stands."""
    before = position(session)
    with pytest.raises(NotFoundError) as caught:
        session.packages.revise(
            ID, NOTE, b"x\n", expected_revision=head(session, MOVED)
        )
    assert ("record.not-found", NOTE) == (caught.value.code, caught.value.path)
    assert MOVED in (caught.value.hint or "")
    now = head(session, MOVED)
    with pytest.raises(NotFoundError) as back:
        session.packages.revert(ID, NOTE, revision_id=seen, expected_revision=now)
    assert ("record.not-found", caught.value.hint) == (
        back.value.code,
        back.value.hint,
    )
    assert before == position(session)


def test_an_update_says_which_file_needs_an_id(session: Session, seen: str) -> None:
    """A whole package with an unnamed file at the old path is told what to write."""
    maker = elsewhere(session.packages.record(ID, MOVED).head.record_id)
    base = based_on(maker)
    maker.add(NOTE, b"Another note.\n")
    with pytest.raises(CallerError) as caught:
        session.packages.update(maker.archive(), based_on=base)
    assert ("id.stable-repeated", NOTE) == (caught.value.code, caught.value.path)

    maker.entry(NOTE)["stableId"] = "another"
    session.packages.update(maker.archive(), based_on=base)

    assert "another" == session.packages.record(ID, NOTE).head.record_id
    assert seen


def two_retired(session: Session, clock: FrozenClock, step: int) -> list[str]:
    """Two records that were tombstoned at one path; the ids of their tombstones."""
    session.packages.install(package().archive())
    gone = []
    for record in ("derived", "named"):
        if record == "named":
            entry = {**ENTRY, "stableId": "named"}
            maker = package(b"The second.\n")
            maker.entry(NOTE).update(entry)
            base = session.packages.show(ID).package.manifest_sha256
            session.packages.update(maker.archive(), based_on=base)
        clock.at += step
        answer = session.packages.tombstone(
            ID, NOTE, expected_revision=head(session), reason="old"
        )
        gone.append(answer.revision_id)
    return gone


@pytest.mark.parametrize("step", [1, 0, -1])
@pytest.mark.parametrize("which", [0, 1])
def test_a_tombstone_names_the_record_that_comes_back(
    session: Session, clock: FrozenClock, step: int, which: int
) -> None:
    """Of two retired at one path that one is revived which is named, by any clock."""
    gone = two_retired(session, clock, step)

    back = session.review.restore(ID, NOTE, expected_revision=gone[which])

    text = (b"A first note.\n", b"The second.\n")[which]
    assert text == session.packages.read(ID)[NOTE]
    assert back.record_id == session.packages.revision(gone[which]).record_id
    with pytest.raises(CallerError) as caught:
        session.review.restore(ID, NOTE, expected_revision=gone[1 - which])
    assert ("record.moved", NOTE) == (caught.value.code, caught.value.path)
    assert text == session.packages.read(ID)[NOTE]


@pytest.mark.parametrize("step", [1, 0, -1])
def test_the_last_of_the_retired_is_that_of_the_last_commit(
    session: Session, clock: FrozenClock, step: int
) -> None:
    """Who names none of them is told of the one that was retired last, by commits."""
    gone = two_retired(session, clock, step)

    with pytest.raises(RevisionConflictError) as caught:
        session.packages.revise(
            ID, NOTE, b"New.\n", expected_revision=None, entry=ENTRY
        )

    assert gone[1] == caught.value.current.revision_id
