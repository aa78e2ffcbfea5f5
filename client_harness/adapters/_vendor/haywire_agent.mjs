// Puts an agent behind Haywire's process contract: a copy of this file is all that it needs.
//
// It is haywire_agent.py for JavaScript, with the same ideas and names: a subclass of Agent has
// start and turn, and serve speaks the rest. It needs Node 22 and nothing else, and speaks version
// 2 of the contract only. What can be awaited is: all methods of an agent may be async.
//
//     import * as haywire from "./haywire_agent.mjs";
//
//     class Mine extends haywire.Agent {
//       name = "mine";
//       async start(session) { this.tools = await connect(session.servers, this.steps.fetch); }
//       async turn(text) { return await run(text, this.tools, this.signal); }
//     }
//
//     haywire.serve(new Mine());

import { createInterface } from "node:readline";

/** The header of MCP requests that holds the number of the agent's step. */
export const HEADER = "x-agent-step";
const PROTOCOL = 2;
/** The HTTP statuses with which a provider says that it is busy. */
const BUSY = [429, 503, 529];
/** How providers say that a request is too long for a model. */
const TOO_LONG = [
  "context_length_exceeded",
  "maximum context length",
  "exceeds the maximum number of tokens",
];

/** What ends a turn; the message says why. It is the agent's own error. */
export class Failure extends Error {
  kind = "agent";

  /** One that is lasting will not pass by itself, such as a key that is missing. */
  constructor(detail, { lasting = false } = {}) {
    super(detail);
    this.lasting = lasting;
  }
}

/** The agent's model cannot be reached, so the trial says nothing about the agent. */
export class Outage extends Failure {
  kind = "outage";
}

/** The agent reached a limit of its own, and the trial is judged as it then is. */
export class Limit extends Failure {
  kind = "limit";
}

/** Numbers the agent's steps: calls of one step were made before any of their replies was read. */
export class Steps {
  current = 0;
  #tell;

  constructor(tell) {
    this.#tell = tell;
  }

  /** Begin the next step; the text is what the agent said before it acts, if anything. */
  begin(text = "") {
    this.current += 1;
    if (text.trim()) this.#tell("step", { step: this.current, text });
  }

  /** Do as fetch, with the number of the step in the header: for the client of an MCP server. */
  fetch = (url, init = {}) => {
    const headers = new Headers(init.headers);
    if (this.current) headers.set(HEADER, String(this.current));
    return fetch(url, { ...init, headers });
  };
}

/** Tells how long the agent waits for a provider that is busy, which does not count as its time. */
export class Waits {
  #tell;
  #since;

  constructor(tell) {
    this.#tell = tell;
  }

  /** Do as fetch: for the client of the model. */
  fetch = async (url, init) => {
    if (this.#since !== undefined) this.#tell((performance.now() - this.#since) / 1000);
    this.#since = undefined;
    const response = await fetch(url, init);
    if (BUSY.includes(response.status)) this.#since = performance.now();
    return response;
  };
}

/** An agent. A subclass has start(session) and turn(text), and sets its name and version. */
export class Agent {
  name = "agent";
  version = "";
  /** What the run sets; undefined is what it leaves to the agent. */
  settings = settings();
  /** Functions that are called when the conversation is over. */
  closing = [];
  /** It is aborted when the present request is over or given up. */
  signal;
  /** Set by serve; backoff tells that the agent waits some seconds for its provider. */
  steps;
  waits;
  backoff;
  _usage = {};
  _kept = [];
  _spent = 0;

  /** Take a past session { number, of, at, messages }. By itself, an agent keeps all of them. */
  remember(past) {
    if (past.number === 1) this._kept = [];
    this._kept.push({ at: past.at, messages: past.messages });
  }

  /** Count what the turn uses: prompt_tokens, completion_tokens, cost and others by name. */
  used({ model, ...amounts }) {
    if (model) this._usage.model = model;
    for (const [name, amount] of Object.entries(amounts)) {
      if (amount) this._usage[name] = (this._usage[name] ?? 0) + amount;
    }
    this._spent += (amounts.prompt_tokens ?? 0) + (amounts.completion_tokens ?? 0);
  }

  /** How many tokens the conversation may still use. */
  get left() {
    return this.settings.maxTokens - this._spent;
  }

  /** Raise a Limit if the agent may not ask its model once more. */
  checkLimits() {
    const { maxSteps, maxTokens } = this.settings;
    if (this.steps.current >= maxSteps) {
      throw new Limit(`it made ${maxSteps} requests to its model`);
    }
    if (this.left <= 0) throw new Limit(`it used ${maxTokens} tokens`);
  }
}

function settings() {
  const given = (name) => process.env[`HAYWIRE_${name}`] || undefined;
  const number = (name, otherwise) => Number(given(name) ?? otherwise);
  return {
    model: given("MODEL"),
    apiBase: given("API_BASE"),
    maxSteps: number("MAX_STEPS", 30),
    maxSeconds: number("MAX_SECONDS", 300),
    maxTokens: number("MAX_TOKENS", 1_000_000),
    temperature: given("TEMPERATURE") && number("TEMPERATURE"),
    refresh: given("REFRESH"),
  };
}

const opening = (at) => `[Conversation of ${at}]`;

/**
 * Yield a native history, a text { role, text } or a step { calls } at a time, with a dated line
 * before each session. A call has id, name (service__tool), args, reply, text and isError.
 */
export function* partsOf(sessions) {
  for (const [index, session] of sessions.entries()) {
    let header = session.goes_on && sessions.length === 1 ? "" : opening(session.at);
    for (const [place, message] of session.messages.entries()) {
      if (header && message.role !== "user") {
        yield { role: "user", text: header };
        header = "";
      }
      if (message.calls) {
        yield { calls: message.calls.map((call, at) => pastCall(call, [index + 1, place, at])) };
        continue;
      }
      yield { role: message.role, text: header ? `${header}\n${message.text}` : message.text };
      header = "";
    }
  }
}

function pastCall(call, numbers) {
  const { args, reply } = call;
  const text = typeof reply === "string" ? reply : JSON.stringify(reply);
  const name = `${call.server}__${call.tool}`;
  return { id: `past_${numbers.join("_")}`, name, args, reply, text, isError: call.is_error };
}

/** Return an error in one line. */
export function explained(problem) {
  if (problem instanceof Failure) return problem.message;
  return `${problem?.name ?? "Error"}: ${problem?.message ?? problem}`;
}

/**
 * Return what it means that a provider did not answer. A context that is too long is a limit,
 * anything else an outage, lasting if its HTTP status says that asking again will not help.
 */
export function unanswered(problem) {
  const line = explained(problem);
  if (TOO_LONG.some((words) => line.includes(words))) return new Limit(line);
  const status = problem.statusCode ?? problem.status;
  const refused = status >= 400 && status < 500 && ![408, 409, 429].includes(status);
  return new Outage(line, { lasting: refused || line.includes("insufficient_quota") });
}

/** Answer requests until stdin closes or a close request arrives. All else goes to stderr. */
export async function serve(agent) {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  // A connection that breaks while nobody waits for it must not end the process.
  process.on("unhandledRejection", (problem) => console.error(problem));
  const service = new Service(agent, (message) => write(`${JSON.stringify(message)}\n`));
  let last = Promise.resolve();
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line);
    if (request.method === "cancel") service.cancel(request.params?.id);
    else if ("id" in request) last = last.then(() => service.answer(request));
  }
  await last;
  await service.close();
}

class Service {
  #opening = "";
  #workingOn;
  #controller;
  #waited = 0;

  constructor(agent, send) {
    this.agent = agent;
    this.send = send;
    const tell = (method, params) => send({ jsonrpc: "2.0", method, params });
    agent.steps = new Steps(tell);
    agent.backoff = (seconds) => {
      tell("backoff", { seconds });
      this.#waited += seconds;
    };
    agent.waits = new Waits(agent.backoff);
  }

  cancel(number) {
    if (this.#workingOn === number) this.#controller.abort(new Failure("the turn was cancelled"));
  }

  async close() {
    for (const end of this.agent.closing.reverse()) {
      await Promise.resolve(end()).catch((problem) => console.error(problem));
    }
    process.exit(0);
  }

  async answer({ id, method, params = {} }) {
    const { agent } = this;
    const reply = (answer) => this.send({ jsonrpc: "2.0", id, ...answer });
    if (method === "initialize") {
      reply({ result: { agent: agent.name, version: agent.version, protocol: PROTOCOL } });
    } else if (method === "history/session") {
      reply({ result: await this.guarded(id, params, () => agent.remember(params)) });
    } else if (method === "session/start") {
      const session = this.session(params);
      reply({ result: await this.guarded(id, params, () => agent.start(session)) });
    } else if (method === "turn") {
      const text = this.#opening + params.text;
      this.#opening = "";
      agent.steps.current = 0;
      reply({ result: await this.guarded(id, params, () => agent.turn(text)) });
    } else if (method === "close") {
      reply({ result: {} });
      await this.close();
    } else {
      reply({ error: { code: -32601, message: `there is no method '${method}'` } });
    }
  }

  session({ mcp_servers, history, ...params }) {
    const past = history?.length ? history : this.agent._kept;
    if (past.length && !past.at(-1).goes_on) this.#opening = `${opening(params.now)}\n`;
    const servers = mcp_servers.map((server) => ({ headers: {}, ...server }));
    return { terms: {}, ...params, servers, history: past };
  }

  /** Return the result of what the agent does, whatever becomes of it. */
  async guarded(id, { deadline }, act) {
    const { agent } = this;
    agent._usage = {};
    // A limit of its own is no error, but a deadline that it misses is.
    const seconds = Math.min(agent.settings.maxSeconds, deadline ? 0.95 * deadline : Infinity);
    this.#waited = 0;
    this.#workingOn = id;
    this.#controller = new AbortController();
    agent.signal = this.#controller.signal;
    const began = performance.now();
    const watch = setInterval(() => {
      if (performance.now() - began < 1000 * (seconds + this.#waited)) return;
      this.#controller.abort(new Limit(`it took more than ${seconds} s`));
    }, 250);
    const result = { text: "" };
    try {
      const over = new Promise((_, reject) => {
        agent.signal.onabort = () => reject(agent.signal.reason);
      });
      result.text = String((await Promise.race([(async () => act())(), over])) ?? "");
    } catch (problem) {
      const failure = agent.signal.aborted ? agent.signal.reason : problem;
      const kind = failure instanceof Failure ? failure.kind : "agent";
      result.error = { kind, detail: explained(failure) };
      if (failure.lasting) result.error.lasting = true;
    } finally {
      clearInterval(watch);
      this.#workingOn = undefined;
      agent.signal.onabort = null;
      this.#controller.abort();
    }
    return { ...result, usage: { ...agent._usage } };
  }
}
