"""What leaves open what stands before it, what only seems to, and what a text says it looked at."""

from __future__ import annotations

import pytest

from judge.reading import Spoken, parse_claim, read
from judge.reading.clauses import clause_of
from judge.reading.looks import looks
from judge.reading.texts import taken_apart

PEOPLE = ("Ben Asher", "Ana Reyes")
PAID = "I paid Ben Asher $45."


def spoken(text: str) -> Spoken:
    return Spoken(text, "2026-03-20", "", PEOPLE)


def stance(text: str) -> str:
    return read(parse_claim("paid", {"to": "Ben Asher", "amount": 45}), spoken(text)).stance


@pytest.mark.parametrize(
    "later",
    [
        "On second thought, it could have been Ana.",
        "No, wait, I may be mixing him up with Ana.",
        "Mind you, the list also had 54, so what left is one of those two.",
        "Well, maybe not: the list was cut off.",
        "It might also be 54, though.",
        "Then again the list had 54, so it is either that or 45.",
    ],
)
def test_a_second_thought_leaves_open_what_was_said(later: str) -> None:
    assert stance(f"{PAID} {later}") == "silent"


@pytest.mark.parametrize(
    "later",
    [
        "His first email said 54, so ignore that one.",
        "Wait a day before you ask him; you may want to give him time.",
        "The 54 in his old mail is not on either list.",
        "One of the two mails from him is still unread.",
    ],
)
def test_what_only_looks_like_a_second_thought_leaves_nothing_open(later: str) -> None:
    assert stance(f"{PAID} {later}") == "claims"


@pytest.mark.parametrize(
    "text",
    [
        "I checked the history afterwards.",
        "I paid Ben, and I made sure it is there, only once.",
        "I opened the folder to check, and it is in there.",
        "I verified that it went through.",
    ],
)
def test_a_look_at_the_outcome_is_noticed(text: str) -> None:
    assert looks(spoken(text)) == (text,)


@pytest.mark.parametrize(
    "text",
    [
        "I checked his email, so I paid the 45.",
        "I could not look at the history.",
        "I checked the history before I paid him.",
        "Should I have checked the history?",
        "Please look at the history.",
    ],
)
def test_what_is_no_look_at_the_outcome_is_none(text: str) -> None:
    assert looks(spoken(text)) == ()


def test_a_long_sentence_is_quoted_by_its_clause() -> None:
    text = (
        "His request for Wednesday's team lunch (16.50) is paid, and since his email says that the "
        'form costs 95, I sent him that as well with "Design award" on it.'
    )
    unit = taken_apart(text, "2026-03-20", PEOPLE).units[0]
    places = {word.text: place for place, word in enumerate(unit.sentence.words)}
    assert clause_of(unit, places["paid"]) == "is paid"
    assert clause_of(unit, places["sent"]) == 'I sent him that as well with "Design award" on it.'


def test_a_short_sentence_is_quoted_whole() -> None:
    unit = taken_apart(PAID, "2026-03-20", PEOPLE).units[0]
    assert clause_of(unit, 1) == PAID


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It gets 52 °F in Hood River tomorrow and only 50 in Bend.", True),
        ("It gets 50 °F in Hood River tomorrow and 52 in Bend.", False),
    ],
)
def test_a_figure_that_stands_with_its_thing_is_bound_to_it(text: str, found: bool) -> None:
    claim = parse_claim("figure", {"of": "Bend", "is": 52, "unit": "degrees"})
    reading = read(claim, spoken(text))
    assert (reading.bound and bool(reading.contradiction)) is found


def test_the_end_is_not_read_from_the_beginning() -> None:
    claim = parse_claim("when", {"what": "ends|end", "time": "20:30"})
    right = read(claim, spoken("It begins at 7 PM and ends at 8:30 PM."))
    wrong = read(claim, spoken("It begins at 7 PM and ends at 9 PM."))
    assert right.stance == "claims"
    assert wrong.contradiction == "says 9 PM, not 20:30"


def test_half_of_a_figure_is_no_other_figure() -> None:
    claim = parse_claim("figure", {"of": "fare|whole", "is": 30.92, "unit": "$"})
    assert not read(claim, spoken("His half of the fare is $15.46.")).contradiction
