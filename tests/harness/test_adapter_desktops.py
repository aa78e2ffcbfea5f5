"""Products as installed from npm play a scenario as a person at a desk would have it.

Nothing of ours is there but what `connect` writes, the `episode` server, and the one line to paste.
"""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from client_harness.adapters import install
from client_harness.judging.played import told
from scenarios import load
from servers.kit.events import Attempt
from tests.commands import command
from tests.harness.adapters.desktop import Product, at_a_desk
from tests.harness.test_episode_server import Window, play, read, trace_in, values, verdict_of
from tests.harness.wires.gemini import Gemini
from tests.harness.wires.messages import Messages
from tests.harness.wires.responses import Responses

pytestmark = pytest.mark.adapter

SCENARIO = "hazards/cascade/plates_in_the_drizzle"
"""Three turns, three faults, and two services that appear on the way."""


def a_provider_of_ones_own(home: Path, url: str) -> None:
    """Write what somebody with another provider has in the configuration of Codex."""
    folder = home / ".codex"
    folder.mkdir()
    text = f"""\
model = "gpt-5"
model_provider = "desk"

[model_providers.desk]
name = "desk"
base_url = "{url}"
env_key = "OPENAI_API_KEY"
"""
    (folder / "config.toml").write_text(text)


def a_key(home: Path, url: str) -> None:
    """Write that somebody uses a key with Gemini CLI, and no login."""
    folder = home / ".gemini"
    folder.mkdir()
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    (folder / "settings.json").write_text(json.dumps(settings))


PRODUCTS = [
    Product(
        "claude_code",
        "claude-code",
        Messages(),
        ("claude", "-p", "{opening}", "--allowedTools", "mcp__haywire"),
        lambda url: {
            "ANTHROPIC_API_KEY": "scripted",
            "ANTHROPIC_BASE_URL": url,
            "MCP_TIMEOUT": "120000",
        },
    ),
    Product(
        "codex",
        "codex",
        Responses(),
        ("codex", "exec", "--skip-git-repo-check", "{opening}"),
        lambda url: {"OPENAI_API_KEY": "scripted"},
        a_provider_of_ones_own,
    ),
    Product(
        "gemini_cli",
        "gemini-cli",
        Gemini(),
        ("gemini", "--skip-trust", "-p", "{opening}"),
        lambda url: {"GEMINI_API_KEY": "scripted", "GOOGLE_GEMINI_BASE_URL": url},
        a_key,
    ),
]


@pytest.mark.parametrize("product", PRODUCTS, ids=[product.client for product in PRODUCTS])
def test_a_product_plays_from_one_pasted_line(product: Product, tmp_path: Path) -> None:
    install.ensure(product.adapter)
    traces = tmp_path / "traces"

    async def go() -> None:
        async with at_a_desk(product, SCENARIO, tmp_path) as model:
            await play(Window(model, traces), load.load(SCENARIO).scripts.oracle)

    anyio.run(go)
    result = anyio.run(verdict_of, traces)
    assert values(result) == ["pass", "pass"], told(result)
    assert result.submitted and result.track == "gui" and not result.untouched
    fired = set()
    for event in read(trace_in(traces)):
        if isinstance(event, Attempt):
            fired |= {firing.fault for firing in event.firings}
    assert fired == {"no_weather", "held", "vanished"}
    report = command("report", traces).out
    assert "Track gui: 1 of 1 passed" in report
    assert f"{result.client['name']} {result.client['version']}" in report
