"""An agent of Strands Agents behind Haywire's process contract."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import os
from collections.abc import AsyncGenerator
from importlib.metadata import version
from typing import Any

import haywire_agent as haywire  # ty: ignore[import-not-found]
import httpx2
import openai
from mcp.client.streamable_http import streamable_http_client
from strands import Agent  # ty: ignore[import-not-found]
from strands.agent import NullConversationManager  # ty: ignore[import-not-found]
from strands.hooks import (  # ty: ignore[import-not-found]
    AfterModelCallEvent,
    BeforeModelCallEvent,
)
from strands.models.openai import OpenAIModel  # ty: ignore[import-not-found]
from strands.tools.mcp import MCPClient  # ty: ignore[import-not-found]
from strands.types.exceptions import (  # ty: ignore[import-not-found]
    ContextWindowOverflowException,
    EventLoopException,
    MaxTokensReachedException,
    ModelThrottledException,
)


class Conversation(haywire.Agent):
    """One conversation: the agent, its connections, and its messages over all turns."""

    name = "strands"
    version = version("strands-agents")

    def start(self, session: haywire.Session) -> None:
        """Connect to the servers and begin a conversation; the library does so in plain calls.

        Each server's name is put in front of the names of its tools.
        """
        self.clients = []
        for server in session.servers:
            way = functools.partial(transport, server, self.steps)
            self.clients.append(MCPClient(way, prefix=server.name + "_"))
        self.agent = Agent(
            model=self.model(),
            messages=native(session.history),
            tools=self.clients,
            system_prompt=session.instructions,
            callback_handler=None,
            conversation_manager=NullConversationManager(),
        )
        self.stack.callback(self.agent.tool_registry.cleanup)
        self.agent.hooks.add_callback(BeforeModelCallEvent, self.refresh)
        self.agent.hooks.add_callback(AfterModelCallEvent, self.answered)

    def model(self) -> OpenAIModel:
        """Return the model that the settings name."""
        name = (self.settings.model or "").removeprefix("openai/")
        base = self.settings.api_base
        if not name:
            raise ValueError("name a model, as in --model openai/gpt-5")
        key = os.environ.get("OPENAI_API_KEY", "none" if base is not None else None)
        http = openai.DefaultAsyncHttpxClient(event_hooks=self.waits.hooks)
        try:
            client = openai.AsyncOpenAI(base_url=base, api_key=key, http_client=http)
        except openai.OpenAIError as unusable:
            # This is how the library says that there is no API key.
            raise haywire.Outage(str(unusable), lasting=True) from None
        self.stack.push_async_callback(client.close)
        params = {}
        if self.settings.temperature is not None:
            params["temperature"] = self.settings.temperature
        return OpenAIModel(client=client, model_id=name, params=params)

    async def refresh(self, event: BeforeModelCallEvent) -> None:
        """List tools again before a request to the model; by default, they are listed once."""
        registry = self.agent.tool_registry
        for client in self.clients:
            for tool in await asyncio.to_thread(client.list_tools_sync):
                if tool.tool_name in registry.registry:
                    registry.replace(tool)
                else:
                    registry.register_tool(tool)

    async def answered(self, event: AfterModelCallEvent) -> None:
        """Begin the next step, which are the calls in the model's answer."""
        if event.stop_response is not None:
            content = event.stop_response.message["content"]
            self.steps.begin("".join(block.get("text", "") for block in content))
            self.used(requests=1)

    async def turn(self, text: str) -> str:
        """Run the agent on a text of the user."""
        limits = {"turns": self.settings.max_steps, "total_tokens": max(1, self.left)}
        spent = self.agent.event_loop_metrics.accumulated_usage
        before = dict(spent)
        try:
            result = await self.agent.invoke_async(text, limits=limits)
        except Exception as problem:
            raise failure(problem) from None
        finally:
            spent = self.agent.event_loop_metrics.accumulated_usage
            self.used(
                model=self.settings.model,
                prompt_tokens=spent["inputTokens"] - before["inputTokens"],
                completion_tokens=spent["outputTokens"] - before["outputTokens"],
            )
        if result.stop_reason.startswith("limit_"):
            raise haywire.Limit(f"the library's {result.stop_reason.replace('_', ' of ', 1)}")
        return "".join(block.get("text", "") for block in result.message["content"])


@contextlib.asynccontextmanager
async def transport(server: haywire.Server, steps: haywire.Steps) -> AsyncGenerator[Any]:
    """Connect to a server, in the library's own thread, and send it the number of the step."""
    async with (
        httpx2.AsyncClient(
            headers=server.headers,
            timeout=httpx2.Timeout(30, read=300),
            event_hooks={"request": [steps.number]},
            follow_redirects=True,
        ) as http,
        streamable_http_client(server.url, http_client=http) as streams,
    ):
        yield streams


def failure(problem: Exception) -> Exception:
    """Return what an exception of the library means."""
    if isinstance(problem, EventLoopException):
        problem = problem.original_exception
    if isinstance(problem, (ContextWindowOverflowException, MaxTokensReachedException)):
        return haywire.Limit(haywire.explained(problem))
    if isinstance(problem, (openai.APIError, ModelThrottledException)):
        return haywire.Outage(haywire.explained(problem))
    return problem


def native(sessions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return canonical sessions as the library's messages."""
    messages: list[dict[str, Any]] = []
    for part in haywire.parts_of(sessions):
        if not isinstance(part, haywire.Called):
            messages.append({"role": part.role, "content": [{"text": part.text}]})
            continue
        asked = []
        replies = []
        for call in part.calls:
            use = {"toolUseId": call.id, "name": call.name, "input": call.args}
            asked.append({"toolUse": use})
            text = json.dumps(call.reply, ensure_ascii=False)
            status = "error" if call.is_error else "success"
            reply = {"toolUseId": call.id, "status": status, "content": [{"text": text}]}
            replies.append({"toolResult": reply})
        messages.append({"role": "assistant", "content": asked})
        messages.append({"role": "user", "content": replies})
    return messages


if __name__ == "__main__":
    haywire.serve(Conversation())
