"""What Amazon, Walmart and Target share: argument types, addresses, payment methods, tax.

Rows hold what happened; balances, defaults and statuses are worked out from rows and the moment.
All money is in integer cents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.fields import card_brand, card_expired
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row

SHARED = {
    # What a product is, whoever sells it; the id is its UPC.
    "shopping_items": Table(
        "id:str name:str brand:str category:str department:str description:str features:list "
        "food:bool final_sale:bool",
        search=("features", "description"),
        weights=(1, 1),
        index=("category",),
        catalogue=True,
    ),
    "shopping_areas": Table(
        "id:str city:str state:str lat:float lng:float timezone:str",
        index=("city",),
        catalogue=True,
    ),
}
"""Tables of the whole category; the id of an area is its ZIP code."""
ADDRESSES = Table(
    "id:str name:str/matter street:str/matter city:str/matter state:str/matter zip:str/matter "
    "country:str/matter added_at:str/stamp default_since:str?/stamp",
    noun="the address {street}, {city} of {name}",
)
# `gift_card` is the id of the card's row if the method is a gift card; `closed_at` is when the
# issuer stopped honouring the method.
METHODS = Table(
    "id:str type:str/matter brand:str/derived last4:str/matter expires:str?/matter "
    "gift_card:str?/ref billing:str?/matter added_at:str/stamp default_since:str?/stamp "
    "closed_at:str?/derived",
    noun="the payment method {brand} ending in {last4}",
)
GIFT_CARDS = Table("id:str number:str loaded:int issued_at:str", index=("number",), catalogue=True)

DAY = 86_400
HOUR = 3_600

# -- argument types --------------------------------------------------------------------------------
Query = Annotated[
    str,
    Field(
        max_length=200,
        description='Words in titles, brands and categories; put "quotes" around phrases.',
    ),
]
ProductId = Annotated[str, Field(max_length=64, description="product_id, from the product search.")]
Quantity = Annotated[int, Field(ge=1, le=99, description="How many units.")]
OrderId = Annotated[str, Field(max_length=64, description="order_id, from the list of orders.")]
AddressId = Annotated[
    str,
    Field(
        max_length=64,
        description="address_id, from the list of addresses; defaults to the default address.",
    ),
]
PaymentId = Annotated[
    str, Field(max_length=64, description="payment_method_id, from the list of payment methods.")
]
StoreId = Annotated[str, Field(max_length=64, description="store_id, from the store search.")]
Category = Annotated[
    str,
    Field(
        max_length=80,
        description="Only products in this category, from list_departments, e.g. Headphones.",
    ),
]
Department = Annotated[
    str,
    Field(
        max_length=80,
        description="Only products in this department, from list_departments, e.g. Electronics.",
    ),
]
MinPrice = Annotated[int, Field(ge=0, le=10_000_000, description="Lowest price in cents.")]
MaxPrice = Annotated[int, Field(ge=0, le=10_000_000, description="Highest price in cents.")]
MinRating = Annotated[float, Field(ge=1, le=5, description="Lowest average rating, 1 to 5.")]
Stars = Annotated[int, Field(ge=1, le=5, description="Only reviews with this many stars.")]
VerifiedOnly = Annotated[
    bool, Field(description="Whether to return only reviews by people who bought the product here.")
]
ReviewTitle = Annotated[
    str, Field(min_length=1, max_length=120, description="Headline of the review.")
]
ReviewBody = Annotated[
    str,
    Field(
        min_length=10, max_length=5000, description="Text of the review, at least 10 characters."
    ),
]
Reason = Annotated[
    str, Field(min_length=3, max_length=300, description="The reason, in a few words.")
]
Code = Annotated[
    str,
    Field(min_length=2, max_length=40, description="The code; upper and lower case are the same."),
]
MakeDefault = Annotated[bool, Field(description="Whether to make it the default from now on.")]
StateFilter = Annotated[
    Literal[
        "processing", "shipped", "out_for_delivery", "delayed", "delivered", "lost",
        "preparing", "ready", "picked_up", "expired", "canceled",
    ],
    Field(description="Only orders that currently have this status."),
]  # fmt: skip


# -- the words of a shop ---------------------------------------------------------------------------
@dataclass(frozen=True)
class Shop:
    """A shop's table prefix, id prefix, terms, and the names of its tools that hints mention.

    `lines` is the table of its cart. `apart` is a further column of that table which tells lines of
    the same product apart. `codes` are the shop's error codes for coupon codes: unknown, not valid
    now, below the minimum, not eligible.
    """

    title: str
    tables: str
    ids: str
    search: str
    product: str
    view_cart: str
    add: str
    orders: str
    returns: str
    addresses: str
    add_address: str
    methods: str
    add_method: str
    codes_tool: str
    drop_code: str
    stores: str
    codes: tuple[str, str, str, str]
    return_days: int
    electronics_days: int
    lines: str = ""
    set_store: str = ""
    availability: str = ""
    apart: str = ""


# -- sums to the cent ------------------------------------------------------------------------------
TAX_BPS = {
    "AL": 929, "AK": 182, "AZ": 838, "AR": 946, "CA": 885, "CO": 781, "CT": 635, "DE": 0,
    "DC": 600, "FL": 700, "GA": 700, "HI": 450, "ID": 603, "IL": 1025, "IN": 700, "IA": 694,
    "KS": 865, "KY": 600, "LA": 956, "ME": 550, "MD": 600, "MA": 625, "MI": 600, "MN": 903,
    "MS": 706, "MO": 839, "MT": 0, "NE": 697, "NV": 824, "NH": 0, "NJ": 660, "NM": 762,
    "NY": 888, "NC": 700, "ND": 704, "OH": 724, "OK": 899, "OR": 0, "PA": 634, "RI": 700,
    "SC": 900, "SD": 611, "TN": 955, "TX": 825, "UT": 725, "VT": 636, "VA": 577, "WA": 1025,
    "WV": 657, "WI": 570, "WY": 544,
}  # fmt: skip
"""Sales tax of a state in hundredths of a percent; food is free of it."""


def percent(amount: int, rate: int | float) -> int:
    """Return a percentage of an amount in cents, half cents rounded up."""
    share = Decimal(amount) * Decimal(str(rate)) / 100
    return int(share.quantize(Decimal(1), rounding=ROUND_HALF_UP))


def split(total: int, weights: Sequence[int]) -> list[int]:
    """Share cents out in proportion to weights.

    The shares add up to the total, and none exceeds its weight unless the total exceeds the sum of
    the weights.
    """
    whole = sum(weights)
    if whole == 0:
        return [0] * len(weights)
    shares = [total * w // whole for w in weights]
    # The cents lost by rounding down go to the largest remainders.
    by_remainder = sorted(range(len(weights)), key=lambda i: (-(total * weights[i] % whole), i))
    for place in by_remainder[: total - sum(shares)]:
        shares[place] += 1
    return shares


def tax_shares(state: str, nets: Sequence[tuple[int, bool]]) -> list[int]:
    """Return the sales tax of each line, given (net cents, is food); the sum is rounded once."""
    taxable = [0 if food else net for net, food in nets]
    return split(percent(sum(taxable), TAX_BPS[state] / 100), taxable)


# -- who is signed in ------------------------------------------------------------------------------
def profile(svc: Service, shop: Shop) -> Row:
    """Return the row of the signed-in account."""
    return svc.db.rows(f"{shop.tables}_profile")[0]


# -- addresses -------------------------------------------------------------------------------------
def default_of(rows: Sequence[Row]) -> str | None:
    """Return the id of the row that was most recently made the default."""
    marked = [r for r in rows if r["default_since"] is not None]
    return max(marked, key=lambda r: r["default_since"])["id"] if marked else None


def addresses(svc: Service, shop: Shop) -> list[Json]:
    """Return the saved addresses as JSON, oldest first."""
    rows = svc.db.rows(f"{shop.tables}_addresses", order="added_at, rowid")
    default = default_of(rows)
    return [address_json(r) | {"is_default": r["id"] == default} for r in rows]


def address_json(row: Row) -> Json:
    """Return an address as JSON, without `is_default`."""
    columns = ("name", "street", "city", "state", "zip", "country")
    return {"address_id": row["id"]} | {column: row[column] for column in columns}


def find_address(svc: Service, shop: Shop, address_id: str | None) -> Row:
    """Return a saved address, or the default one, or refuse."""
    table = f"{shop.tables}_addresses"
    address_id = address_id or default_of(svc.db.rows(table))
    row = svc.db.get(table, address_id) if address_id else None
    if row is None:
        message = "Your address book is empty."
        if address_id:
            message = f"There is no address with the ID {address_id!r} in your address book."
        hint = f"Use an address_id from {shop.addresses}, or save one with {shop.add_address}."
        svc.fail("ADDRESS_NOT_FOUND", message, hint, address_id=address_id)
    return row


def add_address(
    svc: Service, shop: Shop, given: dict[str, Any], is_default: bool
) -> dict[str, Any]:
    """Save an address and return it as JSON; refuse one that is already saved."""
    table = f"{shop.tables}_addresses"
    if given["state"] not in TAX_BPS:
        svc.fail(
            "INVALID_ADDRESS",
            f"{shop.title} does not deliver to the state {given['state']!r}.",
            "Pass a two-letter state code, e.g. OR.",
        )
    saved = svc.db.rows(table)
    for row in saved:
        if _same_address(row, given):
            message = f"{row['street']}, {row['city']} is already saved for {row['name']}."
            svc.fail(
                "DUPLICATE_ADDRESS",
                message,
                "Use the address_id of the saved address.",
                address_id=row["id"],
            )
    since = svc.time if is_default or not saved else None
    address = {
        "id": svc.new_id(shop.ids + "a"),
        "country": "US",
        "added_at": svc.time,
        "default_since": since,
    } | given
    svc.db.insert(table, address)
    return next(a for a in addresses(svc, shop) if a["address_id"] == address["id"])


def _same_address(one: Row, other: Row) -> bool:
    columns = ("name", "street", "city", "state", "zip")
    return all(str(one[k]).casefold() == str(other[k]).casefold() for k in columns)


# -- payment methods -------------------------------------------------------------------------------
def gift_balance(svc: Service, shop: Shop, gift_card: str) -> int:
    """Return the cents on a gift card now: what was loaded, less charges, plus refunds."""
    card = svc.db.get(f"{shop.tables}_gift_cards", gift_card)
    spent = svc.db.sql(
        f"SELECT coalesce(sum(c.amount),0) FROM {shop.tables}_charges c"
        f" JOIN {shop.tables}_methods m ON m.id=c.method_id"
        " WHERE m.gift_card=? AND c.at<=?",
        gift_card,
        svc.time,
    )[0][0]
    return (card["loaded"] if card else 0) - spent


def methods(svc: Service, shop: Shop) -> list[Json]:
    """Return the saved payment methods as JSON, oldest first."""
    rows = svc.db.rows(f"{shop.tables}_methods", order="added_at, rowid")
    default = default_of(rows)
    return [method_json(svc, shop, r) | {"is_default": r["id"] == default} for r in rows]


def method_json(svc: Service, shop: Shop, row: Row) -> Json:
    """Return a payment method as JSON, without `is_default`."""
    shown = {
        "payment_method_id": row["id"],
        "type": row["type"],
        "brand": row["brand"],
        "last_four": row["last4"],
        "expires": row["expires"],
        "expired": card_expired(row["expires"], svc.time),
    }
    if row["gift_card"] is not None:
        shown["gift_card_balance"] = gift_balance(svc, shop, row["gift_card"])
    return shown


def find_method(svc: Service, shop: Shop, method_id: str | None) -> Row:
    """Return a saved payment method, or the default one, or refuse."""
    table = f"{shop.tables}_methods"
    method_id = method_id or default_of(svc.db.rows(table))
    row = svc.db.get(table, method_id) if method_id else None
    if row is None:
        hint = (
            f"Use a payment_method_id from {shop.methods}, "
            f"or save a payment method with {shop.add_method}."
        )
        message = "You have not saved a payment method."
        if method_id:
            message = f"There is no payment method with the ID {method_id!r}."
        svc.fail("PAYMENT_METHOD_NOT_FOUND", message, hint, payment_method_id=method_id)
    return row


def authorize(svc: Service, shop: Shop, method: Row, amount: int, at: str | None = None) -> None:
    """Refuse a method that cannot be charged an amount now or at a given moment (ISO).

    An order is always paid with a single method.
    """
    at = at or svc.time
    card = f"The {method['brand']} ending in {method['last4']}"
    hint = f"Choose another payment method from {shop.methods}."
    if card_expired(method["expires"], at):
        svc.fail(
            "PAYMENT_METHOD_EXPIRED",
            f"{card} expired in {method['expires']}.",
            hint,
            payment_method_id=method["id"],
        )
    if method["closed_at"] is not None and method["closed_at"] <= at:
        svc.fail(
            "PAYMENT_DECLINED",
            f"{card} was declined by its issuer.",
            hint,
            payment_method_id=method["id"],
        )
    if method["gift_card"] is not None:
        balance = gift_balance(svc, shop, method["gift_card"])
        if balance < amount:
            message = (
                f"The gift card ending in {method['last4']} has a balance of {balance} cents, "
                f"but {amount} are needed."
            )
            svc.fail(
                "INSUFFICIENT_GIFT_CARD_BALANCE", message, hint, available=balance, required=amount
            )


def add_card(
    svc: Service,
    shop: Shop,
    kind: str,
    number: str,
    expires: str,
    *,
    billing: str | None,
    is_default: bool,
) -> dict[str, Any]:
    """Save a card and return it as JSON; refuse one that is already saved or has expired."""
    if card_expired(expires, svc.time):
        svc.fail(
            "CARD_EXPIRED",
            f"The card expired in {expires}.",
            "Use a card that has not expired.",
            expires=expires,
        )
    card = {
        "type": kind,
        "brand": card_brand(number),
        "last4": number[-4:],
        "expires": expires,
        "billing": billing,
    }
    return _save_method(svc, shop, card, is_default)


def add_gift_card(svc: Service, shop: Shop, number: str, is_default: bool) -> dict[str, Any]:
    """Save a gift card; refuse a number that the shop has not issued.

    The card's balance is looked up, not given by the customer.
    """
    cards = svc.db.rows(f"{shop.tables}_gift_cards", "number=?", number)
    if not cards:
        message = f"{shop.title} has not issued a gift card with this number."
        svc.fail("GIFT_CARD_NOT_FOUND", message, "Check the number on the back of the card.")
    method = {
        "type": "gift_card",
        "brand": f"{shop.title} gift card",
        "last4": number[-4:],
        "gift_card": cards[0]["id"],
    }
    return _save_method(svc, shop, method, is_default)


def _save_method(
    svc: Service, shop: Shop, given: dict[str, Any], is_default: bool
) -> dict[str, Any]:
    table = f"{shop.tables}_methods"
    saved = svc.db.rows(table)
    for row in saved:
        if all(row[k] == given.get(k) for k in ("brand", "last4", "expires", "gift_card")):
            message = f"The {row['brand']} ending in {row['last4']} is already saved."
            svc.fail(
                "DUPLICATE_PAYMENT_METHOD",
                message,
                f"Use its payment_method_id from {shop.methods}.",
                payment_method_id=row["id"],
            )
    since = svc.time if is_default or not saved else None
    method = {
        "id": svc.new_id(shop.ids + "m"),
        "added_at": svc.time,
        "default_since": since,
    } | given
    svc.db.insert(table, method)
    return next(m for m in methods(svc, shop) if m["payment_method_id"] == method["id"])
