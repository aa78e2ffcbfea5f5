"""What a run ran, as short hashes: results of runs that differ in one of them are not to be mixed."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable
from pathlib import Path

from fault_profiles.profiles import locate
from scenarios import load
from scenarios.model import Scenario
from scenarios.worlds import build

ROOT = Path(__file__).parent.parent
PACKAGES = ("servers", "fault_profiles", "judge", "scenarios", "client_harness")


def fingerprints(scenarios: Iterable[Scenario], disclosure: str, profile: str | None = None) -> dict[str, str]:
    """Return suite, world, code, judge and disclosure of a run; `profile` are faults in place of the scenarios' own."""
    chosen = sorted(scenarios, key=lambda s: s.id)
    suite = [f"{s.id}={load.fingerprint(s)}" for s in chosen]
    if profile is not None:
        suite.append(locate(profile).read_text(encoding="utf-8"))
    return {
        "suite": _hash(t.encode() for t in suite),
        "world": world(chosen),
        "code": code(),
        "judge": judging(chosen),
        "disclosure": disclosure,
    }


def world(scenarios: Iterable[Scenario]) -> str:
    """Return the hash of the worlds in which scenarios take place."""
    return _hash(f"{name}={build.fingerprint(name)}".encode() for name in sorted({s.world for s in scenarios}))


def judging(scenarios: Iterable[Scenario]) -> str:
    """Return the hash of the scenarios' checks and of the judge."""
    checks = sorted(f"{s.id}={c.kind}:{c.model_dump_json()}" for s in scenarios for c in s.checks)
    return _hash([code("judge").encode(), *(c.encode() for c in checks)])


@functools.cache
def code(*packages: str) -> str:
    """Return the hash of the packages' Python files, of all packages where none is named."""
    paths = sorted(p for name in packages or PACKAGES for p in (ROOT / name).rglob("*.py"))
    return _hash(part for p in paths for part in (p.relative_to(ROOT).as_posix().encode(), p.read_bytes()))


def _hash(parts: Iterable[bytes]) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(len(part).to_bytes(8) + part)
    return digest.hexdigest()
