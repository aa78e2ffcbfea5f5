"""Stores and what they sell."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field, with_config
from typing_extensions import TypedDict

from servers.kit import search
from servers.kit.control import make_id, seeded
from servers.kit.geo import Latitude, Longitude, miles
from servers.kit.service import Service, reads
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Date, Limit, iso, page, parse_time
from servers.kit.zones import local
from servers.shopping.instacart import _inventory as stock
from servers.shopping.instacart._model import (
    Category,
    ProductId,
    StoreId,
    find_product,
    find_store,
    product_json,
)


@with_config(extra="forbid")
class Location(TypedDict):
    """A point on the map."""

    lat: Latitude
    lng: Longitude


Here = Annotated[
    Location,
    Field(
        description="Where to deliver, as lat and lng, e.g. of an address from "
        "list_drop_off_addresses."
    ),
]
StoreType = Annotated[
    Literal["supermarket", "co_op", "international", "warehouse", "pharmacy", "pet_supplies"],
    Field(description="Only stores of this type."),
]
StoreWords = Annotated[
    str, Field(max_length=80, description="Words from a store's name or street.")
]
ItemWords = Annotated[
    str,
    Field(
        max_length=80, description="Words from a product's name, brand or category; all must match."
    ),
]
InStock = Annotated[bool, Field(description="false includes products that are out of stock.")]
RADIUS = 15.0
"""How far a store delivers, in miles."""
CAPACITY = 10
"""How many orders a slot takes."""
AHEAD = 15
"""For how many days slots are offered."""
CUTOFF = 5400
"""How long before its start a slot closes, in seconds."""
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class Stores(Service):
    """Stores, products and delivery slots."""

    def _store_json(self, row: Row) -> Json:
        return {
            "store_id": row["id"],
            "name": row["name"],
            "store_type": row["store_type"],
            "address": f"{row['street']}, {row['city']}, {row['state']} {row['zip']}",
            "rating": row["rating"],
            "is_open": stock.is_open(row, self.now),
            "delivery_fee": row["delivery_fee"],
            "min_order": row["min_order"],
        }

    @reads(example={"location": {"lat": 45.5181, "lng": -122.6431}})
    def search_stores(
        self,
        location: Here,
        query: StoreWords | None = None,
        store_type: StoreType | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return stores that deliver to a location (within 15 miles), nearest first.

        Fees and minimum orders are in cents. A chain's branches share a name, but differ in
        address, prices and stock.
        """
        if query:
            rows = search.find(self.db, "instacart_stores", query, order="id")
        else:
            rows = self.db.rows("instacart_stores", order="rowid")
        if store_type is not None:
            rows = [r for r in rows if r["store_type"] == store_type]
        near = []
        for row in rows:
            away = miles(location["lat"], location["lng"], row["lat"], row["lng"])
            if away <= RADIUS:
                near.append(self._store_json(row) | {"distance_miles": away})
        near.sort(key=lambda s: (s["distance_miles"], s["store_id"]))
        return page(near, "stores", limit, cursor)

    @reads(example={"store_id": seeded("ics", "new_seasons")})
    def get_store_details(self, store_id: StoreId) -> Json:
        """Return a store with phone, coordinates, and hours by day (local time, 24-hour clock).

        `permanently_closed` is true if it has closed for good.
        """
        row = find_store(self, store_id)
        return self._store_json(row) | {
            "lat": row["lat"],
            "lng": row["lng"],
            "phone": row["phone"],
            "timezone": row["timezone"],
            "hours": dict(zip(WEEKDAYS, row["hours"], strict=True)),
            "permanently_closed": stock.closed_for_good(row, self.now),
        }

    @reads(example={"store_id": seeded("ics", "new_seasons"), "query": "milk"})
    def search_grocery_items(
        self,
        store_id: StoreId,
        query: ItemWords | None = None,
        category: Category | None = None,
        in_stock_only: InStock = True,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Search a store's products, best match first.

        Each has its price in cents, its size as unit, stock_level and aisle. Compare brands and
        sizes: many products are similar. Prices differ between stores.
        """
        store = find_store(self, store_id)
        exceptions = stock.exceptions_of(self, store_id)
        if query:
            rows = search.find(self.db, "instacart_products", query, order="name, size, id")
        else:
            rows = self.db.rows("instacart_products", order="category, name, id")
        if category is not None:
            rows = [r for r in rows if r["category"] == category]
        if in_stock_only:
            rows = [r for r in rows if stock.in_stock(store, r, self.now, exceptions)]
        else:
            rows = [r for r in rows if stock.carries(store, r)]

        def shown(row: Row) -> Json:
            return product_json(self, store, row, exceptions)

        return page(rows, "items", limit, cursor, shown)

    @reads(
        example={
            "store_id": seeded("ics", "new_seasons"),
            "product_id": seeded("icp", "oat-milk-meadowlark-64"),
        }
    )
    def get_grocery_details(self, store_id: StoreId, product_id: ProductId) -> Json:
        """Return a product as a store sells it now, with stock level, aisle and dietary labels.

        Prices are in cents; per_unit_price is for an ounce, fluid ounce or piece (see per_unit).
        """
        store = find_store(self, store_id)
        row = find_product(self, store, product_id)
        shown = product_json(self, store, row, stock.exceptions_of(self, store_id))
        amount, unit = stock.per_unit(row, shown["price"])
        return shown | {
            "per_unit_price": amount,
            "per_unit": unit,
            "in_stock": shown["stock_level"] != "out",
            "labels": row["labels"],
            "store_id": store_id,
        }

    # -- delivery slots ---------------------------------------------------------------------------
    def _slots(self, store: Row) -> list[dict[str, Any]]:
        query = (
            "SELECT window_id, count(*) FROM instacart_orders "
            "WHERE store_id=? AND window_start>? AND cancelled_at IS NULL GROUP BY window_id"
        )
        mine = dict(self.db.sql(query, store["id"], self.time))
        slots = []
        for begin, end in stock.slots(store, self.now, AHEAD):
            if begin - self.now < CUTOFF:
                continue
            window_id = make_id("icv", store["id"], begin)
            left = max(0, CAPACITY - stock.crowd(store, begin) - mine.get(window_id, 0))
            slot = {
                "window_id": window_id,
                "start": iso(begin),
                "end": iso(end),
                "fee": stock.slot_fee(store, begin),
                "available": left > 0,
                "places_left": left,
            }
            slots.append(slot)
        return slots

    @reads(example={"store_id": seeded("ics", "new_seasons"), "limit": 10})
    def get_delivery_slots(
        self,
        store_id: StoreId,
        date: Date | None = None,
        limit: Limit = 20,
        cursor: Cursor | None = None,
    ) -> Json:
        """Return two-hour delivery slots in the next two weeks, or on one local date.

        Each has its fee in cents and the places left. A slot closes 90 minutes before it starts.
        There are slots only during the store's hours.
        """
        store = find_store(self, store_id)
        slots = self._slots(store)
        if date is not None:
            slots = [s for s in slots if _local_date(store, s["start"]) == date]
        return page(slots, "slots", limit, cursor)


def _local_date(store: Row, moment: str) -> str:
    return local(parse_time(moment), ZoneInfo(store["timezone"])).date().isoformat()
