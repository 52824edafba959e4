/**
 * Finds what can be deleted without loss: workspaces whose base has everything, records of missing directories, git entries and Holdfast
 * directories that belong to nothing, and old recovery data. Anything with uncommitted or unmerged work or a session stays, with a reason. Each
 * item is checked again when it is removed.
 */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Collected, type CollectOutcome, type Principal, workspaceId } from "@holdfast/contract";
import { counted, isMissing } from "@holdfast/platform";
import type { Journal } from "../../journal/journal.ts";
import type { WorkspaceQueries, WorkspaceRecord } from "../../projection/workspaces.ts";
import { readContext } from "../context/context.ts";
import { type Environment, git, parts, tryGit } from "../git/git.ts";
import { commitOf, findRepository, listTrees } from "../git/repository.ts";
import { GONE_STASHES } from "../radar/stashes.ts";
import { readFiles } from "../setup/files.ts";
import { withBranch } from "../setup/live.ts";
import { forgetInside } from "./inside.ts";
import { isMerged, lossesOf } from "./losses.ts";
import { REMOVED_REFS } from "./remains.ts";
import { type Removing, whyUnreadable } from "./removing.ts";

interface Options {
  dryRun: boolean;
  olderThanMs: number;
  actor: Principal;
  env: Environment;
}

/** `act` is undefined for an item that stays. */
interface Found extends Collected {
  act?: () => Promise<unknown>;
}

interface Rooms {
  directory: string;
  journal: Journal;
  queries: WorkspaceQueries;
  removing: Removing;
}

export function collectWith(rooms: Rooms) {
  return async (options: Options): Promise<CollectOutcome> => {
    const found: Found[] = [];
    for (const record of rooms.queries.list()) {
      const { id, name: what } = record;
      const failed = (error: unknown): Found[] => [{ kind: "gone", what, id, why: (error as Error).message }];
      found.push(...(await itemsOf(rooms, record, options).catch(failed)));
    }
    for (const repo of await repositories(rooms, options.env)) {
      found.push(
        ...(await entries(rooms, repo, options)),
        ...(await recoveries(rooms, repo, options)),
        ...(await stashesIn(repo, options)),
      );
    }
    found.push(...(await unknownIn(rooms, options.env)));

    const removed: Collected[] = [];
    const kept: Collected[] = [];
    for (const { act, ...each } of found) {
      if (!act) kept.push(each);
      else if (options.dryRun) removed.push(each);
      else {
        try {
          await act();
          removed.push(each);
        } catch (error) {
          kept.push({ ...each, why: (error as Error).message });
        }
      }
    }
    return { dryRun: options.dryRun, removed, kept };
  };
}

async function itemsOf(rooms: Rooms, record: WorkspaceRecord, { actor, env }: Options): Promise<Found[]> {
  const { id, name: what, path } = record;
  const remove = (why: "merged" | "gone") => () => rooms.removing.remove(record, { force: false, why, actor, env });
  const isGone = !existsSync(path);
  if (record.kind === "plain")
    return isGone ? [{ kind: "gone", what, id, why: `its directory is gone: ${path}`, act: remove("gone") }] : [];
  const tree = withBranch(record, "look at");
  const unreadable = await whyUnreadable(tree, env);
  if (unreadable !== undefined) {
    if (isGone) return [{ kind: "gone", what, id, why: unreadable, act: remove("gone") }];
    return [
      {
        kind: "gone",
        what,
        id,
        why: `${unreadable}; its files are still in ${path}; to remove it and set them aside: holdfast workspace rm ${what} --force`,
      },
    ];
  }
  const { files, commits } = await lossesOf(tree, { env });
  if (isGone) {
    const why = `its directory is gone: ${path}`;
    const keeps = `${why}, but its branch has ${counted(commits.length, "commit")} of its own; to recover it: holdfast workspace recover ${what}`;
    return [commits.length > 0 ? { kind: "gone", what, id, why: keeps } : { kind: "gone", what, id, why, act: remove("gone") }];
  }
  const tip = await commitOf(path, "HEAD", env);
  if (tip === undefined || commits.length > 0 || !(await isMerged(tree, tip, { env }))) return [];
  const isUnused = tip === record.baseCommit && record.mergedAt === null;
  if (isUnused) return [];
  const sessions = rooms.queries.sessionsOf(id);
  const why = `${record.base} has all of its commits`;
  const but = [
    files.length > 0 ? counted(files.length, "uncommitted file") : "",
    sessions.length > 0 ? `${counted(sessions.length, "session")} in it: ${sessions.join(", ")}` : "",
    record.setup?.state === "running" ? "a set-up that is still running" : "",
  ].filter((each) => each !== "");
  if (but.length > 0) return [{ kind: "merged", what, id, why: `${why}, but it has ${but.join(", and ")}` }];
  return [{ kind: "merged", what, id, why, act: remove("merged") }];
}

async function repositories(rooms: Rooms, env: Environment): Promise<string[]> {
  const known = new Set(rooms.queries.list({ all: true }).flatMap(({ repo }) => (repo === null ? [] : [repo])));
  const found: string[] = [];
  for (const repo of known) if (existsSync(repo) && (await findRepository(repo, env).catch(() => undefined))) found.push(repo);
  return found;
}

/** Git's entries of Holdfast worktrees that no record accounts for. */
async function entries(rooms: Rooms, repo: string, { env }: Options): Promise<Found[]> {
  const known = new Set(rooms.queries.list().map(({ path }) => path));
  const trees = (await listTrees(repo, env)).filter(({ path }) => path.startsWith(`${rooms.directory}/`));
  return trees
    .filter(({ path }) => !existsSync(path) && !known.has(path) && !readFiles(dirname(path))?.making)
    .map(({ path }) => ({
      kind: "entry",
      what: path,
      id: null,
      why: `git lists it in ${repo}, but it does not exist`,
      act: () => git(repo, ["worktree", "remove", "--force", "--force", path], { env, direct: true }),
    }));
}

async function recoveries(rooms: Rooms, repo: string, { env, olderThanMs, actor }: Options): Promise<Found[]> {
  const lines = (await git(repo, ["for-each-ref", "--format=%(refname) %(committerdate:unix)", REMOVED_REFS], { env })).split("\n");
  return lines.flatMap((line): Found[] => {
    const [ref = "", seconds] = line.split(" ");
    const id = workspaceId(ref.slice(REMOVED_REFS.length + 1));
    const age = Date.now() - Number(seconds) * 1000;
    // A ref of another home that shares the repository is not ours to delete.
    const record = rooms.queries.get(id);
    if (ref === "" || !record || age < olderThanMs) return [];
    const why = `recovery data of ${record.name}, removed ${counted(Math.floor(age / 86_400_000), "day")} ago`;
    return [{ kind: "recovery", what: ref, id, why, act: () => forget(rooms, { repo, ref, record }, { env, actor }) }];
  });
}

/** Appends the event first: a ref that survives it is found again by the next collection. */
async function forget(
  rooms: Rooms,
  { repo, ref, record }: { repo: string; ref: string; record: WorkspaceRecord },
  { env, actor }: { env: Environment; actor: Principal },
): Promise<void> {
  const { id, name } = record;
  if (record.recoveryRef !== null) rooms.journal.append({ type: "workspace.forgotten", actor, session: null, data: { id, name, ref } });
  await forgetInside({ repo, id }, { env });
  await git(repo, ["update-ref", "-d", ref], { env });
}

/** Directories that neither the journal nor a file in them accounts for. */
async function unknownIn(rooms: Rooms, env: Environment): Promise<Found[]> {
  const found: Found[] = [];
  for (const name of entriesOf(rooms.directory)) {
    if (rooms.queries.get(workspaceId(name))) continue;
    const path = join(rooms.directory, name);
    const what = { kind: "unknown" as const, what: path, id: null };
    if (readFiles(path)?.making) {
      found.push({ ...what, why: "it is being created, or its creation failed: the daemon checks it again at its next start" });
      continue;
    }
    const holds = await workIn(path, env);
    if (holds !== undefined) found.push({ ...what, why: `it belongs to no workspace, but ${holds}` });
    else found.push({ ...what, why: "it belongs to no workspace and has no files of its own", act: () => removeUnknown(path, env) });
  }
  return found;
}

/** Copies of stashes that were popped or dropped. Their age is that of the stash: git records no other time. */
async function stashesIn(repo: string, { env, olderThanMs }: Options): Promise<Found[]> {
  const lines = (await git(repo, ["for-each-ref", "--format=%(refname) %(committerdate:unix)", GONE_STASHES], { env })).split("\n");
  return lines.flatMap((line): Found[] => {
    const [ref = "", seconds] = line.split(" ");
    const age = Date.now() - Number(seconds) * 1000;
    if (ref === "" || age < olderThanMs) return [];
    const why = `a stash of ${counted(Math.floor(age / 86_400_000), "day")} ago that was popped or dropped`;
    return [{ kind: "stash", what: ref, id: null, why, act: () => git(repo, ["update-ref", "-d", ref], { env }) }];
  });
}

/** Describes work that would be lost with the directory, or returns undefined. */
async function workIn(path: string, env: Environment): Promise<string | undefined> {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    if (!entry.isDirectory()) {
      if (!/^(workspace\.json|set-?up.*|recovering)$/.test(entry.name)) return `it contains ${inner}`;
    } else if (!existsSync(join(inner, ".git"))) {
      if (readdirSync(inner).length > 0) return `it contains ${inner}`;
    } else {
      const status = await tryGit(inner, ["status", "--porcelain", "-z", "-uall", "--ignore-submodules=dirty"], { env });
      if (status.code !== 0) return `git cannot read ${inner}`;
      if (parts(status.stdout).length > 0) return `${inner} has uncommitted files`;
      const own = await git(inner, ["rev-list", "--max-count=1", "HEAD", "--not", "--branches", "--remotes", "--tags"], { env });
      if (own !== "") return `${inner} has commits that are on no branch`;
      if (readContext(inner).files.some(({ state }) => state === "written")) return `${inner} has a Working Context`;
    }
  }
  return undefined;
}

async function removeUnknown(path: string, env: Environment): Promise<void> {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const tree = join(path, entry.name);
    if (entry.isDirectory() && existsSync(join(tree, ".git")))
      await git(tree, ["worktree", "remove", "--force", "--force", tree], { env, direct: true });
  }
  rmSync(path, { recursive: true, force: true });
}

function entriesOf(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}
