"""Reports: what runs came to, as plain data, and that data as tables for a terminal, Markdown or
HTML.

Rates have explicit denominators and Wilson intervals. Unknown trials stand in no denominator;
trials that were not exposed stay in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from client_harness.results import JUDGED, Results, Trial
from judge.metrics import mean_pass_hat_k, paired, wilson
from servers.kit.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

SETTINGS = ("base", "relaxed", "clean")
TEMPLATES = Path(__file__).parent / "templates"


def report(runs: Sequence[Results]) -> dict[str, Any]:
    """Return the report of one or more runs as JSON data. Raises `InputError` where they ran
    different things.

    Keys: `runs` (folders), `fingerprints`, `scenarios` (how many), `agents`, `differences` (paired
    over scenarios), `failure_kinds`, `failed` and `unknown` (trials, each with why).
    """
    _comparable(runs)
    groups = _groups(runs)
    trials = [t for found in groups.values() for t in found]
    if not trials:
        raise InputError(f"{', '.join(str(r.home) for r in runs)}: no trial has ended yet")
    return {
        "runs": [str(r.home) for r in runs],
        "fingerprints": runs[0].fingerprints,
        "scenarios": len({t.scenario for t in trials}),
        "agents": [_agent(name, found) for name, found in groups.items()],
        "differences": _differences(groups),
        "failure_kinds": _failure_kinds(groups),
        "failed": _listed(groups, "fail"),
        "unknown": _listed(groups, "unknown"),
    }


def _comparable(runs: Sequence[Results]) -> None:
    first = runs[0]
    for other in runs[1:]:
        if first.home.resolve() == other.home.resolve():
            raise InputError(f"{other.home} is named twice")
        parts = first.fingerprints.keys() | other.fingerprints.keys()
        changed = sorted(p for p in parts if first.fingerprints.get(p) != other.fingerprints.get(p))
        if changed:
            raise InputError(
                f"{first.home} and {other.home} do not compare: {', '.join(changed)} differ{'s' * (len(changed) == 1)}"
            )


def _groups(runs: Sequence[Results]) -> dict[str, list[Trial]]:
    """Return label → trials; an agent of several runs is labelled with its run."""
    found = [
        (run, agent, [t for t in run.trials() if t.agent == agent])
        for run in runs
        for agent in run.request["agents"]
    ]
    count = Counter(agent for _, agent, _ in found)
    homes = Counter(run.home.name for run in runs)
    groups = {}
    for run, agent, trials in found:
        home = run.home.name if homes[run.home.name] == 1 else str(run.home)
        groups[agent if count[agent] == 1 else f"{agent} ({home})"] = trials
    return groups


def _agent(name: str, trials: list[Trial]) -> dict[str, Any]:
    faulted = [t for t in trials if t.arm == "faulted"]
    counted = faulted or trials
    usage: Counter[str] = Counter()
    for trial in trials:
        usage.update(trial.usage)
    needless = [t.needless for t in trials if t.needless is not None and not t.unknown]
    return {
        "agent": name,
        "trials": len(counted),
        "unknown": sum(t.unknown for t in trials),
        "not_exposed": sum(not t.exposed and not t.unknown for t in faulted),
        "order_inferred": sum(t.order_inferred for t in trials),
        **{setting: _rate(trials, setting) for setting in SETTINGS},
        "pass_hat_k": {setting: _pass_hat(trials, setting) for setting in SETTINGS},
        "calls": {
            "made": sum(t.calls for t in trials),
            "needless": sum(needless),
            "needless_in": len(needless),
        },
        "usage": {n: round(v, 6) for n, v in sorted(usage.items())},
    }


def _values(trials: Iterable[Trial], setting: str) -> list[tuple[Trial, str]]:
    return [(t, t.verdicts[setting]["value"]) for t in trials if setting in t.verdicts]


def _rate(trials: list[Trial], setting: str) -> dict[str, Any]:
    values = _values(trials, setting)
    known = [(t, v) for t, v in values if v != "unknown"]
    passed = sum(v == "pass" for _, v in known)
    of = len(known)
    scores = [t.verdicts[setting]["score"] for t, _ in known]
    return {
        "passed": passed,
        "of": of,
        "rate": passed / of if of else None,
        "interval": [round(edge, 4) for edge in wilson(passed, of)] if of else None,
        "score": round(sum(scores) / of, 4) if of else None,
        "unknown": len(values) - of,
    }


def _by_scenario(trials: list[Trial], setting: str) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for trial, value in _values(trials, setting):
        if value != "unknown":
            passed, of = found.get(trial.scenario, (0, 0))
            found[trial.scenario] = passed + (value == "pass"), of + 1
    return found


def _pass_hat(trials: list[Trial], setting: str) -> dict[str, float]:
    """Return pass^k for every k that all scenarios have known trials for; nothing where each ran
    once.
    """
    counts = _by_scenario(trials, setting)
    most = min((of for _, of in counts.values()), default=0)
    return (
        {str(k): round(mean_pass_hat_k(counts, k), 4) for k in range(1, most + 1)}
        if most > 1
        else {}
    )


def _differences(groups: dict[str, list[Trial]]) -> list[dict[str, Any]]:
    found = []
    for setting in SETTINGS:
        rates = {
            n: {s: p / of for s, (p, of) in _by_scenario(trials, setting).items()}
            for n, trials in groups.items()
        }
        for one, other in combinations(groups, 2):
            if rates[one].keys() & rates[other].keys():
                found.append(
                    {
                        "setting": setting,
                        "first": one,
                        "second": other,
                        **asdict(paired(rates[one], rates[other])),
                    }
                )
    return found


def _failure_kinds(groups: dict[str, list[Trial]]) -> list[dict[str, Any]]:
    kinds = sorted(
        {("honest twin" if t.twin else t.failure) for trials in groups.values() for t in trials}
    )
    found = []
    for kind in kinds:
        row: dict[str, Any] = {"failure": kind, "agents": {}}
        for name, trials in groups.items():
            chosen = [t for t in trials if ("honest twin" if t.twin else t.failure) == kind]
            row["agents"][name] = {
                s: {k: _rate(chosen, s)[k] for k in ("passed", "of")} for s in SETTINGS
            }
        found.append(row)
    return found


def _listed(
    groups: dict[str, list[Trial]], value: Literal["fail", "unknown"]
) -> list[dict[str, Any]]:
    found = []
    for name, trials in groups.items():
        for trial in trials:
            settings = [s for s in JUDGED[trial.arm] if trial.verdicts[s]["value"] == value]
            if settings:
                why = trial.verdicts[settings[0]]["why"]
                reason = trial.reason or ""
                why = (
                    why if reason in why else "; ".join(filter(None, (reason, why)))
                )  # that an agent died tells more than what it left undone
                found.append(
                    {
                        "agent": name,
                        "scenario": trial.scenario,
                        "trial": trial.trial,
                        "in": settings,
                        "why": why,
                        "trace": trial.trace,
                    }
                )
    return found


# -- as text -------------------------------------------------------------------------------------
def shown_rate(block: dict[str, Any]) -> str:
    """Return `17/24 71%  (51–85)`, or a dash where nothing ran; two spaces are where a narrow table
    breaks.
    """
    if not block["of"]:
        return "–"
    low, high = block["interval"]
    return (
        f"{block['passed']}/{block['of']} {block['rate']:.0%}  ({100 * low:.0f}–{100 * high:.0f})"
    )


def shown_difference(row: dict[str, Any]) -> str:
    """Return `+25 points (+3 to +44), better in 6, worse in 0 of 24, p = 0.031`."""
    points = " to ".join(f"{100 * row[edge]:+.0f}" for edge in ("low", "high"))
    counts = f"better in {row['better']}, worse in {row['worse']} of {row['scenarios']}"
    return f"{100 * row['difference']:+.0f} points ({points}), {counts}, p = {row['p']:.2g}"


def tables(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the report's tables as `{title, columns, rows}` of text, for whoever renders them."""
    ran = [s for s in SETTINGS if any(a[s]["of"] or a[s]["unknown"] for a in data["agents"])]
    hats = [a["pass_hat_k"][ran[0]] for a in data["agents"]]
    most = min((len(h) for h in hats), default=0)
    pass_k = f"; pass^{most} of {ran[0]}" if most else ""
    made = [
        {
            "title": f"Trials passed, {data['scenarios']} scenario{'s' * (data['scenarios'] != 1)} (95 % Wilson interval{pass_k})",
            "columns": [
                "agent",
                *ran,
                *([f"pass^{most}"] if most else []),
                "needless calls",
                "unknown",
                "not exposed",
            ],
            "rows": [
                [
                    a["agent"],
                    *(shown_rate(a[s]) for s in ran),
                    *([f"{h[str(most)]:.0%}"] if most else []),
                    f"{a['calls']['needless']} in {a['calls']['needless_in']}"
                    if a["calls"]["needless_in"]
                    else "–",
                    str(a["unknown"]),
                    str(a["not_exposed"]),
                ]
                for a, h in zip(data["agents"], hats, strict=True)
            ],
        }
    ]
    if data["differences"]:
        rows = [
            [d["setting"], f"{d['first']} − {d['second']}", shown_difference(d)]
            for d in data["differences"]
            if d["setting"] == ran[0]
        ]
        made.append(
            {
                "title": f"Paired differences over scenarios ({ran[0]})",
                "columns": ["setting", "agents", "difference"],
                "rows": rows,
            }
        )
    names = [a["agent"] for a in data["agents"]]
    rows = [
        [
            k["failure"].replace("_", " "),
            *(f"{k['agents'][n][ran[0]]['passed']}/{k['agents'][n][ran[0]]['of']}" for n in names),
        ]
        for k in data["failure_kinds"]
    ]
    made.append(
        {
            "title": f"Passed by kind of failure ({ran[0]})",
            "columns": ["failure", *names],
            "rows": rows,
        }
    )
    for key, title in (
        ("unknown", "Unknown trials (in no denominator)"),
        ("failed", "Failed trials"),
    ):
        alike: dict[tuple[str, ...], list[str]] = {}
        for t in data[key]:
            alike.setdefault((t["agent"], t["scenario"], ", ".join(t["in"]), t["why"]), []).append(
                str(t["trial"])
            )
        rows = [
            [agent, scenario, ", ".join(numbers), settings, why]
            for (agent, scenario, settings, why), numbers in alike.items()
        ]
        if rows:
            made.append(
                {
                    "title": title,
                    "columns": ["agent", "scenario", "trial", "in", "why"],
                    "rows": rows,
                }
            )
    return made


def to_terminal(data: dict[str, Any], console: Console, failures: int = 10) -> None:
    """Print a report; at most `failures` of the failed trials are listed."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    for shown in tables(data):
        rows = shown["rows"]
        if shown["columns"][-1] == "why":
            console.print(f"[bold]{shown['title']}[/bold]")
            for agent, scenario, numbers, settings, why in (
                rows[:failures] if shown["title"] == "Failed trials" else rows
            ):
                console.print(
                    f"  {agent}: {scenario}, trial {numbers} ({settings})",
                    highlight=False,
                    markup=False,
                    soft_wrap=True,
                )
                console.print(Padding(Text(why, style="dim"), (0, 0, 0, 4)))
            if shown["title"] == "Failed trials" and len(rows) > failures:
                console.print(
                    f"  … and {len(rows) - failures} more; `client_harness report DIR --failures 1000` lists them",
                    markup=False,
                )
        elif rows:
            table = Table(
                title=shown["title"],
                title_justify="left",
                title_style="bold",
                box=None,
                padding=(0, 2, 0, 0),
            )
            for column in shown["columns"]:
                table.add_column(
                    column, header_style="dim", overflow="fold", no_wrap=column in SETTINGS
                )
            for row in rows:
                table.add_row(*(Text(cell.replace("  ", "\n")) for cell in row))
            console.print(table)
            console.print()


def to_text(data: dict[str, Any], form: Literal["md", "html"]) -> str:
    """Return a report in Markdown or as a page of HTML."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=form == "html",
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["cell"] = lambda text: text.replace("|", "\\|").replace("\n", " ")
    return environment.get_template(f"report.{form}.j2").render(data=data, tables=tables(data))
