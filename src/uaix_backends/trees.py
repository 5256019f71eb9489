"""The working tree of a store as something that people have edited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_backends.directory import DirectoryStore
from uaix_core.packages.edits import EditedFiles
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.values.errors import CallerError

if TYPE_CHECKING:
    from uaix_core.store.port import Store
    from uaix_core.values.ids import ScopeId


def edited_tree(store: Store, scope: ScopeId, package_id: str) -> EditedFiles:
    """What people have edited of a package in the working tree of its store.

    Each file is compared with the revision that was written there last, so that the
    edit of a file which the store has moved on from is a conflict.

    Raises:
        CallerError: ``tree.none`` for a store that shows no tree, or not this package.
        StorageError: the medium failed.

    """
    found = None
    if isinstance(store, DirectoryStore):
        found = store.read_tree(scope, package_id)
    if found is None or MANIFEST_PATH not in found.written:
        raise CallerError(
            "the store shows no working tree of the package",
            code="tree.none",
            path=package_id,
            hint="export it to a folder, and name that",
        )
    bases = {path: written.key for path, written in found.written.items()}
    return EditedFiles(
        found.files,
        based_on=bases.pop(MANIFEST_PATH),
        bases=bases,
        others=frozenset(found.others),
        is_whole=False,
    )
