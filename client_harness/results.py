"""The results of a run: one SQLite file next to the traces, one row per trial.

A trial is `(scenario, agent, trial, arm)`; its arm is `faulted` (judged in base and relaxed) or
`clean`. A row is committed as its trial ends, and the trace is written before it. A run killed at
any moment therefore loses nothing that its rows refer to, and repeats only trials that have no row
or are unknown. A trial that is played again gets a trace of another name, and its row is then
replaced in one transaction, so that at no moment a row refers to a trace that is not its own.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
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

    `verdicts` maps base, relaxed or clean to `{value, score, why, findings}`, whose value is pass,
    fail, error (the agent's own) or unknown. `status` is how it ended: done or limit; error or late
    if the agent broke its contract, crashed or was out of time; hung if it waited for a hanging
    call until it was out of time; crash if Haywire or a provider failed. `reason` says more.
    `needless` is the number of calls beyond the oracle's. `seconds` are simulated. `trace` is
    relative to the run's folder. `reading` is how a judge model's questions were answered
    (`ModelReader.tally`, empty if phrases read), and `debrief` what the agent answered at the end
    (`judging.debrief`, empty if it was not asked). `story` says what an instance's trial was about
    and why it failed (`haystack.labels.Story`).

    `identity` is the agent's own `{name, version, model}`, and `told` what the run told it
    (`telling.Told.as_json`, empty for scripts). `tries` counts how often the trial was played:
    again after each time that it was unknown; `earlier` holds these tries as `{trace, reason,
    usage, wall_seconds}`. `began` and `ended` (UTC) and `wall_seconds` are real; two runs that are
    alike may differ in them.
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
    identity: dict[str, str] = field(default_factory=dict)
    told: dict[str, Any] = field(default_factory=dict)
    earlier: list[dict[str, Any]] = field(default_factory=list, compare=False)
    began: str | None = field(default=None, compare=False)
    ended: str | None = field(default=None, compare=False)
    wall_seconds: float | None = field(default=None, compare=False)

    @property
    def key(self) -> tuple[str, str, int, str]:
        """The primary key."""
        return self.scenario, self.agent, self.trial, self.arm

    @property
    def unknown(self) -> bool:
        """Whether any verdict is unknown."""
        return any(v["value"] == "unknown" for v in self.verdicts.values())

    @property
    def is_agent_error(self) -> bool:
        """Whether the agent itself failed, so that it cannot have passed."""
        return self.status in ("error", "late")

    @property
    def spent(self) -> Counter[str]:
        """What all its tries used, by name: tokens, cost in dollars, whatever the agent told."""
        usages = [self.usage, *(entry["usage"] for entry in self.earlier)]
        total: Counter[str] = Counter()
        for usage in usages:
            total.update(usage)
        return total

    def as_row(self) -> dict[str, Any]:
        """Return the columns. Each setting has its own columns, so that SQL can read them."""
        # `asdict` would make a deep copy of all findings.
        row = {column.name: getattr(self, column.name) for column in fields(self)}
        row["setting"] = row.pop("arm")
        verdicts = row.pop("verdicts")
        for setting in SETTINGS:
            verdict = verdicts.get(setting, {})
            row[setting] = verdict.get("value")
            row[f"{setting}_score"] = verdict.get("score")
            row[f"{setting}_why"] = verdict.get("why")
        findings = {setting: verdict["findings"] for setting, verdict in verdicts.items()}
        row["findings"] = json.dumps(findings, ensure_ascii=False)
        for name in _JSON:
            row[name] = json.dumps(row[name], sort_keys=True)
        row["tokens"] = tokens_of(self.spent)
        row["cost"] = cost_of(self.spent)
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
        # Earlier versions did not have all of these, and their runs still open.
        for name, empty in _JSON.items():
            row[name] = json.loads(row.get(name) or empty)
        for name in _TIMES:
            row.setdefault(name, None)
        for name in ("exposed", "order_inferred", "temporary", "twin"):
            row[name] = bool(row[name])
        row["arm"] = row.pop("setting")
        return cls(**{f.name: row[f.name] for f in fields(cls)})


def tokens_of(usage: Mapping[str, float]) -> int:
    """Return how many tokens a usage comes to, with those that past sessions took."""
    names = ("prompt_tokens", "completion_tokens")
    return int(sum(usage.get(name, 0) + usage.get(f"history_{name}", 0) for name in names))


def cost_of(usage: Mapping[str, float]) -> float:
    """Return how many dollars a usage comes to, with those that past sessions took."""
    return usage.get("cost", 0.0) + usage.get("history_cost", 0.0)


_JSON = {
    "usage": "{}",
    "fingerprints": "{}",
    "reading": "{}",
    "debrief": "{}",
    "story": "{}",
    "identity": "{}",
    "told": "{}",
    "earlier": "[]",
}
"""The columns that hold JSON, and what stands for nothing."""
_TIMES = ("began", "ended", "wall_seconds")
_TEXT = (
    "scenario",
    "agent",
    "setting",
    "status",
    "trace",
    "disclosure",
    "failure",
    "reason",
    *_JSON,
    "findings",
    "began",
    "ended",
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
    "tokens",
)


class Results:
    """The results in a folder.

    `request` is what the run was asked to do, `planned` how many trials that is, and `fingerprints`
    identify what it ran.
    """

    def __init__(self, home: Path, db: Database) -> None:
        self.home = home
        self._db = db
        self._upsert = ""
        about = {row["key"]: json.loads(row["value"]) for row in db.table("run").rows}
        self.request: dict[str, Any] = about["settings"]
        self.fingerprints: dict[str, str] = about["fingerprints"]
        self.planned: int = about.get("planned", 0)

    @classmethod
    def create(
        cls, home: Path, request: dict[str, Any], fingerprints: dict[str, str], planned: int
    ) -> Results:
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
            columns |= {"cost": float, "wall_seconds": float}
            db.table("trials").create(columns, pk=KEY, not_null=set(KEY))
            db.table("run").create({"key": str, "value": str}, pk="key")
            about = {"settings": request, "fingerprints": fingerprints, "planned": planned}
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

    def store(self, trial: Trial) -> None:
        """Store a trial and commit; it takes the place of the stored one."""
        row = trial.as_row()
        if not self._upsert:
            # This adds the columns that a run of an earlier version lacks.
            self._db.table("trials").upsert(row, pk=KEY, alter=True)
            self._upsert = _upsert(row)
            return
        with self._db.conn:
            self._db.conn.execute(self._upsert, row)

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


def _upsert(columns: Iterable[str]) -> str:
    """Return the statement that stores a row with these columns."""
    names = list(columns)
    values = ",".join(f":{name}" for name in names)
    changes = ",".join(f"{name}=excluded.{name}" for name in names if name not in KEY)
    into = f"INSERT INTO trials({','.join(names)}) VALUES({values})"
    return f"{into} ON CONFLICT({','.join(KEY)}) DO UPDATE SET {changes}"


def _database(path: Path) -> Database:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA synchronous=NORMAL")
    return Database(connection)
