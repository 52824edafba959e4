/**
 * Agents that are Holdfast's own programs in a conversation: a command per turn, or a model with tools. In config.toml:
 *
 *   [agents.llm.exec]
 *   command = ["llm", "-m", "small"]
 *
 *   [agents.local.model]
 *   endpoint = "http://127.0.0.1:8080/v1"
 *   model = "qwen3-coder"
 */
import { join } from "node:path";
import type { KnownKeys } from "@holdfast/contract";
import {
  ANSWER_FORMS,
  type ContextRule,
  type ExecOrder,
  MODEL_APIS,
  MODEL_MODES,
  type ModelOrder,
  PROMPT_WAYS,
  SERVERS_WORD,
  USUAL_CONTEXT,
} from "@holdfast/contract/agent/order";
import { meansServer } from "@holdfast/contract/agent/tool-names";
import { writeFileAtomic } from "@holdfast/platform";
import type { Command } from "./command.ts";
import type { TableReader } from "./table-reader.ts";
import type { ToolRule } from "./tool-rule.ts";

export type OwnAgent = { exec: ExecOrder } | { model: ModelOrder };

const CONTEXT_KEYS = {
  first: {
    about: "The number of first turns that the agent is given again with each prompt.",
    takes: "a whole number",
    usual: String(USUAL_CONTEXT.first),
    example: "first = 2",
  },
  last: {
    about: "The number of last turns that the agent is given again with each prompt.",
    takes: "a whole number",
    usual: String(USUAL_CONTEXT.last),
    example: "last = 10",
  },
  tokens: {
    about: "The most tokens of earlier turns. 0 means no limit.",
    takes: "a whole number",
    usual: String(USUAL_CONTEXT.tokens),
    example: "tokens = 50000",
  },
} as const satisfies KnownKeys;

const USUAL_STEPS = 50;

export const OWN_AGENT_KEYS = {
  exec: {
    command: {
      about: "The command that answers one turn.",
      takes: "a list of words",
      usual: null,
      example: 'command = ["llm", "-m", "small"]',
    },
    prompt: {
      about: "How the command gets the prompt: on standard input, or in place of the word {prompt}.",
      takes: '"stdin" or "argument"',
      usual: '"stdin"',
      example: 'prompt = "argument"',
    },
    answer: {
      about: "The format of the command's output.",
      takes: '"plain" or "stream-json"',
      usual: '"plain"',
      example: 'answer = "stream-json"',
    },
    begin: {
      about: "Arguments that begin a conversation under the id {id}, for a command that remembers conversations. Needs `resume`.",
      takes: "a list of words with {id}",
      usual: null,
      example: 'begin = ["--session-id", "{id}"]',
    },
    resume: {
      about: "Arguments that continue the conversation {id}. Needs `begin`.",
      takes: "a list of words with {id}",
      usual: null,
      example: 'resume = ["--resume", "{id}"]',
    },
    context: CONTEXT_KEYS,
    system: { about: "The system prompt.", takes: "a text", usual: null, example: 'system = "Answer in one sentence."' },
    model: {
      about: "The model behind the command. Holdfast needs it only to compute the cost.",
      takes: "the name of a model",
      usual: null,
      example: 'model = "gpt-5-mini"',
    },
  },
  model: {
    api: {
      about: "The API of the endpoint. Without it and without `endpoint`, the environment decides.",
      takes: '"openai" or "anthropic"',
      usual: null,
      example: 'api = "openai"',
    },
    endpoint: {
      about: "The address of the API.",
      takes: "an http or https address",
      usual: null,
      example: 'endpoint = "http://127.0.0.1:8080/v1"',
    },
    model: { about: "The model.", takes: "the name of a model", usual: null, example: 'model = "qwen3-coder"' },
    key_env: {
      about: "The environment variable that holds the API key.",
      takes: "the name of a variable",
      usual: null,
      example: 'key_env = "GATEWAY_KEY"',
    },
    key_header: {
      about: "The HTTP header that carries the API key, if it is not the API's usual one.",
      takes: "the name of a header",
      usual: null,
      example: 'key_header = "x-api-key"',
    },
    tools: {
      about: "The tools the agent may use. Without this key it may use all of them; an empty list means none.",
      takes: "a list of tool names",
      usual: null,
      example: 'tools = ["read_file", "search"]',
    },
    max_steps: {
      about: "The most requests to the model in one turn.",
      takes: "a whole number of at least 1",
      usual: String(USUAL_STEPS),
      example: "max_steps = 20",
    },
    mode: {
      about: "The actions that need no permission request: only reading, edits too, or everything.",
      takes: '"ask", "auto-edit" or "auto"',
      usual: '"ask"',
      example: 'mode = "auto-edit"',
    },
    context: CONTEXT_KEYS,
    system: { about: "The system prompt.", takes: "a text", usual: null, example: 'system = "You work on a web shop."' },
  },
} as const satisfies KnownKeys;

/** Takes everything from the environment. */
export const USUAL_MODEL: ModelOrder = {
  api: null,
  endpoint: null,
  model: null,
  keyEnv: null,
  keyHeader: null,
  tools: null,
  roleTools: null,
  roleDenied: [],
  maxSteps: USUAL_STEPS,
  mode: "ask",
  context: USUAL_CONTEXT,
  system: null,
};

/** The command that starts it. Each run appends the path of its order. */
export function structuredFor(own: OwnAgent): Command {
  const program = "exec" in own ? "exec-agent.mjs" : "model-agent.mjs";
  return ({ node, programs }) => [node, join(programs, program)];
}

/** True if it uses a server of that name: a model unless its tools exclude it, a command if it has the placeholder. */
export function takesServer(own: OwnAgent, server: string): boolean {
  return "exec" in own ? own.exec.command.some((word) => word.includes(SERVERS_WORD)) : meansServer(own.model.tools, server);
}

/** The request's model, which replaces the configured one, and the role's choice among the configured tools. */
export interface AskedOfModel {
  model: string | null;
  rule: ToolRule | undefined;
}

/** Writes the order into the run's directory and returns its path. */
export function writeOrder(own: OwnAgent, { directory, asked: { model, rule } }: { directory: string; asked: AskedOfModel }): string {
  const path = join(directory, "order.json");
  const role = { roleTools: rule?.allowed ?? null, roleDenied: rule?.denied ?? [] };
  const order = "exec" in own ? own.exec : { ...own.model, model: model ?? own.model.model, ...role };
  writeFileAtomic(path, `${JSON.stringify(order, null, 2)}\n`);
  return path;
}

export function readOwnAgent(read: TableReader, values: Record<string, unknown>): OwnAgent | undefined {
  const { exec, model, structured } = values;
  const said = Object.entries({ exec, model, structured }).flatMap(([key, value]) => (value === undefined ? [] : [key]));
  if (said.length > 1) throw read.refusal(` has both ${said.join(" and ")}`, "keep only one of them");
  if (exec !== undefined) return { exec: execOf(read.under("exec"), exec) };
  return model === undefined ? undefined : { model: modelOf(read.under("model"), model) };
}

function execOf(read: TableReader, value: unknown): ExecOrder {
  const table = read.table(value);
  if (table.command === undefined) throw read.wrong("command", "is missing", 'for example: command = ["my-agent", "--print"]');
  const words = (key: string) => (table[key] === undefined ? undefined : read.words(table[key], key));
  const [begin, resume] = [words("begin"), words("resume")];
  if (begin && !resume) throw read.wrong("resume", "is missing: begin needs it", 'for example: resume = ["--resume", "{id}"]');
  for (const [key, given] of Object.entries({ begin, resume }))
    if (given && !given.some((word) => word.includes("{id}")))
      throw read.wrong(key, "has no placeholder for the conversation's id", `for example: ${key} = ["--${key}", "{id}"]`);
  if (resume && !begin)
    throw read.wrong("begin", "is missing: the id of the conversation would not be known", 'for example: begin = ["--session-id", "{id}"]');
  return {
    command: read.words(table.command, "command"),
    prompt: read.oneOf(table.prompt, "prompt", PROMPT_WAYS) ?? "stdin",
    answer: read.oneOf(table.answer, "answer", ANSWER_FORMS) ?? "plain",
    context: { ...contextOf(read, table.context), ...(begin && resume ? { remembers: { begin, resume } } : {}) },
    system: read.text(table.system, "system") ?? null,
    model: read.text(table.model, "model") ?? null,
  };
}

function modelOf(read: TableReader, value: unknown): ModelOrder {
  const table = read.table(value);
  const text = (key: string) => read.text(table[key], key) ?? null;
  const endpoint = text("endpoint");
  if (endpoint !== null && !/^https?:\/\/./.test(endpoint))
    throw read.wrong("endpoint", "is not an address", 'for example: endpoint = "https://gateway.example/v1"');
  const tools =
    table.tools === undefined ? null : Array.isArray(table.tools) && table.tools.length === 0 ? [] : read.words(table.tools, "tools");
  return {
    api: read.oneOf(table.api, "api", MODEL_APIS) ?? (endpoint === null ? null : "openai"),
    endpoint,
    model: text("model"),
    keyEnv: text("key_env"),
    keyHeader: text("key_header"),
    tools,
    roleTools: null,
    roleDenied: [],
    maxSteps: read.count(table.max_steps, "max_steps", 1) ?? USUAL_STEPS,
    mode: read.oneOf(table.mode, "mode", MODEL_MODES) ?? "ask",
    context: contextOf(read, table.context),
    system: text("system"),
  };
}

/** `tokens = 0`: without a limit. */
function contextOf(read: TableReader, value: unknown): ContextRule {
  if (value === undefined) return USUAL_CONTEXT;
  const here = read.under("context");
  const table = here.table(value);
  const count = (key: keyof typeof CONTEXT_KEYS) => here.count(table[key], key, 0);
  const tokens = count("tokens");
  return {
    first: count("first") ?? USUAL_CONTEXT.first,
    last: count("last") ?? USUAL_CONTEXT.last,
    tokens: tokens === undefined ? USUAL_CONTEXT.tokens : tokens || null,
  };
}
