import { homedir } from "node:os";
import type { SessionId, SpawnRequest } from "@holdfast/contract";
import { type Home, minimalEnvironment } from "@holdfast/platform";
import type { SessionQueries } from "../projection/session-queries.ts";
import { readEnvironment } from "./run/run-files.ts";

/**
 * Default directory and environment of a new session. A child gets its parent's: agents give the servers that they start only a part of their
 * environment, often without what is needed to reach a model. Other sessions start in the user's home, with a minimal environment.
 */
export function usualPlaceFor({ home, queries }: { home: Home; queries: SessionQueries }) {
  return (parent: SessionId | undefined): Pick<SpawnRequest, "cwd" | "env"> => {
    const env = (parent === undefined ? undefined : readEnvironment(home, parent)) ?? minimalEnvironment(home);
    const cwd = parent === undefined ? undefined : queries.get(parent)?.cwd;
    return { cwd: cwd ?? homedir(), env };
  };
}
