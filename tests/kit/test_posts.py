"""What services send, when it arrives, and what follows from it."""

from __future__ import annotations

from typing import Any

import pytest

from scenarios.worlds.build import names, person, shared
from servers.kit import posts
from servers.kit.agenda import agenda
from servers.kit.control import Control
from servers.kit.errors import InputError
from servers.kit.service import services
from servers.kit.session import Session
from servers.kit.store import CLOCK, POST
from servers.kit.types import Row
from servers.kit.values import iso, parse_time
from tests.support import START, at, call_ok, call_refused, new_session, sampled

pytestmark = pytest.mark.anyio

DAY = 86_400
PRIYA = at("vct", "priya_nair")
PAYMENT = {"contact_id": PRIYA, "amount": 12.5, "note": "Coffee and pastries"}
MAYA = "maya.lindqvist@gmail.com"


def mails(session: Session) -> list[Row]:
    """Return the mails that services' letters have become."""
    arrived = []
    for entry in session.world.log():
        is_mail = entry["cause"] == POST and entry["table"].endswith("_emails")
        if is_mail and entry["old"] is None and entry["new"] is not None:
            arrived.append(entry["new"])
    return arrived


def from_venmo(session: Session) -> list[Row]:
    """Return the mails from Venmo; others come by themselves in a year like the person's."""
    return [mail for mail in mails(session) if mail["sender"] == "venmo@venmo-mail.com"]


async def test_a_payment_is_mailed_at_its_moment_and_tells_what_was_paid() -> None:
    session = new_session("venmo", "gmail")
    sent = await call_ok(session, "venmo", "send_money", **PAYMENT)
    listed = await call_ok(session, "gmail", "list_emails", max_results=1)
    mail = listed["emails"][0]
    assert mail["from"] == "venmo@venmo-mail.com" and mail["to"] == [MAYA]
    assert mail["subject"] == "You paid Priya Nair $12.50"
    assert "Coffee and pastries" in mail["body"] and sent["transaction_id"] in mail["body"]
    assert mail["created_at"] == sent["created_at"] and not mail["read"]


async def test_a_post_and_its_delivery_follow_from_the_call_and_are_not_the_agents() -> None:
    session = new_session("venmo", "gmail")
    mark = session.world.last_change()
    await call_ok(session, "venmo", "send_money", **PAYMENT)
    session.pass_time(60)
    causes = {e["table"]: e["cause"] for e in session.world.log(mark)}
    assert causes["venmo_transactions"] == "agent"
    assert causes["outbox"] == causes["gmail_emails"] == POST


async def test_what_goes_to_somebody_else_leaves_this_world() -> None:
    session = new_session("venmo", "gmail")
    await call_ok(session, "venmo", "send_money", **PAYMENT)
    session.pass_time(60)
    theirs = session.world.rows("outbox", "recipient=?", "priya.nair@gmail.com")
    assert [row["template"] for row in theirs] == ["payment_received"]
    assert theirs[0]["delivered_at"] == theirs[0]["posted_at"] and theirs[0]["due_at"] is None
    assert [mail["account"] for mail in mails(session)] == [MAYA]


async def test_posts_wait_where_a_world_has_no_mailbox() -> None:
    session = new_session("venmo")
    sent = await call_ok(session, "venmo", "send_money", **PAYMENT)
    session.pass_time(DAY)
    waiting = session.world.rows("outbox", "about=?", sent["transaction_id"])
    assert len(waiting) == 2 and all(row["delivered_at"] is None for row in waiting)


async def test_a_mail_arrives_also_where_an_episode_does_not_offer_the_mailbox() -> None:
    session = Session(["venmo"], shared("maya").share(), Control(START))
    await call_ok(session, "venmo", "send_money", **PAYMENT)
    session.pass_time(60)
    assert [mail["subject"] for mail in mails(session)] == ["You paid Priya Nair $12.50"]


async def test_a_refused_call_sends_nothing() -> None:
    session = new_session("venmo", "gmail")
    before = session.world.rows("outbox")
    await call_refused(session, "venmo", "send_money", **PAYMENT | {"amount": 900_000})
    session.pass_time(60)
    assert session.world.rows("outbox") == before and mails(session) == []


def _put(session: Session, **changed: Any) -> Row:
    said = {"amount": 1250, "note": "Tea", "at": iso(START), "reference": "t", "name": "Priya"}
    given: dict[str, Any] = {"about": "t", "now": START} | changed
    row = posts.put(session.world, posts.post("venmo", "payment_received", MAYA, said, **given))
    session.world.commit()
    return row


def test_an_id_follows_from_the_post_and_two_that_are_alike_have_two() -> None:
    one = _put(new_session("venmo"))
    session = new_session("venmo", "gmail", seed=7)
    assert _put(session)["id"] == one["id"]
    assert _put(session)["id"] != one["id"]
    assert _put(session, now=START + 1)["id"] != one["id"]


def test_a_letter_of_a_later_day_comes_on_that_day_and_can_be_recalled() -> None:
    session = new_session("venmo", "gmail")
    _put(session, due=START + DAY)
    _put(session, due=START + 2 * DAY, about="u")

    def moments() -> list[str]:
        of_tea = [mail for mail in mails(session) if mail["subject"] == "Priya paid you $12.50"]
        return [mail["created_at"] for mail in of_tea]

    session.pass_time(DAY - 1)
    assert moments() == []
    session.pass_time(1)
    assert moments() == [iso(START + DAY)]
    posts.recall(session.world, "u")
    session.pass_time(5 * DAY)
    assert moments() == [iso(START + DAY)]


# -- templates --------------------------------------------------------------------------------
@pytest.mark.parametrize("provider", [p for p, c in services().items() if posts.written(p)])
def test_the_templates_of_a_provider_can_be_read(provider: str) -> None:
    known = posts.templates(provider)
    assert known.posts and all(len(t.body.split()) >= 6 for t in known.posts.values())


def test_a_line_with_an_empty_field_is_left_out_and_a_list_fills_lines() -> None:
    template = posts.Template(subject="s", body="Hi {me}\n{what}: {cost:dollars}\nFee: {fee}\nBye")
    known = posts.Templates(sender="A Shop <a@shop.com>", posts={"one": template})
    data = {"what": ["Tea", "Milk"], "cost": [1250, 199], "fee": None}
    letter = posts.made(known, "one", data, to=MAYA, at=START, about="x", person=_MAYA)
    assert letter.body == "Hi Maya\nTea: $12.50\nMilk: $1.99\nBye"


_MAYA = {"name": "Maya Lindqvist", "email": MAYA, "timezone": "America/Los_Angeles"}


def test_moments_are_written_in_the_persons_zone() -> None:
    template = posts.Template(subject="s", body="{at:moment}, {at:day}, {on:day}")
    known = posts.Templates(sender="A Shop <a@shop.com>", posts={"one": template})
    data = {"at": "2026-03-14T05:05:00Z", "on": "2026-03-20"}
    letter = posts.made(known, "one", data, to=MAYA, at=START, about="x", person=_MAYA)
    assert letter.body == "Friday, March 13 at 10:05 PM, Friday, March 13, Friday, March 20"


def test_a_field_that_lacks_and_an_unknown_occasion_are_named() -> None:
    with pytest.raises(InputError, match="venmo posts payment_sent without 'amount'"):
        posts.checked("venmo", "payment_sent", {"note": "x"})
    with pytest.raises(InputError, match="did you mean 'payment_sent'"):
        posts.checked("venmo", "payment_send", {})
    with pytest.raises(ValueError, match="way to write a field 'dollar'; did you mean 'dollars'"):
        posts.Template(subject="s", body="{amount:dollar}")


# -- the agenda -------------------------------------------------------------------------------
def _lived(name: str, step: int, days: int = 45) -> tuple[Any, list[Any]]:
    start = parse_time(person(name)["start"])
    world = shared(name).share()
    mark = world.last_change()
    session = Session(["clock"], world, Control(start))
    for _ in range(days * DAY // step):
        session.pass_time(step)
    log = [(e["at"], e["cause"], e["table"], e["key"], e["new"]) for e in session.world.log(mark)]
    return session.world.digest(), log


@pytest.mark.parametrize("name", sampled(3, {name: [name] for name in names()}))
def test_waiting_in_steps_and_jumping_give_the_same_rows_and_the_same_log(name: str) -> None:
    jumped = _lived(name, 45 * DAY)
    assert jumped[1] and {cause for _, cause, *_ in jumped[1]} <= {CLOCK, POST}
    assert [at for at, *_ in jumped[1]] == sorted(at for at, *_ in jumped[1])
    assert _lived(name, DAY) == jumped
    assert _lived(name, 3600) == jumped


def test_a_quiet_day_asks_the_database_nothing() -> None:
    session = new_session("venmo", "gmail")
    session.pass_time(1)
    asked: list[str] = []
    session.world._db.set_trace_callback(asked.append)
    session.pass_time(3600)
    session.world._db.set_trace_callback(None)
    assert asked == []


def test_every_column_of_the_agenda_has_an_index_where_rows_are_many() -> None:
    world = shared("maya")
    for line in agenda(frozenset(world.tables)).lines:
        many = world.sql(f"SELECT count(*) FROM {line.table}")[0][0] > 100
        assert not many or line.column in world.tables[line.table].index, line.key
