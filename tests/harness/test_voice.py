"""A model may say what the user says in its own words, and is held to the script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from client_harness.plan import RunRequest
from client_harness.results import Trial
from client_harness.run import start
from client_harness.user.voice import VoiceModel, deviates
from servers.kit.events import Message, read_trace
from tests.commands import PAY, command, refusal
from tests.harness.fake_endpoint import Step, fails, playing, say

pytestmark = pytest.mark.anyio
LINE = 'Please send Jordan 27.50 on Venmo with the note "day pass". Only once.'


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ('hey, could you venmo Jordan 27.50, note "day pass"? just once', True),
        ('hey, venmo Jordan 27.50 please with the note "day pass", just once', False),
        ('venmo Jordan 72.50 please with the note "day pass", just once', True),
        ('venmo Jordan 27.50 please with the note "pass", just once', True),
        ('send 27.50 on venmo with the note "day pass", just once', True),
        ('venmo Jordan and also Priya 27.50 with the note "day pass"', True),
        ('venmo Jordan 27.50 twice, so 55, with the note "day pass"', True),
        ("", True),
    ],
)
def test_a_wording_with_other_names_figures_or_quotes_deviates(said: str, wrong: bool) -> None:
    assert deviates(LINE, said) is wrong


async def played(home: Path, script: Any) -> tuple[Trial, list[str]]:
    """Return the trial of a run whose user is a scripted model, and what the user said in it."""
    async with playing(script) as endpoint:
        voice = vars(VoiceModel("openai/voice", endpoint.url))

        def finished() -> tuple[Trial, Path]:
            run = start(RunRequest([PAY], ["oracle"], user=voice), home)
            run.finish()
            trial = run.results.trials()[0]
            return trial, run.results.trace_of(trial)

        trial, trace = await anyio.to_thread.run_sync(finished)
    said = [event for event in read_trace(trace) if isinstance(event, Message)]
    return trial, [message.text for message in said if message.role == "user"]


async def test_the_users_words_are_the_models_and_the_verdict_is_the_same(tmp_path: Path) -> None:
    def reworded(body: dict[str, Any], number: int) -> Step:
        line = body["messages"][0]["content"].rpartition("Line: ")[2].strip()
        return say(f"hm, {line}")

    trial, said = await played(tmp_path / "run", reworded)
    assert said[0].startswith("hm, ")
    assert trial.verdicts["base"]["value"] == "pass"
    assert trial.usage["user_texts"] >= 1
    assert "user_deviations" not in trial.usage


async def test_what_deviates_is_counted_and_not_said(tmp_path: Path) -> None:
    trial, said = await played(tmp_path / "run", [say("Send Ben 99 instead.")])
    assert "Jordan" in said[0]
    assert trial.usage["user_deviations"] == trial.usage["user_texts"]


async def test_a_user_model_that_cannot_be_reached_makes_the_trial_unknown(tmp_path: Path) -> None:
    trial, _ = await played(tmp_path / "run", [fails(400)])
    assert trial.unknown


def test_an_address_without_a_model_is_refused(tmp_path: Path) -> None:
    said = refusal(
        command("run", PAY, "--user-api-base", "http://127.0.0.1:1", "--out", tmp_path / "x")
    )
    assert "--user-api-base needs --user-model" in said
