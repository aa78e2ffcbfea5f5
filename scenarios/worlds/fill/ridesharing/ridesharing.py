"""Uber and Lyft: the map that they share, drivers, wallets, offers and rides.

Rides come from habits, single seeds and the person's life. A ride of a habit costs what the
provider would have charged then; one of the person's life costs what its happening says.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from scenarios.worlds.build import Builder, parsed
from scenarios.worlds.fill.ridesharing._mail import Mail
from scenarios.worlds.fill.ridesharing._storms import storms
from servers.kit.noise import share
from servers.kit.values import cents, iso, parse_time
from servers.ridesharing import _roads as roads
from servers.ridesharing import _trips as trips
from servers.ridesharing._roads import Mode, Spot
from servers.ridesharing.lyft import _model as lyft
from servers.ridesharing.uber import _model as uber

DRIVERS = Path(__file__).with_name("_drivers.yaml")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MODES: dict[str, dict[str, Mode]] = {"uber": uber.MODES, "lyft": lyft.MODES}
KINDS = {
    "uber": {"standard": "uberx", "shared": "uberx", "xl": "uberxl", "access": "wav"},
    "lyft": {"standard": "lyft", "shared": "lyft", "comfort": "extra_comfort", "xl": "lyft_xl"}
    | {kind: f"lyft_{kind}" for kind in ("green", "black", "access")},
}
PREFIX = {"uber": "ub", "lyft": "ly"}
RECENT = 20 * trips.DAY
"""Seconds before the start within which the aftermath of a ride is logged as changes of its row.

Older rides are written in their final state.
"""


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Write the map, then both providers."""
    town = Map(builder, seeds)
    for provider in ("uber", "lyft"):
        Provider(town, provider, seeds[provider]).fill(list(_journeys(town, provider, seeds)))


class Map:
    """Cities and places, with the moments of their local clocks."""

    def __init__(self, builder: Builder, seeds: dict[str, Any]) -> None:
        self.builder = builder
        self.seeds = seeds
        self.first = parse_time(f"{seeds['since']}T00:00:00Z")
        builder.stands(self.first)
        self.cities: dict[str, dict[str, Any]] = {}
        for city in builder.person["cities"]:
            self.cities[city["key"]] = builder.add(
                self.first,
                "ridesharing_cities",
                id=city["key"],
                name=city["name"],
                state=city["state"],
                lat=city["lat"],
                lng=city["lon"],
                timezone=city["timezone"],
                market=seeds["markets"].get(city["key"], 90),
                storms=storms(builder, city),
            )
        self.spots: dict[str, tuple[Spot, dict[str, Any]]] = {}
        for key, place in builder.places.items():
            city = self.cities[place["city"]]
            row = {
                "name": place["name"],
                "kind": place["category"],
                "address": f"{place['street']}, {city['name']}, {place['state']} {place['zip']}",
                "city": city["name"],
                "state": place["state"],
                "lat": place["lat"],
                "lng": place["lng"],
            }
            builder.add(self.first, "ridesharing_places", id=builder.id("rdp", key), **row)
            self.spots[key] = Spot(roads.label(row), place["lat"], place["lng"]), city

    def moment(self, text: str, zone: str | None = None) -> int:
        """Return the moment of a local time, at home unless a zone is given.

        A bare date means noon.
        """
        return self.builder.moment(text, ZoneInfo(zone) if zone else None)

    def moment_of(self, ride: dict[str, Any]) -> int:
        """Return when a ride was requested, from the local time where it begins."""
        _, city = self.spots[ride["from"]]
        return self.moment(ride["at"], city["timezone"])

    @functools.cached_property
    def away(self) -> list[tuple[int, int]]:
        """Spans in which habits rest.

        They are trips, an hour around every other event with a time and a place, and the time
        around every ride. Rides of habits are added as they are made.
        """
        spans = []
        for event in self.builder.life:
            zone = self.cities[event["city"]]["timezone"] if "city" in event else None
            begin = self.moment(event["at"], zone)
            end = begin + int(event.get("hours", 1) * 3600)
            margin = 4 * 3600 if event.get("what") == "trip" else 3600
            spans.append((begin - margin, end + margin))
            spans += [(at - 5400, at + 5400) for _, at in _rides_of(self, event)]
        for provider in MODES:
            for ride in self.seeds[provider].get("rides", []):
                at = self.moment_of(ride)
                spans.append((at - 2400, at + 2400))
        return spans


def _rides_of(town: Map, event: dict[str, Any]) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the rides of a happening, each with its moment."""
    for ride in event.get("rides", [event["ride"]] if "ride" in event else []):
        yield ride, town.moment_of(ride)


def _journeys(town: Map, provider: str, seeds: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every ride of a provider as `{key, at, from, to, …}`.

    Those of the person's life come first, then single ones, then those of habits.
    """
    for event in town.builder.life:
        for number, (ride, at) in enumerate(_rides_of(town, event)):
            if ride["on"] == provider:
                yield ride | {"key": f"{event['key']}-{number}", "at": at}
    for ride in seeds[provider].get("rides", []):
        yield ride | {"at": town.moment_of(ride)}
    for number, habit in enumerate(seeds["habits"]):
        yield from _habitual(town, provider, number, habit)


def _habitual(
    town: Map, provider: str, number: int, habit: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield the rides of a habit, and keep other habits clear of them."""
    day = date.fromisoformat(habit.get("since", town.seeds["since"]))
    last = date.fromisoformat(habit["until"]) if "until" in habit else date.max
    while day <= last:
        at = town.moment(f"{day}T{habit['at']}")
        if at >= town.builder.start - trips.DAY:
            return
        chance = town.builder.chance("habit", number, day)
        at += 60 * chance.randrange(-12, 13) + chance.randrange(60)
        on = habit["on"] if isinstance(habit["on"], str) else chance.choice(habit["on"])
        due = WEEKDAYS[day.weekday()] in habit["days"] and chance.random() < habit["chance"]
        rests = due and any(begin <= at <= end for begin, end in town.away)
        if due and not rests and on == provider:
            town.away.append((at - 2400, at + 2400))
            yield habit | {"key": f"habit-{number}-{day}", "at": at}
        day += timedelta(days=1)


class Provider:
    """One provider's rows."""

    def __init__(self, town: Map, name: str, seeds: dict[str, Any]) -> None:
        self.town = town
        self.name = name
        self.seeds = seeds
        self.builder = town.builder
        self.modes = MODES[name]
        self.short = PREFIX[name]
        self.drivers: dict[str, list[dict[str, Any]]] = {}
        self.rows: dict[str, dict[str, dict[str, Any]]] = {}
        self.mail = Mail(self)

    def id(self, kind: str, key: str) -> str:
        """Return the id of a row; `kind` is the letter after the provider's prefix."""
        return self.builder.id(self.short + kind, key)

    def add(self, at: int, table: str, /, **row: Any) -> dict[str, Any]:
        """Insert a row into one of the provider's tables."""
        self.rows.setdefault(table, {})[row["id"]] = row
        return self.builder.add(at, f"{self.name}_{table}", **row)

    def fill(self, journeys: list[dict[str, Any]]) -> None:
        """Write all rows, rides in order of time."""
        self.account()
        self.hire()
        for ride in sorted(journeys, key=lambda j: (j["at"], j["key"])):
            self.ride(ride)
        if self.name == "uber":
            self.uber_only()
        else:
            self.lyft_only()

    def account(self) -> None:
        """Write the profile, saved places, payment methods and offers."""
        person = self.builder.person
        first = self.town.first
        self.add(
            first,
            "profile",
            id="me",
            city_id=person["cities"][0]["key"],
            name=person["name"],
            email=person["emails"]["personal"],
            phone=person["phone"],
            timezone=person["timezone"],
        )
        for hour, (label, place) in enumerate(self.seeds["saved"].items()):
            spot = self.town.spots[place][0]
            at = first + hour * 3600
            row = {
                "id": self.id("p", label),
                "label": label,
                "address": spot.address,
                "lat": spot.lat,
                "lng": spot.lng,
                "saved_at": iso(at),
            }
            self.add(at, "saved_places", **row)
        for hour, (key, card) in enumerate(self.seeds["wallet"].items()):
            self.card(key, card, hour)
        for offer in self.seeds["offers"]:
            self.offer(offer)

    def card(self, key: str, card: dict[str, Any], hour: int) -> None:
        """Write a payment method: one of the person's cards, or one that the seeds describe."""
        known = self.builder.person["cards"].get(key, {})
        row = {
            "kind": known.get("brand", "card"),
            "name": known.get("name"),
            "last4": known.get("last4"),
            **card,
        }
        row["expires"] = None
        if "expires" in card or "expires" in known:
            row["expires"] = str(card.get("expires", known.get("expires")))
        row["is_default"] = hour == 0
        added_at = iso(self.town.first + hour * 3600)
        self.add(self.town.first, "wallet", id=self.id("w", key), added_at=added_at, **row)

    def offer(self, offer: dict[str, Any]) -> None:
        """Write an offer, and whether it was applied."""
        offer_id = self.id("o", offer["key"])
        starts = self.town.moment(f"{offer['starts']}T00:00")
        expires = self.town.moment(f"{offer['expires']}T00:00")
        not_columns = ("key", "starts", "expires", "applied")
        row = {key: value for key, value in offer.items() if key not in not_columns}
        for money in ("amount", "most", "minimum"):
            row[money] = cents(row[money]) if money in row else None
        row["minimum"] = row["minimum"] or 0
        row["modes"] = row.get("modes", [])
        row["starts_at"] = iso(starts)
        row["expires_at"] = iso(expires)
        at = min(starts, self.builder.start)
        self.add(at, "offers", id=offer_id, applied_at=None, **row)
        if "applied" in offer:
            at = self.town.moment(offer["applied"])
            self.builder.change(at, f"{self.name}_offers", offer_id, applied_at=iso(at))

    def hire(self) -> None:
        """Write drivers: fourteen at home and six in every other city.

        Two of those at home have the same name.
        """
        pool = parsed(DRIVERS)
        home = self.builder.person["cities"][0]["key"]
        # A Lyft driver has a different car from the Uber driver with the same number.
        offset = 1 if self.name == "lyft" else 0
        for city in self.town.cities:
            crew = self.drivers[city] = []
            for number in range(14 if city == home else 6):
                chance = self.builder.chance(self.name, "driver", city, number)
                car = pool["vehicles"][(number + offset) % len(pool["vehicles"])]
                name = f"{chance.choice(pool['first'])} {chance.choice(pool['last'])}"
                letters = "".join(chance.choice("ABCDEFGHJKLMNPRSTUVWXYZ") for _ in range(3))
                row = {
                    "id": self.id("x", f"{city}-{number}"),
                    "name": crew[2]["name"] if city == home and number == 9 else name,
                    "rating": round(chance.uniform(4.58, 5.0), 2),
                    "rides": chance.randrange(60, 9000),
                    "vehicle": car["car"],
                    "colour": chance.choice(pool["colours"]),
                    "plate": f"{chance.randrange(100, 1000)} {letters}",
                    "skills": car["skills"],
                    "city_id": city,
                }
                crew.append(self.add(self.town.first, "drivers", **row))

    # -- rides -------------------------------------------------------------------------------------
    def ride(self, seed: dict[str, Any]) -> None:
        """Write one ride, past or scheduled, and what followed it."""
        at = seed["at"]
        ride_id = self.id("r", seed["key"])
        start, city = self.town.spots[seed["from"]]
        end, _ = self.town.spots[seed["to"]]
        via = [self.town.spots[stop][0] for stop in seed.get("stops", [])]
        kind = seed.get("type", "standard")
        mode = self.modes[KINDS[self.name].get(kind, kind)]
        plan = "wait_and_save" if kind == "shared" else "standard"
        route = roads.route(city, [start, *via, end], at)
        ahead = "made" in seed
        if ahead:
            asked = min(self.town.moment(str(seed["made"])), self.builder.start)
            wait = 0
        else:
            asked = at
            wait = self.wait(mode, city, at, plan)
        fare, percent = self.price(seed, mode, city, route, ahead, plan)
        card = seed["card"] if "card" in seed else next(iter(self.seeds["wallet"]))
        row: dict[str, Any] = {
            "id": ride_id,
            "mode_id": mode.id,
            "city_id": city["id"],
            "driver_id": self.driver(mode, city, ride_id)["id"],
            "card_id": self.id("w", card),
            "offer_id": self.id("o", seed["offer"]) if "offer" in seed else None,
            **trips.ends(start, end),
            "priced_at": iso(at),
            "percent": percent,
            "fare": fare,
            "wait": wait,
            "cancel_fee": 0,
            "tip": 0,
            **trips.timetable(ride_id, asked, wait, route.minutes, at if ahead else None),
        }
        if self.name == "uber":
            row["stops"] = [list(stop) for stop in via]
            row["reservation_id"] = self.id("v", seed["key"]) if ahead else None
        else:
            row["plan"] = plan
            row["scheduled_id"] = self.id("s", seed["key"]) if ahead else None
        after = self.aftermath(seed, row)
        self.mail.ride(seed, row, after, route)
        over = all(moment <= self.builder.start for moment, _ in after)
        if over and self.builder.start - asked > RECENT:
            for _, change in after:
                row |= change
            after = []
        self.add(asked, "rides", **row)
        for moment, change in after:
            self.builder.change(moment, f"{self.name}_rides", ride_id, **change)
        for days, amount, reason in seed.get("adjusted", []):
            adjusted = parse_time(row["ends_at"]) + int(days * trips.DAY)
            adjustment = {
                "id": self.id("j", f"{seed['key']}-{days}"),
                "ride_id": ride_id,
                "amount": cents(amount),
                "reason": reason,
                "at": iso(adjusted),
            }
            self.add(adjusted, "adjustments", **adjustment)

    def driver(self, mode: Mode, city: dict[str, Any], ride_id: str) -> dict[str, Any]:
        """Return the driver of a ride: one of the city's whose car fits the mode."""
        crew = self.drivers[city["id"]]
        fitting = [d for d in crew if mode.needs in d["skills"]] if mode.needs else crew
        return fitting[int(share("driver", ride_id) * len(fitting))]

    def wait(self, mode: Mode, city: dict[str, Any], at: int, plan: str) -> int:
        """Return the minutes that the provider would have promised."""
        if self.name == "lyft":
            return lyft.waits(mode, city, at, plan)
        return roads.wait("uber", mode, city, at)

    def price(
        self,
        seed: dict[str, Any],
        mode: Mode,
        city: dict[str, Any],
        route: roads.Route,
        ahead: bool,
        plan: str,
    ) -> tuple[int, int]:
        """Return the fare and the demand of a ride.

        They are what the provider would have charged, or the fare in the seed with the demand that
        comes closest to it.
        """
        if "fare" in seed:
            fare = cents(seed["fare"])
            usual = roads.fare(mode, city, route, 0) - mode.booking
            percent = round((fare - mode.booking - usual) * 20 / usual) * 5
            return fare, 0 if ahead else min(150, max(0, percent))
        percent = 0 if ahead else roads.busy(self.name, city, seed["at"])
        if self.name == "lyft":
            return lyft.priced(mode, city, route, percent, plan), percent
        fare = roads.fare(mode, city, route, percent)
        return fare + (uber.RESERVE_FEE if ahead else 0), percent

    def aftermath(
        self, seed: dict[str, Any], row: dict[str, Any]
    ) -> list[tuple[int, dict[str, Any]]]:
        """Return what happened to a ride later, as moments and changes.

        It is a cancellation, or a rating and a tip.
        """
        chance = self.builder.chance("ride", seed["key"])
        if "cancelled" in seed or "by" in seed or chance.random() < seed.get("drops", 0):
            by = seed.get("by", "rider")
            fee = cents(seed.get("cancelled", 0))
            since = row["arrives_at"] if by == "no_show" else row["matched_at"]
            at = parse_time(since) + trips.MINUTE * (7 if fee else 1)
            if at > self.builder.start:
                at = min(parse_time(row["requested_at"]) + trips.DAY, self.builder.start - 3600)
            return [(at, {"cancelled_at": iso(at), "cancelled_by": by, "cancel_fee": fee})]
        over = parse_time(row["ends_at"])
        if over > self.builder.start - 3600 or seed.get("plain"):
            return []
        changes: list[tuple[int, dict[str, Any]]] = []
        if chance.random() < 0.7:
            stars = seed.get("rating", chance.choices((5, 4, 3, 2), (80, 14, 4, 2))[0])
            at = over + chance.randrange(60, 5400)
            changes.append((at, {"rating": stars, "rated_at": iso(at)}))
        tip = 0
        if "tip" in seed:
            tip = cents(seed["tip"])
        elif chance.random() < 0.45:
            tip = 100 * chance.choice((1, 2, 2, 3, 3, 4, 5))
        if tip:
            at = over + chance.randrange(120, 3000)
            changes.append((at, {"tip": tip, "tipped_at": iso(at)}))
        return sorted(changes, key=lambda change: change[0])

    # -- what one of them alone has ----------------------------------------------------------------
    def uber_only(self) -> None:
        """Write contacts, fare splits and packages."""
        for key, who in self.builder.person["people"].items():
            contact = {"id": self.id("c", key), "name": who["name"], "phone": who["phone"]}
            self.add(self.town.first, "contacts", **contact)
        for split in self.seeds.get("splits", []):
            at = self.town.moment(split["at"])
            invitations = []
            for key in split["with"]:
                invitation = {
                    "id": self.id("s", f"{split['ride']}-{key}"),
                    "ride_id": self.id("r", split["ride"]),
                    "contact_id": self.id("c", key),
                    "invited_at": iso(at),
                }
                invitations.append(self.add(at, "splits", **invitation))
            ride = self.rows["rides"][self.id("r", split["ride"])]
            self.mail.split(ride, at, invitations)
        for parcel in self.seeds.get("parcels", []):
            self.parcel(parcel)

    def parcel(self, seed: dict[str, Any]) -> None:
        """Write one package to someone the person knows."""
        at = self.town.moment(seed["at"])
        parcel_id = self.id("d", seed["key"])
        start, city = self.town.spots[seed["from"]]
        end, _ = self.town.spots[seed["to"]]
        route = roads.route(city, [start, end], at)
        wait = roads.wait("uber", uber.COURIER, city, at)
        who = self.builder.person["people"][seed["with"]]
        row: dict[str, Any] = {
            "id": parcel_id,
            "city_id": city["id"],
            "driver_id": self.driver(uber.COURIER, city, parcel_id)["id"],
            "card_id": self.id("w", next(iter(self.seeds["wallet"]))),
            **trips.ends(start, end),
            "description": seed["what"],
            "recipient_name": who["name"],
            "recipient_phone": who["phone"],
            "fare": roads.fare(uber.COURIER, city, route, 0),
            "cancel_fee": 0,
            **trips.timetable(parcel_id, at, wait, route.minutes),
        }
        if "returned" in seed:
            row["returned_at"] = iso(parse_time(row["ends_at"]) + seed["returned"] * trips.MINUTE)
        if seed.get("cancelled"):
            row["cancelled_at"] = iso(parse_time(row["matched_at"]) + trips.MINUTE)
        self.add(at, "deliveries", **row)
        self.mail.parcel(row, route)

    def switches(self) -> list[tuple[str, bool]]:
        """Return the moments (ISO) at which round-up was switched on or off, oldest first."""
        given = self.seeds["round_up"]
        return [(iso(self.town.moment(str(day))), enabled) for day, enabled in given]

    def lyft_only(self) -> None:
        """Write when round-up was switched on or off, and challenges."""
        for number, (at, enabled) in enumerate(self.switches()):
            switch = {"id": self.id("u", str(number)), "enabled": enabled, "at": at}
            self.add(parse_time(at), "round_up", **switch)
        for challenge in self.seeds["challenges"]:
            starts = self.town.moment(f"{challenge['starts']}T00:00")
            ends = self.town.moment(f"{challenge['ends']}T00:00")
            row = {
                "id": self.id("c", challenge["key"]),
                "description": challenge["what"],
                "counts": challenge.get("counts", "all"),
                "mode_id": challenge.get("mode"),
                "target": challenge["target"],
                "reward": cents(challenge["reward"]),
                "starts_at": iso(starts),
                "ends_at": iso(ends),
            }
            self.add(min(starts, self.builder.start), "challenges", **row)
