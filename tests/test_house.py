"""The rules of the house that a machine can check: floors, purity, sizes, words."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src"
KIT = ROOT / "conformance" / "uaix_conformance"

MAX_LINES = 400

#: Modules through which a program touches the world; the core imports none of them.
WORLD = frozenset(
    {
        "apsw",
        "asyncio",
        "concurrent",
        "fcntl",
        "glob",
        "http",
        "io",
        "locale",
        "logging",
        "mmap",
        "multiprocessing",
        "os",
        "pathlib",
        "psycopg",
        "random",
        "secrets",
        "select",
        "selectors",
        "shutil",
        "signal",
        "socket",
        "sqlite3",
        "ssl",
        "subprocess",
        "tempfile",
        "threading",
        "time",
        "urllib",
        "zoneinfo",
    }
)

#: Calls that reach the world without an import of such a module.
WORLD_CALLS = frozenset({"breakpoint", "input", "open", "print"})
WORLD_METHODS = frozenset({"now", "today", "utcnow", "uuid1", "uuid4"})
CLOCKS = frozenset({"date", "datetime", "uuid"})

#: What `import uaix_core` must not load.
HEAVY = ("apsw", "cattrs", "click", "cryptography", "numpy", "rfc8785", "rich")

#: Upper-case keywords always, since f-strings break statements into pieces; lower
#: case only in the shape of a statement, since sentences begin with the same verbs.
SQL = re.compile(
    r"\s*((SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|PRAGMA|BEGIN|SAVEPOINT|ROLLBACK)\b"
    r"|(?i:select\s.+?\sfrom\s+\w+\b(\s+(where|order|limit|join)\b|$)"
    r"|insert\s+(or\s+\w+\s+)?into\s"
    r"|update\s+\S+\s+set\s"
    r"|delete\s+from\s"
    r"|(create|drop|alter)\s+((temp|unique|virtual)\w*\s+)?(table|index|view|trigger)\b"
    r"|pragma\s"
    r"|begin\s+(immediate|exclusive|deferred)\b"
    r"|savepoint\s"
    r"|with\s+\w+\s+as\s*\())",
    re.DOTALL,
)

#: Modules named for nothing in particular collect everything.
EMPTY_NAMES = frozenset(
    {"base", "common", "helpers", "impl", "manager", "misc", "utils"}
)

#: Put together from halves, so that this file passes its own check.
FORBIDDEN = tuple(
    a + b
    for a, b in (
        ("/wo", "rk/"),
        ("/opt/u", "aix"),
        ("/root/", ".pyenv"),
        ("py", "pi.org"),
        ("pythonhos", "ted.org"),
        ("npm", "js."),
        ("co-auth", "ored-by"),
        ("generated ", "by ai"),
        ("as an ", "ai language model"),
        ("FIX", "ME"),
        ("TO", "DO:"),
        ("design/", "house.md"),
        ("design/", "port.md"),
        ("lorem ", "ipsum"),
    )
)


def python_files(*folders: Path) -> list[Path]:
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def shown(path: Path, node: ast.AST | None = None) -> str:
    line = f":{getattr(node, 'lineno', 0)}" if node is not None else ""
    return f"{path.relative_to(ROOT)}{line}"


def imports(path: Path) -> Iterator[tuple[ast.AST, str]]:
    """Each module that a file imports, also inside functions, by its full name."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node, alias.name
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node, node.module


def importers(package: str, *folders: Path) -> list[str]:
    """The places that import a package."""
    return [
        shown(path, node)
        for path in python_files(*folders)
        for node, name in imports(path)
        if name.split(".")[0] == package
    ]


def code_strings(path: Path) -> Iterator[ast.Constant]:
    """The string constants of a file that are no docstrings."""
    tree = tree_of(path)
    bare = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in bare
        ):
            yield node


def project_texts() -> Iterator[Path]:
    """Every text file of the project that a reader may meet."""
    kinds = {".py", ".md", ".toml", ".json", ".jsonl", ".cfg", ".txt"}
    for top in ("src", "conformance", "tests", "docs", "benchmarks", "changelog.d"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in kinds and "__pycache__" not in path.parts:
                yield path
    yield from sorted(p for p in ROOT.iterdir() if p.is_file() and p.suffix in kinds)
    yield ROOT / ".ci" / "run"


def test_import_contracts_hold():
    """Every import contract of pyproject.toml is kept."""
    code = "from importlinter.cli import lint_imports_command as l; l(['--no-cache'])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert 0 == done.returncode, done.stdout + done.stderr


def test_core_imports_no_world_module():
    """No module of the core imports what touches files, clocks, threads or chance."""
    found = [
        f"{shown(path, node)} {name}"
        for path in python_files(SRC / "uaix_core")
        for node, name in imports(path)
        if name.split(".")[0] in WORLD
    ]

    assert [] == found


def test_core_calls_nothing_of_the_world():
    """No module of the core opens a file, prints, or reads a clock by a builtin."""
    found = []
    for path in python_files(SRC / "uaix_core"):
        for node in ast.walk(tree_of(path)):
            if not isinstance(node, ast.Call):
                continue
            called = node.func
            if isinstance(called, ast.Name) and called.id in WORLD_CALLS:
                found.append(f"{shown(path, node)} {called.id}()")
            if (
                isinstance(called, ast.Attribute)
                and called.attr in WORLD_METHODS
                and isinstance(called.value, ast.Name)
                and called.value.id in CLOCKS
            ):
                found.append(f"{shown(path, node)} {called.value.id}.{called.attr}()")

    assert [] == found


def test_sql_stands_only_in_the_sql_backends():
    """No string constant outside the SQL backends begins like an SQL statement."""
    allowed = (SRC / "uaix_backends" / "sqlite", SRC / "uaix_backends" / "postgres")
    found = [
        f"{shown(path, node)} {str(node.value)[:40]!r}"
        for path in python_files(SRC, KIT)
        if not any(path.is_relative_to(folder) for folder in allowed)
        for node in code_strings(path)
        if SQL.match(str(node.value))
    ]

    assert [] == found


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM t",
        "select a, b from t",
        "INSERT INTO t VALUES (?)",
        "insert or replace into t values (1)",
        "UPDATE t SET a = 1",
        "DELETE FROM t WHERE a = 1",
        "CREATE TABLE IF NOT EXISTS t (a)",
        "create unique index i on t (a)",
        "BEGIN IMMEDIATE",
        "PRAGMA journal_mode = wal",
        "SELECT count(*) FROM t",
    ],
)
def test_the_sql_rule_sees_statements(statement):
    """The rule above recognises the usual statements."""
    assert SQL.match(statement)


@pytest.mark.parametrize(
    "sentence",
    [
        "create a scope first",
        "update the package that it was made from",
        "select one of the kinds",
        "with the same key",
        "drop the draft",
    ],
)
def test_the_sql_rule_lets_sentences_pass(sentence):
    """The rule above takes no English sentence for SQL."""
    assert not SQL.match(sentence)


def test_cattrs_is_imported_by_the_manifest_codec_only():
    """One codec maps wire names to ours; nothing else structures values."""
    codec = "src/uaix_core/packages/manifest/codec.py"
    found = importers("cattrs", SRC, KIT)

    assert [] == [place for place in found if place.split(":")[0] != codec]


def test_numpy_is_imported_by_recall_and_vector_caches_only():
    """Arrays do not leak out of recall and what caches vectors for it."""
    found = importers("numpy", SRC)

    assert [] == [
        place
        for place in found
        if not place.startswith("src/uaix_core/recall/") and "vector" not in place
    ]


def test_the_kit_imports_no_backend():
    """The judge meets backends through entry points and never by import."""
    found = importers("uaix_backends", KIT) + importers("uaix_surfaces", KIT)

    assert [] == found


def test_modules_stay_short():
    """No module of the product or the kit is longer than 400 lines."""
    lengths = {
        shown(path): len(path.read_text(encoding="utf-8").splitlines())
        for path in python_files(SRC, KIT)
    }

    assert {} == {name: n for name, n in lengths.items() if n > MAX_LINES}


def test_modules_are_named_by_what_lives_in_them():
    """No module or folder bears a name that says nothing."""
    found = [
        shown(path)
        for path in python_files(SRC, KIT)
        if EMPTY_NAMES & {path.stem, path.parent.name}
    ]

    assert [] == found


def _only_hands_on(node: ast.stmt) -> bool:
    """Whether a statement of an `__init__.py` computes nothing of its own."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case ast.Import() | ast.ImportFrom():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return all(_only_hands_on(inner) for inner in node.body)
        case ast.FunctionDef(name="__getattr__" | "__dir__"):
            return True
        case (
            ast.Assign(targets=[ast.Name(id=name)])
            | ast.AnnAssign(target=ast.Name(id=name))
        ):
            return name.startswith("_")
        case _:
            return False


def test_init_files_hand_names_on_and_compute_nothing():
    """A package's door holds a docstring, imports and lazy names (PEP 562) only."""
    found = [
        shown(path, node)
        for path in python_files(SRC, KIT)
        if path.name == "__init__.py"
        for node in tree_of(path).body
        if not _only_hands_on(node)
    ]

    assert [] == found


def test_names_handed_on_lazily_exist():
    """Every name in a package's `__all__` can be reached through the package."""
    doors = [
        ".".join(path.parent.relative_to(SRC).parts)
        for path in python_files(SRC)
        if path.name == "__init__.py"
        and any(
            isinstance(node, ast.FunctionDef) and node.name == "__getattr__"
            for node in tree_of(path).body
        )
    ]
    code = (
        "import importlib, sys\n"
        "for door in sys.argv[1:]:\n"
        "    module = importlib.import_module(door)\n"
        "    for name in module.__all__:\n"
        "        getattr(module, name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *doors],
        capture_output=True,
        text=True,
        check=False,
    )

    assert 0 == done.returncode, done.stderr


def test_importing_the_core_is_light():
    """`import uaix_core` loads none of the large dependencies."""
    code = (
        "import sys, uaix_core; print(*sorted(m for m in sys.modules if '.' not in m))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert set() == set(HEAVY) & set(done.stdout.split())


def test_every_test_states_its_law():
    """Each test function has a docstring of one line."""
    found = []
    for path in python_files(ROOT / "tests", KIT):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                law = ast.get_docstring(node)
                if not law or "\n" in law:
                    found.append(f"{shown(path, node)} {node.name}")

    assert [] == found


def test_no_forbidden_word_stands_anywhere():
    """No text of the project names a machine's paths, a registry or a leftover."""
    found = [
        f"{shown(path)}: {word}"
        for path in project_texts()
        if path.is_file()
        for text in [path.read_text(encoding="utf-8").casefold()]
        for word in FORBIDDEN
        if word.casefold() in text
    ]

    assert [] == found


def test_versions_agree():
    """The kit's version is that of the contract it judges by."""
    kit = tomllib.loads(
        (ROOT / "conformance" / "pyproject.toml").read_text(encoding="utf-8")
    )
    contract = (ROOT / "docs" / "contract.md").read_text(encoding="utf-8")

    assert (
        f"# The storage contract, {kit['project']['version']}"
        == (contract.splitlines()[0])
    )


def test_the_kit_carries_the_same_licence():
    """Both distributions are under one licence text."""
    ours = (ROOT / "LICENSE").read_text(encoding="utf-8")
    kits = (ROOT / "conformance" / "LICENSE").read_text(encoding="utf-8")

    assert ours == kits
