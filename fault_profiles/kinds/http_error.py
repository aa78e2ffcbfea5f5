"""A gateway or the server's own HTTP layer responds, outside the protocol."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, ClassVar

from pydantic import Field

from fault_profiles.model import Acting
from fault_profiles.refusal import OUTCOME_UNKNOWN
from fault_profiles.wire import Wire
from servers.kit.call import Reply
from servers.kit.declared import Positive
from servers.kit.service import Codes


class HttpError(Wire):
    """An HTTP status (`status`: 502, 503, 429, …) with a body that is no protocol message.

    `body` and `content_type` are what is sent (by default a gateway's plain page); `retry_after`,
    in seconds, goes into the header of that name and into the error reply. With `when: before` the
    call never runs; with `when: after` it is committed.

    Example:
        - http_error: {on: "*.*", status: 503, retry_after: 20, probability: 0.1}
    """

    kind: ClassVar[str] = "http_error"
    status: Annotated[int, Field(ge=400, le=599)] = 502
    body: str | None = None
    content_type: str = "text/html"
    retry_after: Positive | None = None

    @property
    def _named(self) -> str:
        try:
            return f"{self.status} {HTTPStatus(self.status).phrase}"
        except ValueError:
            return str(self.status)

    def in_band(self, acting: Acting) -> Reply:
        """Return the status as the provider's error."""
        message = f"{acting.title} returned HTTP {self._named}."
        hint = OUTCOME_UNKNOWN if self.status >= 500 else ""
        return self.error.reply(
            acting.scope,
            _code(self.status, acting.codes),
            message,
            hint,
            retryable=self.status in (408, 425, 429) or self.status >= 500,
            status=self.status,
            retry_after=self.retry_after,
        )

    def on_the_wire(self) -> dict[str, Any]:
        """Respond with the status."""
        headers = {"content-type": self.content_type}
        if self.retry_after is not None:
            headers["retry-after"] = str(self.retry_after)
        body = self.body
        if body is None:
            head = f"<head><title>{self._named}</title></head>"
            body = f"<html>{head}<body><h1>{self._named}</h1></body></html>\n"
        return {"answer": {"status": self.status, "headers": headers, "body": body}}


def _code(status: int, codes: Codes) -> str:
    if status in (401, 403):
        return codes.unauthorized
    if status == 429:
        return codes.rate_limited
    if status in (408, 504):
        return codes.timeout
    return codes.invalid if status in (400, 422) else codes.unavailable
