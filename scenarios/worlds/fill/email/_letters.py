"""Mail in `life.yaml` and `ahead.yaml`: each `mail` or `mails` aspect as a message for `email.py`.

A mail of `ahead.yaml` may continue a thread written by hand, which it names by its key (`thread`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from scenarios.worlds.build import Builder

_DAY = 86_400
_WORD = re.compile(r"\w+")
_UNREAD = ((_DAY, 0.6), (4 * _DAY, 0.3), (30 * _DAY, 0.06))
"""How likely a message of at most this age is still unread; older ones have all been read."""
_MANNERS = ("signed", "quotes", "forwards")
"""What a mail may say about how it is written; see `_compose.py`."""


@dataclass(frozen=True)
class Letter:
    """A message of a happening.

    `account` and `thread` are keys; `mail` is the rest as email seeds say it, with `at` in epoch
    seconds. A thread is `life-<happening>-<its subject in lower case with dashes>`, so that a
    thread written by hand can continue under that key. Its messages have the same key with `-1`,
    `-2` and so on.
    """

    account: str
    thread: str
    subject: str
    mail: dict[str, Any]


def letters(builder: Builder, answered: dict[str, int] | None = None) -> Iterator[Letter]:
    """Yield what had arrived before the start, and what arrives later.

    Mails that the person's seeds already contain (`existing`) are left out. `answered` says when
    the person last wrote in a thread (epoch seconds): what came before that has been read.
    """
    last_answers = answered or {}
    numbers: Counter[str] = Counter()
    for happening in [*builder.life, *builder.ahead]:
        for aspect in aspects(happening):
            at = builder.moment(aspect.get("at") or happening["at"])
            if "existing" in aspect:
                continue
            thread = aspect.get("thread") or thread_key(happening, aspect)
            numbers[thread] += 1
            key = f"{thread}-{numbers[thread]}"
            is_answered = at <= last_answers.get(thread, 0)
            mail = {
                "key": key,
                "at": at,
                "from": aspect["from"],
                "body": aspect["body"],
                "unread": not is_answered and _is_unread(builder, key, at),
            }
            mail |= {name: aspect[name] for name in (*_MANNERS, "to", "cc") if name in aspect}
            yield Letter(aspect["account"], thread, aspect["subject"], mail)


def _is_unread(builder: Builder, key: str, at: int) -> bool:
    """Return whether an unanswered message is still unread: the older, the less likely."""
    age = builder.start - at
    likelihood = next((chance for most, chance in _UNREAD if age <= most), 0.0)
    return builder.chance("unread", key).random() < likelihood


def aspects(happening: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what a happening says about mail."""
    if happening.get("mails"):
        return happening["mails"]
    return [happening["mail"]] if "mail" in happening else []


def thread_key(happening: dict[str, Any], aspect: dict[str, Any]) -> str:
    """Return the thread of a mail.

    Mails of a happening share one if their subjects agree up to a comma, such as `Porch roof` and
    `Porch roof, correction`.
    """
    subject = aspect["subject"].removeprefix("Re: ").partition(",")[0].lower()
    return f"life-{happening['key']}-{'-'.join(re.findall(_WORD, subject))}"
