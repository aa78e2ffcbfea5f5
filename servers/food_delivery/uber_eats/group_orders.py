"""Group orders: several people choose from one menu, then the host orders for everyone."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

from pydantic import Field

from servers.food_delivery import _catalogue as catalogue
from servers.food_delivery import _orders as orders
from servers.food_delivery import _pricing as pricing
from servers.food_delivery import _rules as rules
from servers.food_delivery._catalogue import Items, RestaurantId
from servers.food_delivery._rules import AddressId, MethodId, Tip
from servers.food_delivery.uber_eats._model import TARIFF, WORDS, confirm, order_json
from servers.food_delivery.uber_eats.ordering import BREAKFAST, PAID
from servers.kit.listing import Listing, Since, Until
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, dollars, iso, page, parse_time

GroupId = Annotated[
    str, Field(description="group_order_id, from create_group_order or list_group_orders.")
]
Participant = Annotated[
    str,
    Field(
        min_length=1, max_length=60, description="Name of the participant within the group order."
    ),
]
Minutes = Annotated[
    int, Field(ge=5, le=240, description="Minutes in which items can be added (5 to 240).")
]
GRACE = 7200
"""Seconds after the deadline during which the host can still order."""
START = Setup("create_group_order", {"restaurant_id": PAID["restaurant_id"]}, "group")
JOIN = Setup(
    "join_group_order",
    {"group_order_id": "${group.group_order_id}", "participant_name": "Ana Reyes"},
)
ADD = Setup(
    "add_group_order_items",
    {
        "group_order_id": "${group.group_order_id}",
        "participant_name": "Ana Reyes",
        "items": BREAKFAST["items"],
    },
)


class GroupOrders(Service):
    """One order for several people."""

    @writes(example=START.args)
    def create_group_order(
        self, restaurant_id: RestaurantId, deadline_minutes: Minutes = 30
    ) -> Json:
        """Start a group order at an open restaurant, and return it with its group_order_id.

        You are the host and the first participant. Others join and add items until deadline_at; the
        host orders for everyone with finalize_group_order, at most two hours later.
        """
        place = catalogue.find_place(self, WORDS, restaurant_id)
        pricing.check_open(self, WORDS, place)
        host = self.db.rows("uber_eats_profile")[0]["name"]
        group_id = self.new_id("ueg")
        row = {
            "id": group_id,
            "restaurant_id": place["id"],
            "host": host,
            "created_at": self.time,
            "deadline_at": iso(self.now + deadline_minutes * 60),
        }
        self.db.insert("uber_eats_groups", row)
        self._add_member(group_id, host)
        return self._group_json(self._find(group_id))

    def _add_member(self, group_id: str, name: str) -> None:
        member_id = self.new_id("uem")
        row = {"id": member_id, "group_id": group_id, "name": name, "joined_at": self.time}
        self.db.insert("uber_eats_group_members", row)

    @writes(example=JOIN.args, setup=(START,))
    def join_group_order(self, group_order_id: GroupId, participant_name: Participant) -> Json:
        """Join an open group order under a name that is not taken yet, and return it."""
        row = self._open(group_order_id)
        name = " ".join(participant_name.split())
        if not name or self._member(row, name) is not None:
            message = f"There is already a participant named {name!r}."
            hint = "Add items under that name, or join under another one."
            self.fail("PARTICIPANT_EXISTS", message, hint, group_order_id=group_order_id)
        self._add_member(row["id"], name)
        return self._group_json(row)

    @writes(example=ADD.args, setup=(START, JOIN))
    def add_group_order_items(
        self, group_order_id: GroupId, participant_name: Participant, items: Items
    ) -> Json:
        """Add items for a participant before the deadline, at current prices.

        Returns the group order with everyone's subtotal.
        """
        row = self._open(group_order_id)
        member = self._member(row, participant_name)
        if member is None:
            message = f"There is no participant named {participant_name!r}."
            names = ", ".join(m["name"] for m in self._members(row))
            hint = f"Join first with join_group_order; participants: {names}."
            self.fail("PARTICIPANT_NOT_FOUND", message, hint, group_order_id=group_order_id)
        place = catalogue.find_place(self, WORDS, row["restaurant_id"])
        for line in pricing.priced(self, WORDS, place, items, self.now):
            keys = {"id": self.new_id("uel"), "group_id": row["id"], "member": member["name"]}
            self.db.insert("uber_eats_group_items", keys | line)
        return self._group_json(row)

    @writes(
        example={"group_order_id": "${group.group_order_id}", "participant_name": "Ana Reyes"},
        setup=(START, JOIN, ADD),
    )
    def clear_group_order_items(
        self, group_order_id: GroupId, participant_name: Participant
    ) -> Json:
        """Remove all items of a participant before the deadline, and return the group order."""
        row = self._open(group_order_id)
        member = self._member(row, participant_name)
        items = [] if member is None else self._items_of(row, member)
        if not items:
            message = f"{participant_name!r} has no items in this group order."
            hint = "get_group_order shows who has chosen what."
            self.fail("NO_ITEMS", message, hint, group_order_id=group_order_id)
        for item in items:
            self.db.delete("uber_eats_group_items", item["id"])
        return self._group_json(row)

    @reads(example={"group_order_id": "${group.group_order_id}"}, setup=(START,))
    def get_group_order(self, group_order_id: GroupId) -> Json:
        """Return a group order with its participants, their items and subtotals, and its status.

        The status is open, locked (after the deadline), ordered or expired.
        """
        return self._group_json(self._find(group_order_id))

    @reads()
    def list_group_orders(
        self,
        from_date: Since | None = None,
        to_date: Until | None = None,
        limit: Limit = 10,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return your group orders, newest first."""
        rows = Listing(self.db, "uber_eats_groups", by="created_at")
        rows = rows.days(from_date, to_date, rules.zone(self, WORDS))
        return page(rows, "group_orders", limit, cursor, self._group_json)

    @writes(
        example={
            "group_order_id": "${group.group_order_id}",
            "tip": 4,
            "delivery_address_id": PAID["delivery_address_id"],
            "payment_method_id": PAID["payment_method_id"],
        },
        setup=(START, JOIN, ADD),
        destructive=True,
    )
    def finalize_group_order(
        self,
        group_order_id: GroupId,
        delivery_address_id: AddressId,
        payment_method_id: MethodId,
        tip: Tip = 0,
    ) -> Json:
        """Order everyone's items in one delivery on one card, and return the order.

        This works before the deadline and for two hours after it. Prices are those at which the
        items were added. It is refused if an item is sold out or the restaurant is closed.
        """
        row = self._find(group_order_id)
        if self._status(row) not in ("open", "locked"):
            self._closed(row)
        items = self._items(row)
        if not items:
            message = "Nobody has added any items yet."
            hint = "Add items with add_group_order_items first."
            self.fail("GROUP_ORDER_EMPTY", message, hint, group_order_id=group_order_id)
        place = catalogue.find_place(self, WORDS, row["restaurant_id"])
        address = rules.find_address(self, WORDS, delivery_address_id)
        # A draft at current prices makes all the checks of an order. The order itself then has the
        # prices at which the items were added.
        wanted = [
            {"item_id": i["item_id"], "quantity": i["quantity"], "selected_options": i["options"]}
            for i in items
        ]
        today = pricing.draft(self, WORDS, TARIFF, place, wanted, address, tip=tip)
        lines = [_line(item) for item in items]
        cost = pricing.price(
            TARIFF,
            place,
            pricing.subtotal(lines),
            catalogue.distance(place, address) or 0.0,
            self.now,
            member=rules.membership(self, WORDS) is not None,
            discount=0,
            tip=tip,
        )
        draft = dataclasses.replace(today, lines=lines, price=cost)
        order = orders.submit(self, WORDS, draft, payment_method_id, group_id=row["id"])
        self.db.update("uber_eats_groups", row["id"], order_id=order["id"])
        confirm(self, order)
        return order_json(self, order)

    # -- rows --------------------------------------------------------------------------------------
    def _find(self, group: str) -> Row:
        row = self.db.get("uber_eats_groups", group)
        if row is None:
            message = f"There is no group order with the ID {group!r}."
            hint = "Use a group_order_id from list_group_orders."
            self.fail("GROUP_ORDER_NOT_FOUND", message, hint, group_order_id=group)
        return row

    def _open(self, group: str) -> dict[str, Any]:
        row = self._find(group)
        if self._status(row) != "open":
            self._closed(row)
        return row

    def _closed(self, row: Row) -> None:
        state = self._status(row)
        hint = "Start another one with create_group_order."
        if state == "locked":
            hint = (
                "Its deadline has passed, but the host can still order with finalize_group_order."
            )
        message = f"Group order {row['id']} is {state}."
        self.fail("GROUP_ORDER_CLOSED", message, hint, group_order_id=row["id"], status=state)

    def _status(self, row: Row) -> str:
        if row["order_id"] is not None:
            return "ordered"
        if self.time < row["deadline_at"]:
            return "open"
        return "locked" if self.now < parse_time(row["deadline_at"]) + GRACE else "expired"

    def _members(self, row: Row) -> list[Row]:
        order = "joined_at, rowid"
        return self.db.rows("uber_eats_group_members", "group_id=?", row["id"], order=order)

    def _member(self, row: Row, name: str) -> dict[str, Any] | None:
        wanted = " ".join(name.split()).casefold()
        return next((m for m in self._members(row) if m["name"].casefold() == wanted), None)

    def _items(self, row: Row) -> list[Row]:
        return self.db.rows("uber_eats_group_items", "group_id=?", row["id"], order="rowid")

    def _items_of(self, row: Row, member: Row) -> list[dict[str, Any]]:
        return [item for item in self._items(row) if item["member"] == member["name"]]

    def _member_json(self, row: Row, member: Row) -> Json:
        items = self._items_of(row, member)
        return {
            "participant_name": member["name"],
            "items": [orders.line_json(self, WORDS, item) for item in items],
            "subtotal": dollars(pricing.subtotal(items)),
        }

    def _group_json(self, row: Row) -> Json:
        place = catalogue.find_place(self, WORDS, row["restaurant_id"])
        return {
            "group_order_id": row["id"],
            "restaurant_id": place["id"],
            "restaurant_name": place["name"],
            "host": row["host"],
            "status": self._status(row),
            "created_at": row["created_at"],
            "deadline_at": row["deadline_at"],
            "participants": [self._member_json(row, m) for m in self._members(row)],
            "subtotal": dollars(pricing.subtotal(self._items(row))),
            "order_id": row["order_id"],
        }


def _line(item: Row) -> dict[str, Any]:
    """Return an item of a group order as a line of the order."""
    columns = ("item_id", "name", "quantity", "unit_price", "options", "instructions")
    return {column: item[column] for column in columns} | {"participant": item["member"]}
