import type { SessionId } from "@holdfast/contract";
import { describe, type Home, log } from "@holdfast/platform";
import { amendSpec } from "../session/run/run-files.ts";

/** Stores a session's groups outside the journal. A failed write is no reason to refuse what is in the journal. */
export function keepGroups(home: Home): (session: SessionId, groups: string[]) => void {
  return (session, groups) => {
    try {
      amendSpec(home, session, { groups });
    } catch (error) {
      log(`session ${session}: its groups are only in the journal: ${describe(error)}`);
    }
  };
}
