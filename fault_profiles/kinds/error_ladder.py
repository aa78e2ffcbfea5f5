"""One demand after another before the call goes through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

from pydantic import Field, model_validator

from fault_profiles.model import FIRED, Acting, Fault
from fault_profiles.refusal import Refusal
from fault_profiles.sample import Example
from fault_profiles.schedule import Moment, check_names
from fault_profiles.state import State
from servers.kit.call import Call, Next, Reply
from servers.kit.declared import Declared, Positive
from servers.kit.errors import InputError
from servers.kit.events import Attempt
from servers.kit.expr import check_predicate, matches
from servers.kit.selector import Selector
from servers.kit.session import Session


class Rung(Declared):
    """One step: its `error` and its demand, which is arguments (`met`) or another call (`met_by`).

    A `met_by` call counts if it is made while this step is due. A step without a demand is shown
    `times` times (once by default) and then passed.
    """

    error: Refusal = Refusal()
    met: dict[str, Any] = {}
    met_by: Moment | None = None
    times: Positive = 1

    @model_validator(mode="after")
    def _one(self) -> Rung:
        check_names(check_predicate(self.met, "met"), FIRED, "met")
        if self.met and self.met_by is not None:
            raise InputError("a step takes `met` (arguments) or `met_by` (a call), not both")
        if self.met_by is not None and self.met_by.called is None:
            raise InputError("met_by: must name a call, e.g. {called: venmo.get_contact, ok: true}")
        if self.met_by is not None:
            strays = self.met_by.model_fields_set - {"called", "where", "ok", "times"}
            if strays:
                raise InputError(f"met_by: takes called, where, ok and times; got {min(strays)}")
        return self


class ErrorLadder(Fault):
    """Demands in a row: a call is refused with the error of the first step whose demand is not met.

    A demand that no tool of the target can meet is refused at loading. When all demands are met,
    the call goes through. A demand that was met stays met; with `latched: false` the arguments are
    checked anew on every call, so fixing one thing must not break another. With `again` the ladder
    starts over after a call that went through.

    Example:
        - error_ladder:
            on: venmo.send_money
            steps: [{error: {code: NOTE_TOO_SHORT}, met: {note: {matches: ".{8,}"}}}]
    """

    kind: ClassVar[str] = "error_ladder"
    promises: ClassVar[tuple[str, ...]] = ("refused", "unchanged")
    steps: Annotated[list[Rung], Field(min_length=1)]
    latched: bool = True
    again: bool = False

    def calls_meant(self) -> Iterator[tuple[str, Selector, dict[str, Any]]]:
        """Yield the demands as well, so that one which no call could meet is refused."""
        yield from super().calls_meant()
        for place, step in enumerate(self.steps):
            yield f"steps[{place}]: met", self.on, step.met
            if step.met_by is not None and step.met_by.called is not None:
                yield f"steps[{place}]: met_by", step.met_by.called, step.met_by.where

    @classmethod
    def sample(cls, example: Example) -> dict[str, Any] | str:
        """Return one step without a demand."""
        return {"steps": [{}]}

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Show the first demand that is not met."""
        if acting.shadow:
            return self._refuse(acting, acting.firing.detail["step"] - 1)
        state = State.load(acting.session.control, self.name)
        place = self._place(call, acting, state)
        if place == len(self.steps):
            if self.again:
                state.memory.clear()
            state.save()
            return acting.decline(await call_next(call))
        state.memory["shown"] = {"step": place, "times": self._shown(state, place) + 1}
        state.save()
        acting.firing.detail["step"] = place + 1
        return self._refuse(acting, place)

    def _place(self, call: Call, acting: Acting, state: State) -> int:
        """Return the first step that is not passed; the state records how far calls have come."""
        done = state.memory.get("done", 0)
        first = done if self.latched else 0
        for place in range(first, len(self.steps)):
            step = self.steps[place]
            if step.met:
                met = matches(step.met, call.args, acting.scope)
            elif step.met_by is not None:
                met = place < done
            else:
                met = place < done or self._shown(state, place) >= step.times
            if not met:
                return place
            done = state.memory["done"] = max(done, place + 1)
        return len(self.steps)

    @staticmethod
    def _shown(state: State, place: int) -> int:
        shown = state.memory.get("shown", {})
        return shown["times"] if shown.get("step") == place else 0

    def _refuse(self, acting: Acting, place: int) -> Reply:
        error = self.steps[place].error
        message = "The request was not accepted."
        hint = "Correct the request and try again."
        return error.reply(acting.scope, acting.codes.invalid, message, hint, retryable=False)

    def hear(self, session: Session, attempt: Attempt) -> None:
        """Take note of a call that the current step demands."""
        super().hear(session, attempt)
        state = State.load(session.control, self.name)
        done = state.memory.get("done", 0)
        step = self.steps[done] if done < len(self.steps) else None
        if step is None or step.met_by is None:
            return
        times = self.times_in(step.met_by, session, attempt)
        if not times:
            return
        heard = state.memory["heard"] = state.memory.get("heard", 0) + times
        if heard >= step.met_by.times:
            state.memory |= {"done": done + 1, "heard": 0}
        state.save()
