"""A LangGraph agent behind Haywire's process contract, with the tools of langchain-mcp-adapters.

It runs in its own environment and imports nothing from Haywire but the helper for agents.
"""

from __future__ import annotations

import os
from datetime import timedelta
from importlib.metadata import version
from typing import Any

import haywire_agent as haywire  # ty: ignore[import-not-found]
import openai
from langchain.agents import create_agent  # ty: ignore[import-not-found]
from langchain.agents.middleware import (  # ty: ignore[import-not-found]
    AgentMiddleware,
    ToolErrorMiddleware,
)
from langchain.chat_models import init_chat_model  # ty: ignore[import-not-found]
from langchain_core.exceptions import ModelError  # ty: ignore[import-not-found]
from langchain_core.messages import (  # ty: ignore[import-not-found]
    AIMessage,
    HumanMessage,
    ToolMessage,
)
from langchain_mcp_adapters.client import MultiServerMCPClient  # ty: ignore[import-not-found]
from mcp.shared._httpx_utils import create_mcp_http_client


class Conversation(haywire.Agent):
    """One conversation: the agent, its MCP client, and its messages over all turns."""

    name = "langgraph"
    version = version("langgraph")

    async def start(self, session: haywire.Session) -> None:
        """Begin a conversation. The library connects anew for each call."""
        self.messages = native(session.history)
        # The library puts a connection's name and one underscore in front of a tool's name. By
        # itself, it would wait without end for a reply that cannot be read.
        self.client = MultiServerMCPClient(
            {
                f"{server.name}_": {
                    "transport": "streamable_http",
                    "url": server.url,
                    "headers": server.headers,
                    "httpx_client_factory": self.http_client,
                    "session_kwargs": {"read_timeout_seconds": timedelta(seconds=60)},
                }
                for server in session.servers
            },
            tool_name_prefix=True,
        )
        # The model should read why a call failed; by default, a lost connection ends the run.
        errors = ToolErrorMiddleware(lambda error, request: haywire.explained(error))
        self.agent = create_agent(
            self.model(), system_prompt=session.instructions, middleware=[errors, Stepping(self)]
        )

    def http_client(self, **given: Any) -> Any:
        """Return the HTTP client of an MCP session, which numbers the agent's steps."""
        client = create_mcp_http_client(**given)
        client.event_hooks["request"].append(self.steps.number)
        return client

    def model(self) -> Any:
        """Return the model that the settings name, at their base URL if they have one."""
        name = self.settings.model
        given: dict[str, Any] = {"temperature": self.settings.temperature}
        given["http_async_client"] = openai.DefaultAsyncHttpxClient(event_hooks=self.waits.hooks)
        if not name:
            raise ValueError("name a model, as in --model openai/gpt-5")
        if self.settings.api_base is not None:
            name = f"openai/{name.removeprefix('openai/')}"
            given["base_url"] = self.settings.api_base
            given["api_key"] = os.environ.get("OPENAI_API_KEY", "none")
        try:
            return init_chat_model(name.replace("/", ":", 1), **given)
        except openai.OpenAIError as unusable:
            # This is how the library says that there is no API key.
            raise haywire.Outage(str(unusable), lasting=True) from None

    async def turn(self, text: str) -> str:
        """Run the agent on a text of the user."""
        try:
            done = await self.agent.ainvoke({"messages": [*self.messages, HumanMessage(text)]})
        except (ModelError, openai.OpenAIError) as unreached:
            raise haywire.unanswered(unreached) from None
        self.messages = done["messages"]
        return self.messages[-1].text


class Stepping(AgentMiddleware):
    """Lists tools before each request to the model, numbers steps, and counts what they use."""

    def __init__(self, talk: Conversation) -> None:
        super().__init__()
        self.talk = talk
        self.found: dict[str, Any] = {}

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        """Ask the model with the tools that there are now."""
        talk = self.talk
        talk.check_limits()
        self.found = {tool.name: tool for tool in await talk.client.get_tools()}
        response = await handler(request.override(tools=list(self.found.values())))
        message = response.result[-1]
        usage = message.usage_metadata or {"input_tokens": 0, "output_tokens": 0}
        talk.used(
            model=talk.settings.model,
            prompt_tokens=usage["input_tokens"],
            completion_tokens=usage["output_tokens"],
            requests=1,
        )
        talk.steps.begin(message.text if message.tool_calls else "")
        return response

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        """Make a call with the tool that was listed last under its name."""
        name = request.tool_call["name"]
        if name not in self.found:
            refusal = f"There is no tool {name!r}."
            return ToolMessage(refusal, tool_call_id=request.tool_call["id"], status="error")
        return await handler(request.override(tool=self.found[name]))


def native(sessions: list[dict[str, Any]]) -> list[Any]:
    """Return canonical sessions as LangChain's messages."""
    messages: list[Any] = []
    for part in haywire.parts_of(sessions):
        if isinstance(part, haywire.Called):
            calls = [{"id": c.id, "name": c.name, "args": c.args} for c in part.calls]
            messages.append(AIMessage("", tool_calls=calls))
            for call in part.calls:
                status = "error" if call.is_error else "success"
                messages.append(ToolMessage(call.text, tool_call_id=call.id, status=status))
        elif part.role == "user":
            messages.append(HumanMessage(part.text))
        else:
            messages.append(AIMessage(part.text))
    return messages


if __name__ == "__main__":
    haywire.serve(Conversation())
