"""The command that makes new targets."""

from __future__ import annotations

from enum import StrEnum
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
        Path, typer.Option(help="The folder for the targets; it may be new.", metavar="FOLDER")
    ],
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

    if api_base is not None and model is None:
        raise InputError("--api-base is the address of a model; name it with --model")
    chosen = next((one for one in KINDS if kind is not None and one == kind.value), None)
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
