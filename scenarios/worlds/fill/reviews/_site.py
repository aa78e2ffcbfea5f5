"""A review site: the prefixes of its ids, the places that it lists, and their listings."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any, NamedTuple

from scenarios.worlds.build import Builder, parsed
from servers.kit.errors import InputError
from servers.kit.values import iso, parse_time
from servers.kit.zones import local_day

MADE = Path(__file__).with_name("_made.yaml")
CITIES = Path(__file__).parent.parent / "travel" / "_hotels.yaml"
WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAY = 86_400


class Prefixes(NamedTuple):
    """Prefixes of the ids of a site's rows."""

    place: str
    review: str
    question: str
    answer: str
    saved: str
    list: str
    list_item: str


SITES = {
    "yelp": Prefixes("ybz", "yrv", "yqu", "yan", "ysv", "ycl", "yit"),
    "google_map_review": Prefixes("gpl", "grv", "gqu", "gan", "gsv", "gli", "glm"),
}
_HOST_LETTERS = frozenset(string.ascii_lowercase + string.digits)


def week(hours: dict[str, str]) -> list[str]:
    """Return seven texts, Monday first.

    `hours` is such as `{mon-fri: "09:00-17:00", sat: closed}`.
    """
    texts = [""] * 7
    for days, text in hours.items():
        first, _, last = days.partition("-")
        for n in range(WEEK.index(first), WEEK.index(last or first) + 1):
            texts[n] = "" if text == "closed" else text
    return texts


class Site:
    """A site: the places that it lists, and how its rows are written."""

    def __init__(self, builder: Builder, seeds: dict[str, Any], name: str) -> None:
        self.builder = builder
        self.seeds = seeds
        self.name = name
        self.prefixes = SITES[name]
        self.parts = parsed(MADE)
        self.towns = parsed(CITIES)
        self.cities = {c["key"]: c for c in builder.person["cities"]}
        self.first = parse_time(f"{seeds['since']}T00:00:00Z")
        self.mine = self._mine()
        self.places = self._places()

    def id(self, prefix: str, key: object) -> str:
        """Return the id of a row of this site."""
        return self.builder.id(prefix, key)

    def add(self, at: int, table: str, /, **row: Any) -> None:
        """Add a row to one of the site's tables."""
        self.builder.add(at, f"{self.name}_{table}", **row)

    def listed(self, key: str) -> str:
        """Return the id of a place that the site lists."""
        if key not in self.places:
            raise InputError(f"reviews.yaml: {self.name} lists no {key!r}")
        return self.id(self.prefixes.place, key)

    # -- its places ------------------------------------------------------------------------
    def _mine(self) -> list[dict[str, Any]]:
        """Return the person's own reviews on this site: those of life.yaml and those of the seeds.

        A second review of a place is an `edit` of the first.
        """
        reviews: list[dict[str, Any]] = []
        for happening in self.builder.life:
            review = happening.get("review")
            if review and self.name in review["on"]:
                at = self.builder.moment(str(review.get("at") or happening["at"]))
                reviews.append(
                    {
                        "place": review.get("place") or happening["place"],
                        "at": at,
                        "rating": review["rating"],
                        "text": review["text"],
                    }
                )
        for review in self.seeds["reviews"]:
            if self.name in review["on"]:
                reviews.append(review | {"at": parse_time(review["at"])})
        reviews.sort(key=lambda review: review["at"])
        by_place: dict[str, dict[str, Any]] = {}
        for review in reviews:
            first = by_place.get(review["place"])
            by_place[review["place"]] = first | {"edit": review} if first else review
        return list(by_place.values())

    def _places(self) -> dict[str, dict[str, Any]]:
        """Return the places that this site lists, by key."""
        reviewed = {review["place"] for review in self.mine}
        listed = {}
        for key, place in self.builder.places.items():
            is_shop = "rating" in place and "hours" in place
            if is_shop or key in reviewed:
                hours = week(place["hours"]) if "hours" in place else []
                listed[key] = place | {"key": key, "hours": hours}
        for city, count in self.seeds["extra"].items():
            for number in range(count):
                place = self._extra(city, number)
                if self.builder.chance("listed", self.name, place["key"]).random() < 0.9:
                    listed[place["key"]] = place
        return listed

    def _extra(self, city: str, number: int) -> dict[str, Any]:
        """Return a made-up business in a city, the same for both sites."""
        parts = self.towns["cities"][city]
        where = self.cities[city]
        key = f"{city}-{number}"
        chance = self.builder.chance("extra", key)
        start = self.builder.chance("forms", city).randrange(0, len(self.parts["extra"]), 2)
        forms = self.parts["extra"]
        kind, category, name, price, hours = forms[(start + number) % len(forms)]
        word = parts["words"][number // 2 % len(parts["words"])]
        place = {
            "key": key,
            "name": name.format(w=word),
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
        days_ago = self.builder.chance("closed", key).randrange(100, 600)
        closed_at = self.builder.start - days_ago * DAY
        return place | {"closed_since": local_day(closed_at, self.builder.zone).isoformat()}

    def listings(self) -> None:
        """Write the towns (only once) and every listing, with this site's mistakes about it."""
        if self.name == "yelp":
            self._cities()
        mistakes = self.seeds["mistakes"].get(self.name, {})
        for key, place in self.places.items():
            self._listing(key, place | mistakes.get(key, {}))

    def _cities(self) -> None:
        for key, city in self.cities.items():
            self.builder.add(
                self.first,
                "reviews_cities",
                id=key,
                lat=city["lat"],
                lng=city["lon"],
                timezone=city["timezone"],
                name=city["name"],
                state=self.towns["states"][city["state"]][0],
                state_name=city["state"],
            )

    def _listing(self, key: str, place: dict[str, Any]) -> None:
        """Write a listing, and its closing if it has closed for good or for a while."""
        category = place["category"].lower()
        kinds = [place["cuisine"], place["kind"]] if place.get("cuisine") else [place["kind"]]
        tags = [kind for kind in kinds if kind.lower() not in category]
        website = None
        if "price" in place:
            host = "".join(c for c in place["name"].lower() if c in _HOST_LETTERS)
            website = f"https://{host}.example.com"
        hours = place["hours"]
        place_id = self.id(self.prefixes.place, key)
        self.add(
            self.first,
            "places",
            id=place_id,
            name=place["name"],
            category=place["category"],
            street=place["street"],
            zip=place["zip"],
            lat=place["lat"],
            lng=place["lng"],
            tags=", ".join(tags),
            price=place.get("price"),
            city_id=place["city"],
            phone=place.get("phone"),
            website=website,
            hours=week(hours) if isinstance(hours, dict) else hours,
        )
        pause = self.seeds["pauses"].get(key)
        closed_on = pause["from"] if pause else place.get("closed_since")
        if not closed_on:
            return
        closed_at = self.builder.moment(f"{closed_on}T00:00")
        if closed_at >= self.builder.start:
            return
        reopens_at = iso(self.builder.moment(f"{pause['to']}T08:00")) if pause else None
        moved_to = self.id(self.prefixes.place, place["moved_to"]) if "moved_to" in place else None
        noticed_at = min(self.builder.moment(f"{closed_on}T18:00"), self.builder.start)
        self.builder.change(
            noticed_at,
            f"{self.name}_places",
            place_id,
            closed_at=iso(closed_at),
            reopens_at=reopens_at,
            moved_to=moved_to,
        )
