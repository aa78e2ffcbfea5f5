"""Commands that show what Haywire contains: list, show, check."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from client_harness.commands import _print

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


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
    profiles = "profiles"
    clients = "clients"


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
) -> None:
    """List services, counterparts, scenarios, suites, fault kinds, check kinds, agents and more.

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
    entries = _catalogue.entries(what.value)
    if json:
        _print.as_json(entries)
    else:
        _print.columns([[e["name"], e["about"]] for e in entries])


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
) -> None:
    """Show one thing: a service and its tools, a tool, a scenario, the fields of a fault kind, …

    If several things share a name, put the kind in front of it: fault:outage.

    \b
    Example: client_harness show venmo.send_money
    """
    from client_harness.commands import _catalogue

    entry = _catalogue.find(name)
    if json:
        _print.as_json(entry)
    else:
        print(_catalogue.as_text(entry))


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
    was proven is kept until the scenario, its world or the code changes.

    \b
    Example: client_harness check scenarios/suites/recovery
    """
    from client_harness.proof import check_all
    from client_harness.proof.tally import FATES, added
    from scenarios import load

    names: list[str | Path] = load.resolve(paths) if paths else list(load.index())
    found = check_all(names, jobs=jobs, fresh=fresh)
    problems = []
    for name, one in found.items():
        problems += [{"scenario": name, "problem": problem} for problem in one["problems"]]
    proven = len([one for one in found.values() if not one["problems"]])
    counts = added(one["counts"] for one in found.values())
    if json:
        data = {"scenarios": len(names), "proven": proven, "counts": counts, "problems": problems}
        if matrix:
            data["matrix"] = {name: one["matrix"] for name, one in found.items()}
        _print.as_json(data)
    else:
        for name, one in found.items() if matrix else ():
            _print_matrix(name, one["matrix"])
        for problem in problems:
            print(f"{problem['scenario']}: {problem['problem']}")
        fates = ", ".join(f"{counts[fate]} {fate}" for fate in FATES)
        print(f"{proven} of {len(names)} scenarios are proven.")
        print(f"{counts['mutants']} mutants: {fates}.")
    if problems:
        raise typer.Exit(1)


def _print_matrix(name: str, matrix: dict[str, list[str]]) -> None:
    print(name)
    rows = []
    for gate, runs in matrix.items():
        rows.append([f"  {gate}", str(len(runs)), "; ".join(runs) or "nothing fails only it"])
    if rows:
        _print.columns(rows)
