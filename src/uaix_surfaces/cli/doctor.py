"""The verb that checks a store: doctor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import click

from uaix_backends.memory import MemoryStore
from uaix_backends.opening import open_store
from uaix_core.packages.relations import PACKAGE
from uaix_core.schema.relations import Keep
from uaix_core.store.copying import all_rows, all_scopes, copy_scope, differences
from uaix_core.values.errors import UaixError
from uaix_surfaces.cli.failures import OK, REFUSED
from uaix_surfaces.cli.options import json_option, store_option
from uaix_surfaces.cli.output import Output

if TYPE_CHECKING:
    from uaix_core.schema.rows import Row
    from uaix_core.store.port import Store
    from uaix_core.values.ids import ScopeId


@attrs.define
class Checkup:
    """What was found in one scope. ``rebuilt`` counts the commits replayed for it."""

    scope: str
    position: int = 0
    head: str = ""
    packages: int = 0
    rebuilt: int | None = None
    problems: list[dict[str, Any]] = attrs.field(factory=list)

    def as_dict(self) -> dict[str, Any]:
        """The findings as plain data."""
        return {**attrs.asdict(self), "ok": not self.problems}

    def note(self, code: str, message: str, relations: list[str] | None = None) -> None:
        """Add something that is wrong; ``relations`` says where."""
        self.problems.append(
            {"code": code, "message": message, "relations": relations or []}
        )


def check_scope(store: Store, scope: ScopeId, *, rebuild: bool) -> Checkup:
    """Replay the commits of a scope and compare its rows with what comes of them."""
    checkup = Checkup(scope.text)
    try:
        with store.snapshot(scope) as snapshot:
            checkup.position, checkup.head = snapshot.position, snapshot.head
            checkup.packages = sum(1 for _ in all_rows(snapshot, PACKAGE))
        replica = MemoryStore(store.schema)
        copy_scope(store, replica, scope)
        found = differences(store, replica, scope)
        if found:
            checkup.note(
                "doctor.differences",
                "the rows are not what the commits say: " + ", ".join(found),
                found,
            )
        if rebuild:
            before = _views(store, scope)
            checkup.rebuilt = store.rebuild(scope)
            after = _views(store, scope)
            changed = [name for name in after if before[name] != after[name]]
            if changed:
                checkup.note(
                    "doctor.rebuilt",
                    "the rebuild changed the rows of " + ", ".join(changed),
                    changed,
                )
    except UaixError as error:
        # A row that a commit may not hold is the caller's error there, damage here.
        where = f" at {error.path}" if error.path else ""
        checkup.note(error.code, error.message + where)
    return checkup


def _views(store: Store, scope: ScopeId) -> dict[str, list[tuple[Row, int]]]:
    """All derived rows of a scope with their versions, by relation."""
    with store.snapshot(scope) as snapshot:
        return {
            relation.name: [(row, row.version) for row in all_rows(snapshot, relation)]
            for relation in store.schema.kept(Keep.VIEW)
        }


@click.command("doctor")
@store_option
@click.option(
    "--rebuild", is_flag=True, help="Also drop the derived rows and derive them anew."
)
@json_option
def doctor_verb(*, url: str, rebuild: bool, as_json: bool) -> int:
    r"""Check a store: the chain of each scope, and every row against a replay of it.

    The replay is held in memory, one scope at a time. Exit code 1 says that something
    is wrong, also when the rebuild has just put it right.

    \b
    Examples:
      uaix doctor --store sqlite:my.db
      uaix doctor --store dir:my-store --rebuild
    """
    out = Output(as_json=as_json)
    checkups = []
    store = open_store(url)
    try:
        for scope in all_scopes(store):
            with out.working(f"checking {scope.text}"):
                checkup = check_scope(store, scope, rebuild=rebuild)
            checkups.append(checkup)
            if as_json:
                out.line(checkup.as_dict())
    finally:
        store.close()
    if not as_json:
        _show(out, checkups)
    return REFUSED if any(checkup.problems for checkup in checkups) else OK


def _show(out: Output, checkups: list[Checkup]) -> None:
    if not checkups:
        out.say("the store holds no scope yet")
        return
    out.table(
        ("scope", "position", "head", "packages", "rebuilt", "verdict"),
        (
            (
                checkup.scope,
                checkup.position,
                checkup.head[:12],
                checkup.packages,
                checkup.rebuilt,
                "wrong" if checkup.problems else "ok",
            )
            for checkup in checkups
        ),
    )
    for checkup in checkups:
        for problem in checkup.problems:
            out.say(
                f"{checkup.scope}: {problem['code']}: {problem['message']}", "error"
            )
