"""The law of the product's views: a function of the history that survives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.session.conftest import Counter
from tests.session.plain_views import PlainViews, sorted_rows

from uaix_backends.memory import MemoryStore
from uaix_core import ScopeId
from uaix_core.authority.relations import REGISTRATION
from uaix_core.history.receipts import Writing, receipt_row
from uaix_core.history.relations import CONFLICT, REVISION
from uaix_core.packages.file_views import file_rows
from uaix_core.packages.relations import (
    ACCEPTANCE,
    CHECKPOINT,
    Dimension,
    PackageFile,
    PersonaName,
)
from uaix_core.review.relations import REVIEW
from uaix_core.schema.commits import Commit
from uaix_core.schema.relations import Keep
from uaix_core.session.schema import SCHEMA
from uaix_core.store.copying import copy_scope, differences
from uaix_core.tiers.proposal_relations import PROPOSAL
from uaix_core.tiers.relations import FIDELITY_CASE, TURN, WORKING_STATE
from uaix_core.values.canonical import canonical_text
from uaix_core.values.ids import Principal

if TYPE_CHECKING:
    from uaix_core.schema.rows import Row

SCOPE = ScopeId.parse("t/project/p")
PACKAGES = st.sampled_from(["one", "two"])
RECORDS = st.sampled_from(["a", "persona"])
BODIES = st.sampled_from(["x", "name: Ada\n", "name: Bo\nvoice: calm\nvalues: none\n"])
WORDS = st.lists(st.sampled_from(["universal", "persona", "other"]), unique=True)
CHANGES = st.sampled_from(["create", "replace", "tombstone"])


def revision(number: int, package: str, record: str, change: str, content: str) -> Row:
    """A revision of a record; its path follows from the record alone."""
    return REVISION.named_by_header(
        "revision_id",
        b"s" * 16,
        package_id=package,
        record_id=record,
        parent_revision_id=None,
        number=number,
        change=change,
        required_status="profile_required",
        review_state="review_required",
        startup_order=number % 3,
        size_bytes=1,
        actor_kind="operator",
        actor_id="local",
        path=f".uai/{record}.uai",
        role="persona",
        scope="universal",
        media_type="text/uaix",
        source="{}",
        sha256="0" * 64,
        canonical_sha256="",
        content=content.encode(),
    )


def checkpoint(number: int, package: str, scopes: list[str]) -> Row:
    """A checkpoint that declares these scopes; every second one repeats its digests."""
    return CHECKPOINT.named_by_header(
        "checkpoint_id",
        b"s" * 16,
        package_id=package,
        parent_checkpoint_id=None,
        number=number,
        origin="install",
        state="quarantined",
        ruleset="3.138",
        file_count=1,
        total_bytes=1,
        receipt_id="r",
        actor_kind="operator",
        actor_id="local",
        profile_id="p",
        issuer="i",
        status="draft",
        created_utc="2026-01-02T03:04:05Z",
        declared_scopes=canonical_text(scopes),
        entrypoints="[]",
        support_boundary="{}",
        manifest_sha256=f"{number // 2:064x}",
        files_sha256="f" * 64,
        manifest=b"{}",
    )


def registration(namespace: str, version: int) -> Row:
    """A registration of a version; its document follows from both."""
    return REGISTRATION.with_body(
        b"s" * 16,
        registry="documents",
        namespace=namespace,
        document_version=version,
        receipt_id=f"{namespace}-{version}",
        operator_id="ops",
        actor_kind="operator",
        actor_id="local",
        document_digest="sha256:" + "0" * 64,
        document=canonical_text({"namespace": namespace, "version": version}),
    )


def conflict(number: int, package: str, record: str) -> Row:
    """A candidate that lost."""
    return CONFLICT.named_by_header(
        "conflict_id",
        b"s" * 16,
        package_id=package,
        record_id=record,
        expected_revision_id=f"r{number}",
        head_revision_id="r",
        change="replace",
        receipt_id="r",
        actor_kind="agent",
        actor_id="bot",
        path=f".uai/{record}.uai",
        media_type="text/uaix",
        sha256="0" * 64,
        content=b"lost",
    )


BY = {"receipt_id": "r", "actor_kind": "agent", "actor_id": "ada"}


def tier_row(number: int, kind: str, package: str) -> Row:
    """A row of a tier that a view is made of."""
    salt, about = number.to_bytes(16), {"package_id": package, **BY}
    if kind == "proposal":
        texts = ("reason", "title", "locator", "digest", "path", "expected_revision")
        return PROPOSAL.named_by_header(
            "proposal_id",
            salt,
            kind="pointer",
            entry="null",
            content=b"",
            **dict.fromkeys(texts, "x"),
            **about,
        )
    if kind == "case":
        return FIDELITY_CASE.named_by_header(
            "case_id",
            salt,
            name="ab"[number % 2],
            prompt="x",
            must="[]",
            must_not="[]",
            paths="[]",
            **about,
        )
    del about["receipt_id"]
    about |= {"agent_id": "ada", "number": number, "text": "x"}
    if kind == "state":
        return WORKING_STATE.named_by_header("state_id", salt, **about)
    return TURN.named_by_header(
        "turn_id",
        salt,
        conversation_id="ab"[number % 2],
        role="user",
        said_at=number,
        **about,
    )


VERDICTS = {
    "package": ("quarantined", "active"),
    "record": ("reviewed", "rejected", "restored"),
    "conflict": ("kept", "taken"),
    "proposal": ("accepted", "declined"),
}


def review(number: int, subject: str, verdict: str, about: Row) -> Row:
    """A review of a checkpoint's package, a revision's record or a conflict."""
    names = ("record_id", "revision_id", "checkpoint_id", "conflict_id", "proposal_id")
    return REVIEW.named_by_header(
        "review_id",
        number.to_bytes(16),
        subject=subject,
        verdict=verdict,
        package_id=about.package_id,
        receipt_id="r",
        actor_kind="human",
        actor_id="x",
        note="",
        blockers="[]",
        agreements="{}",
        **{name: getattr(about, name, None) for name in names},
    )


def a_review(data: st.DataObject, number: int, rows: list[Row]) -> list[Row]:
    """A review of something that was written, standing or not, erased or not."""
    subjects = {
        CONFLICT: "conflict",
        CHECKPOINT: "package",
        REVISION: "record",
        PROPOSAL: "proposal",
    }
    about = [row for row in rows if SCHEMA.of(row) in subjects]
    if not about:
        return []
    row = data.draw(st.sampled_from(about))
    subject = subjects[SCHEMA.of(row)]
    verdict = data.draw(st.sampled_from(VERDICTS[subject]))
    return [review(number, subject, verdict, row)]


def one_or_two(
    data: st.DataObject,
    number: int,
    kind: str,
    package: str,
    records: st.SearchStrategy[str],
) -> list[Row]:
    """A candidate that lost, or a row of a tier or two."""
    if kind == "conflict":
        return [conflict(number, package, data.draw(records))]
    numbers = (number, number + 100)[: data.draw(st.integers(1, 2))]
    return [tier_row(one, kind, package) for one in numbers]


KINDS = (
    "revision",
    "checkpoint",
    "registration",
    "receipt",
    "conflict",
    "review",
    "erase",
)
#: The kinds of which the views of the tiers are made.
TIERED = ("state", "turn", "case", "proposal", "proposal", "review", "review", "erase")
#: The kinds that reviews are about.
REVIEWED = ("revision", "checkpoint", "conflict", "review", "review", "erase")


def life(
    data: st.DataObject,
    kinds: tuple[str, ...] = KINDS,
    packages: st.SearchStrategy[str] = PACKAGES,
    records: st.SearchStrategy[str] = RECORDS,
) -> MemoryStore:
    """A store after some commits and erasures."""
    store, sources = MemoryStore(), Counter()
    writing = Writing(SCOPE, Principal("operator", "x"), 0, sources, sources)
    written: list[tuple[str, tuple[str]]] = []
    rows: list[Row] = []
    # In whatever order: a ledger may come from where another rule was in force.
    versions = data.draw(st.permutations([(n, v) for n in "ab" for v in (1, 2, 3)]))
    for number in range(1, data.draw(st.integers(1, 10)) + 1):
        adds: list[Row] = []
        erases = []
        kind = data.draw(st.sampled_from(kinds))
        if kind == "revision":
            args = data.draw(packages), data.draw(records), data.draw(CHANGES)
            adds.append(revision(number, *args, data.draw(BODIES)))
        elif kind == "checkpoint":
            adds.append(checkpoint(number, data.draw(packages), data.draw(WORDS)))
        elif kind in ("conflict", *TIERED[:4]):
            adds += one_or_two(data, number, kind, data.draw(packages), records)
        elif kind == "review" and (said := a_review(data, number, rows)):
            adds += said
            if data.draw(st.booleans()):
                adds += a_review(data, number + 100, rows)
        elif kind == "registration" and versions:
            count = data.draw(st.integers(1, 2))
            adds += [registration(*place) for place in versions[:count]]
            del versions[:count]
        elif kind in ("receipt", "registration", "review") or not written:
            keyed = data.draw(st.sampled_from([None, "k1", "k2"]))
            receipt = receipt_row(
                writing,
                sources.new(),
                operation="install",
                outcome="accepted",
                details={},
                package_id=data.draw(packages),
                key_digest=keyed,
            )
            adds.append(receipt)
        also = kind == "review" and data.draw(st.booleans())
        if (kind == "erase" or also) and written:
            erases = data.draw(
                st.lists(st.sampled_from(written), unique=True, min_size=1)
            )
        store.append(Commit(SCOPE, number, adds=tuple(adds), erases=tuple(erases)))
        refs = (store.schema.of(row).ref(row) for row in adds)
        rows += adds
        written += [(ref.relation, ref.key) for ref in refs]
    return store


def views_of(store: MemoryStore) -> dict[str, list[tuple[object, int, Row]]]:
    """All VIEW rows that stand."""
    with store.snapshot(SCOPE) as snapshot:
        return sorted_rows(
            row
            for relation in store.schema.kept(Keep.VIEW)
            for row in snapshot.scan(relation.name, "key", limit=1_000)
        )


def plain_views(store: MemoryStore) -> dict[str, list[tuple[object, int, Row]]]:
    """What should stand."""
    with store.snapshot(SCOPE) as snapshot:
        return PlainViews(snapshot.commits()).rows()


@given(st.data())
def test_views_show_what_they_say(data: st.DataObject) -> None:
    """After any life the views are what the history plainly says."""
    store = life(data)

    assert plain_views(store) == views_of(store)


@given(st.data())
def test_reviews_show_what_they_say(data: st.DataObject) -> None:
    """After any life of one record the views show the last word on what stands."""
    store = life(data, REVIEWED, st.just("one"), st.just("a"))

    assert plain_views(store) == views_of(store)


@given(st.data())
def test_tiers_show_what_they_say(data: st.DataObject) -> None:
    """After any life the first decision about a proposal stands, erased or not."""
    store = life(data, TIERED)

    assert plain_views(store) == views_of(store)
    other = MemoryStore()
    copy_scope(store, other, SCOPE)
    assert [] == differences(store, other, SCOPE)


def commit(at: int, *adds: Row, erases: tuple[Row, ...] = ()) -> Commit:
    """A commit of product rows."""
    refs = tuple(SCHEMA.of(row).ref(row) for row in erases)
    return Commit(SCOPE, at, adds=adds, erases=refs)


def test_views_show_what_they_say_step_by_step() -> None:
    """Two packages and two records, each created, changed, erased and made again."""
    named, other = "name: Ada\nvoice: calm\n", "name: Bo\n"
    sources = Counter()
    writing = Writing(SCOPE, Principal("operator", "x"), 0, sources, sources)
    checkpoints = [
        checkpoint(1, "one", ["universal", "persona"]),
        checkpoint(2, "one", ["persona", "other"]),
        checkpoint(3, "one", []),
        checkpoint(4, "two", ["persona"]),
        checkpoint(5, "two", ["persona", "universal"]),
        checkpoint(6, "two", ["other"]),
    ]
    revisions = [
        revision(1, "one", "persona", "create", named),
        revision(1, "one", "a", "create", "x"),
        revision(2, "one", "persona", "replace", other),
        revision(3, "one", "persona", "tombstone", other),
        revision(4, "one", "persona", "replace", named),
        revision(1, "two", "persona", "create", named),
        revision(2, "two", "persona", "replace", other),
        revision(3, "two", "persona", "replace", named),
    ]
    policies = [
        ACCEPTANCE.named_by_header(
            "acceptance_id",
            b"s" * 16,
            number=number,
            actor_kind="operator",
            actor_id="x",
            policy="{}",
        )
        for number in range(4)
    ]
    receipts = [
        receipt_row(
            writing,
            sources.new(),
            operation="install",
            outcome="accepted",
            details={},
            key_digest=key,
        )
        for key in (None, "k", "k", "l")
    ]
    one, two, three = (registration("a", version) for version in (1, 2, 3))
    store = MemoryStore()
    for made in (
        commit(1, checkpoints[0], *revisions[:2], receipts[0], policies[0], two),
        commit(2, checkpoints[1], revisions[2], receipts[1], policies[1], one),
        commit(3, erases=(checkpoints[0], revisions[0], policies[0], receipts[0])),
        commit(
            4, checkpoints[5], checkpoints[3], revisions[5], receipts[2], receipts[3]
        ),
        commit(5, revisions[3], erases=(checkpoints[3], revisions[1], two)),
        commit(6, checkpoints[4], revisions[4], erases=(policies[1], revisions[5])),
        commit(7, revisions[6], policies[2], policies[3], three),
        commit(8, checkpoints[2], revisions[7], erases=(revisions[6],)),
        commit(9, erases=(checkpoints[2], revisions[7], policies[3])),
    ):
        store.append(made)
        assert plain_views(store) == views_of(store)


@pytest.mark.parametrize(
    ("path", "role", "content", "said", "name"),
    [
        (".uai/persona.uai", "persona", "voice: calm\nname: Ada\n", 2, "ada"),
        (".uai/persona.uai", "persona", "## Others\nname: Bo\n", 1, None),
        (".uai/persona.uai", "persona", "voice: calm\n", 1, None),
        (".uai/other.uai", "persona", "name: Ada\n", 1, None),
        (".uai/persona.uai", "memory", "name: Ada\n", 0, None),
        ("notes.md", "persona", "name: Ada\n", 0, None),
    ],
)
def test_a_file_says_what_its_revision_holds(
    path: str, role: str, content: str, said: int, name: str | None
) -> None:
    """Registered `.uai` files are taken apart; one file alone names the persona."""
    whole = revision(1, "one", "a", "create", content)
    made = attrs.evolve(whole, path=path, role=role)
    file, *others = file_rows(made)
    names = [PersonaName(name, "one")] if name is not None else []

    assert isinstance(file, PackageFile)
    assert (path, role, "universal", "text/uaix") == (
        file.path,
        file.role,
        file.scope,
        file.media_type,
    )
    assert (said, name) == (file.dimension_count, file.persona_name)
    assert said == sum(isinstance(row, Dimension) for row in others)
    assert names == others[said:]


@given(st.data())
def test_views_follow_the_surviving_history(data: st.DataObject) -> None:
    """Rebuilding, or replaying elsewhere, gives equal rows, also after erasures."""
    store = life(data)
    other = MemoryStore()
    copy_scope(store, other, SCOPE)
    assert [] == differences(store, other, SCOPE)
    store.rebuild(SCOPE)
    assert [] == differences(store, other, SCOPE)
