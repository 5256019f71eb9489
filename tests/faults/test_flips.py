"""A byte that has changed on the medium is told, or it changed no answer."""

from __future__ import annotations

import contextlib

import pytest
from tests.backends.ledger import COMMITS, opened, state_at, state_of
from tests.faults.points import IS_ALL, SEED, spread

from uaix_backends import read_package
from uaix_backends.backup import BackupStore, write_backup
from uaix_conformance.examples import SCOPE
from uaix_conformance.schema import KIT
from uaix_core import PackageRefusedError
from uaix_core.packages.examples import example
from uaix_core.packages.lint import lint
from uaix_core.schema.commits import Commit
from uaix_core.store.verifying import verify_scope
from uaix_core.values.errors import StorageError, StoreOpenError

#: Bytes of each file that are changed.
COUNT = 4_000 if IS_ALL else 60

#: The ledger without local rows, which nothing vouches for.
CHAINED = [
    Commit(c.scope, c.recorded_at, adds=c.adds, erases=c.erases)
    for c in COMMITS
    if c.adds or c.erases
]


def flipped(name, data):
    """Copies of a file in which one bit is another, each in another byte."""
    places = spread(name, range(len(data)), COUNT)
    for number, at in enumerate(places):
        changed = bytearray(data)
        changed[at] ^= 1 << number % 8
        yield at, bytes(changed)


@contextlib.contextmanager
def said_at(at):
    """A failure says which byte it was."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"byte {at}, seed {SEED}")
        raise


@pytest.mark.parametrize("backend", ["directory", "sqlite"])
def test_a_flipped_bit_of_a_store_is_told_or_harmless(tmp_path, backend):
    """Each read is refused, or the verification names it, or every answer is right."""
    path = tmp_path / "store"
    with contextlib.closing(opened(backend, path)) as store:
        for commit in CHAINED:
            store.append(commit)
    expected = state_at(backend, path)[:3]
    name = {"directory": "segment.jsonl", "sqlite": "store.sqlite"}[backend]
    (file,) = path.rglob(name)
    whole = file.read_bytes()
    told = 0
    for at, changed in flipped(backend, whole):
        file.write_bytes(changed)
        with said_at(at):
            try:
                with contextlib.closing(opened(backend, path)) as store:
                    verified = verify_scope(store, SCOPE)
                    if verified.is_sound:
                        assert expected == state_of(store)[:3]
                    told += not verified.is_sound
            except (StorageError, StoreOpenError):
                told += 1
    assert told
    file.write_bytes(whole)
    assert expected == state_at(backend, path)[:3]


def test_a_flipped_bit_of_a_backup_is_told(tmp_path):
    """A backup with another bit is not read, or reads as it was written."""
    path = tmp_path / "backup"
    with contextlib.closing(opened("sqlite", tmp_path / "store")) as store:
        for commit in CHAINED:
            store.append(commit)
        expected = state_of(store)[:3]
        write_backup(store, path, made_at=0)
    told = 0
    for at, changed in flipped("backup", path.read_bytes()):
        path.write_bytes(changed)
        with said_at(at):
            try:
                with contextlib.closing(BackupStore.open(path, schema=KIT)) as store:
                    assert expected == state_of(store)[:3]
            except (StorageError, StoreOpenError):
                told += 1
    assert told > COUNT // 2


def test_a_flipped_bit_of_an_archive_is_told(tmp_path):
    """No archive with another bit passes: its content has digests, its frame rules."""
    path = tmp_path / "example.uaix"
    data = example("advanced-persona")
    good = lint(_source(path, data), now=0).package
    assert good is not None
    for at, changed in flipped("archive", data):
        with said_at(at), contextlib.suppress(PackageRefusedError):
            package = lint(_source(path, changed), now=0).package
            # The instant in an entry's header is nobody's business.
            assert package is None or package.files == good.files


def _source(path, data):
    path.write_bytes(data)
    return read_package(path)
