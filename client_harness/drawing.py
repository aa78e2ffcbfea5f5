"""Curves of accuracy along an axis: as data, as lines for a terminal, and as an SVG picture.

Intervals are percentile bootstraps over what was played at a point (Efron 1979).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

DRAWS = 2_000
"""Bootstrap samples for an interval."""
COLORS = ("#1f6feb", "#d1480f", "#1a7f37", "#8250df", "#9a6700", "#57606a")
_WIDTH = 560
_HEIGHT = 320
_LEFT = 56
_RIGHT = 150
_TOP = 28
_BOTTOM = 48


class Point(NamedTuple):
    """A point: accuracy at a value of the axis, with its interval, over so many `units`."""

    at: int
    accuracy: float
    low: float
    high: float
    units: int


def points_of(scores: Mapping[int, Mapping[str, float]]) -> list[Point]:
    """Return the points of a curve, given value of the axis → unit → its share of right trials."""
    points = []
    for at, by_unit in scores.items():
        values = list(by_unit.values())
        low, high = _interval(values)
        points.append(Point(at, sum(values) / len(values), low, high, len(values)))
    return points


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % percentile interval of a mean, always the same for the same values."""
    chance = Random(0)
    means = sorted(sum(chance.choices(values, k=len(values))) / len(values) for _ in range(DRAWS))
    return means[int(0.025 * DRAWS)], means[int(0.975 * DRAWS)]


def as_data(drawn: Mapping[str, Sequence[Point]], axis: str) -> dict[str, Any]:
    """Return curves as JSON data."""
    agents = {}
    for agent, points in drawn.items():
        agents[agent] = [point._asdict() for point in points]
    return {"axis": axis, "agents": agents}


def as_lines(
    drawn: Mapping[str, Sequence[Point]], axis: str, units: str, width: int = 40
) -> list[str]:
    """Return curves as lines for a terminal: a bar for each point."""
    lines = []
    for agent, points in drawn.items():
        lines.append(f"{agent}: right by {axis}, up to {max(p.units for p in points)} {units}")
        for point in points:
            bar = ("█" * round(point.accuracy * width)).ljust(width, "·")
            span = f"({100 * point.low:.0f}–{100 * point.high:.0f})"
            lines.append(f"  {point.at:>3}  {bar} {point.accuracy:4.0%}  {span}")
    return lines


def as_svg(drawn: Mapping[str, Sequence[Point]], axis: str, units: str) -> str:
    """Return curves as an SVG picture that stands alone."""
    every = list(itertools.chain.from_iterable(drawn.values()))
    ats = sorted({point.at for point in every})
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="system-ui, sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="16">Right {units} by {axis}</text>',
    ]
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = _y(share)
        right = _WIDTH - _RIGHT
        parts.append(f'<line x1="{_LEFT}" y1="{y}" x2="{right}" y2="{y}" stroke="#d0d7de"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end">{share:.0%}</text>')
    for at in ats:
        x = _x(at, ats)
        parts.append(f'<text x="{x}" y="{_HEIGHT - 28}" text-anchor="middle">{at}</text>')
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{_HEIGHT - 8}" text-anchor="middle">{axis}</text>')
    for number, (agent, points) in enumerate(drawn.items()):
        parts += _curve(agent, points, ats, number)
    return "\n".join([*parts, "</svg>", ""])


def _curve(agent: str, points: Sequence[Point], ats: Sequence[int], number: int) -> list[str]:
    color = COLORS[number % len(COLORS)]
    above = [f"{_x(p.at, ats)},{_y(p.high)}" for p in points]
    below = [f"{_x(p.at, ats)},{_y(p.low)}" for p in reversed(points)]
    line = [f"{_x(p.at, ats)},{_y(p.accuracy)}" for p in points]
    y = _TOP + 16 * (number + 1)
    x = _WIDTH - _RIGHT + 12
    return [
        f'<polygon points="{" ".join([*above, *below])}" fill="{color}" opacity="0.15"/>',
        f'<polyline points="{" ".join(line)}" fill="none" stroke="{color}" stroke-width="2"/>',
        f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="{color}"/>',
        f'<text x="{x + 16}" y="{y}">{escape(agent)}</text>',
    ]


def _x(at: int, ats: Sequence[int]) -> float:
    span = max(ats) - min(ats) or 1
    return round(_LEFT + 12 + (at - min(ats)) / span * (_WIDTH - _LEFT - _RIGHT - 24), 1)


def _y(share: float) -> float:
    return round(_TOP + (1 - share) * (_HEIGHT - _TOP - _BOTTOM), 1)
