/** A conversation as an agent without memory of its own is told it: turns, made of a transcript's entries or kept as they happen. */

import type { ToolKind, TurnEnd } from "@holdfast/contract/status";
import type { Entry } from "@holdfast/contract/transcript";

export interface ToolUse {
  kind: "tool";
  id: string;
  /** The agent's own, where it is known. */
  name?: string | undefined;
  title: string;
  tool: ToolKind;
  input: unknown;
  output: string;
  /** Null: nobody was told how it ended. */
  ok: boolean | null;
}

export type Said = { kind: "text"; text: string } | { kind: "steer"; text: string } | ToolUse;

export interface Turn {
  prompt: string;
  said: Said[];
  /** Null while it runs, and of one that was cut off with its process. */
  end: TurnEnd | null;
}

export const CLEAR = "/clear";

/** What an agent knows of what was said before it was started. */
export interface Told {
  turns: Turn[];
  /** Where the memory was emptied at some time: the conversation that began then, as far as it is known to be another. */
  cleared: { conversation: string | null } | null;
}

/** Takes entries in order; `told` is what they come to. */
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

/** A turn that failed before anything came of it: the same words may be said again, and must not be there twice. */
export function isWorthTelling({ end, said }: Turn): boolean {
  return end !== "failed" || said.length > 0;
}

/** Texts that follow each other are one. */
export function say(turn: Turn, text: string): void {
  const last = turn.said.at(-1);
  if (last?.kind === "text") last.text += text;
  else turn.said.push({ kind: "text", text });
}

export function toolOf({ said }: Turn, id: string): ToolUse | undefined {
  return said.find((each): each is ToolUse => each.kind === "tool" && each.id === id);
}

/** How a turn that did not end by itself is told to the agent; undefined of one that did. */
export function cutShort({ end }: Turn): string | undefined {
  if (end === "cancelled") return "[The user cancelled this turn here.]";
  if (end === "failed" || end === "interrupted" || end === null) return "[This turn was interrupted here.]";
  return undefined;
}
