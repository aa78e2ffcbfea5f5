"""A scenario that a person plays with a client of their own, and the trace of it.

The server hears calls, but not what is said. So the turns of the conversation begin with prompts
that the client offers its user, and what the agent told the user may be given when the trace is
judged. The file is a whole trace after every call; so it can be judged at any moment, even if the
client has killed the server.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from client_harness import fingerprints
from client_harness.episode import PAUSE, Episode
from servers.kit.briefing import Prompt
from servers.kit.events import Event, Message, Notice, to_json
from servers.kit.plain import is_there
from servers.kit.values import iso

FOLDER = Path("runs/played")
PLAYED = "played"
"""What the first line of such a trace says: the scenario, its seed, the faults, the world."""


class Played:
    """An episode that is served, and the file that its trace goes to.

    `scenario` is the id or the absolute path of the scenario, `faults` the profile that replaces
    its own. The file is made when the first call has been recorded. `track` is what reports call
    such plays, and `hears` whether the trace has what the agent tells its user.
    """

    track = "played"
    hears = False

    def __init__(
        self, episode: Episode, scenario: str, faults: str | None, folder: Path = FOLDER
    ) -> None:
        self.episode = episode
        self.file: Path | None = None
        self._folder = folder / episode.scenario.id
        self._session = episode.session
        self._answered: set[tuple[str, int]] = set()
        self._calls = 0
        self._failed = False
        about = {
            "scenario": scenario,
            "seed": episode.control.seed,
            "faults": faults,
            "world": fingerprints.world([episode.scenario]),
            "track": self.track,
        }
        self._head = Notice(0, 0, iso(episode.control.now), PLAYED, about)
        self._open()
        self._session.on_attempt.append(self._heard)

    def _open(self) -> None:
        """Let the user say the first message: whoever types it tells nobody."""
        self._session.turn = 1
        self._session.message("user", self.episode.scenario.turns[0].user)

    @property
    def opening(self) -> list[str]:
        """What the person says to the agent, in order."""
        return [turn.user for turn in self.episode.scenario.turns]

    @property
    def begun(self) -> bool:
        """Whether any call was made."""
        return self._calls > 0

    def events(self) -> list[Event]:
        """Return the whole trace as if the play ended now."""
        return [self._head, *self._session.trace(), *self._ending()]

    def _ending(self) -> list[Event]:
        """Return the place of the agent's last text, and the end."""
        seq = self._session.control.next_seq()
        turn = self._session.turn
        at = iso(self._session.control.now)
        text = Message(seq, turn, "assistant", "", at)
        return [text, replace(self.episode.ending("done"), seq=seq + 1)]

    def _heard(self, attempt: Any) -> None:
        self._calls += 1
        self._write()

    def _write(self) -> None:
        """Put the trace into its file; if that fails, say so once and play on."""
        if not self.begun or self._failed:
            return
        try:
            if self.file is None:
                self.file = _next(self._folder)
            lines = [to_json(self._head), *self._session.control.trace()]
            lines += [to_json(event) for event in self._ending()]
            part = self.file.with_name(self.file.name + ".part")
            part.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
            part.replace(self.file)
        except OSError as wrong:
            self._failed = True
            self.file = None
            told = f"note: the trace is not kept: {self._folder}: {wrong.strerror}; use --traces"
            print(told, file=sys.stderr)

    # -- the user's side -------------------------------------------------------------------------
    def prompts(self) -> list[Prompt]:
        """Return what the user may say: each turn, and the answers to what an agent may ask."""
        offered = []
        for number, turn in enumerate(self.episode.scenario.turns, 1):
            about = "What to say to your agent"
            about += "." if number == 1 else " when it has answered the turn before."
            say = _bound(self._begin, number)
            offered.append(Prompt(f"turn_{number}", f"Turn {number}", about, turn.user, say))
        for key, answer in self.episode.scenario.answers.items():
            about = f"What to answer if your agent asks about {key}."
            say = _bound(self._answer, key)
            offered.append(Prompt(f"answer_{key}", f"Answer: {key}", about, answer.say, say))
        return offered

    def _begin(self, number: int) -> None:
        """Begin a turn, if it has not begun."""
        turns = self.episode.scenario.turns
        while self._session.turn < number:
            self._session.message("assistant", "")
            self._session.turn += 1
            self._session.step = None
            turn = turns[self._session.turn - 1]
            self._session.pass_time(turn.gap)
            self._session.message("user", turn.user)
        self._write()

    def _answer(self, key: str) -> None:
        """Record the answer to a question, once in a turn."""
        if (key, self._session.turn) in self._answered:
            return
        self._answered.add((key, self._session.turn))
        self._session.pass_time(PAUSE)
        self._session.message("user", self.episode.scenario.answers[key].say, key)
        self._write()


def _bound(do: Any, what: Any) -> Any:
    return lambda: do(what)


def _next(folder: Path) -> Path:
    """Make the next numbered file in a folder and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = [int(path.stem) for path in folder.glob("*.jsonl") if path.stem.isdigit()]
    number = max(numbers, default=0)
    while True:
        number += 1
        path = folder / f"{number:04}.jsonl"
        try:
            path.touch(exist_ok=False)
        except FileExistsError:
            continue  # another server has taken the number
        return path


def newest(path: Path) -> Path | None:
    """Return the trace of a play that a path names: the file, or the newest one in a folder.

    None means that the path is something else, such as the folder of a run.
    """
    if path.suffix == ".jsonl":
        return path
    if not (is_there(path) and path.is_dir()) or is_there(path / "results.db"):
        return None
    traces = [file for file in path.rglob("*.jsonl") if file.stem.isdigit()]
    return max(traces, key=lambda file: (file.stat().st_mtime, str(file)), default=None)
