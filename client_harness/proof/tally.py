"""What became of the runs of a proof: mutants killed, equivalent, excused or survived; gates."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from judge.verdict import Verdict
from scenarios.model import Excuse

Fate = Literal["killed", "equivalent", "excused", "survived"]
_SHOWN = 160
"""How many characters of a mutant's text are shown."""
FATES: tuple[Fate, ...] = ("equivalent", "killed", "excused", "survived")


@dataclass
class Tally:
    """The mutants' fates by name, and for each gate the runs that fail only it.

    `texts` holds, for text mutants that no gate fails, their `text` and `advice`.
    """

    gates: list[str]
    fates: dict[str, Fate] = field(default_factory=dict)
    alone: dict[str, list[str]] = field(default_factory=dict)
    verdicts: dict[str, str] = field(default_factory=dict)
    texts: dict[str, dict[str, str]] = field(default_factory=dict)

    def mutant(self, name: str, verdicts: Iterable[Verdict], equal: bool) -> Fate:
        """Note a mutant's verdicts; it is killed if the first of them is a failure."""
        listed = list(verdicts)
        self.run(name, listed)
        if listed[0].value == "fail":
            fate: Fate = "killed"
        else:
            fate = "equivalent" if equal and listed[0].value == "pass" else "survived"
        self.fates[name] = fate
        self.verdicts[name] = listed[0].value
        return fate

    def run(self, name: str, verdicts: Iterable[Verdict]) -> None:
        """Note which gate was the only one to fail in a run."""
        for verdict in verdicts:
            failed = [finding.name for finding in verdict.findings if finding.failed]
            if len(failed) == 1:
                names = self.alone.setdefault(failed[0], [])
                if name not in names:
                    names.append(name)

    def excuse(self, excuses: Iterable[Excuse]) -> list[str]:
        """Excuse survivors, and return what is wrong with the excuses."""
        problems = []
        for excuse in excuses:
            matching = [name for name in self.survivors(True) if fits(excuse.mutant, name)]
            if not matching:
                problems.append(f"excused: no surviving mutant is named {excuse.mutant!r}")
            for name in matching:
                self.fates[name] = "excused"
        return problems

    def survivors(self, excused: bool = False) -> list[str]:
        """Return the names of the mutants that survived."""
        fates = ("survived", "excused") if excused else ("survived",)
        return [name for name, fate in self.fates.items() if fate in fates]

    def problem(self, name: str) -> str:
        """Return the line about a survivor, with its text, cut, and what to do about it."""
        line = f"mutant {name}: {self.verdicts[name]}, but must fail"
        if name not in self.texts:
            return line
        said = textwrap.shorten(self.texts[name]["text"], _SHOWN, placeholder=" …")
        return f'{line}; it says "{said}"; {self.texts[name]["advice"]}'

    def texts_left(self) -> dict[str, dict[str, str]]:
        """Return the texts and advice of the survivors that are texts."""
        return {name: self.texts[name] for name in self.survivors() if name in self.texts}

    def counts(self) -> dict[str, int]:
        """Return how many mutants were made, and what became of them."""
        counted = {"mutants": len(self.fates)}
        for fate in FATES:
            counted[fate] = list(self.fates.values()).count(fate)
        return counted

    def matrix(self) -> dict[str, list[str]]:
        """Return for each gate the runs that fail only it."""
        return {gate: self.alone.get(gate, []) for gate in self.gates}


def fits(glob: str, name: str) -> bool:
    """Return whether a name fits a glob, in which only `*` has a meaning."""
    return re.fullmatch(".*".join(map(re.escape, glob.split("*"))), name) is not None


def added(counts: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return the sums of some proofs' counts."""
    total = dict.fromkeys(("mutants", *FATES), 0)
    for one in counts:
        for name in total:
            total[name] += one.get(name, 0)
    return total
