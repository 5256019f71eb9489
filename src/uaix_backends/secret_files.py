"""Key rings and tokens as they lie in files that nobody but their owner reads.

No error tells anything of what was read.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final

from uaix_backends.file_writing import write_archive_file
from uaix_core.access.keys import MAX_RING_BYTES, KeyRing
from uaix_core.values.errors import CallerError, NotFoundError

if TYPE_CHECKING:
    from uaix_core.access.tokens import Token

_IS_POSIX: Final = os.name == "posix"
#: What others may do with a file.
_OTHERS: Final = 0o077
#: No token is longer than this, with white space around it, in bytes.
_LONGEST_TOKEN: Final = 512


def read_keys(path: str | os.PathLike[str]) -> KeyRing:
    """The key ring of a file: ``{"active": ID, "keys": {ID: base64url}}``.

    Args:
        path: the file; on POSIX its group and others may do nothing with it.

    Raises:
        NotFoundError: ``files.missing``.
        CallerError: ``keys.readable`` when others may read it, ``keys.value`` when it
            holds no key ring.

    """
    data, mode = read_small(path, MAX_RING_BYTES)
    _check_private(
        path,
        mode,
        code="keys.readable",
        hint="chmod 600 the file, and add a new key if anybody could read it",
    )
    try:
        return KeyRing.parse(data or b"")
    except CallerError as error:
        error.path = str(path)
        raise


def write_keys(
    path: str | os.PathLike[str], keys: KeyRing, *, overwrite: bool = False
) -> None:
    """Write a key ring for its owner's eyes, wholly or not at all.

    Raises:
        CallerError: ``files.exists`` for a file that is there, without ``overwrite``;
            ``files.parent``, ``files.name``.
        StorageError: ``files.io``.

    """
    write_archive_file(path, [keys.reveal()], overwrite=overwrite)


def read_token(path: str | os.PathLike[str]) -> str:
    """The token of a file; what isn't one is found out where it is shown.

    Raises:
        NotFoundError: ``files.missing``.
        CallerError: ``credential.readable`` when others may read it,
            ``credential.file`` when it can't hold a token.

    """
    data, mode = read_small(path, _LONGEST_TOKEN)
    _check_private(
        path,
        mode,
        code="credential.readable",
        hint="chmod 600 the file, and rotate the credential if anybody could read it",
    )
    if data is None or not data.isascii():
        raise CallerError(
            "not the file of a token", code="credential.file", path=str(path)
        )
    return data.decode("ascii").strip()


def write_token(path: str | os.PathLike[str], token: Token) -> None:
    """Write a token for its owner's eyes into a new file.

    Raises:
        CallerError: ``files.exists``, ``files.parent``, ``files.name``.
        StorageError: ``files.io``.

    """
    write_archive_file(path, [token.reveal().encode("ascii") + b"\n"])


def read_small(path: str | os.PathLike[str], longest: int) -> tuple[bytes | None, int]:
    """What a file holds, and its mode; None for no plain file, or a longer one.

    Raises:
        NotFoundError: ``files.missing``.

    """
    # A FIFO without a writer would otherwise hold the reader up.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        fd = os.open(path, flags)
    except FileNotFoundError as error:
        raise NotFoundError(
            "there is no such file", code="files.missing", path=str(Path(path))
        ) from error
    try:
        status = os.fstat(fd)
        is_plain = stat.S_ISREG(status.st_mode)
        data = os.read(fd, longest + 1) if is_plain else None
    finally:
        os.close(fd)
    if data is not None and len(data) > longest:
        data = None
    return data, status.st_mode


def _check_private(
    path: str | os.PathLike[str], mode: int, *, code: str, hint: str
) -> None:
    if _IS_POSIX and stat.S_ISREG(mode) and mode & _OTHERS:
        raise CallerError(
            "others may read the file, so that it keeps no secret",
            code=code,
            path=str(path),
            hint=hint,
        )
