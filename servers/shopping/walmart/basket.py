"""The basket: lines by product and fulfilment, a promo code, and a reserved pickup slot."""

from __future__ import annotations

from servers.kit.control import seeded
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, iso, page
from servers.shopping import _baskets as baskets
from servers.shopping import _coupons as coupons
from servers.shopping import _stores as stores
from servers.shopping._rules import HOUR, Code, ProductId, Quantity, StoreId
from servers.shopping.walmart import _model as model
from servers.shopping.walmart._model import (
    SHOP,
    AtStore,
    HowFulfilled,
    LineId,
    SlotId,
    Substitution,
)
from servers.shopping.walmart.products import EASTPORT, FRYER

DETERGENT = seeded("wmp", "detergent")
ADDED = Setup("add_item_to_basket", {"product_id": FRYER, "quantity": 1}, "basket")
SLOTS = Setup("get_pickup_slots", {"store_id": EASTPORT, "available_only": True}, "slots")
HELD = HOUR
"""Seconds for which a reserved slot is held."""


class Basket(Service):
    """The next order."""

    @reads()
    def get_basket(self) -> Json:
        """Return the basket at current prices, in cents.

        Shows its lines and whether they are in stock, the subtotal, the promo code and any reason
        why it does not apply, and the reserved slot.
        """
        return model.basket_json(self)

    @writes(
        example={
            "product_id": DETERGENT,
            "quantity": 2,
            "fulfillment_type": "pickup",
            "store_id": EASTPORT,
        }
    )
    def add_item_to_basket(
        self,
        product_id: ProductId,
        quantity: Quantity,
        fulfillment_type: HowFulfilled = "shipping",
        store_id: AtStore | None = None,
        substitution_pref: Substitution | None = None,
    ) -> Json:
        """Add a product to the basket and return the basket.

        If the basket already has it with this fulfilment and store, its quantity goes up.
        """
        store = model.choose_store(self, fulfillment_type, store_id)
        baskets.put(
            self,
            SHOP,
            product_id,
            quantity,
            fulfillment_type,
            store,
            substitution=(substitution_pref, "allow_substitution"),
        )
        return model.touch(self)

    @writes(
        example={"line_item_id": "${basket.items.0.line_item_id}", "quantity": 2}, setup=(ADDED,)
    )
    def update_basket_item(
        self,
        line_item_id: LineId,
        quantity: Quantity | None = None,
        fulfillment_type: HowFulfilled | None = None,
        store_id: AtStore | None = None,
        substitution_pref: Substitution | None = None,
    ) -> Json:
        """Change a line's quantity, fulfilment, store or substitution and return the basket."""
        line = baskets.find_line(self, SHOP, line_item_id)
        given = (quantity, fulfillment_type, store_id, substitution_pref)
        if all(value is None for value in given):
            message = "No changes were given."
            self.fail(
                "NOTHING_TO_CHANGE",
                message,
                "Pass quantity, fulfillment_type, store_id or substitution_pref.",
            )
        baskets.change(
            self, SHOP, line_item_id, quantity, fulfillment_type, store_id, model.home_store(self)
        )
        if substitution_pref is not None:
            self.db.update("walmart_basket", line["id"], substitution=substitution_pref)
        return model.touch(self)

    @writes(example={"line_item_id": "${basket.items.0.line_item_id}"}, setup=(ADDED,))
    def remove_item_from_basket(self, line_item_id: LineId) -> Json:
        """Remove a line from the basket and return the basket."""
        self.db.delete("walmart_basket", baskets.find_line(self, SHOP, line_item_id)["id"])
        return model.touch(self)

    @writes(
        example={"fulfillment_type": "pickup", "store_id": EASTPORT},
        setup=(Setup("add_item_to_basket", {"product_id": DETERGENT, "quantity": 1}),),
    )
    def choose_fulfillment(
        self, fulfillment_type: HowFulfilled, store_id: AtStore | None = None
    ) -> Json:
        """Give every line the same fulfilment and store and return the basket.

        Warnings name the products that are not available that way.
        """
        store = model.choose_store(self, fulfillment_type, store_id)
        warnings = baskets.gather(self, SHOP, fulfillment_type, store)
        return model.touch(self) | {"warnings": warnings}

    # -- promo codes -------------------------------------------------------------------------------
    @reads()
    def list_promo_codes(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the promo codes that anyone can use, with their conditions.

        Personal codes are not listed.
        """

        def show(row: Row) -> Json:
            return {"promo_code": row["code"]} | coupons.coupon_json(self, SHOP, row)

        return page(coupons.public(self, SHOP), "promo_codes", limit, cursor, show)

    @writes(example={"promo_code": "ROLL10"}, setup=(ADDED,), idempotent=True)
    def redeem_promo_code(self, promo_code: Code) -> Json:
        """Apply a promo code to the next order and return the discount on the basket, in cents.

        It replaces any code applied before.
        """
        row = coupons.find(self, SHOP, promo_code)
        shares = coupons.require(self, SHOP, row, model.lines(self))
        if model.checkout(self)["code"] != row["code"]:
            self.db.update("walmart_checkout", model.checkout(self)["id"], code=row["code"])
        return {
            "valid": True,
            "promo_code": row["code"],
            "reason": "OK",
            "discount_preview": sum(shares),
        }

    @writes(setup=(ADDED, Setup("redeem_promo_code", {"promo_code": "ROLL10"})), idempotent=True)
    def remove_promo_code(self) -> Json:
        """Remove the promo code from the basket and return the basket."""
        if model.checkout(self)["code"] is not None:
            self.db.update("walmart_checkout", model.checkout(self)["id"], code=None)
        return model.basket_json(self)

    # -- pickup slots ------------------------------------------------------------------------------
    @reads(example={"store_id": EASTPORT})
    def get_pickup_slots(
        self,
        store_id: StoreId,
        available_only: stores.AvailableOnly = False,
        limit: Limit = 50,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return a store's pickup slots of today and the next two days, earliest first.

        Dates and times are local to the store.
        """
        store = stores.open_store(self, SHOP, store_id)
        windows = stores.windows(self, SHOP, store, "pickup")
        if available_only:
            windows = [window for window in windows if window["left"] > 0]
        return page([stores.window_json(w, "slot_id") for w in windows], "slots", limit, cursor)

    @writes(example={"store_id": EASTPORT, "slot_id": "${slots.slots.0.slot_id}"}, setup=(SLOTS,))
    def reserve_pickup_slot(self, store_id: StoreId, slot_id: SlotId) -> Json:
        """Hold a pickup slot for one hour for the next order.

        It replaces any slot held before.
        """
        store = stores.open_store(self, SHOP, store_id)
        slot = stores.find_window(self, SHOP, store, "pickup", slot_id, "get_pickup_slots")
        until = iso(self.now + HELD)
        self.db.update(
            "walmart_checkout",
            model.checkout(self)["id"],
            slot_store=store_id,
            slot_at=iso(slot["start"]),
            slot_until=until,
        )
        shown = stores.window_json(slot, "slot_id")
        keys = ("slot_id", "date", "start_time", "end_time", "starts_at")
        reserved = {"reserved": True, "store_id": store_id, "held_until": until}
        return reserved | {key: shown[key] for key in keys}
