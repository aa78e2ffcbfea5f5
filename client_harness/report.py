"""Reports of runs: as plain data, and as tables for a terminal, Markdown or HTML.

Rates have explicit denominators and Wilson intervals. Trials in which the agent itself failed are
in the denominator and have a column of their own, and so have trials that were not exposed to a
fault. Unknown trials, and those that were not run, are in no denominator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from client_harness import conditions, listing
from client_harness.episode import HISTORY
from client_harness.fingerprints import PHRASES
from client_harness.haystack import figures
from client_harness.haystack.figures import By
from client_harness.judging import debrief, measured
from client_harness.results import SETTINGS, Results, Trial
from client_harness.table import Table, shown_rate
from client_harness.wild import figures as wild
from judge.metrics import mean_pass_hat_k, paired, wilson
from servers.kit.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

TEMPLATES = Path(__file__).parent / "templates"


def report(runs: Sequence[Results], by: By | wild.By | None = None) -> dict[str, Any]:
    """Return the report of one or more runs as JSON data.

    `by` groups trials of instances, and tasks of dialogues.

    Keys: `runs` (folders), `fingerprints`, `reader` (what read the texts, and its measured error),
    `scenarios` (their number), `agents`, `differences` (paired over scenarios), `failure_kinds`,
    `failed`, `agent_errors` and `unknown` (trials, each with its reason), `unclear` (trials that
    pass because the agent is believed), `haystack` and `by` (see `haystack.figures`; empty without
    instances), `wild` (see `wild.figures`).
    Runs may differ in what they are grouped by. Raises `InputError` if they are not comparable.
    """
    _comparable(runs, by)
    labelled = _groups(runs)
    groups = {label: group.trials for label, group in labelled.items()}
    scenarios: set[str] = set()
    for trials in groups.values():
        scenarios |= {trial.scenario for trial in trials}
    if not scenarios:
        raise InputError(f"{', '.join(str(run.home) for run in runs)}: no trial has finished yet")
    return {
        "runs": [str(run.home) for run in runs],
        "fingerprints": runs[0].fingerprints,
        "reader": _reader(runs, groups),
        "scenarios": len(scenarios),
        "agents": [_agent(label, group) for label, group in labelled.items()],
        "differences": _differences(groups),
        "failure_kinds": _failure_kinds(groups),
        "failed": listing.listed(groups, "fail"),
        "unclear": listing.unclear(groups),
        "agent_errors": listing.listed(groups, "error"),
        "unknown": listing.listed(groups, "unknown"),
        "haystack": figures.summary(groups),
        "wild": wild.summary(groups),
        "by": _grouped(groups, by),
    }


def _grouped(groups: dict[str, list[Trial]], by: By | wild.By | None) -> list[dict[str, Any]]:
    """Return what instances and dialogues are grouped by, where it is theirs."""
    rows = []
    for known in figures.BY:
        rows += figures.grouped(groups, known) if known == by else []
    for named in wild.BY:
        rows += wild.grouped(groups, named) if named == by else []
    return rows


def _comparable(runs: Sequence[Results], by: By | wild.By | None) -> None:
    first = runs[0]
    for other in runs[1:]:
        if first.home.resolve() == other.home.resolve():
            raise InputError(f"{other.home} is named twice")
        parts = first.fingerprints.keys() | other.fingerprints.keys()
        parts -= {by}
        changed = sorted(p for p in parts if first.fingerprints.get(p) != other.fingerprints.get(p))
        if changed:
            verb = "differs" if len(changed) == 1 else "differ"
            raise InputError(
                f"{first.home} and {other.home} cannot be compared: {', '.join(changed)} {verb}"
            )


class Group(NamedTuple):
    """The trials of one agent in one run.

    `agent` is its name in the run, and `name` what it calls itself; `home` is the run's folder;
    `planned` is how many trials there were to be.
    """

    agent: str
    name: str
    home: str
    trials: list[Trial]
    planned: int


def groups_of(runs: Sequence[Results]) -> dict[str, list[Trial]]:
    """Return label → trials of each agent in each run."""
    return {label: group.trials for label, group in _groups(runs).items()}


def _groups(runs: Sequence[Results]) -> dict[str, Group]:
    """Return label → group. Agents of one name are told apart by their run, or their name there."""
    homes = Counter(run.home.name for run in runs)
    groups: list[Group] = []
    for run in runs:
        home = run.home.name if homes[run.home.name] == 1 else str(run.home)
        trials = run.trials()
        for agent in run.request["agents"]:
            its = [trial for trial in trials if trial.agent == agent]
            groups.append(Group(agent, _said_name(agent, its), home, its, _planned(run)))
    names = Counter(group.name for group in groups)
    pairs = Counter((group.name, group.home) for group in groups)
    labelled: dict[str, Group] = {}
    for group in groups:
        label = group.name
        if pairs[group.name, group.home] > 1:
            label = f"{group.name} ({group.agent}, {group.home})"
        elif names[group.name] > 1:
            label = f"{group.name} ({group.home})"
        labelled[label] = group
    return labelled


def _said_name(agent: str, trials: list[Trial]) -> str:
    """Return the name and version by which an agent calls itself, or else its name in the run.

    An agent that changed while it was run has several versions.
    """
    said = [trial.identity for trial in trials if trial.identity]
    if not said:
        return agent
    names = list(dict.fromkeys(identity.get("name", agent) for identity in said))
    versions = [identity["version"] for identity in said if "version" in identity]
    return " ".join([" / ".join(names), " / ".join(dict.fromkeys(versions))]).strip()


def _planned(run: Results) -> int:
    """Return how many trials of each agent a run was to play.

    Runs of earlier versions do not say it.
    """
    return run.planned // len(run.request["agents"])


def _reader(runs: Sequence[Results], groups: dict[str, list[Trial]]) -> dict[str, Any]:
    """Return what read the texts: `{name, measured, questions, phrases, tokens, cost}`.

    `measured` is what `calibrate` found (see `judging.measured`), or None. The last four sum up how
    a judge model was asked: `phrases` are the questions that were left to phrases.
    """
    print_ = runs[0].fingerprints.get("reader", PHRASES)
    name = print_ if print_ == PHRASES else print_.rpartition(" ")[0]
    asked: Counter[str] = Counter()
    for trials in groups.values():
        for trial in trials:
            asked.update(trial.reading)
    counts = {key: asked[key] for key in ("questions", "phrases", "tokens")}
    found = measured.measured(name, print_)
    return {"name": name, "measured": found, **counts, "cost": round(asked["cost"], 6)}


def _agent(label: str, group: Group) -> dict[str, Any]:
    trials = group.trials
    faulted = [trial for trial in trials if trial.arm == "faulted"]
    known = [trial for trial in trials if not trial.unknown]
    usage: Counter[str] = Counter()
    for trial in trials:
        usage.update(trial.spent)
    needless = [trial.needless for trial in known if trial.needless is not None]
    not_exposed = [trial for trial in faulted if _missed_its_faults(trial)]
    return {
        "agent": label,
        "run_as": group.agent,
        "trials": len(faulted or trials),
        "agent_errors": len([trial for trial in known if _erred(trial)]),
        "unknown": len(trials) - len(known),
        "not_run": max(0, group.planned - len(trials)),
        "not_exposed": len(not_exposed),
        "order_inferred": sum(trial.order_inferred for trial in trials),
        **{setting: _rate(trials, setting) for setting in SETTINGS},
        "pass_hat_k": {setting: _pass_hat(trials, setting) for setting in SETTINGS},
        "calls": {
            "made": sum(trial.calls for trial in trials),
            "needless": sum(needless),
            "needless_in": len(needless),
        },
        "wall_seconds": round(sum(trial.wall_seconds or 0 for trial in trials), 3),
        "usage": {n: round(v, 6) for n, v in sorted(usage.items())},
        "debrief": debrief.summed([trial.debrief for trial in trials]),
        **conditions.conditions(trials),
    }


def _missed_its_faults(trial: Trial) -> bool:
    return not (trial.exposed or trial.unknown or _erred(trial))


def _erred(trial: Trial) -> bool:
    return any(verdict["value"] == "error" for verdict in trial.verdicts.values())


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
        "agent_errors": len([v for _, v in known if v == "error"]),
        "unknown": len(values) - of,
    }


def _by_scenario(trials: list[Trial], setting: str) -> dict[str, tuple[int, int]]:
    """Return scenario → (passed, of), counting only trials with a known verdict."""
    counts: dict[str, tuple[int, int]] = {}
    for trial, value in _values(trials, setting):
        if value != "unknown":
            passed, of = counts.get(trial.scenario, (0, 0))
            counts[trial.scenario] = (passed + 1 if value == "pass" else passed, of + 1)
    return counts


def pass_rates(trials: list[Trial], setting: str) -> dict[str, float]:
    """Return scenario → the share of its known trials that passed."""
    counts = _by_scenario(trials, setting)
    return {scenario: passed / of for scenario, (passed, of) in counts.items()}


def _pass_hat(trials: list[Trial], setting: str) -> dict[str, float]:
    """Return pass^k for every k up to the number of known trials that each scenario has.

    If a scenario ran only once, there is none.
    """
    counts = _by_scenario(trials, setting)
    most = min((of for _, of in counts.values()), default=0)
    if most < 2:
        return {}
    return {str(k): round(mean_pass_hat_k(counts, k), 4) for k in range(1, most + 1)}


def _differences(groups: dict[str, list[Trial]]) -> list[dict[str, Any]]:
    differences = []
    for setting in SETTINGS:
        rates = {name: pass_rates(trials, setting) for name, trials in groups.items()}
        for one, other in combinations(groups, 2):
            if not conditions.comparable(groups[one], groups[other]):
                continue
            if rates[one].keys() & rates[other].keys():
                compared = asdict(paired(rates[one], rates[other]))
                pair = {"setting": setting, "first": one, "second": other}
                differences.append(pair | compared)
    return differences


def _kind_of_failure(trial: Trial) -> str:
    return "honest twin" if trial.twin else trial.failure


def _failure_kinds(groups: dict[str, list[Trial]]) -> list[dict[str, Any]]:
    kinds: set[str] = set()
    for trials in groups.values():
        kinds |= {_kind_of_failure(trial) for trial in trials}
    rows = []
    for kind in sorted(kinds):
        agents: dict[str, dict[str, dict[str, int]]] = {}
        for name, trials in groups.items():
            chosen = [trial for trial in trials if _kind_of_failure(trial) == kind]
            agents[name] = {}
            for setting in SETTINGS:
                rate = _rate(chosen, setting)
                agents[name][setting] = {"passed": rate["passed"], "of": rate["of"]}
        rows.append({"failure": kind, "agents": agents})
    return rows


# -- as text -------------------------------------------------------------------------------------
def shown_difference(row: dict[str, Any]) -> str:
    """Return `+25 points (+3 to +44), better in 6, worse in 0 of 24, p = 0.031`."""
    points = " to ".join(f"{100 * row[edge]:+.0f}" for edge in ("low", "high"))
    counts = f"better in {row['better']}, worse in {row['worse']} of {row['scenarios']}"
    return f"{100 * row['difference']:+.0f} points ({points}), {counts}, p = {row['p']:.2g}"


COUNTS = ["needless calls", "agent errors", "unknown", "not exposed", "not run"]
"""The columns beside the rates. They are narrow, so that the table fits into a terminal."""


def tables(data: dict[str, Any]) -> list[Table]:
    """Return the report's tables for any renderer."""
    agents = data["agents"]
    ran = [setting for setting in SETTINGS if _ran(agents, setting)]
    shown = [_passed(data, ran)]
    if data["differences"]:
        shown.append(_compared(data, ran[0]))
    shown.append(_by_failure(data, ran[0]))
    shown += wild.tables(data)
    shown += conditions.table(agents)
    shown += figures.tables(data)
    if any(_remembering(agent) for agent in agents):
        shown.append(_remembered(agents))
    if any(agent["debrief"] for agent in agents):
        shown.append(_debriefs(agents))
    shown.append(_read_by(data["reader"]))
    for key, title in listing.LISTS.items():
        table = listing.table(data[key], title)
        if table["rows"]:
            shown.append(table)
    return shown


def _ran(agents: list[dict[str, Any]], setting: str) -> bool:
    return any(agent[setting]["of"] + agent[setting]["unknown"] for agent in agents)


def _passed(data: dict[str, Any], ran: list[str]) -> Table:
    """Return the main table: the trials that each agent passed, for each setting that ran."""
    hats = [agent["pass_hat_k"][ran[0]] for agent in data["agents"]]
    most = min((len(hat) for hat in hats), default=0)
    noun = "scenario" if data["scenarios"] == 1 else "scenarios"
    pass_k = f"; pass^{most} of {ran[0]}" if most else ""
    any_not_run = any(agent["not_run"] for agent in data["agents"])
    columns = ["agent", *ran]
    if most:
        columns.append(f"pass^{most}")
    rows = []
    for agent, hat in zip(data["agents"], hats, strict=True):
        row = [agent["agent"], *(shown_rate(agent[setting]) for setting in ran)]
        if most:
            row.append(f"{hat[str(most)]:.0%}")
        calls = agent["calls"]
        needless = f"{calls['needless']} in {calls['needless_in']}" if calls["needless_in"] else "–"
        counts = [agent["agent_errors"], agent["unknown"], agent["not_exposed"]]
        if any_not_run:
            counts.append(agent["not_run"])
        rows.append([*row, needless, *map(str, counts)])
    columns += COUNTS if any_not_run else COUNTS[:-1]
    return {
        "title": f"Trials passed, {data['scenarios']} {noun}{_played_with(data)} "
        f"(95% Wilson interval{pass_k})",
        "columns": columns,
        "rows": rows,
    }


SHOWN = {
    "needed": "needed tools",
    "oracle5": "needed and nearest tools",
    "search": "tools by search",
    "sessions": "past by session",
    "published": "published protocol",
    "first": "told to think first",
    "none": "told not to think aloud",
}
"""What a run's exposure, delivery and terms are in words, unless they are the usual ones."""


def _played_with(data: dict[str, Any]) -> str:
    prints = data["fingerprints"]
    settings = ("exposure", "delivery", "protocol", "reasoning")
    names = [prints.get(part, "").partition(" ")[0] for part in settings]
    parts = [SHOWN.get(name, "") for name in names]
    return "".join(f", {words}" for words in parts if words)


def _remembering(agent: dict[str, Any]) -> dict[str, float]:
    """Return what it took an agent to take past sessions, by name."""
    usage = agent["usage"].items()
    return {name.removeprefix(HISTORY): n for name, n in usage if name.startswith(HISTORY)}


def _remembered(agents: list[dict[str, Any]]) -> Table:
    names: set[str] = set()
    for agent in agents:
        names |= _remembering(agent).keys()
    rows = []
    for agent in agents:
        took = _remembering(agent)
        amounts = [f"{took[name]:,.10g}" if name in took else "–" for name in sorted(names)]
        rows.append([agent["agent"], *amounts])
    columns = ["agent", *(name.replace("_", " ") for name in sorted(names))]
    return {
        "title": "Usage for past sessions, ahead of the turns",
        "columns": columns,
        "rows": rows,
    }


def _compared(data: dict[str, Any], setting: str) -> Table:
    rows = []
    for pair in data["differences"]:
        if pair["setting"] == setting:
            agents = f"{pair['first']} − {pair['second']}"
            rows.append([setting, agents, shown_difference(pair)])
    title = f"Paired differences over scenarios ({setting})"
    return {"title": title, "columns": ["setting", "agents", "difference"], "rows": rows}


def _by_failure(data: dict[str, Any], setting: str) -> Table:
    names = [agent["agent"] for agent in data["agents"]]
    rows = []
    for kind in data["failure_kinds"]:
        row = [kind["failure"].replace("_", " ")]
        for name in names:
            rate = kind["agents"][name][setting]
            row.append(f"{rate['passed']}/{rate['of']}")
        rows.append(row)
    title = f"Trials passed by kind of failure ({setting})"
    return {"title": title, "columns": ["failure", *names], "rows": rows}


def _debriefs(agents: list[dict[str, Any]]) -> Table:
    rows = []
    for agent in agents:
        told = agent["debrief"]
        if not told:
            continue
        row = [agent["agent"]]
        if not told["questions"]:
            rows.append([*row, f"not available: {told['why']}", *["–"] * 6])
            continue
        asked = told["trials"] - told["not_available"]
        row += [f"{asked} of {told['trials']} trials", _share(told["right"], told["questions"])]
        row += [_share(told["yes"], told["questions"]), str(told["unparsed"])]
        rows.append(
            [*row, *(str(told[key]) for key in ("knew_told", "knew_not_told", "not_known"))]
        )
    columns = ["agent", "asked", "right answers", "yes", "no answer", "knew and told"]
    columns += ["knew, did not tell", "did not know"]
    return {"title": "Debrief (no part of any verdict)", "columns": columns, "rows": rows}


def _share(count: int, of: int) -> str:
    return f"{count}/{of} {count / of:.0%}"


def _read_by(reader: dict[str, Any]) -> Table:
    """Return the table that names the reader and how often it errs."""
    cells = ["not measured", "–", "–", "–"]
    known = reader["measured"]
    if known is not None:
        figures = known["figures"]
        texts = f"{figures['texts']} {known['part']} texts"
        mcc = figures["stance"]["mcc"]
        cells = [texts if known["current"] else f"{texts}, before it changed"]
        for key in ("honest", "false"):
            rate = figures[key]
            cells.append(_share(rate["hits"], rate["of"]) if rate["of"] else "–")
        cells.append("–" if mcc is None else f"{mcc:.2f}")
    left = f"{reader['phrases']} of {reader['questions']}" if reader["questions"] else "–"
    columns = ["reader", "measured on", "honest accepted", "false caught", "MCC"]
    return {
        "title": "What read the texts",
        "columns": [*columns, "left to phrases"],
        "rows": [[reader["name"], *cells, left]],
    }


def to_terminal(data: dict[str, Any], console: Console, failures: int = 10) -> None:
    """Print a report, listing at most `failures` trials of each kind."""
    for table in tables(data):
        if table["columns"][-1] == "why":
            _print_trials(table, console, failures)
        elif table["rows"]:
            print_table(table, console)


def _print_trials(table: Table, console: Console, failures: int) -> None:
    from rich.padding import Padding
    from rich.text import Text

    rows = table["rows"]
    console.print(f"[bold]{table['title']}[/bold]")
    shown = rows[:failures]
    for agent, scenario, numbers, settings, why in shown:
        line = f"  {agent}: {scenario}, trial {numbers} ({settings})"
        console.print(line, highlight=False, markup=False, soft_wrap=True)
        console.print(Padding(Text(why, style="dim"), (0, 0, 0, 4)))
    if len(shown) < len(rows):
        more = len(rows) - len(shown)
        console.print(
            f"  … and {more} more; list them with `client_harness report RUN --failures 1000`",
            markup=False,
        )


def print_table(table: Table, console: Console) -> None:
    """Print a table in columns that fit the console."""
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(
        title=table["title"],
        title_justify="left",
        title_style="bold",
        box=None,
        padding=(0, 2, 0, 0),
    )
    for column in table["columns"]:
        is_rate = column in SETTINGS
        heading = column.replace(" ", "\n") if column in COUNTS else column
        shown.add_column(heading, header_style="dim", overflow="fold", no_wrap=is_rate)
    for row in table["rows"]:
        shown.add_row(*(Text(cell.replace("  ", "\n")) for cell in row))
    console.print(shown)
    console.print()


def to_text(data: dict[str, Any], form: Literal["md", "html"]) -> str:
    """Return a report as Markdown or as an HTML page."""
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
