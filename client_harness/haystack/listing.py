"""What instances there are, with counts by kind, service and person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scenarios import load
from scenarios.haystack import instances, targets
from scenarios.haystack.targets import Kind
from servers.kit.service import tool


def entries(folder: Path | None = None) -> list[dict[str, Any]]:
    """Return `{name, about, kind, person, target, services, tools, writes, hidden, by, generated}`.

    They are those of the shipped instances, or of the targets in a folder or file. `tools` are
    those of the oracle, `writes` says whether one of them writes. Raises `InputError`.
    """
    found = []
    for name, kind, which in _named(folder):
        target = targets.target(which)
        calls = sorted(set(_calls(target.oracle)))
        needles = target.kinds[kind].needles
        found.append(
            {
                "name": name,
                "about": target.title,
                "kind": kind,
                "person": targets.person_of(which),
                "target": targets.short(which),
                "generated": target.generated,
                "services": sorted({call.partition(".")[0] for call in calls}),
                "tools": calls,
                "writes": any(tool(call)[1].effect == "write" for call in calls),
                "hidden": target.hidden(kind),
                "by": [needle.by for needle in needles],
            }
        )
    return found


def _named(folder: Path | None) -> Iterator[tuple[str, Kind, str]]:
    """Yield the id or path of each instance, its kind and the name of its target."""
    if folder is None:
        for name in instances.names():
            yield name, *instances.split(name)
        return
    for path in load.resolve([str(folder)]):
        if isinstance(path, Path) and instances.is_inside(path):
            kind = next(kind for kind in targets.KINDS if kind == path.name)
            yield str(path), kind, targets.named(path.parent)


def _calls(steps: Any) -> list[str]:
    calls: list[str] = []
    if isinstance(steps, dict):
        if isinstance(steps.get("call"), str):
            calls.append(steps["call"])
        for part in ("batch", "then", "else", "do"):
            calls += _calls(steps.get(part))
    elif isinstance(steps, list):
        for step in steps:
            calls += _calls(step)
    return calls


def counts(listed: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Return how many instances there are of each kind, person and service, and which write."""
    services: Counter[str] = Counter()
    for entry in listed:
        services.update(entry["services"])
    return {
        "kind": dict(Counter(entry["kind"] for entry in listed)),
        "person": dict(Counter(entry["person"] for entry in listed)),
        "service": dict(sorted(services.items())),
        "effect": dict(Counter("write" if entry["writes"] else "read" for entry in listed)),
    }
