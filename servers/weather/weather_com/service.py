"""The Weather Channel (weather.com), put together from its topics."""

from __future__ import annotations

from servers.weather._rules import SHARED_TABLES
from servers.weather.weather_com._model import TABLES
from servers.weather.weather_com.account import Account
from servers.weather.weather_com.air import AirAndSun
from servers.weather.weather_com.conditions import Conditions
from servers.weather.weather_com.forecasts import Forecasts


class WeatherCom(Conditions, Forecasts, AirAndSun, Account):
    """Forecasts for 48 hours and 10 days, 40 days of history, air quality, pollen and radar."""

    name = "weather_com"
    title = "The Weather Channel"
    category = "weather"
    domain = "lifestyle"
    tables = TABLES
    shared_tables = SHARED_TABLES
