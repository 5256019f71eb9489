"""Writes to a store as no verb would: the defects that a start-up has to notice.

A store may come to hold them by a faulty writer, a damaged copy, or somebody who has
access to it. What they write here is well-formed for the store itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import attrs

from uaix_core.history.relations import REVISION, Revision
from uaix_core.packages.install import decide_install
from uaix_core.schema.commits import Commit
from uaix_core.values.canonical import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Collection

    from uaix_core import PackageSource, Session
    from uaix_core.schema.rows import Row

_SALT = b"s" * 16


def plant(session: Session, source: PackageSource, without: Collection[str]) -> None:
    """Store a valid package, but without the revisions at some paths."""
    report = session.packages.lint(source)
    with session.snapshot() as snapshot:
        decided = decide_install(snapshot, session.writing(), report, None)
    commit = cast("Commit", decided)
    kept = [
        row
        for row in commit.adds
        if not (isinstance(row, Revision) and row.path in without)
    ]
    session.store.append(attrs.evolve(commit, adds=kept))


def damage(
    session: Session,
    package_id: str,
    *,
    erased: str | None = None,
    retired: str | None = None,
) -> None:
    """Erase the revision at one path, or retire the record at one."""
    now = session.clock.now()
    if erased is not None:
        row = session.packages.record(package_id, erased).revision
        name = (REVISION.name, (row.revision_id,))
        session.store.append(Commit(session.scope, now, erases=(name,)))
    if retired is not None:
        row = session.packages.record(package_id, retired).revision
        session.store.append(Commit(session.scope, now, adds=(_tombstone(row),)))


def _tombstone(row: Revision) -> Row:
    fields: dict[str, Any] = {
        name: getattr(row, name)
        for name in REVISION.columns
        if name not in ("revision_id", "salt", "body_digest")
    }
    after = {
        "parent_revision_id": row.revision_id,
        "number": row.number + 1,
        "change": "tombstone",
        "content": b"",
        "size_bytes": 0,
        "sha256": sha256_hex(b""),
        "canonical_sha256": "",
    }
    return REVISION.named_by_header("revision_id", _SALT, **fields | after)
