/**
 * Interprets an agent's hook payloads by rules that are data. The first rule that fits wins. A path names a field: `tool_input.command`.
 */
import { type Attention, type Claim, CONVERSATION_ID, describeTool, inOneLine, type Turn, type Wait } from "@holdfast/contract";
import { timeSaid } from "../status/time-said.ts";

/** A rule for a payload or for an agent's state file. */
export interface FieldRule {
  /** The fields at these paths must match. A missing field matches as an empty text. */
  when?: Readonly<Record<string, RegExp>>;
  turn?: Turn;
  waits?: Wait;
  /** Path of the text about the wait. Default: a description of the tool call. */
  text?: string;
  /** Path of the end of the wait: milliseconds since 1970, or words such as `resets 9:41am`. */
  until?: string;
  /** The agent does not wait for a person. */
  calm?: boolean;
  background?: boolean;
}

export interface HookRule extends FieldRule {
  /** The payload's `hook_event_name`, or its `type` for agents that use that name. */
  event: string;
  /**
   * The payload's conversation becomes the session's; other conversations are subagents'. `first`: only before any hook has reported in the run,
   * because hooks injected through the environment also reach agents that this one starts as tools.
   */
  opens?: true | "first";
  /** Paths of the prompt that began a turn, the answer that ended it, and the reason of a failure. */
  prompt?: string;
  reply?: string;
  failure?: string;
  /** Path of questions that the agent asks without a tool call. */
  questions?: string;
}

/** How to read an agent's hooks. */
export interface HookReading {
  /** Path of the conversation's id. */
  conversation: string;
  /** Path of the agent's own id of the turn. */
  turn?: string;
  /** Path that only a subagent's payload has. */
  subagent?: string;
  /** Paths of a tool's name and arguments. */
  tool?: { name: string; input: string };
  rules: readonly HookRule[];
}

export interface Signal {
  event: string;
  /** Time of the report. */
  at: string;
  claim: Claim;
  conversation: string | null;
  opens: true | "first" | undefined;
  tool: { name: string; input: unknown } | null;
  /** The agent's working directory. */
  directory: string | null;
  /** The agent's own id of the turn. */
  turn: string | null;
  prompt: string | null;
  reply: string | null;
  /** Reason of a failed turn. */
  failure: string | null;
  /** The turn was interrupted. */
  interrupted?: true;
  /** Another turn has begun since. */
  over?: true;
  /** The signal comes from the agent's own transcript, not from a hook. */
  written?: true;
}

/** Undefined if the payload is irrelevant or a subagent's. A subagent's counts only if it `asks` for permission. */
export function readHook(reading: HookReading, payload: unknown, at: string, asks = false): Signal | undefined {
  const event = textAt(payload, "hook_event_name") ?? textAt(payload, "type");
  if (event === undefined) return undefined;
  if (!asks && reading.subagent !== undefined && fieldAt(payload, reading.subagent) !== undefined) return undefined;
  const rule = reading.rules.find((rule) => rule.event === event && fits(rule, payload));
  if (!rule) return undefined;
  const questions = rule.questions === undefined ? undefined : fieldAt(payload, rule.questions);
  const tool = questions === undefined ? toolOf(reading, payload) : { name: "question", input: { questions } };
  const field = (path: string | undefined) => (path === undefined ? null : (textAt(payload, path) ?? null));
  return {
    event,
    at,
    claim: claimOf(rule, payload, { text: field(rule.text) ?? (tool && describeTool(tool, { asks: rule.waits === "question" })), at }),
    conversation: idIn(field(reading.conversation)),
    opens: rule.opens,
    tool,
    directory: field("cwd"),
    turn: field(reading.turn),
    prompt: field(rule.prompt),
    reply: field(rule.reply),
    failure: field(rule.failure),
  };
}

/** Null for a text that is not an id: any program of the run can write a payload. */
function idIn(text: string | null): string | null {
  return text !== null && CONVERSATION_ID.test(text) ? text : null;
}

export function fits({ when = {} }: FieldRule, payload: unknown): boolean {
  return Object.entries(when).every(([path, pattern]) => pattern.test(textAt(payload, path) ?? ""));
}

/** Length that can be read at a glance; the text is journaled with every change of a session. */
const GLANCE = 200;

export function claimOf(rule: FieldRule, payload: unknown, said: { text: string | null; at: string }): Claim {
  const claim: Claim = {};
  if (rule.turn) claim.turn = rule.turn;
  const text = said.text === null ? null : inOneLine(said.text, GLANCE);
  if (rule.waits) claim.attention = { for: rule.waits, text, until: timeAt(payload, rule.until, said.at) } satisfies Attention;
  else if (rule.calm) claim.attention = null;
  if (rule.background !== undefined) claim.background = rule.background;
  return claim;
}

function timeAt(payload: unknown, path: string | undefined, at: string): string | null {
  const text = path === undefined ? undefined : textAt(payload, path);
  if (text === undefined) return null;
  const said = /\bresets (?:at )?(.+)/.exec(text)?.[1];
  const time = new Date(said === undefined ? Number(text) : (timeSaid(said, Date.parse(at)) ?? Number.NaN));
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

function toolOf({ tool }: HookReading, payload: unknown): Signal["tool"] {
  const name = tool && textAt(payload, tool.name);
  return tool && name !== undefined ? { name, input: fieldAt(payload, tool.input) ?? null } : null;
}

export function textAt(payload: unknown, path: string): string | undefined {
  const value = fieldAt(payload, path);
  if (typeof value === "string") return value;
  return value === undefined || value === null ? undefined : JSON.stringify(value);
}

function fieldAt(payload: unknown, path: string): unknown {
  let value = payload;
  for (const key of path.split("."))
    value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  return value ?? undefined;
}
