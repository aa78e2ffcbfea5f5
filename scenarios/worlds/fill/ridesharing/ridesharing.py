"""Uber and Lyft: the map that they share, drivers, wallets, offers, and rides from habits, single seeds and the person's life.

A ride of a habit costs what the provider would have asked then; one of the person's life costs what its happening says.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from scenarios.worlds.build import Builder, parsed
from servers.kit.noise import share
from servers.kit.values import cents, iso, parse_time
from servers.ridesharing import _roads as roads
from servers.ridesharing import _rules as rules
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
RECENT = 20 * rules.DAY
"""Seconds before the start in which what follows a ride is a change of its own; older rides are written as they ended."""


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
        self.cities: dict[str, dict[str, Any]] = {}
        for city in builder.person["cities"]:
            row = {
                "name": city["name"],
                "state": city["state"],
                "lat": city["lat"],
                "lng": city["lon"],
                "timezone": city["timezone"],
            }
            row["market"] = seeds["markets"].get(city["key"], 90)
            self.cities[city["key"]] = builder.add(
                self.first, "ridesharing_cities", id=city["key"], **row
            )
        self.spots: dict[str, tuple[Spot, dict[str, Any]]] = {}
        for key, place in builder.places.items():
            city = self.cities[place["city"]]
            address = f"{place['street']}, {city['name']}, {place['state']} {place['zip']}"
            row = {
                "name": place["name"],
                "kind": place["category"],
                "address": address,
                "city": city["name"],
                "state": place["state"],
            }
            row |= {"lat": place["lat"], "lng": place["lng"]}
            builder.add(self.first, "ridesharing_places", id=builder.id("rdp", key), **row)
            self.spots[key] = Spot(roads.label(row), place["lat"], place["lng"]), city

    def moment(self, text: str, zone: str | None = None) -> int:
        """Return the moment of a local time, at home unless a zone is given; a bare date is its noon."""
        return self.builder.moment(text, ZoneInfo(zone) if zone else None)

    @functools.cached_property
    def away(self) -> list[tuple[int, int]]:
        """Spans in which habits rest: trips, an hour around everything else that has a time and a place, and any ride, habits' own too."""
        spans = []
        for event in self.builder.life:
            zone = self.cities[event["city"]]["timezone"] if "city" in event else None
            begin = self.moment(event["at"], zone)
            margin = 4 * 3600 if event.get("what") == "trip" else 3600
            spans.append((begin - margin, begin + int(event.get("hours", 1) * 3600) + margin))
            spans += [(at - 5400, at + 5400) for _, at in _rides_of(self, event)]
        told = [
            self.moment(r["at"], self.spots[r["from"]][1]["timezone"])
            for p in MODES
            for r in self.seeds[p].get("rides", [])
        ]
        return spans + [(at - 2400, at + 2400) for at in told]


def _rides_of(town: Map, event: dict[str, Any]) -> Iterator[tuple[dict[str, Any], int]]:
    for ride in event.get("rides", [event["ride"]] if "ride" in event else []):
        yield ride, town.moment(ride["at"], town.spots[ride["from"]][1]["timezone"])


def _journeys(town: Map, provider: str, seeds: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every ride of a provider as `{key, at, from, to, …}`: of the person's life, single ones, and of habits."""
    for event in town.builder.life:
        for number, (ride, at) in enumerate(_rides_of(town, event)):
            if ride["on"] == provider:
                yield ride | {"key": f"{event['key']}-{number}", "at": at}
    for ride in seeds[provider].get("rides", []):
        yield ride | {"at": town.moment(ride["at"], town.spots[ride["from"]][1]["timezone"])}
    for number, habit in enumerate(seeds["habits"]):
        day = date.fromisoformat(habit.get("since", seeds["since"]))
        last = date.fromisoformat(habit["until"]) if "until" in habit else date.max
        while (
            day <= last
            and (at := town.moment(f"{day}T{habit['at']}")) < town.builder.start - rules.DAY
        ):
            chance = town.builder.chance("habit", number, day)
            at += 60 * chance.randrange(-12, 13) + chance.randrange(60)
            wanted = habit["on"] if isinstance(habit["on"], str) else chance.choice(habit["on"])
            hit = (
                WEEKDAYS[day.weekday()] in habit["days"]
                and chance.random() < habit["chance"]
                and wanted == provider
            )
            if hit and not any(begin <= at <= end for begin, end in town.away):
                town.away.append((at - 2400, at + 2400))
                yield habit | {"key": f"habit-{number}-{day}", "at": at}
            day += timedelta(days=1)


class Provider:
    """Writes one provider's rows."""

    def __init__(self, town: Map, name: str, seeds: dict[str, Any]) -> None:
        self.town = town
        self.name = name
        self.seeds = seeds
        self.builder = town.builder
        self.modes = MODES[name]
        self.short = PREFIX[name]
        self.drivers: dict[str, list[dict[str, Any]]] = {}

    def id(self, kind: str, key: str) -> str:
        """Return the id of a row of a kind, a letter after the provider's own two."""
        return self.builder.id(self.short + kind, key)

    def add(self, at: int, table: str, /, **row: Any) -> dict[str, Any]:
        """Insert a row of one of the provider's tables."""
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
        """Write who rides, saved places, what pays, and offers."""
        person = self.builder.person
        first = self.town.first
        row = {
            "name": person["name"],
            "email": person["emails"]["personal"],
            "phone": person["phone"],
            "timezone": person["timezone"],
        }
        self.add(first, "profile", id="me", city_id=person["cities"][0]["key"], **row)
        for hour, (label, place) in enumerate(self.seeds["saved"].items()):
            spot = self.town.spots[place][0]
            saved = {
                "label": label,
                "address": spot.address,
                "lat": spot.lat,
                "lng": spot.lng,
                "saved_at": iso(first + hour * 3600),
            }
            self.add(first + hour * 3600, "saved_places", id=self.id("p", label), **saved)
        for hour, (key, card) in enumerate(self.seeds["wallet"].items()):
            known = person["cards"].get(key, {})
            said = {
                "kind": known.get("brand", "card"),
                "name": known.get("name"),
                "last4": known.get("last4"),
            } | card
            said["expires"] = (
                str(card.get("expires", known.get("expires")))
                if "expires" in card | known
                else None
            )
            said |= {"is_default": hour == 0, "last4": said.get("last4")}
            self.add(
                first, "wallet", id=self.id("w", key), added_at=iso(first + hour * 3600), **said
            )
        for offer in self.seeds["offers"]:
            terms = {
                k: v for k, v in offer.items() if k not in ("key", "starts", "expires", "applied")
            }
            for money in ("amount", "most", "minimum"):
                terms[money] = cents(terms[money]) if money in terms else None
            begin, end = (self.town.moment(f"{offer[k]}T00:00") for k in ("starts", "expires"))
            terms |= {
                "minimum": terms["minimum"] or 0,
                "modes": terms.get("modes", []),
                "starts_at": iso(begin),
                "expires_at": iso(end),
            }
            made = min(begin, self.builder.start)
            self.add(made, "offers", id=self.id("o", offer["key"]), applied_at=None, **terms)
            if "applied" in offer:
                at = self.town.moment(offer["applied"])
                self.builder.change(
                    at, f"{self.name}_offers", self.id("o", offer["key"]), applied_at=iso(at)
                )

    def hire(self) -> None:
        """Write drivers: fourteen at home, six in every other city, two of one name at home."""
        pool = parsed(DRIVERS)
        home = self.builder.person["cities"][0]["key"]
        for city in self.town.cities:
            crew = self.drivers[city] = []
            for number in range(14 if city == home else 6):
                chance = self.builder.chance(self.name, "driver", city, number)
                car = pool["vehicles"][(number + (self.name == "lyft")) % len(pool["vehicles"])]
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
    def ride(self, said: dict[str, Any]) -> None:
        """Write one ride, past or scheduled."""
        at = said["at"]
        made = self.id("r", said["key"])
        (start, city) = self.town.spots[said["from"]]
        (end, _) = self.town.spots[said["to"]]
        kind = KINDS[self.name].get(said.get("type", "standard"), said.get("type", "standard"))
        mode = self.modes[kind]
        chance = self.builder.chance("ride", said["key"])
        ahead = "made" in said
        asked = min(self.town.moment(str(said["made"])), self.builder.start) if ahead else at
        via = [self.town.spots[s][0] for s in said.get("stops", [])]
        route = roads.route(city, [start, *via, end], at)
        plan = "wait_and_save" if said.get("type") == "shared" else "standard"
        fare, percent = self.price(said, mode, city, route, ahead, plan)
        waits = (
            0
            if ahead
            else (
                lyft.waits(mode, city, at, plan)
                if self.name == "lyft"
                else roads.wait("uber", mode, city, at)
            )
        )
        moments = rules.timetable(made, asked, waits, route.minutes, at if ahead else None)
        fitting = [
            d for d in self.drivers[city["id"]] if not mode.needs or mode.needs in d["skills"]
        ]
        row: dict[str, Any] = {
            "id": made,
            "mode_id": kind,
            "city_id": city["id"],
            "driver_id": fitting[int(share("driver", made) * len(fitting))]["id"],
            "card_id": self.id(
                "w", said["card"] if "card" in said else next(iter(self.seeds["wallet"]))
            ),
            "offer_id": self.id("o", said["offer"]) if "offer" in said else None,
            **rules.ends(start, end),
            **{
                "priced_at": iso(at),
                "percent": percent,
                "fare": fare,
                "wait": waits,
                "cancel_fee": 0,
                "tip": 0,
            },
            **moments,
        }
        if self.name == "uber":
            row |= {
                "stops": [list(v) for v in via],
                "reservation_id": self.id("v", said["key"]) if ahead else None,
            }
        else:
            row |= {"plan": plan, "scheduled_id": self.id("s", said["key"]) if ahead else None}
        after = self.aftermath(said, row, chance)
        if self.builder.start - asked > RECENT and all(
            moment <= self.builder.start for moment, _ in after
        ):
            for _, change in after:
                row |= change
            after = []
        self.add(asked, "rides", **row)
        for moment, change in after:
            self.builder.change(moment, f"{self.name}_rides", made, **change)
        for days, amount, reason in said.get("adjusted", []):
            when = parse_time(row["ends_at"]) + int(days * rules.DAY)
            key = self.id("j", f"{said['key']}-{days}")
            self.add(
                when,
                "adjustments",
                id=key,
                ride_id=made,
                amount=cents(amount),
                reason=reason,
                at=iso(when),
            )

    def price(
        self,
        said: dict[str, Any],
        mode: Mode,
        city: dict[str, Any],
        route: roads.Route,
        ahead: bool,
        plan: str,
    ) -> tuple[int, int]:
        """Return fare and demand: what the provider would have asked, or what is said with the demand that comes nearest."""
        if "fare" not in said:
            percent = 0 if ahead else roads.busy(self.name, city, said["at"])
            asked = (
                lyft.priced(mode, city, route, percent, plan)
                if self.name == "lyft"
                else roads.fare(mode, city, route, percent)
            )
            return asked + (uber.RESERVE_FEE if ahead and self.name == "uber" else 0), percent
        fare = cents(said["fare"])
        plain = roads.fare(mode, city, route, 0) - mode.booking
        more = round((fare - mode.booking - plain) * 20 / plain) * 5
        return fare, 0 if ahead else min(150, max(0, more))

    def aftermath(
        self, said: dict[str, Any], row: dict[str, Any], chance: Any
    ) -> list[tuple[int, dict[str, Any]]]:
        """Return what happened to a ride later, as moments and changes: a cancellation, or a rating and a tip."""
        by = said.get("by", "rider")
        if "cancelled" in said or "by" in said or chance.random() < said.get("drops", 0):
            late = {"rider": "matched_at", "driver": "matched_at", "no_show": "arrives_at"}[by]
            fee = cents(said.get("cancelled", 0))
            when = parse_time(row[late]) + (rules.MINUTE * (7 if fee else 1))
            if when > self.builder.start:
                when = min(parse_time(row["requested_at"]) + rules.DAY, self.builder.start - 3600)
            return [(when, {"cancelled_at": iso(when), "cancelled_by": by, "cancel_fee": fee})]
        over = parse_time(row["ends_at"])
        if over > self.builder.start - 3600 or said.get("plain"):
            return []
        found = []
        if chance.random() < 0.7:
            stars = said.get("rating", chance.choices((5, 4, 3, 2), (80, 14, 4, 2))[0])
            when = over + chance.randrange(60, 5400)
            found.append((when, {"rating": stars, "rated_at": iso(when)}))
        tip = (
            cents(said["tip"])
            if "tip" in said
            else (100 * chance.choice((1, 2, 2, 3, 3, 4, 5)) if chance.random() < 0.45 else 0)
        )
        if tip:
            when = over + chance.randrange(120, 3000)
            found.append((when, {"tip": tip, "tipped_at": iso(when)}))
        return sorted(found, key=lambda f: f[0])

    # -- what one of them alone has ----------------------------------------------------------------
    def uber_only(self) -> None:
        """Write contacts, shared fares and parcels."""
        for key, who in self.builder.person["people"].items():
            self.add(
                self.town.first,
                "contacts",
                id=self.id("c", key),
                name=who["name"],
                phone=who["phone"],
            )
        for split in self.seeds.get("splits", []):
            at = self.town.moment(split["at"])
            for key in split["with"]:
                made = {
                    "ride_id": self.id("r", split["ride"]),
                    "contact_id": self.id("c", key),
                    "invited_at": iso(at),
                }
                self.add(at, "splits", id=self.id("s", f"{split['ride']}-{key}"), **made)
        for parcel in self.seeds.get("parcels", []):
            self.parcel(parcel)

    def parcel(self, said: dict[str, Any]) -> None:
        """Write one parcel to somebody the person knows."""
        at = self.town.moment(said["at"])
        made = self.id("d", said["key"])
        (start, city) = self.town.spots[said["from"]]
        (end, _) = self.town.spots[said["to"]]
        route = roads.route(city, [start, end], at)
        who = self.builder.person["people"][said["with"]]
        crew = self.drivers[city["id"]]
        row: dict[str, Any] = {
            "id": made,
            "city_id": city["id"],
            "driver_id": crew[int(share("driver", made) * len(crew))]["id"],
            "card_id": self.id("w", next(iter(self.seeds["wallet"]))),
            **rules.ends(start, end),
            **{
                "description": said["what"],
                "recipient_name": who["name"],
                "recipient_phone": who["phone"],
            },
            **{"fare": roads.fare(uber.COURIER, city, route, 0), "cancel_fee": 0},
            **rules.timetable(made, at, roads.wait("uber", uber.COURIER, city, at), route.minutes),
        }
        if "returned" in said:
            row["returned_at"] = iso(parse_time(row["ends_at"]) + said["returned"] * rules.MINUTE)
        if said.get("cancelled"):
            row["cancelled_at"] = iso(parse_time(row["matched_at"]) + rules.MINUTE)
        self.add(at, "deliveries", **row)

    def lyft_only(self) -> None:
        """Write when round-up was switched, and challenges."""
        for number, (day, enabled) in enumerate(self.seeds["round_up"]):
            at = self.town.moment(str(day))
            self.add(at, "round_up", id=self.id("u", str(number)), enabled=enabled, at=iso(at))
        for challenge in self.seeds["challenges"]:
            begin, end = (self.town.moment(f"{challenge[k]}T00:00") for k in ("starts", "ends"))
            row = {
                "description": challenge["what"],
                "counts": challenge.get("counts", "all"),
                "mode_id": challenge.get("mode"),
            }
            row |= {
                "target": challenge["target"],
                "reward": cents(challenge["reward"]),
                "starts_at": iso(begin),
                "ends_at": iso(end),
            }
            self.add(
                min(begin, self.builder.start),
                "challenges",
                id=self.id("c", challenge["key"]),
                **row,
            )
