/** Converts an agent's updates to entries. Tool calls repeat their whole output in each update: only the new part becomes an entry. */
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { ABOUT } from "@holdfast/contract/agent/order";
import type { EntryDraft } from "@holdfast/contract/conversation/transcript";
import { type Fields, fields, list, text } from "./told.ts";
import { readCall, type ToldCall, textOf } from "./tool-call.ts";

interface Call {
  title: string;
  text: string;
  changes: Set<string>;
  over: boolean;
  /** The last reported action of the call. */
  does: Pick<ToldCall, "name" | "kind" | "input" | "changes">;
}

type Started = Extract<EntryDraft, { type: "tool_started" }>;

export class Updates {
  readonly #calls = new Map<string, Call>();
  /** Calls that show the output of a terminal, by its id. */
  readonly #shown = new Map<string, string>();
  /** The calls of the previous turn. */
  #overBefore: ReadonlySet<string> = new Set();
  /** The output of a terminal so far. */
  readonly #printed: (terminal: string) => string | undefined;

  constructor(printed: (terminal: string) => string | undefined) {
    this.#printed = printed;
  }

  /** A terminal printed more. */
  printed(terminal: string, more: string): EntryDraft[] {
    const call = this.#shown.get(terminal);
    return call === undefined || more === "" ? [] : [{ type: "tool_output", call, title: null, text: more, changes: [] }];
  }

  entriesOf(update: SessionUpdate): EntryDraft[] {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        return said("text", textOf(update.content));
      case "agent_thought_chunk":
        return said("thought", textOf(update.content));
      case "tool_call":
      case "tool_call_update":
        return this.toolCall(update);
      case "plan":
        return [{ type: "plan", steps: list(update.entries).map(stepOf) }];
      case "notice":
        return [{ type: "note", about: aboutOf(update._meta), text: noticeOf(fields(update)) }];
      default:
        return [];
    }
  }

  /** Also for a permission request: some agents report a call first when they ask for permission, or never. */
  toolCall(told: unknown): EntryDraft[] {
    const call = readCall(told);
    const drafts: EntryDraft[] = this.#calls.has(call.id) ? [] : [this.#start(call)];
    const now = this.#calls.get(call.id) as Call;
    now.does = doesNow(now.does, call);
    if (now.over) return drafts;
    const title = call.title && call.title !== now.title ? call.title : null;
    if (title !== null) now.title = title;
    const fresh = newText(now, call);
    const changes = newChanges(now, call.changes);
    const printed = this.#attach(call);
    if (printed !== "") drafts.push({ type: "tool_output", call: call.id, title: null, text: printed, changes: [] });
    if (title !== null || fresh !== null || changes.length > 0) {
      drafts.push({ type: "tool_output", call: call.id, title, text: fresh, changes });
    }
    if (call.status === "completed" || call.status === "failed") {
      now.over = true;
      drafts.push({ type: "tool_completed", call: call.id, ok: call.status === "completed" });
    }
    return drafts;
  }

  /** The action of a call, from all its updates, because a permission request may contain only its id. */
  callOf(id: string): (Call["does"] & { title: string }) | undefined {
    const call = this.#calls.get(id);
    return call && { ...call.does, title: call.title };
  }

  /** Completes the calls that never ended, because their turn is over. */
  leftOpen(): EntryDraft[] {
    const open = [...this.#calls].filter(([, { over }]) => !over);
    this.#overBefore = new Set(this.#calls.keys());
    this.#calls.clear();
    this.#shown.clear();
    return open.map(([call]) => ({ type: "tool_completed", call, ok: false }));
  }

  /** Whether the update belongs to a call that was completed with its turn. */
  isOver(update: SessionUpdate): boolean {
    const isCall = update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update";
    return isCall && this.#overBefore.has(readCall(update).id);
  }

  #start({ id, name, title, kind, input, files, changes }: ToldCall): Started {
    const shown = title ?? "a tool";
    this.#calls.set(id, { title: shown, text: "", changes: new Set(), over: false, does: { name, kind, input, changes } });
    return { type: "tool_started", call: id, ...(name === undefined ? {} : { name }), title: shown, kind, input, files };
  }

  /** The output of the call's terminals from before they were known to be its own. */
  #attach({ id, terminals }: ToldCall): string {
    const fresh = terminals.filter((terminal) => !this.#shown.has(terminal));
    for (const terminal of fresh) this.#shown.set(terminal, id);
    return fresh.map((terminal) => this.#printed(terminal) ?? "").join("");
  }
}

/** A missing field keeps its value. */
function doesNow(before: Call["does"], { name, kind, input, changes }: ToldCall): Call["does"] {
  return {
    name: name ?? before.name,
    kind: kind === "other" ? before.kind : kind,
    input: input ?? before.input,
    changes: changes.length > 0 ? changes : before.changes,
  };
}

function newText(call: Call, { output }: ToldCall): string | null {
  if (output === "" || output === call.text) return null;
  const fresh = output.startsWith(call.text) ? output.slice(call.text.length) : output;
  call.text = output;
  return fresh;
}

function newChanges(call: Call, changes: ToldCall["changes"]) {
  return changes.filter((change) => {
    const key = JSON.stringify(change);
    if (call.changes.has(key)) return false;
    call.changes.add(key);
    return true;
  });
}

function said(type: "text" | "thought", words: string): EntryDraft[] {
  return words === "" ? [] : [{ type, text: words }];
}

const STATUS = ["pending", "in_progress", "completed"] as const;
const PRIORITY = ["high", "medium", "low"] as const;

function stepOf({ content, status, priority }: Fields) {
  return {
    text: text(content) ?? "",
    status: STATUS.find((known) => known === status) ?? "pending",
    priority: PRIORITY.find((known) => known === priority) ?? "medium",
  };
}

/** Our own agents name the subject with one word. */
function aboutOf(meta: unknown): string {
  return text(fields(meta)[ABOUT]) ?? "notice";
}

function noticeOf({ title, description }: Fields): string {
  return [text(title), text(description)].filter((part) => part !== undefined && part !== "").join(": ");
}
