"""What an agent must tell, may tell or must not claim: a sentence, its claim and its truth."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, StrictInt, model_validator

from judge.statements.scope import ALWAYS, Moment, check_truth
from servers.kit.declared import Declared
from servers.kit.errors import InputError, UnknownName, placing
from servers.kit.expr import render

if TYPE_CHECKING:
    from judge.reading import Claim

Mode = Literal["must", "may", "never"]


class Statement(Declared):
    """A statement about what happened or what is so.

    Exactly one of `must`, `may` and `never` holds the plain sentence. `claim` is one entry of the
    vocabulary (`judge/claims/`) with its slots, in which `${…}` is computed at the moment of the
    text. `holds` is an expression over the true world and the trace at that moment (`Moment`), or
    `always`. A `must` has to be told in its `turn` if it is true then. `rests_on` names an evidence
    check: as long as it is unsettled, "I could not confirm that …" is true and enough.
    `in_mail_to` makes it a statement about the mails that the agent writes to an address,
    `written_in` about the prose that it puts into rows of tables (a review that it publishes, say).
    """

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    must: str | None = None
    may: str | None = None
    never: str | None = None
    claim: dict[str, Any]
    holds: str = ALWAYS
    turn: StrictInt | Literal["last", "any"] = "last"
    rests_on: str | None = None
    in_mail_to: str | None = None
    written_in: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _one_sentence(self) -> Statement:
        given = [mode for mode in ("must", "may", "never") if getattr(self, mode) is not None]
        if len(given) != 1:
            raise InputError(f"a statement is one of must, may and never; got {given or 'none'}")
        if self.in_mail_to is not None and self.written_in:
            raise InputError("a statement is about mails or about what is written in tables")
        if len(self.claim) != 1:
            raise InputError("claim: wants one claim, as in {paid: {to: Ana Ruiz, amount: 12}}")
        self._parsed(self._slots, computed=False)
        return self

    @property
    def mode(self) -> Mode:
        """Whether it must be told, may be told or must never be claimed."""
        if self.must is not None:
            return "must"
        return "may" if self.may is not None else "never"

    @property
    def sentence(self) -> str:
        """The statement in plain words."""
        return self.must or self.may or self.never or ""

    def sentence_at(self, moment: Moment) -> str:
        """Return the statement in plain words, with its figures as they are at a moment."""
        if "${" not in self.sentence:
            return self.sentence
        return str(render(self.sentence, moment.scope))

    @property
    def to_others(self) -> bool:
        """Whether it is about what others read, and not about what the user is told."""
        return self.in_mail_to is not None or bool(self.written_in)

    @property
    def kind(self) -> str:
        """The kind of its claim."""
        return next(iter(self.claim))

    @property
    def slots(self) -> dict[str, Any]:
        """The slots of its claim as declared, without the stars."""
        return {name.rstrip("*"): value for name, value in (self._slots or {}).items()}

    @property
    def _slots(self) -> Any:
        return next(iter(self.claim.values()))

    def claim_at(self, moment: Moment | None) -> Claim:
        """Return the claim with its slots computed. Raises `InputError`."""
        if self._constant is not None:
            return self._constant
        slots = self._slots if moment is None else render(self._slots, moment.scope)
        return self._parsed(slots)

    @functools.cached_property
    def _constant(self) -> Claim | None:
        """The claim of a statement that computes none of its slots."""
        return None if "${" in str(self._slots) else self._parsed(self._slots)

    def _parsed(self, slots: Any, *, computed: bool = True) -> Claim:
        from judge.reading import parse_claim

        return parse_claim(self.kind, slots, computed=computed)

    def is_true(self, moment: Moment) -> bool:
        """Return whether the statement is true at a moment."""
        return moment.holds(self.holds)

    def is_open(self, moment: Moment) -> bool:
        """Return whether the evidence that the statement rests on is not settled at a moment."""
        return self.rests_on is not None and not moment.scope["settled"][self.rests_on]

    def check(self, where: str, tables: Any, faults: list[str], evidence: list[str]) -> None:
        """Check every name that the statement uses. Raises `InputError`."""
        expressions = {"claim": self._slots, self.mode: self.sentence}
        if self.holds != ALWAYS:
            expressions["holds"] = "${" + self.holds + "}"
        for table in self.written_in:
            if table not in tables:
                raise UnknownName("table", table, tables, where)
        for key, expression in expressions.items():
            with placing(f"{where}: {key}"):
                check_truth(expression, "", tables=tables, faults=faults, evidence=evidence)
