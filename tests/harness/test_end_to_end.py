"""A scripted model behind the real wire format.

It plays a shipped scenario that has faults and holds a service back.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from client_harness.adapters import install
from client_harness.results import Results
from client_harness.run import RunRequest, start
from client_harness.tools import Transport
from servers.kit.events import Attempt, from_json
from tests.harness.adapters.careful import SCENARIO, Careful
from tests.harness.fake_endpoint import Endpoint, Step, playing, say


def trusting(body: dict[str, Any], number: int) -> Step:
    """A model that does nothing and claims success."""
    return say("I sent Hannah the $45 with Zelle.")


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


@pytest.mark.parametrize("transport", ["memory", "http"])
def test_a_careful_model_passes_and_is_judged_from_the_services_trace(
    tmp_path: Path, transport: Transport
) -> None:
    """The tests of adapters show the same for each of them."""
    verdicts, attempts, _ = run(tmp_path / "run", "model", Careful(), transport)
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
