"""An episode goes the same way in every kind of world: fresh, used before, or kept in a file.

Faults go back in time and keep other worlds, so what must be equal is the whole trace: replies,
effects and evidence.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from benchmarks.worlds import multiplied
from fault_profiles.model import parse
from scenarios.worlds import build
from servers.kit.control import Control, make_id
from servers.kit.events import Attempt
from servers.kit.evidence import Watch
from servers.kit.service import all_tables, tool
from servers.kit.session import Session
from servers.kit.store import AGENT, World
from servers.kit.values import parse_time

JORDAN = make_id("vct", "maya", "jordan_park")
SERVICES = ("venmo", "zelle", "gmail")
FAULTS: list[dict[str, Any]] = [
    {"dropped_write": {"name": "dropped", "on": "venmo.send_money", "first": 1}},
    {"stale_read": {"name": "stale", "on": "venmo.list_transactions", "age": 2_592_000}},
    {"revert_after_write": {"name": "taken", "on": "gmail.*", "first": 1, "seconds": 20}},
    {"duplicate_delivery": {"name": "twice", "on": "zelle.*", "first": 1}},
]
PAY = ("venmo.send_money", {"contact_id": JORDAN, "amount": 27.5, "note": "day pass"})
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("venmo.list_transactions", {}),
    PAY,
    ("venmo.get_balance", {}),
    PAY,
    ("venmo.list_transactions", {"limit": 5}),
    ("zelle.send_transfer", tool("zelle.send_transfer")[1].example),
    ("zelle.list_transfers", {}),
    ("gmail.send_email", {"to": ["a@b.example"], "subject": "Day pass", "body": "Paid."}),
    ("gmail.list_emails", {"max_results": 5}),
    ("gmail.search_emails", {"query": "day pass"}),
    ("gmail.list_emails", {"max_results": 5}),
]


def play(world: World) -> tuple[list[str], int]:
    """Return the trace of an episode and the number of obligations that it settled."""
    start = parse_time(build.person("maya")["start"])
    watches = [
        Watch("paid", lambda call: call.name == "venmo.send_money"),
        Watch("dropped", lambda call: call.name == "venmo.send_money", fault="dropped"),
        Watch("mailed", lambda call: call.name == "gmail.send_email"),
    ]
    faults = [parse(fault) for fault in FAULTS]
    session = Session(SERVICES, world, Control(start), faults=faults, watches=watches)

    async def run() -> None:
        for name, args in CALLS:
            await session.call(*name.split("."), args)
            session.pass_time(60)

    anyio.run(run)
    assert session.bugs == []
    attempts = [event for event in session.trace() if isinstance(event, Attempt)]
    settled = sum(len(attempt.evidence) for attempt in attempts)
    lines = session.control.trace()
    world.close()
    return lines, settled


def test_fresh_used_and_kept_worlds_play_alike(tmp_path: Path) -> None:
    image = build.image("maya")
    fresh, settled = play(World.open(image, all_tables()).share())
    assert settled >= 2
    fired = "".join(fresh)
    for fault in FAULTS:
        ((_, fields),) = fault.items()
        assert f'"fault":"{fields["name"]}"' in fired.replace(": ", ":")
    shared = World.open(image, all_tables())
    other = shared.share()
    other.stamp(parse_time(build.person("maya")["start"]), AGENT)
    for table in ("gmail_emails", "venmo_contacts", "payments_entries"):
        for row in other.rows(table, limit=30):
            other.delete(table, row["id"])
    other.commit()
    other.close()
    for _ in range(3):
        assert play(shared.share())[0] == fresh
    path = tmp_path / "world.db"
    path.write_bytes(image)
    assert play(World.file(path, all_tables()))[0] == fresh


@pytest.mark.parametrize("times", [2, 5])
def test_what_a_copy_holds_does_not_grow_with_the_world(times: int) -> None:
    built = build.image("maya")
    grown = {
        name: all_tables()[name] for name in ("gmail_emails", "amazon_products", "yelp_places")
    }
    pages = []
    sizes = []
    for image in (built, multiplied(built, grown, times)):
        world = World.open(image, all_tables()).share()
        world.stamp(0, AGENT)
        world.update("venmo_contacts", JORDAN, name="Somebody Else")
        world.commit()
        copy = world.scratch()
        pages += [world.sql("PRAGMA main.page_count"), copy.sql("PRAGMA main.page_count")]
        sizes.append(len(copy.rows("gmail_emails")))
    assert sizes[1] == times * sizes[0]
    assert pages == [pages[0]] * 4
