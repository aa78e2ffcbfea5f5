"""Instacart's tables and argument types, the JSON of a product, and lookups of rows."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.shopping.instacart import _inventory as stock

TABLES = {
    "instacart_profile": Table(
        "id:str name:str email:str phone:str timezone:str", identity=True, catalogue=True
    ),
    "instacart_addresses": Table(
        "id:str label:str/matter street:str/matter city:str/matter state:str/matter "
        "zip:str/matter lat:float/matter lng:float/matter instructions:str?/prose "
        "added_at:str/stamp",
        noun="the address {label}, {street}",
    ),
    "instacart_cards": Table(
        "id:str kind:str/derived last_four:str/matter expires:str?/matter "
        "billing_address:str?/matter is_default:bool/derived added_at:str/stamp",
        noun="the card {kind} ending in {last_four}",
    ),
    # `hours` has seven entries such as "08:00-22:00" or "closed", Monday first. `markup` is the
    # price level in percent of the catalogue's, `breadth` the share of products that the store
    # carries, and `also` lists ids of products that it carries in any case.
    "instacart_stores": Table(
        "id:str name:str store_type:str street:str city:str state:str zip:str lat:float lng:float "
        "timezone:str phone:str? rating:float hours:list delivery_fee:int min_order:int "
        "markup:int breadth:float also:list closed_since:str?",
        search=("name", "store_type", "street"),
        catalogue=True,
    ),
    # `words` are other words that people use to search for a product.
    "instacart_products": Table(
        "id:str family:str name:str brand:str category:str size:float unit:str price:int "
        "labels:list words:str",
        search=("name", "brand", "category", "family", "words", "labels", "unit"),
        weights=(4, 2, 2, 3, 2, 2, 1),
        index=("family", "category"),
        catalogue=True,
    ),
    # Temporary exceptions to a store's rules: another price or stock level of a product.
    "instacart_exceptions": Table(
        "id:str store_id:str product_id:str price:int? stock:str? begins:str ends:str",
        index=("store_id",),
        catalogue=True,
    ),
    "instacart_shoppers": Table("id:str name:str rating:float orders:int city:str", catalogue=True),
    "instacart_carts": Table(
        "id:str store_id:str/ref coupon:str?/matter created_at:str/stamp order_id:str?/ref",
        index=("store_id", "created_at"),
        tentative={"order_id": {"exists": False}},
        noun="a cart at {store_id}",
    ),
    "instacart_cart_items": Table(
        "id:str cart_id:str/ref product_id:str/ref quantity:int/matter notes:str?/prose "
        "preference:str/matter replacement_id:str?/ref added_at:str/stamp",
        index=("cart_id",),
        tentative={},
        noun="the item {product_id} (quantity {quantity}) in an Instacart cart",
    ),
    "instacart_coupons": Table(
        "code:str title:str percent:int? amount:int? most:int? minimum:int store_ids:list "
        "starts_at:str expires_at:str",
        catalogue=True,
    ),
    # `shop_at`, `leaves_at` and `arrives_at` are planned at checkout; `shopped` becomes true when
    # the shopper has finished the list.
    "instacart_orders": Table(
        "id:str store_id:str/ref address_id:str/ref card_id:str/ref coupon:str?/matter "
        "discount:int/derived delivery_fee:int/derived service_fee:int/derived tip:int/matter "
        "window_id:str/derived window_start:str/appointed window_end:str/appointed "
        "created_at:str/stamp shop_at:str/derived leaves_at:str/derived arrives_at:str/derived "
        "shopper_id:str/derived shopped:bool/derived cancelled_at:str?/stamp "
        "cancel_reason:str?/prose cancel_fee:int/derived rating:int?/matter comment:str?/prose "
        "rated_at:str?/stamp",
        index=("created_at", "shop_at", "arrives_at", "window_start", "coupon"),
        outward={},
        noun="an order at {store_id} for {window_start:moment}",
    ),
    # `outcome` is found, replaced or refunded once the shopper is done; `got_id` and `got_price`
    # are the product that went into the bag, and its price.
    "instacart_order_items": Table(
        "id:str order_id:str/ref product_id:str/ref quantity:int/matter price:int/derived "
        "notes:str?/prose preference:str/matter replacement_id:str?/ref outcome:str?/derived "
        "got_id:str?/derived got_price:int?/derived",
        index=("order_id",),
        outward={},
        noun="the item {product_id} (quantity {quantity}) in an Instacart order",
    ),
    "instacart_issues": Table(
        "id:str order_id:str/ref issue_type:str/matter description:str/prose "
        "product_ids:list/matter created_at:str/stamp",
        index=("order_id",),
        outward={},
        noun="a reported problem ({issue_type}) with the order {order_id}",
    ),
    "instacart_recipes": Table(
        "id:str title:str summary:str diets:list servings:int minutes:int ingredients:list "
        "steps:list",
        search=("title", "summary", "diets", "ingredients"),
        catalogue=True,
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
