"""What Uber Eats and DoorDash share about an account: addresses, cards, membership, promotions.

The default is the address or card that was made the default last. Whether a membership or
promotion is active follows from its dates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field

from servers.kit.fields import card_expired
from servers.kit.noise import draws
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import cents, dollars

SHARED = {
    # Where couriers deliver: postal codes, each with its centre.
    "food_delivery_areas": Table("zip:str city:str state:str lat:float lng:float", catalogue=True),
}
PROFILE = Table(
    "id:str name:str/matter email:str/matter phone:str/matter timezone:str/derived",
    noun="the profile of {name}",
)
ADDRESSES = Table(
    "id:str street:str/matter city:str/matter state:str/matter zip:str/matter lat:float/derived "
    "lng:float/derived added_at:str/stamp default_at:str?/stamp removed_at:str?/stamp",
    noun="the address {street}, {city}",
)
CARDS = Table(
    "id:str brand:str/derived last4:str/matter expires:str/matter name:str/matter "
    "added_at:str/stamp default_at:str?/stamp",
    noun="the card {brand} ending in {last4}",
)
MEMBERSHIPS = Table("id:str plan:str monthly_price:int since:str ends_at:str?", catalogue=True)
# `discount` is the amount off or, if `percent` is set, the most that it may be; `saved_at` is when
# the offer was saved to the wallet.
OFFERS = Table(
    "id:str title:str/matter discount:int/matter percent:int?/matter min_order:int/matter "
    "members_only:bool/matter once:bool/matter restaurant_id:str?/ref starts_at:str/matter "
    "expires_at:str/matter saved_at:str?/stamp",
    noun="the promotion {title}",
)

AddressId = Annotated[str, Field(description="address_id of a saved delivery address.")]
MethodId = Annotated[str, Field(description="method_id of a saved card.")]
OfferId = Annotated[
    str, Field(description="offer_id of a promotion in the wallet to apply to the order.")
]
SetDefault = Annotated[bool, Field(description="Make it the default right away.")]
Reason = Annotated[
    str, Field(min_length=1, max_length=300, description="Why the order is being canceled.")
]
Comment = Annotated[
    str, Field(min_length=1, max_length=1000, description="A comment for the review.")
]
Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        description="Words to search for in names, kinds of food and items.",
    ),
]
OpenOnly = Annotated[bool, Field(description="Only places that take orders right now.")]
if TYPE_CHECKING:
    Tip = int
else:
    Tip = Annotated[
        float,
        Field(ge=0, le=500, description="Tip for the courier in dollars, at most two decimals."),
        AfterValidator(cents),
    ]
"""A tip; the method receives integer cents (0 when left out)."""


@dataclass(frozen=True)
class Words:
    """A provider's names for the common things.

    They are its prefixes of tables and ids, the nouns in its codes, its statuses, and the tools
    that hints point to.
    """

    tables: str
    address: str
    card: str
    order: str
    line: str
    window: str
    shop: str
    offer: str
    slot: str
    member: str
    statuses: dict[str, str]
    list_addresses: str
    add_address: str
    list_cards: str
    add_card: str
    search: str
    menu: str
    list_offers: str
    save_offer: str
    list_orders: str
    windows: str
    quote: str
    refund: str
    list_refunds: str


def zone(svc: Service, words: Words) -> ZoneInfo:
    """Return the time zone of the account."""
    return ZoneInfo(svc.db.rows(f"{words.tables}_profile")[0]["timezone"])


# -- addresses -------------------------------------------------------------------------------------
def addresses(svc: Service, words: Words) -> list[dict[str, Any]]:
    """Return saved addresses, oldest first, each with `is_default`."""
    table = f"{words.tables}_addresses"
    return _with_default(svc.db.rows(table, "removed_at IS NULL", order="added_at, rowid"))


def _with_default(rows: list[Row]) -> list[dict[str, Any]]:
    default = max(rows, key=lambda r: r["default_at"] or "", default=None)
    return [row | {"is_default": row is default} for row in rows]


def find_address(svc: Service, words: Words, address_id: str) -> Row:
    """Return a saved address, or refuse."""
    row = svc.db.get(f"{words.tables}_addresses", address_id)
    if row is None or row["removed_at"] is not None:
        message = f"There is no saved address with the ID {address_id!r}."
        hint = (
            f"Use an address_id from {words.list_addresses}, "
            f"or save the address with {words.add_address}."
        )
        svc.fail("ADDRESS_NOT_FOUND", message, hint, address_id=address_id)
    return row


def address_json(row: Row) -> Json:
    """Return an address as the agent sees it."""
    return {
        "address_id": row["id"],
        "street": row["street"],
        "city": row["city"],
        "state": row["state"],
        "zip_code": row["zip"],
    }


def _plain(street: str) -> str:
    return " ".join(street.lower().replace(",", " ").replace(".", " ").split())


def add_address(
    svc: Service, words: Words, street: str, city: str, state: str, zip_code: str, default: bool
) -> Row:
    """Save an address that couriers deliver to, if it is not saved yet, and return its row."""
    area = svc.db.get("food_delivery_areas", zip_code[:5])
    if area is None:
        message = f"ZIP code {zip_code} is outside the delivery area."
        zip_codes = _zip_codes(svc, city, state)
        if zip_codes:
            hint = f"ZIP codes served in {city}, {state}: {', '.join(zip_codes)}."
        else:
            hint = f"There is no delivery in {city}, {state}."
        svc.fail("ADDRESS_NOT_SERVED", message, hint, zip_code=zip_code)
    if (area["city"].lower(), area["state"]) != (city.strip().lower(), state):
        message = f"ZIP code {zip_code} is in {area['city']}, {area['state']}."
        hint = "Correct the city, the state or the ZIP code."
        svc.fail("ADDRESS_NOT_VERIFIED", message, hint, zip_code=zip_code)
    for row in addresses(svc, words):
        if (_plain(row["street"]), row["zip"][:5]) == (_plain(street), zip_code[:5]):
            message = f"{row['street']} is already saved."
            hint = "Use the address_id of the saved address."
            svc.fail("ADDRESS_EXISTS", message, hint, address_id=row["id"])
    east, north = draws("address", _plain(street), zip_code[:5])[:2]
    row = {
        "id": svc.new_id(words.address),
        "street": street,
        "city": area["city"],
        "state": state,
        "zip": zip_code,
        "lat": round(area["lat"] + north / 250, 5),
        "lng": round(area["lng"] + east / 250, 5),
        "added_at": svc.time,
        "default_at": svc.time if default else None,
    }
    return svc.db.insert(f"{words.tables}_addresses", row)


def _zip_codes(svc: Service, city: str, state: str) -> list[str]:
    """Return the postal codes of a city that couriers deliver to."""
    in_city = "lower(city)=lower(?) AND state=?"
    areas = svc.db.rows("food_delivery_areas", in_city, city, state, order="zip")
    return [area["zip"] for area in areas]


def remove_address(svc: Service, words: Words, address_id: str, waiting: list[str]) -> None:
    """Remove a saved address, unless orders are still on their way to it.

    `waiting` lists the ids of such orders.
    """
    find_address(svc, words, address_id)
    if waiting:
        message = "An order is still on its way to this address."
        hint = "Wait for the delivery, or cancel the order first."
        svc.fail("ADDRESS_IN_USE", message, hint, address_id=address_id, order_ids=waiting)
    svc.db.update(f"{words.tables}_addresses", address_id, removed_at=svc.time)


def make_default(svc: Service, words: Words, kind: str, rows: list[Row], chosen: str) -> None:
    """Make one of the given rows (of the table `kind`) the default."""
    row = next(r for r in rows if r["id"] == chosen)
    if not row["is_default"]:
        svc.db.update(f"{words.tables}_{kind}", chosen, default_at=svc.time)


# -- cards -----------------------------------------------------------------------------------------
def cards(svc: Service, words: Words) -> list[dict[str, Any]]:
    """Return saved cards, oldest first, each with `is_default`."""
    return _with_default(svc.db.rows(f"{words.tables}_cards", order="added_at, rowid"))


def find_card(svc: Service, words: Words, method_id: str) -> Row:
    """Return a saved card, or refuse."""
    row = svc.db.get(f"{words.tables}_cards", method_id)
    if row is None:
        message = f"There is no payment method with the ID {method_id!r}."
        hint = f"Use a method_id from {words.list_cards}."
        svc.fail("PAYMENT_METHOD_NOT_FOUND", message, hint, method_id=method_id)
    return row


def usable_card(svc: Service, words: Words, method_id: str) -> dict[str, Any]:
    """Return a card that can be charged, or refuse."""
    row = find_card(svc, words, method_id)
    if card_expired(row["expires"], svc.time):
        hint = f"Use another card from {words.list_cards}, or save a new one with {words.add_card}."
        message = f"The {row['brand']} card ending in {row['last4']} expired in {row['expires']}."
        svc.fail("CARD_EXPIRED", message, hint, method_id=method_id)
    return row


def add_card(svc: Service, words: Words, brand: str, number: str, expires: str, name: str) -> Row:
    """Save a card that is valid and not saved yet, and return its row.

    The full number is not stored.
    """
    if card_expired(expires, svc.time):
        hint = "Use a card that is still valid."
        svc.fail("CARD_EXPIRED", f"The card expired in {expires}.", hint, expiration_date=expires)
    for row in cards(svc, words):
        if (row["brand"], row["last4"], row["expires"]) == (brand, number[-4:], expires):
            message = f"The card ending in {number[-4:]} is already saved."
            svc.fail("CARD_EXISTS", message, "Use its method_id.", method_id=row["id"])
    row = {
        "id": svc.new_id(words.card),
        "brand": brand,
        "last4": number[-4:],
        "expires": expires,
        "name": name,
        "added_at": svc.time,
    }
    return svc.db.insert(f"{words.tables}_cards", row)


def card_ref(svc: Service, words: Words, method_id: str) -> Json:
    """Return `{method_id, type, last4}` of a card."""
    row = find_card(svc, words, method_id)
    return {"method_id": method_id, "type": row["brand"], "last4": row["last4"]}


# -- membership and promotions ---------------------------------------------------------------------
def holds(memberships: list[Row], moment: str) -> dict[str, Any] | None:
    """Return the membership that is active at a moment (ISO), if any."""
    for membership in memberships:
        ends_at = membership["ends_at"]
        if membership["since"] <= moment and (ends_at is None or moment < ends_at):
            return membership
    return None


def membership(svc: Service, words: Words) -> dict[str, Any] | None:
    """Return the membership that is active now, if any."""
    return holds(svc.db.rows(f"{words.tables}_memberships", order="since"), svc.time)


def off(offer: Row | None, subtotal: int) -> int:
    """Return the cents that a promotion takes off a subtotal."""
    if offer is None:
        return 0
    share = subtotal if offer["percent"] is None else subtotal * offer["percent"] // 100
    return min(offer["discount"], share)


def uses(svc: Service, words: Words, offer_id: str) -> int:
    """Return how many orders used a promotion, not counting cancelled ones."""
    query = f"SELECT count(*) FROM {words.tables}_orders WHERE offer_id=? AND cancelled_at IS NULL"
    return svc.db.sql(query, offer_id)[0][0]


def offer_state(svc: Service, words: Words, row: Row) -> str:
    """Return available, upcoming, expired, used, or members_only (if the account is no member)."""
    if svc.time >= row["expires_at"]:
        return "expired"
    if svc.time < row["starts_at"]:
        return "upcoming"
    if row["once"] and uses(svc, words, row["id"]):
        return "used"
    if row["members_only"] and membership(svc, words) is None:
        return "members_only"
    return "available"


def offers(svc: Service, words: Words) -> list[dict[str, Any]]:
    """Return promotions that are not expired or used up, the soonest to expire first."""
    rows = svc.db.rows(f"{words.tables}_offers", "expires_at>?", svc.time, order="expires_at, id")
    return [r for r in rows if offer_state(svc, words, r) != "used"]


def find_offer(svc: Service, words: Words, offer_id: str) -> Row:
    """Return a promotion, or refuse."""
    row = svc.db.get(f"{words.tables}_offers", offer_id)
    if row is None:
        code = f"{words.offer}_NOT_FOUND"
        message = f"There is no promotion with the ID {offer_id!r}."
        svc.fail(code, message, f"Use an offer_id from {words.list_offers}.", offer_id=offer_id)
    return row


def usable_offer(
    svc: Service, words: Words, offer_id: str, restaurant_id: str, subtotal: int
) -> dict[str, Any]:
    """Return a promotion that applies to an order; otherwise refuse and say why."""
    row = find_offer(svc, words, offer_id)
    promotion = f"The promotion {row['title']!r}"
    state = offer_state(svc, words, row)
    other = f"Choose another one from {words.list_offers}, or order without one."
    if state != "available":
        reasons = {
            "members_only": f"is only for {words.member} members",
            "used": "has already been used",
            "upcoming": "has not started yet",
        }
        code = f"{words.offer}_{state.upper()}"
        message = f"{promotion} {reasons.get(state, 'has expired')}."
        svc.fail(code, message, other, offer_id=offer_id, status=state)
    if row["saved_at"] is None:
        code = f"{words.offer}_NOT_IN_WALLET"
        message = f"{promotion} is not in the wallet."
        svc.fail(code, message, f"Save it first with {words.save_offer}.", offer_id=offer_id)
    only_at = row["restaurant_id"]
    if only_at not in (None, restaurant_id):
        code = f"{words.offer}_NOT_ELIGIBLE"
        message = f"{promotion} is for a different restaurant."
        svc.fail(code, message, other, offer_id=offer_id, restaurant_id=only_at)
    if subtotal < row["min_order"]:
        minimum = dollars(row["min_order"])
        message = f"{promotion} requires a subtotal of ${minimum:.2f}."
        hint = "Add more items, or order without it."
        svc.fail("MIN_ORDER_NOT_MET", message, hint, min_order=minimum, subtotal=dollars(subtotal))
    return row


def save_offer(svc: Service, words: Words, offer_id: str) -> dict[str, Any]:
    """Save a promotion that has not expired to the wallet, if it is not there; return its row."""
    row = find_offer(svc, words, offer_id)
    if svc.time >= row["expires_at"]:
        code = f"{words.offer}_EXPIRED"
        message = f"The promotion {row['title']!r} has expired."
        svc.fail(code, message, f"Choose another one from {words.list_offers}.", offer_id=offer_id)
    if row["saved_at"] is None:
        svc.db.update(f"{words.tables}_offers", offer_id, saved_at=svc.time)
    return find_offer(svc, words, offer_id)


def change_profile(svc: Service, words: Words, **values: str | None) -> None:
    """Change name, email or phone, whichever are given; refuse if none is."""
    changes = {k: v for k, v in values.items() if v is not None}
    if not changes:
        message = "No name, email or phone was given."
        svc.fail("NOTHING_TO_UPDATE", message, "Pass at least one of them.")
    row = svc.db.rows(f"{words.tables}_profile")[0]
    if any(row[k] != v for k, v in changes.items()):
        svc.db.update(f"{words.tables}_profile", row["id"], **changes)
