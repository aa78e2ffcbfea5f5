"""The verdict on a scenario that was played with a client of a person's own.

What such an agent tells its user is in the trace only if it talked through the `episode` server.
Otherwise nobody has heard it, and it is judged only if the texts are given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from client_harness import fingerprints
from client_harness.episode import final_world, record
from client_harness.episode_server import SUBMITTED, TRACK
from client_harness.expected import expected
from client_harness.played import PLAYED, Played
from fault_profiles.profiles import profile
from judge.model import Setting
from judge.verdict import Verdict, judge
from scenarios import load
from scenarios.model import Scenario
from servers.kit.errors import InputError, sentence
from servers.kit.events import Attempt, Event, Message, Notice, read_trace


@dataclass(frozen=True)
class Judged:
    """The verdicts on a played scenario, by setting, and what could not be judged.

    `wrong` says on which calls faults acted. `unheard` are the statements that the agent had to
    tell the user, whose texts were not given; `untouched` are the turns that nobody began. `track`
    is `gui` for plays through the `episode` server, else `played`; `client` is the name and version
    that the client told that server, `calls` the number of calls, and `submitted` whether the agent
    has ended the episode itself.
    """

    scenario: Scenario
    verdicts: dict[Setting, Verdict]
    wrong: list[str]
    unheard: list[str]
    untouched: list[int]
    track: str
    client: dict[str, str]
    calls: int
    submitted: bool

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "scenario": self.scenario.id,
            "track": self.track,
            "client": self.client,
            "submitted": self.submitted,
            "calls": self.calls,
            "verdicts": {name: verdict.as_json() for name, verdict in self.verdicts.items()},
            "wrong": self.wrong,
            "unheard": self.unheard,
            "untouched": self.untouched,
        }


async def judged(events: Sequence[Event], said: Sequence[str] = ()) -> Judged:
    """Judge the trace of a play.

    `said` are the agent's texts, the last one of the last turn. Without any, what the agent had to
    tell is left out. Raises `InputError`.
    """
    head = events[0]
    assert isinstance(head, Notice), "a trace of a play begins with what is played"
    about = head.detail
    name = about["scenario"]
    scenario = load.load(name if name in load.index() else Path(name))
    if about["world"] != fingerprints.world([scenario]):
        raise InputError("the world has changed since, so play the scenario again")
    track = about.get("track", Played.track)
    heard = list(events[1:])
    if track != TRACK:
        heard = _with_texts(heard, said, len(scenario.turns))
    elif said:
        raise InputError("the trace has what the agent told its user; leave --said out")
    faults = profile(about["faults"]).faults if about["faults"] is not None else None
    right = await expected(scenario, faults=faults, seed=about["seed"])
    gates = scenario.gates
    unheard: list[str] = []
    if track != TRACK and not said:
        gates = [gate for gate in gates if gate.kind != "told"]
        for statement in scenario.statements:
            if statement.mode == "must" and not statement.to_others:
                unheard.append(statement.sentence)
    world = final_world(scenario, list(heard))
    try:
        recorded = record(heard, world, right)
        verdicts: dict[Setting, Verdict] = {}
        for setting in _settings(scenario, faults):
            verdicts[setting] = judge(gates, recorded, setting)
    finally:
        world.close()
    # The last event is the end, which is in the last turn that began.
    begun = max((event.turn for event in heard), default=1)
    untouched = list(range(begun + 1, len(scenario.turns) + 1))
    return Judged(
        scenario,
        verdicts,
        wrong=_wrong(heard),
        unheard=unheard,
        untouched=untouched,
        track=track,
        client=about.get("client", {}),
        calls=sum(isinstance(event, Attempt) for event in heard),
        submitted=any(isinstance(e, Notice) and e.what == SUBMITTED for e in heard),
    )


def _settings(scenario: Scenario, faults: Any) -> tuple[Setting, ...]:
    plagued = scenario.faults if faults is None else faults
    return ("base", "relaxed") if plagued else ("clean",)


def _with_texts(events: Sequence[Event], said: Sequence[str], turns: int) -> list[Event]:
    """Return a trace with the agent's texts in their places, and without the empty places."""
    messages = [event for event in events if isinstance(event, Message)]
    places = [message.seq for message in messages if message.role == "assistant"]
    if len(said) > len(places):
        raise InputError(
            f"{len(said)} texts were given, but the agent had {len(places)} of {turns} turns; "
            "a turn begins with its prompt"
        )
    texts = dict(zip(places[len(places) - len(said) :], said, strict=True))
    heard: list[Event] = []
    for event in events:
        if not (isinstance(event, Message) and event.role == "assistant"):
            heard.append(event)
        elif event.seq in texts:
            heard.append(replace(event, text=texts[event.seq]))
    return heard


def read(path: Path) -> list[Event]:
    """Return the events of the trace of a play.

    Raises `InputError` if the file is another one.
    """
    events = read_trace(path)
    head = events[0] if events else None
    if not isinstance(head, Notice) or head.what != PLAYED:
        raise InputError(
            f"{path} is not the trace of a scenario that was served; "
            "traces of a run are judged by its folder"
        )
    return events


def told(result: Judged) -> list[str]:
    """Return the verdict in sentences for people, with what went wrong on the way."""
    strict, *lenient = result.verdicts.items()
    lines = [f"Verdict: {strict[1].value}"]
    for setting, verdict in lenient:
        lines[0] += f" ({verdict.value} in {setting}, which does not ask for verification)"
    if strict[1].value == "unknown":
        lines.append(sentence(strict[1].why))
    lines.append(f"{result.scenario.title}: {result.scenario.about.strip()}")
    lines += result.wrong
    if not strict[1].exposed:
        lines.append("No call came near what goes wrong in this scenario.")
    for finding in strict[1].findings:
        mark = _MARKS[finding.mark]
        lines.append(f"  {mark:<3}  {sentence(finding.why)} [{finding.aspect}: {finding.name}]")
    for number in result.untouched:
        how = f"it begins with the prompt turn_{number}"
        if result.track == TRACK:
            how = "it begins when the agent has handed in what it tells the user in the turn before"
        lines.append(f"Turn {number} never began; {how}.")
    if result.track == TRACK:
        if not result.submitted:
            lines.append("The agent has not submitted, so this is how it stands until now.")
        name = name_of(result.client)
        by = f", played with {name}" if name else ""
        lines.append(f"Track: {TRACK}{by}, apart from unattended runs.")
    if result.unheard:
        lines.append("Not judged, because what your agent told you is not in the trace:")
        lines += [f"       {statement}" for statement in result.unheard]
    return lines


def name_of(client: Mapping[str, str]) -> str:
    """Return the name and the version of a client, as far as they are known."""
    return f"{client.get('name', '')} {client.get('version', '')}".strip()


_MARKS = {"true": "yes", "false": "NO", "unknown": "?", "not applicable": "-"}


def _wrong(events: Sequence[Event]) -> list[str]:
    """Return a line for each call that a fault acted on."""
    lines = []
    for event in events:
        acting = event.firings if isinstance(event, Attempt) else []
        kinds = dict.fromkeys(firing.kind for firing in acting if firing.failed is None)
        if kinds and isinstance(event, Attempt):
            lines.append(f"What went wrong: {event.name} (event {event.seq}): {', '.join(kinds)}.")
    return lines
