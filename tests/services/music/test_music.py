"""What Spotify and Apple Music share: the catalogue, and playback that follows the clock."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest

from scenarios.worlds.build import person
from servers.kit.control import make_id
from servers.kit.session import Session
from servers.kit.values import parse_time
from servers.kit.zones import local
from tests.services.music.support import DAY, HOUR, album, track, world_of
from tests.support import call_ok, call_refused, new_session, pages

pytestmark = pytest.mark.anyio
BOTH = {
    "spotify": {
        "state": "get_now_playing",
        "track": "track",
        "play": "play_context",
        "shuffle": "toggle_shuffle",
        "repeat": "toggle_repeat",
        "pause": "pause_stream",
        "resume": "resume_stream",
        "next": "next_track",
        "back": "previous_track",
        "queue": "add_to_queue",
    },
    "apple_music": {
        "state": "get_playback_state",
        "track": "current_track",
        "play": "play_album",
        "shuffle": "set_shuffle",
        "repeat": "set_repeat",
        "pause": "pause_playback",
        "resume": "resume_playback",
        "next": "skip_to_next",
        "back": "skip_to_previous",
        "queue": "add_to_up_next",
    },
}
both = pytest.mark.parametrize("service", list(BOTH))


@pytest.fixture
def session() -> Session:
    return new_session("spotify", "apple_music")


async def play(session: Session, service: str, key: str, offset: int = 0) -> dict[str, Any]:
    if service == "spotify":
        args = {"context_uri": f"album:{album(service, key)}", "offset": offset}
    else:
        args = {"album_id": album(service, key), "track_offset": offset}
    return await do(session, service, "play", **args)


async def do(session: Session, service: str, what: str, **args: Any) -> dict[str, Any]:
    return await call_ok(session, service, BOTH[service][what], **args)


def playing(service: str, state: dict[str, Any]) -> str | None:
    shown = state[BOTH[service]["track"]]
    return shown["track_id"] if shown else None


def lengths(session: Session, key: str) -> list[int]:
    query = "SELECT ms FROM music_tracks WHERE album_id=? ORDER BY number"
    return [ms for (ms,) in session.world.sql(query, key)]


# -- the catalogue --------------------------------------------------------------------------------


async def test_one_recording_has_two_ids_and_one_isrc(session: Session) -> None:
    one = await call_ok(session, "spotify", "get_track", track_id=track("spotify", "low-tide-2"))
    two = await call_ok(
        session, "apple_music", "get_catalog_track", track_id=track("apple_music", "low-tide-2")
    )
    assert one["track_id"] != two["track_id"]
    assert one["isrc"] == two["isrc"]
    assert one["name"] == two["name"] == "Copper Hours"
    deluxe = await call_ok(
        session, "spotify", "get_track", track_id=track("spotify", "low-tide-deluxe-2")
    )
    live = await call_ok(
        session, "spotify", "get_track", track_id=track("spotify", "live-at-alder-hall-2")
    )
    assert deluxe["isrc"] == one["isrc"] != live["isrc"]
    assert live["name"] == "Copper Hours (Live at Alder Hall)"
    error = await call_refused(
        session, "apple_music", "get_catalog_track", track_id=one["track_id"]
    )
    assert error["code"] == "TRACK_NOT_FOUND" and "search_catalog" in error["hint"]


def test_every_first_release_has_an_isrc_of_its_own(session: Session) -> None:
    from servers.music import _rules as rules

    keys = session.world.sql("SELECT id, version, origin FROM music_tracks")
    isrcs = [rules.isrc({"key": k, "version": v, "origin": o}) for k, v, o in keys]
    first_releases = [key for key, version, _ in keys if version != "same"]
    assert len(isrcs) > 900
    assert len(set(isrcs)) == len(first_releases)


async def test_search_takes_words_in_any_order_and_ranks_exact_titles_first(
    session: Session,
) -> None:
    reply = await call_ok(
        session, "spotify", "search_tracks", query="hours copper quiet ferries", limit=50
    )
    tracks = reply["tracks"]
    assert {t["name"] for t in tracks} >= {
        "Copper Hours",
        "Copper Hours (Live at Alder Hall)",
    }
    assert tracks[0]["name"] == "Copper Hours"
    assert all(t["artists"][0]["name"] == "The Quiet Ferries" for t in tracks[:2])
    reply = await call_ok(
        session, "spotify", "search_tracks", query="Copper Hours by The Quiet Ferries"
    )
    spoken = reply["tracks"]
    assert spoken[0]["track_id"] == tracks[0]["track_id"]
    reply = await call_ok(session, "spotify", "search_tracks", query="corazon mesquite")
    assert reply["tracks"], "the search should ignore accents"
    reply = await call_ok(session, "spotify", "search_tracks", query="copper xylophone")
    assert "Copper" in reply["tracks"][0]["name"], "a word that nothing has spoils the search"
    assert not (await call_ok(session, "spotify", "search_tracks", query="xylophone"))["tracks"]


async def test_three_artists_share_a_title_and_two_share_a_name(session: Session) -> None:
    reply = await call_ok(session, "spotify", "search_tracks", query="come home slow", limit=50)
    songs = reply["tracks"]
    exact = [t for t in songs if t["name"] == "Come Home Slow"]
    assert {t["artists"][0]["name"] for t in exact} == {
        "Wren Halloway",
        "Odessa Vance",
        "Dale Rudkin",
    }
    assert len({t["isrc"] for t in exact}) == 3
    reply = await call_ok(
        session, "apple_music", "search_catalog", query="halcyon row", types=["artists"]
    )
    rows = reply["artists"]
    assert [r["name"] for r in rows] == ["Halcyon Row"] * 2
    assert {r["genre_names"][0] for r in rows} == {"indie", "lo-fi"}


async def test_some_albums_are_with_one_provider_only(session: Session) -> None:
    barn = await albums(session, "barn light")
    assert ("Barn Light" in barn["apple_music"], "Barn Light" in barn["spotify"]) == (True, False)
    tapes = await albums(session, "rooftop tapes")
    assert "rooftop tapes" in tapes["spotify"] and "rooftop tapes" not in tapes["apple_music"]


async def albums(session: Session, query: str) -> dict[str, set[str]]:
    spotify = await call_ok(session, "spotify", "search_albums", query=query)
    only = {"query": query, "types": ["albums"]}
    apple = await call_ok(session, "apple_music", "search_catalog", **only)
    return {
        "spotify": set(pluck(spotify["albums"], "name")),
        "apple_music": set(pluck(apple["albums"], "name")),
    }


def pluck(rows: list[dict[str, Any]], field: str) -> list[Any]:
    return [row[field] for row in rows]


async def test_a_withdrawn_song_stays_in_lists_but_cannot_be_played_on_spotify(
    session: Session,
) -> None:
    gone = track("spotify", "grain-of-salt-2")
    listed = await call_ok(
        session, "spotify", "fetch_playlist", playlist_id=make_id("sppl", "maya", "sunday")
    )
    assert next(t for t in listed["tracks"] if t["track_id"] == gone)["is_playable"] is False
    error = await call_refused(session, "spotify", "start_track", track_id=gone)
    assert error["code"] == "TRACK_UNAVAILABLE"
    assert not (await call_ok(session, "spotify", "search_tracks", query="grain of salt"))["tracks"]
    there = await call_ok(
        session, "apple_music", "play_track", track_id=track("apple_music", "grain-of-salt-2")
    )
    assert there["current_track"]["name"] == "Grain of Salt" and there["is_playing"]


@both
async def test_an_announced_album_plays_from_its_day_on(session: Session, service: str) -> None:
    key = album(service, "slow-weather")
    args = {"context_uri": f"album:{key}"} if service == "spotify" else {"album_id": key}
    error = await call_refused(session, service, BOTH[service]["play"], **args)
    assert error["code"] in ("TRACK_UNAVAILABLE", "CONTENT_NOT_AVAILABLE")
    play_song = "start_track" if service == "spotify" else "play_track"
    single = track(service, "rain-on-division-1")
    reply = await session.call(service, play_song, {"track_id": single})
    assert not reply.is_error, "its single has been released"
    session.control.advance(13 * DAY)
    state = await play(session, service, "slow-weather", 1)
    assert playing(service, state) == track(service, "slow-weather-2")


# -- playback -------------------------------------------------------------------------------------


@both
async def test_tracks_follow_each_other_as_time_passes_and_playback_ends(
    session: Session, service: str
) -> None:
    ms = lengths(session, "low-tide")
    state = await play(session, service, "low-tide")
    assert state["is_playing"]
    assert state["position_ms"] == 0
    assert playing(service, state) == track(service, "low-tide-1")
    session.control.advance(30)
    again = await do(session, service, "state")
    assert 30_000 <= again["position_ms"] <= 33_000
    session.control.advance(sum(ms[:3]) // 1000 - 30)
    assert playing(service, await do(session, service, "state")) == track(service, "low-tide-4")
    session.control.advance(sum(ms) // 1000)
    over = await do(session, service, "state")
    assert not over["is_playing"]
    assert playing(service, over) == track(service, f"low-tide-{len(ms)}")
    begun = await do(session, service, "resume")
    assert begun["is_playing"] and playing(service, begun) == track(service, "low-tide-1")


@both
async def test_a_pause_stops_the_clock_of_the_song(session: Session, service: str) -> None:
    await play(session, service, "low-tide")
    session.control.advance(40)
    paused = await do(session, service, "pause")
    session.control.advance(DAY)
    still = await do(session, service, "state")
    assert not still["is_playing"] and still["position_ms"] == paused["position_ms"] >= 40_000
    await do(session, service, "resume")
    session.control.advance(10)
    reply = await do(session, service, "state")
    assert 10_000 <= reply["position_ms"] - paused["position_ms"] <= 13_000


@both
async def test_what_was_queued_plays_before_the_rest_and_is_used_up(
    session: Session, service: str
) -> None:
    await play(session, service, "low-tide")
    await do(session, service, "queue", track_id=track(service, "firewood-2"))
    state = await do(session, service, "next")
    assert playing(service, state) == track(service, "firewood-2")
    session.control.advance(lengths(session, "firewood")[1] // 1000 + 2)
    assert playing(service, await do(session, service, "state")) == track(service, "low-tide-2")
    await do(session, service, "pause")
    assert not session.world.sql(f"SELECT * FROM {service}_queue")


@both
async def test_shuffle_keeps_the_song_plays_each_once_and_repeats_the_same_order_to_every_reader(
    session: Session, service: str
) -> None:
    await play(session, service, "low-tide", 3)
    mixed = await do(session, service, "shuffle", state=True)
    assert playing(service, mixed) == track(service, "low-tide-4") and mixed["shuffle"]
    heard = [playing(service, mixed)]
    upcoming = "queue" if service == "spotify" else "up_next"
    tool = "get_queue" if service == "spotify" else "get_up_next"
    plan = [t["track_id"] for t in (await call_ok(session, service, tool, limit=50))[upcoming]]
    reply = await call_ok(session, service, tool, limit=50)
    assert plan == [t["track_id"] for t in reply[upcoming]]
    for _ in plan:
        heard.append(playing(service, await do(session, service, "next")))
    last = len(lengths(session, "low-tide"))
    album_order = [track(service, f"low-tide-{number}") for number in range(1, last + 1)]
    assert heard[1:] == plan
    assert set(heard) == set(album_order)
    album_order.remove(track(service, "low-tide-4"))
    assert plan != album_order, "the order should be shuffled"


@both
async def test_repeat_goes_round_the_list_or_stays_with_one_song(
    session: Session, service: str
) -> None:
    ms = lengths(session, "low-tide")
    modes = ("context", "track") if service == "spotify" else ("all", "one")
    await play(session, service, "low-tide")
    await do(session, service, "repeat", mode=modes[0])
    session.control.advance((sum(ms) * 40 + ms[0]) // 1000)
    state = await do(session, service, "state")
    assert state["is_playing"] and playing(service, state) == track(service, "low-tide-2")
    await do(session, service, "repeat", mode=modes[1])
    session.control.advance(9 * HOUR)
    assert playing(service, await do(session, service, "state")) == track(service, "low-tide-2")
    query = f"SELECT plays FROM {service}_plays ORDER BY at DESC LIMIT ?"
    plays = [number for (number,) in session.world.sql(query, len(ms))]
    assert min(plays) >= 40, "each lap should count as a play, with one row per song"


@both
async def test_what_is_heard_for_half_a_minute_counts_as_played_at_once(
    session: Session, service: str
) -> None:
    listed = "items" if service == "spotify" else "tracks"
    await play(session, service, "black-plum")
    session.control.advance(20)
    first = (await call_ok(session, service, "get_recently_played", limit=1))[listed][0]["track_id"]
    assert first != track(service, "black-plum-1")
    session.control.advance(20)
    reply = await call_ok(session, service, "get_recently_played", limit=1)
    assert reply[listed][0]["track_id"] == track(service, "black-plum-1")


@both
async def test_pages_of_what_was_played_begin_with_what_is_heard_now(
    session: Session, service: str
) -> None:
    listed = "items" if service == "spotify" else "tracks"
    await play(session, service, "black-plum")
    session.control.advance(DAY // 4)
    plays = await pages(session, service, "get_recently_played", listed, limit=100)
    assert plays == await pages(session, service, "get_recently_played", listed, limit=3)
    assert len({(entry["track_id"], entry["played_at"]) for entry in plays}) == len(plays) > 30
    zone = ZoneInfo(person("maya")["timezone"])
    days = [local(parse_time(entry["played_at"]), zone).date().isoformat() for entry in plays]
    assert days == sorted(days, reverse=True)
    for since, until in ((days[0], None), (None, days[0]), (days[20], days[5]), (None, days[9])):
        spans = {key: day for key, day in (("since", since), ("until", until)) if day}
        between = await pages(session, service, "get_recently_played", listed, **spans)
        wanted = [place for place, day in enumerate(days) if _within(day, since, until)]
        assert between == [plays[place] for place in wanted]


def _within(day: str, since: str | None, until: str | None) -> bool:
    return (since or day) <= day <= (until or day)


@both
async def test_nothing_plays_before_something_was_started(session: Session, service: str) -> None:
    session.world.update(f"{service}_player", "player", now_id=None, items=[], playing=False)
    session.world.commit()
    state = await do(session, service, "state")
    assert playing(service, state) is None
    assert state["position_ms"] is None
    assert not state["is_playing"]
    for what in ("pause", "resume", "next", "back"):
        error = await call_refused(session, service, BOTH[service][what])
        assert error["code"] == "NO_ACTIVE_PLAYBACK"
    error = await call_refused(
        session, service, BOTH[service]["queue"], track_id=track(service, "firewood-2")
    )
    assert error["code"] == "NO_ACTIVE_PLAYBACK"


# -- the three people -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["maya", "eleanor", "rafael"])
async def test_playlists_of_happenings_bear_their_names_and_are_shared_with_those_who_came(
    name: str,
) -> None:
    from scenarios.worlds.build import Builder

    session = world_of(name)
    builder = Builder(name, person(name))
    reply = await call_ok(session, "spotify", "get_user_playlists", limit=100)
    lists = {p["name"]: p for p in reply["playlists"]}
    first: dict[str, dict[str, Any]] = {}
    for happening in builder.life:
        music = happening.get("music", {})
        if "spotify" in music.get("on", []) and "playlist" in music:
            first.setdefault(music["playlist"], happening)
    assert len(first) >= 5
    for title, happening in first.items():
        people = {builder.person["people"][w]["name"] for w in happening["music"].get("with", [])}
        assert {c["display_name"] for c in lists[title]["collaborators"]} == people, title
        assert lists[title]["track_count"] >= 10
        assert lists[title]["created_at"][:10] <= happening["at"][:10]


TASTES = [
    ("maya", "spotify", {"indie", "ambient"}),
    ("eleanor", "apple_music", {"gospel", "big-band", "jazz"}),
    ("rafael", "spotify", {"tejano", "norteno"}),
]


@pytest.mark.parametrize(("name", "service", "genres"), TASTES)
async def test_each_listens_to_what_is_theirs(name: str, service: str, genres: set[str]) -> None:
    session = world_of(name)
    if service == "spotify":
        reply = await call_ok(session, service, "get_listening_stats", time_range="long_term")
    else:
        reply = await call_ok(session, service, "get_replay")
    assert set(reply["top_genres"][: len(genres)]) == genres


@pytest.mark.parametrize("name", ["maya", "eleanor", "rafael"])
async def test_a_year_ago_there_was_a_player_too(name: str) -> None:
    session = world_of(name)
    tables = ["spotify_player", "apple_music_player", "apple_music_settings"]
    past = session.world.as_of(session.control.now - 365 * DAY, tables)
    for table in tables:
        assert len(past.rows(table)) == 1
    assert past.rows("spotify_player")[0]["now_id"] is None
    assert not past.rows("spotify_player")[0]["playing"]


@both
@pytest.mark.parametrize("name", ["maya", "eleanor", "rafael"])
async def test_people_sleep_at_night_and_hear_nothing_after_they_paused(
    name: str, service: str
) -> None:
    session = world_of(name)
    zone = ZoneInfo(person(name)["timezone"])
    paused = session.world.rows(f"{service}_player")[0]["at"]
    heard = [r["at"] for r in session.world.rows(f"{service}_plays")]
    assert heard and max(heard) <= paused
    assert not [at for at in heard if 2 <= local(parse_time(at), zone).hour < 7]
