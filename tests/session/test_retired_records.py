"""Laws of retired records: they come back by a review, and by nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.packages.package_maker import Maker
from tests.session.package_kit import (
    ENTRY,
    ID,
    NOTE,
    OTHER,
    acting_as,
    head,
    package,
)
from tests.session.test_edits import folder

from uaix_core import (
    Authorisation,
    CallerError,
    EditedFiles,
    FileDraft,
    QueuedChange,
    Revised,
    Session,
    TierRef,
)

if TYPE_CHECKING:
    from collections.abc import Callable

SAID = b"A first note.\n"
TRAIT = ".uai/personality/trait.uai"


@pytest.fixture
def gone(session: Session) -> Revised:
    """The tombstone of the note; the package is installed."""
    session.packages.install(package().archive())
    return session.packages.tombstone(
        ID, NOTE, expected_revision=head(session), reason="she asked for it to go"
    )


def update(session: Session, path: str, content: bytes, **entry: Any) -> None:
    """The whole package with one file more, over the state that stands."""
    maker = Maker()
    maker.add(path, content, **entry)
    base = session.packages.show(ID).package.manifest_sha256
    session.packages.update(maker.archive(), based_on=base)


def accept(session: Session, entry: dict[str, Any]) -> None:
    """A proposal of a new file, accepted."""
    state = session.tiers.short_term.put(ID, "ada-1", "x")
    draft = FileDraft(OTHER, SAID, None, entry=entry)
    sources = [TierRef("state", state.id)]
    proposal = session.proposals.propose(ID, draft, sources=sources)
    session.proposals.accept(proposal.id)


def replay(session: Session, entry: dict[str, Any]) -> None:
    """A queued change; its refusal as the error that it is elsewhere."""
    queued = QueuedChange("a", ID, OTHER, SAID, entry=entry)
    (outcome,) = session.packages.replay([queued])
    raise CallerError("refused", code=outcome.code, path=OTHER)


#: Ways to write a file, given the record that was retired.
WAYS: dict[str, Callable[[Session, str], object]] = {
    "revise": lambda s, name: s.packages.revise(
        ID, OTHER, SAID, expected_revision=None, entry={**ENTRY, "stableId": name}
    ),
    "replay": lambda s, name: replay(s, {**ENTRY, "stableId": name}),
    "adopt": lambda s, name: s.packages.adopt(
        ID,
        EditedFiles({**folder(s), OTHER: SAID}),
        entries={OTHER: {**ENTRY, "stableId": name}},
    ),
    "accept": lambda s, name: accept(s, {**ENTRY, "stableId": name}),
    "update at its path": lambda s, _name: update(s, NOTE, SAID),
    "update with other bytes": lambda s, _name: update(s, NOTE, b"Else.\n"),
    "update by its name": lambda s, name: update(s, OTHER, SAID, stableId=name),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_retired_record_comes_back_by_review_only(
    session: Session, gone: Revised, way: str
) -> None:
    """No verb, path or stableId revives it, and a review still does afterwards."""
    before = session.packages.show(ID)

    with pytest.raises(CallerError) as caught:
        WAYS[way](session, gone.record_id)

    assert "record.tombstoned" == caught.value.code
    assert caught.value.path in (NOTE, OTHER)
    assert before == session.packages.show(ID)
    back = session.review.restore(ID, NOTE, expected_revision=gone.revision_id)
    assert ("restore", gone.record_id) == (back.change, back.record_id)
    assert SAID == session.packages.read(ID)[NOTE]


def test_an_agent_revives_nothing(session: Session, gone: Revised) -> None:
    """What an agent may write, it writes into records that weren't retired."""
    agent = acting_as(session, "agent:ada-1")
    for way in ("revise", "update at its path"):
        with pytest.raises(CallerError):
            WAYS[way](agent, gone.record_id)

    chain = session.packages.revisions(ID, gone.record_id)
    assert ["create", "tombstone"] == [row.change for row in chain]


def test_no_authorisation_replaces_the_review(session: Session) -> None:
    """Who may change a protected file revives it by a review, and no other way."""
    with_it = package()
    with_it.add(TRAIT, SAID)
    session.packages.install(with_it.archive())
    gone = session.packages.tombstone(
        ID,
        TRAIT,
        expected_revision=head(session, TRAIT),
        reason="old",
        authorisations=[Authorisation(TRAIT, "tombstone")],
    )
    allowed = {"authorisations": [Authorisation(TRAIT, "restore")]}
    base = session.packages.show(ID).package.manifest_sha256

    with pytest.raises(CallerError) as caught:
        session.packages.update(with_it.archive(), based_on=base, **allowed)

    assert ("record.tombstoned", TRAIT) == (caught.value.code, caught.value.path)
    session.review.restore(ID, TRAIT, expected_revision=gone.revision_id, **allowed)
    assert SAID == session.packages.read(ID)[TRAIT]


def test_another_record_may_stand_where_one_was_retired(
    session: Session, gone: Revised
) -> None:
    """An update that gives the file another stableId makes a record of its own."""
    update(session, NOTE, b"New.\n", stableId="another")

    record = session.packages.record(ID, NOTE)
    assert ("another", "create", 1) == (
        record.head.record_id,
        record.revision.change,
        record.revision.number,
    )
    chain = session.packages.revisions(ID, gone.record_id)
    assert gone.revision_id == chain[-1].revision_id


def test_a_clone_owes_the_retired_nothing(session: Session, gone: Revised) -> None:
    """In a package of its own the same path, and the same name, are free."""
    session.packages.clone(ID, package_id="clone")
    entry = {**ENTRY, "stableId": gone.record_id}

    made = session.packages.revise(
        "clone", NOTE, SAID, expected_revision=None, entry=entry
    )

    assert ("create", 1) == (made.change, made.number)
    assert NOTE not in session.packages.read(ID)
