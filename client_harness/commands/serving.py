"""Commands for people and other clients: serve, connect."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from client_harness.commands import _print
from servers.kit.seeds import MOST_SEED

Services = Annotated[
    str | None,
    typer.Option(
        help="Only these services, categories or domains, separated by commas.", metavar="A,B"
    ),
]
Person = Annotated[
    str | None,
    typer.Option(help="Whose world to use without a scenario; by default maya.", metavar="NAME"),
]
Faults = Annotated[
    str | None, typer.Option(help="A fault profile: a name or a YAML file.", metavar="PROFILE")
]
ScenarioName = Annotated[
    str | None,
    typer.Argument(help="A scenario with its services and faults; without one, a person's world."),
]


def serve(
    scenario: ScenarioName = None,
    services: Services = None,
    world: Person = None,
    faults: Faults = None,
    stdio: Annotated[
        bool,
        typer.Option(
            "--stdio", help="Speak MCP on stdin and stdout, with all services on one server."
        ),
    ] = False,
    port: Annotated[int, typer.Option(help="Port of the HTTP host; 0 picks a free one.")] = 8765,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    token: Annotated[
        str | None,
        typer.Option(
            help="The token that clients must send; by default a random one.",
            envvar="HAYWIRE_TOKEN",
        ),
    ] = None,
    db: Annotated[
        Path | None,
        typer.Option(
            help="Keep the world in this file, so that the next session continues with it."
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=-MOST_SEED, max=MOST_SEED, help="Seed for ids and random choices."),
    ] = None,
    most_tools: Annotated[
        int | None,
        typer.Option(help="Narrow a scenario to this many tools, keeping all that it needs."),
    ] = None,
    locked: Annotated[
        bool,
        typer.Option(
            "--locked",
            help="List held-back services from the start; they refuse calls until disclosed.",
        ),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the servers as JSON.")] = False,
) -> None:
    """Serve services to any MCP client, over HTTP or on stdio.

    \b
    Example: client_harness serve --services venmo,gmail --faults flaky --port 8765
    """
    from client_harness import serve as serving

    disclose: Literal["locked", "notify"] = "locked" if locked else "notify"
    session, played = serving.open_session(
        scenario,
        _names(services),
        world=world,
        faults=faults,
        db=db,
        seed=seed,
        disclose=disclose,
        most_tools=most_tools,
    )
    if stdio:
        serving.stdio(session)
        return

    def say(ways: dict[str, Any]) -> None:
        if json:
            _print.as_json(ways)
        else:
            servers = [*ways["servers"], ways["all"]]
            _print.columns([[server["name"], server["url"]] for server in servers])
            print(f"Header: Authorization: {ways['all']['headers']['Authorization']}")
            if played is not None:
                for turn in played.turns:
                    print(f"Say to your agent: {turn.user}")
            print("Press Ctrl-C to stop.")
        sys.stdout.flush()

    try:
        serving.http(session, port, say, host=host, token=token)
    except KeyboardInterrupt:
        _print.note("stopped")


def connect(
    client: Annotated[str, typer.Argument(help="claude-desktop, claude-code, cursor or vscode.")],
    scenario: ScenarioName = None,
    services: Services = None,
    world: Person = None,
    faults: Faults = None,
    write: Annotated[
        bool,
        typer.Option("--write", help="Write it into the client's configuration and keep the rest."),
    ] = False,
    path: Annotated[
        Path | None,
        typer.Option(help="The configuration file to write; by default the client's usual one."),
    ] = None,
    name: Annotated[str, typer.Option(help="The server's name in the client.")] = "haywire",
) -> None:
    """Print or write the configuration that lets an MCP client start the servers.

    \b
    Example: client_harness connect claude-desktop --services venmo,zelle,gmail --write
    """
    from client_harness import connect as connecting
    from client_harness.serve import open_session
    from servers.kit.plain import is_there

    target = connecting.client(client)
    chosen = _names(services)
    # Opening the session here reports a mistake here rather than in the client.
    session, played = open_session(scenario, chosen, world=world, faults=faults)
    arguments = []
    if scenario is not None:
        shipped = played is None or played.id == scenario
        arguments.append(scenario if shipped else str(Path(scenario).resolve()))
    if chosen:
        arguments += ["--services", ",".join(chosen)]
    if world is not None:
        arguments += ["--world", world]
    if faults is not None:
        is_file = is_there(Path(faults))
        arguments += ["--faults", str(Path(faults).resolve()) if is_file else faults]
    tools = sum(len(cls.tools) for cls in session.classes.values())
    if target.most_tools is not None and tools > target.most_tools:
        if played is None:
            _print.note(
                f"note: {target.title} accepts about {target.most_tools} tools, but these "
                f"services have {tools}; choose some with --services"
            )
        else:
            open_session(scenario, chosen, faults=faults, most_tools=target.most_tools)
            arguments += ["--most-tools", str(target.most_tools)]
    entry = connecting.entry(target, arguments)
    if write:
        written = connecting.write(target, entry, path, name)
        print(f"wrote {written}; restart {target.title} to see {name}")
    else:
        _print.note(f"# for {path or target.path}; use --write to put it there")
        _print.as_json(connecting.configuration(target, entry, name))


def _names(services: str | None) -> list[str]:
    names = [name.strip() for name in (services or "").split(",")]
    return [name for name in names if name]
