/** Moves a workspace's commits out: to a local branch, to a remote, into a pull request. Git first, then the journal: git's state is the truth. */
import type { MergeOutcome, MergeRequest, Principal, PullRequestOutcome, PullRequestRequest } from "@holdfast/contract";
import { counted, type KeyedMutex } from "@holdfast/platform";
import { umaskIn, withUmask } from "@holdfast/platform/git/command";
import type { Journal } from "../../journal/journal.ts";
import type { WorkspaceRecord } from "../../projection/workspaces.ts";
import type { Environment } from "../git/git.ts";
import { type Pushed, push } from "../git/push.ts";
import { whatIsCheckedOut } from "../git/snapshot.ts";
import { uncommitted } from "../git/uncommitted.ts";
import { liveTree, type TreeRecord } from "../setup/live.ts";
import { merge } from "./merge.ts";
import { openPullRequest } from "./pull-request.ts";

export class Merging {
  readonly #journal: Journal;
  readonly #mutex: KeyedMutex;

  constructor(options: { journal: Journal; mutex: KeyedMutex }) {
    this.#journal = options.journal;
    this.#mutex = options.mutex;
  }

  async merge(record: WorkspaceRecord, request: MergeRequest, actor: Principal): Promise<Omit<MergeOutcome, "workspace">> {
    const { id, name, path, branch, base, mergedTip, mergedCommit, repo } = liveTree(record, "merge");
    const squashed = mergedTip === null || mergedCommit === null ? undefined : { tip: mergedTip, commit: mergedCommit };
    const { way, message, commit } = request;
    const env = withUmask(request.env, umaskIn(path, request.env));
    const order = {
      name,
      tree: path,
      branch,
      into: request.into ?? base ?? "",
      way,
      message,
      commit,
      squashed,
      env,
    };
    // The second lock keeps a rewind of the workspace from running at the same time.
    const merged = await this.#mutex.run(repo, () => this.#mutex.run(id, () => merge(order)));
    const { into, head: tip } = merged;
    this.#journal.append({
      type: "workspace.merged",
      actor,
      session: null,
      data: { id, into, way: merged.way, tip, commit: merged.commit },
    });
    const pushed = request.push ? await this.#push(liveTree(record, "push"), { env, actor }) : null;
    return { merged, pushed };
  }

  async pullRequest(
    record: WorkspaceRecord,
    request: PullRequestRequest,
    actor: Principal,
  ): Promise<Omit<PullRequestOutcome, "workspace">> {
    const tree = liveTree(record, "push");
    const { env, title, draft } = request;
    const changed = await uncommitted(tree.path, { env });
    const notes =
      changed.length === 0
        ? []
        : [`${counted(changed.length, "uncommitted file")} of the workspace ${changed.length === 1 ? "is" : "are"} not in it`];
    const order = { tree: tree.path, branch: await branchOf(tree, env), base: tree.base, title, draft };
    const recordPush = (pushed: Pushed) => this.#recordPush(tree, pushed, actor);
    return { ...(await openPullRequest({ ...order, recordPush }, { env })), notes };
  }

  async #push(tree: TreeRecord, { env, actor }: { env: Environment; actor: Principal }): Promise<Pushed> {
    const pushed = await push({ tree: tree.path, branch: await branchOf(tree, env), base: tree.base }, { env });
    this.#recordPush(tree, pushed, actor);
    return pushed;
  }

  #recordPush({ id }: TreeRecord, { remote, branch, commit }: Pushed, actor: Principal): void {
    this.#journal.append({ type: "workspace.pushed", actor, session: null, data: { id, remote, branch, commit } });
  }
}

/** Uses what is checked out, because agents create branches of their own. */
async function branchOf({ path, branch }: TreeRecord, env: Environment): Promise<string> {
  return (await whatIsCheckedOut(path, env)).branch ?? branch;
}
