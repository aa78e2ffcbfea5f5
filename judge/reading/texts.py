"""A text taken apart: its sentences, list items and table rows, each with its values and what
stands around it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from judge.reading.values import Masked, Value, mask
from judge.reading.words import (
    BULLET,
    Sentence,
    make_sentence,
    normal,
    sentences,
    without_abbreviations,
)


@dataclass(frozen=True)
class Spoken:
    """A text with what one must know to read it.

    `today` is an ISO date, for "tomorrow"; `asked` holds the user's words that the text answers;
    `people` are the full names of all people whom the world knows.
    """

    text: str
    today: str
    asked: str = ""
    people: tuple[str, ...] = field(default=(), hash=False)


@dataclass(frozen=True)
class Unit:
    """One sentence, list item or table row of a text.

    `sentence` has values masked; `values` gives them by the place of their word. `heading` is the
    number of the line that it stands under, or -1; `columns` are the words of a table's header.
    """

    number: int
    sentence: Sentence
    values: dict[int, Value]
    raw: str
    heading: int
    item: bool
    row: bool
    quoted: bool
    columns: tuple[str, ...] = ()
    paragraph: int = 0

    @functools.cached_property
    def stems(self) -> tuple[frozenset[str], ...]:
        """The base forms of each word; those of a value are of the words that it is written in."""
        found = []
        for place, word in enumerate(self.sentence.words):
            value = self.values.get(place)
            if value is None:
                found.append(word.bases | {word.text})
            else:
                found.append(stems_of(value.raw) | _also(value))
        return tuple(found)

    @functools.cached_property
    def texts(self) -> frozenset[str]:
        """All words in their normal form."""
        return frozenset(word.text for word in self.sentence.words)

    @functools.cached_property
    def low(self) -> str:
        """The text with its values masked, in lower case, its words separated by one space."""
        return " ".join(word.text for word in self.sentence.words)

    @functools.cached_property
    def outside(self) -> frozenset[str]:
        """The words that stand outside quotation marks."""
        return frozenset(w.lower() for w in re.findall(r"\w+", unquoted(self.raw)))


def _also(value: Value) -> frozenset[str]:
    """Return other words for a value: "100" for a hundred."""
    if value.type == "money":
        return _MONEY | {f"{value.means[0] / 100:g}"}
    if value.type == "number":
        return frozenset({f"{value.means[0]:g}"})
    return _NONE


_MONEY = frozenset({"payment", "transfer", "money", "amount"})
_NONE: frozenset[str] = frozenset()
_FIELD = re.compile(
    r"^(?:recipient|to|from|payee|amount|sum|total|note|memo|status|state|date|when|day|time|via"
    r"|service|account|subject|method|who|price|for|provider|funding source|source"
    r"|sent to)\s*:\s+\S",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"\n]*\"|\u201c[^\u201d\n]*\u201d")
_RULE = re.compile(r"^\s*\|?[\s:|-]+\|[\s:|-]*$")
_END = re.compile(
    r"(?<=[.!?;])(?<!\d\.)[\"')\]]*(?:\s+|$)|(?<=\d\.)[\"')\]]*(?:\s+(?=\D)|$)|(?<=;)"
)
_UNDERLINE = re.compile(r"\s*(?:-{3,}|={3,})\s*")
_TITLE = re.compile(r"\s*#+\s")
_BOX = re.compile(r"^\[[ xX]\]\s*")
_ROW_SIGNS = re.compile(r"[,:()\[\]~\u2013\u2014]")
_BOLD = re.compile(r"^\s*(?:\*\*|__)([^*]+[^*:.!?])(?:\*\*|__)\s*$")


def unquoted(text: str) -> str:
    """Return a text without what stands in quotation marks."""
    return _QUOTED.sub(" ", text)


@functools.lru_cache(maxsize=2048)
def stems_of(text: str) -> frozenset[str]:
    """Return the base forms of a text's words."""
    found: set[str] = set()
    for sentence in sentences(text):
        for word in sentence.words:
            found |= word.bases | {word.text}
    return frozenset(found)


@dataclass(frozen=True)
class Text:
    """A text's units, in order."""

    units: tuple[Unit, ...]

    def heading(self, unit: Unit) -> Unit | None:
        """Return the line that a unit stands under."""
        return self.units[unit.heading] if unit.heading >= 0 else None

    @property
    def values(self) -> list[Value]:
        """The values of all units."""
        found: list[Value] = []
        for unit in self.units:
            found += unit.values.values()
        return found

    @property
    def stems(self) -> list[frozenset[str]]:
        """The base forms of all units' words."""
        found: list[frozenset[str]] = []
        for unit in self.units:
            found += unit.stems
        return found

    def around(self, unit: Unit) -> Iterable[Unit]:
        """Yield a unit's headings and neighbours."""
        above = self.heading(unit)
        while above is not None:
            yield above
            above = self.heading(above) if above.heading < above.number else None
        for number in (unit.number - 1, unit.number + 1):
            if 0 <= number < len(self.units):
                yield self.units[number]


@functools.lru_cache(maxsize=512)
def taken_apart(text: str, today: str, people: tuple[str, ...]) -> Text:
    """Return a text as units."""
    bold = frozenset(n for n, line in enumerate(text.split("\n")) if _BOLD.match(line))
    masked = mask(text, today, people)
    reader = _Lines(masked)
    for number, line in enumerate(masked.text.split("\n")):
        reader.read(line, number in bold)
    reader.end()
    return Text(tuple(reader.units))


class _Lines:
    def __init__(self, masked: Masked) -> None:
        self.masked = masked
        self.units: list[Unit] = []
        self.title = -1
        self.lead = -1
        self.lead_indent = -1
        self.columns: tuple[str, ...] = ()
        self.last_row: str | None = None
        self.paragraph = 0
        self.fields: list[str] = []

    def end(self) -> None:
        """Add a run of lines such as `Amount: $5` once more, as one row."""
        if len(self.fields) > 1:
            heading = self.lead if self.lead >= 0 else self.title
            joined = " | ".join(self.fields)
            self._add(joined, heading, item=True, row=True, quoted=False, last=True)
        self.fields = []

    def read(self, line: str, bold: bool) -> None:
        """Read one line of the masked text."""
        if _UNDERLINE.fullmatch(line):
            if self.units and not self.units[-1].item:
                self.title = self.units[-1].number
            return
        if not _FIELD.match(BULLET.sub("", line).strip()):
            self.end()
        if not line.strip():
            self.paragraph += 1
            self.columns = ()
            self.last_row = None
            return
        if line.count("|") >= 2 and line.strip().startswith("|"):
            self._row(line)
            return
        self.columns = ()
        self.last_row = None
        title = bold or _TITLE.match(line) is not None
        bullet = BULLET.match(line)
        quoted = line.lstrip().startswith(">")
        indent = len(line) - len(line.lstrip())
        heading = self.title
        if (
            bullet
            and self.lead >= 0
            and (not self.units[self.lead].item or indent > self.lead_indent)
        ):
            heading = self.lead
        elif not bullet:
            self.lead = -1
        clean = BULLET.sub("", line).lstrip("# >")
        clean = _BOX.sub("", clean)
        self._sentences(clean, heading, bool(bullet), quoted)
        if _FIELD.match(clean.strip()):
            self.fields.append(clean.strip())
        if not self.units:
            return
        last = self.units[-1]
        if title:
            self.units[-1] = replace(last, heading=-1, sentence=replace(last.sentence, header=True))
            self.title = last.number
            self.lead = -1
        elif last.sentence.header:
            self.lead = last.number
            self.lead_indent = indent

    def _row(self, line: str) -> None:
        if _RULE.match(line):
            if self.last_row is not None:
                self.columns = tuple(c.strip() for c in self.last_row.strip().strip("|").split("|"))
                if self.units and self.units[-1].row:
                    self.units.pop()
            return
        self.last_row = line
        heading = self.lead if self.lead >= 0 else self.title
        self._add(line.strip().strip("|"), heading, item=True, row=True, quoted=False, last=True)

    def _sentences(self, line: str, heading: int, item: bool, quoted: bool) -> None:
        line = without_abbreviations(line)
        parts = [part.strip() for part in _END.split(line)]
        parts = [part for part in parts if part]
        for number, part in enumerate(parts):
            last = number == len(parts) - 1
            self._add(part, heading, item, row=False, quoted=quoted, last=last)

    def _add(
        self, part: str, heading: int, item: bool, row: bool, quoted: bool, last: bool
    ) -> None:
        words = _ROW_SIGNS.sub(" ", part) if row else part
        sentence = make_sentence(normal(words), item, last)
        if not sentence.words:
            return
        values = {}
        for place, word in enumerate(sentence.words):
            value = self.masked.value(word.text)
            if value is not None:
                values[place] = value
        raw = self.masked.plain(part).strip(" |")
        number = len(self.units)
        self.units.append(
            Unit(
                number, sentence, values, raw, heading, item, row, quoted,
                self.columns, self.paragraph,
            )
        )  # fmt: skip


def words_in(text: Sequence[frozenset[str]], wanted: frozenset[str]) -> bool:
    """Return whether one of some words' base forms is among those wanted."""
    return any(word & wanted for word in text)
