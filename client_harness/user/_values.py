"""Words and values as a question mentions them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from scenarios.answer import Answer, aliases

_TOKEN = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\d+(?:[.:]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)?|\w+")
_CLOCK = re.compile(r"\b(\d{1,2})(?:[:.](\d\d))?\s?([ap])\.?\s?m\b\.?", re.IGNORECASE)
_MONEY = re.compile(
    r"[$€£]\s?(\d+(?:\.\d+)?)|\b(\d+\.\d\d)\b(?!\s?%)|\b(\d+(?:\.\d+)?)\s(?:dollars|bucks)"
    r"|\b(?:is|be|send|pay|transfer|request)\s(\d+)\b(?!\.\d|[:%]|\s[a-z]*(?:s|am|pm)\b)"
)
_TIME = re.compile(r"\b(\d{1,2}:\d\d)\b")
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_DAY = re.compile(
    r"\b((?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tomorrow|tonight|"
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
    r"\s\d{1,2})\b"
)
_KINDS = (_ADDRESS, _TIME, _MONEY, _DAY)


def words(text: str) -> frozenset[str]:
    """Return a stock of words, written with spaces between them."""
    return frozenset(text.split())


def plain(text: str) -> str:
    """Return a text with times, thousands and apostrophes in one form; case is kept."""

    def clock(found: re.Match[str]) -> str:
        hour = int(found[1]) % 12 + (12 if found[3].lower() == "p" else 0)
        return f"{hour:02}:{found[2] or '00'}"

    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text.replace("’", "'").replace("‘", "'"))
    text = re.sub(r"\b(\d):(\d\d)\b", r"0\1:\2", _CLOCK.sub(clock, text))
    return re.sub(r"'s\b", "", text)


def tokens(text: str) -> list[str]:
    """Return a text's words and numbers in one form: `$38.50` as `38.5`."""
    found = []
    for token in _TOKEN.findall(plain(text).casefold()):
        if re.fullmatch(r"\d+\.\d+", token):
            token = f"{float(token):g}"
        found.append(token)
    return found


def base(word: str) -> str:
    """Return a word without the ending of a plural."""
    if not word.endswith("s") or len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ses", "xes", "zes", "ches", "shes")) else word[:-1]


def bases(words: Iterable[str]) -> set[str]:
    """Return the base forms that words may come from; addresses count with each of their parts."""
    found: set[str] = set()
    for word in words:
        for part in re.findall(r"[^\W_]+(?:\.\d+)?", word):
            found |= {part, base(part)}
            stem = part.removesuffix("ing") if part.endswith("ing") else part.removesuffix("ed")
            if part.endswith("ly") and len(part) > 5:
                found.add(part.removesuffix("ly"))
            if stem != part and len(stem) > 2:
                found |= {stem, stem + "e"}
                found.add(stem[:-1] if stem[-1] == stem[-2] else stem)
    return found


def mentions(text: str, values: Iterable[str]) -> bool:
    """Return whether a text holds one of some values, as words in a row."""
    heard = [base(token) for token in tokens(text)]
    for value in values:
        wanted = [base(token) for token in tokens(value)]
        size = len(wanted)
        if wanted and any(heard[i : i + size] == wanted for i in range(len(heard) - size + 1)):
            return True
    return False


def right(answer: Answer) -> list[str]:
    """Return all that the right value may be called."""
    return _called(aliases(answer.value or ""), _wrong(answer), answer)


def wrong(answer: Answer) -> list[str]:
    """Return all that the other values may be called."""
    return _called(_wrong(answer), aliases(answer.value or ""), answer)


def _wrong(answer: Answer) -> list[str]:
    names = []
    for other in answer.others:
        names += aliases(other)
    return names


_COMMON = words("weather service channel account email mail work bank app site maps card union")
"""Words of names that do not tell one from another: "Weather" alone is not Yahoo Weather."""


def _called(names: list[str], others: list[str], answer: Answer) -> list[str]:
    """Return names, and the words of theirs by which alone one can tell them apart."""
    alike = [phrase for phrase in answer.asked if "|" not in phrase]
    shared = bases(tokens(" ".join([*others, *alike]).replace("|", " ")))
    called = [re.sub(r"^(?:the|a|an|my|your)\s+", "", name, flags=re.IGNORECASE) for name in names]
    for name in names:
        parts = re.findall(r"[^\W\d_]+", name)
        if len(parts) > 1 and others:
            capital = [part for part in parts if part[0].isupper()]
            own = [part for part in capital if part.casefold() not in _COMMON]
            called += [part for part in own if base(part.casefold()) not in shared]
    return called


def mentions_other(text: str, answer: Answer) -> bool:
    """Return whether a text proposes a value of the same kind as the right one, but another.

    Kinds are addresses, times, amounts, days and plain numbers, and names that begin alike. A kind
    of which the value holds several only goes with it.
    """
    value = aliases(answer.value or "")
    for kind in _KINDS:
        wanted = _of_kind(kind, " ".join(value))
        heard = _of_kind(kind, text)
        if len(wanted) == 1 and heard - wanted:
            return True
    if _other_count(text, answer):
        return True
    for name in value:
        begins = re.match(r"([A-Z]\w+) [A-Z]\w+$", name)
        if begins is None:
            continue
        for second in re.findall(rf"\b{begins[1]} ([A-Z]\w+)", plain(text)):
            if not mentions(name, [second]):
                return True
    return False


_COUNT = re.compile(r"(\d+)(?: ([a-z]+))?", re.IGNORECASE)
_HEARD = re.compile(
    r"(?:\b([a-z]+)\s)?(?<![\w$€£.:/#@-])(\d+)(?![\w%:/@-]|\.\d|\))(?:\s([a-z]+))?", re.IGNORECASE
)
_MONTHS = (
    "january february march april may june july august september october november december"
    " jan feb mar apr jun jul aug sep oct nov dec"
)
_LABELS = words(
    f"option choice step item version page list no line row room table question part {_MONTHS}"
)
"""Words after which a number is a name or a day, and counts nothing."""
_AFTER_COUNT = words(
    "in into for as or and then instead there here on at to now please right correct okay ok"
    " because since if the with"
)


def _other_count(text: str, answer: Answer) -> bool:
    """Return whether a text proposes another plain number than the right one.

    Of the numbers of a text, those count that stand alone ("is it 12?") or before what is counted.
    """
    counts = [_COUNT.fullmatch(name) for name in aliases(answer.value or "")]
    wanted = {int(found[1]) for found in counts if found is not None}
    if len(wanted) != 1:
        return False
    (right_one,) = wanted
    spoken = " ".join([*answer.asked, *(found[2] or "" for found in counts if found is not None)])
    counted = bases(tokens(spoken.replace("|", " ")))
    counted |= bases(re.findall(rf"\b{right_one}\s([a-z]+)", plain(answer.say).casefold()))
    for before, number, after in _HEARD.findall(plain(text).casefold()):
        of_it = not after or after in _AFTER_COUNT or bool(bases([after]) & counted)
        year = len(number) == 4 and len(str(right_one)) != 4
        if int(number) != right_one and of_it and not year and before not in _LABELS:
            return True
    return False


def _of_kind(kind: re.Pattern[str], text: str) -> set[str]:
    found: set[str] = set()
    for match in kind.finditer(plain(text).casefold()):
        shown = next((group for group in match.groups() if group), match[0])
        found |= set(tokens(shown)) if kind is _MONEY else {shown}
    return found
