"""The working tree of packages: what an export gives, through all that befalls them."""

from __future__ import annotations

import contextlib
import hashlib

import pytest
from tests.backends.ledger import holding
from tests.faults.package_works import ARCHIVE, PACKAGE_ID, install, session_over

from uaix_backends.directory import DirectoryStore
from uaix_backends.trees import edited_tree
from uaix_core import Authorisation, PackageSource, RevisionConflictError, repack
from uaix_core.packages.required.sets import MANIFEST_PATH
from uaix_core.schema.commits import Commit
from uaix_core.schema.relations import Ref

PERSONA = ".uai/persona.uai"
#: A person's word that it may change.
WORD = (Authorisation(PERSONA, "replace"),)
NOTE = "docs/note.md"
CANARY = b"canary-7f3a-canary-7f3a"
ENTRY = {
    "role": "memory",
    "scope": "universal",
    "requiredStatus": "content_triggered_required",
    "mediaType": "text/markdown",
    "source": {"kind": "authored", "by": "tests"},
}


@pytest.fixture
def session(root):
    """A session over a directory store with a package of 31 files."""
    with contextlib.closing(DirectoryStore.open(root, create=True)) as store:
        found = session_over(store)
        install(found)
        yield found


def folder_of(session):
    return session.store.tree_folder(session.scope, PACKAGE_ID)


def shown(session):
    """The files of the package's folder as they lie there."""
    folder = folder_of(session)
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def exported(session):
    return dict(session.packages.export(PACKAGE_ID, form="folder").files)


def revision_of(session, path):
    return session.packages.record(PACKAGE_ID, path).head.revision_id


def revise(session, path, content, *, expected, **more):
    return session.packages.revise(
        PACKAGE_ID, path, content, expected_revision=expected, **more
    )


def test_an_installed_package_stands_as_its_export(session):
    """All files and the manifest, byte for byte, under the package id."""
    assert PACKAGE_ID == folder_of(session).name
    assert exported(session) == shown(session)


def test_the_tree_follows_a_package_through_its_life(session):
    """Revised, added to, retired, reverted and updated, it equals the export."""
    text = exported(session)[PERSONA]
    first = revision_of(session, PERSONA)
    revise(
        session, PERSONA, text + b"\nAsks first.\n", expected=first, authorisations=WORD
    )
    assert exported(session) == shown(session)

    made = revise(session, NOTE, b"A note.\n", expected=None, entry=ENTRY)
    assert b"A note.\n" == shown(session)[NOTE]
    session.packages.tombstone(
        PACKAGE_ID, NOTE, expected_revision=made.revision_id, reason="no longer true"
    )
    assert exported(session) == shown(session)
    assert NOTE not in shown(session)

    session.packages.revert(
        PACKAGE_ID,
        PERSONA,
        revision_id=first,
        expected_revision=revision_of(session, PERSONA),
        authorisations=WORD,
    )
    assert text == shown(session)[PERSONA]

    files = exported(session)
    base = hashlib.sha256(files[MANIFEST_PATH]).hexdigest()
    edited = {**files, PERSONA: text + b"\nLikes tea.\n"}
    source = PackageSource(files=repack(edited).files)
    session.packages.update(source, based_on=base, authorisations=WORD)
    assert exported(session) == shown(session)
    session.store.rebuild(session.scope)
    assert exported(session) == shown(session)


def test_two_packages_stand_side_by_side(session):
    """A clone has a folder of its own."""
    clone = session.packages.clone(PACKAGE_ID)
    there = session.store.tree_folder(session.scope, clone.package_id)

    assert folder_of(session).parent == there.parent
    found = session.store.read_tree(session.scope, clone.package_id)
    assert dict(session.packages.export(clone.package_id).files) == found.files


def test_an_edit_names_the_revision_that_it_is_of(session):
    """A reader learns which revision a person began with, when the head has moved."""
    first = revision_of(session, PERSONA)
    text = exported(session)[PERSONA]
    (folder_of(session) / PERSONA).write_bytes(text + b"\nMine.\n")
    revise(
        session, PERSONA, text + b"\nAsks first.\n", expected=first, authorisations=WORD
    )
    found = session.store.read_tree(session.scope, PACKAGE_ID)

    assert text + b"\nMine.\n" == found.files[PERSONA]
    assert first == found.written[PERSONA].key
    assert first != revision_of(session, PERSONA)
    others = {path: data for path, data in exported(session).items() if path != PERSONA}
    assert others == {path: d for path, d in found.files.items() if path != PERSONA}


def test_an_erased_revision_leaves_no_byte(session, root):
    """After the erasure of a record and its manifest no file of the store holds it."""
    made = revise(session, NOTE, CANARY, expected=None, entry=ENTRY)
    refs = [
        Ref("revision", (made.revision_id,)),
        Ref("checkpoint", (made.checkpoint_id,)),
    ]
    assert holding(root, CANARY.decode())
    session.store.append(Commit(session.scope, 0, erases=refs))

    assert [] == holding(root, CANARY.decode())
    assert {NOTE, MANIFEST_PATH}.isdisjoint(shown(session))
    session.store.close()
    with contextlib.closing(DirectoryStore.open(root)) as again:
        session_over(again).packages.list()
    assert [] == holding(root, CANARY.decode())


def test_the_same_package_again_writes_nothing(session):
    """Installing what is there touches no file."""
    before = {path: path.stat() for path in folder_of(session).rglob("*")}
    source = PackageSource("example.uaix", archive=ARCHIVE)
    session.packages.install(source)

    assert before == {path: path.stat() for path in folder_of(session).rglob("*")}


#: How editors save a text beside what was wanted.
SAVED = {
    "pairs": lambda text: text.replace(b"\n", b"\r\n"),
    "carriage returns": lambda text: text.replace(b"\n", b"\r"),
    "a mark": lambda text: b"\xef\xbb\xbf" + text,
    "no last newline": lambda text: text.removesuffix(b"\n"),
    "all of it": lambda text: (
        b"\xef\xbb\xbf" + text.removesuffix(b"\n").replace(b"\n", b"\r\n")
    ),
}


def adopt(session):
    edited = edited_tree(session.store, session.scope, PACKAGE_ID)
    return session.packages.adopt(PACKAGE_ID, edited, authorisations=WORD)


@pytest.mark.parametrize("saves", SAVED.values(), ids=SAVED)
@pytest.mark.parametrize("shows", [True, False], ids=["at once", "later"])
def test_an_adopted_edit_is_the_stores_however_it_was_saved(
    session, root, saves, shows
):
    """Once an edit is stored the file is as it is stored, and the next edit goes on."""
    file, text = folder_of(session) / PERSONA, exported(session)[PERSONA]
    file.write_bytes(saves(text + b"One.\n"))
    if shows:
        adopt(session)
    else:
        edited = edited_tree(session.store, session.scope, PACKAGE_ID)
        hidden = DirectoryStore.open(root, tree=False)
        with contextlib.closing(hidden):
            session_over(hidden).packages.adopt(PACKAGE_ID, edited, authorisations=WORD)
        session.store.rebuild(session.scope)

    assert text + b"One.\n" == file.read_bytes()
    assert exported(session) == shown(session)
    file.write_bytes(saves(text + b"One.\nTwo.\n"))
    adopt(session)
    assert exported(session) == shown(session)
    assert text + b"One.\nTwo.\n" == file.read_bytes()


@pytest.mark.parametrize("saves", SAVED.values(), ids=SAVED)
def test_a_new_file_is_the_stores_once_it_came_in(session, saves):
    """A file that a person made is written as it is stored, and is no edit then."""
    file = folder_of(session) / NOTE
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(saves(b"A note.\nOne.\n"))
    edited = edited_tree(session.store, session.scope, PACKAGE_ID)
    session.packages.adopt(PACKAGE_ID, edited, entries={NOTE: ENTRY})

    assert b"A note.\nOne.\n" == file.read_bytes()
    file.write_bytes(saves(b"A note.\nTwo.\n"))
    adopt(session)
    assert b"A note.\nTwo.\n" == exported(session)[NOTE] == file.read_bytes()


@pytest.mark.parametrize("saves", SAVED.values(), ids=SAVED)
def test_an_edit_that_came_after_the_adopted_one_stays(session, saves):
    """What was written after the folder was read is nobody's but the person's."""
    file, text = folder_of(session) / PERSONA, exported(session)[PERSONA]
    file.write_bytes(saves(text + b"One.\n"))
    edited = edited_tree(session.store, session.scope, PACKAGE_ID)
    later = saves(text + b"One.\nTwo.\n")
    file.write_bytes(later)

    session.packages.adopt(PACKAGE_ID, edited, authorisations=WORD)

    assert later == file.read_bytes()
    with pytest.raises(RevisionConflictError):
        adopt(session)
    assert later == file.read_bytes()
