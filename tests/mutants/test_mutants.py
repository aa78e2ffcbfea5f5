"""No slip of the pen in a scenario file goes unnoticed, and each is told in a good line."""

from __future__ import annotations

import random

import pytest

from scenarios.load import written
from tests.mutants.table import Result, jobs_of, one, scenario

COUNT = 500
SEED = 1
PLAYED = 8
"""In how many scenarios the paths into replies are mutated; each has to be played for that."""
REPLIES = 20
"""How many paths into replies are mutated beside the rest, which may hold none of them."""


def results() -> list[Result]:
    names = list(written())
    played = random.Random(SEED).sample(names, PLAYED)
    jobs = jobs_of(names, COUNT, SEED, played)
    replies = []
    for name in played:
        for number, place in enumerate(scenario(name)[1]):
            if place.of_replies and (name, number, 0) not in jobs:
                replies.append((name, number, 0))
    jobs += random.Random(SEED).sample(replies, REPLIES)
    return [one(job, SEED, check=True) for job in jobs]


@pytest.mark.long
def test_every_mutant_is_refused_or_excused_with_a_good_line() -> None:
    made = results()
    assert len(made) == COUNT + REPLIES
    unnoticed = [r.told for r in made if r.what not in ("load", "check", "excused")]
    assert not unnoticed
    refused = [r for r in made if r.what in ("load", "check")]
    assert len(refused) > 0.97 * COUNT
    assert {r.what for r in refused} == {"load", "check"}
    flawed = [f"{', '.join(r.flaws)}: {r.told}" for r in refused if r.flaws]
    assert len(flawed) <= 0.02 * COUNT, flawed
