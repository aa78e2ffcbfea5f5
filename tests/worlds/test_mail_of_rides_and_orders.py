"""Last year's rides and orders are in the mailboxes, once each, with the figures of the apps."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from scenarios.worlds.build import person, shared
from servers.food_delivery.doordash.service import DoorDash
from servers.food_delivery.uber_eats import _model as uber_eats
from servers.food_delivery.uber_eats.service import UberEats
from servers.kit import posts
from servers.kit.service import Service
from servers.kit.store import World
from servers.kit.values import dollars, parse_time
from servers.ridesharing import _trips as trips
from servers.ridesharing.lyft import _model as lyft
from servers.ridesharing.lyft.service import Lyft
from servers.ridesharing.uber import _model as uber
from servers.ridesharing.uber.service import Uber
from tests.worlds.test_mail import PEOPLE, seeds

Mails = list[dict[str, Any]]
people = pytest.mark.parametrize("name", PEOPLE)


def service(cls: type[Service], name: str) -> Any:
    session_ids: Any = None  # nothing is written
    return cls(shared(name), parse_time(person(name)["start"]), session_ids)


def from_provider(world: World, provider: str) -> Mails:
    """Return what a provider has mailed, oldest first."""
    address = posts.templates(provider).sender.partition("<")[2].rstrip(">")
    return world.rows("gmail_emails", "sender=?", address, order="created_at, rowid")


def beginning(name: str) -> str:
    return seeds(name, "email_bulk")["from"]


@people
@pytest.mark.parametrize("app", ["uber", "lyft"])
def test_every_ride_has_one_receipt_with_what_it_cost(name: str, app: str) -> None:
    svc = service({"uber": Uber, "lyft": Lyft}[app], name)
    model = {"uber": uber, "lyft": lyft}[app]
    thanks = {"uber": "Thanks for riding,", "lyft": "Thanks for riding with"}[app]
    receipts = [mail for mail in from_provider(svc.db, app) if thanks in mail["body"]]
    told: Counter[str] = Counter()
    taken = [r for r in svc.db.rows(f"{app}_rides") if trips.phase(r, svc.time) == "done"]
    for row in taken:
        about = [mail for mail in receipts if row["id"] in mail["body"]]
        if row["ends_at"] < beginning(name):
            assert about == []
            continue
        [mail] = about
        told[row["id"]] += 1
        cost = row["fare"] - trips.discount(svc, model.WORDS, row)
        if app == "lyft":
            cost += lyft.donated(svc, row, lyft.rounding(svc))
        assert mail["created_at"] == row["ends_at"]
        assert f"${dollars(cost):,.2f}" in mail["body"]
    assert len(told) > 20 and len(receipts) == len(told)


@people
def test_tips_and_adjustments_are_told_with_the_total_that_they_lead_to(name: str) -> None:
    svc = service(Uber, name)
    mails = from_provider(svc.db, "uber")
    tips = [mail for mail in mails if "tipping" in mail["body"]]
    for row in svc.db.rows("uber_rides", "tip>0 AND tipped_at>?", beginning(name)):
        about = [mail for mail in tips if row["id"] in mail["body"]]
        assert [mail["created_at"] for mail in about] == [row["tipped_at"]]
    for line in svc.db.rows("uber_adjustments", "at>?", beginning(name)):
        [mail] = [m for m in mails if line["reason"] in m["body"]]
        assert mail["created_at"] == line["at"] and line["ride_id"] in mail["body"]


@people
@pytest.mark.parametrize("app", ["uber_eats", "doordash"])
def test_every_order_is_confirmed_and_its_delivery_told_as_the_app_tells_it(
    name: str, app: str
) -> None:
    svc = service({"uber_eats": UberEats, "doordash": DoorDash}[app], name)
    mails = from_provider(svc.db, app)
    gifts = {row["order_id"] for row in svc.db.rows("doordash_gifts")}
    seen = 0
    for row in svc.db.rows(f"{app}_orders", "placed_at>?", beginning(name)):
        about = [mail for mail in mails if row["id"] in mail["body"]]
        if row["id"] in gifts:
            assert about[0]["subject"].startswith("Your gift for")
            continue
        seen += 1
        assert about[0]["created_at"] == row["placed_at"]
        if row["cancelled_at"] is not None:
            assert [mail["created_at"] for mail in about[1:]] == [row["cancelled_at"]]
        elif row["delivered_at"] <= svc.time:
            assert about[1]["created_at"] == row["delivered_at"]
            if app == "uber_eats":
                total = uber_eats.order_json(svc, row)["total"]
                assert f"Total  ${total:,.2f}" in about[1]["body"]
    assert seen > 10


def test_what_maya_has_in_her_own_words_is_not_told_twice() -> None:
    world = shared("maya")
    since = [m for m in from_provider(world, "doordash") if m["created_at"] > "2026-02-01"]
    refunds = [mail for mail in since if "refund from Lotus" in mail["subject"]]
    assert [mail["created_at"] for mail in refunds] == ["2026-02-04T03:52:00Z"]


@people
def test_what_is_still_to_come_waits_in_the_outbox(name: str) -> None:
    world = shared(name)
    start = person(name)["start"]
    for app in ("uber", "lyft"):
        to_come = "cancelled_at IS NULL AND ends_at>?"
        for row in world.rows(f"{app}_rides", to_come, start):
            waiting = world.rows("outbox", "about=? AND template='receipt'", row["id"])
            assert [post["due_at"] for post in waiting] == [row["ends_at"]]
