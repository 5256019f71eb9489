"""The verbs that check a store: verify, and doctor, which says more and may mend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import click

from uaix_backends.examining import examine, readable_scopes
from uaix_backends.opening import open_store, shown_url
from uaix_core.packages.relations import PACKAGE
from uaix_core.schema.relations import Keep
from uaix_core.store.forms import is_sealed
from uaix_core.store.scanning import all_rows
from uaix_core.store.verifying import Flaw, verify_scope
from uaix_core.values.errors import IntegrityError
from uaix_surfaces.cli.acting import of_host
from uaix_surfaces.cli.failures import OK, REFUSED
from uaix_surfaces.cli.options import json_option, optional_scope_option, store_option
from uaix_surfaces.cli.output import Output
from uaix_surfaces.cli.recognising import require_scope

if TYPE_CHECKING:
    from uaix_backends.examining import Condition
    from uaix_core.schema.rows import Row
    from uaix_core.store.copying import Progress
    from uaix_core.store.port import Store
    from uaix_core.store.verifying import Verification
    from uaix_core.values.ids import ScopeId


@attrs.define
class Rebuilt:
    """A scope that was rebuilt: the commits replayed, and what came out otherwise."""

    commits: int
    flaws: list[Flaw]


def rebuild_scope(store: Store, scope: ScopeId) -> Rebuilt:
    """Derive the views of a scope anew, and name those whose rows were others."""
    before = _views(store, scope)
    commits = store.rebuild(scope)
    after = _views(store, scope)
    message = "the rebuild changed the rows of this view"
    return Rebuilt(
        commits,
        [
            Flaw("doctor.rebuilt", message, name)
            for name in after
            if before[name] != after[name]
        ],
    )


def _views(store: Store, scope: ScopeId) -> dict[str, list[tuple[Row, int]]]:
    """All derived rows of a scope with their versions, by relation."""
    with store.snapshot(scope) as snapshot:
        return {
            relation.name: [(row, row.version) for row in all_rows(snapshot, relation)]
            for relation in store.schema.kept(Keep.VIEW)
        }


class _Checking:
    """Checking a store and telling what was found."""

    def __init__(self, url: str, out: Output, *, is_doctor: bool) -> None:
        self._url = url
        self._out = out
        self._is_doctor = is_doctor
        self._lines: list[dict[str, Any]] = []
        self._is_sound = True

    def run(self, only: ScopeId | None, *, rebuild: bool) -> int:
        """Check the medium, then scope after scope; the exit code."""
        store = open_store(self._url, check=False)
        try:
            if only is not None:
                require_scope(store, only)
            with self._out.working("checking the medium"):
                condition = examine(store)
            self._tell_medium(condition)
            for scope in [only] if only is not None else readable_scopes(store):
                with self._out.working(scope.text) as progress:
                    self._check(store, scope, progress, rebuild=rebuild)
        finally:
            store.close()
        if not self._out.as_json:
            self._show()
        return OK if self._is_sound else REFUSED

    def _tell_medium(self, condition: Condition) -> None:
        out = self._out
        self._is_sound &= condition.is_sound
        shown = [
            advice
            for advice in condition.advice
            if self._is_doctor or advice.level == "error"
        ]
        if out.as_json:
            line = {"store": shown_url(self._url), "ok": condition.is_sound}
            if self._is_doctor:
                line["facts"] = dict(condition.facts)
            out.line({**line, "advice": [attrs.asdict(advice) for advice in shown]})
            return
        if self._is_doctor and condition.facts:
            out.pairs(condition.facts.items())
        for advice in shown:
            where = f" at {advice.path}" if advice.path else ""
            hint = f" ({advice.hint})" if advice.hint else ""
            text = f"{advice.level}: {advice.code}: {advice.message}{where}{hint}"
            out.say(text, advice.level)

    def _check(
        self, store: Store, scope: ScopeId, progress: Progress, *, rebuild: bool
    ) -> None:
        verification = verify_scope(store, scope, progress)
        line = _line(verification)
        flaws = list(verification.flaws)
        if self._is_doctor:
            line["packages"], line["rebuilt"] = None, None
            try:
                with store.snapshot(scope) as snapshot:
                    # What a sealed scope holds can't be told without its keys.
                    if not is_sealed(store, snapshot):
                        line["packages"] = sum(1 for _ in all_rows(snapshot, PACKAGE))
                if rebuild:
                    rebuilt = rebuild_scope(store, scope)
                    line["rebuilt"] = rebuilt.commits
                    flaws += rebuilt.flaws
            except IntegrityError as error:
                if not flaws:
                    flaws = [Flaw(error.code, error.message, error.path or scope.text)]
        line["flaws"] = [attrs.asdict(flaw) for flaw in flaws]
        line["ok"] = not flaws
        self._is_sound &= not flaws
        if self._out.as_json:
            self._out.line(line)
        else:
            self._lines.append(line)

    def _show(self) -> None:
        if not self._lines:
            self._out.say("the store holds no scope yet")
            return
        more = ("packages", "rebuilt") if self._is_doctor else ()
        names = ("scope", "position", "head", "rows", *more)
        self._out.table(
            (*names, "verdict"),
            (
                (
                    *(line[name] for name in names),
                    "ok" if line["ok"] else "wrong",
                )
                for line in (
                    {**line, "head": line["head"][:12]} for line in self._lines
                )
            ),
        )
        for line in self._lines:
            for flaw in line["flaws"]:
                text = f"{flaw['code']}: {flaw['message']} at {flaw['path']}"
                self._out.say(f"{line['scope']}: {text}", "error")


def _line(verification: Verification) -> dict[str, Any]:
    return {
        "scope": verification.scope.text,
        "position": verification.position,
        "head": verification.head,
        "rows": verification.rows,
    }


@click.command("verify")
@of_host
@store_option
@optional_scope_option
@json_option
def verify_verb(*, url: str, scope: ScopeId | None, as_json: bool) -> int:
    r"""Verify a store: the medium, each chain, every digest, every row and view.

    Each commit must continue the chain of its scope, each body must agree with its
    digest, and each row must be what a replay of the commits gives. What is wrong is
    named: the commit (scope#seq) or the row (relation and key). Nothing is changed.
    The replay of one scope at a time is held in memory. Exit code 1: something is
    wrong.

    \b
    Examples:
      uaix verify --store sqlite:my.db
      uaix verify --store dir:my-store --scope me/personal/main
      uaix verify --store backup:my.backup
    """
    out = Output(as_json=as_json)
    return _Checking(url, out, is_doctor=False).run(scope, rebuild=False)


@click.command("doctor")
@of_host
@store_option
@click.option(
    "--rebuild", is_flag=True, help="Also drop the derived rows and derive them anew."
)
@json_option
def doctor_verb(*, url: str, rebuild: bool, as_json: bool) -> int:
    r"""Examine a store: versions, files and advice, then all that verify checks.

    Exit code 1 says that something is wrong, also when the rebuild has just put it
    right; warnings and infos are no such thing.

    \b
    Examples:
      uaix doctor --store sqlite:my.db
      uaix doctor --store dir:my-store --rebuild
    """
    out = Output(as_json=as_json)
    return _Checking(url, out, is_doctor=True).run(None, rebuild=rebuild)
