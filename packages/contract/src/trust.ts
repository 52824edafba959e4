/** What a project's own files make Holdfast run or copy, and who has trusted that. */
import * as z from "zod/mini";
import { Principal } from "./ids.ts";
import { Time } from "./session.ts";

/** The commands and copies that `.holdfast/config.toml` asks for. `hash` covers `setup` and `copy`, and nothing else. */
export const ProjectActions = z.object({
  /** The repository's main working tree, or the plain directory: trust is given to it. */
  directory: z.string(),
  /** The working tree whose file was read. */
  tree: z.string(),
  file: z.string(),
  /** Run by `sh -c` in a new workspace. Files that the command refers to are not part of the hash. */
  setup: z.nullable(z.string()),
  /** Untracked files that a new worktree gets a copy of. */
  copy: z.array(z.string()),
  hash: z.string(),
});
export type ProjectActions = z.infer<typeof ProjectActions>;

const Trusted = z.extend(z.pick(ProjectActions, { directory: true, hash: true, setup: true, copy: true }), {
  /** In place of commands and copies: this agent trusts the folder of each worktree that Holdfast made of the directory for this principal. */
  agent: z.optional(z.object({ name: z.string(), owner: Principal })),
});

export const Trust = z.extend(Trusted, { at: Time, by: Principal });
export type Trust = z.infer<typeof Trust>;

/** Of no session. The actor decided. */
export const TRUST_EVENTS = {
  "trust.added": Trusted,
  "trust.revoked": Trusted,
} as const;
