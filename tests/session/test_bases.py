"""Laws of bases: which stored state a folder or an archive was made from."""

from __future__ import annotations

import json

import pytest
from tests.packages.package_maker import MANIFEST, SENTINEL, Maker
from tests.session.package_kit import ID, NOTE, head, package, position
from tests.session.test_lifecycle import based_on, erase, replaced

from uaix_core import (
    CallerError,
    ConflictError,
    EditedFiles,
    NotFoundError,
    PackageSource,
    Session,
    repack,
)

CONTEXT = ".uai/world-context.uai"
NEW = "another"
#: Two texts of one size, so that a manifest of placeholders is the same for both.
NOTES = (b"The first one.\n", b"The other one.\n")


def unmeasured(note: bytes) -> Maker:
    """A package whose manifest holds placeholders in the place of digests."""
    maker = package(note)
    for entry in maker.manifest["files"]:
        entry["sha256"] = SENTINEL
    return maker


def states(session: Session) -> list[str]:
    """The ids of all checkpoints, oldest first."""
    return [row.checkpoint_id for row in session.packages.checkpoints(ID)]


@pytest.fixture
def twins(session: Session) -> Session:
    """A session whose scope has two states of a package under one manifest."""
    one, two = map(unmeasured, NOTES)
    session.packages.install(one.archive())
    session.packages.update(two.archive(), based_on=based_on(one))
    assert one.manifest_bytes() == two.manifest_bytes()
    assert 2 == len(states(session))
    return session


def third() -> Maker:
    """An edit of whichever of the two."""
    return replaced(package(), NOTE, b"Third.\n")


def test_a_shared_digest_is_no_base(twins: Session) -> None:
    """A digest that two states share overwrites neither; what tells them apart is."""
    shared = based_on(unmeasured(NOTES[0]))
    before = position(twins)
    for source in (third(), replaced(package(basedOn=shared), NOTE, b"Third.\n")):
        named = None if "basedOn" in source.manifest else shared
        with pytest.raises(CallerError) as caught:
            twins.packages.update(source.archive(), based_on=named)
        assert "checkpoint.ambiguous" == caught.value.code
        assert "its id" in (caught.value.hint or "")
    for stale in (states(twins)[0], unmeasured(NOTES[0]).folder()):
        with pytest.raises(ConflictError) as old:
            twins.packages.update(third().archive(), based_on=stale)
        assert "package.stale" == old.value.code
    assert before == position(twins)
    assert NOTES[1] == twins.packages.read(ID)[NOTE]


@pytest.mark.parametrize("base", ["id", "folder", "archive"])
def test_a_base_is_named_by_its_content(twins: Session, base: str) -> None:
    """The id of a checkpoint, or the package as it was, names one state only."""
    now = unmeasured(NOTES[1])
    named = {
        "id": states(twins)[1],
        "folder": now.folder(),
        "archive": now.archive(),
    }[base]

    answer = twins.packages.update(third().archive(), based_on=named, key="k")

    assert answer.is_first
    assert b"Third.\n" == twins.packages.read(ID)[NOTE]
    again = twins.packages.update(third().archive(), based_on=named, key="k")
    assert (answer.receipt, False) == (again.receipt, again.is_first)


@pytest.mark.parametrize("number", [0, 1])
def test_an_untouched_folder_is_of_the_state_that_it_holds(
    twins: Session, number: int
) -> None:
    """Of two states with one manifest a folder is of the one whose files it has."""
    files = dict(unmeasured(NOTES[number]).folder().files or {})

    found = twins.packages.edits(ID, EditedFiles(files)).status

    assert (states(twins)[number], ()) == (found.checkpoint_id, found.changed)
    assert (number == 1) == found.is_current
    assert (
        NOTES[1]
        == {**files, **twins.packages.refresh(ID, EditedFiles(files)).writes}[NOTE]
    )


def test_an_edited_folder_of_two_states_is_asked_about(twins: Session) -> None:
    """Where nobody can tell what was edited nothing comes in before it is said."""
    files = dict(unmeasured(NOTES[0]).folder().files or {})
    files[NOTE] = b"Edited over the first one.\n"
    before = position(twins)
    for verb in ("edits", "adopt", "refresh"):
        with pytest.raises(CallerError) as caught:
            getattr(twins.packages, verb)(ID, EditedFiles(files))
        assert "checkpoint.ambiguous" == caught.value.code
    first, second = states(twins)
    told = twins.packages.edits(ID, EditedFiles(files, first)).status
    assert [(NOTE, "conflict")] == [(f.path, f.state) for f in told.changed]
    assert before == position(twins)

    twins.packages.adopt(ID, EditedFiles(files, second))

    assert files[NOTE] == twins.packages.read(ID)[NOTE]


def test_a_state_is_not_read_by_a_shared_name(twins: Session) -> None:
    """What two states are called names neither; their numbers and ids do."""
    shared = based_on(unmeasured(NOTES[0]))
    with pytest.raises(CallerError) as caught:
        twins.packages.read_at(ID, shared)
    assert "checkpoint.ambiguous" == caught.value.code
    for number, name in enumerate(states(twins)):
        for known in (name, str(number + 1)):
            assert NOTES[number] == twins.packages.read_at(ID, known)[NOTE]


def test_an_erased_state_is_taken_for_no_other(twins: Session) -> None:
    """What was made from a state that is erased doesn't go over the one that stands."""
    erase(twins, "checkpoint", states(twins)[0])
    files = dict(unmeasured(NOTES[0]).folder().files or {})
    shared = based_on(unmeasured(NOTES[0]))
    for call in (
        lambda: twins.packages.update(third().archive(), based_on=shared),
        lambda: twins.packages.adopt(ID, EditedFiles(files)),
        lambda: twins.packages.read_at(ID, shared),
    ):
        with pytest.raises(CallerError) as caught:
            call()
        assert "checkpoint.ambiguous" == caught.value.code
    now = dict(twins.packages.read(ID))
    assert () == twins.packages.adopt(ID, EditedFiles(now)).revisions
    twins.packages.update(third().archive(), based_on=PackageSource(files=now))


def test_a_state_that_came_back_is_one_state(session: Session) -> None:
    """The same manifest with the same files is no ambiguity, however often it stood."""
    one, two = package(), package(b"Two.\n")
    session.packages.install(one.archive())
    session.packages.update(two.archive(), based_on=based_on(one))
    session.packages.update(one.archive(), based_on=based_on(two))

    session.packages.update(third().archive(), based_on=based_on(one))

    assert b"Third.\n" == session.packages.read(ID)[NOTE]
    assert one.files[NOTE] == session.packages.read_at(ID, based_on(one))[NOTE]


def branched(session: Session, source: PackageSource, **more: object) -> str | None:
    """The checkpoint at which a branch parted, as its lineage says."""
    session.packages.branch(source, package_id=NEW, **more)
    (row,) = session.packages.descendants(ID)
    return row.from_checkpoint_id


@pytest.mark.parametrize("said", ["nothing", "unknown", "manifest", "call", "package"])
def test_a_lineage_is_true_or_unknown(session: Session, said: str) -> None:
    """A branch names the state at which it parted where that is said, never another."""
    one = package()
    session.packages.install(one.archive())
    first = states(session)[0]
    session.packages.revise(ID, NOTE, b"Ours.\n", expected_revision=head(session))
    theirs = replaced(package(), NOTE, b"Theirs.\n")
    bases = {"unknown": "a" * 64, "manifest": based_on(one)}
    if said in bases:
        theirs.manifest["basedOn"] = bases[said]
    more = {"call": {"based_on": first}, "package": {"based_on": one.folder()}}

    parted = branched(session, theirs.folder(), **more.get(said, {}))

    assert (None if said in ("nothing", "unknown") else first) == parted


def test_a_branch_of_two_states_is_asked_about(twins: Session) -> None:
    """Where two states may be meant, the call says which; an unknown one is told."""
    source = unmeasured(b"The third one.\n").folder()
    with pytest.raises(CallerError) as caught:
        twins.packages.branch(source, package_id=NEW)
    assert "checkpoint.ambiguous" == caught.value.code
    with pytest.raises(NotFoundError) as unknown:
        twins.packages.branch(source, package_id=NEW, based_on="a" * 64)
    assert "checkpoint.not-found" == unknown.value.code
    first = states(twins)[0]
    assert first == branched(twins, source, based_on=first)


def edited(files: dict[str, bytes], text: bytes) -> dict[str, bytes]:
    """The folder after one more edit, with a manifest that was brought up to date."""
    more = {**files, CONTEXT: files[CONTEXT] + text}
    return repack(more, says_base=True).files


@pytest.mark.parametrize("stored", ["", "1", "2", "12", "23", "13", "123"])
def test_a_folder_knows_the_last_of_its_states_that_was_stored(
    session: Session, stored: str
) -> None:
    """However often it was brought up to date between, an edit finds its base."""
    session.packages.install(package().archive())
    files = dict(session.packages.export(ID).files)
    for number in "123":
        files = edited(files, f"Edit {number}.\n".encode())
        if number in stored:
            session.packages.update(PackageSource(files=files))
    last = states(session)[-1]
    final = edited(files, b"The last one.\n")
    session.packages.branch(PackageSource(files=final), package_id=NEW)
    (row,) = session.packages.descendants(ID)
    assert last == row.from_checkpoint_id

    session.packages.update(PackageSource(files=final))

    assert final == session.packages.read(ID)
    unsaid = {**final, CONTEXT: final[CONTEXT] + b"x\n"}
    assert (
        () != session.packages.adopt(ID, EditedFiles(edited(unsaid, b"y\n"))).revisions
    )


def test_a_draft_of_an_older_state_is_stale(session: Session) -> None:
    """What others stored meanwhile isn't overwritten, whatever a draft has seen."""
    session.packages.install(package().archive())
    files = dict(session.packages.export(ID).files)
    drafts = [edited(files, b"Mine.\n")]
    drafts.append(edited(drafts[0], b"More of mine.\n"))
    session.packages.update(PackageSource(files=edited(files, b"Theirs.\n")))

    for draft in drafts:
        with pytest.raises(ConflictError) as caught:
            session.packages.update(PackageSource(files=draft))
        assert "package.stale" == caught.value.code


def test_a_base_that_was_taken_over_says_nothing(session: Session) -> None:
    """An edit may name its base where its manifest repeats that of the base."""
    session.packages.install(package().archive())
    files = dict(session.packages.export(ID).files)
    session.packages.update(PackageSource(files=edited(files, b"One.\n")))
    before = dict(session.packages.export(ID).files)
    assert "basedOn" in json.loads(before[MANIFEST])
    after = repack({**before, NOTE: b"Another.\n"}).files

    session.packages.update(
        PackageSource(files=after), based_on=PackageSource(files=before)
    )

    assert b"Another.\n" == session.packages.read(ID)[NOTE]
