import { chmodSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "@holdfast/platform";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { ScratchRepository } from "../../../test/scratch-repository.ts";
import { makeContext } from "../context/context.ts";
import { push } from "../git/push.ts";
import { openPullRequest, type PullRequestOrder } from "./pull-request.ts";

let repository: ScratchRepository;
let tree: string;
let remote: string;

beforeEach(() => {
  repository = new ScratchRepository();
  onTestFinished(() => repository[Symbol.dispose]());
  remote = join(repository.root, "remote.git");
  repository.git("init", "--quiet", "--bare", remote);
  repository.git("remote", "add", "origin", remote);
  tree = repository.worktree("fix");
  repository.commit({ "b.txt": "b\n" }, "Mend the login", tree);
  repository.commit({ "c.txt": "c\n" }, "And its test", tree);
});

const order = (more: Partial<PullRequestOrder> = {}) => ({ tree, branch: "holdfast/fix", base: "main", draft: false, ...more });
const options = (more: Record<string, string> = {}) => ({ env: { ...repository.env, ...more } });

/** Makes the remote a server: its hooks run there, with their output. */
function onServer(): Record<string, string> {
  repository.git("remote", "set-url", "origin", `ssh://server${remote}`);
  repository.write({ "programs/ssh": '#!/bin/sh\nfor command; do :; done\nexec sh -c "$command"\n' }, repository.root);
  chmodSync(join(repository.root, "programs/ssh"), 0o755);
  return { GIT_SSH_COMMAND: join(repository.root, "programs/ssh"), GIT_SSH_VARIANT: "simple" };
}

/** A gh that records its arguments, then runs the script. */
function scripted(script: string): { env: Record<string, string> } {
  const directory = join(repository.root, "programs");
  repository.write(
    { "programs/gh": `#!/bin/sh\nprintf '%s\\n' "$@" > ${repository.root}/asked\ncat > ${repository.root}/body\n${script}\n` },
    repository.root,
  );
  chmodSync(join(directory, "gh"), 0o755);
  return options({ PATH: `${directory}:${repository.env.PATH}` });
}

test("the branch is pushed to the remote and tracks it", async () => {
  const { remote: name, commit } = await push(order(), options());
  expect(name).toBe("origin");
  expect(repository.gitIn(remote, "rev-parse", "holdfast/fix")).toBe(commit);
  expect(repository.gitIn(tree, "rev-parse", "--abbrev-ref", "HEAD@{upstream}")).toBe("origin/holdfast/fix");
});

test("the base's remote takes precedence over origin, and a single remote is used without either", async () => {
  const upstream = join(repository.root, "upstream.git");
  repository.git("init", "--quiet", "--bare", upstream);
  repository.git("remote", "add", "upstream", upstream);
  repository.git("push", "--quiet", "-u", "upstream", "main");
  expect((await push(order(), options())).remote).toBe("upstream");
  repository.git("remote", "remove", "upstream");
  repository.git("remote", "rename", "origin", "only");
  expect((await push(order(), options())).remote).toBe("only");
  repository.git("remote", "remove", "only");
  await expect(push(order(), options())).rejects.toMatchObject({ code: "repository_unusable", hint: "add one: git remote add origin URL" });
});

test("a failed push reports git's own message", async () => {
  repository.write({ "hooks/pre-receive": "#!/bin/sh\necho the gate is closed >&2\nexit 1\n" }, remote);
  chmodSync(join(remote, "hooks/pre-receive"), 0o755);
  await expect(push(order(), options(onServer()))).rejects.toMatchObject({
    code: "git_failed",
    message: expect.stringMatching(/remote: the gate is closed/),
  });
});

test("a remote on this machine, which an agent can set, runs none of its hooks (mend 3)", async () => {
  repository.write({ "hooks/pre-receive": `#!/bin/sh\ntouch ${repository.root}/ran\n` }, remote);
  chmodSync(join(remote, "hooks/pre-receive"), 0o755);
  await push(order(), options());
  expect(existsSync(join(repository.root, "ran"))).toBe(false);
});

test("gh gets the base, the head, the first commit's title and the list of commits", async () => {
  const gh = scripted("echo Creating... >&2; echo https://example.com/pull/7");
  const opened = await openPullRequest(order({ draft: true }), gh);
  expect(opened).toMatchObject({ url: "https://example.com/pull/7", existed: false, title: "Mend the login" });
  expect(repository.read("asked", repository.root).split("\n").slice(0, -1)).toEqual([
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
  ]);
  expect(repository.read("body", repository.root)).toBe("- Mend the login\n- And its test");
  expect(repository.gitIn(remote, "rev-parse", "holdfast/fix")).toBe(opened.pushed.commit);
});

test("the agent's results summary is the body, but the template is not", async () => {
  const file = ".holdfast/context/results-summary.md";
  const gh = scripted("echo https://example.com/pull/7");
  makeContext(tree);
  await openPullRequest(order(), gh);
  expect(repository.read("body", repository.root)).toMatch(/^- Mend/);
  repository.write({ [file]: "# Results\n\nIt works.\n" }, tree);
  await openPullRequest(order({ title: "T" }), gh);
  expect(repository.read("body", repository.root)).toBe("# Results\n\nIt works.");
});

test("a locally merged branch still gets a pull request while the remote lacks it; without a base branch gh chooses one", async () => {
  const gh = scripted("echo https://example.com/pull/7");
  repository.git("push", "--quiet", "-u", "origin", "main");
  repository.git("merge", "--quiet", "--ff-only", "holdfast/fix");
  await openPullRequest(order({ base: "origin/main" }), gh);
  expect(repository.read("asked", repository.root)).toMatch(/--base\nmain\n/);
  await openPullRequest(order({ base: repository.git("rev-parse", "main~2") }), gh);
  expect(repository.read("asked", repository.root)).not.toMatch(/--base/);
  repository.git("push", "--quiet", "origin", "main");
  await expect(openPullRequest(order(), gh)).rejects.toMatchObject({ code: "merge_refused" });
});

test("an existing pull request is reported with its address", async () => {
  const gh = scripted(
    `echo 'a pull request for branch "holdfast/fix" into branch "main" already exists:' >&2; echo https://example.com/pull/7 >&2; exit 1`,
  );
  expect(await openPullRequest(order(), gh)).toMatchObject({ url: "https://example.com/pull/7", existed: true });
});

test("a failure of gh is reported in its own words", async () => {
  const gh = scripted("echo To get started with GitHub CLI, please run: gh auth login >&2; exit 4");
  await expect(openPullRequest(order(), gh)).rejects.toMatchObject({
    message: expect.stringMatching(/was pushed, but gh .*gh auth login/),
  });
});

test("without gh the branch is pushed, and the error says how to get gh and shows the remote's message", async () => {
  repository.write({ "hooks/post-receive": "#!/bin/sh\necho 'Create a pull request: https://example.com/compare/fix' >&2\n" }, remote);
  chmodSync(join(remote, "hooks/post-receive"), 0o755);
  // The only directory on the PATH, whatever else is on this machine.
  const alone = join(repository.root, "alone");
  mkdirSync(alone);
  for (const name of ["git", "git-receive-pack", "sh"]) symlinkSync(findProgram(name, repository.env.PATH, "/") ?? "", join(alone, name));
  await expect(openPullRequest(order(), options({ ...onServer(), PATH: alone }))).rejects.toMatchObject({
    code: "program_not_found",
    message: expect.stringMatching(/https:\/\/example\.com\/compare\/fix/),
    hint: expect.stringMatching(/cli\.github\.com/),
  });
  expect(repository.gitIn(remote, "log", "-1", "--format=%s", "holdfast/fix")).toBe("And its test");
});

test("a remote that becomes a local directory after the check is not pushed to (mend 3)", async () => {
  const server = onServer();
  const evil = join(repository.root, "evil.git");
  repository.git("init", "--quiet", "--bare", evil);
  repository.write({ "evil.git/hooks/pre-receive": `#!/bin/sh\ntouch ${repository.root}/planted\n` }, repository.root);
  chmodSync(join(evil, "hooks/pre-receive"), 0o755);
  const real = findProgram("git", repository.env.PATH, "/");
  const swap = `case "$*" in *get-url*) ${real} -C ${repository.path} config --file ${repository.common}/config remote.origin.url ${evil};; esac`;
  repository.write({ "programs/git": `#!/bin/sh\n${real} "$@"; code=$?\n${swap}\nexit $code\n` }, repository.root);
  chmodSync(join(repository.root, "programs/git"), 0o755);
  const env = options({ ...server, PATH: `${join(repository.root, "programs")}:${repository.env.PATH}` });
  await expect(push(order(), env)).rejects.toThrow("transport 'file' not allowed");
  expect(existsSync(join(repository.root, "planted"))).toBe(false);
});
