"""What `life.yaml` says about mail: each `mail` or `mails` aspect as a message for fill_email."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from scenarios.worlds.build import Builder

_DAY = 86_400
_UNREAD = ((_DAY, 0.6), (4 * _DAY, 0.3), (30 * _DAY, 0.06))
"""How likely a message of at most this age has not been read yet; older ones have."""


@dataclass(frozen=True)
class Letter:
    """A message of a happening: keys of its account and thread, and the rest as email seeds say it (`at` in epoch seconds).

    Threads are `life-<happening>-<n>`, messages `life-<happening>-mail-<n>`, counted from 1; hand-written threads go on under such a key.
    """

    account: str
    thread: str
    subject: str
    mail: dict[str, Any]


def letters(builder: Builder) -> Iterator[Letter]:
    """Yield what had arrived before the start, without mails that stand in the person's seeds already (`existing`)."""
    zone = ZoneInfo(builder.person["timezone"])
    for happening in builder.life:
        threads: dict[tuple[str, str], str] = {}
        for number, said in enumerate(aspects(happening), 1):
            at = moment(said.get("at", happening["at"]), zone)
            if "existing" in said or at > builder.start:
                continue
            known = said["account"], stem(said["subject"])
            thread = threads.setdefault(known, f"life-{happening['key']}-{len(threads) + 1}")
            key = f"life-{happening['key']}-mail-{number}"
            unread = next((chance for age, chance in _UNREAD if builder.start - at <= age), 0.0)
            mail = {
                "key": key,
                "at": at,
                "from": said["from"],
                "body": said["body"],
                "unread": builder.chance("unread", key).random() < unread,
            }
            yield Letter(said["account"], thread, said["subject"], mail)


def aspects(happening: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what a happening says about mail."""
    return happening.get("mails") or ([happening["mail"]] if "mail" in happening else [])


def moment(text: str, zone: ZoneInfo) -> int:
    """Return the epoch seconds of a local date and time."""
    return int(datetime.fromisoformat(text).replace(tzinfo=zone).astimezone(UTC).timestamp())


def stem(subject: str) -> str:
    """Return what mails of one thread agree in: `Porch roof` of both `Porch roof, correction` and `Re: Porch roof`."""
    return subject.removeprefix("Re: ").partition(",")[0].strip().lower()
