"""The Outlook Calendar provider, assembled from its topics."""

from __future__ import annotations

from servers.calendar._rules import SHARED
from servers.calendar.outlook_calendar._model import TABLES
from servers.calendar.outlook_calendar.calendars import Account
from servers.calendar.outlook_calendar.events import Events
from servers.calendar.outlook_calendar.polls import Polls
from servers.calendar.outlook_calendar.rooms import Rooms
from servers.calendar.outlook_calendar.schedule import Schedule
from servers.kit.service import Codes


class OutlookCalendar(Account, Events, Schedule, Rooms, Polls):
    """A work calendar with rooms, categories, meeting times and polls."""

    name = "outlook_calendar"
    title = "Outlook Calendar"
    category = "calendar"
    domain = "communication"
    day_tool = ("get_events", "start_date", "end_date")
    tables = TABLES
    shared_tables = SHARED
    codes = Codes(
        invalid="ERROR_INVALID_REQUEST",
        unavailable="ERROR_SERVER_BUSY",
        rate_limited="APPLICATION_THROTTLED",
        timeout="GATEWAY_TIMEOUT",
        unauthorized="INVALID_AUTHENTICATION_TOKEN",
        internal="ERROR_INTERNAL_SERVER_ERROR",
    )
