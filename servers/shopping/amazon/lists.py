"""Wish lists and price alerts."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.values import Cursor, Limit, iso, page, parse_time
from servers.shopping import _catalogue as catalogue
from servers.shopping._rules import ProductId
from servers.shopping.amazon import _model as model
from servers.shopping.amazon._model import SHOP, VariantId
from servers.shopping.amazon.products import KETTLE

WishlistId = Annotated[
    str,
    Field(
        max_length=64,
        description="wishlist_id, from list_wishlists; the default list when left out.",
    ),
]
ListName = Annotated[str, Field(min_length=1, max_length=60, description="Name of the list.")]
Note = Annotated[
    str,
    Field(
        min_length=1, max_length=250, description="A note to yourself or to whoever sees the list."
    ),
]
Public = Annotated[bool, Field(description="Whether others may find the list.")]
Target = Annotated[
    int,
    Field(
        ge=1,
        le=10_000_000,
        description="Price in cents at which, or below which, the alert is triggered.",
    ),
]
AlertId = Annotated[str, Field(max_length=64, description="alert_id, from list_price_alerts.")]
LAMP = seeded("azp", "desk-lamp")


class Lists(Service):
    """What the user would like to have."""

    @reads()
    def list_wishlists(self, limit: Limit = 20, cursor: Cursor | None = None) -> dict[str, Any]:
        """Return the wish lists, the default one first: wishlist_id, name, number of items, whether others may find it."""
        rows = self.db.rows("amazon_wishlists", order="first DESC, created_at, rowid")
        count = dict(
            self.db.sql("SELECT wishlist_id, count(*) FROM amazon_wishes GROUP BY wishlist_id")
        )
        return page(
            rows,
            "wishlists",
            limit,
            cursor,
            lambda r: _head(r) | {"item_count": count.get(r["id"], 0)},
        )

    @writes(example={"name": "Cabin weekend"})
    def create_wishlist(self, name: ListName, is_public: Public = False) -> dict[str, Any]:
        """Start another wish list and return it; a name that is in use is refused."""
        same = self.db.rows("amazon_wishlists", "lower(name)=lower(?)", name)
        if same:
            message = f"There is a list {same[0]['name']!r} already."
            self.fail(
                "WISHLIST_EXISTS", message, "Use it, or another name.", wishlist_id=same[0]["id"]
            )
        made = {
            "id": self.new_id("azw"),
            "name": name,
            "is_public": is_public,
            "created_at": self.time,
            "first": False,
        }
        return _head(self.db.insert("amazon_wishlists", made)) | {"item_count": 0}

    @reads()
    def get_wishlist(self, wishlist_id: WishlistId | None = None) -> dict[str, Any]:
        """Return a wish list with its items at the prices of now (cents; null when nobody has a new one) and whether each is in stock."""
        return self._list_json(self._find_list(wishlist_id))

    @writes(example={"product_id": LAMP, "note": "For the studio"})
    def add_to_wishlist(
        self,
        product_id: ProductId,
        wishlist_id: WishlistId | None = None,
        variant_id: VariantId | None = None,
        note: Note | None = None,
    ) -> dict[str, Any]:
        """Put a product on a wish list and return the list; what is on it already is refused."""
        row = self._find_list(wishlist_id)
        catalogue.find_product(self, SHOP, product_id)
        if variant_id is not None:
            model.find_variant(self, product_id, variant_id)
        if self._wishes(row["id"], product_id, variant_id):
            message = f"The product is on {row['name']!r} already."
            self.fail(
                "ALREADY_ON_WISHLIST",
                message,
                "See get_wishlist.",
                product_id=product_id,
                wishlist_id=row["id"],
            )
        made = {
            "id": self.new_id("aze"),
            "wishlist_id": row["id"],
            "product_id": product_id,
            "variant_id": variant_id,
            "note": note,
        }
        self.db.insert("amazon_wishes", made | {"added_at": self.time})
        return self._list_json(row)

    @writes(example={"product_id": LAMP}, setup=(Setup("add_to_wishlist", {"product_id": LAMP}),))
    def remove_from_wishlist(
        self,
        product_id: ProductId,
        wishlist_id: WishlistId | None = None,
        variant_id: VariantId | None = None,
    ) -> dict[str, Any]:
        """Take a product off a wish list, all its variants unless one is named, and return the list."""
        row = self._find_list(wishlist_id)
        found = self.db.rows(
            "amazon_wishes", "wishlist_id=? AND product_id=?", row["id"], product_id
        )
        found = [w for w in found if variant_id in (None, w["variant_id"])]
        if not found:
            message = f"Product {product_id!r} is not on {row['name']!r}."
            self.fail(
                "ITEM_NOT_ON_WISHLIST",
                message,
                "See get_wishlist and list_wishlists.",
                product_id=product_id,
            )
        for wish in found:
            self.db.delete("amazon_wishes", wish["id"])
        return self._list_json(row)

    def _find_list(self, wishlist_id: str | None) -> dict[str, Any]:
        row = (
            self.db.get("amazon_wishlists", wishlist_id)
            if wishlist_id
            else self.db.rows("amazon_wishlists", "first=1")[0]
        )
        if row is None:
            message = f"There is no wish list {wishlist_id!r}."
            self.fail(
                "WISHLIST_NOT_FOUND",
                message,
                "Take a wishlist_id from list_wishlists.",
                wishlist_id=wishlist_id,
            )
        return row

    def _wishes(
        self, wishlist_id: str, product_id: str, variant_id: str | None
    ) -> list[dict[str, Any]]:
        return self.db.rows(
            "amazon_wishes",
            "wishlist_id=? AND product_id=? AND variant_id IS ?",
            wishlist_id,
            product_id,
            variant_id,
        )

    def _list_json(self, row: dict[str, Any]) -> dict[str, Any]:
        shown = []
        for wish in self.db.rows(
            "amazon_wishes", "wishlist_id=?", row["id"], order="added_at, rowid"
        ):
            product = catalogue.find_product(self, SHOP, wish["product_id"])
            box = model.buy_box(model.offers(self, product["id"]).get(product["id"], []))
            variant = next(
                (v for v in model.variants(self, product["id"]) if v["id"] == wish["variant_id"]),
                None,
            )
            item = {
                "product_id": product["id"],
                "variant_id": wish["variant_id"],
                "title": product["title"],
                "note": wish["note"],
            }
            item["price"] = model.unit_price(box, variant) if box else None
            shown.append(
                item
                | {
                    "in_stock": bool(box and (variant is None or variant["left"])),
                    "added_at": wish["added_at"],
                }
            )
        return _head(row) | {"items": shown}

    # -- price alerts ---------------------------------------------------------------------------------------------
    @writes(example={"product_id": KETTLE, "target_price": 3000})
    def set_price_alert(self, product_id: ProductId, target_price: Target) -> dict[str, Any]:
        """Watch the lowest price of a new one at well-rated sellers; returns the alert, which replaces an earlier one for the product."""
        catalogue.on_sale(self, SHOP, product_id)
        for row in self.db.rows("amazon_alerts", "product_id=? AND removed_at IS NULL", product_id):
            self.db.update("amazon_alerts", row["id"], removed_at=self.time)
        made = {
            "id": self.new_id("azt"),
            "product_id": product_id,
            "target_price": target_price,
            "created_at": self.time,
        }
        return self._alert_json(self.db.insert("amazon_alerts", made))

    @reads()
    def list_price_alerts(self, limit: Limit = 20, cursor: Cursor | None = None) -> dict[str, Any]:
        """Return active price alerts, newest first: target and current price in cents, whether and when the target was met."""
        found = self.db.rows(
            "amazon_alerts", "removed_at IS NULL", order="created_at DESC, rowid DESC"
        )
        return page(found, "price_alerts", limit, cursor, self._alert_json)

    @writes(
        example={"alert_id": "${alert.alert_id}"},
        setup=(Setup("set_price_alert", {"product_id": LAMP, "target_price": 2000}, "alert"),),
    )
    def remove_price_alert(self, alert_id: AlertId) -> dict[str, Any]:
        """Stop watching a price."""
        row = self.db.get("amazon_alerts", alert_id)
        if row is None or row["removed_at"] is not None:
            message = f"There is no active price alert {alert_id!r}."
            self.fail(
                "ALERT_NOT_FOUND",
                message,
                "Take an alert_id from list_price_alerts.",
                alert_id=alert_id,
            )
        self.db.update("amazon_alerts", alert_id, removed_at=self.time)
        return {"alert_id": alert_id, "removed": True}

    def _alert_json(self, row: dict[str, Any]) -> dict[str, Any]:
        new = model.trusted_new(self, row["product_id"])
        since = parse_time(row["created_at"])
        moments = [since] + [
            catalogue.week_start(w)
            for w in range(catalogue.week_of(since) + 1, catalogue.week_of(self.now) + 1)
        ]
        met = next(
            (
                m
                for m in moments
                if any(catalogue.offer_price(o, m) <= row["target_price"] for o in new)
            ),
            None,
        )
        shown = {"alert_id": row["id"], "product_id": row["product_id"]}
        shown["title"] = catalogue.find_product(self, SHOP, row["product_id"])["title"]
        shown |= {
            "target_price": row["target_price"],
            "current_price": min((o["now"] for o in new), default=None),
        }
        return shown | {
            "triggered": met is not None,
            "triggered_at": iso(met) if met else None,
            "created_at": row["created_at"],
        }


def _head(row: dict[str, Any]) -> dict[str, Any]:
    shown = {
        "wishlist_id": row["id"],
        "name": row["name"],
        "is_default": row["first"],
        "is_public": row["is_public"],
    }
    return shown | {"created_at": row["created_at"]}
