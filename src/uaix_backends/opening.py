"""Opening a store by URL, and a session over it with the system's sources."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict

from uaix_backends.addresses import shown_url
from uaix_core.session.schema import SCHEMA
from uaix_core.session.session import Session
from uaix_core.values.errors import CallerError, StoreOpenError
from uaix_core.values.ids import Principal, ScopeId

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_backends.sealed import Sealing
    from uaix_core.access.keys import KeyRing
    from uaix_core.schema.schema import Schema
    from uaix_core.session.authority import Authority
    from uaix_core.store.port import Store
    from uaix_core.values.ids import Ids, Random
    from uaix_core.values.instants import Clock

__all__ = ["FORMS", "open_authority", "open_session", "open_store", "shown_url"]

#: How a store is named, for messages.
FORMS: Final = "memory:, dir:PATH, sqlite:PATH, postgresql://..., backup:PATH"
#: What follows the path of a directory store that shows no working tree.
_TREE_OFF: Final = "?tree=off"


def open_store(
    url: str,
    *,
    create: bool = False,
    schema: Schema = SCHEMA,
    check: bool = True,
    sealing: Sealing | None = None,
) -> Store:
    """Open the store that a URL names.

    Args:
        url: ``memory:``, ``dir:PATH``, ``sqlite:PATH``, ``postgresql://...`` (in the
            database schema ``uaix``, or the one that the fragment names, as in
            ``postgresql://host/db#other``), or ``backup:PATH`` to read. A path after
            ``dir:`` may be followed by ``?tree=off``: then no package is shown as
            plain files in the folder.
        create: make it when it isn't there.
        schema: the relations to open it with.
        check: look for damage that is quickly found. Without it a damaged store is
            opened too, to verify it or to copy what can be read.
        sealing: which scopes rest sealed in it, and the keys.

    Raises:
        StoreOpenError: ``store.url`` for any other URL, ``store.path``,
            ``store.missing``, ``store.not-a-store``, ``store.format``,
            ``store.schema``.

    """
    store = _opened(url, create=create, schema=schema, check=check)
    if sealing is None:
        return store
    from uaix_backends.sealed import SealedStore  # noqa: PLC0415 - on first use

    try:
        return SealedStore(store, sealing)
    except CallerError:
        store.close()
        raise


def _opened(url: str, *, create: bool, schema: Schema, check: bool) -> Store:
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

        where = rest.removesuffix(_TREE_OFF)
        return DirectoryStore.open(
            Path(where), create=create, schema=schema, tree=where == rest
        )
    if colon and rest and kind == "sqlite":
        from uaix_backends.sqlite import SqliteStore  # noqa: PLC0415

        path = Path(rest)
        return SqliteStore.open(path, create=create, schema=schema, check=check)
    if colon and rest and kind == "backup":
        from uaix_backends.backup import BackupStore  # noqa: PLC0415

        return BackupStore.open(Path(rest), schema=schema)
    # What lies there is named, so that its kind can be told.
    named = url if os.path.lexists(url) else None
    raise StoreOpenError(
        "not the URL of a store", code="store.url", path=named, hint=FORMS
    )


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
def open_session(  # noqa: PLR0913 - all but the URL are named
    url: str,
    *,
    scope: ScopeId | str,
    principal: Principal | str | None = None,
    credential: str | None = None,
    keys: KeyRing | None = None,
    create: bool = False,
    sealing: Sealing | None = None,
) -> Iterator[Session]:
    """Open a store and a session over it; both end with the ``with`` block.

    Args:
        url: as for `open_store`.
        scope: ``tenant/kind/key``.
        principal: who acts, ``kind:id`` as in ``human:alice``: the host's own word.
        credential: instead of a principal, the token of whoever acts; then every call
            gets what that token stands for.
        keys: the host's keys, for a credential.
        create: make the store when it isn't there.
        sealing: as for `open_store`.

    Raises:
        StoreOpenError: as `open_store`.
        CallerError: ``session.who`` for neither or both of principal and credential,
            or a credential without keys; ``scope.*``, ``principal.*``, ``id.syntax``.
        AccessError: ``credential.invalid``, ``keys.missing``.

    """
    where = _scope(scope)
    if credential is not None and keys is not None and principal is None:
        # The authority's own principal does nothing here but open the session.
        host = Principal("system", "host")
        with open_authority(
            url,
            tenant=where.tenant,
            principal=host,
            keys=keys,
            create=create,
            sealing=sealing,
        ) as authority:
            yield authority.session(credential, scope=where)
        return
    if principal is None or credential is not None or keys is not None:
        raise CallerError(
            "a session has a principal, or a credential with the host's keys",
            code="session.who",
            path="principal",
        )
    store = open_store(url, create=create, sealing=sealing)
    try:
        yield Session(store, scope=where, principal=_principal(principal), **_sources())
    finally:
        store.close()


@contextmanager
def open_authority(  # noqa: PLR0913 - all but the URL are named
    url: str,
    *,
    tenant: str,
    principal: Principal | str,
    keys: KeyRing,
    create: bool = False,
    sealing: Sealing | None = None,
) -> Iterator[Authority]:
    """Open a store and the authority of a tenant in it; both end with the block.

    Args:
        url: as for `open_store`.
        tenant: whose authority.
        principal: the host's own operator, ``kind:id``.
        keys: the host's keys.
        create: make the store when it isn't there.
        sealing: as for `open_store`.

    Raises:
        StoreOpenError: as `open_store`.
        CallerError: ``principal.*``, ``id.syntax``.

    """
    from uaix_core.session.authority import Authority  # noqa: PLC0415 - on first use

    who = _principal(principal)
    store = open_store(url, create=create, sealing=sealing)
    try:
        yield Authority(store, tenant=tenant, principal=who, keys=keys, **_sources())
    finally:
        store.close()


class _Sources(TypedDict):
    clock: Clock
    ids: Ids
    random: Random


def _sources() -> _Sources:
    """The system's clock, ids and random bytes."""
    from uaix_backends.system import (  # noqa: PLC0415 - on first use
        SystemClock,
        SystemIds,
        SystemRandom,
    )

    return {"clock": SystemClock(), "ids": SystemIds(), "random": SystemRandom()}


def _scope(scope: ScopeId | str) -> ScopeId:
    return ScopeId.parse(scope) if isinstance(scope, str) else scope


def _principal(principal: Principal | str) -> Principal:
    return Principal.parse(principal) if isinstance(principal, str) else principal
