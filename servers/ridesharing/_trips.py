"""The rides of Uber and Lyft: how a ride proceeds, cancellation fees, receipts and quotes.

A ride's status is never stored: it follows from the moments in its row and the current time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from typing import Any, Literal, NamedTuple
from zoneinfo import ZoneInfo

from servers.kit.noise import share
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import iso, parse_time
from servers.kit.zones import epoch
from servers.ridesharing import _roads as roads
from servers.ridesharing._roads import Mode, Spot
from servers.ridesharing._rules import Words, off, profile

ADJUSTMENTS = Table(
    "id:str ride_id:str amount:int reason:str at:str", index=("ride_id",), catalogue=True
)
WAY = (
    "pickup:str/derived pickup_lat:float/matter pickup_lng:float/matter "
    "dropoff:str/derived dropoff_lat:float/matter dropoff_lng:float/matter "
)
"""Columns of the two ends; `pickup` and `dropoff` say what the points are called."""

MOMENTS = "matched_at:str/derived arrives_at:str/derived starts_at:str/derived ends_at:str/derived "
"""Columns that `timetable` draws from the row's id."""

RIDE = (
    "id:str mode_id:str/matter city_id:str/derived driver_id:str/derived card_id:str/ref "
    f"offer_id:str?/ref {WAY}"
    "priced_at:str/derived percent:int/derived fare:int/derived wait:int/derived "
    f"requested_at:str/stamp scheduled_for:str?/appointed {MOMENTS}"
    "cancelled_at:str?/stamp cancelled_by:str?/matter cancel_fee:int/derived "
    "rating:int?/matter rated_at:str?/stamp tip:int/matter tipped_at:str?/stamp "
)
"""Columns of a ride: `fare` is the agreed fare, `wait` the promised minutes to the pickup.

The moments from `matched_at` to `ends_at` are fixed at the time of the request. They come true
unless somebody cancels, so a status follows from the row and the current time alone. They and the
driver are drawn from the ride's id.
"""
RIDE_NOUN = "a ride ({mode_id}) from {pickup} to {dropoff}"
MINUTE = 60
DAY = 86_400
FREE_CANCEL = 2 * MINUTE
"""Seconds after the match in which cancelling is free."""
LATE = 5 * MINUTE
"""Seconds by which a driver must be late before cancelling is free."""
DISPATCH = 15 * MINUTE
"""Seconds before the pickup at which a scheduled ride gets its driver."""
AFTERWARDS = 30 * DAY
"""Seconds after a ride in which it can be rated and the driver tipped."""
SOONEST = 30 * MINUTE
"""Seconds ahead that a scheduled ride must be, at least."""
LATEST = 90 * DAY
"""Seconds ahead that a scheduled ride may be, at most."""
Phase = Literal["scheduled", "matching", "en_route", "arrived", "riding", "done", "cancelled"]


# -- moments and status ----------------------------------------------------------------------------
def timetable(
    key: str, asked: int, wait: int, minutes: int, scheduled: int | None = None
) -> dict[str, str | None]:
    """Return the moments of a ride as columns.

    `asked` is when the ride was requested and `scheduled` when its pickup is due, in seconds;
    `wait` and `minutes` are the promised minutes to the pickup and of the ride. One driver in eight
    is late.
    """
    delay = int(share("late", key) * 8 * 60) if share("is late", key) < 0.125 else 0
    if scheduled is None:
        matched = asked + 15 + int(75 * share("match", key))
        arrives = matched + wait * MINUTE + delay
    else:
        matched = max(asked, scheduled - DISPATCH)
        arrives = max(matched, scheduled) + delay
    starts = arrives + 60 + int(90 * share("boarding", key))
    return {
        "scheduled_for": None if scheduled is None else iso(scheduled),
        "requested_at": iso(asked),
        "matched_at": iso(matched),
        "arrives_at": iso(arrives),
        "starts_at": iso(starts),
        "ends_at": iso(starts + minutes * MINUTE),
    }


def phase(row: Row, now: str) -> Phase:
    """Return the phase that a ride, or a courier's drive, is in."""
    if row["cancelled_at"] is not None:
        return "cancelled"
    if now < row["matched_at"]:
        return "scheduled" if row["scheduled_for"] else "matching"
    if now < row["arrives_at"]:
        return "en_route"
    if now < row["starts_at"]:
        return "arrived"
    return "riding" if now < row["ends_at"] else "done"


def has_driver(row: Row, now: str) -> bool:
    """Return whether a driver accepted the ride, even if it was cancelled later."""
    return row["matched_at"] <= (row["cancelled_at"] or now)


def minutes(seconds: int) -> int:
    """Return seconds as minutes, rounded up; 0 for the past."""
    return max(0, -(-seconds // MINUTE))


def minutes_to(svc: Service, row: Row) -> int | None:
    """Return the minutes to the pickup, or None while a scheduled ride has no driver yet.

    Before the match, these are the promised minutes; after it, those until the driver arrives.
    """
    if svc.time < row["matched_at"]:
        return None if row["scheduled_for"] else row["wait"]
    return minutes(parse_time(row["arrives_at"]) - svc.now)


def late(svc: Service, row: Row) -> bool:
    """Return whether a ride's driver is more than five minutes late."""
    if row["scheduled_for"]:
        promised = parse_time(row["scheduled_for"])
    else:
        promised = parse_time(row["matched_at"]) + row["wait"] * MINUTE
    return phase(row, svc.time) == "en_route" and svc.now - promised > LATE


# -- rides and their ends --------------------------------------------------------------------------
def find_ride(svc: Service, words: Words, ride_id: str) -> Row:
    """Return a ride, or refuse."""
    row = svc.db.get(f"{words.name}_rides", ride_id)
    if row is None:
        message = f"There is no ride with the ID {ride_id!r}."
        hint = f"Use a ride_id from {words.rides}."
        svc.fail(words.ride_missing, message, hint, ride_id=ride_id)
    return row


def underway(svc: Service, words: Words) -> list[dict[str, Any]]:
    """Return the rides that are waiting for a driver or have one and are not over."""
    unfinished = "cancelled_at IS NULL AND ends_at>?"
    order = "requested_at, rowid"
    rides = svc.db.rows(f"{words.name}_rides", unfinished, svc.time, order=order)
    return [r for r in rides if phase(r, svc.time) != "scheduled"]


def finished(svc: Service, words: Words, ride_id: str, what: str) -> dict[str, Any]:
    """Return a completed ride of the last 30 days to rate or tip; refuse any other.

    `what` is "rated" or "tipped".
    """
    row = find_ride(svc, words, ride_id)
    if phase(row, svc.time) != "done":
        where = "was canceled" if row["cancelled_at"] else "is not over yet"
        hint = f"Only a completed ride can be {what}."
        svc.fail("RIDE_NOT_COMPLETED", f"Ride {ride_id} {where}.", hint, ride_id=ride_id)
    if svc.now - parse_time(row["ends_at"]) > AFTERWARDS:
        code = "RATING_WINDOW_CLOSED" if what == "rated" else "TIP_WINDOW_CLOSED"
        message = f"Ride {ride_id} ended {row['ends_at']}, more than 30 days ago."
        svc.fail(code, message, f"{words.rides} lists recent rides.")
    return row


def scheduled_moment(svc: Service, words: Words, moment: str) -> int:
    """Return the moment of a scheduled pickup; refuse one not 30 minutes to 90 days ahead.

    Without an offset, it is in the rider's time zone.
    """
    at = epoch(moment, ZoneInfo(profile(svc, words)["timezone"]))
    if not svc.now + SOONEST <= at <= svc.now + LATEST:
        hint = "Schedule 30 minutes to 90 days ahead, or request a ride now if you need it sooner."
        first = iso(svc.now + SOONEST)
        last = iso(svc.now + LATEST)
        message = f"A pickup cannot be scheduled for {moment}."
        svc.fail("INVALID_PICKUP_TIME", message, hint, earliest=first, latest=last)
    return at


def spots(row: Row) -> tuple[Spot, Spot]:
    """Return the start and the end of a ride."""
    start = Spot(row["pickup"], row["pickup_lat"], row["pickup_lng"])
    end = Spot(row["dropoff"], row["dropoff_lat"], row["dropoff_lng"])
    return start, end


def ends(a: Spot, b: Spot) -> Json:
    """Return the columns for the start and the end of a ride."""
    start = {"pickup": a.address, "pickup_lat": a.lat, "pickup_lng": a.lng}
    return start | {"dropoff": b.address, "dropoff_lat": b.lat, "dropoff_lng": b.lng}


# -- drivers ---------------------------------------------------------------------------------------
def driver_for(
    svc: Service,
    words: Words,
    key: str,
    mode: Mode,
    city: Row,
    without: Collection[str] = (),
) -> dict[str, Any] | None:
    """Return a driver of the city whose car fits the mode, or None if there is none.

    A driver in `without` is chosen only if no other fits.
    """
    drivers = svc.db.rows(f"{words.name}_drivers", "city_id=?", city["id"], order="rowid")
    if mode.needs:
        drivers = [d for d in drivers if mode.needs in d["skills"]]
    drivers = [d for d in drivers if d["id"] not in without] or drivers
    return drivers[int(share("driver", key) * len(drivers))] if drivers else None


def on_shift(driver: Row, now: int) -> bool:
    """Return whether a driver who is not driving the user is working this hour."""
    return share("shift", driver["id"], now // 3600) < 0.4


def occupied(svc: Service, words: Words) -> set[str]:
    """Return the ids of drivers with a ride under way, who are not given another one."""
    return {r["driver_id"] for r in underway(svc, words)}


# -- cancelling ------------------------------------------------------------------------------------
def cancellable(svc: Service, words: Words, row: Row) -> None:
    """Refuse to cancel a ride that has begun or is over."""
    reasons = {"riding": "has begun", "done": "is over", "cancelled": "was already canceled"}
    reason = reasons.get(phase(row, svc.time))
    if reason is not None:
        hint = "A ride can be canceled until the driver picks you up."
        svc.fail("RIDE_NOT_CANCELLABLE", f"Ride {row['id']} {reason}.", hint, ride_id=row["id"])


def cancel_fee(svc: Service, row: Row, fee: int) -> int:
    """Return the cents that cancelling costs now: `fee`, or nothing while it is free.

    It is free before the match, within two minutes of it, and when the driver is late.
    """
    since = svc.now - parse_time(row["matched_at"])
    unmatched = phase(row, svc.time) in ("scheduled", "matching")
    return 0 if unmatched or since <= FREE_CANCEL or late(svc, row) else fee


# -- the receipt -----------------------------------------------------------------------------------
class Receipt(NamedTuple):
    """What a ride has cost so far, in cents; a negative `adjusted` is a refund."""

    fare: int
    discount: int
    cancel_fee: int
    adjusted: int
    tip: int

    @property
    def total(self) -> int:
        """The sum that was charged."""
        return self.fare - self.discount + self.cancel_fee + self.adjusted + self.tip


def charged(svc: Service, words: Words, row: Row) -> Receipt:
    """Return the receipt of a ride as of now."""
    cancelled = bool(row["cancelled_at"])
    return Receipt(
        fare=0 if cancelled else row["fare"],
        discount=0 if cancelled else discount(svc, words, row),
        cancel_fee=row["cancel_fee"],
        adjusted=sum(a["amount"] for a in adjustments(svc, words, row["id"])),
        tip=row["tip"],
    )


def discount(svc: Service, words: Words, row: Row) -> int:
    """Return the cents that the offer of a ride takes off its fare."""
    if not row["offer_id"]:
        return 0
    return off(svc.db.get(f"{words.name}_offers", row["offer_id"]), row["fare"])


def adjustments(svc: Service, words: Words, ride_id: str) -> list[Row]:
    """Return later corrections of a receipt, oldest first; negative amounts are refunds."""
    return svc.db.rows(
        f"{words.name}_adjustments", "ride_id=? AND at<=?", ride_id, svc.time, order="at, rowid"
    )


# -- quotes ----------------------------------------------------------------------------------------
def quote(words: Words, mode: Mode, points: list[Spot], slot: int) -> str:
    """Return the token of a price: a digest of provider, mode, route and slot. It is not stored."""
    route = [(round(p.lat, 5), round(p.lng, 5)) for p in points]
    text = repr((words.name, mode.id, route, slot))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def quoted_at(svc: Service, words: Words, mode: Mode, points: list[Spot], token: str | None) -> int:
    """Return the moment whose price applies: the quote's, or now if there is no quote.

    A quote for another ride, or one that is no longer honoured, is refused.
    """
    if token is None:
        return svc.now
    slot = svc.now // roads.SLOT
    for back in range(roads.HONOURED):
        if quote(words, mode, points, slot - back) == token:
            return (slot - back) * roads.SLOT
    message = "The quote has expired, or it is for another route or ride type."
    hint = f"Get a new quote from {words.estimate} for exactly these places."
    svc.fail("QUOTE_EXPIRED", message, hint, quote=token)
