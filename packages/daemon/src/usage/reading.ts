/**
 * What terminal agents used, from what they write down themselves, where their profile says how. Read when a turn has ended and when a run has; some
 * write it a moment later, so it is looked at once more then. Somebody who must know sooner (budgets.ts) asks.
 *
 * What is found and how far was read are one transaction: a daemon that dies at any moment leaves nothing to be counted twice, and the next one goes
 * on from there. It begins with all that run, and with what ended since the last daemon began.
 */
import { createHash } from "node:crypto";
import { setImmediate as breathe } from "node:timers/promises";
import { type EventData, hasEnded, type SessionId, type UsageRecord } from "@holdfast/contract";
import { describe, log } from "@holdfast/platform";
import type { Profiles } from "../agent/profiles/index.ts";
import type { Call, Conversing, UsageSource } from "../agent/usage-source.ts";
import type { Draft, Journal } from "../journal/journal.ts";
import type { SessionQueries, SessionRecord } from "../projection/session-queries.ts";
import { type UsageQueries, usageDraft } from "../projection/usage.ts";

const FOLLOWED = ["session.status_changed", "session.ended"];
const BATCH = 500;

/** An agent that has told its turn's end has then written what the turn used, also on a busy machine. */
const AGAIN_MS = 2000;

export interface ReadingRooms {
  journal: Journal;
  sessions: SessionQueries;
  usage: UsageQueries;
  profiles: Profiles;
  envOf(session: SessionId): Record<string, string> | undefined;
  againMs?: number;
}

export class UsageReading implements Disposable {
  readonly #rooms: ReadingRooms;
  /** Beyond what is written down: lines that told of no call need not be read again. */
  readonly #states = new Map<string, string>();
  readonly #reading = new Map<SessionId, Promise<void>>();
  readonly #timers = new Map<SessionId, NodeJS.Timeout>();
  readonly #ending = new AbortController();

  constructor(rooms: ReadingRooms) {
    this.#rooms = rooms;
  }

  /** `lastStart`: where in the journal the last daemon began. */
  begin(lastStart: number): void {
    const { journal, sessions } = this.#rooms;
    this.#follow(journal.cursor.seq).catch((error: unknown) => log(`usage is no longer read: ${describe(error)}`));
    for (const { id } of [...sessions.live(), ...sessions.endedAfter(lastStart)]) void this.read(id);
  }

  [Symbol.dispose](): void {
    this.#ending.abort();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  /** Resolves when all that is there now is in the journal. Asked while it reads, it reads again. */
  read(session: SessionId): Promise<void> {
    const before = this.#reading.get(session) ?? Promise.resolve();
    const reading = before
      .then(() => this.#read(session))
      .catch((error: unknown) => log(`session ${session}: its usage cannot be read: ${describe(error)}`))
      .finally(() => {
        if (this.#reading.get(session) === reading) this.#reading.delete(session);
      });
    this.#reading.set(session, reading);
    return reading;
  }

  async #follow(from: number): Promise<void> {
    const { journal } = this.#rooms;
    const { signal } = this.#ending;
    for (let seq = from; ; ) {
      await journal.changed(seq, signal);
      if (signal.aborted) return;
      const end = journal.cursor.seq;
      const events = journal.readAfter(seq, BATCH, { types: FOLLOWED });
      for (const { type, session, data } of events) {
        if (session === null || (type === "session.status_changed" && data.turn === "working")) continue;
        void this.read(session);
        this.#again(session);
      }
      seq = events.length === BATCH ? (events.at(-1)?.seq ?? end) : end;
    }
  }

  #again(session: SessionId): void {
    clearTimeout(this.#timers.get(session));
    const due = () => {
      this.#timers.delete(session);
      void this.read(session);
    };
    this.#timers.set(session, setTimeout(due, this.#rooms.againMs ?? AGAIN_MS).unref());
  }

  async #read(session: SessionId): Promise<void> {
    const { sessions, profiles, envOf } = this.#rooms;
    const record = sessions.get(session);
    // What a conversation used, its protocol tells.
    const source = record?.kind === "terminal" ? profiles.find(record.agent)?.usage : undefined;
    const env = source && envOf(session);
    if (!record || !source || !env) return;
    for (const { id } of record.conversations) {
      const of = { conversation: id, cwd: record.cwd, env };
      for (const place of source.places(of)) await this.#readPlace(session, { source, place, of });
    }
    if (hasEnded(record.status)) for (const known of this.#states.keys()) if (known.startsWith(`${session} `)) this.#states.delete(known);
  }

  async #readPlace(session: SessionId, { source, place, of }: { source: UsageSource; place: string; of: Conversing }): Promise<void> {
    const { journal, sessions, usage } = this.#rooms;
    const known = `${session} ${place}`;
    for (let more = true; more && !this.#ending.signal.aborted; ) {
      const record = sessions.get(session);
      if (!record) return;
      const reading = source.read(place, this.#states.get(known) ?? usage.stateOf(session, place), of);
      const drafts = this.#draftsOf(record, place, reading);
      if (drafts.length > 0) journal.append(...drafts);
      this.#states.set(known, reading.state);
      more = reading.more;
      if (more) await breathe();
    }
  }

  /** One for each turn and model: a turn may be a hundred calls. The last says how far it was read. */
  #draftsOf(record: SessionRecord, place: string, { calls, state }: { calls: readonly Call[]; state: string }): Draft[] {
    const groups = new Map<string, Grouped>();
    for (const call of calls) {
      // A conversation that it went on with, or a copy of another's: that was not this session's doing.
      if (call.at !== null && call.at < record.createdAt) continue;
      const turn = this.#rooms.usage.turnAt(record.id, call.at);
      const key = JSON.stringify([turn, call.model, call.cost === null]);
      groups.set(key, added(groups.get(key), { call, turn: turn?.turn ?? null, run: turn?.run ?? record.run }));
    }
    const all = [...groups].map(([group, usage]) => ({ ...usage, key: keyOf(place, state, group) }));
    return all.map((usage, index) => usageDraft(record, { ...usage, ...(index === all.length - 1 ? { read: { place, state } } : {}) }));
  }
}

type Grouped = Omit<UsageRecord, "key"> & Pick<EventData<"usage.recorded">, "at">;

function added(sum: Grouped | undefined, { call, turn, run }: { call: Call; turn: string | null; run: number }): Grouped {
  const { input, output, cacheRead, cacheWrite, cost, context, model, at } = call;
  const time = at === null ? {} : { at };
  if (!sum) return { run, turn, model, input, output, cacheRead, cacheWrite, cost, context, source: "transcript", ...time };
  return {
    ...sum,
    ...time,
    input: plus(sum.input, input),
    output: plus(sum.output, output),
    cacheRead: plus(sum.cacheRead, cacheRead),
    cacheWrite: plus(sum.cacheWrite, cacheWrite),
    cost: plus(sum.cost, cost),
    context: context ?? sum.context,
  };
}

function plus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a + b;
}

/** By where it was read up to, which is behind every one before. */
function keyOf(...parts: string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 16);
}
