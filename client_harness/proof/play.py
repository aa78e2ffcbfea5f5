"""Play a scenario with an agent in this process, and judge it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from client_harness.contract import Agent, Assignment
from client_harness.episode import Episode
from client_harness.expected import Known, expected
from client_harness.tools import Straight, in_memory
from judge.change import Timeline, timeline
from judge.reading import Reader
from judge.trace import Record
from judge.verdict import Verdict, judge
from scenarios.model import Scenario
from servers.kit.errors import InputError
from servers.kit.events import Attempt, End, Event, Message
from servers.kit.store import Change

Life = Callable[[Assignment], AbstractAsyncContextManager[Agent]]


@dataclass
class Played:
    """One play of a scenario as the proof sees it.

    It holds the verdicts by setting, the trace, and any bugs in Haywire itself. Only with `keep`
    is the world in `record` open; then `close` must be called.
    """

    verdicts: dict[str, Verdict]
    events: list[Event]
    bugs: list[str] = field(default_factory=list)
    record: Record | None = None
    episode: Episode | None = None

    @property
    def attempts(self) -> list[Attempt]:
        """The attempts of the trace."""
        return [e for e in self.events if isinstance(e, Attempt)]

    @property
    def messages(self) -> list[Message]:
        """The texts of the trace."""
        return [e for e in self.events if isinstance(e, Message)]

    @property
    def end(self) -> End:
        """The trace's last event."""
        return next(e for e in reversed(self.events) if isinstance(e, End))

    @property
    def changes(self) -> list[Change]:
        """The changes in the world, oldest first."""
        return self.end.changes or []

    def timeline(self, turns: int) -> Timeline:
        """Return what the run changed, turn by turn."""
        made = timeline(self.events, turns)
        assert made is not None, "an episode that has ended has an end"
        return made

    def failed_gates(self, setting: str) -> list[str]:
        """Return the names of the gates that failed in a setting."""
        return [finding.name for finding in self.verdicts[setting].findings if finding.failed]

    def close(self) -> None:
        """Release the databases of a play that was kept."""
        if self.episode is not None:
            self.episode.close()
            self.episode = None


async def play(
    scenario: Scenario,
    life: Life,
    *,
    faulted: bool = True,
    known: Known | None = None,
    reader: Reader | None = None,
    straight: bool = False,
    keep: bool = False,
    look: Callable[[Record], None] | None = None,
) -> Played:
    """Play a scenario with an agent in this process and judge it.

    With faults it is judged in base and relaxed, without them in clean. `known` keeps what right
    runs change from one play to the next. `straight` leaves out the MCP client. `look` gets the
    record while the world is open; `keep` leaves it open.

    Raises `InputError` if a script cannot be played to its end.
    """
    right = await expected(scenario, known)
    episode = Episode(scenario, faulted=faulted)
    done = False
    try:
        await _converse(episode, life, straight)
        record = episode.record(right, reader)
        settings = ("base", "relaxed") if faulted else ("clean",)
        verdicts = {setting: judge(scenario.gates, record, setting) for setting in settings}
        if look is not None:
            look(record)
        played = Played(verdicts, record.events, episode.session.bugs)
        if keep:
            played.record = record
            played.episode = episode
        done = keep
        return played
    finally:
        if not done:
            episode.close()


async def _converse(episode: Episode, life: Life, straight: bool) -> None:
    wrong: InputError | None = None
    await episode.begin()
    if straight:
        async with life(episode.assignment(Straight(episode.session))) as agent:
            await episode.converse(agent)
        return
    async with (
        in_memory(episode.session) as tools,
        life(episode.assignment(tools)) as agent,
    ):
        try:
            await episode.converse(agent)
        except InputError as mistake:
            # Raised again outside, where the client's task group cannot wrap it.
            wrong = mistake
    if wrong is not None:
        raise InputError(f"a script: {wrong}")
