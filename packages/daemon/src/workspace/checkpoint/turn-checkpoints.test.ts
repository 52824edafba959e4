import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  type Checkpoint,
  type EventData,
  newSessionId,
  newWorkspaceId,
  type Principal,
  type SessionId,
  type WorkspaceId,
} from "@holdfast/contract";
import { KeyedMutex } from "@holdfast/platform";
import { expect, test } from "vitest";
import { ScratchRepository } from "../../../test/scratch-repository.ts";
import { openDatabase } from "../../journal/database.ts";
import { Journal } from "../../journal/journal.ts";
import { SessionQueries } from "../../projection/session-queries.ts";
import { sessionsProjection } from "../../projection/sessions.ts";
import { WorkspaceQueries, workspacesProjection } from "../../projection/workspaces.ts";
import { listCheckpoints } from "./checkpoints.ts";
import { TurnCheckpoints } from "./turn-checkpoints.ts";
import { Checkpoints } from "./workspace-checkpoints.ts";

const ACTOR = "user:tester" as Principal;

/** One workspace with sessions that exist only in the journal, followed as in a daemon. */
class Scene implements Disposable {
  readonly repository = new ScratchRepository();
  readonly db = openDatabase(":memory:");
  readonly journal = new Journal({ db: this.db, projections: [sessionsProjection, workspacesProjection], machineName: "box" });
  readonly sessions = new SessionQueries(this.db);
  readonly workspaces = new WorkspaceQueries(this.db);
  readonly id: WorkspaceId;
  readonly tree: string;
  #turns: TurnCheckpoints | undefined;

  constructor() {
    this.id = this.create("one");
    this.tree = this.workspaces.get(this.id)?.path ?? "";
    this.begin();
  }

  create(name: string, kind: "worktree" | "plain" = "worktree"): WorkspaceId {
    const id = newWorkspaceId();
    const branch = `holdfast/${name}`;
    const git = { repo: this.repository.path, branch, ownBranch: true, base: "main", baseCommit: null };
    const spec = { id, name, kind, path: this.repository.worktree(name, branch), ...git, portBase: 4000, ports: 10, notes: [] };
    this.journal.append({ type: "workspace.created", actor: ACTOR, session: null, data: spec });
    return id;
  }

  begin(): void {
    const checkpoints = new Checkpoints({
      journal: this.journal,
      sessions: this.sessions,
      mutex: new KeyedMutex(),
      envOf: () => undefined,
    });
    this.#turns = new TurnCheckpoints({ journal: this.journal, sessions: this.sessions, workspaces: this.workspaces, checkpoints });
    this.#turns.begin();
  }

  end(): void {
    this.#turns?.[Symbol.dispose]();
  }

  session(name: string, workspace = this.id): SessionId {
    const session = newSessionId();
    const what = {
      name,
      kind: "terminal",
      agent: "demo",
      role: null,
      objective: null,
      host: "tmux",
      cwd: this.tree,
      command: ["x"],
    } as const;
    this.journal.append({
      type: "session.created",
      actor: ACTOR,
      session,
      data: { ...what, command: [...what.command], workspace },
    });
    return session;
  }

  turn(session: SessionId, turn: "working" | "idle" | null): void {
    const since = new Date().toISOString();
    const data: EventData<"session.status_changed"> = {
      run: 1,
      status: turn ?? "unknown",
      since,
      sinceBoot: null,
      turn,
      attention: null,
      background: null,
      hung: false,
      turnBegan: turn === "working",
      evidence: [],
    };
    this.journal.append({ type: "session.status_changed", actor: ACTOR, session, data });
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.tree, name), text);
  }

  list(): Promise<Checkpoint[]> {
    return listCheckpoints(this.repository.path, this.id);
  }

  /** Resolves when the condition holds. */
  async until(condition: (all: Checkpoint[]) => boolean): Promise<Checkpoint[]> {
    for (const deadline = performance.now() + 15_000; ; ) {
      const all = await this.list();
      if (condition(all)) return all;
      if (performance.now() > deadline) throw new Error(`it did not happen: ${condition}; there are ${JSON.stringify(all)}`);
      await delay(20);
    }
  }

  [Symbol.dispose](): void {
    this.end();
    this.repository[Symbol.dispose]();
  }
}

const last = (turn: number) => (all: Checkpoint[]) => all.at(-1)?.turn === turn;

test("turns that end faster than git works share one checkpoint, of the last turn, and each session's turns are counted separately", async () => {
  using scene = new Scene();
  const [ann, bob] = [scene.session("ann"), scene.session("bob")];
  scene.turn(ann, "idle");
  await scene.until((all) => all.length === 1);
  for (let turn = 1; turn <= 20; turn++) {
    scene.turn(ann, "working");
    scene.write("a.txt", `turn ${turn}\n`);
    scene.turn(ann, "idle");
  }
  const all = await scene.until(last(20));
  expect(all.length).toBeLessThan(6);
  expect(scene.repository.git("show", `${all.at(-1)?.commit}:a.txt`)).toBe("turn 20");
  scene.turn(bob, "working");
  scene.turn(bob, "idle");
  expect((await scene.until(last(1))).at(-1)).toMatchObject({ session: bob, why: "turn" });
});

test("a turn without an observed end is over when its agent is no longer known to work, or its session ends", async () => {
  using scene = new Scene();
  const ann = scene.session("ann");
  scene.turn(ann, "working");
  scene.turn(ann, null);
  await scene.until(last(1));
  scene.turn(ann, "working");
  const data = { run: 1, exit: { code: 0, signal: null }, cause: "exited", durationMs: 1, endedAt: new Date().toISOString() } as never;
  scene.journal.append({ type: "session.ended", actor: ACTOR, session: ann, data });
  await scene.until(last(2));
});

test("a new daemon makes a missing turn checkpoint and removes those of a removed session", async () => {
  using scene = new Scene();
  const [ann, bob] = [scene.session("ann"), scene.session("bob")];
  for (const session of [ann, bob]) {
    scene.turn(session, "working");
    scene.turn(session, "idle");
    await scene.until((all) => all.some((one) => one.session === session && one.turn === 1));
  }
  scene.end();
  scene.turn(bob, "working");
  scene.turn(bob, "idle");
  scene.journal.append({ type: "session.removed", actor: ACTOR, session: ann, data: { name: "ann" } });
  scene.begin();
  const all = await scene.until((now) => last(2)(now) && now.every(({ session }) => session !== ann));
  expect(all.map(({ session, turn }) => [session, turn])).toEqual([
    [bob, 1],
    [bob, 2],
  ]);
  scene.end();
  scene.begin();
  scene.turn(bob, "working");
  scene.turn(bob, "idle");
  expect((await scene.until(last(3))).map(({ turn }) => turn)).toEqual([1, 2, 3]);
});

test("removing a workspace removes its checkpoints, even without a daemon; checkpoints of unknown workspaces stay", async () => {
  using scene = new Scene();
  const stranger = `refs/holdfast/checkpoints/${newWorkspaceId()}/1`;
  scene.repository.git("update-ref", stranger, "HEAD");
  const ann = scene.session("ann");
  scene.turn(ann, "working");
  scene.turn(ann, "idle");
  await scene.until(last(1));
  scene.end();
  scene.journal.append({
    type: "workspace.removed",
    actor: ACTOR,
    session: null,
    data: { id: scene.id, name: "one", ref: null, why: "asked" },
  });
  scene.begin();
  await scene.until((all) => all.length === 0);
  expect(scene.repository.git("for-each-ref", "--format=%(refname)", "refs/holdfast")).toBe(stranger);
});

test("a missing workspace directory does not block other checkpoints, and a plain directory has none", async () => {
  using scene = new Scene();
  const gone = scene.create("gone");
  const plain = scene.create("plain", "plain");
  const [ann, bob, eve] = [scene.session("ann", gone), scene.session("bob", plain), scene.session("eve")];
  rmSync(scene.workspaces.get(gone)?.path ?? "", { recursive: true });
  for (const session of [ann, bob, eve]) {
    scene.turn(session, "working");
    scene.turn(session, "idle");
  }
  await scene.until(last(1));
  expect(await listCheckpoints(scene.repository.path, gone)).toEqual([]);
  expect(await listCheckpoints(scene.repository.path, plain)).toEqual([]);
});
