"""A directory store after the power went: what was not synced is gone."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from pathlib import Path

import pytest
from tests.backends.directory_stores import (
    holds_canary,
    opened,
    state_at,
    state_of,
)
from tests.backends.ledger import COMMITS, ERASED_AT, NEXT

from uaix_backends.directory import files, writing
from uaix_core.values.errors import (
    StorageError,
)


class Crash(BaseException):
    """The process is gone."""


def _attempt(store, commit):
    try:
        store.append(commit)
    except (StorageError, Crash, KeyboardInterrupt, MemoryError) as error:
        return False, error
    return True, None


class Disk(files.Calls):
    """Calls that remember what a disk would hold if the power went now.

    Content counts once its file was synced, a name once its folder was.
    """

    def __init__(self, root):
        self.root = root
        self.content = {}
        self.listed = {}
        self.pins = []
        self.left = None
        for name, call in vars(files.Calls).items():
            if isinstance(call, staticmethod):
                setattr(self, name, self._counted(name, call.__func__))

    def _counted(self, name, call):
        def counted(*args, **options):
            if self.left is not None:
                if not self.left:
                    raise Crash
                self.left -= 1
            result = call(*args, **options)
            if name == "open":
                # An inode that is open is not given to another file.
                self.pins.append(os.dup(result))
            if name in ("sync", "sync_data"):
                self._note(args[0])
            return result

        return counted

    def _note(self, fd):
        inode = os.fstat(fd).st_ino
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            self.listed[inode] = {
                name: os.stat(name, dir_fd=fd).st_ino
                for name in os.listdir(fd)  # noqa: PTH208 - of a descriptor
            }
        else:
            self.content[inode] = Path(f"/proc/self/fd/{fd}").read_bytes()

    def restore(self, target):
        """Write what is left after the power went."""
        self._restore(self.root.stat().st_ino, target)

    def _restore(self, inode, target):
        target.mkdir(0o700)
        for name, child in self.listed.get(inode, {}).items():
            if child in self.listed or self._is_folder(child):
                self._restore(child, target / name)
            else:
                (target / name).write_bytes(self.content.get(child, b""))
                (target / name).chmod(0o600)

    def _is_folder(self, inode):
        for fd in self.pins:
            status = os.fstat(fd)
            if status.st_ino == inode:
                return stat.S_ISDIR(status.st_mode)
        return False

    def close(self):
        for fd in self.pins:
            os.close(fd)


def test_what_was_acknowledged_survives_a_power_cut(tmp_path, monkeypatch, states):
    """Wherever the power goes, each acknowledged commit is there and no half one."""
    monkeypatch.setattr(writing, "_SMALL", 0)
    for cut in range(2_000):
        path = tmp_path / f"{cut}"
        disk = Disk(path)
        monkeypatch.setattr(files, "calls", disk)
        opened(path).close()
        disk.left = cut
        acknowledged = 0
        with contextlib.suppress(Crash):
            store = opened(path)
            for commit in COMMITS:
                store.append(commit)
                acknowledged += 1
        monkeypatch.setattr(files, "calls", files.Calls())
        left = tmp_path / "left"
        disk.restore(left)
        disk.close()
        assert state_at(left) in states[acknowledged : acknowledged + 2]
        if acknowledged >= ERASED_AT:
            assert [] == holds_canary(left)
        shutil.rmtree(left)
        shutil.rmtree(path)
        if acknowledged == len(COMMITS):
            break
    assert cut > 50


@pytest.mark.parametrize("step", range(len(COMMITS)))
def test_what_follows_a_crash_survives_a_power_cut(tmp_path, monkeypatch, states, step):
    """What is acknowledged after another's crash doesn't rest on unsynced bytes."""
    for cut in range(1_000):
        path = tmp_path / f"{cut}"
        disk = Disk(path)
        monkeypatch.setattr(files, "calls", disk)
        store = opened(path)
        for commit in COMMITS[:step]:
            store.append(commit)
        other = opened(path)
        state_of(other)
        disk.left = cut
        is_done, _ = _attempt(store, COMMITS[step])
        disk.left = None
        if state_of(other) == states[step]:
            other.append(COMMITS[step])
        for commit in COMMITS[step + 1 : step + 3] or [NEXT]:
            other.append(commit)
        expected = state_of(other)
        monkeypatch.setattr(files, "calls", files.Calls())
        left = tmp_path / "left"
        disk.restore(left)
        disk.close()
        assert expected == state_at(left)
        store.close()
        other.close()
        shutil.rmtree(left)
        shutil.rmtree(path)
        if is_done:
            break
    assert cut > 3
