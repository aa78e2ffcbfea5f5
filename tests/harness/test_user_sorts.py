"""Questions that name the sort of what they ask for, and proposals of another of that sort."""

from __future__ import annotations

import pytest

from client_harness.user import User
from scenarios.answer import Answer
from servers.kit.declared import validated
from servers.kit.errors import InputError

SOURCE = Answer.model_validate(
    {
        "asked": ["yahoo", "other|another|different source|service|forecast"],
        "say": "Use Yahoo, then.",
        "value": "Yahoo|Yahoo Weather",
        "not": ["wait|waiting"],
    }
)
REPAIR = Answer.model_validate(
    {"asked": ["cancel|undo|reverse", "fix|correct|repair"], "say": "Yes, put it right."}
)
AUDIENCE = Answer.model_validate(
    {
        "asked": ["visibility", "visible|private|public"],
        "say": "Make it private.",
        "value": "private",
        "not": ["public"],
    }
)


def said(answer: Answer, text: str) -> str:
    key = {"Yes, put it right.": "repair", "Use Yahoo, then.": "other_source"}.get(answer.say, "it")
    reply = User({key: answer}, "I have nothing to add.", 1).answer(text)
    return "" if reply is None else reply[1]


@pytest.mark.parametrize(
    "text",
    [
        "Which forecast should I follow?",
        "The two services disagree. Which source decides?",
        "Please say where I should take it from.",
        "The Weather Channel is down. Is there any other place you'd like me to look?",
    ],
)
def test_a_question_may_name_the_sort_alone(text: str) -> None:
    assert said(SOURCE, text) == "Use Yahoo, then."


@pytest.mark.parametrize(
    "text",
    [
        "Shall I try AccuWeather instead, as The Weather Channel is down?",
        "Since nothing loads, shall I take it from the National Weather Service?",
        "I'd stick with The Weather Channel, as you said. Okay?",
    ],
)
def test_another_thing_of_the_sort_is_refused(text: str) -> None:
    assert said(SOURCE, text).startswith("No, ")


def test_another_audience_is_refused() -> None:
    assert said(AUDIENCE, "I'd leave it visible to friends. Fine?").startswith("No, ")


@pytest.mark.parametrize(
    "text",
    [
        "It went out twice. Should I get rid of one of them?",
        "The second payment is a mistake. Would you like me to sort it out?",
        "She got double. Shall I ask her to send the rest back?",
    ],
)
def test_a_repair_has_many_words(text: str) -> None:
    assert said(REPAIR, text) == "Yes, put it right."


def test_leaving_it_as_it_is_is_no_repair() -> None:
    assert said(REPAIR, "She got double. How about we leave it as it is?") == "No, put it right."


def test_a_question_that_says_why_is_meant() -> None:
    assert said(SOURCE, "What size is the tent? She may want to know.") == "I have nothing to add."


def test_phrases_know_no_star() -> None:
    with pytest.raises(InputError, match="write 'where play'"):
        validated(Answer, {"asked": ["where * play"], "say": "Upstairs."}, "answers.place")
