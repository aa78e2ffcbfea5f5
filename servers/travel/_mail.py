"""What either provider mails about a stay: to the account, and to a guest with another address."""

from __future__ import annotations

from datetime import date, time, timedelta
from typing import Any

from servers.kit.service import Service
from servers.kit.types import Json, Row
from servers.kit.values import iso, parse_time
from servers.kit.zones import local_moment
from servers.travel import _bookings as bookings
from servers.travel import _rules as rules
from servers.travel import _stock as stock
from servers.travel._rules import Words


# -- what a mail says ------------------------------------------------------------------------------
def said(words: Words, row: Row, hotel: Row, room: Row, card: Row | None) -> dict[str, Any]:
    """Return the fields of a mail about a stay; those that do not apply are null."""
    price = bookings.booked(words, row, hotel)
    charged = bookings.charged(words, room, row, hotel)
    made = parse_time(row["created_at"])
    until = bookings.free_until(words, room, row["check_in"], hotel, made)
    there = price.total - charged
    if not words.fees_included:
        there += price.fees
    return {
        "reference": row["id"],
        "hotel": hotel["name"],
        "address": f"{hotel['street']}, {hotel['city']}, {hotel['state']} {hotel['zip']}",
        "phone": hotel["phone"],
        "room": room["name"],
        "rooms": row["rooms"],
        "guests": row["guests"],
        "guest": row["guest_name"],
        "check_in": row["check_in"],
        "opens": hotel["opens"],
        "check_out": row["check_out"],
        "leaves": hotel["leaves"],
        "requests": row.get("requests"),
        "nights": [night.isoformat() for night in stock.nights(row["check_in"], row["check_out"])],
        "prices": [night * row["rooms"] for night in row["nights"]],
        "discount": price.discount or None,
        "taxes": price.taxes or None,
        "fees": price.fees or None,
        "total": price.total,
        "charged": charged or None,
        "due_there": there or None,
        "card": card and f"{card['brand'].title()} ending in {card['last4']}",
        "free_until": None if until is None else iso(until),
        "otherwise": _otherwise(room, until),
    }


def _otherwise(room: Row, until: int | None) -> str:
    if bookings.policy(room).late == "first_night":
        lost = "the first night is charged"
    else:
        lost = "nothing is refunded"
    return f"After that, {lost}." if until is not None else f"If you cancel, {lost}."


# -- moments ---------------------------------------------------------------------------------------
def reminds_at(row: Row, hotel: Row) -> int:
    """Return the moment of the reminder: a day before guests may check in."""
    return bookings.arrival(row, hotel) - rules.DAY


def asks_at(row: Row, hotel: Row) -> int:
    """Return the moment at which the guest is asked how it was: ten on the next morning."""
    morning = date.fromisoformat(row["check_out"]) + timedelta(days=1)
    return local_moment(morning, time(10), rules.zone(hotel))


LATER = {"check_in_soon": reminds_at, "how_was_it": asks_at}
"""Mails that come by themselves, and when."""


# -- posting ---------------------------------------------------------------------------------------
def tell(
    svc: Service,
    words: Words,
    occasion: str,
    row: Row,
    more: Json | None = None,
    *,
    about: str = "",
) -> None:
    """Mail about what was just done with a stay; `more` are more fields.

    A guest with another address learns of it, too, unless it is `about` another row than the stay;
    which card pays is not the guest's business.
    """
    hotel = rules.find_property(svc, words, row["property_id"])
    data = _said(svc, words, row, hotel) | (more or {})
    account = svc.db.rows(f"{words.tables}_account")[0]
    svc.post(occasion, account["email"], data, about=about or row["id"])
    if not about:
        for guest in addresses(row, account)[1:]:
            svc.post(occasion, guest, data | {"card": None}, about=row["id"])


def announce(svc: Service, words: Words, row: Row, before: Row | None = None) -> None:
    """Post what will be mailed before and after a stay, where its moment is not the one of before.

    `when_due` voids what was posted for other dates.
    """
    hotel = rules.find_property(svc, words, row["property_id"])
    account = svc.db.rows(f"{words.tables}_account")[0]
    data = _said(svc, words, row, hotel)
    for occasion, moment in LATER.items():
        due = moment(row, hotel)
        where = "about=? AND template=? AND due_at=?"
        waits = svc.db.rows("outbox", where, row["id"], occasion, iso(due))
        if due <= svc.now or waits or (before is not None and due == moment(before, hotel)):
            continue
        svc.post(occasion, account["email"], data, about=row["id"], due=due)


def when_due(svc: Service, words: Words, post: Row) -> Json | None:
    """Return what a mail before or after a stay says now, or None if there is no such stay."""
    row = svc.db.get(f"{words.tables}_bookings", post["about"])
    if row is None or row["cancelled_at"] is not None or row["no_show"]:
        return None
    hotel = rules.find_property(svc, words, row["property_id"])
    if iso(LATER[post["template"]](row, hotel)) != post["due_at"]:
        return None
    return _said(svc, words, row, hotel)


def addresses(row: Row, account: Row) -> list[str]:
    """Return who is mailed about a stay: the account, and a guest with another address."""
    found: dict[str, str] = {account["email"].lower(): account["email"]}
    guest = row["guest_email"] or account["email"]
    found.setdefault(guest.lower(), guest)
    return list(found.values())


def _said(svc: Service, words: Words, row: Row, hotel: Row) -> dict[str, Any]:
    room = rules.find_room(svc, words, row["room_type_id"])
    card = svc.db.get(f"{words.tables}_cards", row["card_id"])
    return said(words, row, hotel, room, card)
