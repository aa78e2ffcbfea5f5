"""The rider's account: profile, saved places, payment methods, offers and ride types."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.geo import Latitude, Longitude
from servers.kit.listing import Listing
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, dollars, page
from servers.ridesharing import _roads as roads
from servers.ridesharing import _rules as rules
from servers.ridesharing._rules import FullAddress, PlaceLabel
from servers.ridesharing.uber._model import MODES, WORDS

Query = Annotated[
    str,
    Field(
        max_length=100,
        description="Words from a name, kind, street or city; omit to list all places.",
    ),
]
OfferId = Annotated[str, Field(description="offer_id, from list_offers.")]
Used = Annotated[bool, Field(description="true also lists used and expired offers.")]
NEW_PLACE = {
    "label": "Parents in law",
    "address": "2101 NE Going Street, Portland, OR 97211",
    "lat": 45.5581,
    "lng": -122.6437,
}


class Account(Service):
    """The rider, places and ways to pay."""

    def _saved_json(self) -> list[Json]:
        return [_place_json(row) for row in rules.saved(self, WORDS)]

    @reads()
    def get_user_profile(self) -> Json:
        """Return who is signed in.

        Returns name, email, phone, saved_places, payment_method (the default one) and promo (the
        applied offer or null).
        """
        me = rules.profile(self, WORDS)
        promo = rules.applied(self, WORDS)
        return {
            "name": me["name"],
            "email": me["email"],
            "phone": me["phone"],
            "saved_places": self._saved_json(),
            "payment_method": rules.card_json(self, rules.wallet(self, WORDS)[0]),
            "promo": self._offer_json(promo) if promo else None,
        }

    @writes(example=NEW_PLACE)
    def add_saved_place(
        self, label: PlaceLabel, address: FullAddress, lat: Latitude, lng: Longitude
    ) -> Json:
        """Save a place under a label that is not yet taken.

        The label can then be used wherever an address is expected.
        """
        for row in rules.saved(self, WORDS):
            if row["label"].casefold() == label.casefold():
                message = f"{row['label']} is already saved, as {row['address']}."
                hint = "Remove it with remove_saved_place first, or choose another label."
                self.fail("LABEL_EXISTS", message, hint, label=row["label"])
        roads.city_at(self, lat, lng)
        place = {"label": label, "address": address, "lat": lat, "lng": lng}
        row = {"id": self.new_id("ubp"), "saved_at": self.time} | place
        self.db.insert("uber_saved_places", row)
        return place | {"status": "saved"}

    @writes(
        example={"label": NEW_PLACE["label"]},
        setup=(Setup("add_saved_place", NEW_PLACE),),
        destructive=True,
    )
    def remove_saved_place(self, label: PlaceLabel) -> Json:
        """Remove a saved place by its label; upper and lower case do not matter."""
        known = rules.saved(self, WORDS)
        row = next((r for r in known if r["label"].casefold() == label.casefold()), None)
        if row is None:
            labels = [r["label"] for r in known]
            message = f"No place is saved under {label!r}."
            hint = "get_user_profile lists the saved places."
            self.fail("SAVED_PLACE_NOT_FOUND", message, hint, labels=labels)
        self.db.delete("uber_saved_places", row["id"])
        return {"label": row["label"], "status": "removed"}

    @reads(example={"query": "airport", "limit": 5})
    def find_place(
        self, query: Query = "", limit: Limit = 20, cursor: Cursor | None = None
    ) -> Json:
        """Turn a name or address into coordinates: return known places that match all words.

        Each has place_id, name, kind, address, lat and lng; the best match comes first. Places with
        the same name can be told apart by their address.
        """
        return page(rules.places(self, WORDS, query), "places", limit, cursor, roads.place_json)

    @reads()
    def list_payment_methods(self) -> Json:
        """Return payment methods, the default one first.

        Each has payment_method_id, type, name, last4, expires (YYYY-MM), expired and is_default.
        """
        return {"payment_methods": [rules.card_json(self, c) for c in rules.wallet(self, WORDS)]}

    @reads(example={"lat": 45.5231, "lng": -122.6765})
    def list_ride_types(self, lat: Latitude | None = None, lng: Longitude | None = None) -> Json:
        """Return the ride types at a point, or in the home city.

        Each has base_fare (dollars), capacity and whether a driver is nearby now.
        """
        if (lat is None) != (lng is None):
            message = "Only one of lat and lng was given."
            self.fail("INVALID_LOCATION", message, "Pass both, or neither for the home city.")
        home = self.db.get("ridesharing_cities", rules.profile(self, WORDS)["city_id"]) or {}
        city = home if lat is None or lng is None else roads.city_at(self, lat, lng)
        shown = [
            {
                "ride_type_id": mode.id,
                "name": mode.name,
                "base_fare": dollars(round(mode.base * roads.market(city))),
                "minimum_fare": dollars(round(mode.minimum * roads.market(city)) + mode.booking),
                "capacity": mode.capacity,
                "available": roads.near("uber", mode, city, self.now),
            }
            for mode in MODES.values()
        ]
        return {"city": f"{city['name']}, {city['state']}", "ride_types": shown}

    def _offer_json(self, row: Row) -> Json:
        ride = rules.used_by(self, WORDS, row["id"])
        return {
            "offer_id": row["id"],
            "code": row["code"],
            "title": row["title"],
            "status": rules.offer_state(self, WORDS, row),
            **rules.terms(row),
            "starts_at": row["starts_at"],
            "expires_at": row["expires_at"],
            "used_on_ride_id": ride["id"] if ride else None,
        }

    @reads(example={})
    def list_offers(
        self, include_used: Used = False, limit: Limit = 20, cursor: Cursor | None = None
    ) -> Json:
        """Return offers with terms and status, the soonest to expire first.

        The status is available, applied, upcoming, or ineligible (an offer for first rides that you
        have already taken).
        """
        rows = Listing(self.db, "uber_offers", by="expires_at", newest=False)
        if not include_used:
            rows = rows.only("expires_at>?", self.time)
            rows = rows.keep(lambda row: not rules.used_by(self, WORDS, row["id"]))
        return page(rows, "offers", limit, cursor, self._offer_json)

    @writes(example={"offer_id": seeded("ubo", "green")}, idempotent=True)
    def apply_offer(self, offer_id: OfferId) -> Json:
        """Apply an offer to the next ride that meets its terms.

        Offers do not combine: it replaces the one applied before.
        """
        before = rules.applied(self, WORDS)
        offer = self._offer_json(rules.apply_offer(self, WORDS, offer_id))
        replaced = before["id"] if before and before["id"] != offer_id else None
        discount = ("percent_off", "amount_off", "max_discount", "min_fare")
        return {
            "offer_id": offer_id,
            "discount": {k: offer[k] for k in discount},
            "status": offer["status"],
            "replaced_offer_id": replaced,
        }


def _place_json(row: Row) -> dict[str, Any]:
    return {k: row[k] for k in ("label", "address", "lat", "lng")}
