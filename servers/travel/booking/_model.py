"""Booking.com's tables, words, policies, and how it shows houses, rooms and bookings. Totals include taxes and the house's fees."""

from __future__ import annotations

from typing import Any

from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.values import dollars, iso
from servers.travel import _rules as rules
from servers.travel import _stock as stock
from servers.travel._rules import Offer

TABLES = {
    "booking_account": rules.ACCOUNT,
    "booking_travelers": rules.TRAVELERS,
    "booking_cards": rules.CARDS,
    # `genius`: the highest discount (percent) that the house gives to members; 0 where it takes no part.
    "booking_properties": Table(
        "id:str hotel_id:str name:str rating:float review_count:int genius:int", index=("hotel_id",)
    ),
    "booking_room_types": rules.ROOM_TYPES,
    "booking_bookings": rules.BOOKINGS,
    "booking_price_alerts": Table(
        "id:str property_id:str check_in:str check_out:str target:int? started:int? created_at:str"
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


def property_json(hotel: dict[str, Any]) -> dict[str, Any]:
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


def policy_name(room: dict[str, Any]) -> str:
    """Return flexible, moderate, strict or non_refundable."""
    days = rules.policy(room).days
    if days is None:
        return "non_refundable"
    return "flexible" if days <= 3 else ("moderate" if days <= 7 else "strict")


def terms(room: dict[str, Any]) -> str:
    """Return a room type's policy in words."""
    found = rules.policy(room)
    if found.days is None:
        return "Nothing is refunded and dates cannot be changed."
    then = (
        "then the first night is charged"
        if found.late == "first_night"
        else "then nothing is refunded"
    )
    return f"Free cancellation until 18:00, {found.days} days before arrival; {then}."


def cancellation_json(
    room: dict[str, Any], check_in: str, hotel: dict[str, Any], created: int
) -> dict[str, Any]:
    """Return a policy with the moment until which it is free, for a booking made at `created`."""
    until = rules.free_until(WORDS, room, check_in, hotel, created)
    return {
        "policy": policy_name(room),
        "terms": terms(room),
        "free_until": None if until is None else iso(until),
    }


def offer_json(
    svc: Service, found: Offer, hotel: dict[str, Any], stay: tuple[str, str]
) -> dict[str, Any]:
    """Return a room type with the price of each night and what one room costs in all."""
    room = found.room
    price = rules.cost(WORDS, hotel, found.prices, 1)
    days = stock.nights(*stay)
    return {
        "room_type_id": room["id"],
        "name": room["name"],
        "sleeps": room["sleeps"],
        "beds": room["beds"],
        "breakfast_included": room["breakfast"],
        "available": found.problem is None,
        "unavailable_reason": found.problem,
        "rooms_left": found.left,
        "minimum_nights": found.needed,
        "nightly_prices": [
            {"date": d.isoformat(), "price": dollars(p)}
            for d, p in zip(days, found.prices, strict=True)
        ],
        "average_price_per_night": dollars(found.average),
        "price_before_taxes": dollars(price.lodging),
        "taxes_and_fees": dollars(price.taxes + price.fees),
        "total_price": dollars(price.total),
        "deposit_percent": room["deposit"],
        "cancellation": cancellation_json(room, stay[0], hotel, svc.now),
    }


def booking_json(svc: Service, row: dict[str, Any], hotel: dict[str, Any]) -> dict[str, Any]:
    """Return a booking with its status now."""
    room = rules.find_room(svc, WORDS, row["room_type_id"])
    price = rules.booked(WORDS, row, hotel)
    days = stock.nights(row["check_in"], row["check_out"])
    until = rules.deadline(svc, WORDS, row, hotel)
    return {
        "booking_id": row["id"],
        "booking_status": rules.status(svc, row, hotel),
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
        "nightly_prices": [
            {"date": d.isoformat(), "price": dollars(p)}
            for d, p in zip(days, row["nights"], strict=True)
        ],
        "price_before_taxes": dollars(price.lodging),
        "genius_discount_percent": row["discount"],
        "genius_discount": dollars(price.discount),
        "taxes_and_fees": dollars(price.taxes + price.fees),
        "total_price": dollars(price.total),
        "charged_at_booking": dollars(rules.charged(WORDS, room, row, hotel)),
        "due_at_property": dollars(price.total - rules.charged(WORDS, room, row, hotel)),
        "cancellation_policy": terms(room),
        "free_cancellation_until": None if until is None else iso(until),
        "refund_amount": None
        if row["cancelled_at"] is None
        else dollars(rules.refund(svc, WORDS, row, hotel)),
        "payment_method_id": row["card_id"],
        "booked_at": row["created_at"],
        "modified_at": row["modified_at"],
        "cancelled_at": row["cancelled_at"],
    }
