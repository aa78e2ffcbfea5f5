"""Commands for authors of scenarios and faults: try, schema, new."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from client_harness.commands import _print

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def try_(
    calls: Annotated[
        list[str],
        typer.Argument(
            help="'service.tool {argument: value}', 'name = service.tool {…}' or a file of steps.",
            metavar="CALL…",
        ),
    ],
    world: Annotated[
        str | None, typer.Option(help="Whose world to use; by default maya.", metavar="NAME")
    ] = None,
    services: Annotated[
        str | None,
        typer.Option(help="Services beside those of the calls.", metavar="A,B"),
    ] = None,
    faults: Annotated[
        str | None, typer.Option(help="A fault profile: a name or a YAML file.", metavar="PROFILE")
    ] = None,
    scenario: Annotated[
        str | None,
        typer.Option(help="Use the world, services and faults of a scenario.", metavar="NAME"),
    ] = None,
    clean: Annotated[bool, typer.Option("--clean", help="Leave a scenario's faults out.")] = False,
    at: Annotated[
        str | None,
        typer.Option(help="Begin later: +600 (seconds) or 2026-03-14T18:00:00Z.", metavar="TIME"),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed for ids and random choices.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Do not shorten replies.")] = False,
    json: Json = False,
) -> None:
    """Run calls one after another and show replies, the truth, changed rows and faults.

    Seeded rows are named as in scenarios (seed:vct/jordan_park) or in short (@jordan_park); ${…}
    takes values from earlier replies. For each fault on a called tool that did not fire, the
    output says why.

    \b
    Example: client_harness try 'venmo.add_friend {name: Kai, username: kai-t}' venmo.list_friends
    """
    from client_harness.authoring import shown
    from client_harness.authoring.trying import try_calls

    made = try_calls(
        calls,
        world=world,
        services=[name.strip() for name in (services or "").split(",") if name.strip()],
        faults=faults,
        scenario=scenario,
        clean=clean,
        at=at,
        seed=seed,
    )
    if json:
        _print.as_json([one.as_json() for one in made])
        return
    for number, one in enumerate(made, 1):
        for line in shown.tried_lines(number, one, full=full):
            print(line)


new = typer.Typer(
    help=(
        "Start a file for a scenario or a fault that is proven as it stands.\n\n\b\n"
        "Example: client_harness new scenario porch --service gmail --fault staleness"
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
)

Out = Annotated[
    Path | None,
    typer.Option(help="Write this file; by default print it.", metavar="FILE"),
]


@new.command("scenario")
def new_scenario(
    name: Annotated[str, typer.Argument(help="The scenario's name, which is its file's.")],
    service: Annotated[str, typer.Option(help="The service at which something goes wrong.")],
    fault: Annotated[
        str,
        typer.Option(
            help="A kind of fault (dropped_write) or of failure (staleness).", metavar="KIND"
        ),
    ] = "dropped_write",
    person: Annotated[
        str, typer.Option("--person", "--world", help="Whose world it plays in.")
    ] = "maya",
    out: Out = None,
) -> None:
    """Start a scenario: a small task at one service that goes wrong in one way.

    It is proven as it stands (`client_harness check FILE`), and its comments lead on from there.

    \b
    Example: client_harness new scenario porch --service gmail --fault staleness --out porch.yaml
    """
    from client_harness.authoring.draft import scenario

    file = out or Path(f"{name.rpartition('/')[2]}.yaml")
    _put(scenario(service, fault, person, str(file)), out)


@new.command("fault")
def new_fault(
    kind: Annotated[str, typer.Argument(help="A kind of fault, e.g. dropped_write.")],
    on: Annotated[str | None, typer.Option(help="The tool on which it acts.")] = None,
    service: Annotated[
        str | None, typer.Option(help="In place of --on: any tool of this service that fits.")
    ] = None,
    out: Out = None,
) -> None:
    """Start a file with one fault, which fires on the tool's example call.

    \b
    Example: client_harness new fault wrong_value --on venmo.get_balance --out wrong.yaml
    """
    from client_harness.authoring.draft_fault import fault

    _put(fault(kind, on, service, str(out or f"{kind}.yaml")), out)


def _put(text: str, out: Path | None) -> None:
    """Write a new file, or print its text; a file that exists is left alone."""
    from servers.kit.errors import InputError

    if out is None:
        print(text, end="")
        return
    if out.suffix != ".yaml":
        raise InputError(f"--out {out}: a scenario or fault file ends in .yaml")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with out.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(f"{out} exists already; name a new file") from None
    except OSError as wrong:
        raise InputError(f"{out}: {wrong.strerror}") from None
    print(f"wrote {out}; prove it: client_harness check {out}")


class Editor(StrEnum):
    """The editors whose settings can be written."""

    vscode = "vscode"


class Kind(StrEnum):
    """The kinds of files that have a schema."""

    scenario = "scenario"
    faults = "faults"


def schema(
    kind: Annotated[Kind, typer.Argument(help="The kind of file.")] = Kind.scenario,
    write: Annotated[
        bool,
        typer.Option("--write", help="Write all schemas and the editor's settings, keep the rest."),
    ] = False,
    editor: Annotated[Editor, typer.Option(help="Whose settings to write.")] = Editor.vscode,
    folder: Annotated[
        Path, typer.Option(help="The folder that the editor opens.", metavar="DIR")
    ] = Path(),
    scenarios: Annotated[
        list[str] | None,
        typer.Option(help="Further files that are scenarios; may be repeated.", metavar="GLOB"),
    ] = None,
    faults: Annotated[
        list[str] | None,
        typer.Option(help="Further files that hold faults; may be repeated.", metavar="GLOB"),
    ] = None,
    world: Annotated[
        list[str] | None,
        typer.Option(help="Offer the seeds of this world only; may be repeated.", metavar="NAME"),
    ] = None,
) -> None:
    """Print the JSON schema of scenarios or fault files, or write it for an editor.

    With it, an editor describes each field and completes tools, services, tables, columns, seeds,
    kinds, claims and operators. VS Code needs the extension YAML; files that end in .scenario.yaml
    or .faults.yaml are recognized everywhere.

    \b
    Example: client_harness schema --write --scenarios 'mine/*.yaml'
    """
    from client_harness.authoring import editor as editing
    from client_harness.authoring.schema import schema as made

    if not write:
        _print.as_json(made(kind.value, world))
        return
    globs = {"scenario": scenarios or [], "faults": faults or []}
    changed = editing.write(folder, globs, world)
    for path in changed:
        print(f"wrote {path}")
    if not changed:
        print(f"the schemas and settings of {editor.value} are up to date")
