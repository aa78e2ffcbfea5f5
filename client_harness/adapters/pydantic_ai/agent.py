"""A Pydantic AI agent behind Haywire's process contract.

It runs in its own environment and imports nothing from Haywire.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO

import httpx2
from pydantic_ai import Agent  # ty: ignore[import-not-found]
from pydantic_ai.exceptions import (  # ty: ignore[import-not-found]
    AgentRunError,
    ModelAPIError,
    ModelContextWindowExceededError,
    UsageLimitExceeded,
    UserError,
)
from pydantic_ai.mcp import MCPToolset  # ty: ignore[import-not-found]
from pydantic_ai.messages import (  # ty: ignore[import-not-found]
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.openai import OpenAIChatModel  # ty: ignore[import-not-found]
from pydantic_ai.providers.openai import OpenAIProvider  # ty: ignore[import-not-found]
from pydantic_ai.usage import RunUsage, UsageLimits  # ty: ignore[import-not-found]

INSTRUCTIONS = (Path(__file__).parent / "instructions.md").read_text(encoding="utf-8").strip()
STEP_HEADER = "x-agent-step"


def model_of(env: Any) -> Any:
    """Return the model that the environment variables name.

    With a base URL it is a model of an OpenAI-compatible endpoint, otherwise whatever Pydantic AI
    makes of the name.
    """
    name = env.get("HAYWIRE_MODEL")
    base = env.get("HAYWIRE_API_BASE")
    if not name:
        raise ValueError("name a model, as in --model openai/gpt-5")
    if base is None:
        return name.replace("/", ":", 1) if ":" not in name else name
    key = env.get("OPENAI_API_KEY", "none")
    return OpenAIChatModel(
        name.removeprefix("openai/").removeprefix("openai:"),
        provider=OpenAIProvider(base_url=base, api_key=key),
    )


class Conversation:
    """One conversation: the agent, its connections, and its messages over all turns."""

    def __init__(self, agent: Agent, now: str, history: list[dict[str, Any]]) -> None:
        self.agent = agent
        self.messages = native(history)
        self.opening = f"[Conversation of {now}]\n" if history else ""
        self.step = 0
        self.left = int(os.environ.get("HAYWIRE_MAX_TOKENS", 1_000_000))

    async def turn(self, text: str) -> dict[str, Any]:
        """Run the agent on a text of the user."""
        usage = RunUsage()
        said = ""
        limits = UsageLimits(
            request_limit=int(os.environ.get("HAYWIRE_MAX_STEPS", 30)),
            total_tokens_limit=max(1, self.left),
        )
        status = "done"
        detail = ""
        try:
            async with asyncio.timeout(float(os.environ.get("HAYWIRE_MAX_SECONDS", 300))):
                result = await self.agent.run(
                    self.opening + text,
                    message_history=self.messages,
                    usage=usage,
                    usage_limits=limits,
                )
            self.messages = result.all_messages()
            said = result.output
        except (UsageLimitExceeded, ModelContextWindowExceededError, TimeoutError) as reached:
            status = "limit"
            detail = f"{type(reached).__name__}: {reached}"
        except ModelAPIError as unreached:
            status = "outage"
            detail = f"{type(unreached).__name__}: {unreached}"
        except AgentRunError as failed:
            status = "error"
            detail = f"{type(failed).__name__}: {failed}"
        self.opening = ""
        self.left -= usage.input_tokens + usage.output_tokens
        spent = {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "requests": usage.requests,
        }
        return {"status": status, "text": said, "usage": spent, "detail": detail}


def native(sessions: list[dict[str, Any]]) -> list[Any]:
    """Return canonical sessions as Pydantic AI's messages.

    A dated header precedes the first text of each session.
    """
    native_messages: list[Any] = []
    for session in sessions:
        opening = f"[Conversation of {session['at']}]"
        for message in session["messages"]:
            if message["role"] == "user":
                text = "\n".join(filter(None, (opening, message["text"])))
                native_messages.append(ModelRequest(parts=[UserPromptPart(content=text)]))
                opening = ""
                continue
            if opening:
                native_messages.append(ModelRequest(parts=[UserPromptPart(content=opening)]))
                opening = ""
            if "calls" not in message:
                native_messages.append(ModelResponse(parts=[TextPart(content=message["text"])]))
                continue
            calls = []
            replies = []
            for number, call in enumerate(message["calls"]):
                key = f"past_{len(native_messages)}_{number}"
                name = f"{call['server']}__{call['tool']}"
                calls.append(ToolCallPart(name, call["args"], tool_call_id=key))
                replies.append(ToolReturnPart(name, call["reply"], tool_call_id=key))
            native_messages += [ModelResponse(parts=calls), ModelRequest(parts=replies)]
    return native_messages


async def start(params: dict[str, Any], stack: contextlib.AsyncExitStack) -> Conversation:
    """Connect to the servers and begin a conversation.

    Each server's name is put in front of the names of its tools.
    """
    made: list[Conversation] = []
    clients: dict[str, httpx2.AsyncClient] = {}

    async def number(request: httpx2.Request) -> None:
        if made and made[0].step:
            request.headers[STEP_HEADER] = str(made[0].step)

    async def call(ctx: Any, perform: Any, name: str, args: dict[str, Any]) -> Any:
        made[0].step = ctx.run_step
        return await perform(name, args)

    toolsets = []
    for server in params["mcp_servers"]:
        headers = server.get("headers") or {}
        key = json.dumps(headers, sort_keys=True)
        if key not in clients:
            timeout = httpx2.Timeout(30, read=300)
            client = httpx2.AsyncClient(
                headers=headers,
                timeout=timeout,
                event_hooks={"request": [number]},
                follow_redirects=True,
            )
            clients[key] = await stack.enter_async_context(client)
        tools = MCPToolset(
            server["url"],
            id=server["name"],
            http_client=clients[key],
            process_tool_call=call,
            # A tool that appears during a conversation must be seen, whatever the protocol version.
            cache_tools=False,
            # The model should read errors; by default, a tool's second error would end the run.
            tool_error_behavior="failed",
        )
        toolsets.append(tools.prefixed(server["name"] + "_"))
    agent = Agent(model_of(os.environ), instructions=INSTRUCTIONS, toolsets=toolsets)
    await stack.enter_async_context(agent)
    made.append(Conversation(agent, params["now"], params["history"]))
    return made[0]


async def serve(out: TextIO) -> None:
    """Answer requests until stdin closes or a `close` request arrives."""
    conversation: Conversation | None = None
    async with contextlib.AsyncExitStack() as stack:
        while line := await asyncio.to_thread(sys.stdin.readline):
            request = json.loads(line)
            method = request["method"]
            params = request.get("params") or {}
            answer: dict[str, Any] = {"jsonrpc": "2.0", "id": request.get("id")}
            try:
                if method == "initialize":
                    answer["result"] = {
                        "agent": "pydantic_ai",
                        "version": version("pydantic-ai-slim"),
                        "history": "native",
                        "tool_refresh": "call",
                    }
                elif method == "session/start":
                    answer["result"] = {}
                    try:
                        conversation = await start(params, stack)
                    except UserError as unusable:
                        # This is how the library says that there is no API key.
                        answer["result"] = {"status": "outage", "detail": str(unusable)}
                elif method == "turn" and conversation is not None:
                    answer["result"] = await conversation.turn(params["text"])
                elif method == "close":
                    answer["result"] = {}
                else:
                    answer["error"] = {
                        "code": -32601,
                        "message": f"the method {method!r} is unknown or not possible yet",
                    }
            except Exception as wrong:
                answer["error"] = {"code": -32000, "message": f"{type(wrong).__name__}: {wrong}"}
            print(json.dumps(answer), file=out, flush=True)
            if method == "close":
                return


if __name__ == "__main__":
    # Nothing that a library prints may be taken for an answer.
    answers = sys.stdout
    sys.stdout = sys.stderr
    asyncio.run(serve(answers))
