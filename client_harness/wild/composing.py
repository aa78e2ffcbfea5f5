"""Write composed dialogues into a folder, each of them proven."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from client_harness.proof.checking import check_all
from scenarios.wild.compose import Wish, compose
from servers.kit.errors import InputError


def write(
    wish: Wish, count: int, folder: Path, *, seed: int = 0, jobs: int | None = None
) -> tuple[list[Path], int]:
    """Write so many proven dialogues into a new folder, as files that `run` and `check` take.

    Returns the files, and how many dialogues were left out because they could not be proven. Raises
    `InputError`, and leaves nothing behind, if there are not enough.
    """
    if count < 1:
        raise InputError(f"--count: expected at least 1, got {count}")
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty; choose another folder")
    found = compose(wish, seed)
    proven: list[dict[str, Any]] = []
    dropped = 0
    while len(proven) < count:
        wanted = list(itertools.islice(found, count - len(proven)))
        if not wanted:
            raise InputError(
                f"only {len(proven)} dialogues have all of this, not {count}; wish for less"
            )
        right = _proven(wanted, jobs)
        dropped += len(wanted) - len(right)
        proven += right
    folder.mkdir(parents=True, exist_ok=True)
    files = list(_named(folder, proven))
    for path, raw in zip(files, proven, strict=True):
        path.write_text(_text(raw), encoding="utf-8")
    return files, dropped


def _proven(wanted: list[dict[str, Any]], jobs: int | None) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as place:
        files = list(_named(Path(place), wanted))
        for path, raw in zip(files, wanted, strict=True):
            path.write_text(_text(raw), encoding="utf-8")
        found = check_all(files, jobs=jobs, fresh=True)
    right = []
    for path, raw in zip(files, wanted, strict=True):
        if not found[str(path)]["problems"]:
            right.append(raw)
    return right


def _named(folder: Path, dialogues: list[dict[str, Any]]) -> Iterator[Path]:
    for number, raw in enumerate(dialogues, 1):
        person, _, story = raw["story"].partition("/")
        yield folder / f"{number:04}_{person}_{story}.yaml"


def _text(raw: dict[str, Any]) -> str:
    return yaml.safe_dump(raw, sort_keys=False, width=110)
