"""What the user has learned to hear: it holds what it was taught, and is of the data that ship."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from client_harness.fingerprints import CALIBRATION
from client_harness.judging.questions import questions, scenario, understanding
from client_harness.user.hearing import WEIGHTS, cues, hear

ASKED = "There are two Bens in the studio account. Which one should get her email?"
TOLD = "Ben Archer has Samira's email, from the studio account. Just let me know if you need more."


def test_what_is_asked_is_told_from_what_is_only_said() -> None:
    ((key, answer),) = scenario("recovery/disambiguation/which_ben").answers.items()
    asked = hear(ASKED, key, answer)
    assert asked is not None and (asked.asks, asked.more, asked.proposed) == ("this", False, None)
    told = hear(TOLD, key, answer)
    assert told is not None and told.asks == "nothing"
    proposed = hear("Shall I send it to Ben Asher?", key, answer)
    assert proposed is not None and proposed.proposed is False


@pytest.mark.parametrize("text", ["", "OK.", "I know.", "Which?"])
def test_of_few_words_nothing_is_known(text: str) -> None:
    assert hear(text, "", None) is None


def test_words_of_values_are_heard_as_right_and_wrong() -> None:
    ((key, answer),) = scenario("recovery/disambiguation/which_ben").answers.items()
    heard = cues("I have 2 of them: Ben Archer or Ben Asher?", key, answer)
    assert {"q:<right>", "q:<wrong>", "t:#", "q:<values>right+wrong+another?"} <= heard


def test_another_process_hears_the_same() -> None:
    here = sorted(cues(ASKED, "", None))
    ask = f"from client_harness.user.hearing import cues; print(sorted(cues({ASKED!r}, '', None)))"
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    there = subprocess.run(
        [sys.executable, "-c", ask], capture_output=True, text=True, check=True, env=environment
    )
    assert there.stdout.strip() == str(here)


def test_weights_are_whole_numbers_for_each_class() -> None:
    for model in json.loads(WEIGHTS.read_text(encoding="utf-8")).values():
        size = 1 + len(model["bias"])
        for row in model["cues"].values():
            assert len(row) == size and set(map(type, row)) == {int}


@pytest.mark.long
def test_the_user_has_learned_its_lessons() -> None:
    learned = understanding(questions(CALIBRATION))
    assert learned["hits"] / learned["of"] > 0.95, learned
