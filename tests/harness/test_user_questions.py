"""What assistants ask in shipped scenarios is answered by what it is about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from client_harness.user import User
from scenarios.load import load
from servers.kit.yaml import read

QUESTIONS: dict[str, list[dict[str, Any]]] = read(Path(__file__).with_name("user_questions.yaml"))
CASES = []
for _scenario, _questions in QUESTIONS.items():
    for _number, _question in enumerate(_questions, 1):
        CASES.append(pytest.param(_scenario, _question, id=f"{_scenario} {_number}"))


@pytest.mark.parametrize(("scenario", "question"), CASES)
def test_a_question_is_answered_by_what_it_is_about(
    scenario: str, question: dict[str, Any]
) -> None:
    played = load(scenario)
    reply = User(played.answers, played.default_answer, 1).answer(question["text"])
    foreseen = [key for key in question["about"] if key != "default"]
    assert (reply[0].split("+") if reply else []) == (foreseen or question["about"])
    if "proposes" in question:
        assert reply is not None
        assert reply[1].startswith("No, ") == (question["proposes"] == "wrong")
