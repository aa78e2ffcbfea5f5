"""Finding a place to stay and booking it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.fields import Email, PersonName, Phone
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.values import Cursor, Limit, dollars, page
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
)  # fmt: skip
from servers.travel.booking._model import (
    WORDS,
    booking_json,
    offer_json,
    policy_name,
    property_json,
    terms,
)

MinScore = Annotated[float, Field(ge=0, le=10, description="Lowest review score, out of 10.")]
Refundable = Annotated[
    bool, Field(description="Only rates that can still be cancelled for free if booked now.")
]
Unavailable = Annotated[
    bool,
    Field(description="Also show properties without a room for these dates, after the others."),
]

KEY = "wabash_house"
HOTEL = seeded("bpr", KEY)
ROOM = seeded("brt", f"{KEY}-0")
STAY = {"check_in_date": "2026-05-05", "check_out_date": "2026-05-07"}
BOOKED = Setup("create_booking", {"room_type_id": ROOM, **STAY, "num_guests": 1}, "made")


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
    ) -> dict[str, Any]:
        """Return places with a room that sleeps all guests on every night, best review score first, each with its cheapest rate.

        A city name without a state finds every town of that name. Prices stay valid until midnight at the property.
        """
        stay = (check_in_date, check_out_date)
        found = rules.search(
            self,
            WORDS,
            rules.cities(self, city),
            stay,
            num_guests,
            min_rating=min_rating,
            max_price=max_price,
            amenities=amenities,
            keep=lambda hotel: True,
            wanted=lambda hotel, o: (
                (include_unavailable or o.problem is None)
                and (not refundable_only or self._free(o, hotel, stay))
            ),
        )
        return page(
            found,
            "properties",
            limit,
            cursor,
            lambda f: property_json(f["hotel"]) | self._cheapest(f["hotel"], f["offers"][0], stay),
        )

    def _free(self, found: rules.Offer, hotel: dict[str, Any], stay: tuple[str, str]) -> bool:
        return rules.free_until(WORDS, found.room, stay[0], hotel, self.now) is not None

    def _cheapest(
        self, hotel: dict[str, Any], found: rules.Offer, stay: tuple[str, str]
    ) -> dict[str, Any]:
        shown = offer_json(self, found, hotel, stay)
        return {
            "available": shown["available"],
            "cheapest_price_per_night": shown["average_price_per_night"],
            "total_price": shown["total_price"],
            "cheapest_room_type_id": shown["room_type_id"],
            "free_cancellation_until": shown["cancellation"]["free_until"],
        }

    @reads(example={"property_id": HOTEL})
    def get_property(self, property_id: PropertyId) -> dict[str, Any]:
        """Return a property: address, phone, check-in and check-out times, score, amenities, Genius discount, closure and room types."""
        hotel = rules.find_property(self, WORDS, property_id)
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
            "room_types": [
                {
                    "room_type_id": r["id"],
                    **{k: r[k] for k in ("name", "sleeps", "beds")},
                    "breakfast_included": r["breakfast"],
                }
                | {"cancellation_policy": policy_name(r), "terms": terms(r)}
                for r in rules.room_types(self, WORDS, property_id)
            ],
        }

    @reads(example={"property_id": HOTEL, **STAY})
    def get_room_types(
        self,
        property_id: PropertyId,
        check_in_date: CheckIn,
        check_out_date: CheckOut,
        num_guests: Guests = 2,
        rooms_booked: Rooms = 1,
    ) -> dict[str, Any]:
        """Return all room types for these nights with the price of one room, what is left, and why one cannot be had.

        unavailable_reason is sold_out, minimum_stay or too_small.
        """
        hotel = rules.find_property(self, WORDS, property_id)
        stay = (check_in_date, check_out_date)
        rules.check_dates(self, WORDS, hotel, *stay)
        shown = [
            offer_json(self, o, hotel, stay)
            for o in rules.offers(self, WORDS, hotel, stay, num_guests, rooms_booked)
        ]
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
    ) -> dict[str, Any]:
        """Book rooms, charge the card the deposit (mostly the whole total), and return the booking. Each call makes another one.

        The guest is the account holder unless named. A genius discount is applied afterwards.
        """
        guest = (guest_name, guest_email, guest_phone)
        stay = (check_in_date, check_out_date)
        made = stays.create(
            self,
            WORDS,
            room_type_id,
            stay,
            num_guests,
            rooms_booked,
            guest,
            special_requests,
            payment_method_id,
            quoted_total,
        )
        return booking_json(self, *made)

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
    ) -> dict[str, Any]:
        """Change a booking before arrival: nights already booked keep their price, new ones cost today's. Returns it and price_difference,
        which the card is charged (or given back when negative).

        Dates and rooms can be changed only while cancelling is free.
        """
        row, hotel, due = stays.modify(
            self,
            WORDS,
            booking_id,
            (check_in_date, check_out_date),
            num_guests,
            rooms_booked,
            special_requests,
        )
        return booking_json(self, row, hotel) | {"price_difference": dollars(due)}

    @writes(example={"booking_id": "${made.booking_id}"}, setup=(BOOKED,), destructive=True)
    def cancel_booking(self, booking_id: BookingId) -> dict[str, Any]:
        """Cancel a booking before check-in. refund_amount follows its policy: all that was charged, all but the first night, or nothing."""
        row, back, kept = stays.cancel(self, WORDS, booking_id)
        return {
            "booking_id": booking_id,
            "booking_status": "cancelled",
            "refund_amount": dollars(back),
            "refundable": back > 0,
            "not_refunded": dollars(kept),
            "payment_method_id": row["card_id"],
        }

    @reads(example={"booking_id": seeded("bkg", "first")})
    def get_booking(self, booking_id: BookingId) -> dict[str, Any]:
        """Return a booking: status now, property, dates, guests, price by night, and until when it can be cancelled for free."""
        return booking_json(self, *rules.find_booking(self, WORDS, booking_id))

    @reads(example={"booking_status": "confirmed"})
    def list_bookings(
        self, booking_status: Status | None = None, limit: Limit = 20, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """Return bookings, the latest check-in first: ahead, under way, past and cancelled."""
        return page(
            rules.bookings(self, WORDS, booking_status), "bookings", limit, cursor, self._line
        )

    def _line(self, row: dict[str, Any]) -> dict[str, Any]:
        whole = booking_json(self, row, rules.find_property(self, WORDS, row["property_id"]))
        names = (
            "booking_id",
            "booking_status",
            "property_id",
            "property_name",
            "room_name",
            "check_in_date",
            "check_out_date",
        )
        return {
            k: whole[k]
            for k in (
                *names,
                "num_guests",
                "rooms_booked",
                "guest_name",
                "total_price",
                "free_cancellation_until",
            )
        }
