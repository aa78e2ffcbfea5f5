"""Serve services to a person or to any MCP client.

They come with a world to play with, or with a scenario, its faults and its staged disclosure.
"""

from __future__ import annotations

import contextlib
import secrets
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio

from client_harness.briefing import briefing
from client_harness.episode import DisclosureMode, Episode
from client_harness.episode_server import TOOLS, EpisodeServer
from client_harness.offers import EVERYTHING, offered
from client_harness.played import FOLDER, Played
from fault_profiles.model import Fault, ordered
from fault_profiles.profiles import profile
from scenarios import load
from scenarios.model import Scenario
from scenarios.worlds import build
from servers.kit import database
from servers.kit.control import Control
from servers.kit.errors import InputError, UnknownName, cut
from servers.kit.plain import is_there
from servers.kit.service import all_tables
from servers.kit.session import ALL, Exposure, Session
from servers.kit.store import World
from servers.kit.values import parse_time

DEFAULT_WORLD = "maya"


def open_session(
    scenario: str | None = None,
    names: Sequence[str] = (),
    *,
    world: str | None = None,
    faults: str | None = None,
    db: Path | None = None,
    seed: int | None = None,
    disclose: DisclosureMode = "notify",
    most_tools: int | None = None,
    expose: Exposure = "all",
) -> tuple[Session, Scenario | None]:
    """Return a session to serve, with its scenario if one was named.

    Without a scenario, the session has a person's `world` (by default maya's) with the everyday
    services or the named ones (see `offers.offered`). With `expose="search"`, its servers list two
    tools that find and call the others, and everything is on offer by default. `faults` names a
    profile, which replaces a scenario's own faults. `most_tools` narrows a scenario for a client
    that accepts no more. `db` keeps the world and the clock in files (`db` and `db`.control), with
    which later sessions continue. Raises `InputError`.
    """
    if scenario is None:
        plagued = profile(faults).faults if faults is not None else []
        wanted = names or ([EVERYTHING] if expose == "search" else [])
        session = _world(world, wanted, plagued, db, seed or 0)
        session.expose = expose
        session.briefing = briefing(session, session.control.get("world") or world or DEFAULT_WORLD)
        count = sum(len(cls.tools) for cls in session.classes.values())
        if most_tools is not None and expose == "all" and count > most_tools:
            raise InputError(
                f"these services have {count} tools, more than {most_tools}; "
                "choose fewer with --services"
            )
        return session, None
    if db is not None:
        raise InputError("--db keeps a world to play with, but a scenario always begins afresh")
    play = open_play(
        scenario,
        names,
        world=world,
        faults=faults,
        seed=seed,
        disclose=disclose,
        most_tools=most_tools,
        expose=expose,
    )
    return play.episode.session, play.episode.scenario


def open_play(
    scenario: str,
    names: Sequence[str] = (),
    *,
    world: str | None = None,
    faults: str | None = None,
    seed: int | None = None,
    disclose: DisclosureMode = "notify",
    most_tools: int | None = None,
    expose: Exposure = "all",
    folder: Path | None = None,
    episode: bool = False,
) -> Played:
    """Return a scenario to serve, whose trace goes to a file in `folder` as it is played.

    By default, `folder` is `runs/played`. With `episode`, there is one more server, through which
    the agent talks with the scripted user; see `client_harness.episode_server`.

    The other arguments are those of `open_session`. Raises `InputError`.
    """
    plagued = profile(faults) if faults is not None else None
    if world is not None:
        raise InputError("a scenario has its own world; leave --world out")
    scenarios = load.resolve([scenario])
    if len(scenarios) != 1:
        raise InputError(f"{scenario} names {len(scenarios)} scenarios; serve one of them")
    made = load.load(scenarios[0])
    if made.prefix is not None:
        raise InputError(f"{scenario} begins in the middle of a talk; serve the whole dialogue")
    if names:
        kept = _among(names, made.services)
        tools = {name: patterns for name, patterns in made.tools.items() if name in kept}
        made = made.model_copy(update={"services": kept, "tools": tools})
    if most_tools is not None and expose == "all":
        made = load.fewer(made, most_tools - (len(TOOLS) if episode else 0))
    opened = Episode(
        made,
        seed=seed,
        disclose=disclose,
        faults=plagued.faults if plagued is not None else None,
        expose=expose,
    )
    known = scenarios[0]
    name = known if isinstance(known, str) else str(known.resolve())
    named = plagued.name if plagued is not None else None
    kind = EpisodeServer if episode else Played
    play = kind(opened, name, named, folder or FOLDER)
    session = opened.session
    session.briefing = briefing(session, made.world, whole=False, prompts=play.prompts())
    return play


def _among(names: Sequence[str], known: Sequence[str]) -> list[str]:
    for name in names:
        if name not in known:
            raise UnknownName("service", name, known)
    return list(dict.fromkeys(names))


def _world(
    name: str | None, wanted: Sequence[str], faults: list[Fault], db: Path | None, seed: int
) -> Session:
    tools = offered(wanted)
    narrow = {service: patterns for service, patterns in tools.items() if patterns != ["*"]}
    start = parse_time(build.person(name or DEFAULT_WORLD)["start"])
    if db is not None:
        world, control = _kept(db, seed, name, start)
    else:
        world = build.shared(name or DEFAULT_WORLD, tools).share()
        control = Control(start, seed)
    return Session(list(tools), world, control, faults=ordered(faults), tools=narrow)


def _columns(world: World, table: str) -> set[str]:
    return {name for _, name, *_ in world.sql(f"PRAGMA table_info({table})")}


def _kept(db: Path, seed: int, name: str | None, start: int) -> tuple[World, Control]:
    clock_file = db.with_name(db.name + ".control")
    fresh = not is_there(db)
    try:
        if fresh:
            _begin(db, clock_file, name or DEFAULT_WORLD)
        world = World.file(db, all_tables())
        if not (fresh or clock_file.exists()):
            raise InputError(
                f"{db} has no clock next to it ({clock_file.name}); put it back or name a new file"
            )
        present = {table: _columns(world, table) for table in world.tables}
        control = Control(start, seed, clock_file)
        if control.get("world") is None:
            control.put("world", name or DEFAULT_WORLD)
    except (OSError, ValueError, sqlite3.Error) as wrong:
        raise InputError(
            f"{cut(str(db), 200)} cannot hold a world ({wrong}); name a new file or remove it"
        ) from None
    if name not in (None, control.get("world")):
        raise InputError(
            f"{db} holds the world of {control.get('world')}, not of {name}; "
            "name a new file or leave --world out"
        )
    for known, table in sorted(world.tables.items()):
        if set(table.columns) != present[known]:
            what = f"it has no table {known}"
            if present[known]:
                what = f"its table {known} has other columns"
            raise InputError(
                f"{db} is a world of another version ({what}); name a new file or remove it"
            )
    return world, control


def _begin(db: Path, clock_file: Path, name: str) -> None:
    """Create a kept world that does not exist yet.

    Processes that begin at the same time take turns: the clock's file is their lock.
    """
    db.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(database.connect(clock_file)) as lock:
        lock.execute("BEGIN IMMEDIATE")
        if not db.exists():
            names = lock.execute("SELECT name FROM sqlite_master WHERE type='table'")
            for (table,) in names.fetchall():
                lock.execute(f"DROP TABLE {table}")  # the clock of a world that no longer exists
            part = db.with_name(db.name + ".part")
            part.write_bytes(build.image(name))
            part.replace(db)
        lock.execute("COMMIT")


def stdio(session: Session) -> None:
    """Serve all services of a session on stdin and stdout until the client closes them.

    The tools' names have their service as a prefix.
    """
    from servers.kit.mcp import serve_stdio

    anyio.run(serve_stdio, session)


def http(
    session: Session,
    port: int,
    say: Callable[[dict[str, Any]], None],
    *,
    host: str = "127.0.0.1",
    token: str | None = None,
) -> None:
    """Serve each service of a session at its own URL, and all of them at one, until interrupted.

    A session that exposes a search has the one URL only.

    `say` is called with `{"servers": [{name, url, headers}], "all": {…}}` once the port is open.
    Raises `InputError` if it cannot be opened.
    """
    from servers.kit.app import LOOPBACK, Episodes, make_app, run_app

    secret = token or secrets.token_urlsafe(24)
    episodes = Episodes()
    episodes.add("play", session, secret)

    async def serve() -> None:
        hosts = LOOPBACK if host in ("127.0.0.1", "localhost", "::1") else (*LOOPBACK, f"{host}:*")
        single = () if session.expose == "search" else tuple(session.servers())
        app = make_app(episodes, hosts=hosts, names=(*single, ALL))
        headers = {"Authorization": f"Bearer {secret}"}
        shown_host = f"[{host}]" if ":" in host else host
        async with run_app(app, host, port) as bound:
            base = f"http://{shown_host}:{bound}/play"
            ways = []
            for name in (*single, ALL):
                ways.append({"name": name, "url": f"{base}/{name}/mcp", "headers": headers})
            say({"servers": ways[:-1], "all": ways[-1]})
            await anyio.sleep_forever()

    anyio.run(serve)
