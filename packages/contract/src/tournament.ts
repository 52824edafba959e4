/** Several agents on one prompt, each in a workspace of its own from the same commit; one is kept. */
import * as z from "zod/mini";
import { Principal, TournamentId, WorkspaceId } from "./ids.ts";
import { Session, Time } from "./session.ts";
import { CHECK_STATES } from "./status.ts";
import { Workspace } from "./workspace.ts";
import { DiffStat } from "./workspace-endpoints.ts";

/** The last command that was run in a workspace to see what it is worth. */
export const Check = z.object({
  command: z.string(),
  state: z.enum(CHECK_STATES),
  exitCode: z.nullable(z.int()),
  /** Null while it runs, and when nobody saw its end. */
  durationMs: z.nullable(z.number()),
  startedAt: Time,
  /** The file with all that it said. */
  log: z.string(),
});
export type Check = z.infer<typeof Check>;

export const TournamentEntry = z.object({
  /** From 1. */
  number: z.int(),
  name: z.string(),
  agent: z.string(),
  /** Null: it was not started, or its record was removed. */
  session: z.nullable(Session),
  /** Null: it was not made. A removed one is here with how to bring it back. */
  workspace: z.nullable(Workspace),
  /** Against the commit that all began from, uncommitted and new files included; null where it cannot be asked. */
  diff: z.nullable(DiffStat),
  check: z.nullable(Check),
});
export type TournamentEntry = z.infer<typeof TournamentEntry>;

export const Tournament = z.object({
  id: TournamentId,
  name: z.string(),
  /** Null where only the files of its workspaces are left of it. */
  prompt: z.nullable(z.string()),
  repo: z.nullable(z.string()),
  base: z.nullable(z.string()),
  baseCommit: z.nullable(z.string()),
  owner: Principal,
  startedAt: Time,
  /** The name of the entry that was kept. */
  kept: z.nullable(z.string()),
  keptAt: z.nullable(Time),
  entries: z.array(TournamentEntry),
});
export type Tournament = z.infer<typeof Tournament>;

/** Of no session. */
export const TOURNAMENT_EVENTS = {
  /** What is to be started; its sessions and workspaces follow, each of which says that it belongs to it. */
  "tournament.started": z.object({
    id: TournamentId,
    name: z.string(),
    prompt: z.string(),
    repo: z.string(),
    base: z.string(),
    baseCommit: z.string(),
    agents: z.array(z.string()),
  }),
  "workspace.check_started": z.object({ id: WorkspaceId, command: z.string() }),
  "workspace.check_ended": z.object({
    id: WorkspaceId,
    command: z.string(),
    state: z.enum(CHECK_STATES),
    exitCode: z.nullable(z.int()),
    durationMs: z.nullable(z.number()),
  }),
  /** One is merged; what is left of the others goes. */
  "tournament.kept": z.object({ id: TournamentId, name: z.string(), workspace: WorkspaceId }),
};
