"""What others say on a review site: their reviews, photos, questions and answers."""

from __future__ import annotations

from random import Random
from typing import Any

from scenarios.worlds.fill.reviews._site import DAY, Site
from servers.kit.values import iso, parse_time

OWNER_REPLIES = (
    "We are sorry; please call us.",
    "Thank you, we have spoken with the team.",
    "This was not our place.",
)
CAPTIONS = ("The menu", "Front door", "Hours on the door", "Interior", None)


class Talk:
    """Writes what others say.

    All draws for a place come from one random generator, so their order decides the result.
    """

    def __init__(self, site: Site) -> None:
        self.site = site
        self.builder = site.builder
        self.seeds = site.seeds
        self.parts = site.parts
        self.used_phrases: set[tuple[str, str]] = set()
        self.used_texts: set[str] = set()

    def write(self) -> None:
        """Write the reviews, questions and photos of others."""
        for key, place in self.site.places.items():
            chance = self.builder.chance("talk", self.site.name, key)
            home = place["city"] == self.builder.person["cities"][0]["key"]
            count = min(22, 3 + int(chance.lognormvariate(1.3 if home else 0.8, 0.7)))
            former = self._former_address(key)
            since, until = self._life_span(place, former)
            if former is not None:
                self._former_reviews(key, former, since, chance)
            stories = self.seeds["stories"]
            story = next((story for story in stories if story["place"] == key), None)
            for number in range(count):
                at = until
                if until > since:
                    # The exponent makes reviews denser towards the end.
                    at = int(since + (until - since) * chance.random() ** 0.6)
                self._review(key, place, f"{key}-{number}", at, chance, story)
            self._burst(key, chance, story)
            self._closing(key, place, chance)
            self._photo(key, chance)
            self._told(key, chance)
            self._questions(key, place, chance)

    def _former_address(self, key: str) -> dict[str, Any] | None:
        """Return the place that moved to this one, if there is one."""
        places = self.builder.places.values()
        return next((place for place in places if place.get("moved_to") == key), None)

    def _life_span(self, place: dict[str, Any], former: dict[str, Any] | None) -> tuple[int, int]:
        """Return the first and the last moment at which others write about a place."""
        until = self.builder.start - DAY
        if "closed_since" in place:
            until = min(until, self.builder.moment(f"{place['closed_since']}T12:00"))
        opened_on = f"{place.get('since', 2012)}-03-01"
        if former is not None:
            opened_on = former["closed_since"]
        since = max(self.builder.moment(f"{opened_on}T12:00"), until - 6 * 365 * DAY)
        return since, until

    def _review(
        self,
        key: str,
        place: dict[str, Any],
        name: str,
        at: int,
        chance: Random,
        story: dict[str, Any] | None,
    ) -> None:
        """Write a review whose stars depend on how good the place is at that moment."""
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

    def _former_reviews(
        self, key: str, former: dict[str, Any], moved_at: int, chance: Random
    ) -> None:
        """Write two reviews of the former address, which only their dates and street give away."""
        street = former["street"].split(" ", 1)[1]
        for number, form in enumerate(self.parts["moved"]):
            text = form.format(street=street, item=chance.choice(self._items(former)))
            at = moved_at - chance.randrange(40, 900) * DAY
            stars = chance.choice([3, 4])
            self._write(key, f"{key}-former-{number}", at, stars, text, chance)

    def _burst(self, key: str, chance: Random, story: dict[str, Any] | None) -> None:
        """Write a story's burst of praise within two days."""
        if not story or story["what"] != "burst":
            return
        for number in range(story["count"]):
            at = self.builder.moment(f"{story['on']}T09:00") + int(chance.random() * 2 * DAY)
            text = chance.choice(self.parts["burst"])
            doubted = chance.random() < 0.85
            self._write(key, f"{key}-burst-{number}", at, 5, text, chance, doubted=doubted)

    def _closing(self, key: str, place: dict[str, Any], chance: Random) -> None:
        """Write a review by somebody who found a place closed."""
        if "closed_since" not in place or "moved_to" in place:
            return
        closed_at = self.builder.moment(f"{place['closed_since']}T12:00")
        at = closed_at + chance.randrange(2, 12) * DAY
        if at < self.builder.start:
            stars = chance.choice([1, 3])
            text = chance.choice(self.parts["closed"])
            self._write(key, f"{key}-closed", at, stars, text, chance)

    def _photo(self, key: str, chance: Random) -> None:
        """Write a photo for some of Google's places."""
        if self.site.name != "google_map_review" or chance.random() >= 0.25:
            return
        at = int(self.builder.start - chance.randrange(5, 500) * DAY)
        number = chance.randrange(9999)
        author = self._author(chance)
        self.site.add(
            at,
            "photos",
            id=self.site.id("gph", f"{key}-0"),
            business_id=self.site.id(self.site.prefixes.place, key),
            mine=False,
            caption=chance.choice(CAPTIONS),
            added_at=iso(at),
            url=f"https://photos.example.com/{key}/{number:04d}.jpg",
            author=author,
        )

    def _told(self, key: str, chance: Random) -> None:
        """Write the reviews by others that the seeds contain word for word."""
        for review in self.seeds["told"]:
            if review["place"] == key and self.site.name in review["on"]:
                name = f"{key}-told-{review['at'][:10]}"
                at = parse_time(review["at"])
                stars = review["rating"]
                author = review["by"]
                self._write(key, name, at, stars, review["text"], chance, author=author)

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
        """Write a review by somebody else.

        `doubted` says whether Yelp's filter does not recommend it (else chance does).
        """
        row: dict[str, Any] = {
            "author": author or self._author(chance),
            "mine": False,
            "rating": stars,
            "body": body,
            "written_at": iso(at),
            "votes": int(chance.expovariate(0.6)),
            "edited_at": None,
        }
        if chance.random() < 0.06 and stars <= 3:
            row["reply"] = chance.choice(OWNER_REPLIES)
        if self.site.name == "yelp":
            if doubted is None:
                doubted = chance.random() < 0.05
            row["recommended"] = not doubted
        review_id = self.site.id(self.site.prefixes.review, name)
        business_id = self.site.id(self.site.prefixes.place, key)
        self.site.add(at, "reviews", id=review_id, business_id=business_id, **row)

    def _author(self, chance: Random) -> str:
        return f"{chance.choice(self.parts['names'])} {chance.choice('ABCDEFGHKLMNOPRSTVW')}."

    def _text(self, chance: Random, place: dict[str, Any], stars: int, name: str) -> str:
        """Return the text of a review; nobody writes word for word what somebody else wrote."""
        if stars >= 4:
            tone = "good"
        else:
            tone = "mixed" if stars == 3 else "bad"
        phrases = self.parts["say"][self._group(place)][tone]
        first = self._fresh(chance, phrases, place)
        text = first + self._tail(chance)
        more = self.builder.chance("more", self.site.name, name)
        while text in self.used_texts:
            second = more.choice(phrases).format(item=more.choice(self._items(place)))
            tail = self._tail(more)
            text = first + tail if second == first else f"{first} {second}{tail}"
        self.used_texts.add(text)
        return text

    def _tail(self, chance: Random) -> str:
        days = ["Monday", "Tuesday", "Thursday", "Friday", "Saturday", "Sunday"]
        return chance.choice(self.parts["tails"]).format(day=chance.choice(days))

    def _fresh(self, chance: Random, forms: list[str], place: dict[str, Any]) -> str:
        """Return a phrase that was not used about this place, if four draws find one."""
        text = ""
        for _ in range(4):
            text = chance.choice(forms).format(item=chance.choice(self._items(place)))
            use = (place["name"], text)
            if use not in self.used_phrases:
                self.used_phrases.add(use)
                break
        return text

    def _items(self, place: dict[str, Any]) -> list[str]:
        words = place["category"].lower()
        usual = self.parts["defaults"].get(self._group(place), ["service"])
        return next((items for word, items in self.parts["items"].items() if word in words), usual)

    def _group(self, place: dict[str, Any]) -> str:
        return self.parts["groups"][place["kind"]]

    def _questions(self, key: str, place: dict[str, Any], chance: Random) -> None:
        """Write questions about a place, with some of their answers."""
        known = self.parts["questions"].get(self._group(place), [])
        count = min(len(known), chance.choice([0, 0, 1, 1, 2]))
        asked = chance.sample(known, count)
        if key in self.seeds["asked"]:
            asked = known[:2]
        for number, (text, answers) in enumerate(asked):
            at = int(self.builder.start - chance.randrange(40, 700) * DAY)
            question_id = self.site.id(self.site.prefixes.question, f"{key}-{number}")
            self.site.add(
                at,
                "questions",
                id=question_id,
                asked_at=iso(at),
                business_id=self.site.id(self.site.prefixes.place, key),
                author=self._author(chance),
                mine=False,
                body=text,
            )
            given = answers[: chance.randrange(0, len(answers) + 1)]
            for turn, body in enumerate(given):
                answered_at = at + (turn * 20 + chance.randrange(1, 15)) * DAY
                answered_at = min(answered_at, self.builder.start - DAY)
                self.site.add(
                    answered_at,
                    "answers",
                    id=self.site.id(self.site.prefixes.answer, f"{key}-{number}-{turn}"),
                    question_id=question_id,
                    author=self._author(chance),
                    mine=False,
                    body=body,
                    answered_at=iso(answered_at),
                )
