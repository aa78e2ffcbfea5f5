"""How either provider books, changes and cancels stays, and the cards it charges."""

from __future__ import annotations

from typing import Any, NamedTuple

from servers.kit.fields import card_expired
from servers.kit.service import Service
from servers.kit.types import Json, Row
from servers.kit.values import dollars, iso
from servers.travel import _bookings as bookings
from servers.travel import _mail as mail
from servers.travel import _rules as rules
from servers.travel._rules import Offer, Words


class Guest(NamedTuple):
    """Who stays; None means the value of the account."""

    name: str | None
    email: str | None
    phone: str | None


class Modified(NamedTuple):
    """A changed booking, its property, and the cents to charge (or refund, if negative)."""

    row: Row
    hotel: dict[str, Any]
    due: int


class Cancelled(NamedTuple):
    """A cancelled booking, the cents refunded, and the cents charged but not refunded."""

    row: Row
    refund: int
    kept: int


# -- account and cards -----------------------------------------------------------------------------


def account(svc: Service, words: Words) -> Row:
    """Return the signed-in account."""
    return svc.db.rows(f"{words.tables}_account")[0]


def cards(svc: Service, words: Words) -> list[Row]:
    """Return the saved cards, oldest first."""
    return svc.db.rows(f"{words.tables}_cards", order="added_at, id")


def card_json(svc: Service, card: Row) -> Json:
    """Return a card as agents see it."""
    return {
        "payment_method_id": card["id"],
        "brand": card["brand"],
        "name": card["name"],
        "last4": card["last4"],
        "expires": card["expires"],
        "expired": card_expired(card["expires"], svc.time),
    }


def paying_card(svc: Service, words: Words) -> dict[str, Any] | None:
    """Return the default card: the first that has not expired."""
    saved = cards(svc, words)
    return next((c for c in saved if not card_expired(c["expires"], svc.time)), None)


def usable_card(svc: Service, words: Words, card_id: str | None) -> dict[str, Any]:
    """Return the card to charge, or refuse one that is unknown or expired."""
    hint = f"Choose another one from {words.card_list}."
    if card_id is None:
        message = "There is no valid card on file."
        card = paying_card(svc, words)
    else:
        message = f"There is no payment method {card_id!r}."
        card = next((c for c in cards(svc, words) if c["id"] == card_id), None)
    if card is None:
        svc.fail("PAYMENT_METHOD_NOT_FOUND", message, hint, payment_method_id=card_id)
    if card_expired(card["expires"], svc.time):
        message = f"{card['name']} (…{card['last4']}) expired in {card['expires']}."
        svc.fail("PAYMENT_METHOD_EXPIRED", message, hint, payment_method_id=card["id"])
    return card


# -- bookings --------------------------------------------------------------------------------------


def require(
    svc: Service, words: Words, offer: Offer, stay: tuple[str, str], guests: int, rooms: int
) -> None:
    """Refuse an offer that cannot be booked, with the reason."""
    room = offer.room
    name = room["name"]
    if offer.problem == "too_small":
        sleeps = f"{name} sleeps {room['sleeps']}"
        svc.fail(
            "TOO_MANY_GUESTS",
            f"{sleeps}; {rooms} of them cannot take {guests} guests.",
            "Book more rooms, or a larger room type.",
            max_guests=room["sleeps"] * rooms,
            room_type_id=room["id"],
        )
    if offer.problem == "sold_out":
        svc.fail(
            words.sold_out,
            f"{name}: only {offer.left} left from {stay[0]} to {stay[1]}; you asked for {rooms}.",
            f"Choose another room from {words.room_list}, or other dates.",
            rooms_left=offer.left,
            room_type_id=room["id"],
        )
    if offer.problem == "minimum_stay":
        svc.fail(
            "MINIMUM_STAY_NOT_MET",
            f"{name} requires a stay of at least {offer.needed} nights on these dates.",
            "Book a longer stay, or choose other dates.",
            minimum_nights=offer.needed,
            room_type_id=room["id"],
        )


def create(
    svc: Service,
    words: Words,
    room_type_id: str,
    stay: tuple[str, str],
    guests: int,
    rooms: int,
    guest: Guest,
    requests: str | None,
    card_id: str | None,
    quoted: int | None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Book rooms at today's price, charge the card, and return the booking and its property.

    `quoted` is the total in cents that the user agreed to, if any.
    """
    room = rules.find_room(svc, words, room_type_id)
    hotel = rules.find_property(svc, words, room["property_id"])
    rules.check_dates(svc, words, hotel, *stay)
    offer = rules.offer(svc, words, room, hotel, stay, guests, rooms)
    require(svc, words, offer, stay, guests, rooms)
    card = usable_card(svc, words, card_id)
    total = rules.cost(words, hotel, offer.prices, rooms).total
    if quoted is not None and quoted != total:
        message = f"The total is now ${dollars(total):,.2f}, not ${dollars(quoted):,.2f}."
        hint = f"See {words.room_list}, and ask the user whether the new price is acceptable."
        svc.fail("PRICE_CHANGED", message, hint, total_price=dollars(total))
    me = account(svc, words)
    row = {
        "id": svc.new_id(words.booking_id),
        "property_id": hotel["property_id"],
        "room_type_id": room_type_id,
        "check_in": stay[0],
        "check_out": stay[1],
        "rooms": rooms,
        "guests": guests,
        "guest_name": guest.name or me["name"],
        "guest_email": guest.email or me["email"],
        "guest_phone": guest.phone or me["phone"],
        "requests": requests,
        "nights": offer.prices,
        "discount": 0,
        "card_id": card["id"],
        "created_at": svc.time,
        "no_show": False,
    }
    booked = svc.db.insert(f"{words.tables}_bookings", row)
    mail.tell(svc, words, "booked", booked)
    mail.announce(svc, words, booked)
    return booked, hotel


def modify(
    svc: Service,
    words: Words,
    booking_id: str,
    stay: tuple[str | None, str | None],
    guests: int | None,
    rooms: int | None,
    requests: str | None,
) -> Modified:
    """Change a booking before arrival; nights already booked keep their price."""
    row, hotel = bookings.find_booking(svc, words, booking_id)
    status = bookings.status(svc, row, hotel)
    if status != "confirmed":
        message = f"Booking {booking_id} is {status}."
        svc.fail("CANNOT_MODIFY", message, "Only upcoming bookings can be changed.", status=status)
    if stay == (None, None) and guests is None and rooms is None and requests is None:
        message = "No changes were given."
        svc.fail(svc.codes.invalid, message, "Give dates, guests, rooms or special requests.")
    dates = (stay[0] or row["check_in"], stay[1] or row["check_out"])
    guest_count = guests or row["guests"]
    room_count = rooms or row["rooms"]
    room = rules.find_room(svc, words, row["room_type_id"])
    changes: dict[str, Any] = {}
    if (*dates, room_count) != (row["check_in"], row["check_out"], row["rooms"]):
        _refuse_late_change(svc, words, row, hotel)
        rules.check_dates(svc, words, hotel, *dates)
        changes = {"check_in": dates[0], "check_out": dates[1], "rooms": room_count}
    moved = bool(changes)
    if moved or guest_count != row["guests"]:
        offer = rules.offer(svc, words, room, hotel, dates, guest_count, room_count, but=booking_id)
        # More guests in the same rooms and nights need beds, but no more free rooms.
        if moved or offer.problem == "too_small":
            require(svc, words, offer, dates, guest_count, room_count)
        changes["guests"] = guest_count
        if moved:
            changes["nights"] = offer.prices
    if requests is not None and requests != row["requests"]:
        changes["requests"] = requests
    if not changes:
        return Modified(row, hotel, 0)
    changed = row | changes | {"modified_at": svc.time}
    before = bookings.charged(words, room, row, hotel)
    due = bookings.charged(words, room, changed, hotel) - before
    if due > 0:
        usable_card(svc, words, row["card_id"])
    svc.db.update(f"{words.tables}_bookings", booking_id, **changes, modified_at=svc.time)
    paid = {"due": max(due, 0) or None, "back": max(-due, 0) or None}
    mail.tell(svc, words, "changed", changed, paid)
    mail.announce(svc, words, changed, row)
    return Modified(changed, hotel, due)


def _refuse_late_change(svc: Service, words: Words, row: Row, hotel: Row) -> None:
    """Refuse new dates or rooms once cancellation is no longer free."""
    until = bookings.deadline(svc, words, row, hotel)
    if until is not None and svc.now <= until:
        return
    why = "cannot be changed at this rate"
    if until is not None:
        why = f"could be changed until {iso(until)}"
    svc.fail(
        "CANNOT_MODIFY",
        f"Dates and rooms of booking {row['id']} {why}.",
        "You can still change guests and special requests; "
        "cancellation follows the booking's policy.",
        booking_id=row["id"],
    )


def cancel(svc: Service, words: Words, booking_id: str) -> Cancelled:
    """Cancel a booking before arrival."""
    row, hotel = bookings.find_booking(svc, words, booking_id)
    status = bookings.status(svc, row, hotel)
    if status == "cancelled":
        message = f"Booking {booking_id} was cancelled at {row['cancelled_at']}."
        hint = "There is nothing more to do."
        svc.fail("ALREADY_CANCELLED", message, hint, booking_id=booking_id)
    if status != "confirmed":
        message = f"Booking {booking_id} is {status}."
        hint = "Only upcoming bookings can be cancelled; contact the property about this stay."
        svc.fail("CANNOT_CANCEL", message, hint, booking_id=booking_id, status=status)
    room = rules.find_room(svc, words, row["room_type_id"])
    refund = bookings.refund(svc, words, row, hotel)
    kept = bookings.charged(words, room, row, hotel) - refund
    svc.db.update(f"{words.tables}_bookings", booking_id, cancelled_at=svc.time)
    return Cancelled(row | {"cancelled_at": svc.time}, refund, kept)
