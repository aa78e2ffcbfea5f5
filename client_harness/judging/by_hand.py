"""Play a scenario by hand, one step a command: an honest trajectory as it comes into being.

The file of the trajectory is all that is kept. Each command plays its steps anew, which gives the
same replies every time, makes the new ones, and writes these into the file. So whoever has only a
shell can play, and sees what an agent sees.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import yaml

from client_harness.agents import _history
from client_harness.briefing import day_of, shown_profile
from client_harness.conversation import leaf
from client_harness.episode import Episode
from client_harness.judging.honest import Begun, Deed, check, listening, read_file, scenario_of
from client_harness.tools import Tools, in_memory
from scenarios.model import Scenario
from scenarios.worlds import build
from servers.kit.errors import InputError, UnknownName
from servers.kit.session import SEPARATOR

WIDTH = 110
ALL = "all"
OVER = "The conversation is over."


async def played(path: Path, new: Sequence[Deed], tools: str | None = None) -> list[str]:
    """Play the steps in a file and new ones, keep these, and return what an agent saw, as lines.

    Without new steps, all of it is returned from the beginning. `tools` asks for the list of tools
    as it stands instead: "all", those of a service, or one with its schema. A file that is
    not there is made, and its name tells the scenario. Raises `InputError`, and keeps nothing then.
    """
    begun, scenario = _begun(path)
    for step in new:
        check(step, scenario, "the call")
    kept = len(begun.steps)
    play = _Play(scenario, begun.steps)
    try:
        lines = await play.lines([*begun.steps, *new], tools)
    except BaseExceptionGroup as group:
        raise leaf(group) from None
    finally:
        play.episode.close()
    if new or not path.exists():
        _write(path, begun, [*begun.steps[:kept], *play.made[kept:]])
    return lines[play.begins(kept) :] if new and tools is None else lines


def _begun(path: Path) -> tuple[Begun, Scenario]:
    if path.exists():
        return read_file(path)
    scenario = scenario_of(path)
    return Begun(scenario=scenario.id), scenario


def _write(path: Path, begun: Begun, steps: Sequence[Deed]) -> None:
    data = begun.model_dump(exclude_defaults=True, exclude={"steps"})
    data["steps"] = [_plain(step) for step in steps]
    text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=WIDTH)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(path.name + ".part")
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as wrong:
        raise InputError(f"{path}: {wrong.strerror}") from None


def _plain(step: Deed) -> dict[str, Any]:
    plain = step.model_dump(exclude_defaults=True)
    return plain if step.call is None else {"call": step.call, "args": step.args}


class _Play:
    """One play: the episode, the steps as they were made, and what was seen of each."""

    def __init__(self, scenario: Scenario, kept: Sequence[Deed]) -> None:
        self.episode = Episode(scenario)
        self._kept = kept
        self.made: list[Deed] = []
        self._begins: list[int] = []
        self._lines: list[str] = []
        self._over = False

    def begins(self, place: int) -> int:
        """Return the line at which a step begins."""
        return self._begins[place]

    async def lines(self, steps: Sequence[Deed], listing: str | None) -> list[str]:
        """Play steps, and return what was seen, or the tools as they stand."""
        async with in_memory(self.episode.session) as tools:
            await self._open(tools)
            offered = await self._offered(tools)
            for step in steps:
                self._begins.append(len(self._lines))
                await self._step(step, tools)
                now = await self._offered(tools)
                if now != offered:
                    self._lines += _changed(offered, now)
                    offered = now
            if listing is not None:
                return await _listed(tools, listing)
        return self._lines

    async def _offered(self, tools: Tools) -> list[str]:
        return [_dotted(one.name) for one in await tools.list_tools()]

    async def _open(self, tools: Tools) -> None:
        episode = self.episode
        scenario = episode.scenario
        await episode.begin()
        episode.user = listening(scenario, self._kept)
        person = build.person(scenario.world)
        for past in episode.assignment(tools).history:
            self._lines += [*_history.text([past]).splitlines(), ""]
        said = episode.begin_turn(scenario.begun + 1)
        moment = day_of(episode.control.now, ZoneInfo(person["timezone"]))
        services = ", ".join(episode.session.listed())
        profile = json.dumps(shown_profile(person, whole=False), ensure_ascii=False)
        self._lines += [f"It is {moment}.", f"Your user: {profile}", f"Services: {services}"]
        self._lines += ["", *_said("user", said)]

    async def _step(self, step: Deed, tools: Tools) -> None:
        if self._over:
            raise InputError(f"{OVER} Nothing can be called or said any more")
        if step.say is None:
            await self._call(step, tools)
            self.made.append(step)
            return
        episode = self.episode
        episode.session.message("assistant", step.say)
        self._lines += _said("you", step.say)
        answer = episode.answer(step.say)
        self.made.append(Deed(say=step.say, answered=answer is not None))
        turn = episode.session.turn
        if answer is not None:
            self._lines += _said("user", answer)
        elif turn < len(episode.scenario.turns):
            self._lines += _said("user", episode.begin_turn(turn + 1))
        else:
            self._over = True
            self._lines.append(OVER)

    async def _call(self, step: Deed, tools: Tools) -> None:
        service, _, name = (step.call or "").partition(".")
        tools.step()
        data, is_error = await tools.call(service, name, step.args)
        self._lines.append(f"{step.call} {json.dumps(step.args, ensure_ascii=False)}")
        shown = json.dumps(data, ensure_ascii=False, indent=1)
        self._lines.append(f"{'error' if is_error else 'reply'}: {shown}")


def _said(who: str, text: str) -> list[str]:
    return [f"{who}: {text}", ""]


def _dotted(name: str) -> str:
    return name.replace(SEPARATOR, ".", 1)


def _changed(before: Sequence[str], now: Sequence[str]) -> list[str]:
    gone = [name for name in before if name not in now]
    come = [name for name in now if name not in before]
    lines = [f"New tools: {', '.join(come)}"] if come else []
    return lines + ([f"Tools that are gone: {', '.join(gone)}"] if gone else [])


async def _listed(tools: Tools, wanted: str) -> list[str]:
    """Return lines about tools: all, those of a service, or one with its schema."""
    offered = {_dotted(one.name): one for one in await tools.list_tools()}
    if wanted in offered:
        one = offered[wanted]
        schema = json.dumps(one.schema, ensure_ascii=False, indent=1)
        return [wanted, one.description, schema]
    lines = []
    for name, one in offered.items():
        if wanted == ALL or name.startswith(f"{wanted}."):
            lines.append(f"{name}({', '.join(one.schema.get('properties', {}))})")
            lines.append(f"    {one.description.splitlines()[0] if one.description else ''}")
    if not lines:
        raise UnknownName("tool or service", wanted, [ALL, *_services(offered), *offered])
    return lines


def _services(offered: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(name.partition(".")[0] for name in offered))
