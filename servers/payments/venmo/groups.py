"""Group payments: one bill, with a request to each participant."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

from pydantic import Field, with_config
from typing_extensions import TypedDict

from servers.kit.control import seeded
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Dollars, dollars, iso, parse_time
from servers.payments import _mail as mail
from servers.payments import _requests as requests
from servers.payments import _rules as rules
from servers.payments._rules import ContactId, Note
from servers.payments.venmo._model import WORDS, default_visibility, request_json


@with_config(extra="forbid")
class Participant(TypedDict):
    """A participant, with an amount unless they share the rest."""

    contact_id: ContactId
    amount: NotRequired[Dollars]


Participants = Annotated[
    list[Participant],
    Field(
        min_length=1,
        max_length=20,
        description="Friends to ask; those without an amount split the rest of the total equally.",
    ),
]
IncludeMe = Annotated[
    bool, Field(description="Whether you take an equal share of the rest yourself.")
]
GroupId = Annotated[
    str,
    Field(
        description=(
            "group_payment_id, from create_group_payment or from the requests in list_requests."
        )
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
    ) -> Json:
        """Split a bill that you paid and send each participant a request.

        The shares add up to the total to the cent. Returns the group payment with all requests.
        """
        people = [p["contact_id"] for p in participants]
        for contact_id in people:
            rules.find_contact(self, WORDS, contact_id)
        if len(set(people)) < len(people):
            self.fail(
                "DUPLICATE_PARTICIPANT", "A friend is listed twice.", "List each contact_id once."
            )
        amounts = [p.get("amount") for p in participants]
        shares = self._shares(total_amount, [*amounts, None] if include_me else amounts)
        own = shares.pop() if include_me else 0
        group_id = self.new_id("vgp")
        group = {
            "id": group_id,
            "description": description,
            "total": total_amount,
            "own_share": own,
            "created_at": self.time,
        }
        self.db.insert("venmo_groups", group)
        extra = {"visibility": default_visibility(self), "group_id": group_id}
        for contact_id, share in zip(people, shares, strict=True):
            requests.new_request(self, WORDS, contact_id, share, description, **extra)
        return self._group_json(group_id)

    def _shares(self, total: int, amounts: list[int | None]) -> list[int]:
        """Return all shares in cents; those without an amount get equal parts of the rest."""
        rest = total - sum(a for a in amounts if a is not None)
        heads = amounts.count(None)
        if rest < heads or (heads == 0 and rest != 0):
            self.fail(
                "SPLIT_MISMATCH",
                f"The shares do not add up to ${dollars(total):,.2f}.",
                "Make the amounts add up to total_amount, or omit some to split the rest.",
                total_amount=dollars(total),
                assigned=dollars(total - rest),
            )
        each, cents_left = divmod(rest, heads) if heads else (0, 0)
        shares = []
        for amount in amounts:
            if amount is not None:
                shares.append(amount)
            elif cents_left > 0:
                shares.append(each + 1)
                cents_left -= 1
            else:
                shares.append(each)
        return shares

    @reads(example={"group_payment_id": RAMEN})
    def get_group_payment(self, group_payment_id: GroupId) -> Json:
        """Return a group payment with each participant's share and the status of their request."""
        self._find(group_payment_id)
        return self._group_json(group_payment_id)

    @writes(example={"group_payment_id": "${group.group_payment_id}"}, setup=(DINNER,))
    def remind_group_payment(self, group_payment_id: GroupId) -> Json:
        """Remind participants who have not paid, each at most once in 24 hours.

        Returns the contact_ids of those reminded and those skipped.
        """
        group = self._open(group_payment_id)
        reminded = []
        skipped = []
        for row in self._requests(group["id"]):
            if requests.request_status(row, self.time) != "pending":
                continue
            last = row["reminded_at"]
            if last is not None and self.now - parse_time(last) < rules.DAY:
                skipped.append(row["contact_id"])
                continue
            expires_at = iso(self.now + requests.REQUEST_LIFE)
            self.db.update(
                "venmo_requests", row["id"], reminded_at=self.time, expires_at=expires_at
            )
            said = mail.of_request(row | {"expires_at": expires_at})
            contact_id = row["contact_id"]
            mail.tell_contact(self, WORDS, "request_reminder", contact_id, said, about=row["id"])
            reminded.append(contact_id)
        return {"group_payment_id": group["id"], "reminded": reminded, "skipped": skipped}

    @writes(
        example={"group_payment_id": "${group.group_payment_id}"}, setup=(DINNER,), destructive=True
    )
    def settle_group_payment(self, group_payment_id: GroupId) -> Json:
        """Close a group payment and withdraw its open requests as settled outside Venmo.

        No money moves, and the group payment cannot be reopened.
        """
        group = self._open(group_payment_id)
        for row in self._requests(group["id"]):
            if requests.request_status(row, self.time) == "pending":
                requests.close_request(self, WORDS, row["id"], "settled")
                said = mail.of_request(row)
                contact_id = row["contact_id"]
                mail.tell_contact(
                    self, WORDS, "request_withdrawn", contact_id, said, about=row["id"]
                )
        self.db.update("venmo_groups", group["id"], settled_at=self.time)
        return self._group_json(group["id"])

    def _requests(self, group_id: str) -> list[Row]:
        return self.db.rows("venmo_requests", "group_id=?", group_id, order="rowid")

    def _find(self, group_id: str) -> Row:
        row = self.db.get("venmo_groups", group_id)
        if row is None:
            self.fail(
                "GROUP_PAYMENT_NOT_FOUND",
                f"There is no group payment {group_id!r}.",
                "Find group_payment_id in list_requests with direction outgoing.",
                group_payment_id=group_id,
            )
        return row

    def _open(self, group_id: str) -> dict[str, Any]:
        row = self._find(group_id)
        state = self._group_json(group_id)["status"]
        if state != "open":
            self.fail(
                "GROUP_PAYMENT_CLOSED",
                f"Group payment {group_id} is {state}.",
                "See its details with get_group_payment.",
                group_payment_id=group_id,
                status=state,
            )
        return row

    def _group_json(self, group_id: str) -> Json:
        row = self._find(group_id)
        rows = self._requests(group_id)
        paid = sum(r["amount"] for r in rows if r["closed_as"] == "paid")
        asked = sum(r["amount"] for r in rows)
        if row["settled_at"] is not None:
            state = "settled"
        else:
            state = "completed" if paid == asked else "open"
        return {
            "group_payment_id": group_id,
            "description": row["description"],
            "status": state,
            "total_amount": dollars(row["total"]),
            "own_share": dollars(row["own_share"]),
            "collected": dollars(paid),
            "created_at": row["created_at"],
            "settled_at": row["settled_at"],
            "participants": [self._participant_json(r) for r in rows],
        }

    def _participant_json(self, row: Row) -> Json:
        shown = request_json(self, row)
        return {
            "contact_id": shown["contact"]["contact_id"],
            "name": shown["contact"]["name"],
            "amount": shown["amount"],
            "status": shown["status"],
            "request_id": shown["request_id"],
            "reminded_at": shown["reminded_at"],
        }
