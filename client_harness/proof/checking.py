"""Prove many scenarios, on all cores, and keep what was proven."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import anyio

from client_harness.workers import workers
from scenarios.haystack.instances import Instance
from scenarios.load import load, path_of
from scenarios.setup import inserted
from scenarios.wild.dialogues import Dialogue
from scenarios.worlds import build
from servers.kit.errors import InputError

Proven = dict[str, Any]
"""`{problems, counts, matrix, mutants, texts}` of one scenario, as plain data."""


async def prove(name: str | Path) -> list[str]:
    """Return the problems of a scenario, one line each; none if it is proven."""
    made: list[str] = (await proven(name, fresh=True))["problems"]
    return made


async def proven(name: str | Path, *, fresh: bool = False) -> Proven:
    """Return what the proof of a scenario found, from the cache unless `fresh`.

    Shape: `{problems: [line], counts: {mutants, equivalent, killed, excused, survived},
    matrix: {gate: [runs that fail only it]}, mutants: {name: fate},
    texts: {name of a text mutant that survived: {text, advice}}}`.
    """
    try:
        scenario = load(name)
    except InputError as wrong:
        return _shape([str(wrong)])
    # A file that does not load is refused before the second that these imports take.
    from client_harness.proof import keep
    from client_harness.proof.dialogues import DialogueProof
    from client_harness.proof.instances import InstanceProof
    from client_harness.proof.proof import Proof

    text = path_of(name).read_text(encoding="utf-8")
    path = keep.place(name, text, scenario)
    kept = None if fresh else keep.read(path)
    if kept is not None:
        return kept
    problems = []
    for seed in build.lost(text, scenario.world, inserted(scenario)):
        row = f"{seed} names no row of the world {scenario.world}"
        problems.append(f"{row}; use a key from its seeds")
    kinds = {Instance: InstanceProof, Dialogue: DialogueProof}
    proof = kinds.get(type(scenario), Proof)(scenario)
    problems += await proof.run()
    tally = proof.tally
    made = _shape(problems, tally.counts(), tally.matrix(), dict(tally.fates))
    made["texts"] = tally.texts_left()
    if isinstance(proof, InstanceProof):
        made["stands"] = proof.stands
    keep.write(path, made)
    return made


def _shape(
    problems: list[str],
    counts: dict[str, int] | None = None,
    matrix: dict[str, list[str]] | None = None,
    mutants: dict[str, Any] | None = None,
) -> Proven:
    return {
        "problems": problems,
        "counts": counts or {},
        "matrix": matrix or {},
        "mutants": mutants or {},
        "texts": {},
    }


def check_all(
    names: Sequence[str | Path], *, jobs: int | None = None, fresh: bool = False
) -> dict[str, Proven]:
    """Prove scenarios in up to `jobs` processes (by default, one for each core).

    Raises `InputError` for fewer than one job.
    """
    jobs = os.cpu_count() or 1 if jobs is None else jobs
    if jobs < 1:
        raise InputError(f"--jobs: expected at least 1, got {jobs}")
    work = [(name, fresh) for name in names]
    if min(jobs, len(work)) <= 1:
        made: Iterable[Proven] = map(_one, work)
        return dict(zip(map(str, names), made, strict=True))
    with workers(min(jobs, len(work))) as pool:
        made = pool.map(_one, work)
        return dict(zip(map(str, names), made, strict=True))


def _one(work: tuple[str | Path, bool]) -> Proven:
    async def go() -> Proven:
        return await proven(work[0], fresh=work[1])

    return anyio.run(go)


def check(names: Sequence[str | Path], *, jobs: int = 1) -> list[dict[str, str]]:
    """Prove scenarios and return their problems as `{scenario, problem}`."""
    problems = []
    for name, found in check_all(names, jobs=jobs).items():
        problems += [{"scenario": name, "problem": problem} for problem in found["problems"]]
    return problems
