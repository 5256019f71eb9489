from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import zipfile
from importlib.metadata import version

import pytest

from uaix_surfaces.cli import main
from uaix_surfaces.cli.output import Output, json_line, safe
from uaix_surfaces.cli.program import VERBS

HOSTILE = "a\x1b[31mb\x9bc\u202ed\u2066e\nf\u200bg[red]h[/red]:smile:"
ESCAPED = (
    "a\\u{1b}[31mb\\u{9b}c\\u{202e}d\\u{2066}e\\u{a}f\\u{200b}g[red]h[/red]:smile:"
)


def test_unprintable_characters_are_escaped():
    """Controls, bidirectional marks and invisible characters become plain text."""
    assert ESCAPED == safe(HOSTILE)
    assert "naïve 日本 ✓" == safe("naïve 日本 ✓")


def test_markup_of_a_package_is_text(capsys):
    """A table shows markup and names of emoji as they are written."""
    out = Output(as_json=False)
    out.table(("[b]c[/b]",), [(HOSTILE,)])
    out.say(HOSTILE)

    shown = capsys.readouterr().out
    assert 2 == shown.count(ESCAPED)
    assert "[b]c[/b]" in shown
    assert "\x1b" not in shown


def test_json_is_ascii_and_strict():
    """A JSON line has no raw control or bidirectional mark and no half surrogate."""
    line = json_line({HOSTILE: [HOSTILE, "\udc80", 1, None, True]})

    assert line.isascii()
    assert line.isprintable()
    assert {HOSTILE: [HOSTILE, "\\udc80", 1, None, True]} == json.loads(line)


def test_a_hostile_archive_acts_on_no_terminal(run, archive):
    """Names of entries reach the terminal escaped, in tables and in JSON."""
    with zipfile.ZipFile(archive, "a") as hostile:
        hostile.writestr("\x1b]0;owned\x07\u202e[red]x", b"MARKED-BODY")

    for args in ((), ("--json",)):
        ran = run("lint", archive, *args)
        assert 1 == ran.code
        for character in "\x1b\x07\u202e":
            assert character not in ran.out + ran.err
        assert "owned" in ran.out
        assert "[red]x" in ran.out
        assert "MARKED-BODY" not in ran.out + ran.err


def test_a_hostile_argument_acts_on_no_terminal(run):
    """What stands on the command line is escaped in the errors about it, too."""
    for args in (("lint", "\x1b[31m\u202e"), ("\x1b[31m",), ("lint", "--\x1b[31m")):
        ran = run(*args)
        assert 2 == ran.code
        assert "\x1b" not in ran.err
        assert "\u202e" not in ran.err
        assert 1 == ran.err.count("\n")


def test_names_that_are_no_text_are_shown():
    """A file name that isn't UTF-8 is told, in JSON without half surrogates."""
    process = subprocess.run(
        [sys.executable, "-m", "uaix_surfaces", "lint", b"\xff.uaix", "--json"],
        capture_output=True,
        check=False,
    )

    assert 2 == process.returncode
    assert "\\udcff.uaix" == json.loads(process.stdout)["path"]
    assert process.stderr.startswith(b"files.name: ")


def test_an_output_that_is_no_utf8_is_written(start, tmp_path, persona):
    """Where the output can't encode a character, it is escaped and nothing crashes."""
    (tmp_path / "日本").mkdir()
    env = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}

    process = start("lint", "日本", "日本.uaix", env=env)
    out, err = process.communicate()

    assert 2 == process.returncode
    assert b"\\u65e5\\u672c: refuse" in out
    assert b"\\u65e5\\u672c.uaix" in err
    assert (out + err).isascii()


@pytest.mark.parametrize("args", [("lint", "ada.uaix"), ("--help",), ("--version",)])
def test_a_closed_pipe_ends_quietly(start, archive, args):
    """When the reader has gone there is no traceback: 141, as shells count it."""
    read, write = os.pipe()
    os.close(read)
    process = start(*args, stdout=write)
    os.close(write)
    _, err = process.communicate()

    assert (141, b"") == (process.returncode, err)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")  # noqa: PTH110
def test_a_full_output_is_told(start, archive):
    """An output that takes nothing more is one line and exit code 3."""
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        process = start("lint", archive, stdout=full)
        _, err = process.communicate()

    assert 3 == process.returncode
    assert err.startswith(b"output.failed: ")
    assert 1 == err.count(b"\n")


@pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX closes the stream")
@pytest.mark.parametrize("closed", [">&-", "<&- >&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("lint", "ada.uaix"), 3),
        (("lint", "ada.uaix", "--json"), 3),
        (("--version",), 3),
        (("--help",), 3),
        (("lint", "none.uaix"), 2),
    ],
)
def test_a_closed_output_is_no_success(tmp_path, archive, *, closed, args, code):
    """Without a standard output an answer is lost, so the exit code is 3."""
    called = (sys.executable, *args)
    process = subprocess.run(
        ["/bin/sh", "-c", f'exec "$0" -m uaix_surfaces "$@" {closed}', *called],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        check=False,
    )

    assert code == process.returncode
    assert ("2>" not in closed) == process.stderr.count(b"\n")


def test_an_interrupt_ends_quietly():
    """The interrupt key ends a verb without a traceback: 130."""
    code = (
        "import os, signal\n"
        "from uaix_surfaces.cli import judging, main\n"
        # What runs in the background of a shell inherits that interrupts are ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def stop(*_, **__):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    signal.pause()\n"
        "judging.lint_path = stop\n"
        "main(['lint', 'x'])\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert 130 == process.returncode
    assert "" == process.stderr.strip()


def test_an_unforeseen_error_names_its_kind_only(run, monkeypatch, archive):
    """A defect is one line without the text of the error: exit code 70."""

    def fail(*_, **__):
        raise RuntimeError("MARKED-BODY")

    monkeypatch.setattr("uaix_surfaces.cli.judging.lint_path", fail)
    ran = run("lint", archive, "--json")

    assert (70, "defect") == (ran.code, ran.line["error"]["code"])
    assert "RuntimeError" in ran.err
    assert "MARKED-BODY" not in ran.out + ran.err


def test_a_traceback_is_shown_on_demand(monkeypatch, archive):
    """--traceback lets an unforeseen error through."""

    def fail(*_, **__):
        raise RuntimeError

    monkeypatch.setattr("uaix_surfaces.cli.judging.lint_path", fail)

    with pytest.raises(RuntimeError):
        main(["--traceback", "lint", str(archive)])


def test_a_failing_medium_ends_with_three(run, tmp_path):
    """What the file system doesn't take is the medium's failure, told in one line."""
    ran = run("new", "persona", "x" * 300, "--id", "mine", "--json")

    assert 3 == ran.code
    assert "files.io" == ran.line["error"]["code"]
    assert 1 == ran.err.count("\n")
    assert [] == list(tmp_path.iterdir())


def on_a_terminal(args, env, cwd):
    """What a call writes when both of its streams are a terminal."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "uaix_surfaces", *map(str, args)],
        cwd=cwd,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "60", **env},
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    pieces = []
    while True:
        try:
            piece = os.read(leader, 65_536)
        except OSError:
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(leader)
    process.wait()
    return b"".join(pieces).decode()


def test_colours_are_for_terminals_that_want_them(archive, tmp_path):
    """A terminal gets colours, and none when NO_COLOR is set."""
    coloured = on_a_terminal(("lint", archive), {"NO_COLOR": ""}, tmp_path)
    plain = on_a_terminal(("lint", archive), {"NO_COLOR": "1"}, tmp_path)

    assert "\x1b[32m" in coloured
    assert "\x1b[32m" not in plain


def test_signs_of_work_are_for_terminals(archive, tmp_path):
    """JSON lines are all that a terminal gets, and nothing moves beside them."""
    shown = on_a_terminal(("lint", archive, "--json"), {}, tmp_path)

    assert "accept" == json.loads(shown)["verdict"]


def test_the_overview_is_light():
    """`uaix --help` loads neither the tables' library nor any verb or backend."""
    code = (
        "import sys\n"
        "from uaix_surfaces.cli import main\n"
        "try:\n"
        "    main(['--help'])\n"
        "except SystemExit:\n"
        "    print(*sys.modules, file=sys.stderr)\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    loaded = set(process.stderr.split())

    assert set() == {"rich", "apsw", "numpy", "uaix_backends"} & loaded
    assert not [name for name in loaded if name.startswith("uaix_core.packages")]
    assert all(f"\n  {verb} " in process.stdout for verb in VERBS)
    kinds = ("sqlite:PATH", "dir:PATH", "postgresql://", "memory:", "backup:PATH")
    assert all(kind in process.stdout for kind in kinds)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_shows_how_it_is_called(run, verb):
    """The help of a verb has an example on a line of its own, and offers --json."""
    ran = run(verb, "--help")

    assert 0 == ran.code
    assert f"\n    uaix {verb}" in ran.out
    assert "--json" in ran.out
    assert "\\b" not in ran.out


def test_the_version_is_the_distributions(run):
    """--version says which distribution is installed."""
    ran = run("--version")

    assert (0, f"uaix {version('uaix-core')}\n") == (ran.code, ran.out)


def test_no_verb_and_a_wrong_verb_are_wrong_usage(run):
    """Without a verb, or with one that there isn't, the exit code is 2."""
    assert 2 == run().code
    wrong = run("zzz")
    assert 2 == wrong.code
    assert wrong.err.startswith("usage: ")
    assert "did you mean" not in wrong.err


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("instal", "install"),
        ("recipts", "receipts"),
        ("dif", "diff"),
        ("certify", "verify"),
    ],
)
def test_a_mistyped_verb_is_guessed(run, typed, meant):
    """A verb that is nearly right is wrong usage that names what may be meant."""
    ran = run(typed, "--json")

    assert (2, "usage") == (ran.code, ran.line["error"]["code"])
    assert f"did you mean {meant}" in ran.line["error"]["message"]


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_without_the_extra_there_is_one_line(missing):
    """Where a library of the extra is missing, the line to install it is all."""
    code = (
        "import sys\n"
        f"sys.modules[{missing!r}] = None\n"
        "from uaix_surfaces.cli import main\n"
        "main(['--help'])\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert (2, "") == (process.returncode, process.stdout)
    assert "the command line needs: pip install 'uaix-core[cli]'\n" == process.stderr


def test_the_door_loads_nothing_of_the_extra():
    """Importing the entry point loads neither library of the extra."""
    code = "import sys, uaix_surfaces.cli.entry\nprint(*sys.modules)"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert set() == {"click", "rich"} & set(process.stdout.split())
