"""Estimates, rides, scheduled rides, and ratings and tips."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.geo import Latitude, Longitude
from servers.kit.listing import Listing, Since, Until
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Dollars, Limit, Timestamp, dollars, iso, page, parse_time
from servers.ridesharing import _mail as mail
from servers.ridesharing import _roads as roads
from servers.ridesharing import _rules as rules
from servers.ridesharing import _trips as trips
from servers.ridesharing._roads import Address, Mode
from servers.ridesharing._rules import PaymentId, Stars
from servers.ridesharing.lyft._model import (
    CANCEL_FEE,
    MODES,
    WORDS,
    RideMode,
    ScheduledId,
    TripId,
    TripStatus,
    book,
    brief_json,
    donated,
    driver_json,
    letter,
    place,
    priced,
    ride_json,
    rounding,
    waits,
)
from servers.ridesharing.lyft._model import status as ride_status

Patient = Annotated[
    bool,
    Field(description="true accepts a longer wait for a lower fare; only with ride_type_id lyft."),
]
Priority = Annotated[bool, Field(description="true halves the wait for an extra $2.50.")]
Token = Annotated[str, Field(description="cost_token of the estimate whose fare should apply.")]
PickupTime = Annotated[
    Timestamp,
    Field(
        description="When the driver should arrive, 30 minutes to 90 days ahead, e.g. "
        "2026-03-18T05:15:00-07:00; without an offset, in the rider's time zone."
    ),
]
Standing = Annotated[
    Literal["upcoming", "on_the_way", "finished", "canceled"],
    Field(description="Only scheduled rides with this status."),
]
TO_WORK = {
    "pickup_lat": 45.5181,
    "pickup_lng": -122.6431,
    "dropoff_lat": 45.5236,
    "dropoff_lng": -122.6828,
}
BOOKED = Setup("book_ride", TO_WORK | {"ride_type_id": "lyft"}, "ride")
MORNING = Setup(
    "schedule_ride",
    {
        "pickup": "Home",
        "dropoff": "Work",
        "ride_type": "lyft",
        "scheduled_time": "2026-03-17T15:30:00Z",
    },
    "planned",
)


class Rides(Service):
    """Rides with Lyft, now and scheduled."""

    @reads(example=TO_WORK)
    def get_ride_estimates(
        self,
        pickup_lat: Latitude,
        pickup_lng: Longitude,
        dropoff_lat: Latitude,
        dropoff_lng: Longitude,
    ) -> Json:
        """Return the fare, the prime time and the ETAs of every ride type.

        Fares are in dollars, after the redeemed promo. Passing an estimate's cost_token when
        booking locks its fare for at least ten minutes; the token covers the standard, Wait and
        Save and priority fares.
        """
        points = [
            roads.name_of(self, pickup_lat, pickup_lng),
            roads.name_of(self, dropoff_lat, dropoff_lng),
        ]
        roads.reachable(self, points)
        city = roads.city_at(self, pickup_lat, pickup_lng)
        prime = roads.busy("lyft", city, self.now)
        route = roads.route(city, points, self.now)
        slot = self.now // roads.SLOT
        estimates = []
        for mode in MODES.values():
            pickup = waits(mode, city, self.now, "standard")
            fares = {
                plan: self._after_promo(mode, priced(mode, city, route, prime, plan))
                for plan in ("standard", "priority", "wait_and_save")
            }
            estimate = {
                "ride_type_id": mode.id,
                "name": mode.name,
                "available": roads.near("lyft", mode, city, self.now),
                "fare": fares["standard"],
                "priority_fare": fares["priority"],
                "wait_and_save_fare": fares["wait_and_save"] if mode.id == "lyft" else None,
                "prime_time_pct": prime,
                "eta_pickup_min": pickup,
                "eta_dropoff_min": pickup + route.minutes,
                "cost_token": trips.quote(WORDS, mode, points, slot),
            }
            estimates.append(estimate)
        return {
            "estimates": estimates,
            "distance_miles": route.miles,
            "duration_min": route.minutes,
            "valid_until": iso((slot + roads.HONOURED) * roads.SLOT),
        }

    def _after_promo(self, mode: Mode, cents: int) -> float:
        """Return a fare in dollars after the redeemed promo, if it applies."""
        promo = rules.applied(self, WORDS)
        if promo and rules.fits(promo, mode, cents):
            cents -= rules.off(promo, cents)
        return dollars(cents)

    @writes(example=TO_WORK | {"ride_type_id": "lyft"})
    def book_ride(
        self,
        pickup_lat: Latitude,
        pickup_lng: Longitude,
        dropoff_lat: Latitude,
        dropoff_lng: Longitude,
        ride_type_id: RideMode,
        wait_and_save: Patient = False,
        priority_pickup: Priority = False,
        payment_method_id: PaymentId | None = None,
        cost_token: Token | None = None,
    ) -> Json:
        """Book a ride for now and return it; its status is pending at first.

        fare_total is what the ride will cost. Booking is refused while another ride is under way.
        """
        if wait_and_save and (priority_pickup or ride_type_id != "lyft"):
            message = "Wait and Save is for standard Lyft rides without priority."
            hint = (
                "Drop wait_and_save, or use it with ride_type_id lyft and without priority_pickup."
            )
            self.fail("OPTIONS_NOT_COMBINABLE", message, hint)
        plan = "standard"
        if wait_and_save:
            plan = "wait_and_save"
        elif priority_pickup:
            plan = "priority"
        ends = [
            roads.name_of(self, pickup_lat, pickup_lng),
            roads.name_of(self, dropoff_lat, dropoff_lng),
        ]
        mode = MODES[ride_type_id]
        row = book(self, mode, ends, plan, payment_method_id, token=cost_token)
        return ride_json(self, row)

    @writes(example={"ride_id": "${ride.ride_id}"}, setup=(BOOKED,), destructive=True)
    def cancel_trip(self, ride_id: TripId) -> Json:
        """Cancel a ride that has not begun.

        It costs 5 dollars once a driver has been on the way for more than two minutes, unless that
        driver is late.
        """
        row = trips.find_ride(self, WORDS, ride_id)
        trips.cancellable(self, WORDS, row)
        fee = trips.cancel_fee(self, row, CANCEL_FEE)
        self.db.update(
            "lyft_rides", ride_id, cancelled_at=self.time, cancelled_by="rider", cancel_fee=fee
        )
        canceled = {"canceled_at": self.time, "canceled_by": "you", "fee": fee}
        mail.tell(self, WORDS, "ride_canceled", letter(self, row) | canceled)
        return {"ride_id": ride_id, "status": "canceled", "cancel_fee": dollars(fee)}

    @reads(example={"ride_id": seeded("lyr", "recent")})
    def get_trip(self, ride_id: TripId) -> Json:
        """Return a ride with its current status, ETAs, driver and all charges.

        Charges are fare, promo, cancel_fee, tip, adjustments and donation.
        """
        return ride_json(self, trips.find_ride(self, WORDS, ride_id))

    @reads(example={"status": "dropped_off", "limit": 5})
    def list_trip_history(
        self,
        status: TripStatus | None = None,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return rides by pickup time, latest first, including scheduled ones.

        Each has its places, fare_total and total_charged; get_trip has the driver and all charges.
        """
        rides = Listing(self.db, "lyft_rides", by="coalesce(scheduled_for, requested_at)")
        rides = rides.days(since, until, rules.profile(self, WORDS)["timezone"])
        if status is not None:
            rides = rides.keep(lambda row: ride_status(row, self.time) == status)
        return page(rides, "rides", limit, cursor, lambda row: brief_json(self, row))

    @reads(example={"ride_id": seeded("lyr", "recent")})
    def get_driver_details(self, ride_id: TripId) -> Json:
        """Return the driver of a ride: name, rating, vehicle, license plate and availability.

        availability is driving_you, free or off_duty.
        """
        row = trips.find_ride(self, WORDS, ride_id)
        shown = driver_json(self, row)
        driver = self.db.get("lyft_drivers", row["driver_id"])
        if driver is None or shown is None:
            message = f"Ride {ride_id} has no driver."
            hint = "Ask again once get_trip shows the status accepted."
            self.fail("NO_DRIVER_YET", message, hint, ride_id=ride_id)
        return shown | {"ride_id": ride_id, "availability": self._availability(driver)}

    def _availability(self, driver: Row) -> str:
        for ride in trips.underway(self, WORDS):
            if ride["driver_id"] == driver["id"] and trips.has_driver(ride, self.time):
                return "driving_you"
        return "free" if trips.on_shift(driver, self.now) else "off_duty"

    # -- after the ride ----------------------------------------------------------------------------
    @writes(example={"ride_id": seeded("lyr", "recent"), "rating": 4}, idempotent=True)
    def rate_trip(self, ride_id: TripId, rating: Stars) -> Json:
        """Rate a completed ride from 1 to 5 stars, within 30 days of it.

        After a rating of three or fewer you are not matched with that driver again.
        """
        row = trips.finished(self, WORDS, ride_id, "rated")
        if row["rating"] is not None and row["rating"] != rating:
            message = f"You already gave this ride a rating of {row['rating']}."
            self.fail("ALREADY_RATED", message, "Ratings on Lyft are final.", rating=row["rating"])
        if row["rating"] is None:
            self.db.update("lyft_rides", ride_id, rating=rating, rated_at=self.time)
        return {"ride_id": ride_id, "rating": rating, "status": "rated"}

    @writes(example={"ride_id": seeded("lyr", "recent"), "amount": 3.5})
    def add_gratuity(self, ride_id: TripId, amount: Dollars) -> Json:
        """Set the tip of a completed ride, within 30 days of it.

        The tip can be raised later but not lowered, and is at most 200 dollars.
        """
        row = trips.finished(self, WORDS, ride_id, "tipped")
        if amount <= row["tip"] or amount > 20_000:
            message = "The tip can only be raised, up to 200 dollars."
            hint = f"Tip more than ${dollars(row['tip']):.2f} and at most $200.00."
            self.fail("INVALID_TIP", message, hint, tip_amount=dollars(row["tip"]))
        more = amount - row["tip"]
        self.db.update("lyft_rides", ride_id, tip=amount, tipped_at=self.time)
        row = trips.find_ride(self, WORDS, ride_id)
        total = trips.charged(self, WORDS, row).total + donated(self, row, rounding(self))
        tipped = {"tip": amount, "more": more, "total": total}
        mail.tell(self, WORDS, "tip_added", letter(self, row) | tipped)
        return {
            "ride_id": ride_id,
            "tip_amount": dollars(amount),
            "total_with_tip": dollars(total),
        }

    # -- scheduled rides ---------------------------------------------------------------------------
    def _scheduled(self, row: Row) -> Json:
        standings = {"scheduled": "upcoming", "done": "finished", "cancelled": "canceled"}
        standing = standings.get(trips.phase(row, self.time), "on_the_way")
        start, end = trips.spots(row)
        shown = ride_json(self, row)
        return {
            "scheduled_ride_id": row["scheduled_id"],
            "status": standing,
            "ride_id": row["id"],
            "ride_type_id": row["mode_id"],
            "origin": place(*start),
            "destination": place(*end),
            "scheduled_time": row["scheduled_for"],
            "driver_assigned_at": row["matched_at"],
            "fare_total": shown["fare_total"],
            "payment": shown["payment"],
        }

    @writes(example=MORNING.args)
    def schedule_ride(
        self,
        pickup: Address,
        dropoff: Address,
        ride_type: RideMode,
        scheduled_time: PickupTime,
        payment_method_id: PaymentId | None = None,
    ) -> Json:
        """Schedule a ride at a fare without prime time, and return it.

        Its driver is assigned 15 minutes before the pickup.
        """
        points = [rules.spot(self, WORDS, pickup), rules.spot(self, WORDS, dropoff)]
        at = trips.scheduled_moment(self, WORDS, scheduled_time)
        unfinished = "scheduled_for IS NOT NULL AND cancelled_at IS NULL AND ends_at>?"
        for other in self.db.rows("lyft_rides", unfinished, self.time):
            if abs(parse_time(other["scheduled_for"]) - at) < 30 * trips.MINUTE:
                message = f"Another ride is already scheduled for {other['scheduled_for']}."
                hint = (
                    "Schedule rides at least 30 minutes apart, "
                    "or cancel the other one with cancel_scheduled_ride."
                )
                other_id = other["scheduled_id"]
                self.fail("SCHEDULE_CONFLICT", message, hint, scheduled_ride_id=other_id)
        mode = MODES[ride_type]
        row = book(self, mode, points, "standard", payment_method_id, scheduled=at)
        return self._scheduled(row)

    @reads(example={"status": "upcoming"})
    def list_scheduled_rides(
        self,
        status: Standing | None = None,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return scheduled rides in order of pickup time, including past ones.

        Filter by the status upcoming to see only those still to come.
        """
        rides = Listing(self.db, "lyft_rides", by="scheduled_for", newest=False)
        rides = rides.only("scheduled_id IS NOT NULL")
        rides = rides.days(since, until, rules.profile(self, WORDS)["timezone"])
        if status == "upcoming":
            rides = rides.only("scheduled_for>?", self.time)
        if status is not None:
            rides = rides.keep(lambda row: self._scheduled(row)["status"] == status)
        return page(rides, "scheduled_rides", limit, cursor, self._scheduled)

    @writes(
        example={"scheduled_ride_id": "${planned.scheduled_ride_id}"},
        setup=(MORNING,),
        destructive=True,
    )
    def cancel_scheduled_ride(self, scheduled_ride_id: ScheduledId) -> Json:
        """Cancel a scheduled ride.

        It is free until a driver is assigned, 15 minutes before the pickup.
        """
        rows = self.db.rows("lyft_rides", "scheduled_id=?", scheduled_ride_id)
        if not rows:
            message = f"There is no scheduled ride with the ID {scheduled_ride_id!r}."
            hint = "Use a scheduled_ride_id from list_scheduled_rides."
            self.fail(
                "SCHEDULED_RIDE_NOT_FOUND", message, hint, scheduled_ride_id=scheduled_ride_id
            )
        fee = self.cancel_trip(rows[0]["id"])["cancel_fee"]
        return {"scheduled_ride_id": scheduled_ride_id, "status": "canceled", "cancel_fee": fee}
