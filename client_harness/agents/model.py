"""A language model as an agent in this process.

It is a plain loop of completions and tool calls, with any model that litellm reaches. It has no
memory: of past sessions that come one by one, it keeps nothing. `model_full_context` and
`model_notes` are the same agent with a memory.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from client_harness._litellm import ContextExceeded, Endpoint, Recording
from client_harness.agents import _history
from client_harness.contract import Assignment, ProviderOutage, TurnResult
from client_harness.patience import Patience
from client_harness.telling import Instructions
from client_harness.tools import ToolInfo
from scenarios.haystack.history import LivedSession
from servers.kit.errors import InputError, did_you_mean
from servers.kit.values import iso

ABOUT = "a language model through litellm (--model, --api-base; --record and --replay)"
PROMPTS = Path(__file__).parent / "prompts"
REFUSAL = "The conversation is over, so no tool can be called. Answer in words."


@dataclass(frozen=True)
class Options:
    """The agent's options.

    `max_steps` (requests per turn) and `max_tokens` (in total) are limits: reaching one gives the
    status `limit`. `max_seconds` is the real time per turn, after which the status is `late`; waits
    for the provider do not count. A request that takes `request_seconds` has failed. It is repeated
    up to `retries` times if the provider fails, and for `max_wait` seconds if it is asked too
    often. `refresh` says when tools are listed again: before each request (call), each turn, or
    never. `record` and `replay` are folders.
    """

    model: str
    api_base: str | None = None
    record: str | None = None
    replay: str | None = None
    max_steps: int = 30
    max_seconds: float = 300.0
    max_tokens: int = 1_000_000
    answer_tokens: int | None = None
    temperature: float | None = None
    refresh: str = "call"
    retries: int = 2
    request_seconds: float = 120.0
    max_wait: float = 600.0

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Options:
        """Return the options that the command line gave. Raises `InputError`."""
        numbers = {
            "max_steps": int,
            "max_tokens": int,
            "answer_tokens": int,
            "retries": int,
            "max_seconds": float,
            "request_seconds": float,
            "temperature": float,
            "max_wait": float,
        }
        known = [f.name for f in fields(cls)]
        options: dict[str, Any] = {}
        for name, value in given.items():
            if value is None:
                continue
            if name not in known:
                raise InputError(f"agent model: unknown option {name!r}{did_you_mean(name, known)}")
            try:
                options[name] = numbers.get(name, str)(value)
            except (TypeError, ValueError):
                raise InputError(f"agent model: {name} must be a number, not {value!r}") from None
        if not options.get("model"):
            raise InputError("agent model: name a model, for example --model openai/gpt-5")
        if options.get("record") and options.get("replay"):
            raise InputError("agent model: use --record or --replay, not both")
        if options.get("refresh", "call") not in ("call", "turn", "never"):
            raise InputError(
                f"agent model: refresh must be call, turn or never, not {options['refresh']!r}"
            )
        return cls(**options)


OPTIONS = tuple(option.name for option in fields(Options))
TERMS = True


def check(options: Mapping[str, Any]) -> None:
    """Raise `InputError` for options that make no agent."""
    Options.read(options)


class ModelAgent:
    """A conversation with a model. Its messages are kept across turns, after the history's.

    A memory is a subclass that overrides `remember`, and puts what it keeps before the conversation
    with `_begin_with`.
    """

    def __init__(self, given: Assignment, options: Options) -> None:
        self.identity = {"name": "model", "version": options.model, "model": options.model}
        self.takes: Instructions = "replace"
        if options.refresh == "never":
            given.lock()
        self._tools = given.tools
        self._options = options
        self._terms = given.terms
        self._is_over = False
        self._prompt = self._terms.instructions(given.told.text(self.takes, given.tools.now))
        self._begin_with(_history.chat(given.history))
        # Whatever an agent remembers of a past, it knows what day it is.
        has_past = bool(given.history or given.to_remember)
        goes_on = bool(given.history) and given.history[-1].get("goes_on", False)
        begins = has_past and not goes_on
        self._opening = f"{_history.header(iso(given.tools.now))}\n" if begins else ""
        endpoint = Endpoint(
            options.api_base, options.retries, options.request_seconds, options.max_wait
        )
        self._source: Endpoint | Recording = endpoint
        if options.replay is not None:
            self._source = Recording(Path(options.replay), given.trial)
        elif options.record is not None:
            self._source = Recording(Path(options.record), given.trial, endpoint)
        self._listed: list[dict[str, Any]] | None = None
        self._tokens = 0

    def _begin_with(self, past: list[dict[str, Any]], notes: str = "") -> None:
        """Put messages of the past, or notes about it, before the conversation."""
        prompt = "\n\n".join(text for text in (self._prompt, notes) if text)
        self._messages: list[dict[str, Any]] = list(past)
        if prompt:
            self._messages.insert(0, {"role": "system", "content": prompt})

    async def remember(self, session: LivedSession, number: int, of: int) -> TurnResult:
        """Forget a past session."""
        return TurnResult("")

    async def turn(self, text: str) -> TurnResult:
        """Ask the model, make its calls and ask again.

        The turn ends when the model answers in words or a limit is reached. Terms may say that
        there is a single request, whatever the user answers.
        """
        if self._is_over:
            return TurnResult("")
        self._messages.append({"role": "user", "content": self._opening + text})
        self._opening = ""
        if self._options.refresh == "turn":
            self._listed = None
        result = TurnResult("")
        patience = Patience(self._options.max_seconds)
        for _ in range(self._options.max_steps):
            if self._tokens >= self._options.max_tokens:
                most = self._options.max_tokens
                return self._limit(result, f"the limit of {most} tokens was reached")
            message = await self._completed(await self._request(), result, patience)
            if message is None:
                return result
            result.text = str(message.get("content") or "")
            calls = message.get("tool_calls") or []
            if self._terms.single:
                self._is_over = True
                calls = calls[:1]
            if not calls:
                self._messages.append({"role": "assistant", "content": result.text})
                return result
            await self._act(result.text, calls)
            if self._is_over:
                return result
        return self._limit(result, f"{self._options.max_steps} requests did not end the turn")

    async def _completed(
        self, request: dict[str, Any], result: TurnResult, patience: Patience
    ) -> dict[str, Any] | None:
        """Return the model's message, and count what it took in `result`.

        If there is none in time, or the request does not fit, `result` says so.
        """
        try:
            response = await patience.limit(
                partial(self._source.complete, request, patience.paused)
            )
        except ContextExceeded as full:
            self._limit(result, str(full))
            return None
        except ProviderOutage as outage:
            outage.usage = result.usage
            raise
        except TimeoutError:
            result.status = "late"
            result.detail = f"the turn took more than {self._options.max_seconds:g} s"
            return None
        self._count(result, response)
        return response["message"]

    async def ask(self, question: str) -> str:
        """Answer a question in a copy of the conversation, and forget it.

        A call is refused once; a second one is no answer, and neither is one that takes too long or
        does not fit. Raises `ProviderOutage`.
        """
        messages = [*self._messages, {"role": "user", "content": question}]
        for _ in range(2):
            response = None
            with anyio.move_on_after(self._options.max_seconds):
                try:
                    response = await self._source.complete(self._without_tools(messages))
                except ContextExceeded:
                    return ""
            if response is None:
                return ""
            message = response["message"]
            calls = message.get("tool_calls") or []
            if not calls:
                return str(message.get("content") or "")
            messages += _refused(calls)
        return ""

    async def _note(self, messages: list[dict[str, Any]]) -> TurnResult:
        """Return what the model answers outside of the conversation and without tools.

        What it takes counts towards no limit of the conversation.
        """
        result = TurnResult("")
        spent = self._tokens
        patience = Patience(self._options.max_seconds)
        message = await self._completed(self._plain(messages), result, patience)
        self._tokens = spent
        if message is not None:
            result.text = str(message.get("content") or "").strip()
        return result

    def _without_tools(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """Return a request in which no tool may be called.

        The tools stay listed, because some providers refuse a conversation with calls otherwise.
        """
        request = self._plain(messages)
        if self._listed:
            request["tools"] = self._listed
            request["tool_choice"] = "none"
        return request

    def _plain(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        request: dict[str, Any] = {"model": self._options.model, "messages": list(messages)}
        temperature = self._terms.temperature
        if temperature is None:
            temperature = self._options.temperature
        if temperature is not None:
            request["temperature"] = temperature
        return request

    def _limit(self, result: TurnResult, why: str) -> TurnResult:
        result.status = "limit"
        result.detail = why
        return result

    async def _request(self) -> dict[str, Any]:
        if self._listed is None or self._options.refresh == "call":
            self._listed = [_function(tool) for tool in await self._tools.list_tools()]
        request = self._plain(self._messages)
        if self._listed:
            request["tools"] = self._listed
        most = self._terms.answer_tokens or self._options.answer_tokens
        if most is not None:
            request["max_tokens"] = most
        return request

    def _count(self, result: TurnResult, response: dict[str, Any]) -> None:
        amounts = {}
        for name in ("prompt_tokens", "completion_tokens"):
            amounts[name] = response["usage"].get(name) or 0
        self._tokens += sum(amounts.values())
        amounts["requests"] = 1
        if response["cost"] is not None:
            amounts["cost"] = response["cost"]
        for name, amount in amounts.items():
            result.usage[name] = result.usage.get(name, 0) + amount

    async def _act(self, content: str, calls: list[dict[str, Any]]) -> None:
        """Make the calls of one message as one step, in the order in which they were emitted."""
        repeated_calls = []
        results = []
        self._tools.step()
        for number, call in enumerate(calls, 1):
            function = call.get("function") or {}
            name = str(function.get("name") or "")
            written = function.get("arguments")
            args = _parsed(written)
            if isinstance(args, dict):
                data, _ = await self._tools.call_named(name, args)
            else:
                data, _ = await self._tools.call_malformed(name, args)
                written = json.dumps({"_": args})  # providers parse the arguments of earlier calls
            key = str(call.get("id") or f"call_{len(self._messages)}_{number}")
            text = written if isinstance(written, str) and written.strip() else json.dumps(args)
            function = {"name": name, "arguments": text}
            repeated_calls.append({"id": key, "type": "function", "function": function})
            result = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
            results.append({"role": "tool", "tool_call_id": key, "content": result})
        message = {"role": "assistant", "content": content or None, "tool_calls": repeated_calls}
        self._messages += [message, *results]


def prompt_named(name: str) -> str:
    """Return the text of a file of `prompts/`."""
    return (PROMPTS / f"{name}.md").read_text(encoding="utf-8").strip()


def _refused(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the message that made calls, and a refusal of each."""
    repeated = []
    refusals = []
    for number, call in enumerate(calls, 1):
        key = str(call.get("id") or f"refused_{number}")
        name = str((call.get("function") or {}).get("name") or "")
        function = {"name": name, "arguments": "{}"}
        repeated.append({"id": key, "type": "function", "function": function})
        refusals.append({"role": "tool", "tool_call_id": key, "content": REFUSAL})
    return [{"role": "assistant", "content": None, "tool_calls": repeated}, *refusals]


def _function(tool: ToolInfo) -> dict[str, Any]:
    """Return a tool as a request names it."""
    about = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": about}


def _parsed(written: Any) -> Any:
    """Return a call's arguments.

    Text that is not JSON stays text; no arguments at all are an empty object.
    """
    if not isinstance(written, str):
        return {} if written is None else written
    if not written.strip():
        return {}
    try:
        return json.loads(written)
    except ValueError:
        return written


@asynccontextmanager
async def agent(given: Assignment) -> AsyncGenerator[ModelAgent]:
    """Converse with a model."""
    yield ModelAgent(given, Options.read(given.options))
