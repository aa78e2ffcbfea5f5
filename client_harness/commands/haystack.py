"""Commands about instances of the haystack: what there is, and curves."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from client_harness.commands import _print

if TYPE_CHECKING:
    from client_harness.drawing import Point
    from client_harness.results import Trial

Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


class Axis(StrEnum):
    """What a curve is drawn over."""

    distance = "distance"
    distractors = "distractors"
    switches = "switches"
    position = "position"


def curves(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Folders of runs: of dialogues, or of instances with ranges in their history.",
            metavar="RUN…",
        ),
    ],
    by: Annotated[Axis, typer.Option(help="What varies along the curve.")] = Axis.distance,
    svg: Annotated[
        Path | None, typer.Option(help="Also draw the curves into this file.", metavar="FILE")
    ] = None,
    json: Json = False,
) -> None:
    """Show how accuracy falls with distance, distractors, switches or position.

    A run of instances plays the same ones at each point:
    `client_harness run haystack/recall_single --history distance=0..5`. A run of dialogues has
    tasks at every distance, number of switches and position.

    \b
    Example: client_harness curves runs/0001 --svg distance.svg
    """
    from client_harness import drawing
    from client_harness.report import groups_of
    from client_harness.results import Results

    axis = by.value
    drawn, units = _drawn(groups_of([Results.open(home) for home in runs]), by)
    if svg is not None:
        svg.write_text(drawing.as_svg(drawn, axis, units), encoding="utf-8")
    if json:
        _print.as_json(drawing.as_data(drawn, axis))
        return
    for line in drawing.as_lines(drawn, axis, units):
        print(line)
    if svg is not None:
        print(f"Picture: {svg}")


def _drawn(groups: dict[str, list[Trial]], by: Axis) -> tuple[Mapping[str, Sequence[Point]], str]:
    """Return the curves of instances, or else of tasks, and which of them they are."""
    from client_harness.haystack import curves as of_instances
    from client_harness.haystack.figures import of_instances as instances_in
    from client_harness.wild import curves as of_tasks

    trials = list(itertools.chain.from_iterable(groups.values()))
    if by is Axis.distractors or (by is Axis.distance and instances_in(trials)):
        instance_axis: of_instances.Axis = "distance" if by is Axis.distance else "distractors"
        return of_instances.curves(groups, instance_axis), of_instances.UNITS
    for axis in get_args(of_tasks.Axis):
        if axis == by.value:
            return of_tasks.curves(groups, axis), of_tasks.UNITS
    raise AssertionError(by)


def list_instances(*, sizes: bool, json: bool, folder: Path | None = None) -> None:
    """Print the instances (or those of a folder) with their counts, or how large they are."""
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
    entries = listing.entries(folder)
    counts = listing.counts(entries)
    if json:
        _print.as_json({"counts": counts, "instances": entries})
        return
    _print.columns([[entry["name"], entry["about"]] for entry in entries])
    for part, counted in counts.items():
        print(f"{part}: " + ", ".join(f"{name} {count}" for name, count in counted.items()))
