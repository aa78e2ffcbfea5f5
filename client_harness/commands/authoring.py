"""Commands for authors of scenarios and faults: try, schema, new."""

from __future__ import annotations

from typing import Annotated

import typer

from client_harness.commands import _print

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def try_(
    calls: Annotated[
        list[str],
        typer.Argument(
            help="'service.tool {argument: value}', 'name = service.tool {…}' or a file of steps.",
            metavar="CALL…",
        ),
    ],
    world: Annotated[
        str | None, typer.Option(help="Whose world to use; by default maya.", metavar="NAME")
    ] = None,
    services: Annotated[
        str | None,
        typer.Option(help="Services beside those of the calls.", metavar="A,B"),
    ] = None,
    faults: Annotated[
        str | None, typer.Option(help="A fault profile: a name or a YAML file.", metavar="PROFILE")
    ] = None,
    scenario: Annotated[
        str | None,
        typer.Option(help="Use the world, services and faults of a scenario.", metavar="NAME"),
    ] = None,
    clean: Annotated[bool, typer.Option("--clean", help="Leave a scenario's faults out.")] = False,
    at: Annotated[
        str | None,
        typer.Option(help="Begin later: +600 (seconds) or 2026-03-14T18:00:00Z.", metavar="TIME"),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed for ids and random choices.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Do not shorten replies.")] = False,
    json: Json = False,
) -> None:
    """Run calls one after another and show replies, the truth, changed rows and faults.

    Seeded rows are named as in scenarios (seed:vct/jordan_park) or in short (@jordan_park); ${…}
    takes values from earlier replies. For each fault on a called tool that did not fire, the
    output says why.

    \b
    Example: client_harness try 'venmo.add_friend {name: Kai, username: kai-t}' venmo.list_friends
    """
    from client_harness.authoring import shown
    from client_harness.authoring.trying import try_calls

    made = try_calls(
        calls,
        world=world,
        services=[name.strip() for name in (services or "").split(",") if name.strip()],
        faults=faults,
        scenario=scenario,
        clean=clean,
        at=at,
        seed=seed,
    )
    if json:
        _print.as_json([one.as_json() for one in made])
        return
    for number, one in enumerate(made, 1):
        for line in shown.tried_lines(number, one, full=full):
            print(line)
