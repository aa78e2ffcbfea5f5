"""What Uber and Lyft mail about a ride: that it is planned or canceled, reminders, and receipts.

The functions that return fields are for generators, too, which write the past from the same
templates.
"""

from __future__ import annotations

from servers.kit.service import Service
from servers.kit.types import Json, Row
from servers.kit.values import parse_time
from servers.ridesharing import _rules as rules
from servers.ridesharing import _trips as trips
from servers.ridesharing._roads import Mode, Route
from servers.ridesharing._rules import Words


def tell(svc: Service, words: Words, occasion: str, said: Json, *, due: int | None = None) -> None:
    """Mail the rider about a ride or a package; `said` has its fields."""
    to = rules.profile(svc, words)["email"]
    svc.post(occasion, to, said, about=said["reference"], due=due)


def expect(svc: Service, words: Words, row: Row, said: Json) -> None:
    """Let a reminder and the receipt of a new ride come at their moments."""
    remind = remind_at(row)
    if remind is not None and remind > svc.now:
        tell(svc, words, "reminder", said, due=remind)
    tell(svc, words, "receipt", said, due=parse_time(row["ends_at"]))


def may_come(svc: Service, words: Words, row: Row | None, post: Row) -> bool:
    """Return whether a letter about a ride, posted for later, is still right now that it is due.

    A cancelled ride brings nothing. If its end has moved, the receipt comes then, and only once.
    """
    if row is None or row["cancelled_at"] is not None:
        return False
    if post["template"] != "receipt":
        return True
    receipts = svc.db.rows("outbox", "about=? AND template=?", row["id"], "receipt", order="rowid")
    others = [one for one in receipts if one["id"] != post["id"]]
    if row["ends_at"] <= svc.time:
        return not any(one["delivered_at"] for one in others)
    if not any(one["due_at"] for one in others):
        tell(svc, words, "receipt", post["data"], due=parse_time(row["ends_at"]))
    return False


def remind_at(row: Row) -> int | None:
    """Return when a rider is reminded of a ride, or None if it was not booked ahead."""
    if not row["scheduled_for"]:
        return None
    return parse_time(row["scheduled_for"]) - trips.DAY


def of_way(row: Row, route: Route, driver: Row | None, card: Row | None) -> Json:
    """Return the fields that rides and packages have in common."""
    driver = driver or {"name": None, "vehicle": None, "colour": None, "plate": None}
    return {
        "reference": row["id"],
        "pickup": row["pickup"],
        "dropoff": row["dropoff"],
        "destination": row["dropoff"].partition(",")[0],
        "requested_at": row["requested_at"],
        "starts_at": row["starts_at"],
        "ends_at": row["ends_at"],
        "miles": route.miles,
        "minutes": route.minutes,
        "driver": driver["name"],
        "car": driver["vehicle"] and f"{driver['colour']} {driver['vehicle']}",
        "plate": driver["plate"],
        "card": _card(card or {}),
    }


def of_ride(
    row: Row, mode: Mode, route: Route, driver: Row | None, card: Row | None, cut: int
) -> Json:
    """Return the fields of a ride; `cut` are the cents that its offer takes off."""
    return of_way(row, route, driver, card) | {
        "mode": mode.name,
        "scheduled_for": row["scheduled_for"],
        "fare": row["fare"],
        "discount": cut or None,
        "total": row["fare"] - cut,
    }


def _card(card: Row) -> str | None:
    """Return what a payment method is called: its name, and its last four digits if it has any."""
    if card.get("last4"):
        return f"{card['name']} ending in {card['last4']}"
    return card.get("name")
