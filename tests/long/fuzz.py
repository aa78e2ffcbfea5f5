"""Call every tool with drawn arguments, clean and under every profile, for as long as wanted.

`python -m tests.long.fuzz --calls 1000000` shares the calls among the people and the profiles. In
an episode, arguments mix what earlier replies held (so that calls get far) with odd values. Two
things must hold: no exception is ours, and what is refused changes nothing. The first breach ends
the run with the call that made it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import anyio

from fault_profiles.model import Fault
from fault_profiles.profiles import profile, profiles
from scenarios.worlds import build
from servers.kit.control import Control
from servers.kit.service import services
from servers.kit.session import Session
from servers.kit.store import AGENT
from servers.kit.values import parse_time
from tests.support import TOOLS

CLEAN = "clean"
EPISODE = 400
"""Calls in one episode."""
KEPT = 30
"""How many values that replies held are remembered for an argument."""
ODD: list[Any] = [
    "", " ", "\n", "0", "null", "'; DROP TABLE x; --", '"', "%", "*", "a AND (", "é😀\u202e\u0000",
    "../..", "${a.b}", "2026-02-30", "2026-03", "tomorrow", "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59Z", "x" * 5_000, None, True, False, -1, 0, 1, 2**63, -(2**64), 0.005,
    float("inf"), float("nan"), [], {}, [None], {"": []},
]  # fmt: skip


class Breach(Exception):
    """Something that must hold did not."""


class Drawer:
    """Draws arguments for tools; `seen` are values that replies held, by the field's name."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.seen: dict[str, list[Any]] = {}

    def learn(self, data: Any, name: str = "") -> None:
        """Remember the plain values in a reply."""
        if isinstance(data, dict):
            for key, value in data.items():
                self.learn(value, key)
        elif isinstance(data, list):
            for value in data[:5]:
                self.learn(value, name)
        elif isinstance(data, str | int | float) and name:
            values = self.seen.setdefault(name, [])
            if len(values) < KEPT:
                values.append(data)
            else:
                values[self.rng.randrange(KEPT)] = data

    def arguments(self, schema: dict[str, Any], example: dict[str, Any]) -> Any:
        """Return arguments: most fit the schema, some have one odd value or are no object."""
        luck = self.rng.random()
        if luck < 0.01:
            return self.rng.choice(ODD)
        args = self.value(schema, "", example)
        if luck < 0.15 and args:
            args[self.rng.choice(sorted(args))] = self.rng.choice(ODD)
        return args

    def value(self, node: dict[str, Any], name: str, example: Any) -> Any:
        """Return a value for a place in a schema."""
        rng = self.rng
        if node.get("type") == "object" and isinstance(node.get("properties"), dict):
            needed = set(node.get("required", []))
            given = example if isinstance(example, dict) else {}
            values = {}
            for part, inner in node["properties"].items():
                likely = 0.6 if part in given else 0.2
                if part in needed or rng.random() < likely:
                    values[part] = self.value(inner, part, given.get(part))
            return values
        if node.get("type") == "array":
            least = node.get("minItems", 0)
            count = rng.randint(least, min(node.get("maxItems", 4), least + 3))
            first = example[0] if isinstance(example, list) and example else None
            return [self.value(node.get("items", {}), name, first) for _ in range(count)]
        if "enum" in node:
            return rng.choice(node["enum"])
        known = self._known(name)
        if known and rng.random() < 0.7:
            return rng.choice(known)
        if example is not None and "${" not in str(example):
            return example
        return self._drawn(node)

    def _known(self, name: str) -> list[Any]:
        """Return what replies held under a name, or under a name that it ends with."""
        if name in self.seen:
            return self.seen[name]
        return self.seen.get(name.rpartition("_")[2] or name, [])

    def _drawn(self, node: dict[str, Any]) -> Any:
        rng = self.rng
        low = node.get("minimum", node.get("exclusiveMinimum", 0))
        high = node.get("maximum", node.get("exclusiveMaximum", 1_000))
        match node.get("type"):
            case "boolean":
                return rng.random() < 0.5
            case "integer":
                return rng.randint(int(low), int(high))
            case "number":
                return round(rng.uniform(low, high), 2)
            case "string":
                return rng.choice([*_TEXTS, *_TIMES])
            case _:
                return rng.choice(ODD)


_TEXTS = ("Priya", "coffee", "Thanks!", "dentist", "Portland", "rent", "a", "USD", "AAPL")
_TIMES = ("2026-03-20", "2026-03-20T09:00:00", "2026-04-01T18:30:00Z", "2026-02-01", "08:30")


async def episode(person: str, faults: list[Fault], seed: int, calls: int) -> Counter[str]:
    """Play one episode and return how many calls were answered, refused and failed."""
    names = tuple(services())
    start = parse_time(build.person(person)["start"])
    session = Session(
        names, build.shared(person, names).share(), Control(start, seed), faults=faults
    )
    rng = Random(seed)
    drawer = Drawer(rng)
    counted: Counter[str] = Counter()
    for _ in range(calls):
        cls, spec = rng.choice(TOOLS)
        args = drawer.arguments(spec.schema, spec.example)
        before = session.world.last_change()
        call = f"{person}, seed {seed}: {cls.name}.{spec.name} {args!r:.2000}"
        try:
            reply = await session.call(cls.name, spec.name, args)
        except Exception as error:
            raise Breach(f"{call} raised {error!r}") from error
        if session.bugs:
            raise Breach(f"{call}\n{session.bugs[0]}")
        counted["refused" if reply.is_error else "answered"] += 1
        drawer.learn(reply.data)
        if not reply.is_error and spec.effect == "write":
            continue
        if any(change["cause"] == AGENT for change in session.world.log(before)):
            last = last_attempt(session)
            # A fault may hide from the agent that a write went through.
            if not last.get("firings") or "error" in (last.get("truth") or {}):
                why = "was refused or only reads, and still changed the world"
                raise Breach(f"{call} {why}: {last}")
        if rng.random() < 0.02:
            try:
                session.pass_time(rng.choice((60, 3_600, 86_400)))
            except Exception as error:
                raise Breach(f"time that passed after {call} raised {error!r}") from error
    session.world.close()
    session.control.close()
    return counted


def last_attempt(session: Session) -> dict[str, Any]:
    """Return the last call as the trace holds it; what the clock did may follow it."""
    events = map(json.loads, reversed(session.control.trace()))
    return next(event for event in events if event["event"] == "attempt")


def plan(calls: int, people: list[str], settings: list[str]) -> Iterator[tuple[str, str, int]]:
    """Yield person, setting and seed of each episode."""
    for number in range(-(-calls // EPISODE)):
        yield people[number % len(people)], settings[number // len(people) % len(settings)], number


async def run(calls: int, first: int) -> Counter[str]:
    settings = [CLEAN, *profiles()]
    faults = {name: profile(name).faults if name != CLEAN else [] for name in settings}
    total: Counter[str] = Counter()
    begun = time.monotonic()
    for person, setting, seed in plan(calls, sorted(build.names()), settings):
        total += await episode(person, faults[setting], first + seed, EPISODE)
        if seed % 50 == 49:
            done = total.total()
            rate = done / (time.monotonic() - begun)
            print(f"{done:>9,} calls, {rate:.0f}/s, {dict(total)}", flush=True)
    return total


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first episode")
    given = parser.parse_args()
    try:
        total = anyio.run(run, given.calls, given.seed)
    except Breach as breach:
        sys.exit(f"breach: {breach}")
    print(f"{total.total():,} calls, nothing broke: {dict(total)}")


if __name__ == "__main__":
    main()
