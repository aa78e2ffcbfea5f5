"""The account: profile, address book and saved payments."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.fields import CardNumber, City, Expiry, PersonName, State, Street, Zip
from servers.kit.service import Service, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page
from servers.shopping import _rules as rules
from servers.shopping._rules import MakeDefault
from servers.shopping.target._model import SHOP

PaymentType = Annotated[
    Literal["credit", "debit", "red_card", "gift_card"],
    Field(description="Type of the card."),
]
CardExpiry = Annotated[Expiry, Field(description="Expiry as MM/YY; not needed for gift cards.")]
RED_CARD_NUMBERS = "585975"
"""First digits of the numbers of cards that Target issues."""


class Account(Service):
    """Who the guest is, and their addresses and cards."""

    @reads()
    def get_guest_profile(self) -> Json:
        """Return the signed-in guest: user_id, name, email, phone, birth month.

        If the guest has not joined Target Circle, circle_member_since is null.
        """
        me = rules.profile(self, SHOP)
        return {
            "user_id": me["user_id"],
            "name": me["name"],
            "email": me["email"],
            "phone": me["phone"],
            "birth_month": int(me["born"][5:7]),
            "circle_member_since": me["circle_since"],
        }

    @reads()
    def get_address_book(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return all saved addresses with their address_id; is_default marks the default one."""
        return page(rules.addresses(self, SHOP), "addresses", limit, cursor)

    @writes(
        example={
            "name": "Ana Reyes",
            "street": "2318 SE Alder Street, Apt 2",
            "city": "Portland",
            "state": "OR",
            "zip_code": "97214",
        }
    )
    def save_address(
        self,
        name: PersonName,
        street: Street,
        city: City,
        state: State,
        zip_code: Zip,
        is_default: MakeDefault = False,
    ) -> Json:
        """Save an address in the address book and return it."""
        address = {"name": name, "street": street, "city": city, "state": state, "zip": zip_code}
        return rules.add_address(self, SHOP, address, is_default)

    @reads()
    def get_saved_payments(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the saved cards.

        A red_card takes 5 percent off; a gift_card shows its balance in cents.
        """

        def show(method: Row) -> dict[str, Any]:
            return method | {"gift_card_balance": method.get("gift_card_balance")}

        return page(rules.methods(self, SHOP), "payments", limit, cursor, show)

    @writes(
        example={"card_type": "red_card", "card_number": "5859 7500 0000 0035", "expiry": "06/29"}
    )
    def save_payment_method(
        self,
        card_type: PaymentType,
        card_number: CardNumber,
        expiry: CardExpiry | None = None,
        is_default: MakeDefault = False,
    ) -> Json:
        """Save a card and return it.

        Target recognizes its RedCards and gift cards, and their balance, by their number.
        """
        if card_type == "gift_card":
            return rules.add_gift_card(self, SHOP, card_number, is_default)
        if expiry is None:
            self.fail(
                "EXPIRY_REQUIRED",
                f"An expiry date is required for card_type {card_type}.",
                "Pass expiry as MM/YY.",
                card_type=card_type,
            )
        if card_type == "red_card" and not card_number.startswith(RED_CARD_NUMBERS):
            message = "This is not a RedCard number."
            self.fail(
                "NOT_A_RED_CARD",
                message,
                "Save it as credit or debit. Only cards issued by Target are RedCards.",
            )
        return rules.add_card(
            self, SHOP, card_type, card_number, expiry, billing=None, is_default=is_default
        )
