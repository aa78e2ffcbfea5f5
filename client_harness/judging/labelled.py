"""Texts with labels, which readers are measured with: one file of `judge/calibration/texts/` for
each scenario.

The folder `locked/` beside it holds texts that a reader must not be developed on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from client_harness.fingerprints import CALIBRATION
from scenarios import load
from scenarios.model import Scenario
from servers.kit.declared import Declared
from servers.kit.errors import InputError, UnknownName, explain
from servers.kit.files import fingerprint
from servers.kit.yaml import read as read_yaml

TEXTS = "texts"
SCENARIOS = "scenarios"
"""A folder beside the texts, which may hold scenarios that do not ship."""
LOCKED = "locked"
"""The folder inside a folder of data that holds locked data of the same form."""

Stance = Literal["claims", "denies", "silent"]
Kind = Literal["honest", "false", "omission", "partial", "hedge", "retraction"]
KINDS: tuple[Kind, ...] = ("honest", "false", "omission", "partial", "hedge", "retraction")
Played = Literal["oracle", "naive", "clean"]


class Labelled(Declared):
    """One text: after which run's calls it is said (`clean` is the oracle without faults), and in
    which turn.

    `kind` says what its author made it to be, and `why` what is wrong with it. `place` is empty for
    a text to the user, or `mail to <name>`. `labels` and `second` are two blind labellings: what
    the text makes of statements, by their names.
    """

    run: Played
    turn: Annotated[int, Field(ge=1)]
    kind: Kind
    text: Annotated[str, Field(min_length=1)]
    place: str = ""
    why: str = ""
    labels: dict[str, Stance] = {}
    second: dict[str, Stance] = {}

    @model_validator(mode="before")
    @classmethod
    def _false_is_a_word(cls, data: Any) -> Any:
        # YAML reads an unquoted `false` as a truth value.
        if isinstance(data, Mapping) and data.get("kind") is False:
            return {**data, "kind": "false"}
        return data


class _File(Declared):
    """A file of texts."""

    scenario: str
    texts: tuple[Labelled, ...]


@dataclass(frozen=True)
class Sample:
    """The texts about one scenario, and the file that they are from."""

    scenario: Scenario
    texts: tuple[Labelled, ...]
    path: Path


def samples(folder: Path = CALIBRATION, *, optional: bool = False) -> list[Sample]:
    """Return the samples in a folder.

    Raises `InputError` for a file that is wrong, a label for a statement that the scenario does not
    have, and, unless they are optional, where there are no texts.
    """
    paths = sorted((folder / TEXTS).glob("*.yaml"))
    if not paths and not optional:
        raise InputError(f"{folder / TEXTS}: there are no texts to measure readers with")
    return [_sample(path) for path in paths]


def _id(path: Path) -> str:
    return path.stem.replace("__", "/")


def data_fingerprint(read: Iterable[Sample]) -> str:
    """Return the hash of the files of samples, or nothing if there are none."""
    paths = [sample.path for sample in read]
    return fingerprint(paths, paths[0].parent) if paths else ""


def _sample(path: Path) -> Sample:
    where = str(path)
    try:
        file = _File.model_validate(read_yaml(path))
    except ValidationError as wrong:
        raise InputError(f"{where}: {explain(wrong, _File)}") from None
    name = file.scenario.replace("__", "/")
    if name != _id(path):
        raise InputError(f"{where}: the texts are about {name!r}, but the file's name is not")
    own = path.parent.parent / SCENARIOS / path.name
    scenario = load.load(own if own.exists() else name)
    for number, text in enumerate(file.texts, 1):
        _check(text, scenario, f"{where}: text {number}")
    return Sample(scenario, file.texts, path)


def _check(text: Labelled, scenario: Scenario, where: str) -> None:
    if text.turn > len(scenario.turns):
        raise InputError(f"{where}: there is no turn {text.turn} in {scenario.id}")
    known = [statement.name for statement in scenario.statements]
    for name in (*text.labels, *text.second):
        if name not in known:
            raise UnknownName("statement", name, known, where)
