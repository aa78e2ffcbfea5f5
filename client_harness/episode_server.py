"""The `episode` server, for chat windows that no program drives.

It stands beside the services of a scenario. Its tools start the conversation, hand the agent's
texts to the scripted user, give back what the user says, end the episode, and hand out the past in
pages. So the trace has every text, as that of a run has, and the play is judged without a person
who copies anything.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import Field

from client_harness.agents import _history
from client_harness.briefing import day_of, shown_profile
from client_harness.played import Played
from scenarios.haystack.history import LivedSession
from scenarios.worlds import build
from servers.kit.aside import Aside
from servers.kit.briefing import Prompt
from servers.kit.errors import ServiceError
from servers.kit.events import Event
from servers.kit.service import ToolSpec
from servers.kit.types import Json
from servers.kit.values import iso

NAME = "episode"
TRACK = "gui"
"""What reports call plays through this server, which are not ranked beside unattended runs."""
OPENING = (
    f"Call the tool `start` of `{NAME}` (it may be listed as `{NAME}__start`), and do what it says "
    "until the conversation is over and you have called `submit`."
)
"""The one line that a person pastes into the chat window."""
SUBMITTED = "submitted"
"""What the trace says when the agent has ended the episode."""
PAGE = 20_000
"""How many characters of the past are on a page at most; clients cut what is much longer."""


def _start(self: Any) -> None:
    """Begin: learn who the user is, what day it is, what the user says, and how to go on."""


def _next_turn(
    self: Any,
    text: Annotated[str, Field(description="What you tell the user, or ask, word for word.")],
) -> None:
    """Tell the user something, and get what the user says next, or that it is over."""


def _submit(self: Any) -> None:
    """End the episode, when `next_turn` has said that the conversation is over."""


def _history_read(
    self: Any,
    page: Annotated[int, Field(ge=1, description="Which page, from 1, the oldest.")] = 1,
) -> None:
    """Read a page of your past conversations with this user, oldest first."""


START = ToolSpec("start", _start, "write", {})
NEXT_TURN = ToolSpec("next_turn", _next_turn, "write", {"text": "It is done."})
SUBMIT = ToolSpec("submit", _submit, "write", {})
HISTORY_READ = ToolSpec("history_read", _history_read, "read", {}, idempotent=True)
TOOLS = {spec.name: spec for spec in (START, NEXT_TURN, SUBMIT, HISTORY_READ)}


class EpisodeServer(Played):
    """An episode that a chat window plays through a server of its own."""

    track = TRACK
    hears = True

    def _open(self) -> None:
        self._begun = False
        self._last: str | None = None
        self._over = False
        self._submitted = False
        tools = dict(TOOLS)
        if self.episode.scenario.history is None:
            del tools[HISTORY_READ.name]
        about = f"Talk with the user through `{NAME}`: {', '.join(tools)}. Begin with `start`."
        self._session.aside = Aside(NAME, about, tools, self._called, self._closed)

    @property
    def begun(self) -> bool:
        """Whether the agent has started."""
        return self._begun

    @property
    def opening(self) -> list[str]:
        """What the person says to the agent."""
        return [OPENING]

    def prompts(self) -> list[Prompt]:
        """Return the one line with which the person begins."""
        about = "What to say to your agent; nothing else is needed."
        return [Prompt("begin", "Begin", about, OPENING, lambda: None)]

    def _ending(self) -> list[Event]:
        """Return the end, if the agent has not ended the episode itself."""
        if self._submitted:
            return []
        return [self.episode.ending("done")]

    # -- the agent's side ------------------------------------------------------------------------
    async def _called(self, tool: str, args: Json, client: Mapping[str, str]) -> Json:
        async with self._session.between_calls():
            if self._submitted:
                raise _over_for_good()
            if tool == START.name:
                reply = self._started(client)
            elif not self._begun:
                raise _not_begun()
            elif tool == NEXT_TURN.name:
                reply = self._next(args["text"])
            elif tool == SUBMIT.name:
                reply = self._submit()
            else:
                reply = self._read(args["page"])
            self._write()
            return reply

    def _closed(self) -> ServiceError | None:
        """Return why no service can be called now: it is too early, or too late."""
        if self._submitted:
            return _over_for_good()
        if not self._begun:
            return _not_begun()
        return _over() if self._over else None

    def _started(self, client: Mapping[str, str]) -> Json:
        if self._begun:
            message = "The conversation has begun already."
            hint = "Go on from where it is."
            if self._last is not None and not self._over:
                hint = f"Answer the user with `next_turn`. The last message was: {self._last}"
            raise ServiceError("ALREADY_STARTED", message, hint)
        self._begun = True
        if client:
            self._head.detail["client"] = dict(client)
        scenario = self.episode.scenario
        person = build.person(scenario.world)
        session = self._session
        services = {name: session.classes[name].title for name in session.listed()}
        message = self._last = self.episode.begin_turn(1)
        # The moment is that of the first message.
        now = session.control.now
        reply: Json = {
            "now": iso(now),
            "today": day_of(now, ZoneInfo(person["timezone"])),
            "user": shown_profile(person, whole=False),
            "services": services,
        }
        how = HOW
        if scenario.history is not None:
            reply["past_conversations"] = {
                "count": len(self.episode.sessions),
                "pages": len(self._pages),
            }
            how = f"{HOW_TO_REMEMBER} {HOW}"
        return reply | {"message": message, "how_to_proceed": how}

    def _next(self, text: str) -> Json:
        if self._over:
            raise _over()
        self._session.message("assistant", text)
        said = self.episode.answer(text)
        if said is None and self._session.turn < len(self.episode.scenario.turns):
            said = self.episode.begin_turn(self._session.turn + 1)
        self._last = said
        if said is not None:
            return {"message": said}
        self._over = True
        how = "The user has nothing more to say. Call `submit` now."
        return {"over": True, "how_to_proceed": how}

    def _submit(self) -> Json:
        if not self._over:
            message = "The user still waits for an answer."
            hint = "Call `next_turn` with what you tell the user; submit when it says it is over."
            raise ServiceError("USER_IS_WAITING", message, hint)
        self._session.notice(SUBMITTED)
        self.episode.finish("done")
        self._submitted = True
        told = "The run is recorded. Nothing is left to do; say to the person here that it is over."
        return {"recorded": True, "how_to_proceed": told}

    @functools.cached_property
    def _pages(self) -> list[str]:
        return pages(self.episode.sessions)

    def _read(self, number: int) -> Json:
        count = len(self._pages)
        if number > count:
            message = f"There is no page {number}; the past has {count}."
            raise ServiceError("NO_SUCH_PAGE", message, f"Ask for a page from 1 to {count}.")
        self._session.notice(HISTORY_READ.name, page=number, pages=count)
        return {"page": number, "pages": count, "text": self._pages[number - 1]}


HOW = (
    "`message` is what the user says. Do it with the tools of the services. Whatever you would "
    "tell or ask the user, hand to `next_turn`, word for word, and not to the person in this "
    "window: you get back what the user says to it. Go on until `next_turn` says that it is "
    "over, and then call `submit`."
)
HOW_TO_REMEMBER = (
    "You have talked with this user before. First read those conversations with `history_read`, "
    "page by page."
)


def _not_begun() -> ServiceError:
    message = "The conversation has not begun."
    return ServiceError("NOT_STARTED", message, f"Call `start` of `{NAME}` first.")


def _over() -> ServiceError:
    message = "The conversation is over."
    return ServiceError("CONVERSATION_OVER", message, f"Call `submit` of `{NAME}` now.")


def _over_for_good() -> ServiceError:
    message = "The episode has been submitted, and its run is recorded."
    return ServiceError("ALREADY_SUBMITTED", message, "Call nothing more.")


def pages(sessions: Sequence[LivedSession], most: int = PAGE) -> list[str]:
    """Return past sessions as texts of at most `most` characters.

    A session stays on one page unless it is longer than that; then it is cut, between lines if
    possible.
    """
    made: list[str] = []
    for session in sessions:
        whole = _history.text([session])
        if made and len(made[-1]) + 2 + len(whole) <= most:
            made[-1] += f"\n\n{whole}"
            continue
        made += _cut_up(whole, _history.header(session["at"]), most)
    return made


def _cut_up(text: str, header: str, most: int) -> list[str]:
    """Return a text in parts; each but the first begins with the header."""
    again = f"{header} (continued)\n"
    parts: list[str] = []
    rest = text
    while len(rest) > most:
        end = rest.rfind("\n", len(again) + 1, most) + 1 or most
        parts.append(rest[:end].rstrip("\n"))
        rest = again + rest[end:]
    return [*parts, rest]
