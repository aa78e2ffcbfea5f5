"""The command that makes new targets."""

from __future__ import annotations

from enum import StrEnum
from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from client_harness.commands import _print

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


class Kind(StrEnum):
    """The kinds of instances."""

    recall_single = "recall_single"
    recall_multi = "recall_multi"
    shift_explicit = "shift_explicit"
    shift_implicit = "shift_implicit"
    missing_easy = "missing_easy"
    missing_hard = "missing_hard"


def weave(
    out: Annotated[
        Path | None,
        typer.Option(help="The folder for the targets; it may be new.", metavar="FOLDER"),
    ] = None,
    person: Annotated[
        list[str] | None, typer.Option(help="For whom; by default for all.", metavar="NAME")
    ] = None,
    service: Annotated[
        list[str] | None,
        typer.Option(help="With tools of which services; by default of all.", metavar="NAME"),
    ] = None,
    kind: Annotated[
        Kind | None, typer.Option(help="Prove instances of this kind only.", metavar="KIND")
    ] = None,
    count: Annotated[int, typer.Option(help="How many targets to make.")] = 1,
    seed: Annotated[int, typer.Option(help="Another seed makes other targets.")] = 0,
    model: Annotated[
        str | None,
        typer.Option(help="Let a model word the texts, by its name in litellm.", metavar="NAME"),
    ] = None,
    api_base: Annotated[
        str | None, typer.Option(help="The address of the model's endpoint.", metavar="URL")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Instances to prove at the same time; by default all cores.")
    ] = None,
    sheet: Annotated[
        Path | None,
        typer.Option(
            help="Write a sheet of --count instances for people to judge, and the checker's "
            "verdicts beside it.",
            metavar="FILE",
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            help="Compare a sheet that was filled in with the checker's verdicts.", metavar="FILE"
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Make new targets for histories: six instances each, proven like the shipped ones.

    The texts come from phrase banks, or from a model that words them anew. `run`, `check` and
    `list instances --targets` take the folder, or one of its files. The exit status is 1 if there
    are fewer targets than were asked for.

    \b
    Example: client_harness weave --out mine --person maya --count 3
    """
    from client_harness.haystack import generating
    from client_harness.haystack.rewording import Rewording
    from scenarios.haystack.targets import KINDS
    from servers.kit.errors import InputError

    if sheet is not None:
        _write_sheet(sheet, count, seed, jobs)
        return
    if labels is not None:
        _compare(labels, json=json)
        return
    if out is None:
        raise InputError("--out FOLDER says where the targets should go")
    if api_base is not None and model is None:
        raise InputError("--api-base is the address of a model; name it with --model")
    wanted = kind.value if kind is not None else None
    chosen = next((one for one in KINDS if one == wanted), None)
    request = generating.Request(
        count=count,
        seed=seed,
        people=tuple(person or ()),
        services=tuple(service or ()),
        kind=chosen,
        jobs=jobs,
    )
    generating.free(out, ())
    rewording = Rewording(model, api_base) if model is not None else None
    made = generating.generate(request, rewording, tell=_print.note)
    paths = generating.write(out, made.targets)
    if json:
        _print.as_json(generating.as_json(made, paths))
    else:
        _print.columns(generating.table(made))
        for line in generating.remarks(made, request):
            print(line)
        for path in paths:
            print(path)
    if len(paths) < count:
        raise typer.Exit(1)


def _verdicts_of(sheet: Path) -> Path:
    """Return where the checker's verdicts on a sheet are."""
    return sheet.with_suffix(".verdicts.json")


def _write_sheet(sheet: Path, count: int, seed: int, jobs: int | None) -> None:
    from client_harness.haystack import checker
    from servers.kit.errors import InputError

    beside = _verdicts_of(sheet)
    for path in (sheet, beside):
        if path.exists():
            raise InputError(f"{path} exists already; name a new file")
    text, verdicts = checker.sheet(count, seed, jobs)
    try:
        sheet.write_text(text, encoding="utf-8")
        beside.write_text(dumps(verdicts, indent=1, ensure_ascii=False), encoding="utf-8")
    except OSError as wrong:
        sheet.unlink(missing_ok=True)
        raise InputError(f"--sheet {sheet}: {wrong.strerror}") from None
    print(f"wrote {sheet} for people, and {beside}, which they must not see")


def _compare(labels: Path, *, json: bool) -> None:
    from client_harness.haystack import checker

    found = checker.agreement(labels, _verdicts_of(labels))
    if json:
        _print.as_json(found)
        return
    both = f"{found['both_good']} good and {found['both_bad']} bad for both"
    print(f"{found['count']} instances: {both}")
    print(f"{found['missed']} bad ones kept, {found['refused_wrongly']} good ones refused")
    print(f"MCC {found['mcc']}, accuracy {found['accuracy']}")
