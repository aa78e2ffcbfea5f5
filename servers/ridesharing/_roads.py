"""The map that Uber and Lyft share: cities, places, routes, and what demand does to prices.

Nothing here is random: a route, a surge or a waiting time is a function of the places and of the
five-minute slot in which it is requested.
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

from servers.kit import search, towns
from servers.kit.geo import miles
from servers.kit.noise import share, smooth
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import iso, round_cents
from servers.kit.zones import local

SHARED = {
    # `market` is the city's price level, in per cent of the usual rates. `storms` lists the spells
    # of foul weather as [from, until, how bad]: 1 is heavy rain or half a gale, 2 is a storm. They
    # are the weather of the weather services, whose tables an episode need not hold.
    "ridesharing_cities": Table(
        "id:str name:str state:str lat:float lng:float timezone:str market:int storms:list",
        catalogue=True,
    ),
    "ridesharing_places": Table(
        "id:str name:str kind:str address:str city:str state:str lat:float lng:float",
        search=("name", "kind", "address", "city", "state"),
        weights=(4, 3, 2, 1, 1),
        catalogue=True,
    ),
}
SLOT = 300
"""Seconds for which prices and waiting times stay the same."""
DEMAND_SPAN = 900
"""Seconds for which demand stays the same."""
HONOURED = 3
"""Slots, including the quoted one, in which a quote is honoured."""
STORM_FARE = (0, 20, 50)
"""Per cent that foul weather adds to demand, by how bad it is."""
STORM_WAIT = (0, 3, 7)
"""Minutes that foul weather adds to every waiting time, by how bad it is."""
REACH = 45.0
"""Miles from its centre within which a city is served."""
LONGEST = 120.0
"""Miles that a ride may be long."""

Address = Annotated[
    str,
    Field(
        min_length=2,
        max_length=160,
        description="Label of a saved place, a place_id, "
        "or a name or address that the place search knows.",
    ),
]


class Spot(NamedTuple):
    """A point and what it is called."""

    address: str
    lat: float
    lng: float


class Route(NamedTuple):
    """How far and how long a ride is, over all stops.

    `legs` are the minutes to each stop and to the end; `rate` is the per cent of the city's usual
    fares that are charged in that slot.
    """

    miles: float
    minutes: int
    legs: tuple[int, ...]
    rate: int


@dataclass(frozen=True)
class Mode:
    """A kind of ride: its rates in cents, its seats, and how easily a driver for it is found.

    `needs` is the skill that it asks of drivers, `wait` the minutes added to every waiting time,
    and `near` the chance that a driver is nearby.
    """

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
        message = f"Rides are not available at {lat}, {lng}."
        hint = (
            f"Rides start within {REACH:.0f} miles of a served city; check latitude and longitude."
        )
        svc.fail("OUTSIDE_SERVICE_AREA", message, hint, nearest=f"{near['name']}, {near['state']}")
    return near


def name_of(svc: Service, lat: float, lng: float) -> Spot:
    """Return the point with the address of the known place where it lies, or its coordinates."""
    edge = 0.0008
    nearby = svc.db.rows(
        "ridesharing_places",
        "lat BETWEEN ? AND ? AND lng BETWEEN ? AND ?",
        lat - edge,
        lat + edge,
        lng - edge,
        lng + edge,
        order="rowid",
    )
    nearby.sort(key=lambda p: miles(lat, lng, p["lat"], p["lng"]))
    address = label(nearby[0]) if nearby else f"{lat:.5f}, {lng:.5f}"
    return Spot(address, lat, lng)


def label(place: Row) -> str:
    """Return a place's name and address in one line."""
    if place["address"].startswith(place["name"]):
        return place["address"]
    return f"{place['name']}, {place['address']}"


def resolve(svc: Service, saved: Sequence[Row], text: str, finder: str) -> Spot:
    """Return the one place that a text refers to; refuse if no place or several places match.

    The text is the label of a saved place, a place_id, a name, an airport's code, an address or
    `lat, lng`.
    """
    wanted = text.strip().casefold()
    own = [s for s in saved if wanted in (s["label"].casefold(), s["address"].casefold())]
    if own:
        return Spot(own[0]["address"], own[0]["lat"], own[0]["lng"])
    point = re.fullmatch(r"(-?\d{1,2}(?:\.\d+)?)\s*,\s*(-?\d{1,3}(?:\.\d+)?)", wanted)
    if point and abs(float(point[1])) <= 90 and abs(float(point[2])) <= 180:
        return name_of(svc, float(point[1]), float(point[2]))
    known_as = towns.airports().get(wanted, wanted).casefold()
    exact = [p for p in places(svc, "") if known_as in _names(p)]
    fitting = exact or search.meant(svc.db, "ridesharing_places", text, order="name, id")
    if len(fitting) == 1:
        return Spot(label(fitting[0]), fitting[0]["lat"], fitting[0]["lng"])
    if not fitting:
        hint = f"Look the place up with {finder} and pass its address or place_id."
        svc.fail("ADDRESS_NOT_FOUND", f"No place matches {text!r}.", hint, address=text)
    message = f"{len(fitting)} places match {text!r}."
    hint = f"Pass the place_id of one of them; {finder} lists them all."
    candidates = [{"place_id": p["id"], "address": label(p)} for p in fitting[:5]]
    svc.fail("AMBIGUOUS_ADDRESS", message, hint, address=text, candidates=candidates)


def _names(place: Row) -> tuple[str, ...]:
    """Return every text that refers to exactly this place: its id, and its names in lower case."""
    name = place["name"].casefold()
    address = place["address"].casefold()
    return place["id"], name, address, label(place).casefold()


def places(svc: Service, query: str) -> list[Row]:
    """Return known places that match words, best match first; all places for an empty query."""
    if query.strip():
        return search.find(svc.db, "ridesharing_places", query, order="name, id")
    return svc.db.rows("ridesharing_places", order="rowid")


def places_for(svc: Service, saved: Sequence[Row], query: str) -> list[Row]:
    """Return known places that match words, first those that the rider saved under just these."""
    called = query.strip().casefold()
    own = {(s["lat"], s["lng"]) for s in saved if s["label"].casefold() == called}
    return sorted(places(svc, query), key=lambda p: (p["lat"], p["lng"]) not in own)


def place_json(row: Row) -> Json:
    """Return a place as the agent sees it."""
    return {"place_id": row["id"]} | {k: row[k] for k in ("name", "kind", "address", "lat", "lng")}


# -- routes and prices -----------------------------------------------------------------------------
def zone(city: Row) -> ZoneInfo:
    """Return a city's time zone."""
    return ZoneInfo(city["timezone"])


def rush(city: Row, at: int) -> float:
    """Return how busy the streets are, 0 to 1, from the local hour and day of the week."""
    moment = local(at, zone(city))
    hour = moment.hour + moment.minute / 60
    # A peak is the hour it is at, the hours over which it fades, and its height.
    peaks = [(8.0, 1.5, 0.8), (17.5, 2.0, 1.0)] if moment.weekday() < 5 else [(14.0, 4.0, 0.4)]
    if moment.weekday() in (4, 5):
        peaks.append((23.0, 2.5, 0.9))
    return max(0.0, *(high * (1 - abs(hour - top) / wide) for top, wide, high in peaks))


def route(city: Row, points: Sequence[Spot], at: int) -> Route:
    """Return the way through all points in the traffic of a moment's slot.

    Each stop takes two minutes.
    """
    slowed = 1 + 0.6 * rush(city, at // SLOT * SLOT)
    driven_minutes = 0.0
    driven_miles = 0.0
    legs = []
    for a, b in pairwise(points):
        leg_miles = miles(a.lat, a.lng, b.lat, b.lng) * 1.3
        driven_miles += leg_miles
        driven_minutes += leg_miles / _speed(leg_miles) * 60 * slowed + 2
        legs.append(max(1, round(driven_minutes)))
    rate = 95 + int(11 * share("rate", city["name"], city["state"], at // SLOT))
    return Route(round(driven_miles, 1), legs[-1], tuple(legs), rate)


def _speed(leg_miles: float) -> int:
    """Return the miles per hour on empty streets: longer legs use faster roads."""
    if leg_miles < 4:
        return 20
    return 28 if leg_miles < 15 else 45


def reachable(svc: Service, points: Sequence[Spot]) -> None:
    """Refuse a ride that goes nowhere or too far."""
    for a, b in pairwise(points):
        if miles(a.lat, a.lng, b.lat, b.lng) < 0.05:
            message = "Two consecutive points of the ride are the same place."
            svc.fail("SAME_LOCATION", message, "Choose places at least 0.05 miles apart.")
    total = sum(miles(a.lat, a.lng, b.lat, b.lng) for a, b in pairwise(points))
    if total > LONGEST:
        message = f"The ride would be longer than {LONGEST:.0f} miles."
        hint = "Check latitude and longitude, or choose a place that is closer."
        svc.fail("DISTANCE_EXCEEDED", message, hint, distance_miles=total)


def busy(provider: str, city: Row, at: int) -> int:
    """Return the per cent that demand adds to a fare, in steps of 5.

    Demand changes every quarter of an hour. In the first five minutes of one, the lower of the old
    and the new demand holds, so that nobody who requests at once pays more than they were shown.
    """
    slot = at // SLOT * SLOT
    return min(
        _demand(provider, city, at // DEMAND_SPAN),
        _demand(provider, city, (slot - SLOT) // DEMAND_SPAN),
    )


def _demand(provider: str, city: Row, quarter: int) -> int:
    at = quarter * DEMAND_SPAN
    key = f"demand {provider} {city['name']} {city['state']}"
    wave = smooth(key, at, 3 * DEMAND_SPAN)[0]
    steps = round((0.55 * rush(city, at) + 0.5 * wave - 0.2) * 20)
    return min(150, max(0, steps * 5) + STORM_FARE[storm(city, at)])


def storm(city: Row, at: int) -> int:
    """Return how foul the weather is: 0 usual, 1 heavy rain or half a gale, 2 a storm."""
    moment = iso(at)
    for begins, ends, level in city["storms"]:
        if begins <= moment < ends:
            return level
    return 0


def market(city: Row) -> Decimal:
    """Return a city's price level, where 1 is usual."""
    return Decimal(city["market"]) / 100


def fare(mode: Mode, city: Row, way: Route, percent: int) -> int:
    """Return the fare in cents; demand raises everything but the booking fee."""
    rates = mode.base + mode.per_mile * Decimal(str(way.miles)) + mode.per_minute * way.minutes
    usual = max(Decimal(mode.minimum), rates) * market(city)
    # Both `way.rate` and demand are per cent; the fare is rounded once, at the end.
    return round_cents(usual * way.rate * (100 + percent) / 10_000) + mode.booking


def wait(provider: str, mode: Mode, city: Row, at: int) -> int:
    """Return the minutes until a driver could be there."""
    luck = share("wait", provider, mode.id, city["name"], city["state"], at // SLOT)
    return 2 + mode.wait + int(7 * luck) + STORM_WAIT[storm(city, at // SLOT * SLOT)]


def near(provider: str, mode: Mode, city: Row, at: int) -> bool:
    """Return whether a driver for this mode is nearby in this quarter of an hour."""
    luck = share("near", provider, mode.id, city["name"], city["state"], at // DEMAND_SPAN)
    return luck < mode.near
