"""Text mutants say what is false, or leave out what must be told; the rest is as it was."""

from __future__ import annotations

import pytest

from client_harness.proof.texts import Texts, negated
from client_harness.proof.tokens import Tokens, swaps
from judge.reading import parse_claim
from tests.harness.proof.tiny import oracle, tiny

PEOPLE = ("Ana Reyes", "Ana Ruiz", "Ben Archer", "Jordan Park")
TODAY = "2026-03-16"


def replaced(kind: str, slots: dict[str, object], text: str) -> list[str]:
    """Return the text with each of a claim's values replaced."""
    tokens = Tokens(PEOPLE, TODAY).of(parse_claim(kind, slots), text)
    return [token.replaced(text) for token in tokens]


@pytest.mark.parametrize(
    ("slots", "text", "new"),
    [
        ({"amount": 27.5}, "I sent $27.50; 27.5 in all.", "I sent $31.50; 31.5 in all."),
        ({"amount": 1200}, "It cost $1,200.", "It cost $1,204."),
        ({"amount": 5}, "It is 1.5, 15 or 5-10.", None),
        (
            {"to": "Jordan Park"},
            "Jordan Park has it; Jordan knows.",
            "Ana Reyes has it; Ana knows.",
        ),
        ({"to": "Ana Ruiz"}, "Ana Ruiz, not Ana Reyes.", "Ben Archer, not Ana Reyes."),
        ({"to": "Ana Reyes"}, "Ana Ruiz has it.", None),
        ({"to": "Nobody Known"}, "Nobody Known has it.", None),
        ({"via": "venmo"}, "Sent on Venmo.", "Sent on Zelle."),
        ({"day": "2026-03-18"}, "On Wednesday, March 18.", "On Thursday, March 19."),
        ({"day": "2026-03-31"}, "Due 2026-03-31 (the 31st).", "Due 2026-04-01 (the 1st)."),
        ({"day": "2026-03-17"}, "It is due tomorrow.", "It is due on Wednesday."),
    ],
)
def test_a_value_is_replaced_by_another_of_its_sort(
    slots: dict[str, object], text: str, new: str | None
) -> None:
    assert replaced("paid", slots, text) == ([] if new is None else [new])


@pytest.mark.parametrize(
    ("text", "new"),
    [("At 7 pm.", "At 8 pm."), ("At 19:00.", "At 20:00."), ("At 9:00.", None), ("At 7.", None)],
)
def test_a_time_is_an_hour_off(text: str, new: str | None) -> None:
    assert replaced("when", {"time": "19:00"}, text) == ([] if new is None else [new])


@pytest.mark.parametrize(
    ("sentence", "denial"),
    [
        ("Jordan has been paid $5.", "Jordan has not been paid $5."),
        ("The mail is out.", "The mail is not out."),
        ("Two payments failed.", "It is not true that two payments failed."),
    ],
)
def test_a_plain_sentence_is_denied(sentence: str, denial: str) -> None:
    assert negated(sentence) == denial


def test_the_texts_of_a_run_are_mutated_by_what_its_statements_say() -> None:
    scenario = tiny()
    with oracle(scenario) as (played, _):
        assert played.record is not None
        texts = Texts(scenario, played.record)
        made = {mutant.name: mutant.text for mutant in texts.mutants()}
        plain = texts.plain()
    text = "I sent Jordan Park $27.50. I checked that it is there."
    assert made["text turn 1: paid: figure 27.5 → 31.5"] == text.replace("27.50", "31.50")
    assert made["text turn 1: without paid"] == "I checked that it is there."
    assert made["text turn 1: denial of paid"] == "Jordan Park has not been paid $27.50."
    assert made["text turn 1: nothing told"] == "OK."
    assert made["text turn 1: retraction"] == f"{text} Correction: none of that is true."
    assert made["text turn 1: one of two"].startswith(f"One of these is right: (1) {text} (2) ")
    false = "Ben Archer has been paid $27.50."
    assert made["text turn 1: false ben_paid"] == f"{false} {text}"
    assert made["text turn 2: false ben_paid"] == f"{false} I sent the mail."
    invented = [name for name in made if name.startswith("text turn 2: invented")]
    assert len(invented) == 2 and not any("paid Robin" in name for name in invented)
    assert "text turn 2: nothing told" not in made
    assert [(p.name, p.text) for p in plain] == [
        ("plain words in turn 1", "Jordan Park has been paid $27.50.")
    ]


def test_what_is_not_true_yet_is_an_early_claim() -> None:
    holds = "len(where(added.gmail_emails, subject='Climbing')) > 0"
    sent = {
        "name": "sent",
        "may": "Lucas Weber has been mailed.",
        "claim": {"mailed": {"to": "Lucas Weber"}},
        "holds": holds,
    }
    scenario = tiny(statements=[sent])
    with oracle(scenario) as (played, _):
        assert played.record is not None
        made = {m.name for m in Texts(scenario, played.record).mutants()}
    assert "text turn 1: false sent" in made and "text turn 2: false sent" not in made


@pytest.mark.parametrize(
    ("one", "other", "text", "new"),
    [
        (
            ("figure", {"of": "bells", "is": 17}),
            ("figure", {"of": "star", "is": 11}),
            "17 of Bells, 11 of Star.",
            ["11 of Bells, 17 of Star."],
        ),
        (
            ("paid", {"to": "Ana Reyes", "amount": 5}),
            ("paid", {"to": "Ben Archer", "amount": 7}),
            "Ana has $5 and Ben $7.",
            ["Ben has $5 and Ana $7.", "Ana has $7 and Ben $5."],
        ),
        (
            ("mailed", {"to": "Ana Reyes"}),
            ("mailed", {"to": "Ben Archer"}),
            "I wrote to Ana and Ben.",
            [],
        ),
        (
            ("when", {"what": "class", "day": "2026-03-18"}),
            ("when", {"what": "dinner", "day": "2026-03-19"}),
            "The class is on Wednesday, the dinner on Thursday.",
            ["The class is on Thursday, the dinner on Wednesday."],
        ),
        (
            ("when", {"what": "class", "day": "2026-03-17"}),
            ("when", {"what": "dinner", "day": "2026-03-19"}),
            "The class is on March 17, the dinner on Thursday.",
            [],
        ),
    ],
)
def test_two_statements_swap_what_is_of_a_sort(
    one: tuple[str, dict[str, object]],
    other: tuple[str, dict[str, object]],
    text: str,
    new: list[str],
) -> None:
    finder = Tokens(PEOPLE, TODAY)
    told = []
    for name, (kind, slots) in (("one", one), ("other", other)):
        claim = parse_claim(kind, slots)
        told.append((name, claim, finder.of(claim, text)))
    assert [made for _, made in swaps(text, told)] == new
