"""The cart: lines by fulfilment and store, a discount code, and time slots of stores."""

from __future__ import annotations

from typing import Any

from servers.kit.control import seeded
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page
from servers.shopping import _baskets as baskets
from servers.shopping import _coupons as coupons
from servers.shopping import _stores as stores
from servers.shopping._rules import Code, ProductId, Quantity, StoreId
from servers.shopping._stores import AvailableOnly
from servers.shopping.target import _model as model
from servers.shopping.target._model import SHOP, AtStore, Fulfillment, LineId, RegistryId
from servers.shopping.target.products import HOLLYWOOD

TOWELS = seeded("tgp", "towels-paper-12")
PUZZLE = seeded("tgp", "blocks-train")
ADDED = Setup("put_in_cart", {"product_id": PUZZLE, "quantity": 1}, "cart")


class Cart(Service):
    """The next order."""

    @reads()
    def view_cart(self) -> Json:
        """Return the cart at current prices, in cents.

        Shows its lines, the Circle offers that apply, the promo code and any reason why it does not
        apply, and the total before tax.
        """
        return model.cart_json(self)

    @writes(
        example={
            "product_id": TOWELS,
            "quantity": 1,
            "fulfillment_type": "drive_up",
            "store_id": HOLLYWOOD,
        }
    )
    def put_in_cart(
        self,
        product_id: ProductId,
        quantity: Quantity,
        fulfillment_type: Fulfillment = "shipping",
        store_id: AtStore | None = None,
        registry_id: RegistryId | None = None,
    ) -> Json:
        """Add a product to the cart and return the cart.

        With a registry_id, it counts as a gift from that registry once you check out.
        """
        if registry_id is not None:
            where = "registry_id=? AND product_id=?"
            if not self.db.rows("target_wanted", where, registry_id, product_id):
                message = f"This product is not in the registry {registry_id!r}."
                self.fail(
                    "NOT_IN_REGISTRY",
                    message,
                    "See get_registry for the products in the registry.",
                    registry_id=registry_id,
                )
        store = model.choose_store(self, fulfillment_type, store_id)
        baskets.put(
            self,
            SHOP,
            product_id,
            quantity,
            fulfillment_type,
            store,
            registry_id=(registry_id, None),
        )
        return model.cart_json(self)

    @writes(
        example={"line_item_id": "${cart.items.0.line_item_id}", "quantity": 2},
        setup=(ADDED,),
        idempotent=True,
    )
    def modify_cart_item(
        self,
        line_item_id: LineId,
        quantity: Quantity | None = None,
        fulfillment_type: Fulfillment | None = None,
        store_id: AtStore | None = None,
    ) -> Json:
        """Change a line's quantity, fulfilment or store and return the cart."""
        if quantity is None and fulfillment_type is None and store_id is None:
            baskets.find_line(self, SHOP, line_item_id)
            self.fail(
                "NOTHING_TO_CHANGE",
                "No changes were given.",
                "Pass quantity, fulfillment_type or store_id.",
            )
        baskets.change(
            self,
            SHOP,
            line_item_id,
            quantity,
            fulfillment_type,
            store_id,
            model.preferred_store(self),
        )
        return model.cart_json(self)

    @writes(example={"line_item_id": "${cart.items.0.line_item_id}"}, setup=(ADDED,))
    def pull_from_cart(self, line_item_id: LineId) -> Json:
        """Remove a line from the cart and return the cart."""
        self.db.delete("target_cart", baskets.find_line(self, SHOP, line_item_id)["id"])
        return model.cart_json(self)

    @writes(
        example={"fulfillment_type": "order_pickup", "store_id": HOLLYWOOD},
        setup=(Setup("put_in_cart", {"product_id": TOWELS, "quantity": 1}),),
    )
    def set_fulfillment_method(
        self, fulfillment_type: Fulfillment, store_id: AtStore | None = None
    ) -> Json:
        """Give every line of the cart the same fulfilment and store and return the cart.

        Warnings name the lines that are not available that way. Prices may change.
        """
        store = model.choose_store(self, fulfillment_type, store_id)
        warnings = baskets.gather(self, SHOP, fulfillment_type, store)
        return model.cart_json(self) | {"warnings": warnings}

    # -- discount codes ----------------------------------------------------------------------------
    @reads()
    def get_promotions(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the discount codes that Target advertises, the first to expire first.

        Each has its discount, minimum, departments and expiry. Personal codes are not listed.
        """

        def show(row: Row) -> Json:
            return {"promo_code": row["code"]} | coupons.coupon_json(self, SHOP, row)

        return page(coupons.public(self, SHOP), "promotions", limit, cursor, show)

    @writes(example={"promo_code": "HELLO10"}, setup=(ADDED,), idempotent=True)
    def apply_discount_code(self, promo_code: Code) -> Json:
        """Apply a discount code to the next order and return its discount in cents.

        It replaces any code applied before, is taken off after Circle offers, and works for one
        order.
        """
        row = coupons.find(self, SHOP, promo_code)
        checkout = model.checkout(self)
        cart = model.priced(self, None).lines
        preview = sum(coupons.require(self, SHOP, row, cart))
        if checkout["code"] != row["code"]:
            self.db.update("target_checkout", checkout["id"], code=row["code"])
        return {
            "valid": True,
            "promo_code": row["code"],
            "reason": "OK",
            "discount_preview": preview,
        }

    @writes(setup=(ADDED, Setup("apply_discount_code", {"promo_code": "HELLO10"})), idempotent=True)
    def clear_discount_code(self) -> Json:
        """Remove the discount code from the cart and return the cart."""
        checkout = model.checkout(self)
        if checkout["code"]:
            self.db.update("target_checkout", checkout["id"], code=None)
        return model.cart_json(self)

    # -- windows -----------------------------------------------------------------------------------
    @reads(example={"store_id": HOLLYWOOD})
    def get_delivery_windows(
        self,
        store_id: StoreId,
        available_only: AvailableOnly = False,
        limit: Limit = 50,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return a store's two-hour windows for same-day delivery, today and the next two days.

        Times are local to the store; the fee is in cents.
        """

        def show(window: dict[str, Any]) -> Json:
            return stores.window_json(window, "window_id") | {"fee": model.SAME_DAY}

        windows = self._windows(store_id, "same_day_delivery", available_only)
        return page(windows, "windows", limit, cursor, show)

    @reads(example={"store_id": HOLLYWOOD, "available_only": True})
    def get_drive_up_times(
        self,
        store_id: StoreId,
        available_only: AvailableOnly = False,
        limit: Limit = 50,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return a store's one-hour slots for drive-up, today and the next two days.

        Times are local to the store.
        """
        windows = self._windows(store_id, "drive_up", available_only)
        return page([stores.window_json(w, "slot_id") for w in windows], "slots", limit, cursor)

    def _windows(self, store_id: str, service: str, available_only: bool) -> list[dict[str, Any]]:
        """Return a store's windows of drive_up or same_day_delivery, or refuse."""
        store = stores.open_store(self, SHOP, store_id)
        if service not in store["services"]:
            message = f"{store['name']} does not offer {service}."
            self.fail(
                "FULFILLMENT_UNAVAILABLE",
                message,
                "See search_stores for the services of each store.",
                offered=store["services"],
            )
        kind = "pickup" if service == "drive_up" else "delivery"
        windows = stores.windows(self, SHOP, store, kind)
        if available_only:
            windows = [window for window in windows if window["left"]]
        return windows
