"""Histories of past sessions, whose calls are really executed.

The world therefore agrees with what was said. A file `haystack/<name>.yaml` holds `world` and
`sessions`. A session has a date and turns: `user: text`, `assistant: text`, or a call (`call:
zelle.send_transfer`, `args`, `save`). To execute it, the world is taken back to the first session,
and the services' own events are replayed between sessions, so that a reply in February knows
nothing of March.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NotRequired

import anyio
from pydantic import ValidationError, model_validator
from typing_extensions import TypedDict

from scenarios.worlds import build
from servers.kit.control import Control
from servers.kit.declared import Declared
from servers.kit.errors import InputError, explain
from servers.kit.expr import render
from servers.kit.service import categories_of, known_tables, tables_of, tool
from servers.kit.session import Session
from servers.kit.store import World
from servers.kit.values import iso, parse_time
from servers.kit.yaml import read

HERE = Path(__file__).parent


class PastTurn(Declared):
    """A message of the user or the assistant, or one call of the assistant."""

    user: str | None = None
    assistant: str | None = None
    call: str | None = None
    args: dict[str, Any] = {}
    save: str | None = None

    @model_validator(mode="after")
    def _one(self) -> PastTurn:
        given = [part for part in (self.user, self.assistant, self.call) if part is not None]
        if len(given) != 1:
            raise InputError("a turn has exactly one of user, assistant, call")
        if self.call is not None:
            tool(self.call)
        return self


class PastSession(Declared):
    """A conversation at a date (ISO)."""

    at: str
    turns: list[PastTurn]


class HistoryFile(Declared):
    """A history as written in its file."""

    world: str = "maya"
    sessions: list[PastSession]


class PastCall(TypedDict):
    """A call that the assistant made, with its reply."""

    server: str
    tool: str
    args: dict[str, Any]
    reply: Any
    is_error: bool


class PastMessage(TypedDict):
    """One message: its `text`, or the `calls` that the assistant made."""

    role: Literal["user", "assistant"]
    text: NotRequired[str]
    calls: NotRequired[list[PastCall]]


class LivedSession(TypedDict):
    """A conversation as it took place, at a moment (ISO)."""

    at: str
    messages: list[PastMessage]


@dataclass(frozen=True)
class Lived:
    """A history as it took place, and the bytes of the world afterwards."""

    sessions: list[LivedSession]
    image: bytes


@functools.cache
def live(name: str) -> Lived:
    """Execute a history on its world.

    Raises `InputError` if it cannot be read or if one of its calls is refused unexpectedly.
    """
    path = HERE / f"{name}.yaml"
    try:
        raw = read(path)
        name_of_world = raw.get("world", "maya") if isinstance(raw, dict) else "maya"
        written = HistoryFile.model_validate(build.with_ids(raw, name_of_world))
    except ValidationError as wrong:
        raise InputError(f"{path}: {explain(wrong, HistoryFile)}") from None
    except InputError as wrong:
        raise InputError(f"{path}: {wrong}") from None
    with ThreadPoolExecutor(1) as aside:  # the caller may be inside an event loop
        return aside.submit(lambda: anyio.run(_live, name, written)).result()


async def _live(name: str, written: HistoryFile) -> Lived:
    used: set[str] = set()
    for past in written.sessions:
        used |= {turn.call.partition(".")[0] for turn in past.turns if turn.call is not None}
    tables = known_tables(sorted(used))
    moments = [parse_time(past.at) for past in written.sessions]
    start = parse_time(build.person(written.world)["start"])
    if moments != sorted(moments) or max(moments, default=0) >= start:
        raise InputError(
            f"history {name}: sessions must be in order of time and before the world's start"
        )
    world = build.shared(written.world).scratch()
    if not moments:
        return Lived(sessions=[], image=world.image())
    first = iso(moments[0])
    later = world.undo(lambda e: e["at"] > first and e["table"] in tables, after=first)
    seed = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=4).digest())
    session = Session(sorted(used), world, Control(moments[0], seed))
    scope: dict[str, Any] = {}
    lived: list[LivedSession] = []
    for past, moment in zip(written.sessions, moments, strict=True):
        due = [e for e in later if e["at"] <= iso(moment)]
        world.redo(due)
        later = later[len(due) :]
        session.pass_time(max(0, moment - session.control.now))
        messages = [await _message(session, turn, scope, name) for turn in past.turns]
        lived.append({"at": iso(moment), "messages": messages})
    world.redo(later)
    return Lived(sessions=lived, image=_image(world))


async def _message(
    session: Session, turn: PastTurn, scope: dict[str, Any], name: str
) -> PastMessage:
    """Render a text or make a call; `scope` receives the replies that are saved."""
    if turn.user is not None:
        return {"role": "user", "text": render(turn.user, scope)}
    if turn.call is None:
        return {"role": "assistant", "text": render(turn.assistant, scope)}
    server, tool_name = turn.call.split(".")
    args = render(turn.args, scope)
    reply = await session.call(server, tool_name, args)
    if session.bugs:
        raise RuntimeError(f"history {name}: {session.bugs[0]}")
    if turn.save:
        scope[turn.save] = reply.data
    elif reply.is_error:
        raise InputError(
            f"history {name}: {turn.call} {args} was refused: {reply.data}; "
            "give it a `save` if that is intended"
        )
    call: PastCall = {
        "server": server,
        "tool": tool_name,
        "args": args,
        "reply": reply.data,
        "is_error": reply.is_error,
    }
    return {"role": "assistant", "calls": [call]}


def _image(world: World) -> bytes:
    world.commit()
    return world.image()


def shared(name: str, services: Iterable[str]) -> World:
    """Return the world after a history, with the tables that these services need.

    Episodes share it until they write.
    """
    return _shared(name, categories_of(services))


@functools.cache
def _shared(name: str, categories: tuple[str, ...]) -> World:
    return World.part(live(name).image, tables_of(categories))
