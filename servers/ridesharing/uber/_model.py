"""Uber's tables, words and ride types, and what it shows of a ride."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.noise import share
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.values import dollars, iso, parse_time
from servers.ridesharing import _roads as roads
from servers.ridesharing import _rules as rules
from servers.ridesharing._roads import Mode, Spot

TABLES = {
    "uber_profile": rules.PROFILE,
    "uber_saved_places": rules.SAVED,
    "uber_wallet": rules.WALLET,
    "uber_drivers": rules.DRIVERS,
    "uber_offers": rules.OFFERS,
    # `stops` are [address, lat, lng] in their order; a reservation is a ride with a reservation_id and a time.
    "uber_rides": Table(
        rules.RIDE + "stops:list reservation_id:str?",
        index=("requested_at", "reservation_id", "offer_id"),
    ),
    "uber_adjustments": rules.ADJUSTMENTS,
    "uber_contacts": Table("id:str name:str phone:str"),
    "uber_splits": Table("id:str ride_id:str contact_id:str invited_at:str", index=("ride_id",)),
    "uber_deliveries": Table(
        "id:str city_id:str driver_id:str card_id:str pickup:str pickup_lat:float pickup_lng:float "
        "dropoff:str dropoff_lat:float dropoff_lng:float description:str recipient_name:str recipient_phone:str fare:int requested_at:str "
        "scheduled_for:str? matched_at:str arrives_at:str starts_at:str ends_at:str cancelled_at:str? cancel_fee:int returned_at:str? "
        "idempotency_key:str?"
    ),
}
WORDS = rules.Words(
    name="uber",
    ride_missing="RIDE_NOT_FOUND",
    find="find_place",
    rides="list_rides",
    payments="list_payment_methods",
    offers="list_offers",
    estimate="estimate_ride",
)
MODES = {
    m.id: m
    for m in (
        Mode("uberx", "UberX", 130, 232, 37, 480, 215, 4),
        Mode("comfort", "Comfort", 190, 268, 44, 720, 235, 4, "comfort", 1, 0.97),
        Mode("uberxl", "UberXL", 190, 288, 47, 760, 245, 6, "xl", 2, 0.95),
        Mode("green", "Uber Green", 135, 236, 38, 510, 215, 4, "electric", 2, 0.9),
        Mode("pet", "Uber Pet", 380, 238, 39, 860, 215, 4, "pet", 2, 0.92),
        Mode("black", "Uber Black", 750, 490, 82, 1900, 0, 4, "black", 4, 0.75),
        Mode("wav", "Uber WAV", 130, 232, 37, 480, 215, 4, "wav", 6, 0.7),
    )
}
CANCEL_FEE = {"black": 1000, "uberxl": 700}
"""Cents by ride type, 500 for the others."""
RESERVE_FEE = 350
FREE_UNTIL = 3600
"""Seconds before the pickup until which a reservation is cancelled for nothing."""
MAX_STOPS = 3
MAX_ACTIVE = 3
COURIER = Mode("connect", "Connect", 210, 190, 28, 690, 195, 0)

RideId = Annotated[str, Field(description="ride_id, from list_rides or request_ride.")]
RideType = Annotated[
    Literal["uberx", "comfort", "uberxl", "green", "pet", "black", "wav"],
    Field(description="ride_type_id, from list_ride_types."),
]
ReservationId = Annotated[str, Field(description="reservation_id, from get_reservations.")]
DeliveryId = Annotated[str, Field(description="delivery_id, from list_deliveries.")]
RideStatus = Annotated[
    Literal[
        "scheduled",
        "processing",
        "accepted",
        "arriving",
        "in_progress",
        "completed",
        "rider_canceled",
        "driver_canceled",
        "no_show",
    ],
    Field(description="Only rides in this status; arriving: the driver waits at the pickup."),
]
_STATUS = {
    "scheduled": "scheduled",
    "matching": "processing",
    "en_route": "accepted",
    "arrived": "arriving",
    "riding": "in_progress",
    "done": "completed",
}


def status(row: dict[str, Any], now: str) -> str:
    """Return a ride's status in Uber's words."""
    where = rules.phase(row, now)
    if where != "cancelled":
        return _STATUS[where]
    return {"driver": "driver_canceled", "no_show": "no_show"}.get(
        row["cancelled_by"], "rider_canceled"
    )


def points(row: dict[str, Any]) -> list[Spot]:
    """Return pickup, stops and dropoff."""
    start, end = rules.spots(row)
    return [start, *(Spot(*stop) for stop in row["stops"]), end]


def way(svc: Service, row: dict[str, Any]) -> roads.Route:
    """Return the route of a ride as it was priced."""
    return roads.route(
        svc.db.get("ridesharing_cities", row["city_id"]) or {},
        points(row),
        parse_time(row["priced_at"]),
    )


def spot_json(spot: Spot) -> dict[str, Any]:
    """Return a point for the agent."""
    return {"address": spot.address, "lat": spot.lat, "lng": spot.lng}


def reached(svc: Service, row: dict[str, Any]) -> int:
    """Return how many stops lie behind a ride that has begun."""
    begun = svc.now - parse_time(row["starts_at"])
    return (
        sum(leg * rules.MINUTE <= begun for leg in way(svc, row).legs[:-1])
        if svc.time >= row["starts_at"]
        else 0
    )


def stops_json(svc: Service, row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a ride's stops with their index and whether they lie behind."""
    behind = reached(svc, row)
    return [
        {"index": n, "reached": n < behind} | spot_json(Spot(*stop))
        for n, stop in enumerate(row["stops"])
    ]


def driver_json(svc: Service, row: dict[str, Any]) -> dict[str, Any] | None:
    """Return a ride's driver, None while there is none."""
    driver = svc.db.get("uber_drivers", row["driver_id"])
    if driver is None or not rules.has_driver(row, svc.time):
        return None
    car = {"model": driver["vehicle"], "color": driver["colour"], "license_plate": driver["plate"]}
    return {"name": driver["name"], "rating": driver["rating"], "vehicle": car}


def minutes_to(svc: Service, row: dict[str, Any]) -> int | None:
    """Return the minutes to the pickup, None once that is over."""
    return (
        None if row["cancelled_at"] or svc.time >= row["starts_at"] else rules.minutes_to(svc, row)
    )


def ride_json(svc: Service, row: dict[str, Any]) -> dict[str, Any]:
    """Return a ride for the agent; money in dollars."""
    start, end = rules.spots(row)
    route = way(svc, row)
    money = rules.charged(svc, WORDS, row)
    over = rules.phase(row, svc.time) == "done"
    return {
        "ride_id": row["id"],
        "status": status(row, svc.time),
        "ride_type_id": row["mode_id"],
        "ride_type": MODES[row["mode_id"]].name,
        "pickup": spot_json(start),
        "stops": stops_json(svc, row),
        "dropoff": spot_json(end),
        "requested_at": row["requested_at"],
        "scheduled_time": row["scheduled_for"],
        "reservation_id": row["reservation_id"],
        "driver": driver_json(svc, row),
        "eta_pickup_min": minutes_to(svc, row),
        "picked_up_at": row["starts_at"]
        if svc.time >= row["starts_at"] and not row["cancelled_at"]
        else None,
        "dropped_off_at": row["ends_at"] if over else None,
        "canceled_at": row["cancelled_at"],
        "distance_miles": route.miles,
        "duration_minutes": route.minutes,
        "surge_multiplier": 1 + row["percent"] / 100,
        "fare_total": dollars(row["fare"] - rules.discount(svc, WORDS, row)),
        "receipt": {
            "fare": dollars(money["fare"]),
            "discount": dollars(money["discount"]),
            "cancellation_fee": dollars(money["cancel_fee"]),
            "adjustments": [
                {"amount": dollars(a["amount"]), "reason": a["reason"], "at": a["at"]}
                for a in rules.adjustments(svc, WORDS, row["id"])
            ],
            "tip": dollars(money["tip"]),
            "total": dollars(money["total"]),
        },
        "payment_method": rules.card_ref(svc, WORDS, row["card_id"]),
        "offer_id": row["offer_id"],
        "rating": row["rating"],
        "fare_split": split_json(svc, row),
    }


# -- fare splits -----------------------------------------------------------------------------------
def answer(row: dict[str, Any], now: int) -> str:
    """Return what a contact has answered to an invitation: invited, accepted, declined, or lapsed after a day."""
    since = now - parse_time(row["invited_at"])
    fate = share("split", row["ride_id"], row["contact_id"])
    if fate > 0.92:
        return "lapsed" if since >= rules.DAY else "invited"
    if since < 120 + int(2400 * share("answer", row["ride_id"], row["contact_id"])):
        return "invited"
    return "declined" if fate > 0.85 else "accepted"


def split_json(svc: Service, row: dict[str, Any]) -> dict[str, Any] | None:
    """Return how a fare is shared: the rider pays the odd cents and whatever others have not accepted; None without a split."""
    invited = svc.db.rows("uber_splits", "ride_id=?", row["id"], order="rowid")
    if not invited:
        return None
    money = rules.charged(svc, WORDS, row)
    total = money["total"] - money["tip"]
    each = total // (len(invited) + 1)
    people = []
    for one in invited:
        contact = svc.db.get("uber_contacts", one["contact_id"]) or {}
        said = {
            "contact_id": one["contact_id"],
            "name": contact["name"],
            "status": answer(one, svc.now),
            "amount": dollars(each),
        }
        people.append(said)
    carried = each * sum(p["status"] == "accepted" for p in people)
    shares = {
        "num_splits": len(invited) + 1,
        "amount_per_person": dollars(each),
        "your_share": dollars(total - carried),
    }
    return shares | {
        "participants": people,
        "invited_at": iso(min(parse_time(i["invited_at"]) for i in invited)),
    }
