"""Processes that write to one PostgreSQL store at once: nothing is lost or doubled.

``UAIX_OPERATIONS`` says how many operations each of the four makes.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from contextlib import closing
from typing import NamedTuple

import attrs
import pytest
from tests.backends.postgres_server import emptied
from tests.faults.forking import Forker
from tests.store.lives import history_of

from uaix_backends import open_store
from uaix_backends.directory.testing import harness as directory
from uaix_backends.memory import MemoryStore
from uaix_backends.postgres import PostgresStore
from uaix_conformance.examples import fact, job, note
from uaix_conformance.schema import KIT
from uaix_core.schema.commits import Commit, Expect
from uaix_core.schema.relations import Ref
from uaix_core.store.copying import copy_scope
from uaix_core.store.verifying import verify_scope
from uaix_core.values.errors import ConflictError
from uaix_core.values.ids import ScopeId

_PROCESSES = 4
_OPERATIONS = int(os.environ.get("UAIX_OPERATIONS", "100"))
_SCOPES = tuple(ScopeId("kit", "project", f"shared{n}") for n in range(3))

#: The row that all raise, and its key.
_COUNTED = ("job", (False, 0))


class Said(NamedTuple):
    """What was acknowledged: a commit as it was handed in, and its place."""

    commit: Commit
    seq: int
    digest: str
    is_raise: bool


def working(say, url, name, count):
    """Add, raise, erase and repeat in all scopes; say what was acknowledged."""
    chance = random.Random(name)
    standing = {scope: [] for scope in _SCOPES}
    with closing(open_store(url, schema=KIT)) as store:
        for turn in range(count):
            scope = chance.choice(_SCOPES)
            mine = standing[scope]
            verb = chance.choice(("add", "raise", "erase" if mine else "add", "repeat"))
            if verb == "erase":
                commit = Commit(scope, turn, erases=[Ref("note", (name, mine.pop()))])
            else:
                title = f"{name} {turn}"
                added = note(turn, name, title=title, text=title)
                commit = Commit(scope, turn, adds=[added, fact(turn, subject=name)])
                mine.append(turn)
            recorded = (_raise if verb == "raise" else PostgresStore.append)(
                store, commit
            )
            if verb == "repeat":
                assert recorded == store.append(recorded)
            say(Said(commit, recorded.seq, recorded.digest, verb == "raise"))
    return count


def _raise(store, commit):
    """Append a commit that also raises the row of its scope by one."""
    while True:
        with store.snapshot(commit.scope) as snapshot:
            row = snapshot.get(*_COUNTED)
        expect = Expect(*_COUNTED, row.version if row else 0)
        raised = job(0, due_at=row.due_at + 1 if row else 1)
        try:
            return store.append(attrs.evolve(commit, expects=[expect], puts=[raised]))
        except ConflictError:
            continue


@pytest.fixture(scope="module")
def ended():
    """The store that the processes wrote to, and what each was acknowledged."""
    url = emptied(KIT)
    with closing(Forker()) as forker:
        started = [
            forker.start(working, url, f"w{number}", _OPERATIONS)
            for number in range(_PROCESSES)
        ]
        done = [child.wait() for child in started]
    assert [_OPERATIONS] * _PROCESSES == [each.answer for each in done]
    with closing(open_store(url, schema=KIT)) as store:
        yield store, [one for each in done for one in each.said]


def test_every_acknowledged_commit_is_there_exactly_once(ended):
    """The chains are what was acknowledged, each commit at the place it was given."""
    store, said = ended
    assert _PROCESSES * _OPERATIONS == len(said)
    for scope in _SCOPES:
        told = sorted((o.seq, o.digest) for o in said if o.commit.scope == scope)
        with store.snapshot(scope) as snapshot:
            chain = [(one.seq, one.digest) for one in snapshot.commits()]
        assert told == chain
        assert [seq for seq, _ in chain] == list(range(1, len(chain) + 1))


def test_no_raise_is_lost(ended):
    """The row that all raised counts every raise that was acknowledged."""
    store, said = ended
    raised = Counter(one.commit.scope for one in said if one.is_raise)
    for scope in _SCOPES:
        with store.snapshot(scope) as snapshot:
            row = snapshot.get(*_COUNTED)
        assert raised[scope] == (row.due_at if row else 0)


def test_the_chains_are_sound(ended):
    """Every digest, every body and every view of what the processes left is right."""
    store, _ = ended
    assert all(verify_scope(store, scope).is_sound for scope in _SCOPES)


def test_one_process_alone_would_have_left_the_same(ended, tmp_path):
    """The commits made anew in memory, in their order, are the same to the byte."""
    store, said = ended
    memory = MemoryStore(schema=KIT)
    for one in sorted(said, key=lambda one: one.seq):
        again = memory.append(one.commit)
        assert (one.seq, one.digest) == (again.seq, again.digest)
    for source, name in ((store, "postgres"), (memory, "memory")):
        with closing(directory.open(tmp_path / name, KIT)) as copied:
            for scope in _SCOPES:
                copy_scope(source, copied, scope)
    for scope in _SCOPES:
        assert history_of(memory, scope) == history_of(store, scope)
    files = directory.projection(tmp_path / "postgres")
    assert len(_SCOPES) == len(files)
    assert files == directory.projection(tmp_path / "memory")
