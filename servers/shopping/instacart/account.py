"""The customer's profile, addresses and payment methods."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.kit.fields import (
    CardNumber,
    City,
    Cvv,
    Expiry,
    State,
    Street,
    Zip,
    card_brand,
    card_expired,
)
from servers.kit.geo import Latitude, Longitude
from servers.kit.service import Service, reads, writes
from servers.kit.types import Json, Row
from servers.shopping.instacart._model import profile

Label = Annotated[
    str, Field(min_length=1, max_length=40, description="Name of the address, e.g. Home.")
]
Instructions = Annotated[
    str,
    Field(
        max_length=200,
        description="Instructions for the delivery: a gate code, or where to put the bags.",
    ),
]
Billing = Annotated[
    str,
    Field(min_length=8, max_length=200, description="Billing address of the card, in one line."),
]
TEST_CARD = {
    "card_number": "4242 4242 4242 4242",
    "expiration_date": "08/29",
    "cvv": "311",
    "billing_address": "2318 SE Alder Street, Portland, OR 97214",
}


class Account(Service):
    """The customer's account."""

    @reads()
    def get_customer_profile(self) -> Json:
        """Return the signed-in customer: user_id, name, email, phone and time zone."""
        me = profile(self)
        return {
            "user_id": me["id"],
            "name": me["name"],
            "email": me["email"],
            "phone": me["phone"],
            "timezone": me["timezone"],
        }

    @reads()
    def list_drop_off_addresses(self) -> Json:
        """Return delivery addresses with coordinates and instructions, the oldest first."""
        rows = self.db.rows("instacart_addresses", order="added_at, rowid")
        return {"addresses": [self._address(r) for r in rows]}

    def _address(self, row: Row) -> Json:
        shown = {"address_id": row["id"]}
        shown |= {k: row[k] for k in ("label", "street", "city", "state", "zip", "lat", "lng")}
        return shown | {"delivery_instructions": row["instructions"]}

    @writes(
        example={
            "label": "Jordan",
            "street": "4418 NE Alameda Street",
            "city": "Portland",
            "state": "OR",
            "zip_code": "97213",
            "lat": 45.5462,
            "lng": -122.6171,
            "delivery_instructions": "Side door",
        }
    )
    def add_drop_off_address(
        self,
        label: Label,
        street: Street,
        city: City,
        state: State,
        zip_code: Zip,
        lat: Latitude,
        lng: Longitude,
        delivery_instructions: Instructions | None = None,
    ) -> Json:
        """Add a delivery address and return its address_id.

        It must differ from the others in its label, and in its street or ZIP code.
        """
        for row in self.db.rows("instacart_addresses"):
            same = (row["street"].casefold(), row["zip"][:5]) == (street.casefold(), zip_code[:5])
            if same or row["label"].casefold() == label.casefold():
                message = f"You already have the address {row['label']}: {row['street']}."
                hint = "Use its address_id, or give another label."
                self.fail("DUPLICATE_ADDRESS", message, hint, address_id=row["id"])
        address: dict[str, Any] = {
            "id": self.new_id("ica"),
            "label": label,
            "street": street,
            "city": city,
            "state": state,
            "zip": zip_code,
            "lat": lat,
            "lng": lng,
            "instructions": delivery_instructions,
            "added_at": self.time,
        }
        return self._address(self.db.insert("instacart_addresses", address))

    @reads()
    def list_payment_options(self) -> Json:
        """Return the saved cards, the default one first.

        Each has payment_method_id, type, last_four, expires (YYYY-MM), expired and is_default.
        """
        rows = self.db.rows("instacart_cards", order="is_default DESC, added_at, rowid")
        return {"payment_options": [self._card(r) for r in rows]}

    def _card(self, row: Row) -> Json:
        return {
            "payment_method_id": row["id"],
            "type": row["kind"],
            "last_four": row["last_four"],
            "expires": row["expires"],
            "expired": card_expired(row["expires"], self.time),
            "is_default": row["is_default"],
        }

    @writes(example=TEST_CARD)
    def add_payment_option(
        self, card_number: CardNumber, expiration_date: Expiry, cvv: Cvv, billing_address: Billing
    ) -> Json:
        """Add a valid card and return its payment_method_id; it does not become the default."""
        if card_expired(expiration_date, self.time):
            message = f"The card expired in {expiration_date}."
            self.fail("CARD_EXPIRED", message, "Use a card that is still valid.")
        brand = card_brand(card_number)
        if len(cvv) != (4 if brand == "amex" else 3):
            hint = "It has 4 digits on an Amex and 3 on other cards."
            self.fail("INVALID_CVV", "The security code has the wrong length.", hint)
        twins = self.db.rows(
            "instacart_cards",
            "kind=? AND last_four=? AND expires=?",
            brand,
            card_number[-4:],
            expiration_date,
        )
        if twins:
            message = f"The {brand} ending in {card_number[-4:]} is already saved."
            hint = "Use its payment_method_id."
            self.fail("DUPLICATE_CARD", message, hint, payment_method_id=twins[0]["id"])
        card: dict[str, Any] = {
            "id": self.new_id("icm"),
            "kind": brand,
            "last_four": card_number[-4:],
            "expires": expiration_date,
            "billing_address": billing_address,
            "is_default": False,
            "added_at": self.time,
        }
        return self._card(self.db.insert("instacart_cards", card))
