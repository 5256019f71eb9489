"""Paths that callers name: refused before anything is done with what no system names.

One check for stores and for packages; each gives the error of its own family.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from uaix_core.packages.paths import shown
from uaix_core.values.errors import CallerError, StoreOpenError
from uaix_core.values.text import is_storable

if TYPE_CHECKING:
    from typing import TypeAlias

    AnyPath: TypeAlias = str | os.PathLike[str]

#: What a file system answers to a name that it can't have: too long, a circle of
#: links, characters that it doesn't know.
_UNUSABLE: Final = {
    errno.ENAMETOOLONG: "a name in it is too long",
    errno.ELOOP: "its links lead in a circle",
    errno.EILSEQ: "it holds what this file system can't",
    errno.EINVAL: "it holds what this file system can't",
}


def _fault(path: str, *besides: str) -> str | None:
    """What is wrong with a path as a name, None when nothing is."""
    if not is_storable(path):
        return "it holds NUL or what is no UTF-8"
    for name in (path, *(path + suffix for suffix in besides)):
        try:
            os.stat(name)  # noqa: PTH116 - no `Path` before the text is checked
        except OSError as error:
            # Whatever else the system says, it says again to whoever uses the path.
            found = _UNUSABLE.get(error.errno or 0)
            if found is not None:
                return found
    return None


def named_package(path: AnyPath) -> Path:
    """The path of a package to read or to write; nothing need lie there.

    Raises:
        CallerError: ``files.name`` for NUL, lone surrogates, a name that is too long
            and links in a circle.

    """
    text = os.fspath(path)
    fault = _fault(text)
    if fault is not None:
        raise CallerError(
            "a path that names no file", code="files.name", path=shown(text), hint=fault
        )
    return Path(text)


def named_store(path: AnyPath, *besides: str) -> Path:
    """The path of a store to open; nothing need lie there.

    Args:
        path: the file or folder.
        besides: endings of the files that stand beside it in use.

    Raises:
        StoreOpenError: ``store.path``, for what `named_package` refuses.

    """
    text = os.fspath(path)
    fault = _fault(text, *besides)
    if fault is not None:
        raise StoreOpenError(
            "a path that names no file", code="store.path", path=shown(text), hint=fault
        )
    return Path(text)
