"""The conditions under which an agent played: what it was told, its model, what it could see.

Agents that took instructions in different ways are shown side by side, but not compared: what an
agent does with the prompt of its own product says nothing about one whose whole prompt was ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from client_harness.results import Trial
from client_harness.table import Table

TAKEN = {
    "replace": "in place of its prompt",
    "append": "after its own prompt",
    "message": "with the first message",
}


def conditions(trials: Sequence[Trial]) -> dict[str, Any]:
    """Return `{told, models, locked}`.

    `told` has each `{instructions, as, guide}` of the trials (see `telling.Told`), `models` the
    models by name. `locked` counts trials in which what was held back was listed from the start,
    though the run discloses otherwise, because the agent never lists tools again.
    """
    told: list[dict[str, Any]] = []
    models: list[str] = []
    locked = 0
    for trial in trials:
        if trial.told and trial.told not in told:
            told.append(trial.told)
        model = trial.identity.get("model", "")
        if model and model not in models:
            models.append(model)
        if trial.disclosure == "locked" and trial.fingerprints.get("disclosure") == "notify":
            locked += 1
    return {"told": told, "models": models, "locked": locked}


def comparable(one: Sequence[Trial], other: Sequence[Trial]) -> bool:
    """Return whether two agents took instructions in the same way, as far as they took any."""
    kinds = [kinds_of(one), kinds_of(other)]
    return not all(kinds) or kinds[0] == kinds[1]


def kinds_of(trials: Sequence[Trial]) -> set[str]:
    """Return the ways in which an agent took instructions; scripts have none."""
    return {trial.told["as"] for trial in trials if trial.told}


def table(agents: Sequence[dict[str, Any]]) -> list[Table]:
    """Return the table of conditions, or nothing if all agents are scripts."""
    rows = []
    for agent in agents:
        if not agent["told"] and not agent["locked"]:
            continue
        instructions = [Path(told["instructions"]).stem for told in agent["told"]]
        taken = [TAKEN[told["as"]] for told in agent["told"]]
        guides = [", ".join(told["guide"]) or "–" for told in agent["told"]]
        held_back = "–"
        if agent["locked"]:
            count = "1 trial" if agent["locked"] == 1 else f"{agent['locked']} trials"
            held_back = f"locked in {count}, because it never lists tools again"
        row = [agent["agent"], " / ".join(agent["models"]) or "–"]
        row += [" / ".join(dict.fromkeys(part)) or "–" for part in (instructions, taken, guides)]
        rows.append([*row, held_back])
    if not rows:
        return []
    columns = ["agent", "model", "instructions", "taken", "guidance", "held-back services"]
    title = "What agents were told (agents that took it differently are not compared)"
    return [{"title": title, "columns": columns, "rows": rows}]
