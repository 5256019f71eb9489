"""The secret verbs of a tenant's authority: put, get, list, reseal, forget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uaix_core.access.secrets import (
    decide_forgetting,
    decide_resealing,
    decide_secret,
    opened,
    secrets_of,
)
from uaix_core.gate.said import check_identities

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from uaix_core.access.deciding import Administering, Done, Made
    from uaix_core.access.keys import KeyRing
    from uaix_core.access.secrets import SecretView
    from uaix_core.store.port import Snapshot

    Reading = Callable[[], AbstractContextManager[tuple[Snapshot, Administering]]]
    Doing = Callable[[Callable[[Snapshot, Administering], Made | Done]], Done]


class Secrets:
    """What the host has to keep and hand on: webhook tokens, keys of other services.

    Made by an `Authority`, not by hand. Only the host's own operator may use it; under
    a token every verb is denied.
    """

    def __init__(self, keys: KeyRing, read: Reading, done: Doing) -> None:
        self._keys, self._read, self._done = keys, read, done

    def put(self, name: str, secret: bytes) -> Done:
        """Keep a secret under a name; the text of the one before is erased.

        Args:
            name: an id.
            secret: 1 to 65,536 bytes.

        Raises:
            CallerError: ``secret.value``, ``id.syntax``, ``authority.person``,
                ``text.secret`` for a name.
            AccessError: ``access.denied``.

        """
        check_identities({"name": name})
        keys = self._keys
        return self._done(lambda s, by: decide_secret(s, by, name, secret, keys))

    def get(self, name: str) -> bytes:
        """The secret of a name.

        Raises:
            NotFoundError: ``secret.not-found``.
            AccessError: ``keys.missing``, ``secret.broken``, ``access.denied``.

        """
        with self._read() as (snapshot, by):
            return opened(snapshot, by, name, self._keys)

    def list(self) -> Sequence[SecretView]:
        """All secrets by name, without their texts."""
        with self._read() as (snapshot, by):
            return secrets_of(snapshot, by)

    def reseal(self) -> int:
        """Seal anew what older keys seal; how many it were.

        Each is a commit of its own, so that one which was interrupted goes on where it
        was. When none is left, no stored secret needs the older keys.

        Raises:
            AccessError: as `get`.

        """
        count = 0
        for one in self.list():
            if one.key_id != self._keys.active:
                self._reseal(one.name)
                count += 1
        return count

    def _reseal(self, name: str) -> None:
        keys = self._keys
        self._done(lambda s, by: decide_resealing(s, by, name, keys))

    def forget(self, name: str) -> Done:
        """Erase a secret; its name and number stay in the history.

        Raises:
            NotFoundError: ``secret.not-found``.
            AccessError: ``access.denied``.

        """
        return self._done(lambda s, by: decide_forgetting(s, by, name))
