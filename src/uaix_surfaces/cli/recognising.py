"""What kind of store lies at a path, for hints to whoever named it otherwise."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from uaix_core.values.errors import IntegrityError, NotFoundError
from uaix_surfaces.cli.options import PATH

if TYPE_CHECKING:
    from uaix_core.store.port import Store
    from uaix_core.values.ids import ScopeId

#: What makes a folder a directory store.
_MARKERS: Final = ("uaix-store.json", "scopes")
#: What the file of a SQLite store has at this place of its header.
_SQLITE: Final = slice(68, 72), b"UAIX"
_HEADER_BYTES: Final = 100
#: Kinds of stores whose URL goes on with a path.
_OF_PATHS: Final = ("dir", "sqlite", "backup")
KINDS: Final = (*_OF_PATHS, "memory", "postgres", "postgresql")


def url_of(path: str) -> str | None:
    """The URL of the store at a path, None when none is recognised there.

    For the end of a run: no store may be open, whose locks this would let go.
    """
    from uaix_backends.backup.form import HEAD  # noqa: PLC0415 - loads zstandard

    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - it may hold NUL
        if stat.S_ISDIR(mode):
            is_store = all((Path(path) / name).exists() for name in _MARKERS)
            return f"dir:{path}" if is_store else None
        if not stat.S_ISREG(mode):
            return None
        with Path(path).open("rb") as file:
            beginning = file.read(_HEADER_BYTES)
    except (OSError, ValueError):
        return None
    if beginning.startswith(HEAD):
        return f"backup:{path}"
    place, mark = _SQLITE
    return f"sqlite:{path}" if beginning[place] == mark else None


def are_same(one: str, other: str) -> bool:
    """Whether two URLs certainly name one store that lasts."""
    kind, _colon, path = one.partition(":")
    other_kind, _colon, other_path = other.partition(":")
    if one == other:
        return one != "memory:"
    if kind != other_kind or kind not in _OF_PATHS:
        return False
    try:
        return Path(path).samefile(other_path)
    except (OSError, ValueError):
        return False


def file_name(context: click.Context, option: click.Parameter, text: str) -> Path:
    """The name of a file to write, which is neither empty nor a URL nor ``-``."""
    kind, colon, path = text.partition(":")
    if not text:
        raise click.UsageError("-o names the file to write", context)
    if text == "-":
        raise click.UsageError(
            "a backup is read back once it is written, so it goes into a file", context
        )
    if colon and kind in KINDS:
        meant = path if kind == "backup" and path else f"./{text}"
        # What names a server may hold a password.
        asked = f"; did you mean -o {meant}?" if not path.startswith("//") else ""
        raise click.UsageError(f"-o takes a path and no URL{asked}", context)
    place: Path = PATH.convert(text, option, context)
    return place


def require_scope(store: Store, scope: ScopeId) -> None:
    """Refuse a scope that a store doesn't hold.

    Raises:
        NotFoundError: ``scope.not-found``.

    """
    try:
        with store.snapshot(scope) as snapshot:
            # Where the position was lost the commits may still be there.
            if snapshot.position or next(iter(snapshot.commits()), None) is not None:
                return
    except IntegrityError:
        # It is damaged, so it is there.
        return
    raise NotFoundError(
        "the store holds no such scope",
        code="scope.not-found",
        path=scope.text,
        hint="uaix verify lists the scopes of a store",
    )
