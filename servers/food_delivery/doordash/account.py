"""The customer's account: profile, delivery locations, payments, promotions, DashPass."""

from __future__ import annotations

from typing import Any

from servers.food_delivery import _orders as orders
from servers.food_delivery import _rules as rules
from servers.food_delivery._rules import AddressId, MethodId, OfferId, SetDefault
from servers.food_delivery.doordash._model import BENEFITS, WORDS
from servers.food_delivery.doordash.favorites import Favorites
from servers.kit.control import seeded
from servers.kit.fields import (
    CardNumber,
    City,
    Cvv,
    Email,
    Expiry,
    PersonName,
    Phone,
    State,
    Street,
    Zip,
    card_brand,
    card_expired,
)
from servers.kit.service import reads, writes
from servers.kit.values import Cursor, Limit, dollars, page


class Account(Favorites):
    """Profile, places to deliver to, ways to pay."""

    def _location(self, row: dict[str, Any]) -> dict[str, Any]:
        return {**rules.address_json(row), "is_primary": row["is_default"]}

    def _payment(self, row: dict[str, Any]) -> dict[str, Any]:
        year, month = row["expires"].split("-")
        return {
            **rules.card_ref(self, WORDS, row["id"]),
            "expiration_date": f"{month}/{year}",
            "billing_name": row["name"],
            "is_default": row["is_default"],
            "is_expired": card_expired(row["expires"], self.time),
        }

    def _promo(self, row: dict[str, Any]) -> dict[str, Any]:
        return {
            "offer_id": row["id"],
            "title": row["title"],
            "discount": dollars(row["discount"]),
            "percent_off": row["percent"],
            "min_order": dollars(row["min_order"]),
            "dashpass": row["members_only"],
            "single_use": row["once"],
            "restaurant_id": row["restaurant_id"],
            "valid_from": row["starts_at"],
            "valid_until": row["expires_at"],
            "in_wallet": row["saved_at"] is not None,
            "status": rules.offer_state(self, WORDS, row),
        }

    @reads()
    def get_dasher_profile(self) -> dict[str, Any]:
        """Return your own profile as a customer: name, email, phone, locations, payments, promotions to use, DashPass, favorites."""
        me = self.db.rows("doordash_profile")[0]
        promos = [self._promo(row) for row in rules.offers(self, WORDS)]
        promos = [promo for promo in promos if promo["in_wallet"]]
        return {
            "name": me["name"],
            "email": me["email"],
            "phone": me["phone"],
            "address": [self._location(a) for a in rules.addresses(self, WORDS)],
            "payment_method": [self._payment(c) for c in rules.cards(self, WORDS)],
            "promo": [promo for promo in promos if promo["status"] == "available"],
            "dashpass": rules.membership(self, WORDS) is not None,
            "favorites": self._favorites(),
        }

    @writes(example={"email": "maya.l@gmail.com"}, idempotent=True)
    def update_dasher_profile(
        self, name: PersonName | None = None, email: Email | None = None, phone: Phone | None = None
    ) -> dict[str, Any]:
        """Change your name, email or phone on DoorDash, at least one of them; the whole profile comes back."""
        rules.change_profile(self, WORDS, name=name, email=email, phone=phone)
        return self.get_dasher_profile()

    @reads()
    def list_delivery_locations(
        self, limit: Limit = 20, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """Return saved delivery locations, oldest first, each with its address_id and whether it is the primary one."""
        return page(rules.addresses(self, WORDS), "locations", limit, cursor, self._location)

    @writes(
        example={
            "street": "1735 NE Broadway Street",
            "city": "Portland",
            "state": "OR",
            "zip_code": "97232",
        }
    )
    def add_delivery_location(
        self,
        street: Street,
        city: City,
        state: State,
        zip_code: Zip,
        set_as_default: SetDefault = False,
    ) -> dict[str, Any]:
        """Save a delivery location where Dashers drive. Returns the profile and the `address_id` that it got."""
        row = rules.add_address(self, WORDS, street, city, state, zip_code, set_as_default)
        return self.get_dasher_profile() | {"address_id": row["id"]}

    @writes(example={"address_id": seeded("dda", "old_flat")}, destructive=True)
    def remove_delivery_location(self, address_id: AddressId) -> dict[str, Any]:
        """Delete a delivery location and return the profile; refused while an order is still to arrive there."""
        rules.remove_address(self, WORDS, address_id, orders.waiting_at(self, WORDS, address_id))
        return self.get_dasher_profile()

    @writes(example={"address_id": seeded("dda", "work")}, idempotent=True)
    def set_primary_delivery_location(self, address_id: AddressId) -> dict[str, Any]:
        """Make a saved location the primary one, around which stores are searched; returns the profile."""
        rules.find_address(self, WORDS, address_id)
        rules.make_default(self, WORDS, "addresses", rules.addresses(self, WORDS), address_id)
        return self.get_dasher_profile()

    @reads()
    def list_dash_payments(self, limit: Limit = 20, cursor: Cursor | None = None) -> dict[str, Any]:
        """Return saved cards: method_id, type, last4, expiration_date (MM/YYYY), billing_name, is_default, is_expired."""
        return page(rules.cards(self, WORDS), "payments", limit, cursor, self._payment)

    @writes(
        example={
            "card_number": "5555 5555 5555 4444",
            "expiration_date": "11/28",
            "cvv": "207",
            "billing_name": "Maya Lindqvist",
        }
    )
    def add_dash_payment(
        self, card_number: CardNumber, expiration_date: Expiry, cvv: Cvv, billing_name: PersonName
    ) -> dict[str, Any]:
        """Add a card to pay with and return it with its method_id. It becomes the default only by set_primary_dash_payment."""
        brand = card_brand(card_number)
        row = rules.add_card(self, WORDS, brand, card_number, expiration_date, billing_name)
        return self._payment(row | {"is_default": len(rules.cards(self, WORDS)) == 1})

    @writes(example={"method_id": seeded("ddp", "amex")}, idempotent=True)
    def set_primary_dash_payment(self, method_id: MethodId) -> dict[str, Any]:
        """Charge a saved card by default from now on; returns all cards. A card that has expired cannot be chosen."""
        rules.usable_card(self, WORDS, method_id)
        rules.make_default(self, WORDS, "cards", rules.cards(self, WORDS), method_id)
        return {"payments": [self._payment(c) for c in rules.cards(self, WORDS)]}

    @reads()
    def get_promos(self, limit: Limit = 20, cursor: Cursor | None = None) -> dict[str, Any]:
        """Return promotions to be used: offer_id, discount in dollars (a cap where percent_off is given), min_order, rules, dates.

        `dashpass` ones are for DashPass members. A promotion works only when it is in_wallet, and one an order.
        """
        return page(rules.offers(self, WORDS), "promos", limit, cursor, self._promo)

    @reads(example={"offer_id": seeded("ddf", "bundle")})
    def get_promo(self, offer_id: OfferId) -> dict[str, Any]:
        """Return one promotion whatever its state, also a past one that an old order names."""
        return self._promo(rules.find_offer(self, WORDS, offer_id))

    @writes(example={"offer_id": seeded("ddf", "march")}, idempotent=True)
    def save_promo(self, offer_id: OfferId) -> dict[str, Any]:
        """Claim a promotion into the wallet so that orders can use it, and return it."""
        return self._promo(rules.save_offer(self, WORDS, offer_id))

    @reads()
    def get_dashpass_status(self) -> dict[str, Any]:
        """Return whether DashPass is active, since when, until when it is paid, and what it brings; the last one where it has lapsed."""
        memberships = self.db.rows("doordash_memberships", "since<=?", self.time, order="since")
        current = rules.holds(memberships, self.time)
        row = current or (memberships[-1] if memberships else None)
        return {
            "dashpass": current is not None,
            "plan": row["plan"] if row else None,
            "since": row["since"] if row else None,
            "ended_at": row["ends_at"] if row else None,
            "price_per_month": dollars(row["monthly_price"]) if row else None,
            "benefits": [*BENEFITS],
        }
