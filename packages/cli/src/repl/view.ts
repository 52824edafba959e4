/**
 * Renders a conversation for a person. Entries go in, in order; finished lines come out. The rows of the current activity are drawn with each
 * frame. Old entries and new ones are rendered alike.
 */
import { changeLines, describeAsk } from "@holdfast/contract/approval/described";
import type { TurnEnd } from "@holdfast/contract/conversation/enums";
import type { Entry } from "@holdfast/contract/conversation/transcript";
import { cut } from "../text/fit.ts";
import { plain } from "../text/plain.ts";
import { MarkdownStream } from "./markdown/stream.ts";
import { inertLine, inertLines, type Paint, STYLE } from "./paint.ts";
import { argumentRows, doneRows, spinner, type Tool, toolRow, unfoldedRows } from "./tool.ts";
import { wrap } from "./wrap.ts";

export interface ViewOptions {
  width(): number;
  paint: Paint;
  painted: boolean;
  /** The principal whose messages are shown without a name. */
  me(): string;
  /** The session's name. */
  name(): string;
  /** Returns the name of another session that writes to this one. */
  sessionOf?(principal: string): string | undefined;
  now(): number;
}

export interface Ask {
  ask: string;
  title: string;
  /** Time when the question appeared on the screen. */
  shownAt: number;
  canAlways: boolean;
}

interface Thought {
  number: number;
  text: string;
}

type Of<T extends Entry["type"]> = Extract<Entry, { type: T }>;

/** Longest permission request shown at once; `/approve show` shows all of it. */
const MOST_ASKED = 30;

export class ConversationView {
  readonly #options: ViewOptions;
  readonly #folds: (Tool | Thought)[] = [];
  readonly #tools = new Map<string, Tool>();
  readonly #asks = new Map<string, Ask>();
  #text: MarkdownStream | undefined;
  #thought: Thought | undefined;
  #plan: Of<"plan">["steps"] = [];
  #turn: string | null = null;
  #turnAt = 0;
  #lastSaid: string | undefined;
  #people = new Set<string>();
  /** True once the turn's error has been shown. */
  #hasFailed = false;
  /** Shows everything in full, nothing folded. */
  unfolds = false;

  constructor(options: ViewOptions) {
    this.#options = options;
  }

  /** The running turn, named by the message that began it. */
  get turn(): string | null {
    return this.#turn;
  }

  /** Open approvals, oldest first. */
  get asks(): Ask[] {
    return [...this.#asks.values()];
  }

  /** Other people who have written a message. */
  get others(): string[] {
    return [...this.#people].filter((person) => person !== this.#options.me());
  }

  /** The message that began the last turn. */
  get lastSaid(): string | undefined {
    return this.#lastSaid;
  }

  /** Returns the lines that this entry finishes. */
  push(entry: Entry): string[] {
    switch (entry.type) {
      case "text":
        return [...this.#endThought(), ...this.#say(entry.text)];
      case "thought":
        return [...this.#endText(), ...this.#think(entry.text)];
      case "usage":
      case "usage_so_far":
        return [];
      default:
        return [...this.#endThought(), ...this.#endText(), ...this.#happened(entry)];
    }
  }

  /** Returns rows of the current activity; each row fits the terminal. */
  live(): string[] {
    const { paint, now } = this.#options;
    const width = this.#options.width();
    const look = { paint, width, now: now() };
    const rows: string[] = [];
    if (this.#text) rows.push(...this.#text.tail());
    if (this.#turn === null) return rows;
    rows.push(...planRows(this.#plan, paint));
    const running = [...this.#tools.values()];
    rows.push(...running.map((tool) => toolRow(tool, look)));
    if (this.#thought) {
      const last = inertLines(this.#thought.text).findLast((line) => line.trim() !== "") ?? "";
      rows.push(paint(STYLE.dim, `${spinner(now())} thinking: ${cut(last, Math.max(8, width - 14))}`));
    } else if (running.length === 0 && this.#asks.size === 0) {
      rows.push(paint(STYLE.dim, `${spinner(now())} working${elapsed(now() - this.#turnAt)} · Ctrl+C cancels`));
    }
    return rows;
  }

  /** Returns the full text of a folded item, by default the newest. */
  unfold(number = this.#folds.length): string[] | undefined {
    const fold = this.#folds[number - 1];
    if (!fold) return undefined;
    const { paint, now } = this.#options;
    if ("kind" in fold) return unfoldedRows(fold, { paint, width: this.#options.width(), now: now() });
    return [
      paint(STYLE.dim, `∴ [${fold.number}] thought`),
      ...inertLines(fold.text).flatMap((line) => this.#wrapped(line, "    ", STYLE.dim)),
    ];
  }

  #happened(entry: Exclude<Entry, { type: "text" | "thought" | "usage" | "usage_so_far" }>): string[] {
    switch (entry.type) {
      case "user":
        return this.#said(entry);
      case "tool_started":
        return this.#toolStarted(entry);
      case "tool_output":
        return this.#toolOutput(entry);
      case "tool_completed":
        return this.#toolCompleted(entry);
      case "plan":
        this.#plan = entry.steps;
        return [];
      case "approval_asked":
        return this.#asked(entry);
      case "approval_answered":
        return this.#answered(entry);
      case "turn_ended":
        return this.#ended(entry);
      case "error":
        return this.#failed(entry);
      case "note":
        return this.#noted(entry);
      default:
        // Entry type of a newer version.
        return [];
    }
  }

  #said({ from, text, steer, message, turn, at }: Of<"user">): string[] {
    this.#people.add(from);
    const isMine = from === this.#options.me();
    if (!steer || this.#turn === null) {
      this.#turn = turn ?? message;
      this.#turnAt = Date.parse(at);
      this.#plan = [];
      this.#lastSaid = text;
      this.#hasFailed = false;
    }
    const name = isMine ? "" : `${plain(this.#options.sessionOf?.(from) ?? nameOf(from))} `;
    const mark = `${name}${steer ? "» " : "› "}`;
    const { paint } = this.#options;
    const lines = inertLines(text);
    const rows = lines.flatMap((line, index) => this.#wrapped(line, index === 0 ? mark : " ".repeat(2), isMine ? STYLE.bold : STYLE.cyan));
    return ["", ...(rows.length > 0 ? rows : [paint(STYLE.bold, mark)])];
  }

  #say(text: string): string[] {
    this.#text ??= new MarkdownStream(this.#options);
    return this.#text.push(text);
  }

  #endText(): string[] {
    const lines = this.#text?.end() ?? [];
    this.#text = undefined;
    return lines;
  }

  #think(text: string): string[] {
    if (!this.#thought) {
      this.#thought = { number: this.#folds.length + 1, text: "" };
      this.#folds.push(this.#thought);
    }
    this.#thought.text += text;
    return [];
  }

  #endThought(): string[] {
    const thought = this.#thought;
    this.#thought = undefined;
    if (!thought) return [];
    if (this.unfolds) return this.unfold(thought.number) ?? [];
    const lines = inertLines(thought.text).filter((line) => line.trim() !== "");
    const width = Math.max(8, this.#options.width() - 12);
    return [this.#options.paint(STYLE.dim, `∴ [${thought.number}] ${cut(lines[0]?.trim() ?? "", width)}${lines.length > 1 ? " …" : ""}`)];
  }

  #toolStarted({ call, title, kind, input, files, at }: Of<"tool_started">): string[] {
    const tool: Tool = {
      number: this.#folds.length + 1,
      title,
      kind,
      input,
      files,
      output: "",
      changes: [],
      ok: null,
      startedAt: Date.parse(at),
      endedAt: null,
    };
    this.#folds.push(tool);
    this.#tools.set(call, tool);
    return [];
  }

  #toolOutput({ call, title, text, changes }: Of<"tool_output">): string[] {
    const tool = this.#tools.get(call);
    if (!tool) return [];
    tool.title = title ?? tool.title;
    tool.output += text ?? "";
    tool.changes.push(...changes);
    return [];
  }

  #toolCompleted({ call, ok, at }: Of<"tool_completed">): string[] {
    const tool = this.#tools.get(call);
    if (!tool) return [];
    this.#tools.delete(call);
    tool.ok = ok;
    tool.endedAt = Date.parse(at);
    const look = { paint: this.#options.paint, width: this.#options.width(), now: this.#options.now() };
    return this.unfolds ? unfoldedRows(tool, look) : doneRows(tool, look);
  }

  #asked(entry: Of<"approval_asked">): string[] {
    const { ask, input, options, changes = [] } = entry;
    const canAlways = options.some(({ kind }) => kind === "allow_always");
    const title = describeAsk(entry);
    this.#asks.set(ask, { ask, title, shownAt: this.#options.now(), canAlways });
    const { paint } = this.#options;
    const rows = [...argumentRows(input), ...changes.flatMap(changeLines)];
    const more = rows.length - MOST_ASKED;
    return [
      ...this.#wrapped(`asks for permission: ${title}`, "? ", STYLE.yellow),
      ...rows.slice(0, MOST_ASKED).flatMap((row) => this.#wrapped(row, "    ", STYLE.cyan)),
      ...(more > 0 ? [paint(STYLE.dim, `    … ${more} more lines: /approve show`)] : []),
    ];
  }

  #answered({ ask, allowed, option, by }: Of<"approval_answered">): string[] {
    const known = this.#asks.get(ask);
    this.#asks.delete(ask);
    const { paint, me } = this.#options;
    const who = by === null || by === me() ? "" : ` by ${nameOf(by)}`;
    const what = known ? `: ${inertLine(known.title.split("\n")[0] ?? "")}` : "";
    if (option === null) return [paint(STYLE.dim, `  unanswered${what}`)];
    return allowed ? [paint(STYLE.green, `  allowed${who}`) + what] : [paint(STYLE.red, `  denied${who}`) + what];
  }

  #ended({ reason }: Of<"turn_ended">): string[] {
    const { paint } = this.#options;
    const rows = [...planRows(this.#plan, paint)];
    this.#turn = null;
    this.#plan = [];
    this.#tools.clear();
    this.#asks.clear();
    const told = ENDS[reason];
    if (told !== undefined && !(this.#hasFailed && (reason === "failed" || reason === "interrupted")))
      rows.push(...this.#wrapped(told, "■ ", reason === "cancelled" ? STYLE.yellow : STYLE.red));
    return rows;
  }

  #failed({ message, hint, retry, code }: Of<"error">): string[] {
    const [first = "", ...more] = inertLines(message);
    this.#hasFailed = true;
    // The next message restarts the agent; `onEnd` says so.
    const advice = code === "agent_ended" ? "" : (hint?.replaceAll("NAME", this.#options.name()) ?? ADVICE[code] ?? "");
    return [
      ...this.#wrapped(first, "✗ ", STYLE.red),
      ...more.flatMap((line) => this.#wrapped(line, "  ", STYLE.red)),
      ...inertLines(advice).flatMap((line) => this.#wrapped(line, "  ", STYLE.dim)),
      ...(retry ? [this.#options.paint(STYLE.dim, "  /retry sends the same message again")] : []),
    ];
  }

  #noted({ about, text }: Of<"note">): string[] {
    if (SILENT.has(about)) return [];
    const { paint } = this.#options;
    if (about === "cleared") return [paint(STYLE.dim, `── ${inertLine(text)} ──`)];
    return inertLines(text).flatMap((line) => this.#wrapped(line, "· ", STYLE.dim));
  }

  #wrapped(line: string, before: string, sgr: string): string[] {
    if (line === "") return [];
    const { paint } = this.#options;
    const width = Math.max(4, this.#options.width());
    const indent = " ".repeat(Math.min(before.length, Math.floor(width / 3)));
    const rows = wrap([{ text: line, sgr, at: 0 }], { first: width - before.length, rest: width - indent.length });
    return rows.map(({ spans }, index) => paint(sgr, (index === 0 ? before : indent) + spans.map(({ text }) => text).join("")));
  }
}

/** Notes for programs, or shown elsewhere. */
const SILENT: ReadonlySet<string> = new Set(["opened", "commands"]);

const ENDS: Readonly<Record<TurnEnd, string | undefined>> = {
  completed: undefined,
  cancelled: "cancelled: the answer is incomplete; the output so far is above",
  refused: "the agent refused to continue; rephrase the message",
  max_tokens: "the answer was cut off at the model's limit; send: continue",
  max_requests: "the agent stopped at its request limit; send: continue",
  failed: "the turn failed; /retry sends the message again",
  interrupted: "the turn ended with its process; /retry sends the message again",
};

/** Advice for errors to which the agent adds none. */
const ADVICE: Readonly<Record<string, string>> = {
  unauthenticated: "log in with the agent's own program or set its key, then try again",
  rate_limited: "wait a moment, then try again; or choose another model with /model",
  network_failed: "check the network, then try again",
  malformed_answer: "the model's answer was invalid; try again",
  context_full: "/clear starts with an empty memory",
};

const STEP = { pending: "☐", in_progress: "▸", completed: "☑" } as const;

function planRows(steps: Of<"plan">["steps"], paint: Paint): string[] {
  return steps.map(({ text, status }) => {
    const row = `${STEP[status]} ${inertLine(text.split("\n")[0] ?? "")}`;
    return status === "in_progress" ? row : paint(STYLE.dim, row);
  });
}

/** Shortens `user:alice` to `alice`; tokens and sessions keep their prefix. */
export function nameOf(principal: string): string {
  return plain(principal.replace(/^user:/, ""));
}

function elapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return seconds < 2 ? "" : ` ${seconds}s`;
}
