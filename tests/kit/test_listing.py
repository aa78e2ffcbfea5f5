"""Lists that read their page: nothing is shown twice or left out, and days are local."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from servers.kit.errors import ServiceError
from servers.kit.listing import Listing, Preceded
from servers.kit.session import as_text
from servers.kit.store import World
from servers.kit.tables import Table
from servers.kit.values import page
from tests.support import call_ok, new_session, pages

TABLES = {"walks": Table("id:str dog:str/matter at:str/stamp", index=("at",))}


def walks(count: int = 25) -> World:
    """Return a world of walks, of which each three begin at the same moment."""
    world = World.empty(TABLES)
    for number in range(count):
        moment = f"2026-03-{number // 3 + 1:02d}T06:30:00Z"
        dog = "Fig" if number % 2 else "Olive"
        world.insert("walks", {"id": f"w{number}", "dog": dog, "at": moment})
    world.commit()
    return world


def shown(listing: Listing | Preceded, limit: int) -> list[str]:
    """Return the ids on all pages of a list."""
    ids: list[str] = []
    cursor = None
    while True:
        reply = page(listing, "walks", limit, cursor, lambda row: row["id"])
        assert len(reply["walks"]) <= limit
        ids += reply["walks"]
        cursor = reply["next_cursor"]
        if cursor is None:
            return ids


@pytest.mark.parametrize("limit", [1, 4, 25, 100])
def test_all_pages_together_show_each_row_once_in_order(limit: int) -> None:
    listing = Listing(walks(), "walks", by="at")
    newest = [f"w{number}" for number in reversed(range(25))]
    assert shown(listing, limit) == newest
    oldest = Listing(walks(), "walks", by="at", newest=False)
    assert shown(oldest, limit) == newest[::-1]
    figs = listing.keep(lambda row: row["dog"] == "Fig")
    assert shown(figs, limit) == shown(listing.only("dog=?", "Fig"), limit)


@pytest.mark.parametrize("limit", [1, 4, 100])
def test_ties_can_be_sorted_by_a_column(limit: int) -> None:
    by_id = Listing(walks(), "walks", by="at", tied="id")
    rows = sorted(by_id.all(), key=lambda row: row["id"])
    rows.sort(key=lambda row: row["at"], reverse=True)
    assert shown(by_id, limit) == [row["id"] for row in rows]
    assert shown(by_id, limit)[1:4] == ["w21", "w22", "w23"]


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 25, 100])
def test_rows_that_are_in_no_table_yet_come_first(limit: int) -> None:
    listing = Listing(walks(4), "walks", by="at")
    coming = [{"id": "now-2"}, {"id": "now-1"}]
    assert shown(Preceded(coming, listing), limit) == ["now-2", "now-1", *shown(listing, limit)]
    assert shown(Preceded([], listing), limit) == shown(listing, limit)
    assert shown(Preceded(coming, listing.only("dog='Rex'")), limit) == ["now-2", "now-1"]
    with pytest.raises(ServiceError):
        Preceded(coming[:1], listing).read(1, Preceded(coming, listing).read(2, None)[1])


def test_a_row_added_before_a_page_shifts_nothing() -> None:
    world = walks()
    listing = Listing(world, "walks", by="at")
    first, cursor = listing.read(10, None)
    world.insert("walks", {"id": "new", "dog": "Fig", "at": "2026-04-01T06:30:00Z"})
    second, _ = listing.read(10, cursor)
    assert [row["id"] for row in first + second] == [f"w{n}" for n in range(24, 4, -1)]


@pytest.mark.parametrize("cursor", ["", "w3", "dzk5", "ééé", "!!!!", "/" * 60])
def test_a_cursor_of_another_list_is_refused(cursor: str) -> None:
    with pytest.raises(ServiceError) as refused:
        Listing(walks(), "walks", by="at").read(5, cursor)
    assert refused.value.code == "INVALID_CURSOR"
    _, other = Listing(walks(), "walks", by="at").only("dog='Fig'").read(1, None)
    with pytest.raises(ServiceError):
        Listing(walks(), "walks", by="at").only("dog='Olive'").read(1, other)


def test_days_are_those_of_the_place() -> None:
    listing = Listing(walks(), "walks", by="at")
    # Half past six in the morning in UTC is the evening before in Portland.
    here = listing.days("2026-03-01", "2026-03-02", ZoneInfo("America/Los_Angeles"))
    assert {row["at"][:10] for row in here.all()} == {"2026-03-02", "2026-03-03"}
    there = listing.days("2026-03-01", "2026-03-02", "Europe/London")
    assert {row["at"][:10] for row in there.all()} == {"2026-03-01", "2026-03-02"}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("app", "tool", "days"),
    [
        ("uber", "list_rides", ("from_date", "to_date")),
        ("lyft", "list_trip_history", ("since", "until")),
    ],
)
async def test_last_months_rides_cost_little(app: str, tool: str, days: tuple[str, str]) -> None:
    session = new_session(app)
    month = {days[0]: "2026-02-01", days[1]: "2026-02-28"}
    rides = await pages(session, app, tool, "rides", **month)
    assert rides and len({ride["ride_id"] for ride in rides}) == len(rides)
    reply = await session.call(app, tool, month | {"limit": 100})
    assert len(as_text(reply).encode()) / 4 <= 4_000
    show = "get_ride" if app == "uber" else "get_trip"
    detail = await call_ok(session, app, show, ride_id=rides[0]["ride_id"])
    assert detail["fare_total"] == rides[0]["fare_total"] and detail["driver"]
