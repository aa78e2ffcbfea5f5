"""The account: membership, addresses and payment methods."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from servers.kit.fields import CardNumber, City, Cvv, Expiry, PersonName, State, Street, Zip
from servers.kit.service import Service, reads, writes
from servers.kit.types import Json
from servers.kit.values import Cursor, Limit, page
from servers.shopping import _rules as rules
from servers.shopping._rules import MakeDefault
from servers.shopping.amazon import _model as model
from servers.shopping.amazon._model import SHOP

Country = Annotated[
    str,
    Field(
        pattern="^US$", description="Country of the address; orders are only delivered in the US."
    ),
]
Billing = Annotated[
    str,
    Field(
        min_length=5, max_length=200, description="Billing address of the card, as a single line."
    ),
]


class Account(Service):
    """Who the customer is, and their addresses and cards."""

    @reads()
    def get_account(self) -> Json:
        """Return the signed-in account and its Prime membership.

        Shows user_id, name, email, phone, prime_member, and prime_until, the end of the membership.
        """
        me = rules.profile(self, SHOP)
        return {
            "user_id": me["user_id"],
            "name": me["name"],
            "email": me["email"],
            "phone": me["phone"],
            "prime_member": model.prime(self),
            "prime_until": me["prime_until"],
        }

    @reads()
    def list_addresses(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the saved delivery addresses, oldest first; is_default marks the default one."""
        return page(rules.addresses(self, SHOP), "addresses", limit, cursor)

    @writes(
        example={
            "name": "Maya Lindqvist",
            "street": "4410 Larkspur Lane",
            "city": "Hood River",
            "state": "OR",
            "zip_code": "97031",
        }
    )
    def add_address(
        self,
        name: PersonName,
        street: Street,
        city: City,
        state: State,
        zip_code: Zip,
        country: Country = "US",
        is_default: MakeDefault = False,
    ) -> Json:
        """Save a delivery address and return it with its address_id.

        An address that is already saved is refused.
        """
        address = {
            "name": name,
            "street": street,
            "city": city,
            "state": state,
            "zip": zip_code,
            "country": country,
        }
        return rules.add_address(self, SHOP, address, is_default)

    @reads()
    def list_payment_methods(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the saved payment methods, oldest first; is_default marks the default one.

        Each has its payment_method_id, type, brand, last four digits and expiry.
        """
        return page(rules.methods(self, SHOP), "payment_methods", limit, cursor)

    @writes(
        example={
            "card_number": "4242 4242 4242 4242",
            "expiration_date": "08/29",
            "cvv": "123",
            "billing_address": "2318 SE Alder Street, Portland, OR 97214",
        }
    )
    def add_payment_method(
        self, card_number: CardNumber, expiration_date: Expiry, cvv: Cvv, billing_address: Billing
    ) -> Json:
        """Save a credit or debit card and return it with its payment_method_id.

        The card number itself is not stored.
        """
        return rules.add_card(
            self,
            SHOP,
            "credit",
            card_number,
            expiration_date,
            billing=billing_address,
            is_default=False,
        )
