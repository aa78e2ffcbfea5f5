"""Honest trajectories: what agents did and said in good faith, written down call by call.

Each is a file of `judge/calibration/trajectories/`, named `<scenario>__<number>.yaml`. They are
played anew, and a reader is measured by how many of them pass.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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
from client_harness.user import User
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
    """A trajectory does not fit the turns of its scenario."""


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


class Begun(Declared):
    """A file of a trajectory that is still being played."""

    scenario: str
    note: str = ""
    steps: tuple[Deed, ...] = ()


class _File(Begun):
    """A file of one trajectory."""

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


def _read(path: Path) -> Trajectory:
    file, scenario = read_file(path, _File)
    return Trajectory(path.stem, scenario, file.note, file.steps, path)


def read_file(path: Path, model: type[Begun] = Begun) -> tuple[Begun, Scenario]:
    """Return what a file of a trajectory declares, and the scenario that its name tells.

    Raises `InputError`.
    """
    data = read_yaml(path)
    if not isinstance(data, dict):
        raise InputError(f"{path}: a trajectory is a mapping: scenario, note and steps")
    file = validated(model, data, str(path))
    if file.scenario.replace("__", "/") != name_in(path):
        raise InputError(f"{path}: the trajectory is of {file.scenario!r}, but its name is not")
    scenario = scenario_of(path)
    for step in file.steps:
        check(step, scenario, str(path))
    return file, scenario


def name_in(path: Path) -> str:
    """Return the name of the scenario that the name of a trajectory's file tells.

    Raises `InputError`.
    """
    named = _NAME.fullmatch(path.stem)
    if named is None or path.suffix != ".yaml":
        raise InputError(f"{path}: name a trajectory <scenario>__<number>.yaml, with __ for /")
    return named[1].replace("__", "/")


def scenario_of(path: Path) -> Scenario:
    """Return the scenario of a trajectory's file, which may stand beside its folder."""
    name = name_in(path)
    own = path.parent.parent / SCENARIOS / f"{name.replace('/', '__')}.yaml"
    return load.load(own if own.exists() else name)


def check(step: Deed, scenario: Scenario, where: str) -> None:
    """Raise `InputError` for a call of a service that a scenario does not have."""
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


def listening(scenario: Scenario, known: Sequence[Deed]) -> User:
    """Return a user who answers the texts that are marked so among known steps, and no other.

    What comes after these is heard as always.
    """
    says = [step for step in known if step.say is not None]
    return _Listening(scenario, [step.answered for step in says])


class _Listening(User):
    def __init__(self, scenario: Scenario, answered: Sequence[bool]) -> None:
        super().__init__(scenario.answers, scenario.default_answer, scenario.limits.questions)
        self._known = iter(answered)

    def answer(self, text: str) -> tuple[str, str] | None:
        """See `User.answer`; what asks nothing any more gets the default answer."""
        known = next(self._known, None)
        if known is False:
            return None
        reply = super().answer(text)
        return (DEFAULT, self._default) if known and reply is None else reply


async def replayed(trajectory: Trajectory, right: Expected) -> Case:
    """Return a trajectory as a run that has to pass in base; it has to be closed.

    Raises `CannotReplay` if its texts do not fit the scenario's turns.
    """
    _fits(trajectory)
    scenario = trajectory.scenario
    episode = Episode(scenario)
    try:
        await episode.begin()
        episode.user = listening(scenario, trajectory.steps)
        async with in_memory(episode.session) as tools:
            await episode.converse(_Agent(tools, trajectory.steps))
    except BaseException:
        episode.close()
        raise
    events = episode.session.trace()
    return Case(trajectory.title, scenario, True, "base", episode, events, right)


def _fits(trajectory: Trajectory) -> None:
    """Raise `CannotReplay` unless every text that is not answered ends one of the turns."""
    scenario = trajectory.scenario
    says = [step for step in trajectory.steps if step.say is not None]
    answered = sum(step.answered for step in says)
    turns = len(scenario.turns) - scenario.begun
    if len(says) - answered != turns:
        raise CannotReplay(
            f"it says {len(says)} texts, of which {answered} are answered, "
            f"and the scenario has {turns} turns"
        )
    if answered > scenario.limits.questions:
        raise CannotReplay(f"the user answers at most {scenario.limits.questions} questions")
