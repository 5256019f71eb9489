"""The `uaix` command as an application: scenarios played by files and a shell.

Packages lie on disk as folders and as archives in turn, and the store is a directory.
What has no verb at a shell is carried out by the library over the same store.
"""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from uaix_backends import open_store, read_package
from uaix_backends.system import SystemClock
from uaix_conformance.scenarios.application import LibraryApplication, Sources, seen
from uaix_core.values.canonical import sha256_hex
from uaix_surfaces.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from uaix_conformance.scenarios.packages import Made
    from uaix_conformance.scenarios.playing import Json


def url_of(folder: Path) -> str:
    """The store of a play in a folder."""
    return f"dir:{folder / 'store'}"


@contextlib.contextmanager
def shell_in(folder: Path) -> Iterator[ShellApplication]:
    """A shell in a folder, with a library at its side in the present."""
    with contextlib.closing(open_store(url_of(folder), create=True)) as store:
        sources = Sources(SystemClock().now())
        yield ShellApplication(folder, LibraryApplication(store, "archive", sources))


@attrs.define
class ShellApplication:
    """Plays the verbs by calls of `uaix` in a folder.

    ``library`` is at work in the same store.
    """

    folder: Path
    library: LibraryApplication
    is_archive: bool = False
    #: Whether each call is a process of its own.
    is_apart: bool = False
    numbers: Iterator[int] = attrs.field(factory=count)
    #: Whether a scenario has moved the clock, which no shell can.
    has_waited: bool = False

    def perform(self, command: Mapping[str, Any]) -> Json:
        """Carry out a command and say how it ended."""
        verb = command["do"].replace("-", "_").replace(".", "_")
        self.has_waited |= verb == "wait"
        called = getattr(self, f"_{verb}", None)
        if called is None or self.has_waited or _WITHOUT_OPTION & command.keys():
            return self.library.perform(command)
        try:
            told, ids = called(command)
        except _RefusedError as refused:
            return {**refused.told, "ids": {}}
        return {"outcome": "accepted", **told, "ids": ids}

    def together(self, commands: Sequence[Mapping[str, Any]]) -> list[Json]:
        """Carry out each command by a process of its own, all at once."""
        apart = attrs.evolve(self, is_apart=True)
        with ThreadPoolExecutor(len(commands)) as pool:
            return list(pool.map(apart.perform, commands))

    def receipts(self, scope: str) -> Mapping[str, str]:
        """All receipts of a scope."""
        return self.library.receipts(scope)

    def _uaix(self, *arguments: object) -> list[Json]:
        """Call the program: the lines that it printed, or how it refused."""
        line = [*map(str, arguments), "--json"]
        code, out = (_called_apart if self.is_apart else _called)(line)
        lines = [json.loads(line) for line in out.splitlines()]
        if code == 0:
            return lines
        assert 1 == code, lines
        raise _RefusedError(_refused(lines))

    def _at(self, verb: str, command: Mapping[str, Any], *more: object) -> list[Json]:
        """Call a verb about a store, and about who does it when it writes."""
        who = () if verb in _READING else ("--actor", command["as"])
        for name in command.get("authorise", ()):
            more = (*more, "--authorise", name)
        for name, option in _OPTIONS.items():
            if name in command:
                more = (*more, option, command[name])
        at = ("--store", url_of(self.folder), "--scope", command["scope"])
        return self._uaix(*verb.split(), *more, *at, *who)

    def _place(self, suffix: str = "") -> Path:
        return self.folder / f"{next(self.numbers)}{suffix}"

    def _written(self, made: Made, *, as_folder: bool = False) -> Path:
        """The package on disk, in the form that wasn't taken the last time."""
        self.is_archive = not self.is_archive
        if made.is_archive_only or (self.is_archive and not as_folder):
            path = self._place(".uaix")
            path.write_bytes(made.archive())
            return path
        path = self._place()
        for name, data in made.files.items():
            file = path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        return path

    # Each verb gives what it tells, and the ids that differ from run to run.

    def _lint(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        path = self._written(command["package"])
        (line,) = self._uaix("lint", path)
        return {"findings": _told(line["findings"])}, {}

    def _pack(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        path = self._written(command["package"], as_folder=True)
        (line,) = self._uaix("pack", path, "-o", self._place(".uaix"))
        return {"changed": line["changed"], "findings": _told(line["findings"])}, {}

    def _install(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        path = self._written(command["package"])
        return _stored(self._at(command["do"], command, path))

    _restore = _update = _install

    def _clone(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        return _stored(self._at("clone", command, command["id"]))

    def _review(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        verdict = command.get("verdict", "active")
        (waiting,) = self._at("waiting", command, command["id"])
        seen = ("--expect", waiting["checkpoint_id"])
        if verdict == "active":
            records = ("approved", "--all-records", *seen)
            self._at("review", command, command["id"], *records)
        self._at("review", command, command["id"], verdict, *seen)
        return {}, {}

    def _show(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        (line,) = self._at("show", command, command["id"])
        records = {file["path"]: file["sha256"] for file in line["files"]}
        return {"state": line["state"], "records": records}, line

    def _order(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        (line,) = self._at("show", command, command["id"])
        return {"paths": [file["path"] for file in line["files"]]}, {}

    def _list(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        return {"count": len(self._at("list", command))}, {}

    def _export(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        is_archive = command["form"] == "archive"
        path = self._place(".uaix" if is_archive else "")
        self._at("export", command, command["id"], "-o", path)
        if is_archive:
            with zipfile.ZipFile(path) as archive:
                files = {name: archive.read(name) for name in archive.namelist()}
        else:
            files = dict(read_package(path).files or {})
        told: Json = {"files": {name: sha256_hex(files[name]) for name in files}}
        return {**told, "paths": list(files)} if is_archive else told, {}

    def _record(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        lines = self._at("history", command, command["id"])
        line = [x for x in lines if x.get("path") == command["path"]][-1]
        return {"number": line["number"], "sha256": line["sha256"]}, {
            "revision": line["id"]
        }

    def _revise(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        path = self._place(".uai")
        path.write_bytes(command["text"].encode())
        what = (command["id"], command["path"], path)
        return _revised(self._at("revise", command, *what))

    def _tombstone(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        what = (command["id"], command["path"], "--reason", command["reason"])
        return _revised(self._at("tombstone", command, *what))

    def _conflicts(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        (line,) = self._at("waiting", command, command["id"])
        return {"count": len(line["conflicts"])}, {}

    def _adopt(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        path = self._written(command["package"])
        (line,) = self._at("adopt", command, command["id"], path)
        return {"changed": [one["path"] for one in line["revisions"]]}, {}

    def _start(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        path = self._place()
        what = (command["id"], "--agent", command["agent"], "-o", path)
        (line,) = self._at("start", command, *what)
        records = line["records"]
        told: Json = {
            "paths": [record["path"] for record in records],
            "blanked": {r["path"]: r["blanked"] for r in records if r["blanked"]},
        }
        if "seeking" in command:
            given = [(path / record["path"]).read_bytes() for record in records]
            told["seen"] = seen(command["seeking"], given)
        return told, {}

    def _consent(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        places = [f"{one['path']}:{one['field']}" for one in command["places"]]
        what = [x for place in places for x in ("--place", place)]
        what += ["--reader", command["reader"], "--until", command["until"]]
        (line,) = self._at("consent grant", command, command["id"], *what)
        return {}, {"consent": line["consent_id"]}

    def _leases_acquire(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        what = (command["id"], "--agent", command["agent"])
        when = ("--session", command["session"], "--for", command["seconds"])
        (line,) = self._at("lease acquire", command, *what, *when)
        return {}, {"lease": line["lease_id"]}

    def _leases_release(self, command: Mapping[str, Any]) -> tuple[Json, Json]:
        rest = {key: command[key] for key in command if key != "lease"}
        (line,) = self._at("lease release", rest, command["lease"])
        return {"released": line["outcome"]}, {}


#: Arguments that no option of the program stands for.
_WITHOUT_OPTION = frozenset(("entry", "token"))

#: Verbs that take no `--actor`.
_READING = frozenset(("show", "list", "history", "waiting"))

#: Arguments of the scenarios that are options of the program.
_OPTIONS = {
    "key": "--key",
    "based_on": "--based-on",
    "expected": "--expect",
    "lease": "--lease",
}


def _called(line: list[str]) -> tuple[Any, str]:
    """The exit code and the output of a call in this process."""
    out = io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(io.StringIO()),
        pytest.raises(SystemExit) as ended,
    ):
        main(line)
    return ended.value.code, out.getvalue()


def _called_apart(line: list[str]) -> tuple[Any, str]:
    """The same of a call in a process of its own."""
    called = [sys.executable, "-m", "uaix_surfaces", *line]
    ended = subprocess.run(called, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout


class _RefusedError(Exception):
    """A call that the program refused, and what it told."""

    def __init__(self, told: Json) -> None:
        super().__init__()
        self.told = told


def _refused(lines: list[Json]) -> Json:
    told: Json = {"outcome": "refused"}
    for line in lines:
        if "findings" in line:
            told["findings"] = _told(line["findings"])
        if "error" in line:
            told["code"] = line["error"]["code"]
            checks = line["error"].get("checks")
            if checks is not None:
                told["checks"] = [f"{one['code']} {one['path']}" for one in checks]
    return told


def _told(findings: list[Json]) -> list[str]:
    return sorted(
        f"{one['code']} {one['path'] or '-'}"
        for one in findings
        if one["severity"] != "info"
    )


def _stored(lines: list[Json]) -> tuple[Json, Json]:
    (line,) = lines
    told = {
        "state": line["state"],
        "first": line["is_first"],
        "findings": _told(line["notices"]),
    }
    return told, line


def _revised(lines: list[Json]) -> tuple[Json, Json]:
    (line,) = lines
    told = {name: line[name] for name in ("number", "change")}
    ids = {"revision": line["revision_id"], "receipt": line["receipt"]}
    return {**told, "first": line["is_first"]}, ids
