"""Lyrics, singing along, audio quality, and Replay: the year in review."""

from __future__ import annotations

from datetime import date
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.service import Service, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page
from servers.kit.zones import day_start, local_day
from servers.music import _lyrics as words
from servers.music import _player as player
from servers.music import _rules as rules
from servers.music._rules import TrackId
from servers.music._stats import Heard
from servers.music.apple_music._model import (
    DECK,
    WORDS,
    Year,
    account,
    formats,
    need_subscription,
    song_json,
    state_json,
)

SONG = seeded("apt", "low-tide-1")
PLAYLIST_SIZE = 25


class Listening(Service):
    """Extras of a song, and Replay."""

    @reads(example={"track_id": SONG, "synced": True})
    def get_lyrics(
        self,
        track_id: TrackId,
        synced: Annotated[
            bool, Field(description="true returns each line with the time at which it is sung.")
        ] = False,
    ) -> Json:
        """Return a song's lyrics: one text or, if synced, a list of {start_ms, text}."""
        song = rules.find_track(self, WORDS, track_id)
        lines = words.lyrics(song)
        if not lines:
            message = f"{song['title']!r} has no lyrics."
            hint = "It is instrumental; has_lyrics says which songs have lyrics."
            self.fail("LYRICS_NOT_AVAILABLE", message, hint, track_id=track_id)
        return {
            "track_id": track_id,
            "lyrics": words.synced(song, lines) if synced else "\n".join(lines),
            "synced": synced,
        }

    @reads(example={"track_id": SONG})
    def get_sing_availability(self, track_id: TrackId) -> Json:
        """Return whether a song is available in sing mode, and whether it has lyrics."""
        song = rules.find_track(self, WORDS, track_id)
        return {
            "track_id": track_id,
            "available": words.singable(song),
            "has_lyrics": song["genre"] not in rules.WORDLESS,
        }

    @writes(example={"track_id": SONG, "vocal_level": 20})
    def start_sing_mode(
        self,
        track_id: TrackId,
        vocal_level: Annotated[
            int, Field(ge=0, le=100, description="Volume of the original vocals, in percent.")
        ] = 50,
    ) -> Json:
        """Play a song with its vocals turned down. Sing mode ends with the song."""
        need_subscription(self)
        song = rules.to_play(self, WORDS, track_id)
        if not words.singable(song):
            message = f"{song['title']!r} is not available in sing mode."
            hint = (
                "Check get_sing_availability first; "
                "live, old and instrumental recordings are not available."
            )
            self.fail("SING_NOT_AVAILABLE", message, hint, track_id=track_id)
        sing = {"sing": vocal_level, "sing_track": song["id"]}
        context = f"track:{track_id}"
        state = player.start(self, DECK, [song["id"]], 0, context, station_id=None, **sing)
        return state_json(self, state)

    @reads(example={"track_id": SONG})
    def get_track_audio_quality(self, track_id: TrackId) -> Json:
        """Return a song's audio formats: aac-256, lossless, hi-res-lossless, dolby-atmos."""
        return {"track_id": track_id, "formats": formats(rules.find_track(self, WORDS, track_id))}

    @reads()
    def get_spatial_audio_status(self) -> Json:
        """Return whether spatial audio is on and the current song is in Dolby Atmos.

        `current_track_in_atmos` is null if nothing is playing.
        """
        return self._spatial(self._settings()["spatial"])

    @writes(example={"enabled": False}, idempotent=True)
    def toggle_spatial_audio(
        self, enabled: Annotated[bool, Field(description="true turns spatial audio on, false off.")]
    ) -> Json:
        """Turn spatial audio on or off for songs in Dolby Atmos."""
        settings = self._settings()
        if settings["spatial"] != enabled:
            self.db.update("apple_music_settings", settings["id"], spatial=enabled)
        return self._spatial(enabled)

    @reads(example={"year": 2025})
    def get_replay(self, year: Year | None = None) -> Json:
        """Return what you played most in a year: artists, albums and songs with plays, and genres.

        `total_play_time_hours` is how long you listened in all.
        """
        chosen, heard = self._replay(year)
        artists = heard.by("artist_id", "artist")[:10]
        albums = heard.by("album_id", "album")[:10]
        songs = [
            {
                "track_id": t["id"],
                "name": t["title"],
                "artist_name": t["credit"],
                "plays": t["plays"],
            }
            for t in heard.tracks[:10]
            if t["plays"]
        ]
        return {
            "year": chosen,
            "top_artists": [{"artist_id": a.id, "name": a.name, "plays": a.plays} for a in artists],
            "top_albums": [{"album_id": a.id, "name": a.name, "plays": a.plays} for a in albums],
            "top_songs": songs,
            "top_genres": heard.top_genres(5),
            "total_play_time_hours": round(heard.ms / 3_600_000, 1),
        }

    @reads(example={"year": 2025})
    def get_replay_playlist(
        self, year: Year | None = None, limit: Limit = PLAYLIST_SIZE, cursor: Cursor | None = None
    ) -> Json:
        """Return the songs you played most in a year, at most 25, the most played first."""
        chosen, heard = self._replay(year)
        songs = [t for t in heard.tracks if t["plays"]][:PLAYLIST_SIZE]

        def shown(song: Row) -> Json:
            return {**song_json(self, song), "plays": song["plays"]}

        listed = page(songs, "tracks", limit, cursor, shown)
        return {"year": chosen, "playlist_name": f"Replay {chosen}", **listed}

    def _replay(self, year: int | None) -> tuple[int, Heard]:
        """Return a year, by default the current one, and what was heard; fail if nothing was."""
        zone = ZoneInfo(account(self)["timezone"])
        present = local_day(self.now, zone).year
        chosen = year or present
        begins = day_start(date(chosen, 1, 1), zone)
        ends = day_start(date(chosen + 1, 1, 1), zone)
        heard = Heard(self, DECK, WORDS, begins, ends)
        if chosen > present or not heard.tracks:
            if chosen > present:
                message = f"{chosen} has not started yet."
            else:
                message = f"Nothing was played in {chosen}."
            hint = f"Choose a year up to {present}."
            self.fail("REPLAY_NOT_AVAILABLE", message, hint, year=chosen)
        return chosen, heard

    def _settings(self) -> Row:
        return self.db.rows("apple_music_settings", limit=1)[0]

    def _spatial(self, enabled: bool) -> Json:
        playing = player.playback(self, DECK).current
        known = rules.by_ids(self, WORDS, [playing]) if playing else {}
        atmos = "dolby-atmos" in formats(known[playing]) if playing in known else None
        return {"enabled": enabled, "available": True, "current_track_in_atmos": atmos}
