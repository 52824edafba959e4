/** Endpoints of tournaments, and of the checks that compare their entries. */
import * as z from "zod/mini";
import type { Endpoint } from "../endpoint.ts";
import { ROUTES } from "../routes.ts";
import { CLOSED_TO_SESSIONS, FirstPrompt, SpawnRequest } from "../session/spawn-request.ts";
import { MergeRequest, RemoveOutcome } from "../workspace/end.ts";
import { Check, Tournament } from "./tournament.ts";

/** Each entry is a separate agent with its own worktree and its own use of the machine. */
const MOST_ENTRIES = 20;
const text = z.string().check(z.minLength(1), z.maxLength(1000, "a name has at most 1,000 characters"));

/** A spawn request without the fields that differ between entries. */
export const TournamentRequest = z.extend(
  z.omit(SpawnRequest, { agent: true, name: true, command: true, prompt: true, worktree: true, workspace: true }),
  {
    /** Entries are named NAME-1, NAME-2 and so on; by default the name is two readable words. */
    name: z.optional(text),
    /** Agents of the entries, used in turn. */
    agents: z.array(text).check(z.minLength(1, "name at least one agent"), z.maxLength(100, "at most 100 agents")),
    count: z
      .int()
      .check(z.minimum(2, "a tournament has at least 2 entries"), z.maximum(MOST_ENTRIES, "a tournament has at most 20 entries")),
    prompt: FirstPrompt,
    base: z.optional(text),
    setup: z._default(z.boolean(), true),
  },
);
export type TournamentRequest = z.infer<typeof TournamentRequest>;

/** An entry that could not be started, with the error. */
export const EntryFailure = z.object({
  number: z.int(),
  name: z.string(),
  agent: z.string(),
  error: z.object({ code: z.string(), message: z.string(), hint: z.optional(z.string()) }),
});
export type EntryFailure = z.infer<typeof EntryFailure>;

const TOURNAMENT_ERRORS = ["tournament_not_found"] as const;

export const TOURNAMENT_ENDPOINTS = {
  startTournament: {
    ...ROUTES.startTournament,
    summary:
      "Starts several agents on one prompt, each in its own worktree from the same commit. A second call with the same name and prompt starts the missing entries.",
    scope: "driver",
    reach: "own",
    takesText: true,
    closedToSessions: CLOSED_TO_SESSIONS,
    body: TournamentRequest,
    reply: z.object({ tournament: Tournament, failures: z.array(EntryFailure) }),
    errors: [
      "invalid_name",
      "name_taken",
      "agent_unknown",
      "agent_too_old",
      "program_not_found",
      "cwd_unusable",
      "repository_unusable",
      "git_failed",
      "not_trusted",
      "usage",
    ],
  },
  listTournaments: {
    ...ROUTES.listTournaments,
    summary: "Open tournaments, oldest first; with `all` also finished ones.",
    scope: "observer",
    reach: "own",
    query: z.object({ all: z._default(z.stringbool(), false) }),
    reply: z.object({ tournaments: z.array(z.omit(Tournament, { entries: true })) }),
    errors: [],
  },
  getTournament: {
    ...ROUTES.getTournament,
    summary: "One tournament by its name or id, or by an entry's name, with the progress of each entry.",
    scope: "observer",
    reach: "own",
    reply: Tournament,
    errors: TOURNAMENT_ERRORS,
  },
  keepEntry: {
    ...ROUTES.keepEntry,
    summary:
      "Merges one entry into its base, then stops and removes the others, which can be recovered. A second call continues an interrupted one.",
    scope: "driver",
    takesText: true,
    body: z.extend(MergeRequest, { entry: text }),
    reply: z.object({
      tournament: Tournament,
      /** Null: already merged before. */
      merged: z.nullable(z.object({ into: z.string(), commit: z.string(), commits: z.int() })),
      removed: z.array(RemoveOutcome),
      notes: z.array(z.string()),
    }),
    errors: [
      ...TOURNAMENT_ERRORS,
      "tournament_kept",
      "workspace_removed",
      "repository_unusable",
      "merge_conflict",
      "merge_refused",
      "stop_incomplete",
      "git_failed",
    ],
  },
  checkWorkspace: {
    ...ROUTES.checkWorkspace,
    summary: "Runs a check command in a workspace and replies when it has ended. The command ends with the caller.",
    scope: "driver",
    reach: "own",
    takesText: true,
    body: z.object({
      command: z
        .string()
        .check(z.minLength(1, "name the command to run"), z.maxLength(100_000, "a command has at most 100,000 characters")),
      /** The caller's whole environment. */
      env: z.record(z.string(), z.string()),
    }),
    reply: Check,
    errors: ["workspace_not_found", "workspace_ambiguous", "workspace_removed"],
  },
} as const satisfies Record<string, Endpoint>;
