/** Tournaments: several agents on one prompt, each in its own workspace from the same commit, of which one is kept. */
import * as z from "zod/mini";
import { Principal, TournamentId, WorkspaceId } from "../ids.ts";
import { Session, Time } from "../session/session.ts";
import { DiffStat } from "../workspace/endpoints.ts";
import { Workspace } from "../workspace/workspace.ts";
import { CHECK_STATES } from "./enums.ts";

/** The last check command that ran in a workspace. */
export const Check = z.object({
  command: z.string(),
  state: z.enum(CHECK_STATES),
  exitCode: z.nullable(z.int()),
  /** Null while it runs, and if its end was not seen. */
  durationMs: z.nullable(z.number()),
  startedAt: Time,
  /** File with the complete output. */
  log: z.string(),
});
export type Check = z.infer<typeof Check>;

export const TournamentEntry = z.object({
  /** Number of the entry, from 1. */
  number: z.int(),
  name: z.string(),
  agent: z.string(),
  /** Null: not started, or its record was removed. */
  session: z.nullable(Session),
  /** Null: not created. A removed workspace is included, with its recovery ref. */
  workspace: z.nullable(Workspace),
  /** Changes since the common base commit, including uncommitted and new files; null if git cannot tell. */
  diff: z.nullable(DiffStat),
  check: z.nullable(Check),
});
export type TournamentEntry = z.infer<typeof TournamentEntry>;

export const Tournament = z.object({
  id: TournamentId,
  name: z.string(),
  /** Null if only the files of its workspaces remain. */
  prompt: z.nullable(z.string()),
  repo: z.nullable(z.string()),
  base: z.nullable(z.string()),
  baseCommit: z.nullable(z.string()),
  owner: Principal,
  startedAt: Time,
  /** Name of the entry that was kept. */
  kept: z.nullable(z.string()),
  keptAt: z.nullable(Time),
  entries: z.array(TournamentEntry),
});
export type Tournament = z.infer<typeof Tournament>;

/** These events belong to no session. */
export const TOURNAMENT_EVENTS = {
  /** Recorded before the entries start. Each of the sessions and workspaces that follow names its tournament. */
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
  /** One entry was merged; the others are about to be removed. */
  "tournament.kept": z.object({ id: TournamentId, name: z.string(), workspace: WorkspaceId }),
};
