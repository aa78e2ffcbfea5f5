"""Commands that show what Haywire contains: list, show, check."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from client_harness.commands import _print

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


_FEW = 3
"""How many rows of each table are listed if no service and no table is named."""


class What(StrEnum):
    """The kinds of things that can be listed."""

    services = "services"
    environment = "environment"
    counterparts = "counterparts"
    scenarios = "scenarios"
    suites = "suites"
    faults = "faults"
    checks = "checks"
    claims = "claims"
    agents = "agents"
    adapters = "adapters"
    worlds = "worlds"
    histories = "histories"
    instances = "instances"
    tasks = "tasks"
    profiles = "profiles"
    offers = "offers"
    clients = "clients"
    seeds = "seeds"


World = Annotated[
    str | None, typer.Option(help="Whose world to use; by default maya.", metavar="NAME")
]


def list_(
    what: Annotated[What, typer.Argument(help="What to list.")],
    json: Json = False,
    matrix: Annotated[
        bool,
        typer.Option(
            "--matrix",
            help="Try every fault kind on every tool and report on how many tools each one acts.",
        ),
    ] = False,
    on: Annotated[
        str | None, typer.Option(help="With --matrix, only these tools.", metavar="A.*,B.C")
    ] = None,
    world: World = None,
    service: Annotated[
        str | None,
        typer.Option(help="With seeds, only these services or categories.", metavar="A,B"),
    ] = None,
    table: Annotated[
        str | None, typer.Option(help="With seeds, only this table.", metavar="TABLE")
    ] = None,
    sizes: Annotated[
        bool,
        typer.Option("--sizes", help="With instances, measure them beside the published ones."),
    ] = False,
    targets: Annotated[
        Path | None,
        typer.Option(help="With instances, those of targets of your own.", metavar="FOLDER"),
    ] = None,
) -> None:
    """List services, counterparts, scenarios, suites, fault kinds, check kinds, agents and more.

    `list seeds --world maya --service venmo` lists the rows of a world by table, with the names by
    which scenarios call them and what tells them apart.

    With --matrix, each fault kind is tried on every tool that it handles, starting from the tool's
    example call. The exit status is 1 if a fault kind is broken.

    \b
    Example: client_harness list faults --matrix --on venmo.*
    """
    from client_harness.commands import _catalogue
    from servers.kit.errors import InputError

    if matrix and what is not What.faults:
        raise InputError(f"--matrix works with `list faults`, not with `list {what.value}`")
    if on is not None and not matrix:
        raise InputError("--on only works with --matrix")
    if matrix:
        tried = _catalogue.fault_matrix([p.strip() for p in (on or "*.*").split(",")])
        if json:
            _print.as_json(tried)
        else:
            _print.columns(_catalogue.matrix_rows(tried))
        if any(k["problems"] for k in tried["kinds"].values()):
            raise typer.Exit(1)
        return
    given = {"--world": world, "--service": service, "--table": table}
    for option, value in given.items():
        if value is not None and what is not What.seeds:
            raise InputError(f"{option} works with `list seeds`, not with `list {what.value}`")
    if sizes and what is not What.instances:
        raise InputError(f"--sizes works with `list instances`, not with `list {what.value}`")
    if targets is not None and (what is not What.instances or sizes):
        raise InputError("--targets works with `list instances`, without --sizes")
    if what is What.instances:
        from client_harness.commands.haystack import list_instances

        list_instances(sizes=sizes, json=json, folder=targets)
        return
    if what is What.tasks:
        from client_harness.commands.wild import list_tasks

        list_tasks(json=json)
        return
    if what is What.seeds:
        _list_seeds(world, service, table, json=json)
        return
    entries = _catalogue.entries(what.value)
    if json:
        _print.as_json(entries)
    else:
        _print.columns([[e["name"], e["about"]] for e in entries])


def _list_seeds(world: str | None, service: str | None, table: str | None, *, json: bool) -> None:
    from client_harness.authoring import seeds, shown
    from client_harness.authoring.trying import DEFAULT_WORLD

    chosen = [name.strip() for name in (service or "").split(",") if name.strip()]
    tables = seeds.listed(world or DEFAULT_WORLD, chosen, table)
    if json:
        _print.as_json(tables)
        return
    everything = not chosen and table is None
    for name, entries in tables.items():
        print(f"{name}  ({len(entries)} rows)")
        shown_entries = entries[:_FEW] if everything else entries
        width = max(len(entry["seed"]) for entry in shown_entries)
        for entry in shown_entries:
            telling = ", ".join(f"{key}: {value}" for key, value in entry["columns"].items())
            line = f"  {entry['seed']:<{width}}  {telling}"
            print(line if len(line) <= shown.width() else line[: shown.width() - 1] + "…")
        if len(shown_entries) < len(entries):
            print(f"  … {len(entries) - len(shown_entries)} more: --table {name}")


def show(
    name: Annotated[
        str,
        typer.Argument(
            help=(
                "A service, a tool (venmo.send_money), a scenario, a fault or check kind, "
                "an agent, …"
            )
        ),
    ],
    json: Json = False,
    world: World = None,
) -> None:
    """Show one thing: a service and its tools, a tool, a scenario, the fields of a fault kind, …

    A tool is shown with its example call on a world, the paths in its reply and its error codes.
    If several things share a name, put the kind in front of it: fault:outage.

    \b
    Example: client_harness show venmo.send_money
    """
    from client_harness.commands import _catalogue

    entry = _catalogue.find(name)
    if world is not None or entry["kind"] == "tool":
        entry = _catalogue.tried(name, world)
    if json:
        _print.as_json(entry)
        return
    print(_catalogue.as_text(entry))
    if entry["kind"] == "tool":
        from client_harness.authoring import shown
        from client_harness.authoring.example import tool_lines

        print()
        for line in tool_lines(entry, shown.width()):
            print(line)


def check(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            help="Scenarios, suites, folders or files; by default all shipped scenarios."
        ),
    ] = None,
    json: Json = False,
    matrix: Annotated[
        bool,
        typer.Option("--matrix", help="Also list, for each gate, the runs that fail only it."),
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Prove again what was proven before.")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option(help="Scenarios to prove at the same time; by default all cores.")
    ] = None,
) -> None:
    """Load, cross-check and prove scenarios. The exit status is 1 if one has a problem.

    The proof plays right ways, which must pass, and mutants of the oracle, which must fail. What
    was proven is kept until the scenario, its world or the code changes. Of a file with faults
    only, it shows that they fire on example calls of their tools.

    \b
    Example: client_harness check scenarios/suites/recovery
    """
    from client_harness.authoring.firing import check_profile, is_profile
    from client_harness.proof import check_all
    from client_harness.proof.tally import FATES, added
    from scenarios import load

    profiles = [path for path in paths or () if is_profile(path)]
    others = [path for path in paths or () if path not in profiles]
    problems = []
    remarks = []
    for path in profiles:
        checked = check_profile(path)
        problems += [{"scenario": path, "problem": line} for line in checked.problems]
        remarks += [{"file": path, "remark": line} for line in checked.remarks]
    if profiles and not others:
        _print_profiles(profiles, problems, remarks, json=json)
        return
    names: list[str | Path] = load.resolve(others) if paths else list(load.index())
    found = check_all(names, jobs=jobs, fresh=fresh)
    for name, one in found.items():
        problems += [{"scenario": name, "problem": problem} for problem in one["problems"]]
    proven = len([one for one in found.values() if not one["problems"]])
    counts = added(one["counts"] for one in found.values())
    if json:
        data = {"scenarios": len(names), "proven": proven, "counts": counts, "problems": problems}
        if profiles:
            data["remarks"] = remarks
        data["texts"] = {name: one["texts"] for name, one in found.items() if one["texts"]}
        if matrix:
            data["matrix"] = {name: one["matrix"] for name, one in found.items()}
        _print.as_json(data)
    else:
        for name, one in found.items() if matrix else ():
            _print_matrix(name, one["matrix"])
            for mutant, left in one["texts"].items():
                print(f"  {mutant} passes: {left['text']}")
        _print_lines(problems, remarks)
        fates = ", ".join(f"{counts[fate]} {fate}" for fate in FATES)
        print(f"{proven} of {len(names)} scenarios are proven.")
        print(f"{counts['mutants']} mutants: {fates}.")
    if problems:
        raise typer.Exit(1)


def _print_profiles(
    profiles: list[str],
    problems: list[dict[str, str]],
    remarks: list[dict[str, str]],
    *,
    json: bool,
) -> None:
    wrong = {problem["scenario"] for problem in problems}
    sound = len([path for path in profiles if path not in wrong])
    if json:
        data = {"files": len(profiles), "sound": sound, "problems": problems, "remarks": remarks}
        _print.as_json(data)
    else:
        _print_lines(problems, remarks)
        rest = "; see the remarks" if remarks else ""
        print(f"The faults of {sound} of {len(profiles)} files fire{rest}.")
    if problems:
        raise typer.Exit(1)


def _print_lines(problems: list[dict[str, str]], remarks: list[dict[str, str]]) -> None:
    for one in problems:
        # A line about the file itself names it already, by its full path.
        at_load = one["problem"].startswith(str(Path(one["scenario"]).resolve()))
        named = at_load or one["problem"].startswith(f"{one['scenario']}: ")
        print(one["problem"] if named else f"{one['scenario']}: {one['problem']}")
    for one in remarks:
        print(f"{one['file']}: remark: {one['remark']}")


def _print_matrix(name: str, matrix: dict[str, list[str]]) -> None:
    print(name)
    rows = []
    for gate, runs in matrix.items():
        rows.append([f"  {gate}", str(len(runs)), "; ".join(runs) or "nothing fails only it"])
    if rows:
        _print.columns(rows)
