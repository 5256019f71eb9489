"""Laws of files-first work: what a person edited comes in, and nothing else does."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.packages.package_maker import MANIFEST, Maker
from tests.session.package_kit import (
    ENTRY,
    ID,
    NOTE,
    OTHER,
    TOTEM,
    head,
    package,
    position,
)
from tests.session.test_lifecycle import erase, interrupted

from uaix_core import (
    Authorisation,
    CallerError,
    EditedFiles,
    NotFoundError,
    PackageRefusedError,
    RevisionConflictError,
    Session,
)
from uaix_core.packages.editors import is_dropping, is_editors_form, without_editor

FIRST = b"A first note.\n"


@pytest.fixture
def installed(session: Session) -> Session:
    """A session whose scope has the package."""
    session.packages.install(package().archive())
    return session


def folder(session: Session) -> dict[str, bytes]:
    """The package as a folder that somebody is going to edit."""
    return dict(session.packages.export(ID, form="folder").files)


def states(session: Session, files: dict[str, bytes], **more: object) -> dict[str, str]:
    """What became of each file that isn't as it was."""
    status = session.packages.edits(ID, EditedFiles(files, **more)).status
    return {file.path: file.state for file in status.files if file.state != "untouched"}


def test_an_edited_file_is_a_revision_and_no_other(installed: Session) -> None:
    """Untouched files make no revision; the edited one continues its record."""
    files = folder(installed)
    files[NOTE] += b"More.\n"

    answer = installed.packages.adopt(ID, EditedFiles(files))

    assert [(NOTE, 2)] == [(r.path, r.number) for r in answer.revisions]
    assert files[NOTE] == installed.packages.export(ID).files[NOTE]
    assert {NOTE: "edited"} == {f.path: f.state for f in answer.status.changed}
    receipt = installed.packages.receipt(answer.revisions[0].receipt)
    assert answer.status.checkpoint_id == json.loads(receipt.details or "")["adopts"]
    assert json.dumps(answer.as_dict())


def test_nothing_edited_is_nothing_written(installed: Session) -> None:
    """A folder as it was exported adds no commit, nor does a second adoption."""
    files = folder(installed)
    before = position(installed)
    assert () == installed.packages.adopt(ID, EditedFiles(files)).revisions
    assert before == position(installed)
    files[NOTE] += b"More.\n"
    installed.packages.adopt(ID, EditedFiles(files))
    before = position(installed)

    again = installed.packages.adopt(ID, EditedFiles(files))

    assert () == again.revisions
    assert {NOTE: "present"} == {f.path: f.state for f in again.status.changed}
    assert not again.status.is_current
    assert before == position(installed)


@pytest.mark.every_backend
def test_several_edits_are_one_checkpoint(installed: Session) -> None:
    """Edited, new and removed files come in together or not at all."""
    maker = Maker()
    installed.packages.revise(ID, OTHER, b"1\n", expected_revision=None, entry=ENTRY)
    files = folder(installed)
    files[NOTE] = b"Two.\n"
    files[".uai/third.uai"] = b"New.\n"
    wire = json.loads(files[MANIFEST])
    wire["files"].append({**maker.manifest["files"][0], "path": ".uai/third.uai"})
    files[MANIFEST] = json.dumps(wire).encode()
    del files[OTHER]
    base = installed.packages.show(ID).package.checkpoint_id
    edited = EditedFiles(files, based_on=base)
    before = position(installed)

    with pytest.raises(CallerError) as caught:
        installed.packages.adopt(ID, edited)
    assert ("adopt.removed", OTHER) == (caught.value.code, caught.value.path)
    assert before == position(installed)
    answer = installed.packages.adopt(ID, edited, removals=True)

    assert [
        (NOTE, "replace"),
        (OTHER, "tombstone"),
        (".uai/third.uai", "create"),
    ] == [(r.path, r.change) for r in answer.revisions]
    assert 1 == len({r.checkpoint_id for r in answer.revisions})
    assert before + 1 == position(installed)


def test_a_stale_base_is_a_conflict_of_that_file(installed: Session) -> None:
    """What moved on meanwhile is neither overwritten nor lost; the rest may come in."""
    files = folder(installed)
    won = installed.packages.revise(
        ID, NOTE, b"Won.\n", expected_revision=head(installed)
    )
    path = ".uai/world-context.uai"
    files[NOTE] = b"Lost.\n"
    files[path] += b"More.\n"
    edited = EditedFiles(files)

    assert {NOTE: "conflict", path: "edited"} == states(installed, files)
    with pytest.raises(RevisionConflictError) as caught:
        installed.packages.adopt(ID, edited)
    (conflict_id,) = caught.value.conflict_ids
    assert b"Lost.\n" == installed.packages.conflict(conflict_id).content
    assert won.revision_id == head(installed)
    answer = installed.packages.adopt(ID, edited, only=[path])

    assert [path] == [r.path for r in answer.revisions]
    assert b"Won.\n" == installed.packages.export(ID).files[NOTE]


def test_an_unrelated_change_is_no_conflict(installed: Session) -> None:
    """A file that nobody else touched comes in however old its folder is."""
    files = folder(installed)
    for number in range(3):
        installed.packages.revise(
            ID,
            OTHER,
            f"{number}\n".encode(),
            expected_revision=None if not number else head(installed, OTHER),
            entry=ENTRY if not number else None,
        )
    files[NOTE] = b"Mine.\n"

    answer = installed.packages.adopt(ID, EditedFiles(files))

    assert [NOTE] == [r.path for r in answer.revisions]
    now = installed.packages.export(ID).files
    assert (b"Mine.\n", b"2\n") == (now[NOTE], now[OTHER])


def test_what_comes_between_is_a_conflict(installed: Session) -> None:
    """A head that moves between reading a folder and writing it wins."""
    files = folder(installed)
    files[NOTE] = b"Mine.\n"
    seen = head(installed)
    late = interrupted(
        installed,
        lambda: installed.packages.revise(ID, NOTE, b"W\n", expected_revision=seen),
    )

    with pytest.raises(RevisionConflictError):
        late.packages.adopt(ID, EditedFiles(files))

    assert b"W\n" == installed.packages.export(ID).files[NOTE]


@pytest.mark.every_backend
def test_a_file_may_have_a_base_of_its_own(installed: Session) -> None:
    """Where a file is known to be of an older revision its edit is a conflict."""
    old = head(installed)
    installed.packages.revise(ID, NOTE, b"Won.\n", expected_revision=old)
    files = folder(installed)
    files[NOTE] = FIRST + b"Edited before that.\n"

    assert {NOTE: "edited"} == states(installed, files)
    assert {NOTE: "conflict"} == states(installed, files, bases={NOTE: old})
    files[NOTE] = FIRST
    assert {} == states(installed, files, bases={NOTE: old})


@pytest.mark.parametrize(
    ("saved", "notes"),
    [
        (b"A first note.\r\n", {"line-ends"}),
        (b"A first note.", {"last-newline"}),
        (b"A first note.\n\n", {"last-newline"}),
        (b"\xef\xbb\xbfA first note.\n", {"byte-order-mark"}),
        (
            b"\xef\xbb\xbfA first note.\r\n\r\n",
            {"byte-order-mark", "line-ends", "last-newline"},
        ),
    ],
)
def test_what_an_editor_does_is_no_edit(
    installed: Session, saved: bytes, notes: set[str]
) -> None:
    """Line ends, the mark and the last newline are taken back, and told."""
    files = {**folder(installed), NOTE: saved}
    before = position(installed)

    answer = installed.packages.adopt(ID, EditedFiles(files))

    assert () == answer.revisions
    assert before == position(installed)
    file = next(f for f in answer.status.files if f.path == NOTE)
    assert ("untouched", notes) == (file.state, set(file.notes))


def test_an_edit_comes_in_without_what_its_editor_did(installed: Session) -> None:
    """Of an edited file only the edit is stored."""
    files = {**folder(installed), NOTE: b"\xef\xbb\xbfA first note.\r\nA second."}

    installed.packages.adopt(ID, EditedFiles(files))

    assert b"A first note.\nA second.\n" == installed.packages.export(ID).files[NOTE]


@given(st.lists(st.sampled_from(["a", "b\u00e9", ""]), max_size=4), st.booleans())
def test_taking_back_is_idempotent_and_keeps_words(
    lines: list[str], ends: bool
) -> None:
    """Whatever an editor did to a text, taking it back gives the text."""
    text = "\n".join(lines) + ("\n" if ends else "")
    before = text.encode()
    for end in ("\n", "\r\n"):
        for mark in (b"", b"\xef\xbb\xbf"):
            saved = mark + text.replace("\n", end).encode()
            back, _notes = without_editor(saved, before)
            assert before == back or "\n" not in text
            assert (back, ()) == without_editor(back, before)
    new, _notes = without_editor(before.replace(b"\n", b"\r\n"), None)
    assert (new, ()) == without_editor(new, None)
    assert text.split() == new.decode().split()


def test_a_text_with_mixed_ends_stays_as_it_is() -> None:
    """Where a text mixes line ends nobody can say which an editor would have kept."""
    mixed = b"a\r\nb\n"

    assert (mixed, ()) == without_editor(mixed, mixed)
    assert (b"a\nb\n", ()) == without_editor(b"a\nb\n", mixed)


def test_a_text_with_pairs_keeps_them() -> None:
    """A text that had CRLF gets it back."""
    before = b"a\r\nb\r\n"

    assert (before, ("line-ends",)) == without_editor(b"a\nb\n", before)
    assert b"a\r\nb\r\nc\r\n" == without_editor(b"a\nb\nc", before)[0]


def test_lone_carriage_returns_are_line_ends_where_there_were_none() -> None:
    """They are taken back in a text that had none, and stay in one that had some."""
    assert (b"a\nb\n", ("line-ends",)) == without_editor(b"a\rb\r", b"a\nb\n")
    assert (b"a\nb\n", ("line-ends",)) == without_editor(b"a\rb\r", None)
    assert (b"a\r\nb\r\n", ("line-ends",)) == without_editor(b"a\rb\r", b"a\r\nb\r\n")
    assert b"a\rb\nc\n" == without_editor(b"a\rb\r\nc\r\n", b"a\rb\n")[0]


def test_only_a_text_has_a_form_of_its_editor() -> None:
    """Of other media every byte counts."""
    assert is_editors_form("text/uaix", b"a\r\n", b"a\n")
    assert not is_editors_form("text/uaix", b"a\r\nb\r\n", b"a\n")
    assert not is_editors_form("image/png", b"a\r\n", b"a\n")


@pytest.mark.parametrize(
    "path",
    [
        ".uai/persona.uai~",
        ".uai/.persona.uai.swp",
        ".uai/.#persona.uai",
        ".uai/#persona.uai#",
        ".uai/._persona.uai",
        ".uai/persona.uai.orig",
        ".DS_Store",
        ".uai/Thumbs.db",
        ".git/config",
        ".uai/.idea/x.xml",
    ],
)
def test_what_an_editor_leaves_is_left(installed: Session, path: str) -> None:
    """Backups, swap files and desktop files are named and don't come in."""
    files = {**folder(installed), path: b"whatever"}

    answer = installed.packages.adopt(ID, EditedFiles(files))

    assert is_dropping(path)
    assert () == answer.revisions
    assert {path: "ignored"} == states(installed, files)


def test_a_new_file_says_what_it_is(installed: Session) -> None:
    """A file that nobody describes stops the adoption; described it comes in."""
    files = {**folder(installed), OTHER: b"New."}

    with pytest.raises(CallerError) as caught:
        installed.packages.adopt(ID, EditedFiles(files))
    assert ("adopt.unlisted", OTHER) == (caught.value.code, caught.value.path)
    installed.packages.adopt(ID, EditedFiles(files), only=[NOTE])
    answer = installed.packages.adopt(ID, EditedFiles(files), entries={OTHER: ENTRY})

    assert ["create"] == [r.change for r in answer.revisions]
    assert b"New.\n" == installed.packages.export(ID).files[OTHER]
    assert {OTHER: "present"} == {
        f.path: f.state
        for f in installed.packages.adopt(
            ID, EditedFiles(files), entries={OTHER: ENTRY}
        ).status.changed
    }


def test_a_new_file_in_the_place_of_another_is_a_conflict(installed: Session) -> None:
    """Two that add different files at one path: the second one loses, and is kept."""
    files = {**folder(installed), OTHER: b"Mine.\n"}
    installed.packages.revise(
        ID, OTHER, b"Theirs.\n", expected_revision=None, entry=ENTRY
    )

    with pytest.raises(RevisionConflictError) as caught:
        installed.packages.adopt(ID, EditedFiles(files), entries={OTHER: ENTRY})

    assert b"Theirs.\n" == installed.packages.export(ID).files[OTHER]
    assert 1 == len(caught.value.conflict_ids)


def test_a_file_that_was_retired_is_a_conflict(installed: Session) -> None:
    """An edit of a file that is tombstoned by now loses; without the file all agree."""
    files = folder(installed)
    installed.packages.tombstone(
        ID, NOTE, expected_revision=head(installed), reason="old"
    )

    assert {NOTE: "conflict"} == states(installed, {**files, NOTE: b"Mine.\n"})
    gone = {path: data for path, data in files.items() if path != NOTE}
    assert {NOTE: "present"} == states(installed, gone)
    assert () == installed.packages.adopt(ID, EditedFiles(gone)).revisions


def test_the_manifest_follows_its_files(installed: Session) -> None:
    """What a manifest says beyond its files is not taken in by the way."""
    files = folder(installed)
    base = installed.packages.show(ID).package.checkpoint_id
    wire = json.loads(files[MANIFEST])
    repacked = json.loads(files[MANIFEST])
    for entry in repacked["files"]:
        entry |= {"sizeBytes": 1, "sha256": "0" * 64}
    wire["issuer"] = "somebody else"

    with pytest.raises(CallerError) as unknown:
        installed.packages.adopt(
            ID, EditedFiles({**files, MANIFEST: json.dumps(repacked).encode()})
        )
    assert "adopt.base" == unknown.value.code
    same = {**files, MANIFEST: json.dumps(repacked).encode()}
    assert () == installed.packages.adopt(ID, EditedFiles(same, base)).revisions
    with pytest.raises(CallerError) as caught:
        installed.packages.adopt(
            ID, EditedFiles({**files, MANIFEST: json.dumps(wire).encode()}, base)
        )
    assert "adopt.manifest" == caught.value.code


def test_edits_are_judged(installed: Session) -> None:
    """What an edit would make passes lint and gate, or nothing of it comes in."""
    files = folder(installed)
    files[NOTE] = b"token: ghp_" + b"a1B2" * 9 + b"\n"
    files[".uai/world-context.uai"] += b"More.\n"

    with pytest.raises(PackageRefusedError):
        installed.packages.adopt(ID, EditedFiles(files))

    assert FIRST == installed.packages.export(ID).files[NOTE]


def test_protected_files_are_told_and_need_a_word(installed: Session) -> None:
    """A status says what has to be authorised, and an adoption asks for it."""
    files = folder(installed)
    files[TOTEM] += b"More.\n"
    found = installed.packages.edits(ID, EditedFiles(files)).status
    (file,) = found.changed
    assert (TOTEM, "replace") == (file.path, file.authorisation)

    with pytest.raises(PackageRefusedError):
        installed.packages.adopt(ID, EditedFiles(files))
    word = [Authorisation(TOTEM, "replace")]
    assert installed.packages.adopt(ID, EditedFiles(files), authorisations=word)


@pytest.mark.parametrize(
    ("break_it", "code"),
    [
        (lambda f: f.pop(MANIFEST), "manifest.missing"),
        (lambda f: f.update({MANIFEST: b"[]"}), "manifest.type"),
        (
            lambda f: f.update({MANIFEST: f[MANIFEST].replace(ID.encode(), b"no")}),
            "adopt.package",
        ),
    ],
)
def test_a_folder_that_is_none(installed: Session, break_it, code: str) -> None:
    """A folder without a manifest of the package is refused with its code."""
    files = folder(installed)
    break_it(files)

    with pytest.raises(CallerError) as caught:
        installed.packages.adopt(ID, EditedFiles(files))

    assert code == caught.value.code


def test_names_that_are_nowhere(installed: Session) -> None:
    """Unknown packages, checkpoints and paths are told by their codes."""
    files = folder(installed)
    for ask, code in (
        (lambda: installed.packages.adopt("none", EditedFiles(files)), "package"),
        (
            lambda: installed.packages.adopt(ID, EditedFiles(files, "0" * 64)),
            "checkpoint",
        ),
        (lambda: installed.packages.read_at(ID, "7"), "checkpoint"),
        (lambda: installed.packages.checkpoints("none"), "package"),
    ):
        with pytest.raises(NotFoundError) as caught:
            ask()
        assert f"{code}.not-found" == caught.value.code
    with pytest.raises(CallerError) as path:
        installed.packages.adopt(ID, EditedFiles(files), only=["none"])
    assert "adopt.path" == path.value.code


@pytest.mark.every_backend
def test_every_checkpoint_is_read_as_it_was(installed: Session) -> None:
    """Each earlier state comes back byte for byte, by number, id and manifest."""
    seen = [folder(installed)]
    changes = (
        lambda: installed.packages.revise(
            ID, NOTE, b"2\n", expected_revision=head(installed)
        ),
        lambda: installed.packages.revise(
            ID, OTHER, b"1\n", expected_revision=None, entry=ENTRY
        ),
        lambda: installed.packages.tombstone(
            ID, NOTE, expected_revision=head(installed), reason="old"
        ),
    )
    for change in changes:
        change()
        seen.append(folder(installed))

    rows = installed.packages.checkpoints(ID)
    paged = [
        *installed.packages.checkpoints(ID, limit=3),
        *installed.packages.checkpoints(ID, after=3),
    ]
    assert [1, 2, 3, 4] == [row.number for row in rows]
    assert rows == paged
    for row, files in zip(rows, seen, strict=True):
        for name in (
            str(row.number),
            row.checkpoint_id,
            hashlib.sha256(files[MANIFEST]).hexdigest(),
        ):
            assert files == installed.packages.read_at(ID, name)


def test_checkpoints_are_compared(installed: Session) -> None:
    """A diff of two states says what the changes between them were."""
    installed.packages.revise(ID, NOTE, b"2\n", expected_revision=head(installed))
    installed.packages.revise(ID, OTHER, b"1\n", expected_revision=None, entry=ENTRY)

    found = installed.packages.diff(ID, "1", "3")

    assert ((OTHER,), [NOTE]) == (found.added, [c.path for c in found.changed])
    assert installed.packages.diff(ID, "2", "2").is_equal


def test_revisions_are_compared(installed: Session) -> None:
    """A diff of two revisions says how their bytes and their fields differ."""
    path = ".uai/world-context.uai"
    first = installed.packages.record(ID, path).revision
    content = (first.content or b"") + b"\nMood: calm\n"
    second = installed.packages.revise(
        ID, path, content, expected_revision=first.revision_id
    )

    found = installed.packages.diff_revisions(first.revision_id, second.revision_id)

    assert found is not None
    assert ("content", len(content)) == (found.kind, found.size)
    assert ["mood"] == [d.field for d in found.dimensions]
    same = installed.packages.diff_revisions(first.revision_id, first.revision_id)
    assert same is None
    with pytest.raises(NotFoundError):
        installed.packages.diff_revisions(first.revision_id, "none")
    erase(installed, "revision", first.revision_id)
    with pytest.raises(CallerError) as caught:
        installed.packages.diff_revisions(first.revision_id, second.revision_id)
    assert "revision.erased" == caught.value.code


@pytest.mark.every_backend
def test_an_erased_state_does_not_come_back(installed: Session) -> None:
    """A checkpoint of which something was erased is not read in parts."""
    first = head(installed)
    installed.packages.revise(ID, NOTE, b"2\n", expected_revision=first)
    erase(installed, "revision", first)

    with pytest.raises(CallerError) as caught:
        installed.packages.read_at(ID, "1")

    assert "package.erased" == caught.value.code
    assert b"2\n" == installed.packages.read_at(ID, "2")[NOTE]


def written(
    files: dict[str, bytes], session: Session, **more: object
) -> dict[str, bytes]:
    """The folder after it was refreshed."""
    found = session.packages.refresh(ID, EditedFiles(files, **more))
    kept = {path: data for path, data in files.items() if path not in found.removes}
    return {**kept, **found.writes}


def test_after_a_refresh_an_edit_may_go_on(installed: Session) -> None:
    """A folder that was adopted and refreshed is one of the new state."""
    files = folder(installed)
    for number in range(3):
        files[NOTE] += f"Line {number}.\n".encode()
        installed.packages.adopt(ID, EditedFiles(files))
        files = written(files, installed)
        assert files == folder(installed)
        assert {} == states(installed, files)


def test_a_refresh_brings_what_others_did(installed: Session) -> None:
    """Changed, new and retired files of others come and go; edits stay."""
    installed.packages.revise(ID, OTHER, b"1\n", expected_revision=None, entry=ENTRY)
    context, third = ".uai/world-context.uai", ".uai/third.uai"
    files = folder(installed)
    files[context] += b"Mine.\n"
    mine = files[context]
    installed.packages.revise(ID, NOTE, b"Theirs.\n", expected_revision=head(installed))
    installed.packages.revise(ID, third, b"3\n", expected_revision=None, entry=ENTRY)
    installed.packages.tombstone(
        ID, OTHER, expected_revision=head(installed, OTHER), reason="old"
    )

    refreshed = written(files, installed)

    assert {**folder(installed), context: mine} == refreshed
    assert {context: "edited"} == states(installed, refreshed)


def test_a_refresh_leaves_what_an_editor_did(installed: Session) -> None:
    """Other line ends in an untouched file stay until somebody changes the file."""
    files = folder(installed)
    files[NOTE] = b"A first note.\r\n"
    assert b"A first note.\r\n" == written(files, installed)[NOTE]

    installed.packages.revise(ID, NOTE, b"Two.\n", expected_revision=head(installed))

    assert b"Two.\n" == written(files, installed)[NOTE]


def test_a_refresh_gives_no_conflict_another_base(installed: Session) -> None:
    """With an edit that lost nothing is refreshed: it would overwrite what stands."""
    files = folder(installed)
    files[NOTE] = b"Mine.\n"
    installed.packages.revise(ID, NOTE, b"Theirs.\n", expected_revision=head(installed))

    with pytest.raises(CallerError) as caught:
        installed.packages.refresh(ID, EditedFiles(files))

    assert ("adopt.conflict", NOTE) == (caught.value.code, caught.value.path)


def test_an_adopted_new_file_is_known(installed: Session) -> None:
    """A new file that stands by now needs no description again."""
    files = {**folder(installed), OTHER: b"New.\n"}
    installed.packages.adopt(ID, EditedFiles(files), entries={OTHER: ENTRY})

    assert {OTHER: "present"} == states(installed, files)
    assert {OTHER: "conflict"} == states(installed, {**files, OTHER: b"Newer.\n"})


def test_an_adoption_is_retried_however_late(installed: Session) -> None:
    """The same folder again adds nothing, also when its record has moved on since."""
    files = {**folder(installed), NOTE: b"Mine.\n"}
    installed.packages.adopt(ID, EditedFiles(files))
    installed.packages.revise(ID, NOTE, b"Later.\n", expected_revision=head(installed))
    before = position(installed)

    again = installed.packages.adopt(ID, EditedFiles(files))

    assert () == again.revisions
    assert before == position(installed)
    assert {NOTE: "present"} == states(installed, files)


@pytest.mark.every_backend
def test_what_was_edited_from_an_erased_text_stays_out(installed: Session) -> None:
    """An old folder brings nothing back that was erased, and holds nothing up."""
    files = folder(installed)
    old = head(installed)
    installed.packages.revise(ID, NOTE, b"Two.\n", expected_revision=old)
    erase(installed, "revision", old)
    files[".uai/world-context.uai"] += b"Mine.\n"

    assert {NOTE: "erased", ".uai/world-context.uai": "edited"} == states(
        installed, files
    )
    answer = installed.packages.adopt(ID, EditedFiles(files))
    assert [".uai/world-context.uai"] == [r.path for r in answer.revisions]
    assert not installed.packages.conflicts(ID)


def test_a_file_where_a_record_was_retired_is_told_as_such(installed: Session) -> None:
    """Described or not: what waits for a review isn't told to be a new file."""
    installed.packages.revise(ID, OTHER, b"Old.\n", expected_revision=None, entry=ENTRY)
    installed.packages.tombstone(
        ID, OTHER, expected_revision=head(installed, OTHER), reason="old"
    )
    files = {**folder(installed), OTHER: b"New.\n"}

    assert {OTHER: "retired"} == states(installed, files)
    for entries in ({}, {OTHER: ENTRY}):
        with pytest.raises(CallerError) as caught:
            installed.packages.adopt(ID, EditedFiles(files), entries=entries)
        assert ("adopt.retired", OTHER) == (caught.value.code, caught.value.path)


def test_a_retired_record_comes_back_by_review_only(installed: Session) -> None:
    """A new file where a record was tombstoned says what to do."""
    installed.packages.revise(ID, OTHER, b"1\n", expected_revision=None, entry=ENTRY)
    installed.packages.tombstone(
        ID, OTHER, expected_revision=head(installed, OTHER), reason="old"
    )
    files = {**folder(installed), OTHER: b"1\n"}

    with pytest.raises(CallerError) as caught:
        installed.packages.adopt(ID, EditedFiles(files), entries={OTHER: ENTRY})

    assert ("adopt.retired", OTHER) == (caught.value.code, caught.value.path)
    assert OTHER not in installed.packages.read(ID)
