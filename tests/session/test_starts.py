"""Laws of start-up: a package starts whole and for its agent, or not at all."""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING
from unittest.mock import Mock

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.packages.package_maker import DIMENSIONS, MANIFEST, UNIVERSAL, Maker
from tests.session.conftest import Counter, FrozenClock
from tests.session.starting import (
    AGENT,
    DEFECTS,
    ID,
    Draft,
    Stub,
    advanced,
    dimension,
    draft_of,
    installed,
    planted,
    replace,
    reviewed,
    write_draft,
)
from tests.session.starting import (
    given as what_is_given,
)

from uaix_backends.memory import MemoryStore
from uaix_core import (
    Authorisation,
    CallerError,
    NotFoundError,
    PackageSource,
    Principal,
    ScopeId,
    Session,
    StartupCheck,
    StartupError,
)
from uaix_core.history.relations import REVISION, Revision
from uaix_core.schema.commits import Commit
from uaix_core.startup import body_facts, reading
from uaix_core.startup.checks import CHECKS
from uaix_core.startup.references import line_of
from uaix_core.store import scanning
from uaix_core.values.canonical import canonical_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from uaix_core import Store

ORDER = [
    *(f".uai/{stem}.uai" for stem in UNIVERSAL),
    ".uai/persona.uai",
    *map(dimension, DIMENSIONS),
]


def fresh() -> Session:
    """A session over an empty store of its own."""
    counter = Counter()
    return Session(
        MemoryStore(),
        scope=ScopeId.parse("acme/project/apollo"),
        principal=Principal.parse("human:alice"),
        clock=FrozenClock(),
        ids=counter,
        random=counter,
    )


def acting(session: Session, principal: str) -> Session:
    """The same session for another principal."""
    return attrs.evolve(session, principal=Principal.parse(principal))


def failed(session: Session, package_id: str = ID, **asked: object) -> set:
    """The code and path of every check that keeps a package from starting."""
    with pytest.raises(StartupError) as caught:
        session.start(package_id, **{"agent_id": AGENT, **asked})
    error = caught.value
    receipt = session.packages.receipt(error.receipt)
    details = json.loads(receipt.details)
    assert ("start", "refused", package_id) == (
        receipt.operation,
        receipt.outcome,
        receipt.package_id,
    )
    assert sum(details["findings"].values()) == len(error.checks)
    assert {check.code for check in error.checks} == set(details["findings"])
    assert sorted(set(error.checks)) == list(error.checks)
    return {(check.code, check.path) for check in error.checks}


@pytest.mark.every_backend
def test_a_package_starts_in_order_with_a_receipt(session: Session) -> None:
    """All registered files are given in start-up order, byte for byte, as stored."""
    maker = advanced()
    installed(session, maker)

    assembly = session.start(ID, agent_id=AGENT)

    assert ORDER == [record.path for record in assembly.records]
    assert list(range(1, 31)) == [record.position for record in assembly.records]
    rows = {file.path: file for file in session.packages.show(ID).files}
    for record in assembly.records:
        row, body = rows[record.path], maker.files[record.path]
        assert body == record.content == assembly.files[record.path]
        assert hashlib.sha256(body).hexdigest() == record.sha256
        assert (len(body), row.role, row.media_type) == (
            record.size_bytes,
            record.role,
            record.media_type,
        )
        assert (row.record_id, row.revision_id, row.canonical_sha256) == (
            record.record_id,
            record.revision_id,
            record.canonical_sha256,
        )
        assert () == record.blanked
    receipt = session.packages.receipt(assembly.receipt)
    assert (assembly.seq, "start", "accepted", ID, assembly.checkpoint_id) == (
        receipt.version,
        receipt.operation,
        receipt.outcome,
        receipt.package_id,
        receipt.checkpoint_id,
    )
    listed = [[record.path, record.sha256] for record in assembly.records]
    manifest = hashlib.sha256(maker.manifest_bytes()).hexdigest()
    assert {
        "agent_id": AGENT,
        "manifest_sha256": manifest,
        "assembly_sha256": canonical_digest(listed),
        "records": 30,
        "blanked": 0,
        "consents": [],
    } == json.loads(receipt.details)
    assert (manifest, canonical_digest(listed)) == (
        assembly.manifest_sha256,
        assembly.assembly_sha256,
    )
    assert not assembly.is_staged


def test_a_start_shows_itself_without_content(session: Session) -> None:
    """As plain data an assembly has every name and digest, and no content."""
    installed(session)
    assembly = session.start(ID, agent_id=AGENT)

    shown = assembly.as_dict()

    assert json.loads(json.dumps(shown)) == shown
    assert 30 == len(shown["records"])
    assert "content" not in shown["records"][0]
    assert assembly.records[0].sha256 == shown["records"][0]["sha256"]
    assert "About" not in repr(assembly)
    assert ([], 0) == (shown["consents"], shown["blanked_count"])


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_fails_its_check_and_no_other(session: Session, name: str) -> None:
    """Each defect alone keeps the package from starting, and is told as what it is."""
    expected, asked = planted(session, name)

    assert expected == failed(session, **asked)


def test_without_a_defect_what_is_planted_starts(session: Session) -> None:
    """The ground on which defects are planted is sound."""
    expected, asked = planted(session)

    assert set() == expected
    assert ORDER == list(session.start(ID, **asked).files)


@settings(max_examples=60)
@given(st.sets(st.sampled_from(sorted(DEFECTS))))
def test_a_start_is_all_or_nothing(names: set[str]) -> None:
    """Whatever is wrong, exactly that is told at once, and no record is given."""
    session = fresh()
    expected, asked = planted(session, *sorted(names))

    if names:
        assert expected == failed(session, **asked)
    else:
        assert ORDER == list(session.start(ID, **asked).files)


def test_all_that_fails_is_told_at_once(session: Session) -> None:
    """Every defect together: none hides another, on every backend."""
    expected, asked = planted(session, *DEFECTS)

    assert len(DEFECTS) == len(expected) == len(failed(session, **asked))
    assert expected == failed(session, **asked)


def test_a_package_that_was_just_installed_waits_for_review(session: Session) -> None:
    """Quarantine and each record that nobody has reviewed keep it from starting."""
    session.packages.install(advanced().folder())

    found = failed(session)

    assert {("startup.state", ID)} | {("startup.review", p) for p in ORDER} == found
    reviewed(session)
    assert ORDER == list(session.start(ID, agent_id=AGENT).files)


@pytest.mark.parametrize("verdict", ["quarantined", "review_required", "rejected"])
def test_only_an_active_package_starts(session: Session, verdict: str) -> None:
    """Any other state keeps it from starting."""
    installed(session)
    checkpoint = session.review.waiting(ID).checkpoint_id
    session.review.package(ID, verdict, checkpoint_id=checkpoint)

    assert {("startup.state", ID)} == failed(session)


def test_a_revision_waits_for_review_again(session: Session) -> None:
    """After a change the package starts only once a person has looked at it."""
    installed(session)
    voice = session.packages.record(ID, dimension("voice")).head
    session.packages.revise(
        ID,
        dimension("voice"),
        b"About: a file of a test.\nPace: slow\n",
        expected_revision=voice.revision_id,
        authorisations=[Authorisation(dimension("voice"), "replace")],
    )

    assert {
        ("startup.state", ID),
        ("startup.review", dimension("voice")),
    } == failed(session)
    reviewed(session)
    assembly = session.start(ID, agent_id=AGENT)
    assert b"slow" in assembly.files[dimension("voice")]


def test_a_conflict_keeps_the_package_from_starting(session: Session) -> None:
    """While a candidate waits nobody knows what the record says."""
    installed(session)
    with pytest.raises(Exception, match="another revision"):
        session.packages.revise(
            ID,
            dimension("voice"),
            b"Pace: fast\n",
            expected_revision=None,
            authorisations=[Authorisation(dimension("voice"), "replace")],
        )

    assert {("startup.conflict", dimension("voice"))} == failed(session)
    (opened,) = session.packages.conflicts(ID)
    session.review.keep(opened)
    assert ORDER == list(session.start(ID, agent_id=AGENT).files)


@pytest.mark.parametrize(
    ("named", "agent", "starts"),
    [
        ({}, "anybody", True),
        ({"agentId": "ada"}, "ada", True),
        ({"agentId": "ada"}, "Ada", False),
        ({"npcId": "npc-1"}, "npc-1", True),
        ({"npcId": "npc-1"}, "ada", False),
        ({"agentId": "ada", "npcId": "npc-1"}, "npc-1", True),
        ({"agentId": "ada", "npcId": "npc-1"}, "eve", False),
        ({"agentId": ""}, "ada", False),
        ({"agentId": ["ada"]}, "ada", False),
    ],
)
def test_a_bound_package_starts_for_its_agent_only(
    session: Session, named: dict, agent: str, starts: bool
) -> None:
    """Who is named in the manifest may start it; nobody named means anybody."""
    maker = Maker()
    maker.manifest |= named
    installed(session, maker)

    if starts:
        assert agent == session.start(ID, agent_id=agent).agent_id
    else:
        assert {("startup.agent", ID)} == failed(session, agent_id=agent)


def test_an_agent_starts_as_itself(session: Session) -> None:
    """A principal that is an agent names no other agent than itself."""
    installed(session, Maker())
    eve = acting(session, "agent:eve")

    assert {("startup.principal", "ada")} == failed(eve, agent_id="ada")
    assert "eve" == eve.start(ID, agent_id="eve").agent_id


def test_an_agent_has_an_id(session: Session) -> None:
    """What is no id is refused before anything is read."""
    installed(session, Maker())

    with pytest.raises(CallerError) as caught:
        session.start(ID, agent_id="not an id")
    assert ("id.syntax", "agent_id") == (caught.value.code, caught.value.path)


def test_what_is_not_there_does_not_start(session: Session) -> None:
    """A package that the scope doesn't have leaves no receipt."""
    with pytest.raises(NotFoundError) as caught:
        session.start("nothing", agent_id=AGENT)

    assert "package.not-found" == caught.value.code
    assert [] == list(session.packages.receipts())


def test_further_files_load_when_they_are_named(session: Session) -> None:
    """A file that no scope registers loads only where the caller triggers it."""
    maker = advanced()
    maker.add(".uai/notes.uai", b"A note.\n", role="memory")
    installed(session, maker)

    plain = session.start(ID, agent_id=AGENT)
    named = session.start(ID, agent_id=AGENT, triggered=[".uai/notes.uai"])

    assert ORDER == list(plain.files)
    assert [*ORDER[:7], ".uai/notes.uai", *ORDER[7:]] == list(named.files)
    assert named.records[7].canonical_sha256 is None
    assert plain.assembly_sha256 != named.assembly_sha256


@pytest.mark.every_backend
def test_a_start_is_the_same_everywhere(
    session: Session, session_of: Callable[[str], Session]
) -> None:
    """On every backend, again, and after a move to another store: the same bytes."""
    maker = advanced(voice=b"Pace (private): slow\nTone: warm\n")
    reference = fresh()
    installed(reference, maker)
    expected = reference.start(ID, agent_id=AGENT)
    installed(session, maker)

    first = session.start(ID, agent_id=AGENT)
    again = session.start(ID, agent_id=AGENT)
    elsewhere = session_of("acme/project/other")
    archive = session.packages.export(ID).archive
    elsewhere.packages.install(PackageSource("a.uaix", archive=archive))
    reviewed(elsewhere)
    moved = elsewhere.start(ID, agent_id=AGENT)

    for one in (first, again, moved):
        assert what_is_given(expected) == what_is_given(one)
        assert expected.assembly_sha256 == one.assembly_sha256
        assert expected.manifest_sha256 == one.manifest_sha256
    assert first.records == again.records


@attrs.define
class WordIndex:
    """A small index beside a store: which files of a package say a word."""

    session: Session
    name: str = "words"
    seq: int = 0
    places: dict = attrs.field(factory=dict)

    def covered(self, scope: ScopeId, package_id: str) -> int:
        """How far it has read the scope that it is about."""
        is_mine = scope == self.session.scope and package_id == ID
        return self.seq if is_mine else 0

    def catch_up(self) -> None:
        """Read what was committed since."""
        with self.session.snapshot() as snapshot:
            for recorded in snapshot.commits(self.seq):
                for row in recorded.commit.adds:
                    words = getattr(row, "content", None) or b""
                    for word in words.split():
                        self.places.setdefault(word, set()).add(row.path)
                self.seq = recorded.seq


def test_an_index_has_to_cover_the_package(session: Session) -> None:
    """A start waits for an index that is behind the package, and for no other."""
    index = WordIndex(session)
    session.packages.install(advanced().folder())
    index.catch_up()
    assert {".uai/persona.uai"} == index.places[b"Blocked"]
    reviewed(session)

    assert {("startup.index", "words")} == failed(session, indexes=[index])
    index.catch_up()
    # Receipts, of starts among them, change nothing that an index holds.
    for _ in range(2):
        assert session.start(ID, agent_id=AGENT, indexes=[index])
    index.seq -= 1
    assert session.start(ID, agent_id=AGENT)
    with session.snapshot() as snapshot:
        changed = max(
            row.version
            for name in ("package", "package_file", "head")
            for row in snapshot.scan(name, "key", limit=1_000)
        )
    for seq, starts in ((changed, True), (changed + 1, True), (changed - 1, False)):
        asked = {"agent_id": AGENT, "indexes": [Stub("x", seq)]}
        if starts:
            assert session.start(ID, **asked)
        else:
            assert {("startup.index", "x")} == failed(session, **asked)


@pytest.mark.parametrize(
    ("said", "is_met"),
    [
        ("Refers to: .uai/personality/voice.uai", True),
        ("Refers to: .uai/personality/voice.uai, evidence/provenance.md.", True),
        ("Refers to: .uai/personality/voice.uai and .uai/none.uai", False),
        ("See also:\n- evidence/none", False),
        ("See also:\n- AGENTS.md\n- docs/none.md\n- src/evidence/none.md", True),
        ("Points to: `.uai/personality/voice.uai`, (evidence/none.md)", False),
        ("Applies to: <.uai/persona.uai>; '.uai/identity.uai'!", True),
        ("References: [.uai/persona.uai]: and .uai/identity.uai?", True),
        ("Reference: .uai/my notes.uai", True),
        ("Reference: .uai/my other.uai", False),
        ("See: https://example.org/.uai/none.uai", True),
        ("See: what is said of winter", True),
        ("Purpose: .uai/none.uai was there once", True),
        ("Depends on: record:VOICE", True),
        ("Depends on: record:VOICE-2", False),
        ("Reviewed excerpts: evidence/source-excerpts.md#3", True),
        ("Source excerpts: evidence/none.md#3", False),
    ],
)
def test_pointers_lead_somewhere(session: Session, said: str, is_met: bool) -> None:
    """What a file points to under a label that points is a file or record there."""
    maker = advanced()
    stable = "70be86ca-19fd-5bd8-836f-2caaa4504b3a"
    maker.entry(dimension("voice"))["stableId"] = stable
    maker.add(".uai/my notes.uai", b"A note.\n", role="memory")
    path = dimension("adaptation-rules")
    replace(maker, path, said.replace("VOICE", stable).encode() + b"\n")
    installed(session, maker)

    if is_met:
        assert session.start(ID, agent_id=AGENT)
    else:
        assert {("startup.reference", path)} == failed(session)


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (b"See: .uai/none.uai\n", [1]),
        (b"Of .uai/none.uai once.\n\nSee: .uai/none.uai\n", [3]),
        (b"Purpose: x\nSee:\n- .uai/persona.uai\n- .uai/none.uai\n", [4]),
        (b"See: .uai/none.uai\nReferences: .uai/gone.uai\n", [1, 2]),
        (b"See: .uai/none.uai, .uai/gone.uai\n", [1]),
    ],
)
def test_a_broken_pointer_is_told_by_its_line(body: bytes, lines: list[int]) -> None:
    """A pointer that leads nowhere is told by the file and the line it stands in."""
    session = fresh()
    path = dimension("adaptation-rules")
    installed(session, advanced(adaptation_rules=body))

    with pytest.raises(StartupError) as caught:
        session.start(ID, agent_id=AGENT)

    assert [(path, line) for line in lines] == [
        (check.path, check.line) for check in caught.value.checks
    ]
    assert f"{path}:{lines[0]}" == caught.value.checks[0].place
    assert lines[0] == caught.value.checks[0].as_dict()["line"]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (b".uai/none.uai", 1),
        (b"x\n.uai/none.uai\n", 2),
        (b"x\nnothing\n", 0),
        (b".uai/none.uai\nSee: nothing", 0),
    ],
)
def test_a_line_is_looked_for_from_its_label_on(body: bytes, line: int) -> None:
    """Without the label the first line counts, and without the target none."""
    assert line == line_of(body, "See", ".uai/none.uai")


@pytest.mark.parametrize("port", ["NaN", "text", "true", "raises", "none", "short"])
def test_an_index_that_can_not_say_covers_nothing(port: str) -> None:
    """An index that answers no whole number, or fails, keeps a package back."""
    session = fresh()
    installed(session)
    answers = {"NaN": float("nan"), "text": "9" * 9, "true": True, "none": None}

    class Broken:
        name = "words"

        def covered(self, _scope: object, _package_id: str) -> object:
            if port == "raises":
                raise KeyError(port)
            return answers.get(port, 0)

    assert {("startup.index", "words")} == failed(session, indexes=[Broken()])


@pytest.mark.parametrize("name", [None, 5, "", "two\nlines", "x" * 129])
def test_an_index_has_a_name(name: object) -> None:
    """What has no name of one line is no index, and starts nothing."""
    session = fresh()
    installed(session)
    assert session.start(ID, agent_id=AGENT, indexes=[Stub("x" * 128, 10**6)])

    with pytest.raises(CallerError) as caught:
        session.start(ID, agent_id=AGENT, indexes=[Stub(name, 10**6)])

    assert ("index.port", "indexes[0]") == (caught.value.code, caught.value.path)


def _bend(draft: Draft, how: str) -> set:
    """Bend the manifest of a draft beyond reading."""
    if how == "format":
        draft.manifest["packageFormat"] = "other"
    elif how == "id":
        draft.manifest["packageId"] = "other"
    elif how == "field":
        del draft.manifest["issuer"]
    return {("startup.manifest", MANIFEST)}


@pytest.mark.parametrize("how", ["format", "id", "field"])
def test_a_manifest_that_does_not_pass_starts_nothing(
    session: Session, how: str
) -> None:
    """The stored manifest is judged again, and has to be the package's own."""
    draft = draft_of(session, advanced())
    expected = _bend(draft, how)
    write_draft(session, draft)

    assert expected == failed(session)


def test_a_manifest_tells_all_that_fails_by_it(session: Session) -> None:
    """Another package's manifest is told beside what else is wrong in it."""
    draft = draft_of(session, advanced())
    draft.manifest["packageId"] = "other"
    draft.manifest["entrypoints"].reverse()
    write_draft(session, draft)

    assert {
        ("startup.manifest", MANIFEST),
        ("startup.order", "entrypoints"),
    } == failed(session)


@pytest.mark.parametrize("manifest", ["not an object", ["a"], float("nan")])
def test_a_manifest_that_is_no_object_starts_nothing(
    session: Session, manifest: object
) -> None:
    """JSON of another kind, or what is no strict JSON, declares nothing."""
    draft = draft_of(session, advanced())
    draft.manifest = manifest
    write_draft(session, draft)

    assert {("startup.manifest", MANIFEST)} == failed(session)


def test_what_was_let_in_leniently_starts(session: Session) -> None:
    """A file at a place where none belongs is kept, and doesn't load."""
    maker = advanced()
    maker.add("further.md", b"More.\n")
    session.packages.install(maker.folder(), lenient=True)
    reviewed(session)

    assert ORDER == list(session.start(ID, agent_id=AGENT).files)


@pytest.mark.parametrize("path", [MANIFEST, dimension("voice")])
def test_a_placeholder_digest_is_no_digest(session: Session, path: str) -> None:
    """What is listed without a digest, the manifest itself among it, may start."""
    maker = advanced()
    if path == MANIFEST:
        entry = {**maker.entry(".uai/persona.uai"), "path": path, "role": "manifest"}
        maker.manifest["files"].append({**entry, "mediaType": "application/json"})
    maker.entry(path)["sha256"] = "0" * 64
    installed(session, maker)

    assert ORDER == list(session.start(ID, agent_id=AGENT).files)


def test_an_erased_manifest_starts_nothing(session: Session) -> None:
    """Without its manifest nobody knows what a package is."""
    installed(session)
    with session.snapshot() as snapshot:
        package = snapshot.get("package", (ID,))
    named = ("checkpoint", (package.checkpoint_id,))
    session.store.append(Commit(session.scope, 0, erases=(named,)))

    assert {("startup.erased", MANIFEST)} == failed(session)


def test_the_files_together_are_those_of_the_checkpoint(session: Session) -> None:
    """Under a placeholder digest a change is seen by the digest of all files."""
    draft = draft_of(session, advanced())
    path = dimension("voice")
    draft.body(path, b"Pace: fast\n")
    draft.entry(path)["sha256"] = "0" * 64
    write_draft(session, draft)
    assert session.start(ID, agent_id=AGENT)
    with session.snapshot() as snapshot:
        head = snapshot.scan("revision", "by_record", (ID,), limit=1_000)
    row = next(row for row in head if row.path == path)

    chain = draft.chains[path]
    draft.body(path, b"Pace: slow\n")
    chain[0].update(change="replace", number=2, parent_revision_id=row.revision_id)
    draft.entry(path)["sha256"] = "0" * 64
    later = REVISION.named_by_header("revision_id", b"s" * 16, **chain[0])
    session.store.append(Commit(session.scope, 0, adds=(later,)))

    assert {("startup.digest", MANIFEST)} == failed(session)


@pytest.mark.every_backend
def test_a_record_without_content_is_named_as_far_as_it_is_known(
    session: Session,
) -> None:
    """An erased record has the path that is listed; in a conflict only its own id."""
    draft = draft_of(session, advanced())
    path = dimension("temperament")
    draft.erased, draft.in_conflict = [path], [path]
    write_draft(session, draft)
    record_id = draft.chains[path][0]["record_id"]

    assert {
        ("startup.erased", path),
        ("startup.conflict", record_id),
    } == failed(session)


@attrs.define
class Bending:
    """A store of which some rows read otherwise than they stand."""

    store: Store
    bend: Callable[[object], object]

    def __getattr__(self, name: str) -> object:
        """All else is the store's."""
        return getattr(self.store, name)

    @contextmanager
    def snapshot(self, scope: ScopeId) -> Iterator[object]:
        """A snapshot whose scans are bent."""
        with self.store.snapshot(scope) as snapshot:
            bent = Mock(wraps=snapshot)
            bent.scan = lambda *args, **how: [
                row
                for row in map(self.bend, snapshot.scan(*args, **how))
                if row is not None
            ]
            yield bent


def test_no_file_is_left_out_whose_content_is_gone(session: Session) -> None:
    """A file that stands over nothing keeps the package from starting."""
    installed(session)
    path = dimension("voice")

    def erased(row: object) -> object:
        is_it = isinstance(row, Revision) and row.path == path
        return REVISION.erased(row) if is_it else row

    def gone(row: object) -> object:
        return None if isinstance(row, Revision) and row.path == path else row

    bent = attrs.evolve(session, store=Bending(session.store, erased))
    assert {("startup.erased", path)} == failed(bent)
    record_id = session.packages.record(ID, path).head.record_id
    bent = attrs.evolve(session, store=Bending(session.store, gone))
    assert {
        ("startup.erased", path),
        ("startup.chain", record_id),
    } == failed(bent)


@pytest.mark.every_backend
@pytest.mark.parametrize("rows", [1, 2, 35, 36, 37])
def test_revisions_are_read_page_by_page(
    session: Session, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    """However many are taken at once, the same is given."""
    installed(session)
    expected = session.start(ID, agent_id=AGENT)

    monkeypatch.setattr(reading, "_PAGE", rows)
    monkeypatch.setattr(scanning, "MAX_SCAN", rows)

    assert expected.records == session.start(ID, agent_id=AGENT).records


@pytest.mark.every_backend
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_pointers_are_read_page_by_page(
    session: Session, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    """However many are taken at once, the last pointer counts as the first."""
    path = dimension("adaptation-rules")
    there = "- .uai/persona.uai\n" * 2
    pointing = f"See:\n{there}- .uai/none.uai\n".encode()
    installed(session, advanced(adaptation_rules=pointing))

    monkeypatch.setattr(scanning, "MAX_SCAN", rows)

    assert {("startup.reference", path)} == failed(session)


def test_an_index_covers_tombstones(session: Session) -> None:
    """What changed last may be a record that is gone."""
    expected, asked = planted(session, "unlisted_tombstone")

    assert expected == failed(session, **asked, indexes=[Stub("x", 2)])
    stale = {("startup.index", "x")}
    assert expected | stale == failed(session, **asked, indexes=[Stub("x", 1)])


def test_an_index_covers_the_review_of_a_record(session: Session) -> None:
    """A record that was looked at again has to be seen by the index again."""
    installed(session)
    head = session.packages.record(ID, dimension("voice")).head
    seq = session.review.records(
        ID, "reviewed", {dimension("voice"): head.revision_id}
    ).seq

    assert session.start(ID, agent_id=AGENT, indexes=[Stub("x", seq)])
    stale = {("startup.index", "x")}
    assert stale == failed(session, indexes=[Stub("x", seq - 1)])


@pytest.mark.parametrize("most", [1, 29, 30, 31])
def test_what_is_remembered_of_bodies_changes_nothing(
    session: Session, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Bodies are read again when they were forgotten, and give the same."""
    installed(session, advanced(voice=b"Pace (private): slow\n"))
    body_facts.remembered.forget()
    expected = what_is_given(session.start(ID, agent_id=AGENT))

    monkeypatch.setattr(body_facts.remembered, "most", most)

    for _ in range(2):
        body_facts.remembered.forget()
        assert expected == what_is_given(session.start(ID, agent_id=AGENT))
        assert expected == what_is_given(session.start(ID, agent_id=AGENT))


def test_as_many_bodies_are_remembered_as_there_may_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same bytes are read once, until there are too many, and as each medium."""
    monkeypatch.setattr(body_facts.remembered, "most", 2)
    body_facts.remembered.forget()
    text, other = b'{"a": 1}', b"disclosure: private\na: 1\n"

    first = body_facts.facts_of(text, "1", "text/uaix")
    as_json = body_facts.facts_of(text, "1", "application/json")
    assert first is body_facts.facts_of(text, "1", "text/uaix")
    assert as_json is body_facts.facts_of(text, "1", "application/json")
    assert first.canonical_sha256 != as_json.canonical_sha256
    third = body_facts.facts_of(other, "2", "text/uaix")
    assert ["a"] == [span.name for span in third.hidden]
    assert third is body_facts.facts_of(other, "2", "text/uaix")
    again = body_facts.facts_of(text, "1", "text/uaix")
    assert (True, False) == (first == again, first is again)
    assert "" == body_facts.facts_of(b"x", "3", "image/png").canonical_sha256


def test_a_file_out_of_scope_starts_nothing(session: Session) -> None:
    """A declared scope may put a file out of scope; it doesn't start with it there."""
    draft = draft_of(session, advanced())
    draft.manifest["profileId"] = "project_handoff"
    draft.manifest["declaredScopes"] = ["project_handoff"]
    write_draft(session, draft)

    found = failed(session)

    assert ("startup.scope", ".uai/persona.uai") in found
    assert ("startup.missing", ".uai/startup-packet.uai") in found
    assert ("startup.scope", dimension("voice")) in found


def test_checks_say_what_failed_and_what_to_do() -> None:
    """Every check has a message and a hint, and shows itself as plain data."""
    for code, (message, hint) in CHECKS.items():
        check = StartupCheck(code, "a path")
        shown = {"code": code, "path": "a path", "message": message, "hint": hint}
        assert {**shown, "line": None} == check.as_dict()
        assert "a path" == check.place
        assert code.startswith("startup.")


def test_an_error_lists_its_checks() -> None:
    """The message names the codes once each, and the plain data all checks."""
    checks = [StartupCheck("startup.review", p) for p in "ab"]
    error = StartupError("pkg", [*checks, StartupCheck("startup.state", "pkg")], "r")

    assert "3 checks failed: startup.review, startup.state" in str(error)
    assert "1 check failed" in str(StartupError("pkg", checks[:1], "r"))
    shown = error.as_dict()
    assert ("startup.refused", "pkg", "r") == (
        shown["code"],
        shown["path"],
        shown["receipt"],
    )
    assert [check.as_dict() for check in error.checks] == shown["checks"]
