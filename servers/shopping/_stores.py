"""Stores: their places, their shelves, and their windows for pickup and delivery."""

from __future__ import annotations

from datetime import time, timedelta
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from servers.kit.control import make_id
from servers.kit.geo import miles
from servers.kit.noise import share
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import iso, parse_time
from servers.kit.zones import local, local_moment
from servers.shopping import _catalogue as catalogue
from servers.shopping._rules import HOUR, Shop

# `opens` and `closes` are local hours, the same every day. `closed_on` is the day on which a store
# closed for good.
STORES = Table(
    "id:str name:str street:str city:str state:str zip:str lat:float lng:float phone:str "
    "timezone:str opens:int closes:int services:list closed_on:str?",
    catalogue=True,
)
# Exceptions to the rules for a product in a store: its own count, its own price.
SHELVES = Table(
    "id:str store_id:str product_id:str quantity:int? price:int? note:str?",
    index=("product_id",),
    catalogue=True,
)
AISLES = {
    "Electronics": "E",
    "Home": "H",
    "Kitchen": "K",
    "Grocery": "G",
    "Toys": "T",
    "Sports & Outdoors": "S",
    "Clothing": "C",
    "Beauty & Health": "B",
    "Pets": "P",
    "Tools & Hardware": "D",
    "Office": "F",
    "Baby": "N",
    "Garden": "R",
}
"""The letter of a department's aisles."""
CAPACITY = 6
"""The most orders that a window takes."""

ZipFilter = Annotated[
    str, Field(pattern=r"^[0-9]{5}$", description="ZIP code to search around, e.g. 97214.")
]
CityFilter = Annotated[
    str,
    Field(
        min_length=2,
        max_length=80,
        description="City to search around; also pass the state if several cities share the name.",
    ),
]
StateName = Annotated[
    str,
    Field(pattern=r"^[A-Z]{2}$", description="Two-letter code of the city's state, e.g. OR."),
]
Radius = Annotated[int, Field(ge=1, le=200, description="Search radius in miles.")]
AvailableOnly = Annotated[
    bool, Field(description="Whether to return only windows that still take orders.")
]
Kind = Literal["pickup", "delivery"]


# -- finding stores --------------------------------------------------------------------------------
def near(
    svc: Service, shop: Shop, zip_code: str | None, city: str | None, state: str | None, radius: int
) -> list[dict[str, Any]]:
    """Return stores within a radius as JSON, nearest first."""
    lat, lng = _origin(svc, zip_code, city, state)
    nearby = []
    for row in svc.db.rows(f"{shop.tables}_stores"):
        distance = miles(lat, lng, row["lat"], row["lng"])
        if distance <= radius:
            nearby.append(store_json(svc, row) | {"distance_miles": distance})
    return sorted(nearby, key=lambda s: (s["distance_miles"], s["store_id"]))


def _origin(
    svc: Service, zip_code: str | None, city: str | None, state: str | None
) -> tuple[float, float]:
    """Return (latitude, longitude) of a ZIP code or city, or refuse."""
    if zip_code is None and city is None:
        svc.fail(
            "LOCATION_REQUIRED",
            "Neither a ZIP code nor a city was given.",
            "Pass zip_code, or city and state.",
        )
    if zip_code is not None:
        areas = svc.db.rows("shopping_areas", "id=?", zip_code)
        if not areas:
            # The first three digits of a ZIP code name a region: any area in it is close enough.
            region = zip_code[:3]
            areas = svc.db.rows("shopping_areas", "substr(id,1,3)=?", region, order="id", limit=1)
    else:
        where = "lower(city)=lower(?) AND (?2 IS NULL OR state=?2)"
        areas = svc.db.rows("shopping_areas", where, city, state, order="id")
    if not areas:
        place = zip_code or ", ".join(x for x in (city, state) if x)
        svc.fail(
            "LOCATION_NOT_FOUND",
            f"The location {place!r} was not found.",
            "Try a ZIP code or a larger city nearby.",
            location=place,
        )
    states = sorted({a["state"] for a in areas})
    if len(states) > 1:
        svc.fail(
            "AMBIGUOUS_LOCATION",
            f"There is a city named {city!r} in {' and '.join(states)}.",
            "Pass the state as well.",
            states=states,
        )
    lat = sum(area["lat"] for area in areas) / len(areas)
    lng = sum(area["lng"] for area in areas) / len(areas)
    return lat, lng


def store_json(svc: Service, row: Row) -> Json:
    """Return a store as JSON; hours are local."""
    columns = ("name", "street", "city", "state", "zip", "lat", "lng", "phone")
    shown = {"store_id": row["id"]} | {column: row[column] for column in columns}
    hours = {
        "opens": f"{row['opens']:02d}:00",
        "closes": f"{row['closes']:02d}:00",
        "timezone": row["timezone"],
    }
    now = local(svc.now, ZoneInfo(row["timezone"]))
    is_closed = closed(svc, row)
    is_open = not is_closed and row["opens"] <= now.hour < row["closes"]
    return shown | {
        "hours": hours,
        "is_open": is_open,
        "permanently_closed": is_closed,
        "services": row["services"],
    }


def closed(svc: Service, row: Row) -> bool:
    """Whether a store has closed permanently."""
    return row["closed_on"] is not None and row["closed_on"] <= svc.time[:10]


def find_store(svc: Service, shop: Shop, store_id: str) -> Row:
    """Return a store, or refuse."""
    row = svc.db.get(f"{shop.tables}_stores", store_id)
    if row is None:
        message = f"{shop.title} has no store with the ID {store_id!r}."
        svc.fail(
            "STORE_NOT_FOUND", message, f"Find the store_id with {shop.stores}.", store_id=store_id
        )
    return row


def open_store(svc: Service, shop: Shop, store_id: str) -> dict[str, Any]:
    """Return a store that has not closed permanently, or refuse."""
    row = find_store(svc, shop, store_id)
    if closed(svc, row):
        message = f"{row['name']} closed permanently on {row['closed_on']}."
        svc.fail(
            "STORE_CLOSED", message, f"Find another store with {shop.stores}.", store_id=store_id
        )
    return row


# -- on the shelf ----------------------------------------------------------------------------------
def shelf(svc: Service, shop: Shop, product: Row, store: Row) -> Json:
    """Return `{quantity, price, aisle, section, department}` of a product in a store.

    `price` is None where it is the online price.
    """
    row = svc.db.get(f"{shop.tables}_shelves", f"{store['id']}:{product['id']}")
    week = catalogue.week_of(svc.now)
    count = row["quantity"] if row else None
    if count is None:
        count = _weekly_count(share("shelf", store["id"], product["id"], week))
    counted_at = max(iso(catalogue.week_start(week)), product["counted_at"])
    ordered = catalogue.units_ordered(
        svc, shop, product["id"], counted_at, "o.store_id=?", store["id"]
    )
    unavailable = (
        product["online_only"] or closed(svc, store) or catalogue.discontinued(svc, product)
    )
    department = catalogue.item_of(svc, product)["department"]
    number = 1 + int(share("aisle", store["id"], product["item_id"]) * 38)
    return {
        "quantity": 0 if unavailable else max(count - ordered, 0),
        "price": row["price"] if row else None,
        "aisle": f"{AISLES.get(department, 'M')}{number}",
        "section": 1 + number % 7,
        "department": department,
    }


def _weekly_count(drawn: float) -> int:
    """Return the units on a shelf for a draw between 0 and 1: none, a few, or plenty."""
    if drawn < 0.1:
        return 0
    if drawn < 0.2:
        return 1 + int(drawn * 10)
    return 3 + int(drawn * 24)


# -- windows ---------------------------------------------------------------------------------------
def windows(svc: Service, shop: Shop, store: Row, kind: Kind) -> list[dict[str, Any]]:
    """Return the windows of today and the next two days that begin in two hours or later.

    A window lasts one hour for pickup and two for delivery. Each has `id`, `start` and `end` (epoch
    seconds), `left` (orders it still takes), and `date`, `start_time` and `end_time` local to the
    store.
    """
    zone = ZoneInfo(store["timezone"])
    today = local(svc.now, zone).date()
    hours = 1 if kind == "pickup" else 2
    taken = _taken(svc, shop, store["id"], kind)
    first = max(store["opens"], 8)
    last = min(store["closes"], 22) - hours
    upcoming = []
    for ahead in range(3):
        day = today + timedelta(days=ahead)
        for hour in range(first, last + 1, hours):
            start = local_moment(day, time(hour), zone)
            if start < svc.now + 2 * HOUR:
                continue
            room = int(share("window", store["id"], kind, start) * (CAPACITY + 1))
            window = {
                "id": window_id(shop, store["id"], kind, start),
                "start": start,
                "end": start + hours * HOUR,
                "left": max(room - taken.get(iso(start), 0), 0),
                "date": day.isoformat(),
                "start_time": f"{hour:02d}:00",
                "end_time": f"{hour + hours:02d}:00",
            }
            upcoming.append(window)
    return upcoming


def window_id(shop: Shop, store_id: str, kind: Kind, start: int) -> str:
    """Return the id of the window of a store that begins at a moment."""
    return make_id(shop.ids + "s", store_id, kind, start)


def _taken(svc: Service, shop: Shop, store_id: str, kind: Kind) -> dict[str, int]:
    """Return how many orders are placed for each future window, by its ISO start."""
    rows = svc.db.sql(
        f"SELECT slot_at, count(*) FROM {shop.tables}_orders"
        " WHERE store_id=? AND slot_at>? AND canceled_at IS NULL"
        " AND (fulfillment IN ('delivery','same_day_delivery'))=? GROUP BY slot_at",
        store_id,
        svc.time,
        kind == "delivery",
    )
    return dict(rows)


def window_json(window: dict[str, Any], name: str) -> Json:
    """Return a window as JSON, with its id under `name`; times are local to the store."""
    return {
        name: window["id"],
        "date": window["date"],
        "start_time": window["start_time"],
        "end_time": window["end_time"],
        "starts_at": iso(window["start"]),
        "available": window["left"] > 0,
        "orders_left": window["left"],
    }


def find_window(
    svc: Service, shop: Shop, store: Row, kind: Kind, window_id: str, tool: str
) -> dict[str, Any]:
    """Return a window that still takes orders, or refuse."""
    upcoming = windows(svc, shop, store, kind)
    window = next((w for w in upcoming if w["id"] == window_id), None)
    if window is None:
        message = f"{store['name']} has no upcoming time slot with the ID {window_id!r}."
        svc.fail(
            "SLOT_NOT_FOUND",
            message,
            f"Choose a time slot from {tool} for that store.",
            store_id=store["id"],
        )
    if window["left"] < 1:
        message = f"The time slot on {window['date']} at {window['start_time']} is full."
        svc.fail(
            "SLOT_UNAVAILABLE",
            message,
            f"Choose an available time slot from {tool}.",
            store_id=store["id"],
        )
    return window


def next_opening(svc: Service, store: Row, after: int, hours: int = 0) -> int:
    """Return the first moment from `after` on at which a store is open.

    The store stays open for at least `hours` from then, unless it only opens at that moment.
    """
    zone = ZoneInfo(store["timezone"])
    when = local(after, zone)
    closes = local_moment(when.date(), time(store["closes"]), zone)
    if store["opens"] <= when.hour < store["closes"] and after + hours * HOUR <= closes:
        return after
    day = when.date()
    if when.hour >= store["opens"]:
        day += timedelta(days=1)
    return local_moment(day, time(store["opens"]), zone)


def slot_json(svc: Service, shop: Shop, row: Row) -> Json | None:
    """Return an order's window in local time, or None if it has none."""
    if row["slot_at"] is None or row["store_id"] is None:
        return None
    zone = ZoneInfo(find_store(svc, shop, row["store_id"])["timezone"])
    when = local(parse_time(row["slot_at"]), zone)
    return {
        "date": when.date().isoformat(),
        "start_time": f"{when:%H:%M}",
        "starts_at": row["slot_at"],
    }
