"""Paths that name no file, and stores that can't be reached any more: typed errors."""

from __future__ import annotations

import errno
import os
from contextlib import closing

import pytest

from uaix_backends import lint_path, open_store, read_package, write_package
from uaix_backends.directory import DirectoryStore
from uaix_backends.directory.files import calls
from uaix_backends.files import write_archive_file, write_folder
from uaix_backends.sqlite import SqliteStore
from uaix_conformance.examples import SCOPE, fact
from uaix_conformance.schema import KIT
from uaix_core.schema.commits import Commit
from uaix_core.values.errors import CallerError, StorageError, StoreOpenError

DAY = 86_400_000_000
FILES = {"a.uai": b"alpha"}
NAMES = {
    "NUL": "x\0y",
    "surrogate": "x\ud800",
    "no UTF-8": "x\udcff",
    "too long": "n" * 300,
    "too long in between": "n" * 300 + "/x",
    "circle": "circle",
    "below a circle": "circle/x",
}
STORES = {
    "open_store sqlite": lambda path: open_store(f"sqlite:{path}"),
    "open_store sqlite, create": lambda path: open_store(f"sqlite:{path}", create=True),
    "open_store dir": lambda path: open_store(f"dir:{path}"),
    "open_store dir, create": lambda path: open_store(f"dir:{path}", create=True),
    "SqliteStore": SqliteStore.open,
    "DirectoryStore": DirectoryStore.open,
}
PACKAGES = {
    "read_package": read_package,
    "lint_path": lambda path: lint_path(path, now=0),
    "write_folder": lambda path: write_folder(path, FILES),
    "write_package": lambda path: write_package(path, FILES),
    "write_package, overwrite": lambda path: write_package(path, FILES, overwrite=True),
    "write_archive_file": lambda path: write_archive_file(path, [b"x"]),
}
BACKENDS = {"sqlite": SqliteStore, "directory": DirectoryStore}

posix_only = pytest.mark.skipif(os.name != "posix", reason="needs POSIX links")


@pytest.fixture
def place(tmp_path):
    """A folder with a symbolic link to itself."""
    (tmp_path / "circle").symlink_to("circle")
    return tmp_path


@posix_only
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("use", STORES.values(), ids=STORES)
def test_no_store_has_an_impossible_name(place, use, name):
    """What is no name of a file is refused by every opener, and nothing is made."""
    with pytest.raises(StoreOpenError) as caught:
        use(f"{place}/{name}")

    assert "store.path" == caught.value.code
    assert "\0" not in str(caught.value)
    assert ["circle"] == [path.name for path in place.iterdir()]


@posix_only
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("use", PACKAGES.values(), ids=PACKAGES)
def test_no_package_has_an_impossible_name(place, use, name):
    """The same for packages; it is the caller's fault and no verdict on a package."""
    for ending in ("", ".uaix"):
        with pytest.raises(CallerError) as caught:
            use(f"{place}/{name}{ending}" if name != "circle" else f"{place}/{name}")
        assert "files.name" == caught.value.code
    assert ["circle"] == [path.name for path in place.iterdir()]


@posix_only
@pytest.mark.parametrize("is_linked", [False, True])
def test_a_sqlite_store_leaves_room_for_its_other_names(tmp_path, is_linked):
    """A name to which SQLite can't append its endings is refused at once."""
    path = tmp_path / ("n" * 250)
    given = path
    if is_linked:
        given = tmp_path / "link"
        given.symlink_to(path)

    with pytest.raises(StoreOpenError) as caught:
        SqliteStore.open(given, create=True)

    assert "store.path" == caught.value.code
    assert not path.exists()


@pytest.fixture(params=BACKENDS)
def opened(request, tmp_path):
    """A store of each file backend in a folder, and that folder."""
    folder = tmp_path / "around"
    folder.mkdir()
    backend = BACKENDS[request.param]
    with closing(backend.open(folder / "s", create=True, schema=KIT)) as store:
        store.append(Commit(SCOPE, DAY, adds=[fact(1)]))
        yield store, folder


def codes(store):
    """The codes with which both ways of writing fail."""
    found = set()
    for use in (
        lambda: store.append(Commit(SCOPE, DAY, adds=[fact(2)])),
        lambda: store.rebuild(SCOPE),
    ):
        with pytest.raises(StorageError) as caught:
            use()
        found.add(caught.value.code)
    return found


@posix_only
@pytest.mark.parametrize("put", ["nothing", "file", "circle"])
def test_a_store_whose_folder_is_gone_was_replaced(opened, put):
    """Whatever stands where the folder around an open store was, it says replaced."""
    store, folder = opened
    folder.rename(folder.with_name("elsewhere"))
    if put == "file":
        folder.touch()
    if put == "circle":
        folder.symlink_to(folder)

    assert {"storage.replaced"} == codes(store)


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.EACCES, "storage.denied"),
        (errno.EPERM, "storage.denied"),
        (errno.EIO, "storage.io"),
    ],
)
def test_a_store_that_can_not_be_looked_at_is_not_replaced(
    opened, monkeypatch, number, code
):
    """Without the right to look, or with a failing medium, nobody says replaced."""
    store, folder = opened
    look = os.stat

    def fail(path, *arguments, **named):
        if path == str(folder / "s"):
            raise OSError(number, os.strerror(number))
        return look(path, *arguments, **named)

    monkeypatch.setattr(os, "stat", fail)

    assert {code} == codes(store)


@pytest.mark.parametrize("create", [False, True])
def test_a_store_behind_a_closed_folder_is_denied(tmp_path, monkeypatch, create):
    """Who may not even look is told so; nobody says that there is no store."""

    def fail(*_arguments, **_named):
        raise PermissionError(errno.EACCES, "denied")

    for backend in BACKENDS.values():
        with monkeypatch.context() as patched:
            patched.setattr(os, "stat", fail)
            patched.setattr(calls, "open", fail)
            with pytest.raises(StorageError) as caught:
                backend.open(tmp_path / "s", create=create, schema=KIT)
        assert "storage.denied" == caught.value.code
    assert [] == list(tmp_path.iterdir())
