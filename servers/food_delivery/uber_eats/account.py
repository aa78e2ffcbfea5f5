"""The eater's account: profile, addresses, cards, offers and Uber One."""

from __future__ import annotations

from servers.food_delivery import _orders as orders
from servers.food_delivery import _rules as rules
from servers.food_delivery._rules import AddressId, MethodId, OfferId, SetDefault
from servers.food_delivery.uber_eats._model import BENEFITS, WORDS
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
from servers.kit.service import Service, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, dollars, page


class Account(Service):
    """Profile, addresses, cards, offers and Uber One."""

    @reads()
    def get_eater_profile(self) -> Json:
        """Return your profile: name, email, phone, saved addresses and cards, offers, and uber_one.

        The offers are those in the wallet that can be used now.
        """
        me = self.db.rows("uber_eats_profile")[0]
        saved = [offer for offer in rules.offers(self, WORDS) if offer["saved_at"]]
        usable = [o for o in saved if rules.offer_state(self, WORDS, o) == "available"]
        return {
            "name": me["name"],
            "email": me["email"],
            "phone": me["phone"],
            "address": [self._address_json(a) for a in rules.addresses(self, WORDS)],
            "payment_method": [self._card_json(c) for c in rules.cards(self, WORDS)],
            "promo": [{"offer_id": o["id"], "title": o["title"]} for o in usable],
            "uber_one": rules.membership(self, WORDS) is not None,
        }

    @writes(example={"phone": "+1-503-555-0143"}, idempotent=True)
    def update_profile(
        self, name: PersonName | None = None, email: Email | None = None, phone: Phone | None = None
    ) -> Json:
        """Change your name, email or phone (at least one of them) and return the profile."""
        rules.change_profile(self, WORDS, name=name, email=email, phone=phone)
        return self.get_eater_profile()

    # -- addresses ---------------------------------------------------------------------------------
    def _address_json(self, row: Row) -> Json:
        return rules.address_json(row) | {"is_default": row["is_default"]}

    @reads()
    def list_delivery_addresses(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return saved addresses, oldest first.

        Each has address_id, street, city, state, zip_code and is_default.
        """
        return page(rules.addresses(self, WORDS), "addresses", limit, cursor, self._address_json)

    @writes(
        example={
            "street": "4410 SE Woodstock Boulevard",
            "city": "Portland",
            "state": "OR",
            "zip_code": "97206",
        }
    )
    def register_delivery_address(
        self,
        street: Street,
        city: City,
        state: State,
        zip_code: Zip,
        set_as_default: SetDefault = False,
    ) -> Json:
        """Save an address within the delivery area.

        Returns the profile and the `address_id` of the new address.
        """
        row = rules.add_address(self, WORDS, street, city, state, zip_code, set_as_default)
        return {"address_id": row["id"]} | self.get_eater_profile()

    @writes(example={"address_id": seeded("uea", "old_flat")}, destructive=True)
    def remove_address(self, address_id: AddressId) -> Json:
        """Remove a saved address and return the profile.

        It is refused while an order is on its way there. Past orders still show the address.
        """
        rules.remove_address(self, WORDS, address_id, orders.waiting_at(self, WORDS, address_id))
        return self.get_eater_profile()

    @writes(example={"address_id": seeded("uea", "work")}, idempotent=True)
    def set_default_address(self, address_id: AddressId) -> Json:
        """Make a saved address the default one and return the profile.

        Searches measure distances from the default address.
        """
        rules.find_address(self, WORDS, address_id)
        rules.make_default(self, WORDS, "addresses", rules.addresses(self, WORDS), address_id)
        return self.get_eater_profile()

    # -- cards -------------------------------------------------------------------------------------
    def _card_json(self, row: Row) -> Json:
        return {
            "method_id": row["id"],
            "type": row["brand"],
            "last4": row["last4"],
            "expiration_date": f"{row['expires'][5:]}/{row['expires'][2:4]}",
            "name": row["name"],
            "is_default": row["is_default"],
            "expired": card_expired(row["expires"], self.time),
        }

    @reads()
    def get_registered_payments(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return saved cards, oldest first.

        Each has method_id, type, last4, expiration_date (MM/YY), name, is_default and expired.
        """
        return page(rules.cards(self, WORDS), "payment_methods", limit, cursor, self._card_json)

    @writes(
        example={
            "card_number": "4242 4242 4242 4242",
            "expiration_date": "08/29",
            "cvv": "314",
            "name": "Maya Lindqvist",
        },
    )
    def register_payment_method(
        self, card_number: CardNumber, expiration_date: Expiry, cvv: Cvv, name: PersonName
    ) -> Json:
        """Save a card and return its method_id, type and last4.

        The full number and the CVV are not stored. The default card stays the same.
        """
        brand = card_brand(card_number)
        row = rules.add_card(self, WORDS, brand, card_number, expiration_date, name)
        return rules.card_ref(self, WORDS, row["id"])

    @writes(example={"method_id": seeded("uep", "amex")}, idempotent=True)
    def set_default_payment_method(self, method_id: MethodId) -> Json:
        """Make a saved card the default one and return all cards. An expired card is refused."""
        rules.usable_card(self, WORDS, method_id)
        rules.make_default(self, WORDS, "cards", rules.cards(self, WORDS), method_id)
        return {"payment_methods": [self._card_json(c) for c in rules.cards(self, WORDS)]}

    # -- offers and membership ---------------------------------------------------------------------
    def _only_at(self, place_id: str | None) -> dict[str, str | None]:
        """Return the one place where an offer can be used, if it is limited to one."""
        place = self.db.get("uber_eats_restaurants", place_id) if place_id else None
        grocery = place is not None and place["kind"] == "grocery"
        return {
            "restaurant_id": None if grocery else place_id,
            "store_id": place_id if grocery else None,
        }

    def _offer_json(self, row: Row) -> Json:
        return {
            "offer_id": row["id"],
            "title": row["title"],
            "discount": dollars(row["discount"]),
            "percent": row["percent"],
            "min_order": dollars(row["min_order"]),
            "uber_one": row["members_only"],
            "once": row["once"],
            **self._only_at(row["restaurant_id"]),
            "starts_at": row["starts_at"],
            "expires_at": row["expires_at"],
            "in_wallet": row["saved_at"] is not None,
            "status": rules.offer_state(self, WORDS, row),
        }

    @reads()
    def get_available_offers(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return offers that are not expired or used up, the soonest to expire first.

        `discount` is in dollars, a maximum where `percent` is given; `min_order` is the subtotal
        required; `uber_one` offers are for members. Only offers in the wallet can be used, and only
        one per order.
        """
        return page(rules.offers(self, WORDS), "offers", limit, cursor, self._offer_json)

    @reads(example={"offer_id": seeded("uef", "lunch")})
    def get_offer(self, offer_id: OfferId) -> Json:
        """Return one offer, even if it has expired or was used.

        `status` says whether it can be used now.
        """
        return self._offer_json(rules.find_offer(self, WORDS, offer_id))

    @writes(example={"offer_id": seeded("uef", "weekend")}, idempotent=True)
    def save_offer(self, offer_id: OfferId) -> Json:
        """Save an offer to the wallet, so that it can be used for an order, and return it."""
        return self._offer_json(rules.save_offer(self, WORDS, offer_id))

    @reads()
    def get_uber_one_status(self) -> Json:
        """Return whether Uber One is active, with its plan, monthly price, end and benefits."""
        row = rules.membership(self, WORDS)
        return {
            "uber_one": row is not None,
            "plan": row and row["plan"],
            "monthly_price": row and dollars(row["monthly_price"]),
            "member_since": row and row["since"],
            "ends_at": row and row["ends_at"],
            "benefits": list(BENEFITS),
        }
