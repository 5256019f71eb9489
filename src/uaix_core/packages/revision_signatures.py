"""Signatures of revisions: a key says of one revision that it stands behind it.

A revision's id is the digest of its header, which holds the id of its parent and the
digest of its body. So the statement over one id covers the whole chain before it, and
nothing in it can be another without the id being another.

Source: RFC 8032 (Ed25519).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, cast

import attrs

from uaix_core.history.receipts import receipt_row
from uaix_core.history.relations import (
    HEAD,
    REVISION,
    REVISION_SIGNATURE,
    RevisionSignature,
)
from uaix_core.packages.ed25519 import (
    SIGNATURE_BYTES,
    is_signature,
    key_id,
    public_key_of,
    signature_of,
)
from uaix_core.packages.export import find_package
from uaix_core.packages.revisions import file_at
from uaix_core.schema.commits import Commit, Expect
from uaix_core.store.scanning import all_rows
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from uaix_core.history.receipts import Writing
    from uaix_core.history.relations import Head, Revision
    from uaix_core.store.port import Snapshot

#: What a statement begins with, so that it can't be taken for one about anything else.
_DOMAIN: Final = b"uaix.revision.v1\0"

#: A trusted key stands behind the revision itself; behind a later one of its chain; no
#: trusted key does; or a signature of a trusted key isn't one.
Standing = Literal["signed", "covered", "unsigned", "bad"]
Fault = Literal["revision.name", "revision.body", "revision.chain"]


@attrs.frozen
class RevisionCheck:
    """What the signatures say of one revision, and what is wrong with it itself.

    ``keys`` are the ids of the trusted keys that have signed it, ``untrusted`` those of
    other keys, whose signatures are not looked at.
    """

    revision_id: str
    record_id: str
    number: int
    standing: Standing
    keys: tuple[str, ...] = ()
    untrusted: tuple[str, ...] = ()
    fault: Fault | None = None

    def as_dict(self) -> dict[str, Any]:
        """The check as plain data."""
        return attrs.asdict(self)


@attrs.frozen
class RevisionReport:
    """All revisions of a package, record by record, each after its parent."""

    package_id: str
    checks: tuple[RevisionCheck, ...]

    @property
    def is_sound(self) -> bool:
        """Whether every chain is whole, and no trusted key's signature is bad."""
        return all(c.fault is None and c.standing != "bad" for c in self.checks)

    @property
    def is_signed(self) -> bool:
        """Whether it is sound and a trusted key stands behind every revision."""
        return self.is_sound and all(
            check.standing in ("signed", "covered") for check in self.checks
        )

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "package_id": self.package_id,
            "sound": self.is_sound,
            "signed": self.is_signed,
            "checks": [check.as_dict() for check in self.checks],
        }


def decide_signing(
    snapshot: Snapshot,
    writing: Writing,
    package_id: str,
    paths: Collection[str] | None,
    private_key: bytes,
) -> Commit | None:
    """The commit that signs the heads of some records; None when all are signed.

    Raises:
        NotFoundError: ``package.not-found``, ``record.not-found``.
        CallerError: ``signature.key``.

    """
    find_package(snapshot, package_id)
    name = key_id(public_key_of(private_key))
    heads = _heads(snapshot, package_id)
    if paths is not None:
        wanted = {file_at(snapshot, package_id, path).record_id for path in paths}
        heads = [head for head in heads if head.record_id in wanted]
    signed = {
        row.revision_id
        for row in _signatures(snapshot, package_id)
        if row.key_id == name
    }
    heads = [head for head in heads if head.revision_id not in signed]
    if not heads:
        return None
    receipt_id = writing.ids.new()
    rows = [
        RevisionSignature(
            head.revision_id,
            name,
            package_id,
            signature_of(private_key, _message(head.revision_id)).hex(),
            receipt_id,
            writing.principal.kind,
            writing.principal.id,
        )
        for head in heads
    ]
    receipt = receipt_row(
        writing,
        receipt_id,
        operation="sign",
        outcome="accepted",
        details={"key_id": name, "revisions": len(rows)},
        package_id=package_id,
    )
    expects = [
        Expect(HEAD.name, (package_id, head.record_id), head.version) for head in heads
    ]
    return Commit(
        writing.scope, writing.now, expects=tuple(expects), adds=(*rows, receipt)
    )


def read_signatures(
    snapshot: Snapshot, package_id: str, trusted: Mapping[str, bytes]
) -> RevisionReport:
    """Verify all revisions of a package, and what trusted keys say of them.

    Args:
        snapshot: the scope as it stands.
        package_id: which package.
        trusted: public keys (32 raw bytes) by their key ids.

    Raises:
        NotFoundError: ``package.not-found``.
        CallerError: ``signature.key-id`` for a key under another id than its own.

    """
    for name, key in trusted.items():
        if key_id(key) != name:
            raise CallerError(
                "a trusted key stands under another id",
                code="signature.key-id",
                path="trusted",
            )
    find_package(snapshot, package_id)
    found: dict[str, list[RevisionSignature]] = {}
    for row in _signatures(snapshot, package_id):
        found.setdefault(row.revision_id, []).append(row)
    checks: list[RevisionCheck] = []
    chain: list[RevisionCheck] = []
    before: Revision | None = None
    for revision in _revisions(snapshot, package_id):
        if before is not None and before.record_id != revision.record_id:
            checks += _covered(chain)
            chain, before = [], None
        chain.append(
            _check(revision, before, found.get(revision.revision_id, []), trusted)
        )
        before = revision
    return RevisionReport(package_id, (*checks, *_covered(chain)))


def _check(
    revision: Revision,
    before: Revision | None,
    signatures: Collection[RevisionSignature],
    trusted: Mapping[str, bytes],
) -> RevisionCheck:
    known = [row for row in signatures if row.key_id in trusted]
    good = tuple(row.key_id for row in known if _is_good(row, trusted[row.key_id]))
    standing: Standing = "signed" if good else "unsigned"
    return RevisionCheck(
        revision.revision_id,
        revision.record_id,
        revision.number,
        "bad" if len(good) < len(known) else standing,
        good,
        tuple(row.key_id for row in signatures if row.key_id not in trusted),
        _fault(revision, before),
    )


def _is_good(row: RevisionSignature, key: bytes) -> bool:
    try:
        signature = bytes.fromhex(row.signature)
    except ValueError:
        return False
    is_whole = len(signature) == SIGNATURE_BYTES
    return is_whole and is_signature(key, signature, _message(row.revision_id))


def _fault(revision: Revision, before: Revision | None) -> Fault | None:
    parent, number = None, 1
    if before is not None:
        parent, number = before.revision_id, before.number + 1
    if (revision.parent_revision_id, revision.number) != (parent, number):
        return "revision.chain"
    if REVISION.header_name(revision, "revision_id") != revision.revision_id:
        return "revision.name"
    if REVISION.has_body(revision) and (
        REVISION.digest_body(revision) != revision.body_digest
    ):
        return "revision.body"
    return None


def _covered(chain: list[RevisionCheck]) -> list[RevisionCheck]:
    """The checks of one record: what a sound later revision was signed with counts."""
    checks: list[RevisionCheck] = []
    is_covered = False
    for check in reversed(chain):
        if check.fault is not None:
            is_covered = False
        elif check.standing == "signed":
            is_covered = True
        elif check.standing == "unsigned" and is_covered:
            check = attrs.evolve(check, standing="covered")  # noqa: PLW2901
        checks.append(check)
    return checks[::-1]


def _message(revision_id: str) -> bytes:
    return _DOMAIN + revision_id.encode("ascii")


def _heads(snapshot: Snapshot, package_id: str) -> list[Head]:
    rows = all_rows(snapshot, HEAD, prefix=(package_id,))
    return cast("list[Head]", list(rows))


def _signatures(snapshot: Snapshot, package_id: str) -> Iterator[RevisionSignature]:
    rows = all_rows(snapshot, REVISION_SIGNATURE, "by_package", (package_id,))
    return cast("Iterator[RevisionSignature]", rows)


def _revisions(snapshot: Snapshot, package_id: str) -> Iterator[Revision]:
    rows = all_rows(snapshot, REVISION, "by_record", (package_id,))
    return cast("Iterator[Revision]", rows)
