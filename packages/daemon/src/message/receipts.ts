/**
 * The receipts that an agent's own words are proof of, as events for the transaction in which those words are taken: a prompt that began a
 * turn, an answer that ended one. Pure.
 */
import { DAEMON } from "../access/principal.ts";
import { whateverItsName } from "../agent/heading.ts";
import type { Signal } from "../agent/hooks/hook-rules.ts";
import type { Draft } from "../journal/journal.ts";
import type { MessageRecord } from "../projection/messages.ts";
import { turnFailed } from "./decide.ts";
import { asShown } from "./same-words.ts";

export interface Told {
  run: number;
  /** The open ones of the session, and those that were given up in doubt. */
  messages: readonly MessageRecord[];
  /** Such a signal carries the answer, if there is one; others that end a turn tell of an interrupt. */
  answers: boolean;
  /** What was handed over. */
  said(message: MessageRecord): string;
  /** What the agent answered last since one was given into a running turn; null: nothing, so that turn has not ended. */
  answerSince(message: MessageRecord): string | null;
  /** Why its turn failed, by what it wrote down itself. */
  failureSince(message: MessageRecord): string | null;
  /** No turn ran before the signal, as far as is known. */
  atRest: boolean;
}

export function receiptsOf(signal: Signal, told: Told): Draft[] {
  const { run, messages, answers } = told;
  if (signal.prompt !== null) return promptTold(signal, signal.prompt, told);
  if (signal.written) return writtenDown(signal, told);
  if (!answers && signal.failure === null) return [];
  const ending = messages.filter((message) => isStarted(message, run) && !message.working && isOf(message, signal));
  return ending.map((message) => ended(message, signal, run));
}

/** What it wrote down of a turn that runs may not be its last word. */
function writtenDown(signal: Signal, { run, messages, answerSince, failureSince }: Told): Draft[] {
  const own = messages.filter((message) => isStarted(message, run) && isOf(message, signal));
  if (signal.interrupted) return own.map(interrupted);
  return signal.over ? own.map((each) => overtaken(each, { run, reply: answerSince(each), why: failureSince(each) })) : [];
}

function promptTold(signal: Signal, prompt: string, { run, messages, said, answerSince, failureSince, atRest }: Told): Draft[] {
  const isIts = (each: MessageRecord) => isHandedOver(each, run) && isSame(said(each), prompt) && !isOlder(signal, each);
  const message = messages.find((each) => isIts(each) && !isTooLate(signal, each));
  const receipts = message ? turnStarted(message, { run, evidence: evidenceOf(signal), turn: signal.turn }) : [];
  // What is told in the middle of another turn has been taken, and no more: when its own begins, if it has one, is told by nobody.
  if (message?.working && !signal.written && answerSince(message) === null) return receipts.slice(0, -1);
  const begins = atRest || message !== undefined;
  const before = messages.filter((each) => {
    if (!isStarted(each, run)) return false;
    // The end of a turn that was written down is told itself.
    if (signal.written) return each.turnId === null && isOf(each, signal) && !isSame(said(each), prompt);
    if (each.turnId !== null && signal.turn !== null) return !isOf(each, signal);
    // A turn that its screen showed first is told of by its prompt now.
    return begins && (message !== undefined || !isSame(said(each), prompt));
  });
  return [...before.map((each) => overtaken(each, { run, reply: answerSince(each), why: failureSince(each) })), ...receipts];
}

/** Its turn ended before another began, and nobody told of its end. */
export function overtaken(message: MessageRecord, { run, reply, why }: { run: number; reply: string | null; why: string | null }): Draft {
  if (reply !== null) return replied(message, { run, reply });
  return why === null ? interrupted(message) : failure(message, { why: turnFailed(why), hint: SCREEN, known: true });
}

function interrupted(message: MessageRecord): Draft {
  return failure(message, { why: "its turn was interrupted before it answered", hint: SCREEN, known: true });
}

export function replied({ id, session }: MessageRecord, { run, reply }: { run: number; reply: string | null }): Draft {
  return { type: "message.replied", actor: DAEMON, session, data: { id, run, reply } };
}

export function isStarted({ state, run: startedIn }: MessageRecord, run: number): boolean {
  return state === "turn_started" && startedIn === run;
}

/** What is told is of the turn that began with the message. What an agent wrote down is read again by the next daemon. */
export function isOf({ turnId, injectedAt }: MessageRecord, { turn, written, at }: Signal): boolean {
  if (turnId !== null && turn !== null) return turnId === turn;
  return !written || (injectedAt !== null && at >= injectedAt);
}

const HOOK = "its hook ";

const WRITTEN = "it wrote the prompt down";

export function evidenceOf({ event, written }: Signal): string {
  return written ? WRITTEN : `${HOOK}${event} told the prompt`;
}

/** What the agent writes down itself told of the message, so it will tell of the turn's end. */
export function isWritten({ evidence }: Pick<MessageRecord, "evidence">): boolean {
  return evidence === WRITTEN;
}

/** A hook told of the message, so the agent's hooks are on in that run. */
export function isToldByHook({ evidence }: Pick<MessageRecord, "evidence">): boolean {
  return evidence?.startsWith(HOOK) ?? false;
}

/** Between an Enter and the note of it in the journal. */
const NOTED_MS = 5000;

/** Another prompt of the same words: what an agent wrote down is read again by the next daemon. */
function isOlder({ written, at }: Signal, { queuedAt, injectedAt }: MessageRecord): boolean {
  return written === true && Date.parse(at) < (injectedAt === null ? Date.parse(queuedAt) : Date.parse(injectedAt) - NOTED_MS);
}

/** Of one that was settled, a turn that begins later is of somebody who said the same. */
const LATE_MS = 30_000;

function isTooLate({ at }: Signal, { state, open, injectedAt }: MessageRecord): boolean {
  return state === "injected" && !open && Date.parse(at) > Date.parse(injectedAt ?? "") + LATE_MS;
}

interface Began {
  run: number;
  evidence: string;
  /** The agent's own id of it. */
  turn?: string | null;
}

const SCREEN = "check its screen: holdfast screen NAME";

/** Whoever takes a receipt sees those before it too. */
export function turnStarted(message: MessageRecord, { run, evidence, turn = null }: Began): Draft[] {
  const via = message.via ?? "typed";
  const { id, session } = message;
  const data = { id, run, evidence, ...(turn === null ? {} : { turn }) };
  const started: Draft = { type: "message.turn_started", actor: DAEMON, session, data };
  if (message.injectedAt !== null) return [started];
  return [{ type: "message.injected", actor: DAEMON, session, data: { id, run, via } }, started];
}

export function failure(message: MessageRecord, data: { why: string; hint: string; known: boolean }): Draft {
  return { type: "message.failed", actor: DAEMON, session: message.session, data: { id: message.id, ...data } };
}

function ended(message: MessageRecord, { reply, failure: why }: Signal, run: number): Draft {
  if (why !== null) return failure(message, { why: turnFailed(why), hint: SCREEN, known: true });
  return replied(message, { run, reply });
}

function isHandedOver({ state, known, run: handedOver }: MessageRecord, run: number): boolean {
  return handedOver === run && (state === "injecting" || state === "injected" || (state === "failed" && !known));
}

/** Agents trim what is typed, and some give their lines other ends. */
export function isSame(said: string, prompt: string): boolean {
  const plain = (text: string) => whateverItsName(asShown(text)).replaceAll(/\s+/g, " ").trim();
  return plain(said) === plain(prompt);
}
