"""What Booking.com and Expedia mailed about a person's stays, from the services' own templates."""

from __future__ import annotations

from typing import Any

from scenarios.worlds.build import Builder
from servers.kit.types import Row
from servers.kit.values import parse_time
from servers.travel import _bookings as bookings
from servers.travel import _mail as mail
from servers.travel.booking._model import WORDS as BOOKING
from servers.travel.expedia._model import WORDS as EXPEDIA

WORDS = {"booking": BOOKING, "expedia": EXPEDIA}


def tell(
    builder: Builder,
    site: str,
    stay: dict[str, Any],
    row: Row,
    hotel: Row,
    room: Row,
    card: Row,
) -> None:
    """Let a provider mail about a stay: what it did, and what comes by itself around the dates.

    What comes after the start waits, and is void if the stay is cancelled by then.
    """
    words = WORDS[site]
    me = builder.person["emails"]["personal"]
    made = parse_time(row["created_at"])
    said = mail.said(words, row, hotel, room, card)
    builder.posted(made, site, "booked", me, said, about=row["id"])
    if stay.get("cancelled"):
        at = parse_time(stay["cancelled"])
        refund = bookings.refund_at(words, room, row, hotel, at)
        kept = bookings.charged(words, room, row, hotel) - refund
        more = {"refund": refund or None, "kept": kept or None, "payout": None, "premium": None}
        builder.posted(at, site, "cancelled", me, said | more, about=row["id"])
        return
    if stay.get("no_show"):
        return
    for occasion, moment in mail.LATER.items():
        due = moment(row, hotel)
        builder.posted(made, site, occasion, me, said, about=row["id"], due=due)
