"""The call does not run and a made-up reply comes back."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import model_validator

from fault_profiles.model import Acting, Fault
from fault_profiles.sample import Example
from servers.kit.call import Call, Next, Reply
from servers.kit.errors import InputError
from servers.kit.expr import names, render

_KNOWN = {"args", "now", "start", "service", "tool", "faults", "number"}


class FabricatedReply(Fault):
    """An invented acknowledgement: nothing runs, and the reply is made from a template.

    The template is `reply`. Its `${…}` expressions over the arguments are filled in, and a value
    `{new_id: vtx}` becomes a fresh id of that kind that belongs to nothing. The template may say
    anything: a success that never happened, an empty list, a message in place of data.

    Example:
        - fabricated_reply:
            on: venmo.send_money
            reply: {transaction_id: {new_id: vtx}, status: complete, amount: "${args.amount}"}
    """

    kind: ClassVar[str] = "fabricated_reply"
    promises: ClassVar[tuple[str, ...]] = ("altered", "unchanged")
    denies: ClassVar[bool] = True
    own: ClassVar[tuple[str, ...]] = ("reply",)
    reply: dict[str, Any]

    @classmethod
    def sample(cls, example: Example) -> dict[str, Any] | str:
        """Return an invented acknowledgement."""
        return {"reply": {"status": "ok", "reference": {"new_id": "ref"}}}

    @model_validator(mode="after")
    def _fits(self) -> FabricatedReply:
        unknown = names(self.reply) - _KNOWN
        if unknown:
            raise InputError(
                f"reply: expressions can use {', '.join(sorted(_KNOWN))}; "
                f"got {sorted(unknown)[0]!r} (nothing runs, so there is no reply)"
            )
        return self

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Reply from the template."""
        if acting.shadow:
            return Reply(acting.firing.detail["reply"])
        made = _with_ids(render(self.reply, acting.scope), call, acting)
        acting.firing.detail["reply"] = made
        return Reply(made)


def _with_ids(value: Any, call: Call, acting: Acting) -> Any:
    if isinstance(value, dict):
        if set(value) == {"new_id"}:
            return _new_id(value["new_id"], call, acting)
        return {k: _with_ids(v, call, acting) for k, v in value.items()}
    return [_with_ids(v, call, acting) for v in value] if isinstance(value, list) else value


def _new_id(prefix: str, call: Call, acting: Acting) -> str:
    """Return a fresh id, under which the row would stand if the call had run after all.

    So that looking it up tells whether it did.
    """
    made = acting.session.control.new_id(prefix)
    call.journal.ids.append((prefix, made))
    return made
