"""Mutants of mails: a figure, a name or a day in what the agent writes to others is another."""

from __future__ import annotations

from collections.abc import Iterator

from client_harness.proof.actions import Mutant
from client_harness.proof.moves import Call, Moves, changed
from client_harness.proof.sorts import Path, leaves, put
from client_harness.proof.texts import SENTENCE
from client_harness.proof.tokens import Token, Tokens, starts_of, swaps
from judge.reading import Claim
from judge.statements import Statement
from judge.statements.mails import letters
from judge.statements.scope import Moment
from judge.trace import Record
from scenarios.model import Scenario


def mail_mutants(scenario: Scenario, record: Record, moves: Moves) -> Iterator[Mutant]:
    """Yield the runs in which a mail holds another value in the slot of a statement about it."""
    places = {}
    for at, move in enumerate(moves):
        if isinstance(move, Call) and move.was is not None:
            places[move.was.seq] = at
    written: dict[tuple[int, Path], list[tuple[str, Claim, list[Token]]]] = {}
    for statement in scenario.statements:
        if not statement.to_others or statement.mode == "never":
            continue
        mails = list(letters(record, statement))
        for mail in mails:
            moment = Moment(record, mail.seq, mail.turn, mail.at)
            if mail.seq not in places or not statement.is_true(moment):
                continue
            place = places[mail.seq]
            call = moves[place]
            assert isinstance(call, Call)
            finder = Tokens(record.people, mail.at[:10])
            if statement.mode == "must":
                yield from _without(statement, call, place, moves, finder, moment)
            for path, value in leaves(call.args):
                # Only prose is told; ids and addresses are what the other mutants change.
                if not isinstance(value, str) or " " not in value:
                    continue
                claim = statement.claim_at(moment)
                tokens = finder.of(claim, value)
                # What another mail says, too, may be written otherwise in a mail that was lost.
                if len(mails) == 1:
                    told = written.setdefault((place, path), [])
                    told.append((statement.name, claim, tokens))
                for token in tokens:
                    args = put(call.args, path, token.replaced(value))
                    name = f"mail {call.label}: {statement.name}: {token.sort} {token.shown}"
                    yield Mutant(name, (changed(moves, place, args),))
    yield from _swapped(written, moves)


def _swapped(
    written: dict[tuple[int, Path], list[tuple[str, Claim, list[Token]]]], moves: Moves
) -> Iterator[Mutant]:
    """Yield the runs in which two statements about a mail have each other's value."""
    for (place, path), told in written.items():
        call = moves[place]
        assert isinstance(call, Call)
        leaf = next(value for at, value in leaves(call.args) if at == path)
        for what, text in swaps(leaf, told):
            args = put(call.args, path, text)
            # Its rows are equal where prose is free, but another is told something else.
            tries = (changed(moves, place, args),)
            yield Mutant(f"mail {call.label}: {what}", tries, differs=True)


def _without(
    statement: Statement, call: Call, place: int, moves: Moves, finder: Tokens, moment: Moment
) -> Iterator[Mutant]:
    """Yield the run in which a mail lacks the sentences that name a statement's values."""
    claim = statement.claim_at(moment)
    for path, value in leaves(call.args):
        if not isinstance(value, str) or " " not in value:
            continue
        starts = starts_of(finder.of(claim, value))
        kept = []
        for found in SENTENCE.finditer(value):
            if not any(found.start() <= start < found.end() for start in starts):
                kept.append(found[0])
        if starts:
            args = put(call.args, path, "".join(kept).strip() or "Hello!")
            name = f"mail {call.label}: without {statement.name}"
            yield Mutant(name, (changed(moves, place, args),))
