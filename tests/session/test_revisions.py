"""Laws of records: compare-and-set heads, gapless chains, retries, conflicts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.packages.package_maker import MANIFEST
from tests.session.package_kit import (
    ENTRY,
    ID,
    NOTE,
    OTHER,
    TOTEM,
    acting_as,
    head,
    package,
    position,
)
from tests.session.test_lifecycle import erase, interrupted

from uaix_core import (
    Authorisation,
    CallerError,
    NotFoundError,
    PackageRefusedError,
    QueuedChange,
    RevisionConflictError,
    Session,
)
from uaix_core.packages.addressing import RecordChange
from uaix_core.packages.revising import Wanted

if TYPE_CHECKING:
    from collections.abc import Callable

PERSONA = ".uai/persona.uai"


@pytest.fixture
def installed(session: Session) -> Session:
    """A session whose scope has the package."""
    session.packages.install(package().archive())
    return session


def test_a_revision_continues_its_record_alone(installed: Session) -> None:
    """One file gets new bytes and a new number; nothing else of the package moves."""
    before = installed.packages.export(ID)
    records = {f.path: f.revision_id for f in installed.packages.show(ID).files}

    answer = installed.packages.revise(
        ID, NOTE, b"Two.\n", expected_revision=records[NOTE]
    )

    after = installed.packages.export(ID)
    assert {NOTE: b"Two.\n"} == {
        path: data
        for path, data in after.files.items()
        if data != before.files[path] and path != MANIFEST
    }
    assert (2, "replace", True) == (answer.number, answer.change, answer.is_first)
    chain = installed.packages.revisions(ID, answer.record_id)
    assert [1, 2] == [revision.number for revision in chain]
    assert [None, records[NOTE]] == [r.parent_revision_id for r in chain]
    assert b"A first note.\n" == chain[0].content
    moved = {f.path for f in installed.packages.show(ID).files} & {
        f.path
        for f in installed.packages.show(ID).files
        if f.revision_id != records[f.path]
    }
    assert {NOTE} == moved
    assert "quarantined" == installed.packages.show(ID).package.state


def test_the_answer_names_what_was_written(installed: Session) -> None:
    """Commit, checkpoint and receipt of an answer are those that stand."""
    answer = installed.packages.revise(
        ID, NOTE, b"Two.\n", expected_revision=head(installed)
    )

    shown = installed.packages.show(ID).package
    assert (answer.checkpoint_id, answer.seq) == (shown.checkpoint_id, shown.version)
    receipt = installed.packages.receipt(answer.receipt)
    assert ("revise", "accepted", shown.checkpoint_id) == (
        receipt.operation,
        receipt.outcome,
        receipt.checkpoint_id,
    )
    assert answer.revision_id == head(installed)
    assert (
        answer.revision_id
        == installed.packages.revision(answer.revision_id).revision_id
    )
    assert json.dumps(answer.as_dict())


def test_a_new_record_is_created_at_none(installed: Session) -> None:
    """None is expected where nothing is, and only there."""
    made = installed.packages.revise(
        ID, OTHER, b"New.\n", expected_revision=None, entry=ENTRY
    )

    assert (1, "create") == (made.number, made.change)
    assert b"New.\n" == installed.packages.export(ID).files[OTHER]
    with pytest.raises(RevisionConflictError):
        installed.packages.revise(ID, OTHER, b"Again.\n", expected_revision=None)
    with pytest.raises(NotFoundError) as caught:
        installed.packages.revise(
            ID, ".uai/none.uai", b"x\n", expected_revision=made.revision_id
        )
    assert "record.not-found" == caught.value.code


def test_a_mismatch_changes_nothing_and_is_kept(installed: Session) -> None:
    """Whoever didn't see the head loses: it stands, and the candidate is kept."""
    seen = head(installed)
    won = installed.packages.revise(ID, NOTE, b"Won.\n", expected_revision=seen)
    checkpoint = installed.packages.show(ID).package.checkpoint_id

    with pytest.raises(RevisionConflictError) as caught:
        installed.packages.revise(ID, NOTE, b"Lost.\n", expected_revision=seen)

    error = caught.value
    assert "revision.conflict" == error.code
    assert won.revision_id == error.current.revision_id
    assert won.revision_id == head(installed)
    assert checkpoint == installed.packages.show(ID).package.checkpoint_id
    (conflict_id,) = error.conflict_ids
    kept = installed.packages.conflict(conflict_id)
    assert (b"Lost.\n", seen, won.revision_id, NOTE, "replace") == (
        kept.content,
        kept.expected_revision_id,
        kept.head_revision_id,
        kept.path,
        kept.change,
    )
    (opened,) = installed.packages.conflicts(ID)
    assert conflict_id == opened.conflict_id
    assert "Lost" not in f"{error}{error!r}{error.candidates}"
    assert (conflict_id,) == installed.packages.keep_conflict(error)
    assert 1 == len(installed.packages.conflicts(ID))


@pytest.mark.every_backend
def test_a_race_is_lost_by_one(installed: Session) -> None:
    """Of two that saw the same head one wins, whenever the other one comes between."""
    seen = head(installed)
    late = interrupted(
        installed,
        lambda: installed.packages.revise(
            ID, NOTE, b"First.\n", expected_revision=seen
        ),
    )

    with pytest.raises(RevisionConflictError):
        late.packages.revise(ID, NOTE, b"Second.\n", expected_revision=seen)

    assert b"First.\n" == installed.packages.export(ID).files[NOTE]
    assert 1 == len(installed.packages.conflicts())


def test_changes_of_other_records_are_no_conflict(installed: Session) -> None:
    """Two that change two records both go through, even at the same moment."""
    installed.packages.revise(ID, OTHER, b"1\n", expected_revision=None, entry=ENTRY)
    note, other = head(installed), head(installed, OTHER)
    late = interrupted(
        installed,
        lambda: installed.packages.revise(ID, NOTE, b"N\n", expected_revision=note),
    )

    late.packages.revise(ID, OTHER, b"2\n", expected_revision=other)

    files = installed.packages.export(ID).files
    assert (b"N\n", b"2\n") == (files[NOTE], files[OTHER])
    assert not installed.packages.conflicts()


@pytest.mark.every_backend
def test_a_retry_adds_nothing_however_late(installed: Session) -> None:
    """The same change answers as the first time, also when the record moved on."""
    seen = head(installed)
    first = installed.packages.revise(ID, NOTE, b"Two.\n", expected_revision=seen)
    new = {"expected_revision": None, "entry": ENTRY}
    made = installed.packages.revise(ID, OTHER, b"New.\n", **new)

    for _ in range(2):
        before = position(installed)
        again = installed.packages.revise(ID, NOTE, b"Two.\n", expected_revision=seen)
        remade = installed.packages.revise(ID, OTHER, b"New.\n", **new)
        assert before == position(installed)
        for one, other in ((first, again), (made, remade)):
            assert (one.revision_id, one.seq, one.receipt, one.checkpoint_id) == (
                other.revision_id,
                other.seq,
                other.receipt,
                other.checkpoint_id,
            )
            assert not other.is_first
        installed.packages.revise(
            ID, NOTE, b"Three.\n", expected_revision=head(installed)
        )
        installed.packages.revise(
            ID, OTHER, b"Newer.\n", expected_revision=head(installed, OTHER)
        )


def test_what_stands_already_makes_no_revision(installed: Session) -> None:
    """The bytes of the head over the head are no change."""
    before = position(installed)

    answer = installed.packages.revise(
        ID, NOTE, b"A first note.\n", expected_revision=head(installed)
    )

    assert (1, False) == (answer.number, answer.is_first)
    assert before == position(installed)


#: Members of the note's entry just as they stand.
STANDING: list[dict[str, object]] = [
    {},
    {"role": ENTRY["role"]},
    {"source": "tests", "mediaType": "text/uaix"},
    {"note": {"by": ["hand", 1]}},
    {"note": {"by": ["hand", 1]}, **ENTRY},
]


@pytest.fixture
def active(session: Session) -> Session:
    """A session whose package is in use; the note's entry has a member of its own."""
    maker = package()
    maker.entry(NOTE).update({"note": {"by": ["hand", 1]}, **ENTRY})
    session.packages.install(maker.archive())
    shown = session.packages.show(ID)
    seen = {file.path: file.revision_id for file in shown.files}
    session.review.records(ID, "approved", seen)
    checkpoint = shown.package.checkpoint_id
    session.review.package(ID, "active", checkpoint_id=checkpoint)
    return session


@pytest.mark.parametrize("entry", STANDING, ids=str)
def test_an_entry_that_stands_already_is_no_change(
    active: Session, entry: dict[str, object]
) -> None:
    """Nothing is written, and what is in use stays so, by whichever verb it comes."""
    before, seen = position(active), head(active)
    change = {"expected_revision": seen, "entry": entry}
    queued = QueuedChange("a", ID, NOTE, b"A first note.\n", **change)

    for _ in range(2):
        answer = active.packages.revise(ID, NOTE, b"A first note.\n", **change)
        assert (seen, False) == (answer.revision_id, answer.is_first)
        (replayed,) = active.packages.replay([queued])
        assert "already" == replayed.outcome

    assert before == position(active)
    assert "active" == active.packages.show(ID).package.state


def test_changes_that_all_stand_already_are_none(active: Session) -> None:
    """Of several changes those that stand add nothing, be it all of them or some."""
    files = active.packages.read(ID)
    changes = [
        RecordChange(path, files[path], head(active, path), {"mediaType": "text/uaix"})
        for path in (NOTE, TOTEM)
    ]
    before = position(active)

    answers = active.packages.apply(Wanted(ID, changes), {})

    assert [False, False] == [answer.is_first for answer in answers]
    assert before == position(active)
    changes[0] = RecordChange(NOTE, b"Two.\n", head(active))
    answers = active.packages.apply(Wanted(ID, changes), {})
    assert [True, False] == [answer.is_first for answer in answers]
    assert before + 1 == position(active)


@pytest.mark.parametrize(
    "entry", [{"note": {"by": ["hand", True]}}, {"note": None}, {"source": "else"}]
)
def test_an_entry_that_says_something_else_is_a_change(
    active: Session, entry: dict[str, object]
) -> None:
    """One member that differs makes a checkpoint, once."""
    before, seen = active.packages.show(ID).package.number, head(active)

    for _ in range(2):
        active.packages.revise(
            ID, NOTE, b"A first note.\n", expected_revision=seen, entry=entry
        )

    assert before + 1 == active.packages.show(ID).package.number


def test_another_entry_may_be_a_revision(installed: Session) -> None:
    """Metadata that a revision holds makes one; what only the manifest says doesn't."""
    seen = head(installed)
    same = b"A first note.\n"

    told = installed.packages.revise(
        ID, NOTE, same, expected_revision=seen, entry={"source": "somebody else"}
    )
    assert (2, True) == (told.number, told.is_first)


@pytest.mark.parametrize(
    ("path", "entry", "code"),
    [
        (NOTE, {"sha256": "0" * 64}, "revise.entry"),
        (NOTE, {"path": "x"}, "revise.entry"),
        (NOTE, {"nothing": 1}, "revise.entry"),
        (OTHER, None, "revise.entry"),
        (MANIFEST, None, "revise.manifest"),
    ],
)
def test_entries_are_as_they_can_be(
    installed: Session, path: str, entry: dict[str, object] | None, code: str
) -> None:
    """What the library writes itself, and a file that nobody describes, are refused."""
    seen = head(installed) if path == NOTE else None
    before = position(installed)

    with pytest.raises(CallerError) as caught:
        installed.packages.revise(
            ID, path, b"Other.\n", expected_revision=seen, entry=entry
        )

    assert code == caught.value.code
    assert before == position(installed)


def test_what_would_not_pass_is_refused(installed: Session) -> None:
    """The package that a change would make is judged as if it came from outside."""
    before = installed.packages.show(ID).package

    with pytest.raises(PackageRefusedError) as caught:
        installed.packages.revise(
            ID,
            NOTE,
            b"token: ghp_" + b"a1B2" * 9 + b"\n",
            expected_revision=head(installed),
        )

    assert before == installed.packages.show(ID).package
    receipt = installed.packages.receipt(caught.value.receipt)
    assert ("revise", "refused") == (receipt.operation, receipt.outcome)


@pytest.mark.every_backend
def test_a_tombstone_retires_a_record(installed: Session) -> None:
    """Its file goes, its history stays, and only a review brings it back."""
    record = installed.packages.record(ID, NOTE)
    seen = record.revision.revision_id

    gone = installed.packages.tombstone(
        ID, NOTE, expected_revision=seen, reason="out of date"
    )

    assert ("tombstone", 2) == (gone.change, gone.number)
    assert NOTE not in installed.packages.export(ID).files
    details = json.loads(installed.packages.receipt(gone.receipt).details or "")
    assert "out of date" == details["reason"]
    again = installed.packages.tombstone(
        ID, NOTE, expected_revision=seen, reason="out of date"
    )
    assert (gone.revision_id, False) == (again.revision_id, again.is_first)
    chain = installed.packages.revisions(ID, record.head.record_id)
    assert ["create", "tombstone"] == [r.change for r in chain]
    with pytest.raises(NotFoundError):
        installed.packages.record(ID, NOTE)
    with pytest.raises(CallerError) as caught:
        installed.packages.revise(
            ID, NOTE, b"Back.\n", expected_revision=gone.revision_id, entry=ENTRY
        )
    assert "record.tombstoned" == caught.value.code


@pytest.mark.parametrize("reason", ["", "x" * 1_001, None, 7])
def test_a_tombstone_says_why(installed: Session, reason: str) -> None:
    """There is no tombstone without a reason of a sensible length."""
    with pytest.raises(CallerError) as caught:
        installed.packages.tombstone(
            ID, NOTE, expected_revision=head(installed), reason=reason
        )

    assert "tombstone.reason" == caught.value.code


def test_a_reason_holds_no_secret(installed: Session) -> None:
    """What is said about a tombstone passes the gate."""
    with pytest.raises(CallerError) as caught:
        installed.packages.tombstone(
            ID,
            NOTE,
            expected_revision=head(installed),
            reason="ghp_" + "a1B2" * 9,
        )

    assert ("text.secret", "reason") == (caught.value.code, caught.value.path)


def test_a_required_file_is_not_tombstoned(installed: Session) -> None:
    """What the package needs stays."""
    path = ".uai/world-context.uai"

    with pytest.raises(PackageRefusedError):
        installed.packages.tombstone(
            ID, path, expected_revision=head(installed, path), reason="why not"
        )

    assert path in installed.packages.export(ID).files


def test_an_older_revision_comes_back_as_a_new_one(installed: Session) -> None:
    """Reverting copies what was said before; nothing leaves the history."""
    first = head(installed)
    second = installed.packages.revise(ID, NOTE, b"Two.\n", expected_revision=first)

    back = installed.packages.revert(
        ID, NOTE, revision_id=first, expected_revision=second.revision_id
    )

    assert 3 == back.number
    assert b"A first note.\n" == installed.packages.export(ID).files[NOTE]
    chain = installed.packages.revisions(ID, back.record_id)
    assert [b"A first note.\n", b"Two.\n", b"A first note.\n"] == [
        r.content for r in chain
    ]
    details = json.loads(installed.packages.receipt(back.receipt).details or "")
    assert first == details["reverts_to"]


def test_a_revision_of_another_record_is_not_reverted_to(installed: Session) -> None:
    """A record goes back to its own revisions only, and only to what is left."""
    foreign = head(installed, TOTEM)
    seen = head(installed)
    options = {"expected_revision": seen}

    with pytest.raises(CallerError) as caught:
        installed.packages.revert(ID, NOTE, revision_id=foreign, **options)
    assert "revision.other-record" == caught.value.code
    with pytest.raises(NotFoundError) as missing:
        installed.packages.revert(ID, NOTE, revision_id="0" * 64, **options)
    assert "revision.not-found" == missing.value.code
    second = installed.packages.revise(ID, NOTE, b"Two.\n", **options)
    erase(installed, "revision", seen)
    with pytest.raises(CallerError) as erased:
        installed.packages.revert(
            ID, NOTE, revision_id=seen, expected_revision=second.revision_id
        )
    assert "revision.erased" == erased.value.code


@pytest.mark.parametrize(
    ("path", "code"), [(TOTEM, "anchor.mutation"), (PERSONA, "persona.mutation")]
)
def test_protected_files_change_by_a_persons_word(
    session: Session, path: str, code: str
) -> None:
    """An anchor or a persona changes by an authorisation of path and operation."""
    maker = package()
    scope = "non_project_assistant"
    maker.manifest["declaredScopes"].append(scope)
    maker.add(PERSONA, role="persona", scope=scope, requiredStatus="profile_required")
    session.packages.install(maker.archive())
    wanted = {
        "content": maker.files[path] + b"\nMore.\n",
        "expected_revision": head(session, path),
    }
    right = [Authorisation(path, "replace")]

    for wrong in ([], [Authorisation(path, "create")]):
        with pytest.raises(PackageRefusedError) as caught:
            session.packages.revise(ID, path, authorisations=wrong, **wanted)
        assert code in {f.code for f in caught.value.report.findings}
    with pytest.raises(CallerError) as agents:
        acting_as(session, "agent:bot").packages.revise(
            ID, path, authorisations=right, **wanted
        )
    assert "anchor.authoriser" == agents.value.code
    answer = session.packages.revise(ID, path, authorisations=right, **wanted)
    assert 2 == answer.number


@pytest.mark.every_backend
def test_conflicts_are_read_page_by_page(installed: Session) -> None:
    """All open conflicts come, each once, whatever the size of a page."""
    seen = head(installed)
    installed.packages.revise(ID, NOTE, b"Won.\n", expected_revision=seen)
    for number in range(5):
        with pytest.raises(RevisionConflictError):
            installed.packages.revise(
                ID, NOTE, f"Lost {number}.\n".encode(), expected_revision=seen
            )

    whole = [row.conflict_id for row in installed.packages.conflicts(ID)]
    paged: list[str] = []
    after = None
    while page := installed.packages.conflicts(after=after, limit=2):
        paged += [row.conflict_id for row in page]
        after = (page[-1].package_id, page[-1].record_id, page[-1].conflict_id)
    assert 5 == len(whole)
    assert whole == paged


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (lambda p: p.record("none", NOTE), "package.not-found"),
        (lambda p: p.record(ID, "none"), "record.not-found"),
        (lambda p: p.revisions("none", NOTE), "package.not-found"),
        (lambda p: p.revisions(ID, "none"), "record.not-found"),
        (lambda p: p.revision("none"), "revision.not-found"),
        (lambda p: p.conflict("none"), "conflict.not-found"),
    ],
)
def test_what_is_not_there_is_told(
    installed: Session, ask: Callable[[object], object], code: str
) -> None:
    """Asking for what is not in the scope is a NotFoundError with its code."""
    with pytest.raises(NotFoundError) as caught:
        ask(installed.packages)

    assert code == caught.value.code


def test_the_same_candidate_is_kept_once(installed: Session) -> None:
    """A change that loses again and again, or comes again, is one conflict."""
    seen = head(installed)
    installed.packages.revise(ID, NOTE, b"Won.\n", expected_revision=seen)
    kept = set()
    for _ in range(3):
        with pytest.raises(RevisionConflictError) as caught:
            installed.packages.revise(ID, NOTE, b"Lost.\n", expected_revision=seen)
        kept |= set(caught.value.conflict_ids)

    assert kept == {row.conflict_id for row in installed.packages.conflicts(ID)}
    assert 1 == len(kept)


@pytest.mark.parametrize(
    "content",
    [
        b"token: ghp_" + b"a1B2" * 9 + b"\n",
        b"\0\n",
        b"\xff\n",
        b"x" * (16 * 2**20 + 1),
    ],
)
def test_what_no_package_may_hold_is_not_kept(
    installed: Session, content: bytes
) -> None:
    """A candidate with a secret, that is no text or too large, is told and not kept."""
    seen = head(installed)
    installed.packages.revise(ID, NOTE, b"Won.\n", expected_revision=seen)
    before = position(installed)

    with pytest.raises(RevisionConflictError) as caught:
        installed.packages.revise(ID, NOTE, content, expected_revision=seen)

    assert () == caught.value.conflict_ids
    assert before == position(installed)
    assert not installed.packages.conflicts(ID)


def test_a_revision_that_never_was_is_nobodys_view(installed: Session) -> None:
    """A mistyped revision, or one of another record, is an error and no conflict."""
    for wrong in ("typo", "0" * 64, head(installed, TOTEM)):
        with pytest.raises(NotFoundError) as caught:
            installed.packages.revise(ID, NOTE, b"x\n", expected_revision=wrong)
        assert ("revision.not-found", wrong) == (caught.value.code, caught.value.path)
    assert not installed.packages.conflicts(ID)


def test_another_entry_is_another_change(installed: Session) -> None:
    """The same bytes under another entry over an older head are no retry."""
    seen = head(installed)
    for source in ("A", "B"):
        change = {"expected_revision": seen, "entry": {"source": source}}
        if source == "A":
            first = installed.packages.revise(ID, NOTE, b"Two.\n", **change)
            again = installed.packages.revise(ID, NOTE, b"Two.\n", **change)
            assert (first.revision_id, False) == (again.revision_id, again.is_first)
        else:
            with pytest.raises(RevisionConflictError):
                installed.packages.revise(ID, NOTE, b"Two.\n", **change)


def test_an_answer_says_whether_the_record_moved_on(installed: Session) -> None:
    """A retry of what is no more the head is told so."""
    seen = head(installed)
    first = installed.packages.revise(ID, NOTE, b"Two.\n", expected_revision=seen)
    assert first.is_current
    installed.packages.revise(ID, NOTE, b"3\n", expected_revision=first.revision_id)

    again = installed.packages.revise(ID, NOTE, b"Two.\n", expected_revision=seen)

    assert (False, False) == (again.is_first, again.is_current)


@pytest.mark.every_backend
def test_content_is_bytes(installed: Session) -> None:
    """Text or a number in the place of bytes is refused by its code."""
    for content in ("text", 5, None):
        with pytest.raises(CallerError) as caught:
            installed.packages.revise(
                ID,
                NOTE,
                content,  # type: ignore[arg-type]
                expected_revision=head(installed),
            )
        assert "revise.content" == caught.value.code


def test_a_record_keeps_its_id(installed: Session) -> None:
    """A change of a record can't turn it into another one."""
    with pytest.raises(CallerError) as caught:
        installed.packages.revise(
            ID,
            NOTE,
            b"x\n",
            expected_revision=head(installed),
            entry={"stableId": "another"},
        )

    assert ("revise.entry", "stableId") == (caught.value.code, caught.value.path)


def test_a_rejected_package_is_closed(installed: Session) -> None:
    """What a review has rejected changes only after a review has opened it again."""
    shown = installed.packages.show(ID).package
    checkpoint = {"checkpoint_id": shown.checkpoint_id}
    installed.review.package(ID, "rejected", **checkpoint)

    with pytest.raises(CallerError) as caught:
        installed.packages.revise(ID, NOTE, b"x\n", expected_revision=head(installed))
    assert "package.rejected" == caught.value.code
    other = package(b"Other.\n").archive()
    with pytest.raises(CallerError) as update:
        installed.packages.update(other, based_on=shown.manifest_sha256)
    assert "package.rejected" == update.value.code
    installed.review.package(ID, "review_required", **checkpoint)
    installed.packages.revise(ID, NOTE, b"x\n", expected_revision=head(installed))


@pytest.mark.parametrize("wanted", [None, "text", {}, Session], ids=str)
def test_the_inner_verbs_refuse_other_types(installed: Session, wanted: Any) -> None:
    """What verbs hand to each other is told by its name where it is something else."""
    packages, before = installed.packages, position(installed)
    for call in (
        lambda: packages.apply(wanted, {}),
        lambda: packages.descend(None, wanted, wanted, {}, wanted),
        lambda: packages.descend(None, lambda _: wanted, wanted, {}, wanted),
    ):
        with pytest.raises(CallerError) as caught:
            call()
        assert "input.type" == caught.value.code
    assert before == position(installed)
