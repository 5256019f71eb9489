"""The verb that judges: lint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from uaix_backends.judging import lint_path
from uaix_backends.system import SystemClock
from uaix_core.packages.lint import lint
from uaix_core.values.errors import UaixError
from uaix_surfaces.cli.failures import OK, REFUSED, UNUSABLE, tell
from uaix_surfaces.cli.options import PATH, json_option, judging_options
from uaix_surfaces.cli.output import Output

if TYPE_CHECKING:
    from pathlib import Path

    from uaix_core.packages.lint import Report
    from uaix_core.packages.source import PackageSource


def judge(source: PackageSource, *, ruleset: str, lenient: bool) -> Report:
    """Lint by the system's clock."""
    return lint(source, ruleset=ruleset, lenient=lenient, now=SystemClock().now())


def report_line(path: Path, report: Report) -> dict[str, Any]:
    """The JSON form of a verdict on what lies at a path."""
    return {
        "path": str(path),
        "verdict": report.verdict,
        "ruleset": report.ruleset,
        "findings": [finding.as_dict() for finding in report.findings],
    }


def show_report(out: Output, path: Path, report: Report) -> None:
    """The verdict and its findings, for people."""
    out.say(f"{path}: {report.verdict}, {report.summary}", report.verdict)
    if report.findings:
        out.table(
            ("severity", "code", "path", "message"),
            ((f.severity, f.code, f.path, f.message) for f in report.findings),
        )


def say_report(out: Output, path: Path, report: Report, **more: Any) -> None:
    """The verdict in the form that is asked for; ``more`` is for the line of JSON."""
    if out.as_json:
        out.line({**report_line(path, report), **more})
    else:
        show_report(out, path, report)


@click.command("lint")
@click.argument("paths", nargs=-1, required=True, type=PATH, metavar="PATH...")
@judging_options
@json_option
def lint_verb(
    paths: tuple[Path, ...],
    *,
    ruleset: str,
    lenient: bool,
    as_json: bool,
) -> int:
    r"""Judge packages, archives (.uaix) or folders, without storing anything.

    Every finding is listed that can be computed. A package that passes is evidence
    for a review and no more.

    \b
    Examples:
      uaix lint my-persona.uaix
      uaix lint my-persona other.uaix --json

    \b
    Exit codes:
      0  all were accepted
      1  any was refused
      2  any could not be read (the others are judged all the same)
    """
    out = Output(as_json=as_json)
    code = OK
    for path in paths:
        try:
            with out.working(f"judging {path}"):
                now = SystemClock().now()
                report = lint_path(path, ruleset=ruleset, lenient=lenient, now=now)
        except UaixError as error:
            tell(error.as_dict(), as_json=as_json, path=str(path))
            code = UNUSABLE
            continue
        if as_json:
            out.line(report_line(path, report))
        else:
            show_report(out, path, report)
        if not report.is_accepted:
            code = max(code, REFUSED)
    return code
