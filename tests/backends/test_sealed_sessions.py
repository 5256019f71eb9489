"""Laws of sealed scopes for who works in them: personas, tokens, backups, commands."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.backends.sealed_harness import KEYS
from tests.backends.sealed_places import Place, everywhere, product_place, shown
from tests.session.starting import AGENT, advanced, dimension, installed, replace

from uaix_backends import Sealing, open_authority, open_session, open_store
from uaix_backends.backup import write_backup
from uaix_backends.sealed import SealedStore
from uaix_core import Principal, ScopeId
from uaix_core.access.standing import authority_scope
from uaix_core.store.copying import copy_whole
from uaix_core.store.verifying import verify_scope
from uaix_core.values.errors import AccessError, CallerError, ClosedError
from uaix_surfaces.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.packages.package_maker import Maker

    from uaix_core import Session

SCOPE = ScopeId.parse("acme/project/apollo")
OPEN = ScopeId.parse("acme/project/gemini")
CAROL = Principal("human", "carol")
SEALING = Sealing(KEYS, [SCOPE, authority_scope("acme")])

#: What is in the persona, and must rest nowhere.
BODY, NAME, VALUE = "a-heron-in-a-body", "Ibis of the Reeds", "never-a-plover"
PATH, PACKAGE = ".uai/teal-notes.uai", "wigeon-persona"
INDEX, RUN = "egret-index", "curlew-run"
CANARIES = [BODY, NAME, VALUE, PATH, PACKAGE, INDEX, RUN, dimension("voice"), CAROL.id]


def persona() -> Maker:
    """A persona that holds all of these."""
    maker = advanced(voice=f"# Voice\n\nPitch: {VALUE}\n".encode())
    path = ".uai/persona.uai"
    named = maker.files[path].replace(b"Name: x.", f"Name: {NAME}".encode())
    replace(maker, path, named)
    maker.add(PATH, f"{BODY}\n".encode())
    maker.manifest["packageId"] = PACKAGE
    return maker


@pytest.fixture(params=["dir", "sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A place of each backend that keeps anything."""
    found = product_place(request.param, tmp_path / "place")
    yield found
    found.close()


@pytest.fixture
def url(tmp_path: Path) -> str:
    """Where a SQLite store may be."""
    return f"sqlite:{tmp_path / 'store'}"


def session(url: str, **options: Any) -> Any:
    """A session of the host's own in the sealed scope."""
    given = {"scope": SCOPE, "principal": CAROL, "create": True, "sealing": SEALING}
    return open_session(url, **given | options)


def used(found: Session) -> None:
    """Let a persona be installed and worked with, so that local rows stand as well."""
    installed(found, persona())
    found.packages.install(persona().folder(), key="once")
    found.tiers.indexes.mark(INDEX, PACKAGE, 1)
    lease = found.leases.acquire(PACKAGE, agent_id=AGENT, session_id=RUN, life=10**9)
    found.leases.renew(lease, life=2 * 10**9)


def answers(found: Session) -> list[Any]:
    """What a session has to say of the persona."""
    return [
        dict(found.packages.read(PACKAGE)),
        list(found.packages.list()),
        list(found.packages.history(PACKAGE).revisions),
        list(found.packages.dimensions(PACKAGE)),
    ]


def test_a_persona_rests_sealed(place: Place) -> None:
    """It is installed, read and started as ever, and nothing of it stands at rest."""
    with session(place.url) as found:
        used(found)
        before = answers(found)
    with session(place.url) as found:
        assert before == answers(found)
        lease = found.leases.holder(PACKAGE)
        started = found.start(PACKAGE, agent_id=AGENT, lease=lease)
        given = {record.path for record in started.records}
        assert dimension("voice") in given

    assert [] == shown(place, *CANARIES)


def test_the_search_sees_a_persona_that_is_not_sealed(place: Place) -> None:
    """In a scope that isn't chosen each of these is found: the law is no accident."""
    with session(place.url, scope=OPEN) as found:
        used(found)

    assert CANARIES == shown(place, *CANARIES)


def test_without_keys_there_is_no_empty_scope(url: str) -> None:
    """Every verb is refused: none lists nothing, none installs anew."""
    with session(url) as found:
        installed(found, persona())
    with session(url, sealing=None) as found:
        work = (
            lambda: list(found.packages.list()),
            lambda: found.packages.read(PACKAGE),
            lambda: found.packages.install(advanced().folder()),
            lambda: found.start(PACKAGE, agent_id=AGENT),
            found.whoami,
        )
        for one in work:
            with pytest.raises(AccessError) as raised:
                one()
            assert "scope.sealed" == raised.value.code


def test_tokens_work_in_sealed_scopes(place: Place) -> None:
    """Authority and project may both rest sealed; who may what stands nowhere."""
    tenant: dict[str, Any] = {"tenant": "acme", "principal": "operator:root"}
    with session(place.url) as found:
        installed(found, persona())
    opened = open_authority(place.url, **tenant, keys=KEYS, sealing=SEALING)
    with opened as authority:
        authority.grant(Principal("human", "dunlin-dora"), "writer", scope=SCOPE)
        token = authority.issue(Principal("human", "dunlin-dora"), scope=SCOPE)
        secret = token.token.reveal()
    held: dict[str, Any] = {"credential": secret, "principal": None, "keys": KEYS}
    with session(place.url, **held) as found:
        assert BODY.encode() in found.packages.read(PACKAGE)[PATH]

    # Without the scopes' keys the token stands for nobody.
    with (
        pytest.raises(AccessError) as raised,
        session(place.url, **held, sealing=None) as found,
    ):
        found.packages.list()
    assert "scope.sealed" == raised.value.code
    assert [] == shown(place, "dunlin-dora", secret, PACKAGE)


def test_a_token_meets_a_sealed_project(url: str) -> None:
    """Where the authority is open and the project sealed, no call shows it empty."""
    sealing = Sealing(KEYS, [SCOPE])
    with session(url, sealing=sealing) as found:
        installed(found, persona())
    opened = open_authority(url, tenant="acme", principal="operator:root", keys=KEYS)
    with opened as authority:
        authority.grant(CAROL, "writer", scope=SCOPE)
        held = authority.session(
            authority.issue(CAROL, scope=SCOPE).token.reveal(), scope=SCOPE
        )
        with pytest.raises(AccessError) as raised:
            list(held.packages.list())
    assert "scope.sealed" == raised.value.code


@pytest.mark.parametrize("has_keys", [False, True])
def test_backups_travel_sealed(place: Place, tmp_path: Path, *, has_keys: bool) -> None:
    """Backed up with or without keys, what rests travels, and opens with them."""
    with session(place.url) as found:
        installed(found, persona())
        before = answers(found)
    file = tmp_path / "it.backup"
    source = place.raw()
    if has_keys:
        source = SealedStore(source, SEALING)
    write_backup(source, file, made_at=0)
    with session(f"backup:{file}", create=False) as found:
        assert before == answers(found)

    target = product_place("sqlite", tmp_path / "restored")
    backup = open_store(f"backup:{file}")
    try:
        assert () == copy_whole(backup, target.raw(), SCOPE).differences
        assert verify_scope(target.raw(), SCOPE).is_sound
    finally:
        backup.close()
        target.close()
    with session(target.url) as found:
        assert before == answers(found)
    assert [] == shown(target, BODY, NAME, VALUE, PATH, PACKAGE)


def test_commands_tell_that_a_scope_is_sealed(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Verifying works on what rests; whatever would show packages is refused."""
    with session(url) as found:
        installed(found, persona())

    def run(*arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        said = capsys.readouterr()
        return int(str(ended.value.code or 0)), said.out + said.err

    code, _said = run("verify", "--store", url)
    assert 0 == code
    code, said = run("doctor", "--store", url, "--json")
    lines = [json.loads(line) for line in said.splitlines()]
    (packages,) = [line["packages"] for line in lines if "packages" in line]
    assert (0, None) == (code, packages)
    code, said = run("list", "--store", url, "--scope", SCOPE.text)
    assert (True, True) == (code != 0, "scope.sealed" in said)


def test_a_refused_store_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where sealing isn't possible the store behind doesn't stay open."""
    made = []

    def refuse(self: object, inner: Any, *_: object) -> None:
        made.append(inner)
        raise CallerError("not here", code="sealing.joined")

    monkeypatch.setattr(SealedStore, "__init__", refuse)
    with pytest.raises(CallerError):
        open_store("memory:", sealing=Sealing(KEYS, everywhere))
    with pytest.raises(ClosedError):
        made[0].scopes(limit=1)
