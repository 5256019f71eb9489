"""``nox -s mutants``: does every mutant of the judged code meet a test that fails?

Results are kept, so a run that was broken off goes on where it stood: a killed mutant
stays killed while its module is the same, a survivor while the judges are, too.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import survivors
from generator import mutated
from judging import ROOT, Judged, Trial
from targets import TARGETS, mutants_of

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator, Mapping, Sequence

    from generator import Mutant

#: Loaded once before the first fork; nothing of the project is among them.
_LARGE = ("apsw", "attrs", "cattrs", "click", "cryptography", "hypothesis.stateful")
_LARGE += ("numpy", "rfc8785", "rich", "snowballstemmer", "sqlite_vec", "zstandard")


def sources() -> dict[str, str]:
    """The text of each module that is mutated."""
    src = ROOT / "src"
    return {file: (src / file).read_text(encoding="utf-8") for file in TARGETS}


def digest(*texts: str) -> str:
    """A short name of these texts."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def digest_of(*folders: str) -> str:
    """A short name of all code in these folders."""
    files = (file for name in folders for file in sorted((ROOT / name).rglob("*.py")))
    return digest(*(file.read_text(encoding="utf-8") for file in files))


def digest_of_judges() -> str:
    """A short name of all that judges: the kit, the tests, and who asks whom."""
    return digest_of("conformance", "tests")


class Results:
    """What was found so far, one JSON line for each mutant, the last one counts."""

    def __init__(self, file: Path, texts: Mapping[str, str]) -> None:
        self._file = file
        self._modules = {name: digest(text) for name, text in texts.items()}
        self._judges = digest_of_judges()
        self.killers: dict[str, str | None] = {}
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                self._take(json.loads(line))

    def _take(self, entry: dict[str, Any]) -> None:
        module = entry["mutant"].partition(":")[0]
        stands = entry["module"] == self._modules.get(module)
        if stands and (entry["killer"] or entry["judges"] == self._judges):
            self.killers[entry["mutant"]] = entry["killer"]
        else:
            self.killers.pop(entry["mutant"], None)

    def add(self, mutant: Mutant, killer: str | None, seconds: float) -> None:
        """Keep what the judges said of one mutant."""
        entry = {
            "mutant": mutant.id,
            "line": mutant.line,
            "killer": killer,
            "seconds": round(seconds, 2),
            "module": self._modules[mutant.file],
            "judges": self._judges,
        }
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        self._take(entry)


class Court:
    """Runs mutants before their judges, some at a time."""

    def __init__(self, texts: Mapping[str, str], at_once: int) -> None:
        self._texts = texts
        self._at_once = at_once
        #: For each judge: test -> its place, from the fastest to the slowest.
        self._orders: dict[Sequence[str], dict[str, float]] = {}
        #: Tests that have killed mutants of a module, which likely kill its others.
        self._killers: dict[str, Counter[str]] = {file: Counter() for file in texts}

    def prepare(self, files: Sequence[str]) -> None:
        """Time each judge over the modules as they are; they must hold.

        Raises:
            SystemExit: a test fails without any mutant.

        """
        trees = {file: parsed(self._texts[file]) for file in files}
        for judge in dict.fromkeys(judge for file in files for judge in TARGETS[file]):
            # A judge need not load every module, but must load those it judges.
            own = {file: tree for file, tree in trees.items() if judge in TARGETS[file]}
            judged = waited(Trial(own, judge, {}))
            if judged.killer is not None:
                sys.exit(f"without any mutant {judged.killer} fails ({judge})")
            self._orders[judge] = dict(judged.durations)
            print(f"{' '.join(judge)}: {judged.seconds:.1f} s without a mutant")

    def hear(
        self, wanted: Sequence[Mutant]
    ) -> Iterator[tuple[Mutant, str | None, float]]:
        """Each mutant with its killer, as they come to an end."""
        waiting = list(reversed(wanted))
        running: list[tuple[Mutant, int, float, Trial]] = []
        try:
            while waiting or running:
                while waiting and len(running) < self._at_once:
                    mutant = waiting.pop()
                    running.append((mutant, 0, 0.0, self._trial(mutant, 0)))
                time.sleep(0.01)
                for entry in [*running]:
                    mutant, judge, spent, trial = entry
                    judged = trial.poll()
                    if judged is None:
                        continue
                    running.remove(entry)
                    spent += judged.seconds
                    if judged.killer is not None:
                        self._killers[mutant.file][judged.killer] += 1
                    elif judge + 1 < len(TARGETS[mutant.file]):
                        trial = self._trial(mutant, judge + 1)
                        running.append((mutant, judge + 1, spent, trial))
                        continue
                    yield mutant, judged.killer, spent
        finally:
            for *_, trial in running:
                trial.stop()

    def _trial(self, mutant: Mutant, judge: int) -> Trial:
        chosen = TARGETS[mutant.file][judge]
        order = dict(self._orders[chosen])
        for killer, times in self._killers[mutant.file].items():
            if killer in order:
                order[killer] = -times
        tree = mutated(self._texts[mutant.file], mutant)
        return Trial({mutant.file: tree}, chosen, order)


def parsed(text: str) -> ast.Module:
    """The tree of a module as it is."""
    import ast  # noqa: PLC0415 - for this alone

    return ast.parse(text)


def waited(trial: Trial) -> Judged:
    """What the judge said in the end."""
    while (judged := trial.poll()) is None:
        time.sleep(0.02)
    return judged


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="nox -s mutants --")
    parser.add_argument("--only", default="", help="mutants whose names contain this")
    parser.add_argument("--sample", type=int, help="this many of them, drawn by chance")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--at-once", type=int, default=2, help="child processes")
    parser.add_argument("--list", action="store_true", help="show them, run nothing")
    parser.add_argument(
        "--results",
        type=Path,
        default=ROOT / ".nox" / "mutants.jsonl",
        help="where results are kept",
    )
    return parser.parse_args()


def main() -> int:
    """Judge what is asked for; 0 when every mutant was killed or may survive."""
    options = arguments()
    texts = sources()
    everyone = [m for file, text in texts.items() for m in mutants_of(file, text)]
    wanted = [m for m in everyone if options.only in m.id]
    if options.sample is not None and options.sample < len(wanted):
        chosen = random.Random(options.seed).sample(wanted, options.sample)
        wanted = [m for m in wanted if m in chosen]
    if options.list:
        for mutant in wanted:
            line = texts[mutant.file].splitlines()[mutant.line - 1].strip()
            print(f"{mutant.id}  {mutant.line}: {line}")
        return 0

    results = Results(options.results, texts)
    left = [m for m in wanted if m.id not in results.killers]
    print(f"{len(wanted)} mutants, {len(wanted) - len(left)} judged before")
    if left:
        for name in _LARGE:
            importlib.import_module(name)
        before = digest_of("src", "conformance", "tests")
        court = Court(texts, options.at_once)
        court.prepare(list(dict.fromkeys(m.file for m in left)))
        for done, (mutant, killer, spent) in enumerate(court.hear(left), 1):
            # A file that is half written would kill every mutant.
            if before != digest_of("src", "conformance", "tests"):
                sys.exit("the code changed while it was judged: run again")
            results.add(mutant, killer, spent)
            how = f"killed by {killer}" if killer else "SURVIVED"
            print(f"[{done}/{len(left)}] {mutant.id} {spent:.1f} s {how}", flush=True)
    return conclude(wanted, everyone, results)


def conclude(
    wanted: Sequence[Mutant], everyone: Sequence[Mutant], results: Results
) -> int:
    """Say how it went."""
    survived = [m.id for m in wanted if results.killers[m.id] is None]
    killed = [m.id for m in wanted if results.killers[m.id] is not None]
    listed = survivors.read(survivors.LIST.read_text(encoding="utf-8"))
    found = survivors.complaints(listed, {m.id for m in everyone}, killed, survived)
    share = 100 * len(survived) / max(1, len(wanted))
    print(f"{len(killed)} killed, {len(survived)} survived ({share:.1f} %)")
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
