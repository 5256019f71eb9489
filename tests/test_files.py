"""Packages on disk: what is read, what is refused; writing is all or nothing."""

from __future__ import annotations

import errno
import os
import signal
import socket
import stat
import sys
import tempfile
from pathlib import Path

import pytest

from uaix_backends import file_writing, files, temporaries
from uaix_backends.files import (
    archive_timestamp,
    read_package,
    write_archive_file,
    write_folder,
    write_package,
)
from uaix_backends.judging import lint_path
from uaix_core.packages.archive.writer import write_archive
from uaix_core.packages.limits import KIB, Limits
from uaix_core.packages.source import PackageSource
from uaix_core.values.errors import (
    CallerError,
    LimitError,
    NotFoundError,
    OutcomeUnknownError,
    StorageError,
)

FILES = {".uai/a.uai": b"alpha", ".uai/personality/b.uai": b"beta", "AGENTS.md": b""}
SMALL = Limits(
    archive_bytes=4 * KIB,
    entries=5,
    entry_bytes=KIB,
    total_bytes=2 * KIB,
    path_bytes=32,
    path_depth=3,
)

try:
    import fcntl
except ImportError:
    fcntl = None

posix_only = pytest.mark.skipif(os.name != "posix", reason="needs POSIX files")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A package as a folder."""
    path = tmp_path / "package"
    write_package(path, FILES)
    return path


@pytest.fixture(params=["descriptors", "paths"])
def way(request, monkeypatch):
    """Both ways of walking a folder: by descriptors, and by paths as elsewhere."""
    if request.param == "paths":
        monkeypatch.setattr(files, "_HAS_DIR_FDS", False)
    elif not files._HAS_DIR_FDS:
        pytest.skip("this platform opens nothing relative to a descriptor")


def refusal(path: Path, limits: Limits = SMALL) -> str:
    """The code with which reading is refused."""
    with pytest.raises(CallerError) as caught:
        read_package(path, limits=limits)
    return caught.value.code


def names(folder: Path) -> list[str]:
    """The names in a folder."""
    return sorted(path.name for path in folder.iterdir())


def leftovers(folder: Path) -> list[str]:
    """Names of temporary files."""
    return [name for name in names(folder) if name.startswith(".uaix-")]


@pytest.mark.usefixtures("way")
def test_folder_round_trip(folder):
    """A folder gives back the files that were written, sorted by path."""
    source = read_package(folder)
    assert source.files == FILES
    assert list(source.files) == sorted(FILES)
    assert (source.name, source.archive) == ("package", None)
    assert source.archive_name is None


def test_archive_round_trip(tmp_path):
    """A name that ends in .uaix is written as the deterministic archive."""
    path = tmp_path / "a.uaix"
    write_package(path, FILES)
    source = read_package(path)
    assert source.archive == write_archive(FILES)
    assert source.files is None
    assert source.archive_name == "a.uaix"


def test_source_is_an_archive_or_files():
    """A source with both or with neither is refused."""
    for arguments in ({}, {"archive": b"", "files": {}}):
        with pytest.raises(CallerError) as caught:
            PackageSource(None, **arguments)
        assert caught.value.code == "package.source"


@posix_only
@pytest.mark.usefixtures("way")
def test_links_in_a_folder_are_refused(folder):
    """Symlinks to files and folders, dangling ones, and hard links are refused."""
    link = folder / "link"
    for target in (folder / "AGENTS.md", folder / ".uai", folder / "nothing"):
        link.symlink_to(target)
        assert refusal(folder) == "files.symlink"
        link.unlink()
    link.hardlink_to(folder / "AGENTS.md")
    assert refusal(folder) == "files.hardlink"


@posix_only
@pytest.mark.usefixtures("way")
def test_special_files_are_refused_without_waiting(folder, monkeypatch):
    """A FIFO or socket is refused at once, in the folder or as the package itself."""
    monkeypatch.chdir(folder)
    os.mkfifo("fifo")
    assert refusal(folder) == "files.special"
    assert refusal(folder / "fifo") == "files.special"
    Path("fifo").unlink()
    with socket.socket(socket.AF_UNIX) as endpoint:
        endpoint.bind("endpoint")
        assert refusal(folder) == "files.special"
    assert refusal(Path(os.devnull)) == "files.special"


@posix_only
def test_symlink_named_by_the_caller_is_followed(folder, tmp_path):
    """The caller may name a package by a symlink."""
    (tmp_path / "link").symlink_to(folder)
    assert read_package(tmp_path / "link").files == FILES
    write_package(tmp_path / "a.uaix", FILES)
    (tmp_path / "b.uaix").symlink_to(tmp_path / "a.uaix")
    assert read_package(tmp_path / "b.uaix").archive == write_archive(FILES)


@pytest.mark.skipif(sys.platform != "linux", reason="needs names that are any bytes")
@pytest.mark.usefixtures("way")
def test_name_that_is_no_utf8_is_refused(folder):
    """A file name that is no UTF-8 can't become a logical path."""
    (folder / os.fsdecode(b"\xff")).write_bytes(b"")
    assert refusal(folder) == "files.name"


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize(
    ("added", "allowed"),
    [
        ({"x": bytes(1025)}, {"x": bytes(1024)}),
        ({"x": bytes(1024), "y": bytes(1016)}, {"x": bytes(1024)}),
        ({"x": b"", "y": b"", "z": b""}, {"x": b"", "y": b""}),
        ({"d/e/f/x": b""}, {"d/e/x": b""}),
        ({"d" * 31 + "/x": b""}, {"d" * 30 + "/x": b""}),
    ],
)
def test_limits_hold_before_a_folder_is_read(folder, added, allowed):
    """One beyond a limit of size, number or path is refused; the limit is fine."""
    for extra, is_allowed in ((allowed, True), (added, False)):
        for path, content in extra.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        if is_allowed:
            assert read_package(folder, limits=SMALL).files == FILES | extra
            for path in extra:
                (folder / path).unlink()
    assert refusal(folder) == "files.limit"


@pytest.mark.usefixtures("way")
def test_empty_folders_are_counted(folder):
    """A folder of nothing but folders is not walked for ever."""
    for number in range(8):
        (folder / f"d{number}").mkdir()
    assert refusal(folder) == "files.limit"


def test_archive_is_measured_before_it_is_read(tmp_path):
    """A file beyond the limit is refused by its size."""
    path = tmp_path / "a.uaix"
    path.write_bytes(bytes(4 * KIB))
    assert len(read_package(path, limits=SMALL).archive) == 4 * KIB
    path.write_bytes(bytes(4 * KIB + 1))
    with pytest.raises(LimitError) as caught:
        read_package(path, limits=SMALL)
    assert caught.value.code == "files.limit"


@pytest.mark.parametrize("pieces", [[b"alp", b""], [b"alphab"], [b"alpha", b"b"]])
def test_file_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch, pieces):
    """A file that gives fewer or more bytes than it said is no package."""
    path = tmp_path / "a.uaix"
    path.write_bytes(b"alpha")
    left = list(pieces)
    monkeypatch.setattr(os, "read", lambda fd, size: left.pop(0))
    assert refusal(path) == "files.changed"


def test_file_that_grows_before_it_is_opened_is_refused(tmp_path, monkeypatch):
    """What was measured must be what is read."""
    path = tmp_path / "a.uaix"
    path.write_bytes(b"alpha")
    system = os.open

    def late(*arguments, **named):
        path.write_bytes(b"alphabet")
        return system(*arguments, **named)

    monkeypatch.setattr(files.os, "open", late)
    assert refusal(path) == "files.changed"


@posix_only
@pytest.mark.usefixtures("way")
def test_file_that_is_exchanged_before_it_is_opened_is_refused(folder, monkeypatch):
    """The file that was looked at must be the one that is opened."""
    system = files._Folder.open_file

    def late(self, name):
        path = self.path / name
        path.rename(path.with_name("old"))
        path.write_bytes(b"other")
        return system(self, name)

    monkeypatch.setattr(files._Folder, "open_file", late)
    assert refusal(folder) == "files.changed"


def test_file_that_comes_in_small_pieces_is_read_whole(tmp_path, monkeypatch):
    """Short reads are put together."""
    path = tmp_path / "a.uaix"
    path.write_bytes(b"alpha")
    pieces = [b"a", b"lph", b"a", b""]
    monkeypatch.setattr(os, "read", lambda fd, size: pieces.pop(0))
    assert read_package(path).archive == b"alpha"


def test_missing_package_is_named(tmp_path):
    """What isn't there is a typed error with the path."""
    with pytest.raises(NotFoundError) as caught:
        read_package(tmp_path / "nothing")
    assert caught.value.code == "files.missing"
    assert str(tmp_path) in caught.value.path


def test_failing_medium_is_a_storage_error(folder, monkeypatch):
    """An I/O error while reading is the medium's, not the caller's."""

    def fail(fd, size):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "read", fail)
    with pytest.raises(StorageError) as caught:
        read_package(folder)
    assert caught.value.code == "files.io"


@pytest.mark.parametrize("name", ["a.uaix", "a"])
def test_existing_target_is_never_overwritten_unasked(tmp_path, name):
    """A file, a folder with content or a symlink in the way is an error."""
    path = tmp_path / name
    path.write_bytes(b"mine")
    with pytest.raises(CallerError) as caught:
        write_package(path, FILES)
    assert caught.value.code == "files.exists"
    assert path.read_bytes() == b"mine"
    path.unlink()
    path.mkdir()
    (path / "mine").touch()
    for overwrite in (False, True):
        with pytest.raises(CallerError) as caught:
            write_package(path, FILES, overwrite=overwrite)
        assert caught.value.code == "files.exists"
    assert names(path) == ["mine"]
    assert leftovers(tmp_path) == []


def test_overwrite_replaces_an_archive(tmp_path):
    """With overwrite the archive takes the place of the old file."""
    path = tmp_path / "a.uaix"
    path.write_bytes(b"old")
    write_package(path, FILES, overwrite=True)
    assert path.read_bytes() == write_archive(FILES)
    assert leftovers(tmp_path) == []


def test_empty_folder_is_a_target(tmp_path):
    """A folder may be written where an empty one is."""
    (tmp_path / "a").mkdir()
    write_package(tmp_path / "a", FILES)
    assert read_package(tmp_path / "a").files == FILES


@posix_only
def test_modes_are_private(tmp_path):
    """Files are written 0600 and folders 0700."""
    write_package(tmp_path / "a.uaix", FILES)
    write_package(tmp_path / "a", FILES)
    modes = {
        path.relative_to(tmp_path).as_posix(): stat.S_IMODE(path.stat().st_mode)
        for path in tmp_path.rglob("*")
    }
    assert modes["a.uaix"] == modes["a/AGENTS.md"] == modes["a/.uai/a.uai"] == 0o600
    assert modes["a"] == modes["a/.uai"] == modes["a/.uai/personality"] == 0o700


def test_unsafe_paths_are_not_written(tmp_path):
    """A path that leaves the folder is refused before anything is made."""
    for name in ("a", "a.uaix"):
        with pytest.raises(CallerError) as caught:
            write_package(tmp_path / name, {"../b": b""})
        assert caught.value.code == "path.traversal"
    assert names(tmp_path) == []


@pytest.mark.parametrize("name", ["a.uaix", "a"])
@pytest.mark.parametrize("call", ["fsync", "rename"])
def test_failed_writing_leaves_nothing(tmp_path, monkeypatch, name, call):
    """Whatever step fails, neither the target nor a temporary file is there."""

    def fail(*_):
        raise OSError(28, "No space left on device")

    if call == "fsync":
        monkeypatch.setattr(os, "fsync", fail)
    else:
        monkeypatch.setattr(Path, "rename", fail)
        monkeypatch.setattr(Path, "hardlink_to", fail)
    with pytest.raises(StorageError) as caught:
        write_package(tmp_path / name, FILES)
    assert caught.value.code == "files.io"
    assert names(tmp_path) == []


def test_source_of_pieces_that_fails_leaves_nothing(tmp_path):
    """An error of the caller's own pieces goes through, and nothing stays."""

    def pieces():
        yield b"some"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_archive_file(tmp_path / "a.uaix", pieces())
    assert names(tmp_path) == []


@posix_only
@pytest.mark.parametrize("is_taken", [False, True])
def test_file_system_without_hard_links(tmp_path, monkeypatch, is_taken):
    """Where links can't be made the file is renamed, still not over another one."""
    path = tmp_path / "a.uaix"

    def fail(self, target):
        if is_taken:
            path.write_bytes(b"first")
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", fail)
    if is_taken:
        with pytest.raises(CallerError) as caught:
            write_package(path, FILES)
        assert caught.value.code == "files.exists"
        assert path.read_bytes() == b"first"
    else:
        write_package(path, FILES)
        assert path.read_bytes() == write_archive(FILES)
    assert leftovers(tmp_path) == []


@posix_only
def test_race_for_the_target_has_one_winner(tmp_path, monkeypatch):
    """A file that appears just before the renaming is kept."""
    path = tmp_path / "a.uaix"
    link = Path.hardlink_to

    def late(self, target):
        path.write_bytes(b"first")
        link(self, target)

    monkeypatch.setattr(Path, "hardlink_to", late)
    with pytest.raises(CallerError) as caught:
        write_package(path, FILES)
    assert caught.value.code == "files.exists"
    assert path.read_bytes() == b"first"
    assert leftovers(tmp_path) == []


@posix_only
def test_doubtful_durability_is_told(tmp_path, monkeypatch):
    """When only the parent's fsync fails, the file is there and its fate unknown."""
    sync = file_writing._sync_folder

    def fail(path):
        if path == tmp_path:
            raise OSError(5, "Input/output error")
        sync(path)

    monkeypatch.setattr(file_writing, "_sync_folder", fail)
    with pytest.raises(OutcomeUnknownError):
        write_folder(tmp_path / "a", FILES)
    assert read_package(tmp_path / "a").files == FILES


@pytest.mark.parametrize("name", ["a.uaix", "a"])
@pytest.mark.parametrize("parent", ["file", "missing", "missing/too"])
def test_writing_needs_a_folder_around(tmp_path, name, parent):
    """Where no folder is, that is said, and not that the target is there."""
    (tmp_path / "file").touch()
    for overwrite in (False, True):
        with pytest.raises(CallerError) as caught:
            write_package(tmp_path / parent / name, FILES, overwrite=overwrite)
        assert caught.value.code == "files.parent"
        assert caught.value.path == str(tmp_path / parent)
    assert names(tmp_path) == ["file"]


@posix_only
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_a_file_has_its_mode_before_it_has_its_name(tmp_path, monkeypatch, mode):
    """Nobody ever sees the new file with another mode."""
    path = tmp_path / "a"
    path.write_bytes(b"old")
    seen = []
    replace = Path.replace

    def watched(self, target):
        seen.append(stat.S_IMODE(self.stat().st_mode))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", watched)
    write_archive_file(path, [b"new"], overwrite=True, mode=mode)

    assert (seen, path.read_bytes()) == ([mode], b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


# What killed writers leave


def die(*_):
    """End this process as a kill does."""
    os.kill(os.getpid(), signal.SIGKILL)


def killed(call, monkeypatch, module, step):
    """Run a call in a child that is killed when it comes to this step."""
    child = os.fork()
    if child == 0:
        try:
            monkeypatch.setattr(module, step, die)
            call()
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


@posix_only
@pytest.mark.parametrize("next_name", ["b.uaix", "b"])
@pytest.mark.parametrize(
    ("name", "module", "step"),
    [
        ("a.uaix", temporaries, "_lock"),
        ("a.uaix", os, "fsync"),
        ("a.uaix", Path, "hardlink_to"),
        ("a.uaix", Path, "unlink"),
        ("a.uaix", file_writing, "_make_durable"),
        ("a", temporaries, "_lock"),
        ("a", os, "fsync"),
        ("a", Path, "rename"),
        ("a", file_writing, "_make_durable"),
    ],
)
def test_the_next_write_removes_what_a_killed_one_left(  # noqa: PLR0917
    tmp_path, monkeypatch, module, step, name, next_name
):
    """Wherever a writer is killed, after the next one no temporary is there."""
    killed(lambda: write_package(tmp_path / name, FILES), monkeypatch, module, step)
    left = names(tmp_path)

    write_package(tmp_path / next_name, FILES)

    assert left != []
    there = {name} & set(left)
    assert names(tmp_path) == sorted({next_name, *there})
    if there:
        source = read_package(tmp_path / name)
        assert (source.files or source.archive) in (FILES, write_archive(FILES))


@posix_only
@pytest.mark.parametrize("inner", ["b.uaix", "b"])
def test_a_living_writer_keeps_its_temporary(tmp_path, monkeypatch, inner):
    """Writers in one folder, of one process or two, never disturb each other."""

    def pieces():
        yield b"first"
        before = leftovers(tmp_path)
        write_package(tmp_path / inner, FILES)
        child = os.fork()
        if child == 0:
            try:
                write_package(tmp_path / f"child-{inner}", FILES)
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        assert (len(before), leftovers(tmp_path)) == (1, before)
        yield b"last"

    write_archive_file(tmp_path / "a.uaix", pieces())
    assert (tmp_path / "a.uaix").read_bytes() == b"firstlast"

    fill = file_writing._fill

    def filled(root, content):
        monkeypatch.setattr(file_writing, "_fill", fill)
        before = leftovers(tmp_path)
        write_package(tmp_path / f"second-{inner}", FILES)
        assert (len(before), leftovers(tmp_path)) == (1, before)
        fill(root, content)

    monkeypatch.setattr(file_writing, "_fill", filled)
    write_folder(tmp_path / "a", FILES)
    assert read_package(tmp_path / "a").files == FILES
    assert leftovers(tmp_path) == []


@posix_only
def test_only_temporaries_of_ours_are_removed(tmp_path):
    """Other names, links and special files stay, and so does what links lead to."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mine").touch()
    folder = tmp_path / "folder"
    folder.mkdir()
    kept = [".uaix-short.tmp", ".uaix-UPPER_CA.tmp", ".uaix-abcdefgh.tmp.bak"]
    kept += ["x.uaix-abcdefgh.tmp", ".uaix-abcdefgh", "tmpabcdefgh"]
    for name in kept:
        (folder / name).touch()
    (folder / ".uaix-aaaaaaa1.tmp").symlink_to(outside)
    (folder / ".uaix-aaaaaaa2.tmp").symlink_to(outside / "mine")
    os.mkfifo(folder / ".uaix-aaaaaaa3.tmp")
    (folder / ".uaix-aaaaaaa4.tmp").touch()
    (folder / ".uaix-aaaaaaa5.tmp").mkdir()
    (folder / ".uaix-aaaaaaa5.tmp/link").symlink_to(outside)

    write_package(folder / "a.uaix", FILES)

    assert names(outside) == ["mine"]
    kept += [f".uaix-aaaaaaa{n}.tmp" for n in (1, 2, 3)]
    assert names(folder) == sorted([*kept, "a.uaix"])


@posix_only
def test_the_files_of_others_are_not_removed(tmp_path, monkeypatch):
    """What belongs to another user stays, whatever it is called."""
    (tmp_path / ".uaix-abcdefgh.tmp").touch()
    monkeypatch.setattr(os, "geteuid", lambda: 123_456)

    write_package(tmp_path / "a.uaix", FILES)

    assert names(tmp_path) == [".uaix-abcdefgh.tmp", "a.uaix"]


@posix_only
def test_removing_is_bounded(tmp_path, monkeypatch):
    """One write removes so many leftovers; the ones after it remove the rest."""
    monkeypatch.setattr(temporaries, "_REMOVED", 2)
    for n in range(5):
        (tmp_path / f".uaix-aaaaaaa{n}.tmp").touch()
    left = []
    for n in range(3):
        write_package(tmp_path / f"{n}.uaix", FILES)
        left.append(len(leftovers(tmp_path)))
    assert left == [3, 1, 0]


@posix_only
@pytest.mark.parametrize("name", ["a.uaix", "a"])
def test_a_sweeper_that_was_faster_is_no_obstacle(tmp_path, monkeypatch, name):
    """A temporary that is removed before it is locked is made again."""
    for maker, remove in (("mkstemp", os.unlink), ("mkdtemp", os.rmdir)):
        make = getattr(tempfile, maker)
        taken = []

        def made(*where, make=make, remove=remove, taken=taken):
            found = make(*where)
            if len(taken) < 3:
                taken.append(found)
                remove(found if isinstance(found, str) else found[1])
            return found

        monkeypatch.setattr(tempfile, maker, made)
    write_package(tmp_path / name, FILES)
    assert names(tmp_path) == [name]


@posix_only
@pytest.mark.parametrize("name", ["a.uaix", "a"])
def test_a_file_system_without_locks_is_written_to(tmp_path, monkeypatch, name):
    """Where nothing can be locked writing works, and nothing is removed."""
    (tmp_path / ".uaix-abcdefgh.tmp").touch()

    def fail(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", fail)
    write_package(tmp_path / name, FILES)
    assert names(tmp_path) == [".uaix-abcdefgh.tmp", name]


@pytest.mark.parametrize(
    ("text", "expected"),
    [(None, None), ("", None), ("0", 0), ("1767323045", 1_767_323_045)],
)
def test_source_date_epoch_is_read(text, expected):
    """The variable is a whole number of seconds; absent or empty it says nothing."""
    environ = {} if text is None else {"SOURCE_DATE_EPOCH": text}
    assert archive_timestamp(environ) == expected


@pytest.mark.parametrize("text", ["-1", "1.5", "now", " 1", "\u0661"])
def test_unreadable_source_date_epoch_is_refused(text):
    """Anything else is an error rather than a silent default."""
    with pytest.raises(CallerError) as caught:
        archive_timestamp({"SOURCE_DATE_EPOCH": text})
    assert caught.value.code == "files.epoch"


def test_source_date_epoch_reaches_the_archive(tmp_path, monkeypatch):
    """The variable sets the timestamp unless the caller does; huge ones are capped."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "9" * 5000)
    write_package(tmp_path / "a.uaix", FILES)
    write_package(tmp_path / "b.uaix", FILES, timestamp=0)
    assert (tmp_path / "a.uaix").read_bytes() == write_archive(FILES, timestamp=10**12)
    assert (tmp_path / "b.uaix").read_bytes() == write_archive(FILES)


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda folder: (folder / "link").symlink_to("AGENTS.md"), "zip.special-file"),
        (lambda folder: os.mkfifo(folder / "pipe"), "zip.special-file"),
        (
            lambda folder: (folder / "big").write_bytes(b"x" * 2_000),
            "zip.limit-archive",
        ),
    ],
)
def test_what_can_not_be_read_for_what_it_is_is_refused(tmp_path, spoil, code):
    """A link, a pipe or an oversize file makes a package refused, not unreadable."""
    folder = tmp_path / "package"
    folder.mkdir()
    spoil(folder)

    report = lint_path(folder, limits=Limits(entry_bytes=1_000), now=0)

    assert ("refuse", [code]) == (report.verdict, [f.code for f in report.findings])


def test_a_path_with_nothing_is_no_verdict(tmp_path):
    """Where nothing lies there is nothing to judge."""
    with pytest.raises(NotFoundError):
        lint_path(tmp_path / "nothing", now=0)
