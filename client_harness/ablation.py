"""What each layer of guidance does alone: the same trials with none of them and with each.

Each setting is a run of its own in a folder below, which `resume` can finish and `report` can show.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from client_harness.plan import RunRequest, checked
from client_harness.report import pass_rates, report, shown_rate
from client_harness.results import NAME, SETTINGS, Results
from client_harness.run import Run, reopen, start
from client_harness.table import Table
from client_harness.telling import guides, told
from judge.metrics import paired
from servers.kit.errors import InputError

WITHOUT = "none"
"""The name of the run without guidance."""

SAME = ("scenarios", "agents", "trials", "seed", "clean", "options", "instructions", "guide")
"""What a run that goes on must have in common with the command."""


class Ablated(NamedTuple):
    """One run of an ablation: the layer that it adds, and the run."""

    layer: str
    run: Run


def layers_of(chosen: Sequence[str]) -> list[str]:
    """Return the layers to try, by default all. Raises `UnknownName`."""
    return list(told(None, chosen or guides()).guide)


def begin(
    request: RunRequest, home: Path | Callable[[], Path], layers: Sequence[str]
) -> tuple[Path, list[Ablated]]:
    """Return the folder and the runs of an ablation; those that it already holds go on.

    A callable `home` makes the folder, once all names have been checked. Raises `InputError` if a
    name is wrong, or a run in the folder is another one.
    """
    request = checked(request, None)
    home = home if isinstance(home, Path) else home()
    runs = []
    for layer in (WITHOUT, *layers):
        folder = home / layer
        own = replace(request, guide=[] if layer == WITHOUT else [layer])
        if (folder / NAME).exists():
            runs.append(Ablated(layer, _again(folder, own)))
        else:
            runs.append(Ablated(layer, start(own, folder)))
    return home, runs


def _again(folder: Path, wanted: RunRequest) -> Run:
    run = reopen(folder, jobs=wanted.jobs, max_cost=wanted.max_cost, max_tokens=wanted.max_tokens)
    before = run.request
    for name in SAME:
        if getattr(before, name) != getattr(wanted, name):
            raise InputError(
                f"{folder} holds a run with other {name}; choose another --out, "
                "or repeat the command that began it"
            )
    return run


def ablation(runs: Sequence[tuple[str, Results]]) -> list[dict[str, Any]]:
    """Return a row for each layer and agent.

    `{guide, agent, agent_errors, unknown, not_run, tokens, settings}`; `settings` maps each setting
    that was run to its rate (see `report`) and the paired `difference` from the run without
    guidance, which is None for that run itself and where no scenario has both.
    """
    rows = []
    bases = {}
    for layer, results in runs:
        if not results.trials():
            continue
        for summary in report([results])["agents"]:
            agent = summary["run_as"]
            trials = [trial for trial in results.trials() if trial.agent == agent]
            settings = {}
            for setting in SETTINGS:
                if not summary[setting]["of"]:
                    continue
                rates = pass_rates(trials, setting)
                base = bases.setdefault((agent, setting), rates) if layer == WITHOUT else None
                if base is None:
                    base = bases.get((agent, setting), {})
                compared = None
                if layer != WITHOUT and base.keys() & rates.keys():
                    compared = asdict(paired(rates, base))
                settings[setting] = {**summary[setting], "difference": compared}
            usage = summary["usage"]
            tokens = usage.get("prompt_tokens", 0) + usage.get("completion_tokens", 0)
            counts = {name: summary[name] for name in ("agent_errors", "unknown", "not_run")}
            rows.append(
                {
                    "guide": layer,
                    "agent": summary["agent"],
                    "run_as": agent,
                    **counts,
                    "tokens": round(tokens / max(1, len(trials))),
                    "settings": settings,
                }
            )
    return rows


def table(rows: Sequence[dict[str, Any]]) -> Table:
    """Return the table of an ablation, agent by agent.

    It is narrow, so that it fits into a terminal: one agent stands in the title, not in a column.
    """
    played: set[str] = set()
    for row in rows:
        played |= row["settings"].keys()
    ran = [setting for setting in SETTINGS if setting in played]
    agents = list(dict.fromkeys(row["run_as"] for row in rows))
    any_not_run = any(row["not_run"] for row in rows)
    counts = ["agent errors", "unknown", *(["not run"] if any_not_run else [])]
    shown = []
    for row in sorted(rows, key=lambda row: agents.index(row["run_as"])):
        cells = [row["agent"]] if len(agents) > 1 else []
        cells.append(row["guide"])
        for setting in ran:
            rate = row["settings"].get(setting)
            cells.append(shown_rate(rate) if rate else "–")
        cells.append(_against(row["settings"].get(ran[0])) if ran else "–")
        cells += [str(row[count.replace(" ", "_")]) for count in counts]
        shown.append([*cells, str(row["tokens"])])
    columns = ["agent"] if len(agents) > 1 else []
    against = f"{ran[0]} against none" if ran else "against none"
    columns += ["guidance", *ran, against, *counts, "tokens a trial"]
    whose = f" for {rows[0]['agent']}" if len(agents) == 1 else ""
    title = f"Guidance{whose}, each layer alone (95% intervals; differences paired by scenario)"
    return {"title": title, "columns": columns, "rows": shown}


def _against(rate: dict[str, Any] | None) -> str:
    if not rate or rate["difference"] is None:
        return "–"
    row = rate["difference"]
    edges = " to ".join(f"{100 * row[edge]:+.0f}" for edge in ("low", "high"))
    return f"{100 * row['difference']:+.0f} points  ({edges})"


def finish(runs: Sequence[Ablated], tell: Callable[[str, Run], Any]) -> str:
    """Play all runs, one after another, and return why they stopped, if they did.

    `tell(layer, run)` returns a context manager that yields what shows the run's progress.
    """
    for layer, run in runs:
        with tell(layer, run) as shown:
            run.finish(shown)
        if run.stopped:
            return f"{layer}: {run.stopped}"
    return ""
