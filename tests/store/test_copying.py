"""Copying whole scopes between stores of any two kinds."""

from __future__ import annotations

from contextlib import closing, contextmanager

import attrs
import pytest
from tests.store.lives import KINDS, LIFE, history_of, lived, local_of, opened

from uaix_conformance.examples import OTHER, SCOPE, entry, fact, job
from uaix_conformance.schema import KIT
from uaix_core.schema.commits import Commit
from uaix_core.store.copying import all_scopes, copy_whole
from uaix_core.store.verifying import verify_scope
from uaix_core.values.errors import IntegrityError, StorageError

PAIRS = [(a, b) for a in KINDS for b in KINDS]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_a_copy_equals_its_source(one, other, tmp_path):
    """Chain, rows, views and local rows of each scope are the same afterwards."""
    with (
        closing(lived(one, tmp_path, "a")) as source,
        closing(opened(other, tmp_path, "b")) as target,
    ):
        for scope in all_scopes(source):
            copied = copy_whole(source, target, scope)

            assert () == copied.differences
            assert history_of(source, scope) == history_of(target, scope)
            assert local_of(source, scope) == local_of(target, scope)
            again = copy_whole(source, target, scope)
            assert (0, 0, 0) == (again.commits, again.local, again.ahead)
        assert [SCOPE, OTHER] == list(all_scopes(target))


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_goes_on_where_it_was_cut_short(kind, tmp_path):
    """Whichever append fails, the next copy ends in the same, and brings the rest."""
    with closing(lived(kind, tmp_path, "a")) as source:
        for at in range(20):
            with closing(opened("dir", tmp_path, f"b{at}")) as target:
                failing = Failing(target, at)
                try:
                    copy_whole(source, failing, SCOPE)
                except StorageError:
                    first = failing.count - 1
                    with target.snapshot(SCOPE) as snapshot:
                        done = snapshot.position
                    copied = copy_whole(source, target, SCOPE)
                    assert done == min(first, done)
                    assert copied.position - done == copied.commits
                else:
                    break
                assert history_of(source) == history_of(target)
                assert local_of(source) == local_of(target)
    assert at > 5


class Failing:
    """A store whose append of a number fails."""

    def __init__(self, store, at):
        self._store = store
        self._at = at
        self.count = 0

    def __getattr__(self, name):
        return getattr(self._store, name)

    def append(self, commit):
        self.count += 1
        if self.count > self._at:
            raise StorageError("made up", code="storage.io")
        return self._store.append(commit)


def test_a_target_that_has_gone_on_is_left_alone(tmp_path):
    """Where the target continues the source's history nothing is written."""
    with (
        closing(lived("sqlite", tmp_path, "a")) as source,
        closing(opened("dir", tmp_path, "b")) as target,
    ):
        copy_whole(source, target, SCOPE)
        more = Commit(SCOPE, 50, adds=[fact(8)], puts=[job(1, kind="say")])
        target.append(more)
        before = history_of(target), local_of(target)

        copied = copy_whole(source, target, SCOPE)

        assert (0, 0, 1, ()) == (
            copied.commits,
            copied.local,
            copied.ahead,
            copied.differences,
        )
        assert before == (history_of(target), local_of(target))


@pytest.mark.parametrize("kind", KINDS)
def test_another_history_is_refused(kind, tmp_path):
    """A scope that holds another history is left as it is, wherever they part."""
    for parted in range(3):
        with (
            closing(opened(kind, tmp_path, f"a{parted}")) as source,
            closing(opened("sqlite", tmp_path, f"b{parted}")) as target,
        ):
            for number in range(3):
                other = number >= parted
                source.append(Commit(SCOPE, number, adds=[fact(number)]))
                subject = "else" if other else "s0"
                target.append(Commit(SCOPE, number, adds=[fact(number, subject)]))
            before = history_of(target)

            with pytest.raises(IntegrityError) as caught:
                copy_whole(source, target, SCOPE)

            assert "chain.fork" == caught.value.code
            assert before == history_of(target)


def test_a_source_may_be_written_to_meanwhile(tmp_path):
    """What is copied is the state of one moment, also when commits come in between."""
    with (
        closing(lived("sqlite", tmp_path, "a")) as source,
        closing(opened("memory", tmp_path)) as target,
    ):
        busy = Busy(target, source)
        with source.snapshot(SCOPE) as snapshot:
            position = snapshot.position

        copied = copy_whole(source, busy, SCOPE)

        assert (position, ()) == (copied.position, copied.differences)
        assert busy.count == copy_whole(source, target, SCOPE).commits
        assert history_of(source) == history_of(target)


class Busy(Failing):
    """A store whose every append lets another commit come into the source."""

    def __init__(self, store, source):
        super().__init__(store, 1_000)
        self._source = source

    def append(self, commit):
        number = 100 + self.count
        self._source.append(Commit(SCOPE, number, adds=[fact(number)]))
        return super().append(commit)


def test_progress_ends_at_the_position(tmp_path):
    """Every commit is told, and the last one is the position of the source."""
    told = []
    with (
        closing(lived("memory", tmp_path)) as source,
        closing(opened("memory", tmp_path)) as target,
    ):
        copied = copy_whole(source, target, SCOPE, lambda *one: told.append(one))

    whole = copied.position
    assert [(n, whole) for n in range(1, whole + 1)] == told


def test_differences_are_named(tmp_path):
    """A row that the target shows otherwise is found after the copy."""

    class Forging(Failing):
        schema = KIT

        @contextmanager
        def snapshot(self, scope):
            with self._store.snapshot(scope) as snapshot:
                yield Forged(snapshot)

    class Forged:
        def __init__(self, snapshot):
            self._snapshot = snapshot

        def __getattr__(self, name):
            return getattr(self._snapshot, name)

        def scan(self, relation, *args, **options):
            rows = self._snapshot.scan(relation, *args, **options)
            if relation == "tally":
                return [attrs.evolve(row, count=row.count + 1) for row in rows]
            return rows

    with (
        closing(lived("memory", tmp_path)) as source,
        closing(opened("memory", tmp_path)) as target,
    ):
        copied = copy_whole(source, Forging(target, 1_000), SCOPE)

    assert ("tally",) == copied.differences
    assert len({one.scope for one in LIFE}) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_work_that_was_done_does_not_come_back(kind, tmp_path):
    """A second copy overwrites no newer local row and revives none that was dropped."""
    with (
        closing(lived("sqlite", tmp_path, "a")) as source,
        closing(opened(kind, tmp_path, "b")) as target,
    ):
        copy_whole(source, target, SCOPE)
        target.append(Commit(SCOPE, 60, puts=[job(1, kind="say"), job(9)]))
        target.append(Commit(SCOPE, 60, drops=[("lease", ("t0", 1, "h0"))]))
        before = local_of(target)

        assert 0 == copy_whole(source, target, SCOPE).local

        assert before == local_of(target)


@pytest.mark.parametrize("kind", KINDS)
def test_derived_rows_that_are_absent_come_again(kind, tmp_path):
    """A cached row that the target lacks is copied, and one that it has is kept."""
    with (
        closing(lived("sqlite", tmp_path, "a")) as source,
        closing(opened(kind, tmp_path, "b")) as target,
    ):
        copy_whole(source, target, SCOPE)
        target.append(Commit(SCOPE, 60, drops=[("vector", ("m0", "t0", 2))]))
        target.append(Commit(SCOPE, 60, puts=[entry("a", group="mine")]))

        assert 1 == copy_whole(source, target, SCOPE).local
        with target.snapshot(SCOPE) as snapshot:
            assert "v" == snapshot.get("vector", ("m0", "t0", 2)).text
            assert "mine" == snapshot.get("entry", ("a",)).group


class Erasing(Failing):
    """A store in which a note is erased just before the first local rows come."""

    def append(self, commit):
        if getattr(commit, "puts", ()) and not self.count:
            self.count = 1
            self._store.append(Commit(SCOPE, 70, erases=[("note", ("t0", 2))]))
        return self._store.append(commit)


def test_an_erasure_in_between_is_not_undone(tmp_path):
    """Local rows about a row that is erased while they are copied are gone again."""
    with (
        closing(lived("sqlite", tmp_path, "a")) as source,
        closing(opened("sqlite", tmp_path, "b")) as target,
    ):
        copy_whole(source, Erasing(target, 1_000), SCOPE)

        with target.snapshot(SCOPE) as snapshot:
            assert snapshot.get("note", ("t0", 2)).text is None
            assert snapshot.get("vector", ("m0", "t0", 2)) is None
        assert verify_scope(target, SCOPE).is_sound
