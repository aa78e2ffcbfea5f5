"""How well the scripted user understands what agents ask: questions that others wrote.

They are in `judge/calibration/questions.yaml`, or in several files of `questions/` beside it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from client_harness.judging.figures import rate
from client_harness.user import User
from scenarios import load
from scenarios.model import Scenario
from servers.kit.declared import Declared, validated
from servers.kit.errors import InputError, UnknownName
from servers.kit.files import fingerprint
from servers.kit.yaml import read

QUESTIONS = "questions"
DEFAULT = "default"
"""Stands for something that is asked and that no answer foresees."""


@functools.cache
def scenario(name: str) -> Scenario:
    """Return a scenario, which is read once for all of its questions."""
    return load.load(name)


class Question(Declared):
    """A text of an agent in a scenario, and what it asks.

    `expects` holds the keys of the answers to everything that it asks, with `default` for what no
    answer foresees; it is empty for a text that asks nothing. `proposes` says whether the value
    that a yes-or-no question proposes, `value`, is the right one. `shape` is a remark about the
    wording.
    """

    scenario: str
    turn: Annotated[int, Field(ge=1)]
    text: Annotated[str, Field(min_length=1)]
    expects: tuple[str, ...]
    proposes: Literal["right", "wrong"] | None = None
    value: str = ""
    shape: str = ""

    @model_validator(mode="after")
    def _known(self) -> Question:
        answers = scenario(self.scenario).answers
        for key in self.expects:
            if key != DEFAULT and key not in answers:
                raise UnknownName("answer", key, [*answers, DEFAULT], self.scenario)
        return self

    @property
    def sort(self) -> str:
        """What it asks: `foreseen`, `unforeseen` or `nothing`."""
        if not self.expects:
            return "nothing"
        return "unforeseen" if self.expects == (DEFAULT,) else "foreseen"

    @property
    def reply(self) -> tuple[str, str] | None:
        """What the user of its scenario answers, as `(key, text)`; None is silence."""
        asked = scenario(self.scenario)
        user = User(asked.answers, asked.default_answer, asked.limits.questions)
        return user.answer(self.text)

    @property
    def understood(self) -> bool:
        """Whether the user answers everything that is asked, and nothing else.

        Where something foreseen and something unforeseen are asked at once, the foreseen answer
        alone is enough. A wrong value must be answered with "no", and a right one must not.
        """
        reply = self.reply
        got = set() if reply is None else set(reply[0].split("+"))
        wanted = set(self.expects)
        if got != wanted and not (got and got == wanted - {DEFAULT}):
            return False
        if self.proposes is None or reply is None:
            return True
        return reply[1].lower().startswith("no") is (self.proposes == "wrong")


def questions(folder: Path) -> list[Question]:
    """Return the questions in a folder; there may be none.

    Raises `InputError` for a file that is no list of questions.
    """
    found = []
    for path in _files(folder):
        items = read(path)
        if not isinstance(items, list):
            raise InputError(f"{path}: expected a list of questions")
        for place, item in enumerate(items):
            found.append(validated(Question, item, f"{path}: [{place}]"))
    return found


def _files(folder: Path) -> list[Path]:
    alone = folder / f"{QUESTIONS}.yaml"
    return [*([alone] if alone.exists() else []), *sorted((folder / QUESTIONS).glob("*.yaml"))]


def data_fingerprint(folder: Path) -> str:
    """Return the hash of the files of questions, or nothing if there are none."""
    paths = _files(folder)
    return fingerprint(paths, folder) if paths else ""


def understanding(asked: Sequence[Question]) -> dict[str, Any]:
    """Return how many questions the user understands: a rate, and `by_sort`, a rate for each."""
    sorts: dict[str, list[bool]] = {}
    for question in asked:
        sorts.setdefault(question.sort, []).append(question.understood)
    by_sort = {sort: rate(sum(hits), len(hits)) for sort, hits in sorted(sorts.items())}
    hits = sum(one["hits"] for one in by_sort.values())
    return {**rate(hits, len(asked)), "by_sort": by_sort}


def misunderstood(asked: Sequence[Question]) -> list[dict[str, Any]]:
    """Return each question that is not understood, with what the user answers."""
    listed = []
    for question in asked:
        if not question.understood:
            about, said = question.reply or ("", "")
            listed.append(
                {
                    "scenario": question.scenario,
                    "text": question.text,
                    "expects": list(question.expects),
                    "answered": about,
                    "said": said,
                }
            )
    return listed
