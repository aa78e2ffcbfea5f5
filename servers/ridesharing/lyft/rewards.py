"""What Lyft alone has: cheaper rides for who waits, donations, challenges and streaks, all derived from rides."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import Field

from servers.kit.service import Service, reads, writes
from servers.kit.values import Cursor, Limit, dollars, page, parse_time
from servers.kit.zones import local, local_day
from servers.ridesharing import _roads as roads
from servers.ridesharing import _rules as rules
from servers.ridesharing._roads import Address
from servers.ridesharing._rules import PaymentId
from servers.ridesharing.lyft._booking import order
from servers.ridesharing.lyft._model import (
    MODES,
    WORDS,
    donated,
    priced,
    ride_json,
    rounding,
    waits,
)

RoundUp = Annotated[
    bool,
    Field(description="true rounds fares up to the next dollar and gives the difference away."),
]
PromoId = Annotated[
    str, Field(description="offer_id of a promo to use for this ride instead of the one redeemed.")
]
CHARITY = "Rides for Care Fund"
WEEKLY = 2
STREAK_REWARD = 150
"""Rides that a week needs to count, and cents that each week of a streak earns."""


class Rewards(Service):
    """Saving, giving, earning."""

    # -- wait and save -----------------------------------------------------------------------------
    @reads(example={"pickup": "Home", "dropoff": "Powell's Books, Portland"})
    def get_wait_and_save_estimate(self, pickup: Address, dropoff: Address) -> dict[str, Any]:
        """Return what a standard ride costs now, what it costs with Wait and Save, the difference in dollars and the wait in minutes."""
        points = [rules.spot(self, WORDS, pickup), rules.spot(self, WORDS, dropoff)]
        roads.reachable(self, points)
        city = roads.city_at(self, points[0].lat, points[0].lng)
        mode = MODES["lyft"]
        route = roads.route(city, points, self.now)
        prime = roads.busy("lyft", city, self.now)
        usual, saving = (
            priced(mode, city, route, prime, plan) for plan in ("standard", "wait_and_save")
        )
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
    ) -> dict[str, Any]:
        """Request a Wait and Save ride between two addresses and return it: ride_id, fare after any promo, and the wait in minutes."""
        points = [rules.spot(self, WORDS, pickup), rules.spot(self, WORDS, dropoff)]
        offer = None if offer_id is None else rules.apply_offer(self, WORDS, offer_id)
        row = order(self, MODES["lyft"], points, "wait_and_save", payment_method_id, offer=offer)
        if offer is not None and row["offer_id"] is None:
            message = f"{offer['code']} does not fit this ride."
            hint = f"It asks for a fare of ${dollars(offer['minimum']):.2f} or a certain ride type; see list_promos."
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
    def toggle_round_up(self, enabled: RoundUp) -> dict[str, Any]:
        """Switch round-up donations on or off for rides that end from now on."""
        switched = rounding(self)
        if (bool(switched) and switched[-1][1]) != enabled:
            self.db.insert(
                "lyft_round_up", {"id": self.new_id("lyu"), "enabled": enabled, "at": self.time}
            )
        return {"round_up_enabled": enabled, "status": "updated"}

    @reads(example={"limit": 5})
    def get_donation_history(
        self, limit: Limit = 20, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """Return what round-up gave away so far (total_donated in dollars, ride_count) and the single donations, newest first."""
        switched = rounding(self)
        given = []
        for row in self._completed()[::-1]:
            cents = donated(self, row, switched)
            if cents:
                given.append({"ride_id": row["id"], "amount": cents, "at": row["ends_at"]})
        total = sum(g["amount"] for g in given)
        count = len(given)
        shown = page(
            [g | {"amount": dollars(g["amount"])} for g in given], "donations", limit, cursor
        )
        return {"total_donated": dollars(total), "ride_count": count, "charity": CHARITY} | shown

    # -- earning -----------------------------------------------------------------------------------
    def _completed(self) -> list[dict[str, Any]]:
        return self.db.rows(
            "lyft_rides", "cancelled_at IS NULL AND ends_at<=?", self.time, order="ends_at, rowid"
        )

    def _home(self) -> ZoneInfo:
        return ZoneInfo(rules.profile(self, WORDS)["timezone"])

    def _counts(self, challenge: dict[str, Any], row: dict[str, Any]) -> bool:
        begun = local(parse_time(row["starts_at"]), self._home())
        kind = challenge["counts"]
        if kind == "early":
            return begun.hour < 9
        return (
            begun.weekday() >= 5
            if kind == "weekend"
            else challenge["mode_id"] in (None, row["mode_id"])
        )

    @reads(example={"limit": 5})
    def get_ride_challenges(
        self, limit: Limit = 20, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """Return challenges, the latest to end first: description, target, progress (counted from rides), reward in dollars, status."""
        done = self._completed()
        shown = []
        for row in self.db.rows(
            "lyft_challenges", "starts_at<=?", self.time, order="ends_at DESC, rowid"
        ):
            rides = [
                r
                for r in done
                if row["starts_at"] <= r["ends_at"] < row["ends_at"] and self._counts(row, r)
            ]
            reached = len(rides) >= row["target"]
            shown.append(
                {
                    "challenge_id": row["id"],
                    "description": row["description"],
                    "progress": min(len(rides), row["target"]),
                    "target": row["target"],
                    "reward": dollars(row["reward"]),
                    "status": "completed"
                    if reached
                    else ("missed" if self.time >= row["ends_at"] else "active"),
                    "completed_at": rides[row["target"] - 1]["ends_at"] if reached else None,
                    "starts_at": row["starts_at"],
                    "ends_at": row["ends_at"],
                }
            )
        return page(shown, "challenges", limit, cursor)

    @reads()
    def get_ride_streak(self) -> dict[str, Any]:
        """Return the streak of weeks (Monday to Sunday, home time) with two rides or more: current and longest, in weeks, and its rewards.

        streak_status: active (this week counts), at_risk (it needs more rides to go on) or none.
        """
        where = self._home()
        weeks = {}
        for row in self._completed():
            day = local_day(parse_time(row["ends_at"]), where)
            monday = day - timedelta(days=day.weekday())
            weeks[monday] = weeks.get(monday, 0) + 1
        today = local_day(self.now, where)
        this = today - timedelta(days=today.weekday())
        longest = max([self._run(weeks, monday) for monday in weeks] or [0])
        active = weeks.get(this, 0) >= WEEKLY
        current = self._run(weeks, this if active else this - timedelta(days=7))
        return {
            "current_streak": current,
            "longest_streak": longest,
            "per_streak_reward": dollars(STREAK_REWARD),
            "earned_by_streak": dollars(STREAK_REWARD * current),
            "streak_status": "active" if active else ("at_risk" if current else "none"),
            "rides_this_week": weeks.get(this, 0),
            "rides_needed": max(0, WEEKLY - weeks.get(this, 0)),
            "week_ends": (this + timedelta(days=6)).isoformat(),
        }

    def _run(self, weeks: dict[date, int], last: date) -> int:
        found = 0
        while weeks.get(last, 0) >= WEEKLY:
            found = found + 1
            last = last - timedelta(days=7)
        return found
