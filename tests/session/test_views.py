"""The law of the product's views: a function of the history that survives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from tests.session.conftest import Counter

from uaix_backends.memory import MemoryStore
from uaix_core import ScopeId
from uaix_core.history.receipts import Writing, receipt_row
from uaix_core.history.relations import REVISION
from uaix_core.packages.relations import CHECKPOINT
from uaix_core.schema.commits import Commit
from uaix_core.store.copying import copy_scope, differences
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


@given(st.data())
def test_views_follow_the_surviving_history(data: st.DataObject) -> None:
    """Rebuilding, or replaying elsewhere, gives equal rows, also after erasures."""
    store, sources = MemoryStore(), Counter()
    writing = Writing(SCOPE, Principal("operator", "x"), 0, sources, sources)
    written: list[tuple[str, tuple[str]]] = []
    for number in range(1, data.draw(st.integers(1, 10)) + 1):
        adds: list[Row] = []
        erases = []
        kind = data.draw(
            st.sampled_from(["revision", "checkpoint", "receipt", "erase"])
        )
        if kind == "revision":
            args = data.draw(PACKAGES), data.draw(RECORDS), data.draw(CHANGES)
            adds.append(revision(number, *args, data.draw(BODIES)))
        elif kind == "checkpoint":
            adds.append(checkpoint(number, data.draw(PACKAGES), data.draw(WORDS)))
        elif kind == "receipt" or not written:
            keyed = data.draw(st.sampled_from([None, "k1", "k2"]))
            receipt = receipt_row(
                writing,
                sources.new(),
                operation="install",
                outcome="accepted",
                details={},
                package_id=data.draw(PACKAGES),
                key_digest=keyed,
            )
            adds.append(receipt)
        if kind == "erase" and written:
            erases = data.draw(
                st.lists(st.sampled_from(written), unique=True, min_size=1)
            )
        store.append(Commit(SCOPE, number, adds=tuple(adds), erases=tuple(erases)))
        refs = (store.schema.of(row).ref(row) for row in adds)
        written += [(ref.relation, ref.key) for ref in refs]

    other = MemoryStore()
    copy_scope(store, other, SCOPE)
    assert [] == differences(store, other, SCOPE)
    store.rebuild(SCOPE)
    assert [] == differences(store, other, SCOPE)
