"""Commands that evaluate agents: run, resume, judge, report, trace."""

from __future__ import annotations

import signal
import sys
import threading
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from client_harness.commands import _print
from client_harness.commands._progress import Lines
from client_harness.commands._terms import (
    ExposeOption,
    Protocol,
    ProtocolOption,
    Reasoning,
    ReasoningOption,
    exposed_by,
    tell_left_out,
)
from client_harness.commands.judging import ApiBase, Model, Votes
from servers.kit.seeds import MOST_SEED

if TYPE_CHECKING:
    from client_harness.results import Results
    from client_harness.run import Run, Tell
    from scenarios.offered import Offered

MaxCost = Annotated[
    float | None,
    typer.Option(help="Begin no trial once this many dollars are spent.", metavar="DOLLARS"),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(help="Begin no trial once this many tokens are spent.", metavar="TOKENS"),
]
FailUnder = Annotated[
    float | None,
    typer.Option(
        min=0,
        max=1,
        help="Exit with 1 if an agent passes less than this share of its trials in a setting.",
        metavar="SHARE",
    ),
]
Instructions = Annotated[
    str | None,
    typer.Option(
        help=(
            "What agents are told: a file, or one of these; by default plain for agents without a "
            "prompt of their own, and none for others."
        ),
        metavar="<none|plain|careful|FILE>",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Folder = Annotated[Path, typer.Argument(help="The folder of a run.", metavar="RUN")]
STOCK = ["oracle", "naive", "noop"]


class DisclosureMode(StrEnum):
    """How services that are held back appear."""

    notify = "notify"
    locked = "locked"


class PrefixMode(StrEnum):
    """Whose turns precede a task of a dialogue."""

    own = "own"
    gold = "gold"


class Delivery(StrEnum):
    """How agents get past sessions."""

    context = "context"
    sessions = "sessions"


def run(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Suites, scenarios, folders or files; by default the suite smoke."),
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "An agent, or NAME:MODEL,OPTION=VALUE… for one with a model and options of its "
                "own; repeat to compare several. By default oracle, naive and noop."
            )
        ),
    ] = None,
    clean: Annotated[
        bool, typer.Option("--clean", help="Also run each trial without faults.")
    ] = False,
    only_clean: Annotated[
        bool, typer.Option("--only-clean", help="Run only without faults.")
    ] = False,
    trials: Annotated[int, typer.Option(help="Trials per scenario, each with its own seed.")] = 1,
    jobs: Annotated[int, typer.Option(help="Trials to run at the same time.")] = 1,
    seed: Annotated[
        int,
        typer.Option(min=-MOST_SEED, max=MOST_SEED, help="A number added to each scenario's seed."),
    ] = 0,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for results and traces; by default a new one under runs/."),
    ] = None,
    disclose: Annotated[
        DisclosureMode,
        typer.Option(
            help="How held-back services appear: added to the tool list later, or locked."
        ),
    ] = DisclosureMode.notify,
    faults: Annotated[
        str | None,
        typer.Option(
            help="A fault profile to use instead of the scenarios' own faults.", metavar="PROFILE"
        ),
    ] = None,
    expose: ExposeOption = None,
    history: Annotated[
        str | None,
        typer.Option(
            help="Past sessions that precede every scenario, e.g. sessions=40,seed=3.",
            metavar="NUMBERS",
        ),
    ] = None,
    prefix: Annotated[
        PrefixMode,
        typer.Option(
            help=(
                "What precedes a task of a dialogue: the agent's own turns, or the oracle's "
                "(gold), so that each task is a trial of its own."
            )
        ),
    ] = PrefixMode.own,
    deliver: Annotated[
        Delivery,
        typer.Option(
            help=(
                "How agents get past sessions: all in the context, or one by one ahead of a fresh "
                "conversation, for agents with a memory."
            )
        ),
    ] = Delivery.context,
    instructions: Instructions = None,
    guide: Annotated[
        list[str] | None,
        typer.Option(
            help="A layer of guidance: preamble, schema, exemplars or reasoning; may be repeated.",
            metavar="LAYER",
        ),
    ] = None,
    protocol: ProtocolOption = Protocol.own,
    reasoning: ReasoningOption = Reasoning.free,
    model: Annotated[
        str | None, typer.Option(help="The agent's model, as litellm names it.")
    ] = None,
    api_base: Annotated[str | None, typer.Option(help="Base URL of the model's endpoint.")] = None,
    record: Annotated[
        Path | None, typer.Option(help="Record the model's answers in this folder.", metavar="DIR")
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(help="Replay the model's answers from this folder.", metavar="DIR"),
    ] = None,
    command: Annotated[
        str | None,
        typer.Option(help="The command that the agent `process` starts.", metavar="'PROGRAM …'"),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(help="An option for the agent; may be repeated.", metavar="KEY=VALUE"),
    ] = None,
    http: Annotated[
        bool,
        typer.Option(
            "--http",
            help="Connect agents in this process to their tools over HTTP, not in memory.",
        ),
    ] = False,
    user_model: Annotated[
        str | None,
        typer.Option(
            help="A model that says what the user says in its own words, as litellm names it.",
            metavar="<str>",
        ),
    ] = None,
    user_api_base: Annotated[
        str | None,
        typer.Option(help="Base URL of the user model's endpoint.", metavar="<str>"),
    ] = None,
    judge_model: Model = None,
    judge_api_base: ApiBase = None,
    judge_votes: Votes = None,
    debrief: Annotated[
        bool,
        typer.Option(
            "--debrief",
            help="Ask the agent at the end what is so; reported, and no part of a verdict.",
        ),
    ] = False,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
    fail_under: FailUnder = None,
    json: Json = False,
) -> None:
    """Run agents over scenarios unattended and print a report.

    The exit status is 2 for a mistake in the command, 3 if trials are unknown or were not run, 1 if
    an agent is below --fail-under, and 0 otherwise.

    \b
    Example: client_harness run smoke --agent oracle --agent naive --clean --trials 3 --jobs 4
    """
    from client_harness.judging.model_reader import judge_model as named
    from client_harness.run import RunRequest, new_home, start
    from client_harness.user.voice import voice_model

    reader = named(judge_model, judge_api_base, judge_votes)
    voice = voice_model(user_model, user_api_base)
    options = {
        "model": model,
        "api_base": api_base,
        "command": command,
        "record": _absolute(record),
        "replay": _absolute(replay),
    }
    given = {name: value for name, value in options.items() if value is not None}
    request = RunRequest(
        scenarios=names or ["smoke"],
        agents=agent or STOCK,
        faulted=not only_clean,
        clean=clean or only_clean or not (names or agent),
        trials=trials,
        seed=seed,
        jobs=jobs,
        disclosure=disclose.value,
        expose=cast("Offered", expose or exposed_by(protocol)),
        history=history,
        prefix=prefix.value,
        deliver=deliver.value,
        instructions=instructions,
        guide=guide or [],
        protocol=protocol.value,
        reasoning=reasoning.value,
        faults=faults,
        transport="http" if http else "memory",
        options={**given, **_options(option or [])},
        user=None if voice is None else vars(voice),
        judge=None if reader is None else vars(reader),
        debrief=debrief,
        max_cost=max_cost,
        max_tokens=max_tokens,
        fail_under=fail_under,
    )
    begun = start(request, out or new_home)
    if protocol is Protocol.published:
        tell_left_out(begun)
    _go(begun, json)


def resume(
    home: Folder,
    json: Json = False,
    jobs: Annotated[
        int | None, typer.Option(help="Trials to run at the same time; by default as before.")
    ] = None,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
    fail_under: FailUnder = None,
) -> None:
    """Finish a run: play the trials that were not run or are unknown, and keep the others.

    What an unknown trial has cost stays counted, and its trace is kept beside the new one. The exit
    status is that of run, and the budget is that of the whole run.

    \b
    Example: client_harness resume runs/0001
    """
    from client_harness.run import reopen

    changes = {"max_cost": max_cost, "max_tokens": max_tokens, "fail_under": fail_under}
    _go(reopen(home, jobs=jobs, **changes), json)


def judge(
    home: Annotated[
        Path,
        typer.Argument(
            help="The folder of a run, or the trace of a scenario that was served.", metavar="RUN"
        ),
    ],
    said: Annotated[
        list[str] | None,
        typer.Option(
            help="What the agent told you at the end of a served scenario; repeat for its turns.",
            metavar="TEXT",
        ),
    ] = None,
    judge_model: Model = None,
    judge_api_base: ApiBase = None,
    judge_votes: Votes = None,
    json: Json = False,
) -> None:
    """Judge a run's recorded traces again with the current checks and store the verdicts.

    No agent is run again. Texts are read by phrases, or by the model that is named. A scenario that
    was served is judged by its trace; a folder of such traces stands for the newest one.

    \b
    Example: client_harness judge runs/0001 --judge-model openai/gpt-5
    """
    from client_harness.judging.model_reader import judge_model as named
    from client_harness.played import newest
    from client_harness.rejudge import rejudge
    from servers.kit.errors import InputError

    trace = newest(home)
    if trace is not None:
        if judge_model or judge_api_base or judge_votes:
            raise InputError(f"{trace}: a model reads the texts of runs only")
        _judge_played(trace, said or [], json)
        return
    if said:
        raise InputError("--said is for the trace of a scenario that was served, not for a run")
    reader = named(judge_model, judge_api_base, judge_votes)
    with progress("judging") as tell:
        results = rejudge(home, tell, reader)
    _print_report([results], json=json)


def _judge_played(trace: Path, said: list[str], json: bool) -> None:
    import anyio

    from client_harness.judging.played import judged, read, told

    result = anyio.run(judged, read(trace), said)
    if json:
        _print.as_json(result.as_json())
        return
    for line in told(result):
        print(line)
    print(f"Trace: {trace}")


def _report_plays(folders: list[Path], json: bool) -> None:
    import anyio

    from client_harness.judging.plays import plays, tables

    found = anyio.run(plays, folders)
    if json:
        _print.as_json({"plays": [play.as_json() for play in found]})
        return
    for heading, rows in tables(found):
        print(heading)
        _print.columns(rows)


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Folders of runs over the same scenarios, worlds and code, or of plays.",
            metavar="RUN…",
        ),
    ],
    json: Json = False,
    md: Annotated[bool, typer.Option("--md", help="Print Markdown.")] = False,
    html: Annotated[bool, typer.Option("--html", help="Print an HTML page.")] = False,
    failures: Annotated[int, typer.Option(help="How many failed trials to list.")] = 10,
    by: Annotated[
        str | None,
        typer.Option(
            help="Group instances, or tasks of dialogues, e.g. by kind, distance or position.",
            metavar="WHAT",
        ),
    ] = None,
) -> None:
    """Report on one run, or compare several.

    The report shows pass rates with intervals, paired differences and results by kind of failure.

    \b
    Example: client_harness report runs/0001 runs/0002 --md
    """
    from client_harness.judging.plays import holds_plays
    from client_harness.results import Results

    if any(holds_plays(home) for home in runs):
        if md or html or by:
            raise typer.BadParameter("plays are reported as a table, or with --json")
        _report_plays(runs, json)
        return
    form = None
    if md:
        form = "md"
    elif html:
        form = "html"
    opened = [Results.open(home) for home in runs]
    _print_report(opened, json=json, form=form, failures=failures, by=by)


def trace(
    file: Annotated[Path, typer.Argument(help="A trace, e.g. runs/0001/traces/…/oracle-1.jsonl")],
    full: Annotated[bool, typer.Option("--full", help="Do not shorten replies.")] = False,
) -> None:
    """Show a trace as a conversation: messages, calls, replies, faults and the true replies.

    \b
    Example: client_harness trace runs/0001/traces/recovery/twin/old_timestamp/naive-1.jsonl
    """
    from client_harness.commands._trace import lines

    for line in lines(file, None if full else 300):
        print(line)


def _go(begun: Run, json: bool) -> None:
    """Finish a run, report on it and exit with its status."""
    from client_harness.ending import INCOMPLETE, ending
    from client_harness.report import report as reported
    from servers.kit.errors import InputError

    home = begun.results.home
    try:
        with interruptible(), progress("running", lambda: str(begun.spent)) as tell:
            begun.finish(tell)
    except KeyboardInterrupt:
        _print.note(f"stopped; run `client_harness resume {home}` to finish")
        raise typer.Exit(INCOMPLETE) from None
    except InputError:
        raise
    except Exception:
        # A bug of ours says nothing about any agent, so the status must not be 1.
        traceback.print_exc()
        raise typer.Exit(INCOMPLETE) from None
    if begun.stopped and (not begun.results.trials() or (begun.failed_to_start and not json)):
        told = f"stopped: {begun.stopped}; `client_harness resume {home}` goes on"
        _print.note(" ".join(told.split()))
        raise typer.Exit(INCOMPLETE)
    data = reported([begun.results])
    ended = ending(data, home, begun.stopped, begun.request.fail_under)
    if json:
        _print.as_json({**data, "stopped": begun.stopped or None, "exit": ended.status})
    else:
        _print_data(data)
        print(f"Results and traces: {home}")
    for line in ended.lines:
        _print.note(line)
    raise typer.Exit(ended.status)


@contextmanager
def interruptible() -> Generator[None]:
    """Let SIGTERM stop a run as Ctrl-C does, so that no agent's process outlives it."""

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread hears signals
        return

    def interrupt(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _print_report(
    runs: list[Results],
    *,
    json: bool,
    form: Any = None,
    failures: int = 10,
    by: str | None = None,
) -> None:
    from client_harness.report import report as reported
    from client_harness.report import to_text
    from client_harness.wild.figures import checked

    data = reported(runs, checked(by))
    if json:
        _print.as_json(data)
    elif form is not None:
        print(to_text(data, form))
    else:
        _print_data(data, failures)


def _print_data(data: dict[str, Any], failures: int = 10) -> None:
    from rich.console import Console

    from client_harness.report import to_terminal

    to_terminal(data, Console(), failures)


def _absolute(path: Path | None) -> str | None:
    return None if path is None else str(path.resolve())


def options_given(pairs: list[str] | None, **named: Any) -> dict[str, Any]:
    """Return the options that a command was given by name, and those of its --option."""
    given = {name: value for name, value in named.items() if value is not None}
    return {**given, **_options(pairs or [])}


def _options(pairs: list[str]) -> dict[str, Any]:
    from client_harness.chosen import option_of

    return dict(option_of(pair, "--option") for pair in pairs)


@contextmanager
def progress(what: str, spent: Callable[[], str] = str) -> Generator[Tell]:
    """Yield a function that shows how far a run is, for how long it runs and what it has spent.

    It is a bar on stderr, or now and then a line where stderr is not a terminal.
    """
    if not sys.stderr.isatty():
        yield Lines(what, spent, _print.note).tell
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    shown = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[spent]}"),
        console=Console(stderr=True),
        transient=True,
    )
    with shown as progress:
        task = progress.add_task(what, total=None, spent="")
        yield lambda done, total, trial: progress.update(
            task, completed=done, total=total, spent=spent()
        )
