"""What Spotify and Apple Music share: the catalogue, its search, and libraries.

Labels deliver the same recordings to both providers. A recording has one row, with one id for each
provider that carries it. Its popularity, ISRC and play count are computed from that row.
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

from servers.kit import search
from servers.kit.listing import Listing
from servers.kit.noise import draws, share
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Row

# -- tables ---------------------------------------------------------------------------------------
SHARED = {
    # `also` is a second genre. A provider's id is null if it does not carry the artist.
    "music_artists": Table(
        "id:str name:str genre:str also:str? followers:int spotify_id:str? apple_id:str?",
        search=("name",),
        index=("spotify_id", "apple_id"),
        catalogue=True,
    ),
    # `withdrawn` is the day on which the label removed the album from Spotify.
    "music_albums": Table(
        "id:str title:str artist_id:str credit:str kind:str released:str withdrawn:str? "
        "spotify_id:str? apple_id:str?",
        search=("title", "credit"),
        weights=(4, 3),
        index=("artist_id", "spotify_id", "apple_id"),
        catalogue=True,
    ),
    # `origin` is the track that this one repeats, and `version` says how: same (the same
    # recording), live, remastered, acoustic, clean or cover.
    "music_tracks": Table(
        "id:str title:str credit:str album_id:str guest_id:str? number:int ms:int explicit:bool "
        "version:str? origin:str? spotify_id:str? apple_id:str?",
        search=("title", "credit"),
        weights=(4, 3),
        index=("album_id", "guest_id", "spotify_id", "apple_id"),
        catalogue=True,
    ),
}
LIBRARY = Table(
    "item_id:str/matter kind:str/matter added_at:str/stamp",
    index=("kind, added_at",),
    noun="the {kind} {item_id} in the library",
)

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
        description="Words from the title or artist; all of them must match. "
        "Use quotes for an exact phrase.",
    ),
]
TrackId = Annotated[str, Field(description="track_id of a song, from a search or a list.")]
TrackIds = Annotated[
    list[str],
    Field(
        min_length=1, max_length=50, description="track_ids of 1 to 50 songs, in the desired order."
    ),
]
AlbumId = Annotated[str, Field(description="album_id, from a search or a track.")]
AlbumIds = Annotated[
    list[str], Field(min_length=1, max_length=20, description="album_ids of 1 to 20 albums.")
]
ArtistId = Annotated[str, Field(description="artist_id, from a search or a track.")]
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
    int, Field(ge=0, le=1000, description="Index of the track to start with, counting from 0.")
]


# -- looking up -----------------------------------------------------------------------------------
# Names for the columns that the query in `tracks` selects, in its order.
_COLUMNS = (
    "id", "key", "title", "credit", "number", "ms", "explicit", "version", "origin",
    "artist", "artist_id", "followers", "genre", "also", "guest", "guest_id",
    "album", "album_id", "kind", "released", "withdrawn", "album_key",
)  # fmt: skip


@dataclass(frozen=True)
class Words:
    """What a provider calls things: its id column in the catalogue, its tables, tools and codes."""

    column: str
    tables: str
    search_tracks: str
    search_albums: str
    search_artists: str
    unavailable: str
    leaves: bool = False
    """Return whether withdrawn albums disappear from this provider."""


def tracks(
    svc: Service, words: Words, where: str = "1", *params: Any, order: str = ""
) -> list[dict[str, Any]]:
    """Return tracks that the provider carries, with their artist, guest and album.

    All ids are the provider's. `where` may refer to t (track), b (album), a (artist), g (guest).
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
    """Return the tracks with these ids, by id; ids that the provider does not know are left out."""
    wanted = list(dict.fromkeys(ids))
    marks = ",".join("?" * len(wanted))
    return {t["id"]: t for t in tracks(svc, words, f"t.{words.column} IN ({marks})", *wanted)}


def find_tracks(svc: Service, words: Words, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Return the tracks with these ids in the same order; fail if any of them does not exist."""
    known = by_ids(svc, words, ids)
    unknown = [i for i in ids if i not in known]
    if unknown:
        if len(unknown) == 1:
            message = f"There is no track with the ID {unknown[0]!r}."
        else:
            message = f"There are no tracks with the IDs {', '.join(map(repr, unknown[:5]))}."
        hint = (
            f"Use track_ids from {words.search_tracks}; IDs from other services do not work here."
        )
        svc.fail("TRACK_NOT_FOUND", message, hint, track_ids=unknown)
    return [known[i] for i in ids]


def find_track(svc: Service, words: Words, track_id: str) -> dict[str, Any]:
    """Return a track; fail if it does not exist."""
    return find_tracks(svc, words, [track_id])[0]


def to_play(svc: Service, words: Words, track_id: str) -> dict[str, Any]:
    """Return a track that can be played now; fail if it cannot."""
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


def playable(svc: Service, words: Words, track: Row) -> bool:
    """Return whether a track or album is out and the provider still has it."""
    today = svc.time[:10]
    if track["released"] > today:
        return False
    if not words.leaves or track["withdrawn"] is None:
        return True
    return track["withdrawn"] > today


def find_album(svc: Service, words: Words, album_id: str) -> Row:
    """Return an album's row; fail if it does not exist."""
    albums = svc.db.rows("music_albums", f"{words.column}=?", album_id)
    if not albums:
        message = f"There is no album with the ID {album_id!r}."
        hint = f"Use an album_id from {words.search_albums}."
        svc.fail("ALBUM_NOT_FOUND", message, hint, album_id=album_id)
    return albums[0]


def find_artist(svc: Service, words: Words, artist_id: str) -> Row:
    """Return an artist's row; fail if it does not exist."""
    artists = svc.db.rows("music_artists", f"{words.column}=?", artist_id)
    if not artists:
        message = f"There is no artist with the ID {artist_id!r}."
        hint = f"Use an artist_id from {words.search_artists}."
        svc.fail("ARTIST_NOT_FOUND", message, hint, artist_id=artist_id)
    return artists[0]


def album_tracks(svc: Service, words: Words, album: Row) -> list[dict[str, Any]]:
    """Return an album's tracks in order."""
    return tracks(svc, words, "t.album_id=?", album["id"], order="t.number")


def artist_tracks(svc: Service, words: Words, artist: Row) -> list[dict[str, Any]]:
    """Return an artist's playable tracks, guest appearances included, most popular first.

    Each recording appears once, as its first release.
    """
    rows = tracks(svc, words, "b.artist_id=?1 OR t.guest_id=?1", artist["id"])
    first_releases = [t for t in rows if t["version"] != "same"]
    return by_popularity(t for t in first_releases if t["playable"])


def by_popularity(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return tracks sorted by popularity, the most popular first."""
    return sorted(rows, key=lambda t: (-t["popularity"], t["key"]))


def genre_tracks(svc: Service, words: Words, genres: Sequence[str]) -> list[dict[str, Any]]:
    """Return the playable first releases in some genres, most popular first."""
    marks = ",".join("?" * len(genres))
    rows = tracks(svc, words, f"a.genre IN ({marks})", *genres)
    first_releases = [t for t in rows if t["version"] in (None, "cover")]
    return by_popularity(t for t in first_releases if t["playable"])


# -- search ---------------------------------------------------------------------------------------
ALIKE = 0.15
"""Recordings whose scores differ by less than this share of the best one come by popularity."""


def search_tracks(svc: Service, words: Words, query: str) -> list[dict[str, Any]]:
    """Return playable tracks that match words by title and artist.

    Exact titles come first, then what matches more words, then the more popular tracks.
    """
    totals = _scores(svc, words, "music_tracks", query)
    ids = {r[words.column]: r["id"] for r in _carried(svc, words, "music_tracks", totals)}
    found = by_ids(svc, words, list(ids)).items()
    rows = [track | {"scored": ids[own]} for own, track in found if track["playable"]]
    rows.sort(key=lambda t: (-t["popularity"], t["key"]))
    ranked = search.in_order(rows, totals, "scored", ALIKE)
    return search.best_named(ranked, query, "title")


def search_albums(svc: Service, words: Words, query: str) -> list[dict[str, Any]]:
    """Return the rows of albums that match words by title and artist.

    Exact titles come first, then what matches more words, then albums by better-known artists.
    Announced albums are included, withdrawn ones are not.
    """
    followers = {a["id"]: a["followers"] for a in svc.db.rows("music_artists")}
    today = svc.time[:10]

    def listed(album: Row) -> bool:
        return playable(svc, words, album) or album["released"] > today

    def rank(album: Row) -> tuple[int, str, str]:
        return -followers[album["artist_id"]], album["released"], album["id"]

    totals = _scores(svc, words, "music_albums", query)
    rows = sorted(filter(listed, _carried(svc, words, "music_albums", totals)), key=rank)
    return search.best_named(search.in_order(rows, totals, grain=ALIKE), query, "title")


def search_artists(svc: Service, words: Words, query: str) -> list[dict[str, Any]]:
    """Return artist rows whose name matches words: exact names, best matches, the best known."""
    totals = _scores(svc, words, "music_artists", query)
    rows = _carried(svc, words, "music_artists", totals)
    rows.sort(key=lambda r: (-r["followers"], r["id"]))
    return search.best_named(search.in_order(rows, totals, grain=ALIKE), query, "name")


def _scores(svc: Service, words: Words, table: str, query: str) -> search.Scores:
    """Return how well what the provider carries matches a query."""
    return search.scores(svc.db, query, search.Source(table, f"{words.column} IS NOT NULL"))


def _carried(svc: Service, words: Words, table: str, totals: search.Scores) -> list[Row]:
    """Return the rows with a score that the provider carries."""
    rows = svc.db.rows(table, f"{words.column} IS NOT NULL")
    return [row for row in rows if row["id"] in totals]


def exact(query: str, text: str) -> bool:
    """Return whether a query equals a text, ignoring case and punctuation."""
    return re.findall(r"\w+", query.casefold()) == re.findall(r"\w+", text.casefold())


# -- computed from a row --------------------------------------------------------------------------
def fame(followers: int) -> int:
    """Return an artist's popularity, 0 to 100."""
    return max(1, min(99, round(15 * math.log10(max(followers, 10))) - 5))


def popularity(track: Row) -> int:
    """Return a track's popularity, 0 to 100, from its artist's; later versions have less."""
    return _popularity(track["followers"], track["key"], track["version"])


# The share of a song's popularity that a version gets; all others get _LATER_VERSION.
_VERSIONS: dict[str | None, float] = {None: 1.0, "cover": 0.8, "same": 0.7}
_LATER_VERSION = 0.55


@cache
def _popularity(followers: int, key: str, version: str | None) -> int:
    first_release = fame(followers) * (0.6 + 0.4 * share("fame", key))
    return max(1, round(first_release * _VERSIONS.get(version, _LATER_VERSION)))


def play_count(svc: Service, track: Row) -> int:
    """Return how often everyone has played a track so far; it grows every day."""
    today = date.fromisoformat(svc.time[:10])
    counted_from = date.fromisoformat(max(track["released"], "2010-01-01"))
    days = max(0, (today - counted_from).days)
    daily_share = 0.002 + 0.02 * share("plays", track["key"]) ** 3
    daily = round(track["followers"] * daily_share * track["popularity"] / 100)
    return days * max(1, daily)


def isrc(track: Row) -> str:
    """Return a recording's ISRC, which both providers and all its releases share."""
    key = track["origin"] if track["version"] == "same" else track["key"]
    sizes = (20, 26, 100_000)
    # A draw is a number from -1 to 1.
    parts = [
        int((draw + 1) / 2 * size) for draw, size in zip(draws("isrc", key), sizes, strict=False)
    ]
    registrant, year, number = parts
    return f"QZ{'ABCDEFGHJKLMNPRSTVWX'[registrant]}HW{year:02d}{number:05d}"


def genres(row: Row) -> list[str]:
    """Return the genres of an artist or track, the main one first."""
    return [g for g in (row["genre"], row["also"]) if g]


# -- libraries ------------------------------------------------------------------------------------
def library(svc: Service, words: Words, kind: str) -> Listing:
    """Return the list of the library's rows of a kind, newest first."""
    return Listing(svc.db, f"{words.tables}_library", "added_at").only("kind=?", kind)


def has(svc: Service, words: Words, item_id: str) -> bool:
    """Return whether an item is in the library."""
    return svc.db.get(f"{words.tables}_library", item_id) is not None


def keep(svc: Service, words: Words, kind: str, ids: Iterable[str]) -> tuple[list[str], list[str]]:
    """Add items to the library; return the new ones and those that were already there."""
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
    """Remove items from the library; return those that were there and those that were not."""
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
