"""What Spotify and Apple Music share: the recordings that labels deliver to both, how they are looked up and searched, and libraries.

A recording has one row and an id of each provider that carries it. Popularity, ISRC and counts of plays follow from the row.
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

SHARED = {
    # `also` is a second genre; null ids: the provider does not carry it.
    "music_artists": Table(
        "id:str name:str genre:str also:str? followers:int spotify_id:str? apple_id:str?",
        search=("name",),
        index=("spotify_id", "apple_id"),
    ),
    # `withdrawn`: the day on which the label took it off Spotify.
    "music_albums": Table(
        "id:str title:str artist_id:str credit:str kind:str released:str withdrawn:str? spotify_id:str? apple_id:str?",
        search=("title", "credit"),
        index=("artist_id", "spotify_id", "apple_id"),
    ),
    # `origin` is the track whose song this is again, as `version`: same (the same recording), live, remastered, acoustic, clean, cover.
    "music_tracks": Table(
        "id:str title:str credit:str album_id:str guest_id:str? number:int ms:int explicit:bool version:str? origin:str? "
        "spotify_id:str? apple_id:str?",
        search=("title", "credit"),
        index=("album_id", "guest_id", "spotify_id", "apple_id"),
    ),
}
LIBRARY = Table("item_id:str kind:str added_at:str", index=("kind",))

Genre = Literal[
    "ambient", "big-band", "classical", "country", "electronic", "folk", "gospel", "hip-hop", "indie", "jazz", "kids", "latin-pop", "lo-fi",
    "norteno", "rock", "soul", "tejano",
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

_COLUMNS = (
    "id", "key", "title", "credit", "number", "ms", "explicit", "version", "origin", "artist", "artist_id", "followers", "genre", "also",
    "guest", "guest_id", "album", "album_id", "kind", "released", "withdrawn", "album_key",
)  # fmt: skip


@dataclass(frozen=True)
class Words:
    """A provider's names: its id column in the catalogue, its tables, and the tools and codes that refusals speak of."""

    column: str
    tables: str
    search_tracks: str
    search_albums: str
    search_artists: str
    unavailable: str
    leaves: bool = False
    """Whether `withdrawn` albums are gone from this provider."""


# -- looking up ---------------------------------------------------------------------------------------------------
def tracks(
    svc: Service, words: Words, where: str = "1", *params: Any, order: str = ""
) -> list[dict[str, Any]]:
    """Return tracks that the provider carries, with their artist, guest and album by the provider's ids; `where` may use t, b, a, g."""
    col = words.column
    sql = (
        f"SELECT t.{col}, t.id, t.title, t.credit, t.number, t.ms, t.explicit, t.version, t.origin, a.name, a.{col}, a.followers, a.genre, "
        f"a.also, g.name, g.{col}, b.title, b.{col}, b.kind, b.released, b.withdrawn, b.id FROM music_tracks t "
        f"JOIN music_albums b ON b.id=t.album_id JOIN music_artists a ON a.id=b.artist_id LEFT JOIN music_artists g ON g.id=t.guest_id "
        f"WHERE t.{col} IS NOT NULL AND ({where}) ORDER BY {order or 't.id'}"
    )
    found = []
    for values in svc.db.sql(sql, *params):
        row = dict(zip(_COLUMNS, values, strict=True))
        row["explicit"] = bool(row["explicit"])
        row["popularity"] = popularity(row)
        row["playable"] = playable(svc, words, row)
        found.append(row)
    return found


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
        what = (
            f"There is no track {unknown[0]!r}."
            if len(unknown) == 1
            else f"There are no tracks {', '.join(map(repr, unknown[:5]))}."
        )
        svc.fail(
            "TRACK_NOT_FOUND",
            what,
            f"Take track_ids from {words.search_tracks}; ids of other services do not work here.",
            track_ids=unknown,
        )
    return [known[i] for i in ids]


def find_track(svc: Service, words: Words, track_id: str) -> dict[str, Any]:
    """Return a track, or refuse."""
    return find_tracks(svc, words, [track_id])[0]


def to_play(svc: Service, words: Words, track_id: str) -> dict[str, Any]:
    """Return a track that can be played now, or refuse."""
    track = find_track(svc, words, track_id)
    if not track["playable"]:
        gone = track["released"] <= svc.time[:10]
        why = (
            f"was withdrawn on {track['withdrawn']}"
            if gone
            else f"comes out on {track['released']}"
        )
        hint = f"Look for another recording with {words.search_tracks}."
        svc.fail(
            words.unavailable,
            f"{track['title']!r} {why}.",
            hint,
            track_id=track_id,
            released=track["released"],
        )
    return track


def playable(svc: Service, words: Words, track: dict[str, Any]) -> bool:
    """Whether a track (or album) is out and still with the provider."""
    today = svc.time[:10]
    return track["released"] <= today and not (
        words.leaves and track["withdrawn"] is not None and track["withdrawn"] <= today
    )


def find_album(svc: Service, words: Words, album_id: str) -> dict[str, Any]:
    """Return an album's row, or refuse."""
    found = svc.db.rows("music_albums", f"{words.column}=?", album_id)
    if not found:
        svc.fail(
            "ALBUM_NOT_FOUND",
            f"There is no album {album_id!r}.",
            f"Take an album_id from {words.search_albums}.",
            album_id=album_id,
        )
    return found[0]


def find_artist(svc: Service, words: Words, artist_id: str) -> dict[str, Any]:
    """Return an artist's row, or refuse."""
    found = svc.db.rows("music_artists", f"{words.column}=?", artist_id)
    if not found:
        svc.fail(
            "ARTIST_NOT_FOUND",
            f"There is no artist {artist_id!r}.",
            f"Take an artist_id from {words.search_artists}.",
            artist_id=artist_id,
        )
    return found[0]


def album_tracks(svc: Service, words: Words, album: dict[str, Any]) -> list[dict[str, Any]]:
    """Return an album's tracks in order."""
    return tracks(svc, words, "t.album_id=?", album["id"], order="t.number")


def artist_tracks(svc: Service, words: Words, artist: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the tracks of an artist, guest parts included, most popular first; of one recording only the first release."""
    found = tracks(svc, words, "b.artist_id=?1 OR t.guest_id=?1", artist["id"])
    return by_popularity(t for t in found if t["version"] != "same" and t["playable"])


def by_popularity(found: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return tracks, most popular first."""
    return sorted(found, key=lambda t: (-t["popularity"], t["key"]))


def genre_tracks(svc: Service, words: Words, genres: Sequence[str]) -> list[dict[str, Any]]:
    """Return playable first releases of some genres, most popular first."""
    marks = ",".join("?" * len(genres))
    found = tracks(svc, words, f"a.genre IN ({marks})", *genres)
    return by_popularity(t for t in found if t["playable"] and t["version"] in (None, "cover"))


# -- search -------------------------------------------------------------------------------------------------------
def search(svc: Service, table: str, query: str) -> list[dict[str, Any]]:
    """Return catalogue rows that hold every word, best first. Small words count only while they leave something found."""
    found = svc.db.search(table, query)
    if not found:
        spare = re.sub(
            r"\b(by|the|a|an|from|feat|ft|song|album|track|and)\b", " ", query, flags=re.IGNORECASE
        )
        found = svc.db.search(table, spare) if spare != query else []
    return found


def search_tracks(svc: Service, words: Words, query: str) -> list[dict[str, Any]]:
    """Return playable tracks whose title and artist hold every word: exact titles first, then by popularity."""
    keys = [
        r[words.column] for r in search(svc, "music_tracks", query) if r[words.column] is not None
    ]
    found = [t for t in by_ids(svc, words, keys).values() if t["playable"]]
    return sorted(found, key=lambda t: (not exact(query, t["title"]), -t["popularity"], t["key"]))


def search_albums(svc: Service, words: Words, query: str) -> list[dict[str, Any]]:
    """Return rows of albums whose title and artist hold every word: exact titles first, then those of better known artists."""
    fame = {a["id"]: a["followers"] for a in svc.db.rows("music_artists")}
    gone = [r for r in search(svc, "music_albums", query) if r[words.column] is not None]
    kept = [r for r in gone if playable(svc, words, r) or r["released"] > svc.time[:10]]
    return sorted(
        kept,
        key=lambda r: (not exact(query, r["title"]), -fame[r["artist_id"]], r["released"], r["id"]),
    )


def search_artists(svc: Service, words: Words, query: str) -> list[dict[str, Any]]:
    """Return rows of artists whose name holds every word: exact names first, then the better known."""
    found = [r for r in search(svc, "music_artists", query) if r[words.column] is not None]
    return sorted(found, key=lambda r: (not exact(query, r["name"]), -r["followers"], r["id"]))


def exact(query: str, text: str) -> bool:
    """Whether a query is the whole text, whatever its case and punctuation."""
    return re.findall(r"\w+", query.casefold()) == re.findall(r"\w+", text.casefold())


# -- what follows from a row ----------------------------------------------------------------------------------------
def fame(followers: int) -> int:
    """Return an artist's popularity, 0 to 100."""
    return max(1, min(99, round(15 * math.log10(max(followers, 10))) - 5))


def popularity(track: dict[str, Any]) -> int:
    """Return a track's popularity, 0 to 100: its artist's, less for what is not the first release."""
    return _popularity(track["followers"], track["key"], track["version"])


@cache
def _popularity(followers: int, key: str, version: str | None) -> int:
    known = fame(followers) * (0.6 + 0.4 * share("fame", key))
    return max(1, round(known * {None: 1.0, "cover": 0.8, "same": 0.7}.get(version, 0.55)))


def play_count(svc: Service, track: dict[str, Any]) -> int:
    """Return how often a track was played by everybody until now; it grows from day to day."""
    days = (
        date.fromisoformat(svc.time[:10]) - date.fromisoformat(max(track["released"], "2010-01-01"))
    ).days
    return max(0, days) * max(
        1,
        round(
            track["followers"]
            * (0.002 + 0.02 * share("plays", track["key"]) ** 3)
            * track["popularity"]
            / 100
        ),
    )


def isrc(track: dict[str, Any]) -> str:
    """Return the recording's ISRC, the same with both providers and on every release of one recording."""
    key = track["origin"] if track["version"] == "same" else track["key"]
    registrant, year, number = (
        int((d + 1) / 2 * size)
        for d, size in zip(draws("isrc", key), (20, 26, 100_000), strict=False)
    )
    return f"QZ{'ABCDEFGHJKLMNPRSTVWX'[registrant]}HW{year:02d}{number:05d}"


def genres(row: dict[str, Any]) -> list[str]:
    """Return the genres of an artist or track, main one first."""
    return [g for g in (row["genre"], row["also"]) if g]


# -- libraries ------------------------------------------------------------------------------------------------------
def kept(svc: Service, words: Words, kind: str) -> list[dict[str, Any]]:
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
            svc.db.insert(
                f"{words.tables}_library", {"item_id": item_id, "kind": kind, "added_at": svc.time}
            )
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
