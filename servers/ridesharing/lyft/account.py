"""The rider's account: profile, saved places, payment cards, promos and ride modes."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.geo import Latitude, Longitude
from servers.kit.listing import Listing
from servers.kit.service import Service, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, dollars, page
from servers.ridesharing import _roads as roads
from servers.ridesharing import _rules as rules
from servers.ridesharing._roads import Mode
from servers.ridesharing._rules import FullAddress, PlaceLabel
from servers.ridesharing.lyft._model import MODES, WORDS, rounds_up

Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        description="Words from a name, kind of place, street or city.",
    ),
]
PromoId = Annotated[str, Field(description="offer_id, from list_promos.")]
Spent = Annotated[bool, Field(description="true also lists promos that are used or expired.")]


class Account(Service):
    """The rider, places and ways to pay."""

    @reads()
    def get_rider_profile(self) -> Json:
        """Return who is signed in.

        Returns name, email, phone, saved_places, payment_method (the default card), promo (the
        redeemed one or null) and round_up_enabled.
        """
        me = rules.profile(self, WORDS)
        offer = rules.applied(self, WORDS)
        promo = None
        if offer is not None:
            promo = {
                "offer_id": offer["id"],
                "code": offer["code"],
                "expires_at": offer["expires_at"],
            }
        return {
            "name": me["name"],
            "email": me["email"],
            "phone": me["phone"],
            "saved_places": [self._place(r) for r in rules.saved(self, WORDS)],
            "payment_method": rules.card_json(self, rules.wallet(self, WORDS)[0]),
            "promo": promo,
            "round_up_enabled": rounds_up(self),
        }

    def _place(self, row: Row) -> dict[str, Any]:
        return {k: row[k] for k in ("label", "address", "lat", "lng")}

    @writes(
        example={
            "label": "Climbing gym",
            "address": "1405 NW 14th Avenue, Portland, OR 97209",
            "lat": 45.5335,
            "lng": -122.6853,
        },
        idempotent=True,
    )
    def save_location(
        self, label: PlaceLabel, address: FullAddress, lat: Latitude, lng: Longitude
    ) -> Json:
        """Save a place under a label, replacing any place saved under the same label.

        Upper and lower case do not matter in labels.
        """
        new = {"label": label, "address": address, "lat": float(lat), "lng": float(lng)}
        places = rules.saved(self, WORDS)
        old = next((p for p in places if p["label"].lower() == label.lower()), None)
        if old is None:
            row = new | {"id": self.new_id("lyp"), "saved_at": self.time}
            self.db.insert("lyft_saved_places", row)
            return new | {"status": "saved"}
        if self._place(old) != new:
            self.db.update("lyft_saved_places", old["id"], **new)
        return new | {"status": "replaced"}

    @writes(example={"label": "work"}, destructive=True)
    def delete_location(self, label: PlaceLabel) -> Json:
        """Delete the place saved under a label. Rides to it remain in the history."""
        for row in rules.saved(self, WORDS):
            if row["label"].lower() == label.lower():
                self.db.delete("lyft_saved_places", row["id"])
                return {"label": row["label"], "status": "deleted"}
        message = f"No place is saved under {label!r}."
        hint = "get_rider_profile lists the saved places."
        self.fail("LOCATION_NOT_FOUND", message, hint, label=label)

    @reads(example={"query": "climbing"})
    def search_address(self, query: Query, limit: Limit = 10, cursor: Cursor | None = None) -> Json:
        """Find places by words from their name, kind or address.

        Returns them with coordinates, best match first.
        """
        return page(rules.places(self, WORDS, query), "results", limit, cursor, roads.place_json)

    @reads()
    def list_payment_cards(self) -> Json:
        """Return the cards and wallets that can pay for rides, the default one first.

        Expired ones are listed but cannot be charged.
        """
        return {"cards": [rules.card_json(self, row) for row in rules.wallet(self, WORDS)]}

    @reads()
    def list_ride_modes(self, lat: Latitude | None = None, lng: Longitude | None = None) -> Json:
        """Return the ride types at a point, or in the rider's home city.

        Each has ride_type_id, name, seats, rates in dollars, and whether it is available now.
        """
        if lat is not None and lng is not None:
            region = roads.city_at(self, lat, lng)
        elif lat is None and lng is None:
            region = self.db.get("ridesharing_cities", rules.profile(self, WORDS)["city_id"]) or {}
        else:
            message = "A point needs both lat and lng."
            self.fail("LOCATION_INCOMPLETE", message, "Pass both or neither.")
        modes = [self._mode_json(mode, region) for mode in MODES.values()]
        return {"region": region["name"], "ride_types": modes}

    def _mode_json(self, mode: Mode, region: Row) -> Json:
        scale = roads.market(region)
        return {
            "ride_type_id": mode.id,
            "name": mode.name,
            "seats": mode.capacity,
            "base_charge": dollars(round(mode.base * scale)),
            "per_mile": dollars(round(mode.per_mile * scale)),
            "per_minute": dollars(round(mode.per_minute * scale)),
            "service_fee": dollars(mode.booking),
            "wait_and_save": mode.id == "lyft",
            "available": roads.near("lyft", mode, region, self.now),
        }

    @reads()
    def list_promos(
        self, include_used: Spent = False, limit: Limit = 20, cursor: Cursor | None = None
    ) -> Json:
        """Return promos that have not expired, with terms, expiry and state, newest first.

        The state is available, applied (redeemed), upcoming, or ineligible (a promo for first rides
        that you have already taken).
        """
        rows = Listing(self.db, "lyft_offers", by="starts_at", tied="rowid")
        if not include_used:
            rows = rows.only("expires_at>?", self.time)
            rows = rows.keep(lambda row: not rules.used_by(self, WORDS, row["id"]))
        return page(rows, "promos", limit, cursor, self._promo_json)

    def _promo_json(self, row: Row) -> Json:
        return {
            "offer_id": row["id"],
            "code": row["code"],
            "description": row["title"],
            "state": rules.offer_state(self, WORDS, row),
            "valid_from": row["starts_at"],
            "expires_at": row["expires_at"],
            **rules.terms(row),
        }

    @writes(example={"offer_id": seeded("lyo", "comfort")}, idempotent=True)
    def redeem_promo(self, offer_id: PromoId) -> Json:
        """Redeem a promo for the next ride that meets its terms.

        A promo that was redeemed earlier but not used becomes available again.
        """
        row = rules.apply_offer(self, WORDS, offer_id)
        if row["percent"] is not None:
            discount = f"{row['percent']} % off {row['title']}"
        else:
            discount = f"${dollars(row['amount']):.2f} off {row['title']}"
        redeemed = {"offer_id": offer_id, "discount": discount, "status": "redeemed"}
        return redeemed | rules.terms(row)
