/**
 * A conversation with a command that runs once per turn. For a command without its own memory, earlier turns are kept here and sent with each prompt.
 * A command with its own memory gets an id of its conversation, and earlier turns only if that id is unknown: after /clear followed by a new run.
 */
import { randomUUID } from "node:crypto";
import { basename, join } from "node:path";
import type { Readable } from "node:stream";
import { type ExecOrder, MCP_FILE, SERVERS_WORD } from "@holdfast/contract/agent/order";
import type { TokenUse } from "@holdfast/contract/conversation/transcript";
import { type Command, type HowItEnded, start, tailOf } from "../command.ts";
import { type Kept, KeptContext } from "../context/kept.ts";
import { renderPrompt } from "../context/prompt.ts";
import { bytesOf } from "../context/tokens.ts";
import { say, type Turn, toolOf } from "../context/turn.ts";
import { type Conversation, type Place, type Settings, soFar, type TurnResult, textChunk } from "../conversation.ts";
import { AgentFailure } from "../failure.ts";
import { leftOut, type Notice, nearlyFull, notGiven } from "../notices.ts";
import { CommandUse } from "./command-use.ts";
import { type AnswerReader, type Piece, plainReader } from "./piece.ts";
import { writeServers } from "./servers-file.ts";
import { streamJsonReader } from "./stream-json.ts";
import { filesOf, kindOf, titleOf } from "./tool-kind.ts";

/** One argument holds at most 128 KiB, at about four bytes per token. */
const ARGUMENT_TOKENS = 30_000;
const STDERR_BYTES = 8192;
const STDERR_LINES = 10;

/** The command's own conversation, and whether it has begun. */
interface Memory {
  id: string;
  begun: boolean;
}

export class ExecConversation implements Conversation {
  readonly #order: ExecOrder;
  readonly #place: Place;
  readonly #context: KeptContext;
  /** Replaces `{mcp}`. */
  readonly #serversFile: string;
  #untold: Notice | undefined;
  #memory: Memory | null;
  #cost: number | null = null;

  /** `directory`: for files of the run. */
  constructor(order: ExecOrder, place: Place, directory: string) {
    const { first, last, tokens } = order.context;
    const most = order.prompt === "argument" ? Math.min(tokens ?? ARGUMENT_TOKENS, ARGUMENT_TOKENS) : tokens;
    this.#order = order;
    this.#place = place;
    this.#serversFile = join(directory, MCP_FILE);
    if (order.command.some((word) => word.includes(SERVERS_WORD))) writeServers(this.#serversFile, place.servers);
    else if (place.servers.length > 0) this.#untold = notGiven(place.servers.map(({ name }) => name));
    this.#context = new KeptContext({ first, last, tokens: most }, place.told.turns);
    this.#memory = order.context.remembers ? memoryOf(place) : null;
  }

  settings(): Settings {
    return {};
  }

  clear(): void {
    this.#context.clear();
    if (this.#memory) this.#memory = { id: randomUUID(), begun: false };
  }

  async turn(prompt: string, signal: AbortSignal): Promise<TurnResult> {
    const untold = this.#untold;
    this.#untold = undefined;
    if (untold) await this.#place.notice(untold);
    const { text, used } = await this.#given(prompt);
    const turn: Turn = { prompt, said: [], end: null };
    const use = new CommandUse({ model: this.#order.model, gauge: this.#context.gauge, given: text });
    try {
      await this.#run(text, { turn, use, signal });
      turn.end = signal.aborted ? "cancelled" : "completed";
    } catch (error) {
      turn.end = "failed";
      throw error;
    } finally {
      if (turn.said.length > 0 && this.#memory) this.#memory.begun = true;
      this.#context.add(turn);
    }
    const usage = use.sum();
    if (this.#order.context.remembers === undefined) usage.context = { used, size: this.#context.rule.tokens };
    await this.#tellUsage(usage);
    return { stopReason: turn.end === "cancelled" ? "cancelled" : "end_turn", usage };
  }

  /** The prompt, preceded by everything the command does not remember. */
  async #given(prompt: string): Promise<{ text: string; used: number }> {
    const { system } = this.#order;
    const { gauge, rule, turns } = this.#context;
    if (this.#memory?.begun) return { text: prompt, used: 0 };
    const besides = gauge.tokens(bytesOf(prompt) + bytesOf(system ?? ""));
    const kept: Kept = this.#context.keep(besides);
    const { tokens } = rule;
    if (tokens !== null && besides > tokens)
      throw new AgentFailure("context_full", `the prompt alone has about ${besides} tokens; the limit is ${tokens}`, {
        hint: "shorten the prompt, refer to a file instead, or raise context.tokens of the agent in config.toml",
        retry: false,
      });
    for (const notice of [leftOut(kept, turns.length), this.#fullness(kept.tokens)]) if (notice) await this.#place.notice(notice);
    return { text: renderPrompt({ prompt, system, kept }), used: kept.tokens };
  }

  #fullness(used: number) {
    const { tokens } = this.#context.rule;
    return tokens !== null && this.#context.becomesNearlyFull(used) ? nearlyFull(used, tokens) : undefined;
  }

  async #run(text: string, { turn, use, signal }: { turn: Turn; use: CommandUse; signal: AbortSignal }): Promise<void> {
    const own = this.#order.command.map((word) => word.replaceAll(SERVERS_WORD, this.#serversFile));
    const words = [...own, ...this.#memoryWords()];
    const command = this.#order.prompt === "argument" ? withArgument(words, text) : words;
    const input = this.#order.prompt === "stdin" ? { input: text } : {};
    const name = basename(this.#order.command[0] ?? "");
    const reader: AnswerReader = this.#order.answer === "plain" ? plainReader() : streamJsonReader();
    const quit = new AbortController();
    const running = this.#start(name, { command, signal: AbortSignal.any([signal, quit.signal]), ...input });
    const stderr = tailOf(running.stderr, STDERR_BYTES);
    // Waits for both, because a command that could not be started has an end but no output.
    const ended = running.ended.catch((error: unknown) => notStarted(name, error));
    const failures: string[] = [];
    const take = async (pieces: readonly Piece[]) => {
      for (const piece of pieces) {
        if (piece.kind === "failed") failures.push(piece.message);
        else await this.#take(piece, turn, use);
      }
      if (pieces.length > 0) await this.#place.tell(soFar(use.sum()));
    };
    try {
      await eachChunk(running.stdout, (chunk) => take(reader.push(chunk)));
    } catch (error) {
      // The client is gone, and the command must not keep running without it.
      quit.abort();
      await ended;
      throw error;
    }
    const { pieces, isForeign } = reader.end();
    await take(pieces);
    const how = await ended;
    if (how instanceof AgentFailure) throw how;
    if (signal.aborted) return;
    const wrong = whatWentWrong({ how, name, stderr: stderr(), failed: failures.at(-1), isForeign });
    if (wrong) throw wrong;
    if (turn.said.length === 0)
      await this.#place.notice({ about: "answer", severity: "warning", title: `${name} succeeded without output` });
  }

  #start(name: string, given: Omit<Parameters<typeof start>[0], "cwd">): Command {
    try {
      return start({ ...given, cwd: this.#place.cwd });
    } catch (error) {
      throw notStarted(name, error);
    }
  }

  #memoryWords(): string[] {
    const { remembers } = this.#order.context;
    if (!remembers || !this.#memory) return [];
    const { id, begun } = this.#memory;
    return (begun ? remembers.resume : remembers.begin).map((word) => word.replaceAll("{id}", id));
  }

  async #take(piece: Exclude<Piece, { kind: "failed" }>, turn: Turn, use: CommandUse): Promise<void> {
    const { tell } = this.#place;
    use.take(piece);
    if (piece.kind === "text") {
      say(turn, piece.text);
      await tell(textChunk("agent_message_chunk", piece.text));
    } else if (piece.kind === "thought") {
      await tell(textChunk("agent_thought_chunk", piece.text));
    } else if (piece.kind === "tool") {
      const { id, name, input } = piece;
      const [title, kind] = [titleOf(name, input), kindOf(name)];
      turn.said.push({ kind: "tool", id, title, tool: kind, input, output: "", ok: null });
      const locations = filesOf(input).map((path) => ({ path }));
      await tell({ sessionUpdate: "tool_call", toolCallId: id, title, name, kind, status: "in_progress", rawInput: input, locations });
    } else if (piece.kind === "tool_ended") {
      const { id, output, ok } = piece;
      Object.assign(toolOf(turn, id) ?? {}, { output, ok });
      const content = output === "" ? [] : [{ type: "content" as const, content: { type: "text" as const, text: output } }];
      await tell({ sessionUpdate: "tool_call_update", toolCallId: id, status: ok ? "completed" : "failed", content });
    }
  }

  /** The protocol expects the cost of the whole conversation. */
  async #tellUsage({ context, cost }: TokenUse): Promise<void> {
    if (cost !== null) this.#cost = (this.#cost ?? 0) + cost;
    if (context === null || context.size === null) return;
    const price = this.#cost === null ? {} : { cost: { amount: this.#cost, currency: "USD" } };
    await this.#place.tell({ sessionUpdate: "usage_update", used: context.used, size: context.size, ...price });
  }
}

/** A child process may hold the output open after the command has ended. The stream is then closed early, which counts as its end. */
async function eachChunk(stream: Readable, take: (chunk: Buffer) => Promise<void>): Promise<void> {
  const chunks = stream[Symbol.asyncIterator]();
  for (;;) {
    const next = await chunks.next().catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
    });
    if (!next || next.done) return;
    await take(next.value as Buffer);
  }
}

/** The conversation's own id. After a clear the command had another conversation, whose id is unknown, so a new one begins. */
function memoryOf({ id, told }: Place): Memory {
  if (told.cleared && told.cleared.conversation !== id) return { id: randomUUID(), begun: false };
  return { id, begun: told.turns.some(({ said }) => said.length > 0) };
}

function notStarted(name: string, error: unknown): AgentFailure {
  const { code, message } = error as NodeJS.ErrnoException;
  const what = code === "ENOENT" ? "the program was not found" : code === "E2BIG" ? "the prompt is too long for an argument" : message;
  const hint =
    code === "E2BIG"
      ? 'pass it on standard input: prompt = "stdin" in config.toml'
      : "check the agent's command in config.toml, and the PATH the session was started with";
  return new AgentFailure("command_failed", `${name} could not be started: ${what}`, { hint, retry: false, cause: error });
}

interface Outcome {
  how: HowItEnded;
  name: string;
  stderr: string;
  /** The error that the command reported itself. */
  failed: string | undefined;
  isForeign: boolean;
}

/** The last line is already in the message. */
function lastWords(lines: readonly string[]): string {
  if (lines.length === 0) return "it wrote nothing to standard error; try the command by hand";
  return lines.length === 1 ? "try the command by hand" : `its last output: ${lines.join(" / ")}`;
}

function whatWentWrong({ how: { code, signal }, name, stderr, failed, isForeign }: Outcome): AgentFailure | undefined {
  const lines = stderr
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "")
    .slice(-STDERR_LINES);
  const how = signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
  if (failed !== undefined || code !== 0)
    return new AgentFailure("command_failed", code === 0 ? `${name} failed: ${failed}` : `${name} ${how}${said(failed ?? lines.at(-1))}`, {
      hint: lastWords(lines),
      retry: true,
    });
  if (!isForeign) return undefined;
  return new AgentFailure("malformed_answer", `the output of ${name} is not stream-json`, {
    hint: 'pass the flag for stream-json, or set answer = "plain" in config.toml',
    retry: true,
  });
}

function said(words: string | undefined): string {
  return words === undefined ? "" : `: ${words}`;
}

/** Replaces `{prompt}`, or appends the prompt as the last argument. A prompt that begins with a dash would be read as a flag. */
function withArgument(command: readonly string[], prompt: string): string[] {
  const word = prompt.startsWith("-") ? ` ${prompt}` : prompt;
  if (!command.some((each) => each.includes("{prompt}"))) return [...command, word];
  return command.map((each) => (each === "{prompt}" ? word : each.replaceAll("{prompt}", () => prompt)));
}
