"""Writing a change into the files of a scope, whole or not at all.

The line of the segment is the commit: history is there once its line is, and local
rows that belong to it are in the intent before. Local rows alone are there once their
line of the log is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from uaix_backends.directory import work_log
from uaix_backends.directory.files import outcome_unknown, replaced, storage_error
from uaix_backends.directory.segment import SEGMENT, commit_line, head_line
from uaix_backends.directory.work_log import INTENT, LOG, NEW_LOG, WORK, Entry, Intent

if TYPE_CHECKING:
    from uaix_backends.directory.files import File, Folder
    from uaix_backends.directory.loaded import Loaded
    from uaix_core.store.advance import Advance
    from uaix_core.store.tables import Tables

#: A log that has not grown by this much is not worth rewriting.
_SMALL: Final = 1 << 16


class Writing:
    """The files of one scope while its lock is held and the files are caught up with.

    ``loaded`` is at every moment a state that the files hold, or None once nobody can
    tell what they hold.
    """

    def __init__(self, loaded: Loaded, folder: Folder, parent: Folder) -> None:
        self.known = loaded
        self.loaded: Loaded | None = loaded
        self.folder = folder
        self.parent = parent
        self.schema = loaded.tables.schema
        self.scope = loaded.tables.scope

    def keep(self, loaded: Loaded) -> None:
        """Make this the state to go on from."""
        self.known = self.loaded = loaded

    def unknown(self, seq: int) -> Exception:
        """Forget the state; the error that says so."""
        self.loaded = None
        return outcome_unknown(f"{self.scope.text}#{seq}")

    def write(self, change: Advance) -> None:
        """Make a change that erases nothing durable."""
        try:
            if change.mark.seq > self.known.tables.mark.seq:
                self._write_history(change)
            else:
                self._write_local(change)
        except OSError as error:
            raise storage_error(error, self.scope.text) from error
        self._compact_when_dead()

    def _write_history(self, change: Advance) -> None:
        tables = self.known.tables
        intent = None
        if change.work > tables.work:
            intent = self.intent_of(change, is_erasure=False)
            self.settle()
            self.put_intent(intent)
        self._append_segment(commit_line(self.schema, change.recorded), change)
        known = self.known._replace(tables=tables.apply(change))
        if intent is not None:
            status = self.folder.status(f"{WORK}/{INTENT}")
            seen = None if status is None else work_log_seen(status)
            known = known._replace(pending=intent, intent=seen)
        self.keep(known)
