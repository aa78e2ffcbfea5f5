"""The account: profile, addresses and wallet."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from servers.kit.fields import CardNumber, City, Expiry, PersonName, State, Street, Zip
from servers.kit.service import Service, reads, writes
from servers.kit.types import Json
from servers.kit.values import Cursor, Limit, page
from servers.shopping import _rules as rules
from servers.shopping._rules import MakeDefault
from servers.shopping.walmart import _model as model
from servers.shopping.walmart._model import SHOP

CardType = Annotated[
    Literal["credit", "debit", "gift_card"], Field(description="Type of the card.")
]
ValidUntil = Annotated[
    Expiry,
    Field(
        description="Expiry as MM/YY; required for credit and debit cards, ignored for gift cards."
    ),
]


class Account(Service):
    """Who the customer is, and their addresses and cards."""

    @reads()
    def get_profile(self) -> Json:
        """Return the signed-in customer: user_id, name, email, phone, Walmart+ membership.

        Members pay no fees for shipping and delivery. walmart_plus_until is the end of the
        membership.
        """
        me = rules.profile(self, SHOP)
        return {
            "user_id": me["user_id"],
            "name": me["name"],
            "email": me["email"],
            "phone": me["phone"],
            "walmart_plus": model.plus(self),
            "walmart_plus_until": me["plus_until"],
        }

    @reads()
    def list_shipping_addresses(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the address book, oldest first; is_default marks the default address."""
        return page(rules.addresses(self, SHOP), "addresses", limit, cursor)

    @writes(
        example={
            "name": "Maya Lindqvist",
            "street": "1120 NW Couch Street",
            "city": "Portland",
            "state": "OR",
            "zip_code": "97209",
        }
    )
    def add_shipping_address(
        self,
        name: PersonName,
        street: Street,
        city: City,
        state: State,
        zip_code: Zip,
        is_default: MakeDefault = False,
    ) -> Json:
        """Add an address to the address book and return it.

        An address that is already saved is refused.
        """
        address = {"name": name, "street": street, "city": city, "state": state, "zip": zip_code}
        return rules.add_address(self, SHOP, address, is_default)

    @reads()
    def list_wallet_payments(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the cards in the wallet, oldest first; is_default marks the default one.

        Each has its type, brand, last four digits and expiry; gift cards show their balance in
        cents.
        """
        owner = {"user_id": rules.profile(self, SHOP)["user_id"]}
        return page(rules.methods(self, SHOP), "payments", limit, cursor, lambda m: m | owner)

    @writes(
        example={"card_type": "credit", "card_number": "5555 5555 5555 4444", "expiry": "11/28"}
    )
    def add_wallet_payment(
        self,
        card_type: CardType,
        card_number: CardNumber,
        expiry: ValidUntil | None = None,
        is_default: MakeDefault = False,
    ) -> Json:
        """Add a card to the wallet and return it.

        Walmart looks up the balance of a gift card by its number.
        """
        if card_type == "gift_card":
            return rules.add_gift_card(self, SHOP, card_number, is_default)
        if expiry is None:
            self.fail(
                "EXPIRY_REQUIRED",
                "Credit and debit cards require an expiry date.",
                "Pass expiry as MM/YY.",
            )
        return rules.add_card(
            self, SHOP, card_type, card_number, expiry, billing=None, is_default=is_default
        )
