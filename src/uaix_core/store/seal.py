"""The chain: where a commit takes its place and its digest.

Backends hash nothing themselves; they call these under their exclusion.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from uaix_core.schema.codec import key_out
from uaix_core.schema.commits import Commit, Mark, Recorded
from uaix_core.values.canonical import plain_bytes, plain_text, sha256_hex
from uaix_core.values.errors import IntegrityError
from uaix_core.values.instants import EARLIEST, FOREVER, format_instant

if TYPE_CHECKING:
    from uaix_core.schema.schema import Schema
    from uaix_core.values.ids import ScopeId

#: Names the chained form; a change of it is a new kind of store.
FORMAT = "uaix.ledger.v1"


@lru_cache(maxsize=1024)
def genesis(scope: ScopeId) -> Mark:
    """The mark of an empty scope: seq 0 and the digest of its format and name."""
    form = plain_bytes({"format": FORMAT, "scope": scope.text})
    return Mark(0, EARLIEST, sha256_hex(form))


def chained_form(
    schema: Schema, commit: Commit, seq: int, recorded_at: int, previous: str
) -> bytes:
    """The RFC 8785 form that a commit's digest covers.

    Bodies stand in it as their salted digests; expects, puts and drops don't. Each
    row keeps the text of its own header, so the form is joined and not written anew.
    """
    adds = []
    for row in commit.adds:
        relation = schema.of(row)
        adds.append(f'["{relation.name}",{relation.header_text(row)}]')
    erases = plain_text(
        [
            [ref.relation, key_out(schema.relation(ref.relation), ref.key)]
            for ref in commit.erases
        ]
    )
    members = (
        f'"adds":[{",".join(adds)}]',
        f'"erases":{erases}',
        f'"format":"{FORMAT}"',
        f'"previous":"{previous}"',
        f'"recorded_at":"{format_instant(recorded_at)}"',
        f'"scope":"{commit.scope.text}"',
        f'"seq":{seq}',
    )
    return f"{{{','.join(members)}}}".encode()


def seal(schema: Schema, commit: Commit, previous: Mark) -> Recorded:
    """Give a commit its place after ``previous``.

    One without HISTORY adds or erases takes no place: it returns the unchanged mark.
    """
    if not commit.is_chained:
        return Recorded(previous.seq, previous.recorded_at, previous.digest, commit)
    seq = previous.seq + 1
    recorded_at = max(commit.recorded_at, previous.recorded_at)
    form = chained_form(schema, commit, seq, recorded_at, previous.digest)
    return Recorded(seq, recorded_at, sha256_hex(form), commit)


def check_chained(schema: Schema, recorded: Recorded, previous: Mark) -> None:
    """Refuse a recorded commit that doesn't continue the chain (IntegrityError)."""
    where = f"{recorded.commit.scope.text}#{recorded.seq}"
    if recorded.seq != previous.seq + 1:
        raise IntegrityError("a gap in the chain", code="chain.gap", path=where)
    if not previous.recorded_at <= recorded.recorded_at <= FOREVER:
        raise IntegrityError(
            "the chain goes back in time or beyond it", code="chain.time", path=where
        )
    form = chained_form(
        schema, recorded.commit, recorded.seq, recorded.recorded_at, previous.digest
    )
    if sha256_hex(form) != recorded.digest:
        raise IntegrityError(
            "the commit doesn't agree with its digest", code="chain.digest", path=where
        )
