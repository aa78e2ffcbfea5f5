"""The results of a run: one SQLite file next to the traces, one row per trial.

A trial is `(scenario, agent, trial, arm)`; its arm is `faulted` (judged in base and relaxed) or
`clean`. A row is committed as its trial ends, and the trace is written before it. A run killed at
any moment therefore loses nothing that its rows refer to, and repeats only trials that have no row.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from sqlite_utils import Database

from servers.kit.errors import InputError, cut, quoted
from servers.kit.plain import is_there

NAME = "results.db"
KEY = ("scenario", "agent", "trial", "setting")
"""The primary key.

The column `setting` holds the arm. Earlier versions gave it this name, and their runs still open.
"""
Arm = Literal["faulted", "clean"]
SETTINGS = ("base", "relaxed", "clean")
JUDGED: dict[Arm, tuple[Literal["base", "relaxed", "clean"], ...]] = {
    "faulted": ("base", "relaxed"),
    "clean": ("clean",),
}
"""The settings in which trials of each arm are judged."""


@dataclass
class Trial:
    """One row.

    `verdicts` maps base, relaxed or clean to `{value, score, why, findings}`. `status` is done,
    limit or error as the agent ended, or crash if Haywire or a provider failed; `reason` then says
    how. `needless` is the number of calls beyond the oracle's. `seconds` are simulated. `tries` is
    2 if the first try was unknown. `trace` is relative to the run's folder. `reading` is how a
    judge model's questions were answered (`ModelReader.tally`, empty if phrases read), and
    `debrief` what the agent answered at the end (`judging.debrief`, empty if it was not asked).
    `story` says what an instance's trial was about and why it failed (`haystack.labels.Story`).
    """

    scenario: str
    agent: str
    trial: int
    arm: Arm
    seed: int
    status: str
    verdicts: dict[str, dict[str, Any]]
    exposed: bool
    order_inferred: bool
    calls: int
    seconds: int
    usage: dict[str, float]
    trace: str
    disclosure: str
    failure: str
    temporary: bool
    twin: bool
    oracle_calls: int | None = None
    needless: int | None = None
    tries: int = 1
    reason: str | None = None
    fingerprints: dict[str, str] = field(default_factory=dict)
    reading: dict[str, Any] = field(default_factory=dict)
    debrief: dict[str, Any] = field(default_factory=dict)
    story: dict[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, int, str]:
        """The primary key."""
        return self.scenario, self.agent, self.trial, self.arm

    @property
    def unknown(self) -> bool:
        """Whether any verdict is unknown."""
        return any(v["value"] == "unknown" for v in self.verdicts.values())

    def as_row(self) -> dict[str, Any]:
        """Return the columns. Each setting has its own columns, so that SQL can read them."""
        row = asdict(self)
        row["setting"] = row.pop("arm")
        verdicts = row.pop("verdicts")
        for setting in SETTINGS:
            verdict = verdicts.get(setting, {})
            row[setting] = verdict.get("value")
            row[f"{setting}_score"] = verdict.get("score")
            row[f"{setting}_why"] = verdict.get("why")
        findings = {setting: verdict["findings"] for setting, verdict in verdicts.items()}
        row["findings"] = json.dumps(findings, ensure_ascii=False)
        for name in _MAPPINGS:
            row[name] = json.dumps(row[name], sort_keys=True)
        return row

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> Trial:
        """Return the trial of a row."""
        verdicts = {}
        for setting, findings in json.loads(row["findings"]).items():
            verdicts[setting] = {
                "value": row[setting],
                "score": row[f"{setting}_score"],
                "why": row[f"{setting}_why"],
                "findings": findings,
            }
        row["verdicts"] = verdicts
        for name in _MAPPINGS:
            # Earlier versions did not have all of these, and their runs still open.
            row[name] = json.loads(row.get(name) or "{}")
        for name in ("exposed", "order_inferred", "temporary", "twin"):
            row[name] = bool(row[name])
        row["arm"] = row.pop("setting")
        return cls(**{f.name: row[f.name] for f in fields(cls)})


_MAPPINGS = ("usage", "fingerprints", "reading", "debrief", "story")
_TEXT = (
    "scenario",
    "agent",
    "setting",
    "status",
    "trace",
    "disclosure",
    "failure",
    "reason",
    *_MAPPINGS,
    "findings",
)
_WHOLE = (
    "trial",
    "seed",
    "exposed",
    "order_inferred",
    "calls",
    "oracle_calls",
    "needless",
    "seconds",
    "temporary",
    "twin",
    "tries",
)


class Results:
    """The results in a folder.

    `request` is what the run was asked to do, and `fingerprints` identify what it ran.
    """

    def __init__(self, home: Path, db: Database) -> None:
        self.home = home
        self._db = db
        about = {row["key"]: json.loads(row["value"]) for row in db.table("run").rows}
        self.request: dict[str, Any] = about["settings"]
        self.fingerprints: dict[str, str] = about["fingerprints"]

    @classmethod
    def create(cls, home: Path, request: dict[str, Any], fingerprints: dict[str, str]) -> Results:
        """Begin the results of a run in a folder, which is made if necessary.

        Raises `InputError` if the folder already holds a run.
        """
        path = home / NAME
        if is_there(path):
            raise InputError(
                f"{home} already holds a run; finish it with `client_harness resume {home}` "
                "or choose another --out"
            )
        try:
            home.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(".part")
            part.unlink(missing_ok=True)
            db = _database(part)
            columns: dict[str, type] = {**dict.fromkeys(_TEXT, str), **dict.fromkeys(_WHOLE, int)}
            for setting in SETTINGS:
                columns |= {setting: str, f"{setting}_why": str}
            columns |= {f"{setting}_score": float for setting in SETTINGS}
            db.table("trials").create(columns, pk=KEY, not_null=set(KEY))
            db.table("run").create({"key": str, "value": str}, pk="key")
            about = {"settings": request, "fingerprints": fingerprints}
            db.table("run").insert_all({"key": k, "value": json.dumps(v)} for k, v in about.items())
            db.close()
            part.rename(path)  # the file is complete or absent
        except (OSError, ValueError, sqlite3.Error) as wrong:
            raise InputError(f"{cut(str(home), 200)!r}: {cut(str(wrong), 200)}") from None
        return cls.open(home)

    @classmethod
    def open(cls, home: Path) -> Results:
        """Return the results in a run's folder (`home` may also be its `results.db`).

        Raises `InputError`; a broken file is not touched.
        """
        home = home.parent if home.name == NAME else home
        path = home / NAME
        if not is_there(path):
            raise InputError(f"{cut(str(home), 200)} holds no run: it has no {NAME}")
        try:
            return cls(home, _database(path))
        except (sqlite3.Error, KeyError, ValueError) as broken:
            raise InputError(
                f"{path} is not a results database ({broken}); "
                "it was not changed, and the traces next to it are intact"
            ) from None

    def close(self) -> None:
        """Release the file."""
        self._db.close()

    def add(self, trial: Trial) -> None:
        """Store a finished trial and commit. A trial that is already stored stays as it is."""
        self._db.table("trials").insert(trial.as_row(), ignore=True, alter=True)

    def replace(self, trial: Trial) -> None:
        """Store a trial in place of the stored one."""
        self._db.table("trials").upsert(trial.as_row(), pk=KEY, alter=True)

    def done(self) -> set[tuple[str, str, int, str]]:
        """Return the keys of the finished trials."""
        rows = self._db.execute(f"SELECT {', '.join(KEY)} FROM trials").fetchall()
        return {tuple(row) for row in rows}

    def trials(self) -> list[Trial]:
        """Return the finished trials, ordered by their keys.

        Raises `InputError` if the file is broken.
        """
        try:
            rows = self._db.table("trials").rows_where(order_by=", ".join(KEY))
            return [Trial.from_row(row) for row in rows]
        except (sqlite3.Error, KeyError, ValueError) as broken:
            path = self.home / NAME
            raise InputError(
                f"{path} is broken ({broken}); it was not changed, and the traces are intact"
            ) from None

    def refingerprint(self, **parts: str) -> None:
        """Change parts of the run's fingerprints."""
        self.fingerprints |= parts
        self._db.table("run").upsert(
            {"key": "fingerprints", "value": json.dumps(self.fingerprints)}, pk="key"
        )

    def trace_of(self, trial: Trial) -> Path:
        """Return the file of a trial's trace.

        Raises `InputError` if the results, which others may have sent, name one elsewhere.
        """
        path = self.home / trial.trace
        if not path.resolve().is_relative_to(self.home.resolve()):
            raise InputError(f"{self.home}: the trace {quoted(trial.trace)} is outside of the run")
        return path

    def write_trace(self, trace: Path, lines: list[str]) -> None:
        """Write a trace under a temporary name and move it into place."""
        trace.parent.mkdir(parents=True, exist_ok=True)
        part = trace.with_name(trace.name + ".part")
        part.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="\n")
        part.replace(trace)


def _database(path: Path) -> Database:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA synchronous=NORMAL")
    return Database(connection)
