"""One mutant before its judge, in a process of its own; nothing on disk is changed.

The parent has the large libraries loaded and none of the project; it forks for each
mutant, and an import hook puts the mutated tree in the place of the module.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from contextlib import suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from hypothesis import HealthCheck, Phase, settings

if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).resolve().parents[2]

#: Seconds for one test, and for all of one judge's; what hangs is killed.
TEST_SECONDS = 30
JUDGE_SECONDS = 240
#: Bytes of memory: a loop that never ends must not take the machine along.
MEMORY = 4 * 2**30

# The same examples each time, and no time spent on making a failure small. They are
# few, because what only the thousandth would notice needs a plain example.
settings.register_profile(
    "mutants",
    max_examples=20,
    phases=[Phase.explicit, Phase.generate],
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@attrs.frozen
class Judged:
    """What one judge said: who killed the mutant, or None when it survived."""

    killer: str | None
    seconds: float
    #: Test -> seconds, for the tests that ran.
    durations: Mapping[str, float] = attrs.field(factory=dict)


class _Loader(SourceFileLoader):
    """Loads a module from a tree instead of its text."""

    def __init__(self, name: str, path: str, tree: ast.Module) -> None:
        super().__init__(name, path)
        self._tree = tree

    def get_code(self, fullname: str) -> Any:
        """The code of the tree."""
        return compile(self._tree, self.path, "exec", dont_inherit=True)


class Finder(MetaPathFinder):
    """Finds the modules whose trees are given, before anything else looks."""

    def __init__(self, trees: Mapping[str, ast.Module]) -> None:
        self._trees = {module_of(file): (file, tree) for file, tree in trees.items()}

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        """The mutated module's spec, or None."""
        if fullname not in self._trees:
            return None
        file, tree = self._trees[fullname]
        place = str(ROOT / "src" / file)
        loader = _Loader(fullname, place, tree)
        return spec_from_file_location(fullname, place, loader=loader)


def module_of(file: str) -> str:
    """The dotted name of a file below ``src``."""
    return file.removesuffix(".py").replace("/", ".")


class _Clerk:
    """Puts the tests in order and notes which one failed first."""

    def __init__(self, order: Mapping[str, float]) -> None:
        self._order = order
        self.killer: str | None = None
        self.durations: dict[str, float] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Tests that kill fast come first."""
        items.sort(key=lambda item: self._order.get(item.nodeid, 0.0))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note failures and times."""
        before = self.durations.get(report.nodeid, 0.0)
        self.durations[report.nodeid] = before + report.duration
        if report.failed and self.killer is None:
            self.killer = report.nodeid


def _child(
    trees: Mapping[str, ast.Module],
    judge: Sequence[str],
    order: Mapping[str, float],
    folder: Path,
) -> dict[str, Any]:
    """Judge in this process, which is the mutant's own."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    said = os.open(folder / "output", os.O_CREAT | os.O_WRONLY)
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.chdir(ROOT)
    sys.meta_path.insert(0, Finder(trees))
    clerk = _Clerk(order)
    code: int = pytest.main(
        [
            *("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"),
            *("--hypothesis-profile=mutants", f"--timeout={TEST_SECONDS}"),
            # The parent has loaded hypothesis, whose own assertions stay as they are.
            *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
            f"--basetemp={folder / 'temp'}",
            *judge,
        ],
        plugins=[clerk],
    )
    unloaded = [f for f in trees if module_of(f) not in sys.modules]
    if code == pytest.ExitCode.NO_TESTS_COLLECTED or (unloaded and code == 0):
        raise RuntimeError(f"{judge} decided nothing about {unloaded or trees.keys()}")
    killer = None if code == 0 else clerk.killer or "(the run could not begin)"
    return {"killer": killer, "durations": clerk.durations}


class Trial:
    """A mutant before one judge, in a child process."""

    def __init__(
        self,
        trees: Mapping[str, ast.Module],
        judge: Sequence[str],
        order: Mapping[str, float],
    ) -> None:
        self._folder = TemporaryDirectory(prefix="uaix-mutant-")
        self._path = Path(self._folder.name)
        self._began = time.monotonic()
        sys.stdout.flush()
        self._pid = os.fork()
        if not self._pid:
            try:
                found = _child(trees, judge, order, self._path)
            except BaseException as error:  # noqa: BLE001 - a child never returns
                found = {"error": repr(error)}
            text = json.dumps(found)
            (self._path / "found.json").write_text(text, encoding="utf-8")
            # Threads that a mutant left hanging must not keep the process.
            os._exit(0)

    def poll(self) -> Judged | None:
        """What the judge said, or None when it is still at it.

        Raises:
            RuntimeError: the judge ran no test, or never met the mutant.

        """
        done, status = os.waitpid(self._pid, os.WNOHANG)
        seconds = time.monotonic() - self._began
        if not done:
            if seconds < JUDGE_SECONDS:
                return None
            self.stop()
            return Judged("(it hung)", seconds)
        with suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)
        try:
            if os.WIFSIGNALED(status):
                return Judged(f"(it crashed: signal {os.WTERMSIG(status)})", seconds)
            found = json.loads((self._path / "found.json").read_text(encoding="utf-8"))
            if "error" in found:
                raise RuntimeError(found["error"])
            return Judged(found["killer"], seconds, found["durations"])
        finally:
            self._folder.cleanup()

    def stop(self) -> None:
        """End the child and all it started."""
        with suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)
        self._folder.cleanup()
