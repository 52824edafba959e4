import type { DeclaredPeer, Principal, SessionId } from "@holdfast/contract";
import type { Draft } from "../journal/journal.ts";
import type { SessionRecord } from "../projection/session-queries.ts";

/** Who knows of groups, for a session that is to be in some from its beginning. */
export interface Memberships {
  /** Their paths as they are called; throws what joining them would be refused for. `parent`: the session that asks. */
  check(groups: readonly string[], by: { parent: SessionId | null }): string[];
  /** The facts of its joining, for the transaction in which it is recorded. */
  joining(session: SessionId, groups: readonly string[], by: { actor: Principal; parent: SessionId | null }): Draft[];
  /** What its agent is told of its groups with the first words to it; null: it is in none. */
  introduction(
    to: Pick<SessionRecord, "name" | "agent" | "kind" | "groups"> & {
      id: SessionId | null;
      /** Who is about to be in groups, too. */
      declared?: readonly DeclaredPeer[] | undefined;
      /** Of a conversation: the tools that it is left with. */
      tools?: readonly string[] | null | undefined;
    },
  ): string | null;
}
