/** Several agents on one prompt, each in its own worktree; one is kept. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { AnyEvent, Approval, EntryFailure, RemoveOutcome, Session, Tournament, Workspace } from "@holdfast/contract";
import { allProcesses } from "@holdfast/platform";
import { expect, test } from "vitest";
import { clientAs } from "./as-session.ts";
import { openTerminal } from "./attached.ts";
import { eventually, HOLDFAST, TestHome } from "./home.ts";
import { TestRepository } from "./repository.ts";

interface Started {
  tournament: Tournament;
  failures: EntryFailure[];
}

interface Kept {
  tournament: Tournament;
  merged: { into: string; commit: string; commits: number } | null;
  removed: RemoveOutcome[];
  notes: string[];
}

/** As docs/JSON.md documents it. */
const TOURNAMENT_KEYS = "base baseCommit entries id kept keptAt name owner prompt repo startedAt".split(" ");

const PROMPT = "say I am done";

/** A second agent: writes its prompt into a file, and ends slowly. */
const OTHER = `[agents.other]
command = ["sh", "-c", "printf %s \\"$0\\" > ../told; trap '' TERM; while :; do sleep 0.05; done"]
prompt = ["{prompt}"]
`;

function configure(home: TestHome): void {
  const directory = path.join(home.env.HOME ?? "", ".config", "holdfast");
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, "config.toml"), OTHER);
}

function words(...flags: string[]): string[] {
  return ["spawn", "--name", "fix", "--prompt", PROMPT, ...flags];
}

const compare = (home: TestHome, ...flags: string[]) => home.json<Tournament>(["compare", "fix", ...flags]);

function placeOf({ entries }: Tournament, number: number): string {
  return entries[number - 1]?.workspace?.path ?? "";
}

/** The first entry has a commit, the second a commit and an uncommitted file, the third nothing. */
async function worked(home: TestHome, repository: TestRepository, ...agents: string[]): Promise<Tournament> {
  const flags = agents.length === 0 ? ["demo", "--best-of", "3"] : agents;
  const { tournament } = await home.json<Started>(words(...flags), { cwd: repository.path });
  repository.commit({ "a.txt": "first\n" }, "the first's", placeOf(tournament, 1));
  repository.commit({ "a.txt": "second\n" }, "the second's", placeOf(tournament, 2));
  repository.write({ "left.txt": "uncommitted\n" }, placeOf(tournament, 2));
  return tournament;
}

async function names(home: TestHome): Promise<[sessions: string[], workspaces: string[]]> {
  const sessions = await home.json<Session[]>(["ls", "--all"]);
  const workspaces = JSON.parse(await home.ok(["workspace", "ls", "--json"])) as Workspace[];
  return [sessions.map(({ name }) => name).sort(), workspaces.map(({ name }) => name).sort()];
}

test("spawn --best-of starts agents in turn on one prompt, each in its own worktree from one commit (NEW-13 workspaces)", async () => {
  await using home = new TestHome();
  configure(home);
  const repository = new TestRepository(home);
  const head = repository.git("rev-parse", "HEAD");
  const { tournament, failures } = await home.json<Started>(words("--best-of", "3", "--agents", "demo,other"), { cwd: repository.path });
  expect(failures).toEqual([]);
  expect(tournament).toMatchObject({ name: "fix", prompt: PROMPT, repo: repository.path, base: "main", baseCommit: head, kept: null });
  expect(
    tournament.entries.map(({ number, name, agent, session, workspace }) => [
      number,
      name,
      agent,
      session?.name,
      workspace?.branch,
      workspace?.baseCommit,
    ]),
  ).toEqual([
    [1, "fix-1", "demo", "fix-1", "holdfast/fix-1", head],
    [2, "fix-2", "other", "fix-2", "holdfast/fix-2", head],
    [3, "fix-3", "demo", "fix-3", "holdfast/fix-3", head],
  ]);
  const told = path.join(placeOf(tournament, 2), "../told");
  await eventually(() => existsSync(told) && readFileSync(told, "utf8").startsWith(`${PROMPT}\n\n[Working Context`));
  for (const name of ["fix-1", "fix-3"]) await home.until(name, ({ turns, status }) => turns === 1 && status === "idle");

  // The same command again starts nothing twice, even after a daemon restart.
  await home.ok(["down"]);
  const again = await home.json<Started>(words("--best-of", "3", "--agents", "demo,other"), { cwd: repository.path });
  const ids = (of: Tournament) => of.entries.map(({ session }) => session?.id);
  expect(ids(again.tournament)).toEqual(ids(tournament));
  expect(await names(home)).toEqual([
    ["fix-1", "fix-2", "fix-3"],
    ["fix-1", "fix-2", "fix-3"],
  ]);
  const other = await home.cli(["spawn", "demo", "--best-of", "2", "--name", "fix", "--prompt", "something else"], {
    cwd: repository.path,
  });
  expect(other).toMatchObject({ code: 5, stderr: expect.stringContaining("a tournament named fix already exists") });
});

test("an impossible tournament is refused before anything is created", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  await home.ok(["run", "--name", "taken-2", "--", "sleep", "1000"]);
  const refusals: [code: number, what: string, flags: string[]][] = [
    [2, "--best-of needs a prompt", ["demo", "--best-of", "2"]],
    [2, "expected an agent, or --agents", ["--best-of", "2", "--prompt", "x"]],
    [2, "at least 2", ["demo", "--best-of", "1", "--prompt", "x"]],
    [2, "at most 20", ["demo", "--best-of", "21", "--prompt", "x"]],
    [2, "takes a number", ["demo", "--best-of", "three", "--prompt", "x"]],
    [2, "add demo to --agents", ["demo", "--agents", "demo,claude", "--prompt", "x"]],
    [2, "its own worktree and branch", ["demo", "--best-of", "2", "--worktree", "mine", "--prompt", "x"]],
    [2, "takes no first prompt", ["shell", "--best-of", "2", "--prompt", "x"]],
    [2, "a single kind of agent", ["--agents", "demo,claude", "--prompt", "x", "--", "--fast"]],
    [5, "taken-2", ["demo", "--best-of", "2", "--name", "taken", "--prompt", "x"]],
    [7, "no-such-agent", ["--agents", "demo,no-such-agent", "--prompt", "x"]],
    [7, "no branch or commit", ["demo", "--best-of", "2", "--base", "nowhere", "--prompt", "x"]],
  ];
  for (const [code, what, flags] of refusals) {
    const refused = await home.cli(["spawn", ...flags], { cwd: repository.path });
    expect(refused, what).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(what) });
  }
  const outside = await home.cli(["spawn", "demo", "--best-of", "2", "--prompt", "x"]);
  expect(outside).toMatchObject({ code: 7, stderr: expect.stringContaining("is not in a git repository") });
  expect(await names(home)).toEqual([["taken-2"], []]);
  expect(await home.ok(["compare", "--all"])).toBe("No tournaments.\n");
});

test("when one entry cannot start, the others run, the error names it with the reason, and the same command starts it later", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const ok = path.join(home.root, "ok");
  repository.write({ ".holdfast/config.toml": `[workspace]\nsetup = "case $PWD in *-fix-2) echo no room; test -e ${ok};; esac"\n` });
  const part = await home.cli(words("demo", "--best-of", "3", "--trust"), { cwd: repository.path });
  expect(part.code).toBe(31);
  expect(part.stdout.split("\n").length).toBe(3);
  expect(part.stderr).toMatch(/fix-2 \(demo\) was not started: the set-up of fix-2 .*failed with exit code 1/);
  expect(part.stderr).toContain("no room");
  expect(part.stderr).toContain("2 of 3 are running: fix-1 (demo), fix-3 (demo)");
  expect(part.stderr).toContain("To start the missing ones, run the same command with --name fix");
  const before = await compare(home);
  expect(before.entries.map(({ session }) => session !== null)).toEqual([true, false, true]);
  expect(await home.ok(["compare", "fix"])).toMatch(/^fix-2 +demo +no session /m);

  const { tournament, failures } = await home.json<Started>(words("demo", "--best-of", "3", "--trust"), { cwd: repository.path });
  expect(failures).toEqual([]);
  expect(tournament.entries[1]?.session?.cwd).toBe(before.entries[1]?.workspace?.path);
  expect(tournament.entries[0]?.session?.id).toBe(before.entries[0]?.session?.id);
  expect((await names(home))[0]).toEqual(["fix-1", "fix-2", "fix-3"]);

  // An entry that is created again starts from the same commit as the others, even if the base has moved.
  for (const verb of [
    ["stop", "fix-3"],
    ["rm", "fix-3"],
    ["workspace", "rm", "fix-3", "--force"],
  ])
    await home.ok(verb);
  repository.commit({ "a.txt": "moved on\n" }, "moved on");
  const anew = await home.json<Started>(words("demo", "--best-of", "3", "--trust"), { cwd: repository.path });
  const third = anew.tournament.entries[2];
  expect(third?.session?.id).not.toBe(tournament.entries[2]?.session?.id);
  expect(repository.gitIn(third?.workspace?.path ?? "", "rev-parse", "HEAD")).toBe(tournament.baseCommit);
});

test("a daemon kill during the start creates no entry twice", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const go = path.join(home.root, "go");
  repository.write({ ".holdfast/config.toml": `[workspace]\nsetup = "while ! [ -e ${go} ]; do sleep 0.02; done"\n` });
  const starting = home.cli(words("demo", "--best-of", "2", "--trust"), { cwd: repository.path });
  await eventually(async () => (await names(home))[1].length === 2);
  await home.killDaemon();
  expect((await starting).code).toBe(10);
  writeFileSync(go, "");
  const { tournament } = await home.json<Started>(words("demo", "--best-of", "2", "--trust"), { cwd: repository.path });
  expect(tournament.entries.map(({ session }) => session?.name)).toEqual(["fix-1", "fix-2"]);
  expect(await names(home)).toEqual([
    ["fix-1", "fix-2"],
    ["fix-1", "fix-2"],
  ]);
});

test("compare shows each entry's status, changes against the base, conflicts and check result", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  await worked(home, repository);
  for (const name of ["fix-1", "fix-2", "fix-3"]) await home.until(name, ({ status }) => status === "idle");
  const check = `echo "checked $HOLDFAST_PORT_BASE"; grep -q second a.txt`;
  const tournament = await compare(home, "--check", check);
  const { entries } = tournament;
  expect(Object.keys(tournament).sort()).toEqual(TOURNAMENT_KEYS);
  expect(Object.keys(entries[0] ?? {}).sort()).toEqual(["agent", "check", "diff", "name", "number", "session", "workspace"]);
  expect(Object.keys(entries[0]?.check ?? {}).sort()).toEqual(["command", "durationMs", "exitCode", "log", "startedAt", "state"]);
  expect(entries.map(({ session, workspace, diff }) => [session?.turns, workspace?.ahead, workspace?.changes, diff])).toEqual([
    [1, 1, 0, { files: 1, insertions: 1, deletions: 1 }],
    [1, 1, 1, { files: 2, insertions: 2, deletions: 1 }],
    [1, 0, 0, { files: 0, insertions: 0, deletions: 0 }],
  ]);
  expect(entries.map(({ workspace }) => workspace?.conflicts.map((conflict) => conflict.workspace))).toEqual([["fix-2"], ["fix-1"], []]);
  expect(entries.map(({ check }) => [check?.command, check?.state, check?.exitCode])).toEqual([
    [check, "failed", 1],
    [check, "passed", 0],
    [check, "failed", 1],
  ]);
  for (const { check, workspace } of entries) expect(readFileSync(check?.log ?? "", "utf8")).toBe(`checked ${workspace?.portBase}\n`);
  const table = await home.ok(["compare"]);
  expect(table).toMatch(/^NAME +AGENT +STATUS +TURNS +TIME +COMMITS +CHANGED +UNCOMMITTED +CHECK +CONFLICTS$/m);
  expect(table).toMatch(/^fix-1 +demo +idle \d+s +1 +\d+s +1 +1 file \+1 -1 +- +failed \(1\) in \d+s +fix-2$/m);
  expect(table).toMatch(/^fix-2 +demo .* 2 files \+2 -1 +1 +passed in \d+s +fix-1$/m);
  expect(table).toMatch(/^fix-3 +demo .* 0 +nothing +- +failed .* -$/m);
  expect(table).toContain(`fix-1: the check said: ${entries[0]?.check?.log}`);
  // An entry's name works too, and compare changes nothing.
  expect((await home.json<Tournament>(["compare", "fix-2"])).name).toBe("fix");
  expect(repository.gitIn(placeOf({ entries } as Tournament, 2), "status", "--porcelain")).toBe("?? left.txt");
  expect(await home.cli(["compare", "no-such"])).toMatchObject({ code: 3, stderr: expect.stringContaining("choose from: fix") });
});

test("a check and its processes end with the command that requested it", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const { tournament } = await home.json<Started>(words("demo", "--best-of", "2"), { cwd: repository.path });
  const pids = [1, 2].map((number) => path.join(placeOf(tournament, number), "../pid"));
  const asking = home.start(["compare", "fix", "--check", "sleep 1000 & echo $! > ../pid; wait"]);
  await eventually(() => pids.every((file) => existsSync(file) && readFileSync(file, "utf8").endsWith("\n")));
  const running = pids.map((file) => Number(readFileSync(file, "utf8")));
  expect((await compare(home)).entries.map(({ check }) => check?.state)).toEqual(["running", "running"]);
  asking.kill("SIGKILL");
  await eventually(() => running.every((pid) => !allProcesses().has(pid)));
  await eventually(async () => (await compare(home)).entries.every(({ check }) => check?.state === "interrupted"));
});

test("keep merges one entry and removes the others, which can be recovered (NEW-13 workspaces)", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const tournament = await worked(home, repository);
  const nobody = await home.cli(["keep", "fix-2"]);
  expect(nobody).toMatchObject({ code: 2, stderr: expect.stringContaining("this merges fix-2 and removes 2 workspaces") });
  expect(await home.cli(["keep", "fix", "--yes"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("name one of its entries"),
  });
  const dirty = await home.cli(["keep", "fix-2", "--yes"]);
  expect(dirty).toMatchObject({ code: 30, stderr: expect.stringContaining("?? left.txt") });
  expect(await home.cli(["keep", "fix-3", "--yes"])).toMatchObject({ code: 30, stderr: expect.stringContaining("nothing to merge") });
  expect((await names(home))[1]).toEqual(["fix-1", "fix-2", "fix-3"]);
  expect((await compare(home)).kept).toBeNull();

  const kept = await home.json<Kept>(["keep", "fix-2", "--yes", "--squash", "--commit", "what was left"]);
  expect(kept.merged).toMatchObject({ into: "main", commit: repository.git("rev-parse", "main") });
  expect(readFileSync(path.join(repository.path, "left.txt"), "utf8")).toBe("uncommitted\n");
  expect(kept.removed.map(({ workspace, ref }) => [workspace.name, ref !== null])).toEqual([
    ["fix-1", true],
    ["fix-3", true],
  ]);
  expect(kept.tournament).toMatchObject({ kept: "fix-2", keptAt: expect.any(String) });
  expect(kept.notes).toEqual(["fix-2 is still running in a merged workspace"]);
  for (const name of ["fix-1", "fix-3"]) expect((await home.session(name)).status).toBe("stopped");
  expect(existsSync(placeOf(tournament, 1))).toBe(false);

  const again = await home.json<Kept>(["keep", "fix-2", "--yes"]);
  expect([again.merged, again.removed]).toEqual([null, []]);
  expect(await home.cli(["keep", "fix-1", "--yes"])).toMatchObject({
    code: 6,
    stderr: expect.stringContaining("fix-2 of fix was already kept"),
  });
  const table = await home.ok(["compare", "fix"]);
  expect(table).toMatch(/^fix-1 +demo +stopped \(removed\)/m);
  expect(table).toMatch(/^fix-2 \* +demo/m);
  expect(table).toContain("* fix-2 was kept");

  const audit = await home.ok(["audit"]);
  for (const deed of [
    "started the tournament fix of 3 (demo)",
    "into main (squash)",
    "kept fix-2 of its tournament",
    "removed the workspace fix-1",
  ])
    expect(audit).toContain(deed);
  await home.ok(["workspace", "recover", "fix-1"]);
  expect(readFileSync(path.join(placeOf(tournament, 1), "a.txt"), "utf8")).toBe("first\n");
});

test("keep announces its actions, asks, and does nothing without a yes", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  await worked(home, repository);
  using terminal = openTerminal(home, { columns: 140 });
  await terminal.command("holdfast keep fix-1; echo code=$?");
  const asked = await terminal.shows("Go on? [y/N]");
  expect(asked).toContain("fix-1 (demo) is merged into main");
  expect(asked).toMatch(/fix-2 \(demo\) will be removed.*: 1 commit, 1 uncommitted file; recover it: holdfast workspace recover fix-2/);
  expect(asked).toMatch(/fix-3 \(demo\) will be removed.*: no changes/);
  terminal.line("n");
  await terminal.shows("code=1");
  expect((await names(home))[1]).toEqual(["fix-1", "fix-2", "fix-3"]);
  await terminal.command("clear; holdfast keep fix-1; echo code=$?");
  await terminal.shows("Go on? [y/N]");
  terminal.line("y");
  expect(await terminal.shows("code=0")).toContain("fix-1: 1 commit is in main");
  expect((await names(home))[1]).toEqual(["fix-1"]);
});

test("an entry that was already merged by hand can be kept; an entry without commits cannot", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  await worked(home, repository);
  repository.git("merge", "--quiet", "--ff-only", "holdfast/fix-1");
  expect(await home.cli(["keep", "fix-3", "--yes"])).toMatchObject({ code: 30 });
  expect((await names(home))[1]).toEqual(["fix-1", "fix-2", "fix-3"]);
  expect(await home.ok(["keep", "fix-1", "--yes"])).toMatch(/^fix-1 was already merged\nfix-2 removed; .*\nfix-3 removed; /);
});

test("a second keep completes one that a daemon kill interrupted", async () => {
  await using home = new TestHome();
  configure(home);
  const repository = new TestRepository(home);
  await worked(home, repository, "--agents", "demo,demo,other");
  const keeping = home.cli(["keep", "fix-1", "--yes"]);
  // The third entry ends slowly: the merge is recorded by then, and the workspace still exists.
  await eventually(async () => (await home.json<Tournament>(["compare", "fix"])).kept === "fix-1");
  await home.killDaemon();
  expect((await keeping).code).toBe(10);
  expect((await names(home))[1]).toContain("fix-3");
  const second = await home.json<Kept>(["keep", "fix-1", "--yes"]);
  expect(second.merged).toBeNull();
  expect((await names(home))[1]).toEqual(["fix-1"]);
  expect((await home.session("fix-3")).status).toBe("stopped");
  expect(repository.git("log", "--format=%s", "main")).toBe("the first's\nfirst");
  const merges = (await home.ok(["events", "--json", "--type", "workspace.merged"])).trim().split("\n");
  expect(merges.map((line) => (JSON.parse(line) as AnyEvent).type)).toEqual(["workspace.merged"]);
});

test("the entries of a tournament are known even if the journal is lost", async () => {
  await using home = new TestHome();
  configure(home);
  const repository = new TestRepository(home);
  await home.json<Started>(words("--agents", "demo,other"), { cwd: repository.path });
  await home.ok(["down"]);
  for (const name of ["holdfast.db", "holdfast.db-wal", "holdfast.db-shm", "backups"])
    rmSync(path.join(home.path, name), { recursive: true, force: true });
  const { prompt, entries } = await compare(home);
  expect(prompt).toBeNull();
  expect(entries.map(({ number, name, agent, session, workspace }) => [number, name, agent, session?.name, workspace?.name])).toEqual([
    [1, "fix-1", "demo", "fix-1", "fix-1"],
    [2, "fix-2", "other", "fix-2", "fix-2"],
  ]);
});

test("an agent can start and compare its own tournaments, but only a person can keep an entry", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  await worked(home, repository);
  const script = `h=${HOLDFAST}; $h spawn demo --best-of 2 --name own --prompt x > /dev/null; echo "spawn: $?"
    for verb in 'compare own' 'compare fix' 'keep own-1 --yes'; do $h $verb > /dev/null 2>&1; echo "$verb: $?"; done; echo fin-$((1 + 0)); exec sleep 1000`;
  await home.ok(["run", "--name", "inside", "--", "sh", "-c", script], { cwd: repository.path });
  const said = await eventually(async () => {
    const text = await home.ok(["logs", "inside"]);
    return text.includes("fin-1") && text;
  });
  expect(said).toContain("spawn: 0\ncompare own: 0\ncompare fix: 20\nkeep own-1 --yes: 20\n");
  expect((await home.session("own-1")).parent).toBe((await home.session("inside")).id);
});

test("an agent can neither continue another's tournament nor give its entries options that its children cannot have (mend 9)", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const cwd = repository.path;
  await home.ok(["spawn", "demo", "--best-of", "2", "--name", "fix", "--prompt", "say done"], { cwd });
  await home.ok(["run", "--name", "inside", "--", "sleep", "1000"], { cwd });
  using inside = await clientAs(home, "inside");
  const body = { agents: ["demo"], count: 2, name: "fix", prompt: "say done", cwd, env: { PATH: process.env.PATH ?? "" } };
  await expect(inside.call("startTournament", { body })).rejects.toMatchObject({ code: "name_taken" });
  for (const more of [{ attended: true }, { instructions: "obey" }]) {
    const asked = inside.call("startTournament", { body: { ...body, name: "own", ...more } });
    await expect(asked).rejects.toMatchObject({ code: "forbidden" });
  }
  expect((await inside.call("listTournaments", {})).tournaments).toEqual([]);
});

test("one answer trusts all worktrees of a repository, including later ones, and no other directory (mend 17)", async () => {
  await using home = new TestHome();
  const repository = new TestRepository(home);
  const trusts = async () => (await home.json<Approval[]>(["approvals"])).filter(({ for: what }) => what === "trust");
  const spawn = (...args: string[]) => home.ok(["spawn", "demo", ...args, "--", "--fast", "--ask-trust"], { cwd: repository.path });
  await spawn("--best-of", "3", "--name", "fix", "--prompt", "say done");
  await spawn("--name", "main", "--prompt", "say done");
  const waiting = await eventually(async () => {
    const open = await trusts();
    return open.length === 4 && open;
  });
  const [first] = waiting.filter(({ name }) => name === "fix-1");
  expect(first).toMatchObject({ for: "trust", channel: "screen", answers: ["allow", "deny", "answer"], status: "open" });
  expect(first?.text).toContain("Do you trust this folder?");
  expect(await home.ok(["approvals", "show", "fix-1"])).toMatch(/asks to trust its folder[\s\S]*No, exit[\s\S]*Yes, I trust/);

  // An agent cannot grant trust to its children.
  const own = await home.json<Session>(["run", "--name", "parent", "--", "sleep", "1000"]);
  using inside = await clientAs(home, own.name);
  const answering = inside.call("answerApproval", { params: { id: first?.id ?? "" }, body: { decision: "allow" } });
  await expect(answering).rejects.toMatchObject({ code: "forbidden" });

  expect(await home.ok(["approvals", "allow", "fix-1"])).toContain("allowed by user:");
  for (const name of ["fix-1", "fix-2", "fix-3"]) await home.until(name, ({ status, turns }) => status === "idle" && turns === 1);
  expect((await trusts()).map(({ name }) => name)).toEqual(["main"]);
  await spawn("--worktree", "--name", "later", "--prompt", "say done");
  await home.until("later", ({ status, turns }) => status === "idle" && turns === 1);
  expect(await home.ok(["trust"])).toMatch(new RegExp(`${repository.path}[\\s\\S]*demo trusts the folder of each worktree`));
  expect(await home.ok(["audit"])).toContain(`trusted ${repository.path}: demo in the worktrees of user:`);

  await home.ok(["trust", "revoke", repository.path]);
  await spawn("--worktree", "--name", "after", "--prompt", "say done");
  await eventually(async () => (await trusts()).some(({ name }) => name === "after"));
  await home.ok(["approvals", "deny", "after"]);
  expect((await home.ended("after")).exit).toMatchObject({ code: 1 });
  expect((await home.session("main")).status).toBe("waiting");
});
