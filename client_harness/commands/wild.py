"""Commands about dialogues of wild users."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from client_harness.commands import _print

if TYPE_CHECKING:
    from scenarios.wild.compose import Wish


def list_tasks(*, json: bool) -> None:
    """Print the tasks of all dialogues with their counts, beside the published ones."""
    from client_harness.wild import listing

    entries = listing.entries()
    counts = listing.counts(entries)
    beside = listing.beside_published(counts)
    if json:
        published = {kind: count for kind, _, count in beside}
        _print.as_json({"counts": counts, "published": published, "tasks": entries})
        return
    rows = []
    for entry in entries:
        hidden = ", ".join(one["kind"] for one in entry["hidden"])
        rows.append([entry["name"], entry["task"], entry["type"], hidden])
    _print.columns(rows)
    for part, counted in counts.items():
        print(f"{part}: " + ", ".join(f"{name} {count}" for name, count in counted.items()))
    print("beside the published ones: " + ", ".join(f"{k} {n}/{p}" for k, n, p in beside))


def compose(
    out: Annotated[Path, typer.Option(help="A new folder for the dialogues.", metavar="FOLDER")],
    count: Annotated[int, typer.Option(help="How many dialogues.")] = 10,
    type_: Annotated[
        list[str] | None,
        typer.Option(
            "--type", help="A type of task that must come up; repeat for several.", metavar="TYPE"
        ),
    ] = None,
    hidden: Annotated[
        str | None,
        typer.Option(help="What some message hides: partial, coreference or long_range."),
    ] = None,
    distance: Annotated[
        int | None, typer.Option(help="How many tasks back a hidden piece lies, at least once.")
    ] = None,
    switches: Annotated[
        int | None, typer.Option(help="How often the class of task changes.")
    ] = None,
    service: Annotated[
        list[str] | None,
        typer.Option(help="A service or category of which one is used; repeat for several."),
    ] = None,
    person: Annotated[str | None, typer.Option(help="Whose dialogues.")] = None,
    tasks: Annotated[int, typer.Option(help="How many tasks a dialogue has.")] = 4,
    seed: Annotated[int, typer.Option(help="Which dialogues are taken.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(help="Processes; by default one for each core.")
    ] = None,
) -> None:
    """Put dialogues together from the tasks of stories, and prove each of them.

    \b
    Example: client_harness compose --hidden long_range --service travel --count 20 --out travel
    """
    from client_harness.wild.composing import write

    wish = wished(
        types=tuple(type_ or ()),
        hidden=hidden,
        distance=distance,
        switches=switches,
        services=tuple(service or ()),
        person=person,
        tasks=tasks,
    )
    files, dropped = write(wish, count, out, seed=seed, jobs=jobs)
    left = f"; {dropped} more could not be proven and were left out" if dropped else ""
    print(f"{len(files)} proven dialogues in {out}{left}")
    print(f"Run them: client_harness run {out} --agent NAME")


def wished(**fields: Any) -> Wish:
    """Return a wish, with categories replaced by their services. Raises `InputError`."""
    from pydantic import ValidationError

    from scenarios.wild.compose import Wish
    from servers.kit.errors import InputError, explain
    from servers.kit.service import services

    named: list[str] = []
    for one in fields["services"]:
        of_category = [name for name, cls in services().items() if cls.category == one]
        named += of_category or [one]
    try:
        return Wish.model_validate({**fields, "services": tuple(named)})
    except ValidationError as wrong:
        raise InputError(explain(wrong, Wish)) from None
