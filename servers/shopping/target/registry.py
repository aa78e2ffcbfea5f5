"""Gift registries: the user's own, and those that others have shared by link."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from servers.kit.control import make_id, seeded
from servers.kit.fields import PersonName
from servers.kit.listing import Listing
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Date, Limit, page
from servers.kit.zones import local_day
from servers.shopping import _catalogue as catalogue
from servers.shopping import _mail as mail
from servers.shopping import _orders as life
from servers.shopping import _rules as rules
from servers.shopping._rules import ProductId, Quantity
from servers.shopping.target._model import SHOP, RegistryId

RegistryName = Annotated[
    str, Field(min_length=2, max_length=80, description="Name of the registry.")
]
Occasion = Annotated[
    Literal["wedding", "baby", "birthday", "housewarming"],
    Field(description="Occasion of the registry."),
]
Link = Annotated[
    str, Field(max_length=200, description="share_link, from share_registry or from another guest.")
]
LINK = "https://gifts.target.example/r/"
NEW = Setup(
    "create_gift_registry",
    {"name": "Kitchen of our own", "type": "housewarming", "event_date": "2027-01-15"},
    "new",
)
POT = seeded("tgp", "stockpot-12")
SHARED = Setup("share_registry", {"registry_id": "${new.registry_id}"}, "shared")
FILLED = Setup(
    "add_to_registry",
    {"registry_id": "${new.registry_id}", "product_id": POT, "quantity_desired": 2},
)


class Registry(Service):
    """Registries, the gifts they ask for, and the gifts given."""

    @writes(example=NEW.args)
    def create_gift_registry(
        self,
        name: RegistryName,
        type: Occasion,
        event_date: Date | None = None,
        co_registrant_name: PersonName | None = None,
    ) -> Json:
        """Create a gift registry and return it, still empty and not shared.

        The date of the event cannot be in the past.
        """
        today = local_day(self.now, ZoneInfo(rules.profile(self, SHOP)["timezone"])).isoformat()
        if event_date is not None and event_date < today:
            message = f"The event date {event_date} is in the past."
            self.fail(
                "INVALID_EVENT_DATE",
                message,
                "Pass today or a later date, or leave out event_date.",
                today=today,
            )
        registry = {
            "id": self.new_id("tgg"),
            "name": name,
            "kind": type,
            "event_date": event_date,
            "co_registrant": co_registrant_name,
            "created_at": self.time,
        }
        made = self.db.insert("target_registries", registry)
        mail.tell(self, SHOP, "registry_created", made | {"registry": made["id"]}, about=made["id"])
        return self._registry_json(made)

    @reads()
    def list_registries(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return your own registries, newest first, with the quantities desired and fulfilled."""
        rows = Listing(self.db, "target_registries", by="created_at", where="owner IS NULL")

        def head(row: Row) -> Json:
            shown = self._registry_json(row)
            items = shown.pop("items")
            return shown | {
                "quantity_desired": sum(item["quantity_desired"] for item in items),
                "quantity_fulfilled": sum(item["quantity_fulfilled"] for item in items),
            }

        return page(rows, "registries", limit, cursor, head)

    @reads(example={"registry_id": seeded("tgg", "own")})
    def get_registry(self, registry_id: RegistryId) -> Json:
        """Return a registry with its items: price in cents, quantities desired and fulfilled.

        Each item names its givers. The share_link is null until the registry has been shared.
        """
        return self._registry_json(self._find_registry(registry_id))

    @reads(
        example={"share_link": "${shared.share_link}"},
        setup=(NEW, Setup("share_registry", {"registry_id": "${new.registry_id}"}, "shared")),
    )
    def open_registry_link(self, share_link: Link) -> Json:
        """Return the registry behind a share link, yours or someone else's.

        To give a gift from it, call put_in_cart with its registry_id.
        """
        slug = share_link.strip().removeprefix(LINK).rstrip("/")
        rows = self.db.rows("target_registries", "slug=?", slug)
        if not rows:
            hint = "Ask for the link again, or see list_registries for your own registries."
            self.fail(
                "REGISTRY_NOT_FOUND",
                "No registry was found for this link.",
                hint,
                share_link=share_link,
            )
        return self._registry_json(rows[0])

    @writes(example={"registry_id": "${new.registry_id}", "product_id": POT}, setup=(NEW,))
    def add_to_registry(
        self, registry_id: RegistryId, product_id: ProductId, quantity_desired: Quantity = 1
    ) -> Json:
        """Add a product to one of your registries, or more units of it, and return the registry."""
        row = self._own(registry_id)
        catalogue.on_sale(self, SHOP, product_id)
        wanted = self._wanted(registry_id, product_id)
        if wanted:
            total = wanted["quantity"] + quantity_desired
            self.db.update("target_wanted", wanted["id"], quantity=total)
        else:
            wish = {
                "id": self.new_id("tgn"),
                "registry_id": registry_id,
                "product_id": product_id,
                "quantity": quantity_desired,
                "added_at": self.time,
            }
            self.db.insert("target_wanted", wish)
        return self._registry_json(row)

    @writes(example={"registry_id": "${new.registry_id}", "product_id": POT}, setup=(NEW, FILLED))
    def remove_from_registry(self, registry_id: RegistryId, product_id: ProductId) -> Json:
        """Remove a product from one of your registries and return the registry.

        Gifts that have already been bought are not affected.
        """
        row = self._own(registry_id)
        wanted = self._wanted(registry_id, product_id)
        if wanted is None:
            message = f"The product {product_id!r} is not in this registry."
            self.fail(
                "ITEM_NOT_IN_REGISTRY",
                message,
                "See get_registry for the products in the registry.",
                registry_id=registry_id,
                product_id=product_id,
            )
        self.db.delete("target_wanted", wanted["id"])
        return self._registry_json(row)

    @writes(example={"registry_id": "${new.registry_id}"}, setup=(NEW,), idempotent=True)
    def share_registry(self, registry_id: RegistryId) -> Json:
        """Return the link that lets others see one of your registries; it is always the same."""
        row = self._own(registry_id)
        slug = row["slug"] or make_id("reg", registry_id)[4:]
        if row["slug"] is None:
            self.db.update("target_registries", registry_id, slug=slug)
            said = {"name": row["name"], "link": LINK + slug, "registry": registry_id}
            mail.tell(self, SHOP, "registry_shared", said, about=registry_id)
        return {"registry_id": registry_id, "share_link": LINK + slug}

    def _find_registry(self, registry_id: str) -> Row:
        row = self.db.get("target_registries", registry_id)
        if row is None:
            message = f"There is no registry with the ID {registry_id!r}."
            self.fail(
                "REGISTRY_NOT_FOUND",
                message,
                "Use a registry_id from list_registries.",
                registry_id=registry_id,
            )
        return row

    def _own(self, registry_id: str) -> dict[str, Any]:
        row = self._find_registry(registry_id)
        if row["owner"] is not None:
            message = f"This registry belongs to {row['owner']}."
            self.fail(
                "NOT_REGISTRY_OWNER",
                message,
                "Only the owner can change it. You can buy gifts from it with put_in_cart.",
                registry_id=registry_id,
            )
        return row

    def _wanted(self, registry_id: str, product_id: str) -> Row | None:
        where = "registry_id=? AND product_id=?"
        rows = self.db.rows("target_wanted", where, registry_id, product_id)
        return rows[0] if rows else None

    def _gifts(self, registry_id: str) -> list[Row]:
        """Return the gifts of others and those of the user, oldest first.

        A gift of the user counts while its order is neither canceled, expired nor lost and the item
        has not been returned.
        """
        gifts = self.db.rows("target_gifts", "registry_id=?", registry_id)
        user = rules.profile(self, SHOP)["name"]
        for item in self.db.rows("target_order_items", "registry_id=?", registry_id):
            order = life.find_order(self, SHOP, item["order_id"])
            if life.status(order, self.time) in ("canceled", "expired", "lost"):
                continue
            if not self.db.rows("target_returns", "item_id=?", item["id"]):
                gifts.append(item | {"buyer": user, "at": order["placed_at"]})
        return sorted(gifts, key=lambda g: (g["at"], g["id"]))

    def _registry_json(self, row: Row) -> Json:
        gifts = self._gifts(row["id"])
        items = []
        wishes = self.db.rows("target_wanted", "registry_id=?", row["id"], order="added_at, rowid")
        for wish in wishes:
            product = catalogue.find_product(self, SHOP, wish["product_id"])
            given = [gift for gift in gifts if gift["product_id"] == wish["product_id"]]
            item = {
                "product_id": wish["product_id"],
                "name": product["title"],
                "price": catalogue.listing_price(product, self.now),
                "quantity_desired": wish["quantity"],
                "quantity_fulfilled": sum(gift["quantity"] for gift in given),
                "given_by": [gift["buyer"] for gift in given],
                "discontinued": catalogue.discontinued(self, product),
            }
            items.append(item)
        return {
            "registry_id": row["id"],
            "name": row["name"],
            "type": row["kind"],
            "event_date": row["event_date"],
            "co_registrant_name": row["co_registrant"],
            "owner": row["owner"] or "you",
            "is_mine": row["owner"] is None,
            "share_link": LINK + row["slug"] if row["slug"] else None,
            "created_at": row["created_at"],
            "items": items,
        }
