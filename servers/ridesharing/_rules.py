"""What Uber and Lyft share: wallets, drivers, promotions, and the life of a ride, which follows from its row and the moment."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from servers.kit.fields import card_expired
from servers.kit.noise import share
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.values import dollars, iso, parse_time
from servers.ridesharing import _roads as roads
from servers.ridesharing._roads import Mode, Spot

PROFILE = Table("id:str name:str email:str phone:str timezone:str city_id:str", identity=True)
SAVED = Table("id:str label:str address:str lat:float lng:float saved_at:str")
WALLET = Table("id:str kind:str name:str last4:str? expires:str? is_default:bool added_at:str")
DRIVERS = Table(
    "id:str name:str rating:float rides:int vehicle:str colour:str plate:str skills:list city_id:str",
    index=("city_id",),
)
# `percent` or `amount` is what it takes off, at most `most`; `first` counts the rides (of its `modes`, where it names some) it is for.
OFFERS = Table(
    "id:str code:str title:str percent:int? amount:int? most:int? minimum:int first:int? modes:list "
    "starts_at:str expires_at:str applied_at:str?"
)
ADJUSTMENTS = Table("id:str ride_id:str amount:int reason:str at:str", index=("ride_id",))
RIDE = (
    "id:str mode_id:str city_id:str driver_id:str card_id:str offer_id:str? pickup:str pickup_lat:float pickup_lng:float "
    "dropoff:str dropoff_lat:float dropoff_lng:float priced_at:str percent:int fare:int wait:int requested_at:str "
    "scheduled_for:str? matched_at:str arrives_at:str starts_at:str ends_at:str cancelled_at:str? cancelled_by:str? cancel_fee:int "
    "rating:int? rated_at:str? tip:int tipped_at:str? "
)
"""Columns of a ride: `fare` is what was agreed, `wait` the minutes promised; the moments are what happens unless somebody cancels."""

MINUTE = 60
DAY = 86_400
FREE_CANCEL = 2 * MINUTE
"""Seconds after the match in which a rider cancels for nothing."""
LATE = 5 * MINUTE
"""Seconds by which a driver must be late for the rider to cancel for nothing."""
DISPATCH = 15 * MINUTE
"""Seconds before the pickup at which a scheduled ride gets its driver."""
AFTERWARDS = 30 * DAY
"""Seconds after a ride in which it can be rated and the driver tipped."""
SOONEST = 30 * MINUTE
LATEST = 90 * DAY
"""How far ahead rides can be scheduled."""


def _label(text: str) -> str:
    if not text.strip():
        raise ValueError("must hold more than spaces")
    return " ".join(text.split())


PlaceLabel = Annotated[
    str,
    Field(min_length=1, max_length=40, description="Label of the saved place, e.g. Home."),
    AfterValidator(_label),
]
FullAddress = Annotated[
    str, Field(min_length=5, max_length=160, description="Street address with city, as one line.")
]
PaymentId = Annotated[
    str,
    Field(
        description="payment_method_id from the list of payment methods; the default one when left out."
    ),
]
Stars = Annotated[int, Field(ge=1, le=5, description="Stars from 1 (worst) to 5 (best).")]
Phase = Literal["scheduled", "matching", "en_route", "arrived", "riding", "done", "cancelled"]


@dataclass(frozen=True)
class Words:
    """A provider's names for the common things: its tables, a code, and tools that hints point to."""

    name: str
    ride_missing: str
    find: str
    rides: str
    payments: str
    offers: str
    estimate: str


# -- the account -----------------------------------------------------------------------------------
def profile(svc: Service, words: Words) -> dict[str, Any]:
    """Return the signed-in rider's row."""
    return svc.db.rows(f"{words.name}_profile")[0]


def saved(svc: Service, words: Words) -> list[dict[str, Any]]:
    """Return the rows of saved places, in the order in which they were saved."""
    return svc.db.rows(f"{words.name}_saved_places", order="saved_at, rowid")


def spot(svc: Service, words: Words, text: str) -> Spot:
    """Return the one place that a text means, or refuse."""
    return roads.resolve(svc, saved(svc, words), text, words.find)


def wallet(svc: Service, words: Words) -> list[dict[str, Any]]:
    """Return payment methods, the default one first."""
    return svc.db.rows(f"{words.name}_wallet", order="is_default DESC, added_at, rowid")


def payer(svc: Service, words: Words, card_id: str | None) -> dict[str, Any]:
    """Return the named payment method, or the default one, if it can be charged; else refuse."""
    known = wallet(svc, words)
    chosen = (
        next((c for c in known if c["id"] == card_id), None) if card_id is not None else known[0]
    )
    if chosen is None:
        message = f"There is no payment method {card_id!r}."
        hint = f"Take a payment_method_id from {words.payments}."
        svc.fail("PAYMENT_METHOD_NOT_FOUND", message, hint, payment_method_id=card_id)
    if card_expired(chosen["expires"], svc.time):
        message = f"{chosen['name']} (…{chosen['last4']}) expired in {chosen['expires']}."
        hint = f"Choose another one from {words.payments}."
        svc.fail("PAYMENT_METHOD_EXPIRED", message, hint, payment_method_id=chosen["id"])
    return chosen


def card_json(svc: Service, card: dict[str, Any]) -> dict[str, Any]:
    """Return a payment method for the agent."""
    shown = {
        "payment_method_id": card["id"],
        "type": card["kind"],
        "name": card["name"],
        "last4": card["last4"],
    }
    return shown | {
        "expires": card["expires"],
        "expired": card_expired(card["expires"], svc.time),
        "is_default": card["is_default"],
    }


def card_ref(svc: Service, words: Words, card_id: str) -> dict[str, Any]:
    """Return `{payment_method_id, name, last4}` of what pays or paid a ride."""
    card = svc.db.get(f"{words.name}_wallet", card_id) or {}
    return {"payment_method_id": card_id, "name": card["name"], "last4": card["last4"]}


# -- promotions ------------------------------------------------------------------------------------
def used_by(svc: Service, words: Words, offer_id: str) -> dict[str, Any] | None:
    """Return the ride that an offer went to, unless that ride was cancelled."""
    rows = svc.db.rows(
        f"{words.name}_rides", "offer_id=? AND cancelled_at IS NULL", offer_id, limit=1
    )
    return rows[0] if rows else None


def offer_state(svc: Service, words: Words, offer: dict[str, Any]) -> str:
    """Return used, expired, upcoming, ineligible (its first rides have been taken), applied or available."""
    if used_by(svc, words, offer["id"]):
        return "used"
    if svc.time >= offer["expires_at"]:
        return "expired"
    if svc.time < offer["starts_at"]:
        return "upcoming"
    if offer["first"] is not None and taken(svc, words, offer) >= offer["first"]:
        return "ineligible"
    return "applied" if offer["applied_at"] else "available"


def taken(svc: Service, words: Words, offer: dict[str, Any]) -> int:
    """Return how many completed rides count against an offer for first rides."""
    rows = svc.db.rows(f"{words.name}_rides", "cancelled_at IS NULL AND ends_at<=?", svc.time)
    return sum(not offer["modes"] or r["mode_id"] in offer["modes"] for r in rows)


def apply_offer(svc: Service, words: Words, offer_id: str) -> dict[str, Any]:
    """Make an offer the one that the next fitting ride uses, in place of any other; return its row."""
    offer = svc.db.get(f"{words.name}_offers", offer_id)
    if offer is None:
        hint = f"Take an offer_id from {words.offers}."
        svc.fail("OFFER_NOT_FOUND", f"There is no offer {offer_id!r}.", hint, offer_id=offer_id)
    state = offer_state(svc, words, offer)
    if state in ("used", "expired", "upcoming"):
        span = {"starts_at": offer["starts_at"], "expires_at": offer["expires_at"]}
        hint = f"{words.offers} shows what can be used now."
        svc.fail(
            f"OFFER_{'NOT_STARTED' if state == 'upcoming' else state.upper()}",
            f"{offer['code']} is {state}.",
            hint,
            **span,
        )
    if state == "ineligible":
        message = f"{offer['code']} is for the first {offer['first']} rides of its types."
        hint = f"{words.offers} shows other offers."
        svc.fail(
            "OFFER_NOT_ELIGIBLE",
            message,
            hint,
            rides_taken=taken(svc, words, offer),
            ride_types=offer["modes"],
        )
    for other in svc.db.rows(f"{words.name}_offers", "applied_at IS NOT NULL AND id<>?", offer_id):
        svc.db.update(f"{words.name}_offers", other["id"], applied_at=None)
    if not offer["applied_at"]:
        svc.db.update(f"{words.name}_offers", offer_id, applied_at=svc.time)
    return svc.db.get(f"{words.name}_offers", offer_id) or {}


def applied(svc: Service, words: Words) -> dict[str, Any] | None:
    """Return the offer that waits for the next fitting ride."""
    rows = svc.db.rows(
        f"{words.name}_offers", "applied_at IS NOT NULL", order="applied_at DESC, rowid"
    )
    return next((r for r in rows if offer_state(svc, words, r) == "applied"), None)


def fits(offer: dict[str, Any], mode: Mode, fare: int) -> bool:
    """Return whether an offer takes something off a ride of this mode and fare."""
    return fare >= offer["minimum"] and (not offer["modes"] or mode.id in offer["modes"])


def off(offer: dict[str, Any] | None, fare: int) -> int:
    """Return the cents that an offer takes off a fare."""
    if offer is None:
        return 0
    cut = offer["amount"] if offer["amount"] is not None else (fare * offer["percent"] + 50) // 100
    return min(fare, cut if offer["most"] is None else min(cut, offer["most"]))


def terms(offer: dict[str, Any]) -> dict[str, Any]:
    """Return what an offer gives and asks for, in dollars and per cent."""
    return {
        "percent_off": offer["percent"],
        "amount_off": None if offer["amount"] is None else dollars(offer["amount"]),
        "max_discount": None if offer["most"] is None else dollars(offer["most"]),
        "min_fare": dollars(offer["minimum"]),
        "first_rides": offer["first"],
        "ride_types": offer["modes"],
        "combinable": False,
    }


# -- the life of a ride ----------------------------------------------------------------------------
def phase(row: dict[str, Any], now: str) -> Phase:
    """Return where a ride, or a courier's drive, stands."""
    if row["cancelled_at"] is not None:
        return "cancelled"
    if now < row["matched_at"]:
        return "scheduled" if row["scheduled_for"] else "matching"
    for moment, name in (
        ("arrives_at", "en_route"),
        ("starts_at", "arrived"),
        ("ends_at", "riding"),
    ):
        if now < row[moment]:
            return name
    return "done"


def timetable(
    key: str, asked: int, wait: int, minutes: int, scheduled: int | None = None
) -> dict[str, str | None]:
    """Return the moments of a ride asked for at `asked`, `wait` and `minutes` as promised; one driver in eight is late."""
    late = int(share("late", key) * 8 * 60) * (share("is late", key) < 0.125)
    matched = (
        asked + 15 + int(75 * share("match", key))
        if scheduled is None
        else max(asked, scheduled - DISPATCH)
    )
    arrives = (matched + wait * MINUTE if scheduled is None else max(matched, scheduled)) + late
    starts = arrives + 60 + int(90 * share("boarding", key))
    moments = {
        "requested_at": asked,
        "matched_at": matched,
        "arrives_at": arrives,
        "starts_at": starts,
        "ends_at": starts + minutes * MINUTE,
    }
    return {"scheduled_for": None if scheduled is None else iso(scheduled)} | {
        name: iso(at) for name, at in moments.items()
    }


def driver_for(
    svc: Service,
    words: Words,
    key: str,
    mode: Mode,
    city: dict[str, Any],
    without: Collection[str] = (),
) -> dict[str, Any] | None:
    """Return a driver of the city whose car fits the mode, not one of `without` if there is a choice."""
    known = svc.db.rows(f"{words.name}_drivers", "city_id=?", city["id"], order="rowid")
    fitting = [d for d in known if not mode.needs or mode.needs in d["skills"]]
    fitting = [d for d in fitting if d["id"] not in without] or fitting
    return fitting[int(share("driver", key) * len(fitting))] if fitting else None


def has_driver(row: dict[str, Any], now: str) -> bool:
    """Return whether a driver took the ride, be it cancelled later or not."""
    return row["matched_at"] <= (row["cancelled_at"] or now)


def on_shift(driver: dict[str, Any], now: int) -> bool:
    """Return whether a driver who is not with us takes rides in this hour."""
    return share("shift", driver["id"], now // 3600) < 0.4


def find_ride(svc: Service, words: Words, ride_id: str) -> dict[str, Any]:
    """Return a ride, or refuse."""
    row = svc.db.get(f"{words.name}_rides", ride_id)
    if row is None:
        message = f"There is no ride {ride_id!r}."
        hint = f"Take a ride_id from {words.rides}."
        svc.fail(words.ride_missing, message, hint, ride_id=ride_id)
    return row


def occupied(svc: Service, words: Words) -> set[str]:
    """Return the ids of the drivers of rides under way, who take no other at the same time."""
    return {r["driver_id"] for r in underway(svc, words)}


def underway(svc: Service, words: Words) -> list[dict[str, Any]]:
    """Return rides that are looking for a driver or have one and are not over."""
    rows = svc.db.rows(
        f"{words.name}_rides",
        "cancelled_at IS NULL AND ends_at>?",
        svc.time,
        order="requested_at, rowid",
    )
    return [r for r in rows if phase(r, svc.time) != "scheduled"]


def minutes(seconds: int) -> int:
    """Return seconds as minutes that have begun, none for what is past."""
    return max(0, -(-seconds // MINUTE))


def minutes_to(svc: Service, row: dict[str, Any]) -> int:
    """Return the minutes to the pickup: as promised before a match, until the driver is there after it."""
    if svc.time < row["matched_at"] and not row["scheduled_for"]:
        return row["wait"]
    return minutes(parse_time(row["arrives_at"]) - svc.now)


def late(svc: Service, row: dict[str, Any]) -> bool:
    """Return whether the driver of a ride should have been there minutes ago."""
    promised = (
        parse_time(row["scheduled_for"])
        if row["scheduled_for"]
        else parse_time(row["matched_at"]) + row["wait"] * MINUTE
    )
    return phase(row, svc.time) == "en_route" and svc.now - promised > LATE


def cancel_fee(svc: Service, row: dict[str, Any], fee: int) -> int:
    """Return what cancelling costs now: nothing before the match, within two minutes of it, or when the driver is late; else the fee."""
    since = svc.now - parse_time(row["matched_at"])
    return (
        0
        if phase(row, svc.time) in ("scheduled", "matching")
        or since <= FREE_CANCEL
        or late(svc, row)
        else fee
    )


def cancellable(svc: Service, words: Words, row: dict[str, Any]) -> None:
    """Refuse to cancel a ride that is over or has begun."""
    where = phase(row, svc.time)
    if where in ("riding", "done", "cancelled"):
        said = {"riding": "has begun", "done": "is over", "cancelled": "was cancelled already"}[
            where
        ]
        hint = "A ride can be cancelled until the driver picks you up."
        svc.fail("RIDE_NOT_CANCELLABLE", f"Ride {row['id']} {said}.", hint, ride_id=row["id"])


def finished(svc: Service, words: Words, ride_id: str, what: str) -> dict[str, Any]:
    """Return a completed ride of the last 30 days, to rate it or tip its driver; else refuse."""
    row = find_ride(svc, words, ride_id)
    if phase(row, svc.time) != "done":
        where = "was cancelled" if row["cancelled_at"] else "is not over yet"
        hint = f"Only a completed ride can be {what}."
        svc.fail("RIDE_NOT_COMPLETED", f"Ride {ride_id} {where}.", hint, ride_id=ride_id)
    if svc.now - parse_time(row["ends_at"]) > AFTERWARDS:
        message = f"Ride {ride_id} ended {row['ends_at']}, more than 30 days ago."
        svc.fail(
            "RATING_WINDOW_CLOSED" if what == "rated" else "TIP_WINDOW_CLOSED",
            message,
            f"{words.rides} shows recent rides.",
        )
    return row


def scheduled_moment(svc: Service, words: Words, moment: str) -> int:
    """Return the moment of a scheduled pickup, 30 minutes to 90 days ahead; else refuse."""
    at = parse_time(moment)
    if not svc.now + SOONEST <= at <= svc.now + LATEST:
        hint = "Schedule from 30 minutes to 90 days ahead; ask for a ride now if it is sooner."
        first = iso(svc.now + SOONEST)
        last = iso(svc.now + LATEST)
        message = f"A pickup at {moment} cannot be scheduled."
        svc.fail("INVALID_PICKUP_TIME", message, hint, earliest=first, latest=last)
    return at


def spots(row: dict[str, Any]) -> tuple[Spot, Spot]:
    """Return where a ride begins and ends."""
    return Spot(row["pickup"], row["pickup_lat"], row["pickup_lng"]), Spot(
        row["dropoff"], row["dropoff_lat"], row["dropoff_lng"]
    )


def ends(a: Spot, b: Spot) -> dict[str, Any]:
    """Return the columns that hold where a ride begins and ends."""
    start = {"pickup": a.address, "pickup_lat": a.lat, "pickup_lng": a.lng}
    return start | {"dropoff": b.address, "dropoff_lat": b.lat, "dropoff_lng": b.lng}


def adjustments(svc: Service, words: Words, ride_id: str) -> list[dict[str, Any]]:
    """Return later corrections of a receipt, oldest first; amounts below zero are refunds."""
    return svc.db.rows(
        f"{words.name}_adjustments", "ride_id=? AND at<=?", ride_id, svc.time, order="at, rowid"
    )


def discount(svc: Service, words: Words, row: dict[str, Any]) -> int:
    """Return the cents that the offer of a ride takes off its fare."""
    return (
        off(svc.db.get(f"{words.name}_offers", row["offer_id"]), row["fare"])
        if row["offer_id"]
        else 0
    )


def charged(svc: Service, words: Words, row: dict[str, Any]) -> dict[str, int]:
    """Return the cents of a receipt: fare, discount, cancel_fee, adjusted, tip and total."""
    fare, cut = (0, 0) if row["cancelled_at"] else (row["fare"], discount(svc, words, row))
    adjusted = sum(a["amount"] for a in adjustments(svc, words, row["id"]))
    total = fare - cut + row["cancel_fee"] + adjusted + row["tip"]
    return {
        "fare": fare,
        "discount": cut,
        "cancel_fee": row["cancel_fee"],
        "adjusted": adjusted,
        "tip": row["tip"],
        "total": total,
    }


# -- quotes ----------------------------------------------------------------------------------------
def quote(words: Words, mode: Mode, points: list[Spot], slot: int) -> str:
    """Return the token of a price: it stands for route, mode and slot, and is kept nowhere."""
    said = repr((words.name, mode.id, [(round(p.lat, 5), round(p.lng, 5)) for p in points], slot))
    return hashlib.blake2b(said.encode(), digest_size=8).hexdigest()


def quoted_at(svc: Service, words: Words, mode: Mode, points: list[Spot], token: str | None) -> int:
    """Return the moment whose price holds: that of the quote if it is for this ride and still honoured, now without one; else refuse."""
    if token is None:
        return svc.now
    slot = svc.now // roads.SLOT
    for back in range(roads.HONOURED):
        if quote(words, mode, points, slot - back) == token:
            return (slot - back) * roads.SLOT
    message = "The quote has expired, or it is for another route or type of ride."
    hint = f"Get a new one from {words.estimate} for exactly these places."
    svc.fail("QUOTE_EXPIRED", message, hint, quote=token)
