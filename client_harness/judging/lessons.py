"""The lessons from which users learn what agents ask.

They are the open labelled questions, as cues, and what scripts of shipped scenarios say to users.

`make hearing` runs this file, which has users learn them anew (`client_harness/user/hearing/`).
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from client_harness.adapters.install import environment
from client_harness.fingerprints import CALIBRATION, ROOT
from client_harness.judging.questions import DEFAULT, Question, questions, scenario
from client_harness.user import asks as asked_in
from client_harness.user._values import right
from client_harness.user.hearing import FOLDER, WEIGHTS, cues
from scenarios import load
from scenarios.answer import Answer
from scenarios.script import flat


def lessons(asked: Sequence[Question]) -> Iterator[dict[str, Any]]:
    """Yield two lessons for each question: for a user who has the answers of its scenario, if that
    is one, and for one who has none.
    """
    for question in asked:
        answers = scenario(question.scenario).answers
        if len(answers) == 1:
            ((key, answer),) = answers.items()
            yield _lesson(question, key, answer)
        yield _lesson(question, "", None)


def of_scripts() -> Iterator[dict[str, Any]]:
    """Yield lessons of what the scripts of shipped scenarios say where nothing is asked, which the
    rules know of these plain texts, and of what they ask.
    """
    for name in load.index():
        written = scenario(name)
        key, answer = next(iter(written.answers.items()), ("", None))
        oracle = written.scripts.oracle
        right = (oracle, *(route.edit(oracle) for route in written.routes))
        asks = any(one.question is None for one in written.answers.values())
        for script in (*right, written.scripts.naive):
            told = [step.say for step in flat(script) if step.say is not None]
            for text in told:
                if not (asks and asked_in(text)):
                    yield from _told(text, key, answer)
        if answer is not None and answer.question is not None:
            yield _said(answer.question, key, answer, "this")
        elif asks and len(written.turns) == 1:
            first = next(step.say for step in flat(oracle) if step.say is not None)
            yield _said(first, key, answer, "this")


def _told(text: str, key: str, answer: Answer | None) -> Iterator[dict[str, Any]]:
    """Yield lessons of a text that asks nothing; what names the right value asks no more."""
    yield _said(text, key, answer, "nothing")
    if answer is not None and answer.value is not None and _FILLED_IN.search(text):
        yield _said(text, key, answer, "nothing", right(answer)[0])


def _said(
    text: str, key: str, answer: Answer | None, asks: str, value: str = "1"
) -> dict[str, Any]:
    said = _FILLED_IN.sub(lambda _: value, text)
    return {"cues": sorted(cues(said, key, answer)), "asks": asks}


def _lesson(question: Question, key: str, answer: Answer | None) -> dict[str, Any]:
    lesson: dict[str, Any] = {"cues": sorted(cues(question.text, key, answer))}
    if key not in question.expects:
        return lesson | {"asks": "other" if question.expects else "nothing"}
    lesson |= {
        "asks": "this",
        "more": "yes" if DEFAULT in question.expects else "no",
        "proposes": "no" if question.proposes is None else "yes",
    }
    if question.proposes is not None:
        lesson["rightly"] = "yes" if question.proposes == "right" else "no"
    return lesson


_FILLED_IN = re.compile(r"\$\{[^}]*\}")
"""What a script fills into a text: an amount, a day, a name."""


def main() -> None:
    """Have users learn all lessons, in an environment that is made if it is missing."""
    python = environment("hearing", FOLDER / "requirements.lock")
    asked = questions(CALIBRATION)
    lines = [json.dumps(lesson) + "\n" for lesson in (*lessons(asked), *of_scripts())]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "lessons.jsonl"
        file.write_text("".join(lines), encoding="utf-8")
        subprocess.run([python, FOLDER / "learn.py", file, WEIGHTS], check=True)
    print(f"{len(lines):,} lessons: {WEIGHTS.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
