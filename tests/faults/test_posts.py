"""Every write that posts under every fault kind that handles it.

Mail follows what happened: a write that left nothing sends nothing, one that happened sends what it
always sends, and one that happened twice sends it twice. A service that begins to post, and a kind
that is added, come under this test by themselves.
"""

from __future__ import annotations

from collections import Counter

import pytest

from fault_profiles.kinds.duplicate_delivery import DuplicateDelivery
from fault_profiles.model import Fault, kinds, parse
from fault_profiles.sample import Example
from servers.kit import posts
from servers.kit.events import Attempt
from servers.kit.evidence import Watch
from servers.kit.examples import owners, prepared
from servers.kit.service import Service, ToolSpec, services
from servers.kit.session import Session
from servers.kit.store import POST
from servers.kit.types import Row
from tests.support import at, call_ok, new_session, sampled

pytestmark = pytest.mark.anyio

WRITERS = [cls for cls in services().values() if posts.written(cls.name)]
OF_WRITES = {name: kind for name, kind in kinds().items() if "write" in kind.effects}


class Play:
    """A tool's example under a fault: the call, and what it posted."""

    def __init__(self, session: Session, mark: int) -> None:
        last = session.trace()[-1]
        assert isinstance(last, Attempt)
        self.session = session
        self.attempt = last
        self.posted = [row for row in _posted(session, mark) if self.standing(row)]

    def standing(self, row: Row) -> bool:
        return self.session.world.get("outbox", row["id"]) is not None

    @property
    def changes(self) -> Counter[str]:
        """How many rows of which tables the call left changed."""
        left: Counter[str] = Counter()
        for change in self.attempt.effects:
            here = self.session.world.get(change["table"], change["key"])
            if change["cause"] == "agent" and here != change["old"]:
                left[change["table"]] += 1
        return left


def kinds_of(rows: list[Row]) -> Counter[tuple[str, str]]:
    return Counter((row["template"], row["recipient"]) for row in rows)


def _posted(session: Session, mark: int) -> list[Row]:
    rows = []
    for change in session.world.log(mark):
        if change["table"] == "outbox" and change["old"] is None and change["new"] is not None:
            rows.append(change["new"])
    return rows


async def played(cls: type[Service], spec: ToolSpec, *faults: Fault) -> Play:
    session = new_session(*owners(cls, spec), faults=list(faults))
    args = await prepared(session, cls, spec)
    mark = session.world.last_change()
    await session.call(cls.name, spec.name, args)
    assert session.bugs == []
    return Play(session, mark)


async def sample(cls: type[Service], spec: ToolSpec, kind: type[Fault]) -> Fault | None:
    """Return a kind's smallest fault on a tool, for the example call after its set-up."""
    session = new_session(*owners(cls, spec))
    args = await prepared(session, cls, spec)
    before = session.world.scratch()
    due = session.control.now - session.control.start + spec.cost
    reply = await session.call(cls.name, spec.name, args)
    fields = kind.sample(Example(cls, spec, args, reply.data, before))
    if isinstance(fields, str):
        return None
    envelope = {"on": f"{cls.name}.{spec.name}", "name": "sample", "until": {"calls": 1}}
    timed = {"after": {"seconds": due}} if due else {}
    return parse({kind.kind: {**fields, **envelope, **timed}})


@pytest.mark.parametrize("cls", sampled(3, {cls.name: [cls] for cls in WRITERS}))
async def test_mail_follows_what_happened_under_every_fault(cls: type[Service]) -> None:
    posting = 0
    for spec in cls.tools.values():
        if spec.effect != "write":
            continue
        honest = await played(cls, spec)
        if not honest.posted:
            continue
        posting += 1
        for kind in OF_WRITES.values():
            fault = await sample(cls, spec, kind)
            if fault is not None:
                _agrees(honest, await played(cls, spec, fault), kind, spec.name)
    # A mail program writes to its owner only about what could not be delivered.
    assert posting or cls.take_in is not Service.take_in


def _agrees(honest: Play, faulted: Play, kind: type[Fault], tool: str) -> None:
    what = f"{kind.kind} on {tool}"
    sent = kinds_of(faulted.posted)
    if not faulted.changes:
        assert not sent, f"{what} left nothing behind, but mail went out: {sent}"
    elif faulted.changes == honest.changes:
        assert sent.total() == len(honest.posted), what
    elif kind is DuplicateDelivery:
        assert sent == kinds_of(honest.posted + honest.posted), what
    for row in faulted.posted:
        world = faulted.session.world
        assert any(world.get(table, row["about"]) for table in world.tables), (what, row["about"])
    assert {c["cause"] for c in faulted.attempt.effects if c["table"] == "outbox"} <= {POST}


UNDONE = {"on": "zelle.send_transfer", "name": "undone", "seconds": 600}
UNENROLLED = {"contact_id": at("zrc", "samira_oduya"), "amount": 40, "note": "Prints"}
TEA = {"contact_id": at("vct", "priya_nair"), "amount": 6, "note": "Tea at Priya's"}


async def test_mail_that_has_arrived_outlives_its_payment_and_what_is_on_its_way_does_not() -> None:
    fault = parse({"revert_after_write": UNDONE})
    session = new_session("zelle", "gmail", "clock", faults=[fault])
    sent = await call_ok(session, "zelle", "send_transfer", **UNENROLLED)
    session.pass_time(700)
    assert session.world.get("zelle_transfers", sent["transaction_id"]) is None
    left = session.world.rows("outbox", "about=?", sent["transaction_id"])
    assert {row["template"] for row in left} == {"payment_unclaimed", "payment_to_claim"}
    assert all(row["delivered_at"] for row in left)
    listed = await call_ok(session, "gmail", "list_emails", max_results=1)
    assert listed["emails"][0]["subject"] == "Samira Oduya has a payment to claim"


async def test_a_dropped_payment_is_found_out_by_looking_for_its_mail() -> None:
    fault = parse({"dropped_write": {"on": "venmo.send_money", "name": "dropped"}})
    watch = Watch("outcome", lambda call: call.name == "venmo.send_money")
    session = new_session("venmo", "gmail", faults=[fault], watches=[watch])
    await call_ok(session, "venmo", "send_money", **TEA)
    assert await told(session, "from:amazon") == []
    assert await told(session, "from:venmo-mail Priya") == ["outcome#1"]


async def test_mail_is_evidence_only_of_what_it_is_about() -> None:
    watch = Watch("outcome", lambda call: call.name == "venmo.request_money")
    session = new_session("venmo", "zelle", "gmail", watches=[watch])
    await call_ok(session, "zelle", "send_transfer", **UNENROLLED)
    await call_ok(session, "venmo", "request_money", **TEA)
    assert await told(session, "from:zellepay-mail Samira claim") == []
    assert await told(session, "from:venmo-mail requested Priya") == ["outcome#1"]


async def told(session: Session, query: str) -> list[str]:
    """Search the mail and return what the reply was evidence of."""
    await call_ok(session, "gmail", "search_emails", query=query)
    last = session.trace()[-1]
    assert isinstance(last, Attempt)
    return last.evidence
