"""Helpers for the Instacart tests: ids, calls, a checkout, and passing time."""

from __future__ import annotations

from typing import Any

from servers.kit.session import Session
from servers.kit.values import parse_time
from tests import support
from tests.support import at

HOUR = 3600
DAY = 86_400
STORE = at("ics", "new_seasons")
CART = at("icc", "weekly")
RECENT = at("ico", "recent")
MILK = at("icp", "oat-milk-meadowlark-64")
EGGS = at("icp", "eggs-north-barn-1")
LOAF = at("icp", "bread-copperpot-24")
CHEDDAR = at("icp", "cheddar-north-barn-8")


async def call(session: Session, tool: str, **args: Any) -> dict[str, Any]:
    return await support.call_ok(session, "instacart", tool, **args)


async def refused(session: Session, tool: str, **args: Any) -> dict[str, Any]:
    return await support.call_refused(session, "instacart", tool, **args)


async def slot(session: Session, store: str = STORE, **args: Any) -> dict[str, Any]:
    reply = await call(session, "get_delivery_slots", store_id=store, **args)
    return next(s for s in reply["slots"] if s["available"])


async def checkout(session: Session, cart: str = CART, **args: Any) -> dict[str, Any]:
    said = {
        "cart_id": cart,
        "address_id": at("ica", "home"),
        "payment_method_id": at("icm", "visa"),
    }
    if "delivery_window_id" not in args:
        args["delivery_window_id"] = (await slot(session))["window_id"]
    return await call(session, "checkout", **said | args)


async def everything(session: Session, tool: str, items: str, **args: Any) -> list[dict[str, Any]]:
    return await support.pages(session, "instacart", tool, items, limit=100, **args)


def until(session: Session, moment: str, more: int = 0) -> None:
    session.pass_time(max(0, parse_time(moment) - session.control.now + more))
