"""Apple Music's tables, argument types, and the JSON of songs, playlists and playback."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from servers.kit.noise import share
from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.values import parse_time
from servers.music import _player as player
from servers.music import _rules as rules

TABLES = {
    "apple_music_profile": Table(
        "id:str name:str email:str subscription:str until:str? storefront:str timezone:str",
        identity=True,
        catalogue=True,
    ),
    "apple_music_settings": Table(
        "id:str spatial:bool/matter", noun="the setting for spatial audio ({spatial})"
    ),
    "apple_music_library": rules.LIBRARY,
    # `curator` is null for the user's own playlists.
    "apple_music_playlists": Table(
        "id:str name:str/matter description:str/prose curator:str?/derived public:bool/matter "
        "created_at:str/stamp",
        index=("created_at",),
        noun="the playlist {name}",
    ),
    "apple_music_entries": Table(
        "id:str playlist_id:str/ref track_id:str/ref place:int/manner added_at:str/stamp",
        index=("playlist_id",),
        noun="the song {track_id} in the playlist {playlist_id}",
    ),
    "apple_music_ratings": Table(
        "track_id:str/matter rating:str/matter at:str/stamp",
        index=("rating, at",),
        noun="the rating {rating} of {track_id}",
    ),
    # `sing` is the vocal level (percent) while the song in `sing_track` plays.
    "apple_music_player": Table(
        player.PLAYER + "station_id:str?/ref sing:int?/matter sing_track:str?/ref",
        noun="the playback of {now_id}",
    ),
    "apple_music_queue": player.QUEUE,
    "apple_music_plays": player.PLAYS,
    "apple_music_stations": Table("id:str name:str description:str genres:list", catalogue=True),
    "apple_music_editorial": Table(
        "id:str title:str description:str type:str target_id:str published:str", catalogue=True
    ),
}
WORDS = rules.Words(
    column="apple_id",
    tables="apple_music",
    search_tracks="search_catalog",
    search_albums="search_catalog",
    search_artists="search_catalog",
    unavailable="CONTENT_NOT_AVAILABLE",
)
REPEAT = {"off": "off", "one": "one", "all": "all"}
Rating = Literal["love", "dislike", "none"]
Year = Annotated[
    int, Field(ge=2015, le=2100, description="Calendar year. Default: the current year.")
]


def account(svc: Service) -> Row:
    """Return the signed-in account."""
    return svc.db.rows("apple_music_profile", limit=1)[0]


def ends(svc: Service) -> int | None:
    """Return when the subscription or trial ends (epoch seconds), or None if it renews."""
    until = account(svc)["until"]
    return None if until is None else parse_time(until)


def subscribed(svc: Service) -> bool:
    """Return whether the subscription or trial is still active."""
    until = ends(svc)
    return until is None or svc.now < until


def need_subscription(svc: Service) -> None:
    """Fail once the subscription has ended."""
    if not subscribed(svc):
        message = f"Your subscription ended at {account(svc)['until']}."
        hint = (
            "You can still view the library and playlists. "
            "Only the user can renew the subscription."
        )
        svc.fail("SUBSCRIPTION_REQUIRED", message, hint)


def lengths(svc: Service, ids: Sequence[str]) -> dict[str, int]:
    """Return durations of songs in milliseconds, by id."""
    marks = ",".join("?" * len(ids))
    query = f"SELECT apple_id, ms FROM music_tracks WHERE apple_id IN ({marks})"
    return {track_id: max(1, ms) for track_id, ms in svc.db.sql(query, *ids)}


HOW_TO_START = "play_track, play_album, play_playlist or play_station"
DECK = player.Deck("apple_music", "apq", "aph", lengths, HOW_TO_START, ends)


def content_rating(track: Row) -> str | None:
    """Return explicit, clean (an edited version of an explicit song) or None."""
    if track["explicit"]:
        return "explicit"
    return "clean" if track["version"] == "clean" else None


def song_json(svc: Service, track: Row) -> Json:
    """Return a song as replies show it."""
    rating = svc.db.get("apple_music_ratings", track["id"])
    return {
        "track_id": track["id"],
        "name": track["title"],
        "artist_name": track["credit"],
        "artist_id": track["artist_id"],
        "album_name": track["album"],
        "album_id": track["album_id"],
        "track_number": track["number"],
        "duration_ms": track["ms"],
        "genre_names": rules.genres(track),
        "content_rating": content_rating(track),
        "release_date": track["released"],
        "isrc": rules.isrc(track),
        "has_lyrics": track["genre"] not in rules.WORDLESS,
        "available": track["playable"],
        "in_library": rules.has(svc, WORDS, track["id"]),
        "rating": rating["rating"] if rating else "none",
    }


def formats(track: Row) -> list[str]:
    """Return a recording's audio formats, which depend on its age and album."""
    names = ["aac-256", "lossless"]
    if share("hires", track["album_key"]) < 0.35:
        names.append("hi-res-lossless")
    if track["released"] >= "2015" and share("atmos", track["album_key"]) < 0.4:
        names.append("dolby-atmos")
    return names


def find_playlist(svc: Service, playlist_id: str) -> Row:
    """Return a playlist; fail if it does not exist."""
    row = svc.db.get("apple_music_playlists", playlist_id)
    if row is None:
        message = f"There is no playlist with the ID {playlist_id!r}."
        hint = (
            "get_library_playlists lists your playlists, get_editorial_content Apple Music's own."
        )
        svc.fail("PLAYLIST_NOT_FOUND", message, hint, playlist_id=playlist_id)
    return row


def entries(svc: Service, playlist_id: str) -> list[Row]:
    """Return a playlist's entries in order."""
    return svc.db.rows("apple_music_entries", "playlist_id=?", playlist_id, order="place, rowid")


def playlist_json(svc: Service, playlist: Row) -> Json:
    """Return a playlist as replies show it, without its songs."""
    own = playlist["curator"] is None
    query = "SELECT count(*) FROM apple_music_entries WHERE playlist_id=?"
    count = svc.db.sql(query, playlist["id"])[0][0]
    return {
        "playlist_id": playlist["id"],
        "name": playlist["name"],
        "description": playlist["description"],
        "owner_id": account(svc)["id"] if own else None,
        "curator_name": account(svc)["name"] if own else playlist["curator"],
        "is_public": playlist["public"],
        "can_edit": own,
        "track_count": count,
        "created_at": playlist["created_at"],
    }


def state_json(svc: Service, state: player.Playback) -> Json:
    """Return the playback state as replies show it."""
    row = svc.db.rows("apple_music_player", limit=1)[0]
    known = rules.by_ids(svc, WORDS, [state.current]) if state.current else {}
    song = song_json(svc, known[state.current]) if state.current in known else None
    sings_this = state.current is not None and state.current == row["sing_track"]
    singing = row["sing"] is not None and sings_this
    if song is None or state.ended:
        status = "stopped"
    else:
        status = "playing" if state.playing else "paused"
    return {
        "status": status,
        "is_playing": state.playing,
        "current_track": song,
        "position_ms": state.position if song else None,
        "station_id": row["station_id"],
        "shuffle": row["shuffle"],
        "repeat_mode": row["repeat"] if row["station_id"] is None else "off",
        "up_next_count": len(player.upcoming(state)),
        "sing_mode": singing,
        "vocal_level": row["sing"] if singing else None,
    }
