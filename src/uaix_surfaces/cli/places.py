"""Where packages lie and land: reading what is wanted, and places to write at."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final

from uaix_backends.files import read_package, write_archive_file
from uaix_core.packages.archive.reader import EXTENSION
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.values.errors import CallerError, LimitError, NotFoundError
from uaix_surfaces.cli.failures import usable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from uaix_core.packages.checked import CheckedPackage
    from uaix_core.packages.edits import Refresh
    from uaix_core.packages.source import PackageSource

#: No file that is named on the line is larger, in bytes.
_LARGEST: Final = 256 * 2**20

#: The mode of a file that wasn't there.
_OWN: Final = 0o600

#: What helps where an archive is in the way of another.
OVERWRITE_HINT: Final = "choose another name, or replace it with --overwrite"


def file_bytes(path: Path) -> bytes:
    """The bytes of a plain file of at most 256 MiB.

    Raises:
        NotFoundError: ``files.missing`` when it isn't there or can't be read.
        CallerError: ``files.special`` for what is no plain file.
        LimitError: ``files.limit``.

    """
    with _readable(path):
        status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise CallerError("not a file", code="files.special", path=str(path))
    if status.st_size > _LARGEST:
        raise LimitError("the file is too large", code="files.limit", path=str(path))
    with _readable(path), path.open("rb") as file:
        return file.read(_LARGEST)


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise NotFoundError(
            "the file can't be read", code="files.missing", path=str(path)
        ) from error


def names_path(name: str) -> bool:
    """Whether a name is that of a path and of no stored package.

    Its form says so, not what is there: it ends in .uaix, or holds a separator.
    """
    separators = [os.sep, *([os.altsep] if os.altsep else [])]
    return name.endswith(EXTENSION) or any(mark in name for mark in separators)


def new_place(path: Path, *, deep: bool = False) -> Path:
    """A path where a folder or file can be made.

    With ``deep`` folders around it may be missing; `make_around` makes them.

    Raises:
        Unusable: ``files.missing`` when the folder around it isn't there;
            ``files.target`` for the folder that the caller stands in, which can't be
            replaced from inside.

    """
    place = path.absolute()
    around = place.parent
    while deep and not os.path.lexists(around):
        around = around.parent
    with usable():
        if not around.is_dir():
            where = around if deep else path.parent
            raise NotFoundError(
                "there is no such folder", code="files.missing", path=str(where)
            )
        if place.exists() and place.samefile(Path.cwd()):
            raise CallerError(
                "the current folder can't be made anew",
                code="files.target",
                path=str(path),
                hint="name another folder",
            )
    return place


def refuse_inside(target: Path | None, folder: Path) -> None:
    """Refuse to write inside the folder that is read: it would become part of it.

    Raises:
        Unusable: ``files.target``.

    """
    if target is None:
        return
    around = target.absolute().parent.resolve()
    if not any(outer.samefile(folder) for outer in (around, *around.parents)):
        return
    with usable():
        raise CallerError(
            "the archive would lie inside the folder that it is made of",
            code="files.target",
            path=str(target),
            hint="name a place outside of the folder",
        )


def make_around(place: Path) -> None:
    """Make the folders around a place that are missing."""
    place.parent.mkdir(parents=True, exist_ok=True)


def put_archive(place: Path, data: bytes, *, overwrite: bool) -> None:
    """Write an archive where a verb offers --overwrite.

    Raises:
        CallerError: ``files.exists``, with a hint that says so.

    """
    try:
        write_archive_file(place, [data], overwrite=overwrite)
    except CallerError as error:
        if error.code == "files.exists" and not place.is_dir():
            error.hint = OVERWRITE_HINT
        raise


def read_as(path: Path, *, archive: bool) -> PackageSource:
    """Read an archive or a folder, and nothing but the one that is wanted."""
    with usable():
        source = read_package(path)
        if (source.archive is not None) is not archive:
            raise CallerError(
                "not an archive" if archive else "not a folder",
                code="files.form",
                path=str(path),
            )
    return source


def files_of(package: CheckedPackage) -> dict[str, bytes]:
    """All files of a package, its manifest included."""
    files = {file.path: file.read() for file in package.files}
    return {MANIFEST_PATH: package.manifest_bytes, **files}


def write_manifest(folder: Path, manifest: bytes) -> None:
    """Replace the manifest of a folder, wholly or not at all; its mode stays."""
    path = folder / MANIFEST_PATH
    mode = stat.S_IMODE(path.stat().st_mode)
    write_archive_file(path, [manifest], overwrite=True, mode=mode)


def write_refresh(
    folder: Path, seen: Mapping[str, bytes], refresh: Refresh
) -> list[str]:
    """Write into an edited folder what others have changed; the paths of it.

    Raises:
        CallerError: ``files.changed`` when a file is no more as it was read: somebody
            is at work there. The folder is still one of the older checkpoint then.
        StorageError: the medium failed.

    """
    changed = []
    for path in refresh.removes:
        place = folder / path
        if _content(place) == seen.get(path):
            place.unlink(missing_ok=True)
            changed.append(path)
    # The manifest comes last: until then the folder is one of the older checkpoint, and
    # no edit is taken for one of what has come in meanwhile.
    for path, data in sorted(
        refresh.writes.items(), key=lambda item: item[0] == MANIFEST_PATH
    ):
        place = folder / path
        if _content(place) != seen.get(path):
            raise CallerError(
                "a file changed while the folder was refreshed",
                code="files.changed",
                path=path,
                hint="do it again when nothing is being saved",
            )
        place.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(place.stat().st_mode) if path in seen else _OWN
        write_archive_file(place, [data], overwrite=True, mode=mode)
        changed.append(path)
    return sorted(changed)


def _content(place: Path) -> bytes | None:
    if not os.path.lexists(place):
        return None
    if place.is_symlink() or not place.is_file():
        return b"\0"
    return place.read_bytes()
