"""Run the public MCP conformance suite against every service.

It runs the scenarios that need no fixture tools, in both protocol eras. `make conformance` installs
the suite and runs this; the argument is the folder that the suite is in. The exit status is 1 if a
check fails.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import anyio
import anyio.to_thread

from client_harness.serve import open_session
from servers.kit.app import Episodes, make_app, run_app

SCENARIOS = {
    "2025-11-25": (
        "server-initialize",
        "server-session-lifecycle",
        "tools-list",
        "resources-list",
        "prompts-list",
        "ping",
        "dns-rebinding-protection",
    ),
    "2026-07-28": (
        "server-stateless",
        "tools-list",
        "resources-list",
        "prompts-list",
        "caching",
        "http-header-validation",
        "dns-rebinding-protection",
    ),
}
"""The scenarios of each era that any server can be asked to pass."""

NEEDS_FIXTURE = {
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    "sep-2575-server-sends-tools-list-changed-on-subscription",
}
"""Checks in `server-stateless` that call `test_missing_capability` or `test_trigger_tool_change`,
tools that only a server made for the suite has. `tests/kit/test_subscriptions.py` shows that our
servers tell subscribers of tools that appear.
"""

AT_ONCE = 4
SECONDS = 60


class Outcome(NamedTuple):
    """One scenario against one service: how many checks passed, and what went wrong."""

    service: str
    era: str
    scenario: str
    passed: int
    wrong: list[str]


def run(home: Path, url: str, service: str, era: str, scenario: str) -> Outcome:
    """Run one scenario in a process of its own and read its checks."""
    with tempfile.TemporaryDirectory() as out:
        node = home / "node_modules/.bin/node"
        suite = home / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
        line = [
            node,
            suite,
            "server",
            "--url",
            url,
            "--scenario",
            scenario,
            "--spec-version",
            era,
            "--output-dir",
            out,
        ]
        done = subprocess.run(line, capture_output=True, text=True, timeout=SECONDS, check=False)
        checks: list[dict[str, str]] = []
        for path in Path(out).rglob("checks.json"):
            checks += json.loads(path.read_text())
    statuses = Counter(check["status"] for check in checks)
    wrong = [f"{c['id']}: {c.get('errorMessage') or c['description']}" for c in checks if _wrong(c)]
    if not statuses["SUCCESS"]:
        wrong.append(f"no check passed: {(done.stderr or done.stdout).strip()[-300:]}")
    return Outcome(service, era, scenario, statuses["SUCCESS"], wrong)


def _wrong(check: dict[str, str]) -> bool:
    return check["status"] in ("FAILURE", "WARNING") and check["id"] not in NEEDS_FIXTURE


async def main(home: Path) -> list[Outcome]:
    """Serve every service on loopback and run every scenario against it."""
    session, _ = open_session(None, ["all"])
    episodes = Episodes()
    outcomes = []
    episodes.add("play", session)
    limit = anyio.CapacityLimiter(AT_ONCE)

    async def one(port: int, service: str, era: str, scenario: str) -> None:
        url = f"http://127.0.0.1:{port}/play/{service}/mcp"
        outcomes.append(
            await anyio.to_thread.run_sync(run, home, url, service, era, scenario, limiter=limit)
        )

    async with run_app(make_app(episodes)) as port, anyio.create_task_group() as tasks:
        for service in session.classes:
            for era, scenarios in SCENARIOS.items():
                for scenario in scenarios:
                    tasks.start_soon(one, port, service, era, scenario)
    return sorted(outcomes)


def report(outcomes: list[Outcome]) -> Iterator[str]:
    """Yield what to print: a line for each scenario, then what went wrong."""
    for era, scenarios in SCENARIOS.items():
        for scenario in scenarios:
            services = [o for o in outcomes if (o.era, o.scenario) == (era, scenario)]
            good = sum(not outcome.wrong for outcome in services)
            passed = sum(outcome.passed for outcome in services)
            told = f"{good} of {len(services)} services, {passed} checks passed"
            yield f"{era}  {scenario:26} {told}"
    for outcome in outcomes:
        yield from (
            f"{outcome.service}, {outcome.era}, {outcome.scenario}: {told}"
            for told in outcome.wrong
        )


if __name__ == "__main__":
    logging.getLogger("mcp").setLevel(
        logging.ERROR
    )  # the suite sends foreign Host headers on purpose
    results = anyio.run(main, Path(sys.argv[1]).resolve())
    print("\n".join(report(results)))
    sys.exit(any(o.wrong for o in results))
