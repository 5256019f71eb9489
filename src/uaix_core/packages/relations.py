"""The relations of the packages room."""

from __future__ import annotations

from typing import Annotated

from uaix_core.history.relations import (
    REVISION,
    ActorKind,
    RequiredStatus,
    ReviewState,
)
from uaix_core.packages.required.sets import MANIFEST_PATH
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
from uaix_core.schema.trees import Tree

PackageState = Annotated[
    str, Word("quarantined", "review_required", "active", "rejected")
]
Origin = Annotated[
    str, Word("install", "restore", "clone", "update", "revise", "branch", "derive")
]
Descent = Annotated[str, Word("clone", "branch", "derivative")]
Disclosure = Annotated[str, Word("none", "private", "public", "sensitive")]


@row
class Checkpoint(BodyRow):
    """A package's manifest as it was stored at one seq, with what it says.

    ``checkpoint_id`` is the SHA-256 of the RFC 8785 form of the other header fields.
    ``manifest`` are the bytes as read, ``manifest_sha256`` their plain SHA-256 (what
    ``basedOn`` names), ``files_sha256`` the digest "files-v1" over the real digests.
    """

    package_id: Id
    checkpoint_id: Id
    parent_checkpoint_id: Id | None
    number: Int
    origin: Origin
    state: PackageState
    ruleset: Id
    file_count: Int
    total_bytes: Int
    receipt_id: Id
    actor_kind: ActorKind
    actor_id: Id
    profile_id: Text | None
    issuer: Text | None
    status: Text | None
    created_utc: Text | None
    declared_scopes: Json | None
    entrypoints: Json | None
    support_boundary: Json | None
    manifest_sha256: Text | None
    files_sha256: Text | None
    manifest: Bytes | None


@row
class Package(Row):
    """A package as it stands: its current checkpoint, state and manifest words.

    The texts are None once the current checkpoint's body was erased.
    """

    package_id: Id
    checkpoint_id: Id
    number: Int
    state: PackageState
    ruleset: Id
    file_count: Int
    total_bytes: Int
    installed_at: Instant
    modified_at: Instant
    profile_id: Text | None
    issuer: Text | None
    status: Text | None
    created_utc: Text | None
    declared_scopes: Json | None
    manifest_sha256: Text | None


@row
class PackageScope(Row):
    """One scope that a package's current manifest declares."""

    package_id: Id
    scope: Text


@row
class PackageFile(Row):
    """One file of a package as its head revision says it is.

    ``dimension_count`` rows of its dimensions stand; ``persona_name`` is the folded
    name that `PersonaName` finds it by.
    """

    package_id: Id
    record_id: Id
    revision_id: Id
    path: Text
    startup_order: Int
    role: Text
    scope: Text
    media_type: Text
    required_status: RequiredStatus
    review_state: ReviewState
    size_bytes: Int
    sha256: Text
    canonical_sha256: Text
    dimension_count: Int
    persona_name: Text | None


@row
class Dimension(Row):
    """One value of one labelled field of a file, as said.

    ``field`` is the recognised or folded name, ``label`` as written, ``section`` the
    folded heading above it. ``depth_level`` is 0 to 10. What isn't stated is None.
    """

    package_id: Id
    record_id: Id
    ordinal: Int
    revision_id: Id
    field: Text
    value: Text
    label: Text
    section: Text
    depth_level: Int | None
    disclosure: Disclosure | None


@row
class PersonaName(Row):
    """Finds packages by the folded name of their persona."""

    name: Text
    package_id: Id


@row
class Lineage(Row):
    """Where a package comes from; its descendants are found by the path."""

    package_id: Id
    from_package_id: Id
    from_checkpoint_id: Id | None
    descent: Descent
    receipt_id: Id


@row
class Derivation(BodyRow):
    """Why a package was made out of another persona, and what is different in it.

    ``changes`` is a list of objects, one of each changed file: its path, the note that
    says what was changed, how its bytes differ (or that it was added or removed), both
    digests, and the names of the fields that differ. Values are in the revisions of
    both packages.
    """

    package_id: Id
    from_package_id: Id
    from_checkpoint_id: Id
    receipt_id: Id
    actor_kind: ActorKind
    actor_id: Id
    reason: Text | None
    changes: Json | None


@row
class Acceptance(BodyRow):
    """An acceptance policy that a scope was given; ``number`` counts them from 1."""

    acceptance_id: Id
    number: Int
    actor_kind: ActorKind
    actor_id: Id
    policy: Json | None


@row
class AcceptanceInForce(Row):
    """The acceptance policy of the scope; None when its text was erased."""

    purpose: Id
    acceptance_id: Id
    number: Int
    policy: Json | None


@row
class CheckpointDigest(Row):
    """Finds checkpoints by the plain digests of their manifest and files."""

    package_id: Id
    manifest_sha256: Text
    files_sha256: Text
    number: Int
    checkpoint_id: Id


CHECKPOINT = Relation(
    "checkpoint",
    Checkpoint,
    ("checkpoint_id",),
    keep=Keep.HISTORY,
    paths={"by_package": ("package_id", "number")},
    body=(
        "profile_id",
        "issuer",
        "status",
        "created_utc",
        "declared_scopes",
        "entrypoints",
        "support_boundary",
        "manifest_sha256",
        "files_sha256",
        "manifest",
    ),
)
PACKAGE = Relation(
    "package",
    Package,
    ("package_id",),
    keep=Keep.VIEW,
    versioned=True,
    tree=Tree(
        "package_id", CHECKPOINT.name, "checkpoint_id", "manifest", name=MANIFEST_PATH
    ),
)
PACKAGE_SCOPE = Relation(
    "package_scope",
    PackageScope,
    ("package_id", "scope"),
    keep=Keep.VIEW,
    paths={"by_scope": ("scope", "package_id")},
)
PACKAGE_FILE = Relation(
    "package_file",
    PackageFile,
    ("package_id", "record_id"),
    keep=Keep.VIEW,
    paths={"by_path": ("package_id", "path")},
    unique=("by_path",),
    versioned=True,
    tree=Tree(
        "package_id",
        REVISION.name,
        "revision_id",
        "content",
        path="path",
        media="media_type",
    ),
)
DIMENSION = Relation(
    "dimension",
    Dimension,
    ("package_id", "record_id", "ordinal"),
    keep=Keep.VIEW,
    paths={"by_field": ("package_id", "field", "record_id", "ordinal")},
)
PERSONA_NAME = Relation(
    "persona_name", PersonaName, ("name", "package_id"), keep=Keep.VIEW
)
LINEAGE = Relation(
    "lineage",
    Lineage,
    ("package_id", "from_package_id"),
    keep=Keep.HISTORY,
    paths={"by_origin": ("from_package_id",)},
)
DERIVATION = Relation(
    "derivation",
    Derivation,
    ("package_id",),
    keep=Keep.HISTORY,
    body=("reason", "changes"),
)
ACCEPTANCE = Relation(
    "acceptance",
    Acceptance,
    ("acceptance_id",),
    keep=Keep.HISTORY,
    paths={"by_number": ("number",)},
    body=("policy",),
)
ACCEPTANCE_IN_FORCE = Relation(
    "acceptance_in_force",
    AcceptanceInForce,
    ("purpose",),
    keep=Keep.VIEW,
    versioned=True,
)
CHECKPOINT_DIGEST = Relation(
    "checkpoint_digest",
    CheckpointDigest,
    ("package_id", "manifest_sha256", "files_sha256", "number"),
    keep=Keep.VIEW,
)
