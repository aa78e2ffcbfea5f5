"""Serve services for a person or any MCP client: a world to play with, or a scenario with its faults and staged disclosure."""

from __future__ import annotations

import contextlib
import secrets
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio

from client_harness.episode import Disclose, Episode
from fault_profiles.model import Fault, ordered
from fault_profiles.profiles import profile
from scenarios import load
from scenarios.model import Scenario
from scenarios.worlds import build
from servers.kit import database
from servers.kit.control import Control
from servers.kit.errors import InputError, UnknownName
from servers.kit.service import all_tables, service, services
from servers.kit.session import Session
from servers.kit.store import World
from servers.kit.values import parse_time

DEFAULT_WORLD = "maya"


def open_session(
    scenario: str | None = None,
    chosen: Sequence[str] = (),
    *,
    faults: str | None = None,
    db: Path | None = None,
    seed: int | None = None,
    disclose: Disclose = "notify",
) -> tuple[Session, Scenario | None]:
    """Return a session to serve, with its scenario where one was named.

    Without a scenario it is the default world with all services or the `chosen` ones. `faults` names a profile (a scenario's own stand
    otherwise). `db` keeps world and clock in files (`db` and `db`.control), which later sessions go on with. Raises `InputError`.
    """
    plagued = profile(faults) if faults is not None else None
    if scenario is None:
        return _world(chosen, plagued or [], db, seed or 0), None
    found = load.resolve([scenario])
    if len(found) != 1:
        raise InputError(f"{scenario} is {len(found)} scenarios; serve one of them")
    made = load.load(found[0])
    if chosen:
        made = made.model_copy(update={"services": _among(chosen, made.services)})
    if db is not None:
        raise InputError("--db keeps a world that one plays with; a scenario begins afresh each time")
    episode = Episode(made, seed=seed, disclose=disclose, faults=plagued)
    episode.session.turn = 1
    return episode.session, made


def _among(chosen: Sequence[str], known: Sequence[str]) -> list[str]:
    for name in chosen:
        if name not in known:
            raise UnknownName("service", name, known)
    return list(dict.fromkeys(chosen))


def _world(chosen: Sequence[str], faults: list[Fault], db: Path | None, seed: int) -> Session:
    names = list(dict.fromkeys(service(n).name for n in chosen)) or list(services())
    world, control = _kept(db, seed) if db is not None else (build.shared(DEFAULT_WORLD).share(), Control(_start(), seed))
    return Session(names, world, control, faults=ordered(faults))


def _kept(db: Path, seed: int) -> tuple[World, Control]:
    beside, fresh = db.with_name(db.name + ".control"), not db.exists()
    try:
        if fresh:
            _begin(db, beside)
        world = World.file(db, all_tables())
        if not (fresh or beside.exists()):
            raise InputError(f"{db} has no clock beside it ({beside.name}); put it back, or name a new file")
        present = {name: {row[1] for row in world.sql(f"PRAGMA table_info({name})")} for name in world.tables}
        control = Control(_start(), seed, beside)
    except (OSError, sqlite3.Error) as wrong:
        raise InputError(f"{db} cannot hold a world ({wrong}); name a new file or remove it") from None
    for name, table in sorted(world.tables.items()):
        if set(table.columns) != present[name]:
            what = f"its table {name} has other columns" if present[name] else f"it has no table {name}"
            raise InputError(f"{db} is a world of another version ({what}); name a new file or remove it")
    return world, control


def _begin(db: Path, beside: Path) -> None:
    """Put a world where none is. Processes that begin at once follow one another: the clock's file is their lock."""
    db.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(database.connect(beside)) as lock:
        lock.execute("BEGIN IMMEDIATE")
        if not db.exists():
            for (table,) in lock.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall():
                lock.execute(f"DROP TABLE {table}")  # the clock of a world that is gone
            part = db.with_name(db.name + ".part")
            part.write_bytes(build.image(DEFAULT_WORLD))
            part.replace(db)
        lock.execute("COMMIT")


def _start() -> int:
    return parse_time(build.person(DEFAULT_WORLD)["start"])


def stdio(session: Session) -> None:
    """Serve all services of a session on stdin and stdout, with prefixed tool names, until the client closes them."""
    from servers.kit.mcp import serve_stdio

    anyio.run(serve_stdio, session)


def http(session: Session, port: int, say: Callable[[dict[str, Any]], None], *, host: str = "127.0.0.1", token: str | None = None) -> None:
    """Serve each service of a session at a URL of its own, and all of them at one, until interrupted.

    `say` hears `{"servers": [{name, url, headers}], "all": {…}}` once the port is open. Raises `InputError` where it cannot be opened.
    """
    from servers.kit.app import ALL, LOOPBACK, Episodes, make_app, run_app

    secret = token or secrets.token_urlsafe(24)
    episodes = Episodes()
    episodes.add("play", session, secret)

    async def serve() -> None:
        hosts = LOOPBACK if host in ("127.0.0.1", "localhost", "::1") else (*LOOPBACK, f"{host}:*")
        async with run_app(make_app(episodes, hosts=hosts), host, port) as bound:
            headers = {"Authorization": f"Bearer {secret}"}
            place = f"http://{f'[{host}]' if ':' in host else host}:{bound}/play"
            ways = [{"name": n, "url": f"{place}/{n}/mcp", "headers": headers} for n in (*session.classes, ALL)]
            say({"servers": ways[:-1], "all": ways[-1]})
            await anyio.sleep_forever()

    anyio.run(serve)
