"""The Apple Music provider, assembled from its topics."""

from __future__ import annotations

from servers.kit.service import Codes
from servers.music._rules import SHARED
from servers.music.apple_music._model import TABLES
from servers.music.apple_music.library import Library
from servers.music.apple_music.listening import Listening
from servers.music.apple_music.playback import Playing
from servers.music.apple_music.playlists import Playlists


class AppleMusic(Library, Playlists, Playing, Listening):
    """A music library with lyrics, stations and a review of the year."""

    name = "apple_music"
    title = "Apple Music"
    category = "music"
    domain = "lifestyle"
    tables = TABLES
    shared_tables = SHARED
    codes = Codes(
        invalid="PARAMETER_ERROR",
        unavailable="UPSTREAM_UNAVAILABLE",
        rate_limited="RATE_LIMITED",
        timeout="UPSTREAM_TIMEOUT",
        unauthorized="MUSIC_USER_TOKEN_INVALID",
        internal="UNEXPECTED_ERROR",
    )
