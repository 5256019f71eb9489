"""What a reducer is: a pure generator from a recorded commit to changes of views.

It receives the recorded commit and the rows that this commit erases (as they were
before, bodies included), yields sets of row names at most `MAX_ROUNDS` times, is sent
the rows that exist among them, and returns what to put and drop. The rows that it puts
are new ones, made for this commit, or rows that it was sent.

A view is a function of the history that survives. Hence a reducer treats an erased
body as if it had never been there, and undoes on erasure whatever it took from it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from collections.abc import Set as AbstractSet

import attrs

from uaix_core.schema.commits import Recorded
from uaix_core.schema.relations import Ref, as_tuple
from uaix_core.schema.rows import Row

#: A reducer yields names of rows at most this often.
MAX_ROUNDS = 3


@attrs.frozen
class Changes:
    """What a reducer does to its views: rows that stand, names that go."""

    puts: tuple[Row, ...] = attrs.field(default=(), converter=as_tuple)
    drops: tuple[Ref, ...] = attrs.field(default=(), converter=as_tuple)


Steps = Generator[AbstractSet[Ref], Mapping[Ref, Row], Changes]
Reducer = Callable[[Recorded, Mapping[Ref, Row]], Steps]
