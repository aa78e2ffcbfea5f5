"""Make mutants of all scenario files and print what became of them.

python -m tests.mutants --count 20000 --seed 1 --jobs 2
"""

from __future__ import annotations

import argparse
import sys

from tests.mutants.table import counted, flawed, silent, table


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--show", default="", help="print the mutants of this sort or fate")
    parser.add_argument("--no-check", action="store_true", help="judge the load alone")
    given = parser.parse_args()
    results = counted(given.count, given.seed, given.jobs, check=not given.no_check)
    for line in table(results):
        print(line)
    if given.show:
        for line in silent(results, given.show) + flawed(results, given.show):
            print(line)
    return 0 if not [r for r in results if r.what in ("silent", "crash", "slow")] else 1


if __name__ == "__main__":
    sys.exit(main())
