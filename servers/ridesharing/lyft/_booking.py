"""The one way in which Lyft takes a ride, now or for later."""

from __future__ import annotations

from typing import Any

from servers.kit.service import Service
from servers.kit.values import iso
from servers.ridesharing import _roads as roads
from servers.ridesharing import _rules as rules
from servers.ridesharing._roads import Mode, Spot
from servers.ridesharing.lyft._model import WORDS, priced, waits


def order(
    svc: Service,
    mode: Mode,
    points: list[Spot],
    plan: str,
    card: str | None,
    *,
    token: str | None = None,
    offer: dict[str, Any] | None = None,
    scheduled: int | None = None,
) -> dict[str, Any]:
    """Insert a ride, now or scheduled, with the given offer or the one applied, and return its row; refuse what cannot be driven."""
    roads.reachable(svc, points)
    city = roads.city_at(svc, points[0].lat, points[0].lng)
    if scheduled is None:
        busy = rules.underway(svc, WORDS)
        if busy:
            message = "A ride is under way already; Lyft drives one at a time."
            hint = "See get_trip; cancel it with cancel_trip, or wait until it is over."
            svc.fail("RIDE_IN_PROGRESS", message, hint, ride_id=busy[0]["id"])
        if not roads.near("lyft", mode, city, svc.now):
            message = f"No driver for {mode.name} is near now."
            hint = "Choose another mode from get_ride_estimates, or try again later."
            svc.fail("NO_DRIVERS_NEARBY", message, hint, retryable=True)
    at = rules.quoted_at(svc, WORDS, mode, points, token) if scheduled is None else scheduled
    prime = roads.busy("lyft", city, at) if scheduled is None else 0
    route = roads.route(city, points, at)
    cost = priced(mode, city, route, prime, plan)
    chosen = offer or rules.applied(svc, WORDS)
    paying = rules.payer(svc, WORDS, card)["id"]
    made = svc.new_id("lyr")
    shunned = {r["driver_id"] for r in svc.db.rows("lyft_rides", "rating<=3")}
    driver = rules.driver_for(svc, WORDS, made, mode, city, shunned)
    if driver is None:
        message = f"{mode.name} is not driven in {city['name']}."
        svc.fail("MODE_NOT_IN_REGION", message, "See list_ride_modes.", ride_type_id=mode.id)
    promised = waits(mode, city, svc.now, plan) if scheduled is None else 0
    moments = rules.timetable(made, svc.now, promised, route.minutes, scheduled)
    ride = {
        "id": made,
        "mode_id": mode.id,
        "plan": plan,
        "city_id": city["id"],
        "driver_id": driver["id"],
        "card_id": paying,
    }
    price = {
        "priced_at": iso(at),
        "percent": prime,
        "fare": cost,
        "wait": promised,
        "cancel_fee": 0,
        "tip": 0,
    }
    fits = chosen is not None and rules.fits(chosen, mode, cost)
    names = {
        "offer_id": chosen["id"] if chosen and fits else None,
        "scheduled_id": svc.new_id("lys") if scheduled else None,
    }
    return svc.db.insert(
        "lyft_rides", ride | price | names | rules.ends(points[0], points[-1]) | moments
    )
