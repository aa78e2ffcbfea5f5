"""What an order costs: fees, tax, promotions and membership, to the cent; windows; quotes.

A quote is not stored. Its token says when it was made and seals what it was for, so that the same
order can be priced again as of that moment.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from servers.food_delivery import _catalogue as catalogue
from servers.food_delivery import _rules as rules
from servers.food_delivery._rules import Words
from servers.kit.control import make_id
from servers.kit.noise import share
from servers.kit.service import Service
from servers.kit.types import Json, Row
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
"""Tax on prepared food in hundredths of a per cent, by state; groceries are not taxed."""
TAX_ELSEWHERE = 700
QUOTE_HOLDS = 600
"""Seconds for which a quote is honoured."""

PER_MILE = 210
"""Seconds that a courier needs for a mile."""
SLOWEST = 1260
"""Seconds that an order takes at most, on top of the kitchen's usual time and the drive."""

Token = Annotated[
    str,
    Field(
        max_length=40,
        description="quote_token of a quote for exactly this order, no more than ten minutes old.",
    ),
]


@dataclass(frozen=True)
class Tariff:
    """A provider's fees in cents, and its service rates in hundredths of a per cent.

    `free_from` is the subtotal from which members pay no delivery fee.
    """

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
        """The sum that is charged."""
        return self.subtotal + self.delivery + self.service + self.tax + self.tip - self.discount


@dataclass(frozen=True)
class Draft:
    """An order that could be placed: from where to where, what, when and for how much."""

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
def delivery_fee(tariff: Tariff, place: Row, away: float, moment: int) -> int:
    """Return the delivery fee in cents for a distance in miles; it is higher at a busy kitchen."""
    fee = tariff.base + round_cents(max(0.0, away - tariff.miles_free) * tariff.per_mile)
    return fee + (tariff.rush if catalogue.busy(place, moment) > 0.6 else 0)


def service_fee(tariff: Tariff, subtotal: int, member: bool) -> int:
    """Return the service fee in cents on a subtotal."""
    rate = tariff.member_service if member else tariff.service
    fee = round_cents(subtotal * rate / 10_000)
    return min(max(fee, tariff.service_least), tariff.service_most)


def tax(place: Row, taxed: int) -> int:
    """Return the tax in cents on prepared food."""
    if place["kind"] == "grocery":
        return 0
    return round_cents(taxed * TAX.get(place["state"], TAX_ELSEWHERE) / 10_000)


def price(
    tariff: Tariff,
    place: Row,
    subtotal: int,
    away: float,
    moment: int,
    *,
    member: bool,
    discount: int,
    tip: int,
) -> Price:
    """Return the price of items with this subtotal, for a moment and a delivery of `away` miles."""
    groceries = place["kind"] == "grocery"
    free_from = tariff.grocery_free_from if groceries else tariff.free_from
    free = member and subtotal >= free_from
    return Price(
        subtotal=subtotal,
        delivery=0 if free else delivery_fee(tariff, place, away, moment),
        service=service_fee(tariff, subtotal, member),
        tax=tax(place, subtotal - discount),
        tip=tip,
        discount=discount,
    )


def price_json(price: Price) -> Json:
    """Return a price as the agent sees it, in dollars."""
    fees = {
        "delivery": dollars(price.delivery),
        "service": dollars(price.service),
        "tax": dollars(price.tax),
        "tip": dollars(price.tip),
    }
    return {
        "subtotal": dollars(price.subtotal),
        "fees": fees,
        "discount": dollars(price.discount),
        "total": dollars(price.total),
    }


# -- windows ---------------------------------------------------------------------------------------
class Window(NamedTuple):
    """A span of time in which an order can be delivered, in epoch seconds."""

    id: str
    start: int
    end: int
    available: bool


def windows(
    words: Words, place: Row, first: int, last: int, minutes: int, now: int
) -> Iterator[Window]:
    """Yield the delivery windows between two moments that are within opening hours."""
    length = minutes * 60
    prep = place["prep"] * 60
    # Even the slowest order to the farthest address must arrive before a window ends.
    farthest = round(place["radius"] * PER_MILE)
    soonest = now + prep + max(1200, SLOWEST + farthest - length)
    for start in range(-(-first // length) * length, last, length):
        end = start + length
        span = catalogue.span_at(place, start)
        if span is not None and end <= span[1] and start - span[0] >= prep:
            free = share("window", place["id"], start) > 0.12
            window_id = make_id(words.window, place["id"], start)
            yield Window(window_id, start, end, free and start >= soonest)


def day_windows(words: Words, place: Row, day: date, minutes: int, now: int) -> Iterator[Window]:
    """Yield the windows of a local day."""
    zone = catalogue.zone(place)
    first = local_moment(day, time(0), zone)
    last = local_moment(day + timedelta(days=1), time(0), zone)
    return windows(words, place, first, last, minutes, now)


def find_window(
    svc: Service,
    words: Words,
    place: Row,
    window_id: str,
    minutes: int,
    days: int,
    moment: int,
) -> tuple[int, int]:
    """Return the start and end of an available window of the next `days`, or refuse."""
    today = local_day(moment, catalogue.zone(place))
    for n in range(days):
        for window in day_windows(words, place, today + timedelta(days=n), minutes, moment):
            if window.id != window_id:
                continue
            if not window.available:
                start = iso(window.start)
                message = f"The window that starts at {start} is no longer available."
                hint = f"Choose an available window from {words.windows}."
                svc.fail(f"{words.slot}_UNAVAILABLE", message, hint, start=start)
            return window.start, window.end
    message = f"{place['name']} has no delivery window with the ID {window_id!r}."
    hint = f"Use one from {words.windows} for the same place; windows change over time."
    svc.fail(f"{words.slot}_NOT_FOUND", message, hint, id=window_id)


def window_json(window: Window, key: str) -> Json:
    """Return a window as the agent sees it; `key` is the name of its id."""
    return {
        key: window.id,
        "start_time": iso(window.start),
        "end_time": iso(window.end),
        "available": window.available,
    }


# -- drafts and quotes -----------------------------------------------------------------------------
def priced(
    svc: Service, words: Words, place: Row, items: list[Any], moment: int
) -> list[dict[str, Any]]:
    """Return the lines of an order at current prices; refuse items that are not available.

    The same item, wanted in the same way twice, is one line.
    """
    lines: list[dict[str, Any]] = []
    for wanted in items:
        item = catalogue.find_item(svc, words, wanted["item_id"], place["id"])
        if not catalogue.available(item, moment):
            hint = f"Choose an item that is available in {words.menu}."
            svc.fail("ITEM_UNAVAILABLE", f"{item['name']} is sold out.", hint, item_id=item["id"])
        options = wanted.get("selected_options", [])
        line = {
            "item_id": item["id"],
            "name": item["name"],
            "quantity": wanted["quantity"],
            "unit_price": item["price"] + catalogue.chosen(svc, words, item, options),
            "options": options,
            "instructions": wanted.get("special_instructions") or None,
        }
        same = next((other for other in lines if _way(other) == _way(line)), None)
        if same is None:
            lines.append(line)
        else:
            same["quantity"] += line["quantity"]
    return lines


def _way(line: Row) -> tuple[str, list[str], str | None]:
    """Return what is wanted in a line, and how."""
    return line["item_id"], sorted(line["options"]), line["instructions"]


def subtotal(lines: list[Row]) -> int:
    """Return the sum of lines in cents."""
    return sum(r["unit_price"] * r["quantity"] for r in lines)


def reach(svc: Service, words: Words, place: Row, address: dict[str, Any]) -> float:
    """Return the miles to an address, or refuse if the place does not deliver that far."""
    away = catalogue.distance(place, address) or 0.0
    radius = place["radius"]
    if away > radius:
        message = (
            f"{place['name']} delivers up to {radius} miles; "
            f"{address['street']} is {away} miles away."
        )
        hint = f"Find a closer one with {words.search}, or choose another address."
        svc.fail(
            "OUT_OF_DELIVERY_RANGE",
            message,
            hint,
            distance_miles=away,
            delivery_radius_miles=radius,
        )
    return away


def check_open(svc: Service, words: Words, place: Row) -> None:
    """Refuse if a place takes no orders now."""
    if catalogue.closed_for_good(place, svc.now):
        code = f"{words.shop}_PERMANENTLY_CLOSED"
        message = f"{place['name']} has closed permanently."
        hint = f"Find another one with {words.search}."
        svc.fail(code, message, hint, closed_on=place["closed_on"])
    if catalogue.span_at(place, svc.now) is None:
        opens = catalogue.opens_next(place, svc.now)
        opens_at = None if opens is None else iso(opens)
        message = f"{place['name']} is closed now."
        hint = (
            f"Order for a later window ({words.windows}), "
            f"or find an open one with {words.search} and open_only."
        )
        svc.fail(f"{words.shop}_CLOSED", message, hint, opens_at=opens_at)


def draft(
    svc: Service,
    words: Words,
    tariff: Tariff,
    place: Row,
    items: list[Any],
    address: dict[str, Any] | None,
    *,
    tip: int,
    offer_id: str | None = None,
    window: tuple[int, int] | None = None,
    away: float | None = None,
    token: str | None = None,
) -> Draft:
    """Return the order that would be placed, or refuse for any reason placing it would be refused.

    With a token it is priced as of the moment of that quote. `away` is the distance to charge for
    if the address is not known.
    """
    moment = svc.now if token is None else _quoted_at(svc, words, token)
    if window is None or catalogue.closed_for_good(place, svc.now):
        check_open(svc, words, place)
    if address is not None:
        away = reach(svc, words, place, address)
    lines = priced(svc, words, place, items, moment)
    goods = subtotal(lines)
    if goods < place["min_order"]:
        minimum = dollars(place["min_order"])
        message = (
            f"{place['name']} has a minimum order of ${minimum:.2f}; "
            f"this order comes to ${dollars(goods):.2f}."
        )
        hint = "Add more items."
        svc.fail("MIN_ORDER_NOT_MET", message, hint, min_order=minimum, subtotal=dollars(goods))
    offer = None
    if offer_id is not None:
        offer = rules.usable_offer(svc, words, offer_id, place["id"], goods)
    cost = price(
        tariff,
        place,
        goods,
        away or 0.0,
        window[0] if window else moment,
        member=rules.membership(svc, words) is not None,
        discount=rules.off(offer, goods),
        tip=tip,
    )
    wanted = [(r["item_id"], r["quantity"], sorted(r["options"])) for r in lines]
    # The seal covers the price, so a quote fails if a price has changed since. It is a digest of
    # the tuple's repr, which includes the field names of `Price`: renaming one changes all tokens.
    sealed = (moment, place["id"], wanted, address and address["id"], window, offer_id, cost)
    made = Draft(
        place=place,
        address=address,
        lines=lines,
        price=cost,
        offer=offer,
        window=window,
        moment=moment,
        seal=hashlib.blake2b(repr(sealed).encode(), digest_size=8).hexdigest(),
    )
    if token is not None and made.token != token:
        message = "The quote was for another order, or a price has changed since."
        hint = f"Ask for a new one with {words.quote} and pass exactly the same order."
        svc.fail("QUOTE_MISMATCH", message, hint, total=dollars(cost.total))
    return made


def _quoted_at(svc: Service, words: Words, token: str) -> int:
    hint = f"Ask for a new one with {words.quote}."
    try:
        moment = int(token.split("-")[0], 16)
    except ValueError:
        moment = -1
    if not 0 <= moment <= svc.now:
        svc.fail("QUOTE_INVALID", "The quote token is not valid.", hint)
    if svc.now - moment >= QUOTE_HOLDS:
        svc.fail("QUOTE_EXPIRED", f"The quote was valid until {iso(moment + QUOTE_HOLDS)}.", hint)
    return moment


def quote_json(draft: Draft, seconds: int) -> Json:
    """Return a quote as the agent sees it; `seconds` is the time until an immediate delivery."""
    scheduled_for = None
    if draft.window is not None:
        start, end = draft.window
        scheduled_for = {"start_time": iso(start), "end_time": iso(end)}
    return {
        **price_json(draft.price),
        "distance_miles": catalogue.distance(draft.place, draft.address),
        "eta_min": None if draft.window else -(-seconds // 60),
        "scheduled_for": scheduled_for,
        "quote_token": draft.token,
        "valid_until": iso(draft.moment + QUOTE_HOLDS),
    }
