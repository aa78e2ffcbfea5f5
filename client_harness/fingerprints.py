"""Short hashes of what a run consists of; results that differ in one of them do not mix."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path

from fault_profiles.profiles import Profile
from scenarios import load
from scenarios.model import Scenario
from scenarios.worlds import build
from servers.kit import files
from servers.kit.files import hash_of

ROOT = Path(__file__).parent.parent
PHRASES = "phrases"
"""The fingerprint of the phrases reader, whose code and words `judge` covers."""
CALIBRATION = ROOT / "judge" / "calibration"
PACKAGES = ("servers", "fault_profiles", "judge", "scenarios", "client_harness")


def fingerprints(
    scenarios: Iterable[Scenario],
    disclosure: str,
    profile: Profile | None = None,
    reader: str = PHRASES,
    *,
    exposure: str = "all",
    delivery: str = "context",
    user: str = "script",
    told: str = "",
) -> dict[str, str]:
    """Return a run's fingerprints.

    They are suite, world, code, judge, reader, disclosure, exposure, delivery, user and told.
    `profile` holds the faults that replace the scenarios' own. `reader` is phrases, or a judge
    model's fingerprint; `user` is script, or that of the model which words what the user says;
    `told` is that of the texts that agents are told.
    """
    chosen = sorted(scenarios, key=lambda scenario: scenario.id)
    suite = [f"{scenario.id}={load.fingerprint(scenario)}" for scenario in chosen]
    if profile is not None:
        suite.append(profile.text)
    return {
        "suite": hash_of(text.encode() for text in suite),
        "world": world(chosen),
        "code": code(),
        "judge": judging(chosen),
        "reader": reader,
        "disclosure": disclosure,
        "exposure": exposure,
        "user": user,
        "delivery": delivery,
        "told": told,
    }


def world(scenarios: Iterable[Scenario]) -> str:
    """Return the hash of the worlds in which scenarios take place."""
    worlds = sorted({scenario.world for scenario in scenarios})
    return hash_of(f"{name}={build.fingerprint(name)}".encode() for name in worlds)


def judging(scenarios: Iterable[Scenario]) -> str:
    """Return the hash of the scenarios' checks and of the judge."""
    checks = []
    for scenario in scenarios:
        for check in scenario.gates:
            checks.append(f"{scenario.id}={check.kind}:{check.model_dump_json()}")
    return hash_of(text.encode() for text in (code("judge"), *sorted(checks)))


@functools.cache
def code(*packages: str) -> str:
    """Return the hash of every file that packages ship, by default all packages.

    Scenarios, histories and people's seeds are left out: `suite` and `world` cover the ones that a
    run uses. What readers are measured with is left out, too, because no run uses it.
    """
    data = tuple(f"{path}/" for path in (load.SUITES, load.HAYSTACK, build.PEOPLE, CALIBRATION))
    paths = files.shipped(*(ROOT / name for name in packages or PACKAGES))
    code_files = []
    for path in paths:
        if path.suffix == ".py" or not path.as_posix().startswith(data):
            code_files.append(path)
    return files.fingerprint(code_files, ROOT)
