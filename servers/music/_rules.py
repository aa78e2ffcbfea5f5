"""What Spotify and Apple Music share.

The recordings that labels deliver to both, how they are looked up and searched, and libraries. A
recording has one row and an id of each provider that carries it. Popularity, ISRC and counts of
plays follow from the row.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from servers.kit.noise import draws, share
from servers.kit.service import Service
from servers.kit.store import Table

# -- tables ---------------------------------------------------------------------------------------
SHARED = {
    # `also` is a second genre; null ids: the provider does not carry it.
    "music_artists": Table(
        "id:str name:str genre:str also:str? followers:int spotify_id:str? apple_id:str?",
        search=("name",),
        index=("spotify_id", "apple_id"),
    ),
    # `withdrawn`: the day on which the label took it off Spotify.
    "music_albums": Table(
        "id:str title:str artist_id:str credit:str kind:str released:str withdrawn:str? "
        "spotify_id:str? apple_id:str?",
        search=("title", "credit"),
        index=("artist_id", "spotify_id", "apple_id"),
    ),
    # `origin` is the track whose song this is again, as `version`: same (the same recording), live,
    # remastered, acoustic, clean, cover.
    "music_tracks": Table(
        "id:str title:str credit:str album_id:str guest_id:str? number:int ms:int explicit:bool "
        "version:str? origin:str? spotify_id:str? apple_id:str?",
        search=("title", "credit"),
        index=("album_id", "guest_id", "spotify_id", "apple_id"),
    ),
}
LIBRARY = Table("item_id:str kind:str added_at:str", index=("kind",))

# -- genres and arguments -------------------------------------------------------------------------
Genre = Literal[
    "ambient", "big-band", "classical", "country", "electronic", "folk", "gospel", "hip-hop",
    "indie", "jazz", "kids", "latin-pop", "lo-fi", "norteno", "rock", "soul", "tejano",
]  # fmt: skip
GENRES: tuple[str, ...] = get_args(Genre)
WORDLESS = frozenset({"ambient", "classical", "lo-fi"})

Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        description="Words of the title or artist; all must occur. Quotes keep words together.",
    ),
]
TrackId = Annotated[str, Field(description="track_id of a song, from search or a list.")]
TrackIds = Annotated[
    list[str],
    Field(
        min_length=1, max_length=50, description="track_ids of 1 to 50 songs, in the order wanted."
    ),
]
AlbumId = Annotated[str, Field(description="album_id, from search or a track.")]
AlbumIds = Annotated[
    list[str], Field(min_length=1, max_length=20, description="album_ids of 1 to 20 albums.")
]
ArtistId = Annotated[str, Field(description="artist_id, from search or a track.")]
PlaylistId = Annotated[str, Field(description="playlist_id, from the list of playlists.")]
PlaylistName = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        pattern=r"\S",
        description="Name of the playlist, up to 100 characters.",
    ),
]
PlaylistText = Annotated[
    str, Field(max_length=300, description="Description, up to 300 characters.")
]
PositionMs = Annotated[
    int, Field(ge=0, le=36_000_000, description="Position in the track, in milliseconds.")
]
Offset = Annotated[
    int, Field(ge=0, le=1000, description="Which track to begin with, counted from 0.")
]


# -- looking up -----------------------------------------------------------------------------------
# The names of a track's values, in the order of the query in `tracks`.
_COLUMNS = (
    "id", "key", "title", "credit", "number", "ms", "explicit", "version", "origin",
    "artist", "artist_id", "followers", "genre", "also", "guest", "guest_id",
    "album", "album_id", "kind", "released", "withdrawn", "album_key",
)  # fmt: skip


@dataclass(frozen=True)
class Words:
    """A provider's names: its id column in the catalogue, its tables, its tools and codes."""

    column: str
    tables: str
    search_tracks: str
    search_albums: str
    search_artists: str
    unavailable: str
    leaves: bool = False
    """Whether `withdrawn` albums are gone from this provider."""


def tracks(
    svc: Service, words: Words, where: str = "1", *params: Any, order: str = ""
) -> list[dict[str, Any]]:
    """Return tracks that the provider carries, with their artist, guest and album.

    All have the provider's ids. `where` may use t (track), b (album), a (artist) and g (guest).
    """
    col = words.column
    sql = (
        f"SELECT t.{col}, t.id, t.title, t.credit, t.number, t.ms, t.explicit, t.version, "
        f"t.origin, a.name, a.{col}, a.followers, a.genre, a.also, g.name, g.{col}, "
        f"b.title, b.{col}, b.kind, b.released, b.withdrawn, b.id "
        "FROM music_tracks t JOIN music_albums b ON b.id=t.album_id "
        "JOIN music_artists a ON a.id=b.artist_id LEFT JOIN music_artists g ON g.id=t.guest_id "
        f"WHERE t.{col} IS NOT NULL AND ({where}) ORDER BY {order or 't.id'}"
    )
    rows = []
    for values in svc.db.sql(sql, *params):
        row = dict(zip(_COLUMNS, values, strict=True))
        row["explicit"] = bool(row["explicit"])
        row["popularity"] = popularity(row)
        row["playable"] = playable(svc, words, row)
        rows.append(row)
    return rows


def by_ids(svc: Service, words: Words, ids: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return tracks by their ids; those that the provider does not know are left out."""
    wanted = list(dict.fromkeys(ids))
    marks = ",".join("?" * len(wanted))
    return {t["id"]: t for t in tracks(svc, words, f"t.{words.column} IN ({marks})", *wanted)}


def find_tracks(svc: Service, words: Words, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Return the tracks of ids in their order, or refuse, naming those that do not exist."""
    known = by_ids(svc, words, ids)
    unknown = [i for i in ids if i not in known]
    if unknown:
        if len(unknown) == 1:
            message = f"There is no track {unknown[0]!r}."
        else:
            message = f"There are no tracks {', '.join(map(repr, unknown[:5]))}."
        hint = f"Take track_ids from {words.search_tracks}; ids of other services do not work here."
        svc.fail("TRACK_NOT_FOUND", message, hint, track_ids=unknown)
    return [known[i] for i in ids]


def find_track(svc: Service, words: Words, track_id: str) -> dict[str, Any]:
    """Return a track, or refuse."""
    return find_tracks(svc, words, [track_id])[0]


def to_play(svc: Service, words: Words, track_id: str) -> dict[str, Any]:
    """Return a track that can be played now, or refuse."""
    track = find_track(svc, words, track_id)
    if not track["playable"]:
        if track["released"] <= svc.time[:10]:
            message = f"{track['title']!r} was withdrawn on {track['withdrawn']}."
        else:
            message = f"{track['title']!r} comes out on {track['released']}."
        hint = f"Look for another recording with {words.search_tracks}."
        released = track["released"]
        svc.fail(words.unavailable, message, hint, track_id=track_id, released=released)
    return track


def playable(svc: Service, words: Words, track: dict[str, Any]) -> bool:
    """Whether a track (or album) is out and still with the provider."""
    today = svc.time[:10]
    if track["released"] > today:
        return False
    if not words.leaves or track["withdrawn"] is None:
        return True
    return track["withdrawn"] > today


def find_album(svc: Service, words: Words, album_id: str) -> dict[str, Any]:
    """Return an album's row, or refuse."""
    albums = svc.db.rows("music_albums", f"{words.column}=?", album_id)
    if not albums:
        svc.fail(
            "ALBUM_NOT_FOUND",
            f"There is no album {album_id!r}.",
            f"Take an album_id from {words.search_albums}.",
            album_id=album_id,
        )
    return albums[0]


def find_artist(svc: Service, words: Words, artist_id: str) -> dict[str, Any]:
    """Return an artist's row, or refuse."""
    artists = svc.db.rows("music_artists", f"{words.column}=?", artist_id)
    if not artists:
        svc.fail(
            "ARTIST_NOT_FOUND",
            f"There is no artist {artist_id!r}.",
            f"Take an artist_id from {words.search_artists}.",
            artist_id=artist_id,
        )
    return artists[0]


def album_tracks(svc: Service, words: Words, album: dict[str, Any]) -> list[dict[str, Any]]:
    """Return an album's tracks in order."""
    return tracks(svc, words, "t.album_id=?", album["id"], order="t.number")


def artist_tracks(svc: Service, words: Words, artist: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the playable tracks of an artist, guest parts included, most popular first.

    Of one recording only the first release is among them.
    """
    rows = tracks(svc, words, "b.artist_id=?1 OR t.guest_id=?1", artist["id"])
    first_releases = [t for t in rows if t["version"] != "same"]
    return by_popularity(t for t in first_releases if t["playable"])


def by_popularity(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return tracks, most popular first."""
    return sorted(rows, key=lambda t: (-t["popularity"], t["key"]))


def genre_tracks(svc: Service, words: Words, genres: Sequence[str]) -> list[dict[str, Any]]:
    """Return playable first releases of some genres, most popular first."""
    marks = ",".join("?" * len(genres))
    rows = tracks(svc, words, f"a.genre IN ({marks})", *genres)
    first_releases = [t for t in rows if t["version"] in (None, "cover")]
    return by_popularity(t for t in first_releases if t["playable"])


# -- search ---------------------------------------------------------------------------------------
_SMALL_WORDS = re.compile(
    r"\b(by|the|a|an|from|feat|ft|song|album|track|and)\b", flags=re.IGNORECASE
)


def search(svc: Service, table: str, query: str) -> list[dict[str, Any]]:
    """Return catalogue rows that hold every word, best first.

    Small words count only while they leave something found.
    """
    rows = svc.db.search(table, query)
    if rows:
        return rows
    spare = _SMALL_WORDS.sub(" ", query)
    return svc.db.search(table, spare) if spare != query else []


def _search_carried(svc: Service, words: Words, table: str, query: str) -> list[dict[str, Any]]:
    """Return the rows of a search that the provider carries."""
    return [r for r in search(svc, table, query) if r[words.column] is not None]


def search_tracks(svc: Service, words: Words, query: str) -> list[dict[str, Any]]:
    """Return playable tracks whose title and artist hold every word.

    Exact titles come first, then it goes by popularity.
    """
    ids = [r[words.column] for r in _search_carried(svc, words, "music_tracks", query)]
    rows = [t for t in by_ids(svc, words, ids).values() if t["playable"]]
    return sorted(rows, key=lambda t: (not exact(query, t["title"]), -t["popularity"], t["key"]))


def search_albums(svc: Service, words: Words, query: str) -> list[dict[str, Any]]:
    """Return rows of albums whose title and artist hold every word.

    Exact titles come first, then those of better known artists. Albums that are announced are
    among them, those that were withdrawn are not.
    """
    followers = {a["id"]: a["followers"] for a in svc.db.rows("music_artists")}
    today = svc.time[:10]

    def listed(album: dict[str, Any]) -> bool:
        return playable(svc, words, album) or album["released"] > today

    def rank(album: dict[str, Any]) -> tuple[bool, int, str, str]:
        inexact = not exact(query, album["title"])
        return inexact, -followers[album["artist_id"]], album["released"], album["id"]

    rows = _search_carried(svc, words, "music_albums", query)
    return sorted(filter(listed, rows), key=rank)


def search_artists(svc: Service, words: Words, query: str) -> list[dict[str, Any]]:
    """Return rows of artists whose name holds every word: exact names, then the better known."""
    rows = _search_carried(svc, words, "music_artists", query)
    return sorted(rows, key=lambda r: (not exact(query, r["name"]), -r["followers"], r["id"]))


def exact(query: str, text: str) -> bool:
    """Whether a query is the whole text, whatever its case and punctuation."""
    return re.findall(r"\w+", query.casefold()) == re.findall(r"\w+", text.casefold())


# -- what follows from a row ----------------------------------------------------------------------
def fame(followers: int) -> int:
    """Return an artist's popularity, 0 to 100."""
    return max(1, min(99, round(15 * math.log10(max(followers, 10))) - 5))


def popularity(track: dict[str, Any]) -> int:
    """Return a track's popularity, 0 to 100: its artist's, less when not the first release."""
    return _popularity(track["followers"], track["key"], track["version"])


# What part of a recording's popularity each version of it has; every other has _LATER_VERSION.
_VERSIONS: dict[str | None, float] = {None: 1.0, "cover": 0.8, "same": 0.7}
_LATER_VERSION = 0.55


@cache
def _popularity(followers: int, key: str, version: str | None) -> int:
    first_release = fame(followers) * (0.6 + 0.4 * share("fame", key))
    return max(1, round(first_release * _VERSIONS.get(version, _LATER_VERSION)))


def play_count(svc: Service, track: dict[str, Any]) -> int:
    """Return how often a track was played by everybody until now; it grows from day to day."""
    today = date.fromisoformat(svc.time[:10])
    counted_from = date.fromisoformat(max(track["released"], "2010-01-01"))
    days = max(0, (today - counted_from).days)
    daily_share = 0.002 + 0.02 * share("plays", track["key"]) ** 3
    daily = round(track["followers"] * daily_share * track["popularity"] / 100)
    return days * max(1, daily)


def isrc(track: dict[str, Any]) -> str:
    """Return the recording's ISRC, the same with both providers and on every release of it."""
    key = track["origin"] if track["version"] == "same" else track["key"]
    sizes = (20, 26, 100_000)
    # A draw is a number from -1 to 1.
    parts = [
        int((draw + 1) / 2 * size) for draw, size in zip(draws("isrc", key), sizes, strict=False)
    ]
    registrant, year, number = parts
    return f"QZ{'ABCDEFGHJKLMNPRSTVWX'[registrant]}HW{year:02d}{number:05d}"


def genres(row: dict[str, Any]) -> list[str]:
    """Return the genres of an artist or track, main one first."""
    return [g for g in (row["genre"], row["also"]) if g]


# -- libraries ------------------------------------------------------------------------------------
def library(svc: Service, words: Words, kind: str) -> list[dict[str, Any]]:
    """Return library rows of a kind, newest first."""
    return svc.db.rows(f"{words.tables}_library", "kind=?", kind, order="added_at DESC, rowid DESC")


def has(svc: Service, words: Words, item_id: str) -> bool:
    """Whether an item is in the library."""
    return svc.db.get(f"{words.tables}_library", item_id) is not None


def keep(svc: Service, words: Words, kind: str, ids: Iterable[str]) -> tuple[list[str], list[str]]:
    """Put items into the library; return those that were new and those that were there."""
    new = []
    old = []
    for item_id in dict.fromkeys(ids):
        if has(svc, words, item_id):
            old.append(item_id)
        else:
            row = {"item_id": item_id, "kind": kind, "added_at": svc.time}
            svc.db.insert(f"{words.tables}_library", row)
            new.append(item_id)
    return new, old


def drop(svc: Service, words: Words, ids: Iterable[str]) -> tuple[list[str], list[str]]:
    """Take items out of the library; return those that were there and those that were not."""
    there = []
    missing = []
    for item_id in dict.fromkeys(ids):
        if has(svc, words, item_id):
            svc.db.delete(f"{words.tables}_library", item_id)
            there.append(item_id)
        else:
            missing.append(item_id)
    return there, missing


def count(svc: Service, words: Words, kind: str) -> int:
    """Return how many items of a kind the library holds."""
    return svc.db.sql(f"SELECT count(*) FROM {words.tables}_library WHERE kind=?", kind)[0][0]
