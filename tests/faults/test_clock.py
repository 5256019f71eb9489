"""A clock that steps, stands still or is far off orders nothing and loses nothing."""

from __future__ import annotations

import contextlib
import itertools
import time

import attrs
import pytest
from tests.backends.ledger import BACKENDS, opened
from tests.faults.package_works import install, session_at

from uaix_backends import system
from uaix_conformance.examples import SCOPE, fact
from uaix_core import Principal, ScopeId, Session
from uaix_core.schema.commits import Commit
from uaix_core.values.instants import parse_instant

NOW = parse_instant("2026-06-01T12:00:00Z")
YEAR = 365 * 86_400_000_000

#: What a clock says, one after the other.
STEPS = {
    "back": [NOW, NOW - 10 * YEAR, NOW - 10 * YEAR + 1],
    "forward": [NOW, NOW + 7_000 * YEAR, NOW],
    "standing": [NOW, NOW, NOW],
    "over a leap second": [
        parse_instant("2016-12-31T23:59:59.999999Z"),
        parse_instant("2016-12-31T23:59:59Z"),
        parse_instant("2017-01-01T00:00:00Z"),
    ],
}

both = pytest.mark.parametrize("backend", BACKENDS)
stepping = pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)


@both
@stepping
def test_recorded_time_never_goes_back(tmp_path, backend, steps):
    """Whatever the clock says, each commit is recorded no earlier than the last."""
    with contextlib.closing(opened(backend, tmp_path / "store")) as store:
        found = [
            store.append(Commit(SCOPE, at, adds=[fact(n)])).recorded_at
            for n, at in enumerate(steps)
        ]
        with store.snapshot(SCOPE) as snapshot:
            seqs = [recorded.seq for recorded in snapshot.commits()]

    assert list(itertools.accumulate(steps, max)) == found
    assert list(range(1, len(steps) + 1)) == seqs


@attrs.define
class SteppingClock:
    """A clock that goes through its steps and stays at the last."""

    steps: list[int]

    def now(self):
        """The next step."""
        return self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]


@both
@stepping
def test_a_session_works_by_any_clock(tmp_path, backend, steps):
    """An install and an export under a stepping clock; the same key is one install."""
    with session_at(backend, tmp_path / "store") as found:
        session = Session(
            found.store,
            scope=ScopeId.parse("acme/project/apollo"),
            principal=Principal.parse("human:alice"),
            clock=SteppingClock(list(steps)),
            ids=system.SystemIds(),
            random=system.SystemRandom(),
        )
        receipt = install(session)
        assert receipt == install(session)
        assert (
            "quarantined" == session.packages.export("example-advanced-persona").state
        )
        with session.store.snapshot(session.scope) as snapshot:
            at = [recorded.recorded_at for recorded in snapshot.commits()]
    assert sorted(at) == at


@pytest.mark.parametrize("step_ns", [-(10**18), 0, 10**18])
def test_ids_rise_by_any_clock(monkeypatch, step_ns):
    """A thousand ids around a step of the computer's clock are unique and rise."""
    now = time.time_ns()
    seen = itertools.count()
    monkeypatch.setattr(
        time, "time_ns", lambda: now + (step_ns if next(seen) > 500 else 0)
    )
    ids = system.SystemIds()
    found = [ids.new() for _ in range(1_000)]

    assert sorted(set(found)) == found


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/New_York", "nowhere"])
def test_the_zone_of_the_process_changes_no_instant(monkeypatch, zone):
    """The system's clock is UTC, whatever zone the environment names."""
    before = system.SystemClock().now()
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        after = system.SystemClock().now()
    finally:
        monkeypatch.undo()
        time.tzset()

    assert 0 <= after - before < 60_000_000
