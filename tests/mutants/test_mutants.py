"""No slip of the pen in a scenario file goes unnoticed, and each is told in a good line."""

from __future__ import annotations

import random

from scenarios.load import written
from tests.mutants.table import Result, jobs_of, one

COUNT = 500
SEED = 1
PLAYED = 8
"""In how many scenarios the paths into replies are mutated; each has to be played for that."""


def results() -> list[Result]:
    names = list(written())
    played = random.Random(SEED).sample(names, PLAYED)
    return [one(job, SEED, check=True) for job in jobs_of(names, COUNT, SEED, played)]


def test_every_mutant_is_refused_or_excused_with_a_good_line() -> None:
    made = results()
    assert len(made) == COUNT
    unnoticed = [r.told for r in made if r.what not in ("load", "check", "excused")]
    assert not unnoticed
    refused = [r for r in made if r.what in ("load", "check")]
    assert len(refused) > 0.97 * COUNT
    # What only `check` refuses is rare, so a sample may hold none of it.
    assert "load" in {r.what for r in refused}
    flawed = [f"{', '.join(r.flaws)}: {r.told}" for r in refused if r.flaws]
    assert len(flawed) <= 0.02 * COUNT, flawed
