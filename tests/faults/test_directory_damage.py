"""Torn and damaged files of a directory store, and what is planted in their place."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil

import pytest
from tests.backends.directory_stores import (
    opened,
    segment_of,
    segment_of_folder,
    state_at,
    state_of,
)
from tests.backends.ledger import COMMITS, DAY, NEXT

from uaix_backends.directory import files
from uaix_conformance.examples import (
    OTHER,
    SCOPE,
    fact,
    note,
)
from uaix_core.schema.commits import Commit
from uaix_core.values.errors import (
    IntegrityError,
    StorageError,
)


def test_every_prefix_of_the_last_line_is_old_or_new(full, states):
    """A last line that was cut anywhere is not there or, once whole, is there."""
    segment = segment_of(full)
    whole = segment.read_bytes()
    start = whole.rindex(b"\n", 0, -1) + 1
    shutil.rmtree(segment.parent / "work")
    new = _history(states[-1])
    old = None
    for end in range(start, len(whole) + 1):
        for filler in (b"", b"\0" * 9):
            segment.write_bytes(whole[:end] + filler)
            seen = _history(state_at(full))
            old = old or seen
            assert seen == (new if end >= len(whole) - 1 else old)
            if end % 5 and end < len(whole) - 2:
                continue
            with contextlib.closing(opened(full)) as store:
                store.append(NEXT)
            after = _history(state_at(full))
            assert len(seen[1]) + 1 == len(after[1])
            shutil.rmtree(segment.parent / "work")
    assert len(old[1]) + 1 == len(new[1])


def _history(state):
    """A state without local rows, which the tests of the segment do without."""
    rows, chain, seen, _work = state
    local = ("job", "lease", "vector", "entry")
    return {n: r for n, r in rows.items() if n not in local}, chain, seen


def test_sectors_that_were_never_written_are_torn(root):
    """A last line whose older sectors were lost is cut; the commits before stay."""
    with contextlib.closing(opened(root)) as store:
        store.append(COMMITS[0])
        kept = state_of(store)
    segment = segment_of(root)
    before = segment.read_bytes()
    with contextlib.closing(opened(root)) as store:
        store.append(Commit(SCOPE, DAY, adds=[note(5, title="5", text="x" * 3000)]))
    after = bytearray(segment.read_bytes())
    cut = (len(before) // 512 + 2) * 512
    after[len(before) : cut] = bytes(cut - len(before))
    segment.write_bytes(after)

    assert kept == state_at(root)
    with contextlib.closing(opened(root)) as store:
        store.append(COMMITS[4])
        assert 2 == state_of(store)[2][0]
    assert segment.read_bytes().startswith(before)


@pytest.mark.parametrize(
    "change",
    [lambda b: b ^ 1, lambda b: b ^ 0x20, lambda _: 0, lambda _: 0x0A],
    ids=["low bit", "case bit", "zero", "line end"],
)
def test_a_damaged_byte_is_no_silent_change(root, change):
    """Each byte of a segment, once changed, is refused or changes no answer."""
    with contextlib.closing(opened(root)) as store:
        store.append(COMMITS[0])
        store.append(COMMITS[4])
        expected = state_of(store)
    segment = segment_of(root)
    whole = segment.read_bytes()
    named = 0
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] = change(damaged[at])
        if damaged == whole:
            continue
        segment.write_bytes(damaged)
        try:
            assert expected == state_at(root)
        except IntegrityError as error:
            named += (error.path or "").startswith(SCOPE.text)
            with contextlib.closing(opened(root)) as store, pytest.raises(StorageError):
                store.append(NEXT)
            assert damaged == segment.read_bytes()
    assert named > len(whole) * 0.8


def test_a_damaged_byte_of_local_state_is_no_silent_change(root):
    """Each byte of the log and the intent, once changed, is refused or harmless."""
    with contextlib.closing(opened(root)) as store:
        for commit in COMMITS[:4]:
            store.append(commit)
        expected = state_of(store)
    work = segment_of(root).parent / "work"
    for name in ("log.jsonl", "intent"):
        whole = (work / name).read_bytes()
        for at in range(0, len(whole), 7):
            damaged = bytearray(whole)
            damaged[at] ^= 1
            (work / name).write_bytes(damaged)
            with contextlib.suppress(IntegrityError):
                assert expected == state_at(root)
        (work / name).write_bytes(whole)


def test_a_replaced_line_is_noticed(full):
    """A line of the middle that is gone breaks the chain and is named by its seq."""
    segment = segment_of(full)
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join(lines[:2] + lines[3:]))

    with pytest.raises(IntegrityError) as caught:
        state_at(full)

    assert f"{SCOPE.text}#2" == caught.value.path


def test_a_foreign_segment_is_refused(full):
    """A segment in the folder of another scope is damage, not that scope's history."""
    folder = segment_of(full).parent
    with contextlib.closing(opened(full)) as store:
        store.append(Commit(OTHER, 0, adds=[fact(1)]))
    (other,) = set(full.glob("scopes/*")) - {folder}
    shutil.copy(segment_of_folder(folder), segment_of_folder(other))

    with contextlib.closing(opened(full)) as store:
        with pytest.raises(IntegrityError), store.snapshot(OTHER):
            pass
        with pytest.raises(IntegrityError):
            store.scopes(limit=10)


@pytest.mark.parametrize("kind", ["symlink", "hard link", "fifo", "folder"])
def test_what_is_no_plain_file_is_refused(full, kind):
    """A segment that is a link, a FIFO or a folder is refused without blocking."""
    segment = segment_of(full)
    real = full.parent / "real"
    segment.rename(real)
    match kind:
        case "symlink":
            segment.symlink_to(real)
        case "hard link":
            segment.hardlink_to(real)
        case "fifo":
            os.mkfifo(segment)
        case "folder":
            segment.mkdir()
    before = real.read_bytes()
    with contextlib.closing(opened(full)) as store:
        for use in (
            lambda: state_of(store),
            lambda: store.append(NEXT),
            lambda: store.scopes(limit=9),
            lambda: store.due("job", until=DAY, limit=9),
        ):
            with pytest.raises(StorageError) as caught:
                use()
            assert "storage.file" == caught.value.code

    assert before == real.read_bytes()


def test_a_linked_folder_is_not_followed(full):
    """A scope's folder that is a symlink is refused."""
    folder = segment_of(full).parent
    real = full.parent / "real"
    folder.rename(real)
    folder.symlink_to(real)

    with contextlib.closing(opened(full)) as store:
        for use in (
            lambda: state_of(store),
            lambda: store.scopes(limit=9),
            lambda: store.due("job", until=DAY, limit=9),
        ):
            with pytest.raises(StorageError) as error:
                use()
            assert "storage.file" == error.value.code


@pytest.mark.parametrize("call", ["open", "read", "listdir", "stat"])
def test_a_failing_medium_is_told_by_every_listing(full, monkeypatch, call):
    """Whatever a listing of scopes stumbles over, the error is one of ours."""
    with contextlib.closing(opened(full)) as store:

        def fail(*_arguments, **_named):
            raise OSError(errno.EIO, "failed")

        if call == "open":
            monkeypatch.setattr(files.calls, "open", fail)
        else:
            monkeypatch.setattr(os, "pread" if call == "read" else call, fail)
        for use in (
            lambda: store.scopes(limit=9),
            lambda: store.due("job", until=DAY, limit=9),
        ):
            with pytest.raises(StorageError) as caught:
                use()
            assert "storage.io" == caught.value.code
        monkeypatch.undo()


def test_a_huge_hole_is_not_read(full, states):
    """A file that was lengthened by a terabyte of nothing reads as before."""
    os.truncate(segment_of(full), 1 << 40)

    assert states[-1] == state_at(full)
    with contextlib.closing(opened(full)) as store:
        store.append(NEXT)
    assert segment_of(full).stat().st_size < 1 << 20
