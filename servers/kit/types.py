"""Names for data whose shape is open: what a table or a tool makes of it is said there."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]
"""A row of a table by column, with lists, objects and booleans decoded."""

Json = dict[str, Any]
"""A JSON object: the arguments of a call, a reply, or a part of one."""
