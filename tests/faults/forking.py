"""A warm process that forks children, each of which does one thing and may die of it.

A child runs one function of an importable module, with all modules loaded already. It
never shares a thread, a connection or a descriptor with the tests, so a test may kill
it, starve it, or patch the system under it.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
KILLED = -signal.SIGKILL

_SAID = "said"
_ANSWER = "answer"
_SERVE = "import sys; sys.path[:0] = sys.argv[1:]; from {} import serve; serve()"


class Ended(NamedTuple):
    """How a child ended."""

    #: Its exit code; negative is the signal that killed it.
    code: int
    #: What it said while it lived.
    said: list[Any]
    #: What its function returned; None when it didn't come to that.
    answer: Any


class Child:
    """A running child."""

    def __init__(self, forker: Forker, pid: int, place: str) -> None:
        self.pid = pid
        self._forker = forker
        self._place = Path(place)

    def said(self) -> list[Any]:
        """What it has said so far."""
        return _pickles(self._place / _SAID)

    def kill(self) -> None:
        """End it without any warning."""
        os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> Ended:
        """Wait for its end; an exception of its function is raised here."""
        code = self._forker.ask("wait", self.pid)
        answers = _pickles(self._place / _ANSWER)
        said = self.said()
        for left in self._place.iterdir():
            left.unlink()
        self._place.rmdir()
        if answers and answers[0][0] == "raised":
            raise AssertionError(f"in a child, after {said}:\n{answers[0][1]}")
        return Ended(code, said, answers[0][1] if answers else None)


class Forker:
    """The process that forks, seen from the tests."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SERVE.format(__name__), str(ROOT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def ask(self, *asked: Any) -> Any:
        """Send a request and wait for what it answers."""
        to, back = self._process.stdin, self._process.stdout
        assert to is not None
        assert back is not None
        pickle.dump(asked, to)
        to.flush()
        return pickle.load(back)  # noqa: S301 - of our own processes

    def start(self, function: Callable[..., Any], *arguments: Any) -> Child:
        """Run ``function(say, *arguments)`` in a child; ``say`` tells us a value."""
        place = tempfile.mkdtemp(prefix="uaix-child-")
        pid = self.ask("start", function, arguments, place)
        return Child(self, pid, place)

    def run(self, function: Callable[..., Any], *arguments: Any) -> Ended:
        """Run a function in a child and wait for its end."""
        return self.start(function, *arguments).wait()

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def _pickles(path: Path) -> list[Any]:
    """The values in a file, as far as they were written whole."""
    found = []
    with contextlib.suppress(FileNotFoundError, EOFError), path.open("rb") as file:
        while True:
            try:
                found.append(pickle.load(file))  # noqa: S301 - of our own processes
            except pickle.UnpicklingError:
                break
    return found


def serve() -> None:
    """Answer the requests of a `Forker` until it closes its end."""
    out = os.fdopen(os.dup(1), "wb")
    # What a child prints must not come between the answers.
    os.dup2(2, 1)
    while True:
        try:
            verb, *rest = pickle.load(sys.stdin.buffer)  # noqa: S301 - of our own processes
        except EOFError:
            return
        if verb == "wait":
            answer = os.waitstatus_to_exitcode(os.waitpid(rest[0], 0)[1])
        else:
            answer = os.fork()
            if not answer:
                _live(*rest)
        pickle.dump(answer, out)
        out.flush()


def _live(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    place: str,
    # Taken before a test patches them.
    write: Callable[[int, bytes], int] = os.write,
    leave: Callable[[int], None] = os._exit,
) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    said, answer = (os.open(f"{place}/{name}", flags) for name in (_SAID, _ANSWER))

    def say(value: Any) -> None:
        write(said, pickle.dumps(value))

    code = 1
    try:
        result = ("returned", function(say, *arguments))
        code = 0
    except BaseException:  # noqa: BLE001 - told to the parent
        result = ("raised", traceback.format_exc())
    write(answer, pickle.dumps(result))
    leave(code)
