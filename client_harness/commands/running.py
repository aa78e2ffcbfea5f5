"""Evaluate: run, resume, judge, report, trace."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from client_harness.commands import _print

if TYPE_CHECKING:
    from client_harness.results import Results
    from client_harness.run import Run, Tell

Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program.")]
Folder = Annotated[Path, typer.Argument(help="A run's folder.", metavar="RUN")]
STOCK = ["oracle", "naive", "noop"]


class DisclosureMode(StrEnum):
    """How held-back services appear."""

    notify = "notify"
    locked = "locked"


def run(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Suites, scenarios, folders or files; the suite smoke if none."),
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(help="An agent; repeat it to compare. oracle, naive and noop if none."),
    ] = None,
    clean: Annotated[
        bool, typer.Option("--clean", help="Run each trial without faults as well.")
    ] = False,
    only_clean: Annotated[
        bool, typer.Option("--only-clean", help="Run without faults alone.")
    ] = False,
    trials: Annotated[
        int, typer.Option(help="Trials of each scenario, each with a seed of its own.")
    ] = 1,
    jobs: Annotated[int, typer.Option(help="Trials at once.")] = 1,
    seed: Annotated[int, typer.Option(help="Added to each scenario's seed.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of results and traces; a new one under runs/ if none."),
    ] = None,
    disclose: Annotated[
        DisclosureMode,
        typer.Option(help="Held-back services join the list, or stand in it locked."),
    ] = DisclosureMode.notify,
    faults: Annotated[
        str | None,
        typer.Option(
            help="A fault profile in place of the scenarios' own faults.", metavar="PROFILE"
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Model of the agent, as litellm names it.")
    ] = None,
    api_base: Annotated[str | None, typer.Option(help="Base URL of the model's endpoint.")] = None,
    record: Annotated[
        Path | None, typer.Option(help="Keep the model's answers in this folder.", metavar="DIR")
    ] = None,
    replay: Annotated[
        Path | None, typer.Option(help="Take the model's answers from this folder.", metavar="DIR")
    ] = None,
    command: Annotated[
        str | None, typer.Option(help="What the agent `process` starts.", metavar="'PROGRAM …'")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(help="An option of the agent; repeatable.", metavar="KEY=VALUE"),
    ] = None,
    http: Annotated[
        bool,
        typer.Option(
            "--http", help="Agents of this process reach their tools over HTTP, not in memory."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Run agents over scenarios, unattended, and report.

    \b
    Example: client_harness run smoke --agent oracle --agent naive --clean --trials 3 --jobs 4
    """
    from client_harness.run import RunRequest, new_home, start

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
        faults=faults,
        transport="http" if http else "memory",
        options={**given, **_options(option or [])},
    )
    _go(start(request, out or new_home), json)


def resume(
    home: Folder,
    json: Json = False,
    jobs: Annotated[int | None, typer.Option(help="Trials at once, if not as before.")] = None,
) -> None:
    """Finish a run that was stopped: what has a result stays, the rest runs.

    \b
    Example: client_harness resume runs/0001
    """
    from client_harness.run import reopen

    _go(reopen(home, jobs), json)


def judge(home: Folder, json: Json = False) -> None:
    """Judge the recorded traces of a run again with the checks of now, and store the verdicts.
    Nothing runs.

    \b
    Example: client_harness judge runs/0001
    """
    from client_harness.run import rejudge

    with _progress("judging") as tell:
        results = rejudge(home, tell)
    _print_report([results], json=json)


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Folders of runs of the same scenarios, worlds and code.", metavar="RUN…"
        ),
    ],
    json: Json = False,
    md: Annotated[bool, typer.Option("--md", help="Print Markdown.")] = False,
    html: Annotated[bool, typer.Option("--html", help="Print a page of HTML.")] = False,
    failures: Annotated[int, typer.Option(help="How many failed trials to list.")] = 10,
) -> None:
    """Report one run, or several that compare: rates with intervals, paired differences, kinds of
    failure.

    \b
    Example: client_harness report runs/0001 runs/0002 --md
    """
    from client_harness.results import Results

    form = None
    if md:
        form = "md"
    elif html:
        form = "html"
    opened = [Results.open(home) for home in runs]
    _print_report(opened, json=json, form=form, failures=failures)


def trace(
    file: Annotated[Path, typer.Argument(help="A trace, e.g. runs/0001/traces/…/oracle-1.jsonl")],
    full: Annotated[bool, typer.Option("--full", help="Do not shorten replies.")] = False,
) -> None:
    """Show a trace as a conversation: texts, calls with their replies, faults and what was true.

    \b
    Example: client_harness trace runs/0001/traces/recovery/twin/old_timestamp/naive-1.jsonl
    """
    from client_harness.commands._trace import lines

    for line in lines(file, None if full else 300):
        print(line)


def _go(begun: Run, json: bool) -> None:
    home = begun.results.home
    try:
        with _progress("running") as tell:
            begun.finish(tell)
    except KeyboardInterrupt:
        _print.note(f"stopped; `client_harness resume {home}` finishes it")
        raise typer.Exit(130) from None
    _print_report([begun.results], json=json)
    if not json:
        print(f"Results and traces: {home}")


def _print_report(runs: list[Results], *, json: bool, form: Any = None, failures: int = 10) -> None:
    from client_harness.report import report as reported
    from client_harness.report import to_terminal, to_text

    data = reported(runs)
    if json:
        _print.as_json(data)
    elif form is not None:
        print(to_text(data, form))
    else:
        from rich.console import Console

        to_terminal(data, Console(), failures)


def _absolute(path: Path | None) -> str | None:
    return None if path is None else str(path.resolve())


def _options(pairs: list[str]) -> dict[str, Any]:
    import yaml

    from servers.kit.errors import InputError
    from servers.kit.yaml import Loader

    options = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key:
            raise InputError(f"--option {pair}: write KEY=VALUE")
        try:
            options[key] = yaml.load(text, Loader=Loader) if text else ""
        except yaml.YAMLError:
            options[key] = text
    return options


@contextmanager
def _progress(what: str) -> Generator[Tell]:
    """Yield what hears of progress and shows it as a bar on stderr, where that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total, trial: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    shown = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with shown as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total, trial: progress.update(task, completed=done, total=total)
