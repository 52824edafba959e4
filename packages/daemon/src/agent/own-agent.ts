/**
 * Agents that in a conversation are programs of ours: a command for each turn, or a model with tools. In config.toml:
 *
 *   [agents.llm.exec]
 *   command = ["llm", "-m", "small"]
 *
 *   [agents.local.model]
 *   endpoint = "http://127.0.0.1:8080/v1"
 *   model = "qwen3-coder"
 */
import { join } from "node:path";
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
} from "@holdfast/contract/agent-order";
import { meansServer } from "@holdfast/contract/tool-names";
import { writeFileAtomic } from "@holdfast/platform";
import type { Command } from "./profile.ts";
import type { TableReader } from "./table-reader.ts";

export type OwnAgent = { exec: ExecOrder } | { model: ModelOrder };

const CONTEXT_KEYS = { first: true, last: true, tokens: true } as const;

export const OWN_AGENT_KEYS = {
  exec: { command: true, prompt: true, answer: true, begin: true, resume: true, context: CONTEXT_KEYS, system: true, model: true },
  model: {
    api: true,
    endpoint: true,
    model: true,
    key_env: true,
    key_header: true,
    tools: true,
    max_steps: true,
    mode: true,
    context: CONTEXT_KEYS,
    system: true,
  },
} as const;

const USUAL_STEPS = 50;

/** All from the environment. */
export const USUAL_MODEL: ModelOrder = {
  api: null,
  endpoint: null,
  model: null,
  keyEnv: null,
  keyHeader: null,
  tools: null,
  roleTools: null,
  maxSteps: USUAL_STEPS,
  mode: "ask",
  context: USUAL_CONTEXT,
  system: null,
};

/** The command with which it is started; where its order is comes behind it, with each run. */
export function structuredFor(own: OwnAgent): Command {
  const program = "exec" in own ? "exec-agent.mjs" : "model-agent.mjs";
  return ({ node, programs }) => [node, join(programs, program)];
}

/** Whether it makes use of a server of that name: a model unless its tools leave that out, a command that has a place for it. */
export function takesServer(own: OwnAgent, server: string): boolean {
  return "exec" in own ? own.exec.command.some((word) => word.includes(SERVERS_WORD)) : meansServer(own.model.tools, server);
}

/** What was asked for in place of what is configured, and of the tools that are configured. */
export interface AskedOfModel {
  model: string | null;
  tools: readonly string[] | null;
}

/** Writes what it is told into the run's directory, and returns where that is. */
export function writeOrder(own: OwnAgent, { directory, asked: { model, tools } }: { directory: string; asked: AskedOfModel }): string {
  const path = join(directory, "order.json");
  const order = "exec" in own ? own.exec : { ...own.model, model: model ?? own.model.model, roleTools: tools };
  writeFileAtomic(path, `${JSON.stringify(order, null, 2)}\n`);
  return path;
}

export function readOwnAgent(read: TableReader, values: Record<string, unknown>): OwnAgent | undefined {
  const { exec, model, structured } = values;
  const said = Object.entries({ exec, model, structured }).flatMap(([key, value]) => (value === undefined ? [] : [key]));
  if (said.length > 1) throw read.refusal(` has both ${said.join(" and ")}`, "one of them says how it is talked to");
  if (exec !== undefined) return { exec: execOf(read.under("exec"), exec) };
  return model === undefined ? undefined : { model: modelOf(read.under("model"), model) };
}

function execOf(read: TableReader, value: unknown): ExecOrder {
  const table = read.table(value);
  if (table.command === undefined) throw read.wrong("command", "is missing", 'for example: command = ["my-agent", "--print"]');
  const words = (key: string) => (table[key] === undefined ? undefined : read.words(table[key], key));
  const [begin, resume] = [words("begin"), words("resume")];
  if (begin && !resume)
    throw read.wrong("resume", "is missing: begin is of no use without it", 'for example: resume = ["--resume", "{id}"]');
  for (const [key, given] of Object.entries({ begin, resume }))
    if (given && !given.some((word) => word.includes("{id}")))
      throw read.wrong(key, "has no place for the conversation's id", `for example: ${key} = ["--${key}", "{id}"]`);
  if (resume && !begin)
    throw read.wrong("begin", "is missing: nobody would know the id to go on with", 'for example: begin = ["--session-id", "{id}"]');
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
    throw read.wrong("endpoint", "is no address", 'for example: endpoint = "https://gateway.example/v1"');
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
