import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type EventData, newWorkspaceId, type Principal, type WorkspaceId } from "@holdfast/contract";
import { expect, test } from "vitest";
import { ScratchRepository } from "../../../test/scratch-repository.ts";
import { openDatabase } from "../../journal/database.ts";
import { Journal } from "../../journal/journal.ts";
import { WorkspaceQueries, workspacesProjection } from "../../projection/workspaces.ts";
import { scratchPlaces } from "./conflicts.ts";
import { Radar } from "./radar.ts";

const ACTOR = "user:tester" as Principal;

/** Workspaces of one repository, and a radar that can be stopped and restarted like its daemon. */
class Scene implements AsyncDisposable {
  readonly repository = new ScratchRepository({ "a.txt": "a\n", "b.txt": "b\n" });
  readonly db = openDatabase(":memory:");
  readonly journal = new Journal({ db: this.db, projections: [workspacesProjection], machineName: "box" });
  readonly queries = new WorkspaceQueries(this.db);
  readonly ids = new Map<string, WorkspaceId>();
  #radar = this.#begin();

  get radar(): Radar {
    return this.#radar;
  }

  #begin(): Radar {
    const radar = new Radar({ home: { socketDirectory: this.repository.root }, journal: this.journal, queries: this.queries });
    radar.begin();
    return radar;
  }

  async end(): Promise<void> {
    await this.#radar[Symbol.asyncDispose]();
  }

  beginAgain(): void {
    this.#radar = this.#begin();
  }

  /** Returns its working tree. */
  create(name: string, base = "main"): string {
    const path = this.repository.worktree(name);
    const id = newWorkspaceId();
    this.ids.set(name, id);
    const git = { repo: this.repository.path, branch: `holdfast/${name}`, ownBranch: true, base, baseCommit: null };
    const spec = { id, name, kind: "worktree" as const, path, ...git, portBase: 4000, ports: 10, notes: [] };
    this.journal.append({ type: "workspace.created", actor: ACTOR, session: null, data: spec });
    return path;
  }

  id(name: string): WorkspaceId {
    return this.ids.get(name) as WorkspaceId;
  }

  change(directory: string, files: Record<string, string>): string {
    return this.repository.commit(files, "a commit", directory);
  }

  /** Conflicts by name, `one: two(a.txt) base(b.txt)`, of workspaces that have any. */
  said(): string[] {
    const nameOf = (id: WorkspaceId) => this.queries.get(id)?.name ?? id;
    return this.queries.list({ all: true }).flatMap(({ name, conflicts, baseConflicts }) => {
      const said = conflicts.map(({ workspace, files }) => `${nameOf(workspace)}(${files})`);
      if (baseConflicts.length > 0) said.push(`base(${baseConflicts})`);
      return said.length > 0 ? [`${name}: ${said.join(" ")}`] : [];
    });
  }

  events(): EventData<"workspace.conflicts_changed">[] {
    const events = this.journal.readAfter(0, 1000, { types: ["workspace.conflicts_changed"] });
    return events.map(({ data }) => data as EventData<"workspace.conflicts_changed">);
  }

  async until(...said: string[]): Promise<void> {
    for (let waited = 0; waited < 20_000; waited += 10) {
      if (JSON.stringify(this.said()) === JSON.stringify(said)) return;
      await delay(10);
    }
    expect(this.said()).toEqual(said);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
    this.repository[Symbol.dispose]();
    this.db.close();
  }
}

/** A scene in which `one` and `two` changed the same line of a.txt. */
async function conflicting(): Promise<{ scene: Scene; one: string; two: string }> {
  const scene = new Scene();
  const [one, two] = [scene.create("one"), scene.create("two")];
  scene.change(one, { "a.txt": "one\n" });
  scene.change(two, { "a.txt": "two\n" });
  await scene.until("one: two(a.txt)", "two: one(a.txt)");
  return { scene, one, two };
}

test("two workspaces that change the same line are reported unasked, each once, and again when resolved", async () => {
  const { scene, two } = await conflicting();
  await using _ = scene;
  expect(scene.events().length).toBe(2);
  scene.change(two, { "b.txt": "two\n" });
  scene.repository.gitIn(two, "merge", "-q", "-X", "theirs", "-m", "resolved", "holdfast/one");
  await scene.until();
  expect(scene.events().length).toBe(4);
});

test("a base that moves and a base that is a commit are compared at their current state", async () => {
  await using scene = new Scene();
  const one = scene.create("one");
  const pinned = scene.create("pinned", scene.repository.git("rev-parse", "main"));
  scene.change(one, { "a.txt": "one\n" });
  scene.change(pinned, { "b.txt": "pinned\n" });
  scene.change(scene.repository.path, { "a.txt": "main\n", "b.txt": "main\n" });
  await scene.until("one: base(a.txt)");
  scene.repository.gitIn(one, "rebase", "-q", "-X", "theirs", "main");
  await scene.until("one: pinned(b.txt)", "pinned: one(b.txt)");
});

test("a remote base is compared as last fetched", async () => {
  await using scene = new Scene();
  const { repository } = scene;
  repository.git("update-ref", "refs/remotes/origin/main", "main");
  scene.change(scene.create("one", "origin/main"), { "a.txt": "one\n" });
  const theirs = scene.change(repository.worktree("theirs"), { "a.txt": "theirs\n" });
  await scene.radar.look();
  expect(scene.said()).toEqual([]);
  repository.git("update-ref", "refs/remotes/origin/main", theirs);
  await scene.until("one: base(a.txt)");
});

test("nothing is reported twice without changes or after a restart; changes in between are reported", async () => {
  const { scene, one } = await conflicting();
  await using _ = scene;
  await scene.radar.look();
  await scene.end();
  scene.beginAgain();
  await scene.radar.look();
  expect(scene.events().length).toBe(2);
  await scene.end();
  scene.repository.gitIn(one, "reset", "-q", "--hard", "main");
  scene.beginAgain();
  await scene.until();
  expect(scene.events().length).toBe(4);
});

test("a merged or removed workspace is no longer compared; new commits after the merge are", async () => {
  const { scene, one, two } = await conflicting();
  await using _ = scene;
  const tip = scene.repository.gitIn(one, "rev-parse", "HEAD");
  scene.repository.git("merge", "-q", "--ff-only", "holdfast/one");
  const merged = { id: scene.id("one"), into: "main", way: "ff" as const, tip, commit: tip };
  scene.journal.append({ type: "workspace.merged", actor: ACTOR, session: null, data: merged });
  await scene.until("two: base(a.txt)");
  scene.change(one, { "b.txt": "one\n" });
  await scene.until("one: two(a.txt)", "two: one(a.txt) base(a.txt)");
  const removed = { id: scene.id("two"), name: "two", ref: null, why: "asked" as const };
  scene.repository.git("worktree", "remove", "--force", two);
  scene.journal.append({ type: "workspace.removed", actor: ACTOR, session: null, data: removed });
  await scene.until();
});

test("a squash-merged workspace is compared again when the merge is undone", async () => {
  const { scene, one } = await conflicting();
  await using _ = scene;
  const tip = scene.repository.gitIn(one, "rev-parse", "HEAD");
  scene.repository.git("merge", "-q", "--squash", "holdfast/one");
  // An additional file makes it a different commit.
  const commit = scene.repository.commit({ "merged.txt": "one\n" }, "a commit");
  const merged = { id: scene.id("one"), into: "main", way: "squash" as const, tip, commit };
  scene.journal.append({ type: "workspace.merged", actor: ACTOR, session: null, data: merged });
  await scene.until("two: base(a.txt)");
  scene.repository.git("reset", "-q", "--hard", "HEAD^");
  await scene.until("one: two(a.txt)", "two: one(a.txt)");
  scene.repository.git("branch", "kept", commit);
  await scene.radar.look();
  expect(scene.said()).toEqual([]);
});

test("a renamed branch and a newly checked-out branch are followed", async () => {
  const { scene, one, two } = await conflicting();
  await using _ = scene;
  scene.repository.gitIn(one, "branch", "-m", "holdfast/one", "feature/renamed");
  await scene.radar.look();
  expect(scene.events().length).toBe(2);
  scene.repository.gitIn(two, "switch", "-q", "-c", "try", "main");
  await scene.until();
  scene.change(two, { "a.txt": "try\n" });
  await scene.until("one: two(a.txt)", "two: one(a.txt)");
  scene.change(one, { "a.txt": "a\n" });
  await scene.until();
  scene.repository.gitIn(one, "switch", "-q", "--detach", "HEAD^");
  await scene.until("one: two(a.txt)", "two: one(a.txt)");
});

test("nothing is reported during a rebase; its result is reported afterwards", async () => {
  const { scene, one } = await conflicting();
  await using _ = scene;
  scene.change(scene.repository.path, { "a.txt": "main\n" });
  await scene.until("one: two(a.txt) base(a.txt)", "two: one(a.txt) base(a.txt)");
  expect(() => scene.repository.gitIn(one, "rebase", "-q", "main")).toThrow(/could not apply/);
  await scene.radar.look();
  expect(scene.said()).toEqual(["one: two(a.txt) base(a.txt)", "two: one(a.txt) base(a.txt)"]);
  scene.repository.gitIn(one, "rebase", "--skip");
  await scene.until("one: two(a.txt)", "two: one(a.txt) base(a.txt)");
});

test("a repository that disappears keeps its last report, and is checked again when it is back", async () => {
  const { scene, two } = await conflicting();
  await using _ = scene;
  const away = join(scene.repository.root, "away");
  renameSync(scene.repository.path, away);
  await scene.radar.look();
  expect(scene.said()).toEqual(["one: two(a.txt)", "two: one(a.txt)"]);
  renameSync(away, scene.repository.path);
  scene.change(two, { "a.txt": "a\n" });
  await scene.until();
});

test("the branch of a workspace whose directory was deleted still counts", async () => {
  const { scene, one, two } = await conflicting();
  await using _ = scene;
  rmSync(one, { recursive: true });
  scene.repository.git("worktree", "prune");
  scene.change(two, { "b.txt": "two\n" });
  await scene.radar.look();
  expect(scene.said()).toEqual(["one: two(a.txt)", "two: one(a.txt)"]);
});

test("temporary directories of a killed daemon are removed, and nothing else", async () => {
  const { scene } = await conflicting();
  await using _ = scene;
  await scene.end();
  const left = (name: string) => scratchPlaces().map((place) => join(place, name));
  const own = left(`holdfast-merge-${basename(scene.repository.root)}-left`);
  const other = left(`holdfast-merge-other-${process.pid}`);
  for (const directory of [...own, ...other]) mkdirSync(join(directory, "objects"), { recursive: true });
  scene.beginAgain();
  await scene.radar.look();
  expect(own.filter((directory) => existsSync(directory))).toEqual([]);
  expect(other.filter((directory) => !existsSync(directory))).toEqual([]);
  for (const directory of other) rmSync(directory, { recursive: true });
});

test("a look includes the latest commits", async () => {
  await using scene = new Scene();
  const [one, two] = [scene.create("one"), scene.create("two")];
  scene.change(one, { "a.txt": "one\n" });
  scene.change(two, { "a.txt": "two\n" });
  await scene.radar.look();
  expect(scene.said()).toEqual(["one: two(a.txt)", "two: one(a.txt)"]);
});
