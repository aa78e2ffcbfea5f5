"""A server beside the services of a session, such as the one through which an agent talks.

Calls to it are no calls of the episode: no fault meets them, they take no time, and the trace has
only what the server itself writes there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from servers.kit.call import Reply
from servers.kit.errors import ServiceError, did_you_mean, quoted, sentence
from servers.kit.service import Codes, ToolSpec
from servers.kit.types import Json

_CODES = Codes()


class Answer(Protocol):
    """Answers a call with valid arguments; raises `ServiceError` to refuse it.

    `client` is the name and the version of the client that asks, as far as it has told them.
    """

    def __call__(self, tool: str, args: Json, client: Mapping[str, str]) -> Awaitable[Json]:
        """Return the data of the reply."""
        ...


@dataclass(frozen=True)
class Aside:
    """The server: its name in URLs and before its tools' names, and its tools.

    `about` is a line of instructions for clients. `answer` answers a call. `closed` says why no
    service can be called at this moment, or returns None.
    """

    name: str
    about: str
    tools: Mapping[str, ToolSpec]
    answer: Answer
    closed: Callable[[], ServiceError | None]

    async def call(self, tool: str, args: Json, client: Mapping[str, str]) -> Reply:
        """Answer a call of a client. Nothing that a client can send makes this raise."""
        try:
            if tool not in self.tools:
                near = did_you_mean(tool, self.tools)
                message = sentence(f"`{self.name}` has no tool {quoted(tool)}{near}")
                raise ServiceError("UNKNOWN_TOOL", message, "List the tools again.")
            given = self.tools[tool].arguments(args, _CODES)
            return Reply(await self.answer(tool, given, client))
        except ServiceError as wrong:
            return Reply(wrong.repeating_little_of(args).as_json(), True)
