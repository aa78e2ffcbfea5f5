"""What only Spotify has.

Devices, collaborative playlists, podcasts with resume points, Blends and jams.
"""

from __future__ import annotations

from typing import Any

import pytest

from servers.kit.session import Session
from servers.kit.values import parse_time
from tests.services.music.support import DAY, HOUR, album, track
from tests.support import at, call_ok, call_refused, new_session, pages

pytestmark = pytest.mark.anyio


@pytest.fixture
def session() -> Session:
    return new_session("spotify")


async def call(session: Session, tool: str, **args: Any) -> dict[str, Any]:
    return await call_ok(session, "spotify", tool, **args)


async def no(session: Session, tool: str, **args: Any) -> str:
    return (await call_refused(session, "spotify", tool, **args))["code"]


SONG = track("spotify", "low-tide-1")
OTHER = track("spotify", "firewood-2")
TIDE = f"album:{album('spotify', 'low-tide')}"
KITCHEN = at("spd", "kitchen")
PHONE = at("spd", "phone")
OFFICE = at("spd", "office")
BATHROOM = at("spd", "bathroom")
STUDIO = at("sppl", "studio-mix")
HIKE = at("sppl", "priya-hike")
YOGA = at("sppl", "nora-yoga")
PRIVATE = at("sppl", "kai-private")
KAI = at("spu", "kai_tanaka")


# -- devices --------------------------------------------------------------------------------------


async def test_playback_moves_to_another_device_without_losing_its_place(session: Session) -> None:
    await call(session, "play_context", context_uri=TIDE)
    session.control.advance(50)
    moved = await call(session, "transfer_playback", device_id=PHONE)
    assert moved["device_name"] == "Maya's phone" and moved["is_playing"]
    state = await call(session, "get_now_playing")
    assert state["device"]["device_id"] == PHONE and state["position_ms"] >= 50_000
    reply = await call(session, "get_devices")
    active = [d["device_id"] for d in reply["devices"] if d["is_active"]]
    assert active == [PHONE]


async def test_volume_belongs_to_a_device_and_phones_keep_theirs(session: Session) -> None:
    assert (await call(session, "set_volume", volume_percent=15))["device_id"] == KITCHEN
    await call(session, "transfer_playback", device_id=PHONE)
    assert await no(session, "set_volume", volume_percent=15) == "VOLUME_CONTROL_DISALLOWED"
    reply = await call(session, "get_devices")
    volumes = {d["device_id"]: d["volume_percent"] for d in reply["devices"]}
    assert volumes[KITCHEN] == 15 and volumes[PHONE] == 100


async def test_a_device_that_is_off_refuses_and_the_desk_is_on_in_office_hours(
    session: Session,
) -> None:
    assert await no(session, "start_track", track_id=SONG, device_id=BATHROOM) == "DEVICE_OFFLINE"
    assert await no(session, "transfer_playback", device_id=OFFICE) == "DEVICE_OFFLINE", (
        "the desk is off on Saturdays"
    )
    assert await no(session, "transfer_playback", device_id="spd_0000000000") == "DEVICE_NOT_FOUND"
    session.control.advance(2 * DAY + 2 * HOUR)
    started = await call(
        session, "start_track", track_id=track("spotify", "littoral-1"), device_id=OFFICE
    )
    assert started["device"]["name"] == "Fernhill desk"
    session.control.advance(12 * HOUR)
    assert await no(session, "resume_stream") == "DEVICE_OFFLINE", "the desk is off at night"


async def test_playback_needs_premium_but_playlists_do_not(session: Session) -> None:
    session.world.update("spotify_profile", at("spu", "me"), premium=False)
    session.world.commit()
    assert await no(session, "start_track", track_id=SONG) == "PREMIUM_REQUIRED"
    assert await no(session, "start_jam_session") == "PREMIUM_REQUIRED"
    assert (await call(session, "save_tracks", track_ids=[OTHER]))["total_saved"]


async def test_going_back_leaves_the_song_and_seeking_past_its_end_skips(session: Session) -> None:
    await call(session, "play_context", context_uri=TIDE, offset=2)
    session.control.advance(60)
    back = await call(session, "previous_track")
    assert back["track"]["track_id"] == track("spotify", "low-tide-2") and back["position_ms"] == 0
    skipped = await call(session, "seek_position", position_ms=3_000_000)
    assert skipped["track"]["track_id"] == track("spotify", "low-tide-3")
    assert await no(session, "play_context", context_uri="artist:x") == "INVALID_CONTEXT"
    assert await no(session, "play_context", context_uri=TIDE, offset=40) == "INVALID_OFFSET"


# -- playlists ------------------------------------------------------------------------------------


async def test_a_collaborator_adds_but_only_the_owner_renames_or_deletes(session: Session) -> None:
    added = await call(session, "queue_tracks_to_playlist", playlist_id=HIKE, track_ids=[OTHER])
    last = (await call(session, "fetch_playlist", playlist_id=HIKE))["tracks"][-1]
    assert last["track_id"] == OTHER
    assert last["added_by"] == at("spu", "me")
    assert added["track_count"] == 16
    code = await no(session, "modify_playlist_details", playlist_id=HIKE, name="Mine now")
    assert code == "NOT_PLAYLIST_OWNER"
    assert await no(session, "remove_playlist", playlist_id=HIKE) == "NOT_PLAYLIST_OWNER"
    code = await no(session, "queue_tracks_to_playlist", playlist_id=YOGA, track_ids=[OTHER])
    assert code == "PLAYLIST_NOT_EDITABLE"


async def test_a_private_playlist_of_another_does_not_exist_for_the_user(session: Session) -> None:
    assert await no(session, "fetch_playlist", playlist_id=PRIVATE) == "PLAYLIST_NOT_FOUND"
    assert await no(session, "follow_playlist", playlist_id=PRIVATE) == "PLAYLIST_NOT_FOUND"
    shown = await call(session, "get_public_profile", user_id=KAI)
    assert shown["playlists"] == [] and shown["following"] is False
    await call(session, "follow_playlist", playlist_id=YOGA)
    reply = await call(session, "get_user_playlists", limit=100)
    assert YOGA in [p["playlist_id"] for p in reply["playlists"]]


async def test_a_collaborative_playlist_is_never_public(session: Session) -> None:
    made = await call(session, "create_new_playlist", name="Together", collaborative=True)
    assert made["public"] is False and made["collaborative"]
    code = await no(session, "create_new_playlist", name="Both", collaborative=True, public=True)
    assert code == "INVALID_VISIBILITY"
    assert (await call(session, "create_new_playlist", name="Open"))["public"] is True
    changed = await call(session, "modify_playlist_details", playlist_id=STUDIO, collaborative=True)
    assert changed["public"] is False and changed["name"] == "Studio mix"


async def test_a_change_against_an_old_snapshot_is_refused(session: Session) -> None:
    before = (await call(session, "fetch_playlist", playlist_id=STUDIO))["snapshot_id"]
    after = await call(
        session,
        "queue_tracks_to_playlist",
        playlist_id=STUDIO,
        track_ids=[SONG, SONG],
        snapshot_id=before,
    )
    assert after["snapshot_id"] != before
    error = await call_refused(
        session,
        "spotify",
        "queue_tracks_to_playlist",
        playlist_id=STUDIO,
        track_ids=[OTHER],
        snapshot_id=before,
    )
    assert error["code"] == "SNAPSHOT_MISMATCH" and error["snapshot_id"] == after["snapshot_id"]
    gone = await call(session, "dequeue_tracks_from_playlist", playlist_id=STUDIO, track_ids=[SONG])
    assert gone["track_count"] == after["track_count"] - 2, "every occurrence should be removed"
    assert gone["snapshot_id"] == before, "the playlist should be back in its old state"
    code = await no(session, "dequeue_tracks_from_playlist", playlist_id=STUDIO, track_ids=[SONG])
    assert code == "TRACK_NOT_IN_PLAYLIST"


async def test_pages_of_a_playlist_hold_a_song_twice_where_it_stands_twice(
    session: Session,
) -> None:
    sunday = at("sppl", "sunday")
    first = await call(session, "fetch_playlist", playlist_id=sunday, limit=5)
    tracks = await pages(
        session, "spotify", "fetch_playlist", "tracks", playlist_id=sunday, limit=5
    )
    assert len(tracks) == first["track_count"]
    assert [t["track_id"] for t in tracks].count(SONG) == 2


async def test_following_an_artist_shows_in_the_count_of_followers(session: Session) -> None:
    who = at("spar", "kid-almanac")
    before = (await call(session, "fetch_artist", artist_id=who))["follower_count"]
    assert not (await call(session, "unsubscribe_from_artist", artist_id=who))["unfollowed"]
    await call(session, "subscribe_to_artist", artist_id=who)
    assert (await call(session, "fetch_artist", artist_id=who))["follower_count"] == before + 1
    assert await no(session, "follow_user", target_user_id=at("spu", "me")) == "CANNOT_FOLLOW_SELF"


# -- podcasts -------------------------------------------------------------------------------------


async def test_an_episode_goes_on_where_it_was_left(session: Session) -> None:
    episode = at("spep", "margins-18")
    left = (await call(session, "get_episode", episode_id=episode))["resume_position_ms"]
    state = await call(session, "play_episode", episode_id=episode)
    assert state["position_ms"] == left > 0 and state["track"] is None
    session.control.advance(600)
    reply = await call(session, "get_episode", episode_id=episode)
    assert 600_000 <= reply["resume_position_ms"] - left <= 605_000
    await call(session, "start_track", track_id=SONG)
    session.control.advance(HOUR)
    kept = (await call(session, "get_episode", episode_id=episode))["resume_position_ms"]
    assert 600_000 <= kept - left <= 610_000
    await call(session, "play_episode", episode_id=episode)
    session.control.advance(2 * HOUR)
    heard = await call(session, "get_episode", episode_id=episode)
    assert heard["fully_played"] and heard["resume_position_ms"] == 0


async def test_episodes_appear_on_their_day(session: Session) -> None:
    show = at("spsh", "margins")
    coming = at("spep", "margins-19")
    assert await no(session, "get_episode", episode_id=coming) == "EPISODE_NOT_FOUND"
    before = (await call(session, "get_show", show_id=show))["total_episodes"]
    session.control.advance(7 * DAY)
    shown = await call(session, "get_show", show_id=show)
    assert shown["total_episodes"] == before + 1 and shown["episodes"][0]["episode_id"] == coming


async def test_shows_and_episodes_are_found_by_words(session: Session) -> None:
    reply = await call(session, "search_shows", query="designers product")
    assert [s["name"] for s in reply["shows"]] == ["Margins & Gutters"]
    episodes = (await call(session, "search_episodes", query="naming things"))["episodes"]
    assert len(episodes) == 2 and all("Naming things" in e["name"] for e in episodes)
    reply = await call(
        session, "search_episodes", query="naming things", show_id=at("spsh", "grout")
    )
    assert not reply["episodes"]


# -- friends --------------------------------------------------------------------------------------


async def test_a_blend_is_made_once_matches_by_what_was_heard_and_cannot_be_edited(
    session: Session,
) -> None:
    made = await call(session, "create_blend", target_user_id=KAI)
    assert 0 < made["taste_match_percent"] < 100 and len(made["tracks"]) == 20
    reply = await call(session, "list_blends")
    assert made["blend_id"] in [b["blend_id"] for b in reply["blends"]]
    error = await call_refused(session, "spotify", "create_blend", target_user_id=KAI)
    assert error["blend_id"] == made["blend_id"]
    playlist = made["playlist_id"]
    code = await no(session, "queue_tracks_to_playlist", playlist_id=playlist, track_ids=[SONG])
    assert code == "BLEND_NOT_EDITABLE"
    await call(session, "remove_playlist", playlist_id=playlist)
    assert await no(session, "get_blend", blend_id=made["blend_id"]) == "BLEND_NOT_FOUND"


async def test_a_blend_moves_towards_what_is_heard(session: Session) -> None:
    blend = at("spb", "jordan_park")
    before = (await call(session, "get_blend", blend_id=blend))["taste_match_percent"]
    await call(session, "play_context", context_uri=f"album:{album('spotify', 'black-plum')}")
    await call(session, "toggle_repeat", mode="context")
    session.control.advance(5 * DAY)
    after = await call(session, "update_blend", blend_id=blend)
    assert after["taste_match_percent"] > before and after["updated_at"] > "2026-03-19"
    plum = {track("spotify", f"black-plum-{n}") for n in range(1, 11)}
    assert plum & {t["track_id"] for t in after["tracks"]}


async def test_a_jam_is_joined_by_its_code_and_only_then_may_tracks_be_added(
    session: Session,
) -> None:
    listed = (await call(session, "list_jam_sessions"))["sessions"]
    assert {s["status"] for s in listed} == {"active", "ended"}
    cabin = at("spj", "cabin")
    over = at("spj", "concert")
    assert await no(session, "add_to_jam_queue", session_id=cabin, track_id=SONG) == "NOT_IN_JAM"
    assert await no(session, "join_jam_session", session_id=over) == "JAM_ENDED"
    code = next(s["join_code"] for s in listed if s["session_id"] == cabin)
    joined = await call(session, "join_jam_session", join_code=code.lower())
    assert [p["display_name"] for p in joined["participants"]] == [
        "Priya Nair",
        "Ben Asher",
        "Maya Lindqvist",
    ]
    added = await call(session, "add_to_jam_queue", session_id=cabin, track_id=SONG)
    assert added["queue_length"] == len(joined["queue"]) + 1
    assert await no(session, "join_jam_session", session_id=cabin) == "ALREADY_IN_JAM"
    assert await no(session, "join_jam_session") == "BAD_REQUEST"


async def test_a_jam_plays_through_its_queue_and_ends_after_eight_hours(session: Session) -> None:
    await call(session, "play_context", context_uri=TIDE)
    jam = await call(session, "start_jam_session")
    assert jam["current_track"]["track_id"] == SONG
    session.control.advance(jam["current_track"]["duration_ms"] // 1000 + 5)
    later = await call(session, "get_jam_session", session_id=jam["session_id"])
    assert later["current_track"]["track_id"] == track("spotify", "low-tide-2")
    assert len(later["queue"]) == len(jam["queue"]) - 1
    assert await no(session, "start_jam_session") == "JAM_ALREADY_ACTIVE"
    assert parse_time(jam["ends_at"]) - parse_time(jam["started_at"]) == 8 * HOUR
    session.control.advance(8 * HOUR)
    ended = await call(session, "get_jam_session", session_id=jam["session_id"])
    assert ended["status"] == "ended" and ended["current_track"] is None
    again = await call(session, "start_jam_session")
    reply = await call(session, "leave_jam_session", session_id=again["session_id"])
    assert reply["status"] == "ended"


# -- listening ------------------------------------------------------------------------------------


async def test_top_lists_follow_the_span(session: Session) -> None:
    spans = [
        await call(session, "get_listening_stats", time_range=r)
        for r in ("short_term", "medium_term", "long_term")
    ]
    minutes = [s["total_minutes"] for s in spans]
    assert minutes == sorted(minutes) and minutes[0] < minutes[2]
    reply = await call(
        session, "get_top_items", item_type="tracks", time_range="medium_term", limit=5
    )
    top = reply["items"]
    assert [t["track_id"] for t in top] == [t["track_id"] for t in spans[1]["top_tracks"]]
    assert [t["rank"] for t in top] == [1, 2, 3, 4, 5]


async def test_recommendations_want_one_to_five_seeds_and_repeat_themselves(
    session: Session,
) -> None:
    assert await no(session, "get_recommendations") == "INVALID_SEEDS"
    code = await no(
        session, "get_recommendations", seed_genres=["jazz"] * 3, seed_tracks=[SONG] * 3
    )
    assert code == "INVALID_SEEDS"
    assert await no(session, "get_recommendations", seed_artists=["spar_x"]) == "ARTIST_NOT_FOUND"
    one = await call(session, "get_recommendations", seed_tracks=[SONG], seed_genres=["ambient"])
    assert one == await call(
        session, "get_recommendations", seed_tracks=[SONG], seed_genres=["ambient"]
    )
    assert SONG not in [t["track_id"] for t in one["tracks"]] and len(one["tracks"]) == 10
    assert all({"indie", "folk", "ambient"} & set(t["genres"]) for t in one["tracks"])


async def test_a_jam_begins_with_what_plays_and_then_what_comes(session: Session) -> None:
    await call(session, "play_context", context_uri=f"album:{at('spal', 'low-tide')}", offset=2)
    await call(session, "add_to_queue", track_id=at("spt", "firewood-2"))
    coming = [t["track_id"] for t in (await call(session, "get_queue", limit=100))["queue"]]
    playing = (await call(session, "get_now_playing"))["track"]["track_id"]
    jam = await call(session, "start_jam_session")
    assert jam["current_track"]["track_id"] == playing
    assert [t["track_id"] for t in jam["queue"]] == coming and coming[0] == at("spt", "firewood-2")


async def test_seeking_past_the_end_of_an_episode_finishes_it(session: Session) -> None:
    episode = at("spep", "margins-18")
    state = await call(session, "play_episode", episode_id=episode)
    await call(session, "seek_position", position_ms=state["episode"]["duration_ms"] + 1)
    heard = await call(session, "get_episode", episode_id=episode)
    assert heard["fully_played"] and heard["resume_position_ms"] == 0
    await call(session, "start_track", track_id=at("spt", "firewood-2"))
    assert (await call(session, "get_episode", episode_id=episode))["fully_played"]
