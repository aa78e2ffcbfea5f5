"""A Pydantic AI agent behind Haywire's process contract.

It runs in its own environment and imports nothing from Haywire but the helper for agents.
"""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from typing import Any

import haywire_agent as haywire  # ty: ignore[import-not-found]
import httpx2
import openai
from pydantic_ai import Agent  # ty: ignore[import-not-found]
from pydantic_ai.exceptions import (  # ty: ignore[import-not-found]
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


class Conversation(haywire.Agent):
    """One conversation: the agent, its connections, and its messages over all turns.

    If the run's terms allow a `single` request, only the first call of its response is made, and
    later turns are not answered.
    """

    name = "pydantic_ai"
    version = version("pydantic-ai-slim")

    def __init__(self) -> None:
        self.only: str | None = None
        self.is_over = False

    async def start(self, session: haywire.Session) -> None:
        """Connect to the servers and begin a conversation.

        Each server's name is put in front of the names of its tools.
        """
        self.messages = native(session.history)
        self.terms_given = session.terms
        clients: dict[str, httpx2.AsyncClient] = {}
        toolsets = []
        for server in session.servers:
            key = json.dumps(server.headers, sort_keys=True)
            if key not in clients:
                client = httpx2.AsyncClient(
                    headers=server.headers,
                    timeout=httpx2.Timeout(30, read=300),
                    event_hooks={"request": [self.steps.number]},
                    follow_redirects=True,
                )
                clients[key] = await self.stack.enter_async_context(client)
            tools = MCPToolset(
                server.url,
                id=server.name,
                http_client=clients[key],
                process_tool_call=self.call,
                # A tool that appears later must be seen, whatever the protocol version.
                cache_tools=False,
                # The model should read errors; by default, a tool's second error ends the run.
                tool_error_behavior="failed",
            )
            toolsets.append(tools.prefixed(server.name + "_"))
        try:
            self.agent = Agent(self.model(), instructions=session.instructions, toolsets=toolsets)
            await self.stack.enter_async_context(self.agent)
        except UserError as unusable:
            # This is how the library says that there is no API key.
            raise haywire.Outage(str(unusable), lasting=True) from None

    def model(self) -> Any:
        """Return the model that the settings name.

        With a base URL it is a model of an OpenAI-compatible endpoint, otherwise whatever Pydantic
        AI makes of the name.
        """
        name = self.settings.model
        base = self.settings.api_base
        if not name:
            raise ValueError("name a model, as in --model openai/gpt-5")
        if base is None:
            return name.replace("/", ":", 1) if ":" not in name else name
        return OpenAIChatModel(
            name.removeprefix("openai/").removeprefix("openai:"),
            provider=OpenAIProvider(
                base_url=base,
                api_key=os.environ.get("OPENAI_API_KEY", "none"),
                http_client=openai.DefaultAsyncHttpxClient(event_hooks=self.waits.hooks),
            ),
        )

    async def call(self, ctx: Any, perform: Any, name: str, args: dict[str, Any]) -> Any:
        """Make a call of the model as part of its step, unless only another one may be made."""
        if self.terms_given.get("single") and ctx.tool_call_id != self.only:
            return "This call was not made."
        self.steps.at(ctx.run_step)
        return await perform(name, args)

    async def turn(self, text: str) -> str:
        """Run the agent on a text of the user."""
        if self.is_over:
            return ""
        usage = RunUsage()
        limits = UsageLimits(
            request_limit=self.settings.max_steps, total_tokens_limit=max(1, self.left)
        )
        given = {
            "message_history": self.messages,
            "usage": usage,
            "usage_limits": limits,
            "model_settings": self.model_settings(),
        }
        try:
            if self.terms_given.get("single"):
                return await self.once(text, given)
            result = await self.agent.run(text, **given)
        except (UsageLimitExceeded, ModelContextWindowExceededError) as reached:
            raise haywire.Limit(haywire.explained(reached)) from None
        except ModelAPIError as unreached:
            raise haywire.Outage(haywire.explained(unreached)) from None
        finally:
            self.used(
                model=self.settings.model,
                prompt_tokens=usage.input_tokens,
                completion_tokens=usage.output_tokens,
                requests=usage.requests,
            )
        self.messages = result.all_messages()
        return result.output

    def model_settings(self) -> dict[str, Any]:
        """Return what the run's terms and settings say of each request."""
        temperature = self.terms_given.get("temperature")
        if temperature is None:
            temperature = self.settings.temperature
        settings = {"temperature": temperature, "max_tokens": self.terms_given.get("answer_tokens")}
        if self.terms_given.get("single"):
            settings["parallel_tool_calls"] = False
        return {name: value for name, value in settings.items() if value is not None}

    async def once(self, text: str, given: dict[str, Any]) -> str:
        """Return the text of the only response, when the first of its calls has been made."""
        self.is_over = True
        said = None
        async with self.agent.iter(text, **given) as run:
            async for node in run:
                # A node is yielded before it runs, so the calls are made when the next one comes.
                if said is not None:
                    break
                if Agent.is_call_tools_node(node):
                    parts = node.model_response.parts
                    said = "".join(part.content for part in parts if isinstance(part, TextPart))
                    calls = [part for part in parts if isinstance(part, ToolCallPart)]
                    self.only = calls[0].tool_call_id if calls else None
        return said or ""


def native(sessions: list[dict[str, Any]]) -> list[Any]:
    """Return canonical sessions as Pydantic AI's messages."""
    messages: list[Any] = []
    for part in haywire.parts_of(sessions):
        if isinstance(part, haywire.Called):
            calls = [ToolCallPart(c.name, c.args, tool_call_id=c.id) for c in part.calls]
            replies = [ToolReturnPart(c.name, c.reply, tool_call_id=c.id) for c in part.calls]
            messages += [ModelResponse(parts=calls), ModelRequest(parts=replies)]
        elif part.role == "user":
            messages.append(ModelRequest(parts=[UserPromptPart(content=part.text)]))
        else:
            messages.append(ModelResponse(parts=[TextPart(content=part.text)]))
    return messages


if __name__ == "__main__":
    haywire.serve(Conversation())
