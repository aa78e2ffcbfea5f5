"""A call on its way down and its reply on the way up; layers in between may change either.

A layer is `async (call, next) -> Reply`. It may choose the world in which the call runs
(`call.on`), edit the arguments (`call.altered`), answer the call itself, or edit the reply. Layers
see raw arguments; validation is innermost.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from servers.kit.types import Json
from servers.kit.values import fresh

if TYPE_CHECKING:
    from servers.kit.events import Firing
    from servers.kit.service import ToolSpec
    from servers.kit.store import World

Effect = Literal["read", "write"]


@dataclass(slots=True)
class Reply:
    """What goes back to the agent: JSON data, and whether it is an error (`data["error"]`).

    `wire` says what happens to the reply over HTTP (see `servers.kit.wire`); the data is then its
    equivalent for agents on other transports. `raw` is the reply exactly as a server that is not
    ours sent it; it is passed on unchanged unless its data is edited.
    """

    data: Any
    is_error: bool = False
    wire: Json | None = None
    raw: Any = None

    @property
    def error(self) -> Json | None:
        """The error's fields, or None."""
        return self.data["error"] if self.is_error else None

    def copied(self) -> Reply:
        """Return a deep copy, for a layer that edits it."""
        return Reply(fresh(self.data), self.is_error, self.wire, self.raw)


@dataclass(slots=True)
class Journal:
    """What the layers note about one call while it runs.

    All variants of the call share it, and the recorder reads it. `quiet` firings do not count and
    are not recorded, but variants of the call repeat them.
    """

    firings: list[Firing] = field(default_factory=list)
    quiet: list[Firing] = field(default_factory=list)
    truth: Reply | None = None
    ids: list[tuple[str, str]] = field(default_factory=list)
    others: dict[str, World] = field(default_factory=dict)
    extra_time: int = 0


@dataclass(slots=True)
class Call:
    """One call on its way down.

    `args` are raw. `now` is the moment that the call sees, in epoch seconds. `world` is the world
    it would run in. A `shadow` call repeats a real call in another world: layers take their
    decisions from `journal.firings` and record nothing.
    """

    service: str
    tool: str
    args: Json
    spec: ToolSpec
    world: World
    now: int
    journal: Journal
    shadow: bool = False
    scratch: bool = False

    @property
    def name(self) -> str:
        """`service.tool`."""
        return f"{self.service}.{self.tool}"

    @property
    def effect(self) -> Effect:
        """Whether the tool reads or writes."""
        return self.spec.effect

    def record(self) -> tuple[str, str] | None:
        """Return the table and key of the stored record that an argument names, or None.

        The name of the argument does not matter.
        """
        for value in self.args.values():
            if not isinstance(value, str):
                continue
            for table in self.world.tables:
                if self.world.get(table, value) is not None:
                    return table, value
        return None

    def on(self, world: World, *, now: int | None = None, scratch: bool = True) -> Call:
        """Return this call on another world.

        `scratch` says that the world is a copy that will be dropped.
        """
        moment = self.now if now is None else now
        return replace(self, world=world, now=moment, scratch=scratch)

    def shadowed(self, world: World, journal: Journal) -> Call:
        """Return a shadow of this call in another world."""
        return Call(
            service=self.service,
            tool=self.tool,
            args=self.args,
            spec=self.spec,
            world=world,
            now=self.now,
            journal=journal,
            shadow=True,
        )

    def altered(self, args: Json) -> Call:
        """Return this call with other arguments."""
        return replace(self, args=args)


Next = Callable[[Call], Awaitable[Reply]]
Layer = Callable[[Call, Next], Awaitable[Reply]]


def chain(layers: list[Layer], innermost: Next) -> Next:
    """Compose layers; the first one is outermost."""
    step = innermost
    for layer in reversed(layers):
        step = _bind(layer, step)
    return step


def _bind(layer: Layer, call_next: Next) -> Next:
    return lambda call: layer(call, call_next)
