/** Reads one turn of a conversation to its end. A turn that does not end well becomes an error of the matching class. */

import type { Entry } from "@holdfast/contract/conversation/transcript";
import { reachedText } from "@holdfast/contract/usage/amounts";
import type { HoldfastClient } from "./client.ts";
import { errorOf, type HoldfastError } from "./errors.ts";
import { followEntries } from "./follow.ts";
import type { QueryEvent, QueryResult } from "./query-types.ts";
import type { Session } from "./session.ts";

export interface Turn {
  text: string;
  files: string[];
  stopReason: QueryResult["stopReason"];
}

interface Wanted {
  session: Session;
  isOurs: boolean;
  message: string;
  after: string;
  strict: boolean;
  tell(event: QueryEvent): void;
  signal: AbortSignal;
}

type Failure = Extract<Entry, { type: "error" }>;

/** Longest delay between the end of a turn and the recorded end of its run. */
const ENDED_MS = 5000;

export async function readTurn(client: HoldfastClient, wanted: Wanted): Promise<Turn> {
  const { session, message, after, signal } = wanted;
  const seen = new Seen(wanted.strict);
  let failure: Failure | undefined;
  for await (const { entry } of followEntries(client, { session: session.id, after, signal })) {
    if (entry.type === "error" && (entry.turn === null || entry.turn === message)) failure = entry;
    // The requested model or mode is not available. Another model must not answer silently.
    if (wanted.isOurs && entry.type === "note" && entry.about === "not_set") throw errorOf("not_offered", entry.text);
    if (entry.turn !== message || entry.type === "user") continue;
    wanted.tell(entry);
    seen.take(entry);
    if (entry.type !== "turn_ended") continue;
    if (entry.reason === "failed") throw failedTurn(session, failure, seen.brokenTool);
    if (entry.reason === "interrupted") throw await crashed(session, failure);
    if (entry.reason === "cancelled") await overBudget(session);
    return { text: seen.text, files: [...seen.files], stopReason: entry.reason };
  }
  throw await crashed(session, failure);
}

/** The text and tools of a turn so far. */
class Seen {
  text = "";
  readonly files = new Set<string>();
  /** The last tool, if it failed and no text followed. */
  brokenTool: string | undefined;
  readonly #strict: boolean;
  readonly #tools = new Map<string, { title: string; said: string }>();
  readonly #asks = new Map<string, { call: string | null; title: string }>();
  readonly #denied = new Set<string>();
  #wasText = false;

  constructor(strict: boolean) {
    this.#strict = strict;
  }

  take(entry: Entry): void {
    if (entry.type === "text") this.#say(entry.text);
    if (!entry.type.startsWith("usage")) this.#wasText = entry.type === "text";
    if (entry.type === "tool_started") this.#tools.set(entry.call, { title: entry.title, said: "" });
    if (entry.type === "tool_output") this.#output(entry);
    if (entry.type === "tool_completed") this.#completed(entry);
    if (entry.type === "approval_asked") this.#asks.set(entry.ask, entry);
    if (entry.type === "approval_answered") this.#answered(entry);
  }

  /** Texts before and after a tool are separate paragraphs. */
  #say(text: string): void {
    const isApart = this.#wasText || this.text === "";
    const breaks = Number(this.text.endsWith("\n")) + Number(text.startsWith("\n"));
    const gap = isApart ? "" : "\n".repeat(Math.max(0, 2 - breaks));
    this.text += gap + text;
    this.brokenTool = undefined;
  }

  #output({ call, title, text, changes }: Extract<Entry, { type: "tool_output" }>): void {
    const tool = this.#tools.get(call);
    if (tool) this.#tools.set(call, { title: title ?? tool.title, said: text ?? tool.said });
    for (const { path } of changes) this.files.add(path);
  }

  #completed({ call, ok }: Extract<Entry, { type: "tool_completed" }>): void {
    const { title = "a tool", said = "" } = this.#tools.get(call) ?? {};
    this.brokenTool = ok ? undefined : toolWords(title, said);
    if (this.#strict && !ok && !this.#denied.has(call)) throw toolFailed(toolWords(title, said));
  }

  /** A null `option` means that the request was cancelled together with its turn. */
  #answered({ ask, option, allowed, by }: Extract<Entry, { type: "approval_answered" }>): void {
    const { call = null, title = "a tool" } = this.#asks.get(ask) ?? {};
    if (allowed || option === null) return;
    if (call !== null) this.#denied.add(call);
    if (!this.#strict) return;
    throw errorOf("permission_refused", `a permission request of the agent was denied: ${title}`, {
      hint:
        by === null ? "without strict the agent continues without it" : `${by} denied it; without strict the agent continues without it`,
    });
  }
}

function toolWords(title: string, said: string): string {
  const line = said.trim().replace(/\s+/g, " ");
  return line === "" ? title : `${title}: ${line.length > 300 ? `${line.slice(0, 300)}…` : line}`;
}

function toolFailed(words: string): HoldfastError {
  return errorOf("tool_failed", `a tool call of the agent failed: ${words}`, {
    hint: "without strict the agent continues with the failure",
  });
}

/** Error codes of agents and their drivers, mapped to codes of the contract. */
const CODES = {
  unauthenticated: "agent_unauthenticated",
  rate_limited: "rate_limited",
  command_failed: "agent_crashed",
  agent_ended: "agent_crashed",
} as const;

function failedTurn(session: Session, failure: Failure | undefined, brokenTool: string | undefined): HoldfastError {
  const known = failure && CODES[failure.code as keyof typeof CODES];
  if (!known && brokenTool !== undefined) return toolFailed(brokenTool);
  const words = failure?.message ?? `the turn of ${session.name} failed`;
  return errorOf(known ?? "turn_failed", words, failure?.hint ? { hint: failure.hint.replaceAll("NAME", session.name) } : {});
}

/** The error for an agent that is gone; the session's record has the reason. */
async function crashed(session: Session, failure: Failure | undefined): Promise<HoldfastError> {
  await session.waitFor("ended", { timeoutMs: ENDED_MS }).catch(() => {});
  try {
    await overBudget(session);
  } catch (error) {
    return error as HoldfastError;
  }
  if (failure && failure.code !== "agent_ended") return failedTurn(session, failure, undefined);
  const { cause, exit } = session.record;
  if (cause === "stopped") return errorOf("session_ended", `${session.name} was stopped before it answered`);
  const how = exit?.signal ? `was ended by ${exit.signal}` : exit?.code != null ? `ended with ${exit.code}` : "is gone";
  return errorOf(
    "agent_crashed",
    `the agent of ${session.name} ${how} before it answered`,
    failure?.message ? { cause: failure.message } : {},
  );
}

async function overBudget(session: Session): Promise<void> {
  await session.refresh();
  const exceeded = session.record.budget?.exceeded;
  if (!exceeded) return;
  throw errorOf("budget_spent", `${session.name} has used up its budget: ${reachedText(exceeded)}`, { hint: "pass a larger budget" });
}
