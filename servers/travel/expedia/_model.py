"""Expedia's tables, names and policies, and the form of its hotels, rates and itineraries.

The hotel's own fees are paid at the hotel.
"""

from __future__ import annotations

from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import dollars, iso, round_cents
from servers.travel import _bookings as bookings
from servers.travel import _rules as rules
from servers.travel._rules import Offer

TABLES = {
    "expedia_account": rules.ACCOUNT,
    "expedia_travelers": rules.TRAVELERS,
    "expedia_cards": rules.CARDS,
    "expedia_properties": Table(
        "id:str hotel_id:str name:str rating:float review_count:int vip:bool",
        index=("hotel_id",),
        catalogue=True,
    ),
    "expedia_room_types": rules.ROOM_TYPES,
    "expedia_bookings": rules.BOOKINGS,
    "expedia_insurance": Table(
        "id:str booking_id:str/ref plan_id:str/matter price:int/derived bought_at:str/stamp "
        "cancelled_at:str?/stamp",
        index=("booking_id",),
        outward={},
        noun="an insurance ({plan_id}) for {price:cents}",
    ),
    "expedia_activities": Table(
        "id:str city_id:str name:str kind:str hours:float price:int rating:float weekdays:str",
        search=("name", "kind"),
        catalogue=True,
    ),
    "expedia_boards": Table(
        "id:str name:str/matter city_id:str/ref begins:str?/appointed ends:str?/appointed "
        "created_at:str/stamp",
        noun="the trip board {name}",
    ),
    "expedia_board_items": Table(
        "id:str board_id:str/ref item_type:str/matter item_id:str/ref notes:str?/prose "
        "added_at:str/stamp",
        index=("board_id",),
        noun="the entry {item_id} on the trip board {board_id}",
    ),
    "expedia_board_shares": Table(
        "id:str board_id:str/ref email:str/matter shared_at:str/stamp",
        index=("board_id",),
        outward={},
        noun="the access of {email} to the trip board {board_id}",
    ),
}
GRACE = (
    " Any rate is free to cancel within 24 hours of booking "
    "when arrival is seven days away or more."
)
WORDS = rules.Words(
    tables="expedia",
    booking_id="xit",
    hour=16,
    longest=28,
    fees_included=False,
    grace=rules.DAY,
    no_property="HOTEL_NOT_FOUND",
    no_booking="ITINERARY_NOT_FOUND",
    sold_out="ROOM_UNAVAILABLE",
    search="search_hotels",
    room_list="get_room_availability",
    booking_list="list_trips",
    card_list="list_saved_cards",
)


def hotel_json(hotel: Row) -> Json:
    """Return the short form of a hotel."""
    return {
        "property_id": hotel["property_id"],
        "hotel_name": hotel["name"],
        "property_type": hotel["kind"],
        "star_rating": hotel["stars"],
        "guest_rating": hotel["rating"],
        "guest_reviews": hotel["review_count"],
        "vip_access": hotel["vip"],
        "location": {
            "street": hotel["street"],
            "city": hotel["city"],
            "state": hotel["state"],
            "zip": hotel["zip"],
        },
        "amenities": hotel["amenities"],
    }


def policy_text(room: Row) -> str:
    """Return the text of a room type's cancellation policy."""
    policy = bookings.policy(room)
    if policy.days is None:
        return "Not refundable, and dates cannot be changed." + GRACE
    lost = "first night" if policy.late == "first_night" else "whole stay"
    refundable = f"Refundable until 16:00, {policy.days} days before check-in."
    return f"{refundable} After that the {lost} is charged." + GRACE


def price_json(hotel: Row, room: Row, prices: list[int], rooms: int) -> Json:
    """Return the price of nights, in dollars.

    `pay_now` is the part of `total` charged at booking; `due_at_property` is the rest plus the
    hotel's fees.
    """
    price = rules.cost(WORDS, hotel, prices, rooms)
    pay_now = round_cents(price.total * room["deposit"] / 100)
    return {
        "rooms": dollars(price.lodging),
        "taxes": dollars(price.taxes),
        "total": dollars(price.total),
        "pay_now": dollars(pay_now),
        "due_at_property": dollars(price.total - pay_now + price.fees),
    }


def rate_json(svc: Service, offer: Offer, hotel: Row, check_in: str) -> Json:
    """Return a room type with its rate for one room."""
    room = offer.room
    until = bookings.free_until(WORDS, room, check_in, hotel, svc.now)
    return {
        "room_type_id": room["id"],
        "room_name": room["name"],
        "max_guests": room["sleeps"],
        "bed_types": room["beds"],
        "meal_plan": "breakfast" if room["breakfast"] else "room_only",
        "status": offer.problem or "available",
        "rooms_remaining": offer.left,
        "min_nights": offer.needed,
        "nightly_average": dollars(offer.average),
        "nightly_rates": [dollars(price) for price in offer.prices],
        "price": price_json(hotel, room, offer.prices, 1),
        "refundable": bookings.policy(room).days is not None,
        "cancellation_policy": policy_text(room),
        "free_cancellation_before": None if until is None else iso(until),
    }


def insurance(svc: Service, booking_id: str) -> Row | None:
    """Return a booking's insurance that has not been cancelled, if any."""
    active = "booking_id=? AND cancelled_at IS NULL"
    rows = svc.db.rows("expedia_insurance", active, booking_id)
    return rows[0] if rows else None


def itinerary_json(svc: Service, row: Row, hotel: Row) -> Json:
    """Return an itinerary with its current status."""
    room = rules.find_room(svc, WORDS, row["room_type_id"])
    until = bookings.deadline(svc, WORDS, row, hotel)
    covered = insurance(svc, row["id"])
    refund = None
    if row["cancelled_at"] is not None:
        refund = dollars(bookings.refund(svc, WORDS, row, hotel))
    return {
        "booking_id": row["id"],
        "booking_status": bookings.status(svc, row, hotel),
        "hotel": {
            "property_id": hotel["property_id"],
            "hotel_name": hotel["name"],
            "address": f"{hotel['street']}, {hotel['city']}, {hotel['state']} {hotel['zip']}",
            "phone": hotel["phone"],
        },
        "room": {"room_type_id": room["id"], "room_name": room["name"], "bed_types": room["beds"]},
        "check_in_date": row["check_in"],
        "check_out_date": row["check_out"],
        "check_in_time": hotel["opens"],
        "check_out_time": hotel["leaves"],
        "num_guests": row["guests"],
        "rooms_booked": row["rooms"],
        "traveler": {
            "name": row["guest_name"],
            "email": row["guest_email"],
            "phone": row["guest_phone"],
        },
        "special_requests": row["requests"],
        "nightly_rates": [dollars(p) for p in row["nights"]],
        "price": price_json(hotel, room, row["nights"], row["rooms"]),
        "cancellation_policy": policy_text(room),
        "free_cancellation_before": None if until is None else iso(until),
        "refund_amount": refund,
        "insurance_plan_id": None if covered is None else covered["plan_id"],
        "payment_method_id": row["card_id"],
        "created_at": row["created_at"],
        "updated_at": row["modified_at"],
        "cancelled_at": row["cancelled_at"],
    }
