"""What a mail carries besides its writer's words: a signature, a footer, a quotation, a forward.

`voices` in `email.yaml` says how people write, by a key of person.yaml, an account or an address:

- `signature`: the lines below what they write; `{new, reply}` if answers carry a shorter one.
- `quotes`: `gmail` or `outlook`, for those who answer above the mail they answer.
- `zone`: the time zone in which their program writes moments; the person's unless given.

`footers` gives what firms append, by domain. A mail says `signed: false` where the signature and
the footer are missing, `quotes: false` where nothing is quoted although the writer usually does,
`quotes: <key>` where it answers another mail than the one before it in its thread, and
`forwards: <key>` for the mail that it passes on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from servers.kit.errors import InputError, UnknownName
from servers.kit.values import iso, parse_time

_LEVELS = 2
"""How many earlier mails a reply quotes, one inside the other."""
_STYLES = ("gmail", "outlook")


@dataclass(frozen=True)
class Written:
    """A mail as its writer left it. `at` is in epoch seconds, `sender` an address."""

    key: str
    thread: str
    at: int
    name: str
    sender: str
    to: tuple[str, ...]
    cc: tuple[str, ...]
    subject: str
    mail: dict[str, Any]


def moment_of(mail: dict[str, Any]) -> int:
    """Return when a mail of the seeds was sent, in epoch seconds."""
    at = mail["at"]
    return parse_time(at) if isinstance(at, str) else at


def subject_of(common: dict[str, Any], *, reply: bool) -> str:
    """Return the subject of a thread's first mail or of its replies."""
    subject = common["subject"]
    return f"Re: {subject}" if reply and not subject.startswith("Re: ") else subject


class Composer:
    """Turns what people wrote into the bodies of mails."""

    def __init__(
        self, mails: Iterable[Written], voices: dict[str, Any], footers: dict[str, str], zone: str
    ) -> None:
        """Take all mails written by hand; `voices` is by address, `footers` by domain."""
        self.voices = voices
        self.footers = footers
        self.zone = zone
        self.mails: dict[str, Written] = {}
        self.threads: dict[str, list[Written]] = {}
        for mail in sorted(mails, key=lambda mail: (mail.at, mail.key)):
            self.mails[mail.key] = mail
            self.threads.setdefault(mail.thread, []).append(mail)
        for address, voice in voices.items():
            style = voice.get("quotes", "gmail")
            if style not in _STYLES:
                raise UnknownName("way to quote", style, _STYLES, f"voice of {address}")

    def body(self, key: str, levels: int = _LEVELS) -> str:
        """Return the body of a mail, with so many earlier mails quoted below it."""
        mail = self.mails[key]
        answered = self._answered(mail)
        parts = [mail.mail["body"].strip("\n")]
        if "forwards" in mail.mail:
            parts.append(self._forwarded(mail, self._named(mail, "forwards")))
        parts += self._ending(mail, is_reply=answered is not None)
        style = self._voice(mail).get("quotes")
        if answered and style and levels:
            parts.append(self._quoted(mail, answered, style, levels))
        return "\n\n".join(parts)

    def _voice(self, mail: Written) -> dict[str, Any]:
        return self.voices.get(mail.sender, {})

    def _named(self, mail: Written, word: str) -> Written:
        """Return the earlier mail that a mail quotes or forwards by its key."""
        key = mail.mail[word]
        where = f"email seeds: {mail.key}: {word}"
        if key not in self.mails:
            raise UnknownName("mail", key, self.mails, where)
        named = self.mails[key]
        if named.at >= mail.at:
            raise InputError(f"{where}: {key} is not earlier than {mail.key}.")
        return named

    def _answered(self, mail: Written) -> Written | None:
        """Return the mail that a mail answers: one just before it, from somebody else."""
        if mail.mail.get("quotes") is False:
            return None
        if "quotes" in mail.mail:
            return self._named(mail, "quotes")
        earlier = [other for other in self.threads[mail.thread] if other.at < mail.at]
        if not earlier or earlier[-1].sender == mail.sender:
            return None
        return earlier[-1]

    def _ending(self, mail: Written, *, is_reply: bool) -> list[str]:
        """Return the signature and the footer, below the line that mail programs cut at."""
        if mail.mail.get("signed") is False:
            return []
        signature = self._voice(mail).get("signature", "")
        if isinstance(signature, dict):
            signature = signature["reply" if is_reply else "new"]
        footer = self.footers.get(mail.sender.rpartition("@")[2], "")
        lines = [text.strip("\n") for text in (signature, footer) if text]
        if not lines:
            return []
        lines[0] = f"--\n{lines[0]}"
        return lines

    def _quoted(self, mail: Written, answered: Written, style: str, levels: int) -> str:
        earlier = self.body(answered.key, levels - 1)
        if style == "outlook":
            return self._headed("-----Original Message-----", mail, answered, earlier)
        moment = self._moment(mail, answered, "%a, %b %-d, %Y at %-I:%M %p")
        quoted = "\n".join(f"> {line}".rstrip() for line in earlier.split("\n"))
        return f"On {moment} {answered.name} <{answered.sender}> wrote:\n{quoted}"

    def _forwarded(self, mail: Written, original: Written) -> str:
        title = "---------- Forwarded message ----------"
        return self._headed(title, mail, original, self.body(original.key, 0))

    def _headed(self, title: str, mail: Written, earlier: Written, body: str) -> str:
        """Return an earlier mail below a title and its headers."""
        lines = [
            title,
            f"From: {earlier.name} <{earlier.sender}>",
            f"Date: {self._moment(mail, earlier, '%A, %B %-d, %Y %-I:%M %p')}",
            f"Subject: {earlier.subject}",
            f"To: {', '.join(earlier.to)}",
        ]
        if earlier.cc:
            lines.append(f"Cc: {', '.join(earlier.cc)}")
        return "\n".join([*lines, "", body])

    def _moment(self, mail: Written, earlier: Written, form: str) -> str:
        """Return when an earlier mail was sent, as the program of a mail's writer puts it."""
        zone = ZoneInfo(self._voice(mail).get("zone", self.zone))
        return datetime.fromisoformat(iso(earlier.at)).astimezone(zone).strftime(form)
