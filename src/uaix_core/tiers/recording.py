"""What is recorded as it happens: states of short-term memory, turns, variance.

None of it leaves a receipt. It is written with every turn, changes nothing that is
governed, and is trusted for nothing: the row itself says who wrote it and when, and a
receipt for each would only write the same again. Erasing any of it does leave one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import attrs

from uaix_core.packages.export import find_package
from uaix_core.packages.revisions import file_at
from uaix_core.schema.commits import Commit, Expect
from uaix_core.tiers.agents import check_agent
from uaix_core.tiers.relations import (
    CONVERSATION,
    SHORT_TERM,
    TURN,
    VARIANCE,
    WORKING_STATE,
    Conversation,
    ShortTerm,
)
from uaix_core.tiers.texts import MAX_SAID, MAX_TEXT, check_body, check_word
from uaix_core.values.canonical import SALT_BYTES
from uaix_core.values.errors import ConflictError
from uaix_core.values.ids import check_id
from uaix_core.values.instants import check_instant

if TYPE_CHECKING:
    from uaix_core.history.receipts import Writing
    from uaix_core.store.port import Snapshot

ROLES: Final = TURN.fields["role"].words
CAUSES: Final = VARIANCE.fields["cause"].words


@attrs.frozen
class AgentOf:
    """An agent at work on a package."""

    package_id: str
    agent_id: str


@attrs.frozen
class Saying:
    """A turn to be written; ``said_at`` is an instant, None for now.

    ``seen`` is the number of the turn that it follows, 0 for none; with None it follows
    whatever is the last.
    """

    conversation_id: str
    role: str
    text: str = attrs.field(repr=False)
    said_at: int | None = None
    seen: int | None = None


@attrs.frozen
class Diverging:
    """A variance to be written; ``occurred_at`` is an instant, None for now."""

    path: str
    what: str = attrs.field(repr=False)
    why: str = attrs.field(repr=False)
    cause: str = "policy"
    occurred_at: int | None = None


def decide_state(
    snapshot: Snapshot, writing: Writing, agent: AgentOf, text: str, seen: int | None
) -> Commit:
    """The commit of the next state of an agent's short-term memory.

    ``seen`` is the number of the state that it replaces, 0 for none; with None
    whatever stands is replaced.

    Raises:
        NotFoundError: ``package.not-found``.
        ConflictError: ``short-term.stale``.
        CallerError: ``tier.agent``, ``tier.text``, ``id.syntax``.

    """
    check_agent(writing.principal, agent.agent_id)
    check_body(text, "text", MAX_TEXT, least=0)
    find_package(snapshot, agent.package_id)
    key = (agent.package_id, agent.agent_id)
    before = cast("ShortTerm | None", snapshot.get(SHORT_TERM.name, key))
    number = 0 if before is None else before.number
    if seen is not None and seen != number:
        raise ConflictError(
            "another state stands",
            code="short-term.stale",
            relation=SHORT_TERM.name,
            key=key,
            current=before,
            path=agent.agent_id,
            hint="read it and decide again",
        )
    row = WORKING_STATE.named_by_header(
        "state_id",
        writing.random.bytes(SALT_BYTES),
        package_id=agent.package_id,
        agent_id=agent.agent_id,
        number=number + 1,
        actor_kind=writing.principal.kind,
        actor_id=writing.principal.id,
        text=text,
    )
    version = 0 if before is None else before.version
    return Commit(
        writing.scope,
        writing.now,
        expects=(Expect(SHORT_TERM.name, key, version),),
        adds=(row,),
    )


def decide_turn(
    snapshot: Snapshot, writing: Writing, agent: AgentOf, saying: Saying
) -> Commit:
    """The commit of the next turn of a conversation.

    Raises:
        NotFoundError: ``package.not-found``.
        ConflictError: ``conversation.stale``.
        CallerError: ``tier.agent``, ``tier.text``, ``tier.word``, ``id.syntax``,
            ``instant.range``.

    """
    check_agent(writing.principal, agent.agent_id)
    check_id(saying.conversation_id, "conversation_id")
    check_word(saying.role, ROLES, "role")
    check_body(saying.text, "text", MAX_TEXT, least=0)
    said_at = writing.now if saying.said_at is None else check_instant(saying.said_at)
    find_package(snapshot, agent.package_id)
    key = (agent.package_id, agent.agent_id, saying.conversation_id)
    before = cast("Conversation | None", snapshot.get(CONVERSATION.name, key))
    number = 0 if before is None else before.turn_count
    if saying.seen is not None and saying.seen != number:
        raise ConflictError(
            "another turn is the last one",
            code="conversation.stale",
            relation=CONVERSATION.name,
            key=key,
            current=before,
            path=saying.conversation_id,
            hint="read the turns and decide again",
        )
    row = TURN.named_by_header(
        "turn_id",
        writing.random.bytes(SALT_BYTES),
        package_id=agent.package_id,
        agent_id=agent.agent_id,
        conversation_id=saying.conversation_id,
        number=number + 1,
        role=saying.role,
        said_at=said_at,
        actor_kind=writing.principal.kind,
        actor_id=writing.principal.id,
        text=saying.text,
    )
    version = 0 if before is None else before.version
    return Commit(
        writing.scope,
        writing.now,
        expects=(Expect(CONVERSATION.name, key, version),),
        adds=(row,),
    )


def decide_variance(
    snapshot: Snapshot, writing: Writing, agent: AgentOf, diverging: Diverging
) -> Commit:
    """The commit of a variance; the persona's file stays as it is.

    Raises:
        NotFoundError: ``package.not-found``, ``record.not-found``.
        CallerError: ``tier.agent``, ``tier.text``, ``tier.word``, ``id.syntax``,
            ``instant.range``.

    """
    check_agent(writing.principal, agent.agent_id)
    check_word(diverging.cause, CAUSES, "cause")
    check_body(diverging.what, "what", MAX_SAID)
    check_body(diverging.why, "why", MAX_SAID)
    occurred_at = diverging.occurred_at
    at = writing.now if occurred_at is None else check_instant(occurred_at)
    find_package(snapshot, agent.package_id)
    file_at(snapshot, agent.package_id, diverging.path)
    row = VARIANCE.named_by_header(
        "variance_id",
        writing.random.bytes(SALT_BYTES),
        package_id=agent.package_id,
        agent_id=agent.agent_id,
        cause=diverging.cause,
        occurred_at=at,
        actor_kind=writing.principal.kind,
        actor_id=writing.principal.id,
        path=diverging.path,
        what=diverging.what,
        why=diverging.why,
    )
    return Commit(writing.scope, writing.now, adds=(row,))
