"""Laws of the package verbs: install, export, retries, refusals, receipts."""

from __future__ import annotations

import hashlib
import io
import json
import uuid
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
from tests.packages.package_maker import Maker

from uaix_core import (
    CallerError,
    ConflictError,
    Limits,
    NotFoundError,
    PackageRefusedError,
    PackageSource,
    Session,
)
from uaix_core.history.idempotency import KEPT_FOR
from uaix_core.schema.commits import Commit
from uaix_core.schema.relations import Keep
from uaix_core.store.scanning import all_rows
from uaix_core.values.canonical import canonical_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.session.conftest import FrozenClock

PERSONA = Maker("advanced_persona_profile")
ID = "made-by-code"


def refused() -> PackageSource:
    """A package with a file that its manifest doesn't list."""
    maker = Maker()
    maker.files[".uai/extra.uai"] = b"canary-of-a-refused-package"
    return maker.archive()


def edited() -> PackageSource:
    """The universal package under the same id with another body."""
    maker = Maker()
    maker.drop(".uai/totem.uai")
    maker.add(
        ".uai/totem.uai", b"Another totem.\n", requiredStatus="universal_required"
    )
    return maker.archive()


def position(session: Session) -> int:
    """How many commits the session's scope has."""
    with session.store.snapshot(session.scope) as snapshot:
        return snapshot.position


@pytest.mark.every_backend
@pytest.mark.parametrize(
    "scopes", [(), ("persona_profile",), ("advanced_persona_profile",)]
)
def test_export_gives_back_every_byte(
    session: Session, scopes: tuple[str, ...]
) -> None:
    """What was installed is exported file by file, the manifest included."""
    maker = Maker(*scopes)
    session.packages.install(maker.archive(zipfile.ZIP_DEFLATED))

    exported = session.packages.export(ID)

    expected = {**maker.files, ".uai/manifest.uaix.json": maker.manifest_bytes()}
    assert expected == dict(exported.files)
    assert exported.archive is not None
    with zipfile.ZipFile(io.BytesIO(exported.archive)) as archive:
        assert expected == {name: archive.read(name) for name in archive.namelist()}
        assert sorted(expected) == archive.namelist()


def test_a_folder_and_its_archive_are_one_package(session: Session) -> None:
    """Installing the folder after the archive is an exact retry."""
    first = session.packages.install(PERSONA.archive())
    again = session.packages.install(PERSONA.folder())

    assert (first.receipt, False) == (again.receipt, again.is_first)
    assert session.packages.export(ID, form="folder").archive is None


def test_export_then_install_elsewhere_is_the_same_package(
    session_of: Callable[[str], Session],
) -> None:
    """An export installs into another scope and exports the same bytes again."""
    one, other = session_of("acme/project/one"), session_of("acme/project/two")
    one.packages.install(PERSONA.archive())
    first = one.packages.export(ID)

    other.packages.install(PackageSource(name="x.uaix", archive=first.archive))

    assert first.archive == other.packages.export(ID).archive


def test_an_install_is_quarantined_whatever_it_claims(session: Session) -> None:
    """A package can't approve itself."""
    maker = Maker()
    maker.manifest["status"] = "active"
    for entry in maker.manifest["files"]:
        entry["reviewState"] = "approved"

    installed = session.packages.install(maker.archive())

    assert "quarantined" == installed.state
    files = session.packages.show(ID).files
    assert {"review_required"} == {file.review_state for file in files}


@pytest.mark.parametrize("where", ["file", "package"])
def test_a_sentinel_waits_for_review(session: Session, where: str) -> None:
    """A placeholder digest is computed, stored and never taken as evidence."""
    maker = Maker()
    if where == "file":
        maker.entry(".uai/totem.uai")["sha256"] = "0" * 64
    else:
        maker.manifest["integrity"]["packageDigest"] = "0" * 64

    assert "review_required" == session.packages.install(maker.archive()).state

    files = {file.path: file for file in session.packages.show(ID).files}
    body = maker.files[".uai/totem.uai"]
    assert hashlib.sha256(body).hexdigest() == files[".uai/totem.uai"].sha256


@pytest.mark.every_backend
def test_an_exact_retry_writes_nothing(session: Session) -> None:
    """The same package again returns the first receipt and adds no commit."""
    first = session.packages.install(PERSONA.archive(), key="k-1")
    before = position(session)

    for key in (None, "k-1", "k-2"):
        again = session.packages.install(PERSONA.archive(), key=key)
        assert (first.receipt, first.seq) == (again.receipt, again.seq)
    assert before == position(session)


def test_a_key_with_another_package_is_refused(session: Session) -> None:
    """One idempotency key stands for one request, and nothing is written."""
    session.packages.install(PERSONA.archive(), key="k")
    before = position(session)

    with pytest.raises(CallerError) as caught:
        session.packages.install(Maker("persona_profile").archive(), key="k")

    assert "idempotency.reused" == caught.value.code
    assert before == position(session)


@pytest.mark.parametrize(("after", "kept"), [(KEPT_FOR - 1, True), (KEPT_FOR, False)])
def test_a_key_is_kept_thirty_days(
    session: Session, clock: FrozenClock, after: int, kept: bool
) -> None:
    """Up to thirty days a key is remembered, from then on it is free again."""
    session.packages.install(Maker().archive(), key="k")
    clock.at += after
    other = Maker()
    other.manifest["packageId"] = "other"

    if kept:
        with pytest.raises(CallerError):
            session.packages.install(other.archive(), key="k")
    else:
        assert session.packages.install(other.archive(), key="k").is_first


@pytest.mark.every_backend
def test_keys_live_per_scope(session_of: Callable[[str], Session]) -> None:
    """The same key in another scope is another key."""
    session_of("acme/project/one").packages.install(PERSONA.archive(), key="k")

    assert (
        session_of("acme/project/two")
        .packages.install(Maker().archive(), key="k")
        .is_first
    )


@pytest.mark.parametrize("key", ["", "a" * 201, "a\nb", "\u202e"])
def test_a_bad_key_is_refused(session: Session, key: str) -> None:
    """An empty, overlong or unprintable key is refused before anything is read."""
    with pytest.raises(CallerError) as caught:
        session.packages.install(PERSONA.archive(), key=key)

    assert "idempotency.key" == caught.value.code
    assert 0 == position(session)


def test_one_id_with_other_content_is_a_conflict(session: Session) -> None:
    """A taken id is never overwritten by other content: the head stays."""
    session.packages.install(Maker().archive())
    before = position(session)

    with pytest.raises(ConflictError) as caught:
        session.packages.install(edited())

    assert "package.conflict" == caught.value.code
    assert before == position(session)
    assert (
        Maker().files[".uai/totem.uai"]
        == (session.packages.export(ID).files[".uai/totem.uai"])
    )


@pytest.mark.every_backend
def test_ids_are_case_sensitive(session: Session) -> None:
    """Ids that differ in letter case only are different packages."""
    maker = Maker()
    maker.manifest["packageId"] = ID.upper()
    session.packages.install(Maker().archive())

    assert session.packages.install(maker.archive()).is_first
    assert [ID.upper(), ID] == [p.package_id for p in session.packages.list()]


@pytest.mark.every_backend
def test_a_refusal_leaves_a_receipt_and_nothing_else(session: Session) -> None:
    """Nothing of a refused package is stored, and its receipt names codes only."""
    with pytest.raises(PackageRefusedError) as caught:
        session.packages.install(refused(), key="k")

    receipt = session.packages.receipt(caught.value.receipt)
    assert ("refused", None) == (receipt.outcome, receipt.package_id)
    assert receipt.details is not None
    details = json.loads(receipt.details)
    assert {"inventory.undeclared": 1} == {
        code: n for code, n in details["findings"].items() if "undeclared" in code
    }
    kept = rows(session)
    assert ["receipt", "receipt_entry"] == sorted(kept)
    assert not [r for r in session.packages.list() if r.package_id == ID]


def rows(session: Session) -> dict[str, list[Any]]:
    """All HISTORY and VIEW rows of the session's scope, by relation."""
    found = {}
    with session.store.snapshot(session.scope) as snapshot:
        for relation in session.store.schema.kept(Keep.HISTORY, Keep.VIEW):
            if every := list(all_rows(snapshot, relation)):
                found[relation.name] = every
    return found


def test_a_refusal_leaves_its_key_free(session: Session) -> None:
    """After a refusal the mended package may come under the same key."""
    with pytest.raises(PackageRefusedError):
        session.packages.install(refused(), key="k")

    assert session.packages.install(Maker().archive(), key="k").is_first


@pytest.mark.every_backend
def test_receipts_tell_who_when_and_which_bytes(
    session: Session, clock: FrozenClock
) -> None:
    """Each operation leaves a receipt with raw and canonical digests."""
    source = PERSONA.archive()
    assert source.archive is not None
    session.packages.install(source)
    clock.at += 1
    session.packages.export(ID)

    entries = session.packages.receipts(ID)
    assert ["install", "export"] == [entry.operation for entry in entries]
    assert {"alice"} == {entry.actor_id for entry in entries}
    assert [clock.at - 1, clock.at] == [entry.recorded_at for entry in entries]
    details = json.loads(session.packages.receipt(entries[0].receipt_id).details or "")
    raw = PERSONA.manifest_bytes()
    assert hashlib.sha256(source.archive).hexdigest() == details["archive_sha256"]
    assert hashlib.sha256(raw).hexdigest() == details["manifest_sha256"]
    canonical = hashlib.sha256(canonical_bytes(json.loads(raw))).hexdigest()
    assert canonical == details["manifest_canonical_sha256"]


@pytest.mark.every_backend
def test_receipts_page_by_time(session: Session, clock: FrozenClock) -> None:
    """Pages of receipts join to all of them, each once, in order of time."""
    session.packages.install(Maker().archive())
    for _ in range(4):
        clock.at += 1
        session.packages.export(ID)

    found, after = [], None
    while page := session.packages.receipts(after=after, limit=2):
        found += page
        after = (page[-1].recorded_at, page[-1].receipt_id)
    assert 5 == len(found)
    assert sorted(found, key=lambda e: (e.recorded_at, e.receipt_id)) == found
    assert list(session.packages.receipts(ID)) == found


@pytest.mark.every_backend
def test_show_lists_files_in_start_up_order(session: Session) -> None:
    """Files come in the order in which they are loaded at start-up."""
    session.packages.install(PERSONA.archive())

    paths = [
        file.path
        for file in session.packages.show(ID).files
        if file.path.startswith(".uai/")
    ]

    assert ".uai/memory-maintenance.uai" == paths[0]
    assert [".uai/short-term-memory.uai", ".uai/persona.uai"] == paths[6:8]
    assert ".uai/personality/preservation-rules.uai" == paths[-1]


def test_record_ids_are_kept_or_derived(session: Session) -> None:
    """A file keeps the stableId it carries; without one it gets its own for good."""
    maker = Maker()
    maker.entry(".uai/totem.uai")["stableId"] = "my-totem"
    session.packages.install(maker.archive())

    ids = {file.path: file.record_id for file in session.packages.show(ID).files}
    assert "my-totem" == ids[".uai/totem.uai"]
    namespace = uuid.uuid5(uuid.NAMESPACE_URL, "urn:uaix:package:made-by-code")
    assert str(uuid.uuid5(namespace, ".uai/taboo.uai")) == ids[".uai/taboo.uai"]


def test_history_has_one_revision_a_file(session: Session) -> None:
    """A fresh package has one checkpoint and one first revision of each file."""
    session.packages.install(PERSONA.archive())

    history = session.packages.history(ID)

    assert [1] == [checkpoint.number for checkpoint in history.checkpoints]
    assert sorted(PERSONA.files) == sorted(r.path or "" for r in history.revisions)
    assert {(1, None)} == {(r.number, r.parent_revision_id) for r in history.revisions}


@pytest.mark.parametrize("verb", ["export", "show", "history"])
def test_a_missing_package_is_not_found(session: Session, verb: str) -> None:
    """Every verb says the same of a package that isn't there."""
    with pytest.raises(NotFoundError) as caught:
        getattr(session.packages, verb)("no-such-package")

    assert "package.not-found" == caught.value.code


@pytest.mark.every_backend
def test_scopes_are_apart(session_of: Callable[[str], Session]) -> None:
    """A package of one scope is not found from another."""
    session_of("acme/project/one").packages.install(PERSONA.archive())
    other = session_of("acme/project/two")

    assert [] == list(other.packages.list())
    with pytest.raises(NotFoundError):
        other.packages.export(ID)


@pytest.mark.every_backend
@pytest.mark.parametrize("relation", ["revision", "checkpoint"])
def test_an_erased_package_is_no_longer_exported(
    session: Session, relation: str
) -> None:
    """When any part of a package was erased, an export refuses: it leaves no hole."""
    session.packages.install(Maker().archive())
    history = session.packages.history(ID)
    key = (
        history.revisions[0].revision_id
        if relation == "revision"
        else history.checkpoints[0].checkpoint_id
    )
    session.store.append(Commit(session.scope, 0, erases=((relation, (key,)),)))

    with pytest.raises(CallerError) as caught:
        session.packages.export(ID)
    assert "package.erased" == caught.value.code


@pytest.mark.every_backend
def test_the_largest_count_of_files_installs(session: Session) -> None:
    """A package with as many files as the limit allows is stored in one commit."""
    maker = Maker()
    for i in range(4_096 - len(maker.files) - 1):
        maker.add(f".uai/notes-{i}.uai", b"x")

    session.packages.install(maker.archive())

    assert 1 == position(session)
    assert len(maker.files) == len(session.packages.show(ID).files)
    assert len(maker.files) + 1 == len(session.packages.export(ID).files)


@pytest.mark.parametrize("field", ["issuer", "status", "role", "extra", "key"])
def test_a_manifest_that_no_store_can_hold_is_refused(
    session: Session, field: str
) -> None:
    """A NUL anywhere in the manifest is a finding, and the refusal leaves a receipt."""
    maker = Maker()
    if field == "role":
        maker.entry(".uai/totem.uai")["role"] = "a\0b"
    elif field == "key":
        maker.manifest["a\0b"] = 1
    else:
        maker.manifest[field] = "a\0b"

    with pytest.raises(PackageRefusedError) as caught:
        session.packages.install(maker.archive())

    assert "manifest.nul" in {f.code for f in caught.value.report.findings}
    assert 1 == len(session.packages.receipts())


def test_what_raised_limits_let_in_comes_out(session: Session) -> None:
    """A package that was installed by raised limits is exported, updated and cloned."""
    limits = Limits(entries=16_384, path_depth=60, manifest_bytes=16 * 2**20)
    maker = Maker()
    maker.add(".uai/" + "d/" * 40 + "x.uai", b"deep\n")
    for i in range(Limits().entries):
        maker.add(f".uai/memory/f{i:05d}.uai", b"")
    session.packages.install(maker.folder(), limits=limits)

    exported = session.packages.export(ID)

    assert maker.files == {p: b for p, b in exported.files.items() if p in maker.files}
    again = PackageSource(archive=exported.archive)
    assert not session.packages.install(again, limits=limits).is_first


@pytest.mark.every_backend
def test_samples_round_trip(
    session_of: Callable[[str], Session], sample_packages: Path
) -> None:
    """Every accepted sample is installed, retried and exported byte for byte."""
    index = (sample_packages / "index.jsonl").read_text(encoding="utf-8")
    accepted = [
        e for e in map(json.loads, index.splitlines()) if e["expect"] == "accept"
    ]
    singles = [e for e in accepted if "sequence" not in e]
    assert len(singles) > 30

    for number, entry in enumerate(accepted):
        session = session_of(f"acme/project/p{number}")
        data = (sample_packages / entry["name"]).read_bytes()
        source = PackageSource(name=entry["name"], archive=data)
        installed = session.packages.install(source)
        assert entry["after"] == installed.state
        exported = session.packages.export(installed.package_id)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            assert {i.filename: archive.read(i) for i in archive.infolist()} == dict(
                exported.files
            )
