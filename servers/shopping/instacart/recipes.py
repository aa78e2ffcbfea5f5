"""Recipes that fill a cart, and past purchases."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from servers.kit import search
from servers.kit.control import seeded
from servers.kit.service import Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page
from servers.shopping.instacart import _inventory as stock
from servers.shopping.instacart._model import CartId, ProductId, StoreId, find_store
from servers.shopping.instacart.carts import CART, Carts

RecipeId = Annotated[str, Field(description="recipe_id, from search_recipes.")]
DishWords = Annotated[
    str, Field(max_length=80, description="Words from the title or summary; empty for all recipes.")
]
Diet = Annotated[
    Literal["vegetarian", "vegan", "gluten_free", "dairy_free", "nut_free"],
    Field(description="Only recipes that fit this diet."),
]
Servings = Annotated[
    int,
    Field(ge=1, le=24, description="Number of servings. Default: the recipe's own."),
]
PastIds = Annotated[
    list[ProductId],
    Field(min_length=1, max_length=40, description="product_ids from get_buy_it_again."),
]
CHILI = seeded("icx", "bean-chili")


class Purchases(NamedTuple):
    """How many orders included a product, and when and from which store the last one came."""

    count: int
    last: str
    store_id: str


class Recipes(Carts):
    """Recipes, and buying again."""

    def _recipe(self, recipe_id: str) -> Row:
        row = self.db.get("instacart_recipes", recipe_id)
        if row is None:
            message = f"There is no recipe with the ID {recipe_id!r}."
            hint = "Use a recipe_id from search_recipes."
            self.fail("RECIPE_NOT_FOUND", message, hint, recipe_id=recipe_id)
        return row

    def _best(self, store: Row, part: Row, exceptions: stock.Exceptions) -> dict[str, Any] | None:
        """Return the best product in stock for an ingredient, or None.

        Products sold by the recipe's measure come first; of those, the lowest unit price wins.
        Kitchen staples, such as water, have no family and match nothing.
        """
        if not part["family"]:
            return None
        rows = self.db.rows("instacart_products", "family=?", part["family"], order="rowid")
        left = [r for r in rows if stock.in_stock(store, r, self.now, exceptions)]
        wanted = stock.measure(part["unit"])

        def cost(row: Row) -> tuple[bool, float, str]:
            each, unit = stock.per_unit(row, stock.price(store, row, self.now, exceptions))
            return unit != wanted, each, row["id"]

        return min(left, key=cost, default=None)

    @reads(example={"query": "soup", "dietary_filter": "vegetarian"})
    def search_recipes(
        self,
        query: DishWords,
        dietary_filter: Diet | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Search recipes by words and diet, best match first.

        Each has recipe_id, title, summary, diets, servings and minutes.
        """
        if query.strip():
            rows = search.find(self.db, "instacart_recipes", query, order="title, id")
        else:
            rows = self.db.rows("instacart_recipes", order="title")
        if dietary_filter is not None:
            rows = [r for r in rows if dietary_filter in r["diets"]]
        return page(rows, "recipes", limit, cursor, self._summary)

    def _summary(self, row: Row) -> Json:
        fields = ("title", "summary", "diets", "servings", "minutes")
        return {"recipe_id": row["id"]} | {k: row[k] for k in fields}

    @reads(example={"recipe_id": CHILI, "store_id": seeded("ics", "new_seasons")})
    def get_recipe(self, recipe_id: RecipeId, store_id: StoreId | None = None) -> Json:
        """Return a recipe with ingredients and steps.

        With store_id, each ingredient has the product_id of a match in that store, or null.
        """
        row = self._recipe(recipe_id)
        store = find_store(self, store_id) if store_id is not None else None
        exceptions = stock.exceptions_of(self, store_id) if store_id is not None else {}
        shown = []
        for part in row["ingredients"]:
            product = self._best(store, part, exceptions) if store else None
            ingredient = {k: part[k] for k in ("name", "quantity", "unit")}
            shown.append(ingredient | {"product_id": product["id"] if product else None})
        return self._summary(row) | {"ingredients": shown, "steps": row["steps"]}

    @writes(example={"cart_id": CART, "recipe_id": CHILI, "servings": 8})
    def add_recipe_to_cart(
        self, cart_id: CartId, recipe_id: RecipeId, servings: Servings | None = None
    ) -> Json:
        """Add a recipe's ingredients to a cart, enough for the servings, and return the matches.

        The product in stock with the lowest unit price is chosen. Kitchen staples (water, salt) and
        what the store lacks come back in `unmatched`.
        """
        cart = self._cart(cart_id, change=True)
        row = self._recipe(recipe_id)
        store = find_store(self, cart["store_id"])
        exceptions = stock.exceptions_of(self, cart["store_id"])
        scale = (servings or row["servings"]) / row["servings"]
        matched = []
        unmatched = []
        for part in row["ingredients"]:
            product = self._best(store, part, exceptions)
            amount = round(part["quantity"] * scale, 2)
            if product is None:
                unmatched.append({"name": part["name"], "quantity": amount, "unit": part["unit"]})
                continue
            quantity = stock.pieces(product, amount, part["unit"])
            self._put(cart, product["id"], quantity)
            match = {
                "ingredient": part["name"],
                "product_id": product["id"],
                "name": product["name"],
                "quantity": quantity,
            }
            matched.append(match)
        if not matched:
            message = f"{store['name']} has none of the ingredients in stock."
            hint = "Try another store's cart."
            self.fail("NOTHING_MATCHED", message, hint, recipe_id=recipe_id)
        return {
            "cart_id": cart_id,
            "recipe_id": recipe_id,
            "servings": servings or row["servings"],
            "matched": matched,
            "unmatched": unmatched,
        }

    # -- buying again -----------------------------------------------------------------------------
    def _bought(self, store_id: str | None = None) -> dict[str, Purchases]:
        """Return past purchases by product_id, from one store or from all."""
        today = self.time[:10]
        # What was bought before today stays the same all day, for every episode of the world.
        tables = ("instacart_orders", "instacart_order_items")
        early = self.db.kept(
            ("bought before", store_id, today), tables, lambda: self._delivered("", today, store_id)
        )
        bought = {}
        for purchases in (early, self._delivered(today, self.time, store_id)):
            for product_id, latest in purchases.items():
                before = bought[product_id].count if product_id in bought else 0
                bought[product_id] = latest._replace(count=before + latest.count)
        return bought

    def _delivered(self, since: str, until: str, store_id: str | None) -> dict[str, Purchases]:
        """Return the purchases that arrived after `since`, up to `until`, by product_id."""
        rows = self.db.sql(
            "SELECT i.got_id, o.arrives_at, o.store_id FROM instacart_orders o"
            " JOIN instacart_order_items i ON i.order_id=o.id"
            " WHERE o.cancelled_at IS NULL AND o.arrives_at>? AND o.arrives_at<=?"
            " AND o.store_id=coalesce(?, o.store_id) AND i.got_id IS NOT NULL"
            " ORDER BY o.arrives_at, o.rowid, i.rowid",
            since,
            until,
            store_id,
        )
        bought: dict[str, Purchases] = {}
        for product_id, arrived_at, store in rows:
            before = bought[product_id].count if product_id in bought else 0
            bought[product_id] = Purchases(before + 1, arrived_at, store)
        return bought

    @reads(example={"limit": 10})
    def get_buy_it_again(
        self, store_id: StoreId | None = None, limit: Limit = 20, cursor: Cursor | None = None
    ) -> Json:
        """Return products from past deliveries, the most often bought first.

        Each has its purchase count, and the time and store of the last purchase.
        """
        if store_id is not None:
            find_store(self, store_id)
        bought = self._bought(store_id)
        ranked = sorted(bought, key=lambda product_id: bought[product_id].last, reverse=True)
        ranked.sort(key=lambda product_id: -bought[product_id].count)

        def show(product_id: str) -> Json:
            row = self.db.get("instacart_products", product_id) or {}
            return {
                "product_id": product_id,
                "name": row["name"],
                "brand": row["brand"],
                "purchase_count": bought[product_id].count,
                "last_purchased_at": bought[product_id].last,
                "store_id": bought[product_id].store_id,
            }

        return page(ranked, "products", limit, cursor, show)

    @writes(
        example={
            "cart_id": CART,
            "product_ids": ["${past.products.0.product_id}", "${past.products.1.product_id}"],
        },
        setup=(Setup("get_buy_it_again", {"store_id": seeded("ics", "new_seasons")}, "past"),),
    )
    def quick_add_past_items(self, cart_id: CartId, product_ids: PastIds) -> Json:
        """Add one of each of these past purchases to a cart.

        Products that were never bought, are not carried or are out of stock come back in
        `not_found`.
        """
        cart = self._cart(cart_id, change=True)
        store = find_store(self, cart["store_id"])
        exceptions = stock.exceptions_of(self, cart["store_id"])
        past = self._bought()
        added = []
        missing = []
        for product_id in dict.fromkeys(product_ids):
            row = self.db.get("instacart_products", product_id)
            if product_id not in past:
                missing.append({"product_id": product_id, "reason": "never_bought"})
            elif row is None or not stock.in_stock(store, row, self.now, exceptions):
                missing.append({"product_id": product_id, "reason": "not_in_stock_here"})
            else:
                self._put(cart, product_id, 1)
                added.append({"product_id": product_id, "name": row["name"], "quantity": 1})
        if not added:
            message = "None of these products can be added."
            hint = "Call get_buy_it_again with the cart's store_id to see what that store has."
            self.fail("NOTHING_ADDED", message, hint, not_found=missing)
        return {"cart_id": cart_id, "added": added, "not_found": missing}
