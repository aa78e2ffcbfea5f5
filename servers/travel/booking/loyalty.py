"""The account, its Genius level and deals, and price alerts."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, NamedTuple

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.service import Service, Setup, happens, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Date, Dollars, Limit, dollars, iso, page, round_cents
from servers.kit.zones import local_day
from servers.travel import _bookings as bookings
from servers.travel import _mail as mail
from servers.travel import _rules as rules
from servers.travel import _stays as stays
from servers.travel import _stock as stock
from servers.travel._rules import BookingId, CheckIn, CheckOut, CityName, PropertyId
from servers.travel.booking._model import WORDS, booking_json, property_json
from servers.travel.booking.stays import HOTEL, STAY

LEVELS = ((1, 0, 10), (2, 5, 15), (3, 15, 20))
"""Levels: number, completed bookings required within two years, and discount in percent."""
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
        description="Price per night before taxes at or below which the alert triggers; "
        "if omitted, any drop triggers it."
    ),
]
AlertId = Annotated[str, Field(description="alert_id from list_price_alerts.")]
Arrival = Annotated[
    Date,
    Field(description="First night of the stay to price, with check_out; defaults to tonight."),
]
Departure = Annotated[
    Date, Field(description="Departure date of the stay to price, with check_in.")
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


class GeniusLevel(NamedTuple):
    """A member's level, and the completed bookings of the last two years that it is based on."""

    level: int
    recent: int


class Loyalty(Service):
    """The account, the benefits of membership, and price alerts."""

    @reads()
    def get_user_profile(self) -> Json:
        """Return the account: contact details, saved travelers and the default payment method."""
        me = stays.account(self, WORDS)
        card = stays.paying_card(self, WORDS)
        rows = self.db.rows("booking_travelers", order="name")
        travelers = [{"name": t["name"], "email": t["email"], "phone": t["phone"]} for t in rows]
        return {
            "name": me["name"],
            "email": me["email"],
            "phone": me["phone"],
            "timezone": me["timezone"],
            "saved_travelers": travelers,
            "payment_method": None if card is None else stays.card_json(self, card),
        }

    @reads()
    def list_payment_methods(self) -> Json:
        """Return the saved cards, oldest first, with brand, last4 and expiry (YYYY-MM).

        Expired cards cannot be charged.
        """
        return {"payment_methods": [stays.card_json(self, c) for c in stays.cards(self, WORDS)]}

    @reads()
    def get_genius_status(self) -> Json:
        """Return the Genius level, its perks, and the number of bookings to the next level.

        The level is based on stays completed in the last two years.
        """
        genius = self._level()
        above = next((need for step, need, _ in LEVELS if step == genius.level + 1), None)
        perks: list[str] = []
        for step, of_step in PERKS.items():
            if step <= genius.level:
                perks += of_step
        return {
            "level": genius.level,
            "bookings_in_two_years": genius.recent,
            "lifetime_bookings": bookings.completed(self, WORDS),
            "perks": perks,
            "bookings_to_next_level": None if above is None else above - genius.recent,
        }

    def _level(self) -> GeniusLevel:
        today = local_day(self.now, rules.zone(stays.account(self, WORDS)))
        since = (today - timedelta(days=730)).isoformat()
        recent = bookings.completed(self, WORDS, since)
        level = max(step for step, need, _ in LEVELS if recent >= need)
        return GeniusLevel(level, recent)

    def _highest_discount(self) -> int:
        """Return the percentage that the member's level takes off at most."""
        level = self._level().level
        return next(percent for step, _, percent in LEVELS if step == level)

    @reads(example={"city": "Chicago", "check_in": "2026-05-05", "check_out": "2026-05-07"})
    def get_genius_deals(
        self,
        city: CityName | None = None,
        check_in: Arrival | None = None,
        check_out: Departure | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return properties with a member discount.

        Prices are those of the cheapest room for two: the average per night, before and after the
        discount.
        """
        if (check_in is None) != (check_out is None):
            message = "check_in and check_out must be given together."
            self.fail(self.codes.invalid, message, "Give both or neither.")
        if city is not None:
            towns = rules.cities(self, city)
        else:
            towns = self.db.rows("travel_cities", order="id")
        if check_in is not None and check_out is not None:
            towns = rules.bookable(self, WORDS, towns, (check_in, check_out))
        in_town = "genius>0 AND hotel_id IN (SELECT id FROM travel_hotels WHERE city_id=?)"
        deals = []
        for town in towns:
            today = local_day(self.now, rules.zone(town))
            first = check_in or today.isoformat()
            last = check_out or (today + timedelta(days=1)).isoformat()
            rows = self.db.rows("booking_properties", in_town, town["id"], order="id")
            deals += [row | {"first": first, "last": last} for row in rows]
        highest = self._highest_discount()
        return page(deals, "deals", limit, cursor, lambda row: self._deal(row, highest))

    def _deal(self, row: Row, highest: int) -> Json:
        hotel = rules.whole(self, row)
        best = rules.offers(self, WORDS, hotel, (row["first"], row["last"]), 2)[0]
        percent = min(hotel["genius"], highest)
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
    def apply_genius_discount(self, booking_id: BookingId) -> Json:
        """Apply the member discount to a booking at a participating property before check-in.

        It can be applied once. Taxes are based on the lower price.
        """
        row, hotel = bookings.find_booking(self, WORDS, booking_id)
        status = bookings.status(self, row, hotel)
        if status != "confirmed":
            message = f"Booking {booking_id} is {status}."
            hint = "Only upcoming bookings can be discounted."
            self.fail("CANNOT_MODIFY", message, hint, status=status)
        if row["discount"]:
            message = f"Booking {booking_id} already has a Genius discount of {row['discount']}%."
            hint = "See get_booking for its price."
            self.fail("DISCOUNT_ALREADY_APPLIED", message, hint, booking_id=booking_id)
        percent = min(hotel["genius"], self._highest_discount())
        if not percent:
            message = f"{hotel['name']} does not participate in Genius."
            self.fail("NOT_ELIGIBLE", message, "See get_genius_deals for properties that do.")
        before = bookings.booked(WORDS, row, hotel).total
        self.db.update("booking_bookings", booking_id, discount=percent)
        discounted = row | {"discount": percent}
        room = rules.find_room(self, WORDS, row["room_type_id"])
        charged = bookings.charged(WORDS, room, row, hotel)
        back = charged - bookings.charged(WORDS, room, discounted, hotel)
        told = {"before": before, "back": back}
        mail.tell(self, WORDS, "genius_applied", discounted, told)
        shown = booking_json(self, discounted, hotel)
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
    ) -> Json:
        """Set an alert on a property's lowest price per night for two, and return it.

        It includes the current price for the dates.
        """
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
            message = f"There is already a price alert for {hotel['name']} on these dates."
            hint = "To set another target, remove the alert with remove_price_alert first."
            self.fail("ALERT_EXISTS", message, hint, alert_id=same[0]["id"])
        alert = {
            "id": self.new_id("bal"),
            "property_id": property_id,
            "check_in": check_in,
            "check_out": check_out,
            "target": target_price,
        }
        alert |= {"started": self._current(alert), "created_at": self.time}
        set_alert = self.db.insert("booking_price_alerts", alert)
        self._tell("price_alert_set", set_alert, hotel, set_alert["started"])
        self.look_at_price(set_alert)
        return self._alert(set_alert)

    @happens("booking_price_alerts.looks_at")
    def look_at_price(self, row: Row) -> None:
        """Mail the account if the price has met an alert's target, or look again tomorrow."""
        status = self._alert(row)["status"]
        if status == "triggered":
            hotel = rules.find_property(self, WORDS, row["property_id"])
            self._tell("price_alert_met", row, hotel, self._current(row))
        tomorrow = iso(self.now + rules.DAY) if status == "active" else None
        self.db.update("booking_price_alerts", row["id"], looks_at=tomorrow)

    def _tell(self, occasion: str, row: Row, hotel: Row, price: int | None) -> None:
        """Mail the account about a price alert."""
        said = {
            "hotel": hotel["name"],
            "check_in": row["check_in"],
            "check_out": row["check_out"],
            "price": price,
            "target": row["target"] or row["started"],
            "reference": row["id"],
        }
        self.post(occasion, stays.account(self, WORDS)["email"], said, about=row["id"])

    def _current(self, row: Row) -> int | None:
        hotel = rules.find_property(self, WORDS, row["property_id"])
        best = rules.offers(self, WORDS, hotel, (row["check_in"], row["check_out"]), 2)[0]
        return best.average if best.problem is None else None

    def _alert(self, row: Row) -> Json:
        hotel = rules.find_property(self, WORDS, row["property_id"])
        over = row["check_in"] < local_day(self.now, rules.zone(hotel)).isoformat()
        price = None if over else self._current(row)
        status = "active"
        if over:
            status = "expired"
        elif price is not None and _triggers(row, price):
            status = "triggered"
        return {
            "alert_id": row["id"],
            "property_id": row["property_id"],
            "property_name": hotel["name"],
            "check_in": row["check_in"],
            "check_out": row["check_out"],
            "nights": len(stock.nights(row["check_in"], row["check_out"])),
            "target_price": None if row["target"] is None else dollars(row["target"]),
            "price_when_set": None if row["started"] is None else dollars(row["started"]),
            "current_price": None if price is None else dollars(price),
            "status": status,
            "created_at": row["created_at"],
        }

    @reads()
    def list_price_alerts(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return price alerts, newest first, with today's price per night.

        The price is null if the property is sold out or the dates are past. status is active,
        triggered (the price is at or below the target) or expired.
        """
        rows = self.db.rows("booking_price_alerts", order="created_at DESC, id")
        return page(rows, "alerts", limit, cursor, self._alert)

    @writes(example={"alert_id": "${alert.alert_id}"}, setup=(ALERT,), idempotent=True)
    def remove_price_alert(self, alert_id: AlertId) -> Json:
        """Remove a price alert."""
        if self.db.get("booking_price_alerts", alert_id) is None:
            message = f"There is no price alert {alert_id!r}."
            self.fail("ALERT_NOT_FOUND", message, "See list_price_alerts.", alert_id=alert_id)
        self.db.delete("booking_price_alerts", alert_id)
        return {"alert_id": alert_id, "status": "removed"}


def _triggers(row: Row, price: int) -> bool:
    """Return whether a price meets an alert's target or, without one, is below its first price."""
    if row["target"] is not None:
        return price <= row["target"]
    return price < (row["started"] or 0)
