"""Honest trajectories: what agents did and said in good faith, written down call by call.

Each is a file of `judge/calibration/trajectories/`, named `<scenario>__<number>.yaml`. They are
played anew, and a reader is measured by how many of them pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from client_harness.contract import TurnResult
from client_harness.episode import Episode
from client_harness.judging.labelled import SCENARIOS
from client_harness.judging.questions import DEFAULT
from client_harness.judging.trajectories import Case
from client_harness.tools import Tools, in_memory
from client_harness.user import User, asks
from judge.change import Expected
from scenarios import load
from scenarios.model import Scenario
from servers.kit.declared import Declared, validated
from servers.kit.errors import InputError, UnknownName
from servers.kit.files import fingerprint
from servers.kit.service import tool
from servers.kit.yaml import read as read_yaml

TRAJECTORIES = "trajectories"
_NAME = re.compile(r"(.+)__\d+")


class CannotReplay(Exception):
    """The user of today answers in other places than a trajectory expects."""


class Deed(Declared):
    """One step of a trajectory: a call with literal arguments, or a text to the user.

    `answered` tells that the user answered the text, so that the turn went on.
    """

    call: str | None = None
    args: dict[str, Any] = {}
    say: Annotated[str | None, Field(min_length=1)] = None
    answered: bool = False

    @model_validator(mode="after")
    def _one(self) -> Deed:
        if (self.call is None) == (self.say is None):
            raise InputError("a step of a trajectory is either a call or a say")
        if self.call is not None:
            tool(self.call)
        elif self.args:
            raise InputError("args belong to a call, not to a say")
        if self.answered and self.say is None:
            raise InputError("answered belongs to a say, not to a call")
        return self


class _File(Declared):
    """A file of one trajectory."""

    scenario: str
    note: str = ""
    steps: Annotated[tuple[Deed, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _ends(self) -> _File:
        if self.steps[-1].say is None:
            raise InputError("the last step of a trajectory is a say, which ends a turn")
        return self


@dataclass(frozen=True)
class Trajectory:
    """One honest trajectory; `note` is its author's remark."""

    name: str
    scenario: Scenario
    note: str
    steps: tuple[Deed, ...]
    path: Path

    @property
    def texts(self) -> list[str]:
        """What it says to the user, in order."""
        return [step.say for step in self.steps if step.say is not None]

    @property
    def title(self) -> str:
        """Its name and the author's remark on one line."""
        return f"{self.name}: {self.note}" if self.note else self.name


def trajectories(folder: Path) -> list[Trajectory]:
    """Return the trajectories in a folder; there may be none.

    Raises `InputError` for a file that is no trajectory.
    """
    return [_read(path) for path in sorted((folder / TRAJECTORIES).glob("*.yaml"))]


def data_fingerprint(read: Sequence[Trajectory]) -> str:
    """Return the hash of the files of trajectories."""
    return fingerprint([one.path for one in read], read[0].path.parent) if read else ""


def _id(path: Path) -> str:
    named = _NAME.fullmatch(path.stem)
    if named is None:
        raise InputError(f"{path}: name a trajectory <scenario>__<number>.yaml, with __ for /")
    return named[1].replace("__", "/")


def _read(path: Path) -> Trajectory:
    data = read_yaml(path)
    if not isinstance(data, dict):
        raise InputError(f"{path}: a trajectory is a mapping: scenario, note and steps")
    file = validated(_File, data, str(path))
    name = file.scenario.replace("__", "/")
    if name != _id(path):
        raise InputError(f"{path}: the trajectory is of {name!r}, but the file's name is not")
    own = path.parent.parent / SCENARIOS / f"{name.replace('/', '__')}.yaml"
    scenario = load.load(own if own.exists() else name)
    _check(file.steps, scenario, str(path))
    return Trajectory(path.stem, scenario, file.note, file.steps, path)


def _check(steps: Iterable[Deed], scenario: Scenario, where: str) -> None:
    for step in steps:
        service = (step.call or "").partition(".")[0]
        if step.call is not None and service not in scenario.services:
            raise UnknownName("service", service, scenario.services, where)


# -- playing -------------------------------------------------------------------------------------
class _Agent:
    """Plays a trajectory's steps; each `say` ends its part of the conversation."""

    def __init__(self, tools: Tools, steps: Sequence[Deed]) -> None:
        self._tools = tools
        self._steps = iter(steps)

    async def turn(self, text: str) -> TurnResult:
        """Make the calls up to the next `say`, and say it."""
        for step in self._steps:
            if step.say is not None:
                return TurnResult(step.say)
            service, _, name = (step.call or "").partition(".")
            self._tools.step()
            await self._tools.call(service, name, step.args)
        raise AssertionError("every text has its place before a trajectory is played")


class _Listening(User):
    """A user who answers only where a trajectory goes on in the same turn."""

    def __init__(self, scenario: Scenario, places: Sequence[int]) -> None:
        super().__init__(scenario.answers, scenario.default_answer, len(places))
        self._places = set(places)
        self._heard = 0

    def answer(self, text: str) -> tuple[str, str] | None:
        """See `User.answer`; what asks nothing any more gets the default answer."""
        place = self._heard
        self._heard += 1
        if place not in self._places:
            return None
        return super().answer(text) or (DEFAULT, self._default)


async def replayed(trajectory: Trajectory, right: Expected) -> Case:
    """Return a trajectory as a run that has to pass in base; it has to be closed.

    Raises `CannotReplay` if its texts do not fit the turns and the user's answers any more.
    """
    places = answered(trajectory)
    scenario = trajectory.scenario
    episode = Episode(scenario)
    episode.user = _Listening(scenario, places)
    try:
        async with in_memory(episode.session) as tools:
            await episode.converse(_Agent(tools, trajectory.steps))
    except BaseException:
        episode.close()
        raise
    events = episode.session.trace()
    return Case(trajectory.title, scenario, True, "base", episode, events, right)


def answered(trajectory: Trajectory) -> list[int]:
    """Return which texts the user answers, so that the next one is of the same turn.

    Where a trajectory does not tell, texts beyond the number of turns follow an answer, and each
    other text begins the next turn. If the user would answer more texts than that, the firm
    questions come before the offers.

    Raises `CannotReplay`.
    """
    scenario = trajectory.scenario
    texts = trajectory.texts
    turns = len(scenario.turns)
    more = len(texts) - turns
    if more < 0:
        raise CannotReplay(f"it says {len(texts)} texts, and the scenario has {turns} turns")
    if more > scenario.limits.questions:
        raise CannotReplay(f"the user answers at most {scenario.limits.questions} questions")
    told = [step.answered for step in trajectory.steps if step.say is not None]
    if sum(told) > more:
        raise CannotReplay(
            f"the user answers {sum(told)} of its {len(texts)} texts, in {turns} turns"
        )
    if sum(told) == more:
        return [place for place, answered in enumerate(told) if answered]
    asking = [place for place, text in enumerate(texts[:-1]) if _is_answered(scenario, text)]
    if len(asking) < more:
        first = next((t for n, t in enumerate(texts) if n not in asking), "")
        raise CannotReplay(
            f"it goes on after {more} answers, and the user would give {len(asking)}; "
            f"one text without an answer is {_short(first)}"
        )
    if len(asking) > more:
        firm = [place for place in asking if _is_firm(texts[place])]
        asking = firm if len(firm) >= more else asking
    if more and len(asking) > more:
        raise CannotReplay(f"it goes on after {more} of {len(asking)} questions; which is not told")
    return asking if more else []


def _is_answered(scenario: Scenario, text: str) -> bool:
    user = User(scenario.answers, scenario.default_answer, 1)
    return user.answer(text) is not None


def _is_firm(text: str) -> bool:
    """Return whether a text asks something, and does not only offer it."""
    return not all(ask.soft for ask in asks(text))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return f'"{line if len(line) <= 80 else line[:79] + "…"}"'
