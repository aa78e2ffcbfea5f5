"""What Booking.com and Expedia share: hotels and towns, what a stay costs, when it may be cancelled, how it is booked and changed.

Hotels are the same for both; each provider sells them under ids, names, allotments, prices and policies of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from servers.kit.errors import did_you_mean
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.values import Date, Dollars, parse_time, round_cents
from servers.kit.zones import local_day, local_moment
from servers.travel import _stock as stock

SHARED = {
    # `tax` is in basis points; `fee` (cents a room and night) is what the house charges on top of its rate.
    "travel_cities": Table(
        "id:str name:str state:str state_name:str lat:float lng:float timezone:str tax:int"
    ),
    "travel_hotels": Table(
        "id:str city_id:str kind:str stars:int street:str zip:str lat:float lng:float phone:str fee:int amenities:list "
        "opens:str leaves:str closed_from:str? closed_to:str?",
        index=("city_id",),
    ),
    "travel_events": Table(
        "id:str city_id:str name:str begins:str ends:str fill:int", index=("city_id",)
    ),
}
# Room types of one pool are the same rooms under other conditions; `units` is the provider's allotment of the pool, `deposit` the percent
# of the total that is charged at booking; the rest is paid at the property.
ROOM_TYPES = Table(
    "id:str property_id:str name:str pool:str units:int sleeps:int beds:str base:int policy:str min_stay:int breakfast:bool deposit:int",
    index=("property_id",),
)
# `nights` holds the agreed price of one room for each night, in cents.
BOOKINGS = Table(
    "id:str property_id:str room_type_id:str check_in:str check_out:str rooms:int guests:int guest_name:str guest_email:str "
    "guest_phone:str? requests:str? nights:list discount:int card_id:str created_at:str modified_at:str? cancelled_at:str? no_show:bool",
    index=("property_id", "check_in"),
)
CARDS = Table("id:str brand:str name:str last4:str expires:str added_at:str")
ACCOUNT = Table("id:str name:str email:str phone:str timezone:str", identity=True)
TRAVELERS = Table("id:str name:str email:str? phone:str? added_at:str")

DAY = 86_400
LONGER_FROM = 108
"""How full (percent) an event makes a night that is let for two nights at least."""

CheckIn = Annotated[
    Date, Field(description="First night, as YYYY-MM-DD; today at the property or later.")
]
CheckOut = Annotated[
    Date, Field(description="Day of departure, as YYYY-MM-DD; after the first night.")
]
Guests = Annotated[
    int, Field(ge=1, le=24, description="How many people stay, in all rooms together.")
]
Rooms = Annotated[int, Field(ge=1, le=8, description="How many rooms of the type.")]
CityName = Annotated[
    str,
    Field(
        min_length=2,
        max_length=80,
        description="City, best with its state: 'Portland, OR' or 'Portland, Oregon'.",
    ),
]
PropertyId = Annotated[str, Field(description="property_id, from the search.")]
RoomTypeId = Annotated[str, Field(description="room_type_id of a property.")]
BookingId = Annotated[str, Field(description="booking_id of a booking of this account.")]
Requests = Annotated[
    str,
    Field(
        min_length=1, max_length=500, description="What the property should know; never guaranteed."
    ),
]
CardId = Annotated[
    str,
    Field(
        description="payment_method_id of a saved card; left out: the first that has not expired."
    ),
]
Quoted = Annotated[
    Dollars,
    Field(
        description="Total price you saw, in dollars: refused with PRICE_CHANGED if it is another now."
    ),
]
Amenity = Literal[
    "wifi", "parking", "breakfast", "pool", "gym", "pet_friendly", "air_conditioning", "kitchen", "restaurant", "spa",
    "airport_shuttle", "ev_charging", "accessible",
]  # fmt: skip
Amenities = Annotated[
    list[Annotated[Amenity, Field(description="An amenity.")]],
    Field(min_length=1, max_length=13, description="Only places with all of these."),
]
MaxPrice = Annotated[
    Dollars,
    Field(description="Highest average price of a room and night before taxes, in dollars."),
]
Status = Annotated[
    Literal["confirmed", "checked_in", "completed", "cancelled", "no_show"],
    Field(description="Only bookings in this status."),
]


@dataclass(frozen=True)
class Policy:
    """Until how many days before arrival cancelling is free (None: never) and what it costs afterwards."""

    days: int | None
    late: Literal["first_night", "everything"]


def policy(room: dict[str, Any]) -> Policy:
    """Return the policy of a room type, whose column says `<days>:first_night`, `<days>:everything` or `none`."""
    days, _, late = room["policy"].partition(":")
    return (
        Policy(int(days), "first_night" if late == "first_night" else "everything")
        if late
        else Policy(None, "everything")
    )


@dataclass(frozen=True)
class Words:
    """A provider's tables, codes and the tools that hints point to. Free cancelling ends at `hour`, or `grace` seconds after booking."""

    tables: str
    booking_id: str
    hour: int
    longest: int
    fees_included: bool
    grace: int
    no_property: str
    no_booking: str
    sold_out: str
    search: str
    room_list: str
    booking_list: str
    card_list: str


@dataclass(frozen=True)
class Offer:
    """A room type for some nights: price of each night, units left, and why it cannot be had (`sold_out`, `minimum_stay`, `too_small`)."""

    room: dict[str, Any]
    prices: list[int]
    left: int
    needed: int
    problem: str | None

    @property
    def average(self) -> int:
        """Average price of a night in cents."""
        return round_cents(sum(self.prices) / len(self.prices))


@dataclass(frozen=True)
class Cost:
    """What a stay costs, in cents: rooms before and after a discount, taxes, the house's fees; `total` is what the provider charges."""

    lodging: int
    discount: int
    taxes: int
    fees: int
    total: int


# -- towns and houses ---------------------------------------------------------------------------------------------
def cities(svc: Service, text: str) -> list[dict[str, Any]]:
    """Return the towns of a name, narrowed by a state after a comma (code or name); refuse when there is none."""
    name, _, state = (part.strip().lower() for part in text.partition(","))
    known = svc.db.rows("travel_cities", order="name, state")
    found = [
        c
        for c in known
        if c["name"].lower() == name and state in ("", c["state"].lower(), c["state_name"].lower())
    ]
    if not found:
        near = did_you_mean(text, [f"{c['name']}, {c['state']}" for c in known])
        svc.fail(
            "DESTINATION_NOT_FOUND",
            f"No destination is called {text!r}{near}",
            "Name a city, best with its state.",
            city=text,
        )
    return found


def find_property(svc: Service, words: Words, property_id: str) -> dict[str, Any]:
    """Return a property with its house and town in one dict, or refuse."""
    row = svc.db.get(f"{words.tables}_properties", property_id)
    if row is None:
        svc.fail(
            words.no_property,
            f"There is no property {property_id!r}.",
            f"Find one with {words.search}.",
            property_id=property_id,
        )
    return whole(svc, row)


def whole(svc: Service, row: dict[str, Any]) -> dict[str, Any]:
    """Return a provider's property row joined with its house and town (`city`, `state`, `tax`, `timezone`)."""
    house = svc.db.get("travel_hotels", row["hotel_id"]) or {}
    town = svc.db.get("travel_cities", house["city_id"]) or {}
    place = {
        "city": town["name"],
        "state": town["state"],
        "tax": town["tax"],
        "timezone": town["timezone"],
    }
    return house | place | row | {"property_id": row["id"]}


def zone(hotel: dict[str, Any]) -> ZoneInfo:
    """Return the zone of a property or town."""
    return ZoneInfo(hotel["timezone"])


def find_room(svc: Service, words: Words, room_type_id: str) -> dict[str, Any]:
    """Return a room type, or refuse."""
    row = svc.db.get(f"{words.tables}_room_types", room_type_id)
    if row is None:
        hint = f"Take a room_type_id from {words.room_list}."
        svc.fail(
            "ROOM_TYPE_NOT_FOUND",
            f"There is no room type {room_type_id!r}.",
            hint,
            room_type_id=room_type_id,
        )
    return row


def room_types(svc: Service, words: Words, property_id: str) -> list[dict[str, Any]]:
    """Return a property's room types, cheapest first."""
    return svc.db.rows(f"{words.tables}_room_types", "property_id=?", property_id, order="base, id")


def check_dates(
    svc: Service, words: Words, where: dict[str, Any], check_in: str, check_out: str
) -> None:
    """Refuse dates that are past at the place, in the wrong order, too long or too far ahead."""
    problem = _date_problem(svc, words, where, check_in, check_out)
    if problem:
        svc.fail(
            "INVALID_DATES",
            f"These dates cannot be booked: {problem}.",
            "Correct the dates.",
            check_in=check_in,
            check_out=check_out,
        )


def bookable(
    svc: Service, words: Words, towns: list[dict[str, Any]], stay: tuple[str, str]
) -> list[dict[str, Any]]:
    """Return the towns where dates can be booked (today may be over in some of them); refuse dates that no town takes."""
    found = [t for t in towns if _date_problem(svc, words, t, *stay) is None]
    if not found:
        check_dates(svc, words, towns[0], *stay)
    return found


def _date_problem(
    svc: Service, words: Words, where: dict[str, Any], check_in: str, check_out: str
) -> str | None:
    first = date.fromisoformat(check_in)
    last = date.fromisoformat(check_out)
    today = local_day(svc.now, zone(where))
    problem = None
    if first < today:
        problem = f"check_in_date {check_in} is past; today is {today} in {where.get('city', where['name'])}"
    elif last <= first:
        problem = f"check_out_date {check_out} is not after check_in_date {check_in}"
    elif (last - first).days > words.longest:
        problem = f"a stay has at most {words.longest} nights"
    elif (last - today).days > stock.HORIZON:
        problem = f"rooms are sold {stock.HORIZON} days ahead"
    return problem


# -- offers and prices --------------------------------------------------------------------------------------------
def offer(
    svc: Service,
    words: Words,
    room: dict[str, Any],
    hotel: dict[str, Any],
    stay: tuple[str, str],
    guests: int,
    rooms: int,
    *,
    but: str = "",
) -> Offer:
    """Return what a room type costs and how many are left, not counting the booking `but`, whose agreed nights keep their price."""
    days = stock.nights(*stay)
    today = local_day(svc.now, zone(hotel))
    events = svc.db.rows("travel_events", "city_id=?", hotel["city_id"])
    agreed: dict[date, int] = {}
    if but:
        old = svc.db.get(f"{words.tables}_bookings", but) or {}
        agreed = dict(
            zip(stock.nights(old["check_in"], old["check_out"]), old["nights"], strict=True)
        )
    prices = []
    left = room["units"]
    needed = room["min_stay"]
    for night in days:
        fill = stock.busy(events, night)
        prices.append(agreed.get(night) or stock.night_price(room, hotel, fill, night, today))
        taken = stock.others(room, hotel, fill, night, today)
        left = min(
            left,
            room["units"]
            - taken
            - stock.held(svc, words.tables, hotel["property_id"], room["pool"], night, but),
        )
        needed = max(needed, 2 if fill >= LONGER_FROM else 1)
    problem = None
    if room["sleeps"] * rooms < guests:
        problem = "too_small"
    elif left < rooms:
        problem = "sold_out"
    elif len(days) < needed:
        problem = "minimum_stay"
    return Offer(room, prices, max(0, left), needed, problem)


def offers(
    svc: Service,
    words: Words,
    hotel: dict[str, Any],
    stay: tuple[str, str],
    guests: int,
    rooms: int = 1,
) -> list[Offer]:
    """Return a property's offers: those that can be had first, then by price."""
    found = [
        offer(svc, words, room, hotel, stay, guests, rooms)
        for room in room_types(svc, words, hotel["property_id"])
    ]
    return sorted(found, key=lambda o: (o.problem is not None, sum(o.prices), o.room["id"]))


def search(
    svc: Service,
    words: Words,
    towns: list[dict[str, Any]],
    stay: tuple[str, str],
    guests: int,
    *,
    min_rating: float | None,
    max_price: int | None,
    amenities: Sequence[str] | None,
    keep: Callable[[dict[str, Any]], bool],
    wanted: Callable[[dict[str, Any], Offer], bool],
) -> list[dict[str, Any]]:
    """Return `{property_id, hotel, offers}` of the towns' properties that have a wanted offer, best rated first; `max_price` in cents."""
    found = []
    for town in bookable(svc, words, towns, stay):
        for row in svc.db.rows(
            f"{words.tables}_properties",
            "hotel_id IN (SELECT id FROM travel_hotels WHERE city_id=?)",
            town["id"],
            order="id",
        ):
            hotel = whole(svc, row)
            if (
                hotel["rating"] < (min_rating or 0)
                or not set(amenities or ()) <= set(hotel["amenities"])
                or not keep(hotel)
            ):
                continue
            some = [
                o
                for o in offers(svc, words, hotel, stay, guests)
                if wanted(hotel, o) and (max_price is None or o.average <= max_price)
            ]
            if some:
                found.append({"property_id": hotel["property_id"], "hotel": hotel, "offers": some})
    return sorted(found, key=_rank)


def _rank(found: dict[str, Any]) -> tuple[Any, ...]:
    hotel = found["hotel"]
    return (
        found["offers"][0].problem is not None,
        -hotel["rating"],
        -hotel["review_count"],
        hotel["id"],
    )


def cost(
    words: Words, hotel: dict[str, Any], prices: list[int], rooms: int, discount: int = 0
) -> Cost:
    """Return what nights cost; the discount is in percent of the rooms, and taxes are on what remains."""
    lodging = sum(prices) * rooms
    off = round_cents(lodging * discount / 100)
    taxes = round_cents((lodging - off) * hotel["tax"] / 10_000)
    fees = hotel["fee"] * len(prices) * rooms
    return Cost(
        lodging, off, taxes, fees, lodging - off + taxes + (fees if words.fees_included else 0)
    )


def charged(words: Words, room: dict[str, Any], row: dict[str, Any], hotel: dict[str, Any]) -> int:
    """Return what the card was charged for a booking, in cents: its total, or a deposit of it."""
    return round_cents(booked(words, row, hotel).total * room["deposit"] / 100)


def booked(words: Words, row: dict[str, Any], hotel: dict[str, Any]) -> Cost:
    """Return what a booking costs."""
    return cost(words, hotel, row["nights"], row["rooms"], row["discount"])


# -- the life of a booking ----------------------------------------------------------------------------------------
def arrival(row: dict[str, Any], hotel: dict[str, Any]) -> int:
    """Return the moment from which the guests may check in."""
    return local_moment(
        date.fromisoformat(row["check_in"]), time.fromisoformat(hotel["opens"]), zone(hotel)
    )


def status(svc: Service, row: dict[str, Any], hotel: dict[str, Any]) -> str:
    """Return confirmed, checked_in, completed, cancelled or no_show, as of now."""
    if row["cancelled_at"] is not None:
        return "cancelled"
    if svc.now < arrival(row, hotel):
        return "confirmed"
    if row["no_show"] and svc.now >= local_moment(
        date.fromisoformat(row["check_in"]) + timedelta(days=1), time(4), zone(hotel)
    ):
        return "no_show"
    leaves = local_moment(
        date.fromisoformat(row["check_out"]), time.fromisoformat(hotel["leaves"]), zone(hotel)
    )
    return "checked_in" if svc.now < leaves else "completed"


def free_until(
    words: Words, room: dict[str, Any], check_in: str, hotel: dict[str, Any], created: int
) -> int | None:
    """Return the moment until which a stay that was or would be booked at `created` can be cancelled for free; None: at no time."""
    first = date.fromisoformat(check_in)
    days = policy(room).days
    until = (
        []
        if days is None
        else [local_moment(first - timedelta(days=days), time(words.hour), zone(hotel))]
    )
    if local_moment(first, time(0), zone(hotel)) - created >= 7 * DAY and words.grace:
        until.append(created + words.grace)
    return max((u for u in until if u > created), default=None)


def deadline(svc: Service, words: Words, row: dict[str, Any], hotel: dict[str, Any]) -> int | None:
    """Return until when a booking can be cancelled for free."""
    return free_until(
        words,
        find_room(svc, words, row["room_type_id"]),
        row["check_in"],
        hotel,
        parse_time(row["created_at"]),
    )


def refund(svc: Service, words: Words, row: dict[str, Any], hotel: dict[str, Any]) -> int:
    """Return what comes back, in cents, for a cancellation now (or for the one that was made)."""
    at = parse_time(row["cancelled_at"]) if row["cancelled_at"] is not None else svc.now
    room = find_room(svc, words, row["room_type_id"])
    paid = charged(words, room, row, hotel)
    until = deadline(svc, words, row, hotel)
    if at >= arrival(row, hotel):
        return 0
    if until is not None and at <= until:
        return paid
    if policy(room).late == "everything":
        return 0
    return max(0, paid - cost(words, hotel, row["nights"][:1], row["rooms"], row["discount"]).total)


def find_booking(
    svc: Service, words: Words, booking_id: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a booking and its property, or refuse."""
    row = svc.db.get(f"{words.tables}_bookings", booking_id)
    if row is None:
        hint = f"Take a booking_id from {words.booking_list}."
        svc.fail(
            words.no_booking,
            f"There is no booking {booking_id!r} in this account.",
            hint,
            booking_id=booking_id,
        )
    return row, find_property(svc, words, row["property_id"])


def bookings(svc: Service, words: Words, wanted: str | None) -> list[dict[str, Any]]:
    """Return rows of bookings, the latest arrival first."""
    found = svc.db.rows(f"{words.tables}_bookings", order="check_in DESC, id")
    return [
        r
        for r in found
        if wanted is None or status(svc, r, find_property(svc, words, r["property_id"])) == wanted
    ]
