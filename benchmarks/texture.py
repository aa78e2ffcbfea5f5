"""How much of what the worlds' people, reviewers and newsletters write is written twice.

`python -m benchmarks texture` prints, for each world, the share of sentences that occur more than
once when their digits are masked, and how long the mails of people are.

- A **mail of people** is one that the seeds hold word for word or say of a sender who writes by
  hand. Mail of firms that write the same to everybody (notices of payments, statements, orders and
  what services post) is template mail and left out, and so is spam.
- A **newsletter** is mail of a sender in `email_bulk.yaml` with a `letter`. Its footer, from the
  line `--` on, and its headings, which stand in capitals, are no prose.
- A **review** is what others write about places and products, with owners' replies, questions and
  answers.

Quotations (lines that begin with `>`, and whatever follows `On ..., ... wrote:` or a line that
introduces a forwarded message) and signatures (from the line `--` on) are left out of mail. Less
than four words, such as a greeting, are no sentence; the column `all` counts them, too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from statistics import quantiles
from typing import Any, NamedTuple

from scenarios.worlds.build import Builder, names, person, shared
from scenarios.worlds.fill.email._letters import letters
from servers.kit.store import World

LEAST_WORDS = 4
"""A text of fewer words is a greeting or a sign-off, not a sentence."""
AIM = 0.05
"""The share of sentences that may occur twice."""
_END = re.compile(r"(?<=[.!?…])[\"”')\]]*\s+|\n+")
_ABBREVIATION = re.compile(r"\b(Dr|Mr|Mrs|Ms|St|Sr|Jr|Fr|vs|No|approx|a\.m|p\.m)\. ")
_DIGITS = re.compile(r"\d+")
_QUOTED = re.compile(
    r"^(On .{4,120} wrote:|-{2,} ?(Forwarded|Original) [Mm]essage.*|Begin forwarded message:.*)$",
    re.MULTILINE,
)
_ID_PREFIXES = ("gem", "oem")
_REVIEWS = {
    "yelp_reviews": ("body", "reply"),
    "yelp_questions": ("body",),
    "yelp_answers": ("body",),
    "google_map_review_reviews": ("body", "reply"),
    "google_map_review_questions": ("body",),
    "google_map_review_answers": ("body",),
    "amazon_reviews": ("body",),
    "walmart_reviews": ("body",),
    "target_reviews": ("body",),
}


class Share(NamedTuple):
    """How many sentences of a kind of text there are, and how many of them occur twice."""

    count: int
    repeated: int
    worst: list[tuple[str, int]]

    @property
    def share(self) -> float:
        """The share of sentences that occur at least twice."""
        return self.repeated / self.count if self.count else 0.0


class Texts(NamedTuple):
    """The texts of one world, without what is left out."""

    people: list[str]
    newsletters: list[str]
    reviews: list[str]


def sentences(text: str, least: int = LEAST_WORDS) -> list[str]:
    """Return the sentences of a text with at least so many words, digits masked.

    The end of a line ends a sentence, too. Case and punctuation at the ends do not count.
    """
    whole = _ABBREVIATION.sub(lambda found: found[0].replace(". ", ".\0"), text)
    found = []
    for part in _END.split(whole):
        masked = _DIGITS.sub("#", part.replace("\0", " ")).strip(" \t-*•\"'.!?…,;:()[]")
        if len(masked.split()) >= least:
            found.append(masked.casefold())
    return found


def share(texts: Iterable[str], least: int = LEAST_WORDS) -> Share:
    """Return how many sentences of texts occur at least twice."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(sentences(text, least))
    repeated = sum(count for count in counts.values() if count > 1)
    worst = [(text, count) for text, count in counts.most_common(12) if count > 1]
    return Share(counts.total(), repeated, worst)


def own_words(body: str) -> str:
    """Return a mail without quotations, what it forwards, and its signature or footer."""
    quoted = _QUOTED.search(body)
    text = body[: quoted.start()] if quoted else body
    lines = []
    for line in text.split("\n"):
        if line.strip() == "--":
            break
        if not line.lstrip().startswith(">"):
            lines.append(line)
    return "\n".join(lines)


def prose(body: str) -> str:
    """Return a newsletter without its headings and its footer."""
    lines = own_words(body).split("\n")
    return "\n".join(line for line in lines if not line.isupper())


def texts(name: str) -> Texts:
    """Return the texts of a world."""
    world = shared(name)
    by_id = dict(_mails(world))
    builder = Builder(name, person(name))
    people = [own_words(body) for body in _bodies(builder, by_id, _written(builder))]
    issues = [prose(body) for body in _bodies(builder, by_id, _issues(builder, by_id))]
    return Texts(people, issues, list(_reviews(world)))


def _mails(world: World) -> Iterator[tuple[str, str]]:
    for table in ("gmail_emails", "outlook_emails"):
        for row in world.rows(table):
            yield row["id"], row["body"]


def _bodies(builder: Builder, by_id: dict[str, str], keys: Iterable[str]) -> Iterator[str]:
    """Yield the mail of each key of the seeds; copies in other accounts have other keys."""
    for key in keys:
        for prefix in _ID_PREFIXES:
            body = by_id.get(builder.id(prefix, key))
            if body is not None:
                yield body


def _written(builder: Builder) -> Iterator[str]:
    """Yield the keys of the mails that somebody wrote by hand."""
    seeds = builder.seeds("email")
    for file in seeds["messages"]:
        for thread in builder.seeds(file)["threads"]:
            for mail in thread["mails"]:
                yield mail["key"]
    for letter in letters(builder):
        yield letter.mail["key"]
    for sender in _senders(builder):
        if _is_person(builder, sender):
            yield from _numbered(sender)


def _issues(builder: Builder, by_id: dict[str, str]) -> Iterator[str]:
    for sender in _senders(builder):
        if "letter" in sender:
            yield from _numbered(sender)


def _senders(builder: Builder) -> list[dict[str, Any]]:
    return builder.seeds(builder.seeds("email")["bulk"])["senders"]


def _numbered(sender: dict[str, Any]) -> Iterator[str]:
    for number in range(1, 400):
        yield f"{sender['key']}_{number}"


def _is_person(builder: Builder, sender: dict[str, Any]) -> bool:
    """Return whether a regular sender writes by hand.

    Somebody of person.yaml does, and so does each of several strangers who share an entry.
    """
    if "spam" in sender.get("labels", []):
        return False
    origin = sender["from"]
    return isinstance(origin, list) or origin in builder.person["people"]


def _reviews(world: World) -> Iterator[str]:
    for table, columns in _REVIEWS.items():
        for row in world.rows(table):
            for column in columns:
                if row.get(column) and not row.get("mine"):
                    yield row[column]


def main() -> None:
    """Print the shares of all worlds, the sentences that occur most often, and mails' lengths."""
    from rich.console import Console
    from rich.table import Table

    table = Table("world", "texts", "sentences", "twice", "share", "all", "aim")
    worst = Table("world", "texts", "times", "sentence")
    for name in names():
        found = texts(name)
        for kind, written in found._asdict().items():
            long = share(written)
            every = share(written, 1)
            row = (name, kind, f"{long.count:,}", f"{long.repeated:,}", f"{long.share:.1%}")
            table.add_row(*row, f"{every.share:.1%}", f"≤ {AIM:.0%}")
            for text, count in long.worst:
                worst.add_row(name, kind, str(count), text)
    lengths = Table("world", "mails of people", "lower quartile", "median words", "upper quartile")
    for name in names():
        words = [len(text.split()) for text in texts(name).people]
        quarters = [f"{value:.0f}" for value in quantiles(words, n=4)]
        lengths.add_row(name, f"{len(words):,}", *quarters)
    console = Console(width=150)
    for part in (worst, table, lengths):
        console.print(part)
