"""A scripted model for a shipped scenario that has faults and holds a service back."""

from __future__ import annotations

import json
from typing import Any

from tests.harness.fake_endpoint import Step, call, calls, say
from tests.harness.wires import Wire
from tests.harness.wires.chat import Chat

SCENARIO = "recovery/cascade/zelle_down_venmo_drops"
NOTE = {"amount": 45, "note": "Miso Thursday"}


class Careful:
    """A model that does the task well.

    It checks after each payment, goes to Venmo when Zelle fails, and pays again if nothing arrived.
    `tool` is how the agent calls a service's tool. If `locked`, the service that is held back is
    listed from the start.
    """

    def __init__(
        self, wire: Wire | None = None, tool: str = "{service}__{tool}", *, locked: bool = False
    ) -> None:
        self.wire = wire or Chat()
        self.tool = tool
        self.locked = locked

    def __call__(self, body: dict[str, Any], number: int) -> Step:
        zelle = self.tool.format(service="zelle", tool="")
        venmo = self.tool.format(service="venmo", tool="")
        done = []
        latest: dict[str, Any] = {}
        for line in self.wire.lines(body):
            if line.role == "result":
                done.append(line.of)
                latest[line.of] = object_in(line.text)[0] or {}
        offered = self.wire.offered(body)
        if f"{zelle}list_recipients" not in done:
            assert self.locked or f"{venmo}send_money" not in offered
            return call(f"{zelle}list_recipients")
        if f"{zelle}send_transfer" not in done:
            recipient = _named(latest[f"{zelle}list_recipients"]["recipients"])
            return call(f"{zelle}send_transfer", contact_id=recipient, **NOTE)
        if f"{zelle}list_transfers" not in done:
            return call(f"{zelle}list_transfers", limit=5)
        if f"{venmo}list_friends" not in done:
            assert f"{venmo}send_money" in offered
            return calls((f"{venmo}list_friends", {}), (f"{venmo}list_funding_sources", {}))
        if done[-1] == f"{venmo}send_money":
            return call(f"{venmo}list_transactions", limit=5)
        payments = latest.get(f"{venmo}list_transactions", {}).get("transactions", [])
        if not any(payment["note"] == NOTE["note"] for payment in payments):
            sources = latest[f"{venmo}list_funding_sources"]["sources"]
            source = next(s["source_id"] for s in sources if s["last4"] == "4421")
            friend = _named(latest[f"{venmo}list_friends"]["friends"])
            pay = {"contact_id": friend, "funding_source_id": source, **NOTE}
            return call(f"{venmo}send_money", **pay)
        return say(
            "Hannah has her $45, by Venmo from checking. Zelle only failed, and nothing left there."
        )


def object_in(text: str) -> tuple[Any, str]:
    """Return the object in a result, whatever stands around it, and its JSON; None without one."""
    start = text.find("{")
    if start < 0:
        return None, ""
    try:
        found, length = json.JSONDecoder().raw_decode(text[start:])
    except ValueError:
        return None, ""
    return found, text[start : start + length]


def _named(people: list[dict[str, Any]]) -> str:
    return next(p["contact_id"] for p in people if p["name"] == "Hannah Cole")
