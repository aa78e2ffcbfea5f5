"""Yahoo Weather, put together from its topics."""

from __future__ import annotations

from servers.kit.service import Codes
from servers.weather._rules import SHARED_TABLES
from servers.weather.yahoo_weather._model import TABLES
from servers.weather.yahoo_weather.account import Account
from servers.weather.yahoo_weather.climate import Climate
from servers.weather.yahoo_weather.conditions import Conditions
from servers.weather.yahoo_weather.sky import Sky


class YahooWeather(Conditions, Sky, Climate, Account):
    """Outlooks for 12 hours and 5 days, 30 days of history, astronomy and climate averages."""

    name = "yahoo_weather"
    title = "Yahoo Weather"
    category = "weather"
    domain = "lifestyle"
    tables = TABLES
    shared_tables = SHARED_TABLES
    codes = Codes(
        invalid="INVALID_PARAMETER",
        rate_limited="TOO_MANY_REQUESTS",
        timeout="GATEWAY_TIMEOUT",
        internal="INTERNAL_SERVER_ERROR",
    )
