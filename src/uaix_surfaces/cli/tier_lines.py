"""How rows of the tiers are told: as JSON lines, or as a table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from uaix_core.schema.kinds import Kind
from uaix_core.schema.rows import fields_of
from uaix_core.values.errors import CallerError
from uaix_core.values.instants import format_instant, parse_instant
from uaix_surfaces.cli.failures import OK, usable
from uaix_surfaces.cli.options import PATH
from uaix_surfaces.cli.output import Output, write_error
from uaix_surfaces.cli.places import file_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from uaix_core.schema.rows import Row

#: Fields of a row that say nothing to whoever reads it.
_OMITTED = frozenset({"body_digest", "salt", "content"})
#: How many characters of a text a table shows.
_SHOWN = 60


def row_line(row: Row) -> dict[str, Any]:
    """A row as plain data: instants as text, JSON as what it says."""
    line: dict[str, Any] = {}
    for name, field in fields_of(type(row)).items():
        value = getattr(row, name)
        if name in _OMITTED:
            continue
        if value is not None and field.kind is Kind.INSTANT:
            value = format_instant(value)
        elif value is not None and field.kind is Kind.JSON:
            value = json.loads(value)
        line[name] = value
    return line


def tell_lines(
    lines: Iterable[dict[str, Any]],
    columns: Sequence[str],
    empty: str,
    *,
    as_json: bool,
) -> int:
    """Print lines as JSON, or these columns of them as a table; ``empty`` for none."""
    out, found = Output(as_json=as_json), list(lines)
    if not found:
        write_error(empty)
    elif as_json:
        for line in found:
            out.line(line)
    else:
        out.table(
            columns,
            ([_short(name, line.get(name)) for name in columns] for line in found),
        )
    return OK


def _short(name: str, value: Any) -> Any:
    """What a person is shown of a value; ids are to be typed again, so all of them."""
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    is_id = name in ("id", "receipt") or name.endswith("_id")
    if isinstance(value, str) and len(value) > _SHOWN and not is_id:
        return value[: _SHOWN - 3] + "..."
    return value


def tell_answer(answer: Any, what: str, *, as_json: bool) -> int:
    """Print the answer of a verb that wrote something."""
    out = Output(as_json=as_json)
    if as_json:
        out.line(answer.as_dict())
        return OK
    out.say(what, "accepted")
    out.pairs((name, _short(name, value)) for name, value in answer.as_dict().items())
    return OK


def _instant(
    _context: click.Context, _option: click.Parameter, text: str | None
) -> int | None:
    if text is None:
        return None
    with usable():
        return parse_instant(text)


def instant_option(name: str, target: str, help_text: str) -> Callable[..., Any]:
    """An option that takes an instant, None without it."""
    return click.option(
        name, target, callback=_instant, metavar="INSTANT", help=help_text
    )


agent_option = click.option(
    "--agent", "agent_id", required=True, metavar="ID", help="Whose it is."
)


def text_options(function: Callable[..., int]) -> Callable[..., int]:
    """The two options that give a text: --text, or --file."""
    text = click.option("--text", metavar="TEXT", help="The text itself.")
    file = click.option(
        "--file", type=PATH, metavar="F", help="A file that holds the text, in UTF-8."
    )
    return text(file(function))


def text_of(text: str | None, file: Path | None) -> str | None:
    """The text that was given by either option; None without.

    Raises:
        Unusable: ``usage.text`` for both of them, or for a file that isn't UTF-8.

    """
    if file is None:
        return text
    with usable():
        content = file_bytes(file)
        try:
            found = content.decode()
        except UnicodeDecodeError:
            found = None
        if text is not None or found is None:
            raise CallerError(
                "a text is given by --text, or by a --file of UTF-8",
                code="usage.text",
                path="--text",
            )
    return found


def needed_text(text: str | None, file: Path | None) -> str:
    """As `text_of`, where there has to be one."""
    found = text_of(text, file)
    if found is None:
        raise click.UsageError("--text or --file is needed")
    return found
