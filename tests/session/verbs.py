"""All verbs of a session, and a good value for each of their arguments.

Verbs and arguments are found by looking, so that a new one can't be forgotten: an
argument without a value here fails the sweeps.
"""

from __future__ import annotations

import inspect
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs
from tests.session.package_kit import ENTRY, ID, NOTE, TOTEM, head, package
from tests.session.starting import Stub, reviewed
from tests.session.tiering import AGENT, TALK, pointer, proposed, said

from uaix_backends.memory import MemoryStore
from uaix_core import (
    AcceptancePolicy,
    Authorisation,
    Authority,
    CaseDraft,
    ConsentPlace,
    EditedFiles,
    KeyRing,
    Limits,
    OperatorGrant,
    OperatorGrants,
    Principal,
    QueuedChange,
    ReviewNote,
    RevisionConflictError,
    Session,
    TierRef,
    Transformation,
    document_digest,
)
from uaix_core.packages.lint import Checks
from uaix_core.packages.required.sets import DEFAULT_RULESET

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: What the parts of the library hand to each other, and no caller to them.
_INNER = frozenset(
    {"packages.apply", "packages.descend", "authority.done", "snapshot", "writing"}
)


@attrs.frozen
class Verb:
    """A public method of a session, by its dotted name."""

    name: str
    method: Callable[..., Any]

    @property
    def parameters(self) -> dict[str, str]:
        """Its arguments, each with the text of its annotation."""
        found: dict[str, str] = {}
        for one in inspect.signature(self.method).parameters.values():
            if one.kind is not inspect.Parameter.VAR_KEYWORD:
                found[one.name] = str(one.annotation)
            elif self.name == "packages.lint":
                # How to judge a package is all that verbs hand on, and all of it here.
                found |= {name: str(kind) for name, kind in CHECKS.items()}
        return found


def verbs_of(owner: object, room: str = "") -> Iterator[Verb]:
    """Every verb of a session, those of its rooms and tiers included."""
    for name in sorted(dir(type(owner))):
        found = inspect.getattr_static(type(owner), name)
        full = f"{room}{name}"
        if name.startswith("_") or full in _INNER:
            continue
        if isinstance(found, cached_property):
            yield from verbs_of(getattr(owner, name), f"{full}.")
        elif inspect.isfunction(found):
            yield Verb(full, getattr(owner, name))


def all_verbs(session: Session) -> Iterator[Verb]:
    """Every verb of a session, and of the authority of its tenant."""
    yield from verbs_of(session)
    yield from verbs_of(authority_over(session), "authority.")


def verb_named(session: Session, name: str) -> Verb:
    """The verb of this name."""
    *rooms, verb = name.split(".")
    owner: Any = session
    if rooms[:1] == ["authority"]:
        owner = authority_over(session)
        del rooms[0]
    for room in rooms:
        owner = getattr(owner, room)
    return Verb(name, getattr(owner, verb))


def authority_over(session: Session) -> Authority:
    """The authority of a session's tenant."""
    return Authority(
        session.store,
        tenant=session.scope.tenant,
        principal=Principal("operator", "root"),
        keys=KEYS,
        clock=session.clock,
        ids=session.ids,
        random=session.random,
    )


CHECKS = Checks.__annotations__
KEYS = KeyRing("k1", {"k1": b"k" * 32})
CONTESTED, GONE = ".uai/contested.uai", ".uai/gone.uai"
READY, BRANCH, DERIVED = "ready", "made-by-branch", "made-by-derive"
DOCUMENT = {"namespace": "travel", "version": 1, "content": "words"}
NEXT = {**DOCUMENT, "version": 2}


@attrs.frozen
class World:
    """A session whose scope has one of everything, and a value for each argument.

    ``values`` are by the name of the argument, ``own`` those of single verbs by the
    name of the verb.
    """

    session: Session
    values: dict[str, Any]
    own: dict[str, dict[str, Any]]

    def copied(self) -> World:
        """The same world, of which this one sees no change."""
        store = MemoryStore()
        # What a store of memory holds never changes: a commit puts another one there.
        store._scopes = dict(self.session.store._scopes)
        return attrs.evolve(self, session=attrs.evolve(self.session, store=store))

    def arguments(self, verb: Verb) -> dict[str, Any]:
        """A good value for each argument of a verb."""
        own = self.own.get(verb.name, {})
        found = {}
        for name in verb.parameters:
            known = own if name in own else self.values
            assert name in known, f"{verb.name} has an argument without a value: {name}"
            found[name] = known[name]
        return found


def world_of(session: Session) -> World:
    """Fill the scope of a session with one of everything."""
    maker = package()
    maker.add(CONTESTED, b"First.\n")
    maker.add(GONE, b"Old.\n")
    made = session.packages.install(maker.folder())
    ready = session.packages.install(package(packageId=READY).folder())
    reviewed(session, READY)
    first = head(session, NOTE)
    _lose(session)
    (parted,) = session.packages.conflicts(ID)
    session.review.branch(parted, package_id=BRANCH)
    session.packages.derive(
        READY, Transformation({NOTE: b"Derived.\n"}, "tests"), package_id=DERIVED
    )
    error = _lose(session)
    (opened,) = session.packages.conflicts(ID)
    gone = session.packages.tombstone(
        ID, GONE, expected_revision=head(session, GONE), reason="old"
    )
    tiers = session.tiers
    turn = said(session)
    tiers.short_term.put(ID, AGENT, "A state.")
    note = tiers.notes.add(ID, kind="legal", title="A limit", text="Not here.")
    variance = tiers.variance.record(ID, AGENT, NOTE, what="Short.", why="Late.")
    case = CaseDraft("greeting", "Hello", must=["a greeting"])
    put = tiers.fidelity.put(ID, case)
    accepted = session.proposals.accept(proposed(session, turn))
    waiting = proposed(session, turn, pointer("Another title"))
    places = [ConsentPlace(NOTE)]
    until = session.clock.now() + 10**9
    consent = session.consents.grant(ID, "agent:ada", places, until_at=until)
    grants = OperatorGrants(
        Principal("operator", "ops"),
        tuple(
            OperatorGrant(one["namespace"], one["version"], document_digest(one))
            for one in (DOCUMENT, NEXT)
        ),
    )
    session.registrations.register(DOCUMENT, grants)
    lease = session.leases.acquire(ID, agent_id=AGENT, session_id="run-1", life=10**9)
    authority = authority_over(session)
    holder = Principal("human", "maren")
    entitlement = authority.grant(holder, "reader", scope=session.scope)
    issued = authority.issue(holder, scope=session.scope)
    authority.bind("eve", READY, scope=session.scope)
    authority.secrets.put("greeting", b"kept under a key")
    exported = dict(session.packages.read(READY))
    at, record = made.checkpoint_id, session.packages.record(ID, NOTE).head.record_id
    values: dict[str, Any] = {
        "after": None,
        "agent_id": AGENT,
        "authorisations": [Authorisation(TOTEM, "replace")],
        "based_on": None,
        "case": case,
        "case_ids": [put.id],
        "cause": "platform",
        "changes": [QueuedChange("1", ID, NOTE, b"Q.\n", expected_revision=first)],
        "checkpoint": at,
        "checkpoint_id": session.packages.show(ID).package.checkpoint_id,
        "conflict_id": opened.conflict_id,
        "consent_id": consent.consent_id,
        "content": b"Two.\n",
        "conversation_id": TALK,
        "document": NEXT,
        "credential_id": issued.credential_id,
        "draft": pointer("A third title"),
        "edited": EditedFiles({**exported, NOTE: b"Edited.\n"}),
        "entries": {NOTE: ENTRY},
        "entitlement_id": entitlement.id,
        "entry": None,
        "error": error,
        "expected_revision": first,
        "field": "description",
        "form": "folder",
        "from_at": 0,
        "grants": grants,
        "indexes": [Stub("words", 10**6)],
        "key": "a key",
        "kind": "legal",
        "lenient": False,
        "lease": lease,
        "lease_id": lease.lease_id,
        "life": 10**9,
        "limit": 10,
        "limits": Limits(),
        "name": "greeting",
        "namespace": "travel",
        "note": ReviewNote("Fine.", ["a blocker"], {"ada": "this"}),
        "note_ids": [note.id],
        "notes": {NOTE: "all of it"},
        "occurred_at": 1,
        "only": [NOTE],
        "only_replaced": False,
        "opened": opened,
        "origin": READY,
        "outcome": "passed",
        "over": BRANCH,
        "overlap": 0,
        "package_id": ID,
        "path": NOTE,
        "paths": [NOTE],
        "places": places,
        "pointer_id": accepted.pointer,
        "pointer_ids": [accepted.pointer],
        "policy": AcceptancePolicy(issuers=["tests"]),
        "principal": holder,
        "private_key": b"k" * 32,
        "proposal_id": waiting,
        "proposal_ids": [waiting],
        "reader": "agent:eve",
        "reason": "because",
        "receipt_id": ready.receipt,
        "record_id": record,
        "removals": False,
        "revision_id": first,
        "revisions": {NOTE: first},
        "role": "user",
        "scope": session.scope,
        "ruleset": DEFAULT_RULESET,
        "run_id": "monday",
        "said_at": 1,
        "secret": b"kept under a key",
        "seen": None,
        "seq": 1,
        "session_id": "run-1",
        "source": package(packageId="another").folder(),
        "sources": [TierRef("turn", turn)],
        "state": "open",
        "text": "Hello.",
        "title": "A title",
        "to_at": 10**15,
        "token": issued.token.reveal(),
        "triggered": [NOTE],
        "trusted": {},
        "turn_ids": [turn],
        "until_at": until,
        "variance_ids": [variance.id],
        "verdict": "reviewed",
        "version": 1,
        "wanted": Transformation({NOTE: b"Other.\n"}, "tests", {NOTE: "all of it"}),
        "what": "Otherwise.",
        "why": "It was late.",
        "before": first,
    }
    ready_only = {"package_id": READY}
    own: dict[str, dict[str, Any]] = {
        "start": {**ready_only, "lease": None},
        "authority.bind": {"agent_id": "bob"},
        "authority.grant": {"role": "reader"},
        "authority.unbind": {"agent_id": "eve", **ready_only},
        "packages.adopt": {**ready_only, "authorisations": [], "entries": None},
        "packages.branch": {
            "source": package(b"Parted.\n").folder(),
            "package_id": "parted",
        },
        "packages.clone": {"package_id": "cloned"},
        "packages.derivation": {"package_id": DERIVED},
        "packages.derive": {"package_id": "derived"},
        "packages.diff": {"before": "1", "after": "2"},
        "packages.diff_revisions": {"after": head(session, CONTESTED)},
        "packages.edits": ready_only,
        "packages.list": {"after": "m"},
        "packages.refresh": {
            **ready_only,
            "edited": EditedFiles(exported),
        },
        "packages.restore": {"source": package(packageId=READY).folder()},
        "packages.update": {
            "source": package(b"New.\n", packageId=READY).folder(),
            "based_on": ready.checkpoint_id,
        },
        "packages.tombstone": {"authorisations": []},
        "proposals.accept": {"authorisations": []},
        "tiers.fidelity.record": {"note": "fine"},
        "packages.derive_edits": {**ready_only, "origin": READY, "package_id": "new"},
        "review.branch": {"package_id": "parted"},
        "review.keep": {"expected_revision": head(session, CONTESTED)},
        "review.package": {"verdict": "quarantined"},
        "review.restore": {"path": GONE, "expected_revision": gone.revision_id},
        "review.take": {"expected_revision": head(session, CONTESTED)},
    }
    return World(session, values, own)


def _lose(session: Session) -> RevisionConflictError:
    """A change of the contested file that loses; the error of it."""
    seen = head(session, CONTESTED)
    won = f"Won over {seen}.\n".encode()
    session.packages.revise(ID, CONTESTED, won, expected_revision=seen)
    try:
        session.packages.revise(ID, CONTESTED, b"Lost.\n", expected_revision=seen)
    except RevisionConflictError as error:
        return error
    raise AssertionError


#: What callers make by themselves, and a good value for each field.
MADE: dict[str, dict[str, Any]] = {
    "AcceptancePolicy": {
        "issuers": ["tests"],
        "scopes": ["universal"],
        "key_ids": ["a" * 64],
        "require_signature_from": ["a" * 64],
    },
    "Authorisation": {"path": TOTEM, "operation": "replace"},
    "CaseDraft": {
        "name": "greeting",
        "prompt": "Hello",
        "must": ["a greeting"],
        "must_not": ["a sigh"],
        "paths": [NOTE],
    },
    "ConsentPlace": {"path": NOTE, "field": "diary"},
    "EditedFiles": {
        "files": {NOTE: b"x"},
        "based_on": "1",
        "bases": {NOTE: "a" * 64},
        "entries": {NOTE: ENTRY},
        "others": [GONE],
        "is_whole": True,
    },
    "FileDraft": {
        "path": NOTE,
        "content": b"x",
        "expected_revision": "a" * 64,
        "entry": ENTRY,
    },
    "KeyRing": {"active": "k1", "keys": {"k1": b"k" * 32}},
    "OperatorGrant": {
        "namespace": "travel",
        "version": 1,
        "document_digest": "sha256:" + "a" * 64,
    },
    "OperatorGrants": {
        "operator": Principal("operator", "ops"),
        "grants": [OperatorGrant("travel", 1, "sha256:" + "a" * 64)],
    },
    "PackageSource": {"name": "ada", "archive": None, "files": {NOTE: b"x"}},
    "PointerDraft": {
        "title": "A title",
        "locator": "wiki:Page",
        "digest": "sha256:" + "a" * 64,
    },
    "Principal": {"kind": "human", "id": "alice"},
    "QueuedChange": {
        "command_id": "1",
        "package_id": ID,
        "path": NOTE,
        "content": b"x",
        "reason": "because",
        "expected_revision": "a" * 64,
        "after": "0",
        "entry": ENTRY,
        "claims_authorisation": False,
    },
    "ReviewNote": {
        "text": "Fine.",
        "blockers": ["a blocker"],
        "agreements": {"ada": "this"},
    },
    "ScopeId": {"tenant": "acme", "kind": "project", "key": "apollo"},
    "TierRef": {"kind": "turn", "id": "a" * 64},
    "Transformation": {
        "files": {NOTE: b"x"},
        "reason": "because",
        "notes": {NOTE: "all of it"},
        "authorisations": [Authorisation(TOTEM, "replace")],
    },
}
#: What the library makes: no caller hands one in but as it was given out.
GIVEN = frozenset(
    {
        "Adopted",
        "Assembly",
        "ConsentView",
        "Decision",
        "EditStatus",
        "Exported",
        "Finding",
        "Lease",
        "Limits",
        "PointerView",
        "ProposalView",
        "Registered",
        "RegistryDocument",
        "Replayed",
        "Report",
        "Reviewed",
        "Revised",
        "RevisionReport",
        "Session",
        "StartupCheck",
        "StartupRecord",
        "Stored",
        "VarianceReport",
    }
)
