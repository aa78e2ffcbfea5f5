"""What helps the author of a scenario that is not proven: refused steps, lost paths."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from client_harness.agents._script import label
from client_harness.authoring.touching import Met, honest, untouched
from client_harness.proof.play import Played
from fault_profiles.model import Fault
from scenarios.model import Scenario
from scenarios.script import Step, flat
from servers.kit.events import Attempt

_MOST = 6
"""How many refused calls of one play are listed."""
_LONG = 120


def refused(name: str, steps: Sequence[Step], play: Played) -> list[str]:
    """Return a line for each call of a script that was refused: step, call, code and message."""
    lines = []
    for attempt in play.attempts:
        if not attempt.is_error:
            continue
        error = attempt.seen.get("error", {}) if isinstance(attempt.seen, dict) else {}
        args = json.dumps(attempt.args, ensure_ascii=False)
        args = args if len(args) <= _LONG else args[:_LONG] + "…"
        why = f"{error.get('code')}: {error.get('message')}"
        by = ", ".join(firing.fault for firing in attempt.firings)
        cause = f" by the fault {by}" if by else ""
        step = _step(steps, attempt)
        lines.append(f"{name}: {step}{attempt.name} {args} was refused{cause}: {why}")
    if len(lines) > _MOST:
        lines[_MOST:] = [f"{name}: {len(lines) - _MOST} more calls were refused"]
    return lines


def _step(steps: Sequence[Step], attempt: Attempt) -> str:
    """Return the step that made a call, as far as it can be told from the call itself."""
    numbered = list(enumerate(flat(list(steps)), 1))
    fitting = []
    for number, step in numbered:
        if step.call == attempt.name and _fits(step.args, attempt.args):
            fitting.append((number, step))
    names = []
    for number, step in fitting:
        names.append(str(number) if step.id is None else f"{number} ({label(step)})")
    return f"step {' or '.join(names)}: " if names else ""


def _fits(written: dict[str, Any], made: dict[str, Any]) -> bool:
    for key, value in written.items():
        computed = "${" in json.dumps(value)
        if not computed and made.get(key) != value:
            return False
    return True


async def lost_paths(scenario: Scenario, plays: Iterable[Played]) -> list[str]:
    """Return a problem for each operation of a fault whose path is in no reply that it met.

    Tools on which a fault acts and that no play called may have the path, so the replies to their
    example calls count, too.
    """
    met: list[Met] = []
    for play in plays:
        met += honest(play.attempts)
    problems = []
    for fault in scenario.faults:
        wrong = untouched(fault, met)
        if wrong:
            wrong = untouched(fault, [*met, *await _examples(fault, {one.tool for one in met})])
        problems += wrong
    return problems


async def _examples(fault: Fault, called: set[str]) -> list[Met]:
    from client_harness.authoring.example import played
    from servers.kit.service import tool

    made = []
    for name in sorted(fault.acts_on - called):
        one = await played(*tool(name))
        if not one["is_error"]:
            service, _, short = name.partition(".")
            scope = {"args": one["args"], "service": service, "tool": short, "number": 1}
            made.append(Met(name, one["reply"], scope))
    return made
