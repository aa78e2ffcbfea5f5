"""Devices and playback on them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from servers.kit.control import seeded
from servers.kit.service import Service, Setup, reads, writes
from servers.kit.types import Json, Row
from servers.kit.values import Cursor, Limit, page
from servers.music import _player as player
from servers.music import _rules as rules
from servers.music._rules import Offset, PositionMs, TrackId
from servers.music.spotify._model import (
    DECK,
    REPEAT,
    WORDS,
    DeviceId,
    current_track,
    device_json,
    episode_json,
    find_playlist,
    items,
    keep_resume_point,
    me,
    online,
    player_row,
    state_json,
    track_json,
)

Uri = Annotated[
    str,
    Field(max_length=60, description='What to play: "album:ALBUM_ID" or "playlist:PLAYLIST_ID".'),
]
SONG = seeded("spt", "low-tide-1")
OTHER = seeded("spt", "firewood-2")
PLAYING = (Setup("play_context", {"context_uri": f"album:{seeded('spal', 'low-tide')}"}),)


class PlayerTools(Service):
    """Devices, playback and the queue."""

    @reads()
    def get_devices(self) -> Json:
        """Return all devices with type and volume, which are online, and which one is active."""
        devices = self.db.rows("spotify_devices", order="rowid")
        return {"devices": [device_json(self, d) for d in devices]}

    @writes(example={"device_id": seeded("spd", "phone")}, idempotent=True)
    def transfer_playback(
        self,
        device_id: DeviceId,
        ensure_playback: Annotated[
            bool, Field(description="true starts playback there even if it is paused.")
        ] = False,
    ) -> Json:
        """Make another device the active one; playback continues there."""
        self._premium()
        device = self._device(device_id)
        if player_row(self)["device_id"] != device_id:
            self.db.update("spotify_player", player_row(self)["id"], device_id=device_id)
        state = player.playback(self, DECK)
        if ensure_playback and state.current is not None:
            state = player.resume(self, DECK)
        return {
            "transferred": True,
            "device_id": device_id,
            "device_name": device["name"],
            "is_playing": state.playing,
        }

    @writes(example={"volume_percent": 35}, idempotent=True)
    def set_volume(
        self, volume_percent: Annotated[int, Field(ge=0, le=100, description="Volume, 0 to 100.")]
    ) -> Json:
        """Set the volume of the active device.

        Some devices, mostly phones, do not allow this: see supports_volume.
        """
        self._premium()
        device = self._device(None)
        if not device["adjustable"]:
            message = f"The volume of {device['name']} cannot be set from here."
            hint = "Set it on the device itself, or transfer_playback to one with supports_volume."
            self.fail("VOLUME_CONTROL_DISALLOWED", message, hint, device_id=device["id"])
        if device["volume"] != volume_percent:
            self.db.update("spotify_devices", device["id"], volume=volume_percent)
        return {"device_id": device["id"], "volume_percent": volume_percent}

    @reads()
    def get_now_playing(self) -> Json:
        """Return what is playing or paused: track or episode, position, context, modes and device.

        Track, episode and position are null if nothing is playing or paused.
        """
        return state_json(self, player.playback(self, DECK))

    @writes(example={"track_id": SONG})
    def start_track(self, track_id: TrackId, device_id: DeviceId | None = None) -> Json:
        """Play a track from the beginning, then the queue. Returns the playback state."""
        device = self._ready(device_id)
        return self._start([rules.to_play(self, WORDS, track_id)["id"]], 0, None, device)

    @writes(example={"context_uri": f"playlist:{seeded('sppl', 'studio-mix')}", "offset": 2})
    def play_context(
        self, context_uri: Uri, offset: Offset = 0, device_id: DeviceId | None = None
    ) -> Json:
        """Play an album or playlist from the track at `offset`; unplayable tracks are skipped."""
        device = self._ready(device_id)
        kind, _, item_id = context_uri.partition(":")
        if kind == "album":
            tracks = rules.album_tracks(self, WORDS, rules.find_album(self, WORDS, item_id))
        elif kind == "playlist":
            entries = [e["track_id"] for e in items(self, find_playlist(self, item_id)["id"])]
            known = rules.by_ids(self, WORDS, entries)
            tracks = [known[i] for i in entries if i in known]
        else:
            message = f"{context_uri!r} is not a valid context."
            hint = (
                "Use album: or playlist: followed by the ID; for a single track, use start_track."
            )
            self.fail("INVALID_CONTEXT", message, hint, context_uri=context_uri)
        if offset >= max(1, len(tracks)):
            message = f"The context has {len(tracks)} tracks; offset counts from 0."
            self.fail("INVALID_OFFSET", message, "Choose a smaller offset.", tracks=len(tracks))
        passed = [t for t in tracks[:offset] if t["playable"]]
        playable = [t["id"] for t in tracks if t["playable"]]
        if len(passed) >= len(playable):
            message = "None of its tracks can be played right now."
            hint = (
                "Check is_playable of its tracks, or look for other recordings with search_tracks."
            )
            self.fail("TRACK_UNAVAILABLE", message, hint, context_uri=context_uri)
        return self._start(playable, len(passed), context_uri, device)

    @writes(setup=PLAYING, idempotent=True)
    def pause_stream(self) -> Json:
        """Pause playback; the position is kept."""
        self._premium()
        keep_resume_point(self)
        return state_json(self, player.pause(self, DECK))

    @writes(setup=(*PLAYING, Setup("pause_stream", {})), idempotent=True)
    def resume_stream(self) -> Json:
        """Resume playback on the active device.

        If an album or playlist has ended, it starts from the beginning.
        """
        self._ready(None)
        return state_json(self, player.resume(self, DECK))

    @writes(setup=PLAYING)
    def next_track(self) -> Json:
        """Skip to what comes next, the queue first. Playback stops after the last track."""
        self._ready(None)
        keep_resume_point(self)
        return state_json(self, player.forward(self, DECK))

    @writes(setup=(*PLAYING, Setup("next_track", {})))
    def previous_track(self) -> Json:
        """Go back to the previous track, at whatever position; the first track starts over."""
        self._ready(None)
        keep_resume_point(self)
        return state_json(self, player.back(self, DECK, None))

    @writes(example={"position_ms": 60_000}, setup=PLAYING)
    def seek_position(self, position_ms: PositionMs) -> Json:
        """Move to a position in the track or episode. A position past the end skips to the next."""
        self._premium()
        state = player.active(self, DECK)
        if position_ms >= state.lengths[state.current or ""]:
            keep_resume_point(self)
            return state_json(self, player.forward(self, DECK))
        return state_json(self, player.seek(self, DECK, position_ms))

    @writes(example={"state": True}, setup=PLAYING, idempotent=True)
    def toggle_shuffle(
        self, state: Annotated[bool, Field(description="true turns shuffle on, false off.")]
    ) -> Json:
        """Turn shuffle on or off.

        The current track keeps playing; what comes after it is shuffled or put back in order.
        """
        self._premium()
        return state_json(self, player.shuffle(self, DECK, state))

    @writes(example={"mode": "context"}, setup=PLAYING, idempotent=True)
    def toggle_repeat(
        self,
        mode: Annotated[
            Literal["off", "track", "context"],
            Field(description="Repeat nothing, the track, or the whole context."),
        ],
    ) -> Json:
        """Set the repeat mode."""
        self._premium()
        return state_json(self, player.repeat(self, DECK, REPEAT[mode]))

    @reads()
    def get_queue(self, limit: Limit = 20, cursor: Cursor | None = None) -> Json:
        """Return what comes next.

        Tracks queued by hand (`source` queue) come before the rest of the context (`source`
        context).
        """
        state = player.playback(self, DECK)
        coming = player.upcoming(state)
        known = rules.by_ids(self, WORDS, [c["track_id"] for c in coming])
        coming = [c for c in coming if c["track_id"] in known]

        def shown(entry: Row) -> Json:
            return track_json(self, known[entry["track_id"]]) | {"source": entry["source"]}

        return {
            "current_track_id": current_track(self, state),
            "queue_length": len(state.queue),
            **page(coming, "queue", limit, cursor, shown),
        }

    @writes(example={"track_id": OTHER}, setup=PLAYING)
    def add_to_queue(self, track_id: TrackId) -> Json:
        """Add a track to the end of the queue, which plays before the rest of the context.

        Something must be playing or paused.
        """
        self._ready(None)
        track = rules.to_play(self, WORDS, track_id)
        player.active(self, DECK)
        state, place = player.enqueue(self, DECK, track["id"])
        return {
            "current_track_id": current_track(self, state),
            "queue_length": place,
            "added_track": track_json(self, track),
        }

    @writes(setup=(*PLAYING, Setup("add_to_queue", {"track_id": OTHER})), idempotent=True)
    def clear_queue(self) -> Json:
        """Clear the queue, and return how many tracks it had; the context keeps playing."""
        self._premium()
        state, count = player.clear(self, DECK)
        return {"cleared": count, "current_track_id": current_track(self, state)}

    @writes(example={"episode_id": seeded("spep", "margins-17")})
    def play_episode(
        self,
        episode_id: Annotated[str, Field(description="episode_id of a podcast episode.")],
        device_id: DeviceId | None = None,
    ) -> Json:
        """Play a podcast episode from where you left off; a finished one starts over."""
        device = self._ready(device_id)
        episode = self.db.get("spotify_episodes", episode_id)
        if episode is None or episode["released"] > self.time:
            message = f"There is no episode with the ID {episode_id!r}."
            hint = "Find episodes with search_episodes or get_show."
            self.fail("EPISODE_NOT_FOUND", message, hint, episode_id=episode_id)
        position = episode_json(self, episode)["resume_position_ms"]
        return self._start([episode_id], 0, None, device, position=position)

    def _start(
        self,
        ids: list[str],
        place: int,
        context: str | None,
        device: Row,
        position: int = 0,
    ) -> Json:
        keep_resume_point(self)
        state = player.start(
            self, DECK, ids, place, context, position=position, device_id=device["id"]
        )
        return state_json(self, state)

    def _premium(self) -> None:
        if not me(self)["premium"]:
            hint = (
                "On the free plan, playback cannot be controlled, "
                "but library and playlists can be changed."
            )
            self.fail("PREMIUM_REQUIRED", "This requires Spotify Premium.", hint)

    def _ready(self, device_id: str | None) -> dict[str, Any]:
        self._premium()
        return self._device(device_id)

    def _device(self, device_id: str | None) -> Row:
        """Return an online device, by default the active one; fail if it is not online."""
        row = player_row(self)
        wanted = device_id or row["device_id"]
        if wanted is None:
            hint = "Pick a device from get_devices and activate it with transfer_playback."
            self.fail("NO_ACTIVE_DEVICE", "No device is active.", hint)
        device = self.db.get("spotify_devices", wanted)
        if device is None:
            message = f"There is no device with the ID {wanted!r}."
            self.fail(
                "DEVICE_NOT_FOUND", message, "get_devices lists all devices.", device_id=wanted
            )
        # A device does not go offline while it is playing.
        awake = wanted == row["device_id"] and player.playback(self, DECK).playing
        if not awake and not online(self, device):
            hint = "Choose a device for which get_devices shows is_online, or turn this one on."
            self.fail("DEVICE_OFFLINE", f"{device['name']} is offline.", hint, device_id=wanted)
        return device
