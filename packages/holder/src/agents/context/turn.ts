/** A conversation as an agent without its own memory gets it: turns built from a transcript's entries, or collected as they happen. */

import type { ToolKind, TurnEnd } from "@holdfast/contract/conversation/enums";
import type { Entry } from "@holdfast/contract/conversation/transcript";

export interface ToolUse {
  kind: "tool";
  id: string;
  /** The agent's own tool name, if known. */
  name?: string | undefined;
  title: string;
  tool: ToolKind;
  input: unknown;
  output: string;
  /** Null: the outcome was not reported. */
  ok: boolean | null;
}

export type Said = { kind: "text"; text: string } | { kind: "steer"; text: string } | ToolUse;

export interface Turn {
  prompt: string;
  said: Said[];
  /** Null while the turn runs, and for a turn that was cut off with its process. */
  end: TurnEnd | null;
}

export const CLEAR = "/clear";

/** The conversation before the agent was started. */
export interface Told {
  turns: Turn[];
  /** Set if the memory was cleared: the conversation that began then, or null if its id is unknown. */
  cleared: { conversation: string | null } | null;
}

/** Takes entries in order; `told` is the resulting conversation. */
export class Listener {
  #turns: Turn[] = [];
  #turn: Turn | undefined;
  #cleared: Told["cleared"] = null;

  take(entry: Entry): void {
    if (entry.type === "user") this.#user(entry);
    else if (entry.type === "note" && entry.about === "cleared") this.#clear(entry.conversation ?? null);
    else if (this.#turn) this.#said(this.#turn, entry);
  }

  get told(): Told {
    return { turns: this.#turns.filter(isWorthTelling), cleared: this.#cleared };
  }

  #said(turn: Turn, entry: Entry): void {
    if (entry.type === "text") say(turn, entry.text);
    if (entry.type === "tool_started")
      turn.said.push({
        kind: "tool",
        id: entry.call,
        name: entry.name,
        title: entry.title,
        tool: entry.kind,
        input: entry.input,
        output: "",
        ok: null,
      });
    if (entry.type === "tool_output") {
      const tool = toolOf(turn, entry.call);
      if (tool) Object.assign(tool, { output: tool.output + (entry.text ?? ""), title: entry.title ?? tool.title });
    }
    if (entry.type === "tool_completed") Object.assign(toolOf(turn, entry.call) ?? {}, { ok: entry.ok });
    if (entry.type === "turn_ended") turn.end = entry.reason;
  }

  #user({ text, addition, steer }: Extract<Entry, { type: "user" }>): void {
    const words = addition === null ? text : `${text}\n\n${addition}`;
    if (text.trim() === CLEAR) this.#clear(null);
    else if (steer && this.#turn) this.#turn.said.push({ kind: "steer", text: words });
    else {
      this.#turn = { prompt: words, said: [], end: null };
      this.#turns.push(this.#turn);
    }
  }

  #clear(conversation: string | null): void {
    this.#turns = [];
    this.#turn = undefined;
    this.#cleared = { conversation };
  }
}

/** False for a turn that failed without any output: the same prompt may be sent again, and must not appear twice. */
export function isWorthTelling({ end, said }: Turn): boolean {
  return end !== "failed" || said.length > 0;
}

/** Joins consecutive texts. */
export function say(turn: Turn, text: string): void {
  const last = turn.said.at(-1);
  if (last?.kind === "text") last.text += text;
  else turn.said.push({ kind: "text", text });
}

export function toolOf({ said }: Turn, id: string): ToolUse | undefined {
  return said.find((each): each is ToolUse => each.kind === "tool" && each.id === id);
}

/** How an unfinished turn is described to the agent; undefined for a finished one. */
export function cutShort({ end }: Turn): string | undefined {
  if (end === "cancelled") return "[The user cancelled this turn here.]";
  if (end === "failed" || end === "interrupted" || end === null) return "[This turn was interrupted here.]";
  return undefined;
}
