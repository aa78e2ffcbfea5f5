"""Completions through litellm, and recordings of them.

This is the only file that imports litellm. Replaying a recording needs neither litellm nor a
network.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from client_harness.contract import ProviderOutage
from servers.kit.errors import InputError


class ContextExceeded(Exception):
    """The conversation no longer fits into the model's context."""


@dataclass(frozen=True)
class Endpoint:
    """Where completions come from.

    `api_base` is the address of an endpoint; without it, litellm finds the model's provider.
    """

    api_base: str | None = None
    retries: int = 2
    timeout: float = 120.0

    async def complete(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return a response as plain JSON: `{message, usage, cost}`.

        Raises `ProviderOutage` (also when the provider refuses the request), `ContextExceeded`, and
        `InputError` for a model that has no known provider.
        """
        os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
        with warnings.catch_warnings():
            # litellm warns on import and when its models serialize; neither concerns us.
            warnings.simplefilter("ignore")
            import litellm

            litellm.suppress_debug_info = True
            litellm.drop_params = True
            extra: dict[str, Any] = {"api_base": self.api_base} if self.api_base else {}
            if self.api_base and "OPENAI_API_KEY" not in os.environ:
                # A local endpoint needs no key, but litellm insists on one.
                extra["api_key"] = "none"
            try:
                litellm.get_llm_provider(request["model"], api_base=self.api_base)
            except litellm.BadRequestError:
                raise InputError(
                    f"litellm knows no provider for the model {request['model']!r}; "
                    "write PROVIDER/NAME, or openai/NAME for a local endpoint"
                ) from None
            try:
                response: Any = await litellm.acompletion(
                    **request, **extra, max_retries=self.retries, timeout=self.timeout
                )
            except litellm.ContextWindowExceededError as full:
                raise ContextExceeded(_line(full)) from None
            except Exception as wrong:
                raise ProviderOutage(
                    f"{request['model']}: {type(wrong).__name__}: {_line(wrong)}"
                ) from wrong
            body = response.model_dump(mode="json", exclude_none=True)
        if not body.get("choices"):
            raise ProviderOutage(
                f"{request['model']}: the response has no choices: {json.dumps(body)[:300]}"
            )
        cost = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
        return {
            "message": body["choices"][0].get("message") or {},
            "usage": body.get("usage") or {},
            "cost": cost,
        }


def _line(problem: Exception) -> str:
    return " ".join(str(problem).split())[:500]


@dataclass
class Recording:
    """Responses recorded in a folder, one file per request.

    A file is named after a hash of the trial and the request, and how many times that request has
    been made. `inner` answers requests and its answers are recorded; without it, only the folder
    answers.
    """

    folder: Path
    trial: str
    inner: Endpoint | None = None
    _seen: dict[str, int] = field(default_factory=dict)

    async def complete(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer from the folder, or answer and record.

        Raises `InputError`, naming the file, if a replay has no recorded answer.
        """
        canonical = json.dumps(
            {"trial": self.trial, "request": request},
            sort_keys=True,
            ensure_ascii=True,
            separators=(",", ":"),
        )
        key = hashlib.blake2b(canonical.encode(), digest_size=12).hexdigest()
        number = self._seen.get(key, 0) + 1
        self._seen[key] = number
        path = self.folder / f"{key}-{number}.json"
        if self.inner is None:
            try:
                return json.loads(path.read_text(encoding="utf-8"))["response"]
            except FileNotFoundError:
                raise InputError(
                    f"{path}: not recorded "
                    f"(model {request['model']}, {len(request['messages'])} messages)"
                ) from None
            except (ValueError, KeyError, TypeError):
                raise InputError(
                    f"{path}: not a recorded response; delete the file and record again"
                ) from None
        response = await self.inner.complete(request)
        self.folder.mkdir(parents=True, exist_ok=True)
        kept = {"trial": self.trial, "occurrence": number, "request": request, "response": response}
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        part.replace(path)
        return response
