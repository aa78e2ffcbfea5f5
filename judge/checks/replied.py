"""`replied`: the agent said something to the user in a turn."""

from __future__ import annotations

from typing import ClassVar

from pydantic import StrictInt

from judge.finding import Finding
from judge.model import Aspect, Check
from judge.trace import Record


class Replied(Check):
    """In a turn, the user got a text that is not empty.

    What stands in it is for statements to judge; this is for turns that want no more than an
    answer, such as small talk.
    """

    kind: ClassVar[str] = "replied"
    default_aspect: ClassVar[Aspect] = "outcome"

    turn: StrictInt

    def judge(self, record: Record) -> Finding:
        """See `Check.judge`."""
        texts = [said.text.strip() for said in record.said() if said.turn == self.turn]
        if any(texts):
            return Finding(True, f"the user got an answer in turn {self.turn}")
        return Finding(False, f"nothing was said in turn {self.turn}")
