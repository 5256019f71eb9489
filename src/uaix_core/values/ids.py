"""Identifiers: the id pattern, scopes, principals, UUIDs.

Ids are compared exactly, case included, and never joined into a path.
"""

from __future__ import annotations

import hashlib
import re
from typing import Literal, Protocol, cast, get_args

import attrs

from uaix_core.values.errors import CallerError

#: An id: 1 to 128 ASCII letters, digits, ``.``, ``_``, ``-``, a letter or digit first.
ID_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"

_is_id = re.compile(ID_PATTERN).fullmatch

ScopeKind = Literal["personal", "project", "shared", "working"]
SCOPE_KINDS: tuple[ScopeKind, ...] = get_args(ScopeKind)

PrincipalKind = Literal["human", "operator", "agent", "import", "system"]
PRINCIPAL_KINDS: tuple[PrincipalKind, ...] = get_args(PrincipalKind)
#: Who decides what only a person may: the word of an agent or an import does nothing.
PERSONS: tuple[PrincipalKind, ...] = ("human", "operator")


class Ids(Protocol):
    """Where new record ids come from; handed in, so that tests can replay them."""

    def new(self) -> str:
        """A fresh UUIDv7 as lower-case text."""
        ...


class Random(Protocol):
    """Where salts and keys come from; handed in."""

    def bytes(self, count: int) -> bytes:
        """``count`` unpredictable bytes."""
        ...


def is_id(text: object) -> bool:
    """Whether this is text that matches `ID_PATTERN`."""
    return isinstance(text, str) and _is_id(text) is not None


def check_id(text: str, path: str | None = None) -> str:
    """Return the id unchanged, or refuse it with ``id.syntax``."""
    if not is_id(text):
        raise CallerError(
            "an id is 1 to 128 of A-Z a-z 0-9 . _ -, beginning with a letter or digit",
            code="id.syntax",
            path=path,
        )
    return text


@attrs.frozen(order=True)
class ScopeId:
    """Whose it is: the first part of every key and the filter of every read."""

    tenant: str
    kind: ScopeKind
    key: str

    def __attrs_post_init__(self) -> None:
        check_id(self.tenant, "scope.tenant")
        check_id(self.key, "scope.key")
        if self.kind not in SCOPE_KINDS:
            raise CallerError(
                "unknown kind of scope",
                code="scope.kind",
                path="scope.kind",
                hint="one of " + ", ".join(SCOPE_KINDS),
            )

    @property
    def text(self) -> str:
        """The one written form, ``tenant/kind/key``."""
        return f"{self.tenant}/{self.kind}/{self.key}"

    @classmethod
    def parse(cls, text: str) -> ScopeId:
        """Read ``tenant/kind/key``."""
        parts = text.split("/")
        if len(parts) != 3:  # noqa: PLR2004
            raise CallerError(
                "a scope is written tenant/kind/key",
                code="scope.syntax",
                path="scope",
                hint="for example acme/project/apollo",
            )
        tenant, kind, key = parts
        return cls(tenant, cast("ScopeKind", kind), key)

    def __str__(self) -> str:
        return self.text


@attrs.frozen(order=True)
class Principal:
    """Who acts: a kind and an id, written ``kind:id``."""

    kind: PrincipalKind
    id: str

    def __attrs_post_init__(self) -> None:
        check_id(self.id, "principal.id")
        if self.kind not in PRINCIPAL_KINDS:
            raise CallerError(
                "unknown kind of principal",
                code="principal.kind",
                path="principal.kind",
                hint="one of " + ", ".join(PRINCIPAL_KINDS),
            )

    @property
    def text(self) -> str:
        """The one written form, ``kind:id``."""
        return f"{self.kind}:{self.id}"

    @classmethod
    def parse(cls, text: str) -> Principal:
        """Read ``kind:id``."""
        kind, colon, id_ = text.partition(":")
        if not colon:
            raise CallerError(
                "a principal is written kind:id",
                code="principal.syntax",
                path="principal",
                hint="for example operator:local",
            )
        return cls(cast("PrincipalKind", kind), id_)

    def __str__(self) -> str:
        return self.text


def uuid7(unix_ms: int, random: bytes) -> str:
    """A UUIDv7 (RFC 9562 section 5.7) of a millisecond count and 10 random bytes."""
    if not 0 <= unix_ms < 2**48 or len(random) != 10:  # noqa: PLR2004
        raise CallerError(
            "a UUIDv7 takes a 48-bit millisecond count and 10 random bytes",
            code="id.uuid7",
        )
    tail = int.from_bytes(random, "big")
    rand_a, rand_b = tail >> 68, tail & (1 << 62) - 1
    value = unix_ms << 80 | 0x7 << 76 | rand_a << 64 | 0b10 << 62 | rand_b
    return _written(value)


def uuid5(namespace: str, name: str) -> str:
    """A UUIDv5 (RFC 9562 section 5.5) of a namespace UUID and a name."""
    data = bytes.fromhex(namespace.replace("-", "")) + name.encode("utf-8")
    hashed = hashlib.sha1(data, usedforsecurity=False).digest()
    value = int.from_bytes(hashed[:16], "big")
    value &= ~(0xF << 76) & ~(0b11 << 62)
    return _written(value | 0x5 << 76 | 0b10 << 62)


def _written(value: int) -> str:
    digits = f"{value:032x}"
    return "-".join(
        (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
    )


#: RFC 9562 appendix A.
NAMESPACE_URL = "6ba7b811-9dad-11d1-80b4-00c04fd430c8"
