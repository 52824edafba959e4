/** Opens a pull request with `gh`, which supports the services and has the user's login. Pushes the branch first. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { HoldfastError } from "@holdfast/contract";
import { findProgram } from "@holdfast/platform";
import { readContext } from "../context/context.ts";
import { GitError, type GitOptions, git, gitCommand } from "../git/git.ts";
import { type Pushed, type PushOrder, push, remoteOf } from "../git/push.ts";
import { commitOf } from "../git/repository.ts";

export interface PullRequestOrder extends PushOrder {
  title?: string | undefined;
  draft: boolean;
  /** Called after a successful push, even if a later step fails. */
  recordPush?: (pushed: Pushed) => void;
}

export interface PullRequest {
  url: string;
  /** True if the pull request existed; it now has the new commits. */
  existed: boolean;
  title: string;
  pushed: Pushed;
}

export async function openPullRequest(order: PullRequestOrder, options: GitOptions): Promise<PullRequest> {
  const { tree, branch, draft } = order;
  const base = await baseFor(order, options);
  const subjects = await subjectsOf(order, base.commit, options);
  if (subjects.length === 0)
    throw new HoldfastError("merge_refused", `${branch} has no commits beyond ${order.base ?? "its base"}: a pull request would be empty`);
  const title = order.title ?? subjects[0] ?? branch;
  const body = resultsOf(tree) ?? subjects.map((subject) => `- ${subject}`).join("\n");
  const pushed = await push(order, options);
  order.recordPush?.(pushed);
  // gh runs git in the tree, so it gets the same repository and configuration.
  const asked = await gitCommand(tree, ["remote"], options);
  if ("code" in asked) throw new GitError(["remote"], asked);
  const { env } = asked;
  const gh = findProgram("gh", env.PATH, "/");
  if (gh === undefined) throw withoutGh(pushed);
  const onto = base.name === null ? [] : ["--base", base.name];
  const args = ["pr", "create", ...onto, "--head", branch, "--title", title, ...(draft ? ["--draft"] : []), "--body-file", "-"];
  try {
    const said = await run(gh, args, {
      cwd: tree,
      env: { ...env, GH_PROMPT_DISABLED: "1", NO_COLOR: "1" },
      input: body,
    });
    return { url: lastUrl(said.stdout) ?? said.stdout.trim(), existed: false, title, pushed };
  } catch (error) {
    const { stderr = "", message } = error as { stderr?: string; message: string };
    const url = /already exists/.test(stderr) ? lastUrl(stderr) : undefined;
    if (url !== undefined) return { url, existed: true, title, pushed };
    throw new HoldfastError("git_failed", `the branch ${branch} was pushed, but gh opened no pull request: ${stderr.trim() || message}`, {
      hint: "try it by hand: gh pr create",
      cause: error,
    });
  }
}

/** Returns the base as the remote has it, because the pull request is made there. `name` null: the remote's default. */
async function baseFor(
  { tree, branch, base }: PullRequestOrder,
  options: GitOptions,
): Promise<{ name: string | null; commit: string | undefined }> {
  if (base === null) return { name: null, commit: undefined };
  const remote = await remoteOf({ tree, branch, base }, options);
  const name = base.startsWith(`${remote}/`) ? base.slice(remote.length + 1) : base;
  const there = await commitOf(tree, `refs/remotes/${remote}/${name}`, options.env);
  const here = await commitOf(tree, `refs/heads/${name}`, options.env);
  // A pull request needs a branch, and this base is a commit.
  if (there === undefined && here === undefined) return { name: null, commit: await commitOf(tree, base, options.env) };
  return { name, commit: there ?? here };
}

async function subjectsOf({ tree, branch }: PullRequestOrder, base: string | undefined, options: GitOptions): Promise<string[]> {
  const without = base === undefined ? [] : [`^${base}`];
  const text = await git(tree, ["log", "--reverse", "--no-merges", "--format=%s", `refs/heads/${branch}`, ...without], options);
  return text.split("\n").filter((line) => line !== "");
}

/** A Working Context that cannot be read safely counts as missing. */
function resultsOf(tree: string): string | undefined {
  try {
    const results = readContext(tree).files.find(({ name }) => name === "results-summary.md");
    return results?.state === "written" ? results.text.trim() : undefined;
  } catch {
    return undefined;
  }
}

function run(program: string, args: string[], { input, ...options }: { cwd: string; env: Record<string, string>; input: string }) {
  const running = promisify(execFile)(program, args, options);
  running.child.stdin?.on("error", () => {}).end(input);
  return running;
}

function lastUrl(text: string): string | undefined {
  return text.match(/https?:\/\/\S+/g)?.at(-1);
}

function withoutGh({ remote, branch, said }: Pushed): HoldfastError {
  const words = said === "" ? "" : `; the remote says:\n${said}`;
  return new HoldfastError(
    "program_not_found",
    `${branch} was pushed to ${remote}, but gh, which opens pull requests, is not on your PATH${words}`,
    {
      hint: "install gh from https://cli.github.com and log in with gh auth login; or open the pull request on the remote's web page",
    },
  );
}
