"""Prices, rides and reservations."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, with_config
from typing_extensions import TypedDict

from servers.kit.control import seeded
from servers.kit.geo import Latitude, Longitude
from servers.kit.listing import Listing, Since, Until
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, Timestamp, dollars, iso, page, parse_time
from servers.ridesharing import _mail as mail
from servers.ridesharing import _roads as roads
from servers.ridesharing import _rules as rules
from servers.ridesharing import _trips as trips
from servers.ridesharing._roads import Address, Spot
from servers.ridesharing._rules import PaymentId
from servers.ridesharing.uber._model import (
    CANCEL_FEE,
    FREE_UNTIL,
    MAX_ACTIVE,
    MAX_STOPS,
    MODES,
    RESERVE_FEE,
    WORDS,
    ReservationId,
    RideId,
    RideStatus,
    RideType,
    brief_json,
    driver_json,
    letter,
    ride_json,
    spot_json,
)
from servers.ridesharing.uber._model import status as ride_status


@with_config(extra="forbid")
class Point(TypedDict):
    """A stop along the way."""

    lat: Latitude
    lng: Longitude


Stops = Annotated[
    list[Point],
    Field(max_length=MAX_STOPS, description="Stops along the way, in order (up to 3)."),
]
FareId = Annotated[
    str,
    Field(
        description="fare_id of an estimate for the same places and ride type; "
        "the ride then costs the estimated fare."
    ),
]
Pickup = Annotated[
    Timestamp,
    Field(
        description="Pickup time, 30 minutes to 90 days ahead, e.g. 2026-03-18T05:15:00-07:00; "
        "without an offset, in the rider's time zone. It makes the ride a reservation."
    ),
]
ReservationStatus = Annotated[
    Literal["scheduled", "dispatched", "completed", "canceled"],
    Field(description="Only reservations with this status; dispatched: the ride is under way."),
]
HOME_TO_WORK = {
    "pickup_lat": 45.5181,
    "pickup_lng": -122.6431,
    "dropoff_lat": 45.5236,
    "dropoff_lng": -122.6828,
}
NOW = Setup("request_ride", HOME_TO_WORK | {"ride_type_id": "uberx"}, "ride")
LATER = Setup(
    "reserve_ride",
    {
        "pickup": "Home",
        "dropoff": "Work",
        "ride_type": "comfort",
        "scheduled_time": "2026-03-18T12:15:00Z",
    },
    "reserved",
)


class Rides(Service):
    """Everything from an estimate to a receipt."""

    def _estimate(self, ride_type: str, points: list[Spot]) -> Json:
        city = roads.city_at(self, points[0].lat, points[0].lng)
        mode = MODES[ride_type]
        percent = roads.busy("uber", city, self.now)
        route = roads.route(city, points, self.now)
        cost = roads.fare(mode, city, route, percent)
        offer = rules.applied(self, WORDS)
        cut = rules.off(offer, cost) if offer and rules.fits(offer, mode, cost) else 0
        slot = self.now // roads.SLOT
        return {
            "ride_type_id": ride_type,
            "name": mode.name,
            "estimated_fare": dollars(cost - cut),
            "discount": dollars(cut),
            "distance_miles": route.miles,
            "duration_minutes": route.minutes,
            "surge_multiplier": 1 + percent / 100,
            "eta_pickup_min": roads.wait("uber", mode, city, self.now),
            "available": roads.near("uber", mode, city, self.now),
            "fare_id": trips.quote(WORDS, mode, points, slot),
            "fare_expires_at": iso((slot + roads.HONOURED) * roads.SLOT),
        }

    def _spots(
        self, pickup_lat: float, pickup_lng: float, dropoff_lat: float, dropoff_lng: float
    ) -> list[Spot]:
        points = [
            roads.name_of(self, pickup_lat, pickup_lng),
            roads.name_of(self, dropoff_lat, dropoff_lng),
        ]
        roads.reachable(self, points)
        return points

    @reads(example=HOME_TO_WORK | {"ride_type_id": "uberx"})
    def estimate_ride(
        self,
        pickup_lat: Latitude,
        pickup_lng: Longitude,
        dropoff_lat: Latitude,
        dropoff_lng: Longitude,
        ride_type_id: RideType,
    ) -> Json:
        """Return the upfront fare of one ride type, in dollars after the applied offer.

        Its fare_id locks the fare for at least ten minutes.
        """
        points = self._spots(pickup_lat, pickup_lng, dropoff_lat, dropoff_lng)
        return self._estimate(ride_type_id, points)

    @reads(example=HOME_TO_WORK)
    def get_price_estimates(
        self,
        pickup_lat: Latitude,
        pickup_lng: Longitude,
        dropoff_lat: Latitude,
        dropoff_lng: Longitude,
    ) -> Json:
        """Return estimates of every ride type for the same route.

        Use them to compare prices, waits and seats.
        """
        points = self._spots(pickup_lat, pickup_lng, dropoff_lat, dropoff_lng)
        estimates = [
            self._estimate(ride_type, points) | {"capacity": mode.capacity}
            for ride_type, mode in MODES.items()
        ]
        return {"estimates": estimates}

    def _order(
        self,
        ride_type: str,
        points: list[Spot],
        card: str | None,
        fare_id: str | None = None,
        scheduled: int | None = None,
    ) -> Row:
        """Insert a ride or a reservation and return its row."""
        roads.reachable(self, points)
        city = roads.city_at(self, points[0].lat, points[0].lng)
        mode = MODES[ride_type]
        payer = rules.payer(self, WORDS, card)
        if scheduled is None:
            self._free_to_ride(ride_type, city)
            at = trips.quoted_at(self, WORDS, mode, points, fare_id)
            percent = roads.busy("uber", city, at)
            wait = roads.wait("uber", mode, city, self.now)
        else:
            at = scheduled
            percent = 0
            wait = 0
        route = roads.route(city, points, at)
        fare = roads.fare(mode, city, route, percent) + (0 if scheduled is None else RESERVE_FEE)
        offer = rules.applied(self, WORDS)
        ride_id = self.new_id("ubr")
        driver = trips.driver_for(self, WORDS, ride_id, mode, city, trips.occupied(self, WORDS))
        if driver is None:
            message = f"{mode.name} is not offered in {city['name']}."
            hint = "list_ride_types shows the ride types of a place."
            self.fail("RIDE_TYPE_UNAVAILABLE", message, hint)
        row = {
            "id": ride_id,
            "mode_id": ride_type,
            "city_id": city["id"],
            "driver_id": driver["id"],
            "card_id": payer["id"],
            "offer_id": offer["id"] if offer and rules.fits(offer, mode, fare) else None,
            "priced_at": iso(at),
            "percent": percent,
            "fare": fare,
            "wait": wait,
            "cancel_fee": 0,
            "tip": 0,
            "stops": [list(p) for p in points[1:-1]],
            "reservation_id": None if scheduled is None else self.new_id("ubv"),
            **trips.ends(points[0], points[-1]),
            **trips.timetable(ride_id, self.now, wait, route.minutes, scheduled),
        }
        row = self.db.insert("uber_rides", row)
        said = letter(self, row)
        if scheduled is not None:
            mail.tell(self, WORDS, "reserved", said)
        mail.expect(self, WORDS, row, said)
        return row

    def _free_to_ride(self, ride_type: str, city: Row) -> None:
        active = [r["id"] for r in trips.underway(self, WORDS)]
        if len(active) >= MAX_ACTIVE:
            message = f"You already have {MAX_ACTIVE} rides under way."
            hint = "Wait until one of them is over, or cancel one with cancel_ride."
            self.fail("TOO_MANY_ACTIVE_RIDES", message, hint, ride_ids=active)
        if not roads.near("uber", MODES[ride_type], city, self.now):
            others = [t for t, m in MODES.items() if roads.near("uber", m, city, self.now)]
            message = f"No {MODES[ride_type].name} driver is nearby right now."
            hint = "Choose another ride type, or try again later."
            self.fail("NO_DRIVERS_AVAILABLE", message, hint, retryable=True, available=others)

    @writes(example=HOME_TO_WORK | {"ride_type_id": "uberx"})
    def request_ride(
        self,
        pickup_lat: Latitude,
        pickup_lng: Longitude,
        dropoff_lat: Latitude,
        dropoff_lng: Longitude,
        ride_type_id: RideType,
        scheduled_time: Pickup | None = None,
        stops: Stops | None = None,
        payment_method_id: PaymentId | None = None,
        fare_id: FareId | None = None,
    ) -> Json:
        """Request a ride now, or reserve one for scheduled_time, and return it.

        fare_total is the upfront fare in dollars. Every call requests another ride, up to three at
        a time. Without the fare_id of an estimate, the current fare applies.
        """
        via = [roads.name_of(self, s["lat"], s["lng"]) for s in stops or []]
        points = [
            roads.name_of(self, pickup_lat, pickup_lng),
            *via,
            roads.name_of(self, dropoff_lat, dropoff_lng),
        ]
        scheduled = None
        if scheduled_time is not None:
            scheduled = trips.scheduled_moment(self, WORDS, scheduled_time)
        if scheduled is not None and fare_id is not None:
            message = "An estimate is for an immediate ride, not for scheduled_time."
            hint = "Omit fare_id: a reservation has its own fixed fare."
            self.fail("FARE_ID_NOT_APPLICABLE", message, hint)
        row = self._order(ride_type_id, points, payment_method_id, fare_id, scheduled)
        return ride_json(self, row)

    @writes(example={"ride_id": "${ride.ride_id}"}, setup=(NOW,), destructive=True)
    def cancel_ride(self, ride_id: RideId) -> Json:
        """Cancel a ride before it begins.

        It is free until two minutes after a driver accepts, then costs 5 to 10 dollars depending on
        the ride type. A reserved ride is free to cancel until an hour before its pickup. Canceling
        is also free when the driver is five minutes late.
        """
        row = trips.find_ride(self, WORDS, ride_id)
        trips.cancellable(self, WORDS, row)
        fee = CANCEL_FEE.get(row["mode_id"], 500)
        if row["scheduled_for"] is None:
            owed = trips.cancel_fee(self, row, fee)
        else:
            early = parse_time(row["scheduled_for"]) - self.now >= FREE_UNTIL
            owed = 0 if early or trips.late(self, row) else fee
        self.db.update(
            "uber_rides", ride_id, cancelled_at=self.time, cancelled_by="rider", cancel_fee=owed
        )
        canceled = {"canceled_at": self.time, "canceled_by": "you", "fee": owed}
        mail.tell(self, WORDS, "trip_canceled", letter(self, row) | canceled)
        return {"ride_id": ride_id, "status": "rider_canceled", "cancellation_fee": dollars(owed)}

    @reads(example={"ride_id": seeded("ubr", "disputed")})
    def get_ride(self, ride_id: RideId) -> Json:
        """Return one ride: its current status, places, driver, times, fare_total and receipt.

        fare_total is the agreed fare; the receipt includes the tip and later adjustments.
        """
        return ride_json(self, trips.find_ride(self, WORDS, ride_id))

    @reads(example={"status": "completed", "limit": 5})
    def list_rides(
        self,
        status: RideStatus | None = None,
        from_date: Since | None = None,
        to_date: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return rides by pickup time, latest first, including upcoming reservations.

        Each has its places, fare_total and total, which includes tip, fees and adjustments;
        get_ride has the driver, the times and the receipt.
        """
        rides = Listing(self.db, "uber_rides", by="coalesce(scheduled_for, requested_at)")
        rides = rides.days(from_date, to_date, rules.profile(self, WORDS)["timezone"])
        if status is not None:
            rides = rides.keep(lambda row: ride_status(row, self.time) == status)
        return page(rides, "rides", limit, cursor, lambda row: brief_json(self, row))

    @reads(example={"ride_id": seeded("ubr", "disputed")})
    def get_driver_info(self, ride_id: RideId) -> Json:
        """Return the driver of a ride: name, rating, vehicle with license plate, and availability.

        availability is on_trip (driving you), online or offline.
        """
        row = trips.find_ride(self, WORDS, ride_id)
        shown = driver_json(self, row)
        driver = self.db.get("uber_drivers", row["driver_id"])
        if shown is None or driver is None:
            message = f"No driver has accepted ride {ride_id} yet."
            hint = "Ask again once get_ride shows the status accepted."
            self.fail("DRIVER_NOT_ASSIGNED", message, hint, ride_id=ride_id)
        return {
            "ride_id": ride_id,
            **shown,
            "trips": driver["rides"],
            "availability": self._availability(driver),
        }

    def _availability(self, driver: Row) -> str:
        for ride in trips.underway(self, WORDS):
            if ride["driver_id"] == driver["id"] and trips.has_driver(ride, self.time):
                return "on_trip"
        return "online" if trips.on_shift(driver, self.now) else "offline"

    # -- reservations ------------------------------------------------------------------------------
    def _reservation_json(self, row: Row) -> Json:
        start, end = trips.spots(row)
        return {
            "reservation_id": row["reservation_id"],
            "ride_id": row["id"],
            "status": self._reservation_state(row),
            "ride_type_id": row["mode_id"],
            "pickup": spot_json(start),
            "dropoff": spot_json(end),
            "scheduled_time": row["scheduled_for"],
            "free_cancellation_until": iso(parse_time(row["scheduled_for"]) - FREE_UNTIL),
            "fare_total": ride_json(self, row)["fare_total"],
            "cancellation_fee": dollars(row["cancel_fee"]),
            "payment_method": rules.card_ref(self, WORDS, row["card_id"]),
            "created_at": row["requested_at"],
        }

    @writes(example=LATER.args)
    def reserve_ride(
        self,
        pickup: Address,
        dropoff: Address,
        ride_type: RideType,
        scheduled_time: Pickup,
        payment_method_id: PaymentId | None = None,
    ) -> Json:
        """Reserve a ride for later at a fixed fare without surge, including a fee of 3.50 dollars.

        A driver is sent 15 minutes before the pickup. The ride_id works with the other tools right
        away.
        """
        points = [rules.spot(self, WORDS, pickup), rules.spot(self, WORDS, dropoff)]
        at = trips.scheduled_moment(self, WORDS, scheduled_time)
        row = self._order(ride_type, points, payment_method_id, scheduled=at)
        return self._reservation_json(row)

    @reads(example={"status": "scheduled"})
    def get_reservations(
        self,
        status: ReservationStatus | None = None,
        from_date: Since | None = None,
        to_date: Until | None = None,
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return reservations by pickup time, earliest first, including past ones."""
        rides = Listing(self.db, "uber_rides", by="scheduled_for", newest=False)
        rides = rides.only("reservation_id IS NOT NULL")
        rides = rides.days(from_date, to_date, rules.profile(self, WORDS)["timezone"])
        if status == "scheduled":
            rides = rides.only("scheduled_for>?", self.time)
        if status is not None:
            rides = rides.keep(lambda row: self._reservation_state(row) == status)
        return page(rides, "reservations", limit, cursor, self._reservation_json)

    def _reservation_state(self, row: Row) -> str:
        states = {"scheduled": "scheduled", "done": "completed", "cancelled": "canceled"}
        return states.get(trips.phase(row, self.time), "dispatched")

    @writes(
        example={"reservation_id": "${reserved.reservation_id}"}, setup=(LATER,), destructive=True
    )
    def cancel_reservation(self, reservation_id: ReservationId) -> Json:
        """Cancel a reservation; it is free until an hour before the pickup.

        After that it costs the cancellation fee of the ride type, unless the driver is late.
        """
        rows = self.db.rows("uber_rides", "reservation_id=?", reservation_id)
        if not rows:
            message = f"There is no reservation with the ID {reservation_id!r}."
            hint = "Use a reservation_id from get_reservations."
            self.fail("RESERVATION_NOT_FOUND", message, hint, reservation_id=reservation_id)
        fee = self.cancel_ride(rows[0]["id"])["cancellation_fee"]
        return {"reservation_id": reservation_id, "status": "canceled", "cancellation_fee": fee}
