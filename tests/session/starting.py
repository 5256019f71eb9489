"""Stored packages that are active, and ones with defects that no verb would let in."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import attrs
from tests.packages.package_maker import MANIFEST, NOW, Maker

from uaix_core.history.relations import CONFLICT, REVISION, Receipt
from uaix_core.packages.install import decide_install
from uaix_core.packages.manifest.values import files_digest
from uaix_core.packages.relations import CHECKPOINT
from uaix_core.schema.commits import Commit
from uaix_core.values.parsing import canonical_text_digest

if TYPE_CHECKING:
    from collections.abc import Callable

    from uaix_core import Assembly, Session

ID = "made-by-code"
AGENT = "ada"
PERSONALITY = ".uai/personality/"


def dimension(stem: str) -> str:
    """The path of a dimension."""
    return f"{PERSONALITY}{stem}.uai"


def advanced(**bodies: bytes) -> Maker:
    """An advanced persona that is bound to an agent; ``bodies`` are by stem."""
    maker = Maker("advanced_persona_profile")
    maker.manifest["agentId"] = AGENT
    maker.manifest["entrypoints"] = [".uai/memory-maintenance.uai", ".uai/persona.uai"]
    for stem, body in bodies.items():
        replace(maker, dimension(stem.replace("_", "-")), body)
    return maker


def replace(maker: Maker, path: str, body: bytes) -> None:
    """Give a file of a package another body."""
    digest = hashlib.sha256(body).hexdigest()
    maker.files[path] = body
    maker.entry(path).update(sizeBytes=len(body), sha256=digest)


def reviewed(session: Session, package_id: str = ID) -> None:
    """Review all that waits, and the package itself."""
    waiting = session.review.waiting(package_id)
    revisions = {file.path: file.revision_id for file in waiting.records}
    if revisions:
        session.review.records(package_id, "approved", revisions)
    session.review.package(package_id, "active", checkpoint_id=waiting.checkpoint_id)


def installed(session: Session, maker: Maker | None = None) -> None:
    """Install a package and review it."""
    source = (maker or advanced()).folder()
    reviewed(session, session.packages.install(source).package_id)


def given(assembly: Assembly) -> list[tuple[Any, ...]]:
    """What an assembly gives wherever it is: all but the names of revisions."""
    return [
        (r.position, r.path, r.content, r.sha256, r.canonical_sha256, r.blanked)
        for r in assembly.records
    ]


@attrs.define
class Stub:
    """An index that says how far it has come."""

    name: str
    seq: int

    def covered(self, scope: object, package_id: str) -> int:
        """As far as it was made to say."""
        return self.seq


@attrs.define
class Draft:
    """The rows of an install, to be bent before they are written.

    ``chains`` has for each path the fields of its revisions in order, whose parents
    and numbers follow unless they are said.
    """

    chains: dict[str, list[dict[str, Any]]]
    checkpoint: dict[str, Any]
    manifest: dict[str, Any]
    receipt: Receipt
    manifest_sha256: str | None = None
    erased: list[str] = attrs.field(factory=list)
    in_conflict: list[str] = attrs.field(factory=list)
    #: What the start is asked for beside the package.
    asked: dict[str, Any] = attrs.field(factory=lambda: {"agent_id": AGENT})

    def entry(self, path: str) -> dict[str, Any]:
        """The manifest's entry of a file."""
        return next(e for e in self.manifest["files"] if e["path"] == path)

    def body(self, path: str, content: bytes) -> None:
        """Give a file another content that all digests agree with."""
        digest = hashlib.sha256(content).hexdigest()
        self.chains[path][-1].update(
            content=content,
            sha256=digest,
            size_bytes=len(content),
            canonical_sha256=canonical_text_digest(content, "text/uaix"),
        )
        self.entry(path).update(sizeBytes=len(content), sha256=digest)


def _fields(relation: Any, row: Any, *without: str) -> dict[str, Any]:
    left_out = {"body_digest", "salt", *without}
    return {n: getattr(row, n) for n in relation.columns if n not in left_out}


def draft_of(session: Session, maker: Maker) -> Draft:
    """The rows of an install with everything reviewed."""
    report = maker.lint()
    with session.snapshot() as snapshot:
        commit = decide_install(snapshot, session.writing(), report, None)
    *revisions, checkpoint, receipt = commit.adds
    chains = {
        row.path: [
            _fields(REVISION, row, "revision_id", "number", "parent_revision_id")
            | {"review_state": "approved"}
        ]
        for row in revisions
    }
    kept = _fields(CHECKPOINT, checkpoint, "checkpoint_id", "manifest", "files_sha256")
    manifest = json.loads(maker.manifest_bytes())
    return Draft(chains, kept | {"state": "active"}, manifest, receipt)


def write_draft(session: Session, draft: Draft) -> None:
    """Write the rows of a draft, and erase and contest what it says."""
    rows: list[Any] = []
    standing = []
    for path, chain in draft.chains.items():
        parent = None
        for number, fields in enumerate(chain, 1):
            whole = {"number": number, "parent_revision_id": parent, **fields}
            row = REVISION.named_by_header("revision_id", b"s" * 16, **whole)
            parent = row.revision_id
            rows.append(row)
        if row.change != "tombstone" and path not in draft.erased:
            standing.append((path, row.size_bytes, row.sha256))
    data = json.dumps(draft.manifest).encode()
    digests = {
        "manifest_sha256": hashlib.sha256(data).hexdigest(),
        "files_sha256": files_digest(standing),
        "file_count": len(standing),
    }
    if draft.manifest_sha256 is not None:
        digests["manifest_sha256"] = draft.manifest_sha256
    named = {**draft.checkpoint, **digests, "manifest": data}
    checkpoint = CHECKPOINT.named_by_header("checkpoint_id", b"s" * 16, **named)
    append = session.store.append
    first = [row for row in rows if row.parent_revision_id is None]
    append(Commit(session.scope, NOW, adds=(*first, checkpoint, draft.receipt)))
    for row in rows:
        if row.parent_revision_id is not None:
            append(Commit(session.scope, NOW, adds=(row,)))
    last = {row.record_id: row for row in rows}
    by_path = {row.path: row for row in last.values()}
    for path in draft.erased:
        named_row = ("revision", (by_path[path].revision_id,))
        append(Commit(session.scope, NOW, erases=(named_row,)))
    for path in draft.in_conflict:
        row = by_path[path]
        late = CONFLICT.named_by_header(
            "conflict_id",
            b"s" * 16,
            package_id=row.package_id,
            record_id=row.record_id,
            expected_revision_id=None,
            head_revision_id=row.revision_id,
            change="replace",
            receipt_id="late",
            actor_kind="human",
            actor_id="bob",
            path=path,
            media_type="text/uaix",
            sha256=hashlib.sha256(b"late").hexdigest(),
            content=b"late",
        )
        append(Commit(session.scope, NOW, adds=(late,)))


Found = set[tuple[str, str]]


def _agent(draft: Draft) -> Found:
    draft.asked["agent_id"] = "eve"
    return {("startup.agent", ID)}


def _state(draft: Draft) -> Found:
    draft.checkpoint["state"] = "quarantined"
    return {("startup.state", ID)}


def _missing(draft: Draft) -> Found:
    del draft.chains[dimension("values")]
    return {("startup.missing", dimension("values"))}


def _unlisted(draft: Draft) -> Found:
    path = ".uai/taboo.uai"
    del draft.chains[path]
    draft.manifest["files"].remove(draft.entry(path))
    return {("startup.missing", path)}


def _trigger(draft: Draft) -> Found:
    path = dimension("sense-of-winter")
    del draft.chains[path]
    draft.manifest["files"].remove(draft.entry(path))
    return {("startup.trigger", path)}


def _asked_for(draft: Draft) -> Found:
    draft.asked["triggered"] = [".uai/extra.uai"]
    return {("startup.trigger", ".uai/extra.uai")}


def _tombstone(draft: Draft) -> Found:
    _bury(draft, dimension("voice"))
    return {("startup.tombstone", dimension("voice"))}


def _unlisted_tombstone(draft: Draft) -> Found:
    path = ".uai/talisman.uai"
    _bury(draft, path)
    draft.manifest["files"].remove(draft.entry(path))
    return {("startup.tombstone", path)}


def _bury(draft: Draft, path: str) -> None:
    chain = draft.chains[path]
    digest = hashlib.sha256(b"").hexdigest()
    gone = {"change": "tombstone", "content": b"", "size_bytes": 0, "sha256": digest}
    chain.append({**chain[0], **gone, "canonical_sha256": ""})


def _erased(draft: Draft) -> Found:
    draft.erased.append(dimension("temperament"))
    return {("startup.erased", dimension("temperament"))}


def _undeclared(draft: Draft) -> Found:
    path = "evidence/provenance.md"
    draft.manifest["files"].remove(draft.entry(path))
    return {("startup.undeclared", path)}


def _scope(draft: Draft) -> Found:
    draft.chains[dimension("boundaries")][0]["scope"] = "code_bearing"
    return {("startup.scope", dimension("boundaries"))}


def _chain(draft: Draft) -> Found:
    chain = draft.chains[dimension("reasoning-style")]
    chain.append({**chain[0], "change": "replace", "number": 3})
    return {("startup.chain", dimension("reasoning-style"))}


def _parent(draft: Draft) -> Found:
    chain = draft.chains[dimension("sense-of-style")]
    chain.append({**chain[0], "change": "replace", "parent_revision_id": "x"})
    return {("startup.chain", dimension("sense-of-style"))}


def _digest(draft: Draft) -> Found:
    draft.chains[dimension("emotional-patterns")][0]["sha256"] = "f" * 64
    return {("startup.digest", dimension("emotional-patterns"))}


def _size(draft: Draft) -> Found:
    draft.chains[dimension("relationship-style")][0]["size_bytes"] += 1
    return {("startup.size", dimension("relationship-style"))}


def _listed_digest(draft: Draft) -> Found:
    path = "evidence/variance-report.md"
    draft.entry(path)["sha256"] = "c" * 64
    return {("startup.digest", path)}


def _listed_size(draft: Draft) -> Found:
    draft.entry(dimension("jewelry-choices"))["sizeBytes"] -= 1
    return {("startup.size", dimension("jewelry-choices"))}


def _body_digest(draft: Draft) -> Found:
    path = dimension("political-leaning")
    draft.chains[path][0]["sha256"] = draft.entry(path)["sha256"] = "a" * 64
    return {("startup.digest", path)}


def _body_size(draft: Draft) -> Found:
    path = dimension("birth-age-generation")
    draft.chains[path][0]["size_bytes"] += 1
    draft.entry(path)["sizeBytes"] += 1
    return {("startup.size", path)}


def _meaning(draft: Draft) -> Found:
    draft.chains[dimension("behavioral-patterns")][0]["canonical_sha256"] = "e" * 64
    return {("startup.meaning", dimension("behavioral-patterns"))}


def _order(draft: Draft) -> Found:
    draft.chains[dimension("romantic-orientation")][0]["startup_order"] -= 1
    return {("startup.order", dimension("romantic-orientation"))}


def _entrypoints(draft: Draft) -> Found:
    draft.manifest["entrypoints"].reverse()
    return {("startup.order", "entrypoints")}


def _entrypoint(draft: Draft) -> Found:
    draft.manifest["entrypoints"].insert(1, ".uai/nothing.uai")
    return {("startup.reference", ".uai/nothing.uai")}


def _reference(draft: Draft) -> Found:
    draft.body(dimension("adaptation-rules"), b"Refers to: .uai/personality/no.uai\n")
    return {("startup.reference", dimension("adaptation-rules"))}


def _review(draft: Draft) -> Found:
    draft.chains[dimension("identity")][0]["review_state"] = "review_required"
    return {("startup.review", dimension("identity"))}


def _rejected(draft: Draft) -> Found:
    draft.chains[".uai/totem.uai"][0]["review_state"] = "rejected"
    return {("startup.review", ".uai/totem.uai")}


def _conflict(draft: Draft) -> Found:
    draft.in_conflict.append(dimension("preservation-rules"))
    return {("startup.conflict", dimension("preservation-rules"))}


def _disclosure(draft: Draft) -> Found:
    draft.body(dimension("examples-dialogue"), b"# Talk (private)\nShe said: no.\n")
    return {("startup.disclosure", dimension("examples-dialogue"))}


def _index(draft: Draft) -> Found:
    draft.asked["indexes"] = [Stub("words", 0), Stub("vectors", 10**6)]
    return {("startup.index", "words")}


def _manifest_digest(draft: Draft) -> Found:
    draft.manifest_sha256 = "d" * 64
    return {("startup.digest", MANIFEST)}


#: Each defect bends a draft, at a place of its own, and says which checks it fails.
DEFECTS: dict[str, Callable[[Draft], Found]] = {
    made.__name__.strip("_"): made
    for made in (
        _agent,
        _state,
        _missing,
        _unlisted,
        _trigger,
        _asked_for,
        _tombstone,
        _unlisted_tombstone,
        _erased,
        _undeclared,
        _scope,
        _chain,
        _parent,
        _digest,
        _size,
        _body_digest,
        _body_size,
        _listed_digest,
        _listed_size,
        _meaning,
        _order,
        _entrypoints,
        _entrypoint,
        _reference,
        _review,
        _rejected,
        _conflict,
        _disclosure,
        _index,
        _manifest_digest,
    )
}


def planted(session: Session, *names: str) -> tuple[Found, dict[str, Any]]:
    """Store a package with these defects: the checks to fail, and how to start it."""
    draft = draft_of(session, advanced())
    expected: Found = set()
    for name in names:
        expected |= DEFECTS[name](draft)
    write_draft(session, draft)
    return expected, draft.asked
