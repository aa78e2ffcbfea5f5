"""The life of a booking with either provider: its policy, status, and cancellation refund."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import Any, Literal

from servers.kit.listing import Listing
from servers.kit.service import Service
from servers.kit.types import Row
from servers.kit.values import iso, parse_time, round_cents
from servers.kit.zones import local_moment
from servers.travel import _rules as rules
from servers.travel._rules import Cost, Words


# -- rows ------------------------------------------------------------------------------------------
def find_booking(
    svc: Service, words: Words, booking_id: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a booking and its property, or refuse."""
    row = svc.db.get(f"{words.tables}_bookings", booking_id)
    if row is None:
        message = f"There is no booking {booking_id!r} in this account."
        hint = f"Use a booking_id from {words.booking_list}."
        svc.fail(words.no_booking, message, hint, booking_id=booking_id)
    return row, rules.find_property(svc, words, row["property_id"])


def by_status(
    svc: Service,
    words: Words,
    wanted: str | None,
    since: str | None = None,
    until: str | None = None,
) -> Listing:
    """Return the bookings with a status (None: with any), latest arrival first.

    `since` and `until` are the first and the last day of arrival.
    """
    rows = Listing(svc.db, f"{words.tables}_bookings", by="check_in").days(since, until, None)
    if wanted is None:
        return rows
    if wanted in ("confirmed", "checked_in"):
        # Two days cover every time zone; what ended before needs no look.
        recent = iso(svc.now - 2 * 86_400)[:10]
        rows = rows.only("check_in>=? OR check_out>=?", recent, recent)

    def fits(row: Row) -> bool:
        hotel = rules.find_property(svc, words, row["property_id"])
        return status(svc, row, hotel) == wanted

    return rows.keep(fits)


def completed(svc: Service, words: Words, since: str = "") -> int:
    """Return how many stays were completed, of those that ended on a day or later."""
    # Two days cover every time zone; for what ended before, the columns alone tell.
    recent = iso(svc.now - 2 * 86_400)[:10]
    over = svc.db.sql(
        f"SELECT count(*) FROM {words.tables}_bookings "
        "WHERE check_out>=? AND check_out<? AND cancelled_at IS NULL AND NOT no_show",
        since,
        recent,
    )
    done = over[0][0]
    for row in svc.db.rows(f"{words.tables}_bookings", "check_out>=?", max(since, recent)):
        if status(svc, row, rules.find_property(svc, words, row["property_id"])) == "completed":
            done += 1
    return done


# -- money -----------------------------------------------------------------------------------------
def booked(words: Words, row: Row, hotel: Row) -> Cost:
    """Return the cost of a booking."""
    return rules.cost(words, hotel, row["nights"], row["rooms"], row["discount"])


def charged(words: Words, room: Row, row: Row, hotel: Row) -> int:
    """Return the amount charged to the card for a booking: its total or a deposit, in cents."""
    return round_cents(booked(words, row, hotel).total * room["deposit"] / 100)


# -- status ----------------------------------------------------------------------------------------
def arrival(row: Row, hotel: Row) -> int:
    """Return the moment from which guests may check in."""
    return _at(hotel, row["check_in"], hotel["opens"])


def status(svc: Service, row: Row, hotel: Row) -> str:
    """Return confirmed, checked_in, completed, cancelled or no_show, as of now."""
    if row["cancelled_at"] is not None:
        return "cancelled"
    if svc.now < arrival(row, hotel):
        return "confirmed"
    next_day = date.fromisoformat(row["check_in"]) + timedelta(days=1)
    if row["no_show"] and svc.now >= local_moment(next_day, time(4), rules.zone(hotel)):
        return "no_show"
    leaves = _at(hotel, row["check_out"], hotel["leaves"])
    return "checked_in" if svc.now < leaves else "completed"


def _at(hotel: Row, day: str, clock: str) -> int:
    """Return the moment of a date and time at a property."""
    return local_moment(date.fromisoformat(day), time.fromisoformat(clock), rules.zone(hotel))


# -- cancelling ------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Policy:
    """How many days before arrival free cancellation ends, and what cancelling costs after that.

    `days` is None if cancellation is never free.
    """

    days: int | None
    late: Literal["first_night", "everything"]


def policy(room: Row) -> Policy:
    """Return the policy of a room type.

    Its column says `<days>:first_night`, `<days>:everything` or `none`.
    """
    days, _, late = room["policy"].partition(":")
    if not late:
        return Policy(None, "everything")
    return Policy(int(days), "first_night" if late == "first_night" else "everything")


def free_until(words: Words, room: Row, check_in: str, hotel: Row, created: int) -> int | None:
    """Return the moment until which cancelling a stay is free, or None if it never is.

    `created` is the moment when the stay was booked, or would be.
    """
    first = date.fromisoformat(check_in)
    days = policy(room).days
    ends = []
    if days is not None:
        last_day = first - timedelta(days=days)
        ends.append(local_moment(last_day, time(words.hour), rules.zone(hotel)))
    week_ahead = local_moment(first, time(0), rules.zone(hotel)) - created >= 7 * rules.DAY
    if words.grace and week_ahead:
        ends.append(created + words.grace)
    return max((end for end in ends if end > created), default=None)


def deadline(svc: Service, words: Words, row: Row, hotel: Row) -> int | None:
    """Return the moment until which cancelling a booking is free, or None if it never is."""
    room = rules.find_room(svc, words, row["room_type_id"])
    return free_until(words, room, row["check_in"], hotel, parse_time(row["created_at"]))


def refund(svc: Service, words: Words, row: Row, hotel: Row) -> int:
    """Return the refund in cents for cancelling a booking now, or for its cancellation."""
    at = parse_time(row["cancelled_at"]) if row["cancelled_at"] is not None else svc.now
    return refund_at(words, rules.find_room(svc, words, row["room_type_id"]), row, hotel, at)


def refund_at(words: Words, room: Row, row: Row, hotel: Row, at: int) -> int:
    """Return the refund in cents for cancelling a booking at a moment."""
    paid = charged(words, room, row, hotel)
    until = free_until(words, room, row["check_in"], hotel, parse_time(row["created_at"]))
    if at >= arrival(row, hotel):
        return 0
    if until is not None and at <= until:
        return paid
    if policy(room).late == "everything":
        return 0
    first_night = rules.cost(words, hotel, row["nights"][:1], row["rooms"], row["discount"])
    return max(0, paid - first_night.total)
