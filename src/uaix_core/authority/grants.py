"""Operator grants: which exact documents the host's configuration lets in.

A grant is a value that the host's own code builds, by hand or from its configuration
file. Nothing that a store, a package or a model holds is ever read as one.
"""

from __future__ import annotations

import re
from typing import Any, Final

import attrs

from uaix_core.authority.documents import DIGEST_PREFIX
from uaix_core.values.canonical import MAX_SAFE_INTEGER
from uaix_core.values.errors import CallerError, LimitError
from uaix_core.values.ids import Principal, is_id
from uaix_core.values.strict_json import parse

#: The largest configuration in bytes.
MAX_GRANTS_BYTES: Final = 512 * 1024
#: The most grants in one configuration.
MAX_GRANTS: Final = 1_000

#: Containers within each other: an object, its list, the grants.
_DEPTH: Final = 3
_is_digest = re.compile(DIGEST_PREFIX + r"[0-9a-f]{64}", re.ASCII).fullmatch


@attrs.frozen
class OperatorGrant:
    """One document that may be registered: its namespace, version and exact digest.

    ``document_digest`` is ``sha256:`` and 64 lower-case hex digits, the SHA-256 of the
    document's RFC 8785 form.

    Raises:
        CallerError: ``grants.value``.

    """

    namespace: str
    version: int
    document_digest: str

    def __attrs_post_init__(self) -> None:
        version: Any = self.version
        digest: Any = self.document_digest
        if not is_id(self.namespace):
            raise _wrong("namespace", "the namespace of a grant is an id")
        if type(version) is not int or not 1 <= version <= MAX_SAFE_INTEGER:
            raise _wrong("version", "the version of a grant is an integer from 1")
        if not isinstance(digest, str) or not _is_digest(digest):
            raise _wrong(
                "document_digest",
                "a document digest is sha256: and 64 lower-case hex digits",
            )


def _as_tuple(grants: Any) -> tuple[Any, ...]:
    if not isinstance(grants, tuple | list):
        raise _wrong("grants", "grants are a tuple of them")
    return tuple(grants)


@attrs.frozen
class OperatorGrants:
    """All that one operator grants: at least one, each version of a namespace once.

    Raises:
        CallerError: ``grants.operator`` when the principal is no operator,
            ``grants.value`` for no grant at all, or two of one version.
        LimitError: ``grants.limit`` above `MAX_GRANTS`.

    """

    operator: Principal
    grants: tuple[OperatorGrant, ...] = attrs.field(converter=_as_tuple)

    def __attrs_post_init__(self) -> None:
        operator: Any = self.operator
        if not isinstance(operator, Principal) or operator.kind != "operator":
            raise CallerError(
                "only an operator grants",
                code="grants.operator",
                path="operator",
                hint="for example operator:local",
            )
        if not self.grants:
            raise _wrong("grants", "a configuration without any grant")
        if len(self.grants) > MAX_GRANTS:
            raise LimitError(
                f"a configuration has {MAX_GRANTS} grants at most",
                code="grants.limit",
                path="grants",
            )
        seen = set()
        for index, grant in enumerate(self.grants):
            if not isinstance(grant, OperatorGrant):
                raise _wrong(f"grants[{index}]", "not a grant")
            name = (grant.namespace, grant.version)
            if name in seen:
                raise _wrong(f"grants[{index}]", "a second grant of this version")
            seen.add(name)

    def find(self, namespace: str, version: int) -> OperatorGrant | None:
        """The grant of a version of a namespace, compared exactly."""
        for grant in self.grants:
            if (grant.namespace, grant.version) == (namespace, version):
                return grant
        return None


def read_grants(text: str | bytes) -> OperatorGrants:
    """Read a configuration strictly: what isn't understood is refused.

    The form is ``{"operator": "operator:ID", "grants": [{"namespace": ID, "version":
    N, "document_digest": "sha256:HEX"}, ...]}``, and nothing else in it.

    Raises:
        CallerError: ``json.*`` when it isn't strict JSON; ``grants.value`` for an
            unknown, missing or wrong member; ``grants.operator``, ``principal.*`` and
            ``id.syntax`` for who grants.
        LimitError: ``grants.limit`` above `MAX_GRANTS_BYTES` or `MAX_GRANTS`.

    """
    if not isinstance(text, str | bytes):
        raise _wrong(None, "a configuration is JSON text")
    _check_size(len(text))
    raw = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    _check_size(len(raw))
    wire = parse(raw, max_depth=_DEPTH)
    if not isinstance(wire, dict) or wire.keys() != {"operator", "grants"}:
        raise _wrong(None, "a configuration has an operator, grants, and no more")
    operator, grants = wire["operator"], wire["grants"]
    if not isinstance(operator, str):
        raise _wrong("operator", "an operator is written operator:ID")
    if not isinstance(grants, list):
        raise _wrong("grants", "grants are a list")
    made = tuple(_grant(f"grants[{i}]", one) for i, one in enumerate(grants))
    return OperatorGrants(Principal.parse(operator), made)


def _check_size(size: int) -> None:
    if size > MAX_GRANTS_BYTES:
        raise LimitError(
            f"a configuration has {MAX_GRANTS_BYTES} bytes at most",
            code="grants.limit",
        )


def _grant(path: str, wire: Any) -> OperatorGrant:
    if not isinstance(wire, dict) or wire.keys() != _MEMBERS:
        raise _wrong(path, f"a grant has {', '.join(_MEMBERS)}, and no more")
    try:
        return OperatorGrant(**wire)
    except CallerError as error:
        raise _wrong(f"{path}.{error.path}", error.message) from None


_MEMBERS: Final = {field.name: None for field in attrs.fields(OperatorGrant)}.keys()


def _wrong(path: str | None, message: str) -> CallerError:
    return CallerError(message, code="grants.value", path=path)
