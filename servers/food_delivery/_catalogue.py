"""Restaurants and stores: opening hours, search, menus with options, and what is sold out.

Whatever varies (sold-out items, how busy a kitchen is) is a function of the place and the moment,
so that repeated reads agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date, time, timedelta
from typing import Annotated, Any, NotRequired
from zoneinfo import ZoneInfo

from pydantic import Field, with_config
from typing_extensions import TypedDict

from servers.food_delivery import _rules as rules
from servers.food_delivery._rules import Words
from servers.kit import search
from servers.kit.errors import did_you_mean
from servers.kit.fields import Id
from servers.kit.geo import miles
from servers.kit.noise import share
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import dollars, iso
from servers.kit.zones import local, local_day, local_moment

# `hours` are seven texts, Monday first, such as "11:00-14:30,17:00-22:00" or "" (closed). A span
# whose end is before its start runs past midnight.
# `prep` is in minutes, `radius` in miles; `closed_on` is the day on which it closed for good.
RESTAURANTS = Table(
    "id:str kind:str name:str category:str tags:str price:int rating:float ratings:int "
    "street:str city:str state:str zip:str lat:float lng:float phone:str timezone:str "
    "hours:list prep:int min_order:int radius:float closed_on:str?",
    search=("name", "category", "tags", "street"),
    weights=(4, 4, 3, 1),
    index=("kind",),
    catalogue=True,
)
# `options` are ids of option groups. A `scarce` item is sold out at times, one with `out_since`
# until further notice; one with `removed_at` is no longer sold.
ITEMS = Table(
    "id:str restaurant_id:str section:str name:str price:int options:list diet:str scarce:bool "
    "unit:str? out_since:str? removed_at:str?",
    search=("name", "section", "diet"),
    weights=(3, 1, 1),
    index=("restaurant_id",),
    catalogue=True,
)
# `choices` are {id, name, delta}. A required group needs at least one choice; none takes more than
# `most`.
OPTIONS = Table("id:str name:str required:bool most:int choices:list", catalogue=True)

RestaurantId = Annotated[str, Field(description="restaurant_id, from the search.")]
Category = Annotated[
    str,
    Field(min_length=1, max_length=40, description="Kind of food or section, as named in replies."),
]
Quantity = Annotated[int, Field(ge=1, le=50, description="How many (1 to 50).")]
OptionId = Annotated[str, Field(description="option_id of one of the item's choices.")]
ItemId = Annotated[Id, Field(description="item_id, from the menu or catalog of the same place.")]


@with_config(extra="forbid")
class OrderItem(TypedDict):
    """An item of an order, with its options."""

    item_id: ItemId
    quantity: Quantity
    selected_options: NotRequired[
        Annotated[
            list[OptionId],
            Field(
                max_length=12,
                description="option_ids of the choices made; a required option needs one.",
            ),
        ]
    ]
    special_instructions: NotRequired[
        Annotated[str, Field(max_length=200, description="A special request for the kitchen.")]
    ]


@with_config(extra="forbid")
class PlainItem(TypedDict):
    """An item without options."""

    item_id: ItemId
    quantity: Quantity


Items = Annotated[list[OrderItem], Field(min_length=1, max_length=30, description="What to order.")]
PlainItems = Annotated[
    list[PlainItem], Field(min_length=1, max_length=40, description="What to order.")
]
EMPTY = frozenset(
    ("food", "restaurant", "restaurants", "delivery", "takeout", "open", "now", "tonight")
)
"""Words of a query that tell no place from others."""
ALIKE = 0.08
"""Places whose scores differ by less than this share of the best one come by distance."""
ON_THE_MENU = 0.8
"""What a word on the menu counts, compared with one in the name or the kind of food."""
NAMED = 1.2
"""What a name with the only word of a query counts, compared with the best match without it."""
SPAN = 5400
"""Seconds for which a scarce item stays available or sold out."""


# -- hours -----------------------------------------------------------------------------------------
def zone(place: Row) -> ZoneInfo:
    """Return the time zone of a place."""
    return ZoneInfo(place["timezone"])


def spans(place: Row, day: date) -> Iterator[tuple[int, int]]:
    """Yield when a place opens and closes, in epoch seconds, on a local day."""
    for span in filter(None, place["hours"][day.weekday()].split(",")):
        opens, closes = (_clock(text) for text in span.split("-"))
        last_day = day if closes > opens else day + timedelta(days=1)
        yield local_moment(day, opens, zone(place)), local_moment(last_day, closes, zone(place))


def _clock(text: str) -> time:
    return time(0) if text == "24:00" else time.fromisoformat(text)


def closed_for_good(place: Row, moment: int) -> bool:
    """Return whether a place has closed for good."""
    if place["closed_on"] is None:
        return False
    return local_day(moment, zone(place)).isoformat() >= place["closed_on"]


def span_at(place: Row, moment: int) -> tuple[int, int] | None:
    """Return the opening span around a moment, or None if the place is closed then."""
    if closed_for_good(place, moment):
        return None
    today = local_day(moment, zone(place))
    # Yesterday's last span may run past midnight.
    for day in (today - timedelta(days=1), today):
        for opens, closes in spans(place, day):
            if opens <= moment < closes:
                return opens, closes
    return None


def opens_next(place: Row, moment: int) -> int | None:
    """Return when a place next opens within a week: the moment itself if it is open."""
    if closed_for_good(place, moment):
        return None
    if span_at(place, moment):
        return moment
    today = local_day(moment, zone(place))
    for days in range(8):
        for opens, _ in spans(place, today + timedelta(days=days)):
            if opens > moment:
                return opens
    return None


def hours_json(place: Row) -> dict[str, str]:
    """Return local opening hours by day."""
    days = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    return {
        day: text.replace(",", ", ") or "closed"
        for day, text in zip(days, place["hours"], strict=True)
    }


def busy(place: Row, moment: int) -> float:
    """Return how busy a kitchen is, from 0 to 1.

    Mealtimes add half; the rest varies every quarter of an hour.
    """
    peak = 0.5 if local(moment, zone(place)).hour in (12, 18, 19) else 0.0
    return peak + share("busy", place["id"], moment // 900) / 2


# -- places ----------------------------------------------------------------------------------------
def find_place(
    svc: Service, words: Words, place_id: str, kind: str = "restaurant", finder: str = ""
) -> Row:
    """Return a restaurant or store, or refuse.

    `finder` is the tool that lists places of this kind, if it is not the search.
    """
    row = svc.db.get(f"{words.tables}_restaurants", place_id)
    if row is None or row["kind"] != kind:
        code = f"{words.shop if kind == 'restaurant' else 'STORE'}_NOT_FOUND"
        noun = {"grocery": "grocery store", "add_on": "add-on store"}.get(kind, kind)
        message = f"There is no {noun} with the ID {place_id!r}."
        svc.fail(code, message, f"Use an ID from {finder or words.search}.", id=place_id)
    return row


def address_text(place: Row) -> str:
    """Return street, city, state and postal code as one line."""
    return f"{place['street']}, {place['city']}, {place['state']} {place['zip']}"


def distance(place: Row, address: dict[str, Any] | None) -> float | None:
    """Return the miles from a place to an address."""
    if address is None:
        return None
    return miles(place["lat"], place["lng"], address["lat"], address["lng"])


def default_address(svc: Service, words: Words) -> dict[str, Any] | None:
    """Return the default address, if any address is saved."""
    return next((a for a in rules.addresses(svc, words) if a["is_default"]), None)


def nearby(
    svc: Service,
    words: Words,
    kind: str,
    query: str | None,
    category: str | None,
    open_only: bool,
    address: dict[str, Any] | None,
) -> list[dict[str, Any]]:
    """Return places within 25 miles of an address, with `miles`.

    They are ordered by match or, without a query, by distance.
    """
    places: list[Row] = svc.db.rows(f"{words.tables}_restaurants", "kind=?", kind, order="id")
    if category is not None:
        known = sorted({p["category"] for p in places})
        if category.lower() not in {k.lower() for k in known}:
            message = f"There is no category {category!r}{did_you_mean(category, known)}"
            hint = f"Categories: {', '.join(known)}."
            svc.fail("CATEGORY_NOT_FOUND", message, hint, category=category)
        places = [p for p in places if p["category"].lower() == category.lower()]
    if open_only:
        places = [p for p in places if span_at(p, svc.now)]
    places = [{**p, "miles": distance(p, address)} for p in places]
    places = [p for p in places if (p["miles"] or 0) <= 25]
    if query is None:
        return sorted(places, key=lambda p: (p["miles"] or 0, p["id"]))
    totals = _scores(svc, words, query, {place["id"] for place in places})
    places.sort(key=lambda p: (p["miles"] or 0, p["id"]))
    return search.in_order(places, totals, grain=ALIKE)


def cuisines(svc: Service, words: Words) -> Json:
    """Return the categories of restaurants near the default address, as replies show them."""
    near = nearby(svc, words, "restaurant", None, None, False, default_address(svc, words))
    count = Counter(place["category"] for place in near)
    return {"cuisines": [{"category": k, "restaurants": n} for k, n in sorted(count.items())]}


def _scores(svc: Service, words: Words, query: str, near: set[str]) -> search.Scores:
    """Return how well places match a query by their own text or by what is on their menus.

    A place with the only word of a query in its name comes before those that serve such a dish.
    """
    on_sale = f"SELECT id, restaurant_id FROM {words.tables}_items WHERE removed_at IS NULL"
    sold = svc.db.sql(on_sale)

    def nearby(places: search.Scores) -> search.Scores:
        return {place: score for place, score in places.items() if place in near}

    def of_places(items: search.Scores) -> search.Scores:
        best: search.Scores = {}
        for item, place in sold:
            if item in items and place in near:
                best[place] = max(best.get(place, 0.0), ON_THE_MENU * items[item])
        return best

    own = search.Source(f"{words.tables}_restaurants", spread=nearby)
    menus = search.Source(f"{words.tables}_items", spread=of_places)
    asked = search.without(query, EMPTY)
    found = search.scores(svc.db, asked, own, menus)
    if len(search.meaningful(asked)) == 1:
        most = max(found.values(), default=0.0)
        for place in own.named(svc.db, asked):
            found[place] = NAMED * most
    return found


def place_json(svc: Service, place: Row, key: str) -> Json:
    """Return a place as the agent sees it; `key` is the name of its id."""
    return {
        key: place["id"],
        "name": place["name"],
        "category": place["category"],
        "price_level": "$" * place["price"],
        "rating": place["rating"],
        "rating_count": place["ratings"],
        "address": address_text(place),
        "is_open": span_at(place, svc.now) is not None,
        "permanently_closed": closed_for_good(place, svc.now),
    }


def detail_json(svc: Service, place: Row) -> Json:
    """Return what only a place's own page shows: phone, hours, minimum order and radius."""
    span = span_at(place, svc.now)
    opens = opens_next(place, svc.now)
    return {
        "phone": place["phone"],
        "timezone": place["timezone"],
        "hours": hours_json(place),
        "closes_at": iso(span[1]) if span else None,
        "opens_at": iso(opens) if opens is not None and not span else None,
        "min_order": dollars(place["min_order"]),
        "delivery_radius_miles": place["radius"],
    }


# -- items -----------------------------------------------------------------------------------------
def available(item: Row, moment: int) -> bool:
    """Return whether an item can be ordered at a moment.

    Now and then, a scarce item is sold out for an hour and a half.
    """
    for gone in (item["removed_at"], item["out_since"]):
        if gone is not None and gone <= iso(moment):
            return False
    return not item["scarce"] or share("stock", item["id"], moment // SPAN) >= 0.35


def items_of(svc: Service, words: Words, place_id: str) -> list[Row]:
    """Return the items that a place sells, sold out or not, in menu order."""
    on_menu = "restaurant_id=? AND removed_at IS NULL"
    return svc.db.rows(f"{words.tables}_items", on_menu, place_id, order="rowid")


def find_item(svc: Service, words: Words, item_id: str, place_id: str | None = None) -> Row:
    """Return an item (of a place, if one is given), or refuse."""
    row = svc.db.get(f"{words.tables}_items", item_id)
    if row is None or place_id not in (None, row["restaurant_id"]):
        where = "" if place_id is None else " at this place"
        message = f"There is no item with the ID {item_id!r}{where}."
        svc.fail("ITEM_NOT_FOUND", message, f"Use an item_id from {words.menu}.", item_id=item_id)
    return row


def groups(svc: Service, words: Words, item: Row) -> list[dict[str, Any]]:
    """Return the option groups of an item."""
    rows = [svc.db.get(f"{words.tables}_options", group_id) for group_id in item["options"]]
    return [row for row in rows if row is not None]


def item_json(svc: Service, words: Words, item: Row) -> Json:
    """Return a menu item as the agent sees it, with its options and their prices in dollars."""
    return {
        "item_id": item["id"],
        "name": item["name"],
        "category": item["section"],
        "price": dollars(item["price"]),
        "diet": item["diet"].split(),
        "options": [_group_json(group) for group in groups(svc, words, item)],
        "available": available(item, svc.now),
    }


def _group_json(group: Row) -> Json:
    choices = [
        {"option_id": choice["id"], "name": choice["name"], "price_delta": dollars(choice["delta"])}
        for choice in group["choices"]
    ]
    return {
        "name": group["name"],
        "required": group["required"],
        "max_choices": group["most"],
        "choices": choices,
    }


def goods_json(svc: Service, item: Row) -> Json:
    """Return an item of a store as the agent sees it."""
    return {
        "item_id": item["id"],
        "name": item["name"],
        "category": item["section"],
        "price": dollars(item["price"]),
        "unit": item["unit"],
        "available": available(item, svc.now),
    }


def chosen(svc: Service, words: Words, item: Row, picked: list[str]) -> int:
    """Return the cents that the chosen options add to an item's price.

    Options that the item does not have, or that break the rules of its groups, are refused.
    """
    left = list(picked)
    extra = 0
    for group in groups(svc, words, item):
        name = group["name"]
        deltas = {c["id"]: c["delta"] for c in group["choices"]}
        in_group = [p for p in left if p in deltas]
        left = [p for p in left if p not in deltas]
        if group["required"] and not in_group:
            offered = ", ".join(f"{c['name']} ({c['id']})" for c in group["choices"])
            message = f"{item['name']} requires a choice of {name}."
            hint = f"Add one of: {offered}."
            svc.fail("OPTION_REQUIRED", message, hint, item_id=item["id"], option=name)
        if len(in_group) > group["most"] or len(set(in_group)) < len(in_group):
            message = f"{item['name']} allows at most {group['most']} of {name}, each only once."
            hint = "Remove some of these options."
            svc.fail("TOO_MANY_OPTIONS", message, hint, item_id=item["id"], option=name)
        extra += sum(deltas[p] for p in in_group)
    if left:
        message = f"{item['name']} has no option {left[0]!r}."
        hint = f"{words.menu} lists its options."
        svc.fail("OPTION_NOT_FOUND", message, hint, item_id=item["id"], option_id=left[0])
    return extra


def option_names(svc: Service, words: Words, item_id: str, picked: list[str]) -> list[Json]:
    """Return `{option_id, name}` of each chosen option."""
    item = svc.db.get(f"{words.tables}_items", item_id)
    names = {}
    for group in groups(svc, words, item) if item else []:
        for choice in group["choices"]:
            names[choice["id"]] = choice["name"]
    return [{"option_id": p, "name": names.get(p, p)} for p in picked]
