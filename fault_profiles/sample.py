"""A tool's example as a fault kind sees it, from which the kind makes the smallest declaration of
itself that fits the tool.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from servers.kit.service import Service, ToolSpec
from servers.kit.store import World

PROMISES = {
    "unchanged": "a firing leaves every row as it was",
    "committed": "a firing changes the rows that the call honestly changes, and no others",
    "refused": "the agent hears of an error",
    "honest": "the agent hears just what it would have heard without the fault",
    "altered": "the agent hears something else than without the fault",
    "waits": "simulated time passes besides the call's own",
}
"""What a kind may promise of every firing of its samples (`Fault.promises`); the matrix holds it to
that on every tool.
"""


@dataclass(frozen=True)
class Example:
    """A tool with its example call: the arguments, the honest reply, and the world as it is just
    before the call.
    """

    service: type[Service]
    spec: ToolSpec
    args: dict[str, Any]
    reply: dict[str, Any]
    world: World

    def numbers(self) -> Iterator[tuple[str, float]]:
        """Yield paths of the reply's numbers other than zero, with their values."""
        for path, value in _leaves(self.reply, ""):
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if is_number and value:
                yield path, value

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield paths of the reply's texts that are not empty, with their values."""
        for path, value in _leaves(self.reply, ""):
            if isinstance(value, str) and value:
                yield path, value

    def lists(self) -> Iterator[tuple[str, list[Any]]]:
        """Yield the names of arguments that hold lists, with their items."""
        for name, value in self.args.items():
            if isinstance(value, list):
                yield name, value

    def rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield a row of each of the provider's own tables that has any, with the table's name."""
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
