"""What is still to come in a world: dated rows, and people who react in their manner."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest

from fault_profiles.model import parse
from scenarios.worlds.build import Builder, person
from servers.kit import future
from servers.kit.errors import InputError
from servers.kit.service import all_tables, tables_of
from servers.kit.session import Session
from servers.kit.store import CLOCK, World
from servers.kit.values import iso, parse_time
from servers.kit.zones import local
from tests.support import START, at, call_ok, new_session

pytestmark = pytest.mark.anyio

DAY = 86_400
HOME = ZoneInfo("America/Los_Angeles")
JORDAN = at("vct", "jordan_park")
SNACKS = {"contact_id": JORDAN, "amount": 18, "note": "Half of the gym snacks"}


async def status(session: Session, request: str) -> str:
    return (await call_ok(session, "venmo", "get_request", request_id=request))["status"]


async def asked(session: Session) -> str:
    return (await call_ok(session, "venmo", "request_money", **SNACKS))["request_id"]


@pytest.mark.parametrize("names", [("venmo",), ("venmo", "gmail"), ("venmo", "gmail", "zelle")])
async def test_a_friend_pays_a_request_two_days_later_whatever_is_offered(names: Any) -> None:
    session = new_session(*names)
    mark = session.world.last_change()
    request = await asked(session)
    session.pass_time(int(1.9 * DAY))
    assert await status(session, request) == "pending"
    session.pass_time(DAY)
    paid = await call_ok(session, "venmo", "get_request", request_id=request)
    assert paid["status"] == "paid"
    assert 2 * DAY <= parse_time(paid["closed_at"]) - START <= 3 * DAY
    got = await call_ok(session, "venmo", "get_transaction", transaction_id=paid["transaction_id"])
    assert (got["type"], got["amount"], got["created_at"]) == (
        "payment_received",
        18.0,
        paid["closed_at"],
    )
    of_request = [e for e in session.world.log(mark) if e["key"] == request]
    closing = of_request[1:]
    assert [(e["cause"], e["at"]) for e in closing] == [(CLOCK, paid["closed_at"])]
    if "gmail" in names:
        listed = await call_ok(session, "gmail", "search_emails", query="from:venmo-mail paid you")
        newest = listed["emails"][0]
        assert newest["subject"] == "Jordan Park paid you $18.00"
        assert newest["created_at"] == paid["closed_at"]


async def test_nobody_pays_a_request_that_was_withdrawn_dropped_or_undone() -> None:
    session = new_session("venmo")
    request = await asked(session)
    await call_ok(session, "venmo", "cancel_request", request_id=request)
    session.pass_time(4 * DAY)
    assert await status(session, request) == "cancelled"
    for kind in ("dropped_write", "revert_after_write"):
        fault = parse({kind: {"on": "venmo.request_money", "name": "gone"}})
        session = new_session("venmo", faults=[fault])
        await asked(session)
        session.pass_time(4 * DAY)
        assert session.world.rows("venmo_transactions", "note=?", SNACKS["note"]) == []


async def test_somebody_who_never_answers_does_nothing() -> None:
    session = new_session("venmo")
    asking = SNACKS | {"contact_id": at("vct", "kai_tanaka")}
    request = (await call_ok(session, "venmo", "request_money", **asking))["request_id"]
    session.pass_time(20 * DAY)
    assert await status(session, request) == "pending"


async def test_a_mail_is_answered_the_next_morning_in_its_thread_and_only_once() -> None:
    session = new_session("gmail")
    mail = {"to": ["jordan.park@gmail.com"], "subject": "Smith Rock", "body": "Sunday at 7?"}
    sent = await call_ok(session, "gmail", "send_email", **mail)
    session.pass_time(600)
    again = {"email_id": sent["email_id"], "body": "Or 8, if you are tired."}
    await call_ok(session, "gmail", "reply_to_email", **again)
    session.pass_time(2 * DAY)
    thread = await call_ok(session, "gmail", "get_thread", thread_id=sent["thread_id"])
    theirs = [m for m in thread["emails"] if m["from"] == "jordan.park@gmail.com"]
    (answer,) = theirs
    assert answer["subject"] == "Re: Smith Rock" and "> Or 8, if you are tired." in answer["body"]
    moment = local(parse_time(answer["created_at"]), HOME)
    assert moment.day == 15 and 7 <= moment.hour < 11


def test_a_moment_is_drawn_from_the_key_and_lies_within_the_hours() -> None:
    manner = {"least": 3600, "most": 5 * DAY, "opens": 8, "closes": 22}
    drawn = {key: future.drawn(manner, key, START, HOME) for key in map(str, range(300))}
    assert drawn == {key: future.drawn(manner, key, START, HOME) for key in drawn}
    assert len(set(drawn.values())) > 250
    assert all(8 <= local(moment, HOME).hour < 22 for moment in drawn.values())
    assert all(3600 <= moment - START <= 6 * DAY for moment in drawn.values())


# -- dated rows -------------------------------------------------------------------------------
def built(add: Any, tables: Any = None) -> World:
    builder = Builder("maya", person("maya"))
    add(builder)
    world = World.empty(tables or all_tables())
    builder.write(world)
    return world


def row(builder: Builder, key: str) -> dict[str, Any]:
    return {"id": builder.id("glb", key), "account": "maya.lindqvist@gmail.com", "name": key}


def test_rows_of_the_future_come_and_change_at_their_moments_only_where_their_table_is() -> None:
    def add(builder: Builder) -> None:
        label = builder.add(START - DAY, "gmail_labels", **row(builder, "old"))
        builder.later(START + DAY, "gmail_labels", **row(builder, "spring"))
        builder.change_later(START + 2 * DAY, "gmail_labels", label["id"], name="older")
        builder.later(START + DAY, "venmo_settings", id="other", default_visibility="public")

    tables = tables_of(["email"])
    whole = built(add)
    world = World.open(whole.image(), all_tables()).only(tables).share()
    session = Session(["clock"], world, _control())
    mark = world.last_change()

    def labels() -> list[str]:
        return sorted(r["name"] for r in world.rows("gmail_labels"))

    session.pass_time(DAY - 1)
    assert labels() == ["old"]
    session.pass_time(1)
    assert labels() == ["old", "spring"]
    session.pass_time(5 * DAY)
    assert labels() == ["older", "spring"]
    mine = [e for e in world.log(mark) if e["table"] == "gmail_labels"]
    moments = [(e["cause"], e["at"]) for e in mine]
    assert moments == [(CLOCK, iso(START + DAY)), (CLOCK, iso(START + 2 * DAY))]


def _control() -> Any:
    from servers.kit.control import Control

    return Control(START)


def test_what_has_happened_is_not_the_future() -> None:
    builder = Builder("maya", person("maya"))
    with pytest.raises(InputError, match="is not after the start"):
        builder.later(START, "gmail_labels", id="x")


def test_a_dated_row_that_does_not_fit_is_refused_when_the_world_is_built() -> None:
    with pytest.raises(InputError, match="table gmail_labels: missing account, name"):
        built(lambda builder: builder.later(START + 1, "gmail_labels", id="x"))
    with pytest.raises(InputError, match="unknown table 'gmail_label'; did you mean"):
        built(lambda builder: builder.later(START + 1, "gmail_label", id="x"))
