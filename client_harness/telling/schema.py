"""The guide `schema`: hints in the descriptions of tools, which follow by rule from what is known.

That is a tool's effect, whether it may be repeated or undone, and which tools of other services do
the same. No hint says anything about a scenario or a fault, and a service that an agent cannot see
yet is not named.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable

from servers.kit.counterparts import matches
from servers.kit.service import ToolSpec
from servers.kit.session import Session

READS = "It changes nothing, so you may repeat it; what it shows may be out of date or incomplete."
REPEATS = "It changes something. Repeated with the same arguments, it changes nothing more."
ONCE = (
    "It changes something each time it is called. After an error or a timeout, find out what "
    "became of the first call before you repeat it."
)
CHECK = "A reply of success is no proof: read back what it changed."
FINAL = "It cannot be undone, so be sure of every argument first."


def hints(session: Session) -> Callable[[str, ToolSpec], str]:
    """Return a function that gives the hint for a tool of a service, as the session is now."""

    def hint(service: str, spec: ToolSpec) -> str:
        offered = {name: frozenset(session.classes[name].tools) for name in session.listed()}
        others = []
        for other, tool, whole in instead_of(f"{service}.{spec.name}"):
            if tool in offered.get(other, ()):
                part = "the same" if whole else "part of it"
                others.append(f"`{tool}` of {other} does {part}")
        return " ".join(["Hint:", *_of(spec), *_instead(others)])

    return hint


def _of(spec: ToolSpec) -> list[str]:
    if spec.effect == "read":
        return [READS]
    said = [REPEATS if spec.idempotent else ONCE, CHECK]
    return [*said, FINAL] if spec.destructive else said


def _instead(others: list[str]) -> list[str]:
    return [f"If it is not available: {'; '.join(others)}."] if others else []


@functools.cache
def instead_of(name: str) -> tuple[tuple[str, str, bool], ...]:
    """Return `(service, tool, whole)` for each counterpart of a tool; `whole` if it does all."""
    found: dict[tuple[str, str], bool] = {}
    for match in itertools.chain.from_iterable(matches().values()):
        if name not in match.tools:
            continue
        for other in match.tools:
            if other != name:
                service, _, tool = other.partition(".")
                whole = name not in match.partial and other not in match.partial
                found[service, tool] = whole or found.get((service, tool), False)
    return tuple((*place, whole) for place, whole in sorted(found.items()))
