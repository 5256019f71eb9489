"""Laws of the outbox: what was queued offline applies once, or says why not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.session.package_kit import (
    ENTRY,
    ID,
    NOTE,
    OTHER,
    TOTEM,
    acting_as,
    head,
    package,
)
from tests.session.test_lifecycle import position

from uaix_core import (
    Authorisation,
    CallerError,
    QueuedChange,
    Session,
    read_outbox,
    write_outbox,
)
from uaix_core.packages import outbox

HEAD_LINE = b'{"format":"uaix.outbox.v1"}\n'
IDS = st.text("abc-", min_size=1, max_size=4).filter(lambda t: t.strip("-") == t)
#: What a store can hold: a NUL it can't.
TEXTS = st.text(st.characters(min_codepoint=1, exclude_categories=["Cs"]), max_size=8)


@pytest.fixture
def installed(session: Session) -> Session:
    """A session whose scope has the package."""
    session.packages.install(package().archive())
    return session


def queued(seen: str) -> list[QueuedChange]:
    """A chain of changes, a new record with one, and a tombstone."""
    return [
        QueuedChange("1", ID, NOTE, b"One.\n", expected_revision=seen),
        QueuedChange("2", ID, NOTE, b"Two.\n", after="1"),
        QueuedChange("3", ID, OTHER, b"New.\n", entry=ENTRY),
        QueuedChange("4", ID, OTHER, reason="a slip", after="3"),
        QueuedChange("5", ID, NOTE, b"Three.\n", after="2"),
    ]


@pytest.mark.every_backend
def test_what_was_queued_is_applied_in_order(installed: Session) -> None:
    """A chain made offline becomes the chain of the record."""
    box = write_outbox(queued(head(installed)))

    outcomes = installed.packages.replay(read_outbox(box))

    assert ["applied"] * 5 == [outcome.outcome for outcome in outcomes]
    record = installed.packages.record(ID, NOTE)
    chain = installed.packages.revisions(ID, record.head.record_id)
    assert [b"A first note.\n", b"One.\n", b"Two.\n", b"Three.\n"] == [
        revision.content for revision in chain
    ]
    assert OTHER not in installed.packages.read(ID)
    assert json.dumps([outcome.as_dict() for outcome in outcomes])


@pytest.mark.every_backend
def test_a_replay_is_repeated_at_will(installed: Session) -> None:
    """However often and wherever it is cut short, every change is applied once."""
    changes = queued(head(installed))
    for count in range(len(changes) + 1):
        installed.packages.replay(changes[:count])
    before = position(installed)

    outcomes = installed.packages.replay(changes)

    assert ["already"] * 5 == [outcome.outcome for outcome in outcomes]
    assert before == position(installed)


def test_what_lost_is_kept_and_what_follows_is_skipped(installed: Session) -> None:
    """A change over a head that moved is a conflict; the others go through."""
    changes = queued(head(installed))
    installed.packages.revise(ID, NOTE, b"Theirs.\n", expected_revision=head(installed))

    outcomes = installed.packages.replay(changes)

    assert ["conflict", "skipped", "applied", "applied", "skipped"] == [
        outcome.outcome for outcome in outcomes
    ]
    assert b"Theirs.\n" == installed.packages.read(ID)[NOTE]
    kept = installed.packages.conflict(outcomes[0].conflict_id or "")
    assert b"One.\n" == kept.content
    assert ("revision.conflict", "outbox.after") == (
        outcomes[0].code,
        outcomes[1].code,
    )


def test_what_is_refused_is_told(installed: Session) -> None:
    """A change that passes no check is refused with its code; the next one goes on."""
    seen = head(installed)
    changes = [
        QueuedChange(
            "1", ID, NOTE, b"token: ghp_" + b"a1B2" * 9, expected_revision=seen
        ),
        QueuedChange(
            "2", ID, TOTEM, b"Weaker.\n", expected_revision=head(installed, TOTEM)
        ),
        QueuedChange("3", "none", NOTE, b"x\n", expected_revision=seen),
        QueuedChange("4", ID, OTHER, reason="x", expected_revision=seen),
        QueuedChange("5", ID, NOTE, b"Fine.\n", expected_revision=seen),
    ]

    outcomes = installed.packages.replay(changes)

    assert [
        ("refused", "package.refused"),
        ("unauthorised", "anchor.mutation"),
        ("refused", "package.not-found"),
        ("refused", "record.not-found"),
        ("applied", None),
    ] == [(outcome.outcome, outcome.code) for outcome in outcomes]


def test_only_who_replays_authorises(installed: Session) -> None:
    """A change of a protected file waits for the word of the person who replays it."""
    seen = head(installed, TOTEM)
    queued = [
        QueuedChange("1", ID, TOTEM, b"Weaker.\n", expected_revision=seen),
        QueuedChange("2", ID, TOTEM, b"Later.\n", after="1"),
        QueuedChange("3", ID, NOTE, b"Fine.\n", expected_revision=head(installed)),
    ]

    without = installed.packages.replay(queued)

    wanted = Authorisation(TOTEM, "replace")
    assert ["unauthorised", "skipped", "applied"] == [one.outcome for one in without]
    assert ("anchor.mutation", wanted) == (without[0].code, without[0].needs)
    assert {"path": TOTEM, "operation": "replace"} == without[0].as_dict()["needs"]
    assert seen == head(installed, TOTEM)
    outcomes = installed.packages.replay(queued, authorisations=[wanted])
    assert ["applied", "applied", "already"] == [one.outcome for one in outcomes]


@pytest.mark.parametrize(
    ("operation", "fields"),
    [
        ("create", {"content": b""}),
        ("replace", {"content": b"", "expected_revision": "x"}),
        ("replace", {"content": b"", "after": "0"}),
        ("tombstone", {"expected_revision": "x"}),
        ("tombstone", {"after": "0"}),
    ],
)
def test_a_command_names_its_operation(operation: str, fields: dict[str, Any]) -> None:
    """What a command has to be authorised for follows from what it does."""
    assert operation == QueuedChange("1", ID, TOTEM, **fields).operation


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"command_id": "no id"}, "id.syntax"),
        ({"package_id": 1}, "text.type"),
        ({"path": "\ud800"}, "text.not-storable"),
        ({"content": "text"}, "input.type"),
        ({"reason": 1}, "text.type"),
        ({"expected_revision": b"x"}, "text.type"),
        ({"after": 1}, "text.type"),
        ({"entry": {"role": object()}}, "revise.entry"),
    ],
)
def test_a_command_is_made_of_texts_and_bytes(
    fields: dict[str, Any], code: str
) -> None:
    """What can't be written into a box is no command, and is refused by its field."""
    command = {"command_id": "1", "package_id": ID, "path": NOTE, "content": b"x"}

    with pytest.raises(CallerError) as caught:
        QueuedChange(**{**command, **fields})

    assert (code, *fields) == (caught.value.code, caught.value.path)


def test_an_outcome_is_plain_data(installed: Session) -> None:
    """What was made, and what is needed, are told as plain data in an outcome."""
    seen = head(installed)
    queued = [
        QueuedChange("1", ID, NOTE, b"One.\n", expected_revision=seen),
        QueuedChange("2", ID, NOTE, b"Two.\n", expected_revision=seen),
    ]

    made, lost = installed.packages.replay(queued)

    assert made.revised is not None
    assert {
        "command_id": "1",
        "outcome": "applied",
        "revised": made.revised.as_dict(),
        "code": None,
        "conflict_id": None,
        "needs": None,
        "claims_authorisation": False,
    } == made.as_dict()
    assert (None, lost.conflict_id) == (
        lost.as_dict()["revised"],
        lost.as_dict()["conflict_id"],
    )


def test_a_box_authorises_nothing(installed: Session) -> None:
    """What a box says that it may counts for nothing, and that is told."""
    seen = head(installed, TOTEM)
    lines = [
        {"format": "uaix.outbox.v1"},
        {
            "id": "1",
            "package": ID,
            "path": TOTEM,
            "expected": seen,
            "text": "Weaker.\n",
            "authorise": [f"{TOTEM}:replace", "anything:at all"],
        },
        {"id": "2", "package": ID, "path": OTHER, "text": "x", "entry": ENTRY},
    ]
    box = "\n".join(json.dumps(line) for line in lines).encode()

    changes = read_outbox(box)
    outcomes = installed.packages.replay(changes)

    assert [True, False] == [one.claims_authorisation for one in changes]
    assert [("unauthorised", True), ("applied", False)] == [
        (one.outcome, one.claims_authorisation) for one in outcomes
    ]
    assert seen == head(installed, TOTEM)
    assert b"authorise" not in write_outbox(changes)


def test_no_agent_authorises_a_replay(installed: Session) -> None:
    """Authorisations of whoever is no person end a replay before it begins."""
    agent = acting_as(installed, "agent:bot")
    before = position(installed)
    change = QueuedChange("1", ID, NOTE, b"x\n", expected_revision=head(installed))

    with pytest.raises(CallerError) as caught:
        agent.packages.replay(
            [change], authorisations=[Authorisation(TOTEM, "replace")]
        )

    assert "anchor.authoriser" == caught.value.code
    assert before == position(installed)


@given(
    st.lists(
        st.builds(
            QueuedChange,
            IDS,
            TEXTS,
            TEXTS,
            st.one_of(st.binary(max_size=6), TEXTS.map(str.encode)),
            expected_revision=st.one_of(st.none(), TEXTS),
            entry=st.one_of(st.none(), st.just(ENTRY)),
        ),
        max_size=4,
        unique_by=lambda change: change.command_id,
    )
)
def test_a_box_reads_as_it_was_written(changes: list[QueuedChange]) -> None:
    """Whatever was queued is read back, text or bytes."""
    assert changes == read_outbox(write_outbox(changes))


@pytest.mark.parametrize(
    ("lines", "code", "line"),
    [
        (b"", "outbox.format", 1),
        (b"[]", "outbox.format", 1),
        (b'{"format":"uaix.outbox.v2"}', "outbox.format", 1),
        (HEAD_LINE + b"{", "outbox.format", 2),
        (HEAD_LINE + b"\n[]", "outbox.format", 3),
        (HEAD_LINE + b'{"id":"1","path":"x","text":"y"}', "outbox.format", 2),
        (HEAD_LINE + b'{"id":"1","package":"p","path":"x"}', "outbox.format", 2),
        (
            HEAD_LINE + b'{"id":"1","package":"p","path":"x","text":1}',
            "outbox.format",
            2,
        ),
        (
            HEAD_LINE + b'{"id":"1","package":"p","path":"x","text":"y","more":1}',
            "outbox.format",
            2,
        ),
        (
            HEAD_LINE + b'{"id":"1","package":"p","path":"x","text":"","base64":""}',
            "outbox.format",
            2,
        ),
        (
            HEAD_LINE + b'{"id":"1","package":"p","path":"x","base64":"="}',
            "outbox.format",
            2,
        ),
        (
            HEAD_LINE + b'{"id":"1","package":"p","path":"x","text":"","entry":[]}',
            "outbox.format",
            2,
        ),
        (
            HEAD_LINE
            + b'{"id":"1","package":"p","path":"x","text":"","authorise":"x"}',
            "outbox.format",
            2,
        ),
        (
            HEAD_LINE
            + b'{"id":"1","package":"p","path":"x","text":"",'
            + b'"expected":"a","after":"b"}',
            "outbox.format",
            2,
        ),
        (
            HEAD_LINE + b'{"id":"1","package":"p","path":"x","text":"","id":"2"}',
            "outbox.format",
            2,
        ),
        (
            HEAD_LINE + b'{"id":"1","package":"p","path":"x","text":""}\n' * 2,
            "outbox.repeated",
            3,
        ),
        (
            HEAD_LINE + b'{"id":"1","package":"p","path":"x","text":"","after":"0"}',
            "outbox.after",
            2,
        ),
    ],
)
def test_a_box_that_can_not_be_read(lines: bytes, code: str, line: int) -> None:
    """A line that says nothing that can be done is refused with its number, unread."""
    with pytest.raises(CallerError) as caught:
        read_outbox(lines)

    assert (code, f"line {line}") == (caught.value.code, caught.value.path)


def test_a_box_has_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many commands or bytes are refused before any is read."""
    assert (10_000, 256 * 2**20) == (outbox.MAX_COMMANDS, outbox.MAX_BYTES)
    monkeypatch.setattr("uaix_core.packages.outbox.MAX_COMMANDS", 2)
    line = b'{"id":"%d","package":"p","path":"x","text":""}\n'
    box = HEAD_LINE + b"".join(line % number for number in range(3))
    with pytest.raises(CallerError) as many:
        read_outbox(box)
    monkeypatch.setattr("uaix_core.packages.outbox.MAX_BYTES", 10)
    with pytest.raises(CallerError) as large:
        read_outbox(box)

    assert {"outbox.limit"} == {many.value.code, large.value.code}


def test_a_follower_is_about_the_same_file() -> None:
    """A command follows one about the same file of the same package."""
    box = write_outbox(
        [
            QueuedChange("1", ID, NOTE, b"x\n"),
            QueuedChange("2", ID, OTHER, b"x\n", after="1"),
        ]
    )

    with pytest.raises(CallerError) as caught:
        read_outbox(box)

    assert "outbox.after" == caught.value.code


@pytest.mark.parametrize("takes", ["replay", "write_outbox"])
def test_two_commands_of_one_id_are_refused(installed: Session, takes: str) -> None:
    """A command is named once, also where no file is read, and nothing is applied."""
    seen, before = head(installed), position(installed)
    changes = [
        QueuedChange("1", ID, NOTE, b"One.\n", expected_revision=seen),
        QueuedChange("2", ID, NOTE, b"Two.\n", after="1"),
        QueuedChange("1", ID, OTHER, b"New.\n", entry=ENTRY),
    ]
    take = installed.packages.replay if takes == "replay" else write_outbox

    with pytest.raises(CallerError) as caught:
        take(changes)

    assert ("outbox.repeated", "changes[2]") == (caught.value.code, caught.value.path)
    assert before == position(installed)
