"""Runs every benchmark and prints a table.

Machines are noisy: trust the ratios, which come from interleaved rounds of one run.
"""

from __future__ import annotations

import json
import sys

import anyio

from benchmarks import calls, faults, hosting, judging, starts, trials


def main() -> None:
    """Run the benchmarks and print a table, or one JSON object with `--json`."""
    rows = [
        *anyio.run(calls.measure),
        *anyio.run(faults.measure),
        *anyio.run(trials.measure),
        *anyio.run(judging.measure),
        *starts.measure(),
        *hosting.measure(),
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
