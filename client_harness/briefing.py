"""What a connecting client is told: whose accounts these are, what day it is, what there is.

The facts are the person's own and the session's moment. What calendars hold is asked of them by a
call like any other, so that a client reads there what it would see through a tool, and the trace
shows that it looked.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from scenarios.worlds import build
from servers.kit.briefing import Briefing, Prompt, Resource
from servers.kit.session import SEPARATOR, Session
from servers.kit.values import iso
from servers.kit.zones import day_start, local, local_day

PROFILE = "account://profile"
AGENDA = "account://agenda"


def briefing(
    session: Session, world: str, *, whole: bool = True, prompts: Sequence[Prompt] = ()
) -> Briefing:
    """Return what clients of a session are told about the person of a world.

    `whole` includes addresses and telephone numbers, which a scenario may want to be looked up.
    `prompts` are what the client's user may say.
    """
    person = build.person(world)
    zone = ZoneInfo(person["timezone"])

    def instructions(only: str | None) -> str:
        return _instructions(session, person, zone, only)

    async def profile(only: str | None) -> Any:
        return shown_profile(person, whole)

    async def agenda(only: str | None) -> Any:
        return await _agenda(session, zone, only)

    resources = [
        Resource(PROFILE, "Profile", f"Who {person['name']} is and where.", profile),
    ]
    calendars = frozenset(name for name, cls in session.classes.items() if _reads_days(cls))
    if calendars - session.held_back:
        about = f"What the calendars of {person['name']} hold today."
        resources.append(Resource(AGENDA, "Agenda of the day", about, agenda, calendars))
    return Briefing(instructions, resources, prompts)


def _reads_days(cls: Any) -> bool:
    return cls.day_tool is not None and cls.day_tool[0] in cls.tools


def _instructions(
    session: Session, person: dict[str, Any], zone: ZoneInfo, only: str | None
) -> str:
    home = person["home"]
    names = [only] if only is not None and only in session.classes else session.listed()
    services = [f"{session.classes[name].title} (`{name}`)" for name in names]
    day = day_of(session.control.now, zone)
    lines = [
        f"These are the accounts of {person['name']}, who is the user.",
        f"It is {day} in {home['city']}, {home['state']}, where {person['name'].split()[0]} lives "
        f"({zone.key}); in UTC it is {iso(session.control.now)}.",
        f"Services: {', '.join(services)}.",
    ]
    if session.expose == "search":
        lines.append("Find their tools with `find_tools`, and call them with `call_tool`.")
    elif only is None:
        lines.append(f"The name of each tool begins with its service: `SERVICE{SEPARATOR}TOOL`.")
    if session.aside is not None:
        lines.append(session.aside.about)
    if "clock" in names:
        lines.append("Time passes with every call; the clock tells the present moment.")
    return "\n".join(lines)


def day_of(now: int, zone: ZoneInfo) -> str:
    """Return a moment in words: the day of the week, the date and the time in a zone."""
    here = local(now, zone)
    return f"{here:%A}, {here.day} {here:%B %Y}, {here:%H:%M}"


def shown_profile(person: dict[str, Any], whole: bool) -> dict[str, Any]:
    """Return who a person is and where.

    `whole` includes addresses and telephone numbers, which a scenario may want to be looked up.
    """
    home = person["home"]
    shown = {
        "name": person["name"],
        "city": home["city"],
        "state": home["state"],
        "timezone": person["timezone"],
    }
    if whole:
        address = ("street", "city", "state_code", "zip")
        shown |= {
            "born": str(person["born"]),
            "phone": person["phone"],
            "emails": person["emails"],
            "home": {part: home[part] for part in address},
            "work": {part: person["work"][part] for part in ("name", *address)},
        }
    return shown


async def _agenda(session: Session, zone: ZoneInfo, only: str | None) -> Any:
    day = local_day(session.control.now, zone)
    first = day_start(day, zone)
    last = day_start(day + timedelta(days=1), zone)
    calendars = {}
    for name in session.listed():
        cls = session.classes[name]
        if cls.day_tool is None or not _reads_days(cls) or only not in (None, name):
            continue
        tool, since, until = cls.day_tool
        reply = await session.call(name, tool, {since: first, until: last})
        calendars[name] = reply.data
    return {"day": day.isoformat(), "timezone": zone.key, "calendars": calendars}
