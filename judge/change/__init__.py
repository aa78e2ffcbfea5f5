"""What a run changed in the world, compared with what right runs change."""

from judge.change.expected import Expected, Route
from judge.change.match import Freedom
from judge.change.rows import Timeline, timeline

__all__ = ["Expected", "Freedom", "Route", "Timeline", "timeline"]
