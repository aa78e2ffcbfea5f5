"""Booking.com and Expedia: towns, hotels, events that fill them, and a person's stays.

Both sites sell the same hotels, under different names and prices. Hotels are assembled from
`_hotels.yaml`; those in `places.yaml` come first in their city and keep their address and phone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, time, timedelta
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from scenarios.worlds.build import Builder, parsed
from scenarios.worlds.fill.travel import _letters as letters
from servers.kit.errors import InputError
from servers.kit.values import cents, iso, parse_time, round_cents
from servers.kit.zones import local_day, local_moment
from servers.travel import _rules as rules
from servers.travel import _stock as stock
from servers.travel.booking._model import WORDS as BOOKING
from servers.travel.expedia._model import WORDS as EXPEDIA

PARTS = Path(__file__).with_name("_hotels.yaml")


@dataclass(frozen=True)
class Site:
    """A provider's prefixes of ids, and its `Words`."""

    hotel: str
    room: str
    card: str
    traveler: str
    words: rules.Words


SITES = {
    "booking": Site("bpr", "brt", "bcd", "btv", BOOKING),
    "expedia": Site("xpr", "xrt", "xcd", "xtv", EXPEDIA),
}
BOTH = ("booking", "expedia")
ELSEWHERE = 5
"""Number of hotels in a city that is not one of the person's destinations."""
KINDS = {
    "Motel": "motel",
    "Lodge": "lodge",
    "Holiday cottages": "apartment",
    "Holiday flats": "apartment",
}
"""Kinds of hotels by the category of their place; any other category is a hotel."""


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Write both providers' hotels and everything that the person did there."""
    travel = Travel(builder, seeds, parsed(PARTS))
    travel.towns()
    travel.accounts()
    for stay in travel.stays:
        travel.stay(stay)
    travel.keepsakes()


@dataclass
class House:
    """One hotel before it is written: its row, name, rating and rooms, and who sells it."""

    key: str
    row: dict[str, Any]
    name: str
    rating: float
    rooms: list[list[Any]]
    sites: tuple[str, ...]


class Pricing(NamedTuple):
    """A hotel's usual price in dollars, its easy policy, and the pool of the person's stay."""

    usual: float
    easy: str
    lived: int


class Travel:
    """Writes the rows of the travel services."""

    def __init__(self, builder: Builder, seeds: dict[str, Any], parts: dict[str, Any]) -> None:
        self.builder = builder
        self.seeds = seeds
        self.parts = parts
        self.first = parse_time(f"{seeds['since']}T00:00:00Z")
        self.cities = {c["key"]: c for c in builder.person["cities"]}
        self.places = {k: p for k, p in builder.places.items() if p["kind"] == "hotel"}
        self.phones = {p["phone"] for p in builder.places.values() if "phone" in p}
        self.stays = [self._lived(h) for h in builder.life if "stay" in h] + seeds["stays"]
        self.known = {s["hotel"] for s in [*self.stays, *seeds["alerts"]]}
        for board in seeds["boards"]:
            self.known |= {item for _, item, *_ in board["items"]}
        self.taxes = {key: self._tax(key) for key in self.cities}
        self.events: dict[str, list[dict[str, Any]]] = {key: [] for key in self.cities}
        self.hotels: dict[tuple[str, str], dict[str, Any]] = {}
        self.rooms: dict[tuple[str, str], list[dict[str, Any]]] = {}

    def _lived(self, happening: dict[str, Any]) -> dict[str, Any]:
        """Return a stay of life.yaml in the form of the seeds: moments in UTC, and the card."""
        stay = dict(happening["stay"])
        on = stay.pop("on")
        first = str(stay.pop("from", None) or happening["at"][:10])
        mails = [happening["mail"]] if "mail" in happening else happening.get("mails", [])
        known = [m["at"] for m in [*mails, happening.get("paid", {})] if "at" in m]
        for name in ("made", "cancelled"):
            if name in stay:
                stay[name] = self._told_at(str(stay[name]), known)
        paid = self.seeds["paid"].get(happening["key"]) or happening.get("paid", {}).get("by")
        last = date.fromisoformat(first) + timedelta(days=stay["nights"])
        where = stay.pop("place", None) or happening["place"]
        return stay | {
            "key": f"life-{happening['key']}",
            "site": on[0] if isinstance(on, list) else on,
            "hotel": where,
            "in": first,
            "out": str(last),
            "card": paid if paid in self.seeds["cards"] else stay.get("card"),
            "life": True,
        }

    def _told_at(self, day: str, known: list[Any]) -> str:
        """Return the moment of an event on a day, as a time in UTC.

        It is two minutes before that day's mail or payment, or before noon if there is none.
        """
        near = next((at for at in known if str(at)[:10] == day[:10]), None)
        if len(day) == 10 and near is None:
            clock = f"{day[:10]}T12:00"
        else:
            clock = near or day
        return iso(self.builder.moment(clock) - 120)

    def _tax(self, city: str) -> int:
        """Return a city's tax in basis points: its state's, or the least higher one that fits.

        It fits if every total in the seeds is a whole number of cents plus its tax.
        """
        totals = []
        for stay in self.stays:
            if "total" in stay and self.places[stay["hotel"]]["city"] == city:
                totals.append(cents(stay["total"]))
        usual = self.parts["states"][self.cities[city]["state"]][1]
        for tax in range(usual, usual + 300):
            if all(_is_taxed(total, tax) for total in totals):
                return tax
        raise InputError(f"travel: no tax of {city} explains the totals of its stays")

    # -- towns and hotels --------------------------------------------------------------------------
    def towns(self) -> None:
        """Write every city with its events, hotels and activities."""
        for key, city in self.cities.items():
            self.builder.add(
                self.first,
                "travel_cities",
                id=key,
                name=city["name"],
                state=self.parts["states"][city["state"]][0],
                state_name=city["state"],
                lat=city["lat"],
                lng=city["lon"],
                timezone=city["timezone"],
                tax=self.taxes[key],
            )
        for number, event in enumerate(self.seeds["events"]):
            row = {
                "city_id": event["city"],
                "name": event["name"],
                "begins": str(event["begins"]),
                "ends": str(event["ends"]),
                "fill": event["fill"],
            }
            self.events[event["city"]].append(row)
            event_id = self.builder.id("tev", number)
            self.builder.add(self.first, "travel_events", id=event_id, **row)
        for key in self.cities:
            for house in self.houses(key):
                self.house(house)
            self.activities(key)

    def houses(self, city: str) -> list[House]:
        """Return the hotels of a city.

        Those in places.yaml come first, then assembled ones, in pairs that share a word.
        """
        words = self.parts["cities"][city]["words"]
        here = {k: p for k, p in self.places.items() if p["city"] == city}
        houses = [self._place(k, p) for k, p in here.items() if "closed_since" not in p]
        wanted = self.seeds["destinations"].get(city, ELSEWHERE)
        forms = self.parts["forms"]
        offset = self.builder.chance("forms", city).randrange(0, len(forms), 2)
        for number in range(max(0, wanted - len(houses))):
            form = forms[(offset + number) % len(forms)]
            houses.append(self._assembled(city, number, form, words[number // 2 % len(words)]))
        return houses

    def _assembled(self, city: str, number: int, form: list[Any], word: str) -> House:
        parts = self.parts["cities"][city]
        key = f"{city}-{number}"
        where = self.cities[city]
        chance = self.builder.chance("hotel", key)
        pattern, kind, stars, template = form
        row = {
            "city_id": city,
            "kind": kind,
            "stars": stars,
            "street": f"{chance.randrange(100, 3900)} {chance.choice(parts['streets'])}",
            "zip": parts["zip"] + f"{chance.randrange(1, 40):02d}",
            "lat": round(where["lat"] + chance.uniform(-0.03, 0.03), 4),
            "lng": round(where["lon"] + chance.uniform(-0.04, 0.04), 4),
            "phone": self._phone(parts["area"], chance.randrange(100)),
            "fee": chance.choice([0, 0, 0, 1500, 2500]) if stars >= 3 else 0,
        }
        rating = round(min(4.9, max(2.6, 3.1 + 0.3 * stars + chance.gauss(0, 0.35))), 1)
        sites = chance.choices([BOTH, ("booking",), ("expedia",)], [86, 7, 7])[0]
        if key in self.known:
            sites = BOTH
        name = pattern.format(w=word)
        house = House(key, row, name, rating, self.parts["rooms"][template], sites)
        return self._equipped(house, chance)

    def _phone(self, area: int, number: int) -> str:
        """Return a phone number in an area that nobody has, the drawn one if it is free."""
        numbers = (f"+1-{area}-555-01{(number + n) % 100:02d}" for n in range(100))
        free = next(phone for phone in numbers if phone not in self.phones)
        self.phones.add(free)
        return free

    def _place(self, key: str, place: dict[str, Any]) -> House:
        kind = KINDS.get(place["category"], "hotel")
        stars = place.get("price", 2)
        if kind != "motel":
            stars += 1
        stars = min(5, stars)
        row = {
            "city_id": place["city"],
            "kind": kind,
            "stars": stars,
            "street": place["street"],
            "zip": place["zip"],
            "lat": place["lat"],
            "lng": place["lng"],
            "phone": place["phone"],
            "fee": 0,
        }
        template = {1: "motel", 2: "motel", 3: "hotel", 4: "suites"}.get(stars, "grand")
        rooms = self.parts["rooms"]["flat" if kind == "apartment" else template]
        house = House(key, row, place["name"], place["rating"], rooms, BOTH)
        return self._equipped(house, self.builder.chance("hotel", key))

    def _equipped(self, house: House, chance: Random) -> House:
        """Give a hotel its amenities, hours and closure."""
        has = [a for a in self.parts["amenities"][house.row["stars"]] if chance.random() < 0.8]
        closed = next((c for c in self.seeds["closures"] if c["hotel"] == house.key), {})
        house.row |= {
            "amenities": has or ["wifi"],
            "opens": chance.choice(["15:00", "15:00", "16:00", "14:00"]),
            "leaves": chance.choice(["11:00", "11:00", "12:00", "10:00"]),
            "closed_from": str(closed["from"]) if closed else None,
            "closed_to": str(closed["to"]) if closed.get("to") else None,
        }
        return house

    def house(self, house: House) -> None:
        """Write a hotel, with its page and rooms at each provider."""
        city = self.cities[house.row["city_id"]]
        hotel_id = self.builder.id("htl", house.key)
        self.builder.add(self.first, "travel_hotels", id=hotel_id, **house.row)
        for site in house.sites:
            chance = self.builder.chance("site", site, house.key)
            row = self._page(site, house, chance)
            key = self.builder.id(SITES[site].hotel, house.key)
            self.builder.add(self.first, f"{site}_properties", id=key, hotel_id=hotel_id, **row)
            self.hotels[site, house.key] = house.row | {
                "tax": self.taxes[house.row["city_id"]],
                "timezone": city["timezone"],
                "property_id": key,
                "name": row["name"],
            }
            self._rooms(site, house, chance)

    def _page(self, site: str, house: House, chance: Random) -> dict[str, Any]:
        """Return a hotel's name, rating and reviews at a provider."""
        city = self.cities[house.row["city_id"]]["name"]
        score = round(min(5.0, max(1.5, house.rating + chance.uniform(-0.25, 0.25))), 1)
        reviews = int(chance.lognormvariate(5.6, 1.0)) + 12
        if site == "booking":
            genius = self.seeds["genius"].get(house.key, chance.choice([0, 0, 10, 10, 15, 20]))
            return {
                "name": house.name,
                "review_count": reviews,
                "rating": round(min(9.9, score * 2 + chance.uniform(-0.2, 0.3)), 1),
                "genius": genius,
            }
        longer = house.key not in self.places and chance.random() < 0.25
        vip = house.row["stars"] >= 4 and chance.random() < 0.5
        name = house.name
        if longer and city not in name:
            name += f", {city}"
        return {"name": name, "review_count": reviews, "rating": score, "vip": vip}

    def _rooms(self, site: str, house: House, chance: Random) -> None:
        """Write a hotel's room types at a provider.

        If a stay's total is given, the prices follow from it, and the room that fits the guests has
        the stay's policy.
        """
        pricing = self._pricing(site, house)
        usual = pricing.usual * chance.uniform(0.95, 1.05)
        flat = house.row["kind"] == "apartment"
        cosy = house.row["kind"] in ("guest_house", "lodge")
        rows = []
        for pool, (name, sleeps, beds, factor, units, policies) in enumerate(house.rooms):
            let = max(1, units + chance.choice([-1, 0, 0, 1]))
            for policy in policies:
                fixed = policy == "none"
                cheaper = fixed and len(policies) > 1
                terms = self.parts["policies"][policy][site] if policy != "easy" else pricing.easy
                if pool == pricing.lived and policy == policies[0]:
                    terms = pricing.easy
                deposit = 25 if flat and not fixed else 100
                row = {
                    "property_id": self.hotels[site, house.key]["property_id"],
                    "name": f"{name} - non-refundable" if cheaper else name,
                    "pool": str(pool),
                    "units": let,
                    "sleeps": sleeps,
                    "beds": beds,
                    "base": round(usual * factor * (0.88 if cheaper else 1)) * 100,
                    "policy": terms,
                    "min_stay": 2 if flat else 1,
                    "breakfast": house.key in self.seeds["breakfast"] or (cosy and not fixed),
                    "deposit": self.seeds["deposits"].get(house.key, deposit),
                }
                room_id = self.builder.id(SITES[site].room, f"{house.key}-{len(rows)}")
                rows.append(self.builder.add(self.first, f"{site}_room_types", id=room_id, **row))
        self.rooms[site, house.key] = rows

    def _pricing(self, site: str, house: House) -> Pricing:
        easy = self.parts["policies"]["easy"][site]
        here = [stay for stay in self.stays if stay["hotel"] == house.key]
        told = next((stay for stay in here if "total" in stay), None)
        if told is None:
            level = self.parts["cities"][house.row["city_id"]]["level"]
            luck = 0.88 + 0.24 * self.builder.chance("base", house.key).random()
            return Pricing(self.parts["stars"][house.row["stars"]] * level * luck, easy, 0)
        guests = told.get("guests", 1)
        large = (pool for pool, room in enumerate(house.rooms) if room[1] >= guests)
        lived = next(large, len(house.rooms) - 1)
        taxed = 1 + self.hotels[site, house.key]["tax"] / 10_000
        usual = told["total"] / taxed / _nights(told) / house.rooms[lived][3]
        if told["site"] == site:
            easy = self._terms(told, easy)
        return Pricing(usual, easy, lived)

    def _terms(self, stay: dict[str, Any], usual: str) -> str:
        if "free_cancel_until" not in stay:
            return usual
        first = date.fromisoformat(str(stay["in"]))
        until = date.fromisoformat(str(stay["free_cancel_until"])[:10])
        return f"{max((first - until).days, 0)}:first_night"

    def activities(self, city: str) -> None:
        """Write the activities of a city."""
        words = self.parts["cities"][city]["words"]
        chance = self.builder.chance("activities", city)
        activities = chance.sample(self.parts["activities"], 6)
        for number, (name, kind, hours, price, days) in enumerate(activities):
            self.builder.add(
                self.first,
                "expedia_activities",
                id=self.builder.id("xac", f"{city}-{number}"),
                city_id=city,
                name=name.format(city=self.cities[city]["name"], w=words[number % len(words)]),
                kind=kind,
                hours=hours,
                price=price * 100,
                weekdays=days,
                rating=round(chance.uniform(3.7, 4.9), 1),
            )

    # -- the person --------------------------------------------------------------------------------
    def accounts(self) -> None:
        """Write both accounts with their cards and saved travelers."""
        who = self.builder.person
        me = {
            "name": who["name"],
            "email": who["emails"]["personal"],
            "phone": who["phone"],
            "timezone": who["timezone"],
        }
        for site in SITES:
            self.builder.add(self.first, f"{site}_account", id="me", **me)
            for hour, (key, card) in enumerate(self.seeds["cards"].items()):
                if site in card["on"]:
                    self._add_card(site, key, card, self.first + hour * 3600)
            for key in self.seeds["travelers"][site]:
                person = who["people"][key]
                self.builder.add(
                    self.first,
                    f"{site}_travelers",
                    id=self.builder.id(SITES[site].traveler, key),
                    name=person.get("name"),
                    email=person.get("email"),
                    phone=person.get("phone"),
                    added_at=iso(self.first),
                )

    def _add_card(self, site: str, key: str, card: dict[str, Any], at: int) -> None:
        known = self.builder.person["cards"].get(key, {})
        self.builder.add(
            at,
            f"{site}_cards",
            id=self.builder.id(SITES[site].card, key),
            brand=card["brand"],
            name=card.get("name") or known["name"],
            last4=card.get("last4") or known["last4"],
            expires=card["expires"],
            added_at=iso(at),
        )

    def stay(self, stay: dict[str, Any]) -> None:
        """Write a booking at the price of its day, or at the total given in the seeds."""
        site = stay["site"]
        hotel = self.hotels[site, stay["hotel"]]
        words = SITES[site].words
        booked_at = parse_time(stay["made"])
        room = self._room(stay)
        nights = stock.nights(str(stay["in"]), str(stay["out"]))
        today = local_day(booked_at, ZoneInfo(hotel["timezone"]))
        events = self.events[hotel["city_id"]]
        rooms = stay.get("rooms", 1)
        prices = []
        for night in nights:
            fill = stock.busy(events, night)
            prices.append(stock.night_price(room, hotel, fill, night, today))
        if "total" in stay:
            prices = _fitted(words, hotel, prices, rooms, cents(stay["total"]))
        me = self.builder.person | {"email": self.builder.person["emails"]["personal"]}
        guest = self.builder.person["people"].get(stay.get("guest"), me)
        key = self.builder.id(words.booking_id, stay["key"])
        row = self.builder.add(
            booked_at,
            f"{site}_bookings",
            id=key,
            property_id=hotel["property_id"],
            room_type_id=room["id"],
            check_in=str(stay["in"]),
            check_out=str(stay["out"]),
            rooms=rooms,
            guests=stay.get("guests", 1),
            guest_name=guest["name"],
            guest_email=guest["email"],
            guest_phone=guest["phone"],
            requests=stay.get("requests"),
            nights=prices,
            discount=stay.get("discount", 0),
            card_id=self.builder.id(SITES[site].card, stay.get("card") or self._card(site)),
            created_at=iso(booked_at),
            no_show=False,
        )
        if stay.get("no_show"):
            next_day = nights[0] + timedelta(days=1)
            noticed = local_moment(next_day, time(4), ZoneInfo(hotel["timezone"]))
            self.builder.change(noticed, f"{site}_bookings", key, no_show=True)
        if stay.get("cancelled"):
            at = parse_time(stay["cancelled"])
            self.builder.change(at, f"{site}_bookings", key, cancelled_at=iso(at))
        city = self.cities[hotel["city_id"]]
        shown = hotel | {"city": city["name"], "state": self.parts["states"][city["state"]][0]}
        card_key = stay.get("card") or self._card(site)
        card = self.builder.person["cards"].get(card_key, {}) | self.seeds["cards"][card_key]
        letters.tell(self.builder, site, stay, row, shown, room, card)

    def _room(self, stay: dict[str, Any]) -> dict[str, Any]:
        """Return the room type of a stay: the given one, or the first refundable one that fits."""
        offered = self.rooms[stay["site"], stay["hotel"]]
        if "room" in stay:
            return offered[stay["room"]]
        large = [r for r in offered if r["sleeps"] >= stay.get("guests", 1)]
        fitting = [r for r in large if "non-refundable" not in r["name"]]
        return fitting[0] if fitting else offered[-1]

    def _card(self, site: str) -> str:
        """Return the key of the first current card at a site."""
        known = {key: card for key, card in self.seeds["cards"].items() if site in card["on"]}
        return next(key for key, card in known.items() if not card.get("old"))

    def keepsakes(self) -> None:
        """Write price alerts and trip boards."""
        for alert in self.seeds["alerts"]:
            self._add_alert(alert)
        for board in self.seeds["boards"]:
            self._add_board(board)

    def _add_alert(self, alert: dict[str, Any]) -> None:
        at = parse_time(alert["at"])
        self.builder.add(
            at,
            "booking_price_alerts",
            id=self.builder.id("bal", alert["key"]),
            property_id=self.hotels["booking", alert["hotel"]]["property_id"],
            check_in=str(alert["in"]),
            check_out=str(alert["out"]),
            target=cents(alert["target"]) if alert.get("target") else None,
            started=cents(alert["started"]) if alert.get("started") else None,
            created_at=iso(at),
            looks_at=iso(self.builder.start + rules.DAY),
        )

    def _add_board(self, board: dict[str, Any]) -> None:
        at = parse_time(board["at"])
        key = self.builder.id("xbd", board["key"])
        self.builder.add(
            at,
            "expedia_boards",
            id=key,
            name=board["name"],
            city_id=board["city"],
            begins=str(board["begins"]) if "begins" in board else None,
            ends=str(board["ends"]) if "ends" in board else None,
            created_at=iso(at),
        )
        for number, (kind, item, notes) in enumerate(board["items"]):
            prefix = "xpr" if kind == "property" else "xac"
            added_at = at + 600 * (number + 1)
            self.builder.add(
                added_at,
                "expedia_board_items",
                id=self.builder.id("xbi", f"{board['key']}-{number}"),
                board_id=key,
                item_type=kind,
                item_id=self.builder.id(prefix, item),
                notes=notes,
                added_at=iso(added_at),
            )
        for email in board.get("shared", []):
            self.builder.add(
                at + 9000,
                "expedia_board_shares",
                id=self.builder.id("xsh", f"{board['key']}-{email}"),
                board_id=key,
                email=email,
                shared_at=iso(at + 9000),
            )


def _nights(stay: dict[str, Any]) -> int:
    return max(1, (date.fromisoformat(str(stay["out"])) - date.fromisoformat(str(stay["in"]))).days)


def _fitted(
    words: rules.Words, hotel: dict[str, Any], prices: list[int], rooms: int, total: int
) -> list[int]:
    """Return night prices shaped like `prices` that come to `total` cents with tax and fees."""
    fees = hotel["fee"] * len(prices) * rooms if words.fees_included else 0
    lodging = _untaxed(total - fees, hotel["tax"], rooms)
    if lodging is None:
        raise InputError(f"travel: no prices of {len(prices)} nights add up to {total / 100:.2f}")
    each = [round(lodging // rooms * p / sum(prices)) for p in prices[:-1]]
    return [*each, lodging // rooms - sum(each)]


def _untaxed(total: int, tax: int, rooms: int) -> int | None:
    """Return the price before tax of a total, divisible by the number of rooms, or None."""
    for price in _near(total, tax):
        if price % rooms == 0 and _taxed(price, tax) == total:
            return price
    return None


def _is_taxed(total: int, tax: int) -> bool:
    """Return whether a total is some whole number of cents plus its tax."""
    return any(_taxed(price, tax) == total for price in _near(total, tax))


def _taxed(lodging: int, tax: int) -> int:
    return lodging + round_cents(lodging * tax / 10_000)


def _near(total: int, tax: int) -> range:
    guess = round(total / (1 + tax / 10_000))
    return range(guess - 2, guess + 3)
