"""Runs the benchmarks and prints a table.

Machines are noisy: trust the ratios, which come from interleaved rounds of one run.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import json

import anyio

from benchmarks.timing import Row

NAMES = (
    "calls",
    "lists",
    "faults",
    "trials",
    "worlds",
    "days",
    "judging",
    "listing",
    "starts",
    "hosting",
    "histories",
    "running",
)
TEXTURE = "texture"


def main() -> None:
    """Run the benchmarks that are named, or all, and print a table or JSON."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure speed, as ratios against named baselines.",
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"benchmarks to run, by default all: {', '.join(NAMES)}; "
        f"or {TEXTURE}, which prints what the worlds' texts are like",
    )
    parser.add_argument("--json", action="store_true", help="print a JSON list of rows")
    asked = parser.parse_args()
    unknown = sorted(set(asked.names) - {*NAMES, TEXTURE})
    if unknown:
        known = ", ".join((*NAMES, TEXTURE))
        parser.error(f"there is no benchmark {unknown[0]}; there are {known}")
    if TEXTURE in asked.names:
        if len(asked.names) > 1 or asked.json:
            parser.error(f"{TEXTURE} stands alone")
        importlib.import_module(f"benchmarks.{TEXTURE}").main()
        return
    rows: list[Row] = []
    for name in asked.names or NAMES:
        rows += _measured(name)
    if asked.json:
        print(json.dumps([row._asdict() for row in rows]))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("what", "measured", "baseline", "ratio", "aim")
    for row in rows:
        table.add_row(row.what, row.measured, row.baseline, row.ratio, row.aim)
    Console(width=150).print(table)


def _measured(name: str) -> list[Row]:
    measure = importlib.import_module(f"benchmarks.{name}").measure
    return anyio.run(measure) if inspect.iscoroutinefunction(measure) else measure()


main()
