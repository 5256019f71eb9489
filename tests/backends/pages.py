"""A small schema of pages and jobs, and what tests of SQLite files do with it."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest

from uaix_core.schema.commits import Commit
from uaix_core.schema.reduction import Changes
from uaix_core.schema.relations import Keep, Ref, Relation
from uaix_core.schema.rows import (
    BodyRow,
    Bool,
    Bytes,
    Id,
    Instant,
    Int,
    Row,
    Text,
    row,
)
from uaix_core.schema.schema import Room, Schema
from uaix_core.values.errors import (
    StorageError,
)
from uaix_core.values.ids import ScopeId

SCOPE = ScopeId("acme", "project", "apollo")
OTHER = ScopeId("acme", "project", "gemini")
SALT = bytes(16)
ROOT = Path(__file__).resolve().parents[2]


@row
class Page(BodyRow):
    number: Int
    flag: Bool
    title: Text | None
    data: Bytes | None


@row
class Title(Row):
    title: Text
    number: Int


@row
class Job(Row):
    job: Id
    at: Instant


@row
class Flag(Row):
    number: Int
    flag: Bool


PAGE = Relation(
    "page",
    Page,
    ("number",),
    keep=Keep.HISTORY,
    paths={"by_flag": ("flag", "number")},
    body=("title", "data"),
)
TITLE = Relation("title", Title, ("title", "number"), keep=Keep.VIEW)
JOB = Relation("job", Job, ("job",), keep=Keep.WORK, due="at")
FLAG = Relation("flag", Flag, ("number",), keep=Keep.VIEW, paths={"by_flag": ("flag",)})


def reduce_pages(recorded, erased):
    """Titles of the surviving pages."""
    pages = [r for r in recorded.commit.adds if isinstance(r, Page)]
    if any(page.number < 0 for page in pages):
        raise ArithmeticError
    return Changes(
        puts=[Title(p.title, p.number) for p in pages if p.title is not None],
        drops=[TITLE.ref(Title(p.title, p.number)) for p in erased.values()],
    )
    yield set()


def reduce_flags(recorded, _erased):
    """The flags of all pages."""
    pages = [r for r in recorded.commit.adds if isinstance(r, Page)]
    return Changes(puts=[Flag(p.number, p.flag) for p in pages])
    yield set()


PAGES = Room("pages", (PAGE, TITLE, JOB), reduce_pages)
SMALL = Schema(PAGES)
LARGER = Schema(PAGES, Room("flags", (FLAG,), reduce_flags))


def page(number, title="a", data=b"", *, flag=False):
    return PAGE.with_body(SALT, number=number, flag=flag, title=title, data=data)


def add(*pages, scope=SCOPE, **parts):
    return Commit(scope, 1, adds=pages, **parts)


def erase(*numbers):
    return Commit(SCOPE, 1, erases=[Ref("page", (n,)) for n in numbers])


def titles(store, scope=SCOPE):
    with store.snapshot(scope) as snapshot:
        return [r.number for r in snapshot.scan("title", "key", limit=1000)]


def code_of(call, kind=StorageError):
    with pytest.raises(kind) as caught:
        call()
    return caught.value.code


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def spoil(path, statement):
    """Run a statement on a closed store, as another program would.

    NO_TEXT in it is a text that is no UTF-8.
    """
    statement = statement.replace("NO_TEXT", "cast(x'61ff' as text)")
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(statement).fetchall()


@contextmanager
def umask(mask):
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def in_child(call):
    """The exit status of a forked child that ran this; 0 when it returned true."""
    child = os.fork()
    if child == 0:
        status = 2
        try:
            status = 0 if call() else 1
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run(script, path):
    """Run a script in a process of its own, with all names of this module."""
    start = (
        "import os, signal, sys\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from tests.backends.pages import *\n"
        "from uaix_backends.sqlite import SqliteStore\n"
    )
    text = f"{start}path = Path(sys.argv[2])\n{textwrap.dedent(script)}"
    return subprocess.run(
        [sys.executable, "-c", text, str(ROOT), str(path)],
        capture_output=True,
        text=True,
        check=False,
    )


def searched(folder, *needles):
    """Those needles that some file of the folder holds."""
    return [n for n in needles if any(n in data for data in contents(folder).values())]


def searched_file(path, needle):
    return [needle] if needle in path.read_bytes() else []
