"""The library as the benchmarks call it; nothing else here reaches inside it."""

from __future__ import annotations

import json
import random
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import attrs

from benchmarks.data import FILE_BYTES, SEED, texts
from uaix_backends import open_store
from uaix_backends.directory import DirectoryStore
from uaix_backends.sqlite import SqliteStore
from uaix_backends.system import SystemClock, SystemIds, SystemRandom
from uaix_core import (
    Authority,
    KeyRing,
    PackageSource,
    Principal,
    ScopeId,
    Session,
    lint,
)
from uaix_core.history.receipts import Writing
from uaix_core.history.relations import DIGEST_KEY, REVISION, DigestKey
from uaix_core.packages.archive.reader import read_archive
from uaix_core.packages.archive.writer import write_archive
from uaix_core.packages.content.body_facts import remembered as judged_bodies
from uaix_core.packages.content.texts import remembered as judged_texts
from uaix_core.packages.findings import Findings
from uaix_core.packages.install import decide_install
from uaix_core.packages.limits import MIB, Limits
from uaix_core.packages.lint import lint_structure
from uaix_core.packages.rules.archives import ARCHIVE_RULES
from uaix_core.packages.templates.new import new_package
from uaix_core.packages.templates.repack import repack
from uaix_core.schema.commits import Commit
from uaix_core.startup import body_facts
from uaix_core.values.canonical import SALT_BYTES, sha256_hex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from uaix_core import Report, Store
    from uaix_core.schema.rows import Row

PRINCIPAL = Principal.parse("system:benchmark")
#: As large as a call may ask for.
ROOMY = Limits(
    archive_bytes=256 * MIB,
    entries=16_384,
    entry_bytes=64 * MIB,
    total_bytes=512 * MIB,
    manifest_bytes=16 * MIB,
)

_MANIFEST = ".uai/manifest.uaix.json"
_TEMPLATE = ".uai/identity.uai"
_CREATED_AT = 1_767_225_600_000_000

_clock, _ids, _random = SystemClock(), SystemIds(), SystemRandom()
_salts = random.Random(SEED)


def scope_of(name: str, number: int = 0) -> ScopeId:
    """A scope for one run."""
    return ScopeId("bench", "project", f"{name}-{number}")


def session_of(store: Store, scope: ScopeId) -> Session:
    """A session with the system's sources."""
    return Session(
        store,
        scope=scope,
        principal=PRINCIPAL,
        clock=_clock,
        ids=_ids,
        random=_random,
    )


@contextmanager
def opened(kind: str, folder: Path, name: str = "store") -> Iterator[Store]:
    """A store of a kind (``memory``, ``dir``, ``sqlite``), made when it is missing."""
    url = "memory:" if kind == "memory" else f"{kind}:{folder / f'{name}.{kind}'}"
    store = open_store(url, create=True)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def opened_unaided(kind: str, folder: Path, name: str = "store") -> Iterator[Store]:
    """As `opened`, but a directory store neither reads nor writes its caches."""
    if kind != "dir":
        with opened(kind, folder, name) as store:
            yield store
        return
    store = DirectoryStore.open(folder / f"{name}.{kind}", create=True, cache=False)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def opened_to_fill(kind: str, folder: Path, name: str = "store") -> Iterator[Store]:
    """As `opened`, to fill it with what is measured later: durability can wait."""
    if kind != "sqlite":
        with opened(kind, folder, name) as store:
            yield store
        return
    path = folder / f"{name}.{kind}"
    store = SqliteStore.open(path, create=True, synchronous="NORMAL")
    try:
        yield store
    finally:
        store.close()


# Packages and archives


def package(count: int) -> dict[str, bytes]:
    """A valid package of so many files, its manifest among them."""
    files = new_package(
        "universal",
        package_id="benchmark",
        created_at=_CREATED_AT,
        issuer="benchmark",
    )
    return _with_notes(files, count)


def _with_notes(files: dict[str, bytes], count: int) -> dict[str, bytes]:
    manifest: dict[str, Any] = json.loads(files[_MANIFEST])
    listed: list[dict[str, Any]] = manifest["files"]
    entry = next(entry for entry in listed if entry["path"] == _TEMPLATE)
    draw = random.Random(SEED)
    for number, text in enumerate(texts(count - len(files), FILE_BYTES)):
        path = f".uai/notes/n{number:05}.uai"
        name = uuid.UUID(int=draw.getrandbits(128), version=4)
        listed.append({**entry, "path": path, "role": "memory", "stableId": str(name)})
        files[path] = text
    files[_MANIFEST] = json.dumps(manifest, indent=2).encode()
    return repack(files).files


def folder_source(files: Mapping[str, bytes]) -> PackageSource:
    """Files as they come from a folder."""
    return PackageSource("benchmark", files=files)


def archive_source(files: Mapping[str, bytes]) -> PackageSource:
    """Files as they come from an archive."""
    return PackageSource("benchmark.uaix", archive=write_archive(files))


def write_files(files: Mapping[str, bytes]) -> bytes:
    """An archive of these files."""
    return write_archive(files, limits=ROOMY)


def read_files(archive: bytes) -> dict[str, str]:
    """Each file of an archive with its SHA-256, every structural check made."""
    findings = Findings(ARCHIVE_RULES)
    contents = read_archive(archive, findings, name="benchmark.uaix", limits=ROOMY)
    digests = {
        entry.path: sha256_hex(content)
        for entry, content in contents.bodies()
        if content is not None
    }
    assert not list(findings)
    return digests


def judged(source: PackageSource) -> Report:
    """The report on a package that nobody has seen before, and which passes."""
    _forget_judgements()
    report = lint(source, now=_clock.now())
    assert report.is_accepted
    return report


def _forget_judgements() -> None:
    judged_bodies.forget()
    judged_texts.forget()


def judged_structure(source: PackageSource) -> Report:
    """A report on all but what the files and the manifest say."""
    report = lint_structure(source, now=_clock.now())
    assert report.package is not None
    return report


def installs_structure(
    store: Store, name: str, source: PackageSource
) -> Callable[[int], object]:
    """A run that installs a package with its structural checks alone.

    No verb of a session does this; it tells what the judging of content adds.
    """

    def run(number: int) -> object:
        report = judged_structure(source)
        return store.append(decided(store, scope_of(name, number), report))

    return run


def decided(store: Store, scope: ScopeId, report: Report) -> Commit:
    """The commit that installs a judged package."""
    writing = Writing(scope, PRINCIPAL, _clock.now(), _ids, _random)
    with store.snapshot(scope) as snapshot:
        return cast("Commit", decide_install(snapshot, writing, report, None))


def installs(store: Store, name: str, source: PackageSource) -> Callable[[int], object]:
    """A run that installs a package into a fresh scope."""

    def install(run: int) -> object:
        # It comes in for the first time: nothing of its texts is known.
        _forget_judgements()
        return session_of(store, scope_of(name, run)).packages.install(source)

    return install


# Start-up


def persona(count: int) -> dict[str, bytes]:
    """A valid advanced persona of so many files, its manifest among them."""
    files = new_package(
        "advanced-persona",
        package_id="benchmark",
        created_at=_CREATED_AT,
        issuer="benchmark",
    )
    return _with_notes(files, count)


def reviewer_of(store: Store, scope: ScopeId) -> Session:
    """A session of somebody who may review."""
    return attrs.evolve(
        session_of(store, scope), principal=Principal.parse("operator:benchmark")
    )


def activate(session: Session, files: Mapping[str, bytes]) -> None:
    """Store a package, and review all of it."""
    session.packages.install(folder_source(files))
    _review(session)


def _review(session: Session) -> None:
    waiting = session.review.waiting("benchmark")
    seen = {file.path: file.revision_id for file in waiting.records}
    session.review.records("benchmark", "approved", seen)
    checkpoint_id = waiting.checkpoint_id
    session.review.package("benchmark", "active", checkpoint_id=checkpoint_id)


def agent_of(host: Session) -> Session:
    """A session under the token of the agent that the package is bound to."""
    authority = Authority(
        host.store,
        tenant=host.scope.tenant,
        principal=host.principal,
        keys=KeyRing("only", {"only": _random.bytes(32)}),
        clock=_clock,
        ids=_ids,
        random=_random,
    )
    authority.bind("benchmark", "benchmark", scope=host.scope)
    issued = authority.issue(Principal("agent", "benchmark"), scope=host.scope)
    return authority.session(issued.token.reveal(), scope=host.scope)


def lengthen(session: Session, count: int) -> None:
    """Revise one record of a package so many times, and review it again."""
    head = session.packages.record("benchmark", _TEMPLATE).head.revision_id
    for text in texts(count):
        revised = session.packages.revise(
            "benchmark", _TEMPLATE, text, expected_revision=head
        )
        head = revised.revision_id
    _review(session)


def revises(session: Session) -> Callable[[int], object]:
    """A run that gives one record of a package its next revision."""
    names = [session.packages.record("benchmark", _TEMPLATE).head.revision_id]

    def run(number: int) -> object:
        content = f"Revision {number} of the identity.\n".encode() * 20
        revised = session.packages.revise(
            "benchmark", _TEMPLATE, content, expected_revision=names[-1]
        )
        names.append(revised.revision_id)
        return revised

    return run


def commits_one(store: Store, scope: ScopeId, number: int) -> object:
    """Append one revision by itself, durably."""
    content = f"Revision {number} of the identity.\n".encode() * 20
    row = revision(number, content, "floor")
    return store.append(Commit(scope, _clock.now(), adds=(row,)))


def forget_bodies() -> None:
    """Let a start-up find out again what follows from each body."""
    body_facts.remembered.forget()


# Rows


def revision(number: int, content: bytes, record: str = "record") -> Row:
    """A revision of one file, made as an install makes it."""
    digest = sha256_hex(content)
    body = {
        # All of a body is there or nothing: what isn't named here is a digest.
        **dict.fromkeys(REVISION.body, digest),
        "path": f".uai/notes/{record}{number:06}.uai",
        "role": "memory",
        "scope": "universal",
        "media_type": "text/uaix",
        "source": '"benchmark"',
        "content": content,
    }
    return REVISION.named_by_header(
        "revision_id",
        _salts.randbytes(SALT_BYTES),
        package_id="benchmark",
        record_id=f"{record}-{number}",
        parent_revision_id=None,
        number=1,
        change="create",
        required_status="profile_required",
        review_state="review_required",
        startup_order=number,
        size_bytes=len(content),
        actor_kind=PRINCIPAL.kind,
        actor_id=PRINCIPAL.id,
        **body,
    )


def commit(
    scope: ScopeId, number: int, contents: list[bytes], *, work: bool = False
) -> Commit:
    """A commit of new revisions, with a local row beside them if wished."""
    first = number * len(contents)
    adds = [revision(first + at, content) for at, content in enumerate(contents)]
    puts = [DigestKey(purpose=f"p{number}", secret="0" * 64)] if work else []
    return Commit(scope, _clock.now(), adds=adds, puts=puts)


REVISIONS, LOCALS = REVISION.name, DIGEST_KEY.name
