"""The account: profile, balance, friends, funding sources and cash-out."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.fields import Email, Last4, Phone
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Dollars, Limit, dollars, iso, page, parse_time, round_cents
from servers.payments import _mail as mail
from servers.payments import _rules as rules
from servers.payments._rules import ContactId, Key, Name, SourceId, Username
from servers.payments.venmo._model import WORDS, default_visibility, transaction_json, wallet

NewVisibility = Annotated[
    Literal["public", "friends", "private"],
    Field(description="Who sees new payments that set no visibility themselves."),
]
SourceType = Annotated[
    Literal["bank_account", "debit_card", "credit_card"],
    Field(description="Kind of funding source."),
]
Speed = Annotated[
    Literal["standard", "instant"],
    Field(
        description=("standard: free, takes two days; instant: immediate, 1.75% fee (0.25 to 25).")
    ),
]
SAVINGS = seeded("vfs", "savings")
CHECKING = seeded("vfs", "checking")


class Account(Service):
    """Profile, friends, funding sources and cash-out."""

    @reads()
    def get_account_summary(self) -> Json:
        """Return the signed-in account with its linked accounts and cards and its balance.

        Fields: name, username, email, phone, default_visibility, linked_bank_accounts,
        linked_cards, balance.
        """
        me = self.db.rows("venmo_profile")[0]
        linked = rules.sources(self, WORDS)
        banks = [row for row in linked if row["type"] == "bank_account"]
        cards = [row for row in linked if row["type"] != "bank_account"]
        return {
            **{k: me[k] for k in ("name", "username", "email", "phone")},
            "default_visibility": default_visibility(self),
            "linked_bank_accounts": [rules.source_json(self, row) for row in banks],
            "linked_cards": [rules.source_json(self, row) for row in cards],
            "balance": dollars(wallet(self)),
        }

    @reads()
    def get_balance(self) -> Json:
        """Return the money in the Venmo balance, in dollars.

        Pending payments from the balance are already deducted.
        """
        return {"balance": dollars(wallet(self))}

    @writes(example={"visibility": "friends"}, idempotent=True)
    def update_default_visibility(self, visibility: NewVisibility) -> Json:
        """Set who sees future payments and requests by default; past ones do not change."""
        row = self.db.rows("venmo_settings")[0]
        if row["default_visibility"] != visibility:
            self.db.update("venmo_settings", row["id"], default_visibility=visibility)
        return {"default_visibility": visibility, "status": "updated"}

    @reads()
    def list_friends(self, limit: Limit = 50, cursor: Cursor | None = None) -> Json:
        """Return the friends you can pay or ask for money, by name.

        Fields: contact_id, name, username, email, phone. Several friends may have the same name.
        """
        return page(rules.contacts(self, WORDS), "friends", limit, cursor, rules.contact_json)

    @reads(example={"contact_id": seeded("vct", "priya_nair")})
    def get_contact(self, contact_id: ContactId) -> Json:
        """Return one friend: contact_id, name, username, email, phone."""
        return rules.contact_json(rules.find_contact(self, WORDS, contact_id))

    @writes(
        example={
            "name": "Elena Petrova",
            "username": "elena-p",
            "email": "elena.petrova@denverdental.com",
        }
    )
    def add_friend(
        self, name: Name, username: Username, email: Email | None = None, phone: Phone | None = None
    ) -> Json:
        """Add a friend and return the contact.

        A username, email or phone that another friend already has is refused.
        """
        return rules.contact_json(rules.add_contact(self, WORDS, name, username, email, phone))

    @writes(example={"contact_id": seeded("vct", "kai_tanaka")}, destructive=True)
    def remove_contact(self, contact_id: ContactId) -> Json:
        """Remove a friend.

        Past payments and open requests stay. Adding the person again creates a new contact_id.
        """
        return rules.remove_contact(self, WORDS, contact_id)

    @reads()
    def list_funding_sources(self) -> Json:
        """Return linked bank accounts and cards, oldest first.

        The first active one is the default. A credit card shows its available credit.
        """
        return {"sources": [rules.source_json(self, r) for r in rules.sources(self, WORDS)]}

    @writes(example={"type": "bank_account", "name": "Rose City Bank Business", "last4": "3310"})
    def add_funding_source(self, type: SourceType, name: Name, last4: Last4) -> Json:
        """Link one of your own accounts or cards, which becomes active at once.

        The bank confirms the account and reports its balance; an unknown account is refused.
        """
        return rules.link_source(self, WORDS, type, name, last4)

    @writes(example={"source_id": SAVINGS}, idempotent=True)
    def activate_funding_source(self, source_id: SourceId) -> Json:
        """Make a linked source available for payments."""
        return rules.set_active(self, WORDS, source_id, True)

    @writes(example={"source_id": CHECKING}, idempotent=True)
    def deactivate_funding_source(self, source_id: SourceId) -> Json:
        """Stop a source from being charged; it stays linked and can be activated again."""
        return rules.set_active(self, WORDS, source_id, False)

    @writes(
        example={"amount": 25, "source_id": "${linked.sources.0.source_id}"},
        setup=(Setup("list_funding_sources", {}, "linked"),),
    )
    def transfer_to_bank(
        self,
        amount: Dollars,
        source_id: SourceId,
        transfer_type: Speed = "standard",
        idempotency_key: Key | None = None,
    ) -> Json:
        """Move money from the balance to a linked bank account or debit card.

        The fee of an instant transfer is deducted from the amount.
        """
        asked = {"type": "bank_transfer", "amount": amount, "source_id": source_id}
        row = rules.repeated(self, WORDS, idempotency_key, **asked)
        if row is None:
            row = self._cash_out(amount, source_id, transfer_type, idempotency_key)
        shown = transaction_json(self, row)
        reply = {k: shown[k] for k in ("transaction_id", "amount", "fee", "status", "source")}
        return reply | {
            "transfer_type": row["note"].split()[0].lower(),
            "received_amount": dollars(row["amount"] - row["fee"]),
            "arrives_at": row["settles_at"],
        }

    def _cash_out(self, amount: int, source_id: str, transfer_type: str, key: str | None) -> Row:
        """Move money to a bank account or debit card; return the transaction's row, or refuse."""
        source = rules.active_source(self, WORDS, source_id)
        if source["type"] == "credit_card":
            self.fail(
                "UNSUPPORTED_DESTINATION",
                "Money cannot be moved to a credit card.",
                "Choose a bank account or debit card from list_funding_sources.",
                source_id=source_id,
            )
        held = wallet(self)
        if held < amount:
            self.fail(
                "INSUFFICIENT_BALANCE",
                f"The Venmo balance is ${dollars(held):,.2f}.",
                "Transfer at most the amount that get_balance shows.",
                available=dollars(held),
                required=dollars(amount),
            )
        fee = 0
        arrives_at = iso(self.now + 2 * rules.DAY)
        if transfer_type == "instant":
            fee = min(max(round_cents(Decimal(amount) * 175 / 10_000), 25), 2_500)
            arrives_at = self.time
        if amount <= fee:
            self.fail(
                "AMOUNT_TOO_SMALL",
                f"The fee is ${dollars(fee):.2f}.",
                "Transfer an amount greater than the fee.",
                fee=dollars(fee),
            )
        transaction = {
            "type": "bank_transfer",
            "amount": amount,
            "source_id": source_id,
            "id": self.new_id("vtx"),
            "fee": fee,
            "note": f"{transfer_type.title()} transfer",
            "visibility": "private",
            "created_at": self.time,
            "settles_at": arrives_at,
            "idempotency_key": key,
        }
        row = self.db.insert("venmo_transactions", transaction)
        account_id = source["account_id"]
        rules.post(self, account_id, amount - fee, row["id"], "venmo cash-out", arrives_at)
        said = mail.of_payment(row, source["name"])
        to = mail.owner(self, WORDS)["email"]
        if transfer_type != "instant":
            self.post("transfer_started", to, said, about=row["id"])
        arrival = parse_time(arrives_at)
        self.post("transfer_arrived", to, said, about=row["id"], due=arrival)
        return row
