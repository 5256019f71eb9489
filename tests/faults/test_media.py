"""Media that are full, read-only, closed to us, or out of descriptors."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import stat

import pytest
from tests.backends.directory_stores import open_descriptors
from tests.backends.ledger import BACKENDS, COMMITS, NEXT, opened, state_at, state_of
from tests.backends.ledger import states as expected_states
from tests.faults.package_works import FILES, install, rows_in, session_over

from uaix_backends import write_package
from uaix_backends.directory import DirectoryStore
from uaix_backends.sqlite import SqliteStore
from uaix_conformance.examples import SCOPE, note
from uaix_conformance.schema import KIT
from uaix_core.schema.commits import Commit
from uaix_core.values.errors import StorageError, StoreOpenError

NOBODY = 65_534
IS_ROOT = os.geteuid() == 0

_MS_RDONLY, _MS_REMOUNT = 1, 32

both = pytest.mark.parametrize("backend", BACKENDS)


def mount(kind, path, flags=0, options=""):
    """Mount something in memory; in a child with a mount table of its own."""
    libc = ctypes.CDLL(None, use_errno=True)
    given = (kind.encode(), str(path).encode(), kind.encode())
    if libc.mount(*given, flags, options.encode()):
        raise OSError(ctypes.get_errno(), "mount")


def has_mounts():
    """Whether this process may have a mount table of its own, and change it."""
    libc = ctypes.CDLL(None, use_errno=True)
    # A new table, of which nobody else sees a change.
    return (
        IS_ROOT
        and not libc.unshare(0x0002_0000)
        and not libc.mount(b"none", b"/", None, 0x0004_0000 | 16_384, None)
    )


def large(number):
    """A commit of 64 KiB that no compression makes smaller."""
    text = "".join(f"{(number * 7919 + n) % 65_521:04x}" for n in range(1 << 14))
    return Commit(SCOPE, number, adds=[note(number, title=str(number), text=text)])


def fill(store, most=200):
    """Append until the medium is full; how many were acknowledged."""
    for number in range(most):
        try:
            store.append(large(1000 + number))
        except StorageError as error:
            return number, error.code
    raise AssertionError("never full")


def filled_and_freed(say, backend, path, limit):
    """Fill a store until it is full, read it, make room, go on; in a child."""
    with contextlib.closing(opened(backend, path)) as store:
        for commit in COMMITS:
            store.append(commit)
        release = limit(path)
        done, code = fill(store)
        say(code)
        assert code in ("storage.full", "storage.io", "storage.outcome-unknown")
        with store.snapshot(SCOPE) as snapshot:
            notes = [row.number for row in snapshot.scan("note", "key", limit=1000)]
        # Acknowledged is there; of the one that failed nothing, or all of it.
        filling = [number - 1000 for number in notes if number >= 1000]
        assert filling in (list(range(done)), list(range(done + 1)))
        release()
        store.append(NEXT)
        position = state_of(store)[2][0]
    return done, position


def by_limit(_path):
    """No file may grow any more: the limit of the process."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, hard))
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


def by_ballast(path):
    """The medium is small, and mostly taken by another file."""
    ballast = path.parent / "ballast"
    free = os.statvfs(path).f_bavail * os.statvfs(path).f_frsize
    ballast.write_bytes(bytes(free - 400_000))
    return ballast.unlink


def on_a_small_medium(say, backend, path):
    """The same on a file system of its own; None where none can be mounted."""
    if not has_mounts():
        return None
    path.mkdir()
    mount("tmpfs", path, options="size=4m")
    answer = filled_and_freed(say, backend, path / "store", by_ballast)
    assert answer[1] == state_at(backend, path / "store")[2][0]
    return answer


def read_only(say, backend, path):
    """A store on a medium that was made read-only while it was open."""
    if not has_mounts():
        return None
    path.mkdir()
    mount("tmpfs", path, options="size=4m")
    place = path / "store"
    with contextlib.closing(opened(backend, place)) as store:
        for commit in COMMITS:
            store.append(commit)
    mount("tmpfs", path, _MS_REMOUNT | _MS_RDONLY, "size=4m")
    before = sorted(path.rglob("*"))
    codes = set()
    try:
        store = opened_as_is(backend, place)
    except (StorageError, StoreOpenError) as error:
        codes.add(error.code)
    else:
        with contextlib.closing(store):
            try:
                assert expected_states()[-1] == state_of(store)
            except StorageError as error:
                codes.add(error.code)
            with pytest.raises(StorageError) as caught:
                store.append(NEXT)
            codes.add(caught.value.code)
    kind = {"directory": DirectoryStore, "sqlite": SqliteStore}[backend]
    with pytest.raises((StorageError, StoreOpenError)):
        kind.open(path / "new", create=True)
    with pytest.raises(StorageError):
        write_package(path / "new.uaix", FILES)
    assert before == sorted(path.rglob("*"))
    return codes


def opened_as_is(backend, path):
    """Open what is there, and make nothing."""
    if backend == "directory":
        return DirectoryStore.open(path, schema=KIT)
    return SqliteStore.open(path / "store.sqlite", schema=KIT)


def as_nobody(say, backend, path, mode):
    """Read and write a store whose modes forbid it, as another user."""
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    codes = []
    try:
        store = opened_as_is(backend, path)
    except (StorageError, StoreOpenError) as error:
        return [error.code]
    with contextlib.closing(store):
        for use in (lambda: state_of(store), lambda: store.append(NEXT)):
            try:
                use()
                codes.append("done")
            except StorageError as error:
                codes.append(error.code)
    return codes


def starved(say, backend, path):
    """Use a store with ever fewer descriptors left; in a child."""
    with contextlib.closing(opened(backend, path)) as store:
        store.append(COMMITS[0])
        used = open_descriptors()
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        told = 0
        for left in range(12, -1, -1):
            resource.setrlimit(resource.RLIMIT_NOFILE, (used + left, hard))
            try:
                store.append(Commit(SCOPE, 5, adds=[note(100 + left, title=f"{left}")]))
                state_of(store)
                opened(backend, path).close()
            except StorageError:
                told += 1
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        store.append(COMMITS[4])
        state = state_of(store)
    return told, state


@both
def test_a_full_disk_costs_only_what_did_not_fit(forker, tmp_path, backend):
    """Acknowledged stays readable when nothing more fits; with room writing goes on."""
    place = tmp_path / "store"
    ended = forker.run(filled_and_freed, backend, place, by_limit)

    assert ended.answer[0] > 0
    assert ended.answer[1] == state_at(backend, place)[2][0]


@both
def test_a_small_medium_that_runs_full(forker, tmp_path, backend):
    """The same on a file system that really has no room left."""
    answer = forker.run(on_a_small_medium, backend, tmp_path / "medium").answer
    if answer is None:
        pytest.skip("no file system can be mounted here")

    assert answer[0] > 0


@both
def test_a_read_only_medium_is_told_and_untouched(forker, tmp_path, backend):
    """Writing is refused with our error, reading works or is refused, no file made."""
    answer = forker.run(read_only, backend, tmp_path / "medium").answer
    if answer is None:
        pytest.skip("no file system can be mounted here")

    assert answer <= {"storage.readonly", "storage.cant-open", "storage.io"}
    assert answer


@both
@pytest.mark.parametrize("folders", [0o555, 0o000])
@pytest.mark.skipif(not IS_ROOT, reason="only root can become another user")
def test_another_user_gets_a_typed_error(forker, tmp_path, backend, folders):
    """Who may not write, or not even look, is told so, and nothing is changed."""
    place = tmp_path / "store"
    with contextlib.closing(opened(backend, place)) as store:
        store.append(COMMITS[0])
    tmp_path.chmod(0o755)
    found = sorted(place.rglob("*"))
    for path in found:
        path.chmod(folders if path.is_dir() else folders & 0o444)
    place.chmod(folders)

    codes = forker.run(as_nobody, backend, place, folders).answer

    assert "done" != codes[-1]
    assert {code.split(".")[0] for code in codes} <= {"done", "storage", "store"}
    assert found == sorted(place.rglob("*"))
    assert state_at(backend, place)[2][0] == 1


@both
def test_running_out_of_descriptors_is_told_and_survived(forker, tmp_path, backend):
    """Each descriptor that is missing is a typed error; with enough, work goes on."""
    place = tmp_path / "store"
    told, state = forker.run(starved, backend, place).answer

    assert told
    assert state == state_at(backend, place)


@pytest.mark.parametrize("mask", [0o000, 0o777])
def test_an_install_keeps_files_private(forker, tmp_path, mask):
    """Whatever the umask, what a session stores is for its owner alone."""
    for backend in BACKENDS:
        modes = forker.run(installed_under, backend, tmp_path / backend, mask).answer
        assert {0o600, 0o700} == modes


def installed_under(say, backend, path, mask):
    """Install under an umask; the modes of all files and folders."""
    path.mkdir()
    os.umask(mask)
    if backend == "directory":
        store = DirectoryStore.open(path / "store", create=True)
    else:
        store = SqliteStore.open(path / "store", create=True)
    with contextlib.closing(store):
        session = session_over(store)
        install(session)
        assert rows_in(session)
        write_package(path / "out", FILES)
        return {stat.S_IMODE(found.stat().st_mode) for found in path.rglob("*")}
