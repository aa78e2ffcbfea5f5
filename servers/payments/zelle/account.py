"""The account: profile, recipients, banks and sending limits."""

from __future__ import annotations

from servers.kit.control import seeded
from servers.kit.fields import Email, Last4, Phone
from servers.kit.posts import Movement
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json
from servers.kit.values import Cursor, Limit, dollars, page
from servers.payments import _rules as rules
from servers.payments._rules import ContactId, Name, SourceId, Username
from servers.payments.zelle._model import WORDS, allowance, contact_json

STUDIO = seeded("zbk", "studio")


class Account(Service):
    """Profile, recipients, banks and limits."""

    @reads()
    def get_account_profile(self) -> Json:
        """Return the signed-in account: name, username, email, phone, linked banks, balance.

        The balance is that of the default bank account. Zelle itself holds no money and links no
        cards, so linked_cards is always empty.
        """
        me = self.db.rows("zelle_profile")[0]
        linked = rules.sources(self, WORDS)
        default = next((r for r in linked if r["active"]), None)
        balance = None
        if default is not None:
            balance = dollars(rules.balance(self, default["account_id"]))
        return {
            **{k: me[k] for k in ("name", "username", "email", "phone")},
            "linked_bank_accounts": [rules.source_json(self, r) for r in linked],
            "linked_cards": [],
            "balance": balance,
        }

    @reads()
    def list_recipients(self, limit: Limit = 50, cursor: Cursor | None = None) -> Json:
        """Return the recipients you can pay or ask for money, by name.

        Fields: contact_id, name, username, email, phone, enrolled. Several recipients may have the
        same name.
        """
        rows = rules.contacts(self, WORDS)
        return page(rows, "recipients", limit, cursor, lambda r: contact_json(self, r))

    @reads(example={"contact_id": seeded("zrc", "ana_reyes")})
    def get_recipient(self, contact_id: ContactId) -> Json:
        """Return one recipient.

        `enrolled` says whether Zelle delivers at once; otherwise the recipient has to claim the
        money.
        """
        return contact_json(self, rules.find_contact(self, WORDS, contact_id))

    @writes(
        example={"name": "Kai Tanaka", "username": "kai.tanaka", "email": "kai.tanaka@gmail.com"}
    )
    def add_recipient(
        self, name: Name, username: Username, email: Email | None = None, phone: Phone | None = None
    ) -> Json:
        """Add a recipient by email or phone (at least one) and return the contact.

        `enrolled` says whether the recipient is enrolled with Zelle.
        """
        if email is None and phone is None:
            self.fail(
                "CONTACT_METHOD_REQUIRED",
                "Neither email nor phone was given.",
                "Give the email or phone that the recipient uses with Zelle.",
            )
        return contact_json(self, rules.add_contact(self, WORDS, name, username, email, phone))

    @writes(example={"contact_id": seeded("zrc", "sam_oduya")}, destructive=True)
    def remove_recipient(self, contact_id: ContactId) -> Json:
        """Remove a recipient; past transfers stay.

        A recipient with scheduled payments cannot be removed.
        """
        rules.find_contact(self, WORDS, contact_id)
        waiting = self.db.rows(
            "zelle_scheduled", "contact_id=? AND next_at IS NOT NULL", contact_id
        )
        if waiting:
            self.fail(
                "CONTACT_IN_USE",
                "There are scheduled payments to this recipient.",
                "Cancel them first with cancel_scheduled_payment.",
                scheduled_payment_ids=[r["id"] for r in waiting],
            )
        return rules.remove_contact(self, WORDS, contact_id)

    @reads()
    def list_enrolled_banks(self) -> Json:
        """Return linked bank accounts with their balances, oldest first.

        Those with `active` are enrolled, and the first of these is the default.
        """
        return {"banks": [rules.source_json(self, r) for r in rules.sources(self, WORDS)]}

    @writes(example={"name": "Cascade Credit Union Savings", "last4": "9087"})
    def link_bank_account(self, name: Name, last4: Last4) -> Json:
        """Link and enroll one of your own bank accounts.

        The bank confirms the account and reports its balance; an unknown account is refused.
        """
        return rules.link_source(self, WORDS, "bank_account", name, last4)

    @writes(
        example={"source_id": STUDIO},
        setup=(Setup("unenroll_bank_account", {"source_id": STUDIO}),),
        idempotent=True,
    )
    def enroll_bank_account(self, source_id: SourceId) -> Json:
        """Enroll a linked bank account again so that transfers can use it."""
        return rules.set_active(self, WORDS, source_id, True)

    @writes(example={"source_id": STUDIO}, idempotent=True)
    def unenroll_bank_account(self, source_id: SourceId) -> Json:
        """Stop transfers from using a bank account; it stays linked.

        Scheduled payments that use it will fail.
        """
        return rules.set_active(self, WORDS, source_id, False)

    @reads()
    def get_daily_limit(self) -> Json:
        """Return the daily sending limit, the amount sent today and the rest, in dollars.

        Days are counted in the account's time zone.
        """
        today = allowance(self, "day", self.now)
        return {
            "daily_limit": dollars(today.limit),
            "daily_spent": dollars(today.spent),
            "daily_remaining": dollars(today.remaining),
            "resets_at": today.resets_at,
        }

    @reads()
    def get_monthly_limit(self) -> Json:
        """Return the monthly sending limit, the amount sent this month and the rest, in dollars."""
        month = allowance(self, "month", self.now)
        return {
            "monthly_limit": dollars(month.limit),
            "monthly_spent": dollars(month.spent),
            "monthly_remaining": dollars(month.remaining),
            "resets_at": month.resets_at,
        }

    def settle(self, movement: Movement) -> bool:
        """Enter what others took from a bank account or gave back; see `Service.settle`."""
        return rules.settle(self, movement)
