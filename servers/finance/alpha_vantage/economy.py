"""Economic data, as far as it has been released."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from servers.finance import _calendar as calendar
from servers.finance.alpha_vantage import _macro as macro
from servers.kit.service import Service, reads
from servers.kit.types import Json
from servers.kit.values import Cursor, Limit, iso, page
from servers.kit.zones import local_day

Name = Annotated[
    Literal["GDP", "CPI", "UNEMPLOYMENT", "FEDERAL_FUNDS_RATE", "INFLATION", "RETAIL_SALES"],
    Field(description="The series; see list_alpha_economic_indicators for descriptions."),
]


class Economy(Service):
    """Economic series."""

    @reads(example={"indicator": "CPI"})
    def get_alpha_economic_indicator(
        self, indicator: Name, limit: Limit = 24, cursor: Cursor | None = None
    ) -> Json:
        """Return an economic series, newest period first; unreleased periods are not included.

        date is the first day of the period, value the figure of the latest release, vintage the
        name of that release, and earlier_value the figure of the release before it, or null.
        """
        series = macro.INDICATORS[indicator]
        releases: dict[str, list[macro.Vintage]] = {}
        for period in self._periods(series):
            known = macro.known(series, period, self.now)
            if known:
                releases[period.isoformat()] = known
        about = {
            "indicator": indicator,
            "name": series.title,
            "unit": series.unit,
            "interval": series.frequency,
        }
        return about | page(
            list(releases), "data", limit, cursor, lambda d: self._point(d, releases[d])
        )

    @reads()
    def list_alpha_economic_indicators(self) -> Json:
        """Return the economic series with their unit, interval, latest period and next release."""
        return {"indicators": [self._about(name) for name in macro.INDICATORS]}

    def _periods(self, series: macro.Indicator) -> list[date]:
        return macro.periods(series, local_day(self.now, calendar.NEW_YORK))

    def _point(self, period: str, out: list[macro.Vintage]) -> Json:
        latest = out[-1]
        before = out[-2] if len(out) > 1 else None
        return {
            "date": period,
            "value": latest.value,
            "vintage": latest.name,
            "released_at": iso(latest.at),
            "earlier_value": before and before.value,
        }

    def _about(self, name: str) -> Json:
        series = macro.INDICATORS[name]
        periods = self._periods(series)
        latest = next((p for p in periods if macro.known(series, p, self.now)), None)
        ahead: list[int] = []
        for period in periods[:4]:
            ahead += [v.at for v in series.releases(period) if v.at > self.now]
        return {
            "indicator": name,
            "name": series.title,
            "description": series.description,
            "unit": series.unit,
            "interval": series.frequency,
            "latest_period": latest and latest.isoformat(),
            "next_release_at": iso(min(ahead)) if ahead else None,
        }
