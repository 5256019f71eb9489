"""The pytest plugin: options, fixtures, skipping by capability, and the verdict.

It acts on the kit's own test modules and leaves every other test alone; nothing of
the kit or the core is imported before one of them is collected.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from uaix_conformance.harness import Harness, Site, Yardstick
    from uaix_conformance.verdict import Verdict
    from uaix_core.store.port import Store

#: The kit's folder, as it may be reached through a link and as it is.
_HERE = {Path(__file__).parent, Path(__file__).resolve().parent}
_HARNESSES = pytest.StashKey[dict[str, "Harness"]]()
_CAPABILITIES = pytest.StashKey[dict[str, tuple[str, ...]]]()
_XFAILS = pytest.StashKey[dict[str, str]]()
_VERDICTS = pytest.StashKey[dict[str, "Verdict"]]()

_BACKEND, _CLAUSES, _DECLARED = "uaix-backend", "uaix-clauses", "uaix-declared"
_KNOWN, _FIGURES = "uaix-known", "uaix-figures"

pytest.register_assert_rewrite(
    "uaix_conformance.comparison",
    "uaix_conformance.machine",
    "uaix_conformance.yardstick",
)


def _seconds(text: str) -> float:
    """A time to work for; pytest tells the other ones as wrong usage."""
    found = float(text)
    if not 0 < found < math.inf:
        raise argparse.ArgumentTypeError("a number of seconds above 0")
    return found


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup("uaix", "conformance to the storage contract")
    group.addoption(
        "--uaix-backend",
        action="append",
        default=[],
        metavar="NAME",
        help="judge this backend: an entry point of uaix.backends or module:attribute "
        "(repeatable; default: every installed one)",
    )
    group.addoption(
        "--uaix-report",
        metavar="FILE.json",
        help="write the verdicts to this file as JSON",
    )
    group.addoption(
        "--uaix-xfails",
        metavar="FILE",
        help="known failures of one backend, lines of `clause  reason`; strict",
    )
    group.addoption(
        "--uaix-seconds",
        type=_seconds,
        default=2.0,
        metavar="N",
        help="let processes work and be killed for so long (default: 2); from 20 on, "
        "also until 100 operations and one kill a second were reached",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers."""
    config.addinivalue_line(
        "markers", "clause(*numbers): the clauses of the contract that a test decides"
    )
    config.addinivalue_line(
        "markers", "requires(capability): skip unless the backend declares it"
    )
    config.addinivalue_line(
        "markers", "drawn: a test over random examples; its failure can't be listed"
    )
    report = config.getoption("uaix_report")
    if report and not Path(report).absolute().parent.is_dir():
        raise pytest.UsageError(f"--uaix-report: there is no folder for {report}")
    config.stash[_HARNESSES] = {}
    config.stash[_XFAILS] = {}
    config.stash[_CAPABILITIES] = {}
    config.stash[_VERDICTS] = {}


def _is_ours(path: Path) -> bool:
    return path.parent in _HERE and path.name.startswith("test_")


def _stop(reason: str) -> NoReturn:
    """End the run: the backend can't be judged like this."""
    pytest.exit(f"uaix-conformance: {reason}", returncode=pytest.ExitCode.USAGE_ERROR)


def _names(config: pytest.Config) -> list[str]:
    """The names of the backends to judge."""
    from uaix_conformance.harness import installed  # noqa: PLC0415 - for the kit alone

    return list(dict.fromkeys(config.getoption("uaix_backend"))) or installed()


def _harnesses(config: pytest.Config) -> dict[str, Harness]:
    """The backends to judge, loaded once."""
    from uaix_conformance.harness import HarnessError, load  # noqa: PLC0415 - as above

    found = config.stash[_HARNESSES]
    if not found:
        try:
            for name in _names(config):
                found[name] = load(name)
        except HarnessError as error:
            _stop(str(error))
        if not found:
            _stop("no backend is installed: there is none to judge")
        config.stash[_XFAILS] = _read_xfails(config, len(found))
    return found


def _read_xfails(config: pytest.Config, backends: int) -> dict[str, str]:
    from uaix_conformance.verdict import read_xfails  # noqa: PLC0415 - as above

    name = config.getoption("uaix_xfails")
    if not name:
        return {}
    if backends != 1:
        _stop("--uaix-xfails goes with exactly one --uaix-backend")
    try:
        return read_xfails(Path(name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        _stop(f"--uaix-xfails {name}: {error}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test of the kit once for each backend."""
    if _is_ours(metafunc.definition.path) and "harness" in metafunc.fixturenames:
        names = _names(metafunc.config)
        metafunc.parametrize("harness", names, indirect=True, scope="session")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Note on each item what the verdict needs; stop when a backend is missing."""
    ours = [item for item in items if _is_ours(item.path)]
    if ours:
        _harnesses(config)
    for item in ours:
        callspec = getattr(item, "callspec", None)
        if callspec is not None and "harness" in callspec.params:
            marks = item.iter_markers("clause")
            clauses = [number for mark in marks for number in mark.args]
            item.user_properties.append((_BACKEND, callspec.params["harness"]))
            item.user_properties.append((_CLAUSES, clauses))
    if any("yardstick" in getattr(item, "fixturenames", ()) for item in ours):
        from uaix_conformance.harness import (  # noqa: PLC0415 - as above
            HarnessError,
            load_yardstick,
        )

        try:
            load_yardstick()
        except HarnessError as error:
            _stop(str(error))


def _declared(item: pytest.Item, name: str) -> tuple[str, ...]:
    """The capabilities that a backend's stores declare, asked once."""
    known = item.config.stash[_CAPABILITIES]
    if name not in known:
        from tempfile import TemporaryDirectory  # noqa: PLC0415 - as above

        from uaix_conformance.harness import site_of  # noqa: PLC0415 - as above

        with (
            TemporaryDirectory(prefix="uaix-") as folder,
            site_of(_harnesses(item.config)[name], Path(folder)) as site,
        ):
            declared = site.open().capabilities
            known[name] = tuple(sorted(c.value for c in declared))
    return known[name]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs a capability that the backend does not declare."""
    properties = dict(item.user_properties)
    if _BACKEND not in properties:
        return
    declared = _declared(item, str(properties[_BACKEND]))
    item.user_properties.append((_DECLARED, list(declared)))
    for mark in item.iter_markers("requires"):
        for capability in mark.args:
            if capability.value not in declared:
                pytest.skip(f"{capability.name} is not declared")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Turn a listed failure of a plain example into an expected one."""
    report: pytest.TestReport = yield
    clauses: Any = dict(item.user_properties).get(_CLAUSES, ())
    # A test that decides many clauses may say which of them it found broken.
    broken = getattr(call.excinfo.value, "clauses", None) if call.excinfo else None
    if broken is not None and clauses:
        clauses = broken
        report.user_properties.append((_CLAUSES, list(broken)))
    listed = item.config.stash[_XFAILS]
    reasons = [listed[clause] for clause in clauses if clause in listed]
    # Strict expectations about random examples would be a matter of luck.
    drawn = item.get_closest_marker("drawn") is not None
    if report.when == "call" and report.failed and reasons and not drawn:
        report.outcome = "skipped"
        report.wasxfail = "; ".join(reasons)
        report.user_properties.append((_KNOWN, True))
    return report


class _Judge:
    """Gathers the reports; with several processes it runs in the first."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Give each report of the kit to its backend's verdict."""
        properties = dict(report.user_properties)
        if _BACKEND not in properties:
            return
        from uaix_conformance import verdict as v  # noqa: PLC0415 - plain runs pay nothing

        name = str(properties[_BACKEND])
        found = self._config.stash[_VERDICTS]
        if name not in found:
            _harnesses(self._config)
            listed = self._config.stash[_XFAILS]
            found[name] = v.Verdict(name, listed)
        judged = found[name]
        if _DECLARED in properties:
            judged.capabilities = tuple(properties[_DECLARED])  # type: ignore[arg-type]
        if report.when == "call" and _FIGURES in properties:
            judged.figures.append(properties[_FIGURES])  # type: ignore[arg-type]
        if properties.get(_KNOWN):
            outcome = v.KNOWN
        elif report.failed:
            outcome = v.BROKEN
        elif report.skipped:
            outcome = v.UNDECLARED
        elif report.when == "call":
            outcome = v.HELD
        else:
            return
        clauses: Any = properties[_CLAUSES]
        judged.take(clauses, outcome, report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the report; fail when a listed failure was mended."""
        verdicts = self._config.stash[_VERDICTS]
        if any(verdict.failed for verdict in verdicts.values()):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        name = self._config.getoption("uaix_report")
        if name and verdicts:
            report = {"backends": [verdict.as_dict() for verdict in verdicts.values()]}
            text = json.dumps(report, indent=2, ensure_ascii=False)
            Path(name).write_text(text + "\n", encoding="utf-8")

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        """Print the verdict of each backend."""
        for name, verdict in self._config.stash[_VERDICTS].items():
            terminalreporter.section(f"storage contract: {name}")
            for line in verdict.lines():
                terminalreporter.write_line(line)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Take a seat where all reports arrive."""
    if not hasattr(session.config, "workerinput"):
        session.config.pluginmanager.register(_Judge(session.config), "uaix-judge")


@pytest.fixture(scope="session")
def harness(request: pytest.FixtureRequest) -> Harness:
    """The harness of the backend that is judged."""
    return _harnesses(request.config)[request.param]


@pytest.fixture(scope="session")
def yardstick() -> Yardstick:
    """The harness of the file projection, found among the installed backends."""
    from uaix_conformance.harness import load_yardstick  # noqa: PLC0415 - as above

    return load_yardstick()


@pytest.fixture
def new_site(
    harness: Harness, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], Site]]:
    """A function that gives a fresh place for stores; all are closed at the end."""
    from uaix_conformance.harness import Site  # noqa: PLC0415 - as above

    sites: list[Site] = []

    def new() -> Site:
        sites.append(Site(harness, tmp_path_factory.mktemp("site")))
        return sites[-1]

    yield new
    for site in sites:
        site.discard()


@pytest.fixture
def site(new_site: Callable[[], Site]) -> Site:
    """A fresh place for stores."""
    return new_site()


@pytest.fixture
def store(site: Site) -> Store:
    """A fresh store over the kit's schema."""
    return site.open()
