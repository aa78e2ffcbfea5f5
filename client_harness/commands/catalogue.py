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
) -> None:
    """Load, cross-check and prove scenarios. The exit status is 1 if one has a problem.

    \b
    Example: client_harness check scenarios/suites/recovery
    """
    from client_harness import prove
    from scenarios import load

    names: list[str | Path] = load.resolve(paths) if paths else list(load.index())
    problems = prove.check(names)
    proven = len(names) - len({problem["scenario"] for problem in problems})
    if json:
        _print.as_json({"scenarios": len(names), "proven": proven, "problems": problems})
    else:
        for problem in problems:
            print(f"{problem['scenario']}: {problem['problem']}")
        print(f"{proven} of {len(names)} scenarios are proven.")
    if problems:
        raise typer.Exit(1)
