r"""What reaches the terminal: JSON lines or tables, and nothing that acts on it.

Texts of a package are hostile until reviewed. In tables every character that isn't
printable (controls, bidirectional marks, invisible ones) is shown as ``\u{...}``, and
no markup is read; in JSON everything outside of ASCII is escaped.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rich.console import Console

#: Where no terminal says how wide it is, nothing is wrapped.
_UNBOUNDED = 4096

_STDOUT = 1

#: Columns of short words that are not folded on a narrow terminal.
_WHOLE = frozenset(("at", "modified", "severity", "code", "state", "actor"))

_STYLES = {
    "accept": "green",
    "accepted": "green",
    "ok": "green",
    "holds": "green",
    "refuse": "bold red",
    "refused": "bold red",
    "fails": "bold red",
    "wrong": "bold red",
    "error": "red",
    "warning": "yellow",
    "info": "dim",
}


class OutputClosedError(Exception):
    """Whoever read the output has gone."""


class OutputFailedError(Exception):
    """The output can't be written; the message says why."""


def safe(text: object) -> str:
    r"""The text in one line, unprintable characters escaped as ``\u{...}``."""
    return "".join(
        character if character.isprintable() else f"\\u{{{ord(character):x}}}"
        for character in str(text)
    )


def counted(count: int, name: str) -> str:
    """So many of something: ``1 commit``, ``2,000 commits``."""
    return f"{count:,} {name}{'' if count == 1 else 's'}"


def json_line(value: Any) -> str:
    """A value as one line of ASCII JSON.

    Half surrogates (a file name that isn't UTF-8) stand as the text of their escape,
    because strict readers refuse them.
    """
    return json.dumps(_whole(value), ensure_ascii=True, allow_nan=False)


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_whole(item) for item in value]
    return value


def prepare_streams() -> None:
    """Make both streams write anything: what they can't encode is escaped.

    A standard output that was closed becomes one that every write fails on, so that
    no answer is lost in silence.
    """
    if sys.stdout is None:
        sys.stdout = _failing()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _failing() -> TextIO:
    """A stream in the place of the standard output that takes nothing."""
    # It holds the descriptor, too: a file opened later would else be taken for it.
    unwritable = os.open(os.devnull, os.O_RDONLY)
    if unwritable != _STDOUT:
        os.dup2(unwritable, _STDOUT)
        os.close(unwritable)
    return os.fdopen(_STDOUT, "w", encoding="utf-8", closefd=False)


def write_out(text: str) -> None:
    """Write to the standard output.

    Raises:
        OutputClosedError: the reader has gone.
        OutputFailedError: the medium failed.

    """
    with _reported():
        if sys.stdout is not None:
            sys.stdout.write(text)


def flush_out() -> None:
    """Bring out what is still waiting; raises as `write_out`."""
    with _reported():
        if sys.stdout is not None:
            sys.stdout.flush()


def write_error(text: str) -> None:
    """Write one line to the standard error; nobody hears when that fails."""
    with contextlib.suppress(OSError, ValueError):
        if sys.stderr is not None:
            flush = sys.stderr.flush
            sys.stderr.write(text + "\n")
            flush()


def abandon_out() -> None:
    """Send what is still waiting nowhere, so that the interpreter ends quietly."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextlib.contextmanager
def _reported() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise OutputClosedError from error
    except OSError as error:
        raise OutputFailedError(error.strerror or "unknown") from error


class Output:
    """How one call of a verb speaks: JSON lines, or lines and tables for people."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json

    def line(self, value: Mapping[str, Any]) -> None:
        """One JSON object on a line."""
        write_out(json_line(dict(value)) + "\n")

    def say(self, text: str, word: str | None = None) -> None:
        """One line for people; a ``word`` of a verdict colours it."""
        from rich.text import Text  # noqa: PLC0415 - only where something is shown

        self._print(Text(safe(text), style=_STYLES.get(word or "", "")))

    def pairs(self, pairs: Iterable[tuple[str, object]]) -> None:
        """Names and values below each other."""
        self.table(("", ""), list(pairs), heading=False)

    def table(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[object]],
        *,
        heading: bool = True,
    ) -> None:
        """A table for people; None is shown as a dash."""
        from rich import box  # noqa: PLC0415 - only where something is shown
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        table = Table(box=box.SIMPLE_HEAD if heading else None, show_header=heading)
        for column in columns:
            whole = column in _WHOLE
            table.add_column(Text(column), overflow="fold", no_wrap=whole)
        for row in rows:
            cells = ["-" if cell is None else safe(cell) for cell in row]
            table.add_row(*(Text(cell, _STYLES.get(cell, "")) for cell in cells))
        self._print(table)

    @contextlib.contextmanager
    def working(self, text: str) -> Iterator[Callable[[int, int], None]]:
        """Show that something goes on: on a terminal's standard error only.

        It gives a function that is told how much of how much is done.
        """
        if self.as_json or sys.stderr is None or not sys.stderr.isatty():
            yield lambda _done, _all: None
            return
        with _console(sys.stderr).status(safe(text)) as status:
            yield lambda done, whole: status.update(
                safe(f"{text}: {done:,} of {whole:,}")
            )

    def _print(self, shown: Any) -> None:
        if sys.stdout is None:
            return
        drawing = _Drawing(sys.stdout)
        _console(drawing).print(shown)
        write_out(drawing.getvalue())


class _Drawing(io.StringIO):
    """What will be written to a stream, drawn as if it were that stream.

    The drawing library flushes where it draws, and would end the process on a closed
    pipe.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding or "utf-8"

    def isatty(self) -> bool:
        return self._stream.isatty()


def _console(stream: TextIO) -> Console:
    from rich.console import Console  # noqa: PLC0415 - only where something is shown

    return Console(
        file=stream,
        width=None if stream.isatty() else _UNBOUNDED,
        markup=False,
        highlight=False,
        emoji=False,
    )
