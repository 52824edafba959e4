/** Commands and copies that a project's own files request, and the trust that people gave them. */
import * as z from "zod/mini";
import { Principal } from "../ids.ts";
import { Time } from "../session/session.ts";

/** The commands and copies that `.holdfast/config.toml` requests. `hash` covers `setup` and `copy`, and nothing else. */
export const ProjectActions = z.object({
  /** The repository's main working tree, or the plain directory. Trust is given to it. */
  directory: z.string(),
  /** The working tree whose file was read. */
  tree: z.string(),
  file: z.string(),
  /** Run by `sh -c` in a new workspace. Files that the command refers to are not part of the hash. */
  setup: z.nullable(z.string()),
  /** Untracked files that are copied into a new worktree. */
  copy: z.array(z.string()),
  hash: z.string(),
});
export type ProjectActions = z.infer<typeof ProjectActions>;

const Trusted = z.extend(z.pick(ProjectActions, { directory: true, hash: true, setup: true, copy: true }), {
  /** Instead of commands and copies: this agent trusts every worktree of the directory that Holdfast created for this principal. */
  agent: z.optional(z.object({ name: z.string(), owner: Principal })),
});

export const Trust = z.extend(Trusted, { at: Time, by: Principal });
export type Trust = z.infer<typeof Trust>;

/** These events belong to no session; their actor made the decision. */
export const TRUST_EVENTS = {
  "trust.added": Trusted,
  "trust.revoked": Trusted,
} as const;
