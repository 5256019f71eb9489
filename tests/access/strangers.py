"""Every public verb of a session, called about something that isn't the caller's.

A verb that is added later fails the sweep until somebody says here how to call it.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import attrs
from tests.access.places import BOB, CAROL, OTHER

from uaix_core import (
    AcceptancePolicy,
    Authorisation,
    ConsentPlace,
    EditedFiles,
    Lease,
    PackageSource,
    PointerDraft,
    QueuedChange,
    RevisionConflictError,
    TierRef,
    Transformation,
)
from uaix_core.review.relations import OpenConflict
from uaix_core.tiers.noting import CaseDraft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.access.places import Places

    from uaix_core import Session

PERSONA = ".uai/persona.uai"
VOICE = ".uai/personality/voice.uai"
#: What only the stranger's package says.
CANARY = "quietly-singing-canary"

DRAFT = PointerDraft("a title", "https://example.org/a", "sha256:" + "0" * 64)

#: The rooms of a session that have verbs; None is the session itself.
ROOMS = (
    None,
    "packages",
    "registrations",
    "review",
    "consents",
    "leases",
    "proposals",
    "tiers.short_term",
    "tiers.conversations",
    "tiers.variance",
    "tiers.notes",
    "tiers.pointers",
    "tiers.fidelity",
    "tiers.indexes",
)
#: Verbs that are about nothing of a package: what they read is every member's.
ABOUT_NOTHING = {
    "whoami",
    "packages.lint",
    "packages.list",
    "packages.policy",
    "registrations.register",
    "registrations.get",
    "registrations.list",
    "registrations.history",
    "tiers.indexes.watermark",
}
#: What only other verbs call, with values that nobody else can make.
INNER = {"packages.apply", "packages.descend"}


@attrs.define
class World:
    """The ids of things: of a stranger's, or of nothing."""

    package_id: str
    agent_id: str
    ids: dict[str, str]
    files: dict[str, bytes]

    def arguments(self) -> dict[str, Any]:
        """A value for every parameter that some verb asks for."""
        ids = self.ids
        opened = OpenConflict(
            self.package_id,
            ids["record_id"],
            ids["conflict_id"],
            0,
            "human",
            "x",
            VOICE,
        )
        return {
            **ids,
            "package_id": self.package_id,
            "origin": self.package_id,
            "over": self.package_id,
            "agent_id": self.agent_id,
            "path": VOICE,
            "before": ids["revision_id"],
            "after": ids["revision_id"],
            "checkpoint": ids["checkpoint_id"],
            "conversation_id": "talk",
            "run_id": "run",
            "name": "case",
            "seq": 1,
            "role": "user",
            "kind": "platform",
            "text": "a text",
            "title": "a title",
            "what": "a text",
            "why": "a text",
            "outcome": "passed",
            "reason": "a reason",
            "verdict": "approved",
            "content": b"Other: words.\n",
            "expected_revision": ids["revision_id"],
            "revisions": {VOICE: ids["revision_id"]},
            "session_id": "run",
            "life": 60_000_000,
            "lease": Lease(
                ids["lease_id"], self.package_id, self.agent_id, "run", 1, "x"
            ),
            "places": [ConsentPlace(VOICE)],
            "reader": BOB,
            "until_at": 2**52,
            "private_key": b"\7" * 32,
            "trusted": {},
            "case": CaseDraft("case", "a prompt", must=("sings",)),
            "draft": DRAFT,
            "sources": [TierRef("turn", ids["turn_id"])],
            "case_ids": [ids["case_id"]],
            "note_ids": [ids["note_id"]],
            "pointer_ids": [ids["pointer_id"]],
            "proposal_ids": [ids["proposal_id"]],
            "turn_ids": [ids["turn_id"]],
            "variance_ids": [ids["variance_id"]],
            "wanted": Transformation({"evidence/provenance.md": b"x\n"}, "a reason"),
            "edited": EditedFiles(self.files, based_on=ids["checkpoint_id"]),
            "source": PackageSource(files=self.files),
            "opened": opened,
            "policy": AcceptancePolicy(),
            "changes": [
                QueuedChange(
                    "one",
                    self.package_id,
                    VOICE,
                    b"Other: words.\n",
                    expected_revision=ids["revision_id"],
                )
            ],
        }


def verbs(session: Session) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Each public verb of a session by its dotted name."""
    for room in ROOMS:
        owner: Any = session
        for name in (room or "").split(".") if room else ():
            owner = getattr(owner, name)
        prefix = f"{room}." if room else ""
        for name, _ in inspect.getmembers(type(owner), inspect.isfunction):
            is_work = name in ("snapshot", "writing", "keep_conflict")
            if not name.startswith("_") and not is_work:
                yield prefix + name, getattr(owner, name)


def called(verb: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """What a verb comes to: its answer, or its error as plain data."""
    given, named = [], {}
    for name, parameter in inspect.signature(verb).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        if parameter.default is not inspect.Parameter.empty:
            continue
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            named[name] = arguments[name]
        else:
            given.append(arguments[name])
    return verb(*given, **named)


def said(thing: Any) -> str:
    """All that a value says, the texts of its rows too, which no repr shows."""
    if isinstance(thing, Mapping):
        return "".join(map(said, thing.items()))
    if isinstance(thing, (list, tuple)):
        return "".join(map(said, thing))
    if attrs.has(type(thing)):
        named = attrs.asdict(thing, recurse=False)
        return f"{type(thing).__name__}({said(named)})"
    return f"{thing!r} "


def filled(places: Places) -> dict[str, str]:
    """Give the stranger's package one of everything; the ids of it all."""
    host = places.host()
    head = host.packages.record(OTHER, VOICE).head
    content = f"# Voice\n\nTone: {CANARY}.\n".encode()
    checkpoint = host.packages.show(OTHER).package.checkpoint_id
    human = places.host(principal=CAROL)
    authorised = [Authorisation(VOICE, "replace")]
    revised = human.packages.revise(
        OTHER,
        VOICE,
        content,
        expected_revision=head.revision_id,
        authorisations=authorised,
    )
    with suppress(RevisionConflictError):
        human.packages.revise(
            OTHER,
            VOICE,
            b"# Voice\n\nTone: late.\n",
            expected_revision=head.revision_id,
            authorisations=authorised,
        )
    (opened,) = host.packages.conflicts(OTHER)
    tiers = host.tiers
    turn = tiers.conversations.add(OTHER, BOB.id, "talk", "user", CANARY)
    state = tiers.short_term.put(OTHER, BOB.id, CANARY)
    variance = tiers.variance.record(OTHER, BOB.id, VOICE, what=CANARY, why="why")
    note = tiers.notes.add(OTHER, kind="platform", title="a title", text=CANARY)
    tiers.fidelity.put(OTHER, CaseDraft("case", CANARY, must=("sings",)))
    case = tiers.fidelity.get(OTHER, "case")
    tiers.fidelity.record(OTHER, "run", "case", "passed", note=CANARY)
    proposal = host.proposals.propose(
        OTHER, DRAFT, sources=[TierRef("turn", turn.id)], reason=CANARY
    )
    consent = human.consents.grant(OTHER, BOB, [ConsentPlace(VOICE)], until_at=2**52)
    lease = host.leases.acquire(
        OTHER, agent_id=BOB.id, session_id="run", life=60_000_000
    )
    return {
        "record_id": head.record_id,
        "revision_id": revised.revision_id,
        "checkpoint_id": checkpoint,
        "conflict_id": opened.conflict_id,
        "receipt_id": revised.receipt,
        "turn_id": turn.id,
        "state_id": state.id,
        "variance_id": variance.id,
        "note_id": note.id,
        "case_id": case.case_id,
        "proposal_id": proposal.id,
        "pointer_id": proposal.id,
        "consent_id": consent.consent_id,
        "lease_id": lease.lease_id,
    }


def nothing(ids: dict[str, str]) -> dict[str, str]:
    """Ids of the same form that name nothing."""
    return {name: text[::-1] for name, text in ids.items()}
