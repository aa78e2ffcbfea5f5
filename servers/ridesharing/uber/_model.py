"""Uber's tables, words and ride types, and how it shows a ride."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from servers.kit.noise import share
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
    "uber_profile": rules.PROFILE,
    "uber_saved_places": rules.SAVED,
    "uber_wallet": rules.WALLET,
    "uber_drivers": rules.DRIVERS,
    "uber_offers": rules.OFFERS,
    # `stops` are [address, lat, lng] in their order. A reservation is a ride with a reservation_id
    # and a time.
    "uber_rides": Table(
        trips.RIDE + "stops:list/matter reservation_id:str?/id",
        index=(
            "requested_at",
            "reservation_id",
            "offer_id",
            "scheduled_for",
            "mode_id",
            "coalesce(scheduled_for, requested_at)",
        ),
        outward={},
        noun=trips.RIDE_NOUN,
    ),
    "uber_adjustments": trips.ADJUSTMENTS,
    "uber_contacts": Table("id:str name:str phone:str", catalogue=True),
    "uber_splits": Table(
        "id:str ride_id:str/ref contact_id:str/ref invited_at:str/stamp",
        index=("ride_id",),
        outward={},
        noun="an invitation to {contact_id} to share a fare",
    ),
    "uber_deliveries": Table(
        f"id:str city_id:str/derived driver_id:str/derived card_id:str/ref {trips.WAY}"
        "description:str/prose recipient_name:str/matter recipient_phone:str/matter "
        f"fare:int/derived requested_at:str/stamp scheduled_for:str?/appointed {trips.MOMENTS}"
        "cancelled_at:str?/stamp cancel_fee:int/derived returned_at:str?/stamp "
        "idempotency_key:str?/session",
        index=("requested_at",),
        outward={},
        noun="a package ({description}) for {recipient_name}",
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
"""Cents that cancelling costs, by ride type; 500 for the others."""
RESERVE_FEE = 350
"""Cents that a reservation costs on top of its fare."""
FREE_UNTIL = 3600
"""Seconds before the pickup until which cancelling a reservation is free."""
MAX_STOPS = 3
"""Stops that a ride can have between pickup and dropoff."""
MAX_ACTIVE = 3
"""Rides that can be under way at the same time."""
ANSWERS = ("split_accepted", "split_declined")
"""What is mailed when a contact answers an invitation to share a fare."""
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
    Field(
        description="Only rides with this status; arriving: the driver is waiting at the pickup."
    ),
]
_STATUS = {
    "scheduled": "scheduled",
    "matching": "processing",
    "en_route": "accepted",
    "arrived": "arriving",
    "riding": "in_progress",
    "done": "completed",
}


def status(row: Row, now: str) -> str:
    """Return a ride's status in Uber's terms."""
    phase = trips.phase(row, now)
    if phase != "cancelled":
        return _STATUS[phase]
    if row["cancelled_by"] == "no_show":
        return "no_show"
    return "driver_canceled" if row["cancelled_by"] == "driver" else "rider_canceled"


def points(row: Row) -> list[Spot]:
    """Return pickup, stops and dropoff."""
    start, end = trips.spots(row)
    return [start, *(Spot(*stop) for stop in row["stops"]), end]


def way(svc: Service, row: Row) -> roads.Route:
    """Return the route that a ride's price was based on."""
    city = svc.db.get("ridesharing_cities", row["city_id"]) or {}
    return roads.route(city, points(row), parse_time(row["priced_at"]))


def letter(svc: Service, row: Row) -> Json:
    """Return the fields of what is mailed about a ride."""
    driver = svc.db.get("uber_drivers", row["driver_id"])
    card = svc.db.get("uber_wallet", row["card_id"])
    cut = trips.discount(svc, WORDS, row)
    return of_ride(row, way(svc, row), driver, card, cut)


def of_ride(row: Row, route: roads.Route, driver: Row | None, card: Row | None, cut: int) -> Json:
    """Return the fields of a ride, as `servers.ridesharing._mail.of_ride` and Uber's own."""
    said = mail.of_ride(row, MODES[row["mode_id"]], route, driver, card, cut)
    stops = [stop[0] for stop in row["stops"]]
    return said | {"stops": stops, "reservation": row["reservation_id"]}


def spot_json(spot: Spot) -> Json:
    """Return a point as the agent sees it."""
    return {"address": spot.address, "lat": spot.lat, "lng": spot.lng}


def reached(svc: Service, row: Row) -> int:
    """Return how many stops a ride has passed."""
    if svc.time < row["starts_at"]:
        return 0
    driven = svc.now - parse_time(row["starts_at"])
    stops = way(svc, row).legs[:-1]
    return len([minutes for minutes in stops if minutes * trips.MINUTE <= driven])


def stops_json(svc: Service, row: Row) -> list[Json]:
    """Return a ride's stops, each with its index and whether the ride has passed it."""
    behind = reached(svc, row)
    return [
        {"index": n, "reached": n < behind} | spot_json(Spot(*stop))
        for n, stop in enumerate(row["stops"])
    ]


def driver_json(svc: Service, row: Row) -> Json | None:
    """Return a ride's driver, or None while there is none."""
    driver = svc.db.get("uber_drivers", row["driver_id"])
    if driver is None or not trips.has_driver(row, svc.time):
        return None
    car = {"model": driver["vehicle"], "color": driver["colour"], "license_plate": driver["plate"]}
    return {"name": driver["name"], "rating": driver["rating"], "vehicle": car}


def minutes_to(svc: Service, row: Row) -> int | None:
    """Return the minutes to the pickup, or None once it is past or before a driver is found."""
    if row["cancelled_at"] or svc.time >= row["starts_at"]:
        return None
    return trips.minutes_to(svc, row)


def ride_json(svc: Service, row: Row) -> Json:
    """Return a ride as the agent sees it, with money in dollars."""
    start, end = trips.spots(row)
    route = way(svc, row)
    began = svc.time >= row["starts_at"] and not row["cancelled_at"]
    over = trips.phase(row, svc.time) == "done"
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
        "picked_up_at": row["starts_at"] if began else None,
        "dropped_off_at": row["ends_at"] if over else None,
        "canceled_at": row["cancelled_at"],
        "distance_miles": route.miles,
        "duration_minutes": route.minutes,
        "surge_multiplier": 1 + row["percent"] / 100,
        "fare_total": dollars(row["fare"] - trips.discount(svc, WORDS, row)),
        "receipt": receipt_json(svc, row),
        "payment_method": rules.card_ref(svc, WORDS, row["card_id"]),
        "offer_id": row["offer_id"],
        "rating": row["rating"],
        "fare_split": split_json(svc, row),
    }


def brief_json(svc: Service, row: Row) -> Json:
    """Return a ride as a list shows it, with money in dollars."""
    return {
        "ride_id": row["id"],
        "status": status(row, svc.time),
        "ride_type": MODES[row["mode_id"]].name,
        "pickup": row["pickup"],
        "dropoff": row["dropoff"],
        "pickup_time": row["scheduled_for"] or row["requested_at"],
        "fare_total": dollars(row["fare"] - trips.discount(svc, WORDS, row)),
        "total": dollars(trips.charged(svc, WORDS, row).total),
    }


def receipt_json(svc: Service, row: Row) -> Json:
    """Return the receipt of a ride as the agent sees it, in dollars."""
    receipt = trips.charged(svc, WORDS, row)
    corrections = trips.adjustments(svc, WORDS, row["id"])
    return {
        "fare": dollars(receipt.fare),
        "discount": dollars(receipt.discount),
        "cancellation_fee": dollars(receipt.cancel_fee),
        "adjustments": [
            {"amount": dollars(a["amount"]), "reason": a["reason"], "at": a["at"]}
            for a in corrections
        ],
        "tip": dollars(receipt.tip),
        "total": dollars(receipt.total),
    }


# -- fare splits -----------------------------------------------------------------------------------
def answer(invitation: Row, now: int) -> str:
    """Return a contact's answer to an invitation.

    It is invited (no answer yet), accepted, declined, or lapsed after a day without an answer.
    """
    answers_at = answered_at(invitation)
    if answers_at is None:
        since = now - parse_time(invitation["invited_at"])
        return "lapsed" if since >= trips.DAY else "invited"
    if now < answers_at:
        return "invited"
    return "declined" if _fate(invitation) > 0.85 else "accepted"


def answered_at(invitation: Row) -> int | None:
    """Return when a contact answers an invitation, or None if that never happens."""
    if _fate(invitation) > 0.92:
        return None
    wait = share("answer", invitation["ride_id"], invitation["contact_id"])
    return parse_time(invitation["invited_at"]) + 120 + int(2400 * wait)


def _fate(invitation: Row) -> float:
    return share("split", invitation["ride_id"], invitation["contact_id"])


def split_json(svc: Service, row: Row) -> Json | None:
    """Return how a fare is shared, or None without a split.

    The rider pays the odd cents and the shares that others have not accepted; the tip is not
    shared.
    """
    invitations = svc.db.rows("uber_splits", "ride_id=?", row["id"], order="rowid")
    if not invitations:
        return None
    receipt = trips.charged(svc, WORDS, row)
    shared = receipt.total - receipt.tip
    each = shared // (len(invitations) + 1)
    carried = 0
    people = []
    for invitation in invitations:
        contact = svc.db.get("uber_contacts", invitation["contact_id"]) or {}
        reply = answer(invitation, svc.now)
        if reply == "accepted":
            carried += each
        person = {
            "contact_id": invitation["contact_id"],
            "name": contact["name"],
            "status": reply,
            "amount": dollars(each),
        }
        people.append(person)
    return {
        "num_splits": len(invitations) + 1,
        "amount_per_person": dollars(each),
        "your_share": dollars(shared - carried),
        "participants": people,
        "invited_at": iso(min(parse_time(i["invited_at"]) for i in invitations)),
    }
