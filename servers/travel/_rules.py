"""What Booking.com and Expedia share: tables, arguments, hotels and towns, and prices of stays.

Both sell the same hotels, each under its own ids, names, allotments, prices and policies. The rules
for an existing booking are in `_bookings.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from servers.kit import towns
from servers.kit.errors import did_you_mean
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Row
from servers.kit.values import Date, Dollars, round_cents
from servers.kit.zones import local_day
from servers.travel import _stock as stock

# -- tables ----------------------------------------------------------------------------------------
SHARED = {
    # `tax` is in basis points.
    "travel_cities": Table(
        "id:str name:str state:str state_name:str lat:float lng:float timezone:str tax:int",
        catalogue=True,
    ),
    # `fee` (cents per room and night) is charged by the hotel in addition to its rate.
    "travel_hotels": Table(
        "id:str city_id:str kind:str stars:int street:str zip:str lat:float lng:float phone:str "
        "fee:int amenities:list opens:str leaves:str closed_from:str? closed_to:str?",
        index=("city_id",),
        catalogue=True,
    ),
    "travel_events": Table(
        "id:str city_id:str name:str begins:str ends:str fill:int",
        index=("city_id",),
        catalogue=True,
    ),
}
# Room types of one pool are the same rooms under different conditions. `units` is the provider's
# allotment of the pool; `deposit` is the percentage of the total charged at booking, the rest is
# paid at the property.
ROOM_TYPES = Table(
    "id:str property_id:str name:str pool:str units:int sleeps:int beds:str base:int policy:str "
    "min_stay:int breakfast:bool deposit:int",
    index=("property_id",),
    catalogue=True,
)
# `nights` holds the agreed price of one room for each night, in cents.
BOOKINGS = Table(
    "id:str property_id:str/ref room_type_id:str/ref check_in:str/appointed "
    "check_out:str/appointed rooms:int/matter guests:int/matter guest_name:str/matter "
    "guest_email:str/matter guest_phone:str?/matter requests:str?/prose nights:list/derived "
    "discount:int/matter card_id:str/ref created_at:str/stamp modified_at:str?/derived "
    "cancelled_at:str?/stamp no_show:bool/derived",
    index=("property_id", "check_in", "check_out"),
    outward={},
    noun="a stay at {property_id} from {check_in:day} to {check_out:day}",
)
CARDS = Table("id:str brand:str name:str last4:str expires:str added_at:str", catalogue=True)
ACCOUNT = Table("id:str name:str email:str phone:str timezone:str", identity=True, catalogue=True)
TRAVELERS = Table(
    "id:str name:str/matter email:str?/matter phone:str?/matter added_at:str/stamp",
    noun="the saved traveler {name}",
)

DAY = 86_400
LONGER_FROM = 108
"""How full (in percent) an event must make a night for a minimum stay of two nights."""

# -- arguments -------------------------------------------------------------------------------------
CheckIn = Annotated[
    Date, Field(description="First night, as YYYY-MM-DD; today (at the property) or later.")
]
CheckOut = Annotated[
    Date, Field(description="Departure date, as YYYY-MM-DD; after the first night.")
]
Guests = Annotated[int, Field(ge=1, le=24, description="Number of guests in all rooms together.")]
Rooms = Annotated[int, Field(ge=1, le=8, description="Number of rooms of the type.")]
CityName = Annotated[
    str,
    Field(
        min_length=2,
        max_length=80,
        description="City, preferably with its state: 'Portland, OR' or 'Portland, Oregon'.",
    ),
]
PropertyId = Annotated[str, Field(description="property_id from the search.")]
RoomTypeId = Annotated[str, Field(description="room_type_id of a property.")]
BookingId = Annotated[str, Field(description="booking_id of one of this account's bookings.")]
Requests = Annotated[
    str,
    Field(
        min_length=1,
        max_length=500,
        description="Special requests for the property; not guaranteed.",
    ),
]
CardId = Annotated[
    str,
    Field(description="payment_method_id of a saved card; defaults to the first unexpired one."),
]
Quoted = Annotated[
    Dollars,
    Field(
        description="Total price you saw, in dollars; if it has changed, "
        "the booking is refused with PRICE_CHANGED."
    ),
]
Amenity = Literal[
    "wifi", "parking", "breakfast", "pool", "gym", "pet_friendly", "air_conditioning", "kitchen",
    "restaurant", "spa", "airport_shuttle", "ev_charging", "accessible",
]  # fmt: skip
Amenities = Annotated[
    list[Annotated[Amenity, Field(description="An amenity.")]],
    Field(min_length=1, max_length=13, description="Only places with all of these amenities."),
]
MaxPrice = Annotated[
    Dollars,
    Field(description="Maximum average price per room and night before taxes, in dollars."),
]
Status = Annotated[
    Literal["confirmed", "checked_in", "completed", "cancelled", "no_show"],
    Field(description="Only bookings with this status."),
]


# -- shapes ----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Words:
    """A provider's tables, codes, and the tools that hints refer to.

    Free cancellation ends at `hour` o'clock, or `grace` seconds after booking.
    """

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
    """A room type for some nights: the price of each night, units left, and minimum nights.

    `problem` is the reason it cannot be booked: `sold_out`, `minimum_stay` or `too_small`.
    """

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
    """The cost of a stay, in cents.

    `lodging` is the price of the rooms before the discount, `fees` are the hotel's; `total` is what
    the provider charges.
    """

    lodging: int
    discount: int
    taxes: int
    fees: int
    total: int


# -- towns and houses ------------------------------------------------------------------------------
def cities(svc: Service, text: str) -> list[dict[str, Any]]:
    """Return the towns that a text means, or refuse.

    Of towns that share a name, the only one in the account's time zone is meant, so that Portland
    is the one where the person lives.
    """
    known = svc.db.rows("travel_cities", order="name, state")
    meant = towns.matching(
        text, known, lambda c: towns.Named(c["name"], c["state"], c["state_name"])
    )
    if not meant:
        near = did_you_mean(text, [f"{c['name']}, {c['state']}" for c in known])
        svc.fail(
            "DESTINATION_NOT_FOUND",
            f"There is no destination named {text!r}{near or '.'}",
            "Name a city, preferably with its state.",
            city=text,
        )
    home = svc.db.rows(f"{svc.name}_account")[0]["timezone"]
    at_home = [c for c in meant if c["timezone"] == home]
    alike = len({c["name"] for c in meant}) == 1
    return at_home if alike and len(at_home) == 1 else meant


def find_property(svc: Service, words: Words, property_id: str) -> dict[str, Any]:
    """Return a property with its hotel and town in one dict, or refuse."""
    row = svc.db.get(f"{words.tables}_properties", property_id)
    if row is None:
        message = f"There is no property {property_id!r}."
        svc.fail(
            words.no_property, message, f"Find one with {words.search}.", property_id=property_id
        )
    return whole(svc, row)


def whole(svc: Service, row: Row) -> dict[str, Any]:
    """Return a provider's property row joined with its hotel and town.

    The town adds `city`, `state`, `tax` and `timezone`.
    """
    house = svc.db.get("travel_hotels", row["hotel_id"]) or {}
    town = svc.db.get("travel_cities", house["city_id"]) or {}
    place = {
        "city": town["name"],
        "state": town["state"],
        "tax": town["tax"],
        "timezone": town["timezone"],
    }
    return house | place | row | {"property_id": row["id"]}


def zone(hotel: Row) -> ZoneInfo:
    """Return the time zone of a property or town."""
    return ZoneInfo(hotel["timezone"])


def find_room(svc: Service, words: Words, room_type_id: str) -> Row:
    """Return a room type, or refuse."""
    row = svc.db.get(f"{words.tables}_room_types", room_type_id)
    if row is None:
        message = f"There is no room type {room_type_id!r}."
        hint = f"Use a room_type_id from {words.room_list}."
        svc.fail("ROOM_TYPE_NOT_FOUND", message, hint, room_type_id=room_type_id)
    return row


def room_types(svc: Service, words: Words, property_id: str) -> list[Row]:
    """Return a property's room types, cheapest first."""
    return svc.db.rows(f"{words.tables}_room_types", "property_id=?", property_id, order="base, id")


# -- dates -----------------------------------------------------------------------------------------
def check_dates(svc: Service, words: Words, where: Row, check_in: str, check_out: str) -> None:
    """Refuse dates that are past at the property, in the wrong order, too long or too far ahead."""
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
    svc: Service, words: Words, towns: list[Row], stay: tuple[str, str]
) -> list[dict[str, Any]]:
    """Return the towns in which dates can be booked; refuse dates that no town accepts.

    Today may already be over in some of the towns.
    """
    open_towns = [t for t in towns if _date_problem(svc, words, t, *stay) is None]
    if not open_towns:
        check_dates(svc, words, towns[0], *stay)
    return open_towns


def _date_problem(
    svc: Service, words: Words, where: Row, check_in: str, check_out: str
) -> str | None:
    first = date.fromisoformat(check_in)
    last = date.fromisoformat(check_out)
    today = local_day(svc.now, zone(where))
    if first < today:
        place = where.get("city", where["name"])
        return f"check_in_date {check_in} is in the past; today is {today} in {place}"
    if last <= first:
        return f"check_out_date {check_out} is not after check_in_date {check_in}"
    if (last - first).days > words.longest:
        return f"a stay cannot be longer than {words.longest} nights"
    if (last - today).days > stock.HORIZON:
        return f"rooms can be booked only {stock.HORIZON} days in advance"
    return None


# -- offers and prices -----------------------------------------------------------------------------
def offer(
    svc: Service,
    words: Words,
    room: Row,
    hotel: Row,
    stay: tuple[str, str],
    guests: int,
    rooms: int,
    *,
    but: str = "",
) -> Offer:
    """Return the price of a room type for a stay, and how many are left.

    The booking `but` does not count as taken, and its nights keep their agreed price.
    """
    days = stock.nights(*stay)
    today = local_day(svc.now, zone(hotel))
    events = svc.db.rows("travel_events", "city_id=?", hotel["city_id"])
    agreed: dict[date, int] = {}
    if but:
        old = svc.db.get(f"{words.tables}_bookings", but) or {}
        booked = stock.nights(old["check_in"], old["check_out"])
        agreed = dict(zip(booked, old["nights"], strict=True))
    prices = []
    left = room["units"]
    needed = room["min_stay"]
    for night in days:
        fill = stock.busy(events, night)
        prices.append(agreed.get(night) or stock.night_price(room, hotel, fill, night, today))
        taken = stock.others(room, hotel, fill, night, today)
        own = stock.held(svc, words.tables, hotel["property_id"], room["pool"], night, but)
        left = min(left, room["units"] - taken - own)
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
    hotel: Row,
    stay: tuple[str, str],
    guests: int,
    rooms: int = 1,
) -> list[Offer]:
    """Return a property's offers: bookable ones first, then by price."""
    rooms_of_it = room_types(svc, words, hotel["property_id"])
    every = [offer(svc, words, room, hotel, stay, guests, rooms) for room in rooms_of_it]
    return sorted(every, key=lambda o: (o.problem is not None, sum(o.prices), o.room["id"]))


def search(
    svc: Service,
    words: Words,
    towns: list[Row],
    stay: tuple[str, str],
    guests: int,
    *,
    min_rating: float | None,
    max_price: int | None,
    amenities: Sequence[str] | None,
    keep: Callable[[Row], bool],
    wanted: Callable[[Row, Offer], bool],
) -> list[dict[str, Any]]:
    """Return the towns' properties that have a wanted offer, best rated first.

    Each is `{property_id, hotel, offers}`; `max_price` is in cents. Properties whose offers cannot
    be booked come last.
    """
    matches = []
    in_town = "hotel_id IN (SELECT id FROM travel_hotels WHERE city_id=?)"
    for town in bookable(svc, words, towns, stay):
        for row in svc.db.rows(f"{words.tables}_properties", in_town, town["id"], order="id"):
            hotel = whole(svc, row)
            fits = hotel["rating"] >= (min_rating or 0) and keep(hotel)
            if not fits or not set(amenities or ()) <= set(hotel["amenities"]):
                continue
            some = [o for o in offers(svc, words, hotel, stay, guests) if wanted(hotel, o)]
            if max_price is not None:
                some = [o for o in some if o.average <= max_price]
            if some:
                property_id = hotel["property_id"]
                matches.append({"property_id": property_id, "hotel": hotel, "offers": some})
    return sorted(matches, key=_rank)


def _rank(match: Row) -> tuple[Any, ...]:
    hotel = match["hotel"]
    unavailable = match["offers"][0].problem is not None
    return (unavailable, -hotel["rating"], -hotel["review_count"], hotel["id"])


def cost(words: Words, hotel: Row, prices: list[int], rooms: int, discount: int = 0) -> Cost:
    """Return the cost of nights; the discount is in percent of the rooms and reduces the taxes."""
    lodging = sum(prices) * rooms
    off = round_cents(lodging * discount / 100)
    taxes = round_cents((lodging - off) * hotel["tax"] / 10_000)
    fees = hotel["fee"] * len(prices) * rooms
    total = lodging - off + taxes
    if words.fees_included:
        total += fees
    return Cost(lodging, off, taxes, fees, total)
