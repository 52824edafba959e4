import { homedir } from "node:os";
import type { SessionId, SpawnRequest } from "@holdfast/contract";
import { type Home, minimalEnvironment } from "@holdfast/platform";
import type { SessionQueries } from "../projection/session-queries.ts";
import { readEnvironment } from "./run-files.ts";

/**
 * Where a session is started that nobody said a directory and an environment for. A child has its parent's: what agents give the servers that
 * they start is only a part of theirs, often without what a model is reached by. Others start in the user's home, with little.
 */
export function usualPlaceFor({ home, queries }: { home: Home; queries: SessionQueries }) {
  return (parent: SessionId | undefined): Pick<SpawnRequest, "cwd" | "env"> => {
    const env = (parent === undefined ? undefined : readEnvironment(home, parent)) ?? minimalEnvironment(home);
    const cwd = parent === undefined ? undefined : queries.get(parent)?.cwd;
    return { cwd: cwd ?? homedir(), env };
  };
}
