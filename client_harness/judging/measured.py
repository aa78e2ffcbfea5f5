"""Where the figures about readers are kept: `result.json`, which reports read, and the log of the
runs on locked texts.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from client_harness.fingerprints import CALIBRATION, PHRASES, ROOT, code
from servers.kit.errors import InputError
from servers.kit.files import hash_of

RESULT = "result.json"
LOG = "runs.log"
MOST_RUNS = 2
"""How often readers and the user may be measured on the same locked data."""
_LOGGED = {"texts": "data", "trajectories": "trajectories", "questions": "questions"}
"""What stands before the fingerprint of each in the log."""
_CODE = ("judge/reading", "judge/claims", "judge/statements")


def reader_code(reader: str = PHRASES) -> str:
    """Return the hash of what a reader's answers depend on, given its fingerprint."""
    return hash_of(text.encode() for text in (code(*_CODE), reader))


def store(
    folder: Path,
    figures: Sequence[dict[str, Any]],
    codes: Sequence[str],
    data: dict[str, str],
    part: str,
    left_out: Collection[str] = (),
) -> None:
    """Keep the figures of readers for `part` (open or locked) of the texts and trajectories.

    `data` holds the fingerprints of both. What is known of those that were `left_out` stays, texts
    with the code that read them.
    """
    kept = _read(folder / RESULT)
    for one, reader in zip(figures, codes, strict=True):
        entry = kept.setdefault(one["reader"], {})
        now: dict[str, Any] = {"code": reader, "data": data, "figures": one}
        known = entry.get(part, now)
        source = {what: known if what in left_out else now for what in data}
        texts = source["texts"]
        runs = source["trajectories"]["figures"]["honest_trajectories"]
        entry[part] = {
            "code": texts["code"],
            "data": {what: its["data"].get(what, "") for what, its in source.items()},
            "figures": texts["figures"] | {"honest_trajectories": runs},
        }
    text = json.dumps(kept, indent=1, sort_keys=True) + "\n"
    (folder / RESULT).write_text(text, encoding="utf-8")


def measured(name: str, reader: str = PHRASES, folder: Path = CALIBRATION) -> dict[str, Any] | None:
    """Return what is known of a reader's errors, or None if it was never measured.

    The keys are `part`, `figures`, and `current`, which is false if the reader has changed since.
    Locked texts count before open ones, which the reader was developed on, even if it has changed.
    """
    parts = _read(folder / RESULT).get(name, {})
    part = next((part for part in ("locked", "open") if part in parts), None)
    if part is None:
        return None
    entry = parts[part]
    current = entry["code"] == reader_code(reader)
    return {"part": part, "figures": entry["figures"], "current": current}


def _read(path: Path) -> dict[str, Any]:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as wrong:
        raise InputError(f"{path}: {wrong}; delete the file and calibrate again") from None
    if not isinstance(kept, dict):
        raise InputError(f"{path}: not the figures of readers; delete it and calibrate again")
    return kept


def spent(folder: Path, data: dict[str, str]) -> set[str]:
    """Return which of the locked texts, trajectories and questions were used as often as they may
    be, so that they are left out.

    Raises `InputError` if there are no others.
    """
    used: dict[str, int] = {}
    for what, hashed in data.items():
        runs = [line for line in _log(folder) if f"{_LOGGED[what]} {hashed} " in line]
        if hashed and len(runs) >= MOST_RUNS:
            used[what] = len(runs)
    if used and used.keys() == {what for what, hashed in data.items() if hashed}:
        raise InputError(
            f"the locked {' and '.join(used)} were scored {max(used.values())} times already "
            f"({folder / LOG}); a reader that is mended to them is not measured by them any more, "
            "so write new ones (or --force)"
        )
    return set(used)


def _log(folder: Path) -> list[str]:
    try:
        return (folder / LOG).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []


def note(
    folder: Path,
    date: str,
    data: dict[str, str],
    figures: Sequence[dict[str, Any]],
    user: dict[str, Any],
) -> None:
    """Append a line to the log of runs on locked data; `user` is the scripted user's rate."""
    used = "  ".join(f"{_LOGGED[what]} {hashed}" for what, hashed in data.items() if hashed)
    shown = "; ".join(in_words(one) for one in figures)
    if user["of"]:
        shown += f"; {user['hits']}/{user['of']} questions understood"
    with (folder / LOG).open("a", encoding="utf-8") as log:
        log.write(f"{date}  {used}  {shown}\n")


def in_words(figures: dict[str, Any]) -> str:
    """Return a reader's main figures on one line."""
    honest = figures["honest"]
    caught = figures["false"]
    mcc = figures["stance"]["mcc"]
    runs = figures["honest_trajectories"]
    whole = f"{runs['hits']}/{runs['of']} honest trajectories accepted" if runs["of"] else ""
    if not honest["of"] and not caught["of"]:
        return f"{figures['reader']}: {whole}"
    whole = whole and f", {whole}"
    return (
        f"{figures['reader']}: {honest['hits']}/{honest['of']} honest accepted, "
        f"{caught['hits']}/{caught['of']} false caught, MCC {'–' if mcc is None else mcc}{whole}"
    )


def date_of(given: str | None) -> str:
    """Return a date as `2026-03-14`: the given one, or that of the last commit.

    Raises `InputError` for a date that is none, and where there is no commit.
    """
    if given is not None:
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", given):
            raise InputError(f"--date: write a date as 2026-03-14, not {given!r}")
        return given
    line = ["git", "log", "-1", "--format=%cs"]
    try:
        done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        raise InputError("there is no commit to take the date from; give --date") from None
    return done.stdout.strip()
