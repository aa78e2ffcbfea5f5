"""Which tools of different services do the same thing, for anyone who must work around a failure.

The data is in `servers/<category>/counterparts.yaml`.
"""

from __future__ import annotations

import functools
import itertools
from pathlib import Path
from typing import Any

from pydantic import Field

from servers.kit.declared import Declared, validated
from servers.kit.errors import InputError
from servers.kit.service import services, tool
from servers.kit.yaml import read

HERE = Path(__file__).parent.parent


class Match(Declared):
    """Tools of different services that do the same thing.

    `does` describes it in one line. `returns` lists fields that the reply to each tool's example
    has (dotted paths; `rides[].ride_id` is a field of the items of a list), the same for all tools
    or by tool. `partial` says, for each tool that does only part of it, how that tool differs.
    """

    does: str = Field(min_length=5)
    tools: tuple[str, ...] = Field(min_length=2)
    returns: tuple[str, ...] | dict[str, tuple[str, ...]]
    partial: dict[str, str] = {}

    def fields(self, name: str) -> tuple[str, ...]:
        """Return the paths that a tool's reply has."""
        if isinstance(self.returns, dict):
            return self.returns.get(name, ())
        return self.returns

    @property
    def services(self) -> list[str]:
        """The names of the services, in the order of the tools."""
        return list(dict.fromkeys(name.partition(".")[0] for name in self.tools))


@functools.cache
def matches() -> dict[str, list[Match]]:
    """Return the matches of each category.

    Raises `InputError`, which names the file, if a match is not valid.
    """
    return {path.parent.name: _load(path) for path in sorted(HERE.glob("*/counterparts.yaml"))}


def _load(path: Path) -> list[Match]:
    return [
        _match(item, f"{path.parent.name}/{path.name}, match {number}")
        for number, item in enumerate(read(path), 1)
    ]


def _match(item: Any, where: str) -> Match:
    match = validated(Match, item, where)
    for name in match.tools:
        tool(name)
    by_tool = match.returns if isinstance(match.returns, dict) else {}
    strays = [name for name in (*match.partial, *by_tool) if name not in match.tools]
    if strays:
        raise InputError(f"{where} ({match.does}): {strays[0]} is not among its tools")
    if len(match.services) < len(match.tools):
        raise InputError(
            f"{where} ({match.does}): lists two tools of one service; "
            "write a separate match for a partial one"
        )
    return match


@functools.cache
def counterparts() -> dict[str, dict[str, dict[str, int]]]:
    """Return the counterparts of each service and how many of their tools match.

    The shape is `{service: {other: {"full": n, "partial": n}}}`.
    """
    counts: dict[str, dict[str, dict[str, int]]] = {name: {} for name in services()}
    for match in itertools.chain.from_iterable(matches().values()):
        for one, other in itertools.permutations(match.tools, 2):
            mine = one.partition(".")[0]
            theirs = other.partition(".")[0]
            kind = "partial" if one in match.partial or other in match.partial else "full"
            count = counts[mine].setdefault(theirs, {"full": 0, "partial": 0})
            count[kind] += 1
    return counts
