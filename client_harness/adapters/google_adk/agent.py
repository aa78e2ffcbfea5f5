"""A Google ADK agent behind Haywire's process contract.

It runs in its own environment and imports nothing from Haywire but the helper for agents.
"""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import Any

import aiohttp
import haywire_agent as haywire  # ty: ignore[import-not-found]
import httpx
import openai
from google.adk.agents import LlmAgent  # ty: ignore[import-not-found]
from google.adk.agents.invocation_context import (  # ty: ignore[import-not-found]
    LlmCallsLimitExceededError,
)
from google.adk.agents.run_config import RunConfig  # ty: ignore[import-not-found]
from google.adk.events import Event  # ty: ignore[import-not-found]
from google.adk.models import Gemini  # ty: ignore[import-not-found]
from google.adk.models.lite_llm import LiteLlm  # ty: ignore[import-not-found]
from google.adk.runners import InMemoryRunner  # ty: ignore[import-not-found]
from google.adk.tools.mcp_tool import (  # ty: ignore[import-not-found]
    McpToolset,
    StreamableHTTPConnectionParams,
)
from google.adk.tools.mcp_tool.mcp_session_manager import (  # ty: ignore[import-not-found]
    create_mcp_http_client,
)
from google.genai import types  # ty: ignore[import-not-found]
from google.genai.errors import APIError  # ty: ignore[import-not-found]

NAME = "assistant"
PROVIDER_ERRORS = (APIError, openai.OpenAIError, httpx.HTTPError, aiohttp.ClientError)
# Otherwise LiteLLM asks the network for a list of prices when it is imported.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")


class Conversation(haywire.Agent):
    """One conversation: the agent, its connections, and a session of the library."""

    name = "google_adk"
    version = version("google-adk")

    async def start(self, session: haywire.Session) -> None:
        """Begin a conversation. Each server's name is in front of the names of its tools."""
        toolsets = []
        for server in session.servers:
            connection = StreamableHTTPConnectionParams(
                url=server.url, headers=server.headers, httpx_client_factory=self.http_client
            )
            # The library puts an underscore between the two names, too.
            toolsets.append(
                McpToolset(connection_params=connection, tool_name_prefix=f"{server.name}_")
            )
        agent = LlmAgent(
            name=NAME,
            model=self.model(),
            # As a function, because the library would fill in what stands in braces in a text.
            instruction=lambda _: session.instructions or "",
            tools=toolsets,
            generate_content_config=types.GenerateContentConfig(
                temperature=self.settings.temperature
            ),
            before_model_callback=self.may_ask,
            after_model_callback=self.count,
        )
        self.runner = InMemoryRunner(agent=agent, app_name="haywire")
        self.stack.push_async_callback(self.runner.close)
        sessions = self.runner.session_service
        self.talk = await sessions.create_session(app_name="haywire", user_id="user")
        for event in native(session.history):
            await sessions.append_event(self.talk, event)

    def http_client(self, **given: Any) -> Any:
        """Return the HTTP client of an MCP session, which numbers the agent's steps."""
        client = create_mcp_http_client(**given)
        client.event_hooks["request"].append(self.steps.number)
        return client

    def model(self) -> Any:
        """Return the model that the settings name: Gemini, or what LiteLLM makes of the name."""
        name = self.settings.model
        base = self.settings.api_base
        if not name:
            raise ValueError("name a model, as in --model gemini/gemini-2.5-pro")
        if name.startswith("gemini/"):
            key = os.environ.get("GEMINI_API_KEY") or os.environ.get("GOOGLE_API_KEY")
            if base is None and key is None:
                raise haywire.Outage("GEMINI_API_KEY is not set", lasting=True)
            name = name.removeprefix("gemini/")
            return Gemini(model=name, base_url=base, client_kwargs={"api_key": key or "none"})
        if base is None:
            return LiteLlm(model=name)
        key = os.environ.get("OPENAI_API_KEY", "none")
        return LiteLlm(model=f"openai/{name.removeprefix('openai/')}", api_base=base, api_key=key)

    def may_ask(self, callback_context: Any, llm_request: Any) -> None:
        """Raise a `Limit` if there may be no other request to the model."""
        self.check_limits()

    def count(self, callback_context: Any, llm_response: Any) -> None:
        """Count what a response of the model used. Its calls are one step."""
        usage = llm_response.usage_metadata or types.GenerateContentResponseUsageMetadata()
        tokens_in = usage.prompt_token_count or 0
        tokens_out = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
        self.used(
            model=self.settings.model,
            prompt_tokens=tokens_in,
            completion_tokens=tokens_out,
            requests=1,
        )
        parts = llm_response.content.parts or [] if llm_response.content else []
        acts = any(part.function_call for part in parts)
        self.steps.begin(said_in(parts) if acts else "")

    async def turn(self, text: str) -> str:
        """Run the agent on a text of the user."""
        answer = ""
        try:
            async for event in self.runner.run_async(
                user_id=self.talk.user_id,
                session_id=self.talk.id,
                new_message=types.UserContent(text),
                run_config=RunConfig(max_llm_calls=self.settings.max_steps),
            ):
                if event.is_final_response() and event.content:
                    answer = said_in(event.content.parts or [])
        except LlmCallsLimitExceededError as reached:
            raise haywire.Limit(haywire.explained(reached)) from None
        except PROVIDER_ERRORS as unreached:
            raise haywire.unanswered(unreached) from None
        return answer


def said_in(parts: list[Any]) -> str:
    """Return the text in a content's parts, without thoughts."""
    texts = [part.text or "" for part in parts if not part.thought]
    return "".join(texts)


def native(sessions: list[dict[str, Any]]) -> list[Any]:
    """Return canonical sessions as events of the library."""
    events = []
    for part in haywire.parts_of(sessions):
        if isinstance(part, haywire.Said):
            role = "user" if part.role == "user" else "model"
            events.append(event_of(role, [types.Part(text=part.text)]))
            continue
        calls = []
        replies = []
        for call in part.calls:
            made = types.FunctionCall(id=call.id, name=call.name, args=call.args)
            calls.append(types.Part(function_call=made))
            # The library gives a reply of MCP to the model as it is.
            reply = {"content": [{"type": "text", "text": call.text}], "isError": call.is_error}
            answered = types.FunctionResponse(id=call.id, name=call.name, response=reply)
            replies.append(types.Part(function_response=answered))
        events += [event_of("model", calls), event_of("user", replies, NAME)]
    return events


def event_of(role: str, parts: list[Any], author: str | None = None) -> Any:
    """Return an event, by default of the user or the agent, whose role it has."""
    author = author or ("user" if role == "user" else NAME)
    return Event(author=author, content=types.Content(role=role, parts=parts))


if __name__ == "__main__":
    haywire.serve(Conversation())
