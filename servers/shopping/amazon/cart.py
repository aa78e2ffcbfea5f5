"""The cart: lines by product, variant and seller, a coupon, and a shipping option."""

from __future__ import annotations

from typing import Annotated, Any, NoReturn
from zoneinfo import ZoneInfo

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page
from servers.kit.zones import local
from servers.shopping import _catalogue as catalogue
from servers.shopping import _coupons as coupons
from servers.shopping import _rules as rules
from servers.shopping._rules import Code, ProductId, Quantity
from servers.shopping.amazon import _model as model
from servers.shopping.amazon._model import OPTIONS, SHOP, GiftMessage, Option, SellerId, VariantId
from servers.shopping.amazon.products import KETTLE

GiftWrap = Annotated[
    bool,
    Field(
        description="Whether to gift-wrap it (499 cents per unit; only items shipped by Amazon)."
    ),
]
Shipping = Annotated[
    Option,
    Field(description="How to ship the next order; the prime_ options require Prime membership."),
]
FILTER = seeded("azp", "coffee-filters")
ADDED = Setup("add_to_cart", {"product_id": KETTLE, "quantity": 1})


class Cart(Service):
    """The next order."""

    @reads()
    def get_cart(self) -> Json:
        """Return the cart at current prices, in cents.

        Shows its items and whether they are in stock, the coupon and any reason why it does not
        apply, the shipping option, and the total before tax.
        """
        return model.cart_json(self)

    @writes(
        example={
            "product_id": KETTLE,
            "quantity": 2,
            "gift_wrap": True,
            "gift_message": "Happy birthday!",
        }
    )
    def add_to_cart(
        self,
        product_id: ProductId,
        quantity: Quantity,
        variant_id: VariantId | None = None,
        seller_id: SellerId | None = None,
        gift_wrap: GiftWrap | None = None,
        gift_message: GiftMessage | None = None,
    ) -> Json:
        """Add units of a product to the cart and return the cart.

        If the cart already has this product in this variant from this seller, its quantity goes up.
        """
        row = catalogue.on_sale(self, SHOP, product_id)
        variant = model.find_variant(self, product_id, variant_id)
        offer = model.find_offer(self, product_id, seller_id)
        same = self._same(product_id, variant_id, offer["seller_id"])
        total = quantity
        if same:
            total += same[0]["quantity"]
        model.check_stock(self, row, offer, variant, total)
        self._check_wrap(offer, gift_wrap)
        price = model.unit_price(offer, variant)
        gift = {"gift_wrap": gift_wrap, "gift_message": gift_message}
        if same:
            changes = {k: v for k, v in gift.items() if v is not None}
            self.db.update("amazon_cart", same[0]["id"], quantity=total, **changes)
        else:
            if len(self.db.rows("amazon_cart")) >= 50:
                self.fail(
                    "CART_FULL",
                    "The cart is full: it already has 50 lines.",
                    "Place the order, or remove something with remove_from_cart.",
                )
            line = {
                "id": self.new_id("azl"),
                "product_id": product_id,
                "variant_id": variant_id,
                "seller_id": offer["seller_id"],
                "quantity": quantity,
                "gift_wrap": bool(gift_wrap),
                "gift_message": gift_message,
                "seen_price": price,
                "added_at": self.time,
            }
            self.db.insert("amazon_cart", line)
        return model.cart_json(self)

    @writes(example={"product_id": KETTLE, "quantity": 3}, setup=(ADDED,), idempotent=True)
    def update_cart_item(
        self,
        product_id: ProductId,
        quantity: Quantity | None = None,
        gift_wrap: GiftWrap | None = None,
        gift_message: GiftMessage | None = None,
        variant_id: VariantId | None = None,
        seller_id: SellerId | None = None,
    ) -> Json:
        """Change the quantity or gift options of a cart item and return the cart.

        Pass variant_id and seller_id if the product is in the cart more than once.
        """
        line = self._line(product_id, variant_id, seller_id)
        row = catalogue.find_product(self, SHOP, product_id)
        offer = model.find_offer(self, product_id, line["seller_id"])
        if quantity is not None:
            variant = model.find_variant(self, product_id, line["variant_id"])
            model.check_stock(self, row, offer, variant, quantity)
        self._check_wrap(offer, gift_wrap)
        given = {"quantity": quantity, "gift_wrap": gift_wrap, "gift_message": gift_message}
        changes = {k: v for k, v in given.items() if v is not None}
        if not changes:
            self.fail(
                "NOTHING_TO_CHANGE",
                "No new quantity or gift option was given.",
                "Pass quantity, gift_wrap or gift_message.",
            )
        self.db.update("amazon_cart", line["id"], **changes)
        return model.cart_json(self)

    @writes(example={"product_id": KETTLE}, setup=(ADDED,))
    def remove_from_cart(
        self,
        product_id: ProductId,
        variant_id: VariantId | None = None,
        seller_id: SellerId | None = None,
    ) -> Json:
        """Remove an item from the cart and return the cart.

        Pass variant_id and seller_id if the product is in the cart more than once.
        """
        self.db.delete("amazon_cart", self._line(product_id, variant_id, seller_id)["id"])
        return model.cart_json(self)

    @reads()
    def list_coupons(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the coupons that anyone can use, the first to expire first; amounts in cents.

        Codes sent only to you are not listed.
        """

        def show(row: Row) -> Json:
            return {"coupon_code": row["code"]} | coupons.coupon_json(self, SHOP, row)

        return page(coupons.public(self, SHOP), "coupons", limit, cursor, show)

    @writes(example={"coupon_code": "KITCHEN10"}, setup=(ADDED,), idempotent=True)
    def apply_coupon(self, coupon_code: Code) -> Json:
        """Apply a coupon to the next order and return the discount on the current cart, in cents.

        It replaces any coupon applied before. Each coupon works for one order.
        """
        row = coupons.find(self, SHOP, coupon_code)
        shares = coupons.require(self, SHOP, row, model.lines(self))
        if model.checkout(self)["code"] != row["code"]:
            self.db.update("amazon_checkout", model.checkout(self)["id"], code=row["code"])
        return {
            "applied": True,
            "coupon_code": row["code"],
            "reason": "OK",
            "discount_preview": sum(shares),
        }

    @writes(
        example={},
        setup=(ADDED, Setup("apply_coupon", {"coupon_code": "KITCHEN10"})),
        idempotent=True,
    )
    def remove_coupon(self) -> Json:
        """Remove the coupon from the cart and return the cart."""
        if model.checkout(self)["code"] is not None:
            self.db.update("amazon_checkout", model.checkout(self)["id"], code=None)
        return model.cart_json(self)

    @reads()
    def list_shipping_options(self) -> Json:
        """Return the shipping options with their cost for the current cart, in cents.

        Each has the fewest and most days until arrival and, if it is not available, the reason.
        """
        cart = model.lines(self)
        shown = []
        for option in OPTIONS:
            refusal = self._refusal(option, cart)
            option_json = {
                "shipping_option": option,
                "cost": model.shipping_cost(self, option, cart),
                "eta_days": list(model.days(option, cart)),
                "available": refusal is None,
                "reason": refusal or "OK",
            }
            shown.append(option_json)
        return {"shipping_options": shown, "selected": model.checkout(self)["shipping_option"]}

    @writes(example={"shipping_option": "expedited"}, idempotent=True)
    def select_shipping_option(self, shipping_option: Shipping) -> Json:
        """Choose the shipping option of the next order and return its cost, in cents.

        Also returns the fewest and most days until the current cart would arrive.
        """
        cart = model.lines(self)
        self.require_option(shipping_option, cart)
        if model.checkout(self)["shipping_option"] != shipping_option:
            self.db.update(
                "amazon_checkout", model.checkout(self)["id"], shipping_option=shipping_option
            )
        cost = model.shipping_cost(self, shipping_option, cart)
        return {
            "selected": shipping_option,
            "cost": cost,
            "eta_days": list(model.days(shipping_option, cart)),
        }

    def require_option(self, option: str, cart: list[Row]) -> None:
        """Refuse a shipping option that the account or the cart does not allow."""
        refusal = self._refusal(option, cart)
        if refusal == "PRIME_REQUIRED":
            self.fail(
                refusal,
                f"{option} is only for Prime members.",
                "Choose standard or expedited.",
                shipping_option=option,
            )
        if refusal is not None:
            slow = [line["product_id"] for line in cart if not line["offer"]["prime"]]
            message = f"{option} is not available for this cart right now."
            hint = (
                "See list_shipping_options. Items not shipped by Amazon cannot use Prime shipping, "
                "and same-day orders must be placed before 12:00."
            )
            self.fail(refusal, message, hint, shipping_option=option, not_prime_eligible=slow)

    def _refusal(self, option: str, cart: list[Row]) -> str | None:
        """Return the error code of why a shipping option is not available, or None."""
        if option.startswith("prime_") and not model.prime(self):
            return "PRIME_REQUIRED"
        if option.startswith("prime_") and any(not line["offer"]["prime"] for line in cart):
            return "NOT_PRIME_ELIGIBLE"
        hour = local(self.now, ZoneInfo(rules.profile(self, SHOP)["timezone"])).hour
        if option == "prime_same_day" and hour >= model.SAME_DAY_UNTIL:
            return "TOO_LATE_TODAY"
        return None

    def _check_wrap(self, offer: Row, wrap: bool | None) -> None:
        if wrap and not offer["prime"]:
            message = "This seller ships its own orders and does not offer gift wrap."
            self.fail(
                "GIFT_WRAP_UNAVAILABLE",
                message,
                "Leave out gift_wrap, or choose an offer that is prime_eligible.",
            )

    def _same(self, product_id: str, variant_id: str | None, seller_id: str | None) -> list[Row]:
        where = "product_id=?1 AND (?2 IS NULL OR variant_id=?2) AND (?3 IS NULL OR seller_id=?3)"
        return self.db.rows("amazon_cart", where, product_id, variant_id, seller_id, order="rowid")

    def _line(
        self, product_id: str, variant_id: str | None, seller_id: str | None
    ) -> dict[str, Any]:
        lines = self._same(product_id, variant_id, seller_id)
        if len(lines) == 1:
            return lines[0]
        self._no_one_line(product_id, lines)

    def _no_one_line(self, product_id: str, candidates: list[Row]) -> NoReturn:
        if candidates:
            several = [
                {"variant_id": x["variant_id"], "seller_id": x["seller_id"]} for x in candidates
            ]
            message = "This product is on several lines of the cart."
            self.fail(
                "AMBIGUOUS_CART_ITEM",
                message,
                "Pass variant_id and seller_id as shown by get_cart.",
                lines=several,
            )
        message = f"The cart has no matching line for the product {product_id!r}."
        self.fail(
            "CART_ITEM_NOT_FOUND",
            message,
            "See get_cart for the items in the cart.",
            product_id=product_id,
        )
