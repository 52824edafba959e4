/** Endpoints for the maintenance of a home: orphans, disk usage, pruning, backups and lost sessions. */
import * as z from "zod/mini";
import { type Endpoint, SESSION_ERRORS } from "../endpoint.ts";
import { SessionId } from "../ids.ts";
import { ROUTES } from "../routes.ts";
import { Session, StatusSchema, Time } from "../session/session.ts";
import { Backup } from "./backup.ts";
import { Generation, RestoreItem } from "./restore.ts";

/** A search path, or a directory. */
const place = z.string().check(z.maxLength(65_536, "a search path has at most 65,536 characters"));
const text = z.string().check(z.maxLength(10_000, "a name or a reason has at most 10,000 characters"));

/**
 * A process of this home that no record accounts for: a run that a keeper keeps, or a process that outlived its run. It is left alone until somebody
 * asks.
 */
export const Orphan = z.object({
  id: z.string(),
  kind: z.enum(["run", "process"]),
  session: z.nullable(z.string()),
  run: z.nullable(z.int()),
  pid: z.int(),
  command: z.string(),
  why: z.string(),
  adoptable: z.boolean(),
});
export type Orphan = z.infer<typeof Orphan>;

export const Finding = z.object({
  id: z.string(),
  level: z.enum(["ok", "note", "warning", "problem"]),
  what: z.string(),
  remedy: z.nullable(z.string()),
  fixed: z.boolean(),
});
export type Finding = z.infer<typeof Finding>;

/** A session that pruning removes or keeps. `why`: its `age` or the total `size`; or it is running, unseen, or within the policy. */
export const PruneVerdict = z.object({
  id: SessionId,
  name: z.string(),
  status: StatusSchema,
  endedAt: z.nullable(Time),
  viewedAt: z.nullable(Time),
  bytes: z.int(),
  why: z.enum(["age", "size", "running", "unseen", "policy", "not_named"]),
});
export type PruneVerdict = z.infer<typeof PruneVerdict>;

export const PruneReply = z.object({
  /** The applied policy; null: that limit was not applied. */
  policy: z.object({ olderThanMs: z.nullable(z.number()), keepBytes: z.nullable(z.number()) }),
  removed: z.array(PruneVerdict),
  kept: z.array(PruneVerdict),
  dryRun: z.boolean(),
});
export type PruneReply = z.infer<typeof PruneReply>;

/** Sizes of files, not of blocks. `otherBytes` of a session: the files that start its runs and record their ends. */
export const DiskUse = z.object({
  home: z.string(),
  sessions: z.array(
    z.object({
      id: z.string(),
      /** Null for files without a record. */
      name: z.nullable(z.string()),
      status: z.nullable(StatusSchema),
      recordingBytes: z.int(),
      transcriptBytes: z.int(),
      otherBytes: z.int(),
      totalBytes: z.int(),
    }),
  ),
  journalBytes: z.int(),
  backupBytes: z.int(),
  damagedBytes: z.int(),
  workspaceBytes: z.int(),
  otherBytes: z.int(),
  totalBytes: z.int(),
});
export type DiskUse = z.infer<typeof DiskUse>;

export const UPKEEP_ENDPOINTS = {
  listGenerations: {
    ...ROUTES.listGenerations,
    summary:
      "The sessions that were lost each time the machine or a keeper went down, newest first. `due` lists those that have not come back.",
    scope: "observer",
    reply: z.object({
      generations: z.array(Generation),
      due: z.array(RestoreItem),
      last: z.nullable(z.object({ at: Time, auto: z.boolean(), items: z.array(RestoreItem) })),
    }),
    errors: [],
  },
  restoreSessions: {
    ...ROUTES.restoreSessions,
    summary: "Starts the next run of every lost session that has not come back. Replies when each is back or has failed.",
    scope: "driver",
    body: z.object({
      dryRun: z._default(z.boolean(), false),
      /** Restore the sessions of this loss, with the conversations they had then. */
      generation: z.optional(z.int()),
      names: z.optional(z.array(text).check(z.maxLength(10_000, "at most 10,000 names"))),
    }),
    reply: z.object({ generation: z.nullable(z.int()), items: z.array(RestoreItem) }),
    errors: [...SESSION_ERRORS, "generation_not_found", "restore_running"],
  },
  prune: {
    ...ROUTES.prune,
    summary:
      "Removes ended sessions by age and total size, as configured or as passed here; never running ones, nor ones that nobody has viewed.",
    scope: "owner",
    body: z.object({
      dryRun: z._default(z.boolean(), false),
      /** Remove sessions that ended longer ago than this. If only one of the two limits is given, only that one applies. */
      olderThanMs: z.optional(z.number().check(z.minimum(0))),
      /** Remove the oldest until all ended sessions together take no more than this. */
      keepBytes: z.optional(z.number().check(z.minimum(0))),
      /** Only conversations, by their own age limit unless one is given here. */
      conversations: z._default(z.boolean(), false),
      /** Remove only these, if they would be removed anyway. */
      only: z.optional(z.array(SessionId).check(z.maxLength(50_000, "at most 50,000 sessions at once"))),
    }),
    reply: PruneReply,
    errors: [],
  },
  diskUse: {
    ...ROUTES.diskUse,
    answeredWithout: ["daemon"],
    summary: "Disk usage of the home, largest sessions first.",
    scope: "observer",
    reply: DiskUse,
    errors: [],
  },
  listOrphans: {
    ...ROUTES.listOrphans,
    answeredWithout: ["configuration"],
    summary: "Processes that run under this home without a record.",
    scope: "observer",
    reply: z.object({ orphans: z.array(Orphan) }),
    errors: [],
  },
  adoptOrphan: {
    ...ROUTES.adoptOrphan,
    summary: "Turns an orphaned run into a session again.",
    scope: "owner",
    body: z.object({}),
    reply: Session,
    errors: ["orphan_not_found", "orphan_not_adoptable"],
  },
  stopOrphan: {
    ...ROUTES.stopOrphan,
    answeredWithout: ["configuration"],
    summary: "Ends an orphan and every process it started.",
    scope: "owner",
    body: z.object({ graceMs: z._default(z.number().check(z.minimum(0), z.maximum(3_600_000)), 5000) }),
    reply: z.object({ orphan: Orphan, killed: z.array(z.object({ pid: z.int(), name: z.string(), signal: z.string() })) }),
    errors: ["orphan_not_found", "stop_incomplete"],
  },
  examine: {
    ...ROUTES.examine,
    answeredWithout: ["configuration"],
    summary: "Finds problems; with `fix` repairs those that can be repaired safely.",
    scope: "owner",
    // `path` and `home`: where to look for the caller's agents.
    body: z.object({ fix: z._default(z.boolean(), false), path: z.optional(place), home: z.optional(place) }),
    reply: z.object({ findings: z.array(Finding) }),
    errors: [],
  },
  listBackups: {
    ...ROUTES.listBackups,
    answeredWithout: ["daemon"],
    summary: "Backups of the journal, newest first.",
    scope: "observer",
    reply: z.object({ backups: z.array(Backup) }),
    errors: [],
  },
  createBackup: {
    ...ROUTES.createBackup,
    summary: "Takes a verified backup of the journal while everything keeps running.",
    scope: "owner",
    body: z.object({}),
    reply: Backup,
    errors: ["backup_failed", "journal_damaged"],
  },
  restoreBackup: {
    ...ROUTES.restoreBackup,
    summary: "Replaces the journal with a backup, after taking a new backup. The daemon restarts with a new epoch. Sessions keep running.",
    scope: "owner",
    body: z.object({}),
    reply: z.object({ backup: Backup, before: Backup, pid: z.int() }),
    errors: ["backup_not_found", "backup_unusable", "backup_failed", "journal_damaged"],
  },
} as const satisfies Record<string, Endpoint>;
