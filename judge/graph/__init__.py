"""Tasks as graphs of needed calls, and how far a run came in one."""

from judge.graph.matcher import Matcher, Node, Score

__all__ = ["Matcher", "Node", "Score"]
