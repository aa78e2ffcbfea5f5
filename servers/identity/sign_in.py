"""Sign-ins as a service: see where the user is signed in, and sign in again."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from servers.kit.errors import did_you_mean
from servers.kit.service import Service, reads, writes
from servers.kit.store import Table
from servers.kit.types import Json, Row


class SignIn(Service):
    """Holds the user's sign-ins, one for each connected service, and renews them."""

    name = "sign_in"
    title = "Sign-in"
    category = "identity"
    domain = "environment"
    tables = {
        "sign_ins": Table(
            "service:str/matter title:str/matter signed_in_at:str/session "
            "expired_at:str?/session revoked:bool/session",
            identity=True,
            noun="the sign-in to {title}",
        )
    }

    @reads()
    def list_sign_ins(self) -> Json:
        """Return the services that the user has connected, with the `status` of each.

        The status is active, expired or revoked.
        """
        return {"sign_ins": [_shown(r) for r in self.db.rows("sign_ins", order="service")]}

    @writes(example={"service": "venmo"})
    def sign_in(
        self,
        service: Annotated[
            str, Field(description="Name of the service, as shown by list_sign_ins.")
        ],
    ) -> Json:
        """Sign in to a connected service again, with the user's stored credentials.

        Calls to that service then work again.
        """
        row = self.db.get("sign_ins", service)
        if row is None:
            near = did_you_mean(service, [r["service"] for r in self.db.rows("sign_ins")])
            message = f"There is no connected service named {service!r}{near}."
            self.fail(
                "SERVICE_NOT_CONNECTED", message, "list_sign_ins shows the connected services."
            )
        if row["revoked"]:
            hint = "Only the user can grant access again, in the account settings."
            self.fail("ACCESS_REVOKED", f"Access to {row['title']} was revoked.", hint)
        self.db.update("sign_ins", service, signed_in_at=self.time, expired_at=None)
        return _shown({**row, "signed_in_at": self.time, "expired_at": None})


def _shown(row: Row) -> dict[str, Any]:
    if row["revoked"]:
        status = "revoked"
    else:
        status = "active" if row["expired_at"] is None else "expired"
    shown = {k: row[k] for k in ("service", "title", "signed_in_at", "expired_at")}
    return shown | {"status": status}
