"""From an error to its line and its exit code."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from uaix_core.gate.said import shown_name
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
    "startup.refused": None,
    "policy.broken": "set it anew with uaix policy",
    "store.missing": "check the path; install and restore make a new store",
}
#: Errors of these codes are about a path, and what lies there tells how it is named.
_MISNAMED: Final = frozenset(("store.url", "store.not-a-store", "store.missing"))


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
    the JSON line. Whatever of it holds a secret isn't shown.
    """
    told = {**error, "hint": _hint(error)}
    error = {
        name: shown_name(text) if isinstance(text, str) else text
        for name, text in told.items()
    }
    if as_json:
        write_out(json_line({**about, "error": error}) + "\n")
    where = f" at {error['path']}" if error["path"] else ""
    hint = f" ({error['hint']})" if error["hint"] else ""
    write_error(safe(f"{error['code']}: {error['message']}{where}{hint}"))


def _hint(error: dict[str, Any]) -> str | None:
    """What to do next, as a person at a shell is told it."""
    code, hint = error["code"], error["hint"]
    if code in _MISNAMED and error["path"]:
        from uaix_surfaces.cli.recognising import url_of  # noqa: PLC0415 - on demand

        found = url_of(error["path"])
        if found is not None:
            return f"did you mean {found}?"
        if hint is not None and "uaix backup" in hint:
            return str(hint)
    return _HINTS.get(code, hint)
