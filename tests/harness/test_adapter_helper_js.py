"""The helper for agents in JavaScript, spoken to as Haywire does, line by line."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from client_harness.adapters.install import HELPERS, command_of
from client_harness.lookup import resolve
from tests.harness.test_agent_helper import Talk
from tests.support import HISTORY

pytestmark = pytest.mark.adapter

AGENT = """
import * as haywire from "./haywire_agent.mjs";

class Mine extends haywire.Agent {
  name = "mine";
  version = "3";
  start(session) { this.session = session; }
  async turn(text) { HERE }
}

haywire.serve(new Mine());
"""


@contextlib.contextmanager
def talking(folder: Path, here: str, **env: str) -> Generator[Talk]:
    path = folder / "agent.mjs"
    path.write_text(AGENT.replace("HERE", here))
    shutil.copy(HELPERS / "haywire_agent.mjs", folder)
    node = command_of(resolve("ai_sdk"))[0][0]  # ty: ignore[invalid-argument-type]
    process = subprocess.Popen(
        [node, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=env,
    )
    with process:
        talk = Talk(process, 2)
        assert talk.hello == {"agent": "mine", "version": "3", "protocol": 2}
        yield talk
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(10) == 0


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("throw new haywire.Limit('30 steps')", {"kind": "limit", "detail": "30 steps"}),
        ("({}).no.key", {"kind": "agent", "detail": "TypeError: Cannot read properties of"}),
        ("await new Promise(() => {})", {"kind": "limit", "detail": "it took more than 0.5 s"}),
        (
            "throw haywire.unanswered({name: 'E', message: 'no key', status: 401})",
            {"kind": "outage", "detail": "E: no key", "lasting": True},
        ),
        (
            "throw haywire.unanswered({name: 'E', message: 'busy', status: 503})",
            {"kind": "outage", "detail": "E: busy"},
        ),
        (
            "throw haywire.unanswered(new Error('context_length_exceeded'))",
            {"kind": "limit", "detail": "Error: context_length_exceeded"},
        ),
        (
            "this.used({prompt_tokens: 93}); this.checkLimits()",
            {"kind": "limit", "detail": "it used 100 tokens"},
        ),
    ],
)
def test_what_goes_wrong_has_a_kind_and_the_next_turn_works(
    tmp_path: Path, code: str, error: dict[str, Any]
) -> None:
    here = f"console.log('loud'); this.used({{prompt_tokens: 7}}); if (text === 'bad') {{{code}}}"
    limits = {"HAYWIRE_MAX_SECONDS": "0.5", "HAYWIRE_MAX_TOKENS": "100"}
    with talking(tmp_path, f"{here} return text", **limits) as talk:
        assert talk.begin()["result"] == {"text": "", "usage": {}}
        bad = talk.turn("bad")
        assert bad["error"].pop("detail").startswith(error["detail"])
        assert bad["error"] == {name: said for name, said in error.items() if name != "detail"}
        assert talk.turn("good") == {"text": "good", "usage": {"prompt_tokens": 7}}
        assert "there is no method 'dance'" in talk.ask("dance")["error"]["message"]


def test_a_cancelled_turn_is_answered_with_what_it_used(tmp_path: Path) -> None:
    here = """
    this.used({prompt_tokens: 7});
    this.steps.begin("I wait.");
    this.backoff(20);
    if (text === "bad") await new Promise(() => {});
    return text;
"""
    with talking(tmp_path, here) as talk:
        talk.begin()
        talk.put("turn", text="bad")
        assert talk.read()["params"] == {"step": 1, "text": "I wait."}
        assert talk.read()["params"] == {"seconds": 20}
        talk.send("cancel", id=talk.number)
        cancelled = talk.read()["result"]
        assert cancelled["error"] == {"kind": "agent", "detail": "the turn was cancelled"}
        assert cancelled["usage"] == {"prompt_tokens": 7}
        talk.send("cancel", id=talk.number)  # too late to mean anything
        talk.put("turn", text="good")
        talk.read()
        talk.read()
        assert talk.read()["result"]["text"] == "good"


def test_a_history_gets_dates_also_if_it_came_one_by_one(tmp_path: Path) -> None:
    here = "return JSON.stringify([text, ...haywire.partsOf(this.session.history)])"
    with talking(tmp_path, here) as talk:
        talk.begin(history=HISTORY)
        told = talk.turn("Hi")["text"]
        (past,) = HISTORY
        assert talk.ask("history/session", number=1, of=1, **past)["result"]["usage"] == {}
        talk.begin()
        assert talk.turn("Hi")["text"] == told
    assert told.startswith(r'["[Conversation of 2026-03-02T09:00:00Z]\nHi"')
    assert r'"[Conversation of 2026-02-03T09:00:00Z]\nHow much is in my Venmo?"' in told
    assert '"id":"past_1_1_0","name":"venmo__get_balance","args":{}' in told
