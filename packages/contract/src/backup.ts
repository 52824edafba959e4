import * as z from "zod/mini";
import { SessionId } from "./ids.ts";
import { Time } from "./session.ts";

/** Why a backup was taken. */
export const BACKUP_REASONS = ["timer", "asked", "migration", "restore"] as const;

/** A verified copy of the journal's database. `seq` is the last event in it. */
export const Backup = z.object({ name: z.string(), at: Time, why: z.enum(BACKUP_REASONS), seq: z.int(), bytes: z.int() });
export type Backup = z.infer<typeof Backup>;

const Named = z.object({ id: SessionId, name: z.string() });

/**
 * How a new epoch of the journal came about. Its base is a backup, or what could still be read of the damaged database (`salvaged`),
 * or nothing: then there are only the sessions that were rebuilt.
 */
export const RestoreReport = z.object({
  why: z.enum(["damaged", "asked"]),
  /** What was wrong, for people. */
  what: z.string(),
  backup: z.nullable(z.object({ name: z.string(), at: Time })),
  salvaged: z.boolean(),
  /** The last event that is still there, and how many of those before it came out of the damaged database. */
  seq: z.int(),
  recovered: z.int(),
  /** Events after `seq` that are lost: `until` is the last that is known of, null when nobody knows whether there was one. */
  lost: z.object({ until: z.nullable(z.int()) }),
  previousEpoch: z.nullable(z.string()),
  sessions: z.object({
    /** Written again from their files. */
    rebuilt: z.array(Named),
    /** Their files were gone: somebody had removed them after the backup. */
    removed: z.array(Named),
    /** Directories that nothing readable describes; they are left as they are. */
    unreadable: z.array(z.string()),
  }),
  /** Where the replaced files are. */
  setAside: z.nullable(z.string()),
});
export type RestoreReport = z.infer<typeof RestoreReport>;
