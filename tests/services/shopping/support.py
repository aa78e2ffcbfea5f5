"""What the tests of the shops share: calls that must succeed or be refused, carts, orders and pages."""

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
EASTPORT = at("wms", "eastport")
HOLLYWOOD = at("tgs", "hollywood")


async def add(
    session: Session, shop: str, key: str, quantity: int = 1, **more: Any
) -> dict[str, Any]:
    tool = {"amazon": "add_to_cart", "walmart": "add_item_to_basket", "target": "put_in_cart"}[shop]
    return await call_ok(
        session, shop, tool, product_id=at(PREFIX[shop] + "p", key), quantity=quantity, **more
    )


async def order(session: Session, shop: str, pay: str = "visa", **more: Any) -> dict[str, Any]:
    tool = {"amazon": "place_order", "walmart": "submit_order", "target": "checkout_order"}[shop]
    if shop == "amazon":
        more.setdefault("address_id", at("aza", "home"))
    return await call_ok(session, shop, tool, payment_method_id=at(PREFIX[shop] + "m", pay), **more)


async def see(session: Session, shop: str, order_id: str) -> dict[str, Any]:
    found = await call_ok(session, shop, GET[shop], order_id=order_id)
    return found | found.get("pricing", {})


async def slots(session: Session, available: bool = True) -> list[dict[str, Any]]:
    return (
        await call_ok(
            session,
            "walmart",
            "get_pickup_slots",
            store_id=EASTPORT,
            available_only=available,
            limit=100,
        )
    )["slots"]


def shelf(session: Session, key: str, quantity: int) -> None:
    place = f"{EASTPORT}:{at('wmp', key)}"
    if session.world.get("walmart_shelves", place) is None:
        session.world.insert(
            "walmart_shelves",
            {"id": place, "store_id": EASTPORT, "product_id": at("wmp", key), "quantity": quantity},
        )
    else:
        session.world.update("walmart_shelves", place, quantity=quantity)
    session.world.commit()


async def emptied(session: Session) -> Session:
    """Take everything out of the Target cart and return the session."""
    for line in (await call_ok(session, "target", "view_cart"))["items"]:
        await call_ok(session, "target", "pull_from_cart", line_item_id=line["line_item_id"])
    return session
