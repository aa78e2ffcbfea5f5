"""What a world costs: copies at one, two and five times the size, and faulted trials.

A copy is taken of a world that an episode has written to, written to once more, and dropped. The
baseline is the same world in one piece, in which a copy copies everything. Times are of the CPU.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable

import anyio

from benchmarks.timing import Row, ms
from benchmarks.trials import trial
from scenarios.load import load
from scenarios.script import Step
from scenarios.worlds import build
from servers.kit import database
from servers.kit.service import all_tables, categories_of, services, tables_of
from servers.kit.store import AGENT, World
from servers.kit.tables import Table
from servers.kit.values import parse_time

WORLD = "maya"
SIZES = (1, 2, 5)
CATEGORY = "email"
SCENARIO = "recovery/silent_no_op/venmo_pay_dropped"


async def measure() -> list[Row]:
    """Return the rows for copies and for faulted trials."""
    rows = []
    for size in SIZES:
        image = multiplied(build.image(WORLD), all_tables(), size)
        rows.append(_copies(image, (CATEGORY,), size, "≤ 1 ms"))
        rows.append(_copies(image, categories_of(services()), size, "≤ 5 ms"))
        rows.append(_first(image, size))
    return [*rows, await _trials()]


def multiplied(image: bytes, tables: dict[str, Table], times: int) -> bytes:
    """Return a world with each row there several times, under other keys, and its log likewise."""
    world = database.from_image(image)
    numbers = dict(world.execute("SELECT name, id FROM _tables"))
    world.execute("BEGIN")
    for name, table in tables.items():
        rest = "".join(f",{column}" for column in table.columns if column != table.key)
        (most,) = world.execute(f"SELECT max({table.key}) FROM {name}").fetchone()
        for again in range(1, times):
            key = f"{table.key}||'~{again}'"
            old = f"{table.key} NOT LIKE '%~%'"
            logged = f"pk||'~{again}'"
            if isinstance(most, int):
                key = f"{table.key}+{again * most}"
                old = f"{table.key}<={most}"
                logged = f"pk+{again * most}"
            world.execute(f"INSERT INTO {name} SELECT {key}{rest} FROM {name} WHERE {old}")
            world.execute(
                "INSERT INTO _log(at, cause, tbl, pk, old, new) "
                f"SELECT at, cause, tbl, {logged}, old, new FROM _log "
                f"WHERE tbl=? AND seq<=(SELECT max(seq)/{again} FROM _log)",
                (numbers[name],),
            )
    world.execute("COMMIT")
    return world.serialize()


def _written(world: World, tables: Iterable[str]) -> None:
    """Change one row of each of some tables."""
    for table in tables:
        spec = world.tables[table]
        row = world.rows(table, limit=1)[0]
        texts = [name for name, (kind, _) in spec.columns.items() if kind == "str"]
        column = next(name for name in texts if name != spec.key)
        world.stamp(parse_time(build.person(WORLD)["start"]), AGENT)
        world.update(table, row[spec.key], **{column: f"{row[column]}."})
        world.commit()


def _largest(world: World, categories: Iterable[str]) -> list[str]:
    """Return the largest table of each category that calls can change."""
    largest = []
    for category in categories:
        counts = {}
        for name, table in tables_of([category]).items():
            texts = [kind for kind, _ in table.columns.values() if kind == "str"]
            if not table.catalogue and len(texts) > 1:
                counts[name] = world.sql(f"SELECT count(*) FROM {name}")[0][0]
        # The clock and the weather have nothing of the kind.
        if any(counts.values()):
            largest.append(max(counts, key=counts.__getitem__))
    return largest


def _copies(image: bytes, categories: tuple[str, ...], size: int, aim: str) -> Row:
    halves = World.open(image, all_tables()).only(tables_of(categories))
    tables = _largest(halves, categories)
    piece = World(halves.tables, connection=database.from_image(halves.image()))
    for world in (halves, piece):
        _written(world, tables)

    times: dict[World, list[float]] = {halves: [], piece: []}
    for number in range(13):
        for world in (halves, piece) if number % 2 else (piece, halves):
            begun = time.process_time()
            copy = world.scratch()
            _written(copy, tables[:1])
            copy.close()
            times[world].append(time.process_time() - begun)
    cost = statistics.median(times[halves][2:])
    baseline = statistics.median(times[piece][2:])
    what = categories[0] if len(categories) == 1 else "all services"
    return Row(
        f"a copy, {what}, {len(tables)} large tables written to, {size} × the rows",
        ms(cost),
        f"in one piece {ms(baseline)}",
        f"{cost / baseline:.3f}",
        aim,
    )


def _first(image: bytes, size: int) -> Row:
    """Measure first writes, for which no private half waits, against the first of its process."""
    times = []
    worlds = []
    shared = World.open(image, all_tables()).only(tables_of([CATEGORY]))
    tables = _largest(shared, [CATEGORY])
    for _ in range(12):
        world = shared.share()
        begun = time.process_time()
        _written(world, tables)
        times.append(time.process_time() - begun)
        worlds.append(world)
    first = statistics.median(times[1:])
    return Row(
        f"the first write of one more open episode to its mailbox, {size} × the rows",
        ms(first),
        f"first of its process {ms(times[0])}",
        f"{first / times[0]:.2f}",
        "≤ 1 ms",
    )


async def _trials() -> Row:
    """Compare a faulted trial with a clean one in which the agent makes the very same calls."""
    scenario = load(SCENARIO)
    balance = [Step.model_validate({"call": "venmo.get_balance"})]
    longest = await trial(scenario, [*balance * 5, *scenario.scripts.oracle], faulted=True)
    made = [{"call": f"{a.service}.{a.tool}", "args": a.args} for a in longest.attempts]
    calls = [Step.model_validate(call) for call in made]
    times: dict[bool, list[float]] = {False: [], True: []}
    for number in range(300):
        for faulted in (True, False) if number % 2 else (False, True):
            begun = time.process_time()
            record = await trial(scenario, calls, faulted=faulted)
            times[faulted].append(time.process_time() - begun)
            assert len(record.attempts) == len(calls)
    cost = {arm: statistics.median(spent[50:]) for arm, spent in times.items()}
    return Row(
        f"a trial of {len(calls)} calls, with a dropped payment and two other worlds",
        ms(cost[True]),
        f"clean {ms(cost[False])}",
        f"{cost[True] / cost[False]:.2f}",
        "≤ 1.15",
    )


if __name__ == "__main__":
    for row in anyio.run(measure):
        print(*row, sep=" | ")
