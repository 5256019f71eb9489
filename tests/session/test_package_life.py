"""A machine of two editors, an importer and a reviewer against a plain model.

Whatever they do in whatever order: heads move only by compare-and-set, history never
changes, a retry adds nothing, and nobody's work is lost.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.packages.package_maker import MANIFEST
from tests.session.package_kit import ENTRY, ID, NOTE, OTHER, package
from tests.session.test_lifecycle import based_on, replaced

from uaix_backends.memory import MemoryStore
from uaix_core import (
    CallerError,
    ConflictError,
    EditedFiles,
    NotFoundError,
    PackageSource,
    RevisionConflictError,
    Session,
    repack,
)
from uaix_core.packages.revision_signatures import read_signatures

if TYPE_CHECKING:
    from collections.abc import Callable

    from uaix_core.packages.revisions import Revised

EDITORS = st.sampled_from(["ann", "bob"])
PATHS = st.sampled_from([NOTE, OTHER])
CONTENTS = st.sampled_from([b"a\n", b"b\n", b"c\n"])
VERDICTS = st.sampled_from(["reviewed", "approved", "rejected"])
#: The backends that wait for a disk get a part of the examples.
SHARE = 8
_numbers = itertools.count()


class Life(RuleBasedStateMachine):
    """One package, those who work on it, and what should stand."""

    session_of: Callable[[str], Session]

    def __init__(self) -> None:
        super().__init__()
        self.session = type(self).session_of(f"life/project/p{next(_numbers)}")
        #: Path -> (revision, content or None for a tombstone), from the first on.
        self.chains: dict[str, list[tuple[str, bytes | None]]] = {}
        #: What each editor has seen last: path -> revision.
        self.seen: dict[str, dict[str, str]] = {"ann": {}, "bob": {}}
        #: What each editor has exported last.
        self.folders: dict[str, dict[str, bytes]] = {}
        self.conflicts: dict[str, tuple[str, bytes | None]] = {}
        #: (path, revision that was expected, content) -> the conflict that keeps it.
        self.kept: dict[tuple[str, str | None, bytes | None], str] = {}
        #: Those of them that a reviewer took.
        self.taken: set[tuple[str, str | None, bytes | None]] = set()
        self.reviewed: dict[str, str] = {}
        self.state = "quarantined"
        self.last: Callable[[], Revised] | None = None
        self.history: list[str] = []

    # The beginning

    @initialize()
    def install(self) -> None:
        """The package comes in."""
        self.session.packages.install(package().archive())
        revision = self.session.packages.record(ID, NOTE).revision
        self.chains[NOTE] = [(revision.revision_id, revision.content)]
        for editor in self.seen:
            self.look(editor)

    # Editors

    def position(self) -> int:
        """How many commits there are."""
        with self.session.store.snapshot(self.session.scope) as snapshot:
            return snapshot.position

    def head(self, path: str) -> str | None:
        """The revision that stands, a tombstone too."""
        return self.chains[path][-1][0] if path in self.chains else None

    def is_gone(self, path: str) -> bool:
        """Whether the record was retired."""
        return path in self.chains and self.chains[path][-1][1] is None

    @rule(editor=EDITORS)
    def look(self, editor: str) -> None:
        """An editor reads what stands, and exports it."""
        self.seen[editor] = {path: chain[-1][0] for path, chain in self.chains.items()}
        self.folders[editor] = dict(self.session.packages.read(ID))

    @rule(editor=EDITORS, path=PATHS, content=CONTENTS)
    def revise(self, editor: str, path: str, content: bytes) -> None:
        """An editor writes over what they have seen."""
        expected = self.seen[editor].get(path)
        entry = ENTRY if expected is None else None

        def change() -> Revised:
            return self.session.packages.revise(
                ID, path, content, expected_revision=expected, entry=entry
            )

        self.attempt(change, path, expected, content)

    @rule(editor=EDITORS, path=PATHS)
    def retire(self, editor: str, path: str) -> None:
        """An editor retires what they have seen."""
        expected = self.seen[editor].get(path)
        if expected is None:
            return

        def change() -> Revised:
            return self.session.packages.tombstone(
                ID, path, expected_revision=expected, reason="old"
            )

        self.attempt(change, path, expected, None)

    def attempt(
        self,
        change: Callable[[], Revised],
        path: str,
        expected: str | None,
        content: bytes | None,
    ) -> None:
        """A change goes through if its writer saw the head, else nothing changes."""
        before = self.position()
        chain = self.chains.get(path, [])
        names = [name for name, _content in chain]
        place = names.index(expected) + 1 if expected in names else 0
        is_done = place < len(chain) and chain[place][1] == content
        stands = expected == self.head(path) and chain and chain[-1][1] == content
        if is_done or stands or (path, expected, content) in self.taken:
            answer = change()
            assert not answer.is_first
            assert before == self.position()
        elif expected != self.head(path):
            with pytest.raises(RevisionConflictError) as caught:
                change()
            assert self.head(path) == caught.value.current.revision_id
            self.was_kept(caught.value.conflict_ids, path, expected, content, before)
        elif self.is_gone(path):
            with pytest.raises(CallerError) as gone:
                change()
            assert "record.tombstoned" == gone.value.code
        else:
            self.went_through(change(), path, content)
            self.last = change

    def was_kept(
        self,
        names: tuple[str, ...],
        path: str,
        expected: str | None,
        content: bytes | None,
        before: int,
    ) -> None:
        """What lost is kept once, and waits unless somebody has decided about it."""
        (name,) = names
        known = self.kept.get((path, expected, content))
        assert known in (None, name)
        assert before + (known is None) == self.position()
        self.kept[path, expected, content] = name
        if known is None:
            self.conflicts[name] = (path, content)

    def went_through(self, answer: Revised, path: str, content: bytes | None) -> None:
        """A head has moved by one."""
        assert answer.is_first
        assert len(self.chains.get(path, [])) + 1 == answer.number
        self.chains.setdefault(path, []).append((answer.revision_id, content))
        self.reviewed.pop(path, None)
        self.state = "quarantined"

    @precondition(lambda self: self.last is not None)
    @rule()
    def retry(self) -> None:
        """The last change again adds nothing."""
        before = self.position()

        answer = self.last()  # type: ignore[misc]

        assert not answer.is_first
        assert before == self.position()

    @rule(editor=EDITORS, content=CONTENTS)
    def adopt(self, editor: str, content: bytes) -> None:
        """An editor brings in the note of the folder that they have exported."""
        files = {**self.folders[editor], NOTE: content}
        base = self.folders[editor].get(NOTE)
        seen = self.seen[editor].get(NOTE)
        if base is None or seen is None:
            return
        names = [name for name, _content in self.chains[NOTE]]
        place = names.index(seen) + 1
        is_done = place < len(names) and self.chains[NOTE][place][1] == content
        stands = self.chains[NOTE][-1][1] == content
        is_taken = (NOTE, seen, content) in self.taken
        if content == base or stands or is_done or is_taken:
            assert () == self.session.packages.adopt(ID, EditedFiles(files)).revisions
        elif seen != self.head(NOTE):
            before = self.position()
            with pytest.raises(RevisionConflictError) as caught:
                self.session.packages.adopt(ID, EditedFiles(files))
            self.was_kept(caught.value.conflict_ids, NOTE, seen, content, before)
        else:
            (answer,) = self.session.packages.adopt(ID, EditedFiles(files)).revisions
            self.went_through(answer, NOTE, content)

    # The importer

    @rule(editor=EDITORS, content=CONTENTS)
    def bring(self, editor: str, content: bytes) -> None:
        """A whole package that was edited elsewhere continues its base, or doesn't."""
        folder = self.folders[editor]
        if NOTE not in folder:
            return
        files = repack({**folder, NOTE: content}).files
        base = self.session.packages.show(ID).package
        seen = EditedFiles(folder)
        is_current = self.session.packages.edits(ID, seen).status.is_current
        before = self.chains[NOTE][-1][1]
        named = hashed(folder)
        source = PackageSource(files=files)
        try:
            answer = self.session.packages.update(source, based_on=named)
        except ConflictError:
            assert not is_current
            return
        if answer.is_first and answer.checkpoint_id != base.checkpoint_id:
            assert is_current
            self.state = "quarantined"
            if before != content:
                revision = self.session.packages.record(ID, NOTE).revision
                self.chains[NOTE].append((revision.revision_id, content))
                self.reviewed.pop(NOTE, None)

    # The reviewer

    @rule(path=PATHS, verdict=VERDICTS)
    def review(self, path: str, verdict: str) -> None:
        """A reviewer says what the record is that stands."""
        if path not in self.chains or self.is_gone(path):
            with pytest.raises(NotFoundError):
                self.session.review.records(ID, verdict, {path: "x"})
            return
        self.session.review.records(ID, verdict, {path: self.head(path) or ""})
        self.reviewed[path] = verdict
        if verdict == "rejected" and self.state == "active":
            self.state = "review_required"

    @rule()
    def approve_all(self) -> None:
        """A reviewer finds everything good that stands."""
        for path in self.chains:
            if not self.is_gone(path):
                self.review(path, "approved")

    @rule()
    def activate(self) -> None:
        """A reviewer lets the package be used, when everything is good."""
        standing = self.session.packages.show(ID)
        others = {
            f.path: f.revision_id
            for f in standing.files
            if f.path not in self.chains and f.review_state == "review_required"
        }
        if others:
            self.session.review.records(ID, "reviewed", others)
        ours = [path for path in self.chains if not self.is_gone(path)]
        is_good = all(self.reviewed.get(p) in ("reviewed", "approved") for p in ours)
        checkpoint = standing.package.checkpoint_id
        if is_good and not self.conflicts:
            self.session.review.package(ID, "active", checkpoint_id=checkpoint)
            self.state = "active"
        else:
            with pytest.raises(CallerError):
                self.session.review.package(ID, "active", checkpoint_id=checkpoint)

    @precondition(lambda self: self.conflicts)
    @rule(data=st.data(), takes=st.booleans())
    def resolve(self, data: st.DataObject, *, takes: bool) -> None:
        """A reviewer decides a conflict."""
        name = data.draw(st.sampled_from(sorted(self.conflicts)))
        path, content = self.conflicts[name]
        opened = next(
            row
            for row in self.session.packages.conflicts(ID)
            if row.conflict_id == name
        )
        chain = self.chains[path]
        was_gone = self.is_gone(path)
        if not takes or was_gone:
            self.session.review.keep(opened)
        elif chain[-1][1] == content:
            before = self.head(path)
            answer = self.session.review.take(opened, expected_revision=before or "")
            assert (before, False) == (answer.revision_id, answer.is_first)
            self.state = "quarantined"
        else:
            answer = self.session.review.take(
                opened, expected_revision=self.head(path) or ""
            )
            self.went_through(answer, path, content)
        if takes and not was_gone:
            self.taken |= {key for key, kept in self.kept.items() if kept == name}
        del self.conflicts[name]

    @rule(path=PATHS)
    def revive(self, path: str) -> None:
        """A reviewer brings back what was retired."""
        if not self.is_gone(path):
            return
        answer = self.session.review.restore(
            ID, path, expected_revision=self.head(path) or ""
        )
        self.went_through(answer, path, self.chains[path][-2][1])

    # What always holds

    @invariant()
    def what_stands_is_what_should(self) -> None:
        """Files, chains, conflicts and states are those of the model."""
        packages = self.session.packages
        files = packages.read(ID)
        for path, chain in self.chains.items():
            assert chain[-1][1] == files.get(path)
        standing = packages.show(ID)
        assert self.state == standing.package.state
        for file in standing.files:
            if file.path in self.chains:
                expected = self.reviewed.get(file.path, "review_required")
                assert expected == file.review_state
        rows = {r.conflict_id for r in packages.conflicts(ID)}
        assert set(self.conflicts) == rows

    @invariant()
    def history_only_grows(self) -> None:
        """What was recorded stays, byte for byte, and every chain is whole."""
        with self.session.store.snapshot(self.session.scope) as snapshot:
            digests = [recorded.digest for recorded in snapshot.commits()]
            report = read_signatures(snapshot, ID, {})
        assert self.history == digests[: len(self.history)]
        self.history = digests
        assert report.is_sound
        ours = {name for chain in self.chains.values() for name, _content in chain}
        assert ours <= {check.revision_id for check in report.checks}


def hashed(files: dict[str, bytes]) -> str:
    """The checkpoint that these files are of."""
    maker = replaced(package(), NOTE, b"x\n")
    maker.raw = files[MANIFEST]
    return based_on(maker)


@pytest.mark.every_backend
@pytest.mark.timeout(300)
def test_a_package_lives_as_the_model_does(session_of: Any, store: Any) -> None:
    """Two editors, an importer and a reviewer keep the laws of a package's life."""
    share = 1 if isinstance(store, MemoryStore) else SHARE
    machine = type("Life", (Life,), {"session_of": staticmethod(session_of)})

    run_state_machine_as_test(
        machine,
        settings=hypothesis.settings(
            max_examples=hypothesis.settings().max_examples // share,
            stateful_step_count=14,
            deadline=None,
        ),
    )
