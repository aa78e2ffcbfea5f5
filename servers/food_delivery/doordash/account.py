"""The customer's account: profile, delivery locations, payments, promotions, DashPass."""

from __future__ import annotations

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
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, dollars, page


class Account(Favorites):
    """Profile, delivery locations, payments, promotions and DashPass."""

    def _location(self, row: Row) -> Json:
        return {**rules.address_json(row), "is_primary": row["is_default"]}

    def _payment(self, row: Row) -> Json:
        year, month = row["expires"].split("-")
        return {
            **rules.card_ref(self, WORDS, row["id"]),
            "expiration_date": f"{month}/{year}",
            "billing_name": row["name"],
            "is_default": row["is_default"],
            "is_expired": card_expired(row["expires"], self.time),
        }

    def _promo(self, row: Row) -> Json:
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
    def get_dasher_profile(self) -> Json:
        """Return your profile as a customer.

        Returns name, email, phone, saved locations and payments, promotions that can be used now,
        whether DashPass is active, and favorites.
        """
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
    ) -> Json:
        """Change your name, email or phone (at least one of them) and return the whole profile."""
        rules.change_profile(self, WORDS, name=name, email=email, phone=phone)
        return self.get_dasher_profile()

    @reads()
    def list_delivery_locations(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return saved delivery locations, oldest first.

        Each has its address_id, street, city, state, zip_code, and whether it is the primary one.
        """
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
    ) -> Json:
        """Save a delivery location within the delivery area.

        Returns the profile and the `address_id` of the new location.
        """
        row = rules.add_address(self, WORDS, street, city, state, zip_code, set_as_default)
        return self.get_dasher_profile() | {"address_id": row["id"]}

    @writes(example={"address_id": seeded("dda", "old_flat")}, destructive=True)
    def remove_delivery_location(self, address_id: AddressId) -> Json:
        """Remove a delivery location and return the profile.

        It is refused while an order is still on its way there.
        """
        rules.remove_address(self, WORDS, address_id, orders.waiting_at(self, WORDS, address_id))
        return self.get_dasher_profile()

    @writes(example={"address_id": seeded("dda", "work")}, idempotent=True)
    def set_primary_delivery_location(self, address_id: AddressId) -> Json:
        """Make a saved location the primary one and return the profile.

        Stores are searched around the primary location.
        """
        rules.find_address(self, WORDS, address_id)
        rules.make_default(self, WORDS, "addresses", rules.addresses(self, WORDS), address_id)
        return self.get_dasher_profile()

    @reads()
    def list_dash_payments(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return saved cards, oldest first.

        Each has method_id, type, last4, expiration_date (MM/YYYY), billing_name, is_default and
        is_expired.
        """
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
    ) -> Json:
        """Add a card and return it with its method_id.

        It does not become the default; use set_primary_dash_payment for that.
        """
        brand = card_brand(card_number)
        row = rules.add_card(self, WORDS, brand, card_number, expiration_date, billing_name)
        return self._payment(row | {"is_default": len(rules.cards(self, WORDS)) == 1})

    @writes(example={"method_id": seeded("ddp", "amex")}, idempotent=True)
    def set_primary_dash_payment(self, method_id: MethodId) -> Json:
        """Make a saved card the default one and return all cards. An expired card is refused."""
        rules.usable_card(self, WORDS, method_id)
        rules.make_default(self, WORDS, "cards", rules.cards(self, WORDS), method_id)
        return {"payments": [self._payment(c) for c in rules.cards(self, WORDS)]}

    @reads()
    def get_promos(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return promotions that can be used now or later, the soonest to expire first.

        discount is in dollars, a maximum where percent_off is given; min_order is the subtotal
        required; `dashpass` promotions are for DashPass members. Only a promotion that is in_wallet
        can be used, and only one per order.
        """
        return page(rules.offers(self, WORDS), "promos", limit, cursor, self._promo)

    @reads(example={"offer_id": seeded("ddf", "bundle")})
    def get_promo(self, offer_id: OfferId) -> Json:
        """Return one promotion in any state, including one that was used for an old order."""
        return self._promo(rules.find_offer(self, WORDS, offer_id))

    @writes(example={"offer_id": seeded("ddf", "march")}, idempotent=True)
    def save_promo(self, offer_id: OfferId) -> Json:
        """Save a promotion to the wallet, so that it can be used for an order, and return it."""
        return self._promo(rules.save_offer(self, WORDS, offer_id))

    @reads()
    def get_dashpass_status(self) -> Json:
        """Return whether DashPass is active, with its plan, dates, monthly price and benefits.

        If it has lapsed, these are the details of the last membership.
        """
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
