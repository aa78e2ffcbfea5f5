"""An agent's text as sentences, without what it only quotes."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SAME = str.maketrans(
    {"’": "'", "‘": "'", "“": '"', "”": '"', "\u00a0": " ", "…": "...", "？": "?"}
)
_FENCE = re.compile(r"(```|~~~).*?(\1|\Z)", re.DOTALL)
_LINK = re.compile(r"\[([^\]\n]+)\]\([^)\n]*\)")
_MARKUP = re.compile(r"\*\*|__|`|(?<![\w*])[*_](?=\S)|(?<=\S)[*_](?![\w*])|</?\w+/?>")
_HEADING = re.compile(r"^\s*#{1,6}\s+|^\s*\*\*[^*\n]+\*\*:?\s*$")
_LABEL = re.compile(
    r"^\s*(?:[-*+•–]\s+|(?:option\s+)?\(?(\d{1,2}|[a-h])[.):]\)?\s+|option\s+(\d|[a-h])\b\s*[-–—]\s*|(\d|[a-h])\s*=\s*)",
    re.IGNORECASE,
)
_MARKED = re.compile(r"^\s*(?:\*\*|__)\(?(?:option\s+)?(?:\d{1,2}|[a-h])[.):]", re.IGNORECASE)
_OPTION = re.compile(r"^option\s+(\d|[a-h])\s*[.):–—-]\s*", re.IGNORECASE)
_QUOTED = re.compile(r"\"[^\"\n]*\"|(?<![\w'])'[^'\n]*[.!?,]'(?!\w)")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|mr|mrs|ms|dr|vs|etc|approx|st|no|inc|jr|sr)\.$", re.I)
_END = re.compile(r"[.!?]+[\"')\]]*(?:\s+|$)|[\U0001F300-\U0001FAFF\u2600-\u27BF]+\s*")
_GREETING = re.compile(r"^\s*(?:(?:hi|hello|dear|hey)\b[^.?!]{0,40}[,!:]|subject:|to:)", re.I)
_FAREWELL = re.compile(
    r"^\s*(?:(?:best|kind|warm)?\s*(?:wishes|regards|best)|thanks|thank you|cheers|love|yours"
    r"|sincerely|[-–—]\s*[A-Z]\w+|[A-Z]\w*)[,.!]?\s*$"
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence.

    `label` is the letter or number of a list's item ("" for a bullet, None outside of lists), and
    `paragraph` counts the blocks of lines. Headings are sentences, too.
    """

    text: str
    paragraph: int
    label: str | None = None
    heading: bool = False

    @property
    def asks(self) -> bool:
        """Whether it ends in a question mark that is its own, not one of a quotation."""
        return unquoted(self.text).rstrip(" \"')]:-").endswith("?")


def unquoted(text: str) -> str:
    """Return a sentence with its quotations that ask or state something left out."""

    def shown(found: re.Match[str]) -> str:
        inner = found[0][1:-1].strip()
        speaks = inner.endswith(("?", ".", "!")) or len(inner.split()) > 4
        return '"…"' if speaks else found[0]

    return _QUOTED.sub(shown, text)


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of a text; code, block quotes and drafts of letters are left out."""
    found: list[Sentence] = []
    paragraph = 0
    blank = True
    for line, marked in _lines(text):
        if not line.strip():
            blank = True
            continue
        line = _MARKUP.sub("", line) if _MARKED.match(line) else line
        label = _LABEL.match(line)
        heading = marked or bool(_HEADING.match(line))
        if blank or label or heading:
            paragraph += 1
        blank = heading
        name = _name(label)
        bare = line[label.end() :] if label else line
        for part in _split(_MARKUP.sub("", bare).lstrip("# ").strip()):
            option = _OPTION.match(part)
            if option:
                paragraph += 1
                name = option[1]
                part = part[option.end() :]
            found.append(Sentence(part, paragraph, name, heading))
    return found


def _name(label: re.Match[str] | None) -> str | None:
    """Return the letter or number of an item, "" for a bullet, None for what is no item."""
    return next((group for group in label.groups() if group), "") if label else None


def _lines(text: str) -> list[tuple[str, bool]]:
    """Return a text's lines with hard-wrapped ones joined, each with whether it is a heading."""
    plain = _LINK.sub(r"\1", _FENCE.sub("\n", text.translate(_SAME)))
    lines: list[tuple[str, bool]] = []
    draft = False
    for line in plain.splitlines():
        if re.match(r"^\s*([-*_=]\s?){3,}$", line):
            draft = False
            line = ""
        if line.lstrip().startswith(">") or line.lstrip().startswith("|--"):
            line = ""
        before = next((shown for shown, _ in reversed(lines) if shown.strip()), "")
        if _GREETING.match(line) and before.rstrip(" *").endswith(":"):
            draft = True
        if draft:
            draft = not _FAREWELL.match(line)
            continue
        if lines and _goes_on(lines[-1], line):
            lines[-1] = (f"{lines[-1][0].rstrip()} {line.strip()}", False)
            continue
        lines.append((line, bool(_HEADING.match(line))))
    return lines


def _goes_on(above: tuple[str, bool], line: str) -> bool:
    """Return whether a line only continues the one above it, which may be a heading."""
    text, heading = above
    if heading or not text.strip() or re.search(r"[.!?:]\s*$", text):
        return False
    return bool(re.match(r"^\s*[a-z(]\w", line)) and not _LABEL.match(line)


def _split(line: str) -> list[str]:
    parts: list[str] = []
    start = 0
    for end in _END.finditer(line):
        before = line[start : end.end()].rstrip()
        after = line[end.end() :]
        if _inside(line[start : end.end()]) or _ABBREVIATION.search(before):
            continue
        if re.search(r"(?:^|\s)\(?\w\.$", before) and re.search(
            r"\b[1a]\.\s.*\b[2b]\.\s", line, re.I
        ):
            continue
        mark = end[0].rstrip(" \"')]")
        closes = bool(re.match(r"[a-z]", after)) and ('"' in end[0] or ")" in end[0])
        if closes or (mark.endswith(".") and re.match(r"[a-z]", after)):
            continue
        if before:
            parts.append(before)
        start = end.end()
    if line[start:].strip():
        parts.append(line[start:].strip())
    return parts


def _inside(part: str) -> bool:
    """Return whether a quotation or bracket is still open at the end of a part."""
    return part.count('"') % 2 == 1 or part.count("(") > part.count(")")
