"""What the tests of the shops share: adding to carts, ordering, stores' shelves and slots."""

from __future__ import annotations

from typing import Any

from servers.kit.session import Session
from tests.support import at, call_ok

HOUR = 3600
DAY = 86_400
SHOPS = ("amazon", "walmart", "target")
PREFIX = {"amazon": "az", "walmart": "wm", "target": "tg"}
LIST = {"amazon": "list_orders", "walmart": "list_purchases", "target": "list_order_history"}
GET = {"amazon": "get_order_details", "walmart": "get_purchase_details", "target": "get_order_info"}
CANCEL = {"amazon": "cancel_order", "walmart": "cancel_purchase", "target": "void_order"}
ADD = {"amazon": "add_to_cart", "walmart": "add_item_to_basket", "target": "put_in_cart"}
ORDER = {"amazon": "place_order", "walmart": "submit_order", "target": "checkout_order"}
SEARCH = {"amazon": "search_products", "walmart": "browse_products", "target": "search_merchandise"}
EASTPORT = at("wms", "eastport")
HOLLYWOOD = at("tgs", "hollywood")


async def add(
    session: Session, shop: str, key: str, quantity: int = 1, **more: Any
) -> dict[str, Any]:
    """Add a product to the cart and return the cart."""
    product_id = at(PREFIX[shop] + "p", key)
    return await call_ok(session, shop, ADD[shop], product_id=product_id, quantity=quantity, **more)


async def order(session: Session, shop: str, pay: str = "visa", **more: Any) -> dict[str, Any]:
    """Order what is in the cart and return the order."""
    if shop == "amazon":
        more.setdefault("address_id", at("aza", "home"))
    method_id = at(PREFIX[shop] + "m", pay)
    return await call_ok(session, shop, ORDER[shop], payment_method_id=method_id, **more)


async def see(session: Session, shop: str, order_id: str) -> dict[str, Any]:
    """Return an order with its sums on the top level, where Amazon has them under `pricing`."""
    shown = await call_ok(session, shop, GET[shop], order_id=order_id)
    return shown | shown.get("pricing", {})


async def slots(session: Session, available: bool = True) -> list[dict[str, Any]]:
    """Return the pickup slots of the Walmart store at Eastport."""
    reply = await call_ok(
        session,
        "walmart",
        "get_pickup_slots",
        store_id=EASTPORT,
        available_only=available,
        limit=100,
    )
    return reply["slots"]


def shelf(session: Session, key: str, quantity: int) -> None:
    """Put units of a product on its shelf in the Walmart store at Eastport."""
    product_id = at("wmp", key)
    shelf_id = f"{EASTPORT}:{product_id}"
    if session.world.get("walmart_shelves", shelf_id) is None:
        row = {
            "id": shelf_id,
            "store_id": EASTPORT,
            "product_id": product_id,
            "quantity": quantity,
        }
        session.world.insert("walmart_shelves", row)
    else:
        session.world.update("walmart_shelves", shelf_id, quantity=quantity)
    session.world.commit()


async def emptied(session: Session) -> Session:
    """Take everything out of the Target cart and return the session."""
    for line in (await call_ok(session, "target", "view_cart"))["items"]:
        await call_ok(session, "target", "pull_from_cart", line_item_id=line["line_item_id"])
    return session
