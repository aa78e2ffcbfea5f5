"""Google Calendar: calendars with access rules, quick add, appointment slots, out of office."""
