"""What baskets of shops with stores have in common: lines by product and fulfilment, the store that they come from, stock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from servers.kit.service import Service
from servers.shopping import _catalogue as catalogue
from servers.shopping import _stores as stores
from servers.shopping._rules import Shop

LINE = "id:str product_id:str quantity:int fulfillment:str store_id:str? added_at:str"
SHIPPING = "shipping"


def store_for(
    svc: Service, shop: Shop, fulfillment: str, store_id: str | None, usual: str | None
) -> dict[str, Any] | None:
    """Return the store that an item comes from (None for shipping), or refuse one that does not offer this."""
    if fulfillment == SHIPPING:
        if store_id is not None:
            message = "What is shipped comes from no store."
            svc.fail(
                "STORE_NOT_NEEDED",
                message,
                "Leave store_id out, or pass another fulfillment_type with it.",
                store_id=store_id,
            )
        return None
    chosen = store_id or usual
    if chosen is None:
        message = f"{fulfillment} needs a store."
        svc.fail(
            "STORE_REQUIRED",
            message,
            f"Pass a store_id from {shop.stores} or choose one with {shop.set_store}.",
        )
    store = stores.open_store(svc, shop, chosen)
    if fulfillment not in store["services"]:
        message = f"{store['name']} offers no {fulfillment}."
        svc.fail(
            "FULFILLMENT_UNAVAILABLE",
            message,
            "Choose another store or another fulfillment_type.",
            offered=store["services"],
        )
    return store


def left(svc: Service, shop: Shop, row: dict[str, Any], store: dict[str, Any] | None) -> int:
    """Return how many can be had, from the warehouse or from a store."""
    return (
        catalogue.online_stock(svc, shop, row)
        if store is None
        else stores.shelf(svc, shop, row, store)["quantity"]
    )


def require_stock(
    svc: Service, shop: Shop, row: dict[str, Any], store: dict[str, Any] | None, quantity: int
) -> None:
    """Refuse more than there is or than one order may hold."""
    found = left(svc, shop, row, store)
    if found < quantity:
        where = f"at {store['name']}" if store else "online"
        code, text = (
            ("OUT_OF_STOCK", "is out of stock")
            if found == 0
            else ("INSUFFICIENT_STOCK", f"is left {found} times")
        )
        hint = f"Try another fulfillment_type, another store ({shop.availability}), or fewer."
        svc.fail(
            code, f"{row['title']} {text} {where}.", hint, product_id=row["id"], available=found
        )
    if quantity > row["per_order"]:
        message = f"{row['title']} is limited to {row['per_order']} in one order."
        svc.fail(
            "QUANTITY_LIMIT_EXCEEDED",
            message,
            "Order fewer.",
            product_id=row["id"],
            limit=row["per_order"],
        )


def same(
    svc: Service,
    shop: Shop,
    product_id: str,
    fulfillment: str,
    store_id: str | None,
    own: dict[str, Any] | None = None,
) -> dict[str, Any] | None:
    """Return the line of a product with this fulfilment and store, and with what `own` says in the column that tells lines apart."""
    found = svc.db.rows(
        shop.lines,
        "product_id=? AND fulfillment=? AND store_id IS ?",
        product_id,
        fulfillment,
        store_id,
    )
    return next(
        (x for x in found if not shop.apart or x[shop.apart] == (own or {}).get(shop.apart)), None
    )


def together(
    svc: Service, shop: Shop, product_id: str, store_id: str | None, but: str | None = None
) -> int:
    """Return how many of a product all lines ask of a store or of the warehouse, one line aside."""
    found = svc.db.rows(shop.lines, "product_id=? AND store_id IS ?", product_id, store_id)
    return sum(x["quantity"] for x in found if x["id"] != but)


def find_line(svc: Service, shop: Shop, line_id: str) -> dict[str, Any]:
    """Return a line, or refuse."""
    row = svc.db.get(shop.lines, line_id)
    if row is None:
        message = f"There is no line {line_id!r}."
        svc.fail(
            "LINE_ITEM_NOT_FOUND",
            message,
            f"Take a line_item_id from {shop.view_cart}.",
            line_item_id=line_id,
        )
    return row


def put(
    svc: Service,
    shop: Shop,
    product_id: str,
    quantity: int,
    fulfillment: str,
    store: dict[str, Any] | None,
    **own: Any,
) -> None:
    """Add a product, to its line where there is one; `own` are the shop's further columns: what was said, and what holds otherwise."""
    row = catalogue.on_sale(svc, shop, product_id)
    where = store["id"] if store else None
    line = same(svc, shop, product_id, fulfillment, where, {k: v[0] for k, v in own.items()})
    total = quantity + (line["quantity"] if line else 0)
    require_stock(svc, shop, row, store, quantity + together(svc, shop, product_id, where))
    if line:
        svc.db.update(
            shop.lines,
            line["id"],
            quantity=total,
            **{k: v[0] for k, v in own.items() if v[0] is not None},
        )
        return
    made = {
        "id": svc.new_id(shop.ids + "l"),
        "product_id": product_id,
        "quantity": quantity,
        "fulfillment": fulfillment,
    }
    svc.db.insert(
        shop.lines,
        made
        | {"store_id": where, "added_at": svc.time}
        | {k: v[0] or v[1] for k, v in own.items()},
    )


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
    store = store_for(
        svc, shop, how, store_id or (None if how == SHIPPING else line["store_id"]), usual
    )
    where = store["id"] if store else None
    other = same(svc, shop, line["product_id"], how, where, line)
    if other and other["id"] != line["id"]:
        message = "Another line holds this product for that fulfilment and store."
        svc.fail(
            "DUPLICATE_LINE", message, "Change its quantity instead.", line_item_id=other["id"]
        )
    total = (quantity or line["quantity"]) + together(svc, shop, line["product_id"], where, line_id)
    require_stock(svc, shop, catalogue.on_sale(svc, shop, line["product_id"]), store, total)
    svc.db.update(
        shop.lines, line_id, quantity=quantity or line["quantity"], fulfillment=how, store_id=where
    )


def gather(
    svc: Service, shop: Shop, fulfillment: str, store: dict[str, Any] | None
) -> list[dict[str, Any]]:
    """Give every line one fulfilment, lines of one product becoming one; return warnings about what cannot be had that way."""
    kept: dict[tuple[str, str | None], dict[str, Any]] = {}
    for line in svc.db.rows(shop.lines, order="added_at, rowid"):
        first = kept.setdefault((line["product_id"], line.get(shop.apart)), line)
        if first is not line:
            first["quantity"] += line["quantity"]
            svc.db.delete(shop.lines, line["id"])
    warnings = []
    for line in kept.values():
        have = left(svc, shop, catalogue.find_product(svc, shop, line["product_id"]), store)
        wanted = sum(x["quantity"] for x in kept.values() if x["product_id"] == line["product_id"])
        if have < wanted:
            told = {
                "line_item_id": line["id"],
                "product_id": line["product_id"],
                "wanted": wanted,
                "available": have,
            }
            warnings.append(told)
        where = store["id"] if store else None
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
) -> list[dict[str, Any]]:
    """Return the lines, each with its product's `row`, its `store`, `unit` price, `left`, `net` and what codes ask for."""
    found = svc.db.rows(shop.lines, order="added_at, rowid")
    for line in found:
        row = catalogue.find_product(svc, shop, line["product_id"])
        store = stores.find_store(svc, shop, line["store_id"]) if line["store_id"] else None
        what = catalogue.item_of(svc, row)
        line |= {
            "row": row,
            "store": store,
            "unit": price(row, store),
            "left": left(svc, shop, row, store),
        }
        line |= {
            "net": line["unit"] * line["quantity"],
            "item_id": row["item_id"],
            "food": what["food"],
        }
        line |= {"department": what["department"], "category": what["category"]}
    return found


def line_json(line: dict[str, Any]) -> dict[str, Any]:
    """Return what every shop shows of a line."""
    shown = {
        "line_item_id": line["id"],
        "product_id": line["product_id"],
        "name": line["row"]["title"],
        "quantity": line["quantity"],
    }
    shown |= {
        "unit_price": line["unit"],
        "line_total": line["net"],
        "fulfillment_type": line["fulfillment"],
    }
    return shown | {"store_id": line["store_id"], "in_stock": line["left"] >= line["quantity"]}


def require_one_way(
    svc: Service, shop: Shop, found: list[dict[str, Any]], empty: str, tool: str
) -> None:
    """Refuse to order nothing, lines that differ in fulfilment or store, and what is short."""
    if not found:
        svc.fail(
            empty,
            "There is nothing to order.",
            f"Add products with {shop.add}; {shop.orders} shows what was ordered already.",
        )
    if len({(line["fulfillment"], line["store_id"]) for line in found}) > 1:
        message = "The lines differ in fulfilment or store."
        svc.fail(
            "MIXED_FULFILLMENT",
            message,
            f"Make them one with {tool}, or take lines out and order them apart.",
        )
    for line in found:
        total = together(svc, shop, line["product_id"], line["store_id"])
        require_stock(
            svc, shop, catalogue.on_sale(svc, shop, line["product_id"]), line["store"], total
        )


def require_reach(svc: Service, shop: Shop, store: dict[str, Any], address: dict[str, Any]) -> None:
    """Refuse a delivery from a store to another city."""
    if (address["city"].casefold(), address["state"]) != (store["city"].casefold(), store["state"]):
        message = f"{store['name']} does not deliver to {address['city']}, {address['state']}."
        svc.fail(
            "DELIVERY_UNAVAILABLE",
            message,
            f"Choose a store in that city with {shop.stores}, or shipping.",
            store_id=store["id"],
        )
