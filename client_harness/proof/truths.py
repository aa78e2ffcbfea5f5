"""Whether the truth of each statement varies over the runs of a proof."""

from __future__ import annotations

from collections.abc import Sequence

from judge.statements import Statement
from judge.statements.mails import letters
from judge.statements.scope import ALWAYS, Moment
from judge.trace import Record
from scenarios.model import Scenario


class Truths:
    """Collects what every run makes of every statement."""

    def __init__(self, scenario: Scenario) -> None:
        self._statements = [s for s in scenario.statements if s.holds != ALWAYS]
        self._seen: dict[str, set[bool]] = {s.name: set() for s in self._statements}
        self._broken: dict[str, str] = {}

    def look(self, run: str, record: Record) -> None:
        """Evaluate every statement at each text of a run."""
        if not self._statements:
            return
        texts = [(message.turn, Moment.of(record, message)) for message in record.said()]
        for statement in self._statements:
            moments = _heard(statement, texts, record.last_turn)
            if statement.to_others:
                sent = letters(record, statement)
                moments = [Moment(record, mail.seq, mail.turn, mail.at) for mail in sent]
            for moment in moments:
                try:
                    self._seen[statement.name].add(statement.is_true(moment))
                except Exception as wrong:  # every way in which an expression may fail
                    said = f"its truth cannot be computed in {run}: {wrong}"
                    self._broken.setdefault(statement.name, said)

    def problems(self) -> list[str]:
        """Return one line for each statement whose truth fails or never varies."""
        problems = []
        for statement in self._statements:
            values = self._seen[statement.name]
            if statement.name in self._broken:
                problems.append(f"statement {statement.name}: {self._broken[statement.name]}")
            elif len(values) < 2:
                what = "true" if True in values else "false"
                problems.append(
                    f"statement {statement.name}: it is {what} in every run of the proof"
                    + ("; write `holds: always`" if True in values else "")
                )
        return problems


def _heard(
    statement: Statement, texts: Sequence[tuple[int, Moment]], last_turn: int
) -> list[Moment]:
    """Return the moments that count: for what must be told, the end of its turn."""
    if statement.mode != "must" or statement.turn == "any":
        return [moment for _, moment in texts]
    turn = last_turn if statement.turn == "last" else statement.turn
    return [moment for number, moment in texts if number == turn][-1:]
