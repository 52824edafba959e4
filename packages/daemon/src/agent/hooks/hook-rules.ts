/**
 * What a hook of an agent says, by rules that are data: the first that fits the payload. A path names a field of it: `tool_input.command`.
 */
import { type Attention, type Claim, describeTool, inOneLine, type Turn, type Wait } from "@holdfast/contract";
import { timeSaid } from "../status/time-said.ts";

/** Of a payload, or of a file in which an agent keeps what it does. */
export interface FieldRule {
  /** What is at these paths must fit; what is not there fits `/^$/`. */
  when?: Readonly<Record<string, RegExp>>;
  turn?: Turn;
  waits?: Wait;
  /** Where it says what it waits for. Without it: the tool and what it is to do. */
  text?: string;
  /** Where it says until when: in milliseconds since 1970, or in words for people, `resets 9:41am`. */
  until?: string;
  /** It wants nobody. */
  calm?: boolean;
  background?: boolean;
}

export interface HookRule extends FieldRule {
  /** The payload's `hook_event_name`; its `type`, where an agent calls it that. */
  event: string;
  /**
   * The conversation it names is the session's from now on; what others say is a subagent's. `first`: only before a hook has told anything in
   * the run. What is put in by the environment is in agents, too, that this one starts as a tool.
   */
  opens?: true | "first";
  /** Where the prompt is that began a turn, the answer that ended one, and why one failed. */
  prompt?: string;
  reply?: string;
  failure?: string;
  /** Where the questions are that it asks, which no tool of its own names. */
  questions?: string;
}

/** How an agent's hooks are read. */
export interface HookReading {
  /** Where a payload names its conversation. */
  conversation: string;
  /** Where a payload has the agent's own id of the turn that it tells of. */
  turn?: string;
  /** Where a payload says that it is a subagent's. */
  subagent?: string;
  /** Where a tool's name and arguments are. */
  tool?: { name: string; input: string };
  rules: readonly HookRule[];
}

export interface Signal {
  event: string;
  /** When it was told. */
  at: string;
  claim: Claim;
  conversation: string | null;
  opens: true | "first" | undefined;
  tool: { name: string; input: unknown } | null;
  /** Where it works. */
  directory: string | null;
  /** The agent's own id of the turn. */
  turn: string | null;
  prompt: string | null;
  reply: string | null;
  /** Why a turn failed. */
  failure: string | null;
  /** Somebody ended the turn before it was done. */
  interrupted?: true;
  /** Another turn has begun since. */
  over?: true;
  /** No hook told it: the agent wrote it down itself. */
  written?: true;
}

/** Undefined: it says nothing that matters, or a subagent says it, which counts only when it `asks` for leave. */
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
    conversation: field(reading.conversation),
    opens: rule.opens,
    tool,
    directory: field("cwd"),
    turn: field(reading.turn),
    prompt: field(rule.prompt),
    reply: field(rule.reply),
    failure: field(rule.failure),
  };
}

export function fits({ when = {} }: FieldRule, payload: unknown): boolean {
  return Object.entries(when).every(([path, pattern]) => pattern.test(textAt(payload, path) ?? ""));
}

/** As much as is read at a glance; it is written down with every change of a session. */
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
