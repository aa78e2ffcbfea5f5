"""What others say on a review site: their reviews, photos, questions and answers."""

from __future__ import annotations

from random import Random
from typing import Any

from scenarios.worlds.build import parsed
from scenarios.worlds.fill.reviews._site import DAY, Site
from scenarios.worlds.fill.reviews._words import HERE, Words
from servers.kit.values import iso, parse_time

CAPTIONS = ("The menu", "Front door", "Hours on the door", "Interior", None)


class Talk:
    """Writes what others say.

    All draws for a place come from one random generator, so their order decides the result. Texts
    have their own, so that they can be changed without changing who writes when and how many stars.
    """

    def __init__(self, site: Site, words: Words) -> None:
        self.site = site
        self.builder = site.builder
        self.seeds = site.seeds
        self.parts = site.parts
        self.words = words
        self.stories = parsed(HERE / "stories.yaml")

    def write(self) -> None:
        """Write the reviews, questions and photos of others."""
        for key, place in self.site.places.items():
            chance = self.builder.chance("others", self.site.name, key)
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
            self._burst(place, chance, story)
            self._closing(place, chance)
            self._photo(key, chance)
            self._told(place, chance)
            self._questions(key, place, chance)

    def _former_address(self, key: str) -> dict[str, Any] | None:
        """Return the place that moved to this one, if there is one."""
        for former, place in self.builder.places.items():
            if place.get("moved_to") == key:
                return place | {"key": former}
        return None

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
        about = ""
        if story and story["what"] == "decline":
            turned = at >= self.builder.moment(f"{story['since']}T00:00")
            usual = story["after"] if turned else story["before"]
            if turned and chance.random() < 0.7:
                about = self.stories["decline"]
        stars = max(1, min(5, round(chance.gauss(usual + 0.1, 0.9))))
        if about and stars > 3:
            stars = chance.choice([1, 2, 2])
        body = self.words.review(place, stars, at, self._wording(name), about)
        self._write(place, name, at, stars, body, chance)

    def _wording(self, name: str) -> Random:
        """Return the random generator for the words of one text."""
        return self.builder.chance("words", self.site.name, name)

    def _former_reviews(
        self, key: str, former: dict[str, Any], moved_at: int, chance: Random
    ) -> None:
        """Write two reviews of the former address, which only their dates and street give away."""
        for number, tone in enumerate(("parking", "tiny")):
            name = f"{key}-former-{number}"
            at = moved_at - chance.randrange(40, 900) * DAY
            text = self.words.phrase(former, at, self.stories["moved"][tone], self._wording(name))
            stars = chance.choice([3, 4])
            self._write(self.site.places[key], name, at, stars, text, chance)

    def _burst(self, place: dict[str, Any], chance: Random, story: dict[str, Any] | None) -> None:
        """Write a story's burst of praise within two days."""
        if not story or story["what"] != "burst":
            return
        for number in range(story["count"]):
            name = f"{place['key']}-burst-{number}"
            at = self.builder.moment(f"{story['on']}T09:00") + int(chance.random() * 2 * DAY)
            text = self.words.phrase(place, at, self.stories["burst"], self._wording(name))
            doubted = chance.random() < 0.85
            self._write(place, name, at, 5, text, chance, doubted=doubted)

    def _closing(self, place: dict[str, Any], chance: Random) -> None:
        """Write a review by somebody who found a place closed."""
        if "closed_since" not in place or "moved_to" in place:
            return
        name = f"{place['key']}-closed"
        closed_at = self.builder.moment(f"{place['closed_since']}T12:00")
        at = closed_at + chance.randrange(2, 12) * DAY
        if at < self.builder.start:
            stars = chance.choice([1, 3])
            text = self.words.phrase(place, at, self.stories["closed"], self._wording(name))
            self._write(place, name, at, stars, text, chance)

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

    def _told(self, place: dict[str, Any], chance: Random) -> None:
        """Write the reviews by others that the seeds contain word for word."""
        for review in self.seeds["told"]:
            if review["place"] == place["key"] and self.site.name in review["on"]:
                name = f"{place['key']}-told-{review['at'][:10]}"
                at = parse_time(review["at"])
                author = review["by"]
                text = review["text"]
                self._write(place, name, at, review["rating"], text, chance, author=author)

    def _write(
        self,
        place: dict[str, Any],
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
        if chance.random() < 0.06:
            replies = self.stories["reply"]["low" if stars <= 3 else "high"]
            wording = self._wording(f"{name}-reply")
            row["reply"] = self.words.phrase(place, at, replies, wording)
        if self.site.name == "yelp":
            if doubted is None:
                doubted = chance.random() < 0.05
            row["recommended"] = not doubted
        review_id = self.site.id(self.site.prefixes.review, name)
        business_id = self.site.id(self.site.prefixes.place, place["key"])
        self.site.add(at, "reviews", id=review_id, business_id=business_id, **row)

    def _author(self, chance: Random) -> str:
        return f"{chance.choice(self.parts['names'])} {chance.choice('ABCDEFGHKLMNOPRSTVW')}."

    def _questions(self, key: str, place: dict[str, Any], chance: Random) -> None:
        """Write questions about a place, with some of their answers."""
        is_known = key in self.seeds["asked"]
        count = 2 if is_known else chance.choice([0, 0, 1, 1, 2])
        wording = self._wording(f"{key}-questions")
        asked = self.words.asked(place, count, self.builder.start, wording, first=is_known)
        for number, (text, *answers) in enumerate(asked):
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
