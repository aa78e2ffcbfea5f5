"""Recipes that fill a cart, and what was bought before."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.service import Setup, reads, writes
from servers.kit.values import Cursor, Limit, page
from servers.shopping.instacart import _inventory as stock
from servers.shopping.instacart import _orders as orders
from servers.shopping.instacart._model import CartId, ProductId, StoreId, find_store
from servers.shopping.instacart.carts import CART, Carts

RecipeId = Annotated[str, Field(description="recipe_id, from search_recipes.")]
DishWords = Annotated[
    str, Field(max_length=80, description="Words of the title or summary; empty for all recipes.")
]
Diet = Annotated[
    Literal["vegetarian", "vegan", "gluten_free", "dairy_free", "nut_free"],
    Field(description="Only recipes that fit this diet."),
]
Servings = Annotated[
    int,
    Field(ge=1, le=24, description="For how many people; the recipe's own number when left out."),
]
PastIds = Annotated[
    list[ProductId],
    Field(min_length=1, max_length=40, description="product_ids from get_buy_it_again."),
]
CHILI = seeded("icx", "bean-chili")


class Purchases(NamedTuple):
    """How many orders brought a product, when the last of them came, and from which store."""

    count: int
    last: str
    store_id: str


class Recipes(Carts):
    """Cooking, and buying again."""

    def _recipe(self, recipe_id: str) -> dict[str, Any]:
        row = self.db.get("instacart_recipes", recipe_id)
        if row is None:
            message = f"There is no recipe {recipe_id!r}."
            hint = "Take a recipe_id from search_recipes."
            self.fail("RECIPE_NOT_FOUND", message, hint, recipe_id=recipe_id)
        return row

    def _best(
        self, store: dict[str, Any], part: dict[str, Any], exceptions: stock.Exceptions
    ) -> dict[str, Any] | None:
        """Return the product in stock that fits an ingredient best, or None.

        That is the one with the lowest price of a unit, one that is sold by what the recipe counts
        where there is one. What kitchens have anyway names no family, and fits nothing.
        """
        if not part["family"]:
            return None
        rows = self.db.rows("instacart_products", "family=?", part["family"], order="rowid")
        left = [r for r in rows if stock.in_stock(store, r, self.now, exceptions)]
        wanted = stock.measure(part["unit"])

        def cost(row: dict[str, Any]) -> tuple[bool, float, str]:
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
    ) -> dict[str, Any]:
        """Return recipes that hold all words, best match first: recipe_id, title, summary, diets, servings, minutes."""
        if query.strip():
            rows = self.db.search("instacart_recipes", query)
        else:
            rows = self.db.rows("instacart_recipes", order="title")
        if dietary_filter is not None:
            rows = [r for r in rows if dietary_filter in r["diets"]]
        return page(rows, "recipes", limit, cursor, self._summary)

    def _summary(self, row: dict[str, Any]) -> dict[str, Any]:
        fields = ("title", "summary", "diets", "servings", "minutes")
        return {"recipe_id": row["id"]} | {k: row[k] for k in fields}

    @reads(example={"recipe_id": CHILI, "store_id": seeded("ics", "new_seasons")})
    def get_recipe(self, recipe_id: RecipeId, store_id: StoreId | None = None) -> dict[str, Any]:
        """Return a recipe with steps and ingredients; with store_id each ingredient names the product_id that fits it there, if any."""
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
    ) -> dict[str, Any]:
        """Put what a recipe needs into a cart, in pieces enough for the servings, and return what was matched and what was not.

        The cheapest by weight or piece in stock is taken; what kitchens have (water, salt) and what the store lacks stays unmatched.
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
            message = f"{store['name']} has none of the ingredients."
            hint = "Try the cart of another store."
            self.fail("NOTHING_MATCHED", message, hint, recipe_id=recipe_id)
        return {
            "cart_id": cart_id,
            "recipe_id": recipe_id,
            "servings": servings or row["servings"],
            "matched": matched,
            "unmatched": unmatched,
        }

    # -- again ------------------------------------------------------------------------------------
    def _bought(self, store_id: str | None = None) -> dict[str, Purchases]:
        """Return by product what was bought of it, in one store or in all."""
        delivered = "cancelled_at IS NULL AND arrives_at<=?"
        rows = self.db.rows("instacart_orders", delivered, self.time, order="arrives_at, rowid")
        if store_id is not None:
            rows = [r for r in rows if r["store_id"] == store_id]
        bought: dict[str, Purchases] = {}
        for row in rows:
            for item in orders.items(self, row["id"]):
                product_id = item["got_id"]
                if product_id is not None:
                    before = bought[product_id].count if product_id in bought else 0
                    bought[product_id] = Purchases(before + 1, row["arrives_at"], row["store_id"])
        return bought

    @reads(example={"limit": 10})
    def get_buy_it_again(
        self, store_id: StoreId | None = None, limit: Limit = 20, cursor: Cursor | None = None
    ) -> dict[str, Any]:
        """Return products of past deliveries, the most often bought first, with count, last time and the store of it."""
        if store_id is not None:
            find_store(self, store_id)
        shown: list[dict[str, Any]] = []
        for product_id, purchases in self._bought(store_id).items():
            row = self.db.get("instacart_products", product_id) or {}
            product = {
                "product_id": product_id,
                "name": row["name"],
                "brand": row["brand"],
                "purchase_count": purchases.count,
                "last_purchased_at": purchases.last,
                "store_id": purchases.store_id,
            }
            shown.append(product)
        shown.sort(key=lambda s: s["last_purchased_at"], reverse=True)
        shown.sort(key=lambda s: -s["purchase_count"])
        return page(shown, "products", limit, cursor)

    @writes(
        example={
            "cart_id": CART,
            "product_ids": ["${past.products.0.product_id}", "${past.products.1.product_id}"],
        },
        setup=(Setup("get_buy_it_again", {"store_id": seeded("ics", "new_seasons")}, "past"),),
    )
    def quick_add_past_items(self, cart_id: CartId, product_ids: PastIds) -> dict[str, Any]:
        """Put one of each of these past purchases into a cart; those never bought, not carried or out of stock come back in not_found."""
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
            hint = "get_buy_it_again with the cart's store_id shows what fits."
            self.fail("NOTHING_ADDED", message, hint, not_found=missing)
        return {"cart_id": cart_id, "added": added, "not_found": missing}
