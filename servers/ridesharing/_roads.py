"""The map that both providers drive on: served cities, known places, routes, and what demand does to a price.

Nothing here is drawn: a route, a surge or a waiting time is a function of places and of the five minutes in which it is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Annotated, Any, NamedTuple
from zoneinfo import ZoneInfo

from pydantic import Field

from servers.kit.geo import miles
from servers.kit.noise import share, smooth
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.values import round_cents
from servers.kit.zones import local

SHARED = {
    # `market` is per cent of the usual rates.
    "ridesharing_cities": Table(
        "id:str name:str state:str lat:float lng:float timezone:str market:int"
    ),
    "ridesharing_places": Table(
        "id:str name:str kind:str address:str city:str state:str lat:float lng:float",
        search=("name", "kind", "address", "city"),
    ),
}
SLOT = 300
"""Seconds for which prices and waiting times stand still."""
HONOURED = 3
"""Slots, the quoted one included, in which a quote is honoured."""
REACH = 45.0
LONGEST = 120.0
"""Miles from a city's middle that it serves, and miles that a ride may be long."""

Address = Annotated[
    str,
    Field(
        min_length=2,
        max_length=160,
        description="A saved place's label, a place_id, a name or address as the place search knows it.",
    ),
]


class Spot(NamedTuple):
    """A point with what it is called."""

    address: str
    lat: float
    lng: float


class Route(NamedTuple):
    """How far and how long, over all stops; `legs` are minutes up to each stop and the end, `rate` per cent of the city's fares then."""

    miles: float
    minutes: int
    legs: tuple[int, ...]
    rate: int


@dataclass(frozen=True)
class Mode:
    """A kind of ride: its rates in cents, seats, what it asks of drivers, how long it waits, and how often one is near."""

    id: str
    name: str
    base: int
    per_mile: int
    per_minute: int
    minimum: int
    booking: int
    capacity: int
    needs: str = ""
    wait: int = 0
    near: float = 1.0


# -- places ----------------------------------------------------------------------------------------
def city_at(svc: Service, lat: float, lng: float) -> dict[str, Any]:
    """Return the served city around a point, or refuse."""
    near = min(
        svc.db.rows("ridesharing_cities"),
        key=lambda c: (miles(lat, lng, c["lat"], c["lng"]), c["id"]),
    )
    away = miles(lat, lng, near["lat"], near["lng"])
    if away > REACH:
        message = f"There is no service at {lat}, {lng}."
        hint = (
            f"Rides begin within {REACH:.0f} miles of a served city; check latitude and longitude."
        )
        svc.fail("OUTSIDE_SERVICE_AREA", message, hint, nearest=f"{near['name']}, {near['state']}")
    return near


def name_of(svc: Service, lat: float, lng: float) -> Spot:
    """Return the point with the address of the known place where it lies, or its coordinates."""
    edge = 0.0008
    where = "lat BETWEEN ? AND ? AND lng BETWEEN ? AND ?"
    found = svc.db.rows(
        "ridesharing_places", where, lat - edge, lat + edge, lng - edge, lng + edge, order="rowid"
    )
    found.sort(key=lambda p: miles(lat, lng, p["lat"], p["lng"]))
    return Spot(label(found[0]) if found else f"{lat:.5f}, {lng:.5f}", lat, lng)


def label(place: dict[str, Any]) -> str:
    """Return a place's name and address in one line."""
    return (
        place["address"]
        if place["address"].startswith(place["name"])
        else f"{place['name']}, {place['address']}"
    )


def resolve(svc: Service, saved: Sequence[dict[str, Any]], text: str, finder: str) -> Spot:
    """Return the one place that a text means: a saved label, a place_id, a name, an address or `lat, lng`; refuse no or several."""
    said = text.strip().casefold()
    mine = [s for s in saved if said in (s["label"].casefold(), s["address"].casefold())]
    if mine:
        return Spot(mine[0]["address"], mine[0]["lat"], mine[0]["lng"])
    point = re.fullmatch(r"(-?\d{1,2}(?:\.\d+)?)\s*,\s*(-?\d{1,3}(?:\.\d+)?)", said)
    if point and abs(float(point[1])) <= 90 and abs(float(point[2])) <= 180:
        return name_of(svc, float(point[1]), float(point[2]))
    exact = [
        p
        for p in places(svc, "")
        if said in (p["id"], p["name"].casefold(), p["address"].casefold(), label(p).casefold())
    ]
    found = exact or places(svc, text)
    if len(found) == 1:
        return Spot(label(found[0]), found[0]["lat"], found[0]["lng"])
    if not found:
        hint = f"Look the place up with {finder} and pass its address or place_id."
        svc.fail("ADDRESS_NOT_FOUND", f"No place fits {text!r}.", hint, address=text)
    candidates = [{"place_id": p["id"], "address": label(p)} for p in found[:5]]
    message = f"{len(found)} places fit {text!r}."
    hint = f"Pass the place_id of one of them; {finder} shows all."
    svc.fail("AMBIGUOUS_ADDRESS", message, hint, address=text, candidates=candidates)


def places(svc: Service, query: str) -> list[dict[str, Any]]:
    """Return known places that hold all words, best first; all of them where the text is empty."""
    return (
        svc.db.search("ridesharing_places", query)
        if query.strip()
        else svc.db.rows("ridesharing_places", order="rowid")
    )


def place_json(row: dict[str, Any]) -> dict[str, Any]:
    """Return a place for the agent."""
    return {"place_id": row["id"]} | {k: row[k] for k in ("name", "kind", "address", "lat", "lng")}


# -- routes and prices -----------------------------------------------------------------------------
def zone(city: dict[str, Any]) -> ZoneInfo:
    """Return a city's time zone."""
    return ZoneInfo(city["timezone"])


def rush(city: dict[str, Any], at: int) -> float:
    """Return how busy the streets are, 0 to 1, from the local hour and day of the week."""
    moment = local(at, zone(city))
    hour = moment.hour + moment.minute / 60
    peaks = ((8.0, 1.5, 0.8), (17.5, 2.0, 1.0)) if moment.weekday() < 5 else ((14.0, 4.0, 0.4),)
    if moment.weekday() in (4, 5):
        peaks = (*peaks, (23.0, 2.5, 0.9))
    return max(0.0, *(high * (1 - abs(hour - top) / wide) for top, wide, high in peaks))


def route(city: dict[str, Any], points: Sequence[Spot], at: int) -> Route:
    """Return the way through all points as driven in the slot of a moment; each stop costs two minutes."""
    slowed = 1 + 0.6 * rush(city, at // SLOT * SLOT)
    gone = 0.0
    total = 0.0
    legs = []
    for a, b in pairwise(points):
        far = miles(a.lat, a.lng, b.lat, b.lng) * 1.3
        speed = 20 if far < 4 else (28 if far < 15 else 45)
        total += far
        gone += far / speed * 60 * slowed + 2
        legs.append(max(1, round(gone)))
    rate = 95 + int(11 * share("rate", city["name"], city["state"], at // SLOT))
    return Route(round(total, 1), legs[-1], tuple(legs), rate)


def reachable(svc: Service, points: Sequence[Spot]) -> None:
    """Refuse a ride that goes nowhere or too far."""
    for a, b in pairwise(points):
        if miles(a.lat, a.lng, b.lat, b.lng) < 0.05:
            message = "Two points of the ride in a row are the same place."
            svc.fail("SAME_LOCATION", message, "Give places at least 0.05 miles apart.")
    far = sum(miles(a.lat, a.lng, b.lat, b.lng) for a, b in pairwise(points))
    if far > LONGEST:
        message = f"The ride would be longer than {LONGEST:.0f} miles."
        hint = "Check latitude and longitude, or choose a nearer place."
        svc.fail("DISTANCE_EXCEEDED", message, hint, distance_miles=far)


def busy(provider: str, city: dict[str, Any], at: int) -> int:
    """Return per cent on top of the fare for demand, in steps of 5.

    Demand changes every quarter of an hour; in the first five minutes of one the lower of the two holds, so that who asks at once pays no
    more than was shown.
    """
    return min(
        _demand(provider, city, at // 900),
        _demand(provider, city, (at // SLOT * SLOT - SLOT) // 900),
    )


def _demand(provider: str, city: dict[str, Any], quarter: int) -> int:
    wave = smooth(f"demand {provider} {city['name']} {city['state']}", quarter * 900, 3 * 900)[0]
    return min(150, max(0, round((0.55 * rush(city, quarter * 900) + 0.5 * wave - 0.2) * 20) * 5))


def market(city: dict[str, Any]) -> Decimal:
    """Return how dear rides are in a city: 1 is usual."""
    return Decimal(city["market"]) / 100


def fare(mode: Mode, city: dict[str, Any], way: Route, percent: int) -> int:
    """Return the fare in cents, with demand on all but the booking fee."""
    rates = mode.base + mode.per_mile * Decimal(str(way.miles)) + mode.per_minute * way.minutes
    return (
        round_cents(
            max(Decimal(mode.minimum), rates) * market(city) * way.rate * (100 + percent) / 10_000
        )
        + mode.booking
    )


def wait(provider: str, mode: Mode, city: dict[str, Any], at: int) -> int:
    """Return the minutes until a driver would be there."""
    return (
        2
        + mode.wait
        + int(7 * share("wait", provider, mode.id, city["name"], city["state"], at // SLOT))
    )


def near(provider: str, mode: Mode, city: dict[str, Any], at: int) -> bool:
    """Return whether a driver for this mode is near in this quarter of an hour."""
    return share("near", provider, mode.id, city["name"], city["state"], at // 900) < mode.near
