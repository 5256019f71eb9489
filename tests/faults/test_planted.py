"""What somebody plants in a store's folder is never followed, waited for or filled."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import stat
import threading

import pytest
from tests.backends.directory_stores import opened, segment_of, state_of
from tests.backends.ledger import COMMITS, NEXT
from tests.faults.package_works import FILES
from tests.faults.points import IS_ALL

from uaix_backends import read_package, write_package
from uaix_backends.directory import DirectoryStore
from uaix_conformance.schema import KIT
from uaix_core.values.errors import CallerError, StorageError, StoreOpenError, UaixError

TERABYTE = 1 << 40

#: Every name of a directory store, from its scope's folder.
NAMES = (
    "segment.jsonl",
    "segment.new",
    "lock",
    "work",
    "work/intent",
    "work/log.jsonl",
    "work/log.new",
)


def symlink(path, outside):
    """A link to something outside."""
    path.symlink_to(outside)


def hard_link(path, outside):
    """Another name of something outside."""
    path.hardlink_to(outside / "file")


def fifo(path, _outside):
    """A pipe that nobody writes to."""
    os.mkfifo(path)


def device(path, _outside):
    """A device that is never at its end."""
    try:
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("only root can make devices")


def folder(path, _outside):
    """A folder where a file belongs."""
    path.mkdir()


def sparse(path, _outside):
    """A terabyte of nothing."""
    path.touch(0o600)
    os.truncate(path, TERABYTE)


PLANTS = (symlink, hard_link, fifo, device, folder, sparse)


def used(path):
    """Open a store, read it, write to it; the errors, all of ours."""
    errors = []
    try:
        store = DirectoryStore.open(path, schema=KIT)
    except (StorageError, StoreOpenError) as error:
        return [error]
    with contextlib.closing(store):
        for use in (
            lambda: state_of(store),
            lambda: store.scopes(limit=9),
            lambda: store.append(NEXT),
            lambda: store.append(COMMITS[7]),
        ):
            try:
                use()
            except UaixError as error:
                errors.append(error)
    return errors


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_nothing_planted_is_followed(root, outside, plant, name):
    """Under every name, whatever kind of file it is: refused or cleared, at once."""
    with contextlib.closing(opened(root)) as store:
        for commit in COMMITS[:5]:
            store.append(commit)
    place = segment_of(root).parent / name
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
    plant(place, outside)

    used(root)

    assert ["file"] == [found.name for found in outside.iterdir()]
    assert b"mine" == (outside / "file").read_bytes()
    assert not place.is_file() or place.stat().st_blocks * 512 < 1 << 20


@pytest.mark.parametrize("name", ["uaix-store.json", "scopes"])
@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
def test_nothing_planted_makes_a_store(root, outside, plant, name):
    """A store whose marker or folder of scopes is something else is none."""
    opened(root).close()
    place = root / name
    if place.is_dir():
        place.rmdir()
    else:
        place.unlink()
    if (plant, name) == (folder, "scopes"):
        return
    plant(place, outside)

    with pytest.raises((StorageError, StoreOpenError)):
        DirectoryStore.open(root, schema=KIT)
    assert ["file"] == [found.name for found in outside.iterdir()]


@pytest.mark.parametrize("plant", PLANTS[:4] + PLANTS[5:], ids=lambda p: p.__name__)
def test_nothing_planted_is_read_as_a_package(tmp_path, outside, plant):
    """A package folder that holds anything but files and folders is refused."""
    place = tmp_path / "package"
    write_package(place, FILES)
    plant(place / ".uai" / "planted", outside)

    with pytest.raises(CallerError) as caught:
        read_package(place)

    assert caught.value.code in (
        "files.symlink",
        "files.hardlink",
        "files.special",
        "files.limit",
    )


def exchange(one, other):
    """Let two names change places in one step."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    here, both_stay = -100, 2
    if call is None or call(here, bytes(one), here, bytes(other), both_stay):
        raise OSError(ctypes.get_errno(), "renameat2")


@pytest.mark.parametrize("what", ["scope", "work"])
def test_a_link_that_comes_and_goes_leads_nowhere(root, outside, tmp_path, what):
    """While a folder flips between itself and a link, no byte is written outside."""
    with contextlib.closing(opened(root)) as store:
        store.append(COMMITS[0])
        store.append(COMMITS[2])
    scope = segment_of(root).parent
    place = scope if what == "scope" else scope / "work"
    link = tmp_path / "link"
    link.symlink_to(outside)
    over = threading.Event()
    flips = 0

    def flip():
        nonlocal flips
        while not over.is_set():
            exchange(place, link)
            flips += 1
        if place.is_symlink():
            exchange(place, link)

    racer = threading.Thread(target=flip)
    racer.start()
    try:
        tries = 0
        while tries < 60 or (IS_ALL and flips < 100_000):
            used(root)
            tries += 1
    finally:
        over.set()
        racer.join()

    assert ["file"] == [found.name for found in outside.iterdir()]
    assert b"mine" == (outside / "file").read_bytes()
    with contextlib.closing(opened(root)) as store:
        assert state_of(store)[2][0] >= 1
