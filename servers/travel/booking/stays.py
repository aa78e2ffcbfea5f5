"""Searching for places to stay and booking them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.fields import Email, PersonName, Phone
from servers.kit.listing import Since, Until
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, dollars, page
from servers.travel import _bookings as bookings
from servers.travel import _mail as mail
from servers.travel import _rules as rules
from servers.travel import _stays as stays
from servers.travel._rules import (
    Amenities,
    BookingId,
    CardId,
    CheckIn,
    CheckOut,
    CityName,
    Guests,
    MaxPrice,
    PropertyId,
    Quoted,
    Requests,
    Rooms,
    RoomTypeId,
    Status,
)
from servers.travel.booking._model import (
    WORDS,
    booking_json,
    offer_json,
    policy_name,
    property_json,
    terms,
)

MinScore = Annotated[float, Field(ge=0, le=10, description="Minimum review score, out of 10.")]
Refundable = Annotated[bool, Field(description="Only rates with free cancellation if booked now.")]
Unavailable = Annotated[
    bool,
    Field(description="Also show properties without a room for these dates, at the end."),
]

KEY = "wabash_house"
HOTEL = seeded("bpr", KEY)
ROOM = seeded("brt", f"{KEY}-0")
STAY = {"check_in_date": "2026-05-05", "check_out_date": "2026-05-07"}
BOOKED = Setup("create_booking", {"room_type_id": ROOM, **STAY, "num_guests": 1}, "made")
LINE = (
    "booking_id",
    "booking_status",
    "property_id",
    "property_name",
    "room_name",
    "check_in_date",
    "check_out_date",
    "num_guests",
    "rooms_booked",
    "guest_name",
    "total_price",
    "free_cancellation_until",
)
"""Fields that a list of bookings shows."""


class Stays(Service):
    """Search, properties, rooms and bookings."""

    @reads(example={"city": "Chicago", **STAY, "num_guests": 2})
    def search_properties(
        self,
        city: CityName,
        check_in_date: CheckIn,
        check_out_date: CheckOut,
        num_guests: Guests = 2,
        min_rating: MinScore | None = None,
        max_price: MaxPrice | None = None,
        amenities: Amenities | None = None,
        refundable_only: Refundable = False,
        include_unavailable: Unavailable = False,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return places with a room that sleeps all guests on every night, best score first.

        Each has its cheapest rate. A city name without a state matches every town of that name.
        Prices are valid until midnight at the property.
        """
        stay = (check_in_date, check_out_date)

        def wanted(hotel: Row, offer: rules.Offer) -> bool:
            if offer.problem is not None and not include_unavailable:
                return False
            return not refundable_only or self._is_free(offer, hotel, stay)

        matches = rules.search(
            self,
            WORDS,
            rules.cities(self, city),
            stay,
            num_guests,
            min_rating=min_rating,
            max_price=max_price,
            amenities=amenities,
            keep=lambda hotel: True,
            wanted=wanted,
        )
        return page(matches, "properties", limit, cursor, lambda m: self._match(m, stay))

    def _is_free(self, offer: rules.Offer, hotel: Row, stay: tuple[str, str]) -> bool:
        return bookings.free_until(WORDS, offer.room, stay[0], hotel, self.now) is not None

    def _match(self, match: Row, stay: tuple[str, str]) -> Json:
        hotel = match["hotel"]
        cheapest = offer_json(self, match["offers"][0], hotel, stay)
        return property_json(hotel) | {
            "available": cheapest["available"],
            "cheapest_price_per_night": cheapest["average_price_per_night"],
            "total_price": cheapest["total_price"],
            "cheapest_room_type_id": cheapest["room_type_id"],
            "free_cancellation_until": cheapest["cancellation"]["free_until"],
        }

    @reads(example={"property_id": HOTEL})
    def get_property(self, property_id: PropertyId) -> Json:
        """Return a property's details.

        They include its address, phone, check-in and check-out times, review score, amenities,
        maximum Genius discount, closure and room types.
        """
        hotel = rules.find_property(self, WORDS, property_id)
        rooms = rules.room_types(self, WORDS, property_id)
        return property_json(hotel) | {
            "zip": hotel["zip"],
            "latitude": hotel["lat"],
            "longitude": hotel["lng"],
            "timezone": hotel["timezone"],
            "phone": hotel["phone"],
            "check_in_from": hotel["opens"],
            "check_out_until": hotel["leaves"],
            "fee_per_night": dollars(hotel["fee"]),
            "genius_discount_up_to": hotel["genius"],
            "closed_from": hotel["closed_from"],
            "closed_until": hotel["closed_to"],
            "room_types": [_room_type(room) for room in rooms],
        }

    @reads(example={"property_id": HOTEL, **STAY})
    def get_room_types(
        self,
        property_id: PropertyId,
        check_in_date: CheckIn,
        check_out_date: CheckOut,
        num_guests: Guests = 2,
        rooms_booked: Rooms = 1,
    ) -> Json:
        """Return all room types for these nights, with the price per room and the rooms left.

        unavailable_reason is sold_out, minimum_stay or too_small, or null if the room can be
        booked.
        """
        hotel = rules.find_property(self, WORDS, property_id)
        stay = (check_in_date, check_out_date)
        rules.check_dates(self, WORDS, hotel, *stay)
        offers = rules.offers(self, WORDS, hotel, stay, num_guests, rooms_booked)
        shown = [offer_json(self, offer, hotel, stay) for offer in offers]
        return {"property_id": property_id, "room_types": shown}

    @writes(example=BOOKED.args)
    def create_booking(
        self,
        room_type_id: RoomTypeId,
        check_in_date: CheckIn,
        check_out_date: CheckOut,
        num_guests: Guests,
        rooms_booked: Rooms = 1,
        guest_name: PersonName | None = None,
        guest_email: Email | None = None,
        guest_phone: Phone | None = None,
        special_requests: Requests | None = None,
        payment_method_id: CardId | None = None,
        quoted_total: Quoted | None = None,
    ) -> Json:
        """Book rooms, charge the deposit to the card, and return the booking.

        The deposit is usually the whole total. The guest is the account holder unless named. Apply
        a Genius discount afterwards. Every call creates another booking.
        """
        row, hotel = stays.create(
            self,
            WORDS,
            room_type_id,
            (check_in_date, check_out_date),
            num_guests,
            rooms_booked,
            stays.Guest(guest_name, guest_email, guest_phone),
            special_requests,
            payment_method_id,
            quoted_total,
        )
        return booking_json(self, row, hotel)

    @writes(
        example={"booking_id": "${made.booking_id}", "check_out_date": "2026-05-08"},
        setup=(BOOKED,),
        idempotent=True,
    )
    def modify_booking(
        self,
        booking_id: BookingId,
        check_in_date: CheckIn | None = None,
        check_out_date: CheckOut | None = None,
        num_guests: Guests | None = None,
        rooms_booked: Rooms | None = None,
        special_requests: Requests | None = None,
    ) -> Json:
        """Change a booking before arrival, and return it with price_difference.

        Nights already booked keep their price; new ones cost today's. The card is charged the
        difference, or refunded if it is negative. Dates and rooms can be changed only while
        cancellation is free.
        """
        dates = (check_in_date, check_out_date)
        modified = stays.modify(
            self, WORDS, booking_id, dates, num_guests, rooms_booked, special_requests
        )
        booking = booking_json(self, modified.row, modified.hotel)
        return booking | {"price_difference": dollars(modified.due)}

    @writes(example={"booking_id": "${made.booking_id}"}, setup=(BOOKED,), destructive=True)
    def cancel_booking(self, booking_id: BookingId) -> Json:
        """Cancel a booking before check-in.

        refund_amount follows its policy: everything charged, all but the first night, or nothing.
        """
        cancelled = stays.cancel(self, WORDS, booking_id)
        given_back = {"refund": cancelled.refund or None, "kept": cancelled.kept or None}
        mail.tell(self, WORDS, "cancelled", cancelled.row, given_back)
        return {
            "booking_id": booking_id,
            "booking_status": "cancelled",
            "refund_amount": dollars(cancelled.refund),
            "refundable": cancelled.refund > 0,
            "not_refunded": dollars(cancelled.kept),
            "payment_method_id": cancelled.row["card_id"],
        }

    def when_due(self, post: Row) -> Json | None:
        """Return what a mail about a stay says by then; see `Service.when_due`."""
        return mail.when_due(self, WORDS, post)

    @reads(example={"booking_id": seeded("bkg", "first")})
    def get_booking(self, booking_id: BookingId) -> Json:
        """Return a booking with its current status.

        It has the property, dates, guests, price by night and the free cancellation deadline.
        """
        return booking_json(self, *bookings.find_booking(self, WORDS, booking_id))

    @reads(example={"booking_status": "confirmed"})
    def list_bookings(
        self,
        booking_status: Status | None = None,
        check_in_since: Since | None = None,
        check_in_until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return bookings, latest check-in first: upcoming, current, past and cancelled."""
        rows = bookings.by_status(self, WORDS, booking_status, check_in_since, check_in_until)
        return page(rows, "bookings", limit, cursor, self._line)

    def _line(self, row: Row) -> dict[str, Any]:
        hotel = rules.find_property(self, WORDS, row["property_id"])
        booking = booking_json(self, row, hotel)
        return {field: booking[field] for field in LINE}


def _room_type(room: Row) -> Json:
    return {
        "room_type_id": room["id"],
        "name": room["name"],
        "sleeps": room["sleeps"],
        "beds": room["beds"],
        "breakfast_included": room["breakfast"],
        "cancellation_policy": policy_name(room),
        "terms": terms(room),
    }
