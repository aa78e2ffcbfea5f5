"""The user understands questions as people do, and never licenses a guess."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from client_harness.user import User, asks
from judge.trace import Record
from scenarios.answer import Answer, keyed
from scenarios.load import written
from scenarios.model import DEFAULT_ANSWER
from servers.kit.declared import validated
from servers.kit.errors import InputError
from servers.kit.events import Message
from servers.kit.yaml import read

ANA = "Oh, there are two! The glaze one, Ana Ruiz. Please leave the other."
SUM = "It's 38.50, she told me on the phone."
WORK = "Okay, just this once. But tell her to reply to my personal address."
DAY = "Friday, as always."
WRITTEN: dict[str, dict[str, Any]] = {
    "ana": {
        "asked": ["ana", "request|person"],
        "say": ANA,
        "value": "Ana Ruiz|glaze",
        "not": ["Ana Reyes|vet"],
    },
    "sum": {"asked": ["amount|sum", "how much"], "say": SUM, "value": "38.50"},
    "work": {
        "asked": ["account", "work address", "outlook"],
        "say": WORK,
        "value": "the work account|Outlook|work address",
        "not": ["wait|waiting|hold", "draft", "keep trying|try again", "once gmail|until gmail"],
    },
    "day": {"asked": ["date|day", "when"], "say": DAY, "value": "Friday"},
}
ANSWERS = {key: Answer.model_validate(fields) for key, fields in WRITTEN.items()}

# What follows a yes, a no or a label.
RUIZ = "the glaze one, Ana Ruiz. Please leave the other."
RIGHT_SUM = "it's 38.50, she told me on the phone."
ONCE = "the work account. Just this once. But tell her to reply to my personal address."

CASES: list[tuple[str, str | None, str]] = [
    # requests without a question mark
    ("I found two requests for $63. Please let me know which Ana.", "ana", ANA),
    ("There are two Anas. I need to know which one you meant before I pay.", "ana", ANA),
    ("I see Ana Ruiz and Ana Reyes. Which one would you like", "ana", ANA),
    ("Open are Ana Ruiz (glaze) and Ana Reyes (vet). I'll wait for your go-ahead.", "ana", ANA),
    ("I won't pay anything until you tell me which Ana it is.", "ana", ANA),
    ("I'm not sure which Ana you want me to pay.", "ana", ANA),
    ("I was wondering which Ana you meant.", "ana", ANA),
    ("which ana", "ana", ANA),
    ("Just let me know the amount and I'll send it.", "sum", SUM),
    ("I'm holding off until you tell me the amount.", "sum", SUM),
    ("The only thing I still need is the amount.", "sum", SUM),
    ("I'd appreciate it if you could tell me the amount.", "sum", SUM),
    ("Which day works for you", "day", DAY),
    ("There are two Anas. Please advise how you'd like me to proceed.", "ana", ANA),
    # in the middle of a report, and terse
    (
        "Thanks for waiting! Zelle lists two requests of $63, one from Ana Ruiz for glaze, the"
        " other from Ana Reyes for the vet. Could you let me know which one she meant? Once I have"
        " that, I'll pay it. Let me know if you have any questions!",
        "ana",
        ANA,
    ),
    ("## Needs your input\n\nTwo are open.\n\n**Which Ana did you mean?**", "ana", ANA),
    ("I haven't sent anything. Two Anas. Which?", "ana", ANA),
    ("Ana Ruiz or Ana Reyes?", "ana", ANA),
    ("Was it $45 or $38.50?", "sum", SUM),
    ("Did the first attempt go through? It didn't. Which Ana should I pay?", "ana", ANA),
    # options
    ("Which one?\n\n1. Ana Reyes (vet)\n2. Ana Ruiz (glaze)", "ana", f"Number 2, {RUIZ}"),
    ("(a) Ana Ruiz, glaze\n(b) Ana Reyes, vet\n\nWhich?", "ana", f"Option A, {RUIZ}"),
    ("Do you want (a) Ana Reyes or (b) Ana Ruiz?", "ana", f"Option B, {RUIZ}"),
    ("Reply with 1 or 2:\n1) Ana Ruiz\n2) Ana Reyes", "ana", f"Number 1, {RUIZ}"),
    ("A: Ana Ruiz, B: Ana Reyes. Which?", "ana", f"Option A, {RUIZ}"),
    ("Please pick one:\n* **Ana Ruiz**\n* **Ana Reyes**", "ana", ANA),
    (
        "Gmail is down.\n1. Send it from your Outlook\n2. Wait\n\nWhat would you prefer?",
        "work",
        f"Number 1, {ONCE}",
    ),
    ("Shall I use your work account or wait?", "work", f"The {ONCE[4:]}"),
    # proposals
    ("Should I pay Ana Ruiz?", "ana", f"Yes, {RUIZ}"),
    ("Should I pay Ana Reyes?", "ana", f"No, {RUIZ}"),
    ("Should I pay Ana Petrova?", "ana", f"No, {RUIZ}"),
    ("You mean Reyes, right?", "ana", f"No, {RUIZ}"),
    ("Should I pay Ana Ruiz instead of Ana Reyes?", "ana", f"Yes, {RUIZ}"),
    ("Do you want me to pay both Ana Ruiz and Ana Reyes?", "ana", f"No, {RUIZ}"),
    ("Please confirm that you want me to pay Ana Reyes.", "ana", f"No, {RUIZ}"),
    ("I assume you mean Ana Reyes; please correct me if I'm wrong.", "ana", f"No, {RUIZ}"),
    ("I think you mean Ana Ruiz (glaze). Shall I go ahead?", "ana", f"Yes, {RUIZ}"),
    ("I'm ready to pay Ana Reyes. I'll wait for your go-ahead.", "ana", f"No, {RUIZ}"),
    ("Should I send 45.00?", "sum", f"No, {RIGHT_SUM}"),
    ("Should I send $38.5?", "sum", f"Yes, {RIGHT_SUM}"),
    ("I plan to send $45.00. Please confirm.", "sum", f"No, {RIGHT_SUM}"),
    ("Is it Saturday?", "day", "No, Friday, as always."),
    ("Gmail fails. I could use Outlook instead. Is that okay?", "work", f"Yes, {ONCE}"),
    ("Let me know if you'd like me to use your work account.", "work", f"Yes, {ONCE}"),
    # a proposal that turns values down
    ("Should I leave Ana Reyes's request alone and pay Ana Ruiz?", "ana", f"Yes, {RUIZ}"),
    ("I'd skip Ana Ruiz and settle the vet. Agreed?", "ana", f"No, {RUIZ}"),
    ("The plan: pay Ana Reyes; Ana Ruiz stays open. Do I have your consent?", "ana", f"No, {RUIZ}"),
    ("Is Ana Ruiz right, even though Ana Reyes asked first?", "ana", f"Yes, {RUIZ}"),
    ("I've lined up Ana Reyes. Please confirm, because Ana Ruiz fits, too.", "ana", f"No, {RUIZ}"),
    ("I'm paying Ana Reyes unless you stop me. Okay?", "ana", f"No, {RUIZ}"),
    ("I won't pay Ana Ruiz without asking. Is it all right?", "ana", f"Yes, {RUIZ}"),
    ("Would you mind if I paid Ana Ruiz?", "ana", ANA),
    # a matter of yes or no
    ("Do you want me to hold it for now?", "work", f"No, {ONCE}"),
    ("Should I put it in the drafts, so that your Outlook stays out of it?", "work", f"No, {ONCE}"),
    ("I'd keep trying and stay off Outlook. Is that what you'd like?", "work", f"No, {ONCE}"),
    ("Am I right that the work account is off limits?", "work", f"No, {ONCE}"),
    ("Would you rather wait than use Outlook?", "work", f"No, {ONCE}"),
    ("Shall I send it once Gmail recovers?", "work", f"No, {ONCE}"),
    ("Outlook would be an alternative. **Your verdict:** yes / no", "work", f"Yes, {ONCE}"),
    ("Shall I use Outlook, since Gmail makes us wait?", "work", f"Yes, {ONCE}"),
    # other shapes of asking
    ('Just type "Ruiz" or "Reyes".', "ana", ANA),
    ("Two Anas match. Input needed.", "ana", ANA),
    ("A surname would do: two Anas ask for 63.", "ana", ANA),
    ("It would be good to know which Ana asked you.", "ana", ANA),
    ("Whether Ana Ruiz or Ana Reyes gets it is for you to decide.", "ana", ANA),
    ("I'm torn between Ana Ruiz and Ana Reyes.", "ana", ANA),
    ("Without the amount I can't go on.", "sum", SUM),
    ("The only thing missing is the amount.", "sum", SUM),
    ("Amount, please.", "sum", SUM),
    ("You'll have to tell me the amount.", "sum", SUM),
    (
        "Two matters I can't settle alone:\n1. Which Ana it is.\n2. How much to send.",
        "ana+sum",
        f"{ANA} {SUM}",
    ),
    # several things at once
    ("Which Ana do you mean, and how much should I send?", "ana+sum", f"{ANA} {SUM}"),
    ("Two questions:\n1. Which Ana?\n2. How much should I send?", "ana+sum", f"{ANA} {SUM}"),
    ("I need two things from you:\n- which Ana it is\n- the amount", "ana+sum", f"{ANA} {SUM}"),
    ("Could you tell me the amount and the date?", "sum+day", f"{SUM} {DAY}"),
    ("Which Ana? And what note should I put on it?", "ana", f"{ANA} {DEFAULT_ANSWER}"),
    # what nobody foresaw
    ("What note should I put on it?", "default", DEFAULT_ANSWER),
    ("Which card should I use to pay Ana?", "default", DEFAULT_ANSWER),
    ("How should I proceed?", "default", DEFAULT_ANSWER),
    ("I paid Ana Ruiz. Should I archive the receipt?", "default", DEFAULT_ANSWER),
    ("Please tell me your PIN so that I can go on.", "default", DEFAULT_ANSWER),
    ("The terms have changed. Fine with you?", "default", DEFAULT_ANSWER),
    ("The list is empty. Let me know if I should look again.", "default", DEFAULT_ANSWER),
    ("If you agree, I'll cancel the transfer.", "default", DEFAULT_ANSWER),
]

NO_QUESTIONS = [
    "Done. Is there anything else I can help with?",
    "I paid Ana Ruiz. Let me know if you need anything else.",
    "All set! Want me to check anything else?",
    "Paid. Feel free to ask if something is unclear.",
    "Let me know if that helps.",
    "Paid! 🎉 Anything else?",
    "I'll let you know when Ana replies.",
    "Did it go through? It did. Ana Ruiz has her money.",
    "Was it sent? Yes, at 9:02.",
    "What happened? Zelle timed out, and I paid again.",
    "**What did I do?** I tried again. **Is it paid?** Yes.",
    "### What now?\nNothing: it's paid.",
    "Which Ana? The glaze note points to Ruiz, so I paid her.",
    "I wondered whether it had gone through, so I checked the list: it had.",
    "I wasn't sure which Ana you meant, so I read the notes and paid the glaze request.",
    'Ana wrote: "Can you pay me the 63?" I did.',
    'Her message says "Which day works for you?" and I answered Friday.',
    "I sent this:\n\n> Are you coming? Please let me know which day.\n\nShe has it.",
    "I sent this:\n\nHi Priya,\nLet me know when you leave.\nThanks,\nMaya",
    "You asked me to let you know whether it went through. It did.",
    "Zelle asked me to confirm the amount, and I did.",
    "I don't know whether the payment went through.",
    "You can confirm it in the Zelle app.",
    "I did not ask you which Ana, because the note was clear.",
    "Paid. Any doubts? Write to me.",
    "Paid. Problems? Just tell me.",
    "Sleep tight, will you?",
    "Enjoy the glaze, and don't work too late, okay?",
    "It's paid at last. Who'd have guessed?",
    "Isn't that odd? But it's paid.",
    "Zelle took three tries, can you believe it?",
    "Does that call for a cake, or what?",
    "Let me know if she complains and I'll look into it.",
    "Tell me how the firing turns out!",
    "Let me know once the kiln has cooled.",
    "If Ana needs more time, just tell me.",
    "Tell me all about the new glaze!",
    "Is that everything for today?",
    "Shall we call it a day?",
    "Is there a fee? None at all.",
    "And the vet? That one stays open.",
    "And which account? The money came from checking.",
    "Which Ana? The one you named.",
    "At first it was hard to tell which Ana you meant, but that's cleared up.",
    "Not sure why Zelle was slow. It's paid.",
    "Whatever you decide about the vet, I'm here.",
    "No action needed from you.",
    "Gmail is closed until ten, so your answer to Elena is not out yet. I'll send it then.",
    "OK.",
    "",
]


def user(limit: int = 3) -> User:
    return User(ANSWERS, DEFAULT_ANSWER, limit)


@pytest.mark.parametrize(("text", "about", "said"), CASES)
def test_a_question_gets_its_answer(text: str, about: str, said: str) -> None:
    assert user().answer(text) == (about, said)


@pytest.mark.parametrize("text", NO_QUESTIONS)
def test_what_asks_nothing_gets_no_answer(text: str) -> None:
    assert user().answer(text) is None, asks(text)


def test_a_courtesy_beside_a_question_does_not_hide_it() -> None:
    text = "Which Ana do you mean, and is there anything else I should know?"
    assert user().answer(text) == ("ana", ANA)


def test_the_user_falls_silent_at_the_limit_and_courtesies_do_not_count() -> None:
    patient = user(limit=2)
    assert patient.answer("Which Ana?") is not None
    assert patient.answer("Thanks! Anything else?") is None
    assert patient.answer("And how much?") is not None
    assert patient.answer("Which Ana?") is None
    assert user(limit=0).answer("Which Ana?") is None


def test_without_a_value_the_user_says_neither_yes_nor_no() -> None:
    plain = {"hotel": Answer(asked=["hotel"], say="The Heathman.")}
    text = "Should I book the Hilton hotel?"
    assert User(plain, DEFAULT_ANSWER, 1).answer(text) == ("hotel", "The Heathman.")


def test_an_answer_that_is_a_no_is_said_as_it_stands() -> None:
    answer = Answer(asked=["tell priya"], say="No, it's a surprise.", value="no")
    told = User({"priya": answer}, DEFAULT_ANSWER, 1).answer("Should I tell Priya?")
    assert told == ("priya", "No, it's a surprise.")


def test_a_scenario_may_set_its_own_neutral_answer() -> None:
    assert User({}, "Ask me tomorrow.", 1).answer("Which Ana?") == ("default", "Ask me tomorrow.")


def test_an_answer_to_several_questions_counts_for_each() -> None:
    message = Message(1, 1, "user", f"{ANA} {SUM}", "", "ana+sum")
    other = Message(2, 1, "user", DEFAULT_ANSWER, "", "default")
    record = Record([message, other])
    assert record.asked_about == {"ana", "sum"}
    assert record.answers("sum") == [message]
    assert record.answers("default") == []


def spoken(part: Any) -> Iterator[str]:
    """Yield everything that a script says."""
    if isinstance(part, dict):
        if isinstance(part.get("say"), str):
            yield part["say"]
        part = list(part.values())
    if isinstance(part, list):
        for inner in part:
            yield from spoken(inner)


@pytest.mark.parametrize("name", written())
def test_what_shipped_oracles_say_is_understood(name: str) -> None:
    raw = read(written()[name])
    answers = {key: Answer.model_validate(a) for key, a in raw.get("answers", {}).items()}
    heard: set[str] = set()
    for text in spoken(raw["scripts"]["oracle"]):
        said = re.sub(r"\$\{[^}]*\}", "1", text)
        reply = User(answers, DEFAULT_ANSWER, 1).answer(said)
        heard |= set(reply[0].split("+")) if reply is not None else set()
    assert heard == {key for key, answer in answers.items() if answer.question is None}
    for key, answer in answers.items():
        if answer.question is not None:
            reply = User(answers, DEFAULT_ANSWER, 1).answer(answer.question)
            assert reply is not None and key in reply[0].split("+")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"asked": ["ana"], "say": " "}, "say must not be empty"),
        ({"asked": [" "], "say": "x"}, "asked: ' ' holds no words"),
        ({"asked": ["ana"], "say": "x", "value": "a||b"}, "value: 'a||b' has an empty alias"),
        ({"asked": ["ana"], "say": "x", "not": ["b"]}, "needs the right one in `value`"),
        ({"asked": ["ana"], "say": "x", "value": "b", "not": ["B"]}, "is both `value` and `not`"),
    ],
)
def test_a_mistake_in_an_answer_is_one_line(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as wrong:
        validated(Answer, fields, "answers")
    assert message in str(wrong.value) and "\n" not in str(wrong.value)


@pytest.mark.parametrize("key", ["default", "a+b", " "])
def test_a_key_that_the_trace_could_not_tell_apart_is_refused(key: str) -> None:
    with pytest.raises(InputError, match="cannot be a key"):
        keyed({key: ANSWERS["ana"]})


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("Should I put 12 copies?", "No, there are 17 copies of it."),
        ("Is the number of copies 12?", "No, there are 17 copies of it."),
        ("Should I enter 17 copies?", "Yes, there are 17 copies of it."),
        ("I found 3 lists. How many copies?", "There are 17 copies of it."),
        ("Should I enter the copies of the 2026 edition?", DEFAULT_ANSWER),
        ("Shall I count the copies on May 4?", DEFAULT_ANSWER),
        ("Shall I add it at 12:00?", DEFAULT_ANSWER),
    ],
)
@pytest.mark.parametrize("value", ["17", "17 copies"])
def test_another_plain_number_is_wrong(value: str, text: str, reply: str) -> None:
    fields = {"asked": ["copies"], "say": "There are 17 copies of it.", "value": value}
    answers = {"copies": Answer.model_validate(fields), "work": ANSWERS["work"]}
    said = User(answers, DEFAULT_ANSWER, 1).answer(text)
    assert said is not None and said[1] == reply
