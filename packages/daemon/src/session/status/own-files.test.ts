/** The status of an agent without hooks, from its own files and its screen. */
import { appendFileSync, mkdirSync, mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HostName, Principal, Screen, SessionId } from "@holdfast/contract";
import { type Home, openHome, runDirectory } from "@holdfast/platform";
import { expect, test, vi } from "vitest";
import { DAEMON } from "../../access/principal.ts";
import { Profiles } from "../../agent/profiles/index.ts";
import type { Host } from "../../host/host.ts";
import { openDatabase } from "../../journal/database.ts";
import { Journal } from "../../journal/journal.ts";
import { SessionQueries, type SessionRecord } from "../../projection/session-queries.ts";
import { sessionsProjection } from "../../projection/sessions.ts";
import { turnsProjection } from "../../projection/turns.ts";
import { type Spec, writeSessionFiles } from "../run/run-files.ts";
import { AgentStatus } from "./agent-status.ts";

const SESSION = "aaaaaaaaaa" as SessionId;
const RUN = { session: SESSION, run: 1 };
const CONVERSATION = "a99ba8dd-a9fc-47f5-981c-003630ba2799";

const IDLE = ["› Ask Codex to do anything", "", "  scripted default · /code"];
const ASKS = [
  "  Would you like to run the following command?",
  "",
  "  $ touch made.txt",
  "",
  "› 1. Yes, proceed (y)",
  "  2. No, and tell Codex what to do differently (esc)",
  "",
  "  Press enter to confirm or esc to cancel",
];

/** An adopted Codex and the daemons that follow it, one after the other. */
class World implements Disposable {
  readonly #directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  readonly #home: Home = openHome({ HOLDFAST_HOME: join(this.#directory.path, "holdfast") });
  readonly #db = openDatabase(":memory:");
  readonly #journal = new Journal({ db: this.#db, projections: [sessionsProjection, turnsProjection], machineName: "box" });
  readonly #queries = new SessionQueries(this.#db);
  readonly #file: string;
  #status: AgentStatus | undefined;
  shows = IDLE;

  /** `ageMs`: the session was adopted so long ago. */
  constructor(ageMs = 0) {
    const codexHome = join(this.#directory.path, "codex");
    const day = join(codexHome, "sessions/2026/01/01");
    mkdirSync(day, { recursive: true });
    this.#file = join(day, `rollout-2026-01-01T00-00-00-${CONVERSATION}.jsonl`);
    mkdirSync(runDirectory(this.#home, SESSION, 1), { recursive: true });
    const about = { name: "fix", kind: "terminal", agent: "codex", role: null, objective: null, host: "foreign", cwd: "/code" } as const;
    const data = { ...about, command: ["codex"], conversation: CONVERSATION };
    writeSessionFiles(this.#home, { v: 1, id: SESSION, ...data } as unknown as Spec, { CODEX_HOME: codexHome });
    this.#journal.append(
      { type: "session.created", actor: "user:tester" as Principal, session: SESSION, data },
      // It ran for a minute before it was adopted.
      {
        type: "session.started",
        actor: DAEMON,
        session: SESSION,
        data: { run: 1, pid: 7, pidStart: "x", outputPath: "/out", startedAt: new Date(Date.now() - ageMs - 60_000).toISOString() },
      },
    );
    this.#db.prepare("UPDATE sessions SET created_at = ?").run(new Date(Date.now() - ageMs).toISOString());
  }

  get record(): SessionRecord {
    return this.#queries.get(SESSION) as SessionRecord;
  }

  /** Starts a daemon in place of the last one. */
  begin(): void {
    this.kill();
    const host = { screen: async () => ({ lines: this.shows, title: "", ansi: this.shows.join("\n") }) as Screen };
    this.#status = new AgentStatus({
      home: this.#home,
      journal: this.#journal,
      queries: this.#queries,
      hosts: new Map<HostName, Host>([["foreign", host as unknown as Host]]),
      profiles: new Profiles(),
    });
    this.#status.began(RUN);
  }

  kill(): void {
    this.#status?.[Symbol.dispose]();
  }

  /** The agent draws something. */
  draws(lines: string[]): void {
    this.shows = lines;
    this.#status?.wrote(RUN);
  }

  /** A turn in the agent's files, from a time after its adoption. */
  asked(turn: string, afterMs: number): void {
    const item = { type: "UserMessage", id: `of ${turn}`, content: [{ type: "text", text: turn }] };
    this.#write({ type: "task_started", turn_id: turn }, afterMs);
    this.#write({ type: "item_completed", turn_id: turn, item }, afterMs + 1);
  }

  answered(turn: string, afterMs: number): void {
    this.#write({ type: "task_complete", turn_id: turn, last_agent_message: "done" }, afterMs);
  }

  #write(payload: object, afterMs: number): void {
    appendFileSync(this.#file, `${JSON.stringify({ timestamp: this.#time(afterMs), type: "event_msg", payload })}\n`);
  }

  #time(afterMs: number): string {
    return new Date(Date.parse(this.record.createdAt) + afterMs).toISOString();
  }

  [Symbol.dispose](): void {
    this.kill();
    this.#db.close();
    this.#directory.remove();
  }
}

async function becomes(world: World, what: Partial<Pick<SessionRecord, "status" | "turns">>): Promise<void> {
  await vi.waitFor(() => expect(world.record).toMatchObject(what), { timeout: 10_000, interval: 10 });
}

test("a turn that was over before its file was first read counts once, over restarts of the daemon (truth 12)", async () => {
  using world = new World(10_000);
  world.asked("before its adoption", -30_000);
  world.answered("before its adoption", -29_000);
  world.asked("one", 10);
  world.answered("one", 20);
  world.begin();
  await becomes(world, { status: "idle", turns: 1 });
  world.kill();
  // Without a daemon.
  world.asked("two", 9000);
  world.answered("two", 9500);
  world.begin();
  await becomes(world, { status: "idle", turns: 2 });
  world.begin();
  world.asked("three", Date.now() - Date.parse(world.record.createdAt));
  await becomes(world, { status: "working", turns: 3 });
});

test("a turn that has ended waits for no approval, whatever the last screen showed (truth 12)", async () => {
  using world = new World();
  world.begin();
  await becomes(world, { status: "idle" });
  world.asked("one", 1000);
  await becomes(world, { status: "working", turns: 1 });
  world.draws(ASKS);
  await becomes(world, { status: "waiting" });
  // The answer was given in the terminal. No output follows, so nobody looks at the screen.
  world.answered("one", Date.now() - Date.parse(world.record.createdAt) + 1000);
  await becomes(world, { status: "idle", turns: 1 });
  expect(world.record.standing?.attention).toBeNull();
});

test("a screen that rests corrects a turn whose end is in no file, without further output (truth 12)", async () => {
  using world = new World();
  world.begin();
  await becomes(world, { status: "idle" });
  world.asked("one", Date.now() - Date.parse(world.record.createdAt));
  await becomes(world, { status: "working", turns: 1 });
  world.draws(ASKS);
  await becomes(world, { status: "waiting" });
  world.draws(IDLE);
  await becomes(world, { status: "idle", turns: 1 });
});
