"""Baskets of shops with stores: lines by product and fulfilment, their stores and stock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from servers.kit.service import Service
from servers.kit.types import Json, Row
from servers.shopping import _catalogue as catalogue
from servers.shopping import _stores as stores
from servers.shopping._rules import Shop

LINE = (
    "id:str product_id:str/ref quantity:int/matter fulfillment:str/matter store_id:str?/ref "
    "added_at:str/stamp"
)
SHIPPING = "shipping"


def store_for(
    svc: Service, shop: Shop, fulfillment: str, store_id: str | None, usual: str | None
) -> dict[str, Any] | None:
    """Return the store that an item comes from, or None for shipping.

    Refuses a store that does not offer this fulfilment. `usual` is the id of the user's own store.
    """
    if fulfillment == SHIPPING:
        if store_id is not None:
            message = "Shipped items do not come from a store."
            svc.fail(
                "STORE_NOT_NEEDED",
                message,
                "Leave out store_id, or pass a different fulfillment_type with it.",
                store_id=store_id,
            )
        return None
    chosen = store_id or usual
    if chosen is None:
        message = f"You have not chosen a store for {fulfillment}."
        svc.fail(
            "STORE_REQUIRED",
            message,
            f"Pass a store_id from {shop.stores} or choose one with {shop.set_store}.",
        )
    store = stores.open_store(svc, shop, chosen)
    if fulfillment not in store["services"]:
        message = f"{store['name']} does not offer {fulfillment}."
        svc.fail(
            "FULFILLMENT_UNAVAILABLE",
            message,
            "Choose a different store or fulfillment_type.",
            offered=store["services"],
        )
    return store


def left(svc: Service, shop: Shop, row: Row, store: Row | None) -> int:
    """Return how many units are available, from the warehouse or from a store."""
    if store is None:
        return catalogue.online_stock(svc, shop, row)
    return stores.shelf(svc, shop, row, store)["quantity"]


def require_stock(svc: Service, shop: Shop, row: Row, store: Row | None, quantity: int) -> None:
    """Refuse a quantity above what is available or what one order may hold."""
    available = left(svc, shop, row, store)
    if available < quantity:
        where = f"at {store['name']}" if store else "online"
        if available == 0:
            code = "OUT_OF_STOCK"
            message = f"{row['title']} is out of stock {where}."
        else:
            code = "INSUFFICIENT_STOCK"
            message = f"Only {available} units of {row['title']} are left {where}."
        hint = (
            "Try a different fulfillment_type, a different store "
            f"(check with {shop.availability}), or a smaller quantity."
        )
        svc.fail(code, message, hint, product_id=row["id"], available=available)
    if quantity > row["per_order"]:
        message = f"{row['title']} is limited to {row['per_order']} per order."
        svc.fail(
            "QUANTITY_LIMIT_EXCEEDED",
            message,
            "Order a smaller quantity.",
            product_id=row["id"],
            limit=row["per_order"],
        )


def same_line(
    svc: Service,
    shop: Shop,
    product_id: str,
    fulfillment: str,
    store_id: str | None,
    own: Row | None = None,
) -> dict[str, Any] | None:
    """Return the line of a product with this fulfilment and store, or None.

    In a shop with a further column that tells lines of one product apart, the line must also agree
    with `own` in that column.
    """
    where = "product_id=? AND fulfillment=? AND store_id IS ?"
    for line in svc.db.rows(shop.lines, where, product_id, fulfillment, store_id):
        if not shop.apart or line[shop.apart] == (own or {}).get(shop.apart):
            return line
    return None


def together(
    svc: Service, shop: Shop, product_id: str, store_id: str | None, apart_from: str | None = None
) -> int:
    """Return how many units of a product all lines take from a store or from the warehouse.

    The line with the id `apart_from` does not count.
    """
    rows = svc.db.rows(shop.lines, "product_id=? AND store_id IS ?", product_id, store_id)
    return sum(line["quantity"] for line in rows if line["id"] != apart_from)


def find_line(svc: Service, shop: Shop, line_id: str) -> Row:
    """Return a line, or refuse."""
    row = svc.db.get(shop.lines, line_id)
    if row is None:
        message = f"There is no line with the ID {line_id!r}."
        svc.fail(
            "LINE_ITEM_NOT_FOUND",
            message,
            f"Use a line_item_id from {shop.view_cart}.",
            line_item_id=line_id,
        )
    return row


def put(
    svc: Service,
    shop: Shop,
    product_id: str,
    quantity: int,
    fulfillment: str,
    store: Row | None,
    **own: Any,
) -> None:
    """Add a product to the basket, or to its line if it already has one.

    `own` holds the shop's further columns as (value given, value of a new line if none was given).
    """
    row = catalogue.on_sale(svc, shop, product_id)
    where = store["id"] if store else None
    given_columns = {name: given for name, (given, _) in own.items()}
    line = same_line(svc, shop, product_id, fulfillment, where, given_columns)
    require_stock(svc, shop, row, store, quantity + together(svc, shop, product_id, where))
    if line:
        changed = {name: given for name, (given, _) in own.items() if given is not None}
        total = line["quantity"] + quantity
        svc.db.update(shop.lines, line["id"], quantity=total, **changed)
        return
    columns = {name: given or otherwise for name, (given, otherwise) in own.items()}
    line = {
        "id": svc.new_id(shop.ids + "l"),
        "product_id": product_id,
        "quantity": quantity,
        "fulfillment": fulfillment,
        "store_id": where,
        "added_at": svc.time,
    }
    svc.db.insert(shop.lines, line | columns)


def change(
    svc: Service,
    shop: Shop,
    line_id: str,
    quantity: int | None,
    fulfillment: str | None,
    store_id: str | None,
    usual: str | None,
) -> None:
    """Change a line's quantity, fulfilment or store."""
    line = find_line(svc, shop, line_id)
    how = fulfillment or line["fulfillment"]
    if not store_id:
        store_id = None if how == SHIPPING else line["store_id"]
    store = store_for(svc, shop, how, store_id, usual)
    where = store["id"] if store else None
    other = same_line(svc, shop, line["product_id"], how, where, line)
    if other and other["id"] != line["id"]:
        message = "Another line already has this product with that fulfillment and store."
        svc.fail(
            "DUPLICATE_LINE",
            message,
            "Change the quantity of that line instead.",
            line_item_id=other["id"],
        )
    quantity = quantity or line["quantity"]
    total = quantity + together(svc, shop, line["product_id"], where, line_id)
    require_stock(svc, shop, catalogue.on_sale(svc, shop, line["product_id"]), store, total)
    svc.db.update(shop.lines, line_id, quantity=quantity, fulfillment=how, store_id=where)


def gather(svc: Service, shop: Shop, fulfillment: str, store: Row | None) -> list[dict[str, Any]]:
    """Give every line the same fulfilment and store, merging lines of one product.

    Returns warnings about products that are not available that way in the quantity wanted.
    """
    merged: dict[tuple[str, str | None], dict[str, Any]] = {}
    for line in svc.db.rows(shop.lines, order="added_at, rowid"):
        first = merged.setdefault((line["product_id"], line.get(shop.apart)), line)
        if first is not line:
            first["quantity"] += line["quantity"]
            svc.db.delete(shop.lines, line["id"])
    where = store["id"] if store else None
    warnings = []
    for line in merged.values():
        available = left(svc, shop, catalogue.find_product(svc, shop, line["product_id"]), store)
        same_product = [x for x in merged.values() if x["product_id"] == line["product_id"]]
        wanted = sum(x["quantity"] for x in same_product)
        if available < wanted:
            warning = {
                "line_item_id": line["id"],
                "product_id": line["product_id"],
                "wanted": wanted,
                "available": available,
            }
            warnings.append(warning)
        svc.db.update(
            shop.lines,
            line["id"],
            fulfillment=fulfillment,
            store_id=where,
            quantity=line["quantity"],
        )
    return warnings


def lines(
    svc: Service, shop: Shop, price: Callable[[dict[str, Any], dict[str, Any] | None], int]
) -> list[Row]:
    """Return the lines with everything that pricing and coupon codes need.

    To its columns each line adds its product's `row`, its `store`, its `unit` price, the units
    `left`, its `net` price, and its item's `item_id`, `food`, `department` and `category`.
    """
    basket = svc.db.rows(shop.lines, order="added_at, rowid")
    for line in basket:
        row = catalogue.find_product(svc, shop, line["product_id"])
        store = stores.find_store(svc, shop, line["store_id"]) if line["store_id"] else None
        item = catalogue.item_of(svc, row)
        unit = price(row, store)
        line |= {
            "row": row,
            "store": store,
            "unit": unit,
            "left": left(svc, shop, row, store),
            "net": unit * line["quantity"],
            "item_id": row["item_id"],
            "food": item["food"],
            "department": item["department"],
            "category": item["category"],
        }
    return basket


def line_json(line: Row) -> Json:
    """Return the part of a line's JSON that all shops share."""
    return {
        "line_item_id": line["id"],
        "product_id": line["product_id"],
        "name": line["row"]["title"],
        "quantity": line["quantity"],
        "unit_price": line["unit"],
        "line_total": line["net"],
        "fulfillment_type": line["fulfillment"],
        "store_id": line["store_id"],
        "in_stock": line["left"] >= line["quantity"],
    }


def require_one_way(svc: Service, shop: Shop, basket: list[Row], empty: str, tool: str) -> None:
    """Refuse an empty basket, lines that differ in fulfilment or store, and short stock.

    `empty` is the shop's code for an empty basket; `tool` is the one that gives all lines the same
    fulfilment.
    """
    if not basket:
        svc.fail(
            empty,
            "There is nothing to order.",
            f"Add products with {shop.add}. {shop.orders} shows the orders already placed.",
        )
    if len({(line["fulfillment"], line["store_id"]) for line in basket}) > 1:
        message = "The lines have different fulfillment types or stores."
        svc.fail(
            "MIXED_FULFILLMENT",
            message,
            f"Use {tool} to give them all the same, or order them separately.",
        )
    for line in basket:
        total = together(svc, shop, line["product_id"], line["store_id"])
        require_stock(
            svc, shop, catalogue.on_sale(svc, shop, line["product_id"]), line["store"], total
        )


def require_reach(svc: Service, shop: Shop, store: Row, address: dict[str, Any]) -> None:
    """Refuse a delivery from a store to an address in another city."""
    if (address["city"].casefold(), address["state"]) != (store["city"].casefold(), store["state"]):
        message = f"{store['name']} does not deliver to {address['city']}, {address['state']}."
        svc.fail(
            "DELIVERY_UNAVAILABLE",
            message,
            f"Find a store in that city with {shop.stores}, or choose shipping.",
            store_id=store["id"],
        )
