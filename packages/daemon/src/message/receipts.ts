/**
 * The receipts that an agent's own words are proof of, as events for the transaction in which those words are taken: a prompt that began a
 * turn, an answer that ended one. Pure.
 */
import { DAEMON } from "../access/principal.ts";
import { whateverItsName } from "../agent/heading.ts";
import type { Signal } from "../agent/hooks/hook-rules.ts";
import type { Draft } from "../journal/journal.ts";
import type { MessageRecord } from "../projection/messages.ts";
import { asShown } from "./same-words.ts";

export interface Told {
  run: number;
  /** The open ones of the session, and those that were given up in doubt. */
  messages: readonly MessageRecord[];
  /** Such a signal carries the answer, if there is one; others that end a turn tell of an interrupt. */
  answers: boolean;
  /** What was handed over. */
  said(message: MessageRecord): string;
  /** Whether the turn has ended into which it was given. */
  turnEnded(message: MessageRecord): boolean;
}

export function receiptsOf(signal: Signal, { run, messages, answers, said, turnEnded }: Told): Draft[] {
  const { prompt } = signal;
  if (prompt !== null) {
    const message = messages.find((each) => isHandedOver(each, run) && isSame(said(each), prompt));
    if (!message) return [];
    const receipts = turnStarted(message, { run, evidence: evidenceOf(signal) });
    // What is told in the middle of another turn has been taken, and no more: when its own begins, if it has one, is told by nobody.
    return message.working && !turnEnded(message) ? receipts.slice(0, -1) : receipts;
  }
  if (!answers && signal.failure === null) return [];
  const ending = messages.filter((message) => message.state === "turn_started" && message.run === run && !message.working);
  return ending.map((message) => ended(message, signal, run));
}

export function evidenceOf({ event }: Signal): string {
  return `its hook ${event} told the prompt`;
}

/** Whoever takes a receipt sees those before it too. */
export function turnStarted(message: MessageRecord, { run, evidence }: { run: number; evidence: string }): Draft[] {
  const via = message.via ?? "typed";
  const { id, session } = message;
  const started: Draft = { type: "message.turn_started", actor: DAEMON, session, data: { id, run, evidence } };
  if (message.injectedAt !== null) return [started];
  return [{ type: "message.injected", actor: DAEMON, session, data: { id, run, via } }, started];
}

export function failure(message: MessageRecord, data: { why: string; hint: string; known: boolean }): Draft {
  return { type: "message.failed", actor: DAEMON, session: message.session, data: { id: message.id, ...data } };
}

function ended(message: MessageRecord, { reply, failure: why }: Signal, run: number): Draft {
  if (why !== null)
    return failure(message, { why: `its turn failed: ${why}`, hint: "see what it shows: holdfast screen NAME", known: true });
  return { type: "message.replied", actor: DAEMON, session: message.session, data: { id: message.id, run, reply } };
}

function isHandedOver({ state, known, run: handedOver }: MessageRecord, run: number): boolean {
  return handedOver === run && (state === "injecting" || state === "injected" || (state === "failed" && !known));
}

/** Agents trim what is typed, and some give their lines other ends. */
export function isSame(said: string, prompt: string): boolean {
  const plain = (text: string) => whateverItsName(asShown(text)).replaceAll(/\s+/g, " ").trim();
  return plain(said) === plain(prompt);
}
