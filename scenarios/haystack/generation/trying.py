"""Calls on a copy of a person's world, as if an agent made them."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import anyio

from scenarios.worlds import build
from servers.kit.control import Control
from servers.kit.events import Attempt
from servers.kit.expr import render
from servers.kit.service import service, tool
from servers.kit.session import Session
from servers.kit.store import Change
from servers.kit.values import parse_time

DEFAULT = "maya"
"""The world in which the examples of all tools succeed."""


class Refused(Exception):
    """A call was refused, with the service's `code`."""

    def __init__(self, name: str, code: str) -> None:
        super().__init__(f"{name}: {code}")
        self.code = code


@dataclass(frozen=True)
class Made:
    """A call that was made, with its arguments, its reply and what it changed."""

    name: str
    args: dict[str, Any]
    reply: Any
    effects: list[Change]


def steps(
    person: str, written: Sequence[Mapping[str, Any]], given: Mapping[str, Any]
) -> list[Made]:
    """Make calls written as in a script, one after another, and return them as they were made.

    Their expressions may hold what is `given` and saved replies. Raises `Refused` for the first
    call that is refused. The world of others stays as it is.
    """
    names = sorted({step["call"].partition(".")[0] for step in written})
    start = parse_time(build.person(person)["start"])
    session = Session(names, build.shared(person, names).share(), Control(start, 0))
    scope = dict(given)
    made: list[Made] = []
    attempts: list[Attempt] = []
    session.on_attempt.append(attempts.append)

    async def go() -> None:
        for step in written:
            args = render(step.get("args", {}), scope)
            owner, _, spec = step["call"].partition(".")
            reply = await session.call(owner, spec, args)
            if session.bugs:
                raise RuntimeError(f"{step['call']}: {session.bugs[0]}")
            if reply.is_error:
                raise Refused(step["call"], str(reply.data.get("error", {}).get("code", "refused")))
            if "save" in step:
                scope[step["save"]] = reply.data
            made.append(Made(step["call"], args, reply.data, attempts[-1].effects))

    with ThreadPoolExecutor(1) as aside:  # the caller may be inside an event loop
        aside.submit(lambda: anyio.run(go)).result()
    session.world.close()
    session.control.close()
    return made


@functools.cache
def rows(
    person: str, name: str, query: str | None = None, needs: tuple[tuple[str, Any], ...] = ()
) -> tuple[dict[str, Any], ...]:
    """Return the rows that a list or a search gives; none if it is refused.

    `query` is the text of a search, `needs` are its other arguments. The rows are those of the
    reply's first list of objects.
    """
    args: dict[str, Any] = dict(needs)
    properties = tool(name)[1].schema["properties"]
    if "limit" in properties:
        args["limit"] = 100
    if query is not None:
        args[query_of(name) or "query"] = query
    try:
        (made,) = steps(person, [{"call": name, "args": args}], {})
    except Refused:
        return ()
    return tuple(listed(made.reply)[1])


def query_of(name: str) -> str | None:
    """Return the argument of a search that takes words, or None."""
    properties = tool(name)[1].schema["properties"]
    for argument in ("query", "keywords"):
        if argument in properties:
            return argument
    return None


def listed(reply: Any) -> tuple[str, list[dict[str, Any]]]:
    """Return the first list of objects in a reply, with the field that holds it."""
    if isinstance(reply, dict):
        for field, value in reply.items():
            if isinstance(value, list) and value and isinstance(value[0], dict):
                return field, value
    return "", []


@functools.cache
def example(service_name: str, tool_name: str) -> Any:
    """Return the reply to a tool's own example, or None if it has none that succeeds."""
    spec = service(service_name).tools[tool_name]
    if spec.setup:
        return None
    try:
        written = {"call": f"{service_name}.{tool_name}", "args": dict(spec.example)}
        (made,) = steps(DEFAULT, [written], {})
    except Refused:
        return None
    return made.reply
