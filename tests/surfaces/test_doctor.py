from __future__ import annotations

import attrs
import pytest

from uaix_backends import open_store
from uaix_core.packages.relations import PACKAGE
from uaix_core.values.errors import IntegrityError
from uaix_core.values.ids import ScopeId
from uaix_surfaces.cli.doctor import check_scope

SCOPE = ScopeId.parse("acme/personal/main")
FIELDS = {"scope", "position", "head", "packages", "rebuilt", "problems", "ok"}


@pytest.mark.parametrize("rebuild", [False, True])
def test_a_sound_store_is_ok(run, archive, at, rebuild):
    """Each scope of a sound store is a line without problems, and nothing changes."""
    run("install", archive, *at)
    run("install", archive, *at[:2], "--scope", "acme/shared/other")
    args = ("doctor", *at[:2], *(["--rebuild"] if rebuild else []), "--json")

    ran = run(*args)

    assert (0, "") == (ran.code, ran.err)
    assert ["acme/personal/main", "acme/shared/other"] == [
        line["scope"] for line in ran.lines
    ]
    for line in ran.lines:
        assert FIELDS == set(line)
        assert (1, 1, [], True) == (
            line["position"],
            line["packages"],
            line["problems"],
            line["ok"],
        )
        assert (1 if rebuild else None) == line["rebuilt"]
    assert ran.lines == run(*args).lines


def test_an_empty_store_is_ok(run):
    """A store without any scope has nothing wrong with it."""
    ran = run("doctor", "--store", "memory:")

    assert 0 == ran.code
    assert "no scope" in ran.out


def test_a_missing_store_is_not_made(run, tmp_path):
    """Doctor opens stores and never makes one."""
    assert 2 == run("doctor", "--store", "sqlite:none.db").code
    assert [] == list(tmp_path.iterdir())


def test_a_changed_body_is_found(run, archive, persona, tmp_path):
    """A byte that was changed in the file of a store is found and named."""
    at = ("--store", "sqlite:store.db")
    run("install", archive, *at, "--scope", SCOPE.text)
    path = tmp_path / "store.db"
    data = path.read_bytes()
    place = data.find(persona[".uai/identity.uai"][:40])
    assert place > 0
    path.write_bytes(data[:place] + bytes((data[place] ^ 1,)) + data[place + 1 :])

    ran = run("doctor", *at, "--json")

    assert 1 == ran.code
    assert not ran.line["ok"]
    assert ran.line["problems"][0]["code"]
    shown = run("doctor", *at)
    assert 1 == shown.code
    assert "wrong" in shown.out
    assert ran.line["problems"][0]["code"] in shown.out


class Damaged:
    """A store whose package rows say something else until they are rebuilt."""

    def __init__(self, store):
        self._store = store
        self._is_damaged = True

    def __getattr__(self, name):
        return getattr(self._store, name)

    def rebuild(self, scope):
        self._is_damaged = False
        return self._store.rebuild(scope)

    def snapshot(self, scope):
        return DamagedView(self._store.snapshot(scope), self._is_damaged)


class DamagedView:
    def __init__(self, inner, is_damaged):
        self._inner = inner
        self._is_damaged = is_damaged

    def __enter__(self):
        self._view = self._inner.__enter__()
        return self

    def __exit__(self, *error):
        return self._inner.__exit__(*error)

    def __getattr__(self, name):
        return getattr(self._view, name)

    def scan(self, relation, *args, **options):
        rows = self._view.scan(relation, *args, **options)
        if self._is_damaged and relation == PACKAGE.name:
            return [attrs.evolve(row, state="active") for row in rows]
        return rows


@pytest.fixture
def sound(run, archive, tmp_path):
    """An open store that holds one package."""
    run("install", archive, "--store", "sqlite:store.db", "--scope", SCOPE.text)
    store = open_store(f"sqlite:{tmp_path / 'store.db'}")
    yield store
    store.close()


def test_rows_that_no_commit_says_are_found(sound):
    """A derived row that differs from the replay is named by its relation."""
    checkup = check_scope(Damaged(sound), SCOPE, rebuild=False)

    (problem,) = checkup.problems
    assert ("doctor.differences", ["package"]) == (
        problem["code"],
        problem["relations"],
    )


def test_a_rebuild_that_changes_rows_is_told(sound):
    """What a rebuild put right was wrong, and both are said."""
    store = Damaged(sound)

    first = check_scope(store, SCOPE, rebuild=True)
    second = check_scope(store, SCOPE, rebuild=True)

    assert ["doctor.differences", "doctor.rebuilt"] == [
        problem["code"] for problem in first.problems
    ]
    assert [] == second.problems


def test_a_broken_chain_is_told_with_its_code(sound, monkeypatch):
    """An error of the replay is a finding with the error's own code."""
    from uaix_surfaces.cli import doctor  # noqa: PLC0415 - to stand in for the replay

    def broken(*_):
        raise IntegrityError("a gap in the chain", code="chain.gap", path="a#2")

    monkeypatch.setattr(doctor, "copy_scope", broken)

    (problem,) = check_scope(sound, SCOPE, rebuild=False).problems

    assert ("chain.gap", "a gap in the chain at a#2") == (
        problem["code"],
        problem["message"],
    )
