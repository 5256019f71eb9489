"""Writes the reference pages, the examples and the starter kit from the code.

Run `python docs/generate.py` after a change of a relation, an error, a rule or a
starter text; tests compare what is there with what this gives.
"""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import TYPE_CHECKING

from uaix_backends.migration_scripts import DIALECTS, migrations
from uaix_core.access.roles import GRANTED_ROLES, POWERS
from uaix_core.guard.operations import DEMANDS, ROWS
from uaix_core.packages import examples
from uaix_core.packages.examples.making import example_files, shipped_files
from uaix_core.packages.rules.table import RULES
from uaix_core.packages.templates.new import KINDS
from uaix_core.session.schema import ROOMS, SCHEMA
from uaix_core.startup.checks import CHECKS
from uaix_core.values import errors
from uaix_core.values.errors import CallerError, ConflictError, StorageError
from uaix_core.values.ids import PRINCIPAL_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from uaix_core.packages.findings import Rule
    from uaix_core.schema.relations import Relation
    from uaix_core.schema.rows import Field

REFERENCE = Path(__file__).parent / "reference"
SOURCE = Path(__file__).parents[1] / "src"
STARTER_KIT = Path(__file__).parent / "starter-kit"
EXAMPLES = Path(examples.__file__).parent

# Where each field of the storage-independent record schema is kept. A bracketed place
# is named for a relation that no release has yet.
FIELDS: Mapping[str, str] = {
    "packageId": "`package.package_id`",
    "profileId": "`checkpoint.profile_id`, `package.profile_id`",
    "agentId, npcId": "`checkpoint.manifest`; `agent_binding.agent_id`",
    "path": "`revision.path`, `package_file.path`",
    "stableId": "`revision.record_id`",
    "revisionId": "`revision.revision_id`",
    "parentRevisionId": "`revision.parent_revision_id`",
    "manifestCheckpoint": "the `checkpoint` of the same seq, or the last one before it",
    "requiredStatus": "`revision.required_status`",
    "startupOrder": "`revision.startup_order`",
    "sizeBytes": "`revision.size_bytes`",
    "sha256": "`revision.sha256`",
    "canonicalHash": "`receipt.details` for manifests; (`revision.canonical_sha256`)",
    "mediaType": "`revision.media_type`",
    "charset": "always UTF-8 for text media, so it isn't stored",
    "sourceAuthority": "`revision.source`",
    "provenance": "`revision.source`; (`provenance`)",
    "disclosureLevel": "(`dimension.disclosure`)",
    "confidence": "`revision.review_state`",
    "reviewStatus": "`revision.review_state`, `package.state`",
    "status": "`revision.change`; `head` names the current one; (`conflict`)",
    "author, createdUtc": "`revision.actor_kind` and `actor_id`, `head.created_at`",
    "modifiedBy, modifiedUtc": "the head's revision, `head.modified_at`",
}

# Where each logical table of the data-driven projection is kept.
TABLES: Mapping[str, str] = {
    "Packages": "`package`, `package_scope`",
    "Records": "`package_file`",
    "Revisions": "`revision`",
    "Heads": "`head`",
    "Checkpoints": "`checkpoint`, `checkpoint_digest`",
    "SourceArtifacts": "`revision` of the files under `evidence/`; (`artifact`)",
    "Provenance": "(`provenance`)",
    "Reviews": "(`review`)",
    "Conflicts": "(`conflict`)",
    "Tombstones": "`revision.change` is `tombstone`",
    "ImportExportReceipts": "`receipt`, `receipt_entry`",
    "Entitlements": "`entitlement`, `entitlement_end`",
    "AgentBindings": "`agent_binding`, `agent_unbinding`",
    "RuntimeLeases": "`lease`, `held_lease`, `lease_time`",
    "IdempotencyKeys": "`idempotency`, `digest_key`",
    "IndexesWatermarks": "views are never behind; (`watermark` for indexes outside)",
}


MODEL = """\
What a store holds, relation by relation, in every backend.
HISTORY is truth, VIEW is derived from it, WORK and CACHE are local.
The fields of a body go together when a row is erased; its digest stays."""

ERRORS = """\
Every error carries a stable `code`, and where they help a `path` and a `hint`.
No message holds a secret or stored content.
A path is quoted in one line of at most 1,024 characters; what nobody sees is escaped.
A name that holds a secret isn't shown.
An error is of one of three families, by whose move it is."""

MIGRATIONS = """\
The set is named `uaix`, after the tables, whose names begin with `uaix_`.
What is published is never edited: a change is a further migration.
A checksum is the SHA-256 of the RFC 8785 form of the list of statements.
Those below are for the namespace `uaix`, without partitions.
`uaix migrations --dialect DIALECT` shows the statements.
The table `uaix_migration` says which a database has had.
No version is published yet: until then the first one may still change.

An *additive* migration doesn't keep a version of the library out that lacks it.
One that isn't does, with `store.newer`.
One that isn't *transactional* is run by whoever keeps the database."""

CODES = """\
Every rule that a package is checked against, one row each.
An error refuses the package; warnings and infos don't.
The trigger is one of the standard's twelve no-op names.
A report lists 50 findings of a code at most; one more then says how many followed."""

STARTUP = """\
Every check that a package has to pass before it starts.
All of them are made, and `StartupError.checks` lists each that failed, with its path.
Nothing of a package is given out while any fails.
[Start an agent](../how-to/start-an-agent.md) says how they come about."""


ROLES = """\
What whoever shows a token may do follows from roles, over a scope or one package of it.
Reading what is covered takes any of them; a text that is marked as private is then
read as it is stored, or as a start-up shows it.
An `admin` over a whole scope says who else may do what in it.
[Give narrow access](../how-to/give-narrow-access.md) says how they are given."""

OPERATIONS = """\
An operation is the word of the receipt that it leaves.
What no role names is refused to everyone, and so is a row that its operation isn't for.
Erasing rows of a scope as a whole takes `erase` over all of it."""


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""
    lines = [list(head), ["---"] * len(list(head)), *map(list, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def doc_of(cls: type) -> tuple[str, str]:
    """The first sentence of a docstring and what follows it, as single lines."""
    first, _, rest = inspect.getdoc(cls).partition("\n\n")
    return " ".join(first.split()), " ".join(rest.split())


def field_row(relation: Relation, field: Field) -> list[str]:
    """One field of a relation as a row of its table."""
    kind = " ".join(f"`{word}`" for word in field.words) or field.kind.value
    notes = [
        note
        for note, holds in (
            ("key", field.name in relation.key),
            ("body", field.name in (*relation.body, "salt") and relation.body),
            ("may be None", field.optional and field.name not in relation.body),
        )
        if holds
    ]
    return [f"`{field.name}`", kind, ", ".join(notes)]


def relation_text(relation: Relation) -> str:
    """The section of one relation."""
    summary, rest = doc_of(relation.row)
    lines = [f"### {relation.name}", "", f"{relation.keep.name}: {summary}"]
    if rest:
        lines += [rest]
    lines += [
        "",
        table(
            ["field", "kind", "notes"],
            [field_row(relation, field) for field in relation.ordered],
        ),
    ]
    paths = [
        f"`{name}` ({', '.join(fields)}{'; unique' if name in relation.unique else ''})"
        for name, fields in relation.paths.items()
    ]
    if paths:
        lines += ["", "Paths: " + ", ".join(paths) + "."]
    if relation.versioned:
        lines += ["", "An expectation may name its rows."]
    if relation.tree:
        tree = relation.tree
        path = f"`{tree.name}`" if tree.path is None else f"its `{tree.path}`"
        where = f"{path}, in the folder of its `{tree.folder}`"
        bytes_ = f"the `{tree.body}` of `{tree.relation}`"
        lines += ["", f"In a working tree each row is a file: {where}, with {bytes_}."]
    return "\n".join(lines)


def model_page() -> str:
    """`docs/reference/model.md`."""
    rooms = []
    for room in ROOMS:
        rooms.append(f"## {room.name.capitalize()}")
        rooms += [relation_text(relation) for relation in room.relations]
    return "\n\n".join(
        [
            "# The relations",
            MODEL,
            *rooms,
            "## The fields of the record schema",
            "Names in brackets are kept for relations that are not there yet.",
            table(["field", "kept as"], FIELDS.items()),
            "## The tables of the data-driven projection",
            table(["table", "kept as"], TABLES.items()),
            "This page is generated from the schema.",
        ]
    )


def errors_page() -> str:
    """`docs/reference/errors.md`."""
    families = {
        CallerError: "The caller's move: the input is wrong, nothing was written.",
        ConflictError: "Another writer was first: read again, then decide again.",
        StorageError: "The medium: it failed, or the bytes in it are damaged.",
    }
    parts = [
        "# The errors",
        ERRORS,
    ]
    classes = [c for c in vars(errors).values() if isinstance(c, type)]
    for family, sentence in families.items():
        members = [c for c in classes if issubclass(c, family)]
        rows = [
            [f"`{c.__name__}`", f"`{c.default_code}`", doc_of(c)[0]] for c in members
        ]
        parts += [
            f"## {family.__name__}",
            sentence,
            table(["class", "code unless a finer one is given", "meaning"], rows),
        ]
    parts += [
        "## Codes",
        "The finer codes, with the class that carries each and what it says.",
        table(["code", "class", "says"], code_rows()),
        "This page is generated from the code.",
    ]
    return "\n\n".join(parts)


def code_rows() -> list[list[str]]:
    """Every code that is raised with its class and message, read from the source."""
    found: dict[str, tuple[str, str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            name = "ConflictError" if name == "conflict" else name
            texts = [a.value for a in node.args if isinstance(a, ast.Constant)]
            for keyword in node.keywords:
                value = keyword.value
                if (
                    name.endswith("Error")
                    and keyword.arg == "code"
                    and isinstance(value, ast.Constant)
                ):
                    message = str(texts[0]) if texts else ""
                    found.setdefault(str(value.value), (name, message))
    return [
        [f"`{code}`", f"`{found[code][0]}`", found[code][1].replace("|", "\\|")]
        for code in sorted(found)
    ]


def lint_page() -> str:
    """`docs/reference/lint-codes.md`."""

    def cells(rule: Rule) -> list[str]:
        severity = rule.severity
        if rule.lenient is not None:
            severity += f" ({rule.lenient} when lenient)"
        text = rule.meaning + (f" ({rule.hint})" if rule.hint else "")
        return [
            f"`{rule.code}`",
            severity,
            rule.family,
            ", ".join(filter(None, (rule.trigger, *rule.triggers))),
            text.replace("|", "\\|"),
        ]

    return "\n\n".join(
        [
            "# The lint codes",
            CODES,
            table(
                ["code", "severity", "family", "trigger", "meaning"],
                [cells(RULES[code]) for code in sorted(RULES)],
            ),
            "This page is generated from the rule table.",
        ]
    )


def migrations_page() -> str:
    """`docs/reference/migrations.md`."""
    parts = ["# The migrations", MIGRATIONS]
    for dialect in DIALECTS:
        rows = [
            [
                str(script.version),
                script.name,
                "yes" if script.is_additive else "no",
                "yes" if script.is_transactional else "no",
                f"`{script.checksum}`",
            ]
            for script in migrations(dialect)
        ]
        head = ["version", "name", "additive", "transactional", "checksum"]
        parts += [f"## {dialect}", table(head, rows)]
    declared = [
        f"{one.version} makes {', '.join(f'`{name}`' for name in one.relations)}."
        for one in SCHEMA.migrations
    ]
    return "\n\n".join(
        [*parts, "## What each makes", *declared, "This page is generated."]
    )


def startup_page() -> str:
    """`docs/reference/startup-checks.md`."""
    rows = [
        [f"`{code}`", message, hint] for code, (message, hint) in sorted(CHECKS.items())
    ]
    return "\n\n".join(
        [
            "# The start-up checks",
            STARTUP,
            table(["code", "what failed", "what to do next"], rows),
            "This page is generated from the code.",
        ]
    )


def roles_page() -> str:
    """`docs/reference/roles.md`."""
    kinds = [
        [
            f"`{role}`",
            "a binding" if role not in GRANTED_ROLES else "a grant",
            ", ".join(kind for kind in PRINCIPAL_KINDS if kind in powers.holders),
            "yes" if powers.sees_hidden else "no",
        ]
        for role, powers in POWERS.items()
    ]
    operations = sorted({o for powers in POWERS.values() for o in powers.operations})
    rows = [
        [
            f"`{operation}`",
            *("yes" if operation in p.operations else "" for p in POWERS.values()),
            ", ".join(f"`{name}`" for name in sorted(ROWS[operation])),
        ]
        for operation in operations
    ]
    demands = " ".join(
        f"Rows of `{relation}` need the operation `{operation}` as well."
        for relation, operation in sorted(DEMANDS.items())
    )
    return "\n\n".join(
        [
            "# The roles",
            ROLES,
            table(["role", "comes by", "who may hold it", "sees private texts"], kinds),
            "## What each may do",
            OPERATIONS,
            table(["operation", *(f"`{r}`" for r in POWERS), "rows"], rows),
            f"{demands}\nThis page is generated from the code.",
        ]
    )


PAGES: Mapping[str, Callable[[], str]] = {
    "model.md": model_page,
    "roles.md": roles_page,
    "errors.md": errors_page,
    "lint-codes.md": lint_page,
    "migrations.md": migrations_page,
    "startup-checks.md": startup_page,
}


def shipped() -> dict[Path, bytes]:
    """The examples and the schema that lie in the wheel, by place."""
    return {EXAMPLES / name: data for name, data in shipped_files().items()}


def starter_kit() -> dict[Path, bytes]:
    """The files of the starter kit by place: each example as a folder."""
    return {
        STARTER_KIT / kind / path: data
        for kind in KINDS
        for path, data in example_files(kind).items()
    }


#: What is written beside the pages, each as bytes by place.
FILES: tuple[Callable[[], dict[Path, bytes]], ...] = (shipped, starter_kit)


def main() -> None:
    """Write everything."""
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page() + "\n", encoding="utf-8", newline="\n")
    for make in FILES:
        for path, data in make().items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


if __name__ == "__main__":
    main()
