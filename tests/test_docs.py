"""The documents are true: clauses have tests, links lead somewhere, snippets run."""

from __future__ import annotations

import ast
import importlib.util
import re
import shlex
from functools import partial
from pathlib import Path

import pytest
from sybil.document import Document
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser

from uaix_surfaces.cli import main

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
KIT = ROOT / "conformance" / "uaix_conformance"

CLAUSE = re.compile(r"^\*\*(\d+)\.(\d+)\*\* ", re.MULTILINE)
GROUP = re.compile(r"^## (\d+) ", re.MULTILINE)
MARKED = re.compile(r"^\*\*\d+\.\d+\*\* (?:`\[([A-Z]+)\]` )?(.*)$", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
EXIT = re.compile(r"#\s*exits? (\d+)\s*$")

ADR_HEADINGS = ["Context", "Options", "Outcome", "What would change our mind"]


def pages() -> list[Path]:
    """Every Markdown page of the project."""
    tops = [p for p in sorted(ROOT.glob("*.md")) if p.stat().st_size]
    return [*tops, *sorted(DOCS.rglob("*.md")), ROOT / "conformance" / "README.md"]


def page_name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def contract() -> str:
    return (DOCS / "contract.md").read_text(encoding="utf-8")


def contract_clauses() -> list[str]:
    return [f"{group}.{number}" for group, number in CLAUSE.findall(contract())]


def cited_clauses() -> dict[str, set[str]]:
    """Clause ids in `mark.clause(...)` of the kit, with the files that cite them."""
    cited: dict[str, set[str]] = {}
    for path in sorted(KIT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and "clause" in (
                getattr(node.func, "attr", None),
                getattr(node.func, "id", None),
            ):
                for argument in node.args:
                    if isinstance(argument, ast.Constant):
                        cited.setdefault(str(argument.value), set()).add(path.name)
    return cited


def anchors(page: Path) -> set[str]:
    """The anchors that the headings of a page give."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        for heading in headings
    }


def test_clauses_are_numbered_in_order():
    """The contract's clauses stand in ascending order, each once, in their group."""
    numbers = [tuple(map(int, c.split("."))) for c in contract_clauses()]
    groups = [int(number) for number in GROUP.findall(contract())]

    assert sorted(set(numbers)) == numbers
    assert sorted({group for group, _ in numbers}) == groups


def test_clauses_name_known_capabilities():
    """A clause is bound to no capability but the four, and every host clause to one."""
    marks = {mark for mark, _ in MARKED.findall(contract()) if mark}
    hosts = [line for line in contract().splitlines() if line.startswith("**15.")]

    assert marks <= {"DURABLE", "SHARED", "JOINS", "FILES"}
    assert all("`[JOINS]`" in line for line in hosts)


def test_every_clause_has_a_test():
    """Each clause of the contract is cited by a test of the conformance kit."""
    cited = cited_clauses()

    assert [] == [clause for clause in contract_clauses() if clause not in cited]


def test_every_cited_clause_exists():
    """The conformance kit cites no clause that the contract doesn't have."""
    known = set(contract_clauses())

    assert {} == {c: where for c, where in cited_clauses().items() if c not in known}


@pytest.mark.parametrize("adr", sorted((DOCS / "adr").glob("*.md")), ids=page_name)
def test_decision_records_have_their_four_headings(adr):
    """A decision record says context, options, outcome and what would change it."""
    text = adr.read_text(encoding="utf-8")

    assert re.match(r"# \d{4} \S", text)
    assert adr.name[:4] == text[2:6]
    assert ADR_HEADINGS == re.findall(r"^## (.*)$", text, re.MULTILINE)


def test_decision_records_are_numbered_without_gaps():
    """Decision records count from 0001 and each number is given once."""
    numbers = [int(p.name[:4]) for p in sorted((DOCS / "adr").glob("*.md"))]

    assert list(range(1, len(numbers) + 1)) == numbers


@pytest.mark.parametrize("page", pages(), ids=page_name)
def test_links_lead_somewhere(page):
    """Every relative link of a page names a file, and every anchor a heading."""
    broken = []
    prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in LINK.findall(prose):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)

    assert [] == broken


def test_every_page_is_reached_from_the_index():
    """Following links from the index leads to every page of the documentation."""
    seen: set[Path] = set()
    waiting = [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".md" or not page.is_file():
            continue
        seen.add(page)
        waiting += [
            (page.parent / target.partition("#")[0]).resolve()
            for target in LINK.findall(page.read_text(encoding="utf-8"))
            if "://" not in target
        ]

    assert set() == set(DOCS.rglob("*.md")) - seen


def test_generated_pages_are_fresh():
    """Each generated page is what `docs/generate.py` gives from the code as it is."""
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)

    for name, page in generate.PAGES.items():
        written = (DOCS / "reference" / name).read_text(encoding="utf-8")
        assert page() + "\n" == written, name


def run_console(capsys, example):
    """Run the `$ uaix ...` lines of a console block in the current folder.

    A line ends with success unless it says `# exits N`. Other commands are shown to
    the reader and not run: they install things or belong to the reader's shell.
    """
    for line in example.parsed.splitlines():
        if not line.startswith("$ uaix "):
            continue
        said = EXIT.search(line)
        expected = int(said.group(1)) if said else 0
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(shlex.split(line[2:], comments=True)[1:])
        if ended.value.code != expected:
            out, err = capsys.readouterr()
            return f"{line}: exit {ended.value.code}\n{out}{err}"
    return None


@pytest.mark.parametrize("page", pages(), ids=page_name)
def test_snippets_run(page, tmp_path, monkeypatch, capsys):
    """Every Python snippet and every `uaix` command of a page runs, in page order."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    document = Document.parse(
        str(page),
        PythonCodeBlockParser(),
        CodeBlockParser("console", partial(run_console, capsys)),
        SkipParser(),
    )

    for example in document.examples():
        example.evaluate()
