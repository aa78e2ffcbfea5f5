"""Yahoo Weather: the shorter horizon, and what the sky does: sun, moon, pressure, wind, climate averages."""

from __future__ import annotations

from servers.weather.yahoo_weather.account import Account
from servers.weather.yahoo_weather.climate import Climate
from servers.weather.yahoo_weather.conditions import Conditions
from servers.weather.yahoo_weather.sky import Sky


class YahooWeather(Conditions, Sky, Climate, Account):
    """Outlooks of 12 hours and 5 days, history of 30 days, astronomy, pressure, wind detail and climate averages."""

    name = "yahoo_weather"
    title = "Yahoo Weather"
    category = "weather"
    domain = "lifestyle"
