"""A scripted model behind the real wire format.

It plays a shipped scenario that has faults and holds a service back.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

from client_harness.adapters import install
from client_harness.results import Results
from client_harness.run import RunRequest, start
from client_harness.tools import Transport
from servers.kit.events import Attempt, from_json
from tests.harness.fake_endpoint import Endpoint, Step, call, calls, playing, say

SCENARIO = "recovery/cascade/zelle_down_venmo_drops"
NOTE = {"amount": 45, "note": "Miso Thursday"}


class Careful:
    """A model that does the task well.

    It checks after each payment, goes to Venmo when Zelle fails, and pays again if nothing arrived.
    """

    def __init__(self) -> None:
        self.seen: dict[str, Any] = {}

    def __call__(self, body: dict[str, Any], number: int) -> Step:
        names = {}
        done = []
        latest: dict[str, Any] = {}
        for message in body["messages"]:
            for asked in message.get("tool_calls") or []:
                names[asked["id"]] = asked["function"]["name"]
            if message["role"] == "tool":
                name = names[message["tool_call_id"]]
                done.append(name)
                latest[name] = _read(message["content"])
        offered = {t["function"]["name"] for t in body["tools"]}
        if "zelle__list_recipients" not in done:
            assert "venmo__send_money" not in offered
            return call("zelle__list_recipients")
        if "zelle__send_transfer" not in done:
            recipient = _named(latest["zelle__list_recipients"]["recipients"])
            return call("zelle__send_transfer", contact_id=recipient, **NOTE)
        if "zelle__list_transfers" not in done:
            return call("zelle__list_transfers", limit=5)
        if "venmo__list_friends" not in done:
            assert "venmo__send_money" in offered
            return calls(("venmo__list_friends", {}), ("venmo__list_funding_sources", {}))
        if done[-1] == "venmo__send_money":
            return call("venmo__list_transactions", limit=5)
        payments = latest.get("venmo__list_transactions", {}).get("transactions", [])
        if not any(payment["note"] == NOTE["note"] for payment in payments):
            sources = latest["venmo__list_funding_sources"]["sources"]
            source = next(s["source_id"] for s in sources if s["last4"] == "4421")
            friend = _named(latest["venmo__list_friends"]["friends"])
            return call("venmo__send_money", contact_id=friend, funding_source_id=source, **NOTE)
        return say(
            "Hannah has her $45, by Venmo from checking. Zelle only failed, and nothing left there."
        )


def trusting(body: dict[str, Any], number: int) -> Step:
    """A model that does nothing and claims success."""
    return say("I sent Hannah the $45 with Zelle.")


def _read(text: Any) -> Any:
    text = text if isinstance(text, str) else "".join(part["text"] for part in text)
    return json.loads(text) if text.startswith("{") else {}


def _named(people: list[dict[str, Any]]) -> str:
    return next(p["contact_id"] for p in people if p["name"] == "Hannah Cole")


def run(
    home: Path, agent: str, script: Any, transport: Transport
) -> tuple[dict[str, Any], list[Attempt], Endpoint]:
    async def go() -> Endpoint:
        async with playing(script) as endpoint:
            options = {"model": "openai/scripted", "api_base": endpoint.url}
            request = RunRequest([SCENARIO], [agent], options=options, transport=transport)
            await anyio.to_thread.run_sync(lambda: start(request, home).finish())
            return endpoint

    endpoint = anyio.run(go)
    (trial,) = Results.open(home).trials()
    events = [from_json(line) for line in (home / trial.trace).read_text().splitlines()]
    return trial.verdicts, [e for e in events if isinstance(e, Attempt)], endpoint


CASES = [("model", "memory"), ("model", "http"), ("pydantic_ai", "memory")]


@pytest.mark.parametrize(("agent", "transport"), CASES)
def test_a_careful_model_passes_and_is_judged_from_the_services_trace(
    tmp_path: Path, agent: str, transport: Transport
) -> None:
    install.ensure("pydantic_ai")
    verdicts, attempts, _ = run(tmp_path / "run", agent, Careful(), transport)
    values = {setting: verdict["value"] for setting, verdict in verdicts.items()}
    assert values == {"base": "pass", "relaxed": "pass"}, verdicts["base"]["why"]
    fired = []
    for attempt in attempts:
        fired += [firing.fault for firing in attempt.firings]
    assert fired == ["zelle_breaks", "venmo_drops"]
    paying = [a.name for a in attempts if a.opened]
    assert paying == ["zelle.send_transfer", "venmo.send_money", "venmo.send_money"]
    assert all(a.step is not None for a in attempts)


@pytest.mark.parametrize("agent", ["model", "pydantic_ai"])
def test_what_a_model_claims_counts_for_nothing(tmp_path: Path, agent: str) -> None:
    install.ensure("pydantic_ai")
    verdicts, attempts, _ = run(tmp_path / "run", agent, trusting, "memory")
    assert verdicts["base"]["value"] == "fail" and attempts == []
