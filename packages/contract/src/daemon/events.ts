/** Journal events of the daemon. */
import * as z from "zod/mini";

export const DAEMON_EVENTS = {
  "daemon.started": z.object({ pid: z.int(), version: z.string(), node: z.string(), boot: z.optional(z.string()) }),
  "daemon.stopped": z.object({ pid: z.int(), why: z.enum(["asked", "replaced", "signal", "restore"]) }),
  /** The daemon listens on a TCP address; null: no longer. */
  "daemon.listening": z.object({ address: z.nullable(z.string()), public: z.boolean() }),
  /** The daemon opened a second socket for users of the group; null: no longer. */
  "daemon.shared": z.object({ group: z.nullable(z.string()), socket: z.string() }),
} as const;
