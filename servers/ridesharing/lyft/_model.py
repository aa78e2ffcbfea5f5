"""Lyft's tables, words, ride modes and prices; how it books a ride, and how it shows one."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import dollars, iso, parse_time
from servers.ridesharing import _mail as mail
from servers.ridesharing import _roads as roads
from servers.ridesharing import _rules as rules
from servers.ridesharing import _trips as trips
from servers.ridesharing._roads import Mode, Spot

TABLES = {
    "lyft_profile": rules.PROFILE,
    "lyft_saved_places": rules.SAVED,
    "lyft_wallet": rules.WALLET,
    "lyft_drivers": rules.DRIVERS,
    "lyft_offers": rules.OFFERS,
    # `plan` is standard, wait_and_save or priority. A scheduled ride is a ride with a scheduled_id
    # and a time.
    "lyft_rides": Table(
        trips.RIDE + "plan:str/matter scheduled_id:str?/id",
        index=(
            "requested_at",
            "scheduled_id",
            "offer_id",
            "scheduled_for",
            "coalesce(scheduled_for, requested_at)",
            "mode_id",
            "ends_at",
        ),
        outward={},
        noun=trips.RIDE_NOUN,
    ),
    "lyft_adjustments": trips.ADJUSTMENTS,
    "lyft_round_up": Table(
        "id:str enabled:bool/matter at:str/stamp",
        noun="a switch of the round-up donations (on: {enabled})",
    ),
    # `counts` says which completed rides count: all (only those of `mode_id`, if it is set), early
    # (before 9:00) or weekend.
    "lyft_challenges": Table(
        "id:str description:str counts:str mode_id:str? target:int reward:int "
        "starts_at:str ends_at:str",
        catalogue=True,
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
"""Cents that cancelling costs once it is no longer free."""
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
    Field(description="Only rides with this status; pending: no driver yet."),
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


def status(row: Row, now: str) -> str:
    """Return a ride's status in Lyft's terms."""
    return _STATUS[trips.phase(row, now)]


def priced(mode: Mode, city: Row, way: roads.Route, prime: int, plan: str) -> int:
    """Return the fare in cents under a plan.

    Wait and Save halves the prime time and takes 15 per cent off the result; priority pickup adds a
    fixed fee.
    """
    if plan == "wait_and_save":
        return roads.fare(mode, city, way, prime // 2) * 85 // 100
    return roads.fare(mode, city, way, prime) + (PRIORITY if plan == "priority" else 0)


def waits(mode: Mode, city: Row, at: int, plan: str) -> int:
    """Return the minutes until a driver could be there under a plan."""
    usual = roads.wait("lyft", mode, city, at)
    return {"standard": usual, "wait_and_save": usual + 9, "priority": max(1, usual // 2)}[plan]


def place(address: str, lat: float, lng: float) -> Json:
    """Return one end of a ride as the agent sees it."""
    return {"display_name": address, "lat": lat, "lng": lng}


def way(svc: Service, row: Row) -> roads.Route:
    """Return the route that a ride's price was based on."""
    city = svc.db.get("ridesharing_cities", row["city_id"]) or {}
    return roads.route(city, list(trips.spots(row)), parse_time(row["priced_at"]))


def letter(svc: Service, row: Row) -> Json:
    """Return the fields of what is mailed about a ride.

    The donation is what it will be at the dropoff, if round-up stays as it is now.
    """
    driver = svc.db.get("lyft_drivers", row["driver_id"])
    card = svc.db.get("lyft_wallet", row["card_id"])
    cut = trips.discount(svc, WORDS, row)
    given = to_next_dollar(row["fare"] - cut) if on_at(rounding(svc), row["ends_at"]) else 0
    return of_ride(row, way(svc, row), driver, card, cut, given)


def of_ride(
    row: Row, route: roads.Route, driver: Row | None, card: Row | None, cut: int, donation: int
) -> Json:
    """Return the fields of a ride, as `servers.ridesharing._mail.of_ride` and Lyft's own."""
    said = mail.of_ride(row, MODES[row["mode_id"]], route, driver, card, cut)
    return said | {
        "scheduled_ride": row["scheduled_id"],
        "price": said["total"],
        "donation": donation or None,
        "total": said["total"] + donation,
    }


class Switch(NamedTuple):
    """A moment at which round-up was switched on or off."""

    at: str
    enabled: bool


def rounding(svc: Service) -> list[Switch]:
    """Return when round-up was switched on and off, oldest first."""
    rows = svc.db.rows("lyft_round_up", "at<=?", svc.time, order="at, rowid")
    return [Switch(r["at"], r["enabled"]) for r in rows]


def rounds_up(svc: Service) -> bool:
    """Return whether round-up is on now."""
    switches = rounding(svc)
    return bool(switches) and switches[-1].enabled


def donated(svc: Service, row: Row, switches: list[Switch]) -> int:
    """Return the cents donated for a ride, if round-up was on at the dropoff.

    They round the discounted fare up to the next dollar.
    """
    if not on_at(switches, row["ends_at"]) or trips.phase(row, svc.time) != "done":
        return 0
    receipt = trips.charged(svc, WORDS, row)
    return to_next_dollar(receipt.fare - receipt.discount)


def on_at(switches: list[Switch], moment: str) -> bool:
    """Return whether round-up was on at a moment, or will be if nobody switches it again."""
    before = [switch for switch in switches if switch.at <= moment]
    return bool(before) and before[-1].enabled


def to_next_dollar(fare: int) -> int:
    """Return the cents that are missing to full dollars."""
    return -fare % 100


def driver_json(svc: Service, row: Row) -> Json | None:
    """Return a ride's driver, with the car in one line, or None while there is none."""
    if not trips.has_driver(row, svc.time):
        return None
    driver = svc.db.get("lyft_drivers", row["driver_id"])
    if driver is None:
        return None
    return {
        "name": driver["name"],
        "rating": driver["rating"],
        "vehicle": f"{driver['colour']} {driver['vehicle']}",
        "license_plate": driver["plate"],
    }


def etas(svc: Service, row: Row) -> tuple[int | None, int | None]:
    """Return the minutes to pickup and to dropoff.

    Each is None once it is past, and while a scheduled ride has no driver yet.
    """
    if row["cancelled_at"] or svc.time >= row["ends_at"]:
        return None, None
    riding_from = max(svc.now, parse_time(row["starts_at"]))
    riding = trips.minutes(parse_time(row["ends_at"]) - riding_from)
    if svc.time >= row["starts_at"]:
        return None, riding
    pickup = trips.minutes_to(svc, row)
    return pickup, None if pickup is None else pickup + riding


def _pickup_time(row: Row, state: str) -> str | None:
    if state == "scheduled":
        return row["scheduled_for"]
    return row["starts_at"] if state in ("picked_up", "dropped_off") else None


def _charges(svc: Service, row: Row, donation: int) -> list[Json]:
    """Return the lines of a receipt, leaving out zero amounts."""
    receipt = trips.charged(svc, WORDS, row)
    sums = {
        "fare": receipt.fare,
        "promo": -receipt.discount,
        "cancel_fee": receipt.cancel_fee,
        "tip": receipt.tip,
    }
    charges = [{"kind": kind, "amount": dollars(money)} for kind, money in sums.items() if money]
    for line in trips.adjustments(svc, WORDS, row["id"]):
        amount = dollars(line["amount"])
        reason = line["reason"]
        charges.append({"kind": "adjustment", "amount": amount, "reason": reason, "at": line["at"]})
    if donation:
        charges.append({"kind": "donation", "amount": dollars(donation)})
    return charges


def ride_json(svc: Service, row: Row) -> Json:
    """Return a ride as the agent sees it, with money in dollars."""
    route = way(svc, row)
    state = status(row, svc.time)
    pickup, dropoff = etas(svc, row)
    donation = donated(svc, row, rounding(svc))
    cancelled = None
    if row["cancelled_at"]:
        cancelled = {"at": row["cancelled_at"], "by": row["cancelled_by"]}
    return {
        "ride_id": row["id"],
        "status": state,
        "ride_type_id": row["mode_id"],
        "plan": row["plan"],
        "origin": place(row["pickup"], row["pickup_lat"], row["pickup_lng"]),
        "destination": place(row["dropoff"], row["dropoff_lat"], row["dropoff_lng"]),
        "scheduled_ride_id": row["scheduled_id"],
        "requested_at": row["requested_at"],
        "pickup_time": _pickup_time(row, state),
        "dropoff_time": row["ends_at"] if state == "dropped_off" else None,
        "canceled": cancelled,
        "driver": driver_json(svc, row),
        "eta_pickup_min": pickup,
        "eta_dropoff_min": dropoff,
        "distance_miles": route.miles,
        "duration_min": route.minutes,
        "prime_time_pct": row["percent"],
        "fare_total": dollars(row["fare"] - trips.discount(svc, WORDS, row)),
        "charges": _charges(svc, row, donation),
        "total_charged": dollars(trips.charged(svc, WORDS, row).total + donation),
        "payment": rules.card_ref(svc, WORDS, row["card_id"]),
        "offer_id": row["offer_id"],
        "rating": row["rating"],
        "tip_amount": dollars(row["tip"]),
    }


def brief_json(svc: Service, row: Row) -> Json:
    """Return a ride as a list shows it, with money in dollars."""
    donation = donated(svc, row, rounding(svc))
    return {
        "ride_id": row["id"],
        "status": status(row, svc.time),
        "ride_type_id": row["mode_id"],
        "origin": row["pickup"],
        "destination": row["dropoff"],
        "requested_at": row["requested_at"],
        "scheduled_for": row["scheduled_for"],
        "fare_total": dollars(row["fare"] - trips.discount(svc, WORDS, row)),
        "total_charged": dollars(trips.charged(svc, WORDS, row).total + donation),
    }


# -- booking ---------------------------------------------------------------------------------------
def book(
    svc: Service,
    mode: Mode,
    points: list[Spot],
    plan: str,
    card: str | None,
    *,
    token: str | None = None,
    offer: Row | None = None,
    scheduled: int | None = None,
) -> Row:
    """Insert a ride, now or scheduled, and return its row; refuse one that is not possible.

    It uses the given offer or, if there is none, the applied one. With a quote `token` it costs
    what was quoted.
    """
    roads.reachable(svc, points)
    city = roads.city_at(svc, points[0].lat, points[0].lng)
    if scheduled is None:
        _free_to_ride(svc, mode, city)
        at = trips.quoted_at(svc, WORDS, mode, points, token)
        prime = roads.busy("lyft", city, at)
    else:
        at = scheduled
        prime = 0
    route = roads.route(city, points, at)
    fare = priced(mode, city, route, prime, plan)
    offer = offer or rules.applied(svc, WORDS)
    offer_fits = offer is not None and rules.fits(offer, mode, fare)
    payer = rules.payer(svc, WORDS, card)
    ride_id = svc.new_id("lyr")
    unwanted = {r["driver_id"] for r in svc.db.rows("lyft_rides", "rating<=3")}
    driver = trips.driver_for(svc, WORDS, ride_id, mode, city, unwanted)
    if driver is None:
        message = f"{mode.name} is not available in {city['name']}."
        hint = "list_ride_modes shows the ride types of a place."
        svc.fail("MODE_NOT_IN_REGION", message, hint, ride_type_id=mode.id)
    wait = waits(mode, city, svc.now, plan) if scheduled is None else 0
    row = {
        "id": ride_id,
        "mode_id": mode.id,
        "plan": plan,
        "city_id": city["id"],
        "driver_id": driver["id"],
        "card_id": payer["id"],
        "priced_at": iso(at),
        "percent": prime,
        "fare": fare,
        "wait": wait,
        "cancel_fee": 0,
        "tip": 0,
        "offer_id": offer["id"] if offer and offer_fits else None,
        "scheduled_id": svc.new_id("lys") if scheduled else None,
        **trips.ends(points[0], points[-1]),
        **trips.timetable(ride_id, svc.now, wait, route.minutes, scheduled),
    }
    row = svc.db.insert("lyft_rides", row)
    said = letter(svc, row)
    if scheduled is not None:
        mail.tell(svc, WORDS, "scheduled", said)
    mail.expect(svc, WORDS, row, said)
    return row


def _free_to_ride(svc: Service, mode: Mode, city: Row) -> None:
    """Refuse an immediate ride while another one is under way or if no driver is nearby."""
    rides = trips.underway(svc, WORDS)
    if rides:
        message = "You already have a ride under way; Lyft allows one at a time."
        hint = "See it with get_trip; cancel it with cancel_trip, or wait until it is over."
        svc.fail("RIDE_IN_PROGRESS", message, hint, ride_id=rides[0]["id"])
    if not roads.near("lyft", mode, city, svc.now):
        message = f"No {mode.name} driver is nearby right now."
        hint = "Choose another ride type from get_ride_estimates, or try again later."
        svc.fail("NO_DRIVERS_NEARBY", message, hint, retryable=True)
