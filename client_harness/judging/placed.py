"""A recorded run with one of its texts, or one of its mails, replaced by another."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator, Sequence

from client_harness.agents._script import ScriptAgent
from client_harness.contract import Assignment
from client_harness.episode import Episode, record
from client_harness.judging.labelled import Labelled, Played
from client_harness.tools import in_memory
from judge.reading import Reader
from judge.statements.mails import Mail, mails
from judge.trace import Record
from scenarios.model import Scenario
from servers.kit.errors import InputError
from servers.kit.events import Attempt, Event, Message
from servers.kit.service import all_tables
from servers.kit.store import Change


async def played(scenario: Scenario, run: Played) -> Episode:
    """Return an episode in which a script of the scenario was played to its end.

    Raises `InputError` if it cannot be played.
    """
    script = scenario.scripts.naive if run == "naive" else scenario.scripts.oracle
    episode = Episode(scenario, faulted=run != "clean")
    wrong: InputError | None = None
    async with in_memory(episode.session) as tools:
        agent = ScriptAgent(Assignment(tools, episode.sessions, scenario), script)
        try:
            await episode.converse(agent)
        except InputError as mistake:
            # Raised again outside, where the client's task group cannot wrap it.
            wrong = mistake
    if wrong is not None:
        episode.close()
        raise InputError(f"{scenario.id}: the script of the run {run}: {wrong}")
    return episode


class Placed:
    """A text in the place of the run's own.

    `address` is that of the person to whom a mail goes, or None for a text to the user.
    """

    def __init__(self, episode: Episode, text: Labelled) -> None:
        self.text = text
        self._episode = episode
        self._events = episode.session.trace()
        self.address = _address(episode, text) if text.place else None
        if text.place and self.address is not None:
            self._events = self._with_mail(self.address)
        elif not text.place:
            self._events = self._with_message()

    @property
    def unread(self) -> bool:
        """Whether no statement of the scenario is about this text."""
        return bool(self.text.place) and self.address is None

    def record(self, reader: Reader | None, *, alone: bool = True) -> Record:
        """Return the record to judge.

        If `alone`, texts to the user in other turns are left out, and all of them for a mail.
        """
        events = self._events
        if alone:
            turn = None if self.text.place else self.text.turn
            events = [event for event in events if not _is_other_text(event, turn)]
        return record(events, self._episode.world, None, reader)

    def message(self) -> Message | None:
        """Return the text's event, or None for a mail."""
        if self.text.place:
            return None
        said = [event for event in self._events if isinstance(event, Message)]
        return next((text for text in said if text.text == self.text.text), None)

    def _with_message(self) -> list[Event]:
        own = _last_text(self._events, self.text.turn)
        if "?" in self.text.text:
            own = _question(self._events, self.text.turn) or own
        if own is None:
            raise InputError(
                f"{self._episode.scenario.id}: the run {self.text.run} says nothing "
                f"in turn {self.text.turn}"
            )
        said = dataclasses.replace(own, text=self.text.text)
        return [said if event is own else event for event in self._events]

    def _with_mail(self, address: str) -> list[Event]:
        sent = [
            mail
            for mail in mails(record(self._events, self._episode.world), address)
            if mail.turn == self.text.turn
        ]
        if not sent:
            raise InputError(
                f"{self._episode.scenario.id}: the run {self.text.run} sends no {self.text.place} "
                f"in turn {self.text.turn}"
            )
        return list(_rewritten(self._events, sent[-1], self.text.text))


def _is_other_text(event: Event, turn: int | None) -> bool:
    return isinstance(event, Message) and event.role == "assistant" and event.turn != turn


def _last_text(events: Sequence[Event], turn: int) -> Message | None:
    texts = [event for event in events if isinstance(event, Message)]
    said = [text for text in texts if text.role == "assistant"]
    return next((text for text in reversed(said) if text.turn == turn), None)


def _question(events: Sequence[Event], turn: int) -> Message | None:
    """Return the text of a turn in which the run asks the user, who answers in the same turn."""
    texts = [event for event in events if isinstance(event, Message)]
    for text, reply in itertools.pairwise(texts):
        asks = text.role == "assistant" and "?" in text.text
        if asks and text.turn == turn and reply.role == "user" and reply.turn == turn:
            return text
    return None


def _rewritten(events: Sequence[Event], mail: Mail, body: str) -> Iterator[Event]:
    for event in events:
        if isinstance(event, Attempt) and event.seq == mail.seq:
            effects = [_with_body(change, mail, body) for change in event.effects]
            yield dataclasses.replace(event, effects=effects)
        else:
            yield event


_FORWARDED = "---------- Forwarded message"
"""How a service begins what it forwards, which stays below another text."""


def _with_body(change: Change, mail: Mail, body: str) -> Change:
    """Return a change in which the mail's longest prose, its body, is another, above what
    it forwards.
    """
    new = change["new"]
    if change["key"] != mail.key or new is None:
        return change
    roles = all_tables()[change["table"]].roles
    columns = [name for name, role in roles.items() if role == "prose"]
    prose = [name for name in columns if new.get(name)]
    longest = max(prose, key=lambda name: len(str(new[name])))
    _, line, original = str(new[longest]).partition(_FORWARDED)
    return {**change, "new": {**new, longest: f"{body}\n\n{line}{original}" if line else body}}


def _address(episode: Episode, text: Labelled) -> str | None:
    """Return the address of the person that a place names, if statements are about mails to it."""
    addresses = {s.in_mail_to for s in episode.scenario.statements if s.in_mail_to is not None}
    wanted = set(re.findall(r"[a-z]+", text.place.casefold())) - {"mail", "message", "note", "to"}
    best: str | None = None
    most = 0
    for address in sorted(addresses):
        named = set(re.findall(r"[a-z]+", address.casefold())) | _names(episode, address)
        if len(wanted & named) > most:
            best = address
            most = len(wanted & named)
    return best


def _names(episode: Episode, address: str) -> set[str]:
    """Return the words of the names of the people with an address."""
    names: set[str] = set()
    for table, spec in episode.world.tables.items():
        columns = spec.columns.keys()
        key = next((name for name in ("email", "email_address") if name in columns), None)
        if key is None or "name" not in columns:
            continue
        for row in episode.world.rows(table):
            if str(row[key]).casefold() == address.casefold():
                names |= set(re.findall(r"[a-z]+", str(row["name"]).casefold()))
    return names
