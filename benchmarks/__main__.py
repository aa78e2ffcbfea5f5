"""Runs every benchmark and prints a table; `texture` prints what the worlds' texts are like.

Machines are noisy: trust the ratios, which come from interleaved rounds of one run.
"""

from __future__ import annotations

import json
import sys

import anyio

from benchmarks import (
    calls,
    days,
    faults,
    histories,
    hosting,
    judging,
    listing,
    lists,
    running,
    starts,
    texture,
    trials,
    worlds,
)


def main() -> None:
    """Run the benchmarks and print a table, or one JSON object with `--json`."""
    if "texture" in sys.argv:
        texture.main()
        return
    rows = [
        *anyio.run(calls.measure),
        *anyio.run(lists.measure),
        *anyio.run(faults.measure),
        *anyio.run(trials.measure),
        *anyio.run(worlds.measure),
        *anyio.run(days.measure),
        *anyio.run(judging.measure),
        *anyio.run(listing.measure),
        *starts.measure(),
        *hosting.measure(),
        *histories.measure(),
        *running.measure(),
    ]
    if "--json" in sys.argv:
        print(json.dumps([r._asdict() for r in rows]))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("what", "measured", "baseline", "ratio", "aim")
    for row in rows:
        table.add_row(row.what, row.measured, row.baseline, row.ratio, row.aim)
    Console(width=150).print(table)


main()
