/** Usage reports: sums of recorded facts at current prices. A new price list also changes past costs. */
import type { Session, SessionId, Spent, Sums, UsageBy, UsageReport, UsageRow } from "@holdfast/contract";
import type { UsageFact, UsageQueries } from "../projection/usage.ts";
import type { Prices } from "./prices.ts";
import { plus, Sum } from "./sum.ts";

/** Usage of running turns, which is recorded only when they end. */
export interface RunningTurns {
  usedBy(session: SessionId): UsageFact | null;
  all(): UsageFact[];
}

const NONE: RunningTurns = { usedBy: () => null, all: () => [] };

/** Limits the cache, which would otherwise keep long-removed sessions. */
const MOST_KNOWN = 1000;
/** Sessions whose sum is kept for adding; the sums of others are recomputed. */
const MOST_GROWING = 50;

export class Spending {
  readonly #queries: UsageQueries;
  readonly #prices: Prices;
  /** The sum of each session, as of its newest fact. */
  readonly #known = new Map<SessionId, { seq: number; spent: Spent }>();
  /** Sums of recently active sessions: new facts are added without reading the old ones again. */
  readonly #growing = new Map<SessionId, Sum>();

  /** Usage of removed sessions, by the session that it counts toward. */
  readonly #inherited = new Map<SessionId, { seq: number; spent: Spent | null }>();
  #running = NONE;

  constructor(options: { queries: UsageQueries; prices: Prices }) {
    this.#queries = options.queries;
    this.#prices = options.prices;
  }

  countWith(running: RunningTurns): void {
    this.#running = running;
  }

  /** Usage of all its runs, including the running turn; null if nothing was reported. */
  of(session: SessionId): Session["spent"] {
    const now = this.#running.usedBy(session);
    const recorded = this.#recorded(session);
    return now ? plus(recorded, this.#sum([now]).spent) : recorded;
  }

  /** Usage of the first session and its descendants, including removed ones; null if only the first used anything. */
  withChildren([own, ...children]: readonly SessionId[]): Session["spent"] {
    if (own === undefined) return null;
    const theirs = children.reduce<Session["spent"]>((sum, child) => plus(sum, plus(this.of(child), this.#removedOf(child))), null);
    const all = plus(theirs, this.#removedOf(own));
    const mine = this.of(own);
    return all && { ...(plus(all, mine) as Spent), context: mine?.context ?? null };
  }

  #removedOf(session: SessionId): Spent | null {
    const seq = this.#queries.lastInherited(session);
    if (seq === 0) return null;
    const known = this.#inherited.get(session);
    if (known?.seq === seq) return known.spent;
    const { spent } = this.#sum(this.#queries.facts({ heirs: [session] }));
    if (this.#inherited.size >= MOST_KNOWN) this.#inherited.clear();
    this.#inherited.set(session, { seq, spent });
    return spent;
  }

  #recorded(session: SessionId): Session["spent"] {
    const seq = this.#queries.lastSeq(session);
    if (seq === 0) return null;
    const known = this.#known.get(session);
    if (known?.seq === seq) return known.spent;
    const sum = known && this.#growing.get(session);
    const { spent } = this.#grow(session, sum ? this.#sum(this.#queries.facts({ session, after: known.seq }), sum) : undefined);
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(session, { seq, spent });
    return spent;
  }

  total(sessions: readonly SessionId[]): Sums {
    const running = sessions.flatMap((session) => this.#running.usedBy(session) ?? []);
    return this.#sum([...this.#queries.facts({ within: sessions }), ...running]).sums;
  }

  /** Usage after a journal position; null if none. */
  since(session: SessionId, after: number): Session["spent"] {
    const facts = this.#queries.facts({ session, after });
    return facts.length === 0 ? null : this.#sum(facts).spent;
  }

  report(how: {
    by: UsageBy;
    since?: string | undefined;
    session?: SessionId;
    within?: readonly SessionId[] | undefined;
    timeZone: string;
  }): UsageReport {
    const { by, since = null, timeZone, ...filter } = how;
    const facts = [...this.#queries.facts({ ...filter, since: how.since }), ...this.#runningIn(how)];
    const keyOf = KEYS[by]({ day: daysIn(timeZone) });
    const rows = new Map<string | null, { label: string | null; sum: Sum }>();
    const total = new Sum();
    const unpriced = new Set<string | null>();
    for (const fact of facts) {
      const cost = this.#costOf(fact);
      if (cost === null && this.#prices.of(fact.model) === undefined) unpriced.add(fact.model);
      for (const { key, label } of [keyOf(fact)].flat()) {
        const { sum } = rows.get(key) ?? { sum: new Sum() };
        rows.set(key, { label, sum });
        sum.add(fact, cost);
      }
      total.add(fact, cost);
    }
    const summed = [...rows].map(([key, { label, sum }]): UsageRow => ({ key, label, ...sum.sums }));
    return {
      by,
      since,
      rows: by === "turn" ? summed : summed.sort(by === "day" ? byKey : bySize),
      total: total.sums,
      unpriced: [...unpriced],
    };
  }

  #runningIn({ since, session, within }: { since?: string | undefined; session?: SessionId; within?: readonly SessionId[] | undefined }) {
    return this.#running.all().filter((fact) => {
      if (session !== undefined && fact.session !== session) return false;
      return (since === undefined || fact.at >= since) && (within === undefined || within.includes(fact.session));
    });
  }

  #grow(session: SessionId, sum = this.#sum(this.#queries.facts({ session }))): Sum {
    this.#growing.delete(session);
    this.#growing.set(session, sum);
    const [oldest] = this.#growing.keys();
    if (this.#growing.size > MOST_GROWING && oldest !== undefined) this.#growing.delete(oldest);
    return sum;
  }

  #sum(facts: readonly UsageFact[], sum = new Sum()): Sum {
    for (const fact of facts) sum.add(fact, this.#costOf(fact));
    return sum;
  }

  /** The agent's own figure comes first: it includes discounts and surcharges for long prompts. */
  #costOf(fact: UsageFact): number | null {
    return fact.cost ?? this.#prices.cost(fact.model, fact);
  }
}

interface Key {
  key: string | null;
  label: string | null;
}

type KeyOf = (fact: UsageFact) => Key | Key[];

/** A session in several groups counts in the row of each group, but once in the total. */
const KEYS: Record<UsageBy, (of: { day: (at: string) => string }) => KeyOf> = {
  day:
    ({ day }) =>
    ({ at }) => ({ key: day(at), label: null }),
  agent:
    () =>
    ({ agent }) => ({ key: agent, label: null }),
  model:
    () =>
    ({ model }) => ({ key: model, label: null }),
  session:
    () =>
    ({ session, name }) => ({ key: session, label: name }),
  group:
    () =>
    ({ groups }) =>
      groups.length === 0 ? { key: null, label: null } : groups.map((path) => ({ key: path, label: null })),
  turn:
    () =>
    ({ session, run, turn, name }) => ({
      key: turn === null ? null : `${session}/${run}/${turn}`,
      label: turn === null ? null : `${name}, turn ${turn}`,
    }),
};

function byKey(a: UsageRow, b: UsageRow): number {
  return (a.key ?? "").localeCompare(b.key ?? "");
}

function bySize(a: UsageRow, b: UsageRow): number {
  return (b.cost ?? -1) - (a.cost ?? -1) || b.input + b.output + b.cacheWrite - (a.input + a.output + a.cacheWrite);
}

/** Local dates such as `2026-11-15`, cached by quarter of an hour: in every time zone a day begins on one. */
function daysIn(timeZone: string): (at: string) => string {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
  const known = new Map<number, string>();
  return (at) => {
    const quarter = Math.floor(Date.parse(at) / 900_000);
    const day = known.get(quarter) ?? format.format(quarter * 900_000);
    known.set(quarter, day);
    return day;
  };
}
