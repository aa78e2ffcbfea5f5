"""Instacart's tables and argument types, the JSON of a product, and lookups of rows."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.shopping.instacart import _inventory as stock

TABLES = {
    "instacart_profile": Table("id:str name:str email:str phone:str timezone:str", identity=True),
    "instacart_addresses": Table(
        "id:str label:str street:str city:str state:str zip:str lat:float lng:float "
        "instructions:str? added_at:str"
    ),
    "instacart_cards": Table(
        "id:str kind:str last_four:str expires:str? billing_address:str? is_default:bool "
        "added_at:str"
    ),
    # `hours` has seven entries such as "08:00-22:00" or "closed", Monday first. `markup` is the
    # price level in percent of the catalogue's, `breadth` the share of products that the store
    # carries, and `also` lists ids of products that it carries in any case.
    "instacart_stores": Table(
        "id:str name:str store_type:str street:str city:str state:str zip:str lat:float lng:float "
        "timezone:str phone:str? rating:float hours:list delivery_fee:int min_order:int "
        "markup:int breadth:float also:list closed_since:str?",
        search=("name", "store_type", "street"),
    ),
    # `words` are other words that people use to search for a product.
    "instacart_products": Table(
        "id:str family:str name:str brand:str category:str size:float unit:str price:int "
        "labels:list words:str",
        search=("name", "brand", "category", "family", "words"),
        index=("family", "category"),
    ),
    # Temporary exceptions to a store's rules: another price or stock level of a product.
    "instacart_exceptions": Table(
        "id:str store_id:str product_id:str price:int? stock:str? begins:str ends:str",
        index=("store_id",),
    ),
    "instacart_shoppers": Table("id:str name:str rating:float orders:int city:str"),
    "instacart_carts": Table(
        "id:str store_id:str coupon:str? created_at:str order_id:str?", index=("store_id",)
    ),
    "instacart_cart_items": Table(
        "id:str cart_id:str product_id:str quantity:int notes:str? preference:str "
        "replacement_id:str? added_at:str",
        index=("cart_id",),
    ),
    "instacart_coupons": Table(
        "code:str title:str percent:int? amount:int? most:int? minimum:int store_ids:list "
        "starts_at:str expires_at:str"
    ),
    # `shop_at`, `leaves_at` and `arrives_at` are planned at checkout; `shopped` becomes true when
    # the shopper has finished the list.
    "instacart_orders": Table(
        "id:str store_id:str address_id:str card_id:str coupon:str? discount:int delivery_fee:int "
        "service_fee:int tip:int window_id:str window_start:str window_end:str created_at:str "
        "shop_at:str leaves_at:str arrives_at:str shopper_id:str shopped:bool cancelled_at:str? "
        "cancel_reason:str? cancel_fee:int rating:int? comment:str? rated_at:str?",
        index=("created_at", "shop_at"),
    ),
    # `outcome` is found, replaced or refunded once the shopper is done; `got_id` and `got_price`
    # are the product that went into the bag, and its price.
    "instacart_order_items": Table(
        "id:str order_id:str product_id:str quantity:int price:int notes:str? preference:str "
        "replacement_id:str? outcome:str? got_id:str? got_price:int?",
        index=("order_id",),
    ),
    "instacart_issues": Table(
        "id:str order_id:str issue_type:str description:str product_ids:list created_at:str",
        index=("order_id",),
    ),
    "instacart_recipes": Table(
        "id:str title:str summary:str diets:list servings:int minutes:int ingredients:list "
        "steps:list",
        search=("title", "summary"),
    ),
}

StoreId = Annotated[str, Field(description="store_id, from search_stores.")]
ProductId = Annotated[
    str, Field(description="product_id, from search_grocery_items; the same in every store.")
]
CartId = Annotated[str, Field(description="cart_id, from list_carts or create_cart.")]
OrderId = Annotated[str, Field(description="order_id, from list_orders.")]
Quantity = Annotated[
    int, Field(ge=1, le=99, description="Number of units of the product, 1 to 99.")
]
Notes = Annotated[
    str,
    Field(
        max_length=140,
        description="Note to the shopper about this item; an empty string removes it.",
    ),
]
Category = Annotated[
    Literal[
        "produce", "bakery", "dairy", "meat", "seafood", "deli", "frozen", "pantry", "snacks",
        "beverages", "breakfast", "household", "personal care", "pets", "baby", "pharmacy",
    ],
    Field(description="Only products in this category."),
]  # fmt: skip
Preference = Annotated[
    Literal["best_match", "specific", "refund", "contact_me"],
    Field(
        description="What to do if the item is out of stock: best_match takes the similar product "
        "closest in price, specific the named replacement, refund no replacement; contact_me asks "
        "you in the app and refunds the item if nobody answers."
    ),
]


def find_store(svc: Service, store_id: str) -> Row:
    """Return a store; fail if it does not exist."""
    row = svc.db.get("instacart_stores", store_id)
    if row is None:
        message = f"There is no store with the ID {store_id!r}."
        hint = "Use a store_id from search_stores."
        svc.fail("STORE_NOT_FOUND", message, hint, store_id=store_id)
    return row


def find_product(svc: Service, store: Row, product_id: str) -> Row:
    """Return a product that a store carries, in stock or not; fail if it does not carry it."""
    row = svc.db.get("instacart_products", product_id)
    if row is None or not stock.carries(store, row):
        if row is None:
            message = f"There is no product with the ID {product_id!r}."
        else:
            message = f"{store['name']} does not carry {row['name']}."
        hint = "Find products of this store with search_grocery_items."
        svc.fail("PRODUCT_NOT_FOUND", message, hint, store_id=store["id"], product_id=product_id)
    return row


def product_json(svc: Service, store: Row, row: Row, exceptions: stock.Exceptions) -> Json:
    """Return a product as a store sells it now."""
    return {
        "product_id": row["id"],
        "name": row["name"],
        "brand": row["brand"],
        "category": row["category"],
        "price": stock.price(store, row, svc.now, exceptions),
        "stock_level": stock.level(store, row, svc.now, exceptions),
        "unit": size(row),
        "aisle": stock.aisle(store, row),
    }


def size(row: Row) -> str:
    """Return a product's size in words, e.g. 16 oz."""
    return f"{row['size']:g} {row['unit']}"


def profile(svc: Service) -> Row:
    """Return the signed-in customer."""
    return svc.db.rows("instacart_profile")[0]
