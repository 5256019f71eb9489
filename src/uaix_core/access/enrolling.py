"""Enrolment: a signed master package opens exactly one project, once.

The package is evidence that whoever holds the master key wanted this project. It is
read, its signature is checked, and nothing of it is kept but its digests: neither a
store nor a session ever holds the master's authority. What comes of it is one narrow
credential for the project's first administrator.

Source: UAIX package format v0.1, "Authority" (bootstrap).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from uaix_core.access.issuing import Issuing, Minted, minted
from uaix_core.access.relations import (
    ENROLLED_PROJECT,
    ENROLMENT,
    EnrolledProject,
    Enrolment,
    Entitlement,
)
from uaix_core.schema.commits import Expect
from uaix_core.values.errors import AccessError, CallerError, ConflictError
from uaix_core.values.ids import PERSONS, Principal, ScopeId, is_id
from uaix_core.values.strict_json import StrictJsonError, parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uaix_core.access.deciding import Administering
    from uaix_core.access.keys import KeyRing
    from uaix_core.store.port import Snapshot

ENROL: Final = "enrol"
#: The file of a master package that says what it enrols, and its largest size.
ENROLMENT_PATH: Final = ".uai/enrolment.json"
MAX_BYTES: Final = 16 * 1024
FORMAT: Final = "uaix.enrolment.v1"

_MEMBERS: Final = frozenset(("format", "tenant", "project", "administrator"))
_DEPTH: Final = 2


@attrs.frozen
class Enrolling:
    """What a master package says, once its signature was verified.

    ``scope`` is the project, ``administrator`` who gets its first credential.
    ``files_sha256`` is the digest of its files and ``key_id`` the key that signed.
    """

    package_id: str
    files_sha256: str
    key_id: str
    scope: ScopeId
    administrator: Principal


def read_enrolment(
    content: bytes, *, package_id: str, files_sha256: str, key_id: str
) -> Enrolling:
    """Read the file of a master package strictly.

    The form is ``{"format": "uaix.enrolment.v1", "tenant": ID, "project": ID,
    "administrator": "human:ID"}`` and nothing else in it.

    Raises:
        CallerError: ``enrolment.document``.

    """
    if len(content) > MAX_BYTES:
        raise _wrong(None)
    try:
        wire = parse(content, max_depth=_DEPTH)
    except StrictJsonError as error:
        raise _wrong(error.path) from None
    if not isinstance(wire, dict) or wire.keys() != _MEMBERS:
        raise _wrong(None)
    if wire["format"] != FORMAT:
        raise _wrong("format")
    for name in ("tenant", "project"):
        if not is_id(wire[name]):
            raise _wrong(name)
    return Enrolling(
        package_id=package_id,
        files_sha256=files_sha256,
        key_id=key_id,
        scope=ScopeId(wire["tenant"], "project", wire["project"]),
        administrator=_administrator(wire),
    )


def _administrator(wire: Mapping[str, Any]) -> Principal:
    name = wire["administrator"]
    try:
        principal = Principal.parse(name) if isinstance(name, str) else None
    except CallerError:
        principal = None
    if principal is None or principal.kind not in PERSONS:
        raise _wrong("administrator")
    return principal


def _wrong(path: str | None) -> CallerError:
    return CallerError(
        "not the document of an enrolment",
        code="enrolment.document",
        path=path,
        hint="an object of " + ", ".join(sorted(_MEMBERS)),
    )


def decide_enrolment(
    snapshot: Snapshot,
    by: Administering,
    wanted: Enrolling,
    keys: KeyRing,
    life: int,
) -> Minted:
    """The commit that opens a project, and its administrator's first token.

    Args:
        snapshot: the tenant's authority scope.
        by: the host's own operator.
        wanted: what the verified package says.
        keys: the host's keys.
        life: how long the first credential lives, in microseconds.

    Raises:
        AccessError: ``enrolment.tenant`` for another tenant's; ``access.denied``
            for anybody but the host's operator.
        ConflictError: ``enrolment.used`` for a package, or a project, that was
            enrolled before.
        CallerError: ``authority.person``, ``credential.life``.

    """
    by.check_person()
    if by.standing is not None:
        raise AccessError("only the host's own operator enrols a project")
    if wanted.scope.tenant != by.writing.scope.tenant:
        raise AccessError(
            "the package enrols a project of another tenant", code="enrolment.tenant"
        )
    where = (wanted.scope.kind, wanted.scope.key)
    if snapshot.get(ENROLMENT.name, (wanted.package_id,)) is not None:
        raise _used(wanted, ENROLMENT.name, (wanted.package_id,), None)
    project = snapshot.get(ENROLLED_PROJECT.name, where)
    if project is not None:
        current = cast("EnrolledProject", project)
        raise _used(wanted, ENROLLED_PROJECT.name, where, current)
    writing = by.writing
    receipt_id, entitlement_id = writing.ids.new(), writing.ids.new()
    enrolment = Enrolment(
        package_id=wanted.package_id,
        files_sha256=wanted.files_sha256,
        key_id=wanted.key_id,
        scope_kind=wanted.scope.kind,
        scope_key=wanted.scope.key,
        receipt_id=receipt_id,
        **by.actor(),
    )
    entitlement = Entitlement(
        entitlement_id=entitlement_id,
        principal_kind=wanted.administrator.kind,
        principal_id=wanted.administrator.id,
        role="admin",
        scope_kind=wanted.scope.kind,
        scope_key=wanted.scope.key,
        package_id=None,
        until_at=None,
        receipt_id=receipt_id,
        **by.actor(),
    )
    first = Issuing(wanted.administrator, wanted.scope, life)
    credential, token = minted(by, first, keys, receipt_id)
    made = by.made(
        ENROL,
        wanted.package_id,
        receipt_id,
        (enrolment, entitlement, credential),
        details={
            "package_id": wanted.package_id,
            "key_id": wanted.key_id,
            "scope": wanted.scope.text,
            "credential_id": credential.credential_id,
        },
        expects=(Expect(ENROLLED_PROJECT.name, where, 0),),
    )
    return Minted(made, token, credential)


def _used(
    wanted: Enrolling, relation: str, key: tuple[str, ...], current: object
) -> ConflictError:
    return ConflictError(
        "a master package enrols one project, once, and a project is enrolled once",
        code="enrolment.used",
        relation=relation,
        key=key,
        current=current,
        path=wanted.package_id,
    )
