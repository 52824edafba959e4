/** Finishes what a crash interrupted: a removal that is in the journal, and a start that is not and that began nothing. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { SessionId } from "@holdfast/contract";
import type { Home } from "@holdfast/platform";
import type { Journal } from "../../journal/journal.ts";
import type { SessionQueries } from "../../projection/session-queries.ts";
import { isSessionId } from "./rebuild.ts";

/** All files that a start writes before the journal knows it, complete or not; paths in the session's directory. */
const BEFORE_START = /^(spec\.json|env|runs\/\d+\/(?:launch|token|foreign\.json|mcp|hooks\/[^/]+))(\.\d+\.\d+\.tmp)?$/;

/** Keeps everything that Holdfast did not create: a person's own directory, or a session that a restored journal may still get back. */
export function sweepSessions(home: Home, { journal, queries }: { journal: Journal; queries: SessionQueries }): void {
  for (const entry of readdirSync(home.sessions, { withFileTypes: true })) {
    // A session with a record stays, even if it was removed and adopted again. Few have no record.
    if (!entry.isDirectory() || !isSessionId(entry.name) || queries.get(entry.name)) continue;
    if (wasRemoved(journal, entry.name) || beganNothing(home, entry.name)) {
      rmSync(join(home.sessions, entry.name), { recursive: true, force: true });
    }
  }
}

function wasRemoved(journal: Journal, session: SessionId): boolean {
  return journal.readAfter(0, 1, { session, types: ["session.removed"] }).length > 0;
}

function beganNothing(home: Home, session: SessionId): boolean {
  const directory = join(home.sessions, session);
  const entries = readdirSync(directory, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .every((entry) => entry.isFile() && BEFORE_START.test(join(entry.parentPath, entry.name).slice(directory.length + 1)));
}
