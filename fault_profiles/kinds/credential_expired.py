"""Signed out: the provider asks the agent to sign in again."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import ValidationInfo, model_validator

from fault_profiles.model import Acting, Fault
from fault_profiles.refusal import Refusal
from fault_profiles.sample import Example
from fault_profiles.worlds import everywhere
from servers.kit.call import Call, Next, Reply
from servers.kit.errors import InputError
from servers.kit.selector import Selector
from servers.kit.service import Service, ToolSpec

_TABLE = "sign_ins"


class CredentialExpired(Fault):
    """Credential expiry: calls are refused because the sign-in has expired, until a new sign-in.

    The agent signs in with the tool `sign_in.sign_in`, which is the default of `until` and of
    `recover`; a scenario in which the agent should find it exposes the service `sign_in`, whose
    `list_sign_ins` shows the expiry. With `revoked` access was withdrawn: signing in is refused and
    nothing repairs the fault. Each declaration is about one provider, unless it sets `until`.

    Example:
        - credential_expired: {on: venmo.*, after: {calls: 2}}
    """

    kind: ClassVar[str] = "credential_expired"
    denies: ClassVar[bool] = True
    promises: ClassVar[tuple[str, ...]] = ("refused",)
    revoked: bool = False
    error: Refusal = Refusal()

    @classmethod
    def sample(cls, example: Example) -> dict[str, Any] | str:
        """Return no fields beyond the target; signing in itself always works."""
        return "signing in itself needs no sign-in" if _TABLE in example.service.tables else {}

    @model_validator(mode="before")
    @classmethod
    def _clears(cls, given: Any, info: ValidationInfo) -> Any:
        if not isinstance(given, dict) or "on" not in given or given.get("until") is not None:
            return given
        if info.context and info.context.get("open"):
            return given  # a server that is not ours has no sign-in of ours
        if given.get("revoked"):
            return {"repairable": False, **given}
        if not isinstance(given["on"], str | list | Selector):
            return given  # which the field refuses
        on = given["on"] if isinstance(given["on"], Selector) else Selector(given["on"])
        if len(on.services) != 1:
            raise InputError(
                "declare one for each provider (each has its own sign-in), or set `until`"
            )
        again = {"where": {"service": next(iter(on.services))}}
        recovery = {}
        if given.get("repairable", True):
            recovery = {"recover": [{"tool": "sign_in.sign_in", **again}]}
        return {**recovery, **given, "until": {"called": "sign_in.sign_in", "ok": True, **again}}

    def handles(self, cls: type[Service], spec: ToolSpec) -> bool:
        """Whether the tool needs a sign-in; signing in itself does not."""
        return super().handles(cls, spec) and _TABLE not in cls.tables

    async def act(self, call: Call, call_next: Next, acting: Acting) -> Reply:
        """Reply that the sign-in has expired."""
        if not acting.shadow:
            self._sign_out(call, acting)
        if self.revoked:
            told = f"Access to {acting.title} was revoked."
            hint = "The account's owner has to grant access again."
        else:
            told = f"The sign-in to {acting.title} has expired."
            hint = "Sign in again."
        return self.error.reply(
            acting.scope, acting.codes.unauthorized, told, hint, retryable=False, status=401
        )

    def _sign_out(self, call: Call, acting: Acting) -> None:
        for world in everywhere(acting):
            row = world.get(_TABLE, call.service) if _TABLE in world.tables else None
            if row is None:
                continue
            if row["expired_at"] is None or row["revoked"] != self.revoked:
                expired = {"expired_at": acting.scope["now"], "revoked": self.revoked}
                world.stamp(call.now, f"fault:{self.name}")
                world.update(_TABLE, call.service, **expired)
                world.commit()
