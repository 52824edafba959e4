/**
 * Starts a session that continues a copy of another session's conversation, in its own workspace. The original is only read: its workspace gets at
 * most a checkpoint, and it may keep running. The agent copies the conversation itself, or it is copied in the agent's store. A fork is refused
 * before anything is created; if the new session does not start, what was created for it is removed (Sessions.spawn).
 */
import { randomUUID } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { sep } from "node:path";
import {
  type Checkpoint,
  type Fork,
  type ForkFiles,
  type ForkRequest,
  HoldfastError,
  type Principal,
  requestedOf,
  type SessionId,
  type SpawnRequest,
} from "@holdfast/contract";
import { counted, type Home } from "@holdfast/platform";
import type { Copied } from "../agent/fork.ts";
import { type Asked, choosesItself } from "../agent/launch.ts";
import type { Profile } from "../agent/profile.ts";
import type { Profiles } from "../agent/profiles/index.ts";
import { splitPrompt } from "../agent/prompt-arguments.ts";
import { turnsIn } from "../agent/transcript.ts";
import type { SessionQueries, SessionRecord } from "../projection/session-queries.ts";
import type { WorkspaceRecord } from "../projection/workspaces.ts";
import { type Checkpoints, translated } from "../workspace/checkpoint/workspace-checkpoints.ts";
import { findRepository } from "../workspace/git/repository.ts";
import { takeTree } from "../workspace/git/snapshot.ts";
import type { CopyOf, Workspaces } from "../workspace/workspaces.ts";
import type { ForkOrder } from "./fork-order.ts";
import { workspaceHint } from "./resume.ts";
import { checkDirectory } from "./run/plan.ts";
import { readSessionFiles, ruleIn, type Spec } from "./run/run-files.ts";
import type { Sessions } from "./sessions.ts";
import { conversationWithTurns } from "./turns.ts";

/** The place of the fork, before anything is created. */
interface Where {
  files: ForkFiles;
  cwd: string;
  workspace?: string | undefined;
  worktree?: { base?: string | undefined };
  /** Determines the content of the new worktree. */
  begins?: (name: string) => Promise<{ copyOf: CopyOf; checkpoint: number | null }>;
}

interface Rooms {
  home: Home;
  queries: SessionQueries;
  profiles: Profiles;
  sessions: Sessions;
  workspaces: Workspaces;
  checkpoints: Checkpoints;
}

export function forkWith(rooms: Rooms) {
  return async (ref: string, wanted: ForkRequest, { actor, parent }: { actor: Principal; parent: SessionId | null }): Promise<Fork> => {
    const record = rooms.queries.resolve(ref);
    const profile = rooms.profiles.get(record.agent);
    const { spec, env } = readSessionFiles(rooms.home, record.id);
    const known = record.conversation;
    const kept = known === null ? null : turnsIn(profile.transcript, { conversation: known, cwd: record.cwd, env });
    const { asked, conversation } = conversationToFork(record, { spec, profile, kept });
    const where = await whereOf(rooms, record, { wanted, env, actor });
    const name = wanted.name ?? freeName(rooms, record.name);
    const { setup } = wanted;
    const request: SpawnRequest = {
      ...sameAs(record, { spec, asked }),
      env,
      name,
      cwd: where.cwd,
      workspace: where.workspace,
      worktree: where.worktree && { ...where.worktree, setup },
    };
    rooms.sessions.checkNew(request);
    const { copyOf, checkpoint = null } = (await where.begins?.(name)) ?? {};
    const fork: ForkOrder = {
      from: { session: record.id, name: record.name, conversation, checkpoint },
      copy: async (directory) => copyConversation(profile, { from: conversation, directory, env, program: asked.program }),
    };
    return { ...(await rooms.sessions.spawn(request, { actor, parent, fork, copyOf })), files: where.files };
  };
}

async function whereOf(
  rooms: Rooms,
  record: SessionRecord,
  { wanted, env, actor }: { wanted: ForkRequest; env: Record<string, string>; actor: Principal },
): Promise<Where> {
  const { cwd, workspace, checkpoint } = wanted;
  if ([cwd, workspace, checkpoint].filter((given) => given !== undefined).length > 1)
    throw new HoldfastError("usage", "a fork starts in a directory, in a workspace, or in a new one from a checkpoint", {
      hint: "pass only one of --cwd, --workspace and --checkpoint",
    });
  if (cwd !== undefined || workspace !== undefined) return { files: "given", cwd: cwd ?? record.cwd, workspace };
  const own = record.workspace ? rooms.workspaces.queries.get(record.workspace.id) : undefined;
  if (own?.kind === "worktree") return fromCheckpoint(rooms, record, own, { number: checkpoint, actor });
  if (checkpoint !== undefined)
    throw new HoldfastError("checkpoint_not_found", `${record.name} has no checkpoints: it has no worktree of its own`, {
      hint: `omit --checkpoint to copy its current files`,
    });
  checkDirectory(record.cwd, workspaceHint(record));
  const tree = (await findRepository(record.cwd, env))?.tree ?? null;
  if (tree === null) return { files: "shared", cwd: record.cwd };
  return { files: "copied", cwd: record.cwd, worktree: {}, begins: () => asItIs(tree, { name: record.name, env }) };
}

function fromCheckpoint(
  rooms: Rooms,
  record: SessionRecord,
  own: WorkspaceRecord,
  how: { number: number | undefined; actor: Principal },
): Where {
  const { worktree: root } = rooms.checkpoints.placeOf(own);
  const isInside = record.cwd === own.path || record.cwd.startsWith(`${own.path}${sep}`);
  return {
    files: "checkpoint",
    cwd: isInside && existsSync(record.cwd) ? record.cwd : own.path,
    worktree: { base: own.base ?? undefined },
    begins: async (name) => {
      const checkpoint =
        how.number === undefined
          ? await rooms.checkpoints.current(own, { why: "asked", note: `for the fork ${name}`, actor: how.actor })
          : await rooms.checkpoints.get(own, how.number);
      const { number, tree, leftOut } = checkpoint;
      return { checkpoint: number, copyOf: { root, head: headOf(checkpoint), tree, leftOut, baseCommit: own.baseCommit } };
    },
  };
}

function freeName(rooms: Rooms, name: string): string {
  for (let count = 1; ; count++) {
    const fork = `${name}-fork${count === 1 ? "" : `-${count}`}`;
    const isTaken = rooms.queries.byName(fork) !== undefined || rooms.workspaces.queries.byName(fork) !== undefined;
    if (!isTaken) return fork;
  }
}

/** Returns the requested command and the conversation to copy. Throws if there is none, or if it cannot be copied. */
export function conversationToFork(
  record: SessionRecord,
  { spec, profile, kept }: { spec: Spec; profile: Profile; kept: number | null },
): { asked: Asked; conversation: string } {
  const { name, agent, turns } = record;
  const { asked } = spec;
  const inItsPlace = "start a session without a conversation: holdfast spawn AGENT --worktree";
  const refuse = (why: string, hint = inItsPlace) => new HoldfastError("fork_refused", why, { hint });
  if (record.kind === "shell") throw refuse(`${name} is a ${agent} and has no conversation to copy`);
  if (record.kind === "conversation") throw refuse(`${name} is a conversation whose agent cannot copy conversations`);
  if (!profile.conversation?.fork) throw refuse(`${agent} cannot continue a copy of a conversation`);
  if (!asked)
    throw refuse(
      `${name} was started by an older Holdfast, without the data that a fork needs`,
      `its next run has it: holdfast stop ${name}; holdfast resume ${name}`,
    );
  if (choosesItself(profile, asked))
    throw refuse(
      `${name} was started with arguments that choose its conversation: ${asked.args.join(" ")}`,
      "fork it with its agent's own command",
    );
  const original = turns === 0 ? (spec.forkedFrom?.copy ?? spec.forkedFrom?.conversation ?? null) : null;
  const conversation = original ?? conversationWithTurns(record, { profile, kept });
  // A prompt in its arguments is part of the copied conversation.
  if (conversation !== null) return { asked: { ...asked, args: splitPrompt(profile, asked.args).args }, conversation };
  if (turns === 0 || record.conversation !== null)
    throw refuse(`${name} has had no turn yet: there is nothing to copy`, "give it a task first, or start another session: holdfast spawn");
  throw new HoldfastError("conversation_unknown", `${name} had ${counted(turns, "turn")}, but its conversation is not known`, {
    hint: inItsPlace,
  });
}

/** The options that the original was started with, except those that are the fork's own. */
function sameAs(record: SessionRecord, { spec, asked }: { spec: Spec; asked: Asked }): Omit<SpawnRequest, "name" | "cwd" | "env"> {
  const rule = ruleIn(spec);
  return {
    ...requestedOf(record),
    agent: record.agent,
    command: [...asked.program],
    args: [...asked.args],
    chat: false,
    umask: spec.umask,
    start: true,
    context: asked.context ?? true,
    tools: rule?.allowed ?? undefined,
    disallowedTools: rule?.denied,
    host: record.host === "foreign" ? undefined : record.host,
  };
}

async function copyConversation(
  profile: Profile,
  { directory, ...place }: { from: string; directory: string; env: Record<string, string>; program: readonly string[] },
): Promise<Copied | null> {
  const fork = profile.conversation?.fork;
  return fork && "copy" in fork ? fork.copy({ ...place, id: randomUUID(), directory: realpathSync(directory) }) : null;
}

/** Takes the files of a directory that has no checkpoints. */
function asItIs(tree: string, { name, env }: { name: string; env: Record<string, string> }) {
  return translated(async () => {
    const taken = await takeTree(tree, { env });
    const head = taken.head ?? noCommit(name);
    return { checkpoint: null, copyOf: { root: tree, head, tree: taken.tree, leftOut: taken.leftOut, baseCommit: null } };
  });
}

function headOf({ head, number }: Checkpoint): string {
  return head ?? noCommit(`checkpoint ${number}`);
}

function noCommit(what: string): never {
  throw new HoldfastError("repository_unusable", `there was no commit yet at ${what}, and a worktree needs one`, {
    hint: "create one: git commit --allow-empty -m 'Begin'; or choose a directory: --cwd",
  });
}
