"""An agent of the OpenAI Agents SDK behind Haywire's process contract."""

from __future__ import annotations

import functools
import json
import os
from importlib.metadata import version
from typing import Any

import haywire_agent as haywire  # ty: ignore[import-not-found]
import httpx2
import openai
from agents import (  # ty: ignore[import-not-found]
    Agent,
    ItemHelpers,
    MaxTurnsExceeded,
    Model,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    RunHooks,
    Runner,
)
from agents.mcp import MCPServerStreamableHttp  # ty: ignore[import-not-found]

RESPONSES = "responses/"
SECONDS = 60
"""How long a call of a tool may take."""


class Hooks(RunHooks):
    """Tells the conversation of each request to the model and its answer."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation

    async def on_llm_start(self, *told: Any) -> None:
        """Stop before a request for which no tokens are left."""
        self.conversation.check_limits()

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        """Begin the next step, which are the calls in the answer."""
        mine = self.conversation
        said = [ItemHelpers.extract_text(item) or "" for item in response.output]
        mine.steps.begin("".join(said))
        used = response.usage
        mine.used(
            model=mine.settings.model,
            prompt_tokens=used.input_tokens,
            completion_tokens=used.output_tokens,
            requests=1,
        )


class Conversation(haywire.Agent):
    """One conversation: the agent, its connections, and its items over all turns."""

    name = "openai_agents"
    version = version("openai-agents")

    async def start(self, session: haywire.Session) -> None:
        """Connect to the servers and begin a conversation."""
        self.items = native(session.history)
        servers = []
        for server in session.servers:
            params = {
                "url": server.url,
                "headers": server.headers,
                "timeout": SECONDS,
                "httpx_client_factory": functools.partial(web, self.steps),
            }
            made = MCPServerStreamableHttp(
                params, name=server.name, client_session_timeout_seconds=SECONDS
            )
            servers.append(await self.stack.enter_async_context(made))
        self.agent = Agent(
            name="assistant",
            instructions=session.instructions,
            model=self.model(),
            model_settings=ModelSettings(temperature=self.settings.temperature),
            mcp_servers=servers,
            mcp_config={"include_server_in_tool_names": True},
        )

    def model(self) -> Model:
        """Return the model that the settings name: of responses, or of chat completions."""
        name = (self.settings.model or "").removeprefix("openai/")
        base = self.settings.api_base
        if not name:
            raise ValueError("name a model, as in --model openai/gpt-5")
        key = os.environ.get("OPENAI_API_KEY") or ("none" if base else None)
        try:
            http = openai.DefaultAsyncHttpxClient(event_hooks=self.waits.hooks)
            client = openai.AsyncOpenAI(base_url=base, api_key=key, http_client=http)
        except openai.OpenAIError as unusable:
            # This is how the library says that there is no API key.
            raise haywire.Outage(str(unusable), lasting=True) from None
        if base is None or name.startswith(RESPONSES):
            return OpenAIResponsesModel(name.removeprefix(RESPONSES), client)
        return OpenAIChatCompletionsModel(name, client)

    async def turn(self, text: str) -> str:
        """Run the agent on a text of the user."""
        try:
            result = await Runner.run(
                self.agent,
                [*self.items, {"role": "user", "content": text}],
                max_turns=self.settings.max_steps,
                hooks=Hooks(self),
                run_config=RunConfig(
                    tracing_disabled=True, tool_not_found_behavior="return_error_to_model"
                ),
            )
        except MaxTurnsExceeded as reached:
            raise haywire.Limit(haywire.explained(reached)) from None
        except openai.APIError as failed:
            if failed.code == "context_length_exceeded":
                raise haywire.Limit(haywire.explained(failed)) from None
            raise haywire.Outage(haywire.explained(failed)) from None
        self.items = result.to_input_list()
        return result.final_output


def web(steps: haywire.Steps, headers: Any = None, timeout: Any = None, auth: Any = None) -> Any:
    """Return an HTTP client for a server, which sends the number of the agent's step."""
    hooks = {"request": [steps.number]}
    return httpx2.AsyncClient(
        headers=headers, timeout=timeout, auth=auth, event_hooks=hooks, follow_redirects=True
    )


def native(sessions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return canonical sessions as input items of the SDK."""
    items: list[dict[str, Any]] = []
    for part in haywire.parts_of(sessions):
        if not isinstance(part, haywire.Called):
            items.append({"role": part.role, "content": part.text})
            continue
        for call in part.calls:
            # The SDK calls a server's tools mcp_SERVER__TOOL.
            asked = {"name": f"mcp_{call.name}", "arguments": json.dumps(call.args)}
            items.append({"type": "function_call", "call_id": call.id, **asked})
        for call in part.calls:
            reply = {"call_id": call.id, "output": json.dumps(call.reply, ensure_ascii=False)}
            items.append({"type": "function_call_output", **reply})
    return items


if __name__ == "__main__":
    haywire.serve(Conversation())
