import { appendFileSync, existsSync, mkdirSync, mkdtempDisposableSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { AnyEvent, HostName, Principal, SessionId } from "@holdfast/contract";
import { type Home, openHome, runDirectory } from "@holdfast/platform";
import { expect, onTestFinished, test, vi } from "vitest";
import type { Host, LiveRun, RecorderEnd, RunId } from "../../host/host.ts";
import { openDatabase } from "../../journal/database.ts";
import { Journal } from "../../journal/journal.ts";
import { Reserve } from "../../journal/reserve.ts";
import { SessionQueries } from "../../projection/session-queries.ts";
import { sessionsProjection } from "../../projection/sessions.ts";
import { Lifecycle } from "./lifecycle.ts";

const ID = "aaaaaaaaaa" as SessionId;
const RUN = { session: ID, run: 1 };

/** A keeper scripted by the test, for what real ones do only when everything goes wrong. */
class ScriptedHost {
  readonly name = "tmux";
  kept: LiveRun[] | Error = [];
  removed: RunId[] = [];
  reopened: string[] = [];
  recorder: RecorderEnd | undefined;
  removal: () => Promise<void> = async () => {};
  lost: () => void = () => {};

  async list(): Promise<LiveRun[]> {
    if (this.kept instanceof Error) throw this.kept;
    return this.kept;
  }

  async remove(run: RunId): Promise<void> {
    this.removed.push(run);
    await this.removal();
  }

  async recorderEnd(): Promise<RecorderEnd | undefined> {
    return this.recorder;
  }

  async reopenRecording(_run: RunId, prefix: string): Promise<boolean> {
    this.reopened.push(prefix);
    return true;
  }

  onLost(listener: () => void): void {
    this.lost = listener;
  }
}

class Bench {
  readonly home: Home;
  readonly journal: Journal;
  readonly queries: SessionQueries;
  readonly host = new ScriptedHost();
  readonly lifecycle: Lifecycle;
  readonly log = vi.spyOn(process.stderr, "write").mockReturnValue(true);

  constructor() {
    const directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
    this.home = openHome({ HOLDFAST_HOME: join(directory.path, "home") });
    const db = openDatabase(":memory:");
    this.journal = new Journal({ db, projections: [sessionsProjection], machineName: "box" });
    this.queries = new SessionQueries(db);
    const reserve = new Reserve(join(directory.path, "reserve"));
    const hosts = new Map<HostName, Host>([["tmux", this.host as unknown as Host]]);
    this.lifecycle = new Lifecycle({ home: this.home, journal: this.journal, queries: this.queries, reserve, hosts });
    onTestFinished(() => {
      this.lifecycle[Symbol.dispose]();
      this.log.mockRestore();
      directory.remove();
    });
  }

  directory(session = ID): string {
    return runDirectory(this.home, session, 1);
  }

  create(session = ID): void {
    mkdirSync(this.directory(session), { recursive: true });
    const actor = "user:tester" as Principal;
    const data = {
      name: session,
      kind: "shell",
      agent: "shell",
      role: null,
      objective: null,
      host: "tmux",
      cwd: "/",
      command: ["sh"],
    } as const;
    this.journal.append({ type: "session.created", actor, session, data: { ...data, command: ["sh"] } });
  }

  /** Starts a run that its keeper keeps. */
  async start(session = ID): Promise<void> {
    this.create(session);
    await this.lifecycle.starting({ session, run: 1 }, async () => ({ pid: process.pid }));
    this.keep([...(this.host.kept as LiveRun[]), { session, run: 1, pid: process.pid, dead: false, exit: null, recording: true }]);
  }

  keep(kept: LiveRun[]): void {
    this.host.kept = kept;
  }

  say(text: string): void {
    appendFileSync(join(this.directory(), "output.000000"), text);
  }

  exit(session = ID): void {
    writeFileSync(join(this.directory(session), "exit.json"), '{"status":"3","signal":""}');
  }

  events(type: string): AnyEvent[] {
    return this.journal.readAfter(0, 1000, { types: [type] });
  }

  status(): string | undefined {
    return this.queries.get(ID)?.status;
  }
}

test("the end is recorded once, however many notice it, with every byte counted", async () => {
  const bench = new Bench();
  await bench.start();
  // Removing the keeper completes the recording.
  bench.host.removal = async () => {
    await delay(20);
    bench.say("last words");
  };
  bench.exit();
  await Promise.all([bench.lifecycle.reconcile(), bench.lifecycle.reconcile(), bench.lifecycle.ended(ID, 3000)]);
  expect(bench.events("session.ended")).toMatchObject([{ data: { cause: "exited", exit: { code: 3, signal: null }, bytes: 10 } }]);
  expect(bench.host.removed).toEqual([RUN]);
  expect(bench.lifecycle.watchOf(RUN)).toBeUndefined();
});

test("a host that cannot answer changes nothing; one that answers without the run has lost it", async () => {
  const bench = new Bench();
  await bench.start();
  bench.host.kept = new Error("no answer");
  await bench.lifecycle.reconcile();
  expect(bench.status()).toBe("working");
  bench.keep([]);
  await bench.lifecycle.reconcile();
  expect(bench.events("session.ended")).toMatchObject([{ data: { cause: "lost", exit: null } }]);
  expect(bench.status()).toBe("lost");
});

test("a vanished keeper causes a check at once", async () => {
  const bench = new Bench();
  await bench.lifecycle.begin();
  await bench.start();
  bench.keep([]);
  bench.host.lost();
  expect(await bench.lifecycle.ended(ID, 2000)).toBe(true);
  expect(bench.status()).toBe("lost");
});

test("a starting run is not compared with what its host keeps", async () => {
  const bench = new Bench();
  bench.create();
  const started = Promise.withResolvers<{ pid: number }>();
  const starting = bench.lifecycle.starting(RUN, () => started.promise);
  await bench.lifecycle.reconcile();
  expect(bench.status()).toBe("starting");
  started.resolve({ pid: process.pid });
  await starting;
  expect(bench.status()).toBe("working");
});

test.each([
  ["runs", true, "working"],
  ["does not run", false, "failed"],
])("a start that a crash interrupted is settled: the program %s", async (_, runs, status) => {
  const bench = new Bench();
  bench.create();
  if (runs) bench.keep([{ ...RUN, pid: process.pid, dead: false, exit: null, recording: true }]);
  await bench.lifecycle.begin();
  expect(bench.status()).toBe(status);
});

test("a run that cannot be watched still runs, and the next sweep sees its end", async () => {
  const bench = new Bench();
  bench.create();
  rmSync(bench.directory(), { recursive: true });
  await bench.lifecycle.starting(RUN, async () => ({ pid: process.pid }));
  expect(bench.status()).toBe("working");
  bench.keep([{ ...RUN, pid: process.pid, dead: true, exit: { code: 0, signal: null }, recording: false }]);
  await bench.lifecycle.reconcile();
  expect(bench.status()).toBe("done");
  expect(bench.events("session.ended")).toMatchObject([{ data: { bytes: 0, lastActivityAt: null } }]);
});

test("a session whose files were deleted can still end", async () => {
  const bench = new Bench();
  await bench.start();
  bench.say("something");
  rmSync(bench.directory(), { recursive: true });
  bench.keep([]);
  await bench.lifecycle.reconcile();
  expect(bench.status()).toBe("lost");
});

test("runs that ended while no daemon ran are recorded concurrently", async () => {
  const bench = new Bench();
  const ids = Array.from({ length: 20 }, (_, i) => `aaaaaaaaa${"abcdefghijklmnopqrstuvwxyz"[i]}` as SessionId);
  for (const id of ids) {
    bench.create(id);
    bench.exit(id);
  }
  bench.keep(ids.map((session) => ({ session, run: 1, pid: 1, dead: true, exit: null, recording: true })));
  bench.host.removal = () => delay(500);
  const began = performance.now();
  await bench.lifecycle.begin();
  // One after the other would take ten seconds.
  expect(performance.now() - began).toBeLessThan(5000);
  expect(bench.events("session.ended")).toHaveLength(20);
});

test("a dead recorder is replaced; the gap is recorded once, and again only after more output", async () => {
  const bench = new Bench();
  await bench.start();
  bench.say("before");
  bench.keep([{ ...RUN, pid: process.pid, dead: false, exit: null, recording: false }]);
  for (let sweep = 0; sweep < 3; sweep++) await bench.lifecycle.reconcile();
  expect(bench.host.reopened).toEqual(["output-001.", "output-001.", "output-001."]);
  expect(bench.events("recording.gap")).toMatchObject([{ data: { run: 1, offset: 6 } }]);
  writeFileSync(join(bench.directory(), "output-001.000000"), "more");
  await bench.lifecycle.reconcile();
  expect(bench.events("recording.gap")).toMatchObject([{ data: { offset: 6 } }, { data: { offset: 10 } }]);
});

test("a recorder that ended before the run leaves a gap at the end of the recording, with its reason", async () => {
  const bench = new Bench();
  await bench.start();
  bench.say("before");
  bench.host.recorder = { why: "the disk was full", at: 1000 };
  bench.exit();
  await bench.lifecycle.reconcile();
  const gap = { offset: 6, bytes: null, why: "the disk was full" };
  expect(bench.events("recording.gap")).toMatchObject([{ data: { run: 1, ...gap, began: "1970-01-01T00:00:01.000Z" } }]);
  expect(bench.lifecycle.gapsOf(RUN)).toEqual([{ ...gap, at: 1000 }]);
  // Also if its line in the file is gone.
  rmSync(join(bench.directory(), "gaps"));
  expect(bench.lifecycle.gapsOf(RUN)).toEqual([{ ...gap, at: 1000 }]);
});

test("a keeper that cannot be removed is tried again by the next sweep", async () => {
  const bench = new Bench();
  await bench.start();
  bench.exit();
  bench.host.removal = () => Promise.reject(new Error("busy"));
  await bench.lifecycle.reconcile();
  expect(bench.status()).toBe("working");
  bench.host.removal = async () => {};
  await bench.lifecycle.reconcile();
  expect(bench.status()).toBe("failed");
  expect(existsSync(join(bench.directory(), "launch"))).toBe(false);
});

test("a program that began and ended while no daemon ran has its start, end and duration", async () => {
  const bench = new Bench();
  bench.create();
  writeFileSync(
    join(bench.directory(), "exit.json"),
    '{"status":"3","signal":"","uptime":"21.50","began":"20.25","pid":4711,"at":1700000000000}',
  );
  await bench.lifecycle.begin();
  const startedAt = new Date(1_700_000_000_000 - 1250).toISOString();
  expect(bench.events("session.started")).toMatchObject([{ data: { pid: 4711, startedAt } }]);
  expect(bench.events("session.ended")).toMatchObject([{ data: { cause: "exited", durationMs: 1250 } }]);
  expect(bench.queries.get(ID)).toMatchObject({ startedAt, durationMs: 1250 });
});
