"""Which tool does what which other tool does: data in `servers/<category>/counterparts.yaml`, for
whoever needs a way around a failure.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from servers.kit.declared import Declared
from servers.kit.errors import InputError, explain
from servers.kit.service import services, tool
from servers.kit.yaml import read

HERE = Path(__file__).parent.parent


class Match(Declared):
    """Tools of different services that do the same.

    `does` says what, in one line. `returns` are fields that the reply of each to its example has
    (dotted paths; `rides[].ride_id` is in the items of a list), the same for all or by tool.
    `partial` tells of each tool that does it only in part how it differs.
    """

    does: str = Field(min_length=5)
    tools: tuple[str, ...] = Field(min_length=2)
    returns: tuple[str, ...] | dict[str, tuple[str, ...]]
    partial: dict[str, str] = {}

    def fields(self, name: str) -> tuple[str, ...]:
        """Return the paths that a tool's reply has."""
        return self.returns.get(name, ()) if isinstance(self.returns, dict) else self.returns

    @property
    def services(self) -> list[str]:
        """Names of the services, in the order of the tools."""
        return list(dict.fromkeys(name.partition(".")[0] for name in self.tools))


@functools.cache
def matches() -> dict[str, list[Match]]:
    """Return the matches of each category.

    Raises `InputError` naming the file where one does not fit.
    """
    return {path.parent.name: _load(path) for path in sorted(HERE.glob("*/counterparts.yaml"))}


def _load(path: Path) -> list[Match]:
    where = f"{path.parent.name}/{path.name}"
    found = []
    for number, item in enumerate(read(path), 1):
        try:
            match = Match.model_validate(item)
        except ValidationError as wrong:
            raise InputError(f"{where}, match {number}: {explain(wrong, Match)}") from None
        for name in match.tools:
            tool(name)
        told: Sequence[Any] = [
            *match.partial,
            *(match.returns if isinstance(match.returns, dict) else ()),
        ]
        strays = [name for name in told if name not in match.tools]
        if strays:
            raise InputError(
                f"{where}, match {number} ({match.does}): {strays[0]} is not among its tools"
            )
        if len(match.services) < len(match.tools):
            raise InputError(
                f"{where}, match {number} ({match.does}): two tools of one service; partial matches stand on their own"
            )
        found.append(match)
    return found


@functools.cache
def counterparts() -> dict[str, dict[str, dict[str, int]]]:
    """Return for each service its counterparts with the number of tools that match: `{service:
    {other: {"full": n, "partial": n}}}`.
    """
    found: dict[str, dict[str, dict[str, int]]] = {name: {} for name in services()}
    for match in (m for listed in matches().values() for m in listed):
        for one in match.tools:
            for other in match.tools:
                if one != other:
                    mine = one.partition(".")[0]
                    theirs = other.partition(".")[0]
                    kind = "partial" if one in match.partial or other in match.partial else "full"
                    counted = found[mine].setdefault(theirs, {"full": 0, "partial": 0})
                    counted[kind] += 1
    return found
