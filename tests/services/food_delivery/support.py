"""What the tests of food delivery share: both apps' tools by purpose, and orders."""

from __future__ import annotations

from typing import Any

import pytest

from servers.food_delivery.uber_eats.groceries import BASKET
from servers.kit.control import make_id
from servers.kit.noise import share
from servers.kit.session import Session
from tests.support import START, call_ok

MINUTE = 60
HOUR = 3600
DAY = 86_400
OPEN = {"uber_eats": "search_restaurants", "doordash": "search_stores"}
PLACE = {"uber_eats": "submit_food_order", "doordash": "place_dash"}
QUOTE = {"uber_eats": "get_order_quote", "doordash": "preview_dash"}
GET = {"uber_eats": "get_order", "doordash": "get_dash"}
TRACK = {"uber_eats": "track_order", "doordash": "track_dash"}
CANCEL = {"uber_eats": "cancel_food_order", "doordash": "cancel_dash"}
RATE = {"uber_eats": "rate_order", "doordash": "rate_dash"}
MENU = {"uber_eats": ("get_menu", "items"), "doordash": ("get_store_menu", "menu")}
IDS = {
    "uber_eats": ("uer", "uei", "uex", "uea", "uep", "uef", "ueo"),
    "doordash": ("ddr", "ddi", "ddx", "dda", "ddp", "ddf", "ddo"),
}
both = pytest.mark.parametrize("app", ["uber_eats", "doordash"])
STORE = BASKET["store_id"]


def at(app: str, kind: int, key: str) -> str:
    """Return the id of a seeded row of Maya's.

    Kinds are restaurant, item, option, address, card, promotion and order.
    """
    return make_id(IDS[app][kind], "maya", key)


def coffee(app: str, lattes: int = 2, cookies: int = 1, **more: Any) -> dict[str, Any]:
    """Return an order of lattes and oat cookies to Maya's home.

    Both providers deliver it at nine on a Saturday.
    """
    latte = {
        "item_id": at(app, 1, "hazel_hawthorne/latte"),
        "quantity": lattes,
        "selected_options": [at(app, 2, "size/large")],
    }
    cookie = {"item_id": at(app, 1, "hazel_hawthorne/oat-cookie"), "quantity": cookies}
    return {
        "restaurant_id": at(app, 0, "hazel_hawthorne"),
        "delivery_address_id": at(app, 3, "home"),
        "items": [latte, cookie],
        **more,
    }


def paid(app: str, **more: Any) -> dict[str, Any]:
    return coffee(app) | {"payment_method_id": at(app, 4, "visa"), "tip": 3} | more


async def order(session: Session, app: str, **more: Any) -> dict[str, Any]:
    return await call_ok(session, app, PLACE[app], **paid(app, **more))


async def out_soon(session: Session) -> dict[str, Any]:
    """Pass time until shortly before an item of the co-op runs out for hours; return the item."""
    in_stock = "restaurant_id=? AND scarce=1 AND out_since IS NULL"
    goods = session.world.rows("uber_eats_items", in_stock, STORE, order="id")

    def there(item: dict[str, Any], span: int) -> bool:
        return share("stock", item["id"], span) >= 0.35

    for span in range(START // 5400 + 1, START // 5400 + 6):
        for item in goods:
            if there(item, span - 1) and not there(item, span) and not there(item, span + 1):
                session.pass_time(span * 5400 - 60 - session.control.now)
                return item
    raise AssertionError("nothing at the co-op runs out")
