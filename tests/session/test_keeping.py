"""Laws of keeping what lost: an error is believed as far as the store knows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs
import pytest
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

from uaix_core import (
    CallerError,
    NotFoundError,
    RevisionConflictError,
    ScopeId,
    Session,
)
from uaix_core.packages.keeping import keep_candidates

if TYPE_CHECKING:
    from collections.abc import Callable

    from uaix_core.review.relations import OpenConflict

TOKEN: Final = "ghp_" + "a1B2" * 9


@pytest.fixture
def installed(session: Session) -> Session:
    """A session whose scope has the package."""
    session.packages.install(package().archive())
    return session


def lost(session: Session, content: bytes = b"Lost.\n") -> RevisionConflictError:
    """The error of a change that came too late."""
    seen = head(session)
    session.packages.revise(ID, NOTE, b"Won.\n", expected_revision=seen)
    with pytest.raises(RevisionConflictError) as caught:
        session.packages.revise(ID, NOTE, content, expected_revision=seen)
    return caught.value


def test_what_was_decided_is_not_kept_again_by_its_error(installed: Session) -> None:
    """Whoever holds the error of a decided conflict opens no second one by it."""
    error = lost(installed)
    (opened,) = installed.packages.conflicts(ID)
    installed.review.keep(opened)

    assert (opened.conflict_id,) == installed.keep_conflict(error)
    assert not installed.packages.conflicts(ID)


#: What a stranger may write into a candidate, and no package would hold.
FORGED = {
    "a secret as the path": {"path": TOKEN},
    "a hidden character in the path": {"path": ".uai/\u202eseton.uai"},
    "a path that leads elsewhere": {"path": "../notes.uai"},
    "a secret as the revision that was seen": {"expected_revision": TOKEN},
    "a revision that the record never had": {"expected_revision": "0" * 64},
    "the head as the revision that was seen": {"expected_revision": "head"},
    "the revision of another record": {"expected_revision": "other"},
    "a secret as the media type": {"media_type": TOKEN},
    "another media type": {"media_type": "image/png"},
    "a secret as the content": {"content": f"Key: {TOKEN}\n".encode()},
    "a record that isn't here": {"record_id": "nobody"},
    "a package that isn't here": {"package_id": "nobody"},
    "a head that the record never had": {"revision_id": "0" * 64},
    "a head of another record": {"revision_id": "other"},
}


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
def test_a_candidate_is_judged_as_what_comes_from_outside(
    installed: Session, forged: dict[str, Any]
) -> None:
    """Of an error nothing is stored that no change of this scope could have been."""
    error = lost(installed, b"Another.\n")
    (sound,) = error.candidates
    named = {"head": head(installed), "other": head(installed, TOTEM)}
    changes = {
        name: named.get(value, value) if isinstance(value, str) else value
        for name, value in forged.items()
    }
    of_head = {
        name: changes.pop(name)
        for name in ("package_id", "record_id", "revision_id")
        if name in changes
    }
    candidate = attrs.evolve(sound, content=b"Forged.\n")
    candidate = attrs.evolve(
        candidate, head=attrs.evolve(sound.head, **of_head), **changes
    )
    before = position(installed)

    stranger = acting_as(installed, "agent:evil")
    assert () == stranger.keep_conflict(RevisionConflictError([candidate]))

    assert before == position(installed)
    sound = attrs.evolve(sound, content=b"Forged.\n")
    assert 1 == len(stranger.keep_conflict(RevisionConflictError([sound])))


def test_a_candidate_of_another_scope_is_kept_nowhere_else(session: Session) -> None:
    """An error carries nothing into another scope, nor blocks a start there."""
    here = attrs.evolve(session, scope=ScopeId.parse("acme/project/other"))
    for one in (session, here):
        one.packages.install(package().archive())
    session.packages.revise(ID, OTHER, b"1\n", expected_revision=None, entry=ENTRY)
    seen = head(session, OTHER)
    session.packages.revise(ID, OTHER, b"2\n", expected_revision=seen)
    with pytest.raises(RevisionConflictError) as caught:
        session.packages.revise(ID, OTHER, b"3\n", expected_revision=seen)

    assert () == here.keep_conflict(caught.value)
    assert not here.packages.conflicts()
    assert caught.value.conflict_ids == ()
    assert 1 == len(session.keep_conflict(caught.value))
    assert 1 == len(session.packages.conflicts())


@pytest.mark.parametrize(
    "changes",
    [
        {"content": "a text"},
        {"head": None},
        {"path": 5},
        {"path": "\0"},
        {"expected_revision": b"x"},
        {"media_type": None},
        {"asked": 5},
    ],
    ids=str,
)
def test_a_candidate_of_other_types_is_refused(
    installed: Session, changes: dict[str, Any]
) -> None:
    """What no candidate is made of is told by its name, before anything is kept."""
    (sound,) = lost(installed).candidates
    with pytest.raises(CallerError) as caught:
        attrs.evolve(sound, **changes)
    assert [caught.value.path] == list(changes)


@pytest.mark.parametrize("candidates", [[], (), "text", None, [None], 5], ids=str)
def test_a_conflict_is_of_candidates(candidates: Any) -> None:
    """An error of a conflict without a candidate can't be made."""
    with pytest.raises(CallerError) as caught:
        RevisionConflictError(candidates)
    assert caught.value.code in ("input.list", "input.type")


#: What a review may do with a conflict, and needs a record for.
DECIDING: Final[dict[str, Callable[[Session, OpenConflict], Any]]] = {
    "take": lambda session, opened: session.review.take(
        opened, expected_revision=head(session)
    ),
    "take over what never stood": lambda session, opened: session.review.take(
        opened, expected_revision="x"
    ),
    "branch": lambda session, opened: session.review.branch(opened),
    "keep what never stood": lambda session, opened: session.review.keep(
        opened, expected_revision="x"
    ),
}


@pytest.mark.parametrize("decide", DECIDING.values(), ids=DECIDING)
def test_a_conflict_of_no_record_is_only_closed(
    installed: Session, decide: Callable[[Session, OpenConflict], Any]
) -> None:
    """What a store may hold of another scope is refused, until what stands is kept."""
    (sound,) = lost(installed).candidates
    installed.review.keep(installed.packages.conflicts(ID)[0])
    stray = attrs.evolve(sound, head=attrs.evolve(sound.head, record_id="nobody"))
    commit, _names = keep_candidates(installed.writing(), [stray], "a-receipt")
    installed.store.append(commit)
    (opened,) = installed.packages.conflicts(ID)
    before = position(installed)

    with pytest.raises(NotFoundError) as caught:
        decide(installed, opened)
    assert ("record.not-found", before) == (caught.value.code, position(installed))
    installed.review.keep(opened)
    assert not installed.packages.conflicts(ID)
