import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { AnyEvent, CollectOutcome, EventData, Session, Workspace } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually, HOLDFAST, TestHome } from "./home.ts";
import { TestRepository } from "./repository.ts";

/** Workspaces by name, and their reported conflicts. Read from the journal, because listing workspaces would run the radar. */
class Caves {
  readonly #home: TestHome;
  readonly #names = new Map<string, string>();
  readonly repository: TestRepository;

  constructor(home: TestHome) {
    this.#home = home;
    this.repository = new TestRepository(home, { "a.txt": "a\n", "b.txt": "b\n" });
  }

  async create(name: string): Promise<string> {
    const { id, path } = await this.repository.workspace(name);
    this.#names.set(id, name);
    return path;
  }

  async events(): Promise<EventData<"workspace.conflicts_changed">[]> {
    const lines = (await this.#home.ok(["events", "--type", "workspace.conflicts_changed"])).split("\n").filter(Boolean);
    return lines.map((line) => (JSON.parse(line) as AnyEvent).data as EventData<"workspace.conflicts_changed">);
  }

  /** The last report of each workspace: `one: two(a.txt) base(b.txt)`. */
  async told(): Promise<string[]> {
    const last = new Map((await this.events()).map(({ id, conflicts, base }) => [id as string, { conflicts, base }]));
    const lines = [...last].map(([id, { conflicts, base }]) => {
      const with_ = conflicts.map(({ workspace, files }) => `${this.#names.get(workspace)}(${files})`);
      return `${this.#names.get(id)}: ${[...with_, ...(base.length > 0 ? [`base(${base})`] : [])].join(" ")}`;
    });
    return lines.filter((line) => !line.endsWith(": ")).sort();
  }

  async until(...expected: string[]): Promise<void> {
    const matches = async () => JSON.stringify(await this.told()) === JSON.stringify(expected);
    await eventually(matches, 20_000, 50).catch(async () => expect(await this.told()).toEqual(expected));
  }
}

const BOTH = ["one: two(a.txt)", "two: one(a.txt)"];

test("uncommitted changes are compared too, as of the last checkpoint (mend 20)", async () => {
  await using home = new TestHome();
  const caves = new Caves(home);
  const [one, two] = [await caves.create("one"), await caves.create("two")];
  caves.repository.write({ "a.txt": "one\n" }, one);
  caves.repository.commit({ "a.txt": "two\n" }, "two", two);
  await home.ok(["checkpoint", "create", "one"]);
  await caves.until(...BOTH);
  caves.repository.write({ "a.txt": "a\n" }, one);
  await home.ok(["checkpoint", "create", "one"]);
  await caves.until();
});

test("a stash popped by another workspace is reported to agents and people, and can be recovered (mend 20)", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home, { "a.txt": "a\n" });
  const [one, two] = [await repository.workspace("one"), await repository.workspace("two")];
  for (const name of ["one", "two"]) await home.json<Session>(["spawn", "demo", "--name", `in-${name}`, "--workspace", name]);
  repository.write({ "a.txt": "precious\n" }, one.path);
  repository.gitIn(one.path, "stash");
  const commit = repository.git("rev-parse", "refs/stash");
  await eventually(() => repository.git("for-each-ref", "refs/holdfast/stashes/seen").includes(commit) || undefined);
  repository.gitIn(two.path, "stash", "pop");
  const told = async (type: string) => (await home.ok(["events", "--type", type])).split("\n").filter(Boolean);
  const [event] = await eventually(async () => {
    const lines = await told("workspace.stash_taken");
    return lines.length > 0 ? lines : undefined;
  });
  expect((JSON.parse(event ?? "") as AnyEvent).data).toMatchObject({ id: one.id, by: two.id, commit, files: ["a.txt"] });
  expect((await home.json<Workspace>(["workspace", "show", "one"])).notes).toContainEqual(
    expect.stringContaining(`git stash apply ${commit}`),
  );
  await eventually(async () => (await told("message.queued")).filter((line) => line.includes("git stash apply")).length === 2 || undefined);
  repository.gitIn(one.path, "stash", "apply", commit);
  expect(readFileSync(path.join(one.path, "a.txt"), "utf8")).toBe("precious\n");
  // A workspace's own stash concerns no other.
  repository.gitIn(one.path, "stash");
  await eventually(() => repository.git("for-each-ref", "refs/holdfast/stashes/seen") !== "" || undefined);
  repository.gitIn(one.path, "stash", "pop");
  await eventually(() => repository.git("for-each-ref", "refs/holdfast/stashes/seen") === "" || undefined);
  expect(await told("workspace.stash_taken")).toHaveLength(1);
});

test("a stash that another workspace popped and edited at once is recognised, and its copy is pruned by age (mend 20)", async () => {
  await using home = new TestHome();
  const lines = (...all: string[]) => `${all.join("\n")}\n`;
  const repository = new TestRepository(home, { "a.txt": lines("a", "b") });
  const [one, two] = [await repository.workspace("one"), await repository.workspace("two")];
  for (const name of ["one", "two"]) await home.json<Session>(["spawn", "demo", "--name", `in-${name}`, "--workspace", name]);
  repository.write({ "a.txt": lines("a", "precious", "work", "of one", "b") }, one.path);
  repository.gitIn(one.path, "stash");
  const commit = repository.git("rev-parse", "refs/stash");
  await eventually(() => repository.git("for-each-ref", "refs/holdfast/stashes/seen").includes(commit) || undefined);
  // In one shell command, so that no check comes in between.
  execFileSync("sh", ["-c", "git stash pop --quiet && sed -i 's/work/edited/' a.txt && echo more >> a.txt"], { cwd: two.path });
  const [event] = await eventually(async () => {
    const told = (await home.ok(["events", "--type", "workspace.stash_taken"])).split("\n").filter(Boolean);
    return told.length > 0 ? told : undefined;
  });
  expect((JSON.parse(event ?? "") as AnyEvent).data).toMatchObject({ id: one.id, by: two.id, commit, files: ["a.txt"] });
  const kept = () => repository.git("for-each-ref", "--format=%(refname)", "refs/holdfast/stashes");
  await eventually(() => kept() === `refs/holdfast/stashes/gone/${commit}` || undefined);
  expect((await home.json<CollectOutcome>(["workspace", "gc"])).removed).toEqual([]);
  const old = await home.json<CollectOutcome>(["workspace", "gc", "--older-than", "0s", "--yes"]);
  expect(old.removed).toMatchObject([{ kind: "stash", what: `refs/holdfast/stashes/gone/${commit}` }]);
  expect(kept()).toBe("");
});

test("two agents that commit the same line are reported unasked, also in ls and show, until it is resolved (CAVE-09 workspaces)", async () => {
  await using home = new TestHome();
  const caves = new Caves(home);
  const [one, two] = [await caves.create("one"), await caves.create("two")];
  const commits = (text: string) => `git commit -q -am ${text}; exec sleep 1000`;
  await home.json<Session>(["run", "--workspace", "one", "--", "sh", "-c", `echo one > a.txt; ${commits("one")}`]);
  await home.json<Session>(["run", "--workspace", "two", "--", "sh", "-c", `echo two > a.txt; ${commits("two")}`]);
  await caves.until(...BOTH);
  const listed = await home.json<Workspace[]>(["workspace", "ls"]);
  expect(listed.map(({ name, conflicts, baseConflicts }) => ({ name, conflicts, baseConflicts }))).toEqual([
    { name: "one", conflicts: [{ workspace: "two", files: ["a.txt"] }], baseConflicts: [] },
    { name: "two", conflicts: [{ workspace: "one", files: ["a.txt"] }], baseConflicts: [] },
  ]);
  expect(await home.ok(["workspace", "ls"])).toMatch(/CONFLICTS\n.* two \(a\.txt\)\n.* one \(a\.txt\)\n/);
  expect(await home.ok(["workspace", "show", "one"])).toContain("with two: a.txt");

  // With plain git, from outside: the base changes as well.
  caves.repository.commit({ "a.txt": "main\n" }, "of the base");
  await caves.until("one: two(a.txt) base(a.txt)", "two: one(a.txt) base(a.txt)");
  expect(await home.ok(["workspace", "show", "two"])).toContain("with main: a.txt");
  caves.repository.gitIn(one, "rebase", "-q", "-X", "ours", "main");
  caves.repository.gitIn(two, "rebase", "-q", "-X", "ours", "main");
  await caves.until();
  expect(await home.ok(["workspace", "ls"])).not.toContain("CONFLICTS");
  expect(await home.ok(["workspace", "show", "one"])).not.toContain("conflict");
});

test("the next daemon reports conflicts from while none ran, and none twice", async () => {
  await using home = new TestHome();
  const caves = new Caves(home);
  const [one, two] = [await caves.create("one"), await caves.create("two")];
  caves.repository.commit({ "a.txt": "one\n" }, "one", one);
  await home.killDaemon();
  caves.repository.commit({ "a.txt": "two\n" }, "two", two);
  await caves.until(...BOTH);
  await home.killDaemon();
  await home.json(["workspace", "ls"]);
  expect((await caves.events()).length).toBe(2);
  await home.killDaemon();
  caves.repository.gitIn(two, "reset", "-q", "--hard", "HEAD^");
  await caves.until();
  expect((await caves.events()).length).toBe(4);
});

test("after any commits under daemon kills, the final report matches git, and no report is repeated", async () => {
  await using home = new TestHome();
  const caves = new Caves(home);
  const { repository } = caves;
  const trees = new Map<string, string>();
  for (const name of ["one", "three", "two"]) trees.set(name, await caves.create(name));
  const lines = ["x", "y"];
  for (let step = 0; step < 18; step++) {
    const [tree = ""] = [...trees.values()].slice(step % 3);
    repository.commit({ [step % 2 === 0 ? "a.txt" : "b.txt"]: `${lines[((step * 7) % 5) % 2]}\n` }, `step ${step}`, tree);
    if (step % 5 === 4) await home.killDaemon();
    if (step % 5 === 0) await home.ok(["up"]);
  }
  const end = truth(repository, trees);
  expect(end.length).toBeGreaterThan(1);
  await caves.until(...end);
  const last = new Map<string, string>();
  for (const { id, ...findings } of await caves.events()) {
    expect(JSON.stringify(findings)).not.toBe(last.get(id) ?? JSON.stringify({ conflicts: [], base: [] }));
    last.set(id, JSON.stringify(findings));
  }
});

/** git's own result for each pair and for each with the base, in the format of `told`. */
function truth(repository: TestRepository, trees: ReadonlyMap<string, string>): string[] {
  const files = (ours: string, theirs: string) => {
    const args = ["merge-tree", "--write-tree", "--name-only", "--no-messages", ours, theirs];
    const { stdout } = spawnSync("git", args, { cwd: repository.path, encoding: "utf8" });
    return stdout.split("\n").slice(1).filter(Boolean);
  };
  const heads = new Map([...trees].map(([name, tree]) => [name, repository.gitIn(tree, "rev-parse", "HEAD")]));
  return [...heads].flatMap(([name, head]) => {
    const others = [...heads].filter(([other]) => other !== name).map(([other, theirs]) => ({ other, files: files(head, theirs) }));
    const all = [...others, { other: "base", files: files(head, "main") }].filter((one) => one.files.length > 0);
    return all.length > 0 ? [`${name}: ${all.map((one) => `${one.other}(${one.files})`).join(" ")}`] : [];
  });
}

test("packed refs, a renamed branch and another checkout do not disturb the reports", async () => {
  await using home = new TestHome();
  const caves = new Caves(home);
  const { repository } = caves;
  const [one, two] = [await caves.create("one"), await caves.create("two")];
  repository.git("pack-refs", "--all");
  repository.commit({ "a.txt": "one\n" }, "one", one);
  repository.gitIn(two, "switch", "-q", "-c", "of/my/own");
  repository.commit({ "a.txt": "two\n" }, "two", two);
  await caves.until(...BOTH);
  repository.gitIn(one, "branch", "-m", "holdfast/one", "another/name");
  repository.git("gc", "--quiet");
  repository.commit({ "b.txt": "b\n" }, "more", one);
  await home.json(["workspace", "ls"]);
  expect((await caves.events()).length).toBe(2);
  repository.commit({ "a.txt": "a\n" }, "back", one);
  await caves.until();
});

test("a list of workspaces right after a commit shows its conflicts", async () => {
  await using home = new TestHome();
  const caves = new Caves(home);
  const [one, two] = [await caves.create("one"), await caves.create("two")];
  caves.repository.commit({ "a.txt": "one\n" }, "one", one);
  caves.repository.commit({ "a.txt": "two\n" }, "two", two);
  expect((await home.json<Workspace[]>(["workspace", "ls"])).map(({ conflicts }) => conflicts.length)).toEqual([1, 1]);
});

test("without commits the radar takes no CPU time, whatever else happens in the workspaces", async () => {
  await using home = new TestHome();
  const caves = new Caves(home);
  const trees = [await caves.create("one"), await caves.create("two"), await caves.create("three")];
  for (const [index, tree] of trees.entries()) caves.repository.commit({ "a.txt": `${index}\n` }, "a", tree);
  await eventually(async () => (await caves.told()).length === 3);
  const pid = await home.daemonPid();
  const cpu = () => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    // CPU ticks of 10 ms: its own, and those of child processes it has waited for.
    return { own: Number(fields[11]) + Number(fields[12]), children: Number(fields[13]) + Number(fields[14]) };
  };
  // The work after the last commit has ended.
  await eventually(async () => {
    const { children } = cpu();
    await delay(1000);
    return cpu().children === children;
  });
  const before = cpu();
  const began = performance.now();
  // Common operations that are not commits.
  for (let round = 0; round < 20; round++) {
    for (const tree of trees) caves.repository.gitIn(tree, "status");
    await delay(50);
  }
  const after = cpu();
  // One check per round would be twenty times two processes.
  expect(after.children - before.children).toBeLessThan(8);
  // A daemon's regular work grows with the elapsed time.
  expect(after.own - before.own).toBeLessThan(30 + (performance.now() - began) / 200);
});

test("without inotify watches, conflicts are found on request, and the log says so once", async () => {
  await using home = new TestHome();
  const caves = new Caves(home);
  // The daemon and its processes run in a user namespace without inotify watches.
  const script = 'echo 0 > /proc/sys/user/max_inotify_watches && exec "$0" up';
  const child = spawn("unshare", ["--user", "--map-root-user", "sh", "-c", script, HOLDFAST], { env: home.env, stdio: "ignore" });
  expect((await once(child, "exit"))[0]).toBe(0);
  const [one, two] = [await caves.create("one"), await caves.create("two")];
  caves.repository.commit({ "a.txt": "one\n" }, "one", one);
  caves.repository.commit({ "a.txt": "two\n" }, "two", two);
  expect((await home.json<Workspace[]>(["workspace", "ls"])).map(({ conflicts }) => conflicts.length)).toEqual([1, 1]);
  await home.json(["workspace", "ls"]);
  const log = readFileSync(path.join(home.path, "daemon.log"), "utf8").split("\n");
  expect(log.filter((line) => line.includes("are checked only on request")).length).toBe(1);
});

test("trial merges leave nothing behind", async () => {
  await using home = new TestHome();
  const caves = new Caves(home);
  const objects = () => caves.repository.git("count-objects", "-v");
  const [one, two] = [await caves.create("one"), await caves.create("two")];
  caves.repository.commit({ "a.txt": "one\n" }, "one", one);
  caves.repository.commit({ "b.txt": "two\n" }, "two", two);
  const before = objects();
  await home.json(["workspace", "ls"]);
  expect(objects()).toBe(before);
  const own = `holdfast-merge-${path.basename(home.socketDirectory)}-`;
  for (const place of ["/dev/shm", "/tmp"]) expect(readdirSync(place).filter((name) => name.startsWith(own))).toEqual([]);
});
