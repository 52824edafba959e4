/**
 * Keeps sessions to their budgets. Follows the journal: whatever may have used something is an event. Minutes are counted by a clock that nobody sets,
 * while a run of the session is there; for them, and to see what a working agent has used that has a limit of tokens or cost, one timer looks again as
 * long as there is such a session, and none otherwise.
 *
 * At a limit: the fact first, then the turn that runs is interrupted where there is a way, then the run is stopped as somebody would stop it. A daemon
 * that dies in between, or that was not there when the limit was passed, leaves it to the next, which looks at all of them at its start.
 */
import { type Budget, type EventData, HoldfastError, hasEnded, type Session, type SessionId } from "@holdfast/contract";
import { describe, log } from "@holdfast/platform";
import { DAEMON } from "../access/principal.ts";
import type { Journal } from "../journal/journal.ts";
import type { SessionQueries, SessionRecord } from "../projection/session-queries.ts";
import type { Accounts } from "../session/accounts.ts";
import { durationOf } from "../session/view.ts";
import { describeUse, isNear, isReached, isWorking, nextMinuteMark, type Use, usesOf } from "./used.ts";

const FOLLOWED = [
  "usage.recorded",
  "session.status_changed",
  "session.started",
  "session.ended",
  "session.restart_scheduled",
  "budget.changed",
] as const;
const BATCH = 500;

/** How often what a working agent has used so far is read, where that is limited: so much later it may be noticed. */
const LOOK_MS = 5000;

/** A machine that was asleep has been so for longer than a timer knows. */
const LONGEST_MS = 60_000;

/** Between two looks at the clock, so that a mark is passed when it is looked for. */
const BEYOND_MS = 20;

/** How long an agent may take to see that it was interrupted: the stop does not wait longer. */
const INTERRUPT_MS = 5000;
const STOP_GRACE_MS = 5000;

export interface BudgetRooms {
  journal: Journal;
  sessions: SessionQueries;
  spent(session: SessionId): Session["spent"];
  /** Reads what the agent has used so far into the journal. */
  read(session: SessionId): Promise<void>;
  /** Tells the agent to end its turn, by its keys or its protocol; need not wait for it. Throws where there is no way. */
  interrupt(record: SessionRecord): Promise<unknown>;
  stop(session: SessionId, how: { graceMs: number; actor: typeof DAEMON }): Promise<unknown>;
  interruptMs?: number;
  lookMs?: number;
}

export class Budgets implements Accounts, Disposable {
  readonly #rooms: BudgetRooms;
  readonly #ending = new AbortController();
  readonly #stopping = new Set<SessionId>();
  #timer: NodeJS.Timeout | undefined;

  constructor(rooms: BudgetRooms) {
    this.#rooms = rooms;
  }

  begin(): void {
    const { journal, sessions } = this.#rooms;
    this.#follow(journal.cursor.seq).catch((error: unknown) => log(`budgets are not kept any more: ${describe(error)}`));
    for (const record of sessions.budgeted()) this.#check(record);
    this.#arm();
  }

  [Symbol.dispose](): void {
    this.#ending.abort();
    clearTimeout(this.#timer);
  }

  spent({ id }: SessionRecord): Session["spent"] {
    return this.#rooms.spent(id);
  }

  budget(record: SessionRecord): Session["budget"] {
    if (record.budget === null) return null;
    const limits = this.#uses(record, record.budget).map((use) => ({ ...use, used: use.used === null ? null : rounded(use.used) }));
    return { limits, exceeded: record.budgetExceeded };
  }

  /** A turn that would be one too many, too: nothing could be done in the run. */
  refusal(record: SessionRecord, budget: Budget | null): HoldfastError | undefined {
    const spent = budget && this.#spent(record, budget);
    if (!spent) return undefined;
    const { name } = record;
    return new HoldfastError("budget_spent", `${name} has used up its budget: ${describeUse(spent)}`, {
      hint: `allow it more: holdfast resume ${name} --budget ${spent.limit}=${roomFor(spent.allowed)}; or no limit: --budget ${spent.limit}=off`,
    });
  }

  /** Why no further turn of it is to begin, for whoever waits for one; null: it may. */
  usedUp(record: SessionRecord): string | null {
    const spent = record.budget && this.#spent(record, record.budget);
    return spent ? `its budget is used up: ${describeUse(spent)}` : null;
  }

  #spent(record: SessionRecord, budget: Budget): (Use & { used: number }) | undefined {
    return this.#uses(record, budget).find((use): use is Use & { used: number } => use.used !== null && use.used >= use.allowed);
  }

  async #follow(from: number): Promise<void> {
    const { journal, sessions } = this.#rooms;
    const { signal } = this.#ending;
    for (let seq = from; ; ) {
      await journal.changed(seq, signal);
      if (signal.aborted) return;
      const end = journal.cursor.seq;
      const events = journal.readAfter(seq, BATCH, { types: FOLLOWED });
      for (const id of new Set(events.flatMap(({ session }) => (session === null ? [] : [session])))) {
        const record = sessions.get(id);
        if (record?.budget) this.#check(record);
      }
      if (events.length > 0) this.#arm();
      seq = events.length === BATCH ? (events.at(-1)?.seq ?? end) : end;
    }
  }

  #uses(record: SessionRecord, budget: Budget): Use[] {
    return usesOf(budget, { turns: record.turns, spent: this.#rooms.spent(record.id), ranMs: this.#ranMs(record) });
  }

  /** Its runs, from the start of each to its end, whatever it did meanwhile. */
  #ranMs(record: SessionRecord): number {
    return this.#rooms.sessions.formerRunsMs(record.id, record.run) + (durationOf(record, Date.now()) ?? 0);
  }

  #check(record: SessionRecord): void {
    const { journal } = this.#rooms;
    const uses = this.#uses(record, record.budget ?? {});
    const about = { actor: DAEMON, session: record.id };
    const reached = uses.find((use) => isReached(use, record));
    if (reached) {
      // On a full disk it is owed, once.
      const isTold = record.budgetExceeded !== null || journal.owes(record.id, "budget.exceeded");
      if (!isTold) journal.note({ ...about, type: "budget.exceeded", data: factOf(record, reached) });
      if (!hasEnded(record.status) || record.restartAt !== null) void this.#end(record);
      return;
    }
    const untold = uses.filter((use) => isNear(use) && !record.budgetWarned.includes(use.limit));
    if (journal.owes(record.id, "budget.warned")) return;
    for (const use of untold) journal.note({ ...about, type: "budget.warned", data: factOf(record, use) });
  }

  async #end(record: SessionRecord): Promise<void> {
    const { id, stopRequested } = record;
    if (this.#stopping.has(id) || stopRequested) return;
    this.#stopping.add(id);
    try {
      if (isWorking(record)) await this.#interrupt(record);
      await this.#rooms.stop(id, { graceMs: STOP_GRACE_MS, actor: DAEMON });
    } catch (error) {
      // It may have ended by itself meanwhile.
      if (HoldfastError.from(error).code !== "session_ended") log(`session ${id}: not stopped at its limit: ${describe(error)}`);
    } finally {
      this.#stopping.delete(id);
    }
  }

  async #interrupt(record: SessionRecord): Promise<void> {
    const { journal, sessions, interrupt, interruptMs = INTERRUPT_MS } = this.#rooms;
    const signal = AbortSignal.any([AbortSignal.timeout(interruptMs), this.#ending.signal]);
    try {
      await interrupt(record);
    } catch (error) {
      log(`session ${record.id}: its turn cannot be interrupted: ${describe(error)}`);
      return;
    }
    for (;;) {
      const { seq } = journal.cursor;
      const now = sessions.get(record.id);
      if (signal.aborted || !now || !isWorking(now)) return;
      await journal.changed(seq, signal);
    }
  }

  /** One timer for all. */
  #arm(): void {
    clearTimeout(this.#timer);
    const live = this.#rooms.sessions.budgeted().filter(({ status, id }) => !hasEnded(status) && !this.#stopping.has(id));
    const marks = live.map((record) => this.#lookIn(record));
    const next = Math.min(...marks, Number.POSITIVE_INFINITY);
    if (next === Number.POSITIVE_INFINITY || this.#ending.signal.aborted) return;
    this.#timer = setTimeout(() => void this.#look(), Math.min(next + BEYOND_MS, LONGEST_MS)).unref();
  }

  #lookIn(record: SessionRecord): number {
    const minutes = record.budget?.minutes;
    const mark =
      minutes === undefined
        ? Number.POSITIVE_INFINITY
        : nextMinuteMark({ limit: "minutes", allowed: minutes, used: null }, this.#ranMs(record));
    return isSpending(record) ? Math.min(mark, this.#rooms.lookMs ?? LOOK_MS) : mark;
  }

  async #look(): Promise<void> {
    const { sessions, read } = this.#rooms;
    const live = sessions.budgeted();
    await Promise.all(live.filter(isSpending).map(({ id }) => read(id)));
    for (const { id } of live) {
      const record = sessions.get(id);
      if (record?.budget) this.#check(record);
    }
    this.#arm();
  }
}

/** It works, and what it uses of models is limited. */
function isSpending(record: SessionRecord): boolean {
  return isWorking(record) && (record.budget?.tokens ?? record.budget?.cost) !== undefined;
}

function factOf({ run }: SessionRecord, { limit, allowed, used }: Use): EventData<"budget.exceeded"> {
  return { run: run as EventData<"budget.exceeded">["run"], limit, allowed, used: rounded(used ?? 0) };
}

function rounded(amount: number): number {
  return Math.round(amount * 1e6) / 1e6;
}

/** Twice as much. */
function roomFor(allowed: number): string {
  const twice = allowed * 2;
  return twice >= 10_000 && twice % 1000 === 0 ? `${twice / 1000}k` : String(twice);
}
