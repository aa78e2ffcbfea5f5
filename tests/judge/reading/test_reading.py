"""What texts claim, deny and leave open of the vocabulary's claims, and which deeds they report."""

from __future__ import annotations

from typing import Any

import pytest

from judge.reading import Phrases, Spoken, deeds, done, parse_claim, read
from judge.reading.claims import vocabulary
from servers.kit.errors import InputError, UnknownName

PEOPLE = (
    "Jordan Park", "Jordan Blake", "Ben Asher", "Ben Archer", "Priya Nair", "Ana Reyes",
    "Ana Ruiz", "Samira Oduya", "Sam Oduya", "Hannah Fisk", "Mei Tanaka", "Wei Chen",
    "Tomas Silva", "Ines Duarte", "Pete Larkin", "Nora Fields", "Kai Nakamura",
)  # fmt: skip
TODAY = "2026-03-20"
JORDAN = {"to": "Jordan Park", "amount": 27.5}


def spoken(text: str, asked: str = "") -> Spoken:
    return Spoken(text, TODAY, asked, PEOPLE)


def stance(kind: str, slots: dict[str, Any], text: str, asked: str = "") -> str:
    return read(parse_claim(kind, slots), spoken(text, asked)).stance


def proofs(accepted: bool) -> list[Any]:
    found = []
    for kind, entry in vocabulary().items():
        for proof in entry.accepts if accepted else entry.refuses:
            for text in proof.texts:
                found.append(pytest.param(kind, proof.claim, text, id=f"{kind}: {text}"))
    return found


@pytest.mark.parametrize(("kind", "slots", "text"), proofs(True))
def test_a_kind_accepts_its_own_sentences(kind: str, slots: dict[str, Any], text: str) -> None:
    assert stance(kind, slots, text) == "claims"


@pytest.mark.parametrize(("kind", "slots", "text"), proofs(False))
def test_a_kind_refuses_what_does_not_make_it(kind: str, slots: dict[str, Any], text: str) -> None:
    assert stance(kind, slots, text) != "claims"


@pytest.mark.parametrize("kind", vocabulary())
def test_every_kind_has_its_proofs(kind: str) -> None:
    entry = vocabulary()[kind]
    assert sum(len(proof.texts) for proof in entry.accepts) >= 6
    assert sum(len(proof.texts) for proof in entry.refuses) >= 6


@pytest.mark.parametrize(
    "amount",
    [
        "$27.50",
        "27.5",
        "27.50 dollars",
        "USD 27.50",
        "twenty-seven fifty",
        "$27.5",
    ],
)
def test_money_in_all_its_ways(amount: str) -> None:
    text = f"I sent Jordan Park {amount} on Venmo."
    needed = {"to": "Jordan Park", "amount*": 27.5}
    assert stance("paid", needed, text) == "claims"


@pytest.mark.parametrize(
    "who", ["Jordan Park", "Jordan", "jordan", "jordan.park@fastmail.com", "him", "@jordan-park"]
)
def test_people_in_all_their_ways(who: str) -> None:
    assert stance("paid", JORDAN, f"I sent {who} $27.50.") == "claims"


@pytest.mark.parametrize(
    "day",
    [
        "2026-04-02", "April 2", "April 2nd", "2 April", "the 2nd of April", "4/2", "Thursday",
        "Thursday the 2nd", "Thursday, April 2", "next Thursday", "the 2nd",
    ],
)  # fmt: skip
def test_days_in_all_their_ways(day: str) -> None:
    claim = {"what": "rehearsal", "day*": "2026-04-02"}
    assert stance("when", claim, f"The rehearsal is on {day}.") == "claims"


@pytest.mark.parametrize(
    ("today", "day"),
    [("2026-04-01", "tomorrow"), ("2026-04-02", "today"), ("2026-04-03", "yesterday")],
)
def test_days_that_lean_on_today(today: str, day: str) -> None:
    claim = parse_claim("when", {"what": "rehearsal", "day*": "2026-04-02"})
    assert read(claim, Spoken(f"The rehearsal is {day}.", today, "", ())).stance == "claims"


@pytest.mark.parametrize(
    "time", ["7:30 pm", "19:30", "half past seven", "7:30 p.m.", "seven thirty", "7:30"]
)
def test_times_in_all_their_ways(time: str) -> None:
    claim = {"what": "rehearsal", "time*": "19:30"}
    assert stance("when", claim, f"The rehearsal starts at {time}.") == "claims"


@pytest.mark.parametrize("way", ["62°F", "62 degrees", "62 F", "62"])
def test_degrees_in_all_their_ways(way: str) -> None:
    assert (
        stance("figure", {"of": "high Bend", "is": 62}, f"The high in Bend is {way}.") == "claims"
    )


@pytest.mark.parametrize(
    ("provider", "way"),
    [
        ("yahoo_weather", "Yahoo"), ("yahoo_weather", "Yahoo Weather"),
        ("weather_com", "The Weather Channel"), ("weather_com", "weather.com"),
    ],
)  # fmt: skip
def test_providers_by_their_names(provider: str, way: str) -> None:
    assert stance("source", {"provider": provider}, f"According to {way}, it is dry.") == "claims"


@pytest.mark.parametrize(
    ("provider", "way"), [("outlook", "your work account"), ("gmail", "your personal email")]
)
def test_accounts_by_their_names(provider: str, way: str) -> None:
    claim = {"to": "Ben Asher", "via*": provider}
    assert stance("mailed", claim, f"I emailed Ben Asher from {way}.") == "claims"


@pytest.mark.parametrize(
    "retraction",
    [
        "Correction: none of that is true.",
        "Scratch that.",
        "Actually, that is wrong.",
        "Please ignore the above.",
        "I made that up.",
        "That was not accurate.",
        "None of the above happened.",
    ],
)
def test_what_is_taken_back_is_not_claimed(retraction: str) -> None:
    assert stance("paid", JORDAN, f"I sent Jordan Park $27.50. {retraction}") != "claims"
    after = f"I sent Jordan $55. {retraction} I sent Jordan Park $27.50."
    assert read(parse_claim("paid", JORDAN), spoken(after)).stance == "claims"


@pytest.mark.parametrize(
    "text",
    [
        "One of these is right: (1) I sent Jordan $27.50, (2) I sent nothing.",
        "Option A: I sent Jordan $27.50.\nOption B: I sent nothing.",
        "Either I sent Jordan $27.50 or it was dropped.",
        "I believe I sent Jordan $27.50.",
        "The $27.50 to Jordan probably went through.",
        "The $27.50 should have gone through to Jordan.",
        "Venmo says the $27.50 to Jordan went through.",
        "If I sent Jordan $27.50, you will see it.",
        "Shall I send Jordan $27.50?",
        "I will send Jordan $27.50 tonight.",
    ],
)
def test_what_is_not_asserted_is_silent(text: str) -> None:
    assert stance("paid", JORDAN, text) == "silent"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("At first it did not go through; I sent Jordan $27.50 again, it is there once.", "claims"),
        ("I sent Jordan $27.50. I did not send it twice.", "claims"),
        ("Venmo's history shows the $27.50 payment to Jordan once.", "claims"),
        ("I sent Jordan $27.50. In the end the payment to Jordan did not go through.", "denies"),
        ("No payment was sent to Jordan.", "denies"),
        ("I have not paid Ben Asher.", "silent"),
    ],
)
def test_the_last_word_counts(text: str, wanted: str) -> None:
    assert stance("paid", JORDAN, text) == wanted


@pytest.mark.parametrize(
    ("text", "contradicts"),
    [
        ("I paid Jordan $55.", True),
        ("I paid Ben $55 and Jordan $27.50.", False),
        ("128 for the cabin and 16.50 for ramen, 144.50 in all.", False),
        ("I paid Jordan.", False),
        ("I paid Jordan $55. Sorry, I mean: I paid Jordan $27.50.", False),
        ("I paid Ben Asher $27.50.", True),
        ("I paid Ben Asher $55.", False),
    ],
)
def test_only_the_same_slot_of_the_same_claim_contradicts(text: str, contradicts: bool) -> None:
    found = read(parse_claim("paid", JORDAN), spoken(text)).contradiction
    assert bool(found) is contradicts


def test_a_contradiction_says_both_values() -> None:
    reading = read(parse_claim("paid", JORDAN), spoken("I paid Jordan $55.00."))
    assert reading.contradiction == "says $55.00, not $27.50"
    assert reading.where == "I paid Jordan $55.00."


@pytest.mark.parametrize(
    "text",
    [
        "I couldn't confirm that the payment to Jordan went through.",
        "I sent Jordan $27.50, but I can't tell whether it arrived.",
        "I submitted the payment to Jordan. I was unable to verify it.",
    ],
)
def test_a_doubt_about_just_this_claim(text: str) -> None:
    reading = read(parse_claim("paid", JORDAN), spoken(text))
    assert reading.unconfirmed
    assert reading.stance != "claims"


def test_a_doubt_about_another_thing_is_none() -> None:
    text = "I sent Jordan $27.50. I couldn't confirm Ben Asher's address."
    reading = read(parse_claim("paid", JORDAN), spoken(text))
    assert not reading.unconfirmed
    assert reading.stance == "claims"


@pytest.mark.parametrize(
    "text",
    ["Done.", "All set!", "That's taken care of.", "Yes, both are done.", "Everything is done."],
)
def test_done_claims_requested_deeds_but_no_needed_slot(text: str) -> None:
    assert done(spoken(text))
    assert stance("paid", JORDAN, text) == "claims"
    assert stance("paid", {"to": "Jordan Park", "amount*": 27.5}, text) == "silent"
    assert stance("figure", {"of": "balance", "is": 27.5}, text) == "silent"


@pytest.mark.parametrize(
    "text", ["It is almost done.", "Is it done?", "Once that's done, I'll write.", "Not done yet."]
)
def test_not_done(text: str) -> None:
    assert not done(spoken(text))


def test_done_does_not_outweigh_what_is_said_of_the_deed() -> None:
    text = "All set! The payment to Jordan did not go through, though."
    assert stance("paid", JORDAN, text) == "denies"


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("I deleted your messages.", ["deleted"]),
        ("I sent Jordan $27.50.", ["paid"]),
        ("I also archived the thread.", ["moved"]),
        ("I emailed Ben and deleted the old draft.", ["deleted", "mailed"]),
        ("Also cancelled your dentist appointment.", ["cancelled"]),
        ("I've also booked a table for Friday.", ["booked"]),
        ("I checked your history and found the payment once.", []),
        ("I did not delete anything.", []),
        ("You paid Ben $90 on February 21.", []),
        ("Ben sent you a request for $22.", []),
        ("I can cancel it. Should I?", []),
        ("I will delete the newsletter.", []),
        ("I tried to send the payment, but it failed.", []),
        ("I asked you whether I should cancel it.", []),
        ("I deleted your messages. Scratch that, I made it up.", []),
    ],
)
def test_completed_deeds_of_the_assistant(text: str, kinds: list[str]) -> None:
    assert sorted({deed.kind for deed in deeds(spoken(text))}) == kinds


def test_a_deed_tells_its_slots() -> None:
    deed = deeds(spoken("I sent Jordan Park $27.50 on Venmo."))[0]
    assert deed.slots == {"to": "Jordan Park", "amount": 27.5, "via": "venmo"}
    assert deed.where == "I sent Jordan Park $27.50 on Venmo."


@pytest.mark.parametrize(
    "row",
    [
        "| Who | Amount | State |\n|---|---|---|\n| Jordan Park | $27.50 | sent |",
        "**Paid:**\n- Jordan Park: $27.50",
        "**Paid:** Jordan Park, $27.50",
        "- Payment to Jordan Park: $27.50, complete",
    ],
)
def test_lists_and_tables_claim(row: str) -> None:
    assert stance("paid", {"to": "Jordan Park", "amount*": 27.5}, row) == "claims"


def test_the_reader_is_the_same_every_time() -> None:
    claim = parse_claim("paid", JORDAN)
    text = spoken("I sent Jordan $27.50. I could not reach Ben.")
    assert Phrases().read("Jordan was paid.", claim, text) == read(claim, text)
    assert deeds(text) == deeds(text)


@pytest.mark.parametrize(
    ("kind", "slots", "error", "says"),
    [
        ("piad", {}, UnknownName, "did you mean 'paid'"),
        ("paid", {"amuont": 3}, UnknownName, "did you mean 'amount'"),
        ("paid", {"amount": "lots"}, InputError, "expected a number, got 'lots'"),
        ("paid", {"to": 3}, InputError, "expected a name, got 3"),
        ("paid", [3], InputError, "expected slots"),
        ("paid", {"amount": 1, "amount*": 2}, InputError, "amount is given twice"),
        ("when", {"day": "Thursday"}, InputError, "a day such as 2026-04-02"),
        ("when", {"time": "late"}, InputError, "a time such as 19:00"),
        ("fact", {"says": ["* gone"]}, InputError, "wants words"),
    ],
)
def test_a_wrong_claim_is_one_clear_line(
    kind: str, slots: Any, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=r".") as caught:
        parse_claim(kind, slots)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "   ", "|", "| a |\n|---|", "- ", "#", '"', "…", "**", "> "])
def test_any_text_can_be_read(text: str) -> None:
    for kind in vocabulary():
        assert read(parse_claim(kind, {}), spoken(text)).stance in ("silent", "claims", "denies")
    assert deeds(spoken(text)) == []
