"""The Google Calendar provider, assembled from its topics."""

from __future__ import annotations

from servers.calendar._rules import SHARED
from servers.calendar.google_calendar._model import TABLES
from servers.calendar.google_calendar.appointments import Appointments
from servers.calendar.google_calendar.calendars import Calendars
from servers.calendar.google_calendar.events import Events
from servers.calendar.google_calendar.hours import Hours
from servers.calendar.google_calendar.invitations import Invitations
from servers.kit.service import Codes


class GoogleCalendar(Calendars, Events, Invitations, Appointments, Hours):
    """A calendar with access rules, appointment slots and out of office."""

    name = "google_calendar"
    title = "Google Calendar"
    category = "calendar"
    domain = "communication"
    day_tool = ("list_events", "time_min", "time_max")
    tables = TABLES
    shared_tables = SHARED
    codes = Codes(
        invalid="INVALID_ARGUMENT",
        unavailable="BACKEND_ERROR",
        rate_limited="RATE_LIMIT_EXCEEDED",
        timeout="DEADLINE_EXCEEDED",
        unauthorized="AUTH_ERROR",
        internal="INTERNAL_ERROR",
    )
