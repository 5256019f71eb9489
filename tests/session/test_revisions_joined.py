"""Laws of revisions in a host's transaction: nothing is kept behind the host's back."""

from __future__ import annotations

import pytest
from tests.session.package_kit import ID, NOTE, head, package
from tests.session.test_registrations_joined import (  # noqa: F401 - fixtures
    mine,
    session,
)

from uaix_core import RevisionConflictError


@pytest.fixture
def installed(mine, session):  # noqa: F811 - the fixtures above
    """A session in a host's transaction whose scope has the package, committed."""
    mine.begin()
    session.packages.install(package().archive())
    mine.commit()
    return session


def test_a_revision_lives_and_dies_with_the_hosts_transaction(mine, installed):  # noqa: F811
    """What was revised is staged; after a rollback the older revision stands."""
    mine.begin()
    seen = head(installed)
    answer = installed.packages.revise(ID, NOTE, b"Two.\n", expected_revision=seen)
    assert answer.is_staged
    assert answer.revision_id == head(installed)
    mine.rollback()

    mine.begin()
    assert seen == head(installed)
    again = installed.packages.revise(ID, NOTE, b"Two.\n", expected_revision=seen)
    assert again.is_first
    mine.commit()
    mine.begin()
    assert again.revision_id == head(installed)
    mine.commit()


def test_the_host_says_whether_a_candidate_is_kept(mine, installed):  # noqa: F811
    """A conflict stages nothing by itself, and the host's work stays as it is."""
    mine.begin()
    seen = head(installed)
    won = installed.packages.revise(ID, NOTE, b"Won.\n", expected_revision=seen)
    with pytest.raises(RevisionConflictError) as caught:
        installed.packages.revise(ID, NOTE, b"Lost.\n", expected_revision=seen)
    assert () == caught.value.conflict_ids
    assert not installed.packages.conflicts(ID)

    (kept,) = installed.keep_conflict(caught.value)
    mine.commit()

    mine.begin()
    assert won.revision_id == head(installed)
    assert [kept] == [row.conflict_id for row in installed.packages.conflicts(ID)]
    assert b"Lost.\n" == installed.packages.conflict(kept).content
    mine.commit()


def test_what_was_rolled_back_is_kept_when_the_host_says_so_again(mine, installed):  # noqa: F811
    """An id that an error remembers is believed as far as the store knows it."""
    mine.begin()
    seen = head(installed)
    installed.packages.revise(ID, NOTE, b"Won.\n", expected_revision=seen)
    mine.commit()
    mine.begin()
    with pytest.raises(RevisionConflictError) as caught:
        installed.packages.revise(ID, NOTE, b"Lost.\n", expected_revision=seen)
    error, unkept = caught.value, caught.value.hint
    installed.keep_conflict(error)
    mine.rollback()

    mine.begin()
    (kept,) = installed.keep_conflict(error)
    mine.commit()
    mine.begin()
    assert (kept,) == installed.keep_conflict(error) == error.conflict_ids
    assert [kept] == [row.conflict_id for row in installed.packages.conflicts(ID)]
    assert b"Lost.\n" == installed.packages.conflict(kept).content
    mine.commit()
    assert unkept != error.hint
