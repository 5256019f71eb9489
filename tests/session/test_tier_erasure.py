"""The law of erasure on the files of a store: what was erased is nowhere in them."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest
from tests.session.conftest import NOW, Counter, FrozenClock
from tests.session.package_kit import ENTRY, ID, NOTE, OTHER
from tests.session.tiering import (
    AGENT,
    CANARY,
    DIGEST,
    TALK,
    at_work,
    ledger,
    pointer,
    proposed,
    said,
)

from uaix_backends import open_store
from uaix_core import (
    CaseDraft,
    FileDraft,
    PointerDraft,
    Principal,
    ScopeId,
    Session,
    TierRef,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from uaix_core import Store


def session_of(store: Store) -> Session:
    """A person's session."""
    counter = Counter()
    return Session(
        store,
        scope=ScopeId.parse("acme/project/apollo"),
        principal=Principal.parse("human:alice"),
        clock=FrozenClock(NOW),
        ids=counter,
        random=counter,
    )


def forms(text: str) -> Iterator[bytes]:
    """A text as it might stand in a file."""
    data = text.encode()
    yield from (data, text.encode("utf-16-le"), text.encode("utf-16-be"))
    for offset in range(3):
        encoded = base64.urlsafe_b64encode(b"\0" * offset + data)
        yield encoded[4 : len(encoded) - 4]


def holds(place: Path, text: str) -> bool:
    """Whether any file below a place holds a text."""
    found = [place] if place.is_file() else list(place.rglob("*"))
    found += list(place.parent.glob(place.name + "-*"))
    contents = [path.read_bytes() for path in found if path.is_file()]
    assert contents
    return any(form in content for form in forms(text) for content in contents)


@pytest.mark.parametrize("backend", ["dir", "sqlite"])
def test_erased_sources_vanish_from_the_files(backend: str, tmp_path: Path) -> None:
    """Texts of every tier, and of what was proposed from them, are in no file."""
    place = tmp_path / "store"
    url = f"{backend}:{place}"
    store = open_store(url, create=True)
    session = session_of(store)
    agent = at_work(session)
    tiers = agent.tiers
    turn = said(agent, CANARY)
    states = [tiers.short_term.put(ID, AGENT, f"{CANARY} {n}").id for n in range(2)]
    named = {"what": CANARY, "why": CANARY}
    variance = tiers.variance.record(ID, AGENT, NOTE, **named).id
    note = tiers.notes.add(ID, kind="safety", title=CANARY, text=CANARY).id
    case = session.tiers.fidelity.put(
        ID, CaseDraft("c", CANARY, must=[CANARY], must_not=[CANARY])
    )
    drafts = (
        pointer(f"Of {CANARY}"),
        FileDraft(OTHER, CANARY.encode(), None, {**ENTRY, "source": CANARY}),
    )
    for draft in drafts:
        proposed(agent, turn, draft)
    agent.proposals.propose(
        ID, pointer(), sources=[TierRef("state", states[0])], reason=CANARY
    )
    of_note = agent.proposals.propose(
        ID,
        PointerDraft(f"Of {CANARY}", "wiki:x", DIGEST),
        sources=[TierRef("note", note)],
    )
    decided = session.proposals.accept(of_note.id)
    declined = proposed(agent, turn, pointer(f"Then {CANARY}"))
    session.proposals.decline(declined)
    store.close()
    assert holds(place, CANARY)

    store = open_store(url)
    session = session_of(store)
    tiers = session.tiers
    tiers.conversations.erase_all(ID, AGENT, TALK)
    tiers.short_term.erase(ID, AGENT)
    tiers.variance.erase(ID, [variance])
    kept = tiers.notes.erase(ID, [note]).pointers
    assert (decided.pointer,) == kept
    tiers.pointers.erase(ID, kept)
    tiers.fidelity.erase(ID, [case.id])
    assert [None] == ledger(session)
    store.close()
    assert not holds(place, CANARY)

    open_store(url).close()
    assert not holds(place, CANARY)
