"""The verbs of a persona's test set, and of the marks of indexes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from uaix_core.tiers.noting import OUTCOMES, CaseDraft
from uaix_surfaces.cli.acting import at_options, reading_options
from uaix_surfaces.cli.failures import OK, usable
from uaix_surfaces.cli.options import (
    json_option,
    package_argument,
)
from uaix_surfaces.cli.output import Output
from uaix_surfaces.cli.tier_lines import row_line, tell_answer, tell_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from uaix_surfaces.cli.acting import At


def _texts(name: str, target: str, metavar: str, help_text: str) -> Callable[..., Any]:
    return click.option(
        name, target, multiple=True, metavar=metavar, help=help_text + " Repeatable."
    )


@click.command("case")
@package_argument
@click.argument("name", metavar="NAME")
@click.option("--prompt", required=True, metavar="TEXT", help="What is said to it.")
@_texts("--must", "must", "TEXT", "What holds of the answer.")
@_texts("--must-not", "must_not", "TEXT", "What doesn't.")
@_texts("--path", "paths", "PATH", "A file of the persona that it tests.")
@at_options
@json_option
def case_verb(  # noqa: PLR0913 - the options of the verb
    package_id: str,
    name: str,
    *,
    prompt: str,
    must: tuple[str, ...],
    must_not: tuple[str, ...],
    paths: tuple[str, ...],
    as_json: bool,
    at: At,
) -> int:
    r"""Put a case into the test set of a persona, in the place of one of its name.

    \b
    Example:
      uaix tier case ada greeting --prompt "Hello" --must "it greets by name" \
        --path .uai/persona.uai --store sqlite:my.db --scope me/personal/main
    """
    with usable():
        case = CaseDraft(name, prompt, must, must_not, paths)
    with at.session() as session:
        answer = session.tiers.fidelity.put(package_id, case)
    return tell_answer(answer, f"{name}: put", as_json=as_json)


@click.command("cases")
@package_argument
@reading_options
@json_option
def cases_verb(package_id: str, *, at: At, as_json: bool) -> int:
    r"""Show the test set of a persona.

    \b
    Example:
      uaix tier cases ada --store sqlite:my.db --scope me/personal/main
    """
    lines: list[dict[str, Any]] = []
    after = None
    with at.session() as session:
        fidelity = session.tiers.fidelity
        while page := fidelity.list(package_id, after=after):
            lines += [row_line(fidelity.get(package_id, one.name)) for one in page]
            after = page[-1].name
    columns = ("name", "prompt", "must", "must_not", "paths")
    return tell_lines(lines, columns, "no cases", as_json=as_json)


_run = click.option("--run", "run_id", required=True, metavar="ID", help="Which run.")


@click.command("result")
@package_argument
@click.argument("name", metavar="NAME")
@click.argument("outcome", type=click.Choice(OUTCOMES))
@_run
@click.option("--note", default="", metavar="TEXT", help="What there is to say.")
@at_options
@json_option
def result_verb(  # noqa: PLR0913 - the options of the verb
    package_id: str,
    name: str,
    outcome: str,
    *,
    run_id: str,
    note: str,
    as_json: bool,
    at: At,
) -> int:
    r"""Record how a case came out in a run.

    \b
    Example:
      uaix tier result ada greeting passed --run 2026-06-01 \
        --store sqlite:my.db --scope me/personal/main
    """
    with at.session() as session:
        answer = session.tiers.fidelity.record(
            package_id, run_id, name, outcome, note=note
        )
    return tell_answer(answer, f"{name}: {outcome}", as_json=as_json)


@click.command("results")
@package_argument
@_run
@reading_options
@json_option
def results_verb(package_id: str, *, run_id: str, at: At, as_json: bool) -> int:
    r"""Show how the cases of a run came out.

    \b
    Example:
      uaix tier results ada --run 2026-06-01 \
        --store sqlite:my.db --scope me/personal/main
    """
    lines: list[dict[str, Any]] = []
    after = None
    with at.session() as session:
        fidelity = session.tiers.fidelity
        while page := fidelity.results(package_id, run_id, after=after):
            lines += map(row_line, page)
            after = page[-1].result_id
    columns = ("case_id", "outcome", "note", "checkpoint_id")
    return tell_lines(lines, columns, "no results", as_json=as_json)


@click.command("mark")
@package_argument
@click.argument("name", metavar="INDEX")
@click.argument("seq", type=click.IntRange(min=0), metavar="SEQ")
@at_options
@json_option
def mark_verb(package_id: str, name: str, seq: int, *, as_json: bool, at: At) -> int:
    r"""Say that an index has taken in a package up to the commit SEQ.

    \b
    Example:
      uaix tier mark ada text 12 --store sqlite:my.db --scope me/personal/main
    """
    with at.session() as session:
        session.tiers.indexes.mark(name, package_id, seq)
    out = Output(as_json=as_json)
    if as_json:
        out.line({"name": name, "package_id": package_id, "seq": seq})
    else:
        out.say(f"{name}: {package_id} up to {seq}", "accepted")
    return OK


@click.command("marks")
@click.argument("name", metavar="INDEX")
@reading_options
@json_option
def marks_verb(name: str, *, at: At, as_json: bool) -> int:
    r"""Show how far an index has come, package by package.

    \b
    Example:
      uaix tier marks text --store sqlite:my.db --scope me/personal/main
    """
    with at.session() as session:
        lines = [row_line(row) for row in session.tiers.indexes.list(name)]
    columns = ("package_id", "seq", "marked_at")
    return tell_lines(lines, columns, "no marks of that index", as_json=as_json)


COMMANDS: Final = (
    case_verb,
    cases_verb,
    result_verb,
    results_verb,
    mark_verb,
    marks_verb,
)
