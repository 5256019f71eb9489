"""What the folder of a store says of itself: sizes, modes, damaged segments."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING, Final

from uaix_backends.directory.scope_files import CACHE, SEGMENT
from uaix_backends.directory.work_log import LOG, WORK
from uaix_backends.examining import Advice, Condition
from uaix_core.values.errors import IntegrityError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from uaix_backends.directory.files import Folder
    from uaix_backends.directory.listing import Listing
    from uaix_backends.directory.root import Root
    from uaix_backends.directory.scope import Scope
    from uaix_backends.directory.scope_tree import TreeState

_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_FILES: Final = {
    SEGMENT: "segment_bytes",
    CACHE: "cache_bytes",
    f"{WORK}/{LOG}": "work_bytes",
}


def examine(
    root: Root, listing: Listing, unaided: Callable[[], Iterable[Scope]]
) -> Condition:
    """Look at all files of a store, and read every ledger without its cache.

    Args:
        root: the folder of the store.
        listing: which scopes it holds.
        unaided: gives the scopes, nothing of them read and no cache used.

    Raises:
        StorageError: the medium failed.

    """
    sizes = dict.fromkeys(_FILES.values(), 0)
    scopes = 0
    is_open = False
    with root.scopes() as parent:
        for name in listing.names():
            folder = parent.folder(name)
            if folder is not None:
                with folder:
                    scopes += 1
                    is_open |= _look(folder, sizes)
    facts = {"scopes": scopes, **sizes}
    advice = [*_about_scopes(listing), *_about_segments(unaided())]
    if is_open:
        advice.append(
            Advice(
                "store.mode",
                "warning",
                "other users of this machine can reach files of the store",
                root.path,
                "chmod -R go= on the folder",
            )
        )
    return Condition(facts, tuple(advice))


def _look(folder: Folder, sizes: dict[str, int]) -> bool:
    """Add the sizes of a scope's files; whether others can reach one of them."""
    is_open = False
    for name, fact in _FILES.items():
        status = folder.status(name)
        if status is not None:
            sizes[fact] += status.st_size
            is_open |= bool(stat.S_IMODE(status.st_mode) & _OTHERS)
    return is_open


def lost(name: str) -> IntegrityError:
    """The error for a folder whose segment lacks what other files follow from."""
    return IntegrityError(
        "the commits of a scope are missing",
        code="storage.segment",
        path=f"scopes/{name}/{SEGMENT}",
    )


def _about_scopes(listing: Listing) -> Iterator[Advice]:
    """Scopes that can't be listed: verifying would not miss them."""
    for name in listing.names():
        error = listing.error_of(name)
        if error is not None:
            yield Advice(error.code, "error", error.message, error.path)
    for name in listing.lost():
        error = lost(name)
        yield Advice(error.code, "error", error.message, error.path)


def _about_segments(scopes: Iterable[Scope]) -> Iterator[Advice]:
    for scope in scopes:
        try:
            tree = scope.tree_state()
        except IntegrityError as error:
            yield Advice(error.code, "error", error.message, error.path)
        else:
            if tree is not None:
                yield from _about_tree(tree)


def _about_tree(tree: TreeState) -> Iterator[Advice]:
    for path in tree.edited:
        yield Advice(
            "tree.edited",
            "warning",
            "this file had been edited when what stood there was erased, and was kept",
            path,
            "remove it, if it holds what was to be erased",
        )
    if tree.is_behind:
        yield Advice(
            "tree.behind",
            "warning",
            "the working tree can't be brought up to date",
            tree.name,
            "look for what stands in its way; the store itself is whole",
        )
