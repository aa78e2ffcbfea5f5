"""An agent of Microsoft's Agent Framework behind Haywire's process contract.

It runs in its own environment and imports nothing from Haywire but the helper for agents.
"""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import Any

import haywire_agent as haywire  # ty: ignore[import-not-found]
import httpx2
import openai
from agent_framework import (  # ty: ignore[import-not-found]
    Agent,
    Content,
    MCPStreamableHTTPTool,
    Message,
    chat_middleware,
)
from agent_framework.exceptions import ChatClientException  # ty: ignore[import-not-found]
from agent_framework_openai import OpenAIChatCompletionClient  # ty: ignore[import-not-found]


class Conversation(haywire.Agent):
    """One conversation: the agent, its connections, and a session of the library."""

    name = "agent_framework"
    version = version("agent-framework-core")

    async def start(self, session: haywire.Session) -> None:
        """Connect to the servers and begin a conversation."""
        self.new_messages = native(session.history)
        self.servers = []
        for server in session.servers:
            http = httpx2.AsyncClient(
                headers=server.headers,
                timeout=httpx2.Timeout(30, read=300),
                event_hooks={"request": [self.steps.number]},
                follow_redirects=True,
            )
            await self.stack.enter_async_context(http)
            tool = MCPStreamableHTTPTool(
                server.name,
                server.url,
                # The library puts it in front of the names of tools, with one underscore.
                tool_name_prefix=server.name,
                # By default, prompts of a server become tools.
                load_prompts=False,
                http_client=http,
            )
            self.servers.append(await self.stack.enter_async_context(tool))
        options: dict[str, Any] = {}
        if self.settings.temperature is not None:
            options["temperature"] = self.settings.temperature

        @chat_middleware
        async def asking(context: Any, call_next: Any) -> None:
            await self.ask(context, call_next)

        self.agent = Agent(
            client=self.client(),
            name="assistant",
            instructions=session.instructions,
            tools=self.servers,
            default_options=options,
            middleware=[asking],
        )
        self.session = self.agent.create_session()

    def client(self) -> Any:
        """Return a client of the settings' model, at their base URL if they have one."""
        name = self.settings.model or ""
        base = self.settings.api_base
        if base is None and not name.startswith("openai/"):
            raise ValueError("name a model of OpenAI, as in --model openai/gpt-5, or an --api-base")
        key = os.environ.get("OPENAI_API_KEY")
        if base is None and key is None:
            raise haywire.Outage("OPENAI_API_KEY is not set", lasting=True)
        return OpenAIChatCompletionClient(
            name.removeprefix("openai/"),
            async_client=openai.AsyncOpenAI(
                base_url=base,
                api_key=key or "none",
                http_client=openai.DefaultAsyncHttpxClient(event_hooks=self.waits.hooks),
            ),
            function_invocation_configuration={
                # One more than are allowed, because the library's own limit is no error.
                "max_iterations": self.settings.max_steps + 1,
                # The model should read errors; by default, it hears only that there was one.
                "include_detailed_errors": True,
            },
        )

    async def ask(self, context: Any, call_next: Any) -> None:
        """Let the library ask its model, and count what that uses. Its calls are one step."""
        self.check_limits()
        await call_next()
        usage = context.result.usage_details or {}
        tokens_in = usage.get("input_token_count") or 0
        tokens_out = usage.get("output_token_count") or 0
        self.used(
            model=self.settings.model,
            prompt_tokens=tokens_in,
            completion_tokens=tokens_out,
            requests=1,
        )
        acts = False
        for message in context.result.messages:
            acts |= any(content.type == "function_call" for content in message.contents)
        self.steps.begin(context.result.text if acts else "")

    async def turn(self, text: str) -> str:
        """Run the agent on a text of the user."""
        for server in self.servers:
            await server.load_tools()
        messages = [*self.new_messages, Message("user", [text])]
        self.new_messages = []
        try:
            response = await self.agent.run(messages, session=self.session)
        except ChatClientException as failed:
            cause = failed.__cause__
            if isinstance(cause, openai.OpenAIError):
                raise haywire.unanswered(cause) from None
            raise
        return response.text


def native(sessions: list[dict[str, Any]]) -> list[Any]:
    """Return canonical sessions as messages of the library."""
    messages = []
    for part in haywire.parts_of(sessions):
        if isinstance(part, haywire.Said):
            messages.append(Message(part.role, [part.text]))
            continue
        calls = []
        replies = []
        for call in part.calls:
            name = call.name.replace("__", "_", 1)
            calls.append(Content.from_function_call(call.id, name, arguments=call.args))
            replies.append(Content.from_function_result(call.id, result=call.text))
        messages += [Message("assistant", calls), Message("tool", replies)]
    return messages


if __name__ == "__main__":
    haywire.serve(Conversation())
