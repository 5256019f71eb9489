"""A package with an agent at work on it, and what tests of the tiers ask of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.session.package_kit import ID, NOTE, acting_as, package
from tests.session.starting import reviewed

from uaix_core import FileDraft, PointerDraft, TierRef

if TYPE_CHECKING:
    from uaix_core import Session

AGENT = "ada"
TALK = "talk-1"
DIGEST = "sha256:" + "ab" * 32
LOCATOR = "wiki:Projects/Apollo#launch"
#: No text that anything else writes.
CANARY = "canary-3f1c saw the moon"


def at_work(session: Session) -> Session:
    """Install the package and review it; the session of its agent."""
    reviewed(session, session.packages.install(package().folder()).package_id)
    return acting_as(session, f"agent:{AGENT}")


def said(session: Session, text: str = "Remember the launch.") -> str:
    """The id of a new turn."""
    return session.tiers.conversations.add(ID, AGENT, TALK, "user", text).id


def pointer(title: str = "When Apollo is launched") -> PointerDraft:
    """A pointer to a page."""
    return PointerDraft(title, LOCATOR, DIGEST)


def proposed(session: Session, source: str, draft: object = None) -> str:
    """The id of a new proposal that is made from a turn."""
    made = pointer() if draft is None else draft
    assert isinstance(made, (PointerDraft, FileDraft))
    return session.proposals.propose(ID, made, sources=[TierRef("turn", source)]).id


def ledger(session: Session) -> list[str | None]:
    """The titles of long-term memory."""
    return [one.pointer.title for one in session.tiers.pointers.list(ID)]


def files(session: Session) -> dict[str, bytes]:
    """The files of the package."""
    return dict(session.packages.read(ID))


def revision(session: Session, path: str = NOTE) -> str:
    """The revision that stands at a path."""
    return session.packages.record(ID, path).revision.revision_id
