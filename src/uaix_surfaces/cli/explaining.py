"""The verb that says why a file is required or refused: explain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs
import click

from uaix_backends.files import read_package
from uaix_core.gate.scan import scan_text
from uaix_core.packages.diff import read_manifest, readable_files
from uaix_core.packages.required.explaining import explained
from uaix_surfaces.cli.failures import OK, usable
from uaix_surfaces.cli.options import PATH, json_option, ruleset_option
from uaix_surfaces.cli.output import Output

if TYPE_CHECKING:
    from pathlib import Path

    from uaix_core.packages.required.explaining import Explanation

#: What stands for a word that holds a secret.
_WITHHELD: Final = "(withheld)"


def _declared(path: Path) -> list[str]:
    """The scopes that a package declares; whatever isn't a word is none."""
    with usable():
        declared = read_manifest(readable_files(read_package(path)))
    words = declared.get("declaredScopes")
    return [w for w in words if isinstance(w, str)] if isinstance(words, list) else []


def _shown(word: str) -> str:
    return _WITHHELD if scan_text(word) else word


def _presentable(found: Explanation) -> Explanation:
    """The explanation, without a path that holds a secret."""
    if not scan_text(found.path):
        return found
    rule = f"rule {found.rule}, " if found.rule else ""
    text = (
        f"The standing of this path is {found.standing}; it holds a secret and is "
        f"not shown ({rule}ruleset {found.ruleset})."
    )
    return attrs.evolve(found, path=_WITHHELD, text=text)


@click.command("explain")
@click.argument("path", metavar="PATH")
@click.option(
    "--package", type=PATH, metavar="F", help="A package whose scopes are meant."
)
@click.option(
    "--scope-of",
    "scopes",
    multiple=True,
    metavar="SCOPE",
    help="A scope that a package declares; may be repeated.",
)
@ruleset_option
@json_option
def explain_verb(
    path: str,
    *,
    package: Path | None,
    scopes: tuple[str, ...],
    ruleset: str,
    as_json: bool,
) -> int:
    r"""Say why a file at PATH inside a package is required, allowed or refused.

    Without --package and --scope-of it is about a package that declares nothing but
    universal. The answer names the rule that the lint would name. What holds a secret
    is not shown.

    \b
    Examples:
      uaix explain .uai/persona.uai --package ada.uaix
      uaix explain .uai/voice.uai --scope-of advanced_persona_profile
    """
    declared = [*(() if package is None else _declared(package)), *scopes]
    found = _presentable(explained(path, declared, ruleset=ruleset))
    out = Output(as_json=as_json)
    if as_json:
        named = {*map(_shown, declared), "universal"}
        out.line({**found.as_dict(), "scopes": sorted(named)})
    else:
        out.say(found.text)
    return OK
