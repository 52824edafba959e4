import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { backup as bareBackup, type DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { newSessionId, Principal } from "@holdfast/contract";
import { Backups } from "@holdfast/daemon/journal/backups";
import { conditionOf } from "@holdfast/daemon/journal/condition";
import { openDatabase } from "@holdfast/daemon/journal/database";
import { type Draft, Journal } from "@holdfast/daemon/journal/journal";
import { sessionsProjection } from "@holdfast/daemon/projection/sessions";
import { type Home, openHome } from "@holdfast/platform";
import { type Benchmark, quantile, type Row, spread } from "./harness.ts";

const ACTOR = Principal.parse("user:bench");
const SESSIONS = Array.from({ length: 200 }, newSessionId);
const PER_MS = 1;

export const backup: Benchmark = {
  name: "backup-500",
  measures:
    "A verified backup of a 500 MB journal while 1,000 events a second are appended, each in its own transaction. Measured are the longest append of each round, and its part that was not spent waiting for a processor. Also the cost of checking the database at a start.",
  baseline: "the same appends without a backup; and during a backup by node:sqlite on the appending connection",
  budget: "no append over 50 ms",
  async run(scale): Promise<Row[]> {
    using home = grownHome(scale.quick ? 100 : 500);
    const db = openDatabase(home.home.database);
    const journal = new Journal({ db, projections: [sessionsProjection], machineName: "bench" });
    const backups = new Backups({ home: home.home });
    backups.spare(db);
    const during: Appends[] = [];
    const alone: Appends[] = [];
    const bare: Appends[] = [];
    const took: number[] = [];
    for (let round = 0; round < scale.rounds(5); round++) {
      const began = performance.now();
      during.push(await appendsWhile(journal, backups.create("asked")));
      took.push(performance.now() - began);
      alone.push(await appendsWhile(journal, delay(took.at(-1) ?? 1000)));
      if (round < BARE_ROUNDS) bare.push(await appendsWhile(journal, bareCopy(db, `${home.home.database}.bare`)));
    }
    db.close();
    const megabytes = Math.round(statSync(home.home.database).size / 1e6);
    return [
      { ...row(`longest append during a backup of ${megabytes} MB`, during, alone, longest), limit: { of: "subject", atMost: 50 } },
      row("the longest, without waiting for a processor", during, alone, longestOwn),
      {
        ...row("the same", during, bare, longestOwn),
        baseline: { name: "node:sqlite's backup on the appending connection", ...spread(bare.map(longestOwn)) },
      },
      row("p99 of appends", during, alone, (appends) =>
        quantile(
          appends.map(({ ms }) => ms),
          0.99,
        ),
      ),
      { what: "the backup", unit: "ms", subject: spread(took) },
      { what: `the check at a start, ${megabytes} MB`, unit: "ms", subject: spread(looks(home.home, scale.rounds(5), false)) },
      { what: "the same when in doubt: every page and value", unit: "ms", subject: spread(looks(home.home, scale.rounds(3), true)) },
    ];
  },
};

/** Each backup blocks everything else, so two are enough. */
const BARE_ROUNDS = 2;

/** The time of each append, and the part of it that the thread waited for a CPU; 0 where the system does not report that. */
type Appends = { ms: number; queued: number }[];

const longest = (appends: Appends) => appends.reduce((most, { ms }) => Math.max(most, ms), 0);
const longestOwn = (appends: Appends) => appends.reduce((most, { ms, queued }) => Math.max(most, ms - queued), 0);

function row(what: string, during: readonly Appends[], alone: readonly Appends[], of: (appends: Appends) => number): Row {
  return { what, unit: "ms", subject: spread(during.map(of)), baseline: { name: "no backup", ...spread(alone.map(of)) } };
}

async function bareCopy(db: DatabaseSync, target: string): Promise<void> {
  await bareBackup(db, target, { rate: 1000 });
  rmSync(target);
}

/** Makes as many appends as are due by the clock: a blocked event loop delays appends but skips none. */
async function appendsWhile(journal: Journal, work: Promise<unknown>): Promise<Appends> {
  let done = false;
  const finished = work.finally(() => {
    done = true;
  });
  const times: Appends = [];
  const began = performance.now();
  while (!done) {
    const due = Math.floor((performance.now() - began) * PER_MS);
    while (times.length < due) {
      const queued = queuedMs();
      const before = performance.now();
      journal.append(gap());
      const ms = performance.now() - before;
      times.push({ ms, queued: Math.min(ms, queuedMs() - queued) });
    }
    await delay(1);
  }
  await finished;
  return times;
}

/** The time that the main thread has waited for a CPU. */
function queuedMs(): number {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}

let count = 0;
function gap(): Draft {
  const session = SESSIONS[++count % SESSIONS.length] as (typeof SESSIONS)[number];
  return { type: "recording.gap", actor: ACTOR, session, data: { run: 1, offset: count, bytes: null, why: "x".repeat(250) } };
}

function looks(home: Home, rounds: number, doubted: boolean): number[] {
  return Array.from({ length: rounds }, () => {
    const began = performance.now();
    const { state } = conditionOf(home, { doubted, canRebuild: () => false });
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
