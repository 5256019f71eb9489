"""Laws of derivatives from folders, and of retries of what makes another package."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.session.package_kit import (
    ENTRY,
    ID,
    NOTE,
    OTHER,
    TOTEM,
    head,
    package,
    position,
)
from tests.session.test_descents import lost
from tests.session.test_edits import folder
from tests.session.test_lifecycle import replaced

from uaix_core import (
    Authorisation,
    CallerError,
    EditedFiles,
    NotFoundError,
    RevisionConflictError,
    Session,
    Transformation,
)

if TYPE_CHECKING:
    from collections.abc import Callable

CONTEXT = ".uai/world-context.uai"
PERSONA = ".uai/persona.uai"
NEW = "another"


@pytest.fixture
def persona(session: Session) -> Session:
    """A session whose scope has a package with a persona."""
    maker = package()
    scope = "non_project_assistant"
    maker.manifest["declaredScopes"].append(scope)
    maker.add(PERSONA, role="persona", scope=scope, requiredStatus="profile_required")
    session.packages.install(maker.archive())
    return session


def derive(session: Session, files: dict[str, bytes], **more: object) -> list[dict]:
    """Derive from a folder; what its record says was changed."""
    session.packages.derive_edits(
        ID, EditedFiles(files), reason="a play", package_id=NEW, **more
    )
    return json.loads(session.packages.derivation(NEW).changes or "")


def test_an_old_folder_transforms_what_was_edited_and_no_more(persona: Session) -> None:
    """What moved on meanwhile stands in the derivative as it stands in the origin."""
    files = folder(persona)
    for path, content in ((NOTE, b"Newer.\n"), (CONTEXT, b"About: newer.\n")):
        persona.packages.revise(
            ID, path, content, expected_revision=head(persona, path)
        )
    persona.packages.revise(ID, OTHER, b"1\n", expected_revision=None, entry=ENTRY)
    files[PERSONA] += b"\nTone: brisk\n"

    changes = derive(persona, files, notes={PERSONA: "faster"})

    assert [(PERSONA, "faster")] == [(c["path"], c["note"]) for c in changes]
    made = persona.packages.read(NEW)
    assert files[PERSONA] == made[PERSONA]
    assert (b"Newer.\n", b"1\n") == (made[NOTE], made[OTHER])
    assert persona.packages.read(ID)[PERSONA] != made[PERSONA]


def test_an_edit_that_lost_is_no_transformation(persona: Session) -> None:
    """Every edited file that moved on is a conflict, and nothing is made or kept."""
    files = folder(persona)
    for path in (NOTE, CONTEXT):
        persona.packages.revise(
            ID, path, b"Theirs.\n", expected_revision=head(persona, path)
        )
        files[path] = b"Mine.\n"
    before = position(persona)

    with pytest.raises(RevisionConflictError) as caught:
        derive(persona, files)

    assert [NOTE, CONTEXT] == [one.path for one in caught.value.candidates]
    assert () == caught.value.conflict_ids
    assert before == position(persona)
    assert not persona.packages.descendants(ID)


@pytest.mark.parametrize("removals", [False, True, [NOTE]])
def test_a_file_that_is_gone_has_to_be_named(
    persona: Session, *, removals: bool | list[str]
) -> None:
    """A thinned-out folder takes no file out of a derivative by the way."""
    files = folder(persona)
    del files[NOTE]
    files[CONTEXT] += b"More.\n"
    if not removals:
        with pytest.raises(CallerError) as caught:
            derive(persona, files)
        assert ("adopt.removed", NOTE) == (caught.value.code, caught.value.path)
        assert not persona.packages.descendants(ID)
        return

    changes = derive(persona, files, removals=removals, notes={NOTE: "not needed"})

    assert [(NOTE, "removed", None), (CONTEXT, "content")] == [
        (c["path"], c["kind"], c["sha256"])[: 3 if c["path"] == NOTE else 2]
        for c in changes
    ]
    assert NOTE not in persona.packages.read(NEW)
    assert NOTE in persona.packages.read(ID)


def test_a_new_file_says_what_it_is(persona: Session) -> None:
    """A file that nobody describes stops a derivative; described it is part of it."""
    files = {**folder(persona), OTHER: b"New."}
    with pytest.raises(CallerError) as caught:
        derive(persona, files)
    assert ("adopt.unlisted", OTHER) == (caught.value.code, caught.value.path)

    (change,) = derive(persona, files, entries={OTHER: ENTRY})

    assert (OTHER, "added", None) == (
        change["path"],
        change["kind"],
        change["sha256_before"],
    )
    assert b"New.\n" == persona.packages.read(NEW)[OTHER]


def test_what_an_editor_did_is_no_transformation(persona: Session) -> None:
    """Line ends, a byte order mark, the last newline and droppings are taken back."""
    files = folder(persona)
    for path in (PERSONA, TOTEM):
        files[path] = b"\xef\xbb\xbf" + files[path].replace(b"\n", b"\r\n")
    files[CONTEXT] = files[CONTEXT].removesuffix(b"\n")
    files[".uai/persona.uai~"] = b"older\n"

    with pytest.raises(CallerError) as caught:
        derive(persona, files)
    assert "derive.nothing" == caught.value.code
    files[NOTE] = b"Brisk.\r\n"

    assert [NOTE] == [change["path"] for change in derive(persona, files)]
    assert b"Brisk.\n" == persona.packages.read(NEW)[NOTE]


def test_protected_files_need_the_same_words_from_a_folder(persona: Session) -> None:
    """A persona needs its note and an anchor its authorisation, also to go."""
    files = folder(persona)
    files[TOTEM] += b"More.\n"
    with pytest.raises(CallerError) as anchor:
        derive(persona, files)
    assert "derive.authorisation" == anchor.value.code
    word = [Authorisation(TOTEM, "replace")]
    del files[PERSONA]
    with pytest.raises(CallerError) as silent:
        derive(persona, files, authorisations=word, removals=True)
    assert ("derive.note", PERSONA) == (silent.value.code, silent.value.path)
    gone = folder(persona)
    del gone[TOTEM]
    with pytest.raises(CallerError) as wrong:
        derive(persona, gone, authorisations=word, removals=True)
    assert "derive.authorisation" == wrong.value.code


def test_what_is_not_there_does_not_go(persona: Session) -> None:
    """A transformation removes files that stand, and says so of others."""
    wanted = Transformation({NOTE: b"x\n"}, "a play", removes=[OTHER])
    with pytest.raises(NotFoundError) as caught:
        persona.packages.derive(ID, wanted)
    assert ("record.not-found", OTHER) == (caught.value.code, caught.value.path)


def _branch(session: Session, content: bytes, **more: object) -> object:
    source = replaced(package(), NOTE, content).folder()
    return session.packages.branch(source, **more)


def _derive(session: Session, content: bytes, **more: object) -> object:
    wanted = Transformation({NOTE: content}, "a play")
    return session.packages.derive(ID, wanted, **more)


def _derive_edits(session: Session, content: bytes, **more: object) -> object:
    files = {**session.packages.read_at(ID, "1"), NOTE: content}
    return session.packages.derive_edits(
        ID, EditedFiles(files), reason="a play", **more
    )


def _clone(session: Session, content: bytes, **more: object) -> object:
    return session.packages.clone(replaced(package(), NOTE, content).folder(), **more)


VERBS = {
    "branch": _branch,
    "derive": _derive,
    "derive_edits": _derive_edits,
    "clone": _clone,
    "clone stored": lambda s, _content, **more: s.packages.clone(ID, **more),
}


@pytest.mark.parametrize("name", [None, NEW])
@pytest.mark.parametrize("verb", VERBS)
def test_a_retry_makes_no_second_package(
    session: Session, verb: str, name: str | None
) -> None:
    """Under its key a call answers as the first time, whatever has moved on since."""
    session.packages.install(package().archive())
    call: Callable = VERBS[verb]
    first = call(session, b"Brisk.\n", package_id=name, key="k")
    session.packages.revise(
        ID, CONTEXT, b"About: newer.\n", expected_revision=head(session, CONTEXT)
    )
    session.packages.revise(
        first.package_id,
        NOTE,
        b"More.\n",
        expected_revision=session.packages.record(
            first.package_id, NOTE
        ).revision.revision_id,
    )
    before = position(session)

    again = call(session, b"Brisk.\n", package_id=name, key="k")

    assert (first.package_id, first.receipt, first.seq) == (
        again.package_id,
        again.receipt,
        again.seq,
    )
    assert (False, False) == (again.is_first, again.is_current)
    assert before == position(session)
    wrong = {"package_id": "yet-another" if name else NEW, "key": "k"}
    with pytest.raises(CallerError) as caught:
        call(session, b"Brisk.\n", **wrong)
    assert "idempotency.reused" == caught.value.code
    if "stored" not in verb:
        with pytest.raises(CallerError) as other:
            call(session, b"Slow.\n", package_id=name, key="k")
        assert "idempotency.reused" == other.value.code
    assert before == position(session)
    assert call(session, b"Brisk.\n", key="another key").is_first


def test_a_conflict_branches_once_under_its_key(session: Session) -> None:
    """The retry of a decision answers, though the conflict is closed by then."""
    session.packages.install(package().archive())
    lost(session)
    (opened,) = session.packages.conflicts(ID)
    first = session.review.branch(opened, key="k")
    before = position(session)

    again = session.review.branch(opened, key="k")

    assert (first.package_id, False) == (again.package_id, again.is_first)
    assert before == position(session)
