"""Group payments: one bill, a request to each participant."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from pydantic import Field, with_config
from typing_extensions import TypedDict

from servers.kit.control import seeded
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.values import Dollars, dollars, iso, parse_time
from servers.payments import _rules as rules
from servers.payments._rules import ContactId, Note
from servers.payments.venmo._model import WORDS, default_visibility, request_json


@with_config(extra="forbid")
class Participant(TypedDict):
    """Who takes part, and with how much."""

    contact_id: ContactId
    amount: NotRequired[Dollars]


Participants = Annotated[
    list[Participant],
    Field(
        min_length=1,
        max_length=20,
        description="Friends to ask; those without an amount share the rest of the total equally.",
    ),
]
IncludeMe = Annotated[
    bool, Field(description="Whether you carry an equal share of the rest yourself.")
]
GroupId = Annotated[
    str,
    Field(
        description="group_payment_id, from create_group_payment or from the requests in list_requests."
    ),
]
RAMEN = seeded("vgp", "ramen")
DINNER = Setup(
    "create_group_payment",
    {
        "description": "Pizza after climbing",
        "total_amount": 50,
        "participants": [
            {"contact_id": seeded("vct", "ben_asher")},
            {"contact_id": seeded("vct", "jordan_park")},
        ],
        "include_me": True,
    },
    "group",
)


class Groups(Service):
    """Bills shared by several friends."""

    @writes(example=DINNER.args)
    def create_group_payment(
        self,
        description: Note,
        total_amount: Dollars,
        participants: Participants,
        include_me: IncludeMe = False,
    ) -> dict[str, Any]:
        """Split a bill that you paid: each participant gets a request. Shares add up to the total to the cent; returns all of them."""
        people = [p["contact_id"] for p in participants]
        for contact_id in people:
            rules.find_contact(self, WORDS, contact_id)
        if len(set(people)) < len(people):
            self.fail(
                "DUPLICATE_PARTICIPANT", "A friend takes part twice.", "Name each contact_id once."
            )
        shares = self._shares(total_amount, [p.get("amount") for p in participants], include_me)
        own = shares.pop() if include_me else 0
        group = self.new_id("vgp")
        made = {
            "id": group,
            "description": description,
            "total": total_amount,
            "own_share": own,
            "created_at": self.time,
        }
        self.db.insert("venmo_groups", made)
        for contact_id, share in zip(people, shares, strict=True):
            rules.new_request(
                self,
                WORDS,
                contact_id,
                share,
                description,
                visibility=default_visibility(self),
                group_id=group,
            )
        return self._group_json(group)

    def _shares(self, total: int, named: list[Any], include_me: bool) -> list[int]:
        amounts: list[int | None] = [*named, None] if include_me else named
        rest = total - sum(a for a in amounts if a is not None)
        heads = amounts.count(None)
        if rest < heads or (heads == 0 and rest != 0):
            self.fail(
                "SPLIT_MISMATCH",
                f"The shares do not add up to ${dollars(total):,.2f}.",
                "Let the amounts add up to total_amount, or leave some out to share the rest.",
                total_amount=dollars(total),
                assigned=dollars(total - rest),
            )
        each, over = divmod(rest, heads) if heads else (0, 0)
        shares = []
        for amount in amounts:
            extra = 1 if amount is None and over > 0 else 0
            over -= extra
            shares.append(each + extra if amount is None else amount)
        return shares

    @reads(example={"group_payment_id": RAMEN})
    def get_group_payment(self, group_payment_id: GroupId) -> dict[str, Any]:
        """Return a group payment with what each participant owes and the state of their request."""
        self._find(group_payment_id)
        return self._group_json(group_payment_id)

    @writes(example={"group_payment_id": "${group.group_payment_id}"}, setup=(DINNER,))
    def remind_group_payment(self, group_payment_id: GroupId) -> dict[str, Any]:
        """Remind those who have not paid; each at most once in 24 hours. Returns the contact_ids reminded and those skipped."""
        group = self._open(group_payment_id)
        reminded = []
        skipped = []
        for row in self._requests(group["id"]):
            if rules.request_status(row, self.time) != "pending":
                continue
            if (
                row["reminded_at"] is not None
                and self.now - parse_time(row["reminded_at"]) < rules.DAY
            ):
                skipped.append(row["contact_id"])
                continue
            self.db.update(
                "venmo_requests",
                row["id"],
                reminded_at=self.time,
                expires_at=iso(self.now + rules.REQUEST_LIFE),
            )
            reminded.append(row["contact_id"])
        return {"group_payment_id": group["id"], "reminded": reminded, "skipped": skipped}

    @writes(
        example={"group_payment_id": "${group.group_payment_id}"}, setup=(DINNER,), destructive=True
    )
    def settle_group_payment(self, group_payment_id: GroupId) -> dict[str, Any]:
        """Close a group payment: open requests are withdrawn as settled outside Venmo. No money moves, and it cannot be reopened."""
        group = self._open(group_payment_id)
        for row in self._requests(group["id"]):
            if rules.request_status(row, self.time) == "pending":
                rules.close_request(self, WORDS, row["id"], "settled")
        self.db.update("venmo_groups", group["id"], settled_at=self.time)
        return self._group_json(group["id"])

    def _requests(self, group: str) -> list[dict[str, Any]]:
        return self.db.rows("venmo_requests", "group_id=?", group, order="rowid")

    def _find(self, group: str) -> dict[str, Any]:
        row = self.db.get("venmo_groups", group)
        if row is None:
            hint = "Look for group_payment_id in list_requests with direction outgoing."
            self.fail(
                "GROUP_PAYMENT_NOT_FOUND",
                f"There is no group payment {group!r}.",
                hint,
                group_payment_id=group,
            )
        return row

    def _open(self, group: str) -> dict[str, Any]:
        row = self._find(group)
        state = self._group_json(group)["status"]
        if state != "open":
            message = f"Group payment {group} is {state}."
            self.fail(
                "GROUP_PAYMENT_CLOSED",
                message,
                "See get_group_payment.",
                group_payment_id=group,
                status=state,
            )
        return row

    def _group_json(self, group: str) -> dict[str, Any]:
        row = self._find(group)
        shown = [request_json(self, r) for r in self._requests(group)]
        paid = sum(r["amount"] for r in self._requests(group) if r["closed_as"] == "paid")
        asked = sum(r["amount"] for r in self._requests(group))
        state = (
            "settled"
            if row["settled_at"] is not None
            else ("completed" if paid == asked else "open")
        )
        return {
            "group_payment_id": group,
            "description": row["description"],
            "status": state,
            "total_amount": dollars(row["total"]),
            "own_share": dollars(row["own_share"]),
            "collected": dollars(paid),
            "created_at": row["created_at"],
            "settled_at": row["settled_at"],
            "participants": [
                {
                    "contact_id": r["contact"]["contact_id"],
                    "name": r["contact"]["name"],
                    "amount": r["amount"],
                    "status": r["status"],
                    "request_id": r["request_id"],
                    "reminded_at": r["reminded_at"],
                }
                for r in shown
            ],
        }
