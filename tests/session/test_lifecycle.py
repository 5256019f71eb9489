"""Laws of restore, clone and update: identity, lineage, order and anchors."""

from __future__ import annotations

import hashlib
import json
import uuid
from typing import TYPE_CHECKING

import attrs
import pytest
from tests.packages.package_maker import MANIFEST, Maker

from uaix_core import (
    AcceptancePolicy,
    Authorisation,
    CallerError,
    ConflictError,
    NotFoundError,
    PackageRefusedError,
    PackageSource,
    Session,
)
from uaix_core.schema.commits import Commit

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from uaix_core import Store
    from uaix_core.history.relations import Revision

ID = "made-by-code"
NOTE = ".uai/notes.uai"
TOTEM = ".uai/totem.uai"


def package(note: bytes = b"A first note.\n", **manifest: object) -> Maker:
    """A universal package with one further file."""
    maker = Maker()
    maker.add(NOTE, note)
    maker.manifest |= manifest
    return maker


def replaced(maker: Maker, path: str, data: bytes) -> Maker:
    """The same package with another body in one file."""
    entry = maker.entry(path)
    maker.files[path] = data
    entry |= {"sizeBytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return maker


def based_on(maker: Maker) -> str:
    """The checkpoint that an edit of this package names."""
    return hashlib.sha256(maker.manifest_bytes()).hexdigest()


def position(session: Session) -> int:
    """How many commits the session's scope has."""
    with session.store.snapshot(session.scope) as snapshot:
        return snapshot.position


def heads(session: Session) -> dict[str, tuple[int, str]]:
    """The number of the current revision and its change, by path, tombstones too."""
    found: dict[str, tuple[int, str]] = {}
    for revision in session.packages.history(ID).revisions:
        found[revision.path or ""] = (revision.number, revision.change)
    return found


def test_an_update_revises_what_changed_and_nothing_else(session: Session) -> None:
    """Only files that differ get a revision, each the child of the one before."""
    first, second = package(), package(b"A second note.\n")
    session.packages.install(first.archive())

    updated = session.packages.update(second.archive(), based_on=based_on(first))

    assert ("update", "quarantined", 2) == (
        updated.operation,
        updated.state,
        updated.seq,
    )
    history = session.packages.history(ID)
    changed = [r for r in history.revisions if r.version == updated.seq]
    assert [(NOTE, 2, "replace")] == [(r.path, r.number, r.change) for r in changed]
    before = next(r for r in history.revisions if r.path == NOTE and r.number == 1)
    assert before.revision_id == changed[0].parent_revision_id
    assert [1, 2] == [c.number for c in history.checkpoints]
    assert (None, history.checkpoints[0].checkpoint_id) == tuple(
        c.parent_checkpoint_id for c in history.checkpoints
    )
    assert second.files[NOTE] == session.packages.export(ID).files[NOTE]
    assert second.manifest_bytes() == session.packages.export(ID).files[MANIFEST]


def test_a_package_may_carry_its_base(session: Session) -> None:
    """The checkpoint may be named by the package itself."""
    first = package()
    session.packages.install(first.archive())
    second = package(b"Another.\n", basedOn=based_on(first))

    assert 2 == session.packages.update(second.archive()).seq


def test_added_removed_and_returned_files(session: Session) -> None:
    """A file that goes leaves a tombstone; one that comes in its place is another."""
    one, two, three = package(), Maker(), Maker()
    three.add(NOTE, b"Back again.\n", stableId="another")
    two.add(".uai/other.uai", b"Other.\n")
    session.packages.install(one.archive())

    session.packages.update(two.archive(), based_on=based_on(one))
    assert (2, "tombstone") == heads(session)[NOTE]
    assert (1, "create") == heads(session)[".uai/other.uai"]
    assert NOTE not in session.packages.export(ID).files

    session.packages.update(three.archive(), based_on=based_on(two))
    assert (1, "create") == heads(session)[NOTE]
    assert (2, "tombstone") == heads(session)[".uai/other.uai"]
    assert three.files[NOTE] == session.packages.export(ID).files[NOTE]


def test_a_file_that_carries_its_id_may_move(session: Session) -> None:
    """A record keeps its history when its path changes."""
    one, two = package(), Maker()
    one.entry(NOTE)["stableId"] = "note-1"
    two.add(".uai/notes-moved.uai", one.files[NOTE], stableId="note-1")
    session.packages.install(one.archive())

    session.packages.update(two.archive(), based_on=based_on(one))

    history = session.packages.history(ID).revisions
    assert [(1, NOTE), (2, ".uai/notes-moved.uai")] == [
        (r.number, r.path) for r in history if r.record_id == "note-1"
    ]


def test_two_files_can_not_be_one_record(session: Session) -> None:
    """A carried id that is another file's own is refused, nothing is lost."""
    maker = package()
    namespace = uuid.uuid5(uuid.NAMESPACE_URL, f"urn:uaix:package:{ID}")
    maker.entry(NOTE)["stableId"] = str(uuid.uuid5(namespace, TOTEM))

    with pytest.raises(CallerError) as caught:
        session.packages.install(maker.archive())

    assert "id.stable-repeated" == caught.value.code
    assert 0 == position(session)


@pytest.mark.parametrize("named", ["first", "unknown", "none", "two"])
def test_a_stale_or_missing_base_is_refused(session: Session, named: str) -> None:
    """Only the current checkpoint can be continued; anything else changes nothing."""
    one, two, three = package(), package(b"2\n"), package(b"3\n")
    session.packages.install(one.archive())
    session.packages.update(two.archive(), based_on=based_on(one))
    before = position(session)
    bases = {
        "first": based_on(one),
        "unknown": "a" * 64,
        "none": None,
        "two": based_on(two),
    }
    if named == "two":
        three.manifest["basedOn"] = based_on(one)

    with pytest.raises((ConflictError, CallerError)) as caught:
        session.packages.update(three.archive(), based_on=bases[named])

    stale = named in ("first", "unknown")
    assert ("package.stale" if stale else "update.based-on") == caught.value.code
    assert before == position(session)
    assert two.files[NOTE] == session.packages.export(ID).files[NOTE]


def test_created_utc_is_evidence_and_no_order(session: Session) -> None:
    """A package from the year 9999 doesn't shut out its successors."""
    one = package()
    far = package(b"2\n", createdUtc="9999-12-31T23:59:59Z")
    late = package(b"3\n", createdUtc="2020-01-01T00:00:00Z")
    session.packages.install(one.archive())

    answer = session.packages.update(far.archive(), based_on=based_on(one))
    assert "time.future" in {finding.code for finding in answer.notices}

    session.packages.update(late.archive(), based_on=based_on(far))
    assert late.files[NOTE] == session.packages.export(ID).files[NOTE]


@pytest.mark.every_backend
def test_an_exact_retry_of_an_update_writes_nothing(session: Session) -> None:
    """The same update again, with or without its key, gives the first answer."""
    one, two = package(), package(b"2\n")
    session.packages.install(one.archive())
    first = session.packages.update(two.archive(), based_on=based_on(one), key="k")
    before = position(session)

    for key in ("k", None):
        again = session.packages.update(two.archive(), based_on=based_on(one), key=key)
        assert (first.receipt, first.seq, False) == (
            again.receipt,
            again.seq,
            again.is_first,
        )
    assert before == position(session)


def test_what_is_not_there_is_not_updated(session: Session) -> None:
    """An update needs a package to continue."""
    with pytest.raises(NotFoundError):
        session.packages.update(package().archive(), based_on="a" * 64)


@pytest.mark.parametrize(
    "path", [".uai/totem.uai", ".uai/taboo.uai", ".uai/talisman.uai"]
)
def test_anchors_change_only_with_an_authorisation(session: Session, path: str) -> None:
    """Without the human's word for path and operation a protected anchor stays."""
    one = package()
    session.packages.install(one.archive())
    two = replaced(package(), path, b"Something weaker.\n")
    wrong = [Authorisation(path, "tombstone")]

    for authorisations in ([], wrong):
        with pytest.raises(PackageRefusedError) as caught:
            session.packages.update(
                two.archive(), based_on=based_on(one), authorisations=authorisations
            )
        assert {("anchor.mutation", path)} == {
            (f.code, f.path)
            for f in caught.value.report.findings
            if f.severity == "error"
        }
        assert one.files[path] == session.packages.export(ID).files[path]

    right = [Authorisation(path, "replace")]
    answer = session.packages.update(
        two.archive(), based_on=based_on(one), authorisations=right
    )
    assert two.files[path] == session.packages.export(ID).files[path]
    details = json.loads(session.packages.receipt(answer.receipt).details or "")
    assert [[path, "replace"]] == details["authorisations"]


def test_the_metadata_of_an_anchor_is_protected_too(session: Session) -> None:
    """Renaming an anchor's record is a change of the anchor."""
    one = package()
    session.packages.install(one.archive())
    two = package()
    two.entry(TOTEM)["source"] = "somebody else"

    with pytest.raises(PackageRefusedError):
        session.packages.update(two.archive(), based_on=based_on(one))


@pytest.mark.parametrize(
    ("path", "operation"), [(NOTE, "replace"), (TOTEM, "delete"), ("", "replace")]
)
def test_an_authorisation_is_for_an_anchor(path: str, operation: str) -> None:
    """There is no authorisation for other paths or operations."""
    with pytest.raises(CallerError):
        Authorisation(path, operation)  # type: ignore[arg-type]


def test_restore_keeps_the_identity(session: Session) -> None:
    """A restored package keeps its ids and bytes, and its receipt says so."""
    maker = package()
    maker.entry(NOTE)["stableId"] = "note-1"

    restored = session.packages.restore(maker.archive())

    assert ("restore", ID) == (restored.operation, restored.package_id)
    details = json.loads(session.packages.receipt(restored.receipt).details or "")
    assert "restored existing persona" == details["note"]
    ids = {f.path: f.record_id for f in session.packages.show(ID).files}
    assert "note-1" == ids[NOTE]
    assert maker.files[NOTE] == session.packages.export(ID).files[NOTE]


def test_restore_of_what_stands_leaves_only_a_receipt(session: Session) -> None:
    """Restoring the very same package changes nothing but adds a receipt."""
    session.packages.install(package().archive())
    shown = session.packages.show(ID)

    session.packages.restore(package().archive(), key="k")
    session.packages.restore(package().archive(), key="k")

    assert shown == session.packages.show(ID)
    operations = [entry.operation for entry in session.packages.receipts(ID)]
    assert ["install", "restore"] == operations


def test_an_older_checkpoint_never_becomes_the_head(session: Session) -> None:
    """Restoring what was superseded is a rollback and refused."""
    one, two = package(), package(b"2\n")
    session.packages.install(one.archive())
    session.packages.update(two.archive(), based_on=based_on(one))

    with pytest.raises(ConflictError) as caught:
        session.packages.restore(one.archive())
    assert "package.rollback" == caught.value.code

    with pytest.raises(ConflictError) as caught:
        session.packages.restore(package(b"3\n").archive())
    assert "package.conflict" == caught.value.code
    assert two.files[NOTE] == session.packages.export(ID).files[NOTE]


@pytest.mark.parametrize("inside", [True, False])
def test_a_clone_has_an_identity_of_its_own(session: Session, inside: bool) -> None:
    """A clone has new ids, the same bytes, and its lineage; the original stays."""
    maker = package()
    session.packages.install(maker.archive())
    shown = session.packages.show(ID)

    answer = session.packages.clone(ID if inside else maker.archive())

    assert "clone" == answer.operation
    assert answer.package_id != ID
    assert shown == session.packages.show(ID)
    copy = session.packages.show(answer.package_id)
    assert set() == {f.record_id for f in shown.files} & {
        f.record_id for f in copy.files
    }
    exported = session.packages.export(answer.package_id).files
    assert maker.files == {p: b for p, b in exported.items() if p != MANIFEST}
    lineage = session.packages.descendants(ID)
    assert [answer.package_id] == [row.package_id for row in lineage]
    assert inside == (lineage[0].from_checkpoint_id is not None)


def test_a_clone_may_be_named_and_never_twice(session: Session) -> None:
    """A taken id refuses the clone and changes nothing."""
    session.packages.install(package().archive())
    assert "twin" == session.packages.clone(ID, package_id="twin").package_id
    before = position(session)

    with pytest.raises(ConflictError):
        session.packages.clone(ID, package_id="twin")
    for bad in (ID, "", "a b", "\ud800"):
        with pytest.raises(CallerError):
            session.packages.clone(ID, package_id=bad)
    with pytest.raises(CallerError):
        session.packages.clone(package().archive(), package_id=ID)
    assert before == position(session)


def test_a_clone_of_nothing_is_not_found(session: Session) -> None:
    """Only what is there can be cloned."""
    with pytest.raises(NotFoundError):
        session.packages.clone("no-such-package")


def test_a_refused_package_is_not_cloned(session: Session) -> None:
    """A package from outside is judged before it is cloned."""
    maker = package()
    maker.files["extra.uai"] = b"x"

    with pytest.raises(PackageRefusedError):
        session.packages.clone(maker.archive())

    assert ["refused"] == [entry.outcome for entry in session.packages.receipts()]


def erase(session: Session, relation: str, key: str) -> None:
    """Erase one row by its id."""
    session.store.append(Commit(session.scope, 0, erases=((relation, (key,)),)))


def note_of(session: Session) -> Revision:
    """The first revision of the note."""
    return next(r for r in session.packages.history(ID).revisions if r.path == NOTE)


@pytest.mark.every_backend
def test_an_update_makes_an_erased_file_stand_again(session: Session) -> None:
    """A new revision stands in the place of an erased one, chained to it."""
    one, two = package(), package(b"2\n")
    session.packages.install(one.archive())
    erased = note_of(session).revision_id
    erase(session, "revision", erased)

    session.packages.update(two.archive(), based_on=based_on(one))

    assert two.files[NOTE] == session.packages.export(ID).files[NOTE]
    latest = session.packages.history(ID).revisions[-1]
    assert (NOTE, 2, erased) == (
        latest.path,
        latest.number,
        latest.parent_revision_id,
    )


@pytest.mark.parametrize("verb", ["install", "restore"])
@pytest.mark.parametrize("relation", ["revision", "checkpoint"])
def test_what_was_erased_is_not_answered_for(
    session: Session, verb: str, relation: str
) -> None:
    """No verb answers success for a package with a hole; an update mends it."""
    one = package()
    session.packages.install(one.archive())
    history = session.packages.history(ID)
    checkpoint = history.checkpoints[0].checkpoint_id
    key = note_of(session).revision_id if relation == "revision" else checkpoint
    erase(session, relation, key)
    before = position(session)

    with pytest.raises(CallerError) as caught:
        getattr(session.packages, verb)(one.archive())
    assert "package.erased" == caught.value.code
    assert before == position(session)

    session.packages.update(one.archive(), based_on=checkpoint)
    assert one.files[NOTE] == session.packages.export(ID).files[NOTE]


@pytest.mark.every_backend
def test_a_removed_file_that_was_erased_leaves_a_tombstone(session: Session) -> None:
    """A record goes on from erasure to removal, and what returns is another one."""
    one, two, three = package(), Maker(), Maker()
    three.add(NOTE, b"back\n", stableId="another")
    session.packages.install(one.archive())
    note = note_of(session)
    erase(session, "revision", note.revision_id)

    session.packages.update(two.archive(), based_on=based_on(one))
    session.packages.update(three.archive(), based_on=based_on(two))

    assert [(1, "create"), (2, "tombstone")] == [
        (r.number, r.change)
        for r in session.packages.history(ID).revisions
        if r.record_id == note.record_id
    ]
    assert "another" == session.packages.record(ID, NOTE).head.record_id


def test_an_empty_file_is_no_tombstone(session: Session) -> None:
    """A file that becomes empty is a revision like any other, and goes on."""
    one, two, three = package(), package(b""), package(b"3\n")
    session.packages.install(one.archive())
    session.packages.update(two.archive(), based_on=based_on(one))
    assert (2, "replace") == heads(session)[NOTE]
    assert b"" == session.packages.export(ID).files[NOTE]

    session.packages.update(three.archive(), based_on=based_on(two))

    assert (3, "replace") == heads(session)[NOTE]


def test_back_to_an_earlier_content_and_again(session: Session) -> None:
    """After A, B and A again the second A is what retries and restores answer for."""
    one, two = package(), package(b"2\n")
    session.packages.install(one.archive())
    session.packages.update(two.archive(), based_on=based_on(one))
    again = session.packages.update(one.archive(), based_on=based_on(two))

    retried = session.packages.update(one.archive(), based_on=based_on(two))
    restored = session.packages.restore(one.archive())

    assert (again.receipt, False) == (retried.receipt, retried.is_first)
    assert again.checkpoint_id == restored.checkpoint_id


def test_a_path_is_inherited_only_from_a_record_that_stays(session: Session) -> None:
    """A new file may take the place of one that moves away in the same update."""
    one, two = package(), package(b"fresh\n")
    one.entry(NOTE)["stableId"] = "moving"
    two.add(".uai/moved.uai", one.files[NOTE], stableId="moving")
    session.packages.install(one.archive())

    session.packages.update(two.archive(), based_on=based_on(one))

    ids = {f.path: f.record_id for f in session.packages.show(ID).files}
    assert "moving" == ids[".uai/moved.uai"] != ids[NOTE]


class Interrupting:
    """A store in which something happens between a decision and its commit."""

    def __init__(self, store: Store, meanwhile: Callable[[], object]) -> None:
        self._store, self._meanwhile = store, [meanwhile]

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def append(self, commit: Commit) -> object:
        """Let it happen once, then append."""
        while self._meanwhile:
            self._meanwhile.pop()()
        return self._store.append(commit)


def interrupted(session: Session, meanwhile: Callable[[], object]) -> Session:
    """The same session over a store in which something comes between."""
    return attrs.evolve(session, store=Interrupting(session.store, meanwhile))


@pytest.mark.every_backend
def test_a_restore_doubts_what_it_read(session: Session) -> None:
    """A package that moves on while it is restored is a rollback."""
    one, two = package(), package(b"2\n")
    session.packages.install(one.archive())
    late = interrupted(
        session,
        lambda: session.packages.update(two.archive(), based_on=based_on(one)),
    )

    with pytest.raises(ConflictError) as caught:
        late.packages.restore(one.archive())

    assert "package.rollback" == caught.value.code


@pytest.mark.every_backend
def test_a_clone_brings_nothing_back_that_was_erased(session: Session) -> None:
    """What is erased while a package is cloned doesn't come back in the clone."""
    session.packages.install(package(b"forget me\n").archive())
    late = interrupted(
        session, lambda: erase(session, "revision", note_of(session).revision_id)
    )

    with pytest.raises(CallerError) as caught:
        late.packages.clone(ID)

    assert "package.erased" == caught.value.code
    assert [ID] == [row.package_id for row in session.packages.list()]


def test_a_clone_keeps_the_spelling_of_its_manifest(session: Session) -> None:
    """Of the manifest only the values that have to differ do, and it grows little."""
    maker = package(basedOn="a" * 64)
    text = json.dumps(maker.manifest, separators=(",", ":"))
    maker.raw = (text[:-1] + ',"zz":[1e-400,0.1000000000000000055,1E2]}').encode()
    session.packages.install(maker.archive())

    clone = session.packages.clone(ID)

    manifest = session.packages.export(clone.package_id).files[MANIFEST]
    assert manifest.endswith(b'"zz":[1e-400,0.1000000000000000055,1E2]}')
    wire = json.loads(manifest)
    assert "basedOn" not in wire
    assert clone.package_id == wire["packageId"]
    assert len(manifest) < len(maker.raw) + 70 * len(wire["files"])


@pytest.mark.every_backend
def test_a_key_is_bound_by_its_first_answer(session: Session) -> None:
    """A key that came with a request which was done before stands for that request."""
    one, two = package(), package(b"2\n")
    session.packages.install(one.archive())
    session.packages.install(one.archive(), key="k")
    with pytest.raises(CallerError) as caught:
        session.packages.install(package(b"x\n", packageId="other").archive(), key="k")
    assert "idempotency.reused" == caught.value.code

    session.packages.update(two.archive(), based_on=based_on(one))
    answer = session.packages.update(two.archive(), based_on=based_on(one), key="u")
    three = package(b"3\n")
    session.packages.update(three.archive(), based_on=based_on(two))
    again = session.packages.update(two.archive(), based_on=based_on(one), key="u")
    assert answer.receipt == again.receipt


def test_a_key_stands_for_all_that_was_given(session: Session) -> None:
    """The same key with another base or other authorisations is another request."""
    one, two = package(), package(b"2\n")
    session.packages.install(one.archive())
    session.packages.update(two.archive(), based_on=based_on(one), key="k")

    for more in (
        {"based_on": "f" * 64},
        {
            "based_on": based_on(one),
            "authorisations": [Authorisation(TOTEM, "replace")],
        },
    ):
        with pytest.raises(CallerError) as caught:
            session.packages.update(two.archive(), key="k", **more)
        assert "idempotency.reused" == caught.value.code


def test_a_retry_is_answered_whatever_the_policy_says_now(session: Session) -> None:
    """A policy is for new changes: what was accepted before keeps its answer."""
    first = session.packages.install(package().archive(), key="k")
    session.packages.set_policy(AcceptancePolicy(issuers={"nobody"}))

    for key in ("k", None):
        again = session.packages.install(package().archive(), key=key)
        assert first.receipt == again.receipt


def test_the_sample_sequences(
    session_of: Callable[[str], Session], sample_packages: Path
) -> None:
    """Each step of a sample sequence ends as its index says."""
    index = (sample_packages / "index.jsonl").read_text(encoding="utf-8")
    entries = [e for e in map(json.loads, index.splitlines()) if "sequence" in e]

    def step(name: str, number: int) -> PackageSource:
        entry = next(e for e in entries if (e["sequence"], e["step"]) == (name, number))
        data = (sample_packages / entry["name"]).read_bytes()
        return PackageSource(name=entry["name"], archive=data)

    def manifest_digest(session: Session, package_id: str) -> str:
        digest = session.packages.show(package_id).package.manifest_sha256
        assert digest is not None
        return digest

    retry = session_of("t/project/retry")
    first = retry.packages.install(step("retry", 1))
    assert first.receipt == retry.packages.install(step("retry", 2)).receipt
    assert 1 == position(retry)

    for name in ("same-id", "rollback"):
        session = session_of(f"t/project/{name}")
        installed = session.packages.install(step(name, 1))
        head = manifest_digest(session, installed.package_id)
        with pytest.raises(ConflictError):
            session.packages.install(step(name, 2))
        assert head == manifest_digest(session, installed.package_id)

    forward = session_of("t/project/fast-forward")
    installed = forward.packages.install(step("fast-forward", 1))
    for number in (2, 3):
        base = manifest_digest(forward, installed.package_id)
        answer = forward.packages.update(step("fast-forward", number), based_on=base)
        flagged = "time.future" in {finding.code for finding in answer.notices}
        assert (number == 2) == flagged

    mix = session_of("t/project/mix")
    one = mix.packages.install(step("mix", 1))
    shown = mix.packages.show(one.package_id)
    other = mix.packages.install(step("mix", 2))
    assert one.package_id != other.package_id
    assert shown == mix.packages.show(one.package_id)

    case = session_of("t/project/id-case")
    ids = [case.packages.install(step("id-case", n)).package_id for n in (1, 2)]
    assert ["pack-id", "PACK-ID"] == ids
