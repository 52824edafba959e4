import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { newSessionId, Principal } from "@holdfast/contract";
import { Backups } from "@holdfast/daemon/journal/backups";
import { conditionOf } from "@holdfast/daemon/journal/condition";
import { openDatabase } from "@holdfast/daemon/journal/database";
import { type Draft, Journal } from "@holdfast/daemon/journal/journal";
import { MIGRATIONS } from "@holdfast/daemon/journal/migrations";
import { sessionsProjection } from "@holdfast/daemon/projection/sessions";
import { type Home, openHome } from "@holdfast/platform";
import { type Benchmark, quantile, type Row, spread } from "./harness.ts";

const ACTOR = Principal.parse("user:bench");
const SESSIONS = Array.from({ length: 200 }, newSessionId);
const PER_MS = 1;

export const backup: Benchmark = {
  name: "backup-500",
  measures:
    "A verified backup of a 500 MB journal while 1,000 events a second are appended, each in a transaction of its own; the longest append of each round. And what the look at the database costs a start.",
  baseline: "the same appends for as long, without a backup",
  budget: "no append over 50 ms",
  async run(scale): Promise<Row[]> {
    using home = grownHome(scale.quick ? 100 : 500);
    const db = openDatabase(home.home.database);
    const journal = new Journal({ db, projections: [sessionsProjection], machineName: "bench" });
    const backups = new Backups({ home: home.home });
    backups.spare(db);
    const during: number[][] = [];
    const alone: number[][] = [];
    const took: number[] = [];
    for (let round = 0; round < scale.rounds(5); round++) {
      const began = performance.now();
      during.push(await appendsWhile(journal, backups.create("asked")));
      took.push(performance.now() - began);
      alone.push(await appendsWhile(journal, delay(took.at(-1) ?? 1000)));
    }
    db.close();
    const megabytes = Math.round(statSync(home.home.database).size / 1e6);
    return [
      row(`longest append during a backup of ${megabytes} MB`, during, alone, Math.max, { of: "subject", atMost: 50 }),
      row("p99 of appends", during, alone, (...times) => quantile(times, 0.99)),
      { what: "the backup", unit: "ms", subject: spread(took) },
      { what: `the look at a start, ${megabytes} MB`, unit: "ms", subject: spread(looks(home.home, scale.rounds(5), false)) },
      { what: "the same when in doubt: every page and value", unit: "ms", subject: spread(looks(home.home, scale.rounds(3), true)) },
    ];
  },
};

function row(
  what: string,
  during: readonly number[][],
  alone: readonly number[][],
  of: (...times: number[]) => number,
  limit?: Row["limit"],
): Row {
  const worst = (rounds: readonly number[][]) => rounds.map((times) => times.reduce((most, time) => of(most, time), 0));
  const values = (rounds: readonly number[][]) => (of === Math.max ? worst(rounds) : rounds.map((times) => of(...times)));
  return {
    what,
    unit: "ms",
    subject: spread(values(during)),
    baseline: { name: "no backup", ...spread(values(alone)) },
    ...(limit ? { limit } : {}),
  };
}

/** As many as are due by the clock; an append that comes late because the loop was held up is not made shorter by it. */
async function appendsWhile(journal: Journal, work: Promise<unknown>): Promise<number[]> {
  let done = false;
  const finished = work.finally(() => {
    done = true;
  });
  const times: number[] = [];
  const began = performance.now();
  while (!done) {
    const due = Math.floor((performance.now() - began) * PER_MS);
    while (times.length < due) {
      const before = performance.now();
      journal.append(gap());
      times.push(performance.now() - before);
    }
    await delay(1);
  }
  await finished;
  return times;
}

let count = 0;
function gap(): Draft {
  const session = SESSIONS[++count % SESSIONS.length] as (typeof SESSIONS)[number];
  return { type: "recording.gap", actor: ACTOR, session, data: { run: 1, offset: count, bytes: null, why: "x".repeat(250) } };
}

function looks(home: Home, rounds: number, doubted: boolean): number[] {
  return Array.from({ length: rounds }, () => {
    const began = performance.now();
    const { state } = conditionOf(home, { doubted, known: MIGRATIONS.length, canRebuild: () => false });
    if (state === "new") throw new Error("the journal is not where it should be");
    return performance.now() - began;
  });
}

function grownHome(megabytes: number): { home: Home } & Disposable {
  const directory = mkdtempSync(path.join(tmpdir(), "hfb-"));
  const home = openHome({ HOLDFAST_HOME: path.join(directory, "home") });
  mkdirSync(home.sessions, { recursive: true });
  const db = openDatabase(home.database);
  const journal = new Journal({ db, projections: [], machineName: "bench" });
  while (statSync(home.database).size < megabytes * 1e6) journal.append(...Array.from({ length: 5000 }, gap));
  db.close();
  return { home, [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) };
}
