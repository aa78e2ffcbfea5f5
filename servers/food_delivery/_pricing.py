"""What an order costs: fees by distance and hour, service fee, tax, promotion and membership, all to the cent; quotes that are honoured.

A quote is not stored: its token says when it was made and seals what it was for, so that the same order can be priced again as of then.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import Annotated, Any

from pydantic import Field

from servers.food_delivery import _catalogue as catalogue
from servers.food_delivery import _rules as rules
from servers.food_delivery._rules import Words
from servers.kit.control import make_id
from servers.kit.noise import share
from servers.kit.service import Service
from servers.kit.values import dollars, iso, round_cents
from servers.kit.zones import local_day, local_moment

TAX = {
    "OR": 0,
    "MT": 0,
    "WA": 1035,
    "IL": 1075,
    "GA": 700,
    "TX": 825,
    "NY": 888,
    "MA": 700,
    "SC": 900,
    "FL": 700,
    "CA": 863,
    "MN": 803,
}
"""Tax on prepared food in hundredths of a per cent, by state; elsewhere 7 %. Groceries bear none."""
QUOTE_HOLDS = 600
"""Seconds for which a quote is honoured."""

PER_MILE = 210
SLOWEST = 1260
"""Seconds that a courier needs for a mile, and that an order takes at most besides the kitchen's usual time and the way."""

Token = Annotated[
    str,
    Field(
        max_length=40,
        description="quote_token of a quote for exactly this order, less than ten minutes old.",
    ),
]


@dataclass(frozen=True)
class Tariff:
    """A provider's fees in cents and hundredths of a per cent; `free_from`: subtotal from which members pay no delivery."""

    base: int
    per_mile: int
    miles_free: float
    rush: int
    service: int
    service_least: int
    service_most: int
    member_service: int
    free_from: int
    grocery_free_from: int


@dataclass(frozen=True)
class Price:
    """What an order costs, in cents."""

    subtotal: int
    delivery: int
    service: int
    tax: int
    tip: int
    discount: int

    @property
    def total(self) -> int:
        """What is charged."""
        return self.subtotal + self.delivery + self.service + self.tax + self.tip - self.discount


@dataclass(frozen=True)
class Draft:
    """An order that could be placed: where from and to, what, when and for how much."""

    place: dict[str, Any]
    address: dict[str, Any] | None
    lines: list[dict[str, Any]]
    price: Price
    offer: dict[str, Any] | None
    window: tuple[int, int] | None
    moment: int
    seal: str

    @property
    def token(self) -> str:
        """The quote's token: when it was made, and the seal on what it was for."""
        return f"{self.moment:x}-{self.seal}"


# -- fees ------------------------------------------------------------------------------------------
def delivery_fee(tariff: Tariff, place: dict[str, Any], away: float, moment: int) -> int:
    """Return the delivery fee in cents for a distance in miles: by distance, and more while the kitchen is busy."""
    fee = tariff.base + round_cents(max(0.0, away - tariff.miles_free) * tariff.per_mile)
    return fee + (tariff.rush if catalogue.busy(place, moment) > 0.6 else 0)


def service_fee(tariff: Tariff, subtotal: int, member: bool) -> int:
    """Return the service fee in cents on a subtotal."""
    rate = tariff.member_service if member else tariff.service
    return min(
        max(round_cents(subtotal * rate / 10_000), tariff.service_least), tariff.service_most
    )


def tax(place: dict[str, Any], taxed: int) -> int:
    """Return the tax in cents on prepared food."""
    return (
        0
        if place["kind"] == "grocery"
        else round_cents(taxed * TAX.get(place["state"], 700) / 10_000)
    )


def price(
    tariff: Tariff,
    place: dict[str, Any],
    subtotal: int,
    away: float,
    moment: int,
    *,
    member: bool,
    discount: int,
    tip: int,
) -> Price:
    """Return what items of a subtotal cost when they are brought to a distance in miles, ordered for a moment."""
    waived = member and subtotal >= (
        tariff.grocery_free_from if place["kind"] == "grocery" else tariff.free_from
    )
    delivery = 0 if waived else delivery_fee(tariff, place, away, moment)
    return Price(
        subtotal,
        delivery,
        service_fee(tariff, subtotal, member),
        tax(place, subtotal - discount),
        tip,
        discount,
    )


def price_json(found: Price) -> dict[str, Any]:
    """Return a price for the agent, in dollars."""
    fees = {
        "delivery": found.delivery,
        "service": found.service,
        "tax": found.tax,
        "tip": found.tip,
    }
    return {
        "subtotal": dollars(found.subtotal),
        "fees": {k: dollars(v) for k, v in fees.items()},
        "discount": dollars(found.discount),
        "total": dollars(found.total),
    }


# -- windows ---------------------------------------------------------------------------------------
def windows(
    words: Words, place: dict[str, Any], first: int, last: int, minutes: int, now: int
) -> Iterator[tuple[str, int, int, bool]]:
    """Yield (id, start, end, available) of delivery windows that lie in opening hours between two moments."""
    length = minutes * 60
    soonest = (
        now + place["prep"] * 60 + max(1200, SLOWEST + round(place["radius"] * PER_MILE) - length)
    )
    for start in range(-(-first // length) * length, last, length):
        span = catalogue.span_at(place, start)
        if span is not None and start + length <= span[1] and start - span[0] >= place["prep"] * 60:
            left = share("window", place["id"], start) > 0.12
            yield (
                make_id(words.window, place["id"], start),
                start,
                start + length,
                left and start >= soonest,
            )


def day_windows(
    words: Words, place: dict[str, Any], day: date, minutes: int, now: int
) -> Iterator[tuple[str, int, int, bool]]:
    """Yield the windows of a local day."""
    where = catalogue.zone(place)
    first, last = (local_moment(d, time(0), where) for d in (day, day + timedelta(days=1)))
    return windows(words, place, first, last, minutes, now)


def find_window(
    svc: Service,
    words: Words,
    place: dict[str, Any],
    window_id: str,
    minutes: int,
    days: int,
    moment: int,
) -> tuple[int, int]:
    """Return start and end of a window that can still be had, or refuse."""
    today = local_day(moment, catalogue.zone(place))
    for n in range(days):
        for known, start, end, free in day_windows(
            words, place, today + timedelta(days=n), minutes, moment
        ):
            if known == window_id:
                if not free:
                    hint = f"Choose one that is available from {words.windows}."
                    svc.fail(
                        f"{words.slot}_UNAVAILABLE",
                        f"The window from {iso(start)} can no longer be had.",
                        hint,
                        start=iso(start),
                    )
                return start, end
    hint = f"Take one from {words.windows} for the same place; they change with the clock."
    svc.fail(
        f"{words.slot}_NOT_FOUND",
        f"{place['name']} has no delivery window {window_id!r}.",
        hint,
        id=window_id,
    )


def window_json(found: tuple[str, int, int, bool], key: str) -> dict[str, Any]:
    """Return a window for the agent; `key` is the name of its id."""
    return {
        key: found[0],
        "start_time": iso(found[1]),
        "end_time": iso(found[2]),
        "available": found[3],
    }


# -- drafts and quotes -----------------------------------------------------------------------------
def priced(
    svc: Service, words: Words, place: dict[str, Any], items: list[Any], moment: int
) -> list[dict[str, Any]]:
    """Return the lines of an order at today's prices; refuse items that the place does not have."""
    lines = []
    for said in items:
        item = catalogue.find_item(svc, words, said["item_id"], place["id"])
        if not catalogue.available(item, moment):
            hint = f"Choose something that is available in {words.menu}."
            svc.fail("ITEM_UNAVAILABLE", f"{item['name']} is sold out.", hint, item_id=item["id"])
        picked = said.get("selected_options", [])
        unit = item["price"] + catalogue.chosen(svc, words, item, picked)
        wish = said.get("special_instructions") or None
        row = {
            "item_id": item["id"],
            "name": item["name"],
            "quantity": said["quantity"],
            "unit_price": unit,
        }
        lines.append(row | {"options": picked, "instructions": wish})
    return lines


def subtotal(lines: list[dict[str, Any]]) -> int:
    """Return the cents of lines."""
    return sum(r["unit_price"] * r["quantity"] for r in lines)


def reach(svc: Service, words: Words, place: dict[str, Any], address: dict[str, Any]) -> float:
    """Return the miles to an address, or refuse where the place does not deliver so far."""
    away = catalogue.distance(place, address) or 0.0
    if away > place["radius"]:
        hint = f"Search with {words.search} for one that is nearer, or choose another address."
        message = f"{place['name']} delivers up to {place['radius']} miles; {address['street']} is {away} miles away."
        svc.fail(
            "OUT_OF_DELIVERY_RANGE",
            message,
            hint,
            distance_miles=away,
            delivery_radius_miles=place["radius"],
        )
    return away


def check_open(svc: Service, words: Words, place: dict[str, Any]) -> None:
    """Refuse where a place takes no orders now."""
    if catalogue.closed_for_good(place, svc.now):
        hint = f"Find another with {words.search}."
        svc.fail(
            f"{words.shop}_PERMANENTLY_CLOSED",
            f"{place['name']} has closed for good.",
            hint,
            closed_on=place["closed_on"],
        )
    if catalogue.span_at(place, svc.now) is None:
        opens = catalogue.opens_next(place, svc.now)
        hint = f"Order for a later window ({words.windows}), or find an open one with {words.search} and open_only."
        svc.fail(
            f"{words.shop}_CLOSED",
            f"{place['name']} is closed now.",
            hint,
            opens_at=None if opens is None else iso(opens),
        )


def draft(
    svc: Service,
    words: Words,
    tariff: Tariff,
    place: dict[str, Any],
    items: list[Any],
    address: dict[str, Any] | None,
    *,
    tip: int,
    offer_id: str | None = None,
    window: tuple[int, int] | None = None,
    away: float | None = None,
    token: str | None = None,
) -> Draft:
    """Return the order that would be placed, or refuse for the reason for which ordering would be refused.

    With a token it is priced as of the moment of that quote. `away` stands for the distance where there is no address.
    """
    moment = svc.now if token is None else _quoted_at(svc, words, token)
    if window is None or catalogue.closed_for_good(place, svc.now):
        check_open(svc, words, place)
    if address is not None:
        away = reach(svc, words, place, address)
    lines = priced(svc, words, place, items, moment)
    goods = subtotal(lines)
    if goods < place["min_order"]:
        message = f"{place['name']} takes orders from ${dollars(place['min_order']):.2f}; this one comes to ${dollars(goods):.2f}."
        need = dollars(place["min_order"])
        hint = "Add items."
        svc.fail("MIN_ORDER_NOT_MET", message, hint, min_order=need, subtotal=dollars(goods))
    offer = (
        None if offer_id is None else rules.usable_offer(svc, words, offer_id, place["id"], goods)
    )
    found = price(
        tariff,
        place,
        goods,
        away or 0.0,
        window[0] if window else moment,
        member=rules.membership(svc, words) is not None,
        discount=rules.off(offer, goods),
        tip=tip,
    )
    asked = [(r["item_id"], r["quantity"], sorted(r["options"])) for r in lines]
    what = (moment, place["id"], asked, address and address["id"], window, offer_id, found)
    made = Draft(
        place,
        address,
        lines,
        found,
        offer,
        window,
        moment,
        hashlib.blake2b(repr(what).encode(), digest_size=8).hexdigest(),
    )
    if token is not None and made.token != token:
        message = "The quote was for another order, or a price has changed since."
        hint = f"Ask for a new one with {words.quote} and pass exactly the same order."
        svc.fail("QUOTE_MISMATCH", message, hint, total=dollars(found.total))
    return made


def _quoted_at(svc: Service, words: Words, token: str) -> int:
    hint = f"Ask for a new one with {words.quote}."
    try:
        moment = int(token.split("-")[0], 16)
    except ValueError:
        moment = -1
    if not 0 <= moment <= svc.now:
        svc.fail("QUOTE_INVALID", "The quote token is not one of ours.", hint)
    if svc.now - moment >= QUOTE_HOLDS:
        svc.fail("QUOTE_EXPIRED", f"The quote was good until {iso(moment + QUOTE_HOLDS)}.", hint)
    return moment


def quote_json(found: Draft, seconds: int) -> dict[str, Any]:
    """Return a quote for the agent; `seconds` until the delivery, where it is wanted at once."""
    return {
        **price_json(found.price),
        "distance_miles": catalogue.distance(found.place, found.address),
        "eta_min": None if found.window else -(-seconds // 60),
        "scheduled_for": None
        if found.window is None
        else {"start_time": iso(found.window[0]), "end_time": iso(found.window[1])},
        "quote_token": found.token,
        "valid_until": iso(found.moment + QUOTE_HOLDS),
    }
