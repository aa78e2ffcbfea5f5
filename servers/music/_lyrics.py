"""Lyrics for invented songs, composed from the vocabulary of their genre.

Every version of a song has the same words.
"""

from __future__ import annotations

from servers.kit.noise import share
from servers.kit.types import Json, Row
from servers.music._rules import WORDLESS

# Each style has lines for verses and choruses, in which {n} is a thing, {p} a place, {t} the title.
_PLAIN = {
    "verse": [
        "I left the {n} by the door",
        "You said the {n} was all we had",
        "There is a light above {p}",
        "We counted every {n} we saw",
        "Nobody waits out by {p}",
        "The {n} keeps turning in the rain",
        "I wrote your name across the {n}",
        "Past {p} the road goes quiet",
        "And all the {n}s remember us",
        "I never meant to lose the {n}",
    ],
    "chorus": [
        "Oh, {t}",
        "{t}, and the night comes down",
        "Call it {t}, call it ours",
        "Hold the {n} and let it go",
    ],
    "n": [
        "window", "kettle", "map", "coat", "ladder", "postcard", "candle", "engine", "letter",
        "stair",
    ],
    "p": [
        "the harbor", "the county line", "the river bend", "the station", "the hill",
        "the old parade",
    ],
}  # fmt: skip
_HYMN = {
    "verse": [
        "When morning breaks above {p}",
        "A gentle {n} shall guide my feet",
        "Though waters rise around {p}",
        "I lift the {n} that never fails",
        "In every {n} I hear the call",
        "And rest at evening by {p}",
        "No shadow dims the faithful {n}",
        "We gather slowly to {p}",
    ],
    "chorus": [
        "O {t}",
        "Sing {t}, be still my soul",
        "{t}, for evermore",
        "The {n} will bring us home",
    ],
    "n": ["lamp", "anchor", "hand", "harvest", "garden", "bell"],
    "p": ["the shore", "the valley", "the marsh", "the mercy seat", "the gate"],
}
_SPANISH = {
    "verse": [
        "Dejé la {n} junto a {p}",
        "La {n} no sabe de tu adiós",
        "Camino solo hasta {p}",
        "Te canto bajo la {n}",
        "Ya viene el alba por {p}",
        "Tu nombre guarda la {n}",
        "Y en {p} se queda mi voz",
        "Que nadie apague la {n}",
    ],
    "chorus": [
        "Ay, {t}",
        "{t}, no te vayas más",
        "Báilame, {t}, otra vez",
        "La {n} nos va a cuidar",
    ],
    "n": ["luna", "guitarra", "carta", "lluvia", "ventana", "vereda"],
    "p": ["la plaza", "el río", "la frontera", "el portal", "mi tierra"],
}
_CHILD = {
    "verse": [
        "One {n}, two {n}s, three in a row",
        "Hop on the {n} and away we go",
        "The {n} says hello to {p}",
        "Clap your hands by {p}",
        "Where is the {n}? Under the bed!",
        "Put the {n} upon your head",
        "Stomp, stomp, stomp to {p}",
        "Wave to the {n} and count to ten",
    ],
    "chorus": [
        "{t}! {t}!",
        "Sing it again, {t}",
        "{t}, one more time",
        "The {n} goes round and round",
    ],
    "n": ["duck", "pancake", "tractor", "robot", "button", "balloon"],
    "p": ["the kitchen", "the pond", "the moon", "the garden gate"],
}
_TONGUES = {
    "gospel": _HYMN,
    "tejano": _SPANISH,
    "norteno": _SPANISH,
    "latin-pop": _SPANISH,
    "kids": _CHILD,
}
_FORM = "vvcvvcvc"
"""The stanzas of a song, of four lines each: v is a verse, c the chorus."""

# Identifies a line: the song, the number of the stanza ("c" for a chorus), the line's number in it.
_LineKey = tuple[str, int | str, int]


def lyrics(track: Row) -> list[str]:
    """Return the lines of a song, or none if it has no words; empty lines separate stanzas."""
    if track["genre"] in WORDLESS:
        return []
    tongue = _TONGUES.get(track["genre"], _PLAIN)
    song = track["origin"] or track["key"]
    title = track["title"].partition(" (")[0].partition(" - ")[0]
    text: list[str] = []
    for stanza, kind in enumerate(_FORM):
        lines = tongue["verse" if kind == "v" else "chorus"]
        used = set[int]()
        for number in range(4):
            key = (song, stanza if kind == "v" else kind, number)
            choice = _unused_line(key, len(lines), used)
            used.add(choice)
            something = _word(tongue, "n", key)
            somewhere = _word(tongue, "p", key)
            text.append(lines[choice].format(n=something, p=somewhere, t=title))
        text.append("")
    return text[:-1]


def _unused_line(key: _LineKey, count: int, used: set[int]) -> int:
    """Return an index below `count` that the stanza has not used yet."""
    # A key always gives the same sequence of attempts, so a song never changes.
    for attempt in range(99):
        choice = int(share("line", key, attempt) * count)
        if choice not in used:
            return choice
    raise ValueError(f"no line is left for {key}")


def _word(tongue: dict[str, list[str]], kind: str, key: _LineKey) -> str:
    words = tongue[kind]
    return words[int(share(kind, key) * len(words))]


def synced(track: Row, lines: list[str]) -> list[Json]:
    """Return the lines with the millisecond at which each is sung.

    After an intro, the lines are spread evenly until shortly before the end.
    """
    intro = round(track["ms"] * (0.04 + 0.06 * share("intro", track["key"])))
    each = (track["ms"] * 0.95 - intro) / max(1, len(lines))
    return [
        {"start_ms": round(intro + number * each), "text": text}
        for number, text in enumerate(lines)
        if text
    ]


def singable(track: Row) -> bool:
    """Return whether a song's vocals can be turned down.

    It must have words and a multitrack recording, which live and early recordings do not have.
    """
    return (
        track["genre"] not in WORDLESS
        and track["version"] != "live"
        and track["released"] >= "1985"
    )
