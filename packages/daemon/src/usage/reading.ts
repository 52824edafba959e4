/**
 * Reads the usage of terminal agents from their own files, where their profile says how. It reads at the end of each turn and run, and again a moment
 * later because some agents write late. A caller that must know sooner (budgets.ts) asks for a reading.
 *
 * The usage found and the position read are one transaction: if the daemon dies, nothing is counted twice, and the next daemon continues from there.
 * A daemon begins with all live sessions and those that ended since the previous daemon started.
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

/** An agent has written a turn's usage this long after it reported the turn's end, even on a busy machine. */
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
  /** Positions beyond the journaled ones: lines without a call need not be read again. */
  readonly #states = new Map<string, string>();
  readonly #reading = new Map<SessionId, Promise<void>>();
  readonly #timers = new Map<SessionId, NodeJS.Timeout>();
  readonly #ending = new AbortController();

  constructor(rooms: ReadingRooms) {
    this.#rooms = rooms;
  }

  /** `lastStart`: the journal position where the previous daemon started. */
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

  /** Resolves when all usage written so far is in the journal. A call during a reading reads again afterwards. */
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
    // The protocol reports the usage of a conversation.
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

  /** One draft for each turn and model, since a turn may have a hundred calls. The last draft holds the position read. */
  #draftsOf(record: SessionRecord, place: string, { calls, state }: { calls: readonly Call[]; state: string }): Draft[] {
    const groups = new Map<string, Grouped>();
    for (const call of calls) {
      // Older calls are from a continued or copied conversation, not from this session.
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

/** Unique, because the state advances with every reading. */
function keyOf(...parts: string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 16);
}
