"""Completions through litellm, and recordings of them.

This is the only file that imports litellm. Replaying a recording needs neither litellm nor a
network.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import anyio

from client_harness.contract import ProviderOutage
from servers.kit.errors import InputError

Waiting = Callable[[], AbstractContextManager[None]]
"""Makes a context for the time in which a provider wants to be left alone."""
LONGEST_WAIT = 60.0
"""The longest single wait, in seconds."""


class ContextExceeded(Exception):
    """The conversation no longer fits into the model's context."""


@dataclass(frozen=True)
class Endpoint:
    """Where completions come from.

    `api_base` is the address of an endpoint; without it, litellm finds the model's provider. A
    request is repeated up to `retries` times if the provider fails. If the provider is asked too
    often, it is asked again for as long as all waits together take at most `max_wait` seconds.

    A model at `api_base` of which litellm knows nothing is asked through its client alone, without
    what litellm does around each request, which takes longer than a trial. What is sent, and what
    comes of it, is the same; `through_litellm` keeps that path.
    """

    api_base: str | None = None
    retries: int = 2
    timeout: float = 120.0
    max_wait: float = 600.0
    through_litellm: bool = False

    async def complete(
        self, request: dict[str, Any], waiting: Waiting = nullcontext
    ) -> dict[str, Any]:
        """Return a response as plain JSON: `{message, usage, cost}`. Waits happen in `waiting`.

        Raises `ProviderOutage` (also when the provider refuses the request), `ContextExceeded`, and
        `InputError` for a model that has no known provider.
        """
        failures = 0
        limited = 0
        waited = 0.0
        while True:
            try:
                return await self._once(request)
            except _Refused as refused:
                seconds = refused.after
                if refused.too_often:
                    seconds = min(2.0**limited, LONGEST_WAIT) if seconds is None else seconds
                    limited += 1
                    again = waited + seconds <= self.max_wait
                else:
                    seconds = min(0.5 * 2.0**failures, LONGEST_WAIT) if seconds is None else seconds
                    failures += 1
                    again = refused.passes and failures <= self.retries
                if not again:
                    raise refused.outage from refused
            waited += seconds
            with waiting():
                await anyio.sleep(seconds)

    async def _once(self, request: dict[str, Any]) -> dict[str, Any]:
        """Ask once. Raises `_Refused` if the provider does not answer."""
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
                name, provider, *_ = litellm.get_llm_provider(
                    request["model"], api_base=self.api_base
                )
            except litellm.BadRequestError:
                raise InputError(
                    f"litellm knows no provider for the model {request['model']!r}; "
                    "write PROVIDER/NAME, or openai/NAME for a local endpoint"
                ) from None
            plain = provider == "openai" and self.api_base and _is_plain(request, name)
            try:
                if plain and not self.through_litellm:
                    response = await _directly(name, request, extra, self.timeout)
                else:
                    response = await litellm.acompletion(
                        **request, **extra, max_retries=0, timeout=self.timeout
                    )
            except litellm.ContextWindowExceededError as full:
                raise ContextExceeded(_line(full)) from None
            except Exception as wrong:
                raise _refused(request["model"], wrong) from wrong
            body = cast(Any, response).model_dump(mode="json", exclude_none=True)
        if not body.get("choices"):
            raise ProviderOutage(
                f"{request['model']}: the response has no choices: {json.dumps(body)[:300]}",
                cause=f"{request['model']}: a response without choices",
            )
        cost = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
        return {
            "message": body["choices"][0].get("message") or {},
            "usage": body.get("usage") or {},
            "cost": cost,
        }


_OWN = re.compile(r"gpt|chatgpt|codex|\bo\d", re.IGNORECASE)
"""Names of OpenAI's own models, some of whose parameters litellm changes."""
_FORWARDED = {"model", "messages", "tools", "tool_choice", "max_tokens", "temperature"}


def _is_plain(request: dict[str, Any], name: str) -> bool:
    """Return whether litellm would send a request as it is, and knows no price for it."""
    import litellm

    known = name in litellm.model_cost or request["model"] in litellm.model_cost
    return not known and not _OWN.search(name) and request.keys() <= _FORWARDED


async def _directly(
    name: str, request: dict[str, Any], given: dict[str, Any], seconds: float
) -> Any:
    """Ask an endpoint through litellm's client, and return what `litellm.acompletion` would.

    What goes wrong is told in litellm's words.
    """
    import litellm
    from litellm.llms.openai.common_utils import OpenAIError

    try:
        client: Any = litellm.main.openai_chat_completions._get_openai_client(
            is_async=True,
            api_key=given.get("api_key") or os.environ["OPENAI_API_KEY"],
            api_base=given["api_base"],
            timeout=seconds,
            max_retries=0,
        )
        return await _posted(client, name, request, seconds)
    except Exception as wrong:
        response = getattr(wrong, "response", None)
        refusal = OpenAIError(
            status_code=getattr(wrong, "status_code", 500),
            message=getattr(wrong, "message", str(wrong)),
            headers=getattr(wrong, "headers", None) or getattr(response, "headers", None),
            body=getattr(wrong, "body", None),
        )
        raise litellm.exception_type(
            model=name, original_exception=refusal, custom_llm_provider="openai"
        ) from wrong


async def _posted(client: Any, name: str, request: dict[str, Any], seconds: float) -> Any:
    import litellm
    import openai
    from litellm.litellm_core_utils.llm_response_utils.convert_dict_to_response import (
        convert_to_model_response_object,
    )
    from litellm.llms.openai.common_utils import OpenAIError
    from openai.types.chat import ChatCompletion

    messages = []
    for message in request["messages"]:
        messages.append({part: said for part, said in message.items() if said is not None})
    body = {"messages": messages, "model": name}
    # In the order in which the client's own method puts them.
    for option in sorted(request.keys() - body.keys()):
        body[option] = request[option]
    if not body.get("tools"):
        body.pop("tool_choice", None)
    began = time.time()
    try:
        raw = await client.post(
            "/chat/completions",
            cast_to=ChatCompletion,
            body=body,
            options={"headers": {"X-Stainless-Raw-Response": "true"}, "timeout": seconds},
        )
    except openai.APITimeoutError as late:
        taken = round(time.time() - began, 2)
        late.message += f" - timeout value={seconds}, time taken={taken} seconds"
        raise
    answer = raw.parse()
    if not hasattr(answer, "model_dump"):
        raise OpenAIError(
            status_code=500,
            message=f"Empty or invalid response from LLM endpoint. Received: {answer!r}. "
            "Check the reverse proxy or model server configuration.",
        )
    made: Any = litellm.ModelResponse()
    made.usage = litellm.Usage()  # where the endpoint tells none
    return convert_to_model_response_object(
        response_object=answer.model_dump(),
        model_response_object=made,
        hidden_params={"headers": dict(raw.headers)},
        _response_headers=dict(raw.headers),
    )


class _Refused(Exception):
    """A provider did not answer.

    `too_often` says that it was asked too often, `passes` that another attempt may succeed, and
    `after` how many seconds the provider wants to be left alone, if it says so.
    """

    def __init__(
        self, outage: ProviderOutage, too_often: bool, passes: bool, after: float | None
    ) -> None:
        super().__init__(str(outage))
        self.outage = outage
        self.too_often = too_often
        self.passes = passes
        self.after = after


def _refused(model: str, wrong: Exception) -> _Refused:
    line = _line(wrong)
    status = getattr(wrong, "status_code", None)
    # An account without money is told apart from a busy provider only by its words.
    out_of_money = "insufficient_quota" in line
    too_often = status == 429 and not out_of_money
    passes = too_often or status is None or status in (408, 409) or status >= 500
    kind = type(wrong).__name__
    outage = ProviderOutage(
        f"{model}: {kind}: {line}", cause=f"{model}: {kind}", lasting=not passes or out_of_money
    )
    return _Refused(outage, too_often, passes, _after(wrong))


def _after(wrong: Exception) -> float | None:
    """Return the seconds of a `Retry-After` header, or None."""
    headers = getattr(getattr(wrong, "response", None), "headers", None) or {}
    headers = headers or getattr(wrong, "litellm_response_headers", None) or {}
    try:
        return min(max(0.0, float(headers.get("retry-after", ""))), LONGEST_WAIT)
    except ValueError:
        return None


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

    async def complete(
        self, request: dict[str, Any], waiting: Waiting = nullcontext
    ) -> dict[str, Any]:
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
        response = await self.inner.complete(request, waiting)
        self.folder.mkdir(parents=True, exist_ok=True)
        kept = {"trial": self.trial, "occurrence": number, "request": request, "response": response}
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        part.replace(path)
        return response
