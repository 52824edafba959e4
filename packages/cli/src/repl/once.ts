/**
 * One turn, for scripts: takes a message, prints the answer, and returns an exit code. Only the answer goes to standard output. An agent started
 * for this turn is stopped; the conversation stays, and can be continued by its name.
 */

import { describeAsk } from "@holdfast/contract/approval/described";
import type { PlacedEntry } from "@holdfast/contract/conversation/endpoints";
import type { TurnEnd } from "@holdfast/contract/conversation/enums";
import type { Entry } from "@holdfast/contract/conversation/transcript";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Session } from "@holdfast/contract/session/session";
import { NEAR_LIMIT, nearText, reachedText } from "@holdfast/contract/usage/amounts";
import type { Context } from "../command.ts";
import { writeOut } from "../console/write-out.ts";
import { tellViewed } from "../session/viewed.ts";
import { hasColor } from "../text/color.ts";
import { plain } from "../text/plain.ts";
import { MarkdownStream } from "./markdown/stream.ts";
import { discard, type Opened, openConversation, refusalIn, type Wanted } from "./open.ts";
import { painter } from "./paint.ts";
import { newMessageId, Talk } from "./talk.ts";

const AGAIN_MS = 50;

type Failure = Extract<Entry, { type: "error" }>;
type Usage = Extract<Entry, { type: "usage" }>;

interface Answer {
  text: string;
  reason: TurnEnd;
  error: Failure | undefined;
  usage: Usage | undefined;
  /** True if the conversation itself reported on the budget. */
  budgetTold: boolean;
  /** Set if the agent does not have the requested model or mode. */
  refusal: HoldfastError | undefined;
}

export async function answerOnce(context: Context, wanted: Wanted, text: string): Promise<number> {
  const opened = await openConversation(context, wanted);
  const talk = new Talk(context, opened.session);
  let refused = false;
  opened.notes.forEach(tellNote);
  try {
    const answer = await oneTurn(context, { talk, opened }, text);
    refused = answer.refusal !== undefined;
    if (answer.refusal) throw answer.refusal;
    if (context.json) await writeOut(`${JSON.stringify(shapeOf(opened.session, answer))}\n`);
    const failure = (await budgetFailure(talk, answer)) ?? failureOf(opened.session, answer);
    if (failure) throw failure;
    return 0;
  } finally {
    if (refused) await discard(context, opened);
    // A person who reads the answer on a terminal has viewed the result.
    if (!refused) await tellViewed(context, talk.id);
    if (opened.started && !refused)
      await context.client.call("stopSession", { params: { ref: talk.id }, body: { graceMs: 2000 } }).catch(() => {});
    if (opened.created && !refused && !context.json && process.stderr.isTTY)
      process.stderr.write(`Continue: holdfast chat ${plain(opened.session.name)}\n`);
  }
}

async function oneTurn(context: Context, { talk, opened }: { talk: Talk; opened: Opened }, text: string): Promise<Answer> {
  const { cursor } = await talk.lastTurns(1);
  const message = newMessageId();
  using interrupt = onInterrupt(talk);
  const printer = context.json ? undefined : new AnswerPrinter();
  const answer: Answer = { text: "", reason: "interrupted", error: undefined, usage: undefined, budgetTold: false, refusal: undefined };
  const over = new AbortController();
  /** Printed after the answer, so as not to break its line. */
  const notes: string[] = [];
  let wasText = false;
  let hasBegun = false;
  await talk.say(text, { id: message });
  const onEntry = ({ entry }: PlacedEntry) => {
    if (entry.type === "error" && entry.turn === null) answer.error = entry;
    answer.refusal ??= refusalIn(opened, entry);
    if (answer.refusal) return over.abort();
    if (entry.turn !== message) return;
    hasBegun = true;
    if (entry.type === "text") {
      const gap = wasText || answer.text === "" ? "" : answer.text.endsWith("\n") ? "\n" : "\n\n";
      answer.text += gap + entry.text;
      printer?.put(gap + entry.text);
    } else if (entry.type === "error") answer.error = entry;
    else if (entry.type === "usage") answer.usage = entry;
    else if (entry.type === "note" && (entry.about === "budget" || entry.about === "not_set")) {
      answer.budgetTold ||= entry.about === "budget";
      if (printer?.isWithinLine) notes.push(entry.text);
      else tellNote(entry.text);
    } else if (entry.type === "approval_asked") void tellAsked(talk, entry);
    else if (entry.type === "turn_ended") {
      answer.reason = interrupt.wasAsked && entry.reason === "interrupted" ? "cancelled" : entry.reason;
      over.abort();
    }
    if (!entry.type.startsWith("usage")) wasText = entry.type === "text";
  };
  const watched = watchMessage(talk, message, over);
  const followed = talk.follow(cursor, { onEntry, onTrouble: () => {}, onEnd: () => over.abort() }, over.signal);
  await Promise.race([followed, watched]);
  over.abort();
  await followed;
  await printer?.end();
  notes.forEach(tellNote);
  // Withdraw a message that started no turn; nothing waits for it any more.
  if (!hasBegun) await talk.takeBack(message).catch(() => {});
  return answer;
}

function tellNote(text: string): void {
  process.stderr.write(`holdfast: ${plain(text)}\n`);
}

/** Throws if the message failed to start a turn, because then no turn end follows. */
async function watchMessage(talk: Talk, id: string, over: AbortController): Promise<void> {
  while (!over.signal.aborted) {
    const message = await talk.message(id, 4000, over.signal).catch(() => undefined);
    if (message?.state === "failed" && message.turnStartedAt === null) throw (await import("../message/text.ts")).outcome(message);
    if (message && message.state !== "queued" && message.state !== "injecting") break;
    // Pause, so as not to poll a missing daemon in a tight loop.
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
  await new Promise<void>((resolve) => {
    if (over.signal.aborted) resolve();
    else over.signal.addEventListener("abort", () => resolve());
  });
}

/** The first Ctrl+C cancels the turn and keeps the output so far; the second ends the process. */
function onInterrupt(talk: Talk): Disposable & { readonly wasAsked: boolean } {
  let wasAsked = false;
  const cancel = () => {
    wasAsked = true;
    talk.cancel().catch(() => {});
  };
  process.once("SIGINT", cancel);
  return {
    get wasAsked() {
      return wasAsked;
    },
    [Symbol.dispose]: () => void process.off("SIGINT", cancel),
  };
}

async function tellAsked(talk: Talk, asked: Extract<Entry, { type: "approval_asked" }>): Promise<void> {
  const approval = await talk.approvalFor(asked.ask).catch(() => undefined);
  const how = approval ? `: holdfast approvals allow ${approval.id}` : ": holdfast approvals";
  process.stderr.write(`holdfast: permission requested: ${describeAsk(asked)}; allow it${how}\n`);
}

/** Renders markdown on a terminal; writes the plain text to a pipe. */
class AnswerPrinter {
  readonly #painted = hasColor();
  readonly #markdown = process.stdout.isTTY
    ? new MarkdownStream({ width: () => process.stdout.columns || 80, paint: painter(this.#painted), painted: this.#painted })
    : undefined;
  #last = "\n";

  get isWithinLine(): boolean {
    return !this.#last.endsWith("\n");
  }

  put(text: string): void {
    this.#write(this.#markdown ? this.#markdown.push(text) : text);
  }

  async end(): Promise<void> {
    if (this.#markdown) this.#write(this.#markdown.end());
    await writeOut(this.isWithinLine ? "\n" : "");
  }

  #write(what: string | string[]): void {
    const text = typeof what === "string" ? what : what.map((line) => `${line}\n`).join("");
    if (text === "") return;
    this.#last = text;
    process.stdout.write(text);
  }
}

function shapeOf({ id, name }: Session, { text, reason, error, usage }: Answer) {
  const { code, message, retry } = error ?? {};
  const hint = hintOf(name, error) ?? null;
  const { model, input, output, cacheRead, cacheWrite, cost, context, estimated = false } = usage ?? {};
  return {
    session: id,
    name,
    text,
    reason,
    error: error ? { code, message, hint, retry } : null,
    usage: usage ? { model, input, output, cacheRead, cacheWrite, cost, context, estimated } : null,
  };
}

/**
 * Returns an error that names the limit, for a turn that its budget ended or that exceeded it at its end: most agents report usage only then.
 * The last turn that a turn limit allows still succeeds.
 */
async function budgetFailure(talk: Talk, { reason, budgetTold }: Answer): Promise<HoldfastError | undefined> {
  const { session } = await talk.now().catch(() => ({ session: undefined }));
  if (!session?.budget) return undefined;
  const { exceeded, limits } = session.budget;
  if (!exceeded) {
    const near = limits.flatMap((use) => (use.used !== null && use.used >= NEAR_LIMIT * use.allowed ? [{ ...use, used: use.used }] : []));
    if (!budgetTold) for (const use of near) tellNote(`budget: ${nearText(use)}`);
    return undefined;
  }
  const name = plain(session.name);
  const hint = `continue with a larger budget: holdfast chat ${plain(exceeded.of?.name ?? session.name)} --budget ${exceeded.limit}=…`;
  if (reason === "cancelled" || reason === "interrupted")
    return new HoldfastError("budget_spent", `the turn of ${name} was cancelled: ${reachedText(exceeded)}`, { hint });
  if (reason !== "completed") return undefined;
  if (exceeded.limit !== "turns")
    return new HoldfastError("budget_spent", `${name} has used up its budget: ${reachedText(exceeded)}`, { hint });
  tellNote(`budget: ${reachedText(exceeded)}; ${hint}`);
  return undefined;
}

function failureOf({ name }: Session, { reason, error }: Answer): HoldfastError | undefined {
  const again = `continue the conversation: holdfast chat ${plain(name)} -p TEXT`;
  switch (reason) {
    case "completed":
      return undefined;
    case "refused":
      return new HoldfastError("turn_refused", `${plain(name)} refused to continue`, { hint: again });
    case "cancelled":
      return new HoldfastError("turn_cancelled", `the turn of ${plain(name)} was cancelled; its output so far is kept`, { hint: again });
    case "max_tokens":
    case "max_requests":
      return new HoldfastError(
        "turn_cut",
        `the answer of ${plain(name)} was cut off at a limit of ${reason === "max_tokens" ? "tokens" : "requests"}`,
        { hint: again },
      );
    default:
      return new HoldfastError("turn_failed", error ? `${plain(name)}: ${error.message}` : `the turn of ${plain(name)} was cut off`, {
        hint: hintOf(name, error) ?? again,
      });
  }
}

/** The daemon's hint has NAME in place of the session's name. */
function hintOf(name: string, error: Failure | undefined): string | undefined {
  return error?.hint?.replaceAll("NAME", plain(name));
}
