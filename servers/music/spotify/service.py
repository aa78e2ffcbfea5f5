"""The Spotify provider, assembled from its topics."""

from __future__ import annotations

from servers.kit.service import Codes
from servers.music._rules import SHARED
from servers.music.spotify._model import TABLES
from servers.music.spotify.library import Library
from servers.music.spotify.playback import PlayerTools
from servers.music.spotify.playlists import Playlists
from servers.music.spotify.podcasts import Podcasts
from servers.music.spotify.social import Social
from servers.music.spotify.stats import Stats


class Spotify(Library, Playlists, PlayerTools, Podcasts, Social, Stats):
    """Music and podcasts on many devices, with friends."""

    name = "spotify"
    title = "Spotify"
    category = "music"
    domain = "lifestyle"
    tables = TABLES
    shared_tables = SHARED
    codes = Codes(
        invalid="BAD_REQUEST",
        unavailable="SERVICE_UNAVAILABLE",
        rate_limited="TOO_MANY_REQUESTS",
        timeout="GATEWAY_TIMEOUT",
        unauthorized="TOKEN_EXPIRED",
        internal="INTERNAL_SERVER_ERROR",
    )
