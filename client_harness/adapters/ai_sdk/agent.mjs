// An agent of the Vercel AI SDK behind Haywire's process contract.
//
// It runs in its own environment and imports nothing from Haywire but the helper for agents.

import { createMCPClient } from "@ai-sdk/mcp";
import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, RetryError, generateText, isLoopFinished } from "ai";
import about from "ai/package.json" with { type: "json" };

import * as haywire from "./haywire_agent.mjs";

/** How long a call of a tool may take, in milliseconds. By itself, the library waits forever. */
const PATIENCE = 60_000;

/** One conversation: the clients of the servers, and the messages over all turns. */
class Conversation extends haywire.Agent {
  name = "ai_sdk";
  version = about.version;
  clients = {};

  /** Connect to the servers and begin a conversation. */
  async start(session) {
    this.model = this.chosenModel();
    this.instructions = session.instructions ?? undefined;
    this.messages = native(session.history);
    for (const { name, url, headers } of session.servers) {
      const transport = { type: "http", url, headers, fetch: this.steps.fetch, redirect: "follow" };
      this.clients[name] = await createMCPClient({ transport });
      this.closing.push(() => this.clients[name].close());
    }
  }

  /** Return the model that the settings name, of chat completions. */
  chosenModel() {
    const { model, apiBase } = this.settings;
    const key = process.env.OPENAI_API_KEY;
    if (!apiBase && !model?.startsWith("openai/")) {
      throw new Error("name a model of OpenAI, as in --model openai/gpt-5, or an --api-base");
    }
    if (!apiBase && !key) throw new haywire.Outage("OPENAI_API_KEY is not set", { lasting: true });
    const given = { baseURL: apiBase, apiKey: key ?? "none", fetch: this.waits.fetch };
    return createOpenAI(given).chat((model ?? "").replace(/^openai\//, ""));
  }

  /** Put the tools that there are now into a set, each with its service's name in front. */
  async list(tools) {
    for (const [service, client] of Object.entries(this.clients)) {
      for (const [name, tool] of Object.entries(await client.tools())) {
        tools[`${service}__${name}`] = tool;
      }
    }
  }

  /** Run the library's loop on a text of the user. */
  async turn(text) {
    const tools = {};
    this.messages.push({ role: "user", content: text });
    try {
      const result = await generateText({
        model: this.model,
        instructions: this.instructions,
        messages: this.messages,
        tools,
        temperature: this.settings.temperature,
        stopWhen: isLoopFinished(),
        timeout: { toolMs: PATIENCE },
        abortSignal: this.signal,
        // The library reads the set before each request; by itself, nobody adds to it.
        prepareStep: async () => {
          this.checkLimits();
          await this.list(tools);
        },
        onLanguageModelCallEnd: (answer) => this.count(answer),
      });
      this.messages.push(...result.responseMessages);
      return result.text;
    } catch (problem) {
      const last = RetryError.isInstance(problem) ? problem.lastError : problem;
      throw APICallError.isInstance(last) ? haywire.unanswered(last) : last;
    }
  }

  /** Count what an answer of the model used. Its calls are one step. */
  count({ usage, content }) {
    this.used({
      model: this.settings.model,
      prompt_tokens: usage.inputTokens,
      completion_tokens: usage.outputTokens,
      requests: 1,
    });
    const texts = content.filter((part) => part.type === "text").map((part) => part.text);
    const acts = content.some((part) => part.type === "tool-call");
    this.steps.begin(acts ? texts.join("") : "");
  }
}

/** Return canonical sessions as messages of the library. */
function native(sessions) {
  const messages = [];
  for (const { role, text, calls } of haywire.partsOf(sessions)) {
    if (!calls) {
      messages.push({ role, content: text });
      continue;
    }
    const asked = [];
    const replies = [];
    for (const { id, name, args, text: reply } of calls) {
      const call = { toolCallId: id, toolName: name };
      asked.push({ type: "tool-call", ...call, input: args });
      // The library gives a reply of MCP to the model in this form, also one that is an error.
      const output = { type: "content", value: [{ type: "text", text: reply }] };
      replies.push({ type: "tool-result", ...call, output });
    }
    messages.push({ role: "assistant", content: asked }, { role: "tool", content: replies });
  }
  return messages;
}

haywire.serve(new Conversation());
