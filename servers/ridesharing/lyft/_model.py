"""Lyft's tables, words and ride modes, how its plans change a price, and what it shows of a ride."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.values import dollars, parse_time
from servers.ridesharing import _roads as roads
from servers.ridesharing import _rules as rules
from servers.ridesharing._roads import Mode

TABLES = {
    "lyft_profile": rules.PROFILE,
    "lyft_saved_places": rules.SAVED,
    "lyft_wallet": rules.WALLET,
    "lyft_drivers": rules.DRIVERS,
    "lyft_offers": rules.OFFERS,
    # `plan` is standard, wait_and_save or priority; a scheduled ride is a ride with a scheduled_id and a time.
    "lyft_rides": Table(
        rules.RIDE + "plan:str scheduled_id:str?",
        index=("requested_at", "scheduled_id", "offer_id"),
    ),
    "lyft_adjustments": rules.ADJUSTMENTS,
    "lyft_round_up": Table("id:str enabled:bool at:str"),
    # `counts` says which completed rides count: all, early (before 9:00), weekend, or those of `mode_id`.
    "lyft_challenges": Table(
        "id:str description:str counts:str mode_id:str? target:int reward:int starts_at:str ends_at:str"
    ),
}
WORDS = rules.Words(
    name="lyft",
    ride_missing="TRIP_NOT_FOUND",
    find="search_address",
    rides="list_trip_history",
    payments="list_payment_cards",
    offers="list_promos",
    estimate="get_ride_estimates",
)
MODES = {
    m.id: m
    for m in (
        Mode("lyft", "Lyft", 120, 224, 41, 450, 235, 4),
        Mode("extra_comfort", "Extra Comfort", 185, 262, 47, 700, 245, 4, "comfort", 1, 0.95),
        Mode("lyft_xl", "Lyft XL", 185, 280, 50, 730, 265, 6, "xl", 2, 0.95),
        Mode("lyft_green", "Green", 125, 228, 42, 480, 235, 4, "electric", 2, 0.85),
        Mode("lyft_black", "Black", 720, 470, 86, 1850, 0, 5, "black", 5, 0.7),
        Mode("lyft_access", "Access", 120, 224, 41, 450, 235, 4, "wav", 7, 0.65),
    )
}
CANCEL_FEE = 500
PRIORITY = 250
"""Cents that priority pickup costs."""

TripId = Annotated[str, Field(description="ride_id, from list_trip_history or book_ride.")]
RideMode = Annotated[
    Literal["lyft", "extra_comfort", "lyft_xl", "lyft_green", "lyft_black", "lyft_access"],
    Field(description="ride_type_id, from list_ride_modes."),
]
ScheduledId = Annotated[str, Field(description="scheduled_ride_id, from list_scheduled_rides.")]
TripStatus = Annotated[
    Literal["scheduled", "pending", "accepted", "arrived", "picked_up", "dropped_off", "canceled"],
    Field(description="Only rides in this status; pending: no driver yet."),
]
_STATUS = {
    "scheduled": "scheduled",
    "matching": "pending",
    "en_route": "accepted",
    "arrived": "arrived",
    "riding": "picked_up",
    "done": "dropped_off",
    "cancelled": "canceled",
}


def status(row: dict[str, Any], now: str) -> str:
    """Return a ride's status in Lyft's words."""
    return _STATUS[rules.phase(row, now)]


def priced(mode: Mode, city: dict[str, Any], way: roads.Route, prime: int, plan: str) -> int:
    """Return the fare in cents: waiting saves half of the prime time and 15 per cent of the rest, priority costs a fixed sum."""
    if plan == "wait_and_save":
        return roads.fare(mode, city, way, prime // 2) * 85 // 100
    return roads.fare(mode, city, way, prime) + (PRIORITY if plan == "priority" else 0)


def waits(mode: Mode, city: dict[str, Any], at: int, plan: str) -> int:
    """Return the minutes until a driver would be there under a plan."""
    usual = roads.wait("lyft", mode, city, at)
    return {"standard": usual, "wait_and_save": usual + 9, "priority": max(1, usual // 2)}[plan]


def place(address: str, lat: float, lng: float) -> dict[str, Any]:
    """Return one end of a ride for the agent."""
    return {"display_name": address, "lat": lat, "lng": lng}


def way(svc: Service, row: dict[str, Any]) -> roads.Route:
    """Return the route of a ride as it was priced."""
    return roads.route(
        svc.db.get("ridesharing_cities", row["city_id"]) or {},
        list(rules.spots(row)),
        parse_time(row["priced_at"]),
    )


def rounding(svc: Service) -> list[tuple[str, bool]]:
    """Return when round-up was switched on and off, oldest first."""
    return [
        (r["at"], r["enabled"])
        for r in svc.db.rows("lyft_round_up", "at<=?", svc.time, order="at, rowid")
    ]


def donated(svc: Service, row: dict[str, Any], switched: list[tuple[str, bool]]) -> int:
    """Return the cents given for a ride: up to the next dollar of the discounted fare, if round-up was on at the dropoff."""
    on = [enabled for at, enabled in switched if at <= row["ends_at"]]
    if rules.phase(row, svc.time) != "done" or not on or not on[-1]:
        return 0
    money = rules.charged(svc, WORDS, row)
    return -(money["fare"] - money["discount"]) % 100


def driver_json(svc: Service, row: dict[str, Any]) -> dict[str, Any] | None:
    """Return a ride's driver with the car in one line, None while there is none."""
    driver = (
        svc.db.get("lyft_drivers", row["driver_id"]) if rules.has_driver(row, svc.time) else None
    )
    if driver is None:
        return None
    car = f"{driver['colour']} {driver['vehicle']}"
    return {
        "name": driver["name"],
        "rating": driver["rating"],
        "vehicle": car,
        "license_plate": driver["plate"],
    }


def etas(svc: Service, row: dict[str, Any]) -> tuple[int | None, int | None]:
    """Return the minutes to pickup and dropoff, each None once it is past."""
    if row["cancelled_at"] or svc.time >= row["ends_at"]:
        return None, None
    ride = rules.minutes(parse_time(row["ends_at"]) - max(svc.now, parse_time(row["starts_at"])))
    if svc.time >= row["starts_at"]:
        return None, ride
    pickup = rules.minutes_to(svc, row)
    return pickup, pickup + ride


def ride_json(svc: Service, row: dict[str, Any]) -> dict[str, Any]:
    """Return a ride for the agent; money in dollars."""
    money = rules.charged(svc, WORDS, row)
    route = way(svc, row)
    gone = status(row, svc.time)
    pickup, dropoff = etas(svc, row)
    given = donated(svc, row, rounding(svc))
    charges = [
        {"kind": kind, "amount": dollars(sign * money[name])}
        for kind, name, sign in (
            ("fare", "fare", 1),
            ("promo", "discount", -1),
            ("cancel_fee", "cancel_fee", 1),
            ("tip", "tip", 1),
        )
        if money[name]
    ]
    charges += [
        {"kind": "adjustment", "amount": dollars(a["amount"]), "reason": a["reason"], "at": a["at"]}
        for a in rules.adjustments(svc, WORDS, row["id"])
    ]
    if given:
        charges.append({"kind": "donation", "amount": dollars(given)})
    return {
        "ride_id": row["id"],
        "status": gone,
        "ride_type_id": row["mode_id"],
        "plan": row["plan"],
        "origin": place(row["pickup"], row["pickup_lat"], row["pickup_lng"]),
        "destination": place(row["dropoff"], row["dropoff_lat"], row["dropoff_lng"]),
        "scheduled_ride_id": row["scheduled_id"],
        "requested_at": row["requested_at"],
        "pickup_time": row["scheduled_for"]
        if gone == "scheduled"
        else (row["starts_at"] if gone in ("picked_up", "dropped_off") else None),
        "dropoff_time": row["ends_at"] if gone == "dropped_off" else None,
        "canceled": {"at": row["cancelled_at"], "by": row["cancelled_by"]}
        if row["cancelled_at"]
        else None,
        "driver": driver_json(svc, row),
        "eta_pickup_min": pickup,
        "eta_dropoff_min": dropoff,
        "distance_miles": route.miles,
        "duration_min": route.minutes,
        "prime_time_pct": row["percent"],
        "fare_total": dollars(row["fare"] - rules.discount(svc, WORDS, row)),
        "charges": charges,
        "total_charged": dollars(money["total"] + given),
        "payment": rules.card_ref(svc, WORDS, row["card_id"]),
        "offer_id": row["offer_id"],
        "rating": row["rating"],
        "tip_amount": dollars(row["tip"]),
    }
