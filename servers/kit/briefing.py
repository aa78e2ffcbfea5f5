"""What a server tells a client beside its tools: instructions, resources to read and prompts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Resource:
    """A JSON document that a client may read.

    `read` gets the service whose server is asked, or None for the server of all services; it
    returns the document as it is at that moment. `services` are those on whose own servers it is
    offered, or None for all.
    """

    uri: str
    title: str
    description: str
    read: Callable[[str | None], Awaitable[Any]]
    services: frozenset[str] | None = None

    @property
    def name(self) -> str:
        """The last part of the address."""
        return self.uri.rpartition("/")[2]

    def offered(self, only: str | None) -> bool:
        """Return whether the server of a service (None: of all) offers it."""
        return only is None or self.services is None or only in self.services


@dataclass(frozen=True)
class Prompt:
    """Something that the client's user may say; `said` is called when the client fetches it."""

    name: str
    title: str
    description: str
    text: str
    said: Callable[[], None]


@dataclass(frozen=True)
class Briefing:
    """Instructions for the server of a service (None: of all services), resources and prompts."""

    instructions: Callable[[str | None], str]
    resources: Sequence[Resource] = ()
    prompts: Sequence[Prompt] = ()
