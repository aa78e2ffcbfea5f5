"""The account, its Genius level and deals, and price alerts."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Annotated, Any

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.fields import card_expired
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.values import Cursor, Date, Dollars, Limit, dollars, page, round_cents
from servers.kit.zones import local_day
from servers.travel import _rules as rules
from servers.travel import _stays as stays
from servers.travel._rules import BookingId, CheckIn, CheckOut, CityName, PropertyId
from servers.travel.booking._model import WORDS, booking_json, property_json
from servers.travel.booking.stays import HOTEL, STAY

LEVELS = ((1, 0, 10), (2, 5, 15), (3, 15, 20))
"""Level, completed bookings in two years that it takes, and its discount in percent."""
PERKS = {
    1: ["10% off stays at participating properties"],
    2: ["15% off at selected properties", "Free breakfast at selected properties"],
    3: [
        "20% off at selected properties",
        "Free room upgrades at selected properties",
        "Priority support",
    ],
}
Target = Annotated[
    Dollars,
    Field(
        description="Price per night before taxes at or below which the alert triggers; left out: any drop."
    ),
]
AlertId = Annotated[str, Field(description="alert_id, from list_price_alerts.")]
Arrival = Annotated[
    Date,
    Field(
        description="First night of the stay to price; with check_out. Left out: the coming night."
    ),
]
Departure = Annotated[
    Date, Field(description="Day of departure of the stay to price; with check_in.")
]
ALERT = Setup(
    "set_price_alert",
    {
        "property_id": HOTEL,
        "check_in": "2026-06-09",
        "check_out": "2026-06-11",
        "target_price": 120,
    },
    "alert",
)


class Loyalty(Service):
    """Who is signed in, what membership gives, and watched prices."""

    @reads()
    def get_user_profile(self) -> dict[str, Any]:
        """Return the account: name, email, phone, saved travelers, and payment_method, the card charged unless another is named."""
        me = stays.account(self, WORDS)
        saved = stays.cards(self, WORDS)
        valid = next((c for c in saved if not card_expired(c["expires"], self.time)), None)
        travelers = self.db.rows("booking_travelers", order="name")
        return {
            **{k: me[k] for k in ("name", "email", "phone", "timezone")},
            "saved_travelers": [{k: t[k] for k in ("name", "email", "phone")} for t in travelers],
            "payment_method": None if valid is None else stays.card_json(self, valid),
        }

    @reads()
    def list_payment_methods(self) -> dict[str, Any]:
        """Return saved cards, oldest first, with brand, last4 and expiry (YYYY-MM); expired ones cannot pay."""
        return {"payment_methods": [stays.card_json(self, c) for c in stays.cards(self, WORDS)]}

    @reads()
    def get_genius_status(self) -> dict[str, Any]:
        """Return the Genius level, which counts stays completed in the last two years, its perks, and bookings to the next level."""
        level, recent, lifetime = self._level()
        above = next((need for step, need, _ in LEVELS if step == level + 1), None)
        return {
            "level": level,
            "bookings_in_two_years": recent,
            "lifetime_bookings": lifetime,
            "perks": [perk for step, perks in PERKS.items() if step <= level for perk in perks],
            "bookings_to_next_level": None if above is None else above - recent,
        }

    def _level(self) -> tuple[int, int, int]:
        today = local_day(self.now, rules.zone(stays.account(self, WORDS)))
        since = (today - timedelta(days=730)).isoformat()
        done = rules.bookings(self, WORDS, "completed")
        recent = sum(r["check_out"] >= since for r in done)
        return max(level for level, need, _ in LEVELS if recent >= need), recent, len(done)

    def _discount(self, hotel: dict[str, Any]) -> int:
        level = self._level()[0]
        return min(hotel["genius"], next(percent for step, _, percent in LEVELS if step == level))

    @reads(example={"city": "Chicago", "check_in": "2026-05-05", "check_out": "2026-05-07"})
    def get_genius_deals(
        self,
        city: CityName | None = None,
        check_in: Arrival | None = None,
        check_out: Departure | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> dict[str, Any]:
        """Return properties that give members a discount, with the cheapest average price of a night for two before and after it."""
        if (check_in is None) != (check_out is None):
            self.fail(
                self.codes.invalid, "check_in and check_out go together.", "Give both or neither."
            )
        towns = (
            rules.cities(self, city)
            if city is not None
            else self.db.rows("travel_cities", order="id")
        )
        found = []
        if check_in is not None and check_out is not None:
            towns = rules.bookable(self, WORDS, towns, (check_in, check_out))
        for town in towns:
            today = local_day(self.now, rules.zone(town))
            first = check_in or today.isoformat()
            last = check_out or (today + timedelta(days=1)).isoformat()
            houses = "genius>0 AND hotel_id IN (SELECT id FROM travel_hotels WHERE city_id=?)"
            found += [
                r | {"first": first, "last": last}
                for r in self.db.rows("booking_properties", houses, town["id"], order="id")
            ]
        return page(found, "deals", limit, cursor, self._deal)

    def _deal(self, row: dict[str, Any]) -> dict[str, Any]:
        hotel = rules.whole(self, row)
        best = rules.offers(self, WORDS, hotel, (row["first"], row["last"]), 2)[0]
        percent = self._discount(hotel)
        lower = best.average - round_cents(best.average * percent / 100)
        return property_json(hotel) | {
            "check_in": row["first"],
            "check_out": row["last"],
            "available": best.problem is None,
            "genius_discount_percent": percent,
            "price_per_night": dollars(best.average),
            "discounted_price_per_night": dollars(lower),
        }

    @writes(
        example={"booking_id": "${made.booking_id}"},
        setup=(
            Setup(
                "create_booking",
                {"room_type_id": seeded("brt", "lakeside_suites-0"), **STAY, "num_guests": 1},
                "made",
            ),
        ),
        idempotent=True,
    )
    def apply_genius_discount(self, booking_id: BookingId) -> dict[str, Any]:
        """Take the member discount off a booking at a participating property, once, before check-in. Taxes follow the lower price."""
        row, hotel = rules.find_booking(self, WORDS, booking_id)
        state = rules.status(self, row, hotel)
        if state != "confirmed":
            self.fail(
                "CANNOT_MODIFY",
                f"Booking {booking_id} is {state}.",
                "Only bookings ahead can be discounted.",
                status=state,
            )
        if row["discount"]:
            message = f"Booking {booking_id} has its Genius discount of {row['discount']}% already."
            self.fail(
                "DISCOUNT_ALREADY_APPLIED",
                message,
                "See get_booking for its price.",
                booking_id=booking_id,
            )
        percent = self._discount(hotel)
        if not percent:
            self.fail(
                "NOT_ELIGIBLE",
                f"{hotel['name']} takes no part in Genius.",
                "See get_genius_deals for those that do.",
            )
        before = rules.booked(WORDS, row, hotel).total
        self.db.update("booking_bookings", booking_id, discount=percent)
        shown = booking_json(self, row | {"discount": percent}, hotel)
        return {
            "booking_id": booking_id,
            "original_price": dollars(before),
            "discounted_price": shown["total_price"],
            "discount_percent": percent,
            "status": "applied",
        }

    @writes(example=ALERT.args)
    def set_price_alert(
        self,
        property_id: PropertyId,
        check_in: CheckIn,
        check_out: CheckOut,
        target_price: Target | None = None,
    ) -> dict[str, Any]:
        """Watch the cheapest price of a night for two at a property for some dates; returns the alert with the current price."""
        hotel = rules.find_property(self, WORDS, property_id)
        rules.check_dates(self, WORDS, hotel, check_in, check_out)
        same = self.db.rows(
            "booking_price_alerts",
            "property_id=? AND check_in=? AND check_out=?",
            property_id,
            check_in,
            check_out,
        )
        if same:
            hint = "Remove it with remove_price_alert first to set another target."
            self.fail(
                "ALERT_EXISTS",
                f"{hotel['name']} is watched for these dates already.",
                hint,
                alert_id=same[0]["id"],
            )
        made = {
            "id": self.new_id("bal"),
            "property_id": property_id,
            "check_in": check_in,
            "check_out": check_out,
            "target": target_price,
        }
        row = self.db.insert(
            "booking_price_alerts", made | {"started": self._current(made), "created_at": self.time}
        )
        return self._alert(row)

    def _current(self, row: dict[str, Any]) -> int | None:
        hotel = rules.find_property(self, WORDS, row["property_id"])
        best = rules.offers(self, WORDS, hotel, (row["check_in"], row["check_out"]), 2)[0]
        return best.average if best.problem is None else None

    def _alert(self, row: dict[str, Any]) -> dict[str, Any]:
        hotel = rules.find_property(self, WORDS, row["property_id"])
        over = row["check_in"] < local_day(self.now, rules.zone(hotel)).isoformat()
        price = None if over else self._current(row)
        hit = price is not None and (
            price <= row["target"] if row["target"] is not None else price < (row["started"] or 0)
        )
        return {
            "alert_id": row["id"],
            "property_id": row["property_id"],
            "property_name": hotel["name"],
            "check_in": row["check_in"],
            "check_out": row["check_out"],
            "nights": (
                date.fromisoformat(row["check_out"]) - date.fromisoformat(row["check_in"])
            ).days,
            "target_price": None if row["target"] is None else dollars(row["target"]),
            "price_when_set": None if row["started"] is None else dollars(row["started"]),
            "current_price": None if price is None else dollars(price),
            "status": "expired" if over else ("triggered" if hit else "active"),
            "created_at": row["created_at"],
        }

    @reads()
    def list_price_alerts(self, limit: Limit = 20, cursor: Cursor | None = None) -> dict[str, Any]:
        """Return price alerts, newest first, each with today's price per night; null when sold out or over.

        status is active, triggered (the price is at or below the target) or expired.
        """
        return page(
            self.db.rows("booking_price_alerts", order="created_at DESC, id"),
            "alerts",
            limit,
            cursor,
            self._alert,
        )

    @writes(example={"alert_id": "${alert.alert_id}"}, setup=(ALERT,), idempotent=True)
    def remove_price_alert(self, alert_id: AlertId) -> dict[str, Any]:
        """Stop watching a price."""
        if self.db.get("booking_price_alerts", alert_id) is None:
            self.fail(
                "ALERT_NOT_FOUND",
                f"There is no price alert {alert_id!r}.",
                "See list_price_alerts.",
                alert_id=alert_id,
            )
        self.db.delete("booking_price_alerts", alert_id)
        return {"alert_id": alert_id, "status": "removed"}
