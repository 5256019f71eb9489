"""Laws of the verbs of authority: tokens are told once, and secrets never."""

from __future__ import annotations

import json
import os
from traceback import format_exception

import pytest
from tests.access.test_enrolment import MASTER, master
from tests.session.starting import AGENT, ID
from tests.surfaces.tenancy import TENANT, ok, token_of

from uaix_backends import write_package
from uaix_core.packages.ed25519 import public_key_of
from uaix_core.values.errors import AccessError
from uaix_surfaces.cli import main

POSIX = pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")


def test_an_agent_comes_to_its_package_and_loses_it(run, place, tmp_path, monkeypatch):
    """Bound, issued a token, started; and refused once the token is revoked."""
    store = place[:2]
    ok(run("authority", "bind", AGENT, ID, *place))
    ok(run("authority", "grant", "human:carol", "admin", *place))
    carol = token_of(run, place)
    review = ("--expect", "1", "--credential", carol, "--json", *place)
    ok(run("review", ID, "reviewed", "--all-records", *review))
    ok(run("review", ID, "active", "--note", "read", *review))
    told = ok(run("authority", "issue", f"agent:{AGENT}", "--json", *place)).line
    monkeypatch.setenv("UAIX_CREDENTIAL", told["token"])

    ok(run("start", ID, "--agent", AGENT, "-o", "started", *place))
    assert [ID] == ok(run("whoami", "--json", *place)).line["packages"]
    assert 1 == run("show", "others-own", *place).code
    assert (tmp_path / "started").is_dir()

    monkeypatch.delenv("UAIX_CREDENTIAL")
    (before,) = ok(run("authority", "bindings", "--json", *place)).lines
    assert (AGENT, ID) == (before["agent_id"], before["package_id"])
    ok(run("authority", "revoke", told["credential_id"], *store, *TENANT))
    monkeypatch.setenv("UAIX_CREDENTIAL", told["token"])
    assert "credential.invalid" in run("whoami", *place).err


def test_what_a_role_lacks_is_denied_and_listed(run, place):
    """A token writes as its principal, within its role; the host sees who tried."""
    granted = ok(run("authority", "grant", "human:carol", "reader", "--json", *place))
    carol = token_of(run, place)
    held = ("authority", "entitlements", "human:carol", "--json", *place[:2], *TENANT)
    assert ["reader"] == [line["role"] for line in ok(run(*held)).lines]

    under = ("--credential", carol, *place)
    assert [ID] == [line["package_id"] for line in run("list", "--json", *under).lines]
    refused = run("policy", "--issuer", "nobody", *under)
    assert (1, True) == (refused.code, refused.err.startswith("access.denied"))

    (denial,) = ok(run("authority", "denials", "--json", *place[:2], *TENANT)).lines
    assert ("human:carol", "policy", "operation") == (
        denial["principal"],
        denial["operation"],
        denial["code"],
    )
    ok(run("authority", "withdraw", granted.line["id"], *place[:2], *TENANT))
    assert "" == ok(run("list", *under)).out
    assert "" == ok(run(*held)).out


def test_a_token_administers_its_scope_alone(run, here):
    """An administrator's token grants and issues there; denials are the host's."""
    ok(run("authority", "grant", "human:carol", "admin", *here))
    under = ("--credential", token_of(run, here), *here)

    ok(run("authority", "grant", "human:dora", "reader", *under))
    ok(run("authority", "issue", "human:dora", "--to", "dora.token", *under))
    for verb in ("entitlements", "credentials"):
        assert 1 == len(
            ok(run("authority", verb, "human:dora", "--json", *under)).lines
        )

    for call in (
        ("denials", *under),
        ("grant", "human:dora", "admin", *under[:-1], "acme/project/gemini"),
    ):
        refused = run("authority", *call)
        assert 1 == refused.code
        assert refused.err.startswith(("access.denied", "credential.invalid"))


def test_a_project_is_enrolled_by_its_master(run, keys, tmp_path):
    """A signed master makes the store and gives its first token, and only once."""
    del keys
    write_package(tmp_path / "master.uaix", master().files)
    call = ("authority", "enrol", "master.uaix", "--trust", public_key_of(MASTER).hex())
    store = ("--store", "sqlite:new.db")

    ok(run(*call, "--to", "admin.token", *store, *TENANT))

    gemini = (*store, "--scope", "acme/project/gemini")
    said = run("whoami", "--credential", "admin.token", "--json", *gemini).line
    assert ["admin"] == [one["role"] for one in said["entitled"]]
    again = run(*call, *store, *TENANT)
    assert (1, "") == (again.code, again.out)
    assert again.err.startswith("enrolment.used")
    assert 2 == run(*call[:3], *store, *TENANT).code


def test_a_token_is_rotated_with_an_overlap(run, here):
    """Its holder rotates it; both are good for the overlap, and the old one ends."""
    ok(run("authority", "grant", "human:carol", "reader", *here))
    first = ok(
        run("authority", "issue", "human:carol", "--to", "old", "--json", *here)
    ).line
    rotate = ("authority", "rotate", first["credential_id"])

    ok(run(*rotate, "--overlap", "1h", "--to", "new", "--credential", "old", *here))
    for name in ("old", "new"):
        ok(run("whoami", "--credential", name, *here))

    ok(run("authority", "rotate", first["credential_id"], *here[:2], *TENANT))
    assert "credential.invalid" in run("whoami", "--credential", "old", *here).err


def test_a_token_is_told_once(run, here, tmp_path):
    """Alone on the output, in the JSON line, or in a file that is its owner's."""
    issue = ("authority", "issue", "human:carol", *here)

    alone = ok(run(*issue))
    named = ok(run(*issue, "--json")).line
    filed = ok(run(*issue, "--json", "--to", "its.token"))
    again = run(*issue, "--to", "its.token")

    assert 1 == alone.out.count("\n")
    assert alone.out.startswith("uaix_")
    assert alone.out.strip() not in alone.err
    assert named["token"].startswith("uaix_")
    assert "token" not in filed.line
    text = (tmp_path / "its.token").read_text()
    assert text.strip() not in filed.out + filed.err
    assert (1, True) == (again.code, "files.exists" in again.err)
    assert text == (tmp_path / "its.token").read_text()
    listed = run(
        "authority", "credentials", "human:carol", *here[:2], *TENANT, "--json"
    )
    assert 3 == len(listed.lines)


def test_no_secret_is_told(run, here, tmp_path):
    """No verb says a token or a key, whether it is carried out or refused."""
    ok(run("authority", "grant", "human:carol", "writer", *here))
    carol = token_of(run, here)
    token = (tmp_path / carol).read_text().strip()
    ring = json.loads((tmp_path / "host.keys").read_bytes())["keys"]
    under = ("--credential", carol, *here)
    wrong = tmp_path / "wrong.token"
    wrong.write_text(token[:-3] + "AAA")
    wrong.chmod(0o600)

    told = [
        *(
            run(*call, *more)
            for more in ((), ("--json",))
            for call in (
                ("whoami", *under),
                ("whoami", "--credential", "wrong.token", *here),
                ("whoami", "--credential", token, *here),
                ("show", "nowhere", *under),
                ("authority", "credentials", "human:carol", *here[:2], *TENANT),
                ("authority", "keys", "list", "host.keys"),
                ("authority", "keys", "list", carol),
                ("authority", "grant", "human:x", "admin", *under),
            )
        ),
    ]

    said = "".join(ran.out + ran.err for ran in told)
    with pytest.raises(AccessError) as raised:
        main(["whoami", "--credential", "wrong.token", *here], standalone_mode=False)
    said += "".join(format_exception(raised.value))
    assert [] == [text for text in (token[-43:-3], *ring.values()) if text in said]


@POSIX
def test_what_is_written_is_the_owners_alone(run, here, tmp_path):
    """Key rings and tokens are written with mode 0600, under any umask."""
    before = os.umask(0)
    try:
        token_of(run, here)
        ok(run("authority", "keys", "add", "host.keys"))
        ok(run("authority", "keys", "new", "other.keys"))
    finally:
        os.umask(before)
    for name in ("its.token", "host.keys", "other.keys"):
        assert 0o600 == (tmp_path / name).stat().st_mode & 0o777


def test_keys_are_rotated_while_tokens_stay_good(run, here):
    """A token lives as long as its key is in the ring, and new ones use the new key."""
    ok(run("authority", "grant", "human:carol", "reader", *here))
    old = token_of(run, here, name="old.token")
    ok(run("authority", "keys", "add", "host.keys", "--id", "k2"))
    new = token_of(run, here, name="new.token")
    for name in (old, new):
        ok(run("whoami", "--credential", name, *here))

    ring = ok(run("authority", "keys", "drop", "host.keys", "k1", "--json")).line
    assert ("k2", ["k2"]) == (ring["active"], ring["keys"])
    ok(run("whoami", "--credential", new, *here))
    gone = run("whoami", "--credential", old, *here)
    assert (1, True) == (gone.code, gone.err.startswith("keys.missing"))


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (("new", "host.keys"), "files.exists"),
        (("add", "host.keys", "--id", "k1"), "keys.exists"),
        (("drop", "host.keys", "k1"), "keys.active"),
        (("drop", "host.keys", "k9"), "keys.not-found"),
        (("add", "nowhere"), "files.missing"),
    ],
)
def test_a_ring_stays_as_it_was_when_a_change_is_refused(
    run, keys, tmp_path, call, code
):
    """No key is lost to an overwriting, a name that is taken, or a drop in error."""
    before = (tmp_path / keys).read_bytes()

    refused = run("authority", "keys", *call)

    assert refused.code
    assert refused.err.startswith(code + ":")
    assert before == (tmp_path / keys).read_bytes()


def test_whose_authority_is_said_in_one_way(run, here):
    """The host names the tenant, a token its scope; neither both nor none."""
    verb = ("authority", "credentials", "human:carol", *here[:2])
    token_of(run, here)
    under = ("--credential", "its.token")
    for given in (
        (),
        here[2:],
        (*TENANT, *here[2:]),
        (*under, *TENANT),
        under,
        (*under, *TENANT, *here[2:]),
    ):
        refused = run(*verb, *given)
        assert (2, "") == (refused.code, refused.out)
