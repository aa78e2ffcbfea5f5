"""Text as sentences of normalised words: case, punctuation, contractions, money, numbers, times and
dates brought to one form.

`$25.00`, `25 dollars` and `USD 25` become `25`; `1,840` becomes `1840`; `3 PM` becomes `15:00`;
`2026-03-14` becomes `march 14 2026`. A word knows the base forms that it may come from
(`transferred` ← `transfer`) and whether it is a past or an -ing form.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

_FROM = "\u2018\u2019\u02bc\u201c\u201d\u2014\u2013\u2026\u00a0"
_TO = ("'", "'", "'", '"', '"', " ~ ", " ~ ", "... ", " ")

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_MONTH = {m[:3]: m for m in _MONTHS} | {m: m for m in _MONTHS} | {"sept": "september"}
_MONTH_HINTS = tuple(m[:3] for m in _MONTHS)
_MONTH_PATTERN = "|".join(sorted(_MONTH, key=len, reverse=True))

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen"
)
_SMALL = {w: n for n, w in enumerate(_UNITS.split())}
_TENS = {
    w: 10 * n
    for n, w in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2
    )
}

_FORMS: dict[str, str] = {
    "agree": "agreed", "be": "been", "become": "became", "begin": "began begun",
    "break": "broke broken", "bring": "brought",
    "buy": "bought", "choose": "chose chosen", "come": "came", "do": "did done",
    "draw": "drew drawn", "drive": "drove driven",
    "find": "found", "fly": "flew flown", "forget": "forgot forgotten", "get": "got gotten",
    "give": "gave given",
    "go": "went gone", "guarantee": "guaranteed", "hold": "held", "keep": "kept",
    "know": "knew known", "leave": "left",
    "lose": "lost", "make": "made", "meet": "met", "pay": "paid", "ride": "rode ridden",
    "run": "ran", "say": "said", "see": "saw seen",
    "sell": "sold", "send": "sent", "show": "shown", "spend": "spent", "take": "took taken",
    "tell": "told", "think": "thought",
    "understand": "understood", "withdraw": "withdrew withdrawn", "write": "wrote written",
}  # fmt: skip


def _irregular() -> dict[str, str]:
    """Return the base of each irregular form."""
    bases = {}
    for base, forms in _FORMS.items():
        bases |= dict.fromkeys(forms.split(), base)
    return bases


_IRREGULAR = _irregular()

_IS = {
    "it",
    "that",
    "this",
    "there",
    "here",
    "what",
    "he",
    "she",
    "who",
    "where",
    "everything",
    "nothing",
    "how",
    "when",
}
_ABBREVIATED = (
    "e.g", "i.e", "mr", "mrs", "ms", "dr", "vs", "etc", "approx", "st", "inc", "ltd", "jr", "sr",
    "acct", "ref", "vol",
)  # fmt: skip
_ABBREVIATIONS = re.compile(
    rf"\b({'|'.join(re.escape(word) for word in _ABBREVIATED)})\.", re.IGNORECASE
)
_ABBREVIATED_HINTS = tuple(f"{word}." for word in _ABBREVIATED)
_TOKEN = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://\S+|\d\d:\d\d(?!\d)"
    r"|\d+\.\d+(?![\d.]\d)|\w+(?:\.\w+)+(?=\b)|\w+|[,:()~|\[\]]",
    re.IGNORECASE,
)
_BREAKS = set(",:()~|[]")
BULLET = re.compile(r"^\s*(?:[-*+•–]|\d{1,2}[.)])\s+")


@dataclass(frozen=True, slots=True)
class Word:
    """One word: its normal form, the base forms that it may come from, and its form (`base`, `ed`
    or `ing`). `keys` are all words that it may be found by.
    """

    text: str
    bases: frozenset[str] = field(hash=False)
    form: str = field(hash=False)
    capital: bool = field(default=False, hash=False)
    keys: frozenset[str] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", self.bases | {self.text, type_word(self.text)})


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence. `breaks` holds the places before which a comma, dash, colon or bracket stands;
    `colons` those of colons.

    `header` tells that the line ends in a colon, `bullet` that the sentence is an item of a list.
    """

    words: tuple[Word, ...] = field(hash=False)
    breaks: frozenset[int] = field(hash=False)
    colons: frozenset[int] = field(hash=False)
    question: bool
    header: bool
    bullet: bool
    text: str

    @property
    def keys(self) -> frozenset[str]:
        """The keys of all words."""
        return frozenset().union(*[word.keys for word in self.words])


def without_abbreviations(text: str) -> str:
    """Return a text without the dots of abbreviations, which end no sentence."""
    if not _holds(text.lower(), _ABBREVIATED_HINTS):
        return text
    return _ABBREVIATIONS.sub(lambda m: m[1].replace(".", ""), text)


def _holds(low: str, hints: Iterable[str]) -> bool:
    """Return whether a text of small letters holds one of some words, which is quickly seen."""
    return any(hint in low for hint in hints)


def type_word(text: str) -> str:
    """Return `xmoney` for the word `xmoney3x` of a masked value, any other word as it is."""
    if text[:1] == "x" and text[-1:] == "x":
        return text.rstrip("x").rstrip("0123456789") or text
    return text


def normal(text: str) -> str:
    """Return text with quotes, dashes, money, numbers, times, dates and contractions in one form;
    case is kept.
    """
    if not text.isascii():
        text = _DASHED_RANGE.sub(" to ", text).translate(_PLAIN)
        decomposed = unicodedata.normalize("NFKD", text)
        text = "".join(c for c in decomposed if not unicodedata.combining(c))
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    if _MARKUP_SIGN.search(text):
        text = _MARKUP.sub("", text)
    if "-" in text:
        text = _DASH.sub(" ~ ", text)
    if _FIGURE.search(text):
        text = _dates(_times(_replaced(text, _NUMBERS)))
    return _replaced(text, _CONTRACTIONS)


_PLAIN = str.maketrans(dict(zip(_FROM, _TO, strict=True)))
_DASHED_RANGE = re.compile(r"(?<=\d)[\u2013\u2014](?=\d)")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_MARKUP_SIGN = re.compile(r"[*`_]")
_MARKUP = re.compile(r"[*`]+|(?<!\w)_+|_+(?!\w)")
_DASH = re.compile(r"\s--?\s|--")
_FIGURE = re.compile(r"(?<![a-z\d])\d|\d(?![x\d])")
"""A digit that is not of a masked value such as `xmoney12x`."""


def _replaced(text: str, steps: Sequence[_Step]) -> str:
    low = text.lower()
    for pattern, new, hints in steps:
        if _holds(low, hints):
            text = pattern.sub(new, text)
    return text


def _thousands(found: re.Match[str]) -> str:
    number = float(found[1])
    return f"{number * 1000:g}" if number < 1000 else found[0]


_New = str | Callable[[re.Match[str]], str]
_Step = tuple[re.Pattern[str], _New, tuple[str, ...]]
"""A pattern, what takes the place of what it finds, and words of which one is in all that."""
_NUMBERS: tuple[_Step, ...] = (
    (re.compile(r"(?<=\d),(?=\d{3}(?!\d))"), "", (",",)),
    (
        re.compile(r"(?:\b(?:US|USD)\s?)?\$\s?(?=\d)|\b(?:USD|EUR|GBP)\s?(?=\d)|[€£]\s?(?=\d)"),
        "",
        ("$", "usd", "eur", "gbp", "€", "£"),
    ),
    (re.compile(r"\b(\d+(?:\.\d+)?)\s?k\b"), _thousands, ("k",)),
    (re.compile(r"\b(\d+) cents?\b", re.I), lambda m: f"{int(m[1]) / 100:g}", ("cent",)),
    (re.compile(r"\b(\d+\.\d*?)0+(?!\d)(?!\.\d)"), lambda m: m[1].rstrip("."), (".",)),
    (
        re.compile(r"(?<=\d)[\s-]?(?:dollars?|bucks|usd|euros?|pounds?)\b", re.I),
        "",
        ("dollar", "bucks", "usd", "euro", "pound"),
    ),
    (re.compile(r"(?<=\d)\s?%"), " percent", ("%",)),
    (re.compile(r"\b(\d+)(?:st|nd|rd|th)\b", re.I), r"\1", ("st", "nd", "rd", "th")),
)


def _times(text: str) -> str:
    def clock(found: re.Match[str]) -> str:
        hour = int(found[1])
        minute = int(found[2] or 0)
        half = found[3].lower()
        if hour > 12 or minute > 59:
            return found[0]
        ends = found[4] is not None and found[0].rstrip().endswith(".")
        return f"{hour % 12 + (12 if half == 'p' else 0):02}:{minute:02}" + (
            ". " if ends else found[4] or ""
        )

    if _holds(text.lower(), ("am", "pm", "a.m", "p.m")):
        text = _CLOCK.sub(clock, text)
    return _SHORT_HOUR.sub(r"0\1:\2", text) if ":" in text else text


_CLOCK = re.compile(
    r"\b(\d{1,2})(?::(\d\d))?\s?([ap])\.?m\b\.?(\s+(?=[A-Z])|\s*$)?",
    re.IGNORECASE | re.MULTILINE,
)
_SHORT_HOUR = re.compile(r"\b(\d):(\d\d)\b")


def _dates(text: str) -> str:
    def named(found: re.Match[str]) -> str:
        year = int(found[1])
        month = int(found[2])
        day = int(found[3])
        return (
            f"{_MONTHS[month - 1]} {day} {year}{' ' + found[4] if found[4] else ''}"
            if 1 <= month <= 12
            else found[0]
        )

    if "-" in text:
        text = _ISO_DATE.sub(named, text)
    if not _holds(text.lower(), _MONTH_HINTS):
        return text
    text = _DAY_MONTH.sub(lambda m: f"{_MONTH[m[2].lower()]} {int(m[1])}", text)
    return _MONTH_DAY.sub(lambda m: f"{_MONTH[m[1].lower()]} {m[2]}", text)


_ISO_DATE = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)(?:T(\d\d:\d\d)(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?)?")
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?: of)? ({_MONTH_PATTERN})\b\.?", re.IGNORECASE)
_MONTH_DAY = re.compile(rf"\b({_MONTH_PATTERN})\.? 0?(\d{{1,2}})\b", re.IGNORECASE)


def _had_or_would(found: re.Match[str]) -> str:
    following = found[2].lower()
    return f"{found[1]} {'had' if following.endswith('ed') or following in _IRREGULAR else 'would'}"


def _is_or_owns(found: re.Match[str]) -> str:
    return f"{found[1]} is" if found[1].lower() in _IS else found[1]


_CONTRACTIONS: tuple[_Step, ...] = (
    (re.compile(r"\bcan'?t\b|\bcannot\b", re.I), "can not", ("can't", "cant", "cannot")),
    (re.compile(r"\bought to\b", re.I), "should", ("ought",)),
    (re.compile(r"\bwon'?t\b(?!\s+of)", re.I), "will not", ("won't", "wont")),
    (re.compile(r"\bshan't\b", re.I), "shall not", ("shan't",)),
    (re.compile(r"\bain't\b", re.I), "is not", ("ain't",)),
    (re.compile(r"(?<=\w)n't\b", re.I), " not", ("n't",)),
    (
        re.compile(r"\b(did|does|do|is|was|are|were|has|have|had|could|would|should)nt\b", re.I),
        r"\1 not",
        ("nt",),
    ),
    (re.compile(r"(?<=\w)'re\b", re.I), " are", ("'re",)),
    (re.compile(r"(?<=\w)'ll\b", re.I), " will", ("'ll",)),
    (re.compile(r"(?<=\w)'ve\b", re.I), " have", ("'ve",)),
    (re.compile(r"(?<=\w)'m\b", re.I), " am", ("'m",)),
    (re.compile(r"\blet's\b", re.I), "let us", ("let's",)),
    (re.compile(r"\bno[ -]one\b", re.I), "nobody", ("no one", "no-one")),
    (re.compile(r"\bgonna\b", re.I), "going to", ("gonna",)),
    (
        re.compile(r"\b(\w+)'d\b(?=\s+(?:already\s+|just\s+)?(\w+))", re.I),
        _had_or_would,
        ("'d",),
    ),
    (re.compile(r"\b(\w+)'d\b"), r"\1 would", ("'d",)),
    (re.compile(r"\b(\w+)'s\b", re.I), _is_or_owns, ("'s",)),
)


@functools.lru_cache(maxsize=4096)
def make_word(raw: str) -> Word:
    """Return the word of one token of normalised text."""
    text = raw.casefold()
    bases, form = _bases(text)
    return Word(text, frozenset(bases), form, raw[:1].isupper())


def _bases(text: str) -> tuple[set[str], str]:
    if text in _IRREGULAR:
        return {text, _IRREGULAR[text]}, "ed"
    if not text.isalpha() or len(text) < 4:
        return {text}, "base"
    if text.endswith("ied"):
        return {text[:-3] + "y", text[:-1]}, "ed"
    if text.endswith("ed") and not text.endswith("eed") and _syllable(text[:-2]):
        return _stripped(text[:-2]), "ed"
    if text.endswith("ing") and _syllable(text[:-3]):
        return _stripped(text[:-3]), "ing"
    if text.endswith("ies"):
        return {text, text[:-3] + "y"}, "base"
    if text.endswith("s") and not text.endswith(("ss", "us", "is")):
        return {text, text[:-1]} | (
            {text[:-2]} if text.endswith(("ses", "shes", "ches", "xes", "zes", "oes")) else set()
        ), "base"
    return {text}, "base"


def _syllable(stem: str) -> bool:
    return len(stem) >= 2 and any(c in "aeiouy" for c in stem)


def _stripped(stem: str) -> set[str]:
    bases = {stem, stem + "e"}
    if len(stem) > 3 and stem[-1] == stem[-2]:
        bases.add(stem[:-1])
    return {base for base in bases if _is_verb(base)}


def _is_verb(base: str) -> bool:
    if base in ("do", "go", "be"):
        return True
    return len(base) >= 3 and base not in ("not", "non", "can", "may")


_SENTENCE_END = re.compile(r"(?<=[.!?;])[\"')\]]*(?:\s+|$)|(?<=;)")


@functools.lru_cache(maxsize=512)
def sentences(text: str) -> tuple[Sentence, ...]:
    """Return a text's sentences; lines and semicolons end one too."""
    found = []
    for line in text.splitlines():
        bullet = bool(BULLET.match(line))
        clean = without_abbreviations(normal(BULLET.sub("", line).lstrip("# >")))
        parts = [p for p in _SENTENCE_END.split(clean) if p.strip()]
        for number, part in enumerate(parts):
            made = make_sentence(part.strip(), bullet, last=number == len(parts) - 1)
            if made.words:
                found.append(made)
    return tuple(found)


@functools.lru_cache(maxsize=4096)
def _spelled(token: str) -> tuple[Word, int, bool]:
    """Return a token's word, the digit that it spells or 0, and whether it spells tens."""
    low = token.casefold()
    number = _TENS.get(low, _SMALL.get(low))
    word = make_word(token if number is None else str(number))
    small = _SMALL.get(low, 0)
    return word, small if small < 10 else 0, low in _TENS


def make_sentence(text: str, bullet: bool, last: bool) -> Sentence:
    """Return the sentence of normalised text; `last` tells that it ends its line."""
    words: list[Word] = []
    breaks: set[int] = set()
    colons: set[int] = set()
    tens = False
    for token in _TOKEN.findall(text):
        if token in _BREAKS:
            breaks.add(len(words))
            if token == ":":
                colons.add(len(words))
            continue
        word, digit, starts = _spelled(token)
        if tens and digit and len(words) not in breaks:
            words[-1] = make_word(str(int(words[-1].text) + digit))
            tens = False
            continue
        tens = starts
        words.append(word)
    ended = text.rstrip("\"')] ")
    return Sentence(
        tuple(words),
        frozenset(breaks),
        frozenset(colons),
        ended.endswith("?"),
        last and ended.endswith(":"),
        bullet,
        text,
    )
