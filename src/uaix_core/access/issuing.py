"""Credentials: issuing tokens for a principal in one scope, rotating and revoking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from uaix_core.access.deciding import Administering, Done, Made
from uaix_core.access.relations import (
    CREDENTIAL,
    ISSUED_CREDENTIAL,
    Credential,
    CredentialEnd,
    IssuedCredential,
)
from uaix_core.access.rows import principal_of, scope_of
from uaix_core.access.tokens import Token
from uaix_core.schema.commits import Expect
from uaix_core.store.scanning import all_rows
from uaix_core.values.errors import CallerError, NotFoundError
from uaix_core.values.instants import DAY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from uaix_core.access.keys import KeyRing
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Snapshot
    from uaix_core.values.ids import Principal, ScopeId

ISSUE: Final = "issue"
REVOKE: Final = "revoke"
#: The longest life of a credential, in microseconds.
MAX_LIFE: Final = 366 * DAY


@attrs.frozen
class Issuing:
    """For whom a token is to be, where, and for how long (microseconds).

    ``replaces`` is the credential that it follows, which stays good for ``overlap``
    more microseconds.

    Raises:
        CallerError: ``credential.life``.

    """

    principal: Principal
    scope: ScopeId
    life: int
    replaces: str | None = None
    overlap: int = 0

    def __attrs_post_init__(self) -> None:
        if type(self.life) is not int or not 0 < self.life <= MAX_LIFE:
            raise CallerError(
                f"a credential lives up to {MAX_LIFE // DAY} days",
                code="credential.life",
                path="life",
            )
        if type(self.overlap) is not int or not 0 <= self.overlap <= self.life:
            raise CallerError(
                "an overlap is at most as long as the new credential lives",
                code="credential.life",
                path="overlap",
            )

    @classmethod
    def after(
        cls,
        snapshot: Snapshot,
        by: Administering,
        credential_id: str,
        life: int | None,
        overlap: int,
    ) -> Issuing:
        """What follows a credential: the same principal in the same scope.

        Without a ``life`` it lives as long as the one before was to live.

        Raises:
            NotFoundError: ``credential.not-found``.
            CallerError: ``credential.life``, ``authority.person``.
            AccessError: ``access.denied``.

        """
        row = _known(snapshot, by, credential_id)
        who, where = principal_of(row), _scope_of(row, by)
        if life is None:
            # The view has the instant at which it ends, whatever ended it before.
            life = _first(snapshot, credential_id).until_at - row.issued_at
        return cls(who, where, life, replaces=credential_id, overlap=overlap)


@attrs.frozen
class CredentialView:
    """A credential as it stands, without anything of its token."""

    credential_id: str
    principal: Principal
    scope: ScopeId
    issued_at: int
    until_at: int
    is_over: bool

    @classmethod
    def of(cls, row: IssuedCredential, tenant: str, now: int) -> CredentialView:
        """The view of a row at an instant."""
        return cls(
            row.credential_id,
            principal_of(row),
            scope_of(row, tenant),
            row.issued_at,
            row.until_at,
            is_over=row.is_over(now),
        )

    def as_dict(self) -> dict[str, Any]:
        """It as plain data."""
        shown = attrs.asdict(self, recurse=False)
        return {**shown, "principal": self.principal.text, "scope": self.scope.text}


@attrs.frozen
class Issued:
    """The answer to an issue: the only time that the token is told.

    ``is_staged`` says that it is good for nothing unless a host commits.
    """

    credential_id: str
    token: Token
    principal: Principal
    scope: ScopeId
    until_at: int
    seq: int
    receipt: str
    is_staged: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain data, without the token."""
        return {
            "credential_id": self.credential_id,
            "principal": self.principal.text,
            "scope": self.scope.text,
            "until_at": self.until_at,
            "seq": self.seq,
            "receipt": self.receipt,
            "is_staged": self.is_staged,
        }


@attrs.frozen
class Minted:
    """What issues a token, and the token; ``row`` is its credential."""

    made: Made
    token: Token
    row: Credential


def decide_issue(
    snapshot: Snapshot, by: Administering, wanted: Issuing, keys: KeyRing
) -> Minted:
    """The commit of a new credential.

    Raises:
        NotFoundError: ``credential.not-found`` for one to replace that isn't there, is
            another principal's or of another scope.
        CallerError: ``authority.*``; ``credential.ended`` for one that is past.
        AccessError: ``access.denied``.

    """
    if not _is_own(snapshot, by, wanted):
        by.check_over(snapshot, wanted.scope)
    receipt_id = by.writing.ids.new()
    row, token = minted(by, wanted, keys, receipt_id)
    rows: list[Row] = [row]
    expects: list[Expect] = []
    if wanted.replaces is not None:
        before = _replaced(snapshot, by, wanted)
        from_at = by.writing.now + wanted.overlap
        rows.append(_end(by, before.credential_id, "rotated", from_at, receipt_id))
        expects.append(_expect(before))
    details = {
        "credential_id": row.credential_id,
        "principal": wanted.principal.text,
        "scope": wanted.scope.text,
    }
    made = by.made(
        ISSUE, row.credential_id, receipt_id, rows, details=details, expects=expects
    )
    return Minted(made, token, row)


def _is_own(snapshot: Snapshot, by: Administering, wanted: Issuing) -> bool:
    """Whether a holder rotates its own credential, into one that lives no longer."""
    mine = by.standing
    if mine is None or not _is_mine(by, wanted.replaces or ""):
        return False
    row = issued_credential(snapshot, mine.credential_id)
    is_no_longer = wanted.life <= row.until_at - row.issued_at
    same = (mine.principal, mine.scope) == (wanted.principal, wanted.scope)
    return same and is_no_longer


def minted(
    by: Administering, wanted: Issuing, keys: KeyRing, receipt_id: str
) -> tuple[Credential, Token]:
    """A new credential's row, and its token."""
    writing = by.writing
    token = Token.mint(writing.ids.new(), writing.random)
    row = Credential(
        credential_id=token.credential_id,
        principal_kind=wanted.principal.kind,
        principal_id=wanted.principal.id,
        scope_kind=wanted.scope.kind,
        scope_key=wanted.scope.key,
        key_id=keys.active,
        token_digest=token.digest(keys, keys.active),
        until_at=writing.now + wanted.life,
        replaces=wanted.replaces,
        receipt_id=receipt_id,
        **by.actor(),
    )
    return row, token


def decide_revocation(
    snapshot: Snapshot, by: Administering, credential_id: str
) -> Made | Done:
    """The commit that ends a credential now, or the answer where it was ended before.

    What its holder rotated it into ends with it: whoever has a token that was lost
    may have made others of it. A holder may end its own.

    Raises:
        NotFoundError: ``credential.not-found``.
        CallerError: ``authority.*``.
        AccessError: ``access.denied``.

    """
    row = _known(snapshot, by, credential_id)
    if not _is_mine(by, credential_id):
        by.check_over(snapshot, _scope_of(row, by))
    ended = [one for one in (row, *_made_of(snapshot, row)) if one.ended_at is None]
    if not ended:
        return Done("unchanged", credential_id, row.version, "")
    receipt_id, now = by.writing.ids.new(), by.writing.now
    details = {"credential_id": credential_id, "credentials": len(ended)}
    return by.made(
        REVOKE,
        credential_id,
        receipt_id,
        [_end(by, one.credential_id, "revoked", now, receipt_id) for one in ended],
        details=details,
        expects=[_expect(one) for one in ended],
    )


def _made_of(snapshot: Snapshot, row: IssuedCredential) -> Iterator[IssuedCredential]:
    """What the holder of a credential rotated it into, and so on."""
    holder = principal_of(row)
    made: dict[str, list[IssuedCredential]] = {}
    for one in credentials_of(snapshot, holder):
        first = _first(snapshot, one.credential_id)
        by_holder = (first.actor_kind, first.actor_id) == (holder.kind, holder.id)
        if first.replaces is not None and by_holder:
            made.setdefault(first.replaces, []).append(one)
    waiting = [row.credential_id]
    while waiting:
        for one in made.pop(waiting.pop(), ()):
            waiting.append(one.credential_id)
            yield one


def _first(snapshot: Snapshot, credential_id: str) -> Credential:
    """A credential as it was issued."""
    return cast("Credential", snapshot.get(CREDENTIAL.name, (credential_id,)))


def _is_mine(by: Administering, credential_id: str) -> bool:
    """Whether a holder is at work on the credential that it shows."""
    return by.standing is not None and by.standing.credential_id == credential_id


def _known(
    snapshot: Snapshot, by: Administering, credential_id: str
) -> IssuedCredential:
    """A credential that whoever asks may be told of."""
    if not _is_mine(by, credential_id):
        by.check_any(snapshot)
    row = issued_credential(snapshot, credential_id)
    if not by.knows_of(_scope_of(row, by)):
        raise _not_found(credential_id)
    return row


def ends_of(  # noqa: PLR0913 - each is a fact that the rows say
    snapshot: Snapshot,
    by: Administering,
    principal: Principal,
    receipt_id: str,
    *,
    cause: str,
    scope: ScopeId | None = None,
) -> tuple[list[Row], list[Expect]]:
    """Rows that end all credentials of a principal, in one scope or in all."""
    rows: list[Row] = []
    expects: list[Expect] = []
    for row in credentials_of(snapshot, principal):
        is_there = scope is None or _scope_of(row, by) == scope
        # Also one that is past its time here: another host's clock may be behind.
        if is_there and row.ended_at is None:
            now = by.writing.now
            rows.append(_end(by, row.credential_id, cause, now, receipt_id))
            expects.append(_expect(row))
    return rows, expects


def credentials_of(
    snapshot: Snapshot, principal: Principal
) -> Iterator[IssuedCredential]:
    """All credentials of a principal, those that are over too, by id."""
    who = (principal.kind, principal.id)
    rows = all_rows(snapshot, ISSUED_CREDENTIAL, "by_principal", who)
    return cast("Iterator[IssuedCredential]", rows)


def issued_credential(snapshot: Snapshot, credential_id: str) -> IssuedCredential:
    """The credential of this id; NotFoundError when there is none."""
    row = snapshot.get(ISSUED_CREDENTIAL.name, (credential_id,))
    if row is None:
        raise _not_found(credential_id)
    return cast("IssuedCredential", row)


def _not_found(credential_id: str) -> NotFoundError:
    return NotFoundError(
        "no such credential", code="credential.not-found", path=credential_id
    )


def _replaced(
    snapshot: Snapshot, by: Administering, wanted: Issuing
) -> IssuedCredential:
    row = issued_credential(snapshot, wanted.replaces or "")
    if (principal_of(row), _scope_of(row, by)) != (wanted.principal, wanted.scope):
        raise NotFoundError(
            "no such credential of this principal in this scope",
            code="credential.not-found",
            path=wanted.replaces,
        )
    if row.is_over(by.writing.now):
        raise CallerError(
            "the credential is over", code="credential.ended", path=wanted.replaces
        )
    return row


def _scope_of(row: IssuedCredential, by: Administering) -> ScopeId:
    return scope_of(row, by.writing.scope.tenant)


def _end(
    by: Administering, credential_id: str, cause: str, from_at: int, receipt_id: str
) -> CredentialEnd:
    return CredentialEnd(
        end_id=by.writing.ids.new(),
        credential_id=credential_id,
        cause=cause,
        from_at=from_at,
        receipt_id=receipt_id,
        **by.actor(),
    )


def _expect(row: IssuedCredential) -> Expect:
    return Expect(ISSUED_CREDENTIAL.name, (row.credential_id,), row.version)
