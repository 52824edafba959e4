/**
 * Keeps sessions to their budgets. Most usage arrives as journal events. A conversation reports its usage while a turn runs (`usedMore`). One timer
 * checks minutes, and reads the usage of working terminal agents with a limit of tokens or cost. It is armed only while there is such a session.
 * Minutes count while a run of the session exists, on a monotonic clock where the run has one.
 *
 * Tokens and cost of a session count toward all its ancestors: its parent, the parent of that, and so on.
 *
 * At a limit, in this order: the event, a note in the conversation, cancelling the running turn where possible, an ordinary stop of the run. A shared
 * limit (tokens, cost) also stops all sessions below. If the daemon dies in between, or was down when the limit was passed, the next daemon does the
 * rest: it checks all budgets when it starts.
 */
import {
  type Budget,
  type EventData,
  HoldfastError,
  hasEnded,
  moreText,
  nearText,
  reachedText,
  type Session,
  type SessionId,
} from "@holdfast/contract";
import { describe, log } from "@holdfast/platform";
import { DAEMON } from "../access/principal.ts";
import type { Journal } from "../journal/journal.ts";
import type { SessionQueries, SessionRecord } from "../projection/session-queries.ts";
import type { Accounts } from "../session/accounts.ts";
import { durationOf } from "../session/view.ts";
import { isNear, isReached, isWorking, nextMinuteMark, SHARED, type Use, usesOf } from "./used.ts";

const FOLLOWED = [
  "usage.recorded",
  "session.status_changed",
  "session.started",
  "session.ended",
  "session.restart_scheduled",
  "budget.changed",
] as const;
const BATCH = 500;

/** Interval of reading the usage of working agents with a limit, and so the longest delay of noticing that it is passed. */
const LOOK_MS = 5000;

/** A timer does not count the time that a machine sleeps, so the clock is checked at least this often. */
const LONGEST_MS = 60_000;

/** Margin that makes sure a mark has been passed when the timer fires. */
const BEYOND_MS = 20;

/** Longest time that the stop waits for an interrupted turn to end. */
const INTERRUPT_MS = 5000;
const STOP_GRACE_MS = 5000;

export interface BudgetRooms {
  journal: Journal;
  sessions: SessionQueries;
  spent(session: SessionId): Session["spent"];
  /** Usage of a session (the first) and all below it together; null if those below used nothing. */
  withChildren(tree: readonly SessionId[]): Session["spent"];
  /** Reads the agent's usage so far into the journal. */
  read(session: SessionId): Promise<void>;
  /** Writes a note into the conversation, once for each key; may fail. `words`: for the agent, if that interrupts nothing. */
  tell(record: SessionRecord, note: { key: string; text: string; words: string | null }): Promise<unknown>;
  /** Tells the agent to end its turn, by keys or protocol, without waiting for the end. Throws where that is impossible. */
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
    this.#follow(journal.cursor.seq).catch((error: unknown) => log(`budgets are no longer enforced: ${describe(error)}`));
    for (const record of sessions.budgeted()) {
      this.#check(record);
      this.#tellNear(record);
    }
    this.#arm();
  }

  /** To be called when the running turn has used more. */
  usedMore(session: SessionId): void {
    this.#checkAbove(session);
  }

  [Symbol.dispose](): void {
    this.#ending.abort();
    clearTimeout(this.#timer);
  }

  spent({ id }: SessionRecord): Session["spent"] {
    return this.#rooms.spent(id);
  }

  spentWithChildren({ id }: SessionRecord): Session["spent"] {
    return this.#withChildren(id);
  }

  budget(record: SessionRecord): Session["budget"] {
    const limits = this.#uses(record, record.budget ?? {}).map((use) => ({ ...use, used: roundedOr(use.used), own: roundedOr(use.own) }));
    return limits.length === 0 && record.budgetExceeded === null ? null : { limits, exceeded: record.budgetExceeded };
  }

  /** Also refuses a run whose first turn would exceed the budget: nothing could be done in it. */
  refusal(record: SessionRecord, budget: Budget | null): HoldfastError | undefined {
    const spent = budget && this.#spent(record, budget);
    if (spent) return refusalOf(record.name, record.name, spent);
    return this.childRefusal(record.name, this.#rooms.sessions.ancestors(record.id));
  }

  /** Reason why a session below these may not start a run. */
  childRefusal(name: string, above: readonly SessionRecord[]): HoldfastError | undefined {
    const found = this.#spentAbove(above);
    return found && refusalOf(name, found.record.name, found.use);
  }

  /** Reason why the session may start no further turn; null if it may. */
  usedUp(record: SessionRecord): string | null {
    const spent = record.budget && this.#spent(record, record.budget);
    if (spent) return `its budget is used up: ${reachedText(spent)}`;
    const above = this.#spentAbove(this.#rooms.sessions.ancestors(record.id));
    return above ? `the budget of ${above.record.name} is used up: ${reachedText(above.use)}` : null;
  }

  /** A warning to add to the next message to a terminal agent, once. It is not typed alone, because that would be a turn. */
  nearWords(record: SessionRecord): { words: string; since: number } | null {
    const near = record.kind === "conversation" || !record.budget ? [] : this.#uses(record, record.budget).filter(isNear);
    const warned = near.length === 0 ? undefined : this.#rooms.journal.lastOf("budget.warned", record.id);
    return warned ? { words: nearNote(near.map((use) => nearText({ ...use, used: use.used ?? 0 })).join(", ")), since: warned.seq } : null;
  }

  #spentAbove(above: readonly SessionRecord[]): { record: SessionRecord; use: Use & { used: number } } | undefined {
    for (const record of above) {
      const use = record.budget && this.#spent(record, sharedOf(record.budget));
      if (use) return { record, use };
    }
    return undefined;
  }

  #spent(record: SessionRecord, budget: Budget): (Use & { used: number }) | undefined {
    return this.#uses(record, budget).find((use): use is Use & { used: number } => use.used !== null && use.used >= use.allowed);
  }

  async #follow(from: number): Promise<void> {
    const { journal } = this.#rooms;
    const { signal } = this.#ending;
    for (let seq = from; ; ) {
      await journal.changed(seq, signal);
      if (signal.aborted) return;
      const end = journal.cursor.seq;
      const events = journal.readAfter(seq, BATCH, { types: FOLLOWED });
      for (const id of new Set(events.flatMap(({ session }) => (session === null ? [] : [session])))) this.#checkAbove(id);
      if (events.length > 0) this.#arm();
      seq = events.length === BATCH ? (events.at(-1)?.seq ?? end) : end;
    }
  }

  /** Checks the session and all its ancestors. */
  #checkAbove(session: SessionId): void {
    const { sessions } = this.#rooms;
    const record = sessions.get(session);
    if (!record) return;
    for (const each of [record, ...sessions.ancestors(session)]) if (each.budget) this.#check(each);
  }

  #uses(record: SessionRecord, budget: Budget): Use[] {
    return usesOf(budget, {
      turns: record.turns,
      spent: this.#rooms.spent(record.id),
      withChildren: Object.keys(sharedOf(budget)).length === 0 ? null : this.#withChildren(record.id),
      ranMs: this.#ranMs(record),
    });
  }

  #withChildren(id: SessionId): Session["spent"] {
    return this.#rooms.withChildren(this.#rooms.sessions.descendants(id));
  }

  /** Total time of all its runs, idle or not. */
  #ranMs(record: SessionRecord): number {
    return this.#rooms.sessions.formerRunsMs(record.id, record.run) + (durationOf(record, Date.now()) ?? 0);
  }

  #check(record: SessionRecord): void {
    const { journal } = this.#rooms;
    const uses = this.#uses(record, record.budget ?? {});
    const about = { actor: DAEMON, session: record.id };
    const reached = uses.find((use) => isReached(use, record));
    if (reached) {
      // On a full disk the journal owes the event; it is noted only once.
      const isTold = record.budgetExceeded !== null || journal.owes(record.id, "budget.exceeded");
      if (!isTold) journal.note({ ...about, type: "budget.exceeded", data: factOf(record, reached) });
      if (isThere(record)) void this.#end(record, reached);
      if (SHARED.has(reached.limit)) this.#endBelow(record, reached);
      return;
    }
    const untold = uses.filter((use) => isNear(use) && !record.budgetWarned.includes(use.limit));
    if (untold.length === 0 || journal.owes(record.id, "budget.warned")) return;
    for (const use of untold) journal.note({ ...about, type: "budget.warned", data: factOf(record, use) });
    this.#tellNear(record, untold);
  }

  /** Any further usage of these sessions would exceed the limit. */
  #endBelow(above: SessionRecord, reached: Use): void {
    const { journal, sessions } = this.#rooms;
    for (const record of sessions.tree(above.id).filter((each) => each.id !== above.id && isThere(each))) {
      const data = { ...factOf(record, reached), of: { session: above.id, name: above.name } };
      const isTold = record.budgetExceeded !== null || journal.owes(record.id, "budget.exceeded");
      if (!isTold) journal.note({ actor: DAEMON, session: record.id, type: "budget.exceeded", data });
      void this.#end(record, reached, above);
    }
  }

  /** Writes the warning into the conversation, for people and for the agent. */
  #tellNear(record: SessionRecord, near = this.#uses(record, record.budget ?? {}).filter(isNear)): void {
    if (!isThere(record)) return;
    for (const use of near) {
      const told = nearText({ ...use, used: use.used ?? 0 });
      void this.#tell(record, { key: `near ${use.limit} ${use.allowed}`, text: `budget: ${told}`, words: nearNote(told) });
    }
  }

  async #tell(record: SessionRecord, note: { key: string; text: string; words: string | null }): Promise<void> {
    try {
      await this.#rooms.tell(record, note);
    } catch (error) {
      log(`session ${record.id}: its conversation does not say "${note.text}": ${describe(error)}`);
    }
  }

  async #end(record: SessionRecord, reached: Use, above?: SessionRecord): Promise<void> {
    const { id, stopRequested } = record;
    if (this.#stopping.has(id) || stopRequested) return;
    this.#stopping.add(id);
    const whose = above ? ` of ${above.name}` : "";
    const text = `budget${whose}: ${reachedText({ ...reached, used: reached.used ?? 0 })}`;
    try {
      await this.#tell(record, { key: `reached ${reached.limit} ${reached.allowed}${whose}`, text, words: null });
      if (isWorking(record)) await this.#interrupt(record);
      await this.#rooms.stop(id, { graceMs: STOP_GRACE_MS, actor: DAEMON });
    } catch (error) {
      // The session may have ended meanwhile.
      if (HoldfastError.from(error).code !== "session_ended") log(`session ${id}: not stopped at its limit: ${describe(error)}`);
    } finally {
      this.#stopping.delete(id);
      this.#arm();
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

  #arm(): void {
    clearTimeout(this.#timer);
    const live = this.#rooms.sessions.budgeted().filter(({ status, id }) => !hasEnded(status) && !this.#stopping.has(id));
    const marks = live.map((record) => this.#minuteMark(record));
    const spends = this.#spenders().length > 0 ? (this.#rooms.lookMs ?? LOOK_MS) : Number.POSITIVE_INFINITY;
    const next = Math.min(...marks, spends);
    if (next === Number.POSITIVE_INFINITY || this.#ending.signal.aborted) return;
    this.#timer = setTimeout(() => void this.#look(), Math.min(next + BEYOND_MS, LONGEST_MS)).unref();
  }

  /** Milliseconds to the next mark; 0 if one was passed: on a busy machine its timer can be late and be replaced before it fires. */
  #minuteMark(record: SessionRecord): number {
    const { journal, lookMs = LOOK_MS } = this.#rooms;
    const use = this.#uses(record, record.budget ?? {}).find(({ limit }) => limit === "minutes");
    if (!use) return Number.POSITIVE_INFINITY;
    if (isReached(use, record)) return record.budgetExceeded === null && !journal.owes(record.id, "budget.exceeded") ? 0 : lookMs;
    const isWarned = record.budgetWarned.includes("minutes") || journal.owes(record.id, "budget.warned");
    return isNear(use) && !isWarned ? 0 : nextMinuteMark(use, (use.used ?? 0) * 60_000);
  }

  /** Working sessions whose tokens or cost count toward a limit, their own or an ancestor's. */
  #spenders(): SessionRecord[] {
    const { sessions } = this.#rooms;
    const limited = sessions.budgeted().filter(({ budget }) => Object.keys(sharedOf(budget ?? {})).length > 0);
    const all = new Map(limited.flatMap(({ id }) => sessions.tree(id)).map((record) => [record.id, record]));
    return [...all.values()].filter((record) => isWorking(record) && !this.#stopping.has(record.id));
  }

  async #look(): Promise<void> {
    const { sessions, read } = this.#rooms;
    const live = sessions.budgeted();
    await Promise.all(this.#spenders().map(({ id }) => read(id)));
    for (const { id } of live) {
      const record = sessions.get(id);
      if (record?.budget) this.#check(record);
    }
    this.#arm();
  }
}

function nearNote(told: string): string {
  return `[Holdfast: ${told}. At the limit this session is stopped. Finish the most important work, and say what is left.]`;
}

function isThere({ status, restartAt }: SessionRecord): boolean {
  return !hasEnded(status) || restartAt !== null;
}

/** The limits that sessions share with their ancestors. */
function sharedOf({ tokens, cost }: Budget): Budget {
  return { ...(tokens === undefined ? {} : { tokens }), ...(cost === undefined ? {} : { cost }) };
}

function refusalOf(name: string, whose: string, spent: Use & { used: number }): HoldfastError {
  const what = name === whose ? `${name} has used up its budget` : `${name} cannot start: the budget of ${whose} is used up`;
  const more = `holdfast resume ${whose} --budget ${spent.limit}=${moreText(spent)}`;
  return new HoldfastError("budget_spent", `${what}: ${reachedText(spent)}`, {
    hint: `raise the limit: ${more}; or remove it: --budget ${spent.limit}=off`,
  });
}

function roundedOr(amount: number | null): number | null {
  return amount === null ? null : rounded(amount);
}

function factOf({ run }: SessionRecord, { limit, allowed, used }: Use): EventData<"budget.exceeded"> {
  return { run: run as EventData<"budget.exceeded">["run"], limit, allowed, used: rounded(used ?? 0) };
}

function rounded(amount: number): number {
  return Math.round(amount * 1e6) / 1e6;
}
