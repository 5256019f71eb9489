"""The two forms of a scope: its history stands plain in a store, or sealed.

A scope has one of them from its first commit on. `advance` holds writers to it, and
whoever reads for a session looks at it first, so that a sealed scope never passes for
an empty one.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from uaix_core.schema.relations import Key, Ref
from uaix_core.values.errors import AccessError, CallerError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from uaix_core.schema.commits import Commit, Mark, Recorded
    from uaix_core.schema.rows import Row
    from uaix_core.schema.schema import Schema
    from uaix_core.store.port import Snapshot, Store
    from uaix_core.values.ids import ScopeId

#: The first row of a sealed scope: commit, part and generation.
FIRST: Final[Key] = (1, 0, 0)

#: So many plain scopes are remembered.
_REMEMBERED: Final = 10_000
#: Scopes that were seen to be plain: none of them becomes sealed later.
_PLAIN: WeakKeyDictionary[Store, set[ScopeId]] = WeakKeyDictionary()


#: Scope -> the last digest of plain history that this process sealed. A digest stands
#: for all the history before it, so who continues it needn't ask.
_PLAIN_HEADS: dict[str, str] = {}


def form_refs(schema: Schema, commit: Commit, mark: Mark) -> tuple[Ref, ...]:
    """The row that tells the form of a scope, where a commit has to agree with it."""
    if schema.wrapper is None or not mark.seq or not commit.is_chained:
        return ()
    if _PLAIN_HEADS.get(commit.scope.text) == mark.digest:
        return ()
    return (Ref(schema.wrapper.name, FIRST),)


def check_form(
    schema: Schema, recorded: Recorded, mark: Mark, rows: Mapping[Ref, Row]
) -> None:
    """Refuse a commit of another form than that of its scope.

    ``rows`` holds the row of `form_refs`, if there is one.

    Raises:
        AccessError: ``scope.sealed``.
        CallerError: ``scope.plain``.

    """
    commit = recorded.commit
    if schema.wrapper is None or not commit.is_chained:
        return
    name = schema.wrapper.name
    forms = {schema.of(row).name == name for row in commit.adds}
    forms |= {ref.relation == name for ref in commit.erases}
    is_sealed = Ref(name, FIRST) in rows if mark.seq else all(forms)
    if forms != {is_sealed}:
        raise sealed(commit.scope) if is_sealed else plain(commit.scope)
    if not is_sealed:
        if len(_PLAIN_HEADS) >= _REMEMBERED:
            _PLAIN_HEADS.clear()
        _PLAIN_HEADS[commit.scope.text] = recorded.digest


def sealed(scope: ScopeId) -> AccessError:
    """The error for who meets a sealed scope without its keys."""
    return AccessError(
        "the scope is sealed, and the store was opened without its keys",
        code="scope.sealed",
        path=scope.text,
        hint="open the store with sealing=Sealing(keys, scopes)",
    )


def plain(scope: ScopeId) -> CallerError:
    """The error for who would seal on top of plain history."""
    return CallerError(
        "the scope has history that isn't sealed",
        code="scope.plain",
        path=scope.text,
        hint="copy the scope into a new store that seals it, and delete this one",
    )


def is_sealed(store: Store, snapshot: Snapshot) -> bool:
    """Whether the scope rests sealed, and this store can't open it."""
    wrapper = store.schema.wrapper
    return wrapper is not None and snapshot.get(wrapper.name, FIRST) is not None


def _known_plain(store: Store) -> set[ScopeId]:
    try:
        return _PLAIN.setdefault(store, set())
    except TypeError:
        # A store that can't be a key is looked at each time.
        return set()


@contextmanager
def open_snapshot(store: Store, scope: ScopeId) -> Iterator[Snapshot]:
    """A snapshot for who works with what it shows.

    Raises:
        AccessError: ``scope.sealed`` when it could only show an empty scope.

    """
    with store.snapshot(scope) as snapshot:
        known = _known_plain(store)
        if scope not in known and snapshot.position:
            if is_sealed(store, snapshot):
                raise sealed(scope)
            if len(known) >= _REMEMBERED:
                known.clear()
            known.add(scope)
        yield snapshot
