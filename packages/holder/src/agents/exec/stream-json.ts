/**
 * Reads answers that are JSON lines: those of `claude -p --output-format stream-json --verbose` and `qwen` (whole messages, or also in pieces), and
 * those of `gemini --output-format stream-json`. Lines of other types, and lines that are not JSON, are skipped.
 */
import type { AnswerReader, Piece } from "./piece.ts";

type Table = Record<string, unknown>;

/** No agent writes a longer line. */
const LONGEST_LINE = 32 * 1024 * 1024;

export function streamJsonReader(): AnswerReader {
  const decoder = new TextDecoder();
  const lines = new LineReader();
  let rest = "";
  let isForeign = true;
  const read = (line: string): Piece[] => {
    const pieces = lines.read(line);
    if (pieces === undefined) return [];
    isForeign = false;
    return pieces;
  };
  return {
    push(chunk) {
      const [first = "", ...more] = decoder.decode(chunk, { stream: true }).split("\n");
      const whole = more.length === 0 ? [] : [rest + first, ...more.slice(0, -1)];
      rest = more.at(-1) ?? rest + first;
      if (rest.length > LONGEST_LINE) rest = "";
      return whole.flatMap(read);
    },
    end() {
      const pieces = read(rest + decoder.decode());
      return { pieces, isForeign };
    },
  };
}

class LineReader {
  /** Whether messages arrive in pieces: their complete text then repeats them. */
  #inPieces = false;
  #said = false;

  /** Undefined for a line without known content. */
  read(line: string): Piece[] | undefined {
    const event = tableOf(line);
    if (event === undefined || typeof event.type !== "string") return undefined;
    // Text of a subagent is not part of the answer.
    if (typeof event.parent_tool_use_id === "string") return [];
    const pieces = this.#pieces(event);
    this.#said ||= pieces?.some(({ kind }) => kind === "text") ?? false;
    return pieces;
  }

  #pieces(event: Table): Piece[] | undefined {
    switch (event.type) {
      case "system":
      case "init":
        return usage({ model: textOr(event.model) });
      case "stream_event":
        return this.#delta(table(event.event));
      case "assistant":
        return this.#message(table(event.message));
      case "user":
        return list(table(event.message).content).flatMap(resultOf);
      case "message":
        return event.role === "assistant" ? text(event.content) : [];
      case "tool_use":
        return [{ kind: "tool", id: string(event.tool_id), name: string(event.tool_name), input: event.parameters }];
      case "tool_result":
        return [
          { kind: "tool_ended", id: string(event.tool_id), output: textIn(event.output ?? event.error), ok: event.status !== "error" },
        ];
      case "error":
        return event.severity === "warning" ? [] : [{ kind: "failed", message: textIn(event.message ?? event.error) }];
      case "result":
        return this.#result(event);
      default:
        return undefined;
    }
  }

  #delta({ type, delta }: Table): Piece[] {
    if (type !== "content_block_delta") return [];
    const { type: kind, text: said, thinking } = table(delta);
    if (kind === "text_delta") this.#inPieces = true;
    if (kind === "text_delta") return text(said);
    return kind === "thinking_delta" ? thought(thinking) : [];
  }

  #message(message: Table): Piece[] {
    const pieces = list(message.content).flatMap((block): Piece[] => {
      if (block.type === "text") return this.#inPieces ? [] : text(block.text);
      if (block.type === "thinking") return this.#inPieces ? [] : thought(block.thinking);
      if (block.type !== "tool_use") return [];
      return [{ kind: "tool", id: string(block.id), name: string(block.name), input: block.input }];
    });
    return [...usage({ model: textOr(message.model) }), ...stepOf(message), ...pieces];
  }

  #result(event: Table): Piece[] {
    const { usage: spent, total_cost_usd: cost, result, is_error: isError, status } = event;
    const stats = table(event.stats);
    const failed = isError === true || status === "error";
    const answer = textIn(result ?? table(event.error).message);
    const told = Object.keys(table(spent)).length > 0 ? claudeUse(table(spent)) : geminiUse(stats);
    return [
      ...usage({ ...told, ...(typeof cost === "number" ? { cost } : {}) }),
      ...(failed ? [{ kind: "failed" as const, message: answer || "the command reported a failure" }] : this.#said ? [] : text(answer)),
    ];
  }
}

function stepOf({ id, usage: spent }: Table): Piece[] {
  const { input, cacheRead, cacheWrite } = claudeUse(table(spent));
  return typeof id === "string" && input !== null ? [{ kind: "step", id, input, cacheRead, cacheWrite }] : [];
}

function claudeUse(spent: Table) {
  return {
    input: count(spent.input_tokens),
    output: count(spent.output_tokens),
    cacheRead: count(spent.cache_read_input_tokens) ?? 0,
    cacheWrite: count(spent.cache_creation_input_tokens) ?? 0,
  };
}

/** Gemini's input count includes tokens read from a cache. */
function geminiUse(stats: Table) {
  const input = count(stats.input_tokens);
  const cacheRead = count(stats.cached) ?? 0;
  if (input === null) return {};
  return { input: Math.max(0, input - cacheRead), output: count(stats.output_tokens), cacheRead, cacheWrite: 0 };
}

function resultOf(block: Table): Piece[] {
  if (block.type !== "tool_result") return [];
  return [{ kind: "tool_ended", id: string(block.tool_use_id), output: textIn(block.content), ok: block.is_error !== true }];
}

function usage(use: Extract<Piece, { kind: "usage" }>["usage"]): Piece[] {
  return Object.values(use).some((value) => value !== null) ? [{ kind: "usage", usage: use }] : [];
}

function text(value: unknown): Piece[] {
  return typeof value === "string" && value !== "" ? [{ kind: "text", text: value }] : [];
}

function thought(value: unknown): Piece[] {
  return typeof value === "string" && value !== "" ? [{ kind: "thought", text: value }] : [];
}

/** A text, or the texts of a list of blocks. */
function textIn(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value))
    return list(value)
      .flatMap(({ text: each }) => (typeof each === "string" ? [each] : []))
      .join("\n");
  return textOr(table(value).message) ?? "";
}

function tableOf(line: string): Table | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? table(value) : undefined;
  } catch {
    return undefined;
  }
}

function table(value: unknown): Table {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Table) : {};
}

function list(value: unknown): Table[] {
  return Array.isArray(value) ? value.map(table) : [];
}

function string(value: unknown): string {
  return textOr(value) ?? "";
}

function textOr(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function count(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : null;
}
