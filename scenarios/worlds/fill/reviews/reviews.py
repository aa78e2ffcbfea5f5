"""Yelp and Google Maps: the places of a life and their like, what others say of them, and what the person wrote and kept.

Listings come from `places.yaml`; more businesses and all texts of others are put together from `_phrases.yaml`, with the words,
streets and numbers of cities that hotels use as well. Each site has reviews, counts and mistakes of its own.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

from scenarios.worlds.build import Builder, parsed
from servers.kit.errors import InputError
from servers.kit.values import iso, parse_time
from servers.kit.zones import local_day

PHRASES = Path(__file__).with_name("_phrases.yaml")
CITIES = Path(__file__).parent.parent / "travel" / "_hotels.yaml"
WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
SITES = {"yelp": ("ybz", "yrv", "yqu", "yan"), "google_map_review": ("gpl", "grv", "gqu", "gan")}
DAY = 86_400


def fill(builder: Builder, seeds: dict[str, Any]) -> None:
    """Write both sites: listings, what others wrote, and the person's own side."""
    for site in SITES:
        made = Site(builder, seeds, site)
        made.listings()
        made.talk()
        made.own()


def week(hours: dict[str, str]) -> list[str]:
    """Return seven texts, Monday first, of hours such as `{mon-fri: "09:00-17:00", sat: closed}`."""
    found = [""] * 7
    for days, text in hours.items():
        first, _, last = days.partition("-")
        for n in range(WEEK.index(first), WEEK.index(last or first) + 1):
            found[n] = "" if text == "closed" else text
    return found


class Site:
    """Writes one site's rows."""

    def __init__(self, builder: Builder, seeds: dict[str, Any], site: str) -> None:
        self.builder = builder
        self.seeds = seeds
        self.site = site
        self.parts = parsed(PHRASES)
        self.towns = parsed(CITIES)
        self.cities = {c["key"]: c for c in builder.person["cities"]}
        self.first = parse_time(f"{seeds['since']}T00:00:00Z")
        self.mine = self._mine()
        self.places = self._places()
        self.texts: set[str] = set()
        self.told: set[str] = set()

    def id(self, prefix: str, key: object) -> str:
        """Return the id of a row of this site."""
        return self.builder.id(prefix, key)

    def add(self, at: int, table: str, /, **row: Any) -> None:
        """Add a row to one of the site's tables."""
        self.builder.add(at, f"{self.site}_{table}", **row)

    def listed(self, key: str) -> str:
        """Return the id of a place that the site lists."""
        if key not in self.places:
            raise InputError(f"reviews.yaml: {self.site} lists no {key!r}")
        return self.id(SITES[self.site][0], key)

    # -- what there is --------------------------------------------------------------------------------------------
    def _mine(self) -> list[dict[str, Any]]:
        """Return the person's own reviews on this site: of life.yaml, and of the seeds."""
        found: list[dict[str, Any]] = []
        for happening in self.builder.life:
            said = happening.get("review")
            if said and self.site in said["on"]:
                at = self.builder.moment(str(said.get("at") or happening["at"]))
                found.append(
                    {
                        "place": said.get("place") or happening["place"],
                        "at": at,
                        "rating": said["rating"],
                        "text": said["text"],
                    }
                )
        found += [
            r | {"at": parse_time(r["at"])} for r in self.seeds["reviews"] if self.site in r["on"]
        ]
        latest: dict[str, dict[str, Any]] = {}
        for review in sorted(
            found, key=lambda r: r["at"]
        ):  # a second review of a place edits the first
            old = latest.get(review["place"])
            latest[review["place"]] = old | {"edit": review} if old else review
        return list(latest.values())

    def _places(self) -> dict[str, dict[str, Any]]:
        """Return the places that this site lists, by key."""
        told = {r["place"] for r in self.mine}
        found = {
            key: place | {"hours": week(place["hours"]) if "hours" in place else []}
            for key, place in self.builder.places.items()
            if key in told or ("rating" in place and "hours" in place)
        }
        for city, count in self.seeds["extra"].items():
            for number in range(count):
                place = self._extra(city, number)
                if self.builder.chance("listed", self.site, place["key"]).random() < 0.9:
                    found[place["key"]] = place
        return found

    def _extra(self, city: str, number: int) -> dict[str, Any]:
        parts = self.towns["cities"][city]
        where = self.cities[city]
        key = f"{city}-{number}"
        chance = self.builder.chance("extra", key)
        start = self.builder.chance("forms", city).randrange(0, len(self.parts["extra"]), 2)
        kind, category, name, price, hours = self.parts["extra"][
            (start + number) % len(self.parts["extra"])
        ]
        place = {
            "key": key,
            "name": name.format(w=parts["words"][number // 2 % len(parts["words"])]),
            "category": category,
            "kind": kind,
            "city": city,
            "street": f"{chance.randrange(100, 5900)} {chance.choice(parts['streets'])}",
            "zip": parts["zip"] + f"{chance.randrange(1, 40):02d}",
            "lat": round(where["lat"] + chance.uniform(-0.04, 0.04), 4),
            "lng": round(where["lon"] + chance.uniform(-0.05, 0.05), 4),
            "phone": f"+1-{parts['area']}-555-01{chance.randrange(100):02d}",
            "price": price,
            "rating": round(min(4.9, max(2.2, chance.gauss(4.0, 0.5))), 1),
            "hours": week(hours),
        }
        if chance.random() >= 0.06:
            return place
        gone = self.builder.start - self.builder.chance("closed", key).randrange(100, 600) * DAY
        return place | {"closed_since": local_day(gone, self.builder.zone).isoformat()}

    def listings(self) -> None:
        """Write towns (once), and every listing with what this site gets wrong about it."""
        if self.site == "yelp":
            for key, city in self.cities.items():
                row = {
                    "name": city["name"],
                    "state": self.towns["states"][city["state"]][0],
                    "state_name": city["state"],
                }
                self.builder.add(
                    self.first,
                    "reviews_cities",
                    id=key,
                    lat=city["lat"],
                    lng=city["lon"],
                    timezone=city["timezone"],
                    **row,
                )
        prefix = SITES[self.site][0]
        wrong = self.seeds["mistakes"].get(self.site, {})
        for key, place in self.places.items():
            said = place | wrong.get(key, {})
            pause = self.seeds["pauses"].get(key)
            gone = pause["from"] if pause else said.get("closed_since")
            tags = [
                t
                for t in (said.get("cuisine"), said["kind"])
                if t and t.lower() not in said["category"].lower()
            ]
            row = {
                **{k: said[k] for k in ("name", "category", "street", "zip", "lat", "lng")},
                "tags": ", ".join(tags),
                "price": said.get("price"),
                "city_id": said["city"],
                "phone": said.get("phone"),
                "website": f"https://{''.join(c for c in said['name'].lower() if c.isascii() and c.isalnum())}.example.com"
                if "price" in said
                else None,
                "hours": week(said["hours"]) if isinstance(said["hours"], dict) else said["hours"],
            }
            known = self.id(prefix, key)
            self.builder.add(self.first, f"{self.site}_places", id=known, **row)
            if (
                gone and self.builder.moment(f"{gone}T00:00") < self.builder.start
            ):  # later: the site has not noticed
                back = iso(self.builder.moment(f"{pause['to']}T08:00")) if pause else None
                moved = self.id(prefix, said["moved_to"]) if "moved_to" in said else None
                shut = {
                    "closed_at": iso(self.builder.moment(f"{gone}T00:00")),
                    "reopens_at": back,
                    "moved_to": moved,
                }
                self.builder.change(
                    min(self.builder.moment(f"{gone}T18:00"), self.builder.start),
                    f"{self.site}_places",
                    known,
                    **shut,
                )

    # -- what others say ------------------------------------------------------------------------------------------
    def talk(self) -> None:
        """Write the reviews, questions and photos of others."""
        for key, place in self.places.items():
            chance = self.builder.chance("talk", self.site, key)
            home = place["city"] == self.builder.person["cities"][0]["key"]
            count = min(22, 3 + int(chance.lognormvariate(1.3 if home else 0.8, 0.7)))
            until = self.builder.start - DAY
            if "closed_since" in place:
                until = min(until, self.builder.moment(f"{place['closed_since']}T12:00"))
            former = next(
                (p for p in self.builder.places.values() if p.get("moved_to") == key), None
            )
            since = (
                f"{place.get('since', 2012)}-03-01" if former is None else former["closed_since"]
            )
            since = max(self.builder.moment(f"{since}T12:00"), until - 6 * 365 * DAY)
            if former is not None:
                self._former(key, former, since, chance)
            story = next((s for s in self.seeds["stories"] if s["place"] == key), None)
            for number in range(count):
                at = (
                    int(since + (until - since) * chance.random() ** 0.6)
                    if until > since
                    else until
                )
                self._review(key, place, f"{key}-{number}", at, chance, story)
            self._extras(key, place, chance, story)
            self._questions(key, place, chance)

    def _review(
        self,
        key: str,
        place: dict[str, Any],
        name: str,
        at: int,
        chance: Random,
        story: dict[str, Any] | None,
    ) -> None:
        usual = (story or {}).get("before") or place.get("rating", 4.0)
        body = None
        if story and story["what"] == "decline":
            turned = at >= self.builder.moment(f"{story['since']}T00:00")
            usual = story["after"] if turned else story["before"]
            if turned and chance.random() < 0.7:
                body = self._fresh(chance, self.parts["decline"], place)
        stars = max(1, min(5, round(chance.gauss(usual + 0.1, 0.9))))
        if body is not None and stars > 3:
            stars = chance.choice([1, 2, 2])
        self._write(key, name, at, stars, body or self._text(chance, place, stars, name), chance)

    def _former(self, key: str, former: dict[str, Any], moved: int, chance: Random) -> None:
        """Write two reviews that came along from the former address; only their dates tell."""
        for number, form in enumerate(self.parts["moved"]):
            text = form.format(
                street=former["street"].split(" ", 1)[1], item=chance.choice(self._items(former))
            )
            self._write(
                key,
                f"{key}-former-{number}",
                moved - chance.randrange(40, 900) * DAY,
                chance.choice([3, 4]),
                text,
                chance,
            )

    def _extras(
        self, key: str, place: dict[str, Any], chance: Random, story: dict[str, Any] | None
    ) -> None:
        if story and story["what"] == "burst":
            for number in range(story["count"]):
                at = self.builder.moment(f"{story['on']}T09:00") + int(chance.random() * 2 * DAY)
                self._write(
                    key,
                    f"{key}-burst-{number}",
                    at,
                    5,
                    chance.choice(self.parts["burst"]),
                    chance,
                    doubted=chance.random() < 0.85,
                )
        if "closed_since" in place and "moved_to" not in place:
            at = (
                self.builder.moment(f"{place['closed_since']}T12:00")
                + chance.randrange(2, 12) * DAY
            )
            if at < self.builder.start:
                self._write(
                    key,
                    f"{key}-closed",
                    at,
                    chance.choice([1, 3]),
                    chance.choice(self.parts["closed"]),
                    chance,
                )
        if self.site == "google_map_review" and chance.random() < 0.25:
            at = int(self.builder.start - chance.randrange(5, 500) * DAY)
            row = {
                "url": f"https://photos.example.com/{key}/{chance.randrange(9999):04d}.jpg",
                "author": self._author(chance),
            }
            caption = chance.choice(
                ["The menu", "Front door", "Hours on the door", "Interior", None]
            )
            made = self.id("gph", f"{key}-0")
            self.add(
                at,
                "photos",
                id=made,
                business_id=self.id("gpl", key),
                mine=False,
                caption=caption,
                added_at=iso(at),
                **row,
            )
        for said in self.seeds["told"]:
            if said["place"] == key and self.site in said["on"]:
                at = parse_time(said["at"])
                self._write(
                    key,
                    f"{key}-told-{said['at'][:10]}",
                    at,
                    said["rating"],
                    said["text"],
                    chance,
                    author=said["by"],
                )

    def _write(
        self,
        key: str,
        name: str,
        at: int,
        stars: int,
        body: str,
        chance: Random,
        *,
        doubted: bool | None = None,
        author: str | None = None,
    ) -> None:
        place, review = SITES[self.site][:2]
        row: dict[str, Any] = {
            "author": author or self._author(chance),
            "mine": False,
            "rating": stars,
            "body": body,
            "written_at": iso(at),
        }
        row |= {"votes": int(chance.expovariate(0.6)), "edited_at": None}
        if chance.random() < 0.06 and stars <= 3:
            row["reply"] = chance.choice(
                [
                    "We are sorry; please call us.",
                    "Thank you, we have spoken with the team.",
                    "This was not our place.",
                ]
            )
        if self.site == "yelp":
            row["recommended"] = not (chance.random() < 0.05 if doubted is None else doubted)
        self.add(at, "reviews", id=self.id(review, name), business_id=self.id(place, key), **row)

    def _author(self, chance: Random) -> str:
        return f"{chance.choice(self.parts['names'])} {chance.choice('ABCDEFGHKLMNOPRSTVW')}."

    def _text(self, chance: Random, place: dict[str, Any], stars: int, name: str) -> str:
        said = self.parts["say"][self._group(place)]
        tone = "good" if stars >= 4 else ("mixed" if stars == 3 else "bad")
        first = self._fresh(chance, said[tone], place)
        tail = self._tail(chance)
        text = first + tail
        more = self.builder.chance("more", self.site, name)
        while text in self.told:  # nobody writes word for word what another wrote
            second = more.choice(said[tone]).format(item=more.choice(self._items(place)))
            text = (
                f"{first} {second}{self._tail(more)}"
                if second != first
                else first + self._tail(more)
            )
        self.told.add(text)
        return text

    def _tail(self, chance: Random) -> str:
        days = ["Monday", "Tuesday", "Thursday", "Friday", "Saturday", "Sunday"]
        return chance.choice(self.parts["tails"]).format(day=chance.choice(days))

    def _fresh(self, chance: Random, forms: list[str], place: dict[str, Any]) -> str:
        """Return a phrase that was not used of this place, if there is one."""
        text = ""
        for _ in range(4):
            text = chance.choice(forms).format(item=chance.choice(self._items(place)))
            if (mark := f"{place['name']}:{text}") not in self.texts:
                self.texts.add(mark)
                break
        return text

    def _items(self, place: dict[str, Any]) -> list[str]:
        words = place["category"].lower()
        usual = self.parts["defaults"].get(self._group(place), ["service"])
        return next((items for word, items in self.parts["items"].items() if word in words), usual)

    def _group(self, place: dict[str, Any]) -> str:
        return self.parts["groups"][place["kind"]]

    def _questions(self, key: str, place: dict[str, Any], chance: Random) -> None:
        known = self.parts["questions"].get(self._group(place), [])
        asked = chance.sample(known, min(len(known), chance.choice([0, 0, 1, 1, 2])))
        asked = known[:2] if key in self.seeds["asked"] else asked
        listing, _, question, answer = SITES[self.site]
        for number, (text, answers) in enumerate(asked):
            at = int(self.builder.start - chance.randrange(40, 700) * DAY)
            made = self.id(question, f"{key}-{number}")
            row = {
                "business_id": self.id(listing, key),
                "author": self._author(chance),
                "mine": False,
                "body": text,
            }
            self.add(at, "questions", id=made, asked_at=iso(at), **row)
            for turn, said in enumerate(answers[: chance.randrange(0, len(answers) + 1)]):
                when = min(
                    at + (turn * 20 + chance.randrange(1, 15)) * DAY, self.builder.start - DAY
                )
                row = {
                    "question_id": made,
                    "author": self._author(chance),
                    "mine": False,
                    "body": said,
                    "answered_at": iso(when),
                }
                self.add(when, "answers", id=self.id(answer, f"{key}-{number}-{turn}"), **row)

    # -- the person's own side ------------------------------------------------------------------------------------
    def own(self) -> None:
        """Write the account, own reviews, and what is saved, listed, asked, photographed and visited."""
        who = self.builder.person
        (_, review, _, answer) = SITES[self.site]
        first = who["name"].split()[0]
        last = who["name"].split()[-1]
        shown = f"{first} {last[0]}." if self.site == "yelp" else who["name"]
        home = who["cities"][0]["key"]
        self.add(
            self.first,
            "account",
            id="me",
            name=who["name"],
            email=who["emails"]["personal"],
            city_id=home,
            shown=shown,
        )
        for said in self.mine:
            key = self.id(review, f"mine-{said['place']}")
            at = said["at"]
            row = {
                "business_id": self.listed(said["place"]),
                "author": shown,
                "mine": True,
                "rating": said["rating"],
                "body": said["text"],
            }
            row |= {
                "votes": self.builder.chance("liked", self.site, said["place"]).randrange(0, 7),
                "written_at": iso(at),
            }
            self.add(
                at,
                "reviews",
                id=key,
                **row,
                **({"recommended": True} if self.site == "yelp" else {}),
            )
            if "edit" in said:
                edit = said["edit"]
                changed = {
                    "rating": edit["rating"],
                    "body": edit["text"],
                    "edited_at": iso(edit["at"]),
                }
                self.builder.change(edit["at"], f"{self.site}_reviews", key, **changed)
        kept = self.seeds["kept"][self.site]
        marks = {"yelp": ("ysv", "ycl", "yit"), "google_map_review": ("gsv", "gli", "glm")}[
            self.site
        ]
        for number, place in enumerate(kept["saved"]):
            at = self.builder.start - (number * 23 + 4) * DAY - number * 3617
            self.add(
                at,
                "saved",
                id=self.id(marks[0], place),
                business_id=self.listed(place),
                saved_at=iso(at),
            )
        for said in kept["lists"]:
            at = parse_time(said["at"])
            made = self.id(marks[1], said["key"])
            self.add(
                at,
                "lists",
                id=made,
                name=said["name"],
                description=said.get("about"),
                created_at=iso(at),
            )
            for number, (place, note) in enumerate(said["places"].items()):
                when = at + (number + 1) * 700
                item = self.id(marks[2], f"{said['key']}-{place}")
                row = {
                    "list_id": made,
                    "business_id": self.listed(place),
                    "note": note,
                    "added_at": iso(when),
                }
                self.add(when, "list_items", id=item, **row)
        for number, (place, number_asked, text) in enumerate(kept["answers"]):
            at = self.builder.start - (number * 31 + 9) * DAY
            row = {
                "question_id": self.id(SITES[self.site][2], f"{place}-{number_asked}"),
                "author": shown,
                "mine": True,
                "body": text,
            }
            self.add(
                at, "answers", id=self.id(answer, f"mine-{number}"), answered_at=iso(at), **row
            )
        for number, (place, caption) in enumerate(kept.get("photos", [])):
            at = self.builder.start - (number * 19 + 3) * DAY
            row = {
                "business_id": self.listed(place),
                "url": f"https://photos.example.com/{first.lower()}/{number:03d}.jpg",
                "author": shown,
            }
            self.add(
                at,
                "photos",
                id=self.id("gph", f"mine-{number}"),
                mine=True,
                caption=caption,
                added_at=iso(at),
                **row,
            )
        if self.site == "yelp":
            self._visits()

    def _visits(self) -> None:
        """Write a check-in for some of the happenings at a listed place, and for the seeds' regular ones."""
        visits = {
            h["key"]: (h["place"], h["at"])
            for h in self.builder.life
            if h.get("place") in self.places and "T" in str(h["at"])
        }
        found = [
            (key, place, self.builder.moment(str(at)) + 600) for key, (place, at) in visits.items()
        ]
        for place, weekday, clock in self.seeds["visits"]:
            day = local_day(self.builder.start, self.builder.zone) - timedelta(days=200)
            while self.builder.moment(f"{day}T{clock}") < self.builder.start:
                if day.weekday() == WEEK.index(weekday):
                    found.append((f"{place}-{day}", place, self.builder.moment(f"{day}T{clock}")))
                day += timedelta(days=1)
        for key, place, at in found:
            if (
                self.builder.start - 400 * DAY < at < self.builder.start
                and self.builder.chance("visit", key).random() < 0.55
            ):
                self.add(
                    at,
                    "check_ins",
                    id=self.id("yci", key),
                    business_id=self.listed(place),
                    at=iso(at),
                )
