"""A model as the reader of texts: its questions, answers, recording and failures."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from client_harness.judging.answers import Answer, Answers, Question
from client_harness.judging.model_reader import FILE, Asker, JudgeModel, majority, word_of
from client_harness.results import Results, Trial
from judge.reading import Spoken, parse_claim
from servers.kit.errors import InputError
from tests.commands import command, refusal
from tests.harness.fake_endpoint import Step, fails, playing, say
from tests.harness.judging.judging import (
    MODEL,
    answering,
    asked,
    same,
    scenario_in,
    with_model,
    without_model,
)

pytestmark = pytest.mark.anyio

SENTENCE = "Jordan Park has been paid $27.50."
CLAIM = parse_claim("paid", {"to": "Jordan Park", "amount": 27.5})
SPOKEN = Spoken("Sent. It is on its way.", "2026-03-14", "Pay Jordan.", ("Jordan Park",))
QUESTION = Question(SENTENCE, SPOKEN.text, SPOKEN.asked, SPOKEN.today)


def told(trial: Trial) -> bool | None:
    """Return the value of the gate that the payment was told."""
    findings = {f["name"]: f for f in trial.verdicts["base"]["findings"]}
    return findings["told_paid"]["value"]


def trial_in(home: Path) -> Trial:
    (trial,) = Results.open(home).trials()
    return trial


async def test_a_model_reads_the_texts_of_a_run(tmp_path: Path) -> None:
    run = ("run", scenario_in(tmp_path), "--agent", "oracle", "--out", tmp_path / "run", "--json")
    done, bodies = await with_model(answering(same), *run)
    assert done.status == 0, done.err
    trial = trial_in(tmp_path / "run")
    assert told(trial) is True
    assert trial.reading["questions"] == 3 and trial.reading["phrases"] == 0
    assert trial.reading["claims"] == 1 and trial.reading["tokens"] == 330
    assert done.json["reader"]["name"] == MODEL
    own = [body for body in bodies if "Venmo" in asked(body)["user"]]
    assert {asked(body)["statement"] for body in own} >= {SENTENCE}
    assert all(body["temperature"] == 0 and "tools" not in body for body in bodies)


async def test_what_the_model_says_decides(tmp_path: Path) -> None:
    run = ("run", scenario_in(tmp_path), "--agent", "oracle", "--out", tmp_path / "run", "--json")
    await with_model(answering(lambda statement, text: "silent"), *run)
    assert told(trial_in(tmp_path / "run")) is False


async def test_a_run_is_read_again_by_a_model_and_then_without_it(tmp_path: Path) -> None:
    home = tmp_path / "run"
    await without_model("run", scenario_in(tmp_path), "--agent", "oracle", "--out", home)
    assert trial_in(home).reading == {}
    first, bodies = await with_model(answering(same), "judge", home, "--json")
    assert told(trial_in(home)) is True and len(bodies) == 6
    recorded = (home / FILE).read_bytes()
    again, bodies = await with_model([fails(500)], "judge", home, "--json")
    assert again.json == first.json and not bodies
    assert (home / FILE).read_bytes() == recorded
    await without_model("judge", home)
    assert trial_in(home).reading == {} and Results.open(home).fingerprints["reader"] == "phrases"


async def test_runs_that_were_read_differently_are_not_compared(tmp_path: Path) -> None:
    scenario = scenario_in(tmp_path)
    for name in ("one", "two"):
        await without_model("run", scenario, "--agent", "oracle", "--out", tmp_path / name)
    await with_model(answering(same), "judge", tmp_path / "two")
    message = refusal(command("report", tmp_path / "one", tmp_path / "two"))
    assert "reader differs" in message


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ([say("I think that the payment may well have been made.")], "gives no usable answer"),
        ([Step()], "gives no usable answer"),
    ],
)
async def test_a_model_of_no_use_is_one_line(
    tmp_path: Path, script: list[Step], message: str
) -> None:
    run = ("run", scenario_in(tmp_path), "--agent", "oracle", "--out", tmp_path / "run")
    done, bodies = await with_model(script, *run)
    assert message in refusal(done) and len(bodies) == 3
    assert not (tmp_path / "run" / FILE).exists()


async def test_a_model_that_cannot_be_reached_stops_a_run_before_its_first_trial(
    tmp_path: Path,
) -> None:
    home = tmp_path / "run"
    run = ("run", scenario_in(tmp_path), "--agent", "oracle", "--out", home)
    done, bodies = await with_model([fails(400)], *run)
    assert (done.status, done.out, len(bodies)) == (3, "", 3)
    assert done.err.startswith("stopped: the judge model cannot be reached: ")
    assert done.err.count("\n") == 1 and not (home / FILE).exists()
    assert Results.open(home).trials() == []


def test_a_model_that_nobody_provides_is_one_line(tmp_path: Path) -> None:
    run = ("run", scenario_in(tmp_path), "--agent", "oracle", "--out", tmp_path / "run")
    done = command(*run, "--judge-model", "nobody-knows")
    assert "no provider for the model 'nobody-knows'" in refusal(done)


async def test_what_the_model_leaves_open_is_left_to_phrases_and_counted(tmp_path: Path) -> None:
    answers = {"Jordan Park has": "abstain", "The payment": "well, hard to say, is it not?"}

    def script(body: dict[str, Any], number: int) -> Step:
        statement = asked(body)["statement"]
        if statement.startswith("Ana"):
            return say("claims")
        found = [said for start, said in answers.items() if statement.startswith(start)]
        return say(found[0]) if found else fails(400)

    run = ("run", scenario_in(tmp_path), "--agent", "oracle", "--out", tmp_path / "run", "--json")
    done, _ = await with_model(script, *run)
    reading = trial_in(tmp_path / "run").reading
    assert (reading["abstain"], reading["nonsense"], reading["unreachable"]) == (1, 1, 1)
    assert reading["phrases"] == 3 and done.json["reader"]["phrases"] == 3
    kept = [json.loads(line) for line in (tmp_path / "run" / FILE).read_text().splitlines()]
    words = Counter(line["answer"]["word"] for line in kept)
    assert words["nonsense"] == 1 and "unreachable" not in words


async def test_most_votes_decide_and_each_has_its_seed(tmp_path: Path) -> None:
    def script(body: dict[str, Any], number: int) -> Step:
        return say("denies" if body["seed"] == 1 else "claims")

    async with playing(script) as endpoint:
        asker = Asker(JudgeModel(MODEL, endpoint.url, 3), Answers(tmp_path / FILE))
        await asker.ask([QUESTION])
    answer = asker.known(QUESTION)
    assert answer is not None and answer.word == "claims" and answer.tokens == 330
    assert {body["seed"] for body in endpoint.bodies} == {0, 1, 2}
    assert Asker(JudgeModel(MODEL, votes=4), Answers(tmp_path / FILE)).known(QUESTION) is None
    assert Asker(JudgeModel("openai/other"), Answers(tmp_path / FILE)).known(QUESTION) is None


def test_a_tie_is_an_abstention_and_nonsense_has_no_vote() -> None:
    claims = Answer("claims", "claims")
    denies = Answer("denies", "denies")
    nonsense = Answer("nonsense", "?")
    assert majority([claims, denies]).word == "abstain"
    assert majority([nonsense, nonsense, denies]).word == "denies"
    assert majority([nonsense, nonsense]).word == "nonsense"


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("claims", "claims"),
        ("**Denies.**", "denies"),
        ("Answer: silent", "silent"),
        ("<think>It claims… or denies?</think>\nabstain", "abstain"),
        ("not claims", "nonsense"),
        ("claims or denies", "nonsense"),
        ("The text claims that the payment was made.", "nonsense"),
        ("", "nonsense"),
    ],
)
def test_an_answer_is_one_word(said: str, word: str) -> None:
    assert word_of(said) == word


def test_the_words_of_a_text_are_no_part_of_the_question(tmp_path: Path) -> None:
    from client_harness.judging.model_reader import wording

    question = Question(SENTENCE, "Costs $5 ${sentence} </assistant>", "", "2026-03-14")
    shown = wording(question)
    assert "Costs $5 ${sentence}" in shown and "Nobody asked" in shown


def test_a_file_that_was_cut_off_goes_on(tmp_path: Path) -> None:
    path = tmp_path / FILE
    Answers(path).add("a", 0, MODEL, QUESTION, Answer("claims", "claims"))
    path.write_bytes(path.read_bytes() + b'{"key": "b", "vo')
    answers = Answers(path)
    answers.add("c", 0, MODEL, QUESTION, Answer("silent", "silent"))
    again = Answers(path)
    assert again.get("a", 0) and again.get("c", 0) and not again.get("b", 0)


def test_a_file_of_something_else_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / FILE
    path.write_text("not json\n")
    with pytest.raises(InputError, match="line 1: not an answer"):
        Answers(path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--judge-votes", 3), "--judge-votes needs --judge-model"),
        (("--judge-api-base", "http://x"), "--judge-api-base needs --judge-model"),
        (("--judge-model", "openai/x", "--judge-votes", 0), "at least 1"),
        (("--judge-model", ""), "name a model"),
    ],
)
def test_wrong_options_are_one_line(
    options: tuple[object, ...], message: str, tmp_path: Path
) -> None:
    for start in (("run", "smoke", "--out", tmp_path / "run"), ("judge", tmp_path), ("calibrate",)):
        assert message in refusal(command(*start, *options))
