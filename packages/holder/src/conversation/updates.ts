/** What an agent tells while it works, as entries. Tools tell what they did as a whole each time: only what is new becomes an entry. */
import type { ContentBlock, PlanEntry, SessionUpdate, ToolCallContent, ToolCallUpdate } from "@agentclientprotocol/sdk";
import { ABOUT } from "@holdfast/contract/agent-order";
import type { ToolKind } from "@holdfast/contract/status";
import type { EntryDraft } from "@holdfast/contract/transcript";

interface Call {
  title: string;
  text: string;
  changes: Set<string>;
  over: boolean;
}

type Started = Extract<EntryDraft, { type: "tool_started" }>;

export class Updates {
  readonly #calls = new Map<string, Call>();
  /** Calls that show what a terminal of ours prints, by its id. */
  readonly #shown = new Map<string, string>();
  /** What one has printed so far. */
  readonly #printed: (terminal: string) => string | undefined;

  constructor(printed: (terminal: string) => string | undefined) {
    this.#printed = printed;
  }

  /** A terminal printed more. */
  printed(terminal: string, text: string): EntryDraft[] {
    const call = this.#shown.get(terminal);
    return call === undefined || text === "" ? [] : [{ type: "tool_output", call, title: null, text, changes: [] }];
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
        return [{ type: "plan", steps: update.entries.map(stepOf) }];
      case "notice":
        return [{ type: "note", about: aboutOf(update._meta), text: noticeOf(update) }];
      default:
        return [];
    }
  }

  /** Also of what is only asked for: some agents tell of a call first when they ask for leave, or never. */
  toolCall(call: ToolCallUpdate): EntryDraft[] {
    const known = this.#calls.get(call.toolCallId);
    const drafts: EntryDraft[] = known ? [] : [this.#start(call)];
    const now = this.#calls.get(call.toolCallId) as Call;
    if (now.over) return drafts;
    const title = call.title && call.title !== now.title ? call.title : null;
    if (title !== null) now.title = title;
    const text = this.#newText(now, call);
    const changes = newChanges(now, call.content ?? []);
    const printed = this.#attach(call);
    if (printed !== "") drafts.push({ type: "tool_output", call: call.toolCallId, title: null, text: printed, changes: [] });
    if (title !== null || text !== null || changes.length > 0) {
      drafts.push({ type: "tool_output", call: call.toolCallId, title, text, changes });
    }
    if (call.status === "completed" || call.status === "failed") {
      now.over = true;
      drafts.push({ type: "tool_completed", call: call.toolCallId, ok: call.status === "completed" });
    }
    return drafts;
  }

  /** Of calls that were begun and never ended: their turn is over. */
  leftOpen(): EntryDraft[] {
    const open = [...this.#calls].filter(([, { over }]) => !over);
    this.#calls.clear();
    this.#shown.clear();
    return open.map(([call]) => ({ type: "tool_completed", call, ok: false }));
  }

  #start({ toolCallId, title, name, kind, rawInput, locations }: ToolCallUpdate): Started {
    const shown = title ?? name ?? "a tool";
    this.#calls.set(toolCallId, { title: shown, text: "", changes: new Set(), over: false });
    const files = (locations ?? []).map(({ path }) => path);
    return { type: "tool_started", call: toolCallId, title: shown, kind: kindOf(kind), input: rawInput ?? null, files };
  }

  #newText(call: Call, { content, rawOutput }: ToolCallUpdate): string | null {
    const parts = (content ?? []).flatMap((part) => (part.type === "content" ? [textOf(part.content)] : [])).filter((text) => text !== "");
    const all = parts.length > 0 ? parts.join("\n") : typeof rawOutput === "string" ? rawOutput : "";
    if (all === "" || all === call.text) return null;
    const fresh = all.startsWith(call.text) ? all.slice(call.text.length) : all;
    call.text = all;
    return fresh;
  }

  /** What its terminals have printed before it was known that they are its own. */
  #attach({ toolCallId, content }: ToolCallUpdate): string {
    const fresh = (content ?? []).flatMap((part) =>
      part.type === "terminal" && !this.#shown.has(part.terminalId) ? [part.terminalId] : [],
    );
    for (const terminal of fresh) this.#shown.set(terminal, toolCallId);
    return fresh.map((terminal) => this.#printed(terminal) ?? "").join("");
  }
}

function said(type: "text" | "thought", text: string): EntryDraft[] {
  return text === "" ? [] : [{ type, text }];
}

export function textOf(content: ContentBlock): string {
  if (content.type === "text") return content.text;
  if (content.type === "resource_link") return content.uri;
  if (content.type === "resource") return "text" in content.resource ? content.resource.text : content.resource.uri;
  return `[${content.type}, ${content.mimeType}]`;
}

export function kindOf(kind: string | null | undefined): ToolKind {
  return KINDS.has(kind as ToolKind) ? (kind as ToolKind) : "other";
}

const KINDS = new Set<ToolKind>(["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"]);

function newChanges(call: Call, content: readonly ToolCallContent[]) {
  return content.flatMap((part) => {
    if (part.type !== "diff") return [];
    const change = { path: part.path, old: part.oldText ?? null, new: part.newText };
    const key = JSON.stringify(change);
    if (call.changes.has(key)) return [];
    call.changes.add(key);
    return [change];
  });
}

function stepOf({ content, status, priority }: PlanEntry) {
  return { text: content, status, priority };
}

/** Our own agents say what it is about, by a word for it. */
function aboutOf(meta: Record<string, unknown> | null | undefined): string {
  const about = meta?.[ABOUT];
  return typeof about === "string" ? about : "notice";
}

function noticeOf({ title, description }: { title: string; description?: string | null }): string {
  return description ? `${title}: ${description}` : title;
}
