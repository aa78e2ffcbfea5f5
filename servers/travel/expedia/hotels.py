"""Hotels and itineraries."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.kit import fields
from servers.kit.control import seeded
from servers.kit.listing import Since, Until
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, dollars, page
from servers.travel import _bookings as bookings
from servers.travel import _mail as mail
from servers.travel import _rules as rules
from servers.travel import _stays as stays
from servers.travel.expedia._model import (
    WORDS,
    hotel_json,
    insurance,
    itinerary_json,
    policy_text,
    price_json,
    rate_json,
)
from servers.travel.expedia._plans import payout, premium_back

Stars = Annotated[int, Field(ge=1, le=5, description="Only hotels with exactly this many stars.")]
MinRating = Annotated[float, Field(ge=0, le=5, description="Minimum guest rating, out of 5.")]

KEY = "wabash_house"
ROOM = seeded("xrt", f"{KEY}-0")
STAY = {"check_in_date": "2026-05-05", "check_out_date": "2026-05-07"}
BOOKED = Setup("create_itinerary", {"room_type_id": ROOM, **STAY, "num_guests": 1}, "made")
TRIP = (
    "booking_id",
    "booking_status",
    "hotel",
    "check_in_date",
    "check_out_date",
    "rooms_booked",
    "traveler",
    "price",
)
"""Fields that a list of trips shows."""


class Hotels(Service):
    """Search, hotels, rates and itineraries."""

    @reads(example={"city": "Chicago, IL", **STAY})
    def search_hotels(
        self,
        city: rules.CityName,
        check_in_date: rules.CheckIn,
        check_out_date: rules.CheckOut,
        num_guests: rules.Guests = 2,
        min_rating: MinRating | None = None,
        max_price: rules.MaxPrice | None = None,
        amenities: rules.Amenities | None = None,
        star_rating: Stars | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return hotels with a room that sleeps all guests, each with its lowest rate.

        The best guest rating comes first, sold-out hotels last. If several towns share the name,
        add the state. price.total includes taxes; due_at_property is what the guest pays at the
        desk: the hotel's fees and whatever pay_now does not cover.
        """
        towns = rules.cities(self, city)
        if len(towns) > 1:
            names = [f"{t['name']}, {t['state']}" for t in towns]
            message = f"{city!r} could be {' or '.join(names)}."
            hint = "Add the state."
            self.fail("AMBIGUOUS_DESTINATION", message, hint, candidates=names)
        matches = rules.search(
            self,
            WORDS,
            towns,
            (check_in_date, check_out_date),
            num_guests,
            min_rating=min_rating,
            max_price=max_price,
            amenities=amenities,
            keep=lambda hotel: star_rating in (None, hotel["stars"]),
            wanted=lambda hotel, offer: offer.problem != "too_small",
        )
        return page(matches, "hotels", limit, cursor, self._match)

    def _match(self, match: Row) -> Json:
        hotel = match["hotel"]
        lowest = match["offers"][0]
        rate = {
            "room_type_id": lowest.room["id"],
            "nightly_average": dollars(lowest.average),
            "price": price_json(hotel, lowest.room, lowest.prices, 1),
        }
        return hotel_json(hotel) | {"status": lowest.problem or "available", "lowest_rate": rate}

    @reads(example={"property_id": seeded("xpr", KEY)})
    def get_hotel_details(self, property_id: rules.PropertyId) -> Json:
        """Return a hotel's details.

        They include its location, phone, check-in and check-out times, stars, rating, amenities,
        nightly fee, closure and rooms.
        """
        hotel = rules.find_property(self, WORDS, property_id)
        closure = None
        if hotel["closed_from"] is not None:
            closure = {"from": hotel["closed_from"], "until": hotel["closed_to"]}
        rooms = [
            {
                "room_type_id": r["id"],
                "room_name": r["name"],
                "max_guests": r["sleeps"],
                "bed_types": r["beds"],
                "cancellation_policy": policy_text(r),
            }
            for r in rules.room_types(self, WORDS, property_id)
        ]
        return hotel_json(hotel) | {
            "coordinates": {"latitude": hotel["lat"], "longitude": hotel["lng"]},
            "phone": hotel["phone"],
            "time_zone": hotel["timezone"],
            "check_in_time": hotel["opens"],
            "check_out_time": hotel["leaves"],
            "fee_per_night": dollars(hotel["fee"]),
            "closure": closure,
            "rooms": rooms,
        }

    @reads(example={"property_id": seeded("xpr", KEY), **STAY})
    def get_room_availability(
        self,
        property_id: rules.PropertyId,
        check_in_date: rules.CheckIn,
        check_out_date: rules.CheckOut,
        num_guests: rules.Guests = 2,
        rooms_booked: rules.Rooms = 1,
    ) -> Json:
        """Return the rates of a hotel's rooms for a stay, per room, cheapest available first.

        status is available, sold_out, minimum_stay or too_small. Rates are valid until midnight at
        the hotel.
        """
        hotel = rules.find_property(self, WORDS, property_id)
        rules.check_dates(self, WORDS, hotel, check_in_date, check_out_date)
        stay = (check_in_date, check_out_date)
        offers = rules.offers(self, WORDS, hotel, stay, num_guests, rooms_booked)
        rooms = [rate_json(self, offer, hotel, check_in_date) for offer in offers]
        return {"property_id": property_id, "rooms": rooms}

    @writes(example=BOOKED.args)
    def create_itinerary(
        self,
        room_type_id: rules.RoomTypeId,
        check_in_date: rules.CheckIn,
        check_out_date: rules.CheckOut,
        num_guests: rules.Guests,
        rooms_booked: rules.Rooms = 1,
        guest_name: fields.PersonName | None = None,
        guest_email: fields.Email | None = None,
        guest_phone: fields.Phone | None = None,
        special_requests: rules.Requests | None = None,
        payment_method_id: rules.CardId | None = None,
        quoted_total: rules.Quoted | None = None,
    ) -> Json:
        """Book rooms, charge price.pay_now to the card, and return the itinerary.

        The same guest cannot book the same room for the same dates twice.
        """
        guest = guest_name or stays.account(self, WORDS)["name"]
        same = self.db.rows(
            "expedia_bookings",
            "room_type_id=? AND check_in=? AND check_out=? AND cancelled_at IS NULL",
            room_type_id,
            check_in_date,
            check_out_date,
        )
        twin = next((b for b in same if b["guest_name"].lower() == guest.lower()), None)
        if twin is not None:
            message = f"{guest} already has this room on these dates."
            hint = "Use update_itinerary for more rooms, or name another guest."
            self.fail("DUPLICATE_ITINERARY", message, hint, booking_id=twin["id"])
        row, hotel = stays.create(
            self,
            WORDS,
            room_type_id,
            (check_in_date, check_out_date),
            num_guests,
            rooms_booked,
            stays.Guest(guest, guest_email, guest_phone),
            special_requests,
            payment_method_id,
            quoted_total,
        )
        return itinerary_json(self, row, hotel)

    @writes(
        example={"booking_id": "${made.booking_id}", "num_guests": 2},
        setup=(BOOKED,),
        idempotent=True,
    )
    def update_itinerary(
        self,
        booking_id: rules.BookingId,
        check_in_date: rules.CheckIn | None = None,
        check_out_date: rules.CheckOut | None = None,
        num_guests: rules.Guests | None = None,
        rooms_booked: rules.Rooms | None = None,
        special_requests: rules.Requests | None = None,
    ) -> Json:
        """Change an itinerary's dates, guests, rooms or requests before arrival, and return it.

        New nights cost today's rate. amount_due is charged to the card, or refunded if negative.
        Dates and rooms follow the cancellation policy. Insurance keeps its price.
        """
        dates = (check_in_date, check_out_date)
        modified = stays.modify(
            self, WORDS, booking_id, dates, num_guests, rooms_booked, special_requests
        )
        itinerary = itinerary_json(self, modified.row, modified.hotel)
        return itinerary | {"amount_due": dollars(modified.due)}

    @writes(example={"booking_id": "${made.booking_id}"}, setup=(BOOKED,), destructive=True)
    def cancel_itinerary(self, booking_id: rules.BookingId) -> Json:
        """Cancel a stay before check-in, with its refund by policy and what insurance pays.

        Insurance pays from the rest that is not refunded. If it pays nothing, its premium is
        refunded within ten days of purchase.
        """
        covered = insurance(self, booking_id)
        cancelled = stays.cancel(self, WORDS, booking_id)
        paid = 0
        premium = 0
        if covered is not None:
            paid = payout(covered, cancelled.kept)
            premium = 0 if paid else premium_back(self, covered)
            if premium:
                self.db.update("expedia_insurance", covered["id"], cancelled_at=self.time)
        given_back = {
            "refund": cancelled.refund or None,
            "kept": cancelled.kept or None,
            "payout": paid or None,
            "premium": premium or None,
        }
        mail.tell(self, WORDS, "cancelled", cancelled.row, given_back)
        return {
            "booking_id": booking_id,
            "booking_status": "cancelled",
            "refund": {
                "amount": dollars(cancelled.refund),
                "not_refunded": dollars(cancelled.kept),
                "payment_method_id": cancelled.row["card_id"],
            },
            "insurance_payout": dollars(paid),
            "insurance_premium_refunded": dollars(premium),
        }

    def when_due(self, post: Row) -> Json | None:
        """Return what a mail about a stay says by then; see `Service.when_due`."""
        return mail.when_due(self, WORDS, post)

    @reads(example={"booking_id": seeded("xit", "first")})
    def get_itinerary(self, booking_id: rules.BookingId) -> Json:
        """Return an itinerary with its current status.

        It has the hotel, room, traveler, rates, price, cancellation deadline and insurance.
        """
        return itinerary_json(self, *bookings.find_booking(self, WORDS, booking_id))

    @reads(example={"limit": 5})
    def list_trips(
        self,
        booking_status: rules.Status | None = None,
        arriving_from: Since | None = None,
        arriving_to: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return itineraries, latest check-in first, with hotel, dates, traveler and price.

        The days are days of arrival.
        """
        rows = bookings.by_status(self, WORDS, booking_status, arriving_from, arriving_to)
        return page(rows, "trips", limit, cursor, self._trip)

    def _trip(self, row: Row) -> dict[str, Any]:
        hotel = rules.find_property(self, WORDS, row["property_id"])
        itinerary = itinerary_json(self, row, hotel)
        return {field: itinerary[field] for field in TRIP}
