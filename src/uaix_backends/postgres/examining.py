"""What a PostgreSQL server says of itself: version, levels, whether it is a standby."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from uaix_backends.examining import Advice, Condition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from uaix_backends.examining import Fact

_FACTS: Final = (
    "SELECT current_setting('server_version'), pg_is_in_recovery(), "
    "current_setting('transaction_isolation'), current_setting('synchronous_commit'), "
    "current_setting('fsync')"
)
#: Settings with which a commit is acknowledged before it is durable.
_NOT_DURABLE: Final = "off"


def examine(read: Callable[[str], list[tuple[Any, ...]]], place: str) -> Condition:
    """Ask the server; ``read`` gives the result of a statement, as reads see it.

    Raises:
        StorageError: the server can't be asked.

    """
    ((version, is_standby, isolation, synchronous, fsync),) = read(_FACTS)
    facts: dict[str, Fact] = {
        "postgresql": version,
        "is_standby": is_standby,
        "reads": isolation,
        "commits": "read committed, one at a time in a scope",
        "synchronous_commit": synchronous,
        "fsync": fsync,
    }
    return Condition(facts, tuple(_about(facts, place)))


def _about(facts: dict[str, Fact], place: str) -> Iterator[Advice]:
    if facts["is_standby"]:
        yield Advice(
            "postgres.standby",
            "info",
            "the server is a standby: it shows what has arrived, and takes no write",
            place,
        )
    for name in ("synchronous_commit", "fsync"):
        if facts[name] == _NOT_DURABLE:
            yield Advice(
                f"postgres.{name.replace('_', '-')}",
                "warning",
                f"{name} is off, so a crash may lose commits that were acknowledged",
                place,
                f"set {name} to on, unless the store is a throwaway",
            )
