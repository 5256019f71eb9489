"""Counting the calls that touch a disk, and letting one of them kill or fail.

All of it patches the process that it runs in, so it is used in children only.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import signal
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from uaix_backends.directory import files

if TYPE_CHECKING:
    from collections.abc import Callable

#: Calls after which a disk holds something else than before.
CHANGES: Final = frozenset(
    {"make", "write", "truncate", "sync", "rename", "link", "unlink", "mkdir"}
)
#: Those of them that change content and not names.
CONTENT: Final = frozenset({"write", "truncate", "sync"})
#: Calls that give a descriptor.
OPENS: Final = frozenset({"make", "open"})
#: Calls that only look.
LOOKS: Final = frozenset({"open", "read", "list", "stat"})


class Plan(NamedTuple):
    """At which call what happens; calls are counted from 0."""

    at: int
    #: ``kill`` the process, or the name of an error: ``EIO``, ``ENOSPC``.
    what: str = "kill"
    #: ``before`` the call, ``within`` it (a part of a write is done), or ``after`` it.
    when: str = "before"
    #: Whether every later call fails too.
    is_sticky: bool = False
    #: The kinds of calls that are counted.
    kinds: frozenset[str] = CHANGES


class Meter:
    """Counts calls while it is armed, and carries out a plan."""

    def __init__(self, plan: Plan | None, kinds: frozenset[str] = CHANGES) -> None:
        self.plan = plan
        self.kinds = plan.kinds if plan else kinds
        self.is_armed = False
        #: The kind of each call that was counted.
        self.met: list[str] = []
        #: Open files whose sync has failed, and how often one was synced again.
        self.failed: set[Any] = set()
        self.second_syncs = 0

    @property
    def was_reached(self) -> bool:
        """Whether the plan was carried out."""
        return self.plan is not None and len(self.met) > self.plan.at

    def sync(self, file: Any, do: Callable[[], Any]) -> Any:
        """Sync a file; a second time after a failure is noted."""
        self.second_syncs += file in self.failed
        try:
            return self.call("sync", do)
        except OSError:
            self.failed.add(file)
            raise

    def call(
        self,
        kind: str,
        do: Callable[[], Any],
        half: Callable[[], Any] = lambda: None,
    ) -> Any:
        """Do it, unless the plan says otherwise; ``half`` does a part of it."""
        if not self.is_armed or kind not in self.kinds:
            return do()
        number = len(self.met)
        self.met.append(kind)
        plan = self.plan
        if (
            plan is None
            or number < plan.at
            or (number > plan.at and not plan.is_sticky)
        ):
            return do()
        if plan.when == "after":
            # A call that fails, as that of removing what isn't there, was made too.
            with contextlib.suppress(OSError):
                do()
        elif plan.when == "within" and number == plan.at:
            half()
        if plan.what == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(getattr(errno, plan.what), "made up")


#: What else of `os` is counted, and as what.
_COUNTED: Final = {
    "truncate": "truncate",
    "ftruncate": "truncate",
    "rename": "rename",
    "replace": "rename",
    "link": "link",
    "unlink": "unlink",
    "rmdir": "unlink",
    "mkdir": "mkdir",
    "read": "read",
    "pread": "read",
    "listdir": "list",
    "scandir": "list",
    "stat": "stat",
}
#: The calls of the directory store, and those of `os` that they are.
_OF_THE_STORE: Final = {
    "open": "open",
    "write": "write",
    "truncate": "truncate",
    "sync_data": "fdatasync",
    "sync": "fsync",
    "rename": "rename",
    "unlink": "unlink",
    "mkdir": "mkdir",
}


def meter_system(meter: Meter) -> None:
    """Let what this process does through `os`, and the directory store, be counted."""
    _meter_files(meter)

    def counted(kind: str, call: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **options: meter.call(kind, lambda: call(*args, **options))

    for name, kind in _COUNTED.items():
        setattr(os, name, counted(kind, getattr(os, name)))
    calls = files.Calls()
    for ours, name in _OF_THE_STORE.items():
        setattr(calls, ours, getattr(os, name))
    files.calls = calls


def _meter_files(meter: Meter) -> None:
    open_, write, fdopen_, close = os.open, os.write, os.fdopen, os.close

    def opening(path: Any, flags: int, *args: Any, **options: Any) -> int:
        kind = "make" if flags & (os.O_CREAT | os.O_TRUNC) else "open"
        return meter.call(kind, lambda: open_(path, flags, *args, **options))

    def writing(fd: int, data: bytes) -> int:
        part = bytes(data)[: len(data) // 2]
        return meter.call("write", lambda: write(fd, data), lambda: write(fd, part))

    def syncing(fd: int) -> None:
        # What a process has written outlives it without a sync.
        meter.sync(fd, lambda: None)

    def closing(fd: int) -> None:
        meter.failed.discard(fd)
        close(fd)

    class Raw(io.FileIO):
        def write(self, data: Any) -> int:
            into = super().write
            part = bytes(data)[: len(data) // 2]
            return meter.call("write", lambda: into(data), lambda: into(part))

        def close(self) -> None:
            meter.failed.discard(-1 if self.closed else self.fileno())
            super().close()

    def fdopen(fd: int, mode: str = "r", buffering: int = -1, **options: Any) -> Any:
        if mode != "wb":
            return fdopen_(fd, mode, buffering, **options)
        raw = Raw(fd, "w")
        return raw if not buffering else io.BufferedWriter(raw, max(buffering, 1))

    os.open, os.write, os.fdopen, os.close = opening, writing, fdopen, closing
    os.fsync = os.fdatasync = syncing
