"""A smolagents agent behind Haywire's process contract, with the tools of mcpadapt.

It runs in its own environment and imports nothing from Haywire but the helper for agents.
"""

from __future__ import annotations

import asyncio
import os
from importlib.metadata import version
from typing import Any

import haywire_agent as haywire  # ty: ignore[import-not-found]
import openai
from mcp.shared._httpx_utils import create_mcp_http_client
from mcpadapt.core import mcptools  # ty: ignore[import-not-found]
from mcpadapt.smolagents_adapter import SmolAgentsAdapter  # ty: ignore[import-not-found]
from smolagents import LogLevel, OpenAIModel, ToolCallingAgent  # ty: ignore[import-not-found]
from smolagents.memory import (  # ty: ignore[import-not-found]
    ActionStep,
    SystemPromptStep,
    TaskStep,
    Timing,
    ToolCall,
)
from smolagents.utils import AgentGenerationError  # ty: ignore[import-not-found]

ANSWER = "final_answer"
"""The tool with which the library's agents answer."""
PATIENCE = 60.0
"""Seconds after which a request to a server fails."""


class Conversation(haywire.Agent):
    """One conversation: the agent, whose memory goes on over all turns, and its servers."""

    name = "smolagents"
    version = version("smolagents")

    def start(self, session: haywire.Session) -> None:
        """Begin a conversation."""
        self.servers = {}
        for server in session.servers:
            self.servers[server.name] = {
                "transport": "streamable-http",
                "url": server.url,
                "headers": server.headers,
                # Not a method, because the library copies what it is given.
                "httpx_client_factory": lambda **given: self.http_client(**given),
            }
        self.agent = ToolCallingAgent(
            tools=[],
            model=self.model(),
            instructions=session.instructions,
            step_callbacks=[self.list_tools],
            verbosity_level=LogLevel.OFF,
        )
        self.own_tools = dict(self.agent.tools)
        self.agent.memory.steps = native(session.history)

    def http_client(self, **given: Any) -> Any:
        """Return the HTTP client of an MCP session, which numbers the agent's steps."""
        client = create_mcp_http_client(**given)
        client.event_hooks["request"].append(self.steps.number)
        return client

    def model(self) -> Any:
        """Return the model that the settings name, at their base URL if they have one."""
        name = self.settings.model or ""
        base = self.settings.api_base
        if base is None and not name.startswith("openai/"):
            raise ValueError("name a model of OpenAI, as in --model openai/gpt-5, or an --api-base")
        key = os.environ.get("OPENAI_API_KEY", "none" if base is not None else None)
        given: dict[str, Any] = {"api_base": base, "api_key": key}
        http = openai.DefaultHttpxClient(event_hooks=self.waits.hooks_now)
        given["client_kwargs"] = {"http_client": http}
        if self.settings.temperature is not None:
            given["temperature"] = self.settings.temperature
        try:
            return Counting(self, name.removeprefix("openai/"), **given)
        except openai.OpenAIError as unusable:
            # This is how the library says that there is no API key.
            raise haywire.Outage(str(unusable), lasting=True) from None

    def list_tools(self, *_: Any) -> None:
        """Give the agent the tools that there are now, and tell it of them."""
        tools = dict(self.own_tools)
        for name, server in self.servers.items():
            for listed in asyncio.run(tools_of(server)):
                tool = adapted(name, server, listed)
                tools[tool.name] = tool
        self.agent.tools = tools
        self.agent.memory.system_prompt = SystemPromptStep(self.agent.initialize_system_prompt())

    def turn(self, text: str) -> str:
        """Run the agent on a text of the user."""
        self.list_tools()
        try:
            # One more than are allowed, because the library asks once more when its steps are over.
            steps = self.settings.max_steps + 1
            return str(self.agent.run(text, reset=False, max_steps=steps))
        except AgentGenerationError as failed:
            cause = failed.__cause__ or failed
            if isinstance(cause, openai.OpenAIError):
                raise haywire.unanswered(cause) from None
            raise cause from None


class Counting(OpenAIModel):
    """The library's model, which keeps the limits, counts what it uses, and begins steps."""

    def __init__(self, talk: Conversation, name: str, **given: Any) -> None:
        super().__init__(name, **given)
        self.talk = talk

    def generate(self, *args: Any, **given: Any) -> Any:
        """Ask the model."""
        talk = self.talk
        talk.check_limits()
        message = super().generate(*args, **given)
        usage = message.token_usage
        talk.used(
            model=talk.settings.model,
            prompt_tokens=usage.input_tokens,
            completion_tokens=usage.output_tokens,
            requests=1,
        )
        talk.steps.begin(message.content or "")
        return message


async def tools_of(server: dict[str, Any]) -> list[Any]:
    """Return the tools that a server lists now."""
    async with mcptools(server, PATIENCE) as (_, tools):
        return tools


async def called(server: dict[str, Any], name: str, args: dict[str, Any]) -> Any:
    """Return what a server answers to a call."""
    async with mcptools(server, PATIENCE) as (session, _):
        return await session.call_tool(name, args)


def adapted(service: str, server: dict[str, Any], listed: Any) -> Any:
    """Return an MCP tool as one of the library, with its service's name in front.

    By itself, the library would demand a value for every argument, also for one that may be left
    out. Here it may be null, and is then left out of the call.
    """

    def call(args: dict[str, Any]) -> Any:
        given = {name: value for name, value in args.items() if value is not None}
        try:
            return asyncio.run(called(server, listed.name, given))
        except Exception as broken:
            raise RuntimeError(haywire.explained(broken)) from None

    tool = SmolAgentsAdapter().adapt(call, listed)
    tool.name = f"{service}__{tool.name}"
    needed = listed.inputSchema.get("required", [])
    for name, schema in tool.inputs.items():
        if name not in needed:
            schema["nullable"] = True
    return tool


def native(sessions: list[dict[str, Any]]) -> list[Any]:
    """Return canonical sessions as steps of the library's memory."""
    steps: list[Any] = []
    for number, part in enumerate(haywire.parts_of(sessions)):
        if isinstance(part, haywire.Said) and part.role == "user":
            steps.append(TaskStep(part.text))
            continue
        if isinstance(part, haywire.Said):
            calls = [ToolCall(ANSWER, {"answer": part.text}, f"past_{number}")]
            seen = part.text
        else:
            calls = [ToolCall(call.name, call.args, call.id) for call in part.calls]
            seen = "\n".join(call.text for call in part.calls)
        step = ActionStep(number, Timing(0.0, 0.0), tool_calls=calls, observations=seen)
        steps.append(step)
    return steps


if __name__ == "__main__":
    haywire.serve(Conversation())
