"""Opening a store by URL, and a session over it with the system's sources."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from uaix_core.session.schema import SCHEMA
from uaix_core.session.session import Session
from uaix_core.values.errors import StoreOpenError
from uaix_core.values.ids import Principal, ScopeId

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_core.schema.schema import Schema
    from uaix_core.store.port import Store

#: How a store is named, for messages.
FORMS = "memory:, dir:PATH, sqlite:PATH, postgresql://..., backup:PATH"


def open_store(url: str, *, create: bool = False, schema: Schema = SCHEMA) -> Store:
    """Open the store that a URL names.

    Args:
        url: ``memory:``, ``dir:PATH``, ``sqlite:PATH``, ``postgresql://...`` (in the
            database schema ``uaix``, or the one that the fragment names, as in
            ``postgresql://host/db#other``), or ``backup:PATH`` to read.
        create: make it when it isn't there.
        schema: the relations to open it with.

    Raises:
        StoreOpenError: ``store.url`` for any other URL, ``store.path``,
            ``store.missing``, ``store.not-a-store``, ``store.format``,
            ``store.schema``.

    """
    if not isinstance(url, str):
        raise StoreOpenError("the URL of a store is a text", code="store.url")
    kind, colon, rest = url.partition(":")
    if kind in ("postgresql", "postgres") and rest.startswith("//"):
        return _on_server(url, create=create, schema=schema)
    if rest.startswith("//"):
        raise StoreOpenError(
            "not the URL of a store",
            code="store.url",
            hint=f"a path follows the colon, as in {kind}:store or {kind}:/var/store",
        )
    if url == "memory:":
        from uaix_backends.memory import MemoryStore  # noqa: PLC0415 - on first use

        return MemoryStore(schema)
    if colon and rest and kind == "dir":
        from uaix_backends.directory import DirectoryStore  # noqa: PLC0415

        return DirectoryStore.open(Path(rest), create=create, schema=schema)
    if colon and rest and kind == "sqlite":
        from uaix_backends.sqlite import SqliteStore  # noqa: PLC0415

        return SqliteStore.open(Path(rest), create=create, schema=schema)
    if colon and rest and kind == "backup":
        from uaix_backends.backup import BackupStore  # noqa: PLC0415

        return BackupStore.open(Path(rest), schema=schema)
    raise StoreOpenError("not the URL of a store", code="store.url", hint=FORMS)


def shown_url(url: str) -> str:
    """The URL of a store as it may be shown: without a user, password or option."""
    if not url.startswith(("postgresql://", "postgres://")):
        return url
    try:
        parts = urlsplit(url)
        place = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "postgresql://"
    mark = f"#{parts.fragment}" if parts.fragment else ""
    return f"postgresql://{place}{parts.path}{mark}"


def _on_server(url: str, *, create: bool, schema: Schema) -> Store:
    try:
        from uaix_backends.postgres import PostgresStore  # noqa: PLC0415
    except ImportError:
        raise StoreOpenError(
            "the driver for PostgreSQL isn't installed",
            code="store.driver",
            hint="pip install 'uaix-core[postgres]'",
        ) from None
    dsn, _mark, namespace = url.partition("#")
    return PostgresStore.open(
        dsn, create=create, schema=schema, namespace=namespace or "uaix"
    )


@contextmanager
def open_session(
    url: str,
    *,
    scope: ScopeId | str,
    principal: Principal | str,
    create: bool = False,
) -> Iterator[Session]:
    """Open a store and a session over it; both end with the ``with`` block.

    Args:
        url: as for `open_store`.
        scope: ``tenant/kind/key``.
        principal: ``kind:id``, for example ``human:alice``.
        create: make the store when it isn't there.

    """
    from uaix_backends.system import (  # noqa: PLC0415 - on first use
        SystemClock,
        SystemIds,
        SystemRandom,
    )

    if isinstance(scope, str):
        scope = ScopeId.parse(scope)
    if isinstance(principal, str):
        principal = Principal.parse(principal)
    store = open_store(url, create=create)
    try:
        yield Session(
            store,
            scope=scope,
            principal=principal,
            clock=SystemClock(),
            ids=SystemIds(),
            random=SystemRandom(),
        )
    finally:
        store.close()
