"""Laws of leases on the command line."""

from __future__ import annotations

import pytest
from tests.surfaces.conftest import SCOPE

from uaix_backends import open_session, write_package

FOR = ("--for", "600")


@pytest.fixture
def active(run, tmp_path, persona, at):
    """A package in a store, reviewed."""
    write_package(tmp_path / "ada.uaix", persona)
    assert 0 == run("install", "ada.uaix", *at).code
    with open_session(at[1], scope=SCOPE, principal="human:eva") as session:
        waiting = session.review.waiting("ada")
        seen = {file.path: file.revision_id for file in waiting.records}
        session.review.records("ada", "approved", seen)
        session.review.package("ada", "active", checkpoint_id=waiting.checkpoint_id)


@pytest.fixture
def take(run, at, active):
    """Acquire the package for a session of the agent."""

    def call(session_id, *more):
        named = ("--agent", "ada-1", "--session", session_id)
        return run("lease", "acquire", "ada", *named, *FOR, *at, *more)

    return call


def test_one_session_has_a_package(run, at, take):
    """It gets the same lease again, and any other session the answer no."""
    lease = take("run-1", "--json").line

    assert ("ada", "ada-1", "run-1") == (
        lease["package_id"],
        lease["agent_id"],
        lease["session_id"],
    )
    assert lease["lease_id"] == take("run-1", "--json").line["lease_id"]
    other = take("run-2", "--json")
    assert (1, "lease.package-busy") == (other.code, other.line["error"]["code"])
    shown = run("lease", "show", "ada", *at, "--json").line
    assert (lease["lease_id"], lease["fence"], True) == (
        shown["lease_id"],
        shown["fence"],
        shown["runs"],
    )
    assert [shown] == run("lease", "show", *at, "--json").lines
    assert "run-1" in run("lease", "show", *at).out
    assert "held by run-1" in take("run-1").out


def test_a_lease_is_kept_and_given_back(run, at, take):
    """A renewal moves its end; once released it is lost, and the package free."""
    lease = take("run-1", "--json").line
    name = lease["lease_id"]

    kept = run("lease", "renew", name, "--for", "86400", *at, "--json").line
    assert lease["until_at"] < kept["until_at"]
    assert lease == {**kept, "until_at": lease["until_at"]}
    agent = ("--actor", "agent:bob")
    foreign = run("lease", "release", name, *at, *agent, "--json")
    assert (1, "lease.agent") == (foreign.code, foreign.line["error"]["code"])
    assert "released" == run("lease", "release", name, *at, "--json").line["outcome"]
    assert "unchanged" in run("lease", "release", name, *at).out
    lost = run("lease", "renew", name, *FOR, *at, "--json")
    assert (1, "lease.lost") == (lost.code, lost.line["error"]["code"])
    empty = run("lease", "show", *at)
    assert (0, "", "nobody is at work\n") == empty
    assert 0 == take("run-2").code


def test_verbs_work_under_a_lease(run, at, take):
    """A start and what an agent records are done under it, and not once it is lost."""
    name = take("run-1", "--json").line["lease_id"]
    who = ("ada", "--agent", "ada-1", *at, "--json")
    verbs = {
        "start": ("start", *who),
        "state": ("tier", "state", *who, "--text", "x"),
        "say": (
            *("tier", "say", *who, "--conversation", "c-1", "--role", "user"),
            *("--text", "x"),
        ),
        "diverge": (
            *("tier", "diverge", *who, "--path", ".uai/persona.uai"),
            *("--what", "x", "--why", "y"),
        ),
    }

    assert 1 == run(*verbs["start"]).code
    for verb in verbs.values():
        assert 0 == run(*verb, "--lease", name).code
    assert name == run(*verbs["start"], "--lease", name).line["lease_id"]
    run("lease", "release", name, *at)
    for word, verb in verbs.items():
        code = "startup.refused" if word == "start" else "lease.lost"
        ran = run(*verb, "--lease", name)
        assert (1, code) == (ran.code, ran.line["error"]["code"])
        ran = run(*verb, "--lease", "nothing")
        assert (1, "lease.not-found") == (ran.code, ran.line["error"]["code"])


@pytest.mark.parametrize("seconds", ["0", "-1", "86401", "1.5", "soon"])
def test_a_time_is_up_to_a_day(run, at, seconds):
    """What is no number of seconds within a day is wrong usage."""
    named = ("--agent", "ada-1", "--session", "run-1", "--for", seconds)

    assert 2 == run("lease", "acquire", "ada", *named, *at).code


@pytest.mark.parametrize(
    "args",
    [
        ("acquire", "ada", "--agent", "no id", "--session", "run-1", *FOR),
        ("acquire", "ada", "--agent", "ada-1", "--session", "no id", *FOR),
        ("renew", "no id", *FOR),
        ("release", "no id"),
        (),
    ],
)
def test_what_is_no_id_is_wrong_usage(run, at, args):
    """It is refused before any store is looked at, and so is no verb at all."""
    assert 2 == run("lease", *args, *(at if args else ())).code
