import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { AnyEvent, ErrorBody, MergeOutcome, PullRequestOutcome, Session, Workspace } from "@holdfast/contract";
import { findProgram } from "@holdfast/platform";
import { describe, expect, test } from "vitest";
import { killDaemon, wrappedGit } from "./git-wrapper.ts";
import { eventually, TestHome } from "./home.ts";
import { TestRepository } from "./repository.ts";

/** Refs, staged and changed files of the repository and a workspace. If equal before and after, nothing has changed. */
function stateOf(repository: TestRepository, ...trees: string[]): string {
  const of = (tree: string) => repository.gitIn(tree, "status", "--porcelain", "--branch") + repository.gitIn(tree, "ls-files", "--stage");
  return [repository.git("for-each-ref", "--format=%(refname) %(objectname)"), ...[repository.path, ...trees].map(of)].join("\n");
}

async function refusal(home: TestHome, args: string[]): Promise<{ code: number | null; error: ErrorBody }> {
  const { code, stderr } = await home.cli([...args, "--json"]);
  return { code, error: (JSON.parse(stderr) as { error: ErrorBody }).error };
}

const events = async (home: TestHome, type: string) =>
  (await home.ok(["events", "--json", "--type", type]))
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as AnyEvent);

describe("merge", () => {
  test("an agent's commits are merged into the base as they are, with an event (CAVE-02 workspaces)", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    const script = "echo new > b.txt; git add .; git commit -qm 'Mend it'; touch ../done; exec sleep 1000";
    const session = await home.json<Session>(["run", "--worktree", "--name", "fix", "--", "sh", "-c", script], { cwd: repository.path });
    await eventually(() => existsSync(path.join(session.cwd, "../done")));
    const tip = repository.gitIn(session.cwd, "rev-parse", "HEAD");
    const { merged, workspace } = await home.json<MergeOutcome>(["workspace", "merge", "fix"]);
    expect(merged).toMatchObject({ way: "ff", into: "main", tip, commit: tip, commits: 1, tree: repository.path });
    expect(workspace).toMatchObject({ ahead: 0, mergedAt: expect.any(String), removedAt: null, sessions: ["fix"] });
    expect(readFileSync(path.join(repository.path, "b.txt"), "utf8")).toBe("new\n");
    expect(repository.git("status", "--porcelain")).toBe("");
    expect((await events(home, "workspace.merged")).map(({ data }) => data)).toEqual([
      { id: workspace.id, into: "main", way: "ff", tip, commit: tip },
    ]);
    expect(await home.cli(["workspace", "merge", "fix"])).toMatchObject({ code: 30, stderr: expect.stringContaining("nothing to merge") });
  });

  test("--squash and --rebase work, from inside the workspace too, and use the caller's own name", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    const one = await repository.workspace("one");
    const two = await repository.workspace("two");
    for (const { path: tree, name } of [one, two]) {
      repository.commit({ [`${name}-1.txt`]: "1\n" }, `${name} first`, tree);
      repository.commit({ [`${name}-2.txt`]: "2\n" }, `${name} second`, tree);
    }
    const env = { GIT_COMMITTER_NAME: "Somebody", GIT_AUTHOR_NAME: "Somebody" };
    expect(await home.ok(["workspace", "merge", "--squash", "-m", "All of one"], { cwd: one.path, env })).toMatch(
      /^one: 2 commits are in main, as one, /,
    );
    expect(await home.cli(["workspace", "merge", "two"])).toMatchObject({
      code: 30,
      stderr: expect.stringMatching(/main has commits that the workspace two does not[\s\S]*--squash[\s\S]*--rebase/),
    });
    expect(await home.ok(["workspace", "merge", "two", "--rebase"], { env })).toMatch(/^two: 2 commits are in main, now at /);
    expect(repository.git("log", "--format=%s|%an|%cn")).toBe(
      "two second|Tester|Somebody\ntwo first|Tester|Somebody\nAll of one|Somebody|Somebody\nfirst|Tester|Tester",
    );
    expect(repository.gitIn(two.path, "rev-parse", "HEAD")).toBe(repository.git("rev-parse", "main"));
    expect(await home.json<Workspace>(["workspace", "show", "two"])).toMatchObject({ ahead: 0, behind: 0, dirty: false });
  });

  test("commits after a squash merge can be merged again without conflicts with the first part", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    const { path: tree } = await repository.workspace("long");
    repository.commit({ "a.txt": "two\n" }, "two", tree);
    repository.commit({ "a.txt": "three\n" }, "three", tree);
    await home.ok(["workspace", "merge", "long", "--squash"]);
    repository.commit({ "a.txt": "four\n" }, "four", tree);
    await home.ok(["workspace", "merge", "long", "--squash"]);
    expect(readFileSync(path.join(repository.path, "a.txt"), "utf8")).toBe("four\n");
    expect(repository.git("log", "--format=%s")).toBe("four\nlong (2 commits)\nfirst");
  });

  test("a conflict is refused with its files, and nothing changes, including the files that --commit would commit", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home, { "a.txt": "one\n", "b.txt": "one\n" });
    const { path: tree } = await repository.workspace("fix");
    repository.commit({ "a.txt": "theirs\n" }, "theirs", tree);
    repository.write({ "b.txt": "theirs\n", "new.txt": "x\n" }, tree);
    repository.commit({ "a.txt": "ours\n", "b.txt": "ours\n" }, "ours");
    const before = stateOf(repository, tree);
    for (const way of ["--squash", "--rebase"]) {
      const { code, error } = await refusal(home, ["workspace", "merge", "fix", way, "--commit", "all"]);
      expect([code, error.code, error.candidates]).toEqual([30, "merge_conflict", expect.arrayContaining(["a.txt"])]);
    }
    const { stderr } = await home.cli(["workspace", "merge", "fix", "--squash", "--commit", "all"]);
    expect(stderr).toMatch(/nothing was changed\n {4}a\.txt\n {4}b\.txt\n/);
    expect(stateOf(repository, tree)).toBe(before);
    expect((await home.json<Workspace>(["workspace", "show", "fix"])).mergedAt).toBeNull();
    expect(await events(home, "workspace.merged")).toEqual([]);
  });

  test("a merge is refused for changes in the base's checkout, files it would overwrite, and uncommitted files, with their names", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    const { path: tree } = await repository.workspace("fix");
    repository.commit({ "b.txt": "new\n" }, "second", tree);
    repository.write({ "a.txt": "half done\n" });
    const tries = async () => {
      const before = stateOf(repository, tree);
      const { code, error } = await refusal(home, ["workspace", "merge", "fix"]);
      expect([code, error.code, stateOf(repository, tree)]).toEqual([30, "merge_refused", before]);
      return error.candidates;
    };
    expect(await tries()).toEqual([" M a.txt"]);
    repository.git("checkout", "--quiet", "a.txt");
    repository.write({ "b.txt": "precious\n" });
    expect(await tries()).toEqual(["b.txt"]);
    expect(readFileSync(path.join(repository.path, "b.txt"), "utf8")).toBe("precious\n");
    repository.git("clean", "--quiet", "-f");
    repository.write({ "c.txt": "x\n" }, tree);
    expect(await tries()).toEqual(["?? c.txt"]);
    await home.ok(["workspace", "merge", "fix", "--commit", "The rest"]);
    expect(repository.git("log", "--format=%s")).toBe("The rest\nsecond\nfirst");
    expect(repository.gitIn(tree, "status", "--porcelain")).toBe("");
  });

  test("a base that is not a branch needs --into; a merge moves the branch of a bare repository", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    repository.git("switch", "--quiet", "--detach");
    const { path: tree } = await repository.workspace("fix");
    const tip = repository.commit({ "b.txt": "new\n" }, "second", tree);
    expect((await refusal(home, ["workspace", "merge", "fix"])).error.hint).toMatch(/--into BRANCH/);
    await home.ok(["workspace", "merge", "fix", "--into", "main"]);
    expect(repository.git("rev-parse", "main")).toBe(tip);
    const bare = path.join(home.root, "bare.git");
    repository.git("clone", "--quiet", "--bare", "--branch", "main", ".", bare);
    const made = await home.json<Workspace>(["workspace", "create", "of-bare"], { cwd: bare });
    const second = repository.commit({ "c.txt": "c\n" }, "third", made.path);
    await home.ok(["workspace", "merge", "of-bare"]);
    expect(repository.gitIn(bare, "rev-parse", made.base ?? "")).toBe(second);
  });

  test("if the daemon dies between git's merge and the event, nothing is lost, and the next merge reports the state", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    const { path: tree } = await repository.workspace("fix");
    repository.commit({ "b.txt": "1\n" }, "second", tree);
    repository.commit({ "b.txt": "2\n" }, "third", tree);
    repository.commit({ "c.txt": "meanwhile\n" }, "meanwhile");
    const env = wrappedGit(home, { command: "merge --quiet --ff-only", after: killDaemon(home) });
    expect((await home.cli(["workspace", "merge", "fix", "--squash"], { env })).code).not.toBe(0);
    expect(repository.git("log", "--format=%s")).toBe("fix (2 commits)\nmeanwhile\nfirst");
    expect(await home.json<Workspace>(["workspace", "show", "fix"])).toMatchObject({ mergedAt: null });
    // Git has all commits, whatever the journal says.
    expect(await home.ok(["workspace", "rm", "fix", "--dry-run"])).toBe("fix: nothing would be lost\n");
    expect(await home.ok(["workspace", "merge", "fix", "--squash"])).toBe("fix: 2 commits are in main, already\n");
    expect(repository.git("log", "--format=%s")).toBe("fix (2 commits)\nmeanwhile\nfirst");
    expect(await home.json<Workspace>(["workspace", "show", "fix"])).toMatchObject({ mergedAt: expect.any(String) });
  });

  test("a plain directory and a removed workspace are refused with the reason", async () => {
    await using home = new TestHome();
    const repository = new TestRepository(home);
    const directory = path.join(home.root, "plain");
    mkdirSync(directory);
    await home.ok(["workspace", "create", "plain"], { cwd: directory });
    expect(await refusal(home, ["workspace", "merge", "plain"])).toMatchObject({ code: 7, error: { code: "repository_unusable" } });
    await repository.workspace("fix");
    await home.ok(["workspace", "rm", "fix"]);
    expect(await refusal(home, ["workspace", "merge", "fix"])).toMatchObject({ code: 6, error: { code: "workspace_removed" } });
  });
});

describe("push and pull requests", () => {
  async function withRemote(home: TestHome) {
    const repository = new TestRepository(home);
    const remote = path.join(home.root, "remote.git");
    repository.git("init", "--quiet", "--bare", remote);
    repository.git("remote", "add", "origin", remote);
    const { path: tree } = await repository.workspace("fix");
    repository.commit({ "b.txt": "new\n" }, "Mend the login", tree);
    return { repository, remote, tree };
  }

  test("--push pushes the workspace's branch to the remote with the caller's environment", async () => {
    await using home = new TestHome();
    const { repository, remote } = await withRemote(home);
    writeFileSync(path.join(remote, "hooks/post-receive"), '#!/bin/sh\necho "hello $PUSHER" >&2\n');
    chmodSync(path.join(remote, "hooks/post-receive"), 0o755);
    // Through ssh, because no hook runs for a directory of this machine.
    repository.git("remote", "set-url", "origin", `ssh://server${remote}`);
    const ssh = path.join(home.root, "ssh");
    writeFileSync(ssh, '#!/bin/sh\nfor command; do :; done\nexec sh -c "$command"\n');
    chmodSync(ssh, 0o755);
    const env = { PUSHER: "caller", GIT_SSH_COMMAND: ssh, GIT_SSH_VARIANT: "simple" };
    const said = await home.ok(["workspace", "merge", "fix", "--push"], { env });
    expect(said).toMatch(/Pushed holdfast\/fix to origin\.\n {2}hello caller\n$/);
    expect(repository.gitIn(remote, "rev-parse", "holdfast/fix")).toBe(repository.git("rev-parse", "holdfast/fix"));
    expect((await events(home, "workspace.pushed"))[0]?.data).toMatchObject({ remote: "origin", branch: "holdfast/fix" });
  });

  test("a failed push reports git's own error; the merge stays", async () => {
    await using home = new TestHome();
    const { repository } = await withRemote(home);
    repository.git("remote", "set-url", "origin", path.join(home.root, "nowhere.git"));
    const { code, stderr } = await home.cli(["workspace", "merge", "fix", "--push"]);
    expect(code).toBe(28);
    expect(stderr).toMatch(/could not push holdfast\/fix to origin:\n[\s\S]*does not appear to be a git repository/);
    expect(repository.git("log", "-1", "--format=%s", "main")).toBe("Mend the login");
    expect((await home.json<Workspace>(["workspace", "show", "fix"])).mergedAt).not.toBeNull();
  });

  test("pr opens a pull request through gh, and explains how to get gh if it is missing", async () => {
    await using home = new TestHome();
    const { repository, remote, tree } = await withRemote(home);
    const programs = path.join(home.root, "programs");
    mkdirSync(programs);
    const gh = `#!/bin/sh\nprintf '%s\\n' "$@" > ${home.root}/asked; cat > ${home.root}/body; pwd >> ${home.root}/asked\necho https://example.com/pull/7\n`;
    writeFileSync(path.join(programs, "gh"), gh);
    chmodSync(path.join(programs, "gh"), 0o755);
    writeFileSync(path.join(tree, "left.txt"), "uncommitted\n");
    const env = { PATH: `${programs}:${home.env.PATH}` };
    const { code, stdout, stderr } = await home.cli(["workspace", "pr", "fix", "--draft"], { env });
    expect([code, stdout]).toEqual([0, "https://example.com/pull/7\n"]);
    expect(stderr).toMatch(/1 uncommitted file of the workspace is not in it/);
    const asked = readFileSync(path.join(home.root, "asked"), "utf8").trim().split("\n");
    expect(asked).toEqual([
      "pr",
      "create",
      "--base",
      "main",
      "--head",
      "holdfast/fix",
      "--title",
      "Mend the login",
      "--draft",
      "--body-file",
      "-",
      tree,
    ]);
    expect(repository.gitIn(remote, "log", "-1", "--format=%s", "holdfast/fix")).toBe("Mend the login");
    const opened = await home.json<PullRequestOutcome>(["workspace", "pr", "fix", "--title", "Other"], { env });
    expect(opened).toMatchObject({ title: "Other", existed: false, pushed: { remote: "origin" } });

    // A PATH with git alone, whatever else is on this machine.
    const alone = path.join(home.root, "alone");
    mkdirSync(alone);
    symlinkSync(findProgram("git", home.env.PATH, "/") ?? "", path.join(alone, "git"));
    const without = await home.cli(["workspace", "pr", "fix"], { env: { PATH: `${alone}:${path.dirname(process.execPath)}` } });
    expect(without).toMatchObject({
      code: 7,
      stderr: expect.stringMatching(/was pushed to origin, but gh[\s\S]*https:\/\/cli\.github\.com/),
    });
  });
});
