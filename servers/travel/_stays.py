"""How stays are booked, changed and cancelled with either provider, and the cards that pay for them."""

from __future__ import annotations

from typing import Any

from servers.kit.fields import card_expired
from servers.kit.service import Service
from servers.kit.values import dollars, iso
from servers.travel import _rules as rules
from servers.travel._rules import Offer, Words


def account(svc: Service, words: Words) -> dict[str, Any]:
    """Return the signed-in account."""
    return svc.db.rows(f"{words.tables}_account")[0]


def cards(svc: Service, words: Words) -> list[dict[str, Any]]:
    """Return saved cards, oldest first."""
    return svc.db.rows(f"{words.tables}_cards", order="added_at, id")


def card_json(svc: Service, card: dict[str, Any]) -> dict[str, Any]:
    """Return a card for the agent."""
    shown = {
        "payment_method_id": card["id"],
        **{k: card[k] for k in ("brand", "name", "last4", "expires")},
    }
    return shown | {"expired": card_expired(card["expires"], svc.time)}


def usable_card(svc: Service, words: Words, card_id: str | None) -> dict[str, Any]:
    """Return the card to charge, or refuse one that is unknown or expired."""
    saved = cards(svc, words)
    chosen = next(
        (
            c
            for c in saved
            if (
                c["id"] == card_id
                if card_id is not None
                else not card_expired(c["expires"], svc.time)
            )
        ),
        None,
    )
    hint = f"Choose another from {words.card_list}."
    if chosen is None:
        which = (
            f"There is no payment method {card_id!r}."
            if card_id is not None
            else "No saved card is valid."
        )
        svc.fail("PAYMENT_METHOD_NOT_FOUND", which, hint, payment_method_id=card_id)
    if card_expired(chosen["expires"], svc.time):
        message = f"{chosen['name']} (…{chosen['last4']}) expired in {chosen['expires']}."
        svc.fail("PAYMENT_METHOD_EXPIRED", message, hint, payment_method_id=chosen["id"])
    return chosen


def require(
    svc: Service, words: Words, found: Offer, stay: tuple[str, str], guests: int, rooms: int
) -> None:
    """Refuse an offer that cannot be had, saying why."""
    room = found.room
    said = {"room_type_id": found.room["id"]}
    if found.problem == "too_small":
        message = f"{room['name']} sleeps {room['sleeps']}; {rooms} of them are too small for {guests} guests."
        svc.fail(
            "TOO_MANY_GUESTS",
            message,
            "Book more rooms or a larger type.",
            max_guests=room["sleeps"] * rooms,
            **said,
        )
    if found.problem == "sold_out":
        message = (
            f"{room['name']}: {found.left} left from {stay[0]} to {stay[1]}, {rooms} asked for."
        )
        svc.fail(
            words.sold_out,
            message,
            f"See {words.room_list} for other rooms, or try other dates.",
            rooms_left=found.left,
            **said,
        )
    if found.problem == "minimum_stay":
        message = f"{room['name']} is let for at least {found.needed} nights on these dates."
        svc.fail(
            "MINIMUM_STAY_NOT_MET",
            message,
            "Stay longer or choose other dates.",
            minimum_nights=found.needed,
            **said,
        )


def create(
    svc: Service,
    words: Words,
    room_type_id: str,
    stay: tuple[str, str],
    guests: int,
    rooms: int,
    guest: tuple[str | None, str | None, str | None],
    requests: str | None,
    card_id: str | None,
    quoted: int | None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Book rooms at today's price, charge the card, and return the booking with its property. `guest`: name, email, phone."""
    room = rules.find_room(svc, words, room_type_id)
    hotel = rules.find_property(svc, words, room["property_id"])
    rules.check_dates(svc, words, hotel, *stay)
    found = rules.offer(svc, words, room, hotel, stay, guests, rooms)
    require(svc, words, found, stay, guests, rooms)
    card = usable_card(svc, words, card_id)
    total = rules.cost(words, hotel, found.prices, rooms).total
    if quoted is not None and quoted != total:
        message = f"The total is ${dollars(total):,.2f} now, not ${dollars(quoted):,.2f}."
        svc.fail(
            "PRICE_CHANGED",
            message,
            f"See {words.room_list} and ask whether the new price is fine.",
            total_price=dollars(total),
        )
    me = account(svc, words)
    made = {
        "id": svc.new_id(words.booking_id),
        "property_id": hotel["property_id"],
        "room_type_id": room_type_id,
        "check_in": stay[0],
        "check_out": stay[1],
        "rooms": rooms,
        "guests": guests,
        "guest_name": guest[0] or me["name"],
        "guest_email": guest[1] or me["email"],
        "guest_phone": guest[2] or me["phone"],
        "requests": requests,
        "nights": found.prices,
        "discount": 0,
        "card_id": card["id"],
        "created_at": svc.time,
        "no_show": False,
    }
    return svc.db.insert(f"{words.tables}_bookings", made), hotel


def modify(
    svc: Service,
    words: Words,
    booking_id: str,
    stay: tuple[str | None, str | None],
    guests: int | None,
    rooms: int | None,
    requests: str | None,
) -> tuple[dict[str, Any], dict[str, Any], int]:
    """Change a booking before arrival; nights it already had keep their price. Returns row, property and the price difference."""
    row, hotel = rules.find_booking(svc, words, booking_id)
    state = rules.status(svc, row, hotel)
    if state != "confirmed":
        svc.fail(
            "CANNOT_MODIFY",
            f"Booking {booking_id} is {state}.",
            "Only bookings ahead can be changed.",
            status=state,
        )
    if stay == (None, None) and guests is None and rooms is None and requests is None:
        svc.fail(
            svc.codes.invalid,
            "Nothing to change was given.",
            "Give dates, guests, rooms or special requests.",
        )
    dates = (stay[0] or row["check_in"], stay[1] or row["check_out"])
    heads = guests or row["guests"]
    count = rooms or row["rooms"]
    room = rules.find_room(svc, words, row["room_type_id"])
    changes = dict[str, Any]()
    if (*dates, count) != (row["check_in"], row["check_out"], row["rooms"]):
        until = rules.deadline(svc, words, row, hotel)
        if until is None or svc.now > until:
            why = (
                f"could be changed until {iso(until)}"
                if until is not None
                else "cannot be changed at this rate"
            )
            hint = "Only guests and special requests can still be changed; cancelling follows the booking's policy."
            svc.fail(
                "CANNOT_MODIFY",
                f"Dates and rooms of booking {booking_id} {why}.",
                hint,
                booking_id=booking_id,
            )
        rules.check_dates(svc, words, hotel, *dates)
        changes = {"check_in": dates[0], "check_out": dates[1], "rooms": count}
    if changes or heads != row["guests"]:
        found = rules.offer(svc, words, room, hotel, dates, heads, count, but=booking_id)
        if changes or found.problem == "too_small":
            require(svc, words, found, dates, heads, count)
        changes |= {"guests": heads} | ({"nights": found.prices} if changes else {})
    if requests is not None and requests != row["requests"]:
        changes["requests"] = requests
    if not changes:
        return row, hotel, 0
    changed = row | changes | {"modified_at": svc.time}
    due = rules.charged(words, room, changed, hotel) - rules.charged(words, room, row, hotel)
    if due > 0:
        usable_card(svc, words, row["card_id"])
    svc.db.update(f"{words.tables}_bookings", booking_id, **changes, modified_at=svc.time)
    return changed, hotel, due


def cancel(svc: Service, words: Words, booking_id: str) -> tuple[dict[str, Any], int, int]:
    """Cancel a booking ahead and return its row, the refund, and what is kept of what was charged, in cents."""
    row, hotel = rules.find_booking(svc, words, booking_id)
    state = rules.status(svc, row, hotel)
    if state == "cancelled":
        message = f"Booking {booking_id} was cancelled at {row['cancelled_at']}."
        svc.fail(
            "ALREADY_CANCELLED", message, "Nothing more needs to be done.", booking_id=booking_id
        )
    if state != "confirmed":
        hint = "A stay that has begun is settled with the property."
        svc.fail(
            "CANNOT_CANCEL",
            f"Booking {booking_id} is {state}.",
            hint,
            booking_id=booking_id,
            status=state,
        )
    back = rules.refund(svc, words, row, hotel)
    svc.db.update(f"{words.tables}_bookings", booking_id, cancelled_at=svc.time)
    kept = rules.charged(words, rules.find_room(svc, words, row["room_type_id"]), row, hotel) - back
    return row | {"cancelled_at": svc.time}, back, kept
