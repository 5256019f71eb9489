"""Laws of branch and derive: what parts becomes another package, on the record."""

from __future__ import annotations

import json

import pytest
from tests.packages.package_maker import MANIFEST
from tests.session.package_kit import ID, NOTE, TOTEM, acting_as, head, package
from tests.session.test_lifecycle import based_on, interrupted, replaced

from uaix_core import (
    Authorisation,
    CallerError,
    ConflictError,
    NotFoundError,
    RevisionConflictError,
    Session,
    Transformation,
)

PERSONA = ".uai/persona.uai"
NEW = "another"


@pytest.fixture
def installed(session: Session) -> Session:
    """A session whose scope has the package."""
    session.packages.install(package().archive())
    return session


@pytest.fixture
def persona(session: Session) -> Session:
    """A session whose scope has a package with a persona."""
    maker = package()
    scope = "non_project_assistant"
    maker.manifest["declaredScopes"].append(scope)
    maker.add(PERSONA, role="persona", scope=scope, requiredStatus="profile_required")
    session.packages.install(maker.archive())
    return session


def lineage(session: Session, package_id: str = ID) -> list[tuple[str, str]]:
    """The descendants of a package, and how they come from it."""
    rows = session.packages.descendants(package_id)
    return [(row.package_id, row.descent) for row in rows]


def test_a_divergent_state_becomes_a_package(installed: Session) -> None:
    """A state that moved on elsewhere is kept beside the other one, with its base."""
    base = installed.packages.show(ID).package.checkpoint_id
    ours = replaced(package(), NOTE, b"Ours.\n")
    installed.packages.update(ours.archive(), based_on=based_on(package()))
    theirs = replaced(package(), NOTE, b"Theirs.\n")
    theirs.manifest["basedOn"] = based_on(package())
    with pytest.raises(ConflictError):
        installed.packages.update(theirs.archive())
    before = installed.packages.export(ID).files

    answer = installed.packages.branch(theirs.archive(), package_id=NEW)

    assert ("branch", NEW, "quarantined") == (
        answer.operation,
        answer.package_id,
        answer.state,
    )
    assert before == installed.packages.export(ID).files
    assert b"Theirs.\n" == installed.packages.export(NEW).files[NOTE]
    (row,) = installed.packages.descendants(ID)
    assert (NEW, "branch", base) == (
        row.package_id,
        row.descent,
        row.from_checkpoint_id,
    )
    assert NEW == json.loads(installed.packages.read(NEW)[MANIFEST])["packageId"]
    ids = [
        {f.record_id for f in installed.packages.show(name).files} for name in (ID, NEW)
    ]
    assert not ids[0] & ids[1]


def test_a_branch_parts_from_something(installed: Session) -> None:
    """The very same state, and a package that isn't stored, are no branches."""
    with pytest.raises(CallerError) as same:
        installed.packages.branch(package().archive())
    assert "branch.same" == same.value.code
    with pytest.raises(NotFoundError) as missing:
        installed.packages.branch(package(packageId="other").archive())
    assert "package.not-found" == missing.value.code
    other = replaced(package(), NOTE, b"Other.\n").archive()
    with pytest.raises(CallerError) as own:
        installed.packages.branch(other, package_id=ID)
    assert "clone.same-id" == own.value.code
    installed.packages.branch(other, package_id=NEW)
    with pytest.raises(ConflictError) as taken:
        installed.packages.branch(other, package_id=NEW)
    assert "package.conflict" == taken.value.code


def lost(session: Session) -> None:
    """Let a candidate lose."""
    seen = head(session)
    session.packages.revise(ID, NOTE, b"Won.\n", expected_revision=seen)
    with pytest.raises(RevisionConflictError):
        session.packages.revise(ID, NOTE, b"Lost.\n", expected_revision=seen)


def test_a_candidate_may_part(installed: Session) -> None:
    """A conflict may be closed by a package in which the candidate stands."""
    lost(installed)
    (opened,) = installed.packages.conflicts(ID)

    answer = installed.review.branch(opened, package_id=NEW)

    assert (b"Won.\n", b"Lost.\n") == tuple(
        installed.packages.read(name)[NOTE] for name in (ID, NEW)
    )
    assert not installed.packages.conflicts(ID)
    assert [(NEW, "branch")] == lineage(installed)
    row = installed.review.history(ID)[-1]
    assert ("branched", answer.receipt) == (row.verdict, row.receipt_id)
    with pytest.raises(NotFoundError):
        installed.review.branch(opened)


def test_a_lost_tombstone_may_part(installed: Session) -> None:
    """A branch of a tombstone that lost is the package without the file."""
    seen = head(installed)
    installed.packages.revise(ID, NOTE, b"Won.\n", expected_revision=seen)
    with pytest.raises(RevisionConflictError):
        installed.packages.tombstone(ID, NOTE, expected_revision=seen, reason="old")
    (opened,) = installed.packages.conflicts(ID)

    installed.review.branch(opened, package_id=NEW)

    assert NOTE not in installed.packages.read(NEW)
    assert b"Won.\n" == installed.packages.read(ID)[NOTE]


@pytest.mark.every_backend
def test_a_conflict_is_decided_once(installed: Session) -> None:
    """A conflict that is kept while it is branched makes no branch."""
    lost(installed)
    (opened,) = installed.packages.conflicts(ID)
    late = interrupted(installed, lambda: installed.review.keep(opened))

    with pytest.raises(NotFoundError):
        late.review.branch(opened, package_id=NEW)

    assert [] == lineage(installed)


def test_one_of_two_is_picked(installed: Session) -> None:
    """A person decides for one; the other is rejected, and its history stays."""
    lost(installed)
    (opened,) = installed.packages.conflicts(ID)
    installed.review.branch(opened, package_id=NEW)

    answer = installed.review.pick(NEW, over=ID)

    assert "picked" == answer.verdict
    assert "rejected" == installed.packages.show(ID).package.state
    assert "quarantined" == installed.packages.show(NEW).package.state
    assert b"Won.\n" == installed.packages.read(ID)[NOTE]
    assert ["picked"] == [row.verdict for row in installed.review.history(NEW)]
    with pytest.raises(CallerError) as again:
        installed.review.pick(ID, over=NEW)
    assert "review.rejected" == again.value.code
    with pytest.raises(CallerError) as agents:
        acting_as(installed, "agent:bot").review.pick(NEW, over=ID)
    assert "review.reviewer" == agents.value.code


@pytest.mark.every_backend
def test_only_what_has_parted_is_picked(installed: Session) -> None:
    """A clone or a stranger is no other side of a decision."""
    installed.packages.clone(ID, package_id=NEW)

    with pytest.raises(CallerError) as caught:
        installed.review.pick(NEW, over=ID)
    assert "review.unrelated" == caught.value.code
    with pytest.raises(NotFoundError):
        installed.review.pick(ID, over="none")


@pytest.mark.every_backend
def test_a_transformed_persona_is_another_package(persona: Session) -> None:
    """The original stays byte for byte; the derivative says what differs and why."""
    before = persona.packages.read(ID)
    content = before[PERSONA] + b"\nTone: brisk\n"
    wanted = Transformation(
        {PERSONA: content}, reason="for a radio play", notes={PERSONA: "speaks faster"}
    )

    answer = persona.packages.derive(ID, wanted, package_id=NEW)

    assert ("derive", "quarantined") == (answer.operation, answer.state)
    assert before == persona.packages.read(ID)
    assert content == persona.packages.read(NEW)[PERSONA]
    assert [(NEW, "derivative")] == lineage(persona)
    row = persona.packages.derivation(NEW)
    assert (ID, "for a radio play", answer.receipt) == (
        row.from_package_id,
        row.reason,
        row.receipt_id,
    )
    (change,) = json.loads(row.changes or "")
    assert (PERSONA, "speaks faster", "content") == (
        change["path"],
        change["note"],
        change["kind"],
    )
    assert {"field": "tone", "section": "", "change": "added"} in [
        {**field, "section": ""} for field in change["fields"]
    ]
    assert "brisk" not in (row.changes or "")


def test_every_changed_dimension_is_explained(persona: Session) -> None:
    """A persona file without a note, and a note about nothing, are refused."""
    content = persona.packages.read(ID)[PERSONA] + b"\nTone: brisk\n"

    with pytest.raises(CallerError) as silent:
        persona.packages.derive(ID, Transformation({PERSONA: content}, reason="x"))
    assert ("derive.note", PERSONA) == (silent.value.code, silent.value.path)
    for fields, code in (
        ({"files": {PERSONA: b"x"}, "notes": {NOTE: "x"}, "reason": "x"}, "note"),
        ({"files": {PERSONA: b"x"}, "notes": {PERSONA: ""}, "reason": "x"}, "note"),
        ({"files": {PERSONA: b"x"}, "reason": ""}, "reason"),
        ({"files": {}, "reason": "x"}, "nothing"),
        ({"files": {MANIFEST: b"{}"}, "reason": "x"}, "nothing"),
    ):
        with pytest.raises(CallerError) as caught:
            Transformation(**fields)
        assert f"derive.{code}" == caught.value.code


def test_a_derivative_differs(persona: Session) -> None:
    """The same bytes make no derivative, and neither do files that aren't there."""
    same = {PERSONA: persona.packages.read(ID)[PERSONA]}

    with pytest.raises(CallerError) as caught:
        persona.packages.derive(ID, Transformation(same, reason="x"))
    assert "derive.nothing" == caught.value.code
    with pytest.raises(CallerError) as strange:
        persona.packages.derive(ID, Transformation({"none": b"x"}, reason="x"))
    assert "revise.entry" == strange.value.code
    with pytest.raises(NotFoundError):
        persona.packages.derivation(ID)


def test_anchors_hold_in_a_derivative_too(persona: Session) -> None:
    """What holds whoever asks holds for a transformation, without a person's word."""
    content = persona.packages.read(ID)[TOTEM] + b"\nMore.\n"
    word = [Authorisation(TOTEM, "replace")]

    with pytest.raises(CallerError) as caught:
        persona.packages.derive(ID, Transformation({TOTEM: content}, reason="x"))
    assert "derive.authorisation" == caught.value.code
    wanted = Transformation({TOTEM: content}, reason="x", authorisations=word)
    with pytest.raises(CallerError) as agents:
        acting_as(persona, "agent:bot").packages.derive(ID, wanted)
    assert "anchor.authoriser" == agents.value.code
    assert persona.packages.derive(ID, wanted, package_id=NEW).is_first


def test_what_is_said_of_a_derivative_holds_no_secret(persona: Session) -> None:
    """Reason and notes pass the gate."""
    secret = "ghp_" + "a1B2" * 9
    content = {PERSONA: persona.packages.read(ID)[PERSONA] + b"\nx\n"}
    for reason, note in ((secret, "x"), ("x", secret)):
        with pytest.raises(CallerError) as caught:
            persona.packages.derive(
                ID, Transformation(content, reason=reason, notes={PERSONA: note})
            )
        assert "text.secret" == caught.value.code
        assert secret not in str(caught.value)


def test_made_packages_are_judged(persona: Session) -> None:
    """What a transformation would make passes lint, or nothing of it is stored."""
    wanted = Transformation({NOTE: b"token: ghp_" + b"a1B2" * 9 + b"\n"}, reason="x")

    with pytest.raises(CallerError) as caught:
        persona.packages.derive(ID, wanted, package_id=NEW)

    assert "package.refused" == caught.value.code
    assert [] == lineage(persona)
