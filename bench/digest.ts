import { mkdirSync } from "node:fs";
import { type Digest, newSessionId, Principal, type SessionId } from "@holdfast/contract";
import { openDatabase } from "@holdfast/daemon/journal/database";
import { type Draft, Journal } from "@holdfast/daemon/journal/journal";
import { looksProjection } from "@holdfast/daemon/projection/looks";
import { messagesProjection } from "@holdfast/daemon/projection/messages";
import { sessionsProjection } from "@holdfast/daemon/projection/sessions";
import { turnsProjection } from "@holdfast/daemon/projection/turns";
import { openHome } from "@holdfast/platform";
import { type Benchmark, compared, inTurns, type Row } from "./harness.ts";
import { BenchHome } from "./rig/home.ts";

/** The events of a turn: it starts, changes its status eight times, and ends with an answer. */
const TURNS = 1000;
const CHANGES = 8;
const EVENTS = TURNS * (CHANGES + 2);

export const digest: Benchmark = {
  name: "digest-10000",
  measures:
    "`digest` of a session with 10,000 events in a thousand turns, requested over one SDK connection: since its beginning, and since a look ten events ago.",
  baseline: "reading the same 10,000 events (`listEvents`); requesting the session, as `show` does",
  budget: "≤ 0.25× reading the events; since ten events ago ≤ 3× requesting the session",
  async run(scale): Promise<Row[]> {
    await using home = new BenchHome();
    const busy = fill(home, TURNS);
    await home.ok(["up"]);
    using client = home.client();
    const ask = (query: { since?: string }): Promise<Digest> => client.call("getDigest", { params: { ref: busy }, query });
    const { upTo, turns } = await ask({});
    if (turns.began !== TURNS) throw new Error(`${turns.began} turns of ${TURNS} are in the digest`);
    const begin = new Date(0).toISOString();
    await client.call("lookAtSession", { params: { ref: busy }, body: { upTo: upTo - 10 } });
    const times = await inTurns(scale.rounds(15), {
      all: () => timed(() => ask({ since: begin })),
      recent: () => timed(() => ask({})),
      events: () => timed(() => readAll(client, busy)),
      session: () => timed(() => client.call("getSession", { params: { ref: busy } })),
    });
    const { all, recent, events, session } = times;
    return [
      compared({ what: "since its beginning", unit: "ms", limit: { of: "ratio", atMost: 0.25 } }, all, {
        name: "all its events",
        values: events,
      }),
      compared({ what: "since ten events ago", unit: "ms", limit: { of: "ratio", atMost: 3 } }, recent, {
        name: "the session",
        values: session,
      }),
    ];
  },
};

async function readAll(client: ReturnType<BenchHome["client"]>, session: string): Promise<void> {
  let read = 0;
  for (let after: string | undefined; ; ) {
    const { events, cursor, more } = await client.call("listEvents", { query: { session, limit: "1000", ...(after ? { after } : {}) } });
    read += events.length;
    if (!more) break;
    after = cursor;
  }
  if (read < EVENTS) throw new Error(`${read} of ${EVENTS} events were read`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** The journal of a session that has worked for days. */
function fill(bench: BenchHome, turns: number): SessionId {
  const home = openHome(bench.env);
  mkdirSync(home.sessions, { recursive: true });
  const db = openDatabase(home.database);
  const projections = [sessionsProjection, messagesProjection, turnsProjection, looksProjection];
  const journal = new Journal({ db, projections, machineName: "bench" });
  const session = newSessionId();
  const about = { actor: Principal.parse("user:bench"), session };
  const spec = { name: "busy", kind: "terminal", agent: "demo", role: null, objective: null, host: "tmux", cwd: "/", command: ["x"] };
  journal.append({ ...about, type: "session.created", data: spec } as Draft);
  for (let turn = 1; turn <= turns; turn++) {
    const at = (second: number) => new Date(Date.UTC(2026, 10, 1) + turn * 60_000 + second * 1000).toISOString();
    const change = (second: number, status: string) =>
      ({ ...about, type: "session.status_changed", data: standing(at(second), status) }) as Draft;
    const drafts: Draft[] = [{ ...change(0, "working"), data: { ...standing(at(0), "working"), turnBegan: true } } as Draft];
    for (let i = 1; i < CHANGES; i++) drafts.push(change(i, i % 2 ? "waiting" : "working"));
    drafts.push(change(30, "idle"));
    const reply = "What was asked for is done; the tests are green. ".repeat(20);
    drafts.push({ ...about, type: "session.replied", data: { run: 1, turn, toldAt: at(30), reply, cut: false } });
    journal.append(...drafts);
  }
  const end = {
    run: 1,
    exit: { code: 0, signal: null },
    cause: "exited",
    endedAt: new Date().toISOString(),
    lastActivityAt: null,
    bytes: 0,
  } as const;
  journal.append({ ...about, type: "session.ended", data: end });
  db.close();
  return session;
}

/** As large as with three sources of evidence. */
function standing(since: string, status: string) {
  const turn = status === "idle" ? "idle" : "working";
  const attention = status === "waiting" ? { for: "approval", text: "Bash: npm test -- --run packages/parser", until: null } : null;
  const evidence = ["hook", "title", "screen"].map((source) => ({
    source,
    at: since,
    claim: { turn, attention },
    what: 'esc to interrupt: "thinking (3m 12s)"',
    settled: true,
  }));
  return { run: 1, status, since, sinceBoot: null, turn, attention, background: null, hung: false, turnBegan: false, evidence };
}
