"""What only Apple Music has.

A library with albums and a timeline, ratings, stations, lyrics, sing mode, Replay, and a
subscription that ends.
"""

from __future__ import annotations

from typing import Any

import pytest

from servers.kit.session import Session
from tests.services.music.support import DAY, album, track, world_of
from tests.support import at, call_ok, call_refused, new_session

pytestmark = pytest.mark.anyio


@pytest.fixture
def session() -> Session:
    return new_session("apple_music")


def song(key: str) -> str:
    return track("apple_music", key)


async def call(session: Session, tool: str, **args: Any) -> dict[str, Any]:
    return await call_ok(session, "apple_music", tool, **args)


async def no(session: Session, tool: str, **args: Any) -> str:
    return (await call_refused(session, "apple_music", tool, **args))["code"]


EVENINGS = at("appl", "quiet-evenings")
INDIE = at("appl", "a-list-indie")
WHEEL = at("appl", "pottery-wheel")
RUBY = album("apple_music", "ruby-after-dark")
FOCUS = at("apst", "quiet-focus")


# -- library and playlists ------------------------------------------------------------------------


async def test_an_album_comes_and_goes_with_its_songs(session: Session) -> None:
    await call(session, "add_tracks_to_library", track_ids=[song("ruby-after-dark-1")])
    before = (await call(session, "get_library_tracks", limit=1))["total_library_tracks"]
    count = (await call(session, "get_catalog_album", album_id=RUBY))["track_count"]
    added = await call(session, "add_albums_to_library", album_ids=[RUBY])
    assert added["added_albums"] == [RUBY] and added["tracks_added"] == count - 1, (
        "one song was already there"
    )
    reply = await call(session, "get_library_tracks", limit=1)
    assert reply["total_library_tracks"] == before + count - 1
    newest = (await call(session, "get_recently_added", limit=count + 1))["items"]
    assert {i["item_type"] for i in newest} == {"album", "track"}
    assert RUBY in [i["item_id"] for i in newest]
    again = await call(session, "add_albums_to_library", album_ids=[RUBY])
    assert again["already_in_library"] == [RUBY] and again["tracks_added"] == 0
    reply = await call(session, "remove_albums_from_library", album_ids=[RUBY])
    assert reply["tracks_removed"] == count


async def test_only_own_playlists_can_be_changed(session: Session) -> None:
    for tool, args in (
        ("delete_playlist", {}),
        ("add_tracks_to_playlist", {"track_ids": [song("low-tide-1")]}),
    ):
        assert await no(session, tool, playlist_id=INDIE, **args) == "PLAYLIST_READ_ONLY"
    assert (await call(session, "get_playlist", playlist_id=WHEEL))["can_edit"] is False
    await call(session, "add_playlist_to_library", playlist_id=WHEEL)
    reply = await call(session, "get_library_playlists", limit=100)
    listed = {p["playlist_id"]: p for p in reply["playlists"]}
    assert WHEEL in listed
    assert listed[WHEEL]["owner_id"] is None
    assert listed[EVENINGS]["owner_id"] == at("apu", "me")
    assert await no(session, "remove_playlist_from_library", playlist_id=EVENINGS) == "OWN_PLAYLIST"


async def test_removing_takes_the_first_occurrence_and_all_or_none(session: Session) -> None:
    twice = song("low-tide-1")
    await call(session, "add_tracks_to_playlist", playlist_id=EVENINGS, track_ids=[twice, twice])
    reply = await call(session, "get_playlist", playlist_id=EVENINGS)
    before = [t["track_id"] for t in reply["tracks"]]
    code = await no(
        session, "remove_tracks_from_playlist", playlist_id=EVENINGS, track_ids=[twice] * 3
    )
    assert code == "TRACK_NOT_IN_PLAYLIST"
    left = await call(
        session, "remove_tracks_from_playlist", playlist_id=EVENINGS, track_ids=[twice]
    )
    assert left["track_count"] == len(before) - 1
    reply = await call(session, "get_playlist", playlist_id=EVENINGS)
    after = [t["track_id"] for t in reply["tracks"]]
    assert after.count(twice) == 1 and after == before[:-1]


async def test_a_rating_replaces_the_one_before_and_none_takes_it_back(session: Session) -> None:
    it = song("firewood-1")
    reply = await call(session, "rate_track", track_id=it, rating="love")
    assert reply["previous_rating"] == "none"
    assert (await call(session, "get_loved_tracks"))["tracks"][0]["track_id"] == it
    reply = await call(session, "rate_track", track_id=it, rating="dislike")
    assert reply["previous_rating"] == "love"
    reply = await call(session, "get_loved_tracks", limit=100)
    assert it not in [t["track_id"] for t in reply["tracks"]]
    await call(session, "rate_track", track_id=it, rating="none")
    assert (await call(session, "get_track_rating", track_id=it))["rating"] == "none"


async def test_explicit_and_clean_editions_stand_side_by_side(session: Session) -> None:
    reply = await call(session, "search_catalog", query="almanac vol 2", types=["albums"])
    albums = reply["albums"]
    assert {a["name"] for a in albums[:2]} == {"Almanac, Vol. 2", "Almanac, Vol. 2 (Clean)"}
    reply = await call(session, "get_catalog_album", album_id=album("apple_music", "almanac-2"))
    rough = reply["tracks"]
    reply = await call(
        session, "get_catalog_album", album_id=album("apple_music", "almanac-2-clean")
    )
    clean = reply["tracks"]
    assert "explicit" in {t["content_rating"] for t in rough}
    assert {t["content_rating"] for t in clean} <= {"clean", None}
    pairs = [(r, c) for r, c in zip(rough, clean, strict=True) if r["content_rating"] == "explicit"]
    assert pairs
    assert all(r["isrc"] != c["isrc"] and c["content_rating"] == "clean" for r, c in pairs)


async def test_search_pages_one_type_at_a_time(session: Session) -> None:
    everything = await call(session, "search_catalog", query="river", limit=2)
    assert everything["totals"]["tracks"] > 2 and everything["next_cursor"] is None
    first = await call(session, "search_catalog", query="river", types=["tracks"], limit=2)
    second = await call(
        session,
        "search_catalog",
        query="river",
        types=["tracks"],
        limit=2,
        cursor=first["next_cursor"],
    )
    assert not {t["track_id"] for t in first["tracks"]} & {t["track_id"] for t in second["tracks"]}
    assert second["tracks"]
    code = await no(session, "search_catalog", query="river", cursor=first["next_cursor"])
    assert code == "PARAMETER_ERROR"


# -- playback -------------------------------------------------------------------------------------


async def test_a_station_plays_its_pool_without_an_end_and_never_back(session: Session) -> None:
    state = await call(session, "play_station", station_id=FOCUS)
    heard = set()
    reply = await call(session, "get_station", station_id=FOCUS, limit=100)
    pool = {t["track_id"] for t in reply["track_pool"]}
    for _ in range(6):
        heard.add(state["current_track"]["track_id"])
        state = await call(session, "skip_to_next")
    assert len(heard) == 6 and state["station_id"] == FOCUS
    assert await no(session, "skip_to_previous") == "NOT_ALLOWED_ON_STATION"
    assert await no(session, "set_shuffle", state=True) == "NOT_ALLOWED_ON_STATION"
    session.control.advance(10 * DAY)
    late = await call(session, "get_playback_state")
    assert late["is_playing"] and {"ambient", "lo-fi"} & set(late["current_track"]["genre_names"])
    assert heard & pool, "the station should draw on its pool"
    after = await call(session, "play_album", album_id=RUBY)
    assert after["station_id"] is None and after["repeat_mode"] == "off"


async def test_going_back_restarts_a_song_after_three_seconds(session: Session) -> None:
    await call(session, "play_album", album_id=RUBY, track_offset=3)
    session.control.advance(30)
    again = await call(session, "skip_to_previous")
    assert again["current_track"]["track_id"] == song("ruby-after-dark-4")
    assert again["position_ms"] == 0
    before = await call(session, "skip_to_previous")
    assert before["current_track"]["track_id"] == song("ruby-after-dark-3")
    length = before["current_track"]["duration_ms"]
    assert await no(session, "seek_track", position_ms=length) == "INVALID_POSITION"


async def test_a_song_can_play_next_or_last_and_clearing_may_take_the_rest(
    session: Session,
) -> None:
    await call(session, "play_album", album_id=RUBY)
    await call(session, "add_to_up_next", track_id=song("sidelong-1"))
    assert (await call(session, "add_to_up_next", track_id=song("sidelong-2")))["position"] == 2
    reply = await call(session, "add_to_up_next", track_id=song("sidelong-3"), play_next=True)
    assert reply["position"] == 1
    coming = (await call(session, "get_up_next", limit=100))["up_next"]
    assert [t["track_id"] for t in coming[:3]] == [song(f"sidelong-{n}") for n in (3, 1, 2)]
    assert {t["source"] for t in coming[3:]} == {"auto"}
    assert (await call(session, "clear_up_next"))["cleared"] == 3
    rest = (await call(session, "get_up_next", limit=100))["up_next"]
    assert rest and (await call(session, "clear_up_next", clear_auto=True))["cleared"] == len(rest)
    session.control.advance(3600)
    over = await call(session, "get_playback_state")
    assert over["status"] == "stopped"
    assert over["current_track"]["track_id"] == song("ruby-after-dark-1")


async def test_sing_mode_needs_words_and_ends_with_the_song(session: Session) -> None:
    assert await no(session, "start_sing_mode", track_id=song("littoral-1")) == "SING_NOT_AVAILABLE"
    live = song("live-at-alder-hall-1")
    assert (await call(session, "get_sing_availability", track_id=live)) == {
        "track_id": live,
        "available": False,
        "has_lyrics": True,
    }
    state = await call(session, "start_sing_mode", track_id=song("low-tide-1"), vocal_level=10)
    assert state["sing_mode"] and state["vocal_level"] == 10
    other = await call(session, "play_track", track_id=song("low-tide-2"))
    assert other["sing_mode"] is False and other["vocal_level"] is None


async def test_lyrics_are_the_same_for_every_version_and_fit_the_length(session: Session) -> None:
    plain = await call(session, "get_lyrics", track_id=song("low-tide-1"))
    reply = await call(session, "get_lyrics", track_id=song("low-tide-deluxe-1"))
    assert plain["lyrics"] == reply["lyrics"]
    reply = await call(session, "get_lyrics", track_id=song("live-at-alder-hall-1"))
    assert plain["lyrics"] == reply["lyrics"]
    reply = await call(session, "get_lyrics", track_id=song("low-tide-2"))
    assert plain["lyrics"] != reply["lyrics"]
    timed = (await call(session, "get_lyrics", track_id=song("low-tide-1"), synced=True))["lyrics"]
    starts = [line["start_ms"] for line in timed]
    length = (await call(session, "get_catalog_track", track_id=song("low-tide-1")))["duration_ms"]
    assert starts == sorted(set(starts)) and starts[0] > 0 and starts[-1] < length
    assert [line["text"] for line in timed] == [
        line for line in plain["lyrics"].split("\n") if line
    ]
    assert await no(session, "get_lyrics", track_id=song("littoral-1")) == "LYRICS_NOT_AVAILABLE"


async def test_spatial_audio_concerns_songs_in_atmos(session: Session) -> None:
    formats = {}
    for key in (
        "low-tide",
        "glass-season",
        "kiln-music",
        "ruby-after-dark",
        "firewood",
        "everything-twice",
        "silk-weather",
        "burrow",
    ):
        reply = await call(session, "get_track_audio_quality", track_id=song(f"{key}-1"))
        formats[key] = reply["formats"]
    atmos = [k for k, f in formats.items() if "dolby-atmos" in f]
    flat = [k for k, f in formats.items() if "dolby-atmos" not in f]
    assert atmos and "ruby-after-dark" in flat, "an album from 1959 should not be in Atmos"
    await call(session, "play_track", track_id=song(f"{atmos[0]}-1"))
    assert (await call(session, "get_spatial_audio_status"))["current_track_in_atmos"] is True
    await call(session, "play_track", track_id=song(f"{flat[0]}-1"))
    off = await call(session, "toggle_spatial_audio", enabled=False)
    assert off == {"enabled": False, "available": True, "current_track_in_atmos": False}


# -- the account ----------------------------------------------------------------------------------


async def test_replay_is_of_a_year_and_its_playlist_is_in_order(session: Session) -> None:
    last, this = [await call(session, "get_replay", year=y) for y in (2025, 2026)]
    assert (await call(session, "get_replay")) == this
    assert last["total_play_time_hours"] > this["total_play_time_hours"] > 0
    songs = (await call(session, "get_replay_playlist", year=2025))["tracks"]
    assert len(songs) <= 25
    assert [t["plays"] for t in songs] == sorted((t["plays"] for t in songs), reverse=True)
    assert [t["track_id"] for t in songs[:10]] == [t["track_id"] for t in last["top_songs"]]
    for year in (2019, 2027):
        assert await no(session, "get_replay", year=year) == "REPLAY_NOT_AVAILABLE"


async def test_the_cancelled_plan_runs_until_the_end_of_march(session: Session) -> None:
    assert (await call(session, "get_user_profile"))["subscription_type"] == "individual"
    await call(session, "play_album", album_id=RUBY)
    await call(session, "set_repeat", mode="all")
    session.control.advance(17 * DAY)
    assert (await call(session, "get_playback_state"))["is_playing"]
    session.control.advance(DAY)
    reply = await call(session, "get_playback_state")
    assert not reply["is_playing"], "playback should stop when the subscription ends at midnight"
    assert (await call(session, "get_user_profile"))["subscription_type"] == "expired"
    assert await no(session, "play_album", album_id=RUBY) == "SUBSCRIPTION_REQUIRED"
    assert (
        await no(session, "add_tracks_to_library", track_ids=[song("sidelong-1")])
        == "SUBSCRIPTION_REQUIRED"
    )
    assert (await call(session, "get_library_tracks"))["tracks"], "the library should stay readable"
    gran = world_of("eleanor")
    assert (await call(gran, "get_user_profile"))["subscription_until"] is None


async def test_editors_picks_lead_to_what_exists(session: Session) -> None:
    tools = {
        "album": "get_catalog_album",
        "artist": "get_artist",
        "playlist": "get_playlist",
        "station": "get_station",
    }
    picks = (await call(session, "get_editorial_content", limit=100))["content"]
    assert {p["type"] for p in picks} == set(tools)
    for pick in picks:
        await call(session, tools[pick["type"]], **{f"{pick['type']}_id": pick["target_id"]})
    assert await no(session, "get_editorial_content", content_id="aped_x") == "CONTENT_NOT_FOUND"
