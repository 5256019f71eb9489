"""Laws of signed revisions: one statement covers the chain before it, and no other."""

from __future__ import annotations

import json

import pytest
from tests.session.package_kit import ID, NOTE, head, package, position
from tests.session.test_lifecycle import erase

from uaix_core import CallerError, NotFoundError, Session
from uaix_core.history.relations import REVISION_SIGNATURE, RevisionSignature
from uaix_core.packages.ed25519 import key_id, public_key_of
from uaix_core.schema.commits import Commit

PRIVATE = [bytes([n]) * 32 for n in (1, 2)]
PUBLIC = [public_key_of(key) for key in PRIVATE]
TRUSTED = {key_id(key): key for key in PUBLIC}
MINE = {key_id(PUBLIC[0]): PUBLIC[0]}


@pytest.fixture
def installed(session: Session) -> Session:
    """A session whose scope has the package, with two revisions of the note."""
    session.packages.install(package().archive())
    session.packages.revise(ID, NOTE, b"Two.\n", expected_revision=head(session))
    return session


def standings(session: Session, trusted: dict[str, bytes] = MINE) -> list[str]:
    """How the revisions of the note stand, from the first on."""
    record = session.packages.record(ID, NOTE).head.record_id
    report = session.packages.verify_revisions(ID, trusted)
    return [c.standing for c in report.checks if c.record_id == record]


def test_a_statement_covers_the_chain_before_it(installed: Session) -> None:
    """Signing what stands signs every head, and covers all that led there."""
    assert ["unsigned", "unsigned"] == standings(installed)

    answer = installed.packages.sign_revisions(ID, PRIVATE[0])

    files = len(installed.packages.show(ID).files)
    assert (key_id(PUBLIC[0]), files) == (answer.key_id, answer.revisions)
    report = installed.packages.verify_revisions(ID, MINE)
    assert report.is_signed
    assert ["covered", "signed"] == standings(installed)
    receipt = installed.packages.receipt(answer.receipt or "")
    assert ("sign", ID) == (receipt.operation, receipt.package_id)
    assert json.dumps(report.as_dict())


def test_nobody_stands_behind_what_comes_later(installed: Session) -> None:
    """A later revision is unsigned until somebody signs it, too."""
    installed.packages.sign_revisions(ID, PRIVATE[0])
    installed.packages.revise(ID, NOTE, b"Three.\n", expected_revision=head(installed))

    report = installed.packages.verify_revisions(ID, MINE)
    assert (True, False) == (report.is_sound, report.is_signed)
    assert ["covered", "signed", "unsigned"] == standings(installed)
    assert 1 == installed.packages.sign_revisions(ID, PRIVATE[0]).revisions
    assert ["covered", "signed", "signed"] == standings(installed)


@pytest.mark.every_backend
def test_signing_again_adds_nothing(installed: Session) -> None:
    """A key signs a revision once."""
    installed.packages.sign_revisions(ID, PRIVATE[0])
    before = position(installed)

    again = installed.packages.sign_revisions(ID, PRIVATE[0])

    assert (0, None) == (again.revisions, again.receipt)
    assert before == position(installed)


def test_some_records_are_signed(installed: Session) -> None:
    """Only the records that are named get a signature."""
    answer = installed.packages.sign_revisions(ID, PRIVATE[0], paths=[NOTE])

    assert 1 == answer.revisions
    assert not installed.packages.verify_revisions(ID, MINE).is_signed
    assert ["covered", "signed"] == standings(installed)


def test_only_trusted_keys_count(installed: Session) -> None:
    """Another key's signature is named and stands for nothing."""
    installed.packages.sign_revisions(ID, PRIVATE[1], paths=[NOTE])

    assert ["unsigned", "unsigned"] == standings(installed)
    assert ["covered", "signed"] == standings(installed, TRUSTED)
    report = installed.packages.verify_revisions(ID, MINE)
    assert [(key_id(PUBLIC[1]),)] == [c.untrusted for c in report.checks if c.untrusted]
    installed.packages.sign_revisions(ID, PRIVATE[0], paths=[NOTE])
    report = installed.packages.verify_revisions(ID, TRUSTED)
    assert {tuple(sorted(TRUSTED))} == {
        tuple(sorted(c.keys)) for c in report.checks if c.keys
    }


def test_a_statement_is_about_one_revision(installed: Session) -> None:
    """A signature under another revision's name, or another key's, is bad."""
    installed.packages.sign_revisions(ID, PRIVATE[0], paths=[NOTE])
    with installed.store.snapshot(installed.scope) as snapshot:
        (row,) = snapshot.scan(REVISION_SIGNATURE.name, "by_package", (ID,), limit=2)
    assert isinstance(row, RevisionSignature)
    installed.packages.revise(ID, NOTE, b"Three.\n", expected_revision=head(installed))
    for text in (row.signature, "aaaa", "zz", "0" * 128):
        forged = RevisionSignature(
            head(installed),
            row.key_id,
            ID,
            text,
            row.receipt_id,
            row.actor_kind,
            row.actor_id,
        )
        installed.store.append(Commit(installed.scope, 0, adds=(forged,)))

        assert "bad" == standings(installed)[-1]
        assert not installed.packages.verify_revisions(ID, MINE).is_sound
        installed.packages.revise(
            ID, NOTE, text.encode() + b"\n", expected_revision=head(installed)
        )


@pytest.mark.every_backend
def test_an_erased_revision_is_still_vouched_for(installed: Session) -> None:
    """Without its body a revision keeps its name, its place and its signature."""
    first = installed.packages.record(ID, NOTE).revision.parent_revision_id
    installed.packages.sign_revisions(ID, PRIVATE[0])

    erase(installed, "revision", first or "")

    assert ["covered", "signed"] == standings(installed)
    assert installed.packages.verify_revisions(ID, MINE).is_signed


def test_what_can_not_be_signed(installed: Session) -> None:
    """Unknown packages and records, keys that are none, and keys under other ids."""
    for ask, code in (
        (lambda p: p.sign_revisions("none", PRIVATE[0]), "package.not-found"),
        (lambda p: p.verify_revisions("none", MINE), "package.not-found"),
        (lambda p: p.sign_revisions(ID, PRIVATE[0], paths=["x"]), "record.not-found"),
        (lambda p: p.sign_revisions(ID, b"short"), "signature.key"),
        (lambda p: p.verify_revisions(ID, {"x": PUBLIC[0]}), "signature.key-id"),
    ):
        with pytest.raises((CallerError, NotFoundError)) as caught:
            ask(installed.packages)
        assert code == caught.value.code
