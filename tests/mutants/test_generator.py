"""Laws of the mutants: what is changed, what is left alone, and how they are named."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
import survivors
from generator import Mutant, mutants, mutated
from targets import TARGETS, mutants_of

HERE = Path(__file__).resolve().parent
SRC = HERE.parents[1] / "src"

#: Small modules in which nearly every kind of change occurs.
FEW = (
    "uaix_backends/memory/store.py",
    "uaix_core/store/seal.py",
    "uaix_core/store/views.py",
)


def source_of(file: str) -> str:
    return (SRC / file).read_text(encoding="utf-8")


def changed(source: str) -> list[str]:
    """The text of each mutant of a few lines."""
    return [ast.unparse(mutated(source, mutant)) for mutant in mutants(source, "f.py")]


CHANGES = {
    "x = a == b": ["x = a != b"],
    "x = a != b": ["x = a == b"],
    "x = a < b": ["x = a <= b", "x = a >= b"],
    "x = a <= b": ["x = a < b", "x = a > b"],
    "x = a > b": ["x = a >= b", "x = a <= b"],
    "x = a >= b": ["x = a > b", "x = a < b"],
    "x = a is b": ["x = a is not b"],
    "x = a is not b": ["x = a is b"],
    "x = a in b": ["x = a not in b"],
    "x = a not in b": ["x = a in b"],
    "x = a < b < c": [
        "x = a <= b < c",
        "x = a >= b < c",
        "x = a < b <= c",
        "x = a < b >= c",
    ],
    "x = 5": ["x = 6", "x = 4"],
    "x = True": ["x = False"],
    "x = a and b": ["x = a or b"],
    "x = a or b": ["x = a and b"],
    "x = not a": ["x = a"],
    "x = a + b": ["x = a - b"],
    "x = a & b": ["x = a | b"],
    "x += a": ["x -= a", "pass"],
    "x = max(a)": ["x = min(a)"],
    "x = all(a)": ["x = any(a)"],
    "x = bisect_left(a)": ["x = bisect_right(a)"],
    "x = sorted(a)": ["x = sorted(a, reverse=True)"],
    "x = sorted(a, reverse=b)": [],
    "x = a[b:c]": ["x = a[:c]", "x = a[b:]"],
    "x = a if b else c": ["x = a if False else c", "x = a if True else c"],
    "x = [a for a in b if c]": ["x = [a for a in b]"],
    "x = (*a, *b)": ["x = (*b,)", "x = (*a,)"],
    "check(a)": ["pass"],
    "a.b = c": ["pass"],
    "a, b = c": [],
    "a.b, a.c = d": ["pass"],
    "del a": ["pass"],
    "if a:\n    raise b": ["if False:\n    raise b"],
    "if a:\n    x = b": ["if False:\n    x = b", "if True:\n    x = b"],
    "def f():\n    yield from a": ["def f():\n    pass"],
}


@pytest.mark.parametrize("source", CHANGES)
def test_one_thing_is_changed_in_each_mutant(source):
    """A piece of code has exactly these mutants, in this order."""
    assert CHANGES[source] == changed(source)


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring with 1 < 2."""',
        "def f(a: Literal[1] | None = None) -> Literal[2]: ...",
        "x: dict[int, Literal[3]]",
        "@lru_cache(maxsize=1024)\ndef f(): ...",
        "class A(B[1]): ...",
        "if TYPE_CHECKING:\n    check(1)",
        "def __repr__(self):\n    return a < b",
        "x = attrs.field(default=(), init=False)",
        "x = zip(a, b, strict=True)",
        "raise E(f'more than {1 + 1}', code='a', path=a or b)",
    ],
)
def test_what_shows_in_no_behaviour_is_left_alone(source):
    """Hints, declarations and words of errors have no mutants."""
    assert [] == changed(source)


@pytest.mark.parametrize("file", FEW)
def test_mutants_are_whole_modules_and_no_two_are_alike(file):
    """Each compiles, differs from the module, and differs from the others."""
    source = source_of(file)
    texts = [ast.unparse(ast.parse(source))]
    for mutant in mutants(source, file):
        tree = mutated(source, mutant)
        compile(tree, file, "exec")
        texts.append(ast.unparse(tree))

    assert len(set(texts)) == len(texts) > 10


def test_names_survive_edits_elsewhere():
    """Lines that move and functions that come leave the names of the others."""
    source = (
        "def f(a):\n    return a < 1\n\n\nclass C:\n    def f(self):\n        g(2)\n"
    )
    new = "import g\n\n\ndef first(a):\n    return a < 5\n\n\n"
    names = [mutant.id for mutant in mutants(source, "f.py")]
    later = [mutant.id for mutant in mutants(new + source, "f.py")]

    assert "f.py:f:lt-to-lte:1" == names[0]
    assert "f.py:C.f:statement-dropped:1" in names
    assert len(set(names)) == len(names)
    assert names == [name for name in later if ":first:" not in name]


def test_each_target_exists_and_every_name_is_given_once():
    """A module that is moved must move in the table; no two mutants share a name."""
    names = [m.id for file in TARGETS for m in mutants_of(file, source_of(file))]

    assert len(set(names)) == len(names) > 500


def test_an_unknown_name_is_an_error():
    """A mutant that a module doesn't have can't be made."""
    with pytest.raises(LookupError):
        mutated("x = 1", Mutant("f.py", "<module>", "constant-plus-one", 2, 1))


def test_the_mutant_is_what_is_imported():
    """Another interpreter loads the changed tree under the module's own name."""
    file = "uaix_core/store/seal.py"
    code = (
        "import sys, judging, generator\n"
        f"file = {file!r}\n"
        "text = (judging.ROOT / 'src' / file).read_text(encoding='utf-8')\n"
        "tree = generator.ast.parse(text)\n"
        "tree.body.append(generator.ast.parse('FORMAT = 1').body[0])\n"
        "sys.meta_path.insert(0, judging.Finder({file: tree}))\n"
        "import uaix_core.store.seal as seal, uaix_core.store.port as port\n"
        "print(seal.FORMAT, seal.__file__, port.__file__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
    )

    assert 0 == done.returncode, done.stderr
    assert ["1", str(SRC / file), str(SRC / "uaix_core/store/port.py")] == (
        done.stdout.split()
    )


def test_listed_survivors_exist_and_are_few():
    """The list names mutants that there are, each with a reason, at most 3 %."""
    listed = survivors.read(survivors.LIST.read_text(encoding="utf-8"))
    every = {m.id for file in TARGETS for m in mutants_of(file, source_of(file))}

    assert [] == survivors.complaints(listed, every, every - set(listed), set(listed))


@pytest.mark.parametrize(
    "text",
    [
        '[[survivors]]\nmutants = ["a"]',
        '[[survivors]]\nreason = " "\nmutants = ["a"]',
        '[[survivors]]\nreason = "why"\nmutants = ["a", "a"]',
    ],
)
def test_a_bad_list_is_refused(text):
    """A mutant is listed once, with a reason."""
    with pytest.raises(ValueError):
        survivors.read(text)


ALL = {f"m{n}" for n in range(100)}


@pytest.mark.parametrize(
    ("listed", "survived", "expected"),
    [
        ((), (), []),
        (("m1",), ("m1",), []),
        (("m1",), (), ["listed, but killed: m1"]),
        ((), ("m1",), ["survived: m1"]),
        (("gone",), (), ["listed, but there is no such mutant: gone"]),
        (("m1", "m2", "m3"), ("m1", "m2", "m3"), []),
        (
            ("m1", "m2", "m3", "m4"),
            ("m1", "m2", "m3", "m4"),
            ["4 of 100 survived, more than 3 %"],
        ),
    ],
)
def test_a_run_is_measured_by_the_list(listed, survived, expected):
    """Survivors are listed, what is listed survives, and they are at most 3 %."""
    reasons = dict.fromkeys(listed, "why")

    assert expected == survivors.complaints(
        reasons, ALL, ALL - set(survived), set(survived)
    )


def test_a_part_of_the_mutants_is_measured_by_its_own():
    """A run of some of them says nothing of the others and of their share."""
    reasons = {"m1": "why", "m2": "why"}

    assert [] == survivors.complaints(reasons, ALL, {"m3"}, {"m1"})
