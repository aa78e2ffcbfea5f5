"""The person's own side of a review site: account, reviews, saved places, lists and visits."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, NamedTuple

from scenarios.worlds.fill.reviews._site import DAY, WEEK, Site
from servers.kit.errors import InputError
from servers.kit.values import iso, parse_time
from servers.kit.zones import local_day


class Visit(NamedTuple):
    """A visit of the person to a place; `at` in epoch seconds."""

    key: str
    place: str
    at: int


class Own:
    """Writes what the person wrote and kept."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.builder = site.builder
        self.seeds = site.seeds

    def write(self) -> None:
        """Write the account, the person's reviews, saved places, lists, answers and photos."""
        who = self.builder.person
        names = who["name"].split()
        shown = f"{names[0]} {names[-1][0]}." if self.site.name == "yelp" else who["name"]
        self.site.add(
            self.site.first,
            "account",
            id="me",
            name=who["name"],
            email=who["emails"]["personal"],
            city_id=who["cities"][0]["key"],
            shown=shown,
        )
        for review in self.site.mine:
            self._own_review(review, shown)
        for happening in self.builder.ahead:
            self._replied(happening.get("reply", {}))
        kept = self.seeds["kept"][self.site.name]
        self._saved(kept["saved"])
        for seed in kept["lists"]:
            self._list(seed)
        for number, (place, question_number, text) in enumerate(kept["answers"]):
            at = self.builder.start - (number * 31 + 9) * DAY
            self.site.add(
                at,
                "answers",
                id=self.site.id(self.site.prefixes.answer, f"mine-{number}"),
                answered_at=iso(at),
                question_id=self.site.id(self.site.prefixes.question, f"{place}-{question_number}"),
                author=shown,
                mine=True,
                body=text,
            )
        for number, (place, caption) in enumerate(kept.get("photos", [])):
            at = self.builder.start - (number * 19 + 3) * DAY
            self.site.add(
                at,
                "photos",
                id=self.site.id("gph", f"mine-{number}"),
                mine=True,
                caption=caption,
                added_at=iso(at),
                business_id=self.site.listed(place),
                url=f"https://photos.example.com/{names[0].lower()}/{number:03d}.jpg",
                author=shown,
            )
        if self.site.name == "yelp":
            self._check_ins()

    def _own_review(self, review: dict[str, Any], author: str) -> None:
        review_id = self.site.id(self.site.prefixes.review, f"mine-{review['place']}")
        row = {
            "business_id": self.site.listed(review["place"]),
            "author": author,
            "mine": True,
            "rating": review["rating"],
            "body": review["text"],
            "votes": self.builder.chance("liked", self.site.name, review["place"]).randrange(0, 7),
            "written_at": iso(review["at"]),
        }
        if self.site.name == "yelp":
            row["recommended"] = True
        self.site.add(review["at"], "reviews", id=review_id, **row)
        self._tell("review_published", review["at"], review_id, review)
        if "edit" in review:
            edit = review["edit"]
            self._tell("review_updated", edit["at"], review_id, review | edit)
            self.builder.change(
                edit["at"],
                f"{self.site.name}_reviews",
                review_id,
                rating=edit["rating"],
                body=edit["text"],
                edited_at=iso(edit["at"]),
            )

    def _replied(self, reply: dict[str, Any]) -> None:
        """Date what an owner answers to a review of the person, and the mail about it."""
        if reply.get("on") != self.site.name:
            return
        review = next((r for r in self.site.mine if r["place"] == reply["to"]), None)
        if review is None:
            raise InputError(f"ahead.yaml: no review of {reply['to']!r} on {self.site.name}")
        at = self.builder.moment(reply["at"])
        review_id = self.site.id(self.site.prefixes.review, f"mine-{review['place']}")
        self.builder.change_later(at, f"{self.site.name}_reviews", review_id, reply=reply["words"])
        latest = review | review.get("edit", {})
        start = self.builder.start
        self._tell("owner_replied", start, review_id, latest, due=at, words=reply["words"])

    def _tell(
        self,
        occasion: str,
        at: int,
        review_id: str,
        review: dict[str, Any],
        due: int | None = None,
        **more: str,
    ) -> None:
        said = {
            **more,
            "place": self.site.places[review["place"]]["name"],
            "stars": review["rating"],
            "text": review["text"],
            "reference": review_id,
        }
        to = self.builder.person["emails"]["personal"]
        self.builder.posted(at, self.site.name, occasion, to, said, about=review_id, due=due)

    def _saved(self, places: list[str]) -> None:
        for number, place in enumerate(places):
            at = self.builder.start - (number * 23 + 4) * DAY - number * 3617
            saved_id = self.site.id(self.site.prefixes.saved, place)
            business_id = self.site.listed(place)
            self.site.add(at, "saved", id=saved_id, business_id=business_id, saved_at=iso(at))

    def _list(self, seed: dict[str, Any]) -> None:
        """Write a list and its places, which were added one by one."""
        at = parse_time(seed["at"])
        list_id = self.site.id(self.site.prefixes.list, seed["key"])
        self.site.add(
            at,
            "lists",
            id=list_id,
            name=seed["name"],
            description=seed.get("about"),
            created_at=iso(at),
        )
        for number, (place, note) in enumerate(seed["places"].items(), 1):
            added_at = at + number * 700
            self.site.add(
                added_at,
                "list_items",
                id=self.site.id(self.site.prefixes.list_item, f"{seed['key']}-{place}"),
                list_id=list_id,
                business_id=self.site.listed(place),
                note=note,
                added_at=iso(added_at),
            )

    def _check_ins(self) -> None:
        """Write check-ins for some of the visits of the last 400 days."""
        first = self.builder.start - 400 * DAY
        for visit in [*self._visits_of_life(), *self._regular_visits()]:
            if not first < visit.at < self.builder.start:
                continue
            if self.builder.chance("visit", visit.key).random() < 0.55:
                check_in_id = self.site.id("yci", visit.key)
                business_id = self.site.listed(visit.place)
                at = iso(visit.at)
                self.site.add(visit.at, "check_ins", id=check_in_id, business_id=business_id, at=at)

    def _visits_of_life(self) -> Iterator[Visit]:
        """Yield the happenings of known time at a listed place, ten minutes after they begin."""
        visits = {}
        for happening in self.builder.life:
            if happening.get("place") in self.site.places and "T" in str(happening["at"]):
                at = self.builder.moment(str(happening["at"])) + 600
                visits[happening["key"]] = Visit(happening["key"], happening["place"], at)
        yield from visits.values()

    def _regular_visits(self) -> Iterator[Visit]:
        """Yield the weekly visits of the seeds in the last 200 days."""
        for place, weekday, clock in self.seeds["visits"]:
            day = local_day(self.builder.start, self.builder.zone) - timedelta(days=200)
            at = self.builder.moment(f"{day}T{clock}")
            while at < self.builder.start:
                if day.weekday() == WEEK.index(weekday):
                    yield Visit(f"{place}-{day}", place, at)
                day += timedelta(days=1)
                at = self.builder.moment(f"{day}T{clock}")
