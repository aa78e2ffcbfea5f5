"""What a history is written as: sessions with turns."""

from __future__ import annotations

from typing import Any

from pydantic import model_validator

from servers.kit.declared import Declared
from servers.kit.errors import InputError
from servers.kit.service import tool


class PastTurn(Declared):
    """A message of the user or the assistant, or one call of the assistant.

    `refused` says that the call is meant to be refused.
    """

    user: str | None = None
    assistant: str | None = None
    call: str | None = None
    args: dict[str, Any] = {}
    save: str | None = None
    refused: bool = False

    @model_validator(mode="after")
    def _one(self) -> PastTurn:
        given = [part for part in (self.user, self.assistant, self.call) if part is not None]
        if len(given) != 1:
            raise InputError("a turn has exactly one of user, assistant, call")
        if self.call is not None:
            tool(self.call)
        return self


class PastSession(Declared):
    """A conversation at a date (ISO).

    The ids of what it makes depend on its key (its date, if none is given), not on its place among
    the others. `goes_on` names rows that it writes and that life changes again later, as it should:
    a friend who was reminded pays.
    """

    at: str
    key: str | None = None
    turns: list[PastTurn]
    goes_on: list[str] = []
    given: dict[str, Any] | None = None

    @property
    def named(self) -> str:
        """The name by which messages and ids refer to it."""
        return self.key or self.at


class HistoryFile(Declared):
    """A history as written in its file."""

    world: str = "maya"
    sessions: list[PastSession]
