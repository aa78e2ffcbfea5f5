"""A tool's example call, from which a fault kind makes the smallest declaration that fits the
tool.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from servers.kit.service import Service, ToolSpec
from servers.kit.store import World

PROMISES = {
    "unchanged": "a firing leaves every row as it was",
    "committed": "a firing changes the same rows as the honest call, and no others",
    "refused": "the agent gets an error",
    "honest": "the agent gets the same reply as without the fault",
    "altered": "the agent gets a different reply than without the fault",
    "waits": "simulated time passes in addition to the call's own",
}
"""What a kind may promise for every firing of its samples (`Fault.promises`).

The matrix checks the promises on every tool.
"""


@dataclass(frozen=True)
class Example:
    """A tool's example call: its arguments, the honest reply and the world just before it."""

    service: type[Service]
    spec: ToolSpec
    args: dict[str, Any]
    reply: dict[str, Any]
    world: World

    def numbers(self) -> Iterator[tuple[str, float]]:
        """Yield the path and value of each nonzero number in the reply."""
        for path, value in _leaves(self.reply, ""):
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if is_number and value:
                yield path, value

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield the path and value of each text in the reply that is not empty."""
        for path, value in _leaves(self.reply, ""):
            if isinstance(value, str) and value:
                yield path, value

    def lists(self) -> Iterator[tuple[str, list[Any]]]:
        """Yield the name and items of each argument that holds a list."""
        for name, value in self.args.items():
            if isinstance(value, list):
                yield name, value

    def rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the name and one row of each of the provider's own tables that has rows."""
        for name, table in self.service.tables.items():
            rows = self.world.rows(name, limit=1)
            if rows and not table.identity:
                yield name, rows[0]


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if not set("[]. =") & set(key):
                yield from _leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, inner in enumerate(value[:2]):
            yield from _leaves(inner, f"{path}[{index}]")
    else:
        yield path, value
