"""Wish lists and price alerts."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.listing import Listing
from servers.kit.service import Service, Setup, happens, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, iso, page, parse_time
from servers.shopping import _catalogue as catalogue
from servers.shopping import _mail as mail
from servers.shopping._rules import ProductId
from servers.shopping.amazon import _model as model
from servers.shopping.amazon._model import SHOP, VariantId
from servers.shopping.amazon.products import KETTLE

WishlistId = Annotated[
    str,
    Field(
        max_length=64,
        description="wishlist_id, from list_wishlists; defaults to the default list.",
    ),
]
ListName = Annotated[str, Field(min_length=1, max_length=60, description="Name of the list.")]
Note = Annotated[
    str,
    Field(
        min_length=1,
        max_length=250,
        description="A note for yourself or for anyone who sees the list.",
    ),
]
Public = Annotated[bool, Field(description="Whether other people can find the list.")]
Target = Annotated[
    int,
    Field(
        ge=1,
        le=10_000_000,
        description="The alert is triggered at this price in cents or below.",
    ),
]
AlertId = Annotated[str, Field(max_length=64, description="alert_id, from list_price_alerts.")]
LAMP = seeded("azp", "desk-lamp")


class Lists(Service):
    """Wish lists and price alerts."""

    @reads()
    def list_wishlists(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return your wish lists, the default one first.

        Each has its wishlist_id, name, number of items, and whether other people can find it.
        """
        rows = self.db.rows("amazon_wishlists", order="first DESC, created_at, rowid")
        query = "SELECT wishlist_id, count(*) FROM amazon_wishes GROUP BY wishlist_id"
        counts = dict(self.db.sql(query))

        def show(row: Row) -> dict[str, Any]:
            return _head(row) | {"item_count": counts.get(row["id"], 0)}

        return page(rows, "wishlists", limit, cursor, show)

    @writes(example={"name": "Cabin weekend"})
    def create_wishlist(self, name: ListName, is_public: Public = False) -> Json:
        """Create another wish list and return it; a name that is already used is refused."""
        same = self.db.rows("amazon_wishlists", "lower(name)=lower(?)", name)
        if same:
            message = f"You already have a list named {same[0]['name']!r}."
            self.fail(
                "WISHLIST_EXISTS",
                message,
                "Use that list, or choose a different name.",
                wishlist_id=same[0]["id"],
            )
        wishlist = {
            "id": self.new_id("azw"),
            "name": name,
            "is_public": is_public,
            "created_at": self.time,
            "first": False,
        }
        return _head(self.db.insert("amazon_wishlists", wishlist)) | {"item_count": 0}

    @reads()
    def get_wishlist(self, wishlist_id: WishlistId | None = None) -> Json:
        """Return a wish list with its items at current prices and whether each is in stock.

        Prices are in cents, and null if no seller has the item new.
        """
        return self._list_json(self._find_list(wishlist_id))

    @writes(example={"product_id": LAMP, "note": "For the studio"})
    def add_to_wishlist(
        self,
        product_id: ProductId,
        wishlist_id: WishlistId | None = None,
        variant_id: VariantId | None = None,
        note: Note | None = None,
    ) -> Json:
        """Add a product to a wish list and return the list.

        A product that is already on the list is refused.
        """
        row = self._find_list(wishlist_id)
        catalogue.find_product(self, SHOP, product_id)
        if variant_id is not None:
            model.find_variant(self, product_id, variant_id)
        if self._wishes(row["id"], product_id, variant_id):
            message = f"This product is already on {row['name']!r}."
            self.fail(
                "ALREADY_ON_WISHLIST",
                message,
                "See get_wishlist for the items on the list.",
                product_id=product_id,
                wishlist_id=row["id"],
            )
        wish = {
            "id": self.new_id("aze"),
            "wishlist_id": row["id"],
            "product_id": product_id,
            "variant_id": variant_id,
            "note": note,
            "added_at": self.time,
        }
        self.db.insert("amazon_wishes", wish)
        return self._list_json(row)

    @writes(example={"product_id": LAMP}, setup=(Setup("add_to_wishlist", {"product_id": LAMP}),))
    def remove_from_wishlist(
        self,
        product_id: ProductId,
        wishlist_id: WishlistId | None = None,
        variant_id: VariantId | None = None,
    ) -> Json:
        """Remove a product from a wish list and return the list.

        All its variants are removed unless you name one.
        """
        row = self._find_list(wishlist_id)
        where = "wishlist_id=? AND product_id=?"
        wishes = self.db.rows("amazon_wishes", where, row["id"], product_id)
        if variant_id is not None:
            wishes = [wish for wish in wishes if wish["variant_id"] == variant_id]
        if not wishes:
            message = f"The product {product_id!r} is not on {row['name']!r}."
            self.fail(
                "ITEM_NOT_ON_WISHLIST",
                message,
                "See get_wishlist for the items on a list, and list_wishlists for other lists.",
                product_id=product_id,
            )
        for wish in wishes:
            self.db.delete("amazon_wishes", wish["id"])
        return self._list_json(row)

    def _find_list(self, wishlist_id: str | None) -> Row:
        if not wishlist_id:
            return self.db.rows("amazon_wishlists", "first=1")[0]
        row = self.db.get("amazon_wishlists", wishlist_id)
        if row is None:
            message = f"There is no wish list with the ID {wishlist_id!r}."
            self.fail(
                "WISHLIST_NOT_FOUND",
                message,
                "Use a wishlist_id from list_wishlists.",
                wishlist_id=wishlist_id,
            )
        return row

    def _wishes(self, wishlist_id: str, product_id: str, variant_id: str | None) -> list[Row]:
        where = "wishlist_id=? AND product_id=? AND variant_id IS ?"
        return self.db.rows("amazon_wishes", where, wishlist_id, product_id, variant_id)

    def _list_json(self, row: Row) -> dict[str, Any]:
        rows = self.db.rows("amazon_wishes", "wishlist_id=?", row["id"], order="added_at, rowid")
        return _head(row) | {"items": [self._wish_json(wish) for wish in rows]}

    def _wish_json(self, wish: Row) -> Json:
        product = catalogue.find_product(self, SHOP, wish["product_id"])
        box = model.buy_box(model.Offers(self).of(product["id"]))
        variant = model.variant_of(self, product["id"], wish["variant_id"])
        return {
            "product_id": product["id"],
            "variant_id": wish["variant_id"],
            "title": product["title"],
            "note": wish["note"],
            "price": model.unit_price(box, variant) if box else None,
            "in_stock": bool(box and (variant is None or variant["left"])),
            "added_at": wish["added_at"],
        }

    # -- price alerts ------------------------------------------------------------------------------
    @writes(example={"product_id": KETTLE, "target_price": 3000})
    def set_price_alert(self, product_id: ProductId, target_price: Target) -> Json:
        """Watch the lowest price of a product, new and from a well-rated seller.

        Returns the alert. It replaces any earlier alert for the product.
        """
        catalogue.on_sale(self, SHOP, product_id)
        for row in self.db.rows("amazon_alerts", "product_id=? AND removed_at IS NULL", product_id):
            self.db.update("amazon_alerts", row["id"], removed_at=self.time)
        alert = {
            "id": self.new_id("azt"),
            "product_id": product_id,
            "target_price": target_price,
            "created_at": self.time,
        }
        alert = self.db.insert("amazon_alerts", alert)
        self.look_at_price(alert)
        return self._alert_json(alert)

    @happens("amazon_alerts.looks_at", where="removed_at IS NULL")
    def look_at_price(self, alert: Row) -> None:
        """Mail the customer if the price has just met an alert's target, or look again later."""
        shown = self._alert_json(alert)
        looks_at = None
        if not shown["triggered"]:
            looks_at = iso(catalogue.week_start(catalogue.week_of(self.now) + 1))
        elif shown["triggered_at"] == self.time:
            said = {
                "item": shown["title"],
                "target": shown["target_price"],
                "price": shown["current_price"],
                "alert": alert["id"],
            }
            mail.tell(self, SHOP, "price_met", said, about=alert["id"])
        self.db.update("amazon_alerts", alert["id"], looks_at=looks_at)

    @reads()
    def list_price_alerts(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the active price alerts, newest first, with target and current price in cents.

        Each shows in triggered_at when its target was first met.
        """
        rows = Listing(self.db, "amazon_alerts", by="created_at", where="removed_at IS NULL")
        return page(rows, "price_alerts", limit, cursor, self._alert_json)

    @writes(
        example={"alert_id": "${alert.alert_id}"},
        setup=(Setup("set_price_alert", {"product_id": LAMP, "target_price": 2000}, "alert"),),
    )
    def remove_price_alert(self, alert_id: AlertId) -> Json:
        """Remove a price alert."""
        row = self.db.get("amazon_alerts", alert_id)
        if row is None or row["removed_at"] is not None:
            message = f"There is no active price alert with the ID {alert_id!r}."
            self.fail(
                "ALERT_NOT_FOUND",
                message,
                "Use an alert_id from list_price_alerts.",
                alert_id=alert_id,
            )
        self.db.update("amazon_alerts", alert_id, removed_at=self.time)
        return {"alert_id": alert_id, "removed": True}

    def _alert_json(self, row: Row) -> Json:
        offers = model.trusted_new(self, row["product_id"])
        met_at = self._met_at(offers, row["target_price"], parse_time(row["created_at"]))
        return {
            "alert_id": row["id"],
            "product_id": row["product_id"],
            "title": catalogue.find_product(self, SHOP, row["product_id"])["title"],
            "target_price": row["target_price"],
            "current_price": min((offer["now"] for offer in offers), default=None),
            "triggered": met_at is not None,
            "triggered_at": iso(met_at) if met_at else None,
            "created_at": row["created_at"],
        }

    def _met_at(self, offers: list[Row], target: int, since: int) -> int | None:
        """Return the first moment from `since` on at which an offer cost `target` or less."""
        first_week = catalogue.week_of(since) + 1
        this_week = catalogue.week_of(self.now)
        moments = [since]
        # Prices only change at the start of a week, so no other moment can matter.
        moments += [catalogue.week_start(week) for week in range(first_week, this_week + 1)]
        for moment in moments:
            if any(catalogue.offer_price(offer, moment) <= target for offer in offers):
                return moment
        return None


def _head(row: Row) -> Json:
    return {
        "wishlist_id": row["id"],
        "name": row["name"],
        "is_default": row["first"],
        "is_public": row["is_public"],
        "created_at": row["created_at"],
    }
