"""Commands about instances of the haystack: what there is, and curves."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from client_harness.commands import _print

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


class Axis(StrEnum):
    """What a curve is drawn over."""

    distance = "distance"
    distractors = "distractors"


def curves(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Folders of runs with ranges in their history.", metavar="RUN…"),
    ],
    by: Annotated[Axis, typer.Option(help="What varies along the curve.")] = Axis.distance,
    svg: Annotated[
        Path | None, typer.Option(help="Also draw the curves into this file.", metavar="FILE")
    ] = None,
    json: Json = False,
) -> None:
    """Show how accuracy on instances falls with distance or with distractors.

    The run plays the same instances at each point:
    `client_harness run haystack/recall_single --history distance=0..5`.

    \b
    Example: client_harness curves runs/0001 --svg distance.svg
    """
    from client_harness.haystack import curves as drawing
    from client_harness.report import groups_of
    from client_harness.results import Results

    axis: drawing.Axis = "distance" if by is Axis.distance else "distractors"
    drawn = drawing.curves(groups_of([Results.open(home) for home in runs]), axis)
    if svg is not None:
        svg.write_text(drawing.as_svg(drawn, axis), encoding="utf-8")
    if json:
        _print.as_json(drawing.as_data(drawn, axis))
        return
    for line in drawing.as_lines(drawn, axis):
        print(line)
    if svg is not None:
        print(f"Picture: {svg}")


def list_instances(*, sizes: bool, json: bool) -> None:
    """Print the instances with their counts, or how large they are."""
    from client_harness.haystack import listing
    from client_harness.haystack import sizes as measuring
    from scenarios.haystack import instances

    if sizes:
        measured = measuring.sizes(instances.names())
        table = measuring.table(measured)
        if json:
            _print.as_json({"means": measuring.means(measured), "instances": measured})
        else:
            _print.columns([table["columns"], *table["rows"]])
        return
    entries = listing.entries()
    counts = listing.counts(entries)
    if json:
        _print.as_json({"counts": counts, "instances": entries})
        return
    _print.columns([[entry["name"], entry["about"]] for entry in entries])
    for part, counted in counts.items():
        print(f"{part}: " + ", ".join(f"{name} {count}" for name, count in counted.items()))
