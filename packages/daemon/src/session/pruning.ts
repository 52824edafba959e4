/**
 * Removes ended sessions by age and total size, and old events of removed sessions. Never removes a running session, or one that nobody has viewed
 * since it ended. One timer, set again after each look. The first look comes a minute after the daemon's start, so that a daemon that lives little
 * longer than `every` prunes too.
 *
 * The time of day may be wrong for a while (before the network corrects it, after a flat battery). So the daemon removes only sessions that were due,
 * by age or by size, at two looks in a row without a step of the clock between them: a session that was just viewed stays for a while. A person who
 * asks sees the list and decides.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as breathe } from "node:timers/promises";
import { hasEnded, type Principal, type PruneReply, type PruneVerdict, type SessionId } from "@holdfast/contract";
import { clockSteps, describe, type Home, log } from "@holdfast/platform";
import { DAEMON } from "../access/principal.ts";
import type { Journal } from "../journal/journal.ts";
import { pruneEvents } from "../journal/prune.ts";
import type { SessionQueries, SessionRecord } from "../projection/session-queries.ts";
import { snapshotOf } from "../projection/sessions.ts";
import { bytesOfSessions } from "./disk-use.ts";

/** Not during a start, when restarts and recordings are caught up. */
const FIRST_LOOK_MS = 60_000;

export interface Policy {
  ageMs: number | null;
  /** For conversations. */
  conversationAgeMs: number | null;
  bytes: number | null;
}

interface Order {
  dryRun: boolean;
  policy: Policy;
  /** Also removes sessions if that does not bring the rest below the size. */
  anyway?: boolean;
  only?: readonly SessionId[] | undefined;
  conversations?: boolean;
  actor: Principal;
}

export type Discard = (record: SessionRecord, how: { actor: Principal; why: "age" | "size"; bytes: number }) => void;

export class Pruning implements Disposable {
  readonly #home: Home;
  readonly #queries: SessionQueries;
  readonly #journal: Journal;
  readonly #policy: Policy & { everyMs: number };
  readonly #discard: Discard;
  readonly #clock: { now(): number; steps(): number };
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  #due = new Set<string>();
  #steps: number;

  constructor(options: {
    home: Home;
    queries: SessionQueries;
    journal: Journal;
    policy: Policy & { everyMs: number };
    discard: Discard;
    clock?: { now(): number; steps(): number };
  }) {
    this.#home = options.home;
    this.#queries = options.queries;
    this.#journal = options.journal;
    this.#policy = options.policy;
    this.#discard = options.discard;
    this.#clock = options.clock ?? { now: Date.now, steps: clockSteps };
    this.#steps = this.#clock.steps();
  }

  begin(): void {
    this.#lookIn(Math.min(FIRST_LOOK_MS, this.#policy.everyMs));
  }

  #lookIn(ms: number): void {
    const look = async () => {
      await this.look().catch((error: unknown) => log(`cannot prune: ${describe(error)}`));
      if (!this.#closed) this.#lookIn(this.#policy.everyMs);
    };
    this.#timer = setTimeout(() => void look(), ms).unref();
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** The daemon's own periodic look. */
  async look(): Promise<void> {
    const stepped = this.#steps !== this.#clock.steps();
    this.#steps = this.#clock.steps();
    const { removed } = await this.prune({ dryRun: true, policy: this.#policy, actor: DAEMON });
    const before = stepped ? new Set<string>() : this.#due;
    this.#due = new Set(removed.map(({ id }) => id));
    const only = removed.map(({ id }) => id).filter((id) => before.has(id));
    if (only.length > 0) await this.prune({ dryRun: false, policy: this.#policy, only, actor: DAEMON });
    if (!stepped) await this.#pruneJournal();
  }

  /** Prunes on request; by the policy if the request sets no limits. */
  ask(
    body: {
      dryRun: boolean;
      olderThanMs?: number | undefined;
      keepBytes?: number | undefined;
      conversations: boolean;
      only?: SessionId[] | undefined;
    },
    actor: Principal,
  ) {
    const { dryRun, conversations, only, olderThanMs = null, keepBytes = null } = body;
    const wished = olderThanMs !== null || keepBytes !== null;
    const said = { ageMs: olderThanMs, conversationAgeMs: olderThanMs, bytes: keepBytes };
    // The total size says nothing about conversations alone.
    const policy = wished ? said : conversations ? { ...this.#policy, ageMs: this.#policy.conversationAgeMs, bytes: null } : this.#policy;
    return this.prune({ dryRun, policy, anyway: wished, only, conversations, actor });
  }

  async prune(order: Order): Promise<PruneReply> {
    const sizes = await bytesOfSessions(this.#home);
    const bytesOf = (id: SessionId) => sizes.get(id)?.totalBytes ?? 0;
    const isMeant = ({ kind }: SessionRecord) => !order.conversations || kind === "conversation";
    const running = this.#queries.select({}).filter(isMeant);
    const ended = this.#queries.ended().filter(isMeant);
    const verdicts = judge(ended, { ...order, now: this.#clock.now(), bytesOf });
    const kept = running.map((record) => verdict(record, "running", bytesOf(record.id)));
    const removed: PruneVerdict[] = [];
    for (const each of verdicts) {
      if (each.why !== "age" && each.why !== "size") kept.push(each);
      else if (order.dryRun || (await this.#remove(each, { why: each.why, actor: order.actor }))) removed.push(each);
    }
    const policy = { olderThanMs: order.policy.ageMs, keepBytes: order.policy.bytes };
    return { policy, removed, kept, dryRun: order.dryRun };
  }

  /** Checks again: while sizes were read, the session may have been removed or started. */
  async #remove({ id, bytes }: PruneVerdict, how: { why: "age" | "size"; actor: Principal }): Promise<boolean> {
    await breathe();
    const record = this.#queries.get(id);
    if (!record || !hasEnded(record.status) || record.restartAt !== null || record.viewedAt === null) return false;
    this.#discard(record, { ...how, bytes });
    return true;
  }

  async #pruneJournal(): Promise<void> {
    if (this.#policy.ageMs === null) return;
    const before = new Date(this.#clock.now() - this.#policy.ageMs).toISOString();
    const options = {
      before,
      actor: DAEMON,
      snapshot: snapshotOf,
      isThere: (id: SessionId) => this.#queries.get(id) !== undefined,
      // Files that outlived their record: without its events nobody would know that they can be deleted.
      forget: (id: SessionId) => rmSync(join(this.#home.sessions, id), { recursive: true, force: true }),
    };
    while (pruneEvents(this.#journal, options)) await breathe();
  }
}

/**
 * Pure. The session that ended first goes first. Unviewed sessions count and stay; if they alone exceed the size, nothing is removed by size, because
 * the rest would not fit either.
 */
export function judge(
  ended: readonly SessionRecord[],
  how: { policy: Policy; now: number; bytesOf(id: SessionId): number; anyway?: boolean; only?: readonly SessionId[] | undefined },
): PruneVerdict[] {
  const { bytes } = how.policy;
  const isOld = ({ endedAt, kind }: SessionRecord) => {
    const ageMs = kind === "conversation" ? how.policy.conversationAgeMs : how.policy.ageMs;
    return ageMs !== null && endedAt !== null && how.now - Date.parse(endedAt) > ageMs;
  };
  const goesByAge = (record: SessionRecord) => record.viewedAt !== null && isOld(record);
  const bytesIn = (records: SessionRecord[]) => records.reduce((sum, { id }) => sum + how.bytesOf(id), 0);
  let total = bytesIn(ended.filter((record) => !goesByAge(record)));
  const helps = how.anyway || (bytes !== null && bytesIn(ended.filter(({ viewedAt }) => viewedAt === null)) <= bytes);
  return ended.map((record) => {
    const size = how.bytesOf(record.id);
    const goesBySize = bytes !== null && helps && total > bytes;
    let why: PruneVerdict["why"] = "policy";
    if (record.viewedAt === null) why = "unseen";
    else if (isOld(record)) why = "age";
    else if (goesBySize) why = "size";
    if (why === "size") total -= size;
    const isNamed = how.only?.includes(record.id) ?? true;
    return verdict(record, isNamed || why === "unseen" ? why : "not_named", size);
  });
}

function verdict(record: SessionRecord, why: PruneVerdict["why"], bytes: number): PruneVerdict {
  const { id, name, status, endedAt, viewedAt } = record;
  return { id, name, status, endedAt, viewedAt, bytes, why };
}
