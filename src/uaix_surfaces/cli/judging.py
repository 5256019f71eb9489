"""The verb that judges: lint."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import attrs
import click

from uaix_backends.judging import lint_path
from uaix_backends.system import SystemClock
from uaix_core.packages.answers import PackageRefusedError
from uaix_core.packages.lint import lint
from uaix_core.packages.policy import AcceptancePolicy, judge_policy
from uaix_core.values.errors import UaixError
from uaix_surfaces.cli.failures import OK, REFUSED, UNUSABLE, tell
from uaix_surfaces.cli.options import PATH, json_option, judging_options
from uaix_surfaces.cli.output import Output

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from uaix_core.packages.findings import Finding
    from uaix_core.packages.lint import Checks, Report
    from uaix_core.packages.source import PackageSource


def judge(source: PackageSource, checks: Checks) -> Report:
    """Lint by the system's clock."""
    return lint(source, now=SystemClock().now(), **checks)


def required(report: Report, checks: Checks) -> Report:
    """The report, refusing unless a trusted key signed all of the package."""
    package, signatures = report.package, report.signatures
    if package is None or signatures is None:
        return report
    keys = checks.get("trusted", {}).keys()
    policy = AcceptancePolicy(require_signature_from=frozenset(keys))
    findings = judge_policy(policy, package, signatures)
    if not findings:
        return report
    return attrs.evolve(
        report,
        verdict="refuse",
        findings=(*findings, *report.findings),
        package=None,
    )


def report_line(path: Path | str, report: Report) -> dict[str, Any]:
    """The JSON form of a verdict on what lies at a path."""
    return {
        "path": str(path),
        "verdict": report.verdict,
        "ruleset": report.ruleset,
        "findings": [finding.as_dict() for finding in report.findings],
    }


def show_report(out: Output, path: Path | str, report: Report) -> None:
    """The verdict and its findings, for people."""
    out.say(f"{path}: {report.verdict}, {report.summary}", report.verdict)
    show_findings(out, report.findings)


@contextmanager
def shown_refusal(out: Output, name: str) -> Iterator[None]:
    """Show the report of a package that is refused inside, before the error goes on.

    It stands outside of whatever shows that work goes on.
    """
    try:
        yield
    except PackageRefusedError as error:
        if out.as_json:
            out.line({**report_line(name, error.report), "receipt": error.receipt})
        else:
            show_report(out, name, error.report)
        raise


def show_findings(out: Output, findings: Sequence[Finding]) -> None:
    """A table of findings for people, when there are any."""
    if findings:
        out.table(
            ("severity", "code", "path", "message"),
            ((f.severity, f.code, f.path, f.message) for f in findings),
        )


def say_report(out: Output, path: Path, report: Report, **more: Any) -> None:
    """The verdict in the form that is asked for; ``more`` is for the line of JSON."""
    if out.as_json:
        out.line({**report_line(path, report), **more})
    else:
        show_report(out, path, report)


def _signature_lines(report: Report) -> list[dict[str, Any]]:
    return (
        [] if report.signatures is None else report.signatures.as_dict()["signatures"]
    )


def _show_signatures(out: Output, report: Report) -> None:
    lines = _signature_lines(report)
    if not lines:
        out.say("no signatures")
        return
    out.table(
        ("signature", "key id", "why"),
        ((line["outcome"], line["key_id"], line["reason"]) for line in lines),
    )


@click.command("lint")
@click.argument("paths", nargs=-1, required=True, type=PATH, metavar="PATH...")
@judging_options
@click.option(
    "--require-signature",
    is_flag=True,
    help="Refuse a package that no key of --trust signed as a whole.",
)
@json_option
def lint_verb(
    paths: tuple[Path, ...],
    *,
    checks: Checks,
    require_signature: bool,
    as_json: bool,
) -> int:
    r"""Judge packages, archives (.uaix) or folders, without storing anything.

    Every finding is listed that can be computed. A package that passes is evidence
    for a review and no more. With --trust its signatures are verified and listed.

    \b
    Examples:
      uaix lint my-persona.uaix
      uaix lint my-persona other.uaix --json
      uaix lint my-persona.uaix --trust maren.pub --require-signature

    \b
    Exit codes:
      0  all were accepted
      1  any was refused
      2  any could not be read (the others are judged all the same)
    """
    out = Output(as_json=as_json)
    trusts = bool(checks.get("trusted"))
    if require_signature and not trusts:
        raise click.UsageError("--require-signature goes with --trust")
    code = OK
    for path in paths:
        try:
            with out.working(f"judging {path}"):
                report = lint_path(path, now=SystemClock().now(), **checks)
        except UaixError as error:
            tell(error.as_dict(), as_json=as_json, path=str(path))
            code = UNUSABLE
            continue
        if require_signature:
            report = required(report, checks)
        signed = {"signatures": _signature_lines(report)} if trusts else {}
        say_report(out, path, report, **signed)
        if trusts and not as_json:
            _show_signatures(out, report)
        if not report.is_accepted:
            code = max(code, REFUSED)
    return code
