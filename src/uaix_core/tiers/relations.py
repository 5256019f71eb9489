"""The relations of the tiers that record: states, turns, variance, notes, cases, marks.

Nothing that anybody wrote is WORK: a WORK row can't hold text, it stays behind when a
scope is copied or backed up, and dropping one is no erasure. So even a state that the
next turn replaces is HISTORY with a body, and goes for good when it is erased. Marks of
indexes and of erasures are WORK: they hold no text, and are about this store alone.
"""

from __future__ import annotations

from typing import Annotated

from uaix_core.history.relations import ActorKind
from uaix_core.schema.relations import Keep, Relation
from uaix_core.schema.rows import BodyRow, Id, Instant, Int, Json, Row, Text, Word, row

Role = Annotated[str, Word("user", "assistant", "system", "tool")]
Cause = Annotated[str, Word("policy", "platform")]
NoteKind = Annotated[str, Word("platform", "legal", "safety")]
CaseOutcome = Annotated[str, Word("passed", "failed", "skipped")]


@row
class WorkingState(BodyRow):
    """One state of an agent's short-term memory; the last one counts.

    ``number`` counts from 1 for each package and agent.
    """

    state_id: Id
    package_id: Id
    agent_id: Id
    number: Int
    actor_kind: ActorKind
    actor_id: Id
    text: Text | None


@row
class ShortTerm(Row):
    """The state that an agent works with: the last one that was put."""

    package_id: Id
    agent_id: Id
    state_id: Id
    number: Int
    modified_at: Instant


@row
class Turn(BodyRow):
    """One turn of a conversation: untrusted, and never changed.

    ``number`` counts from 1 in each conversation; ``said_at`` is when it was said.
    """

    turn_id: Id
    package_id: Id
    agent_id: Id
    conversation_id: Id
    number: Int
    role: Role
    said_at: Instant
    actor_kind: ActorKind
    actor_id: Id
    text: Text | None


@row
class Conversation(Row):
    """A conversation and how many turns it has had, erased ones too."""

    package_id: Id
    agent_id: Id
    conversation_id: Id
    turn_count: Int
    begun_at: Instant
    modified_at: Instant


@row
class Variance(BodyRow):
    """That an agent behaved otherwise than its persona says, and why.

    ``path`` is the file of the persona that it diverged from, which stays as it is.
    """

    variance_id: Id
    package_id: Id
    agent_id: Id
    cause: Cause
    occurred_at: Instant
    actor_kind: ActorKind
    actor_id: Id
    path: Text | None
    what: Text | None
    why: Text | None


@row
class PlatformNote(BodyRow):
    """A limit that a platform, the law or safety sets, outside of persona files."""

    note_id: Id
    package_id: Id
    kind: NoteKind
    receipt_id: Id
    actor_kind: ActorKind
    actor_id: Id
    title: Text | None
    text: Text | None


@row
class FidelityCase(BodyRow):
    """What a persona has to do with a prompt.

    ``must`` and ``must_not`` are lists of texts, ``paths`` of the persona's files that
    it tests.
    """

    case_id: Id
    package_id: Id
    name: Id
    receipt_id: Id
    actor_kind: ActorKind
    actor_id: Id
    prompt: Text | None
    must: Json | None
    must_not: Json | None
    paths: Json | None


@row
class FidelityEntry(Row):
    """The case that stands under a name of a package's test set: the last one put."""

    package_id: Id
    name: Id
    case_id: Id
    modified_at: Instant


@row
class FidelityResult(BodyRow):
    """How a case came out in a run, against the checkpoint that stood then."""

    result_id: Id
    package_id: Id
    run_id: Id
    case_id: Id
    checkpoint_id: Id
    outcome: CaseOutcome
    actor_kind: ActorKind
    actor_id: Id
    note: Text | None


@row
class IndexMark(Row):
    """How far an index beside this store has come: the seq that it has taken in."""

    name: Id
    package_id: Id
    seq: Int
    marked_at: Instant


@row
class ErasureMark(Row):
    """When something of a package's tiers was erased last, in this store.

    An erased row has the version that it had, so whoever relies on a text that stands
    expects this row instead.
    """

    package_id: Id
    erased_at: Instant


WORKING_STATE = Relation(
    "working_state",
    WorkingState,
    ("state_id",),
    keep=Keep.HISTORY,
    paths={"by_agent": ("package_id", "agent_id", "number")},
    body=("text",),
)
SHORT_TERM = Relation(
    "short_term",
    ShortTerm,
    ("package_id", "agent_id"),
    keep=Keep.VIEW,
    versioned=True,
)
TURN = Relation(
    "turn",
    Turn,
    ("turn_id",),
    keep=Keep.HISTORY,
    paths={
        "by_conversation": ("package_id", "agent_id", "conversation_id", "number"),
    },
    body=("text",),
)
CONVERSATION = Relation(
    "conversation",
    Conversation,
    ("package_id", "agent_id", "conversation_id"),
    keep=Keep.VIEW,
    versioned=True,
)
VARIANCE = Relation(
    "variance",
    Variance,
    ("variance_id",),
    keep=Keep.HISTORY,
    paths={"by_time": ("package_id", "occurred_at")},
    body=("path", "what", "why"),
)
PLATFORM_NOTE = Relation(
    "platform_note",
    PlatformNote,
    ("note_id",),
    keep=Keep.HISTORY,
    paths={"by_package": ("package_id",)},
    body=("title", "text"),
)
FIDELITY_CASE = Relation(
    "fidelity_case",
    FidelityCase,
    ("case_id",),
    keep=Keep.HISTORY,
    paths={"by_name": ("package_id", "name")},
    body=("prompt", "must", "must_not", "paths"),
)
FIDELITY_ENTRY = Relation(
    "fidelity_entry",
    FidelityEntry,
    ("package_id", "name"),
    keep=Keep.VIEW,
    versioned=True,
)
FIDELITY_RESULT = Relation(
    "fidelity_result",
    FidelityResult,
    ("result_id",),
    keep=Keep.HISTORY,
    paths={"by_run": ("package_id", "run_id")},
    body=("note",),
)
INDEX_MARK = Relation("index_mark", IndexMark, ("name", "package_id"), keep=Keep.WORK)
ERASURE_MARK = Relation("erasure_mark", ErasureMark, ("package_id",), keep=Keep.WORK)
