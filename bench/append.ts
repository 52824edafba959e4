import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { type HoldfastEvent, newSessionId, Principal } from "@holdfast/contract";
import { openDatabase, transaction } from "@holdfast/daemon/journal/database";
import { type Draft, Journal } from "@holdfast/daemon/journal/journal";
import { sessionsProjection } from "@holdfast/daemon/projection/sessions";
import { type Benchmark, compared, inTurns } from "./harness.ts";

const ACTOR = Principal.parse("user:bench");
const SESSION = newSessionId();

export const append: Benchmark = {
  name: "event-append",
  measures: "Rate of events appended to the journal one by one, each in its own transaction.",
  baseline: "the same rows inserted by node:sqlite alone, in a database with the same schema, one per transaction",
  budget: "≥ 0.5×",
  async run(scale) {
    using work = workspace();
    const count = scale.samples(20_000);
    const journal = new Journal({ db: work.ours, projections: [sessionsProjection], machineName: "bench" });
    journal.append(created());
    const rows = sample(journal);
    const kept = await inTurns(scale.rounds(10), {
      journal: () => perSecond(count, () => journal.append(gap())),
      sqlite: rawInserts(work.raw, rows.kept, count),
    });
    const projected = await inTurns(scale.rounds(10), {
      journal: () => perSecond(count, () => journal.append(renamed())),
      sqlite: rawInserts(work.raw, rows.projected, count),
    });
    const limit = { of: "ratio", atLeast: 0.5 } as const;
    return [
      compared({ what: "an event without a table change", unit: "per s", limit }, kept.journal, { name: "sqlite", values: kept.sqlite }),
      compared({ what: "an event with a table change", unit: "per s" }, projected.journal, {
        name: "sqlite",
        values: projected.sqlite,
      }),
    ];
  },
};

const gap = (): Draft => ({
  type: "recording.gap",
  actor: ACTOR,
  session: SESSION,
  data: { run: 1, offset: 123_456, bytes: null, why: "the recorder had ended" },
});

let names = 0;
const renamed = (): Draft => ({
  type: "session.renamed",
  actor: ACTOR,
  session: SESSION,
  data: { from: `name-${names}`, name: `name-${++names}` },
});

const created = (): Draft => ({
  type: "session.created",
  actor: ACTOR,
  session: SESSION,
  data: { name: "name-0", kind: "shell", agent: "shell", role: null, objective: null, host: "tmux", cwd: "/", command: ["sleep", "1"] },
});

function sample(journal: Journal): Record<"kept" | "projected", HoldfastEvent> {
  const [kept, projected] = journal.append(gap(), renamed());
  if (!kept || !projected) throw new Error("the journal did not answer with what it wrote");
  return { kept, projected };
}

function rawInserts(db: DatabaseSync, event: HoldfastEvent, count: number): () => number {
  const insert = db.prepare(
    "INSERT INTO events (seq, epoch, id, type, v, at, actor, session, machine, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const { epoch, id, type, v, at, actor, session, machine } = event;
  const data = JSON.stringify(event.data);
  let seq = Number(db.prepare("SELECT coalesce(max(seq), 0) AS seq FROM events").get()?.seq);
  return () => perSecond(count, () => transaction(db, () => insert.run(++seq, epoch, id, type, v, at, actor, session, machine, data)));
}

function perSecond(count: number, work: () => void): number {
  const began = performance.now();
  for (let i = 0; i < count; i++) work();
  return (count * 1000) / (performance.now() - began);
}

function workspace(): { ours: DatabaseSync; raw: DatabaseSync } & Disposable {
  const directory = mkdtempSync(path.join(tmpdir(), `hfb-${randomUUID().slice(0, 4)}-`));
  const ours = openDatabase(path.join(directory, "ours.db"));
  const raw = openDatabase(path.join(directory, "raw.db"));
  return {
    ours,
    raw,
    [Symbol.dispose]() {
      ours.close();
      raw.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
