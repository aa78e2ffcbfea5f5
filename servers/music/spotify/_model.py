"""Spotify's tables, argument types, and the JSON of tracks, playlists and playback."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import Field

from servers.kit.service import Service
from servers.kit.store import Table
from servers.kit.types import Json, Row
from servers.kit.zones import local
from servers.music import _player as player
from servers.music import _rules as rules

TABLES = {
    "spotify_profile": Table(
        "id:str name:str email:str tier:str premium:bool country:str timezone:str",
        identity=True,
        catalogue=True,
    ),
    # `taste` lists genres, favorites first.
    "spotify_users": Table(
        "id:str display_name:str username:str taste:list",
        search=("display_name", "username"),
        catalogue=True,
    ),
    "spotify_library": rules.LIBRARY,
    "spotify_playlists": Table(
        "id:str name:str/matter description:str/prose owner_id:str/ref public:bool/matter "
        "collaborative:bool/matter members:list/matter created_at:str/stamp",
        index=("owner_id", "created_at"),
        noun="the playlist {name}",
    ),
    # `added_by` is null for the owner.
    "spotify_playlist_items": Table(
        "id:str playlist_id:str/ref track_id:str/ref place:int/manner added_at:str/stamp "
        "added_by:str?/derived",
        index=("playlist_id",),
        noun="the track {track_id} in the playlist {playlist_id}",
    ),
    # `hours` is always, off, or the days and local hours when it is on, such as "12345 9-17".
    "spotify_devices": Table(
        "id:str name:str/matter type:str/matter volume:int/matter adjustable:bool/matter "
        "hours:str/matter",
        noun="the device {name}",
    ),
    "spotify_player": Table(
        player.PLAYER + "device_id:str?/ref", noun="the playback of {now_id} on {device_id}"
    ),
    "spotify_queue": player.QUEUE,
    "spotify_plays": player.PLAYS,
    "spotify_shows": Table(
        "id:str name:str publisher:str about:str language:str",
        search=("name", "publisher", "about"),
        weights=(4, 2, 2),
        catalogue=True,
    ),
    "spotify_episodes": Table(
        "id:str show_id:str name:str number:int released:str ms:int",
        search=("name",),
        index=("show_id, released",),
        catalogue=True,
    ),
    "spotify_resume": Table(
        "episode_id:str/derived position_ms:int/derived at:str/derived",
        noun="the place reached in {episode_id}",
    ),
    "spotify_blends": Table(
        "id:str user_id:str/ref playlist_id:str/ref created_at:str/stamp updated_at:str/stamp",
        index=("created_at",),
        outward={},
        noun="a Blend with the user {user_id}",
    ),
    "spotify_jams": Table(
        "id:str host_id:str/ref started_at:str/stamp ends_at:str/stamp",
        index=("started_at", "host_id"),
        noun="a jam started on {started_at:moment}",
    ),
    "spotify_jam_members": Table(
        "id:str jam_id:str/ref user_id:str/ref joined_at:str/stamp left_at:str?/stamp",
        index=("jam_id",),
        noun="the participant {user_id} of the jam {jam_id}",
    ),
    "spotify_jam_tracks": Table(
        "id:str jam_id:str/ref track_id:str/ref added_by:str/derived added_at:str/stamp",
        index=("jam_id",),
        noun="the track {track_id} in the jam {jam_id}",
    ),
}
WORDS = rules.Words(
    column="spotify_id",
    tables="spotify",
    search_tracks="search_tracks",
    search_albums="search_albums",
    search_artists="search_artists",
    unavailable="TRACK_UNAVAILABLE",
    leaves=True,
)
REPEAT = {"off": "off", "track": "one", "context": "all"}

DeviceId = Annotated[
    str, Field(description="device_id from get_devices. Default: the active device.")
]
UserId = Annotated[
    str, Field(description="user_id of another user, from search_users or get_followed_users.")
]
TimeRange = Annotated[
    Literal["short_term", "medium_term", "long_term"],
    Field(
        description="short_term is the last four weeks, medium_term six months, long_term a year."
    ),
]


def me(svc: Service) -> Row:
    """Return the signed-in user's profile."""
    return svc.db.rows("spotify_profile", limit=1)[0]


def find_user(svc: Service, user_id: str) -> Row:
    """Return a user; fail if it does not exist."""
    row = svc.db.get("spotify_users", user_id)
    if row is None:
        message = f"There is no user with the ID {user_id!r}."
        svc.fail("USER_NOT_FOUND", message, "Find users with search_users.", user_id=user_id)
    return row


def user_ref(svc: Service, user_id: str) -> Json:
    """Return `{user_id, display_name}`."""
    row = svc.db.get("spotify_users", user_id)
    return {"user_id": user_id, "display_name": row["display_name"] if row else None}


# -- tracks and playlists -------------------------------------------------------------------------
def track_json(svc: Service, track: Row) -> Json:
    """Return a track for the agent."""
    artists = [{"artist_id": track["artist_id"], "name": track["artist"]}]
    if track["guest_id"]:
        artists.append({"artist_id": track["guest_id"], "name": track["guest"]})
    return {
        "track_id": track["id"],
        "name": track["title"],
        "artists": artists,
        "album": {
            "album_id": track["album_id"],
            "name": track["album"],
            "release_date": track["released"],
        },
        "duration_ms": track["ms"],
        "explicit": track["explicit"],
        "genres": rules.genres(track),
        "popularity": track["popularity"],
        "play_count": rules.play_count(svc, track),
        "isrc": rules.isrc(track),
        "is_playable": track["playable"],
        "saved": rules.has(svc, WORDS, track["id"]),
    }


def visible(svc: Service, playlist: Row) -> bool:
    """Return whether the signed-in user may see a playlist."""
    mine = me(svc)["id"]
    return playlist["public"] or mine == playlist["owner_id"] or mine in playlist["members"]


def find_playlist(svc: Service, playlist_id: str) -> Row:
    """Return a playlist that the user may see; fail if there is none."""
    row = svc.db.get("spotify_playlists", playlist_id)
    if row is None or not visible(svc, row):
        message = f"There is no playlist with the ID {playlist_id!r} that you can see."
        hint = "Use a playlist_id from get_user_playlists."
        svc.fail("PLAYLIST_NOT_FOUND", message, hint, playlist_id=playlist_id)
    return row


def items(svc: Service, playlist_id: str) -> list[Row]:
    """Return a playlist's entries in order."""
    return svc.db.rows("spotify_playlist_items", "playlist_id=?", playlist_id, order="place, rowid")


def snapshot(playlist: Row, entries: Sequence[Row]) -> str:
    """Return an id of a playlist's current state, which changes whenever the playlist does."""
    state = [
        playlist["name"],
        playlist["description"],
        playlist["public"],
        playlist["collaborative"],
        [e["id"] for e in entries],
    ]
    return hashlib.blake2b(repr(state).encode(), digest_size=8).hexdigest()


def playlist_json(svc: Service, playlist: Row) -> Json:
    """Return a playlist for the agent, without its tracks."""
    entries = items(svc, playlist["id"])
    collaborators = playlist["members"] if playlist["collaborative"] else []
    return {
        "playlist_id": playlist["id"],
        "name": playlist["name"],
        "description": playlist["description"],
        "owner_id": playlist["owner_id"],
        "owner_name": user_ref(svc, playlist["owner_id"])["display_name"],
        "public": playlist["public"],
        "collaborative": playlist["collaborative"],
        "collaborators": [user_ref(svc, u) for u in collaborators],
        "track_count": len(entries),
        "snapshot_id": snapshot(playlist, entries),
        "created_at": playlist["created_at"],
        "context_uri": f"playlist:{playlist['id']}",
    }


# -- episodes, devices, playback ------------------------------------------------------------------
def lengths(svc: Service, ids: Sequence[str]) -> dict[str, int]:
    """Return durations of tracks and episodes in milliseconds, by id."""
    marks = ",".join("?" * len(ids))
    tracks = f"SELECT spotify_id, ms FROM music_tracks WHERE spotify_id IN ({marks})"
    episodes = f"SELECT id, ms FROM spotify_episodes WHERE id IN ({marks})"
    rows = [*svc.db.sql(tracks, *ids), *svc.db.sql(episodes, *ids)]
    return {item_id: max(1, ms) for item_id, ms in rows}


DECK = player.Deck("spotify", "spq", "sph", lengths, "start_track, play_context or play_episode")


def resume_point(svc: Service, episode_id: str) -> int:
    """Return how far an episode has been played up to now, in milliseconds."""
    state = player.playback(svc, DECK)
    if state.current == episode_id:
        return state.position
    if episode_id in state.heard:
        return state.lengths[episode_id]
    row = svc.db.get("spotify_resume", episode_id)
    return row["position_ms"] if row else 0


def episode_json(svc: Service, episode: Row) -> Json:
    """Return an episode as replies show it, with how far it has been played."""
    show = svc.db.get("spotify_shows", episode["show_id"]) or {}
    heard = resume_point(svc, episode["id"])
    return {
        "episode_id": episode["id"],
        "name": episode["name"],
        "show": {"show_id": episode["show_id"], "name": show.get("name")},
        "release_date": episode["released"][:10],
        "duration_ms": episode["ms"],
        "resume_position_ms": 0 if heard >= episode["ms"] else heard,
        "fully_played": heard >= episode["ms"],
    }


def keep_resume_point(svc: Service) -> None:
    """Save how far episodes have been played, before something else starts."""
    state = player.playback(svc, DECK)
    heard = [*state.heard]
    if state.current:
        heard.append(state.current)
    for item_id in dict.fromkeys(heard):
        if svc.db.get("spotify_episodes", item_id) is None:
            continue
        reached = state.position if item_id == state.current else state.lengths[item_id]
        row = svc.db.get("spotify_resume", item_id)
        if row is None:
            point = {"episode_id": item_id, "position_ms": reached, "at": svc.time}
            svc.db.insert("spotify_resume", point)
        elif row["position_ms"] != reached:
            svc.db.update("spotify_resume", item_id, position_ms=reached, at=svc.time)


def online(svc: Service, device: Row) -> bool:
    """Return whether a device is online now."""
    if device["hours"] in ("always", "off"):
        return device["hours"] == "always"
    days, _, span = device["hours"].partition(" ")
    first, _, last = span.partition("-")
    here = local(svc.now, ZoneInfo(me(svc)["timezone"]))
    return str(here.isoweekday()) in days and int(first) <= here.hour < int(last)


def device_json(svc: Service, device: Row) -> Json:
    """Return a device for the agent."""
    return {
        "device_id": device["id"],
        "name": device["name"],
        "type": device["type"],
        "is_active": device["id"] == player_row(svc)["device_id"],
        "is_online": online(svc, device),
        "supports_volume": device["adjustable"],
        "volume_percent": device["volume"],
    }


def player_row(svc: Service) -> Row:
    """Return the player's row."""
    return svc.db.rows("spotify_player", limit=1)[0]


def current_track(svc: Service, state: player.Playback) -> str | None:
    """Return the track_id of the current track, None for an episode or if nothing plays."""
    if not state.current or svc.db.get("spotify_episodes", state.current) is not None:
        return None
    return state.current


def state_json(svc: Service, state: player.Playback) -> Json:
    """Return what is playing, and on which device."""
    row = player_row(svc)
    device = svc.db.get("spotify_devices", row["device_id"]) if row["device_id"] else None
    track = None
    episode = None
    if state.current:
        track = rules.by_ids(svc, WORDS, [state.current]).get(state.current)
        episode = svc.db.get("spotify_episodes", state.current) if track is None else None
    return {
        "is_playing": state.playing,
        "track": track_json(svc, track) if track else None,
        "episode": episode_json(svc, episode) if episode else None,
        "position_ms": state.position if state.current else None,
        "context_uri": row["context"],
        "shuffle": row["shuffle"],
        "repeat_mode": next(word for word, mode in REPEAT.items() if mode == row["repeat"]),
        "queue_length": len(state.queue),
        "device": device_json(svc, device) if device else None,
    }
