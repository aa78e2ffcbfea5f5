"""Booking.com's tables, names and policies, and the form of its properties, rooms and bookings.

Totals include taxes and the property's fees.
"""

from __future__ import annotations

from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import dollars, iso
from servers.travel import _bookings as bookings
from servers.travel import _rules as rules
from servers.travel import _stock as stock
from servers.travel._rules import Offer

TABLES = {
    "booking_account": rules.ACCOUNT,
    "booking_travelers": rules.TRAVELERS,
    "booking_cards": rules.CARDS,
    # `genius` is the highest member discount of the property in percent, 0 if it does not
    # participate.
    "booking_properties": Table(
        "id:str hotel_id:str name:str rating:float review_count:int genius:int",
        index=("hotel_id",),
        catalogue=True,
    ),
    "booking_room_types": rules.ROOM_TYPES,
    "booking_bookings": rules.BOOKINGS,
    # `looks_at` is when the price is looked at again, until the alert triggers or expires.
    "booking_price_alerts": Table(
        "id:str property_id:str/ref check_in:str/appointed check_out:str/appointed "
        "target:int?/matter started:int?/derived created_at:str/stamp looks_at:str?/derived",
        noun="a price alert for {property_id} from {check_in:day} to {check_out:day}",
    ),
}
WORDS = rules.Words(
    tables="booking",
    booking_id="bkg",
    hour=18,
    longest=30,
    fees_included=True,
    grace=0,
    no_property="PROPERTY_NOT_FOUND",
    no_booking="BOOKING_NOT_FOUND",
    sold_out="NO_AVAILABILITY",
    search="search_properties",
    room_list="get_room_types",
    booking_list="list_bookings",
    card_list="list_payment_methods",
)


def property_json(hotel: Row) -> Json:
    """Return the short form of a property."""
    return {
        "property_id": hotel["property_id"],
        "name": hotel["name"],
        "type": hotel["kind"],
        "stars": hotel["stars"],
        "address": hotel["street"],
        "city": hotel["city"],
        "state": hotel["state"],
        "review_score": hotel["rating"],
        "review_count": hotel["review_count"],
        "amenities": hotel["amenities"],
    }


def policy_name(room: Row) -> str:
    """Return flexible, moderate, strict or non_refundable."""
    days = bookings.policy(room).days
    if days is None:
        return "non_refundable"
    if days <= 3:
        return "flexible"
    return "moderate" if days <= 7 else "strict"


def terms(room: Row) -> str:
    """Return the text of a room type's policy."""
    policy = bookings.policy(room)
    if policy.days is None:
        return "Nothing is refunded and dates cannot be changed."
    then = "then nothing is refunded"
    if policy.late == "first_night":
        then = "then the first night is charged"
    return f"Free cancellation until 18:00, {policy.days} days before arrival; {then}."


def nightly_json(check_in: str, check_out: str, prices: list[int]) -> list[Json]:
    """Return the nights of a stay with their prices."""
    days = stock.nights(check_in, check_out)
    nights = zip(days, prices, strict=True)
    return [{"date": day.isoformat(), "price": dollars(price)} for day, price in nights]


def cancellation_json(room: Row, check_in: str, hotel: Row, created: int) -> Json:
    """Return a policy and its free cancellation deadline for a booking made at `created`."""
    until = bookings.free_until(WORDS, room, check_in, hotel, created)
    return {
        "policy": policy_name(room),
        "terms": terms(room),
        "free_until": None if until is None else iso(until),
    }


def offer_json(svc: Service, offer: Offer, hotel: Row, stay: tuple[str, str]) -> Json:
    """Return a room type with the price of each night and the total for one room."""
    room = offer.room
    price = rules.cost(WORDS, hotel, offer.prices, 1)
    return {
        "room_type_id": room["id"],
        "name": room["name"],
        "sleeps": room["sleeps"],
        "beds": room["beds"],
        "breakfast_included": room["breakfast"],
        "available": offer.problem is None,
        "unavailable_reason": offer.problem,
        "rooms_left": offer.left,
        "minimum_nights": offer.needed,
        "nightly_prices": nightly_json(*stay, offer.prices),
        "average_price_per_night": dollars(offer.average),
        "price_before_taxes": dollars(price.lodging),
        "taxes_and_fees": dollars(price.taxes + price.fees),
        "total_price": dollars(price.total),
        "deposit_percent": room["deposit"],
        "cancellation": cancellation_json(room, stay[0], hotel, svc.now),
    }


def booking_json(svc: Service, row: Row, hotel: Row) -> Json:
    """Return a booking with its current status."""
    room = rules.find_room(svc, WORDS, row["room_type_id"])
    price = bookings.booked(WORDS, row, hotel)
    charged = bookings.charged(WORDS, room, row, hotel)
    until = bookings.deadline(svc, WORDS, row, hotel)
    refund = None
    if row["cancelled_at"] is not None:
        refund = dollars(bookings.refund(svc, WORDS, row, hotel))
    return {
        "booking_id": row["id"],
        "booking_status": bookings.status(svc, row, hotel),
        "property_id": hotel["property_id"],
        "property_name": hotel["name"],
        "address": f"{hotel['street']}, {hotel['city']}, {hotel['state']}",
        "phone": hotel["phone"],
        "room_type_id": room["id"],
        "room_name": room["name"],
        "check_in_date": row["check_in"],
        "check_in_from": hotel["opens"],
        "check_out_date": row["check_out"],
        "check_out_until": hotel["leaves"],
        "timezone": hotel["timezone"],
        "num_guests": row["guests"],
        "rooms_booked": row["rooms"],
        "guest_name": row["guest_name"],
        "guest_email": row["guest_email"],
        "guest_phone": row["guest_phone"],
        "special_requests": row["requests"],
        "nightly_prices": nightly_json(row["check_in"], row["check_out"], row["nights"]),
        "price_before_taxes": dollars(price.lodging),
        "genius_discount_percent": row["discount"],
        "genius_discount": dollars(price.discount),
        "taxes_and_fees": dollars(price.taxes + price.fees),
        "total_price": dollars(price.total),
        "charged_at_booking": dollars(charged),
        "due_at_property": dollars(price.total - charged),
        "cancellation_policy": terms(room),
        "free_cancellation_until": None if until is None else iso(until),
        "refund_amount": refund,
        "payment_method_id": row["card_id"],
        "booked_at": row["created_at"],
        "modified_at": row["modified_at"],
        "cancelled_at": row["cancelled_at"],
    }
