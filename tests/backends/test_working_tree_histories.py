"""Whatever happens to a store and its tree, edits stay and the rest follows."""

from __future__ import annotations

import contextlib
import errno
import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
)
from tests.backends.ledger import holding
from tests.backends.tree_stores import (
    SCOPE,
    Remark,
    erase,
    opened,
    page,
    put,
    scope_tree,
    shown,
    strays,
    wanted,
)

from uaix_backends.directory import files
from uaix_backends.directory.scope_tree import ScopeTree
from uaix_core.values.errors import StorageError

FOLDERS = st.sampled_from(("f", "g"))
RECORDS = st.sampled_from(("r", "s", "t"))
#: Each record has paths of its own, so that none is a file and a folder at once.
PATHS = st.sampled_from(("a", "a/b", "in/c", "in/deep/d"))


class CrashError(BaseException):
    """The process is gone."""


class Failing(files.Calls):
    """Calls that fail from one on, while armed."""

    def __init__(self, error):
        self.left = None
        self._error = error
        for name, call in vars(files.Calls).items():
            if isinstance(call, staticmethod):
                setattr(self, name, self._counted(call.__func__))

    def _counted(self, call):
        def counted(*args, **options):
            if self.left is not None:
                if not self.left:
                    raise self._error()
                self.left -= 1
            return call(*args, **options)

        return counted


@contextlib.contextmanager
def failing(method, error, after):
    """Let the disk fail, after so many calls, while a tree is at this work."""
    calls = Failing(error)
    work = getattr(ScopeTree, method)

    def struck(self, *args):
        calls.left = after
        try:
            return work(self, *args)
        finally:
            calls.left = None

    setattr(ScopeTree, method, struck)
    files.calls = calls
    try:
        yield
    finally:
        setattr(ScopeTree, method, work)
        files.calls = files.Calls()


def no_room():
    """What a full disk says."""
    return OSError(errno.ENOSPC, "made up")


class TreeMachine(RuleBasedStateMachine):
    """A store, a second one on the same folder, a person at work in the tree."""

    def __init__(self):
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="uaix-trees-"))
        self.path = self.root / "store"
        self.stack = contextlib.ExitStack()
        self._open()
        self.number = 0
        #: What a person has put where, by folder and path.
        self.edits = {}
        #: Texts that were erased.
        self.gone = []
        self.pages = {}

    def teardown(self):
        self.stack.close()
        shutil.rmtree(self.root)

    def _open(self):
        self.store = self.stack.enter_context(contextlib.closing(opened(self.path)))

    def _page(self, folder, record, path):
        self.number += 1
        name = f"p{self.number}"
        # So long that no two of them share what is looked for in base64.
        text = 4 * f"[body {self.number:04}]"
        self.pages[name] = text
        inner = f"{record}/{path}" if path else ""
        return page(name, inner, text.encode(), folder=folder, record=record)

    @rule(folder=FOLDERS, record=RECORDS, path=PATHS | st.just(""))
    def write(self, folder, record, path):
        """A new state of a record, or its end."""
        put(self.store, self._page(folder, record, path))

    @rule(folder=FOLDERS, paths=st.lists(PATHS, min_size=3, max_size=3))
    def write_all(self, folder, paths):
        """New states of all records of a folder in one commit."""
        pages = [self._page(folder, r, p) for r, p in zip("rst", paths, strict=True)]
        put(self.store, *pages)

    @rule(
        folder=FOLDERS,
        record=RECORDS,
        path=PATHS,
        after=st.integers(0, 40),
        is_crash=st.booleans(),
    )
    def write_while_the_tree_fails(self, folder, record, path, after, is_crash):
        """A commit that is durable while its file isn't written, or half."""
        row = self._page(folder, record, path)
        error = CrashError if is_crash else no_room
        with failing("follow", error, after), contextlib.suppress(CrashError):
            put(self.store, row)
        if is_crash:
            self._open()

    @rule(folder=FOLDERS, record=RECORDS, path=PATHS)
    def write_without_the_tree(self, folder, record, path):
        """A commit of a store that shows no tree."""
        with contextlib.closing(opened(self.path, tree=False)) as off:
            put(off, self._page(folder, record, path))

    @rule()
    def remark(self):
        """A commit that shows nothing."""
        self.number += 1
        put(self.store, Remark(self.number))

    def _standing(self):
        return sorted(name for name, text in self.pages.items() if text)

    @precondition(lambda self: self._standing())
    @rule(data=st.data(), is_off=st.booleans())
    def erase(self, data, is_off):
        """The bytes of some state go."""
        names = data.draw(
            st.lists(st.sampled_from(self._standing()), min_size=1, unique=True)
        )
        with contextlib.closing(opened(self.path, tree=not is_off)) as other:
            erase(other, *names)
        self._forget(names)

    @precondition(lambda self: self._standing())
    @rule(data=st.data(), after=st.integers(0, 40), is_crash=st.booleans())
    def erase_while_the_tree_fails(self, data, after, is_crash):
        """An erasure that may be refused, and is repeated then."""
        name = data.draw(st.sampled_from(self._standing()))
        error = CrashError if is_crash else no_room
        with (
            failing("forget", error, after),
            contextlib.suppress(CrashError, StorageError),
        ):
            erase(self.store, name)
        self._open()
        erase(self.store, name)
        self._forget([name])

    def _forget(self, names):
        for name in names:
            self.gone.append(self.pages[name])
            self.pages[name] = None

    @rule(is_rebuilt=st.booleans())
    def reopen(self, is_rebuilt):
        """Close, open, and perhaps make all views anew."""
        self.store.close()
        self._open()
        if is_rebuilt:
            self.store.rebuild(SCOPE)

    @rule(what=st.sampled_from(("tree", "scope")))
    def remove_the_tree(self, what):
        """A person removes the whole tree, edits included."""
        top = scope_tree(self.path)
        if top is not None:
            shutil.rmtree(top if what == "scope" else top.parent)
            self.edits.clear()

    @precondition(lambda self: wanted(self.store))
    @rule(data=st.data())
    def edit(self, data):
        """A person edits a file that stands there."""
        self.store.tree_folder(SCOPE, "f")
        name = data.draw(st.sampled_from(sorted(wanted(self.store))))
        self._edit(name)

    @rule(folder=FOLDERS, record=RECORDS, path=PATHS)
    def plant(self, folder, record, path):
        """A person makes a file where one may come to be wanted."""
        self._edit(f"{folder}/{record}/{path}")

    def _edit(self, name):
        top = scope_tree(self.path)
        if top is None:
            return
        self.number += 1
        file = top / name
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(f"[edit {self.number}]".encode())
            self.edits[name] = file.read_bytes()

    @invariant()
    def edits_stay_and_the_rest_follows(self):
        """Once the tree is up to date it is what the store says, but for edits."""
        self.store.tree_folder(SCOPE, "f")
        found = shown(self.path)
        for name, data in self.edits.items():
            assert data == found.get(name), name
        expected = {
            name: data
            for name, data in wanted(self.store).items()
            if not self._is_in_the_way(name)
        }
        assert expected == {n: d for n, d in found.items() if n not in self.edits}
        assert [] == strays(self.path)

    def _is_in_the_way(self, name):
        """Whether an edit stands at a path, below it, or where its folder belongs."""
        return any(
            edit == name or edit.startswith(f"{name}/") or name.startswith(f"{edit}/")
            for edit in self.edits
        )

    @invariant()
    def what_was_erased_is_gone(self):
        """No file of the store holds a byte of an erased state."""
        for text in self.gone[-3:]:
            assert [] == holding(self.path, text)


TestTrees = TreeMachine.TestCase
# Each step opens and reads files.
TestTrees.settings = settings(max_examples=min(settings().max_examples // 3, 500))
