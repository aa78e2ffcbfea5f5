"""A report on scenarios that were played with clients of people's own, each track by itself.

A person chose the moment, the window and the words around it, so such plays are listed and counted,
and never ranked beside unattended runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from client_harness.episode_server import TRACK
from client_harness.judging.played import Judged, judged, name_of, read
from client_harness.played import newest
from servers.kit.errors import InputError


@dataclass(frozen=True)
class Play:
    """One play: its trace, and the judgement, or why there is none."""

    trace: Path
    judged: Judged | None
    problem: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        shown = self.judged.as_json() if self.judged is not None else {"problem": self.problem}
        return {"trace": str(self.trace), **shown}


def holds_plays(path: Path) -> bool:
    """Return whether a path is the trace of a play, or a folder of such traces."""
    return newest(path) is not None


async def plays(paths: Sequence[Path]) -> list[Play]:
    """Judge every play that some paths hold, in the order of their names.

    Raises `InputError` if one of them holds none.
    """
    found = []
    for path in paths:
        if not holds_plays(path):
            raise InputError(
                f"{path} holds no plays; these are a track of their own, "
                "so report them without runs"
            )
        traces = [path]
        if path.is_dir():
            traces = sorted(file for file in path.rglob("*.jsonl") if file.stem.isdigit())
        for trace in traces:
            try:
                found.append(Play(trace, await judged(read(trace))))
            except InputError as wrong:
                found.append(Play(trace, None, str(wrong)))
    return found


def tables(found: Sequence[Play]) -> list[tuple[str, list[list[str]]]]:
    """Return for each track a heading and the rows of its table."""
    made = []
    for track in sorted({play.judged.track for play in found if play.judged is not None}):
        rows = [["client", "scenario", "verdict", "relaxed", "calls", "trace"]]
        for play in found:
            if play.judged is None or play.judged.track != track:
                continue
            row = _row(play.trace, play.judged)
            rows.append(row)
        passed = sum(row[2] == "pass" for row in rows)
        heading = f"Track {track}: {passed} of {len(rows) - 1} passed, apart from unattended runs"
        made.append((heading, rows))
    broken = [[str(play.trace), play.problem] for play in found if play.judged is None]
    return [*made, ("Not judged", broken)] if broken else made


def _row(trace: Path, one: Judged) -> list[str]:
    strict, *lenient = one.verdicts.values()
    verdict = strict.value
    if one.track == TRACK and not one.submitted:
        verdict += ", not submitted"
    relaxed = lenient[0].value if lenient else "–"
    client = name_of(one.client) or "–"
    return [client, one.scenario.id, verdict, relaxed, str(one.calls), str(trace)]
