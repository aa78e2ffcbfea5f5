"""Booking.com and Expedia: towns, hotels under two names and prices, events that fill them, and the stays of a life.

Hotels are put together from `_hotels.yaml`; those of `places.yaml` come first in their city and keep their address and phone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, time, timedelta
from pathlib import Path
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from scenarios.worlds.build import Builder, parsed
from servers.kit.errors import InputError
from servers.kit.values import cents, iso, parse_time, round_cents
from servers.kit.zones import local_day, local_moment
from servers.travel import _rules as rules
from servers.travel import _stock as stock
from servers.travel.booking._model import WORDS as BOOKING
from servers.travel.expedia._model import WORDS as EXPEDIA

PARTS = Path(__file__).with_name("_hotels.yaml")
SITES = {"booking": ("bpr", "brt", "bcd", BOOKING), "expedia": ("xpr", "xrt", "xcd", EXPEDIA)}
ELSEWHERE = 5
WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Write both providers' hotels and what the person did there."""
    travel = Travel(builder, seeds, parsed(PARTS))
    travel.towns()
    travel.accounts()
    for stay in travel.stays:
        travel.stay(stay)
    travel.keepsakes()


@dataclass
class House:
    """One hotel before it is written: its row, its name, what others know of it, and its room template."""

    key: str
    row: dict[str, Any]
    name: str
    rating: float
    rooms: list[list[Any]]
    sites: tuple[str, ...]


class Travel:
    """Writes travel rows."""

    def __init__(self, builder: Builder, seeds: dict[str, Any], parts: dict[str, Any]) -> None:
        self.builder = builder
        self.seeds = seeds
        self.parts = parts
        self.first = parse_time(f"{seeds['since']}T00:00:00Z")
        self.cities = {c["key"]: c for c in builder.person["cities"]}
        self.places = {k: p for k, p in builder.places.items() if p["kind"] == "hotel"}
        self.phones = {p["phone"] for p in builder.places.values() if "phone" in p}
        self.stays = [self._lived(h) for h in builder.life if "stay" in h] + seeds["stays"]
        self.known = {s["hotel"] for s in [*self.stays, *seeds["alerts"]]} | {
            i[1] for b in seeds["boards"] for i in b["items"]
        }
        self.taxes = {key: self._tax(key) for key in self.cities}
        self.events: dict[str, list[dict[str, Any]]] = {key: [] for key in self.cities}
        self.hotels: dict[tuple[str, str], dict[str, Any]] = {}
        self.rooms: dict[tuple[str, str], list[dict[str, Any]]] = {}

    def _lived(self, happening: dict[str, Any]) -> dict[str, Any]:
        """Return a stay of life.yaml in the form of the seeds: UTC moments, and who pays."""
        said = dict(happening["stay"])
        on = said.pop("on")
        first = str(said.pop("from", None) or happening["at"][:10])
        mails = [happening["mail"]] if "mail" in happening else happening.get("mails", [])
        known = [m["at"] for m in [*mails, happening.get("paid", {})] if "at" in m]
        for name in ("made", "cancelled"):
            if name in said:
                day = str(said[name])
                near = next((at for at in known if str(at)[:10] == day[:10]), None)
                clock = f"{day[:10]}T12:00" if len(day) == 10 and near is None else (near or day)
                said[name] = iso(self.builder.moment(clock) - 120)
        paid = self.seeds["paid"].get(happening["key"]) or happening.get("paid", {}).get("by")
        last = date.fromisoformat(first) + timedelta(days=said["nights"])
        where = said.pop("place", None) or happening["place"]
        said |= {
            "key": f"life-{happening['key']}",
            "site": on[0] if isinstance(on, list) else on,
            "hotel": where,
            "in": first,
        }
        return said | {
            "out": str(last),
            "card": paid if paid in self.seeds["cards"] else said.get("card"),
            "life": True,
        }

    def _tax(self, city: str) -> int:
        """Return a city's tax in basis points: its state's, and as little more as makes every total that is told a sum with tax."""
        told = [
            cents(s["total"])
            for s in self.stays
            if "total" in s and self.places[s["hotel"]]["city"] == city
        ]
        usual = self.parts["states"][self.cities[city]["state"]][1]
        return next(
            t
            for t in range(usual, usual + 300)
            if all(any(_taxed(r, t) == total for r in _near(total, t)) for total in told)
        )

    # -- towns and hotels -----------------------------------------------------------------------------------------
    def towns(self) -> None:
        """Write every city with its events, hotels and activities."""
        for key, city in self.cities.items():
            code = self.parts["states"][city["state"]][0]
            row = {
                "name": city["name"],
                "state": code,
                "state_name": city["state"],
                "lat": city["lat"],
                "lng": city["lon"],
            }
            self.builder.add(
                self.first,
                "travel_cities",
                id=key,
                **row,
                timezone=city["timezone"],
                tax=self.taxes[key],
            )
        for number, event in enumerate(self.seeds["events"]):
            row = {
                "city_id": event["city"],
                "name": event["name"],
                "begins": str(event["begins"]),
                "ends": str(event["ends"]),
            }
            self.events[event["city"]].append(row | {"fill": event["fill"]})
            self.builder.add(
                self.first,
                "travel_events",
                id=self.builder.id("tev", number),
                **row,
                fill=event["fill"],
            )
        for key in self.cities:
            for house in self.houses(key):
                self.house(house)
            self.activities(key)

    def houses(self, city: str) -> list[House]:
        """Return the hotels of a city: those of places.yaml, then put together ones, in pairs that share a word."""
        said = self.parts["cities"][city]
        found = [
            self._place(key, place)
            for key, place in self.places.items()
            if place["city"] == city and "closed_since" not in place
        ]
        wanted = self.seeds["destinations"].get(city, ELSEWHERE)
        forms = self.parts["forms"]
        offset = self.builder.chance("forms", city).randrange(0, len(forms), 2)
        for number in range(max(0, wanted - len(found))):
            form = forms[(offset + number) % len(forms)]
            found.append(
                self._made(city, number, form, said["words"][number // 2 % len(said["words"])])
            )
        return found

    def _made(self, city: str, number: int, form: list[Any], word: str) -> House:
        said = self.parts["cities"][city]
        key = f"{city}-{number}"
        where = self.cities[city]
        chance = self.builder.chance("hotel", key)
        pattern, kind, stars, template = form
        row = {
            "city_id": city,
            "kind": kind,
            "stars": stars,
            "street": f"{chance.randrange(100, 3900)} {chance.choice(said['streets'])}",
            "zip": said["zip"] + f"{chance.randrange(1, 40):02d}",
            "lat": round(where["lat"] + chance.uniform(-0.03, 0.03), 4),
            "lng": round(where["lon"] + chance.uniform(-0.04, 0.04), 4),
            "phone": self._phone(said["area"], chance.randrange(100)),
            "fee": chance.choice([0, 0, 0, 1500, 2500]) if stars >= 3 else 0,
        }
        rating = round(min(4.9, max(2.6, 3.1 + 0.3 * stars + chance.gauss(0, 0.35))), 1)
        sites = chance.choices([("booking", "expedia"), ("booking",), ("expedia",)], [86, 7, 7])[0]
        sites = ("booking", "expedia") if key in self.known else sites
        return self._house(
            House(key, row, pattern.format(w=word), rating, self.parts["rooms"][template], sites),
            chance,
        )

    def _phone(self, area: int, number: int) -> str:
        """Return a number of an area that nobody has, the drawn one if it is free."""
        free = (f"+1-{area}-555-01{(number + n) % 100:02d}" for n in range(100))
        found = next(phone for phone in free if phone not in self.phones)
        self.phones.add(found)
        return found

    def _place(self, key: str, place: dict[str, Any]) -> House:
        kinds = {
            "Motel": "motel",
            "Lodge": "lodge",
            "Holiday cottages": "apartment",
            "Holiday flats": "apartment",
        }
        kind = kinds.get(place["category"], "hotel")
        stars = min(5, place.get("price", 2) + (kind != "motel"))
        row = {
            "city_id": place["city"],
            "kind": kind,
            "stars": stars,
            **{k: place[k] for k in ("street", "zip", "lat", "lng", "phone")},
        }
        template = {1: "motel", 2: "motel", 3: "hotel", 4: "suites"}.get(stars, "grand")
        template = "flat" if kind == "apartment" else template
        house = House(
            key,
            row | {"fee": 0},
            place["name"],
            place["rating"],
            self.parts["rooms"][template],
            ("booking", "expedia"),
        )
        return self._house(house, self.builder.chance("hotel", key))

    def _house(self, house: House, chance: Random) -> House:
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
        """Write a hotel, and what each provider says of it and sells there."""
        city = self.cities[house.row["city_id"]]
        hotel_id = self.builder.id("htl", house.key)
        self.builder.add(self.first, "travel_hotels", id=hotel_id, **house.row)
        for site in house.sites:
            own = SITES[site]
            chance = self.builder.chance("site", site, house.key)
            score = round(min(5.0, max(1.5, house.rating + chance.uniform(-0.25, 0.25))), 1)
            row: dict[str, Any] = {
                "hotel_id": hotel_id,
                "name": house.name,
                "review_count": int(chance.lognormvariate(5.6, 1.0)) + 12,
            }
            if site == "booking":
                genius = self.seeds["genius"].get(house.key, chance.choice([0, 0, 10, 10, 15, 20]))
                row |= {
                    "rating": round(min(9.9, score * 2 + chance.uniform(-0.2, 0.3)), 1),
                    "genius": genius,
                }
            else:
                longer = house.key not in self.places and chance.random() < 0.25
                row |= {"rating": score, "vip": house.row["stars"] >= 4 and chance.random() < 0.5}
                row["name"] += (
                    f", {city['name']}" if longer and city["name"] not in house.name else ""
                )
            key = self.builder.id(own[0], house.key)
            self.builder.add(self.first, f"{site}_properties", id=key, **row)
            town = {"tax": self.taxes[house.row["city_id"]], "timezone": city["timezone"]}
            self.hotels[site, house.key] = (
                house.row | town | {"property_id": key, "name": row["name"]}
            )
            self._rooms(site, house, chance)

    def _rooms(self, site: str, house: House, chance: Random) -> None:
        level = self.parts["cities"][house.row["city_id"]]["level"]
        usual = (
            self.parts["stars"][house.row["stars"]]
            * level
            * (0.88 + 0.24 * self.builder.chance("base", house.key).random())
        )
        easy = self.parts["policies"]["easy"][site]
        told = next((s for s in self.stays if s["hotel"] == house.key and "total" in s), None)
        lived = (
            0
            if told is None
            else next(
                (n for n, r in enumerate(house.rooms) if r[1] >= told.get("guests", 1)),
                len(house.rooms) - 1,
            )
        )
        if told is not None:
            taxed = 1 + self.hotels[site, house.key]["tax"] / 10_000
            usual = told["total"] / taxed / _nights(told) / house.rooms[lived][3]
            easy = self._terms(told, easy) if told["site"] == site else easy
        usual *= chance.uniform(0.95, 1.05)
        number = 0
        rows = []
        for pool, (name, sleeps, beds, factor, units, policies) in enumerate(house.rooms):
            let = max(1, units + chance.choice([-1, 0, 0, 1]))
            for policy in policies:
                none = policy == "none"
                row = {
                    "property_id": self.hotels[site, house.key]["property_id"],
                    "name": name + (" - non-refundable" if none and len(policies) > 1 else ""),
                    "pool": str(pool),
                    "units": let,
                    "sleeps": sleeps,
                    "beds": beds,
                    "base": round(usual * factor * (0.88 if none and len(policies) > 1 else 1))
                    * 100,
                    "policy": easy
                    if policy == "easy" or (pool == lived and policy == policies[0])
                    else self.parts["policies"][policy][site],
                    "min_stay": 2 if house.row["kind"] == "apartment" else 1,
                    "breakfast": house.key in self.seeds["breakfast"]
                    or (house.row["kind"] in ("guest_house", "lodge") and not none),
                    "deposit": self.seeds["deposits"].get(
                        house.key, 25 if house.row["kind"] == "apartment" and not none else 100
                    ),
                }
                made = self.builder.id(SITES[site][1], f"{house.key}-{number}")
                rows.append(self.builder.add(self.first, f"{site}_room_types", id=made, **row))
                number += 1
        self.rooms[site, house.key] = rows

    def _terms(self, stay: dict[str, Any], usual: str) -> str:
        if "free_cancel_until" not in stay:
            return usual
        days = (
            date.fromisoformat(str(stay["in"]))
            - date.fromisoformat(str(stay["free_cancel_until"])[:10])
        ).days
        return f"{max(days, 0)}:first_night"

    def activities(self, city: str) -> None:
        """Write what there is to do in a city."""
        words = self.parts["cities"][city]["words"]
        chance = self.builder.chance("activities", city)
        for number, (name, kind, hours, price, days) in enumerate(
            chance.sample(self.parts["activities"], 6)
        ):
            said = name.format(city=self.cities[city]["name"], w=words[number % len(words)])
            row = {
                "city_id": city,
                "name": said,
                "kind": kind,
                "hours": hours,
                "weekdays": days,
                "rating": round(chance.uniform(3.7, 4.9), 1),
            }
            self.builder.add(
                self.first,
                "expedia_activities",
                id=self.builder.id("xac", f"{city}-{number}"),
                price=price * 100,
                **row,
            )

    # -- the person -----------------------------------------------------------------------------------------------
    def accounts(self) -> None:
        """Write both accounts with their cards and saved travelers."""
        who = self.builder.person
        for site, (_, _, card, _) in SITES.items():
            me = {
                "name": who["name"],
                "email": who["emails"]["personal"],
                "phone": who["phone"],
                "timezone": who["timezone"],
            }
            self.builder.add(self.first, f"{site}_account", id="me", **me)
            for hour, (key, said) in enumerate(self.seeds["cards"].items()):
                if site in said["on"]:
                    at = self.first + hour * 3600
                    own = {"name": said.get("name"), "last4": said.get("last4")}
                    known = who["cards"].get(key, {})
                    row = {
                        "name": own["name"] or known["name"],
                        "last4": own["last4"] or known["last4"],
                        "brand": said["brand"],
                    }
                    self.builder.add(
                        at,
                        f"{site}_cards",
                        id=self.builder.id(card, key),
                        expires=said["expires"],
                        added_at=iso(at),
                        **row,
                    )
            for key in self.seeds["travelers"][site]:
                row = {k: who["people"][key].get(k) for k in ("name", "email", "phone")}
                prefix = {"booking": "btv", "expedia": "xtv"}[site]
                self.builder.add(
                    self.first,
                    f"{site}_travelers",
                    id=self.builder.id(prefix, key),
                    added_at=iso(self.first),
                    **row,
                )

    def stay(self, said: dict[str, Any]) -> None:
        """Write a booking at the price of its day, or at the total that is told."""
        site = said["site"]
        hotel = self.hotels[said["site"], said["hotel"]]
        words = SITES[site][3]
        made = parse_time(said["made"])
        offered = self.rooms[site, said["hotel"]]
        fitting = [
            r
            for r in offered
            if r["sleeps"] >= said.get("guests", 1) and "non-refundable" not in r["name"]
        ]
        room = offered[said["room"]] if "room" in said else (fitting or offered[-1:])[0]
        days = stock.nights(str(said["in"]), str(said["out"]))
        today = local_day(made, ZoneInfo(hotel["timezone"]))
        events = self.events[hotel["city_id"]]
        count = said.get("rooms", 1)
        prices = [
            stock.night_price(room, hotel, stock.busy(events, night), night, today)
            for night in days
        ]
        if "total" in said:
            prices = _fitted(words, hotel, prices, count, cents(said["total"]))
        guest = self.builder.person["people"].get(
            said.get("guest"),
            self.builder.person | {"email": self.builder.person["emails"]["personal"]},
        )
        key = self.builder.id(words.booking_id, said["key"])
        row = {
            "property_id": hotel["property_id"],
            "room_type_id": room["id"],
            "check_in": str(said["in"]),
            "check_out": str(said["out"]),
            "rooms": count,
            "guests": said.get("guests", 1),
            "guest_name": guest["name"],
            "guest_email": guest["email"],
            "guest_phone": guest["phone"],
            "requests": said.get("requests"),
            "nights": prices,
            "discount": said.get("discount", 0),
            "card_id": self.builder.id(SITES[site][2], said.get("card") or self._card(site)),
            "created_at": iso(made),
        }
        self.builder.add(made, f"{site}_bookings", id=key, no_show=False, **row)
        if said.get("no_show"):
            noticed = local_moment(
                days[0] + timedelta(days=1), time(4), ZoneInfo(hotel["timezone"])
            )
            self.builder.change(noticed, f"{site}_bookings", key, no_show=True)
        if said.get("cancelled"):
            at = parse_time(said["cancelled"])
            self.builder.change(at, f"{site}_bookings", key, cancelled_at=iso(at))

    def _card(self, site: str) -> str:
        return next(
            key
            for key, said in self.seeds["cards"].items()
            if site in said["on"] and not said.get("old")
        )

    def keepsakes(self) -> None:
        """Write price alerts and trip boards."""
        for alert in self.seeds["alerts"]:
            at = parse_time(alert["at"])
            hotel = self.hotels["booking", alert["hotel"]]
            row = {
                "property_id": hotel["property_id"],
                "check_in": str(alert["in"]),
                "check_out": str(alert["out"]),
            }
            target, started = (
                cents(alert[k]) if alert.get(k) else None for k in ("target", "started")
            )
            made = self.builder.id("bal", alert["key"])
            self.builder.add(
                at,
                "booking_price_alerts",
                id=made,
                target=target,
                started=started,
                created_at=iso(at),
                **row,
            )
        for board in self.seeds["boards"]:
            at = parse_time(board["at"])
            key = self.builder.id("xbd", board["key"])
            row = {
                "name": board["name"],
                "city_id": board["city"],
                **{k: str(board[k]) if k in board else None for k in ("begins", "ends")},
            }
            self.builder.add(at, "expedia_boards", id=key, created_at=iso(at), **row)
            for number, (kind, item, notes) in enumerate(board["items"]):
                prefix = "xpr" if kind == "property" else "xac"
                made = self.builder.id("xbi", f"{board['key']}-{number}")
                when = at + 600 * (number + 1)
                item_row = {
                    "board_id": key,
                    "item_type": kind,
                    "item_id": self.builder.id(prefix, item),
                    "notes": notes,
                }
                self.builder.add(
                    when, "expedia_board_items", id=made, added_at=iso(when), **item_row
                )
            for email in board.get("shared", []):
                made = self.builder.id("xsh", f"{board['key']}-{email}")
                self.builder.add(
                    at + 9000,
                    "expedia_board_shares",
                    id=made,
                    board_id=key,
                    email=email,
                    shared_at=iso(at + 9000),
                )


def _nights(stay: dict[str, Any]) -> int:
    return max(1, (date.fromisoformat(str(stay["out"])) - date.fromisoformat(str(stay["in"]))).days)


def _fitted(
    words: rules.Words, hotel: dict[str, Any], prices: list[int], rooms: int, total: int
) -> list[int]:
    """Return night prices that cost `total` cents in all, shaped like `prices`."""
    fees = hotel["fee"] * len(prices) * rooms if words.fees_included else 0
    lodging = next(
        (
            n
            for n in _near(total - fees, hotel["tax"])
            if n % rooms == 0 and _taxed(n, hotel["tax"]) + fees == total
        ),
        None,
    )
    if lodging is None:
        raise InputError(f"travel: no prices of {len(prices)} nights add up to {total / 100:.2f}")
    each = [round(lodging // rooms * p / sum(prices)) for p in prices[:-1]]
    return [*each, lodging // rooms - sum(each)]


def _taxed(lodging: int, tax: int) -> int:
    return lodging + round_cents(lodging * tax / 10_000)


def _near(total: int, tax: int) -> range:
    guess = round(total / (1 + tax / 10_000))
    return range(guess - 2, guess + 3)
