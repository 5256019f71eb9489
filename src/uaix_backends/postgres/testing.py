"""The harness of the PostgreSQL backend, for the conformance kit.

The server is the one that `UAIX_PG_DSN` names, or one that is started for the process
and thrown away at its end; processes that it starts find it by the same name.
"""

from __future__ import annotations

import atexit
import hashlib
import os
from typing import TYPE_CHECKING

from uaix_backends.postgres.store import PostgresStore
from uaix_backends.postgres.throwaway import ThrowawayServer

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from uaix_core.schema.schema import Schema

DSN = "UAIX_PG_DSN"


def server() -> str:
    """The address of the server for tests; it is started when there is none."""
    if DSN not in os.environ:
        started = ThrowawayServer()
        pid = os.getpid()

        def stop() -> None:
            # A forked child has no server of its own.
            if os.getpid() == pid:
                started.stop()

        atexit.register(stop)
        os.environ[DSN] = started.dsn
    return os.environ[DSN]


def namespace(path: Path) -> str:
    """The database schema that stands for a folder."""
    return "t_" + hashlib.sha256(str(path).encode()).hexdigest()[:20]


class Harness:
    """Opens stores in a database schema that stands for the folder of the kit."""

    name = "postgres"

    def open(self, path: Path, schema: Schema) -> PostgresStore:
        """The store of this folder, a new one when there is none."""
        return PostgresStore.open(
            server(), create=True, schema=schema, namespace=namespace(path)
        )

    def files(self, path: Path) -> Iterable[Path]:  # noqa: ARG002 - the server has them
        """No file: a server's files are its own."""
        return ()


harness = Harness()
