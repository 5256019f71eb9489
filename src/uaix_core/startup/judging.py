"""The checks of a start-up over what was found; each names all that fails it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from uaix_core.packages.manifest.values import SENTINEL, files_digest
from uaix_core.packages.manifest.words import fold
from uaix_core.packages.required.sets import MANIFEST_PATH, ruleset_named, startup_order
from uaix_core.packages.reviewing import GOOD
from uaix_core.startup import checks
from uaix_core.startup.body_facts import BodyFacts, facts_of
from uaix_core.startup.checks import StartupCheck
from uaix_core.startup.declared import Declared, declared
from uaix_core.startup.references import line_of, pointed_at
from uaix_core.startup.watermarks import covers
from uaix_core.values.canonical import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from uaix_core.history.relations import Revision
    from uaix_core.packages.manifest.values import FileEntry
    from uaix_core.packages.relations import PackageFile
    from uaix_core.startup.reading import Found
    from uaix_core.startup.watermarks import IndexWatermark
    from uaix_core.values.ids import Principal, ScopeId

_ACTIVE: Final = "active"
_ABSENT: Final = frozenset((checks.MISSING, checks.TRIGGER))


@attrs.frozen
class Wanted:
    """Which package is to start, for whom, and with what beside it.

    ``triggered`` are files that load although no scope registers them; each has to be
    there. ``indexes`` have to cover the package. ``lease_id`` and ``fence`` are of the
    lease that it starts under; ``failed`` are checks that others made and that failed.
    """

    package_id: str
    agent_id: str
    triggered: tuple[str, ...] = ()
    indexes: tuple[IndexWatermark, ...] = ()
    lease_id: str | None = None
    fence: int | None = None
    failed: tuple[StartupCheck, ...] = ()


@attrs.frozen
class Loaded:
    """A file that loads: its row, its current revision, and its body as it is.

    ``sha256`` and ``facts`` were computed from ``content``.
    """

    file: PackageFile
    revision: Revision
    content: bytes = attrs.field(repr=False)
    sha256: str
    facts: BodyFacts


@attrs.frozen
class Judged:
    """What a start-up came to: the files in order, and every check that failed."""

    loaded: Sequence[Loaded]
    failed: frozenset[StartupCheck]


def judge_startup(
    found: Found, wanted: Wanted, scope: ScopeId, principal: Principal
) -> Judged:
    """Make every check but that of disclosures, which asks for consents."""
    manifest = found.checkpoint.manifest
    known = Declared()
    failed: list[StartupCheck] = [*wanted.failed]
    if manifest is None:
        failed.append(StartupCheck(checks.ERASED, MANIFEST_PATH))
    else:
        known = declared(manifest, found.checkpoint.ruleset, wanted.package_id)
        failed += _inventory(found, known)
    failed += _agents(known, wanted, principal)
    failed += _standing(found)
    failed += _triggered(found, wanted)
    failed += _references(found)
    failed += _indexes(found, wanted, scope)
    loaded: list[Loaded] = []
    for file in _order(found, wanted):
        revision = found.revisions.get(file.record_id)
        if revision is None or revision.content is None:
            # Nothing that reads a store lets a file stand so, but none is left out.
            failed.append(StartupCheck(checks.ERASED, file.path))
        else:
            loaded.append(_loaded(file, revision, revision.content))
            failed += _record(found, loaded[-1])
    if not failed and not _is_whole(found):
        failed.append(StartupCheck(checks.DIGEST, MANIFEST_PATH))
    return Judged(loaded, frozenset(failed))


def _agents(
    known: Declared, wanted: Wanted, principal: Principal
) -> Iterator[StartupCheck]:
    """A package that names nobody is nobody's in particular, and starts for any."""
    if known.agents and wanted.agent_id not in known.agents:
        yield StartupCheck(checks.AGENT, wanted.package_id)
    if principal.kind == "agent" and principal.id != wanted.agent_id:
        yield StartupCheck(checks.PRINCIPAL, wanted.agent_id)


def _standing(found: Found) -> Iterator[StartupCheck]:
    """The state of the package, its chains and its conflicts."""
    if found.package.state != _ACTIVE:
        yield StartupCheck(checks.STATE, found.package.package_id)
    for record_id in found.broken:
        yield StartupCheck(checks.CHAIN, _path_of(found, record_id))
    for opened in found.conflicts:
        yield StartupCheck(checks.CONFLICT, _path_of(found, opened.record_id))


def _path_of(found: Found, record_id: str) -> str:
    return found.paths.get(record_id, record_id)


def _inventory(found: Found, known: Declared) -> Iterator[StartupCheck]:
    """What the manifest declares against what stands."""
    manifest = found.checkpoint.manifest or b""
    if sha256_hex(manifest) != found.checkpoint.manifest_sha256:
        yield StartupCheck(checks.DIGEST, MANIFEST_PATH)
    gone = _gone(found, known)
    for check in known.failed:
        is_gone = check.code in _ABSENT and check.path in gone
        yield StartupCheck(gone[check.path], check.path) if is_gone else check
    if not known.entries:
        return
    for path in known.entries.keys() - found.files.keys():
        yield StartupCheck(gone.get(path, checks.MISSING), path)
    for path, file in found.files.items():
        entry = known.entries.get(path)
        if entry is None:
            yield StartupCheck(checks.UNDECLARED, path)
        if fold(file.scope) not in known.scopes:
            yield StartupCheck(checks.SCOPE, path)
        if entry is not None:
            yield from _listed(file, entry)


def _gone(found: Found, known: Declared) -> dict[str, str]:
    """The paths at which nothing stands any more, each with the check that says why."""
    listed = {record_id: path for path, record_id in known.records.items()}
    gone = {}
    for record_id, revision in found.revisions.items():
        path = listed.get(record_id) or _path_of(found, record_id)
        if revision.change == "tombstone":
            gone[path] = checks.TOMBSTONE
        elif revision.content is None:
            gone[path] = checks.ERASED
    return gone


def _listed(file: PackageFile, entry: FileEntry) -> Iterator[StartupCheck]:
    """What the manifest lists of a file; a placeholder digest says nothing."""
    if entry.size_bytes != file.size_bytes:
        yield StartupCheck(checks.SIZE, file.path)
    if entry.sha256 not in (file.sha256, SENTINEL):
        yield StartupCheck(checks.DIGEST, file.path)


def _triggered(found: Found, wanted: Wanted) -> Iterator[StartupCheck]:
    for path in wanted.triggered:
        if path not in found.files:
            yield StartupCheck(checks.TRIGGER, path)


def _references(found: Found) -> Iterator[StartupCheck]:
    records = {file.record_id for file in found.files.values()}
    for row in found.pointing:
        # A path with a space in it can only be told where it stands alone.
        if row.value in found.files:
            continue
        paths, ids = pointed_at(row.value)
        missing = [path for path in paths if path not in found.files]
        missing += [f"record:{one}" for one in ids if one not in records]
        revision = found.revisions.get(row.record_id)
        for target in missing:
            body = b"" if revision is None else revision.content or b""
            line = line_of(body, row.label, target)
            yield StartupCheck(checks.REFERENCE, _path_of(found, row.record_id), line)


def _indexes(found: Found, wanted: Wanted, scope: ScopeId) -> Iterator[StartupCheck]:
    for index in wanted.indexes:
        if not covers(index, scope, wanted.package_id, found.changed_at):
            yield StartupCheck(checks.INDEX, index.name)


def _order(found: Found, wanted: Wanted) -> list[PackageFile]:
    """The files that load, in start-up order."""
    order = startup_order(
        found.files, triggered=wanted.triggered, ruleset=found.checkpoint.ruleset
    )
    return [found.files[path] for path in order]


def _loaded(file: PackageFile, revision: Revision, content: bytes) -> Loaded:
    sha256 = sha256_hex(content)
    facts = facts_of(content, sha256, file.media_type)
    return Loaded(file, revision, content, sha256, facts)


def _record(found: Found, one: Loaded) -> Iterator[StartupCheck]:
    """The checks of one record that loads."""
    file, revision = one.file, one.revision
    rules = ruleset_named(found.checkpoint.ruleset)
    if one.sha256 != revision.sha256:
        yield StartupCheck(checks.DIGEST, file.path)
    if len(one.content) != revision.size_bytes:
        yield StartupCheck(checks.SIZE, file.path)
    canonical = revision.canonical_sha256
    if canonical and canonical != one.facts.canonical_sha256:
        yield StartupCheck(checks.MEANING, file.path)
    if revision.startup_order != rules.startup_key(file.path)[0]:
        yield StartupCheck(checks.ORDER, file.path)
    if file.review_state not in GOOD:
        yield StartupCheck(checks.REVIEW, file.path)


def _is_whole(found: Found) -> bool:
    """Whether the files together are those that the checkpoint was made of."""
    measured = ((f.path, f.size_bytes, f.sha256) for f in found.files.values())
    return files_digest(measured) == found.checkpoint.files_sha256
