/**
 * Receipts that follow from an agent's own report, as events for the transaction that takes the report: a prompt that began a turn, an answer that
 * ended one. Pure.
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
  /** The open messages of the session, and those that failed in doubt. */
  messages: readonly MessageRecord[];
  /** True if this kind of signal carries the answer; other signals that end a turn report an interrupt. */
  answers: boolean;
  /** The text that was handed over. */
  said(message: MessageRecord): string;
  /** The agent's last answer since the message was given into a running turn; null: none, so that turn has not ended. */
  answerSince(message: MessageRecord): string | null;
  /** Why its turn failed, according to the agent's own files. */
  failureSince(message: MessageRecord): string | null;
  /** True if no turn is known to have run before the signal. */
  atRest: boolean;
  /** The signal reports a prompt that was taken into a turn that another prompt began. */
  joins: boolean;
  /** The turn that a message was taken into; null: none that is known. */
  into(message: MessageRecord): { turn: string; evidence: string } | null;
  /** True if another prompt began the turn of the signal. */
  isAnnounced: boolean;
}

export function receiptsOf(signal: Signal, told: Told): Draft[] {
  const { run, messages, answers } = told;
  if (signal.prompt !== null) return promptTold(signal, signal.prompt, told);
  if (signal.written) return writtenDown(signal, told);
  if (!answers && signal.failure === null) return [];
  const ending = messages.filter((message) => isStarted(message, run) && !message.working && isOf(message, signal));
  return [...ending.map((message) => ended(message, signal, run)), ...endedNext(signal, told)];
}

/** A message taken into a running turn begins the next turn that no other prompt announces. */
function endedNext(signal: Signal, { run, messages, into, isAnnounced }: Told): Draft[] {
  const { turn } = signal;
  if (turn === null || isAnnounced) return [];
  return messages.flatMap((message) => {
    const taken = message.working && (isHandedOver(message, run) || isStarted(message, run)) ? into(message) : null;
    if (taken === null || taken.turn === turn) return [];
    return [...turnStarted(message, { run, evidence: taken.evidence, turn }), ended(message, signal, run)];
  });
}

/** In a running turn, the agent's own files may not have its last answer yet. */
function writtenDown(signal: Signal, { run, messages, answerSince, failureSince }: Told): Draft[] {
  const own = messages.filter((message) => isStarted(message, run) && isOf(message, signal));
  if (signal.interrupted) return own.map(interrupted);
  return signal.over ? own.map((each) => overtaken(each, { run, reply: answerSince(each), why: failureSince(each) })) : [];
}

function promptTold(signal: Signal, prompt: string, { run, messages, said, answerSince, failureSince, atRest, joins }: Told): Draft[] {
  const isIts = (each: MessageRecord) => isHandedOver(each, run) && isSame(said(each), prompt) && !isOlder(signal, each);
  const message = messages.find((each) => isIts(each) && !isTooLate(signal, each));
  const receipts = message ? turnStarted(message, { run, evidence: evidenceOf(signal), turn: signal.turn }) : [];
  // A prompt reported during another turn has only been taken: nothing reports when its own turn begins, if it has one.
  if (message && joins) return [injected(message, { run, working: true })];
  if (message?.working && !signal.written && answerSince(message) === null) return receipts.slice(0, -1);
  const begins = atRest || message !== undefined;
  const before = messages.filter((each) => {
    if (!isStarted(each, run)) return false;
    // The agent's own files report the end of a turn that has an id.
    if (signal.written) return each.turnId === null && isOf(each, signal) && !isSame(said(each), prompt);
    if (each.turnId !== null && signal.turn !== null) return !isOf(each, signal);
    // The screen may have shown this turn before its prompt was reported.
    return begins && (message !== undefined || !isSame(said(each), prompt));
  });
  return [...before.map((each) => overtaken(each, { run, reply: answerSince(each), why: failureSince(each) })), ...receipts];
}

/** For a turn that ended before another began, without a report of its end. */
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

/** True if the signal is about the turn that began with the message. The next daemon reads an agent's own files again. */
export function isOf({ turnId, injectedAt }: MessageRecord, { turn, written, at }: Signal): boolean {
  if (turnId !== null && turn !== null) return turnId === turn;
  return !written || (injectedAt !== null && at >= injectedAt);
}

const HOOK = "its hook ";

export const WRITTEN = "it wrote the prompt down";

export function evidenceOf({ event, written }: Signal): string {
  return written ? WRITTEN : `${HOOK}${event} reported the prompt`;
}

/** True if the agent's own files reported the message, so they will report the end of the turn. */
export function isWritten({ evidence }: Pick<MessageRecord, "evidence">): boolean {
  return evidence === WRITTEN;
}

/** True if a hook reported the message, so hooks are on in that run. */
export function isToldByHook({ evidence }: Pick<MessageRecord, "evidence">): boolean {
  return evidence?.startsWith(HOOK) ?? false;
}

/** Longest time between an Enter and its event in the journal. */
const NOTED_MS = 5000;

/** True for an older prompt with the same text: the next daemon reads an agent's own files again. */
function isOlder({ written, at }: Signal, { queuedAt, injectedAt }: MessageRecord): boolean {
  return written === true && Date.parse(at) < (injectedAt === null ? Date.parse(queuedAt) : Date.parse(injectedAt) - NOTED_MS);
}

/** A turn that begins this long after the message was settled belongs to somebody who sent the same text. */
const LATE_MS = 30_000;

function isTooLate({ at }: Signal, { state, open, injectedAt }: MessageRecord): boolean {
  return state === "injected" && !open && Date.parse(at) > Date.parse(injectedAt ?? "") + LATE_MS;
}

interface Began {
  run: number;
  evidence: string;
  /** The agent's own id of the turn. */
  turn?: string | null;
}

const SCREEN = "check its screen: holdfast screen NAME";

/** A receipt implies those before it. */
export function turnStarted(message: MessageRecord, { run, evidence, turn = null }: Began): Draft[] {
  const { id, session } = message;
  const data = { id, run, evidence, ...(turn === null ? {} : { turn }) };
  const started: Draft = { type: "message.turn_started", actor: DAEMON, session, data };
  if (message.injectedAt !== null) return [started];
  return [injected(message, { run }), started];
}

function injected({ id, session, via }: MessageRecord, { run, working = false }: { run: number; working?: boolean }): Draft {
  const data = { id, run, via: via ?? "typed", ...(working ? { working } : {}) };
  return { type: "message.injected", actor: DAEMON, session, data };
}

export function failure(message: MessageRecord, data: { why: string; hint: string; known: boolean }): Draft {
  return { type: "message.failed", actor: DAEMON, session: message.session, data: { id: message.id, ...data } };
}

function ended(message: MessageRecord, { reply, failure: why }: Signal, run: number): Draft {
  if (why !== null) return failure(message, { why: turnFailed(why), hint: SCREEN, known: true });
  return replied(message, { run, reply });
}

export function isHandedOver({ state, known, run: handedOver }: MessageRecord, run: number): boolean {
  return handedOver === run && (state === "injecting" || state === "injected" || (state === "failed" && !known));
}

/** Agents trim typed text, and some change line endings. */
export function isSame(said: string, prompt: string): boolean {
  const plain = (text: string) => whateverItsName(asShown(text)).replaceAll(/\s+/g, " ").trim();
  return plain(said) === plain(prompt);
}
