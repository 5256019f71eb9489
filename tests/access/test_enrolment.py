"""Laws of enrolment: a signed master package opens one project, once, and is gone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.access.places import CAROL, GEMINI, ROOT, Places
from tests.packages.package_maker import MANIFEST, Maker

from uaix_core import CallerError, ConflictError, PackageSource, Principal, key_id, sign
from uaix_core.access.enrolling import ENROLMENT_PATH
from uaix_core.access.standing import authority_scope
from uaix_core.packages.ed25519 import public_key_of
from uaix_core.values.errors import AccessError

if TYPE_CHECKING:
    from collections.abc import Callable

    from uaix_core.session.authority import Authority

MASTER = b"\5" * 32
PUBLIC = public_key_of(MASTER)
TRUSTED = {key_id(PUBLIC): PUBLIC}
SAYS = {
    "format": "uaix.enrolment.v1",
    "tenant": "acme",
    "project": "gemini",
    "administrator": "human:carol",
}
#: A text of the package that nothing may keep.
CANARY = "only-in-the-master"


def master(
    package_id: str = "the-master", *, key: bytes | None = MASTER, **says: object
) -> PackageSource:
    """A master package, signed unless there is no key."""
    maker = Maker("universal")
    maker.manifest["packageId"] = package_id
    wanted = {name: text for name, text in {**SAYS, **says}.items() if text != "-"}
    maker.add(
        ENROLMENT_PATH,
        json.dumps(wanted).encode(),
        role="enrolment",
        scope="universal",
        mediaType="application/json",
    )
    maker.add(".uai/why.uai", f"# Why\n\nReason: {CANARY}.\n".encode())
    files = dict(maker.folder().files or {})
    if key is not None:
        files[MANIFEST] = sign(files[MANIFEST], key)
    return PackageSource(files=files)


def enrolled(places: Places, source: PackageSource | None = None) -> str:
    """The first token of the project that a master opens."""
    authority = places.authority()
    return authority.enrol(source or master(), trusted=TRUSTED).token.reveal()


def test_the_first_token_administers_its_project_alone(places: Places) -> None:
    """On every backend: it administers the project, and no other one."""
    token = enrolled(places)
    authority = places.authority()
    under = authority.under(token, scope=GEMINI)
    dora = Principal("human", "dora")

    under.grant(dora, "writer", scope=GEMINI)
    narrow = under.issue(dora, scope=GEMINI).token.reveal()

    session = authority.session(narrow, scope=GEMINI)
    maker = Maker("universal")
    session.packages.install(maker.folder())
    assert [maker.manifest["packageId"]] == [
        r.package_id for r in session.packages.list()
    ]
    assert "writer" == session.whoami().entitled[0].role
    assert CAROL == authority.session(token, scope=GEMINI).principal
    with pytest.raises(AccessError):
        authority.under(token, scope=authority_scope("acme"))


def test_nothing_of_the_master_is_kept(places: Places) -> None:
    """Neither its package nor a word of it stands in the store; its digests do."""
    enrolled(places)

    for scope in places.store.scopes(limit=10):
        with places.store.snapshot(scope) as snapshot:
            rows = [row for one in snapshot.commits() for row in one.commit.adds]
        bodies = [getattr(row, "content", None) or b"" for row in rows]
        assert CANARY.encode() not in b"".join(bodies)
        names = {getattr(row, "path", None) for row in rows}
        assert ENROLMENT_PATH not in names
    assert [] == list(places.host(GEMINI).packages.list())


def test_a_master_opens_one_project_once(places: Places) -> None:
    """Neither the same package again, nor another one for the project."""
    enrolled(places)

    for source in (master(), master("another-one"), master(project="never")):
        with pytest.raises(ConflictError) as raised:
            enrolled(places, source)
        assert "enrolment.used" == raised.value.code
    assert 1 == len(places.authority().credentials(CAROL))


@pytest.mark.parametrize(
    ("source", "code"),
    [
        (lambda: master(key=None), "enrolment.signature"),
        (lambda: master(key=b"\6" * 32), "enrolment.signature"),
        (lambda: master(tenant="globex"), "enrolment.tenant"),
        (lambda: master(administrator="agent:ada"), "enrolment.document"),
        (lambda: master(administrator="carol"), "enrolment.document"),
        (lambda: master(administrator=7), "enrolment.document"),
        (lambda: master(project="a b"), "enrolment.document"),
        (lambda: master(project=None), "enrolment.document"),
        (lambda: master(format="uaix.enrolment.v2"), "enrolment.document"),
        (lambda: master(project="-"), "enrolment.document"),
        (lambda: master(more="members"), "enrolment.document"),
        (lambda: PackageSource(files={}), "enrolment.package"),
    ],
)
def test_a_master_that_is_wrong_opens_nothing(
    quick: Places, source: Callable[[], PackageSource], code: str
) -> None:
    """Unsigned, by a key that isn't trusted, another tenant's, or not understood."""
    with pytest.raises(CallerError) as raised:
        enrolled(quick, source())
    assert code == raised.value.code
    assert [] == list(quick.authority().credentials(CAROL))


def test_a_changed_file_opens_nothing(quick: Places) -> None:
    """A signature holds for the files that were signed."""
    source = master()
    files = dict(source.files or {})
    files[ENROLMENT_PATH] = files[ENROLMENT_PATH].replace(b"gemini", b"apollo")

    with pytest.raises(CallerError) as raised:
        enrolled(quick, PackageSource(files=files))
    assert "enrolment.package" == raised.value.code


def test_only_the_hosts_operator_enrols(quick: Places) -> None:
    """Not an administrator of a project, nor whoever is no person."""
    authority = quick.authority()
    under = authority.under(enrolled(quick), scope=GEMINI)
    agent = quick.authority(principal=Principal("agent", "x"))
    cases: list[tuple[Authority, str]] = [
        (under, "access.denied"),
        (agent, "authority.person"),
    ]
    for one, code in cases:
        with pytest.raises(CallerError) as raised:
            one.enrol(master("m2", project="never"), trusted=TRUSTED)
        assert code == raised.value.code
    assert ROOT.kind == "operator"
