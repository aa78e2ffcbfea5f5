"""Commands for people and other clients: serve, connect."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from client_harness.commands import _print
from servers.kit.seeds import MOST_SEED

if TYPE_CHECKING:
    from client_harness.connect import Client
    from client_harness.played import Played
    from servers.kit.session import Exposure, Session


def one_of(*names: str) -> Callable[[str], str]:
    """Return a parser of `--expose` that takes these names, and explains the former one."""

    def read(said: str) -> str:
        if said in names:
            return said
        if said == "tools":
            raise typer.BadParameter("what was called 'tools' is now called 'all'")
        raise typer.BadParameter(f"{said!r} is not one of {', '.join(names)}")

    return read


SEARCH = "search"
Services = Annotated[
    str | None,
    typer.Option(
        help=(
            "These services, categories or domains, separated by commas; `all` for all of them. "
            "By default the everyday ones, or a scenario's own."
        ),
        metavar="A,B",
    ),
]
Person = Annotated[
    str | None,
    typer.Option(help="Whose world to use without a scenario; by default maya.", metavar="NAME"),
]
Faults = Annotated[
    str | None, typer.Option(help="A fault profile: a name or a YAML file.", metavar="PROFILE")
]
Expose = Annotated[
    str,
    typer.Option(
        parser=one_of("all", SEARCH),
        metavar="<all|search>",
        help=(
            "What clients list: the tools, or two tools that find and call them, "
            "which costs an agent few tokens whatever the number of services."
        ),
    ),
]
Kept = Annotated[
    Path | None,
    typer.Option(
        help="Keep the world in this file, so that the next session continues with it.",
        metavar="FILE",
    ),
]
Traces = Annotated[
    Path | None,
    typer.Option(
        help="Folder for the trace of a played scenario; by default runs/played.", metavar="FOLDER"
    ),
]
EpisodeServer = Annotated[
    bool,
    typer.Option(
        "--episode",
        help=(
            "Add the server `episode`, through which the agent of any chat window talks with the "
            "scripted user: you paste one line, and everything is judged."
        ),
    ),
]
ScenarioName = Annotated[
    str | None,
    typer.Argument(help="A scenario with its services and faults; without one, a person's world."),
]


def serve(
    scenario: ScenarioName = None,
    services: Services = None,
    episode: EpisodeServer = False,
    expose: Expose = "all",
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
    db: Kept = None,
    traces: Traces = None,
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

    A scenario that was played is judged when you press Ctrl-C, or at any time with `judge`.

    \b
    Example: client_harness serve --services venmo,gmail --faults flaky --port 8765
    """
    from client_harness import serve as serving

    _needs_scenario(episode, scenario)
    disclose: Literal["locked", "notify"] = "locked" if locked else "notify"
    chosen = _names(services)
    play = None
    if scenario is not None and db is None:
        play = serving.open_play(
            scenario,
            chosen,
            world=world,
            faults=faults,
            seed=seed,
            disclose=disclose,
            most_tools=most_tools,
            expose=cast("Exposure", expose),
            folder=traces,
            episode=episode,
        )
        session = play.episode.session
    else:
        session, _ = serving.open_session(
            scenario,
            chosen,
            world=world,
            faults=faults,
            db=db,
            seed=seed,
            most_tools=most_tools,
            expose=cast("Exposure", expose),
        )
        if not chosen and expose == "all":
            _print.note(_others(session))
    if stdio:
        serving.stdio(session)
        if play is not None and play.begun:
            _tell(play, _print.note)
        return

    def say(ways: dict[str, Any]) -> None:
        if json:
            _print.as_json(ways)
        else:
            servers = [*ways["servers"], ways["all"]]
            _print.columns([[server["name"], server["url"]] for server in servers])
            print(f"Header: Authorization: {ways['all']['headers']['Authorization']}")
            if play is not None:
                for text in play.opening:
                    print(f"Say to your agent: {text}")
                names = [prompt.name for prompt in play.prompts()]
                if episode or len(names) > 1:
                    print(f"Say it with your client's prompts: {', '.join(names)}")
            print("Press Ctrl-C to stop.")
        sys.stdout.flush()

    try:
        serving.http(session, port, say, host=host, token=token)
    except KeyboardInterrupt:
        _print.note("stopped")
    if play is not None and play.begun:
        _tell(play, _print.note if json else print)


def _needs_scenario(episode: bool, scenario: str | None) -> None:
    from servers.kit.errors import InputError

    if episode and scenario is None:
        raise InputError("--episode plays a scenario; name one, as `client_harness list` shows")


def _tell(play: Played, say: Callable[[str], None]) -> None:
    """Say how a play went, and where its trace is."""
    import anyio

    from client_harness.judging.played import judged, told

    for line in told(anyio.run(judged, play.events())):
        say(line)
    if play.file is not None:
        say(f"Trace: {play.file}")
        if not play.hears:
            say(f"With what your agent told you: client_harness judge {play.file} --said 'TEXT'")


CLIENTS = (
    "claude-desktop, claude-code, codex, cursor, gemini-cli, goose, opencode, vscode, windsurf "
    "or zed."
)


def connect(
    client: Annotated[str, typer.Argument(help=CLIENTS)],
    scenario: ScenarioName = None,
    services: Services = None,
    episode: EpisodeServer = False,
    expose: Expose = "all",
    world: Person = None,
    faults: Faults = None,
    db: Kept = None,
    traces: Traces = None,
    write: Annotated[
        bool,
        typer.Option("--write", help="Write it into the client's configuration and keep the rest."),
    ] = False,
    remove: Annotated[
        bool,
        typer.Option("--remove", help="Remove from there what --write wrote, and keep the rest."),
    ] = False,
    path: Annotated[
        Path | None,
        typer.Option(help="The client's configuration file; by default its usual one."),
    ] = None,
    name: Annotated[str, typer.Option(help="The server's name in the client.")] = "haywire",
) -> None:
    """Print or write the configuration that lets an MCP client start the servers.

    \b
    Example: client_harness connect cursor recovery/silent_no_op/venmo_pay_dropped --episode --write
    """
    from client_harness import connect as connecting
    from client_harness.episode_server import OPENING, TOOLS
    from client_harness.played import FOLDER
    from client_harness.serve import open_session
    from servers.kit.plain import is_there

    target = connecting.client(client)
    if remove:
        _remove(target, path, name, write)
        return
    _needs_scenario(episode, scenario)
    chosen = _names(services)
    # Opening the session here reports a mistake here rather than in the client.
    kept = db if db is not None and (scenario is not None or is_there(db)) else None
    session, played = open_session(
        scenario, chosen, world=world, faults=faults, db=kept, expose=cast("Exposure", expose)
    )
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
    if db is not None:
        arguments += ["--db", str(db.resolve())]
    place = (traces or FOLDER).resolve()
    if episode:
        arguments += ["--episode"]
    everyday = scenario is None and not chosen and expose == "all"
    crowded = everyday and not target.takes(_tools(session))
    if expose == SEARCH or crowded:
        arguments += ["--expose", SEARCH]
    elif session.hidden and not target.refreshes:
        _print.note(f"note: {target.title} does not see tools that appear later, so --locked")
        arguments += ["--locked"]
    beside = len(TOOLS) if episode else 0
    tools = beside + (2 if expose == SEARCH or crowded else _tools(session))
    if not target.takes(tools):
        if played is None:
            _print.note(
                f"note: {target.title} accepts about {target.most_tools} tools, but these "
                f"services have {tools}; choose some with --services"
            )
        else:
            most = (target.most_tools or 0) - beside
            open_session(scenario, chosen, faults=faults, most_tools=most)
            arguments += ["--most-tools", str(target.most_tools)]
    if scenario is not None:
        arguments += ["--traces", str(place)]
    # Nobody but the scripted user is asked anything, and nothing real is called.
    entry = connecting.entry(target, arguments, name, unasked=episode)
    if write:
        written = connecting.write(target, entry, path, name)
        print(f"wrote {written}; restart {target.title} to see {name}")
    else:
        _print.note(f"# for {path or target.path}; use --write to put it there")
        print(connecting.configuration(target, entry, name), end="")
    if episode:
        if target.trusts:
            _print.note(f"note: {target.title} calls these tools without asking you")
        _print.note(f"note: paste this to begin: {OPENING}")
    if played is not None:
        _print.note(f"note: when you have played, judge it with: client_harness judge {place}")
    elif everyday:
        _print.note(_crowded(target, session) if crowded else _others(session))


def _remove(target: Client, path: Path | None, name: str, write: bool) -> None:
    from client_harness import connect as connecting
    from servers.kit.errors import InputError

    if write:
        raise InputError("--write and --remove are opposites; give one of them")
    place = connecting.remove(target, path, name)
    if place is None:
        print(f"{path or target.path} has no {name}; it was not changed")
    else:
        print(f"removed {name} from {place}; restart {target.title} to see it go")


def _tools(session: Session) -> int:
    return sum(len(cls.tools) for cls in session.classes.values())


def _others(session: Session) -> str:
    """Return the line that says what the everyday offer is, and how to get other services."""
    from client_harness.offers import HOW

    offered = f"{_tools(session)} tools of {len(session.classes)} services"
    return f"note: {offered} for everyday use; {HOW}"


def _crowded(target: Client, session: Session) -> str:
    """Return the line that says why a client finds the everyday offer behind a search."""
    from client_harness.offers import HOW

    return (
        f"note: {target.title} accepts about {target.most_tools} tools, fewer than the "
        f"{_tools(session)} for everyday use, so two tools find and call them; {HOW}"
    )


def _names(services: str | None) -> list[str]:
    names = [name.strip() for name in (services or "").split(",")]
    return [name for name in names if name]
