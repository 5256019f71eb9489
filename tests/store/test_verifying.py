"""Verification finds whatever differs from what the commits say, and names it."""

from __future__ import annotations

from contextlib import closing, contextmanager

import attrs
import pytest
from tests.store.lives import KINDS, LIFE, history_of, lived, local_of, opened

from uaix_conformance.examples import OTHER, SCOPE, fact, note, vector
from uaix_conformance.schema import KIT
from uaix_core.schema.commits import Commit
from uaix_core.schema.relations import Keep
from uaix_core.store.verifying import MAX_NAMED, verify_scope
from uaix_core.values.errors import ClosedError, IntegrityError


@pytest.fixture(params=KINDS)
def store(request, tmp_path):
    """A store of each kind after the whole life."""
    with closing(lived(request.param, tmp_path)) as found:
        yield found


class Lying:
    """A store whose snapshots tell of some rows and commits what isn't so."""

    def __init__(self, store, *, scan=None, commits=None):
        self._store = store
        self._scan = scan or (lambda _relation, _path, rows: rows)
        self._commits = commits or (lambda recorded: recorded)

    @property
    def schema(self):
        return self._store.schema

    @contextmanager
    def snapshot(self, scope):
        with self._store.snapshot(scope) as snapshot:
            yield LyingSnapshot(snapshot, self._scan, self._commits)


class LyingSnapshot:
    def __init__(self, snapshot, scan, commits):
        self._snapshot = snapshot
        self._told = scan
        self._said = commits

    position = property(lambda self: self._snapshot.position)
    head = property(lambda self: self._snapshot.head)

    def scan(self, relation, path, *args, **options):
        rows = self._snapshot.scan(relation, path, *args, **options)
        return self._told(relation, path, list(rows))

    def get_many(self, relation, keys):
        return self._snapshot.get_many(relation, keys)

    def commits(self, after=0):
        return map(self._said, self._snapshot.commits(after))


def found(store, scope=SCOPE):
    return [(f.code, f.path) for f in verify_scope(store, scope).flaws]


def test_a_sound_scope_has_no_flaw(store):
    """A store that did what it should is sound, in every scope, and stays as it was."""
    before = history_of(store), local_of(store)
    for scope in (SCOPE, OTHER):
        verification = verify_scope(store, scope)
        with store.snapshot(scope) as snapshot:
            assert (snapshot.position, snapshot.head) == (
                verification.position,
                verification.head,
            )
            rows = sum(
                len(snapshot.scan(r.name, "key", limit=1_000))
                for r in KIT.kept(Keep.HISTORY, Keep.VIEW)
            )
        assert rows == verification.rows > 0
        assert verification.is_sound
    assert before == (history_of(store), local_of(store))


def test_an_empty_scope_is_sound(tmp_path):
    """A scope that nobody wrote to has position 0 and no flaw."""
    with closing(opened("memory", tmp_path)) as store:
        verification = verify_scope(store, SCOPE)

    assert (0, 0, True) == (
        verification.position,
        verification.rows,
        verification.is_sound,
    )


@pytest.mark.parametrize("kept", [Keep.HISTORY, Keep.VIEW])
def test_each_row_that_is_missing_is_named(store, kept):
    """Whichever row a scan leaves out, that row is named as missing."""
    for relation in KIT.kept(kept):
        with store.snapshot(SCOPE) as snapshot:
            rows = list(snapshot.scan(relation.name, "key", limit=1_000))
        for gone in rows:
            lying = Lying(
                store,
                scan=lambda name, _path, all_, r=relation, g=gone: [
                    row for row in all_ if name != r.name or row != g
                ],
            )
            ((code, path),) = found(lying)
            key = "/".join(
                "?" if _is_content(relation, n) else str(v)
                for n, v in zip(relation.key, relation.key_of(gone), strict=True)
            )
            assert ("verify.missing", f"{relation.name} {key}") == (code, path)


def _is_content(relation, name):
    return relation.fields[name].kind.value in ("text", "bytes", "json")


def test_a_row_too_many_is_named(store):
    """A row that no commit wrote is named as one too many."""
    added = fact(4, subject="zz")

    def scan(name, path, rows):
        return [*rows, added] if (name, path) == ("fact", "key") else rows

    assert [("verify.extra", "fact 0/False/4/zz")] == found(Lying(store, scan=scan))


@pytest.mark.parametrize("change", [{"version": 99}, {"title": "forged"}])
def test_a_changed_view_row_is_named(store, change):
    """A view row with another value, or another version alone, is named."""

    def scan(name, _path, rows):
        return [attrs.evolve(r, **change) for r in rows] if name == "latest" else rows

    if "version" not in change:

        def scan(name, _path, rows):
            if name != "title":
                return rows
            return [attrs.evolve(r, **change) for r in rows]

    flaws = found(Lying(store, scan=scan))
    assert {"verify.differs"} == {code for code, _ in flaws if code != "verify.more"}
    assert flaws[0][1].startswith("latest t" if "version" in change else "title t")


def test_many_rows_are_counted_and_few_named(store):
    """Beyond the first of a relation, wrong rows are counted and not named."""

    def scan(name, _path, rows):
        return [] if name == "note" else rows

    flaws = found(Lying(store, scan=scan))

    notes = [flaw for flaw in flaws if flaw[1].startswith("note")]
    assert [*["verify.missing"] * MAX_NAMED, "verify.more"] == [c for c, _ in notes]
    (more,) = [
        f
        for f in verify_scope(Lying(store, scan=scan), SCOPE).flaws
        if f.code == "verify.more"
    ]
    assert more.message.startswith(f"{14 - MAX_NAMED} more")


def test_a_path_in_another_order_is_named(store):
    """A path that gives all rows in a wrong order is named, the key being right."""

    def scan(name, path, rows):
        return rows[::-1] if (name, path) == ("fact", "by_subject") else rows

    assert [("verify.path", "fact by_subject")] == found(Lying(store, scan=scan))


def test_a_changed_header_breaks_the_chain(store):
    """A commit whose row has another header is named by its place in the chain."""

    def commits(recorded):
        if recorded.seq != 2:
            return recorded
        adds = [
            attrs.evolve(r, noted_at=5)
            if r.version == 2 and hasattr(r, "noted_at")
            else r
            for r in recorded.commit.adds
        ]
        return attrs.evolve(recorded, commit=attrs.evolve(recorded.commit, adds=adds))

    assert [("chain.digest", f"{SCOPE.text}#2")] == found(Lying(store, commits=commits))


def test_a_changed_body_is_named_by_its_row(store):
    """A body that disagrees with its digest is named by the row that it belongs to."""

    def commits(recorded):
        if recorded.seq != 2:
            return recorded
        adds = [
            attrs.evolve(r, text="forged") if hasattr(r, "noted_at") else r
            for r in recorded.commit.adds
        ]
        return attrs.evolve(recorded, commit=attrs.evolve(recorded.commit, adds=adds))

    assert [("storage.row", "note t0/2")] == found(Lying(store, commits=commits))


def test_a_commit_that_is_left_out_is_named(store):
    """A gap in the chain is named by the commit that is missing."""

    class Short(Lying):
        @contextmanager
        def snapshot(self, scope):
            with super().snapshot(scope) as snapshot:
                real = snapshot.commits
                snapshot.commits = lambda: list(real())[:-1]
                yield snapshot

    with store.snapshot(SCOPE) as snapshot:
        last = snapshot.position
    assert [("chain.gap", f"{SCOPE.text}#{last}")] == found(Short(store))


def test_an_error_of_reading_is_a_flaw(store):
    """What the store itself finds damaged is told with the code and path it gave."""

    def commits(_recorded):
        raise IntegrityError("damaged", code="storage.segment", path="here#1")

    assert [("storage.segment", "here#1")] == found(Lying(store, commits=commits))


def test_a_local_row_that_is_none_is_named(store):
    """A WORK row that its relation can't hold is named."""

    def scan(name, _path, rows):
        return [attrs.evolve(r, kind="shout") for r in rows] if name == "job" else rows

    assert [("storage.row", "job False/1")] == found(Lying(store, scan=scan))


def test_progress_is_told_to_the_end(tmp_path):
    """Progress rises to the position, whatever its steps are."""
    told = []
    with closing(opened("memory", tmp_path)) as store:
        for number in range(600):
            store.append(Commit(SCOPE, number, adds=[fact(number)]))
        verify_scope(store, SCOPE, lambda done, whole: told.append((done, whole)))

    assert sorted(told) == told
    assert [(256, 600), (512, 600), (600, 600)] == told


def test_a_closed_store_is_no_flaw(tmp_path):
    """Using a closed store is the caller's error and no finding."""
    store = lived("sqlite", tmp_path)
    store.close()
    with pytest.raises(ClosedError):
        verify_scope(store, SCOPE)


@pytest.mark.parametrize("kind", ["dir", "sqlite"])
def test_a_flipped_body_on_disk_is_named(kind, tmp_path):
    """A bit of a body that flips on the medium is found, and its record is named."""
    body = "a body that is easy to find on the disk"
    with closing(opened(kind, tmp_path)) as store:
        store.append(LIFE[1])
        store.append(Commit(SCOPE, 9, adds=[note(5, title="t", text=body)]))
    flipped = False
    for path in filter(lambda p: p.is_file(), (tmp_path).rglob("*")):
        data = path.read_bytes()
        at = data.find(body.encode())
        if at >= 0 and path.suffix != ".cache":
            path.write_bytes(data[:at] + b"A" + data[at + 1 :])
            flipped = True
    assert flipped
    with closing(opened(kind, tmp_path)) as store:
        flaws = found(store)

    named = {"dir": f"{SCOPE.text}#2 note t0/5", "sqlite": "note t0/5"}[kind]
    assert [named] == [path for _code, path in flaws]


def test_a_local_row_about_an_erased_one_is_named(store):
    """A row of WORK or CACHE that speaks of an erased body is named."""
    revived = vector(1, text="secret")

    def scan(name, _path, rows):
        return [*rows, revived] if name == "vector" else rows

    assert ("verify.about", "vector m0/t0/1") in found(Lying(store, scan=scan))
