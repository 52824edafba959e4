/**
 * One conversation, through the daemon. A message gets its id before it is sent, so a repetition after a daemon's death is the same message.
 * Entries are read from a cursor, each once, whichever daemon serves them.
 */
import { randomBytes } from "node:crypto";
import type { Approval } from "@holdfast/contract/approval/approval";
import type { Conversation, PlacedEntry } from "@holdfast/contract/conversation/endpoints";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Message } from "@holdfast/contract/message/message";
import type { Session } from "@holdfast/contract/session/session";
import { Patience } from "@holdfast/sdk/patience";
import type { Context } from "../command.ts";
import { isOver, untilSession } from "../session/next-run.ts";

export interface Followed {
  onEntry(placed: PlacedEntry): void | Promise<void>;
  /** The daemon is gone; `undefined` when it is back. */
  onTrouble(why: string | undefined): void;
  /** The run has ended, and no other has begun. */
  onEnd(session: Session): void;
}

/** Longest wait until a request from the transcript is in the inbox. */
const INBOX_MS = 3000;
const INBOX_EVERY_MS = 50;

export class Talk {
  readonly #context: Context;
  readonly id: string;

  constructor(context: Context, session: Session) {
    this.#context = context;
    this.id = session.id;
  }

  get #params(): { ref: string } {
    return { ref: this.id };
  }

  now(): Promise<Conversation> {
    return this.#context.client.call("getConversation", { params: this.#params });
  }

  /** Also works for an ended conversation: the message starts its next run. */
  async say(text: string, options: { id?: string; steer?: boolean } = {}): Promise<Message> {
    const { id = newMessageId(), steer = false } = options;
    const send = () => this.#context.client.call("sendMessage", { params: this.#params, body: { text, id, steer } });
    const { message } = await surely(async () => {
      try {
        return await send();
      } catch (error) {
        if (!isCode(error, "session_ended")) throw error;
        await this.resume();
        return send();
      }
    });
    if (message) return message;
    throw new HoldfastError("not_a_conversation", "this session is not a conversation; your text was typed into its terminal", {
      hint: `attach to it: holdfast attach ${this.id}`,
    });
  }

  /** Starts the next run. A session that already runs is not an error. */
  async resume(): Promise<void> {
    try {
      await this.#context.client.call("resumeSession", { params: this.#params, body: {} });
    } catch (error) {
      if (!isCode(error, "session_running")) throw error;
    }
  }

  message(id: string, waitMs: number, signal?: AbortSignal): Promise<Message> {
    return this.#context.client.call("getMessage", { params: { id }, query: { until: "turn_started", waitMs } }, signal);
  }

  takeBack(id: string): Promise<Message> {
    return this.#context.client.call("cancelMessage", { params: { id } });
  }

  async cancel(): Promise<boolean> {
    return (await surely(() => this.#context.client.call("cancelTurn", { params: this.#params, body: {} }))).cancelled;
  }

  async stop(): Promise<void> {
    await surely(() => this.#context.client.call("stopSession", { params: this.#params, body: {} }));
  }

  set(what: { mode?: string; model?: string }): Promise<Conversation> {
    return this.#context.client.call("setConversation", { params: this.#params, body: what });
  }

  clear(): Promise<Conversation> {
    return this.#context.client.call("clearConversation", { params: this.#params, body: {} });
  }

  async lastTurns(turns: number): Promise<{ entries: PlacedEntry[]; cursor: string; damaged: number }> {
    return this.#context.client.call("readTranscript", { params: this.#params, query: { turns } });
  }

  /** All entries, from the first on. */
  async *everything(): AsyncGenerator<PlacedEntry> {
    for (let after = "0.0"; ; ) {
      const page: { entries: PlacedEntry[]; cursor: string; more: boolean } = await this.#context.client.call("readTranscript", {
        params: this.#params,
        query: { after },
      });
      yield* page.entries;
      if (!page.more || page.cursor === after) return;
      after = page.cursor;
    }
  }

  async approvals(): Promise<Approval[]> {
    return (await this.#context.client.call("listApprovals", { query: { session: this.id } })).approvals;
  }

  /** The approval for a request in the transcript, once it is in the inbox; never another one. */
  async approvalFor(ask: string): Promise<Approval | undefined> {
    const until = performance.now() + INBOX_MS;
    for (;;) {
      const found = (await this.approvals()).find((approval) => approval.ask === ask);
      if (found || performance.now() > until) return found;
      await new Promise((resolve) => setTimeout(resolve, INBOX_EVERY_MS));
    }
  }

  answer({ id, digest }: Approval, decision: "allow" | "deny", always: boolean): Promise<Approval> {
    return this.#context.client.call("answerApproval", { params: { id }, body: { decision, digest, ...(always ? { always } : {}) } });
  }

  /** Follows until the signal aborts, across the ends of runs, because another may begin. */
  async follow(after: string, followed: Followed, signal: AbortSignal): Promise<void> {
    const patience = new Patience();
    let cursor = after;
    let inTrouble = false;
    let isTelling = false;
    let endedRun = 0;
    while (!signal.aborted) {
      try {
        if (inTrouble) {
          await this.now();
          inTrouble = false;
          followed.onTrouble(undefined);
        }
        for await (const placed of this.#context.client.entries({ params: this.#params, query: { after: cursor } }, signal)) {
          isTelling = true;
          await followed.onEntry(placed);
          isTelling = false;
          cursor = placed.cursor;
          patience.renew();
        }
        if (signal.aborted) return;
        const { session, cursor: end } = await this.now();
        if (!isOver(session) || end !== cursor) {
          await patience.pause();
          continue;
        }
        if (endedRun !== session.runs) followed.onEnd(session);
        endedRun = session.runs;
        await untilSession(this.#context, { id: this.id, name: session.name, signal, until: (now) => now.runs > session.runs });
      } catch (error) {
        if (signal.aborted) return;
        // An error in the callback is not fixed by another daemon.
        if (isTelling) throw error;
        inTrouble = true;
        followed.onTrouble("lost the daemon, reconnecting …");
        await patience.bear(error);
      }
    }
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof HoldfastError && error.code === code;
}

/** Repeats an idempotent request: a daemon that died is followed by another. */
async function surely<T>(ask: () => Promise<T>): Promise<T> {
  const patience = new Patience();
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isCode(error, "daemon_unreachable")) throw error;
      await patience.bear(error);
    }
  }
}

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

/** The daemon's format: ten letters and digits, the first a letter. */
export function newMessageId(): string {
  const [first = 0, ...rest] = randomBytes(10);
  return [ALPHABET[first % 26], ...rest.map((byte) => ALPHABET[byte % 32])].join("");
}
