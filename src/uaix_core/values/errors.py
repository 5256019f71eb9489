"""Errors in three families, told apart by whose move it is.

* `CallerError`: the input is wrong; change it and call again.
* `ConflictError`: another writer was first; read again, then decide again.
* `StorageError`: the medium failed or the bytes in it are damaged.

Every error carries a stable ``code`` (dotted words, listed in the reference), and
where they help a ``path`` (what it is about: a field, a file, a location) and a
``hint`` (what to do next). No message ever holds a secret or stored content. A path is
quoted: in one line, of at most 1,024 characters, nothing in it that nobody sees.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from uaix_core.values.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uaix_core.values.decisions import Decision


class UaixError(Exception):
    """The root of all errors that this library raises on purpose.

    ``decisions`` are those that a refused verb made: the caller's to deliver, as those
    in the answer of an accepted one are.
    """

    default_code: ClassVar[str] = "error"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        path: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        # What is no text was given by somebody who didn't read on.
        self.path = quoted(path) if isinstance(path, str) else None
        self.hint = hint
        self.decisions: tuple[Decision, ...] = ()

    def __str__(self) -> str:
        where = f" at {self.path}" if self.path else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.code}: {self.message}{where}{hint}"

    def as_dict(self) -> dict[str, Any]:
        """The error as plain data: ``code``, ``message``, ``path``, ``hint``."""
        return {
            "code": self.code,
            "message": self.message,
            "path": self.path,
            "hint": self.hint,
        }


class CallerError(UaixError, ValueError):
    """The caller's input is wrong: nothing was written, and repeating won't help."""

    default_code = "input.invalid"


class LimitError(CallerError):
    """The input is larger than a documented limit; it is refused, never cut."""

    default_code = "limit.exceeded"


class NotFoundError(CallerError, LookupError):
    """There is no such thing in this scope (or it isn't this caller's to see)."""

    default_code = "not-found"


class AccessError(CallerError):
    """Who asks may not do this, or can't be told who it is; nothing was written."""

    default_code = "access.denied"


class SchemaError(CallerError):
    """A relation, row or reducer breaks the rules of the schema."""

    default_code = "schema.invalid"


class StoreOpenError(CallerError):
    """A store can't be opened: no store there, a store of another format, a bad URL."""

    default_code = "store.open"


class ClosedError(CallerError):
    """The store or snapshot was closed, or belongs to another process."""

    default_code = "store.closed"


class NoTransactionError(CallerError):
    """A joined store was used while its host has no transaction open."""

    default_code = "host.no-transaction"


class ConflictError(UaixError):
    """Something the writer relied on has changed; nothing of the commit was kept.

    ``relation``, ``key`` and ``expected`` say what the writer named, ``current`` is
    the row that stands there now (None: no row). The row is a field and is never
    part of the message.
    """

    default_code = "conflict.expect"

    def __init__(  # noqa: PLR0913 - each is a field that a caller reads
        self,
        message: str,
        *,
        relation: str | None = None,
        key: Sequence[Any] = (),
        expected: int | None = None,
        current: object = None,
        code: str | None = None,
        path: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, code=code, path=path, hint=hint)
        self.relation = relation
        self.key = tuple(key)
        self.expected = expected
        self.current = current


class StaleSnapshotError(ConflictError):
    """The host's transaction reads an older state than the last writer left.

    Nothing in it can be mended: roll back and repeat the whole transaction. With the
    code ``snapshot.moved`` another writer's commit only came between two reads of one
    snapshot: read again.
    """

    default_code = "host.stale-snapshot"


class StorageError(UaixError, OSError):
    """The medium failed: disk full, I/O error, a lock that stayed busy."""

    default_code = "storage.failed"

    # OSError.__str__ would ignore the code; keep the family's one form.
    __str__ = UaixError.__str__


class BusyError(StorageError):
    """Another writer held the store for longer than the busy timeout."""

    default_code = "storage.busy"


class OutcomeUnknownError(StorageError):
    """The medium failed while a commit was being made durable.

    The commit may or may not be there, but never in part. Reopen the store and
    repeat the operation with the same idempotency key: it ends in exactly one.
    """

    default_code = "storage.outcome-unknown"


class HostTransactionLostError(StorageError):
    """The host's transaction ended while something was being staged in it.

    What the transaction held is gone, the host's own rows included, unless it was
    committed by somebody else.
    """

    default_code = "host.transaction-lost"


class IntegrityError(StorageError):
    """Stored bytes don't agree with their digests, or a chain doesn't continue."""

    default_code = "storage.integrity"
