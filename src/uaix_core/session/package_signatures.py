"""The package verbs about signed revisions: sign_revisions, verify_revisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from uaix_core.packages.answers import receipt_in
from uaix_core.packages.ed25519 import key_id, public_key_of
from uaix_core.packages.revision_signatures import (
    RevisionReport,
    decide_signing,
    read_signatures,
)
from uaix_core.session.package_descents import PackageDescents
from uaix_core.session.writes import write
from uaix_core.values.arguments import check_mapping, check_texts

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from uaix_core.schema.commits import Commit, Recorded
    from uaix_core.store.port import Snapshot


@attrs.frozen
class SignedRevisions:
    """The answer to signing: how many revisions the key has newly signed.

    ``receipt`` is None when it had signed all of them before.
    """

    key_id: str
    revisions: int
    receipt: str | None
    is_staged: bool = False


class PackageSignatures(PackageDescents):
    """Signing revisions, and finding out who stands behind them."""

    def sign_revisions(
        self,
        package_id: str,
        private_key: bytes,
        *,
        paths: Collection[str] | None = None,
    ) -> SignedRevisions:
        """Sign the current revisions of a package, and with them all before them.

        Args:
            package_id: which package.
            private_key: Ed25519, 32 raw bytes; it is used and not kept.
            paths: the files whose records are signed; None for all records,
                tombstoned ones included.

        Raises:
            NotFoundError: ``package.not-found``, ``record.not-found``.
            CallerError: ``signature.key``.

        """
        writing = self._work.writing()
        named = None if paths is None else check_texts(paths, "paths")

        def decided(snapshot: Snapshot) -> Commit | None:
            return decide_signing(snapshot, writing, package_id, named, private_key)

        recorded: Recorded | None = write(self._work.store, self._work.scope, decided)
        name = key_id(public_key_of(private_key))
        if recorded is None:
            return SignedRevisions(name, 0, None)
        return SignedRevisions(
            name,
            len(recorded.commit.adds) - 1,
            receipt_in(recorded).receipt_id,
            is_staged=self._work.is_staged,
        )

    def verify_revisions(
        self, package_id: str, trusted: Mapping[str, bytes]
    ) -> RevisionReport:
        """Verify every chain of a package and what trusted keys say of it.

        Args:
            package_id: which package.
            trusted: public keys (32 raw bytes) by their key ids.

        Raises:
            NotFoundError: ``package.not-found``.
            CallerError: ``signature.key-id``.

        """
        with self._work.snapshot() as snapshot:
            keys = check_mapping(trusted, "trusted")
            return read_signatures(snapshot, package_id, keys)
