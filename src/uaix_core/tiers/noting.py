"""What is noted beside a persona: limits, its test set, and how far indexes have come.

A note and a case leave a receipt, because they say how an agent has to behave. Results
and marks are evidence and leave none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from uaix_core.history.receipts import receipt_row
from uaix_core.packages.export import find_package
from uaix_core.packages.revisions import file_at
from uaix_core.schema.commits import Commit, Expect
from uaix_core.tiers.relations import (
    FIDELITY_CASE,
    FIDELITY_ENTRY,
    FIDELITY_RESULT,
    PLATFORM_NOTE,
    FidelityEntry,
    IndexMark,
)
from uaix_core.tiers.texts import (
    MAX_NOTE,
    MAX_PATH,
    MAX_SAID,
    MAX_TITLE,
    check_bodies,
    check_body,
    check_line,
    check_word,
)
from uaix_core.values.canonical import SALT_BYTES, canonical_text
from uaix_core.values.errors import CallerError, NotFoundError
from uaix_core.values.ids import check_id

if TYPE_CHECKING:
    from collections.abc import Iterable

    from uaix_core.history.receipts import Writing
    from uaix_core.store.port import Snapshot

NOTE_KINDS: Final = PLATFORM_NOTE.fields["kind"].words
OUTCOMES: Final = FIDELITY_RESULT.fields["outcome"].words


def _texts(texts: Iterable[Any]) -> tuple[Any, ...]:
    return check_bodies(texts, "case", MAX_SAID)


@attrs.frozen
class CaseDraft:
    """What a persona has to do with a prompt.

    ``must`` and ``must_not`` say what holds of the answer, ``paths`` which files of the
    persona it tests.

    Raises:
        CallerError: ``tier.text``, ``tier.list``, ``id.syntax``.

    """

    name: str
    prompt: str = attrs.field(repr=False)
    must: tuple[str, ...] = attrs.field(default=(), repr=False, converter=_texts)
    must_not: tuple[str, ...] = attrs.field(default=(), repr=False, converter=_texts)
    paths: tuple[str, ...] = attrs.field(default=(), converter=_texts)

    def __attrs_post_init__(self) -> None:
        check_id(self.name, "name")
        check_body(self.prompt, "prompt", MAX_NOTE)
        if not self.must and not self.must_not:
            raise CallerError(
                "a case says what must hold, or what must not",
                code="fidelity.case",
                path=self.name,
            )


def decide_note(  # noqa: PLR0913 - the fields of a note
    snapshot: Snapshot,
    writing: Writing,
    package_id: str,
    *,
    kind: str,
    title: str,
    text: str,
) -> Commit:
    """The commit of a platform note; no file of the package changes.

    Raises:
        NotFoundError: ``package.not-found``.
        CallerError: ``tier.word``, ``tier.line``, ``tier.text``.

    """
    check_word(kind, NOTE_KINDS, "kind")
    check_line(title, "title", MAX_TITLE)
    check_body(text, "text", MAX_NOTE)
    find_package(snapshot, package_id)
    receipt_id = writing.ids.new()
    row: Any = PLATFORM_NOTE.named_by_header(
        "note_id",
        writing.random.bytes(SALT_BYTES),
        package_id=package_id,
        kind=kind,
        receipt_id=receipt_id,
        actor_kind=writing.principal.kind,
        actor_id=writing.principal.id,
        title=title,
        text=text,
    )
    receipt = receipt_row(
        writing,
        receipt_id,
        operation="note",
        outcome="accepted",
        details={"kind": kind, "note_id": row.note_id},
        package_id=package_id,
    )
    return Commit(writing.scope, writing.now, adds=(row, receipt))


def decide_case(
    snapshot: Snapshot, writing: Writing, package_id: str, case: CaseDraft
) -> Commit:
    """The commit of a case, which takes the place of the one under its name.

    Raises:
        NotFoundError: ``package.not-found``, ``record.not-found``.

    """
    find_package(snapshot, package_id)
    for path in case.paths:
        check_line(path, "paths", MAX_PATH)
        file_at(snapshot, package_id, path)
    key = (package_id, case.name)
    before = snapshot.get(FIDELITY_ENTRY.name, key)
    receipt_id = writing.ids.new()
    row: Any = FIDELITY_CASE.named_by_header(
        "case_id",
        writing.random.bytes(SALT_BYTES),
        package_id=package_id,
        name=case.name,
        receipt_id=receipt_id,
        actor_kind=writing.principal.kind,
        actor_id=writing.principal.id,
        prompt=case.prompt,
        must=canonical_text(list(case.must)),
        must_not=canonical_text(list(case.must_not)),
        paths=canonical_text(list(case.paths)),
    )
    receipt = receipt_row(
        writing,
        receipt_id,
        operation="fidelity",
        outcome="accepted",
        details={"case_id": row.case_id},
        package_id=package_id,
    )
    version = 0 if before is None else before.version
    return Commit(
        writing.scope,
        writing.now,
        expects=(Expect(FIDELITY_ENTRY.name, key, version),),
        adds=(row, receipt),
    )


@attrs.frozen
class Outcome:
    """How a case came out in a run; ``case`` is its name."""

    run_id: str
    case: str
    outcome: str
    note: str = attrs.field(default="", repr=False)


def decide_result(
    snapshot: Snapshot, writing: Writing, package_id: str, outcome: Outcome
) -> Commit:
    """The commit of a result, against the case and the checkpoint that stand.

    Raises:
        NotFoundError: ``package.not-found``, ``fidelity.not-found``.
        CallerError: ``tier.word``, ``tier.text``, ``id.syntax``.

    """
    check_id(outcome.run_id, "run_id")
    check_word(outcome.outcome, OUTCOMES, "outcome")
    check_body(outcome.note, "note", MAX_SAID, least=0)
    package = find_package(snapshot, package_id)
    entry = find_entry(snapshot, package_id, outcome.case)
    row = FIDELITY_RESULT.named_by_header(
        "result_id",
        writing.random.bytes(SALT_BYTES),
        package_id=package_id,
        run_id=outcome.run_id,
        case_id=entry.case_id,
        checkpoint_id=package.checkpoint_id,
        outcome=outcome.outcome,
        actor_kind=writing.principal.kind,
        actor_id=writing.principal.id,
        note=outcome.note,
    )
    expect = Expect(FIDELITY_ENTRY.name, (package_id, outcome.case), entry.version)
    return Commit(writing.scope, writing.now, expects=(expect,), adds=(row,))


def find_entry(snapshot: Snapshot, package_id: str, name: str) -> FidelityEntry:
    """The entry of a case; NotFoundError (``fidelity.not-found``) without one."""
    check_id(name, "name")
    row = snapshot.get(FIDELITY_ENTRY.name, (package_id, name))
    if row is None:
        raise NotFoundError(
            "the test set of the package has no such case",
            code="fidelity.not-found",
            path=name,
        )
    return cast("FidelityEntry", row)


def decide_mark(
    snapshot: Snapshot, writing: Writing, name: str, package_id: str, seq: int
) -> Commit:
    """The commit of an index's mark; an index that was built anew may go back.

    Raises:
        NotFoundError: ``package.not-found``.
        CallerError: ``id.syntax``, ``index.seq`` for a seq that hasn't come yet.

    """
    check_id(name, "name")
    find_package(snapshot, package_id)
    if type(seq) is not int or not 0 <= seq <= snapshot.position:
        raise CallerError(
            "an index has taken in a seq that the scope has come to, or 0",
            code="index.seq",
            path="seq",
        )
    row = IndexMark(name=name, package_id=package_id, seq=seq, marked_at=writing.now)
    return Commit(writing.scope, writing.now, puts=(row,))
