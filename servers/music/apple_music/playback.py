"""Playback, Up Next, and stations."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.noise import share
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page
from servers.music import _player as player
from servers.music import _rules as rules
from servers.music._rules import AlbumId, Offset, PlaylistId, PositionMs, TrackId
from servers.music.apple_music._model import (
    DECK,
    WORDS,
    entries,
    find_playlist,
    need_subscription,
    song_json,
    state_json,
)

StationId = Annotated[str, Field(description="station_id, from get_stations.")]
RESTARTS_AFTER = 3_000
"""Milliseconds into a song after which going back only restarts it."""
ALBUM = (Setup("play_album", {"album_id": seeded("apal", "ruby-after-dark")}),)
SONG = seeded("apt", "sidelong-2")


class Playing(Service):
    """The account's playback, which is the same on all devices."""

    @reads()
    def get_playback_state(self) -> Json:
        """Return what is playing: song, position, station, shuffle, repeat and sing mode.

        `status` is playing, paused or stopped.
        """
        return state_json(self, player.playback(self, DECK))

    @writes(example={"track_id": SONG})
    def play_track(self, track_id: TrackId) -> Json:
        """Play a song from the beginning. Returns the playback state."""
        need_subscription(self)
        return self._play([rules.to_play(self, WORDS, track_id)], 0, f"track:{track_id}")

    @writes(example={"album_id": seeded("apal", "ruby-after-dark"), "track_offset": 2})
    def play_album(self, album_id: AlbumId, track_offset: Offset = 0) -> Json:
        """Play an album, starting with the song at track_offset."""
        need_subscription(self)
        songs = rules.album_tracks(self, WORDS, rules.find_album(self, WORDS, album_id))
        return self._play(songs, track_offset, f"album:{album_id}")

    @writes(example={"playlist_id": seeded("appl", "quiet-evenings")})
    def play_playlist(self, playlist_id: PlaylistId, track_offset: Offset = 0) -> Json:
        """Play a playlist, starting with the song at track_offset."""
        need_subscription(self)
        ids = [e["track_id"] for e in entries(self, find_playlist(self, playlist_id)["id"])]
        known = rules.by_ids(self, WORDS, ids)
        songs = [known[i] for i in ids if i in known]
        return self._play(songs, track_offset, f"playlist:{playlist_id}")

    @writes(example={"station_id": seeded("apst", "quiet-focus")})
    def play_station(self, station_id: StationId) -> Json:
        """Play a station: an endless, mixed sequence of the songs in its pool."""
        need_subscription(self)
        pool = self._pool(self._station(station_id))
        if not pool:
            message = "This station has nothing to play right now."
            self.fail("CONTENT_NOT_AVAILABLE", message, "Choose another station from get_stations.")
        mixed = sorted(pool, key=lambda t: share("station", station_id, self.time, t["key"]))
        ids = [t["id"] for t in mixed]
        context = f"station:{station_id}"
        modes: dict[str, Any] = {"station_id": station_id, "repeat": "all", "shuffle": False}
        return state_json(self, player.start(self, DECK, ids, 0, context, **modes))

    @writes(setup=ALBUM, idempotent=True)
    def pause_playback(self) -> Json:
        """Pause playback; the position is kept."""
        return state_json(self, player.pause(self, DECK))

    @writes(setup=(*ALBUM, Setup("pause_playback", {})), idempotent=True)
    def resume_playback(self) -> Json:
        """Go on where playback was paused; after the end, from the beginning of what played."""
        need_subscription(self)
        return state_json(self, player.resume(self, DECK))

    @writes(setup=ALBUM)
    def skip_to_next(self) -> Json:
        """Skip to the next song: Up Next first, then the rest of the album, playlist or station."""
        need_subscription(self)
        return state_json(self, player.forward(self, DECK))

    @writes(setup=(*ALBUM, Setup("skip_to_next", {})))
    def skip_to_previous(self) -> Json:
        """Go back to the previous song; after 3 seconds, the current song restarts instead.

        Stations do not go back.
        """
        need_subscription(self)
        self._no_station("Stations do not go back.", "Choose a song with play_track.")
        return state_json(self, player.back(self, DECK, RESTARTS_AFTER))

    @writes(example={"position_ms": 45_000}, setup=ALBUM)
    def seek_track(self, position_ms: PositionMs) -> Json:
        """Move to a position in the song, which must be before its end."""
        now = player.active(self, DECK)
        length = now.lengths[now.current or ""]
        if position_ms >= length:
            message = f"The song is {length} ms long; {position_ms} is past its end."
            hint = "Seek to an earlier position, or use skip_to_next."
            self.fail("INVALID_POSITION", message, hint, duration_ms=length)
        return state_json(self, player.seek(self, DECK, position_ms))

    @writes(example={"state": True}, setup=ALBUM, idempotent=True)
    def set_shuffle(
        self, state: Annotated[bool, Field(description="true plays the rest in shuffled order.")]
    ) -> Json:
        """Turn shuffle on or off; the current song keeps playing."""
        self._no_station(
            "You cannot shuffle a station.", "Play an album or playlist to shuffle it."
        )
        return state_json(self, player.shuffle(self, DECK, state))

    @writes(example={"mode": "all"}, setup=ALBUM, idempotent=True)
    def set_repeat(
        self,
        mode: Annotated[
            Literal["off", "one", "all"],
            Field(description="Repeat nothing, the song, or the whole album or playlist."),
        ],
    ) -> Json:
        """Set the repeat mode. Stations cannot repeat."""
        self._no_station("You cannot repeat a station.", "Play an album or playlist to repeat it.")
        return state_json(self, player.repeat(self, DECK, mode))

    @reads()
    def get_up_next(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the upcoming songs.

        `source` is queue for songs added by hand, auto for the rest of the album, playlist or
        station.
        """
        coming = player.upcoming(player.playback(self, DECK))
        known = rules.by_ids(self, WORDS, [c["track_id"] for c in coming])

        def shown(entry: Row) -> Json:
            source = "queue" if entry["source"] == "queue" else "auto"
            return {**song_json(self, known[entry["track_id"]]), "source": source}

        coming = [c for c in coming if c["track_id"] in known]
        return page(coming, "up_next", limit, cursor, shown)

    @writes(example={"track_id": SONG, "play_next": True}, setup=ALBUM)
    def add_to_up_next(
        self,
        track_id: TrackId,
        play_next: Annotated[
            bool, Field(description="true puts the song first, false last.")
        ] = False,
    ) -> Json:
        """Add a song to those queued by hand, which play before the rest.

        `position` counts from 1.
        """
        need_subscription(self)
        song = rules.to_play(self, WORDS, track_id)
        player.active(self, DECK)
        state, position = player.enqueue(self, DECK, song["id"], front=play_next)
        return {
            "queue_length": len(state.queue),
            "added_track": song_json(self, song),
            "position": position,
        }

    @writes(
        example={"clear_auto": True},
        setup=(*ALBUM, Setup("add_to_up_next", {"track_id": SONG})),
        idempotent=True,
    )
    def clear_up_next(
        self,
        clear_auto: Annotated[
            bool, Field(description="true also clears the rest of the album, playlist or station.")
        ] = False,
    ) -> Json:
        """Clear the songs queued by hand, and return how many; the current song keeps playing."""
        state, count = player.clear(self, DECK)
        clears_rest = clear_auto and state.current is not None
        rest = player.upcoming(state)[count:] if clears_rest else []
        if rest:
            items = [state.row["items"][state.place]]
            state.place = 0
            player.settle(self, DECK, state, items=items, lead=0, repeat="off", station_id=None)
        return {"cleared": count + len(rest)}

    @reads()
    def get_stations(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return the radio stations with their genres."""
        stations = self.db.rows("apple_music_stations", order="name, id")
        return page(stations, "stations", limit, cursor, self._station_json)

    @reads(example={"station_id": seeded("apst", "quiet-focus")})
    def get_station(
        self, station_id: StationId, limit: Limit = 20, cursor: Cursor | None = None
    ) -> Json:
        """Return a station and a page of its songs (`track_pool`), the most popular first."""
        station = self._station(station_id)
        pool = page(self._pool(station), "track_pool", limit, cursor, lambda t: song_json(self, t))
        return {**self._station_json(station), **pool}

    def _play(self, songs: list[Row], offset: int, context: str) -> Json:
        if songs and offset >= len(songs):
            message = f"There are {len(songs)} songs; track_offset counts from 0."
            hint = "Choose a smaller track_offset."
            self.fail("INVALID_OFFSET", message, hint, track_count=len(songs))
        before = len([t for t in songs[:offset] if t["playable"]])
        ids = [t["id"] for t in songs if t["playable"]]
        if before >= len(ids):
            released = min((t["released"] for t in songs), default=None)
            message = "None of these songs can be played right now."
            if songs:
                hint = "Choose something else with search_catalog."
            else:
                hint = "Add songs with add_tracks_to_playlist first."
            self.fail("CONTENT_NOT_AVAILABLE", message, hint, release_date=released)
        changes: dict[str, Any] = {"station_id": None}
        if self._row()["station_id"] is not None:
            changes["repeat"] = "off"  # set by the station, not by the user
        return state_json(self, player.start(self, DECK, ids, before, context, **changes))

    def _row(self) -> Row:
        return self.db.rows("apple_music_player", limit=1)[0]

    def _no_station(self, message: str, hint: str) -> None:
        station = self._row()["station_id"]
        if station is not None:
            self.fail("NOT_ALLOWED_ON_STATION", message, hint, station_id=station)

    def _station(self, station_id: str) -> Row:
        row = self.db.get("apple_music_stations", station_id)
        if row is None:
            message = f"There is no station with the ID {station_id!r}."
            hint = "get_stations lists all stations."
            self.fail("STATION_NOT_FOUND", message, hint, station_id=station_id)
        return row

    def _pool(self, station: Row) -> list[dict[str, Any]]:
        return rules.genre_tracks(self, WORDS, station["genres"])

    def _station_json(self, station: Row) -> Json:
        return {
            "station_id": station["id"],
            "name": station["name"],
            "description": station["description"],
            "genre": station["genres"][0],
            "genres": station["genres"],
        }
