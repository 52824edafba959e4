/** A transcript as text, entry by entry; pieces of one text follow each other without a break. All agent text is made inert. */
import { describeAsk } from "@holdfast/contract/approval/described";
import type { Entry } from "@holdfast/contract/conversation/transcript";
import { plain } from "../text/plain.ts";

export interface Shown {
  color: boolean;
  /** Includes thoughts and tool output. */
  all: boolean;
  /** The session's name as the reader knows it. */
  name: string;
  /** Name of another session. */
  nameOf?(principal: string): string | undefined;
}

export class TranscriptText {
  readonly #shown: Shown;
  readonly #titles = new Map<string, string>();
  /** The kind of the last piece, while its line is open. */
  #open: "text" | "thought" | null = null;

  constructor(shown: Shown) {
    this.#shown = shown;
  }

  /** Text to print for the entry; may end in the middle of a line. */
  of(entry: Entry): string {
    if (entry.type === "text") return this.#piece("text", entry.text);
    if (entry.type === "thought") return this.#shown.all ? this.#piece("thought", entry.text) : "";
    const lines = this.#linesOf(entry);
    return lines.length === 0 ? "" : `${this.end()}${lines.join("\n")}\n`;
  }

  /** Ends an open line. */
  end(): string {
    const isOpen = this.#open !== null;
    this.#open = null;
    return isOpen ? "\n" : "";
  }

  #piece(of: "text" | "thought", text: string): string {
    const begin = this.#open !== null && this.#open !== of ? "\n" : "";
    this.#open = of;
    const safe = printable(text);
    return begin + (of === "thought" ? this.#dim(safe) : safe);
  }

  #linesOf(entry: Exclude<Entry, { type: "text" | "thought" }>): string[] {
    switch (entry.type) {
      case "user":
        return [
          "",
          this.#bold(`${this.#who(entry.from)}${entry.steer ? " (into the turn)" : ""} · ${entry.at.slice(0, 19).replace("T", " ")}`),
          ...printable(entry.text)
            .split("\n")
            .map((line) => `> ${line}`),
          "",
        ];
      case "tool_started":
        this.#titles.set(entry.call, entry.title);
        return [`◦ ${plain(entry.title)}`];
      case "tool_output":
        if (entry.title !== null) this.#titles.set(entry.call, entry.title);
        return this.#shown.all ? this.#outputOf(entry) : [];
      case "tool_completed":
        return [`${entry.ok ? "✓" : "✗"} ${plain(this.#titles.get(entry.call) ?? "a tool")}`];
      case "plan":
        return entry.steps.map(({ text, status }) => `  ${STEP[status]} ${plain(text)}`);
      case "approval_asked":
        return [`? asks for permission: ${describeAsk(entry)}`];
      case "approval_answered":
        return [
          entry.option === null
            ? "? not wanted any more"
            : `? ${entry.allowed ? "allowed" : "denied"}${entry.by ? ` by ${this.#who(entry.by)}` : ""}`,
        ];
      case "error":
        return [
          `! ${plain(entry.message)}`,
          ...(entry.hint === null ? [] : [`  ${plain(entry.hint.replaceAll("NAME", this.#shown.name))}`]),
        ];
      case "turn_ended":
        return entry.reason === "completed" ? [] : [this.#dim(`— the turn ended: ${entry.reason.replace("_", " ")}`)];
      case "note":
        return [this.#dim(`— ${plain(entry.text)}`)];
      case "usage":
        return this.#shown.all ? [this.#dim(`— ${useOf(entry)}`)] : [];
      case "usage_so_far":
        return [];
    }
  }

  #who(principal: string): string {
    const name = this.#shown.nameOf?.(principal);
    return plain(name === undefined ? principal : `${name} (${principal})`);
  }

  #outputOf({ text, changes }: Extract<Entry, { type: "tool_output" }>): string[] {
    const said = text === null ? [] : printable(text).trimEnd().split("\n");
    return [...said, ...changes.map(({ path }) => `changed ${plain(path)}`)].map((line) => `    ${line}`);
  }

  #bold(text: string): string {
    return this.#shown.color ? `\x1b[1m${text}\x1b[22m` : text;
  }

  #dim(text: string): string {
    return this.#shown.color ? `\x1b[2m${text}\x1b[22m` : text;
  }
}

const STEP = { pending: "☐", in_progress: "▣", completed: "☑" } as const;

function useOf({ input, output, context, estimated }: Extract<Entry, { type: "usage" }>): string {
  const tokens = `${input ?? "?"} tokens in, ${output ?? "?"} out${estimated ? " (estimated)" : ""}`;
  return context === null ? tokens : `${tokens}, context ${context.used}${context.size === null ? "" : ` of ${context.size}`}`;
}

function printable(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => plain(line.replaceAll("\t", "    ")))
    .join("\n");
}
