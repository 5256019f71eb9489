"""The working tree of one scope: rows as plain files that people may edit.

It follows the ledger and is no part of it. A commit is written into the tree once it
is durable; whatever fails there fails no commit, and is made up for by a later one or
when the scope is first read. Only erasures come first here and then in the ledger.
"""

from __future__ import annotations

import contextlib
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from uaix_backends.directory.files import is_other
from uaix_backends.directory.root import TREE
from uaix_backends.directory.tree_forgetting import forget, keys_in, still_edited
from uaix_backends.directory.tree_notes import (
    NEW,
    NOTES,
    PLACE,
    Place,
    noted_folders,
    put_place,
    read_place,
)
from uaix_backends.directory.tree_reading import TreeContents, noted, read_files
from uaix_backends.directory.tree_rows import (
    all_rows,
    has_news,
    has_rows,
    rows_of,
    touched,
)
from uaix_backends.directory.tree_showing import Doubt, Showing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from uaix_backends.directory.files import Folder
    from uaix_backends.directory.root import Root
    from uaix_core.schema.relations import Ref
    from uaix_core.store.advance import Advance
    from uaix_core.store.tables import Tables

#: No state is known to be shown.
_NONE: Final = -1


@cache
def this_boot() -> str:
    """A name of this run of the system; empty where the system has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except (OSError, ValueError):
        return ""


class TreeState(NamedTuple):
    """How a tree stands, as an operator wants to know it."""

    #: Where it is, from the folder of the store.
    name: str
    #: Whether it couldn't be brought up to date.
    is_behind: bool
    #: Files of the store that stayed when the bytes below them were erased.
    edited: Sequence[str] = ()


class ScopeTree:
    """The tree of one scope and what is known of it.

    Everything but `lags` and `edited` needs the scope's lock, and all of it the
    folders of the store held open (`Root.scopes`).

    Args:
        root: the folder of the store.
        name: that of the scope's folders.
        is_on: whether commits are shown; erasures reach the tree in any case.

    """

    def __init__(self, root: Root, name: str, *, is_on: bool) -> None:
        self._root = root
        self._name = name
        self.is_on = is_on
        #: Whether somebody has looked whether the tree lags behind.
        self.is_checked = not is_on
        self._shown_seq = _NONE
        #: Whether the tree says itself how far it is.
        self.is_noted = True

    @contextmanager
    def _folder(self, *, create: bool = False) -> Iterator[Folder | None]:
        """The folder of the scope's tree, None where there is none."""
        outer = self._root.tree(create=create)
        if outer is None:
            yield None
            return
        with outer:
            inner = outer.folder(self._name, create=create)
            if inner is None:
                yield None
                return
            with inner:
                yield inner

    # Following the ledger

    def follow(self, before: Tables, change: Advance, after: Tables) -> None:
        """Show a change that is durable; what fails is left for the next time."""
        if not self.is_on or after.mark.seq == before.mark.seq:
            return
        names = touched(after.schema, change)
        if not names and self._shown_seq == before.mark.seq:
            self._shown_seq = after.mark.seq
            self.is_noted = False
            return
        with contextlib.suppress(OSError, MemoryError):
            with self._folder() as tree:
                is_current = self._is_current(tree, before)
            self._shown_seq = _NONE
            if not is_current:
                self._show(after)
            elif names:
                self._show(after, names, before)
            else:
                self._shown_seq = after.mark.seq
                self.is_noted = False

    def catch_up(self, tables: Tables, *, looks: bool = False) -> None:
        """Show a state whatever was shown before.

        Args:
            tables: the state.
            looks: look at every file, also at those that were noted: one that is
                missing is written anew.

        Raises:
            OSError: the medium failed.

        """
        self._shown_seq = _NONE
        if self.is_on:
            self._show(tables, looks=looks)

    def _show(
        self,
        tables: Tables,
        names: set[str] | None = None,
        before: Tables | None = None,
        *,
        looks: bool = False,
    ) -> None:
        """Bring these folders up to date, or all when none are named."""
        needs_tree = names is not None or has_rows(tables)
        doubt = Doubt.MISSING if looks else Doubt.NONE
        with self._folder(create=needs_tree) as tree:
            notes = tree.folder(NOTES, create=True) if tree is not None else None
            if tree is not None and notes is not None:
                with notes:
                    place = read_place(tree)
                    if tree.status(PLACE) is None:
                        # It makes a power cut known that comes before all is written.
                        put_place(tree, Place(boot=this_boot()))
                    elif place.boot != this_boot():
                        # What was written under another run may have been lost.
                        doubt = Doubt.BLANK
                    if names is None:
                        self._show_all(tree, notes, tables, doubt)
                    for name in sorted(names or ()):
                        showing = Showing(tree, notes, name)
                        if before is not None:
                            showing.knows(before)
                        showing.show(tables, rows_of(tables, name))
                    place = still_edited(tree, notes, place)
                    put_place(tree, place.at(tables.mark, this_boot()))
        self._shown_seq = tables.mark.seq
        self.is_checked = self.is_noted = True

    def _show_all(
        self, tree: Folder, notes: Folder, tables: Tables, doubt: Doubt
    ) -> None:
        # What a killed writer left may hold anything.
        tree.remove(NEW)
        notes.remove(NEW)
        rows = all_rows(tables)
        for name in sorted({*rows, *noted_folders(notes)}):
            Showing(tree, notes, name, doubt).show(tables, rows.get(name, {}))

    def distrust(self) -> None:
        """Know nothing any more, because the ledger may be another than it seemed."""
        self._shown_seq = _NONE
        self.is_checked = not self.is_on

    def note(self, tables: Tables) -> None:
        """Note how far the tree is, when commits went by that changed no file of it.

        Raises:
            OSError: the medium failed.

        """
        if self.is_on and not self.is_noted and self._shown_seq == tables.mark.seq:
            with self._folder() as tree:
                if tree is not None and tree.status(PLACE) is not None:
                    place = read_place(tree)
                    put_place(tree, place.at(tables.mark, this_boot()))
            self.is_noted = True

    # Erasing

    def forget(self, tables: Tables, refs: Iterable[Ref]) -> None:
        """Let no file hold the bodies of these rows, durably.

        Raises:
            OSError: the medium failed; the bodies must not be erased elsewhere then.

        """
        keys = keys_in(tables.schema, refs)
        if not keys:
            return
        self._shown_seq = _NONE
        with contextlib.ExitStack() as stack:
            try:
                tree = stack.enter_context(self._folder())
            except OSError as error:
                if not is_other(error):
                    raise
                # Something else stands there, which isn't ours.
                return
            notes = tree.folder(NOTES, create=True) if tree is not None else None
            if tree is not None and notes is not None:
                with notes:
                    forget(tree, notes, tables, keys)

    # Looking

    def lags(self, tables: Tables) -> bool:
        """Whether the tree may show another state than this one.

        Raises:
            OSError: it can't be told.

        """
        with self._folder() as tree:
            return not self._is_current(tree, tables)

    def edited(self) -> list[str]:
        """Files of the store that stayed when the bytes below them were erased.

        Raises:
            OSError: it can't be told.

        """
        with self._folder() as tree:
            notes = tree.folder(NOTES) if tree is not None else None
            if tree is None or notes is None:
                return []
            with notes:
                pairs = still_edited(tree, notes, read_place(tree)).edited
        return sorted(f"{self.name}/{folder}/{path}" for folder, path in pairs)

    @property
    def name(self) -> str:
        """Where the tree is, from the folder of the store."""
        return f"{TREE}/{self._name}"

    def path(self, name: str) -> Path | None:
        """Where a folder of the tree is; None where there is none.

        Raises:
            OSError: it can't be told.

        """
        with self._inner(name) as found:
            if found is None:
                return None
            return Path(self._root.path, TREE, self._name, name)

    def read(self, name: str, tables: Tables) -> TreeContents | None:
        """What stands in a folder of the tree; None where there is none.

        Raises:
            OSError: it can't be told.

        """
        with self._inner(name) as found:
            if found is None:
                return None
            files, others = read_files(found)
        with self._folder() as tree:
            written = {} if tree is None else noted(tree, name)
        return TreeContents(files, others, written, is_behind=self.lags(tables))

    @contextmanager
    def _inner(self, name: str) -> Iterator[Folder | None]:
        """A folder of the tree."""
        with self._folder() as tree:
            inner = tree.folder(name) if tree is not None else None
            if inner is None:
                yield None
                return
            with inner:
                yield inner

    def _is_current(self, tree: Folder | None, tables: Tables) -> bool:
        if tree is None:
            return not has_rows(tables)
        place, mark = read_place(tree), tables.mark
        return (
            # Whoever was killed while writing a note left a file on its way.
            tree.status(NEW) is None
            and place.boot == this_boot()
            and 0 < place.seq <= mark.seq
            and tables.digest_at(place.seq) == place.digest
            and not has_news(tables, max(place.seq, self._shown_seq))
        )
