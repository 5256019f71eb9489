"""The relations of the history room."""

from __future__ import annotations

from typing import Annotated

from uaix_core.schema.relations import Keep, Relation
from uaix_core.schema.rows import (
    BodyRow,
    Bytes,
    Id,
    Instant,
    Int,
    Json,
    Row,
    Text,
    Word,
    row,
)
from uaix_core.values.ids import PRINCIPAL_KINDS

ActorKind = Annotated[str, Word(*PRINCIPAL_KINDS)]
Change = Annotated[str, Word("create", "replace", "tombstone", "restore")]
RequiredStatus = Annotated[
    str,
    Word(
        "universal_required",
        "profile_required",
        "content_triggered_required",
        "configuration_specific_required",
    ),
]
ReviewState = Annotated[
    str, Word("review_required", "reviewed", "approved", "rejected")
]
Operation = Annotated[
    str,
    Word(
        "install",
        "export",
        "restore",
        "clone",
        "update",
        "policy",
        "register",
        "revise",
        "conflict",
        "review",
        "branch",
        "derive",
        "sign",
        "start",
        "consent",
        "propose",
        "decide",
        "note",
        "fidelity",
        "lease",
        "grant",
        "withdraw",
        "bind",
        "unbind",
        "issue",
        "revoke",
        "enrol",
        "seal",
        "erase",
    ),
]
Outcome = Annotated[str, Word("accepted", "refused")]


@row
class Revision(BodyRow):
    """One immutable state of a record of a package.

    ``revision_id`` is the SHA-256 of the RFC 8785 form of the other header fields.
    ``number`` counts from 1 along the parent chain. ``sha256`` is of ``content``,
    ``canonical_sha256`` of its canonical form (empty for what has none).
    """

    package_id: Id
    record_id: Id
    revision_id: Id
    parent_revision_id: Id | None
    number: Int
    change: Change
    required_status: RequiredStatus
    review_state: ReviewState
    startup_order: Int
    size_bytes: Int
    actor_kind: ActorKind
    actor_id: Id
    path: Text | None
    role: Text | None
    scope: Text | None
    media_type: Text | None
    source: Json | None
    sha256: Text | None
    canonical_sha256: Text | None
    content: Bytes | None


@row
class Head(Row):
    """The current revision of a record: the only thing that moves."""

    package_id: Id
    record_id: Id
    revision_id: Id
    number: Int
    change: Change
    created_at: Instant
    modified_at: Instant


@row
class RevisionSignature(Row):
    """A key's statement over a revision, and by its parents over all before it.

    ``key_id`` is the SHA-256 of the public key, ``signature`` Ed25519 over the
    revision's id, in hex.
    """

    revision_id: Id
    key_id: Id
    package_id: Id
    signature: Id
    receipt_id: Id
    actor_kind: ActorKind
    actor_id: Id


@row
class Conflict(BodyRow):
    """A candidate that came too late: it was to go over a head that had moved.

    ``conflict_id`` is the SHA-256 of the RFC 8785 form of the other header fields.
    ``expected_revision_id`` is what the writer had seen (None: no record),
    ``head_revision_id`` what stood instead. Nothing is ever made of it by itself.
    """

    conflict_id: Id
    package_id: Id
    record_id: Id
    expected_revision_id: Id | None
    head_revision_id: Id
    change: Change
    receipt_id: Id
    actor_kind: ActorKind
    actor_id: Id
    path: Text | None
    media_type: Text | None
    sha256: Text | None
    content: Bytes | None


@row
class Receipt(BodyRow):
    """What an operation leaves: who did what with which outcome.

    ``key_digest`` and ``request_digest`` are HMAC-SHA-256 under the scope's own key
    (`DigestKey`): of the idempotency key and of the bytes that came with it.
    ``details`` holds raw digests, counts and codes, never content.
    """

    receipt_id: Id
    operation: Operation
    outcome: Outcome
    package_id: Id | None
    checkpoint_id: Id | None
    key_digest: Id | None
    request_digest: Id | None
    actor_kind: ActorKind
    actor_id: Id
    details: Json | None


@row
class ReceiptEntry(Row):
    """Finds receipts by time and by package (empty text: about no package)."""

    receipt_id: Id
    recorded_at: Instant
    package_id: Text
    operation: Operation
    outcome: Outcome
    actor_kind: ActorKind
    actor_id: Id


@row
class Idempotency(Row):
    """The receipt of an operation that was called under a key."""

    operation: Operation
    key_digest: Id
    receipt_id: Id
    recorded_at: Instant


@row
class KeyBinding(Row):
    """A key that came with a request which was answered already; local, as keys are."""

    operation: Operation
    key_digest: Id
    request_digest: Id
    receipt_id: Id
    bound_at: Instant


@row
class DigestKey(Row):
    """A scope's own random key for keyed digests, 32 bytes in hex; it never travels."""

    purpose: Id
    secret: Id


REVISION = Relation(
    "revision",
    Revision,
    ("revision_id",),
    keep=Keep.HISTORY,
    paths={"by_record": ("package_id", "record_id", "number")},
    body=(
        "path",
        "role",
        "scope",
        "media_type",
        "source",
        "sha256",
        "canonical_sha256",
        "content",
    ),
)
HEAD = Relation(
    "head", Head, ("package_id", "record_id"), keep=Keep.VIEW, versioned=True
)
REVISION_SIGNATURE = Relation(
    "revision_signature",
    RevisionSignature,
    ("revision_id", "key_id"),
    keep=Keep.HISTORY,
    paths={"by_package": ("package_id",)},
)
CONFLICT = Relation(
    "conflict",
    Conflict,
    ("conflict_id",),
    keep=Keep.HISTORY,
    paths={"by_record": ("package_id", "record_id")},
    body=("path", "media_type", "sha256", "content"),
)
RECEIPT = Relation(
    "receipt", Receipt, ("receipt_id",), keep=Keep.HISTORY, body=("details",)
)
RECEIPT_ENTRY = Relation(
    "receipt_entry",
    ReceiptEntry,
    ("receipt_id",),
    keep=Keep.VIEW,
    paths={
        "by_time": ("recorded_at",),
        "by_package": ("package_id", "recorded_at"),
    },
)
IDEMPOTENCY = Relation(
    "idempotency",
    Idempotency,
    ("operation", "key_digest"),
    keep=Keep.VIEW,
    versioned=True,
)
KEY_BINDING = Relation(
    "key_binding", KeyBinding, ("operation", "key_digest"), keep=Keep.WORK
)
DIGEST_KEY = Relation("digest_key", DigestKey, ("purpose",), keep=Keep.WORK)
