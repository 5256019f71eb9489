"""From an error to its line and its exit code."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from uaix_core.values.errors import StorageError, StoreOpenError, UaixError
from uaix_surfaces.cli.output import json_line, safe, write_error, write_out

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The verb did what it was asked to.
OK: Final = 0
#: Understood, and the answer is no: refused, in conflict, not found, already there.
REFUSED: Final = 1
#: The call can't be carried out: wrong usage, an unreadable path, no such store.
UNUSABLE: Final = 2
#: The medium failed, or its bytes are damaged.
MEDIUM: Final = 3
#: A defect of the program.
DEFECT: Final = 70
#: Stopped by the interrupt key, as a shell counts it.
INTERRUPTED: Final = 130
#: The reader of the output has gone, as a shell counts it.
CLOSED: Final = 141

#: What to do next, where a program is told something else than a person at a shell.
#: None: what helps has been shown already.
_HINTS: Final = {
    "package.refused": None,
    "policy.broken": "set it anew with uaix policy",
    "store.missing": "check the path; install and restore make a new store",
}


class Unusable(Exception):  # noqa: N818 - wraps the error that it stands for
    """An error of the library that came from what stands on the command line."""

    def __init__(self, error: UaixError) -> None:
        super().__init__(str(error))
        self.error = error


@contextmanager
def usable() -> Iterator[None]:
    """Count the library's errors inside as wrong usage: exit code 2."""
    try:
        yield
    except UaixError as error:
        raise Unusable(error) from error


def exit_code(error: UaixError) -> int:
    """The exit code of an error that isn't wrong usage already."""
    if isinstance(error, StoreOpenError):
        return UNUSABLE
    return MEDIUM if isinstance(error, StorageError) else REFUSED


def tell(error: dict[str, Any], *, as_json: bool, **about: Any) -> None:
    """Report an error: a line on the standard error, and a JSON line if asked for.

    ``error`` is of the form of `UaixError.as_dict`; ``about`` are further fields of
    the JSON line.
    """
    error = {**error, "hint": _HINTS.get(error["code"], error["hint"])}
    if as_json:
        write_out(json_line({**about, "error": error}) + "\n")
    where = f" at {error['path']}" if error["path"] else ""
    hint = f" ({error['hint']})" if error["hint"] else ""
    write_error(safe(f"{error['code']}: {error['message']}{where}{hint}"))
