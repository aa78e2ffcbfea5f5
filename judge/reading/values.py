"""Values in a text: people, money, days, times, figures and providers, each found and masked.

`mask` puts one word such as `xmoney3x` in the place of each value, so that phrases can ask for a
value of a type (`paid <person>`), and markers are not taken from names and dates.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from judge.reading.dates import DAY, dates_of, nearest_first
from servers.kit.service import providers

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
)
_SMALL: dict[str, int] = {word: number for number, word in enumerate(_UNITS.split())}
_TENS = {
    word: 10 * number
    for number, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2
    )
}
_NUMBER_WORD = "|".join(sorted([*_SMALL, *_TENS, "hundred", "thousand"], key=len, reverse=True))
_NO_NAMES = {
    "will", "may", "mark", "grace", "hope", "rose", "art", "bill", "jack", "sue", "pat", "rich",
    "april", "june", "august", "dawn", "joy", "faith", "max", "the", "van", "de", "la", "day",
    "park", "read", "book", "wood", "brown", "green", "white", "black", "young", "king", "moon",
    "price", "case", "field", "fields", "studio", "support", "team", "office", "shop", "bank",
    "mail", "dental", "denver", "portland", "clinic", "north", "south", "west", "east", "new",
}  # fmt: skip
"""Parts of names that are names only with a capital."""
_NEVER_NAMES = {"the", "and", "of", "studio", "support", "team", "office", "shop", "bank", "dental"}
_HE = {"him", "her", "them", "he", "she", "they"}


@dataclass(frozen=True, slots=True)
class Value:
    """A value: its type, what it may mean, and how it is written.

    `means` is cents (money), a number, minutes after midnight (times), dates (days), full names or
    addresses (people), or names of services (providers); more than one where it is not clear.
    """

    type: str
    means: tuple[Any, ...]
    raw: str


@dataclass(frozen=True)
class Masked:
    """A text with its values masked."""

    text: str
    values: tuple[Value, ...]

    def value(self, word: str) -> Value | None:
        """Return the value that a word of the masked text stands for."""
        if word[:1] != "x":
            return None
        found = _MASK.fullmatch(word)
        return self.values[int(found[1])] if found else None

    def plain(self, text: str) -> str:
        """Return a part of the masked text as it was written."""
        plain = _MASKS.sub(lambda m: self.values[int(m[1])].raw, text)
        return plain.replace(TICK, "\u2705").replace(CROSS, "\u274c")


TICK = "xtickx"
CROSS = "xcrossx"
"""Words in the place of the signs for done and not done."""

_MASK = re.compile(r"x[a-z]+?(\d+)x")
_MASKS = re.compile(r"x(?:money|number|percent|temp|day|time|person|provider)(\d+)x(?: percent\b)?")
_ALIASES = {
    "weather_com": ["the weather channel", "weather channel", "weather.com", "weather com", "twc"],
    "yahoo_weather": ["yahoo weather", "yahoo! weather", "yahoo"],
    "yahoo_finance": ["yahoo finance", "yahoo"],
    "outlook": [
        "outlook", "work email", "work mail", "work e-mail", "work account", "work address",
        "work inbox", "fernhill",
    ],
    "outlook_calendar": ["outlook calendar", "work calendar", "outlook"],
    "gmail": [
        "gmail", "personal email", "personal mail", "personal account", "personal address",
        "private email", "private account", "private address", "private mail", "own address",
        "own email", "own account", "personal e-mail",
    ],
    "google_calendar": ["google calendar", "personal calendar", "gcal"],
    "google_map_review": ["google maps reviews", "google maps", "google reviews", "google"],
    "google_finance": ["google finance"],
    "booking": ["booking.com", "booking com"],
    "venmo": ["venmo", "venmo'd", "venmoed"],
    "zelle": ["zelle", "zelled", "zelle'd"],
    "doordash": ["doordash", "door dash"],
    "uber": ["uber", "uberx", "uber x", "uberxl"],
    "uber_eats": ["uber eats", "ubereats"],
    "clock": [],
    "sign_in": [],
}  # fmt: skip


@functools.cache
def aliases() -> dict[str, tuple[str, ...]]:
    """Return the services that each name, title or domain may mean, in lower case."""
    found: dict[str, list[str]] = {}
    for name, service in providers().items():
        ways = _ALIASES.get(name)
        if ways is None:
            ways = [service.title.lower()]
        for way in {*ways, name}:
            found.setdefault(way, []).append(name)
    return {way: tuple(names) for way, names in found.items()}


@functools.cache
def _provider_pattern() -> re.Pattern[str]:
    ways = sorted(aliases(), key=len, reverse=True)
    joined = "|".join(re.escape(way) for way in ways)
    return re.compile(rf"(?<![\w@.])(?:{joined})(?![\w@])(?!\.\w)")


class _Masker:
    def __init__(self, today: str, people: Sequence[str]) -> None:
        self.today = today
        self.people = people
        self.values: list[Value] = []

    def put(self, type_: str, means: Sequence[Any], raw: str, after: str = "") -> str:
        self.values.append(Value(type_, tuple(means), raw))
        return f"x{type_}{len(self.values) - 1}x{after}"


def mask(text: str, today: str, people: Sequence[str]) -> Masked:
    """Return a text with its values masked."""
    made = _Masker(today, people)
    if not text.isascii():
        text = text.replace("\u2019", "'").replace("\u00a0", " ").replace("\u2212", "-")
        text = _CURLY.sub('"', text)
        text = _TICKS.sub(f" {TICK} ", text)
        text = _CROSSES.sub(f" {CROSS} ", text)
    if "*" in text or "_" in text or "`" in text:
        text = _MARKUP.sub("", text)
    text = _sub(_WORDS, _digits, text)
    text = _people(text, made)
    if "http" in text:
        text = _LINK.sub("link", text)
    text = _sub(
        _provider_pattern(),
        lambda raw, _: made.put("provider", aliases()[raw.lower()], raw),
        text,
    )
    for step in _STEPS:
        if step.may_be_in(text.lower()):
            text = step.pattern.sub(functools.partial(_put, made, step.read), text)
    return Masked(text, tuple(made.values))


_CURLY = re.compile(r"[\u201c\u201d]")
_TICKS = re.compile(r"[\u2705\u2714\u2611]\ufe0f?")
_CROSSES = re.compile(r"[\u274c\u2716\u2717\u2718]\ufe0f?")
_MARKUP = re.compile(r"\*\*|__|`")
_LINK = re.compile(r"https?://\S+")


def _sub(pattern: re.Pattern[str], new: Callable[[str, int], str], text: str) -> str:
    """Return a text with what a pattern of small letters finds replaced, in whatever case it is.

    `new` gets what was found as it is written, and where it ends. Patterns that ignore case would
    be several times slower.
    """
    low = text.lower()
    if len(low) != len(text):
        low = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    parts = []
    at = 0
    for found in pattern.finditer(low):
        start, end = found.span()
        parts.append(text[at:start])
        parts.append(new(text[start:end], end))
        at = end
    parts.append(text[at:])
    return "".join(parts)


_Read = Callable[[re.Match[str], _Masker], "tuple[str, Sequence[Any], str] | None"]


class _Step(NamedTuple):
    """How values of a type are found and read.

    What a step finds holds one of its hints, in small letters, which saves the search in most
    texts.
    """

    pattern: re.Pattern[str]
    read: _Read
    hints: tuple[str, ...] = ("",)

    def may_be_in(self, low: str) -> bool:
        """Return whether one of the hints is in a text of small letters."""
        return any(hint in low for hint in self.hints)


def _put(made: _Masker, read: _Read, found: re.Match[str]) -> str:
    result = read(found, made)
    if result is None:
        return found[0]
    type_, means, after = result
    raw = found[0]
    if type_ == "time" and raw.endswith(".") and after:
        raw = raw[:-1]
    return made.put(type_, means, raw, after)


# -- numbers in words ----------------------------------------------------------------------------
_WORDS = re.compile(
    rf"\b(?:a hundred|a thousand|(?:{_NUMBER_WORD}))(?:(?:[ -]|\sand\s)(?:{_NUMBER_WORD}))*\b"
)


def _digits(raw: str, _: int) -> str:
    words = re.split(r"[\s-]+", raw.lower())
    if words in (["one"], ["zero"]) or words[0] == "and":
        return raw
    groups: list[int] = []
    fresh = True
    for word in words:
        if word in ("and", "a"):
            continue
        if word in ("hundred", "thousand"):
            scale = 100 if word == "hundred" else 1000
            groups[-1:] = [(groups[-1] if groups else 1) * scale]
            fresh = False
        elif word in _TENS:
            if groups and not fresh and groups[-1] % 100 == 0 and groups[-1] >= 100:
                groups[-1] += _TENS[word]
            else:
                groups.append(_TENS[word])
            fresh = False
        else:
            number = _SMALL[word]
            last = groups[-1] if groups else 1
            joins = groups and (
                (last % 10 == 0 and last % 100 >= 20 and number < 10)
                or (last % 100 == 0 and last >= 100)
            )
            if joins:
                groups[-1] += number
            else:
                groups.append(number)
            fresh = False
    if len(groups) == 2 and 10 <= groups[1] < 100 and groups[0] not in (19, 20):
        if groups[0] <= 12 and groups[1] < 60:
            return f"{groups[0]}:{groups[1]:02}"
        if groups[0] < 1000:
            return f"${groups[0]}.{groups[1]:02}"
    return " ".join(str(group) for group in groups)


# -- people --------------------------------------------------------------------------------------
class _Ways(NamedTuple):
    """Whom each way to name somebody may mean; patterns of all ways, without and with addresses."""

    means: dict[str, tuple[str, ...]]
    plain: re.Pattern[str]
    with_addresses: re.Pattern[str]


@functools.lru_cache(maxsize=64)
def _names(people: tuple[str, ...]) -> _Ways:
    """Return the ways to name people."""
    ways: dict[str, list[str]] = {}
    for name in people:
        parts = [p for p in re.split(r"\s+", name.strip()) if p]
        whole = {name.lower()}
        if "@" not in name:
            for part in (parts[0], parts[-1]) if parts else ():
                word = part.lower().strip(".,")
                if len(word) > 2 and word not in _NEVER_NAMES:
                    whole.add(word)
            if len(parts) > 2:
                whole.add(f"{parts[0]} {parts[-1]}".lower())
        for way in whole:
            owners = ways.setdefault(way, [])
            if name not in owners:
                owners.append(name)
    joined = "|".join(re.escape(way) for way in sorted(ways, key=len, reverse=True))
    named = rf"(?<![\w@.])(?:{joined})(?![\w@])|" if joined else ""
    plain = named + r"\b(?:him|her|them)\b"
    address = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?<![\w@])@[\w-]+"
    return _Ways(
        {way: tuple(names) for way, names in ways.items()},
        re.compile(rf"(?<!\w)(?:{plain})"),
        re.compile(f"{address}|{plain}"),
    )


def who(text: str, people: Sequence[str]) -> tuple[str, ...]:
    """Return whom a name or address may mean: full names, or itself if nobody is known by it."""
    low = text.lower().lstrip("@")
    ways = _names(tuple(people)).means
    if low in ways:
        return ways[low]
    if "@" in low or text.startswith("@"):
        local = [p for p in re.split(r"[._\-+\d]+", low.split("@")[0]) if len(p) > 1]
        owners = [n for n in people if _owns(local, n)]
        return (*owners, low)
    return (text,)


def _owns(local: Sequence[str], name: str) -> bool:
    parts = [p.lower() for p in re.split(r"[\s-]+", name) if p]
    if not parts or not local:
        return False
    joined = "".join(local)
    if len(local) >= 2:
        return local[0] == parts[0] and local[-1] == parts[-1]
    return joined in (
        parts[0],
        parts[0] + parts[-1],
        parts[0][0] + parts[-1],
        parts[0] + parts[-1][0],
    )


_KIN = re.compile(
    r"\b(?:(?:[Yy]our|[Hh]is|[Hh]er) (?:\w+ )?"
    r"(?:mother|mom|mum|mamma|mama|father|dad|brother|sister|aunt|uncle|cousin|grandmother|grandma"
    r"|wife|husband|son|daughter)|Mamma|Mama|Mum|Mom|Dad|Papa|Grandma)\b(?![\w@])"
)
"""People whom the contacts name otherwise."""


_STOP = re.compile(r"[.!?;\n]")


def _people(text: str, made: _Masker) -> str:
    ways, plain, with_addresses = _names(tuple(made.people))
    pattern = with_addresses if "@" in text else plain
    last: list[tuple[str, ...]] = []
    ended = 0

    def name(raw: str, end: int) -> str:
        low = raw.lower()
        if low in _HE:
            if low == "her" and re.match(r"\s+[a-z]", text[end:]):
                following = text[end:].split(None, 1)[0].lower().strip(".,;:!?")
                if following not in _AFTER_OBJECT:
                    return raw  # "her e-mail"
            return made.put("person", ("?", *(last[-1] if last else ())), raw)
        if low in _NO_NAMES and not (raw[0].isupper() and _is_name_here(text, end - len(raw))):
            return raw
        nonlocal ended
        means = ways.get(low) or who(raw, made.people)
        if "@" in raw and not raw.startswith("@"):
            means = who(raw, made.people)
        if len(means) > 1:
            between = text[ended : end - len(raw)]
            if between.lower().endswith("which "):
                return raw
            if last and len(last[-1]) == 1 and last[-1][0] in means and not _STOP.search(between):
                means = last[-1]  # "to Ben Asher, as Ben had asked"
        ended = end
        last.append(means)
        return made.put("person", means, raw)

    text = _sub(pattern, name, text)
    return _KIN.sub(lambda found: made.put("person", ("?", "kin"), found[0]), text)


_AFTER_OBJECT = frozenset(
    re.findall(
        r"\w+",
        """
        a an the on for with by in at from today tomorrow yesterday and but to as via about now
        once through using is was has back again already directly too also over this that his your
        so separately exactly only just know
        """,
    )
)


def _is_name_here(text: str, start: int) -> bool:
    """Return whether a capital is not just that of a sentence's beginning."""
    before = text[:start].rstrip(" ")
    return bool(before) and before[-1] not in ".!?\n|-*#"


# -- times, days, money, figures -----------------------------------------------------------------
def _clock(found: re.Match[str], made: _Masker) -> tuple[str, Sequence[Any], str] | None:
    hour = int(found["h"])
    minute = int(found["m"] or 0)
    half = (found["half"] or "").lower()
    if hour > 23 or minute > 59 or (half and not 1 <= hour <= 12):
        return None
    if half:
        hours = [hour % 12 + (12 if half == "p" else 0)]
    else:
        plain = hour > 12 or hour == 0 or found["h"].startswith("0")
        hours = [hour] if plain else _hours(hour, found)
    text = found.string
    following = r"\s+(?:[A-Z*_]|x(?:person|provider)\d)|\s*$|\s*\n|[\"')]"
    ends = found[0].endswith(".") and re.match(following, text[found.end() :])
    return "time", [60 * h + minute for h in hours], "." if ends else ""


def _spoken_time(found: re.Match[str], _: _Masker) -> tuple[str, Sequence[Any], str] | None:
    hour = 12 if found["hour"].lower() in ("noon", "midnight") else int(found["hour"])
    if not 1 <= hour <= 12:
        return None
    part = found["part"].lower()
    minutes = {"half": 30, "quarter": 15}.get(part.removeprefix("a ")) or int(
        "".join(c for c in part if c.isdigit()) or 0
    )
    after = found["way"].lower() in ("past", "after")
    whole = 60 * hour + minutes if after else 60 * hour - minutes
    halves = {(whole + 720 * n) % 1440 for n in (0, 1)}
    part = _PART.match(found.string, found.end())
    if part is not None:
        halves = {h for h in halves if (h < 720) == (part[1] == "morning")}
    return "time", sorted(halves), ""


def _word_time(found: re.Match[str], _: _Masker) -> tuple[str, Sequence[Any], str]:
    return "time", [720 if found[0].lower() in ("noon", "midday") else 0], ""


def _hour(found: re.Match[str], _: _Masker) -> tuple[str, Sequence[Any], str] | None:
    part = found["h"] or found["h2"]
    hour = 1 if part.lower() == "one" else int(part)
    if not 1 <= hour <= 12:
        return None
    return "time", [60 * each for each in _hours(hour, found)], ""


_PART = re.compile(
    r"[.,]?\s+(?:in the |on |at |that |the next |xday\d+x )*(morning|afternoon|evening|night)\b"
)


def _hours(hour: int, found: re.Match[str]) -> list[int]:
    """Return the hours of the day that an hour may be: "one in the morning" is one alone."""
    part = _PART.match(found.string, found.end())
    if part is None:
        return [hour % 24, (hour + 12) % 24]
    early = part[1] == "morning" or (part[1] == "night" and (hour < 5 or hour == 12))
    return [hour % 12 if early else hour % 12 + 12]


def _day(found: re.Match[str], made: _Masker) -> tuple[str, Sequence[Any], str] | None:
    means = nearest_first(dates_of(found, made.today), made.today)
    return ("day", means, "") if means else None


def _money(found: re.Match[str], _: _Masker) -> tuple[str, Sequence[Any], str] | None:
    return "money", [_cents(found["n"], found.groupdict().get("k"))], ""


def _small_money(found: re.Match[str], _: _Masker) -> tuple[str, Sequence[Any], str]:
    return "money", [round(float(found["n"]))], ""


def _cents(number: str, thousands: str | None = None) -> int:
    return round(float(number.replace(",", "")) * 100 * (1000 if thousands else 1))


def _percent(found: re.Match[str], _: _Masker) -> tuple[str, Sequence[Any], str]:
    return "percent", [float(found["n"])], " percent"


def _temp(found: re.Match[str], _: _Masker) -> tuple[str, Sequence[Any], str]:
    return "temp", [float(found["n"])], ""


def _number(found: re.Match[str], _: _Masker) -> tuple[str, Sequence[Any], str] | None:
    number = float(found["n"].replace(",", ""))
    return None if number == 0 and "." not in found["n"] else ("number", [number], "")


_N = r"(?P<n>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
_SIGNED = r"(?<![\w.])(?P<n>[-+]?\d+(?:\.\d+)?)"
_BEFORE = "0123456789 \t\n"
_STEPS = (
    _Step(DAY, _day),
    _Step(
        re.compile(r"\b(?P<h>\d{1,2})(?::(?P<m>\d\d))?\s?(?P<half>[ap])\.?m\b\.?", re.I),
        _clock,
        ("am", "pm", "a.m", "p.m"),
    ),
    _Step(
        re.compile(r"(?<![\d:$.])\b(?P<h>\d{1,2}):(?P<m>\d\d)(?!\d)(?P<half>)(?::\d\d)?"),
        _clock,
        (":",),
    ),
    _Step(
        re.compile(
            r"\b(?P<part>half|a quarter|quarter|5|10|20|25)(?: minutes)? (?P<way>past|to|after"
            r"|before)"
            r" (?P<hour>noon|midnight|\d{1,2})\b(?!\.\d)",
            re.I,
        ),
        _spoken_time,
        (" past ", " to ", " after ", " before "),
    ),
    _Step(
        re.compile(r"\b(?:noon|midnight|midday)\b", re.I),
        _word_time,
        ("noon", "midnight", "midday"),
    ),
    _Step(re.compile(r"\b(?P<h>\d{1,2}|one) ?o['\u2019]?clock\b(?P<h2>)", re.I), _hour, ("clock",)),
    _Step(
        re.compile(
            r"(?:US\s?)?\$\s?"
            + _N
            + r"(?P<k>k\b)?(?: dollars| USD)?|\b(?:USD|EUR|GBP)\s?"
            + _N.replace("<n>", "<n2>"),
        ),
        lambda f, m: ("money", [_cents(f["n"] or f["n2"], f["k"])], ""),
        ("$", "usd", "eur", "gbp"),
    ),
    _Step(
        re.compile(r"\b" + _N + r" dollars?(?:,? and)? (?P<c>\d{1,2}) cents?\b", re.I),
        lambda f, m: ("money", [_cents(f["n"]) + int(f["c"])], ""),
        ("cent",),
    ),
    _Step(
        re.compile(r"\b" + _N + r"[\s-]?(?:dollars?|bucks|usd|euros?)\b", re.I),
        _money,
        ("dollar", "bucks", "usd", "euro"),
    ),
    _Step(
        re.compile(r"\b" + _N + r" ?(?:cents?\b|\u00a2)", re.I), _small_money, ("cent", "\u00a2")
    ),
    _Step(
        re.compile(_SIGNED + r"\s?(?:%|percent\b|per cent\b|pct\b)", re.I),
        _percent,
        ("%", "percent", "per cent", "pct"),
    ),
    _Step(
        re.compile(
            _SIGNED
            + r"\s?(?:(?:\u00b0|\u00ba|degrees?\b|deg\b)(?:\s?(?:[FC]\b|fahrenheit|celsius))?"
            r"|(?-i:[FC])\b|fahrenheit\b|celsius\b)",
            re.I,
        ),
        _temp,
        (
            "\u00b0",
            "\u00ba",
            "deg",
            "fahrenheit",
            "celsius",
            *[f"{c}f" for c in _BEFORE],
            *[f"{c}c" for c in _BEFORE],
        ),
    ),
    _Step(
        re.compile(
            # Looking at the letter first is what makes the search fast.
            r"(?=[\do])(?:"
            r"(?:(?<=\bat )|(?<=\bat about )|(?<=\bat around ))(?P<h>\d{1,2}|one)"
            r"(?=[.,;:!?)]*(?:\s*$|\s*\n)|[.,;!?)](?!\d)|\s(?:on|in|sharp|and|instead|with|for|now"
            r"|tonight|but|or|so|until|today|tomorrow|this|it|there|we|you|i|he|she|they|already"
            r"|x(?:day|provider|person))\b|\sx(?:day|provider|person)\d)"
            r"|(?:(?<=\baround )|(?<=\babout )|(?<=\buntil )|(?<=\btill )|(?<=\bfrom )|(?<=\bby ))"
            r"(?P<h2>\d{1,2}|one)(?=ish\b| (?:on |in the |this |tomorrow|tonight|xday\d)))",
            re.I,
        ),
        _hour,
        ("at ", "around ", "about ", "until ", "till ", "from ", "by "),
    ),
    _Step(re.compile(r"(?<![\w.:/#-])" + _N + r"(?![\w/%]|:\d|\.\d|-\w)"), _number),
)
