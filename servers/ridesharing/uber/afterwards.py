"""Changes to a ride and what follows it: stops, fare splits, ratings and tips."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Dollars, Limit, dollars, iso, page, parse_time
from servers.ridesharing import _mail as mail
from servers.ridesharing import _roads as roads
from servers.ridesharing import _rules as rules
from servers.ridesharing import _trips as trips
from servers.ridesharing._roads import Address
from servers.ridesharing._rules import Stars
from servers.ridesharing.uber._model import (
    MAX_STOPS,
    MODES,
    RESERVE_FEE,
    WORDS,
    RideId,
    answer,
    answered_at,
    letter,
    points,
    reached,
    ride_json,
    split_json,
    spot_json,
    status,
    stops_json,
)
from servers.ridesharing.uber.rides import NOW

Place = Annotated[
    int,
    Field(
        ge=0,
        le=MAX_STOPS - 1,
        description="Position among the stops, starting at 0; omit to add it as the last one.",
    ),
]
StopIndex = Annotated[
    int, Field(ge=0, le=MAX_STOPS - 1, description="index of the stop, from get_ride_stops.")
]
Splits = Annotated[
    int,
    Field(
        ge=2,
        le=6,
        description="How many people share the fare, including you: one more than contact_ids.",
    ),
]
Contacts = Annotated[
    list[str],
    Field(
        min_length=1,
        max_length=5,
        description="contact_id of each person to invite, from list_contacts.",
    ),
]


class Afterwards(Service):
    """Stops, splits, ratings and tips."""

    # -- stops -------------------------------------------------------------------------------------
    def _reroute(self, row: Row, stops: list[Any]) -> Json:
        """Change the stops of a ride that is not over; return its stops and new fare.

        The fare and the arrival are those of the new route, with the demand at the time of the
        request. An offer that requires more than the new fare becomes available again.
        """
        row = row | {"stops": stops}
        roads.reachable(self, points(row))
        mode = MODES[row["mode_id"]]
        city = self.db.get("ridesharing_cities", row["city_id"]) or {}
        route = roads.route(city, points(row), parse_time(row["priced_at"]))
        fare = roads.fare(mode, city, route, row["percent"])
        if row["reservation_id"]:
            fare += RESERVE_FEE
        arrival = iso(parse_time(row["starts_at"]) + route.minutes * trips.MINUTE)
        offer = self.db.get("uber_offers", row["offer_id"]) if row["offer_id"] else None
        offer_fits = offer is not None and rules.fits(offer, mode, fare)
        self.db.update(
            "uber_rides",
            row["id"],
            stops=stops,
            fare=fare,
            offer_id=row["offer_id"] if offer_fits else None,
            # A ride never ends in the past, even if most of its route is removed.
            ends_at=max(arrival, iso(self.now + 60)),
        )
        row = trips.find_ride(self, WORDS, row["id"])
        said = letter(self, row)
        mail.tell(self, WORDS, "trip_changed", said)
        # A shorter ride brings its receipt sooner than the one that is on its way.
        mail.tell(self, WORDS, "receipt", said, due=parse_time(row["ends_at"]))
        return {
            "ride_id": row["id"],
            "stops": stops_json(self, row),
            "fare_total": ride_json(self, row)["fare_total"],
        }

    def _open(self, ride_id: str) -> dict[str, Any]:
        row = trips.find_ride(self, WORDS, ride_id)
        if trips.phase(row, self.time) in ("done", "cancelled"):
            message = f"Ride {ride_id} is already over."
            hint = "Stops can only be changed before the dropoff."
            self.fail(
                "RIDE_NOT_ACTIVE",
                message,
                hint,
                ride_id=ride_id,
                ride_status=status(row, self.time),
            )
        return row

    @writes(
        example={"ride_id": "${ride.ride_id}", "address": "Powell's Books, Portland"}, setup=(NOW,)
    )
    def add_stop(self, ride_id: RideId, address: Address, position: Place | None = None) -> Json:
        """Add a stop to a ride that is not over, and return its stops and new fare_total.

        A ride has at most 3 stops. The fare changes with the route.
        """
        row = self._open(ride_id)
        if len(row["stops"]) >= MAX_STOPS:
            hint = "Remove one with remove_stop first."
            self.fail(
                "TOO_MANY_STOPS", f"The ride already has {MAX_STOPS} stops.", hint, ride_id=ride_id
            )
        at = len(row["stops"]) if position is None else position
        if at > len(row["stops"]) or at < reached(self, row):
            hint = f"Choose a position from {reached(self, row)} to {len(row['stops'])}."
            self.fail(
                "INVALID_POSITION", f"A stop cannot be added at position {at}.", hint, position=at
            )
        stops = list(row["stops"])
        stops.insert(at, list(rules.spot(self, WORDS, address)))
        return self._reroute(row, stops) | {"status": "stop_added"}

    @writes(
        example={"ride_id": "${ride.ride_id}", "stop_index": 0},
        setup=(
            NOW,
            Setup(
                "add_stop", {"ride_id": "${ride.ride_id}", "address": "Powell's Books, Portland"}
            ),
        ),
        destructive=True,
    )
    def remove_stop(self, ride_id: RideId, stop_index: StopIndex) -> Json:
        """Remove a stop that has not been reached; return the remaining stops and new fare_total.

        The fare changes with the route.
        """
        row = self._open(ride_id)
        if stop_index >= len(row["stops"]):
            message = f"The ride has no stop with the index {stop_index}."
            hint = "get_ride_stops shows the stops with their index."
            self.fail("STOP_NOT_FOUND", message, hint, stops=len(row["stops"]))
        if stop_index < reached(self, row):
            message = f"The ride has already passed stop {stop_index}."
            hint = "Only stops that are still ahead can be removed."
            self.fail("STOP_ALREADY_REACHED", message, hint, stop_index=stop_index)
        stops = list(row["stops"])
        del stops[stop_index]
        return self._reroute(row, stops) | {"status": "stop_removed"}

    @reads(example={"ride_id": seeded("ubr", "disputed")})
    def get_ride_stops(self, ride_id: RideId) -> Json:
        """Return a ride's pickup, its stops and its dropoff.

        Each stop has its index and whether it has been reached.
        """
        row = trips.find_ride(self, WORDS, ride_id)
        start, end = trips.spots(row)
        return {
            "ride_id": ride_id,
            "pickup": spot_json(start),
            "stops": stops_json(self, row),
            "dropoff": spot_json(end),
        }

    # -- sharing the fare --------------------------------------------------------------------------
    @reads()
    def list_contacts(self, limit: Limit = 50, cursor: Cursor | None = None) -> Json:
        """Return the people to split a fare with, by name: contact_id, name and phone.

        Some names are similar.
        """
        rows = self.db.rows("uber_contacts", order="name, id")
        return page(rows, "contacts", limit, cursor, _contact_json)

    @writes(
        example={
            "ride_id": seeded("ubr", "recent"),
            "contact_ids": [seeded("ubc", "jordan_park"), seeded("ubc", "priya_nair")],
        },
    )
    def split_fare(
        self, ride_id: RideId, contact_ids: Contacts, num_splits: Splits | None = None
    ) -> Json:
        """Invite contacts to share a ride's fare equally.

        A fare can be split once, from the moment a driver accepts until a day after the dropoff;
        the tip is not shared. Nobody is charged before accepting (get_ride shows who has accepted):
        your_share includes the shares not yet accepted, and the odd cents.
        """
        row = trips.find_ride(self, WORDS, ride_id)
        matched = trips.phase(row, self.time) in ("en_route", "arrived", "riding", "done")
        if not matched or self.now - parse_time(row["ends_at"]) > trips.DAY:
            message = f"Ride {ride_id} cannot be split now."
            hint = (
                "A fare can be split from the moment a driver accepts "
                "until a day after the dropoff."
            )
            self.fail("SPLIT_NOT_ALLOWED", message, hint, ride_status=status(row, self.time))
        if split_json(self, row) is not None:
            message = "The fare has already been split."
            self.fail("ALREADY_SPLIT", message, "get_ride shows the participants.", ride_id=ride_id)
        known = {c["id"] for c in self.db.rows("uber_contacts")}
        strange = [c for c in contact_ids if c not in known]
        if strange:
            message = f"There is no contact with the ID {strange[0]!r}."
            hint = "Use contact_ids from list_contacts."
            self.fail("CONTACT_NOT_FOUND", message, hint, contact_id=strange[0])
        people = len(set(contact_ids)) + 1
        twice = people < len(contact_ids) + 1
        if twice or num_splits not in (None, people):
            message = "num_splits does not match the contacts."
            hint = "List each contact once. num_splits includes you; it can be omitted."
            self.fail("SPLIT_MISMATCH", message, hint, people=len(set(contact_ids)) + 1)
        for contact_id in contact_ids:
            self.db.insert(
                "uber_splits",
                {
                    "id": self.new_id("ubs"),
                    "ride_id": ride_id,
                    "contact_id": contact_id,
                    "invited_at": self.time,
                },
            )
        self._mail_split(row)
        return {"ride_id": ride_id} | (split_json(self, row) or {})

    def _mail_split(self, row: Row) -> None:
        """Mail the rider that contacts were invited to share a fare, and later their answers."""
        receipt = trips.charged(self, WORDS, row)
        invitations = self.db.rows("uber_splits", "ride_id=?", row["id"], order="rowid")
        each = (receipt.total - receipt.tip) // (len(invitations) + 1)
        said = letter(self, row) | {"each": each}
        to = rules.profile(self, WORDS)["email"]
        names: list[str] = []
        for invitation in invitations:
            contact = self.db.get("uber_contacts", invitation["contact_id"]) or {}
            names.append(contact["name"])
            answers_at = answered_at(invitation)
            if answers_at is not None:
                reply = f"split_{answer(invitation, answers_at)}"
                told = said | {"name": contact["name"]}
                self.post(reply, to, told, about=invitation["id"], due=answers_at)
        self.post("split_sent", to, said | {"names": names}, about=invitations[0]["id"])

    # -- rating and tip ----------------------------------------------------------------------------
    @writes(example={"ride_id": seeded("ubr", "recent"), "rating": 5}, idempotent=True)
    def rate_ride(self, ride_id: RideId, rating: Stars) -> Json:
        """Rate the driver of a completed ride, within 30 days.

        A new rating replaces the old one.
        """
        row = trips.finished(self, WORDS, ride_id, "rated")
        if row["rating"] != rating:
            self.db.update("uber_rides", ride_id, rating=rating, rated_at=self.time)
        return {"ride_id": ride_id, "rating": rating, "status": "rated"}

    @writes(example={"ride_id": seeded("ubr", "recent"), "amount": 4})
    def tip_driver(self, ride_id: RideId, amount: Dollars) -> Json:
        """Tip the driver of a completed ride, once and within 30 days.

        The tip is at most 100 dollars or twice the fare, whichever is more, and is charged to the
        ride's payment method.
        """
        row = trips.finished(self, WORDS, ride_id, "tipped")
        if row["tip"]:
            message = f"You already tipped ${dollars(row['tip']):.2f} on {row['tipped_at']}."
            hint = "A tip cannot be changed or added to."
            self.fail("TIP_ALREADY_ADDED", message, hint, tip_amount=dollars(row["tip"]))
        most = max(10_000, 2 * row["fare"])
        if amount > most:
            message = f"The tip for this ride is at most ${dollars(most):.2f}."
            self.fail("TIP_TOO_LARGE", message, "Choose a smaller tip.", max_tip=dollars(most))
        self.db.update("uber_rides", ride_id, tip=amount, tipped_at=self.time)
        row = trips.find_ride(self, WORDS, ride_id)
        total = trips.charged(self, WORDS, row).total
        mail.tell(self, WORDS, "tip_added", letter(self, row) | {"tip": amount, "total": total})
        return {
            "ride_id": ride_id,
            "tip_amount": dollars(amount),
            "total": dollars(total),
            "status": "tipped",
        }


def _contact_json(row: Row) -> Json:
    return {"contact_id": row["id"], "name": row["name"], "phone": row["phone"]}
