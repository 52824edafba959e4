import * as z from "zod/mini";
import { SessionId } from "../ids.ts";
import { Time } from "../session/session.ts";

/** The reason for a backup. */
export const BACKUP_REASONS = ["timer", "asked", "migration", "restore"] as const;

/** A verified copy of the journal's database. `seq` is the last event in it. */
export const Backup = z.object({ name: z.string(), at: Time, why: z.enum(BACKUP_REASONS), seq: z.int(), bytes: z.int() });
export type Backup = z.infer<typeof Backup>;

const Named = z.object({ id: SessionId, name: z.string() });

/**
 * The start of a new epoch of the journal. Its base is a backup, or the readable part of the damaged database (`salvaged`), or nothing: then only
 * rebuilt sessions exist.
 */
export const RestoreReport = z.object({
  why: z.enum(["damaged", "asked"]),
  /** The damage, described for people. */
  what: z.string(),
  backup: z.nullable(z.object({ name: z.string(), at: Time })),
  salvaged: z.boolean(),
  /** The last event that still exists, and the number of earlier events read from the damaged database. */
  seq: z.int(),
  recovered: z.int(),
  /** Lost events after `seq`. `until` is the last one known; null if it is not known whether there were any. */
  lost: z.object({ until: z.nullable(z.int()) }),
  previousEpoch: z.nullable(z.string()),
  sessions: z.object({
    /** Rebuilt from their files. */
    rebuilt: z.array(Named),
    /** Sessions whose files are gone: they were removed after the backup. */
    removed: z.array(Named),
    /** Directories without a readable description; they stay as they are. */
    unreadable: z.array(z.string()),
  }),
  /** Directory with the replaced files. */
  setAside: z.nullable(z.string()),
});
export type RestoreReport = z.infer<typeof RestoreReport>;
