/**
 * Derives journal events from the entries of one run's transcript. Pure except for the state of the running turn, which it learns from the same
 * entries: a daemon that starts in the middle reads from the first entry on, and records only what follows the last known one.
 */
import type { Claim, Entry, EventData, TurnEnd, UnnumberedEntry } from "@holdfast/contract";

export type SoFar = Extract<Entry, { type: "usage_so_far" }>;

/** The journal keeps this much of a prompt, an answer and a tool's output; the transcript has all of it. */
const PROMPT_CHARS = 500;
const ANSWER_CHARS = 2000;
const OUTPUT_CHARS = 2000;

type Kind = "turn.started" | "turn.ended" | "tool.started" | "tool.output" | "tool.completed";

export type Fact =
  | { [T in Kind]: { type: T; data: EventData<T> } }[Kind]
  /** The agent's current status. */
  | { type: "claim"; claim: Claim; what: string; at: string }
  | { type: "conversation"; conversation: string }
  | { type: "asked"; entry: Extract<Entry, { type: "approval_asked" }> }
  | { type: "settled"; entry: Extract<Entry, { type: "approval_answered" }> }
  | { type: "usage"; entry: Extract<Entry, { type: "usage" }>; key: string }
  /** The running turn has used more. Not for the journal: the end of the turn reports the total. */
  | { type: "so_far" }
  /** A message that the agent got. */
  | { type: "said"; message: string }
  /** A turn is over: the agent's answer, or the error. */
  | { type: "answered"; messages: string[]; at: string; reply: string; reason: TurnEnd; error: string | null };

export class Reading {
  readonly #run: number;
  /** The running turn, and all messages that belong to it. */
  #turn: { id: string; messages: string[]; text: string; error: string | null } | null = null;
  #soFar: SoFar | null = null;
  readonly #outputs = new Map<string, number>();
  readonly #asks = new Set<string>();

  constructor(run: number) {
    this.#run = run;
  }

  /** The running turn, named by the message that began it. */
  get turn(): string | null {
    return this.#turn?.id ?? null;
  }

  /** Usage of the running turn so far. */
  get soFar(): SoFar | null {
    return this.#soFar;
  }

  read(entry: Entry, offset: number): Fact[] {
    const place = { run: this.#run, turn: entry.turn, offset };
    switch (entry.type) {
      case "user":
        return this.#user(entry, place);
      case "text":
        if (this.#turn) this.#turn.text += entry.text;
        return [];
      case "tool_started": {
        // Text before a tool call is not the answer.
        if (this.#turn) this.#turn.text = "";
        const { call, title, kind, files } = entry;
        return [{ type: "tool.started", data: { ...place, call, title, kind, files } }];
      }
      case "tool_output": {
        const bytes = (this.#outputs.get(entry.call) ?? 0) + Buffer.byteLength(entry.text ?? "");
        this.#outputs.set(entry.call, bytes);
        const text = (entry.text ?? "").slice(0, OUTPUT_CHARS).toWellFormed();
        const changes = entry.changes.map(({ path }) => path);
        return [{ type: "tool.output", data: { ...place, call: entry.call, text, bytes, changes } }];
      }
      case "tool_completed":
        this.#outputs.delete(entry.call);
        return [{ type: "tool.completed", data: { ...place, call: entry.call, ok: entry.ok } }];
      case "approval_asked":
        this.#asks.add(entry.ask);
        return [{ type: "asked", entry }];
      case "approval_answered":
        this.#asks.delete(entry.ask);
        return [
          { type: "settled", entry },
          ...(this.#turn && this.#asks.size === 0 ? [claim(entry, { turn: "working", attention: null }, "an approval is answered")] : []),
        ];
      case "usage":
        this.#soFar = null;
        return [{ type: "usage", entry, key: `transcript:${this.#run}.${entry.n}` }];
      case "usage_so_far":
        this.#soFar = entry;
        return [{ type: "so_far" }];
      case "error":
        if (this.#turn) this.#turn.error = entry.message;
        return [];
      case "turn_ended":
        return this.#ended(entry, place);
      case "note":
        return entry.conversation === undefined
          ? []
          : [
              { type: "conversation", conversation: entry.conversation },
              ...(this.#turn ? [] : [claim(entry, { turn: "idle", attention: null }, entry.text)]),
            ];
      default:
        return [];
    }
  }

  /** The entries that a keeper would have written, for a run that ended in the middle of a turn. */
  leftOver(at: string): UnnumberedEntry[] {
    const turn = this.#turn?.id ?? null;
    if (turn === null) return [];
    const common = { v: 1, at, turn } as const;
    return [
      ...(this.#soFar ? [{ ...this.#soFar, ...common, type: "usage" as const }] : []),
      ...[...this.#asks].map((ask) => ({ ...common, type: "approval_answered" as const, ask, option: null, allowed: false, by: null })),
      {
        ...common,
        type: "error",
        code: "agent_ended",
        message: "the agent's keeper ended during the turn",
        hint: "continue the conversation: holdfast resume NAME",
        retry: true,
      },
      { ...common, type: "turn_ended", reason: "interrupted" },
    ];
  }

  #user(entry: Extract<Entry, { type: "user" }>, place: { run: number; turn: string | null; offset: number }): Fact[] {
    const { message, from, text, at } = entry;
    if (this.#turn && entry.turn === this.#turn.id && message !== this.#turn.id) {
      this.#turn.messages.push(message);
      return [{ type: "said", message }];
    }
    this.#turn = { id: message, messages: [message], text: "", error: null };
    return [
      { type: "turn.started", data: { ...place, from, text: shortened(text, PROMPT_CHARS) } },
      { type: "said", message },
      { type: "claim", claim: { turn: "working", attention: null }, what: "a turn began", at },
    ];
  }

  #ended(entry: Extract<Entry, { type: "turn_ended" }>, place: { run: number; turn: string | null; offset: number }): Fact[] {
    const { messages = [], text = "", error = null } = this.#turn ?? {};
    this.#turn = null;
    this.#soFar = null;
    this.#asks.clear();
    this.#outputs.clear();
    const { reason, at } = entry;
    return [
      { type: "turn.ended", data: { ...place, reason, text: shortened(text, ANSWER_CHARS), error } },
      { type: "answered", messages, at, reply: text, reason, error },
      claim(entry, { turn: "idle", attention: null }, `a turn ended: ${reason}`),
    ];
  }
}

function claim({ at }: Entry, what: Claim, why: string): Fact {
  return { type: "claim", claim: what, what: why, at };
}

function shortened(text: string, chars: number): string {
  return text.slice(0, chars).toWellFormed();
}
