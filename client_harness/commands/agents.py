"""Commands about agents themselves: test-agent."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from client_harness.commands import _print
from client_harness.commands.running import Json, options_given

Agent = Annotated[
    str, typer.Option(help="The agent: process, or an adapter.", metavar="process|ADAPTER")
]
Command = Annotated[
    str | None,
    typer.Option(help="The command that the agent `process` starts.", metavar="'PROGRAM …'"),
]
Model = Annotated[str | None, typer.Option(help="The agent's model, as litellm names it.")]
ApiBase = Annotated[str | None, typer.Option(help="Base URL of the model's endpoint.")]
Options = Annotated[
    list[str] | None,
    typer.Option(help="An option for the agent; may be repeated.", metavar="KEY=VALUE"),
]
TURN_SECONDS = 45
"""How long a turn may take in a probe, unless an option says otherwise."""


def test_agent(
    command: Command = None,
    agent: Agent = "process",
    model: Model = None,
    api_base: ApiBase = None,
    option: Options = None,
    json: Json = False,
) -> None:
    """Try whether an agent in a process of its own keeps the contract, in about a minute.

    It is started for each probe, on two services and without scenarios. The exit status is 2 for a
    mistake in the command, 1 if a probe failed, and 0 otherwise.

    \b
    Example: client_harness test-agent --command 'python my_agent.py' --model openai/gpt-5
    """
    from client_harness.plan import check_options
    from client_harness.trying_agents import FAILED, probe

    options = options_given(option, model=model, api_base=api_base, command=command)
    check_options([agent], options)
    probes, lacking = probe(agent, {"turn_seconds": TURN_SECONDS, **options})
    failed = any(probed.result == FAILED for probed in probes)
    if json:
        found = {"probes": [asdict(probed) for probed in probes], "not_measured": lacking}
        _print.as_json({**found, "exit": int(failed)})
    else:
        _print.columns([(probed.probe, probed.result, probed.why) for probed in probes])
        if lacking:
            print("\nWhat runs with this agent will not measure, or less well:")
        for line in lacking:
            print(f"- {line}")
    raise typer.Exit(int(failed))
