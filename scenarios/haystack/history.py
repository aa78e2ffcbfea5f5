"""Histories of past sessions, whose calls are really executed.

The world therefore agrees with what was said. A file `haystack/<name>.yaml` holds `world` and
`sessions`. A session has a date, a key where others refer to it, and turns: `user: text`,
`assistant: text`, or a call (`call: zelle.send_transfer`, `args`, `save`). To execute it, the whole
world is taken back to the first session, and life goes on between the calls, so that a reply in
February knows nothing of March. The log then stands in order of time.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import re
from collections import deque
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NotRequired

import anyio
from pydantic import ValidationError
from typing_extensions import TypedDict

from scenarios.haystack import keep, pool, targets, weave
from scenarios.haystack.model import HistoryFile, PastSession, PastTurn
from scenarios.worlds import build
from servers.kit import database
from servers.kit.control import Control
from servers.kit.errors import InputError, UnknownName, explain
from servers.kit.events import Attempt
from servers.kit.expr import render
from servers.kit.service import all_tables, categories_of, tables_of
from servers.kit.session import Session
from servers.kit.store import Change, World
from servers.kit.values import iso, parse_time
from servers.kit.yaml import read

HERE = Path(__file__).parent
KEPT = 8
"""Lived histories that a process keeps; each takes about 60 MB, and each scenario may have one."""
_SLOT = re.compile(r"\$\{[^{}]+\}")
_LIVED = re.compile(r"\blived:([\w-]+)\.(\w+)((?:\.\w+|\[\d+\])*)")


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
    """A conversation as it took place, at a moment (ISO).

    `goes_on` marks the present conversation, which the agent is to go on with.
    """

    at: str
    messages: list[PastMessage]
    goes_on: NotRequired[bool]


@dataclass(frozen=True)
class Lived:
    """A history as it took place, and the bytes of the world afterwards.

    `saved` maps sessions to the replies that they saved.
    """

    sessions: list[LivedSession]
    saved: dict[str, dict[str, Any]]
    image: bytes


@functools.lru_cache(KEPT)
def live(name: str) -> Lived:
    """Execute a history on its world.

    Raises `InputError` if it cannot be read or if one of its calls is refused unexpectedly.
    """
    if not weave.is_woven(name):
        return _executed(name, _written(name))
    woven = weave.named(name)
    kept = keep.place(name, woven.person, text(name)) if woven.sessions > weave.SHORT else None
    found = keep.read(kept) if kept is not None else None
    if found is not None:
        return Lived(found[0]["sessions"], found[0]["saved"], found[1])
    written = _written(name)
    lived = _executed(name, written)
    refused: list[str] = []
    while telling := _telling(woven, written, lived):
        refused += telling
        written = woven.written(refused)
        lived = _executed(name, written)
    if kept is not None:
        # A thousand sessions leave almost half of the pages empty, and every opening copies them.
        lived = replace(lived, image=database.packed(lived.image))
        keep.write(kept, {"sessions": lived.sessions, "saved": lived.saved}, lived.image)
    return lived


def _executed(name: str, written: HistoryFile) -> Lived:
    with ThreadPoolExecutor(1) as aside:  # the caller may be inside an event loop
        return aside.submit(lambda: anyio.run(_live, name, written)).result()


def _telling(woven: weave.Weave, written: HistoryFile, lived: Lived) -> list[str]:
    """Return the keys of sessions that hold a value of the target, although they are no needle."""
    odd = woven.odd
    telling = []
    for past, session in zip(written.sessions, lived.sessions, strict=True):
        text = json.dumps(session["messages"], ensure_ascii=False)
        if not past.named.startswith(weave.NEEDLE) and weave.tells(text, odd):
            telling.append(past.named)
    return telling


@functools.lru_cache(3)
def _rewound(person: str, moment: int) -> tuple[World, list[Change]]:
    """Return a person's world as it was at a moment, and what happened since then."""
    world = build.shared(person).scratch()
    return world, world.rewind(moment)


@functools.cache
def _written(name: str) -> HistoryFile:
    if weave.is_woven(name):
        return weave.named(name).written()
    path = HERE / f"{name}.yaml"
    try:
        raw = read(path)
        name_of_world = raw.get("world", "maya") if isinstance(raw, dict) else "maya"
        return HistoryFile.model_validate(build.with_ids(raw, name_of_world))
    except ValidationError as wrong:
        raise InputError(f"{path}: {explain(wrong, HistoryFile)}") from None
    except InputError as wrong:
        raise InputError(f"{path}: {wrong}") from None


def text(name: str) -> str:
    """Return everything that a history is made of, for fingerprints."""
    if weave.is_woven(name):
        woven = weave.named(name)
        own = targets.text(woven.target) if woven.target is not None else ""
        return own + pool.text(woven.person)
    return (HERE / f"{name}.yaml").read_text()


def _root(name: str) -> str:
    """Return what the ids of a history depend on: not on how many sessions are woven in."""
    return weave.named(name).root if weave.is_woven(name) else name


def world_of(name: str) -> str:
    """Return the world in which a history takes place. Raises `InputError`."""
    return weave.named(name).person if weave.is_woven(name) else _written(name).world


async def _live(name: str, written: HistoryFile) -> Lived:
    moments = _moments(name, written)
    if not moments:
        return Lived(sessions=[], saved={}, image=build.shared(written.world).scratch().image())
    now = weave.named(name).window if weave.is_woven(name) else moments[0]
    past_world, events = _rewound(written.world, now)
    world = past_world.scratch()
    before = world.last_change()
    life = _Life(name, world, events)
    used = _services(written)
    saved: dict[str, dict[str, Any]] = {}
    lived: list[LivedSession] = []
    scope: dict[str, Any] = {}
    for past, moment in zip(written.sessions, moments, strict=True):
        session = Session(used, world, Control(now, _seed(_root(name), past.named)))
        life.pass_time(session, max(now, moment))
        life.watch(session, past)
        if past.given is not None:
            scope = dict(past.given)
        where = f"history {name}, session {past.named}"
        messages = [await _message(session, turn, scope, where) for turn in past.turns]
        lived.append({"at": iso(moment), "messages": messages})
        own = {turn.save for turn in past.turns if turn.save}
        saved[past.named] = {key: scope[key] for key in own}
        now = session.control.now
    life.pass_time(Session(used, world, Control(now, _seed(_root(name), "after"))), _start(written))
    world.slim(before)
    return Lived(sessions=lived, saved=saved, image=world.image())


def _start(written: HistoryFile) -> int:
    return parse_time(build.person(written.world)["start"])


def _moments(name: str, written: HistoryFile) -> list[int]:
    """Return when the sessions take place. Raises `InputError` for what cannot have been."""
    moments = [parse_time(past.at) for past in written.sessions]
    for earlier, later in itertools.pairwise(written.sessions):
        if parse_time(earlier.at) > parse_time(later.at):
            raise InputError(
                f"history {name}: the session {later.named} stands after {earlier.named}; "
                "put the sessions in order of time"
            )
    start = _start(written)
    if moments and moments[-1] >= start:
        raise InputError(
            f"history {name}: the session {written.sessions[-1].named} is not in the past; "
            f"the world of {written.world} begins at {iso(start)}"
        )
    names = [past.named for past in written.sessions]
    twice = next((key for key in names if names.count(key) > 1), None)
    if twice is not None:
        raise InputError(f"history {name}: two sessions are called {twice}; give them keys")
    return moments


def _services(written: HistoryFile) -> list[str]:
    used: set[str] = set()
    for past in written.sessions:
        used |= {turn.call.partition(".")[0] for turn in past.turns if turn.call is not None}
    return sorted(used)


def _seed(name: str, session: str) -> int:
    digest = hashlib.blake2b(f"{name}/{session}".encode(), digest_size=4).digest()
    return int.from_bytes(digest)


class _Life:
    """What happens in a person's life between the sessions of a history, in order of time.

    `events` are the changes that are still to come.
    """

    def __init__(self, name: str, world: World, events: list[Change]) -> None:
        self._name = name
        self._world = world
        self._events = deque(events)
        self._owners: dict[tuple[str, Any], str] = {}

    def pass_time(self, session: Session, until: int) -> None:
        """Let time pass to a moment; what the services do by themselves happens in its place.

        Life comes first at each moment, so that the services do not do again what they did in it.
        """
        session.on_time.append(self._catch_up)
        session.pass_time(until - session.control.now)

    def watch(self, session: Session, past: PastSession) -> None:
        """Remember the rows that a session writes."""

        def remember(attempt: Attempt) -> None:
            for change in attempt.effects:
                if change["key"] not in past.goes_on:
                    self._owners[change["table"], change["key"]] = past.named

        session.on_attempt.append(remember)

    def _catch_up(self, now: int) -> None:
        moment = iso(now)
        due = []
        while self._events and self._events[0]["at"] <= moment:
            due.append(self._events.popleft())
        for event in due:
            session = self._owners.get((event["table"], event["key"]))
            if session is not None:
                raise InputError(
                    f"history {self._name}: the session {session} writes {event['key']} of "
                    f"{event['table']}, which life changes at {event['at']}; choose another row "
                    "or a later date, or name it in `goes_on` if life may go on from there"
                )
        self._world.redo(due)


async def _message(
    session: Session, turn: PastTurn, scope: dict[str, Any], where: str
) -> PastMessage:
    """Render a text or make a call; `scope` receives the replies that are saved."""
    if turn.user is not None:
        return {"role": "user", "text": _said(turn.user, scope, where)}
    if turn.assistant is not None:
        return {"role": "assistant", "text": _said(turn.assistant, scope, where)}
    assert turn.call is not None
    server, tool_name = turn.call.split(".")
    args = _said(turn.args, scope, where)
    reply = await session.call(server, tool_name, args)
    if session.bugs:
        raise RuntimeError(f"{where}: {session.bugs[0]}")
    if reply.is_error != turn.refused:
        was = f"was refused: {reply.data}" if reply.is_error else "was not refused"
        raise InputError(
            f"{where}: {turn.call} {args} {was}; `refused: true` says that it is meant to be"
        )
    if turn.save:
        scope[turn.save] = reply.data
    call: PastCall = {
        "server": server,
        "tool": tool_name,
        "args": args,
        "reply": reply.data,
        "is_error": reply.is_error,
    }
    return {"role": "assistant", "calls": [call]}


def _said(value: Any, scope: dict[str, Any], where: str) -> Any:
    """Render a text or arguments. Raises `InputError` if one of their expressions is nothing."""
    if isinstance(value, dict):
        return {key: _said(part, scope, where) for key, part in value.items()}
    if isinstance(value, list):
        return [_said(part, scope, where) for part in value]
    for slot in _SLOT.findall(value) if isinstance(value, str) else ():
        if render(slot, scope) in (None, ""):
            raise InputError(f"{where}: {slot} stands for nothing in {value!r}")
    return render(value, scope)


def with_lived(value: Any, name: Any) -> Any:
    """Return parsed YAML with each `lived:<session>.<save>.<path>` replaced by what it names.

    That is a part of a reply which a session of the history `name` saved, e.g.
    `lived:birthday.table.reservation_id`. Raises `InputError` if there is none.
    """
    if isinstance(value, str):
        whole = _LIVED.fullmatch(value)
        if whole:
            return _part(whole, name)
        return _LIVED.sub(lambda found: str(_part(found, name)), value)
    if isinstance(value, dict):
        return {key: with_lived(part, name) for key, part in value.items()}
    return [with_lived(part, name) for part in value] if isinstance(value, list) else value


def names() -> list[str]:
    """Return the names of all histories that have a file."""
    return sorted(path.stem for path in HERE.glob("*.yaml"))


def is_known(name: str) -> bool:
    """Return whether there is such a history, in a file or woven."""
    return weave.is_woven(name) or name in names()


def _part(found: re.Match[str], name: Any) -> Any:
    if not isinstance(name, str) or not is_known(name):
        raise InputError(f"{found[0]} needs a history, and this scenario names none that exists")
    saved = live(name).saved
    session, save, path = found.groups()
    if session not in saved:
        raise UnknownName("session", session, saved, found[0])
    if save not in saved[session]:
        raise UnknownName("saved reply", save, saved[session], found[0])
    value = saved[session][save]
    for part in re.findall(r"\w+", path):
        inside: Any = range(len(value)) if isinstance(value, list) else value
        step = int(part) if isinstance(value, list) and part.isdigit() else part
        if not isinstance(value, dict | list) or step not in inside:
            fields = list(value) if isinstance(value, dict) else []
            raise UnknownName("field", part, fields, found[0])
        value = value[step]
    return value


def shared(name: str, services: Iterable[str]) -> World:
    """Return the world after a history, with the tables that these services need.

    Episodes share it until they write.
    """
    return _shared(name, categories_of(services))


@functools.lru_cache(2 * KEPT)
def _shared(name: str, categories: tuple[str, ...] | None) -> World:
    if categories is None:
        return World.open(live(name).image, all_tables())
    return _shared(name, None).only(tables_of(categories))
