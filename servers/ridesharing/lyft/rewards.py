"""What only Lyft has: Wait and Save, donations, challenges and streaks, all derived from rides."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from typing import Annotated, NamedTuple
from zoneinfo import ZoneInfo

from pydantic import Field

from servers.kit.listing import Listing
from servers.kit.service import Service, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, dollars, page, parse_time
from servers.kit.zones import local, local_day
from servers.ridesharing import _roads as roads
from servers.ridesharing import _rules as rules
from servers.ridesharing._roads import Address
from servers.ridesharing._rules import PaymentId
from servers.ridesharing.lyft._model import (
    MODES,
    WORDS,
    Switch,
    book,
    donated,
    priced,
    ride_json,
    rounding,
    rounds_up,
    waits,
)

RoundUp = Annotated[
    bool,
    Field(description="true rounds fares up to the next dollar and donates the difference."),
]
PromoId = Annotated[
    str, Field(description="offer_id of a promo to use for this ride instead of the redeemed one.")
]
CHARITY = "Rides for Care Fund"
WEEK = timedelta(days=7)
WEEKLY = 2
"""Rides that a week needs to count towards a streak."""
STREAK_REWARD = 150
"""Cents that each week of a streak earns."""


GIVEN_FROM = ("lyft_rides", "lyft_round_up", "lyft_offers")
"""The tables from which donations follow."""


class Given(NamedTuple):
    """The cents that were donated, and for how many rides."""

    cents: int
    rides: int


class Rewards(Service):
    """Savings, donations and rewards."""

    # -- wait and save -----------------------------------------------------------------------------
    @reads(example={"pickup": "Home", "dropoff": "Powell's Books, Portland"})
    def get_wait_and_save_estimate(self, pickup: Address, dropoff: Address) -> Json:
        """Compare a standard ride now with Wait and Save: both fares, the savings and both waits.

        Fares are in dollars and waits in minutes.
        """
        points = [rules.spot(self, WORDS, pickup), rules.spot(self, WORDS, dropoff)]
        roads.reachable(self, points)
        city = roads.city_at(self, points[0].lat, points[0].lng)
        mode = MODES["lyft"]
        route = roads.route(city, points, self.now)
        prime = roads.busy("lyft", city, self.now)
        usual = priced(mode, city, route, prime, "standard")
        saving = priced(mode, city, route, prime, "wait_and_save")
        return {
            "pickup": points[0].address,
            "dropoff": points[1].address,
            "standard_fare": dollars(usual),
            "discounted_fare": dollars(saving),
            "savings_amount": dollars(usual - saving),
            "wait_time_minutes": waits(mode, city, self.now, "wait_and_save"),
            "standard_wait_minutes": waits(mode, city, self.now, "standard"),
        }

    @writes(example={"pickup": "Home", "dropoff": "Powell's Books, Portland"})
    def request_wait_and_save_ride(
        self,
        pickup: Address,
        dropoff: Address,
        payment_method_id: PaymentId | None = None,
        offer_id: PromoId | None = None,
    ) -> Json:
        """Request a Wait and Save ride between two addresses.

        Returns ride_id, fare (in dollars, after any promo), wait_time_minutes, status, offer_id and
        payment.
        """
        points = [rules.spot(self, WORDS, pickup), rules.spot(self, WORDS, dropoff)]
        offer = None if offer_id is None else rules.apply_offer(self, WORDS, offer_id)
        row = book(self, MODES["lyft"], points, "wait_and_save", payment_method_id, offer=offer)
        if offer is not None and row["offer_id"] is None:
            message = f"{offer['code']} cannot be used for this ride."
            minimum = dollars(offer["minimum"])
            hint = f"It requires a fare of ${minimum:.2f} or a certain ride type; see list_promos."
            self.fail("PROMO_NOT_APPLICABLE", message, hint, fare=dollars(row["fare"]))
        shown = ride_json(self, row)
        return {
            "ride_id": row["id"],
            "fare": shown["fare_total"],
            "wait_time_minutes": row["wait"],
            "status": shown["status"],
            "offer_id": row["offer_id"],
            "payment": shown["payment"],
        }

    # -- giving ------------------------------------------------------------------------------------
    @writes(example={"enabled": False}, idempotent=True)
    def toggle_round_up(self, enabled: RoundUp) -> Json:
        """Turn round-up donations on or off for rides that end from now on."""
        if rounds_up(self) != enabled:
            switch = {"id": self.new_id("lyu"), "enabled": enabled, "at": self.time}
            self.db.insert("lyft_round_up", switch)
        return {"round_up_enabled": enabled, "status": "updated"}

    @reads(example={"limit": 5})
    def get_donation_history(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return what round-up has donated: total_donated (dollars), ride_count and donations.

        Donations are listed newest first.
        """
        switches = rounding(self)
        today = self.time[:10]
        # What was given before today stays the same all day, for every episode of the world.
        key = ("donations before", today)
        early = self.db.kept(key, GIVEN_FROM, lambda: self._given(switches, "", today))
        late = self._given(switches, today, self.time)
        rides = self._completed()
        # Nothing was given before the first switch, so there is no need to look further back.
        rides = rides.only("ends_at>=?", switches[0].at if switches else self.time)

        def show(ride: Row) -> Json:
            amount = dollars(donated(self, ride, switches))
            return {"ride_id": ride["id"], "amount": amount, "at": ride["ends_at"]}

        return {
            "total_donated": dollars(early.cents + late.cents),
            "ride_count": early.rides + late.rides,
            "charity": CHARITY,
            **page(
                rides.keep(lambda ride: donated(self, ride, switches) > 0),
                "donations",
                limit,
                cursor,
                show,
            ),
        }

    def _given(self, switches: list[Switch], since: str, until: str) -> Given:
        """Return what was donated for the rides that ended after `since`, up to `until`."""
        rides = self._completed().only("ends_at>? AND ends_at<=?", since, until).all()
        gifts = [cents for ride in rides if (cents := donated(self, ride, switches))]
        return Given(sum(gifts), len(gifts))

    # -- earning -----------------------------------------------------------------------------------
    def _completed(self) -> Listing:
        """Return the rides that are over, the latest first."""
        rides = Listing(self.db, "lyft_rides", by="ends_at")
        return rides.only("cancelled_at IS NULL AND ends_at<=?", self.time)

    def _home(self) -> ZoneInfo:
        return ZoneInfo(rules.profile(self, WORDS)["timezone"])

    def _counts(self, challenge: Row, ride: Row) -> bool:
        """Return whether a ride that ended during a challenge counts towards it."""
        began = local(parse_time(ride["starts_at"]), self._home())
        if challenge["counts"] == "early":
            return began.hour < 9
        if challenge["counts"] == "weekend":
            return began.weekday() >= 5
        return challenge["mode_id"] in (None, ride["mode_id"])

    def _challenge_json(self, row: Row) -> Json:
        during = ("ends_at>=? AND ends_at<?", row["starts_at"], row["ends_at"])
        completed = self._completed().only(*during).all()
        rides = [ride for ride in reversed(completed) if self._counts(row, ride)]
        target = row["target"]
        reached = len(rides) >= target
        if reached:
            state = "completed"
        else:
            state = "missed" if self.time >= row["ends_at"] else "active"
        return {
            "challenge_id": row["id"],
            "description": row["description"],
            "progress": min(len(rides), target),
            "target": target,
            "reward": dollars(row["reward"]),
            "status": state,
            "completed_at": rides[target - 1]["ends_at"] if reached else None,
            "starts_at": row["starts_at"],
            "ends_at": row["ends_at"],
        }

    @reads(example={"limit": 5})
    def get_ride_challenges(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return challenges, the one that ends last first.

        Each has description, target, progress (the number of rides that count), reward in dollars
        and status.
        """
        order = "ends_at DESC, rowid"
        rows = self.db.rows("lyft_challenges", "starts_at<=?", self.time, order=order)
        return page(rows, "challenges", limit, cursor, self._challenge_json)

    @reads()
    def get_ride_streak(self) -> Json:
        """Return the streak of consecutive weeks with at least two rides, and what it has earned.

        Weeks run from Monday to Sunday in the rider's home time zone; current_streak and
        longest_streak are in weeks, rewards in dollars. streak_status is active (this week already
        counts), at_risk (it still needs rides) or none.
        """
        home = self._home()
        weeks = Counter(
            _monday(parse_time(ride["ends_at"]), home) for ride in self._completed().all()
        )
        this_week = _monday(self.now, home)
        longest = max((_streak_until(weeks, monday) for monday in weeks), default=0)
        active = weeks[this_week] >= WEEKLY
        current = _streak_until(weeks, this_week if active else this_week - WEEK)
        return {
            "current_streak": current,
            "longest_streak": longest,
            "per_streak_reward": dollars(STREAK_REWARD),
            "earned_by_streak": dollars(STREAK_REWARD * current),
            "streak_status": "active" if active else ("at_risk" if current else "none"),
            "rides_this_week": weeks[this_week],
            "rides_needed": max(0, WEEKLY - weeks[this_week]),
            "week_ends": (this_week + timedelta(days=6)).isoformat(),
        }


def _monday(at: int, home: ZoneInfo) -> date:
    """Return the Monday, in the home time zone, of the week that a moment is in."""
    day = local_day(at, home)
    return day - timedelta(days=day.weekday())


def _streak_until(weeks: Counter[date], last: date) -> int:
    """Return how many weeks in a row had enough rides, up to the one that starts on `last`."""
    length = 0
    while weeks[last] >= WEEKLY:
        length += 1
        last -= WEEK
    return length
