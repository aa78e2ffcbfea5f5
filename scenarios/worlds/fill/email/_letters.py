"""What `life.yaml` says about mail: each `mail` or `mails` aspect as a message for `email.py`."""

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
"""How likely a message of at most this age has not been read yet; older ones have."""


@dataclass(frozen=True)
class Letter:
    """A message of a happening: keys of its account and thread, and the rest as email seeds say it (`at` in epoch seconds).

    A thread is `life-<happening>-<its subject in small letters and dashes>`, so that one written by hand can go on under that key; its
    messages are the same with `-1`, `-2`.
    """

    account: str
    thread: str
    subject: str
    mail: dict[str, Any]


def letters(builder: Builder, answered: dict[str, int] | None = None) -> Iterator[Letter]:
    """Yield what had arrived before the start, without mails that stand in the person's seeds already (`existing`).

    `answered` says when the person last wrote in a thread (epoch seconds): what came before that has been read.
    """
    for happening in builder.life:
        seen: Counter[str] = Counter()
        for said in aspects(happening):
            at = builder.moment(said.get("at", happening["at"]))
            if "existing" in said or at > builder.start:
                continue
            thread = thread_key(happening, said)
            seen[thread] += 1
            key = f"{thread}-{seen[thread]}"
            likely = next((chance for age, chance in _UNREAD if builder.start - at <= age), 0.0)
            mail = {
                "key": key,
                "at": at,
                "from": said["from"],
                "body": said["body"],
                "unread": at > (answered or {}).get(thread, 0)
                and builder.chance("unread", key).random() < likely,
            }
            yield Letter(said["account"], thread, said["subject"], mail)


def aspects(happening: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what a happening says about mail."""
    return happening.get("mails") or ([happening["mail"]] if "mail" in happening else [])


def thread_key(happening: dict[str, Any], said: dict[str, Any]) -> str:
    """Return the thread of a mail; mails of a happening share one if subjects agree before a comma (`Porch roof, correction`)."""
    subject = said["subject"].removeprefix("Re: ").partition(",")[0].lower()
    return f"life-{happening['key']}-{'-'.join(re.findall(_WORD, subject))}"
