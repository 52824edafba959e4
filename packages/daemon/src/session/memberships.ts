import type { DeclaredPeer, Principal, SessionId } from "@holdfast/contract";
import type { ToolRule } from "../agent/tool-rule.ts";
import type { Draft } from "../journal/journal.ts";
import type { SessionRecord } from "../projection/session-queries.ts";

/** Group memberships of a session from its creation on. */
export interface Memberships {
  /** Returns the normalized paths; throws if joining would be refused. `parent`: the session that asks. */
  check(groups: readonly string[], by: { parent: SessionId | null }): string[];
  /** The join events, for the transaction that records the session. */
  joining(session: SessionId, groups: readonly string[], by: { actor: Principal; parent: SessionId | null }): Draft[];
  /** Text about its groups for the agent's first prompt; null if it is in none. */
  introduction(
    to: Pick<SessionRecord, "name" | "agent" | "kind" | "groups"> & {
      id: SessionId | null;
      /** Peers that are about to join the groups, too. */
      declared?: readonly DeclaredPeer[] | undefined;
      /** The tools of its role. */
      rule?: ToolRule | undefined;
    },
  ): string | null;
}
