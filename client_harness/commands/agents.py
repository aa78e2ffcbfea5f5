"""Commands about agents themselves: test-agent, ablate."""

from __future__ import annotations

import traceback
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from client_harness.commands import _print
from client_harness.commands._terms import ExposeOption
from client_harness.commands.running import (
    Instructions,
    Json,
    MaxCost,
    MaxTokens,
    interruptible,
    options_given,
    progress,
)

if TYPE_CHECKING:
    from scenarios.offered import Offered

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


def ablate(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Suites, scenarios, folders or files; by default the suite smoke."),
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(help="An agent; repeat to try several. By default model."),
    ] = None,
    guide: Annotated[
        list[str] | None,
        typer.Option(
            help="A layer of guidance; may be repeated. By default each of them.", metavar="LAYER"
        ),
    ] = None,
    instructions: Instructions = None,
    expose: ExposeOption = None,
    trials: Annotated[int, typer.Option(help="Trials per scenario, each with its own seed.")] = 1,
    jobs: Annotated[int, typer.Option(help="Trials to run at the same time.")] = 1,
    seed: Annotated[int, typer.Option(help="A number added to each scenario's seed.")] = 0,
    clean: Annotated[
        bool, typer.Option("--clean", help="Also run each trial without faults.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the runs; by default a new one under runs/."),
    ] = None,
    model: Model = None,
    api_base: ApiBase = None,
    command: Command = None,
    option: Options = None,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
    json: Json = False,
) -> None:
    """Show what guidance does: play the same trials with none and with each layer alone.

    Each layer is a run of its own in the folder, and a budget is that of each run. The same command
    goes on with a folder that was begun. The exit status is 2 for a mistake in the command, 3 if
    trials are unknown or were not run, and 0 otherwise.

    \b
    Example: client_harness ablate smoke --model openai/gpt-5 --trials 3 --jobs 4 --out guidance
    """
    from rich.console import Console

    from client_harness.ablation import ablation, begin, finish, layers_of, table
    from client_harness.ending import INCOMPLETE
    from client_harness.report import print_table
    from client_harness.run import RunRequest, new_home
    from servers.kit.errors import InputError

    request = RunRequest(
        scenarios=names or ["smoke"],
        agents=agent or ["model"],
        clean=clean,
        trials=trials,
        seed=seed,
        jobs=jobs,
        instructions=instructions,
        expose=cast("Offered", expose or "all"),
        options=options_given(option, model=model, api_base=api_base, command=command),
        max_cost=max_cost,
        max_tokens=max_tokens,
    )
    home, runs = begin(request, out or new_home, layers_of(guide or []))
    stopped = "interrupted"
    try:
        with interruptible():
            stopped = finish(runs, lambda layer, run: progress(layer, lambda: str(run.spent)))
    except KeyboardInterrupt:
        pass
    except InputError:
        raise
    except Exception:
        # As for a run, a bug of ours says nothing about any agent.
        traceback.print_exc()
        raise typer.Exit(INCOMPLETE) from None
    rows = ablation([(layer, run.results) for layer, run in runs])
    incomplete = bool(stopped) or any(row["unknown"] + row["not_run"] for row in rows)
    status = INCOMPLETE if incomplete else 0
    if json:
        _print.as_json({"rows": rows, "stopped": stopped or None, "exit": status})
    else:
        if rows:
            print_table(table(rows), Console())
        print(f"Runs: {home}")
    if incomplete:
        again = f"repeat the command with --out {home} to go on"
        _print.note(f"stopped: {stopped}; {again}" if stopped else f"trials are missing; {again}")
    raise typer.Exit(status)
