"""Packages that a courier delivers across town."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.fields import PersonName, Phone
from servers.kit.listing import Listing, Since, Until
from servers.kit.noise import share
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, dollars, page, parse_time
from servers.ridesharing import _mail as mail
from servers.ridesharing import _roads as roads
from servers.ridesharing import _rules as rules
from servers.ridesharing import _trips as trips
from servers.ridesharing._roads import Address
from servers.ridesharing._rules import PaymentId
from servers.ridesharing.uber._model import COURIER, WORDS, DeliveryId, driver_json, spot_json

Content = Annotated[
    str,
    Field(
        min_length=3,
        max_length=200,
        description="What is in the package: up to 30 pounds, nothing alive.",
    ),
]
Key = Annotated[
    str,
    Field(
        min_length=1,
        max_length=64,
        description="A key of your choice; a repeat with the same key places no new order.",
    ),
]
DeliveryStatus = Annotated[
    Literal["pending", "pickup", "pickup_complete", "dropoff", "delivered", "canceled", "returned"],
    Field(description="Only deliveries with this status."),
]
_STATUS = {
    "matching": "pending",
    "en_route": "pickup",
    "arrived": "pickup",
    "done": "delivered",
    "cancelled": "canceled",
}
PARCEL = {
    "pickup": "Home",
    "dropoff": "Work",
    "package_description": "Laptop charger in a padded envelope",
    "recipient_name": "Lucas Weber",
    "recipient_phone": "+1-503-555-0155",
}
SENT = Setup("request_package_delivery", PARCEL, "parcel")


def pin(row: Row) -> str:
    """Return the number that the recipient of a package gives the courier."""
    return f"{int(share('pin', row['id']) * 10_000):04d}"


def of_package(row: Row, route: roads.Route, driver: Row | None, card: Row | None) -> Json:
    """Return the fields of a package's mails."""
    return mail.of_way(row, route, driver, card) | {
        "what": row["description"],
        "recipient": row["recipient_name"],
        "phone": row["recipient_phone"],
        "pin": pin(row),
        "fee": row["fare"],
        "returned_at": row.get("returned_at"),
    }


class Parcels(Service):
    """Package deliveries by courier."""

    def _state(self, row: Row) -> str:
        """Return a delivery's status in Uber's terms."""
        if row["returned_at"] is not None and self.time >= row["returned_at"]:
            return "returned"
        phase = trips.phase(row, self.time)
        if phase != "riding":
            return _STATUS[phase]
        soon = parse_time(row["ends_at"]) - self.now <= 5 * trips.MINUTE
        return "dropoff" if soon else "pickup_complete"

    def _json(self, row: Row) -> Json:
        start, end = trips.spots(row)
        state = self._state(row)
        coming = state in ("pending", "pickup", "pickup_complete", "dropoff")
        return {
            "delivery_id": row["id"],
            "status": state,
            "pickup": spot_json(start),
            "dropoff": spot_json(end),
            "package_description": row["description"],
            "recipient_name": row["recipient_name"],
            "recipient_phone": row["recipient_phone"],
            "courier": driver_json(self, row),
            "pin": pin(row),
            "fee": dollars(row["cancel_fee"] if row["cancelled_at"] else row["fare"]),
            "payment_method": rules.card_ref(self, WORDS, row["card_id"]),
            "requested_at": row["requested_at"],
            "estimated_dropoff_at": row["ends_at"] if coming else None,
            "delivered_at": row["ends_at"] if state == "delivered" else None,
            "canceled_at": row["cancelled_at"],
            "returned_at": row["returned_at"] if state == "returned" else None,
        }

    def _letter(self, row: Row) -> Json:
        """Return the fields of what is mailed about a package."""
        city = self.db.get("ridesharing_cities", row["city_id"]) or {}
        route = roads.route(city, list(trips.spots(row)), parse_time(row["requested_at"]))
        driver = self.db.get("uber_drivers", row["driver_id"])
        card = self.db.get("uber_wallet", row["card_id"])
        return of_package(row, route, driver, card)

    def _find(self, delivery_id: str) -> Row:
        row = self.db.get("uber_deliveries", delivery_id)
        if row is None:
            message = f"There is no delivery with the ID {delivery_id!r}."
            hint = "Use a delivery_id from list_deliveries."
            self.fail("DELIVERY_NOT_FOUND", message, hint, delivery_id=delivery_id)
        return row

    @writes(example=PARCEL)
    def request_package_delivery(
        self,
        pickup: Address,
        dropoff: Address,
        package_description: Content,
        recipient_name: PersonName,
        recipient_phone: Phone,
        payment_method_id: PaymentId | None = None,
        idempotency_key: Key | None = None,
    ) -> Json:
        """Send a package by courier within one city and return the delivery.

        It includes the fee in dollars and the PIN that the recipient gives the courier.
        """
        start = rules.spot(self, WORDS, pickup)
        end = rules.spot(self, WORDS, dropoff)
        order = {
            "description": package_description,
            "recipient_name": recipient_name,
            "recipient_phone": recipient_phone,
            **trips.ends(start, end),
        }
        earlier = self.db.rows("uber_deliveries", "idempotency_key=?", idempotency_key)
        if earlier:
            if any(earlier[0][k] != v for k, v in order.items()):
                message = "The key was already used for another package."
                hint = "Use a new key for a new package."
                self.fail("IDEMPOTENCY_KEY_REUSED", message, hint, delivery_id=earlier[0]["id"])
            return self._json(earlier[0])
        roads.reachable(self, [start, end])
        city = roads.city_at(self, start.lat, start.lng)
        if roads.city_at(self, end.lat, end.lng)["id"] != city["id"]:
            message = "Pickup and dropoff are in different cities."
            hint = "Couriers deliver within one city only."
            self.fail("DIFFERENT_CITIES", message, hint, city=city["name"])
        card = rules.payer(self, WORDS, payment_method_id)
        delivery_id = self.new_id("ubd")
        route = roads.route(city, [start, end], self.now)
        wait = roads.wait("uber", COURIER, city, self.now)
        busy = trips.occupied(self, WORDS)
        driver = trips.driver_for(self, WORDS, delivery_id, COURIER, city, busy)
        if driver is None:
            message = f"No couriers are available in {city['name']}."
            self.fail("NO_COURIERS_AVAILABLE", message, "Try again later.", retryable=True)
        row = {
            "id": delivery_id,
            "city_id": city["id"],
            "driver_id": driver["id"],
            "card_id": card["id"],
            "fare": roads.fare(COURIER, city, route, 0),
            "cancel_fee": 0,
            "idempotency_key": idempotency_key,
            **order,
            **trips.timetable(delivery_id, self.now, wait, route.minutes),
        }
        row = self.db.insert("uber_deliveries", row)
        said = self._letter(row)
        mail.tell(self, WORDS, "package_requested", said)
        mail.tell(self, WORDS, "package_delivered", said, due=parse_time(row["ends_at"]))
        return self._json(row)

    @reads(example={"delivery_id": seeded("ubd", "returned")})
    def get_delivery_status(self, delivery_id: DeliveryId) -> Json:
        """Return a package delivery: its current status, courier, PIN, fee and times.

        A returned package went back to the sender.
        """
        return self._json(self._find(delivery_id))

    @reads(example={"limit": 5})
    def list_deliveries(
        self,
        status: DeliveryStatus | None = None,
        from_date: Since | None = None,
        to_date: Until | None = None,
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return the packages you sent, newest first."""
        sent = Listing(self.db, "uber_deliveries", by="requested_at")
        sent = sent.days(from_date, to_date, rules.profile(self, WORDS)["timezone"])
        if status is not None:
            sent = sent.keep(lambda row: self._state(row) == status)
        return page(sent, "deliveries", limit, cursor, self._json)

    @writes(example={"delivery_id": "${parcel.delivery_id}"}, setup=(SENT,), destructive=True)
    def cancel_package_delivery(self, delivery_id: DeliveryId) -> Json:
        """Cancel a delivery whose package has not been picked up.

        It is free until two minutes after a courier accepts and costs 4 dollars after that.
        """
        row = self._find(delivery_id)
        state = self._state(row)
        if state not in ("pending", "pickup"):
            message = f"Delivery {delivery_id} is {state}."
            hint = "A delivery can be canceled until the courier picks up the package."
            self.fail("DELIVERY_NOT_CANCELLABLE", message, hint, delivery_status=state)
        fee = 0 if self.now - parse_time(row["matched_at"]) <= trips.FREE_CANCEL else 400
        self.db.update("uber_deliveries", delivery_id, cancelled_at=self.time, cancel_fee=fee)
        mail.tell(self, WORDS, "package_canceled", self._letter(row) | {"fee": fee})
        return {"delivery_id": delivery_id, "status": "canceled", "cancellation_fee": dollars(fee)}
