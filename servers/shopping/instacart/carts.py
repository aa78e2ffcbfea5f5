"""Carts: one for each store, with replacement preferences and a coupon."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.listing import Listing, Since, Until
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page
from servers.shopping.instacart import _inventory as stock
from servers.shopping.instacart._model import (
    CartId,
    Notes,
    Preference,
    ProductId,
    Quantity,
    StoreId,
    find_product,
    find_store,
    product_json,
    profile,
)

CouponCode = Annotated[
    str,
    Field(
        min_length=2,
        max_length=30,
        description="Code of the coupon, e.g. SAVE10, in upper or lower case.",
    ),
]
CartStatus = Annotated[
    Literal["open", "checked_out"], Field(description="Only carts with this status.")
]
STORE = seeded("ics", "new_seasons")
CART = seeded("icc", "weekly")
OATS = seeded("icp", "rolled-oats-millrace-42")
MILK = seeded("icp", "oat-milk-meadowlark-64")


class Carts(Service):
    """Carts and coupons."""

    # -- rows -------------------------------------------------------------------------------------
    def _cart(self, cart_id: str, *, change: bool = False) -> Row:
        row = self.db.get("instacart_carts", cart_id)
        if row is None:
            message = f"There is no cart with the ID {cart_id!r}."
            hint = "Use a cart_id from list_carts, or create a cart with create_cart."
            self.fail("CART_NOT_FOUND", message, hint, cart_id=cart_id)
        if change and row["order_id"] is not None:
            message = f"Cart {cart_id} was checked out as order {row['order_id']}."
            hint = "Create a new cart with create_cart."
            self.fail("CART_CHECKED_OUT", message, hint, order_id=row["order_id"])
        return row

    def _items(self, cart_id: str) -> list[Row]:
        return self.db.rows("instacart_cart_items", "cart_id=?", cart_id, order="added_at, rowid")

    def _item_of(self, cart_id: str, product_id: str) -> dict[str, Any] | None:
        rows = self._items(cart_id)
        return next((row for row in rows if row["product_id"] == product_id), None)

    def _item(self, cart_id: str, product_id: str) -> dict[str, Any]:
        row = self._item_of(cart_id, product_id)
        if row is None:
            message = f"Product {product_id!r} is not in cart {cart_id}."
            hint = "get_grocery_cart shows what is in the cart."
            self.fail("ITEM_NOT_IN_CART", message, hint, cart_id=cart_id, product_id=product_id)
        return row

    def _put(self, cart: Row, product_id: str, quantity: int, notes: str | None = None) -> None:
        """Add to the quantity of a product in a cart; its notes stay unless new ones are given."""
        row = self._item_of(cart["id"], product_id)
        if row is None:
            item = {
                "id": self.new_id("icl"),
                "cart_id": cart["id"],
                "product_id": product_id,
                "quantity": quantity,
                "notes": notes or None,
                "preference": "best_match",
                "added_at": self.time,
            }
            self.db.insert("instacart_cart_items", item)
            return
        if row["quantity"] + quantity > 99:
            message = f"The cart already has {row['quantity']} of this product."
            self.fail("QUANTITY_TOO_LARGE", message, "A cart can have at most 99 of a product.")
        changes: dict[str, Any] = {"quantity": row["quantity"] + quantity}
        if notes is not None:
            changes["notes"] = notes or None
        self.db.update("instacart_cart_items", row["id"], **changes)

    # -- coupons ----------------------------------------------------------------------------------
    def _verdict(
        self, code: str, store_id: str, subtotal: int
    ) -> tuple[str | None, dict[str, Any]]:
        """Return why a coupon does not apply to a cart (None if it does), and its row."""
        row = self.db.get("instacart_coupons", code.strip().upper())
        if row is None:
            return "COUPON_NOT_FOUND", {}
        valid_now = row["starts_at"] <= self.time < row["expires_at"]
        if self._used(row["code"]) or not valid_now:
            return "COUPON_EXPIRED", row
        if row["store_ids"] and store_id not in row["store_ids"]:
            return "STORE_NOT_ELIGIBLE", row
        if subtotal < row["minimum"]:
            return "MIN_ORDER_NOT_MET", row
        return None, row

    def _used(self, code: str) -> bool:
        uses = "coupon=? AND cancelled_at IS NULL"
        return bool(self.db.rows("instacart_orders", uses, code, limit=1))

    def _coupon_status(self, row: Row) -> str:
        if self._used(row["code"]):
            return "used"
        if self.time >= row["expires_at"]:
            return "expired"
        return "active" if self.time >= row["starts_at"] else "upcoming"

    def _off(self, cart: Row, subtotal: int) -> int:
        if cart["coupon"] is None:
            return 0
        wrong, row = self._verdict(cart["coupon"], cart["store_id"], subtotal)
        if wrong:
            return 0
        if row["amount"] is not None:
            discount = row["amount"]
        else:
            discount = subtotal * row["percent"] // 100
        if row["most"] is not None:
            discount = min(discount, row["most"])
        return min(subtotal, discount)

    # -- JSON -------------------------------------------------------------------------------------
    def _line(self, store: Row, item: Row, exceptions: stock.Exceptions) -> dict[str, Any]:
        product = self.db.get("instacart_products", item["product_id"]) or {}
        shown = product_json(self, store, product, exceptions)
        fields = ("product_id", "name", "brand", "unit", "price", "stock_level")
        return {k: shown[k] for k in fields} | {
            "quantity": item["quantity"],
            "line_total": shown["price"] * item["quantity"],
            "notes": item["notes"],
            "replacement_preference": item["preference"],
            "replacement_product_id": item["replacement_id"],
        }

    def _cart_json(self, cart: Row) -> Json:
        store = find_store(self, cart["store_id"])
        exceptions = stock.exceptions_of(self, cart["store_id"])
        lines = [self._line(store, i, exceptions) for i in self._items(cart["id"])]
        subtotal = sum(line["line_total"] for line in lines)
        return {
            "cart_id": cart["id"],
            "user_id": profile(self)["id"],
            "store_id": cart["store_id"],
            "store_name": store["name"],
            "status": "open" if cart["order_id"] is None else "checked_out",
            "order_id": cart["order_id"],
            "items": lines,
            "subtotal": subtotal,
            "applied_coupon": self._coupon_json(cart, subtotal),
            "discount": 0 if cart["order_id"] else self._off(cart, subtotal),
            "min_order": store["min_order"],
            "created_at": cart["created_at"],
        }

    def _coupon_json(self, cart: Row, subtotal: int) -> Json | None:
        if cart["coupon"] is None:
            return None
        wrong = None
        if not cart["order_id"]:
            wrong, _ = self._verdict(cart["coupon"], cart["store_id"], subtotal)
        row = self.db.get("instacart_coupons", cart["coupon"]) or {}
        return {
            "code": cart["coupon"],
            "title": row.get("title"),
            "valid": wrong is None,
            "reason": wrong,
        }

    # -- tools ------------------------------------------------------------------------------------
    @writes(example={"store_id": seeded("ics", "alder_coop")}, idempotent=True)
    def create_cart(self, store_id: StoreId) -> Json:
        """Return a store's open cart, creating one if there is none; a store has only one."""
        store = find_store(self, store_id)
        if stock.closed_for_good(store, self.now):
            message = f"{store['name']} has closed for good."
            hint = "Choose another store with search_stores."
            self.fail("STORE_CLOSED", message, hint, store_id=store_id)
        open_carts = self.db.rows("instacart_carts", "store_id=? AND order_id IS NULL", store_id)
        if open_carts:
            return self._cart_json(open_carts[0])
        row = {"id": self.new_id("icc"), "store_id": store_id, "created_at": self.time}
        return self._cart_json(self.db.insert("instacart_carts", row))

    @reads(example={"status": "open"})
    def list_carts(
        self,
        status: CartStatus | None = None,
        since: Since | None = None,
        until: Until | None = None,
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return carts in full, newest first: open ones and those that became orders."""
        rows = Listing(self.db, "instacart_carts", by="created_at")
        rows = rows.days(since, until, profile(self)["timezone"])
        if status is not None:
            rows = rows.only(f"order_id IS {'' if status == 'open' else 'NOT '}NULL")
        return page(rows, "carts", limit, cursor, self._cart_json)

    @reads(example={"cart_id": CART})
    def get_grocery_cart(self, cart_id: CartId) -> Json:
        """Return a cart at current prices, in cents.

        It has items with stock levels and replacement preferences, subtotal, discount, and the
        coupon with whether it is valid.
        """
        return self._cart_json(self._cart(cart_id))

    @writes(example={"cart_id": CART, "product_id": OATS, "quantity": 1, "notes": "The paper bag"})
    def add_grocery_item(
        self, cart_id: CartId, product_id: ProductId, quantity: Quantity, notes: Notes | None = None
    ) -> Json:
        """Add a product from the cart's store to the cart, and return the cart.

        If the product is already in the cart, the quantity is added to it.
        """
        cart = self._cart(cart_id, change=True)
        store = find_store(self, cart["store_id"])
        row = find_product(self, store, product_id)
        exceptions = stock.exceptions_of(self, store["id"])
        if stock.level(store, row, self.now, exceptions) == "out":
            similar = stock.nearest(self, store, row, self.now, exceptions)
            message = f"{row['name']} is out of stock at {store['name']}."
            hint = "Choose another product; search_grocery_items shows what is in stock."
            similar_id = similar["id"] if similar else None
            self.fail("OUT_OF_STOCK", message, hint, similar_product_id=similar_id)
        self._put(cart, product_id, quantity, notes)
        return self._cart_json(cart)

    @writes(example={"cart_id": CART, "product_id": MILK, "quantity": 3}, idempotent=True)
    def update_grocery_quantity(
        self,
        cart_id: CartId,
        product_id: ProductId,
        quantity: Quantity | None = None,
        notes: Notes | None = None,
    ) -> Json:
        """Set the quantity or the note of an item in a cart, or both, and return the cart."""
        cart = self._cart(cart_id, change=True)
        row = self._item(cart_id, product_id)
        if quantity is None and notes is None:
            message = "Neither quantity nor notes was given."
            self.fail("NOTHING_TO_CHANGE", message, "Give at least one of them.")
        columns = {
            "quantity": row["quantity"] if quantity is None else quantity,
            "notes": row["notes"] if notes is None else notes or None,
        }
        if any(row[k] != v for k, v in columns.items()):
            self.db.update("instacart_cart_items", row["id"], **columns)
        return self._cart_json(cart)

    @writes(example={"cart_id": CART, "product_id": MILK}, destructive=True)
    def remove_grocery_item(self, cart_id: CartId, product_id: ProductId) -> Json:
        """Remove an item from a cart, whatever its quantity, and return the cart."""
        cart = self._cart(cart_id, change=True)
        self.db.delete("instacart_cart_items", self._item(cart_id, product_id)["id"])
        return self._cart_json(cart)

    @writes(example={"cart_id": CART, "product_id": MILK, "preference": "refund"}, idempotent=True)
    def set_replacement_preference(
        self,
        cart_id: CartId,
        product_id: ProductId,
        preference: Preference,
        replacement_product_id: ProductId | None = None,
    ) -> Json:
        """Set what the shopper does if an item is out of stock, and return the item.

        The preference specific requires replacement_product_id.
        """
        cart = self._cart(cart_id, change=True)
        row = self._item(cart_id, product_id)
        store = find_store(self, cart["store_id"])
        if (preference == "specific") != (replacement_product_id is not None):
            message = f"The preference {preference} does not go with this replacement_product_id."
            hint = "Give replacement_product_id with the preference specific, and only then."
            self.fail("REPLACEMENT_MISMATCH", message, hint)
        if replacement_product_id is not None:
            if replacement_product_id == product_id:
                message = "A product cannot be its own replacement."
                self.fail("REPLACEMENT_MISMATCH", message, "Choose another product from the store.")
            find_product(self, store, replacement_product_id)
        if (row["preference"], row["replacement_id"]) != (preference, replacement_product_id):
            self.db.update(
                "instacart_cart_items",
                row["id"],
                preference=preference,
                replacement_id=replacement_product_id,
            )
        exceptions = stock.exceptions_of(self, store["id"])
        line = self._line(store, self._item(cart_id, product_id), exceptions)
        return line | {"cart_id": cart_id}

    @reads()
    def list_coupons(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the coupons in the account, with discount, minimum order (cents) and status.

        An empty `store_ids` means that the coupon is valid in every store.
        """
        shown = []
        for row in self.db.rows("instacart_coupons", order="expires_at, code"):
            coupon = {
                "coupon_code": row["code"],
                "title": row["title"],
                "percent_off": row["percent"],
                "amount_off": row["amount"],
                "max_discount": row["most"],
                "min_order": row["minimum"],
                "store_ids": row["store_ids"],
                "starts_at": row["starts_at"],
                "expires_at": row["expires_at"],
                "status": self._coupon_status(row),
            }
            shown.append(coupon)
        return page(shown, "coupons", limit, cursor)

    @writes(
        example={"cart_id": CART, "coupon_code": "FRESH5"},
        setup=(Setup("add_grocery_item", {"cart_id": CART, "product_id": OATS, "quantity": 6}),),
        idempotent=True,
    )
    def redeem_coupon(self, cart_id: CartId, coupon_code: CouponCode) -> Json:
        """Apply a coupon to a cart in place of any other, and return the cart with coupon_status.

        A coupon that is not valid is not applied; coupon_status gives the reason: COUPON_NOT_FOUND,
        COUPON_EXPIRED, MIN_ORDER_NOT_MET or STORE_NOT_ELIGIBLE.
        """
        cart = self._cart(cart_id, change=True)
        wrong, row = self._verdict(coupon_code, cart["store_id"], self._cart_json(cart)["subtotal"])
        if wrong is None and cart["coupon"] != row["code"]:
            self.db.update("instacart_carts", cart_id, coupon=row["code"])
        status = {
            "code": coupon_code.strip().upper(),
            "valid": wrong is None,
            "reason": wrong,
            "min_order": row.get("minimum"),
        }
        return self._cart_json(self._cart(cart_id)) | {"coupon_status": status}
