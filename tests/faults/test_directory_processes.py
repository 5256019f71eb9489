"""Processes that share a directory store, and files that change under it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

import pytest
from tests.backends.directory_stores import (
    opened,
    segment_of,
    segment_of_folder,
    state_at,
    state_of,
)
from tests.backends.ledger import COMMITS, NEXT

from uaix_conformance.schema import KIT
from uaix_core.values.errors import (
    ClosedError,
    StorageError,
)

WRITER = """
import sys
from uaix_conformance.examples import SCOPE, fact, job
from uaix_conformance.schema import KIT
from uaix_backends.directory import DirectoryStore
from uaix_core.schema.commits import Commit

store = DirectoryStore.open(sys.argv[1], schema=KIT, busy_timeout_s=60)
for i in range(int(sys.argv[3])):
    puts = [job(int(sys.argv[2]))] if i % 3 == 0 else []
    store.append(Commit(SCOPE, 0, adds=[fact(i, subject=f"w{sys.argv[2]}")], puts=puts))
    print(i, flush=True)
"""


def _writer(path, name, count):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, path, name, count], stdout=subprocess.PIPE
    )


def test_two_processes_append_to_one_chain(root):
    """Two processes of a hundred commits each end in one dense chain of all."""
    opened(root).close()
    for writer in [_writer(root, str(n), "100") for n in (1, 2)]:
        writer.communicate()
        assert 0 == writer.returncode

    _rows, chain, _seen, work = state_at(root)
    assert list(range(1, 201)) == [seq for seq, _at, _digest in chain]
    assert 68 == work


def test_a_killed_writer_loses_nothing_that_it_had_acknowledged(root):
    """What a process had acknowledged when it was killed is there, in a dense chain."""
    opened(root).close()
    for name in range(6):
        writer = _writer(root, str(name), "1000")
        for _ in range(5 + name):
            acknowledged = int(writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
        rest, _ = writer.communicate()
        acknowledged = max([acknowledged, *map(int, rest.split()[:-1])])

        rows, chain, _seen, _work = state_at(root)
        assert list(range(1, len(chain) + 1)) == [seq for seq, _at, _digest in chain]
        of_it = [v for v, _version in rows["fact"] if v[KEY_OF_SUBJECT] == f"w{name}"]
        assert len(of_it) > acknowledged


KEY_OF_SUBJECT = KIT.relation("fact").columns.index("subject")


@pytest.mark.parametrize("what", ["store", "scopes", "scope", "segment"])
def test_a_store_that_was_replaced_is_noticed(full, what):
    """A folder or file that is gone or another one is refused, and nothing written."""
    with contextlib.closing(opened(full)) as store:
        state_of(store)
        path = {
            "store": full,
            "scopes": full / "scopes",
            "scope": segment_of(full).parent,
            "segment": segment_of(full),
        }[what]
        aside = full.parent / "aside"
        path.rename(aside)
        for restored in (False, True):
            if restored and path != segment_of_folder(path.parent):
                path.mkdir(0o700)
            for use in (lambda: store.append(NEXT), lambda: state_of(store)):
                with pytest.raises(StorageError) as caught:
                    use()
                assert "storage.replaced" == caught.value.code
        if path.is_dir():
            assert [] == list(path.iterdir())


def test_another_history_in_its_place_is_noticed(tmp_path, full):
    """A segment that does not continue what was read before is refused."""
    other = tmp_path / "other"
    with contextlib.closing(opened(other)) as store:
        store.append(COMMITS[4])
    with contextlib.closing(opened(full)) as store:
        state_of(store)
        segment_of(other).replace(segment_of(full))
        with pytest.raises(StorageError) as caught:
            store.append(NEXT)

    assert "storage.replaced" == caught.value.code


def test_a_forked_child_is_refused(full, states):
    """A child refuses every verb and does no harm to its parent's store."""
    with contextlib.closing(opened(full)) as store:
        child = os.fork()
        if not child:
            code = 1
            try:
                store.append(NEXT)
            except ClosedError as error:
                code = 0 if error.code == "store.forked" else 2
            finally:
                store.close()
                os._exit(code)
        assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert states[-1] == state_of(store)
        store.append(NEXT)
