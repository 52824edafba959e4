import { HoldfastError, type SessionId } from "@holdfast/contract";
import type { SessionQueries, SessionRecord } from "../projection/session-queries.ts";
import { SESSION_HINT } from "./identity.ts";

/**
 * The session that a session means: itself or a descendant. The names of others are not told, not even as candidates; that one exists
 * is, because a name that is taken must be told apart from one that was mistyped.
 */
export function resolveWithin(queries: SessionQueries, root: SessionId, ref: string): SessionRecord {
  const own = queries.descendants(root).flatMap((id) => queries.get(id) ?? []);
  const name = ref.normalize("NFC");
  const exact = own.find((record) => record.name === name) ?? own.find((record) => record.id === ref);
  if (exact) return exact;
  const outside = new HoldfastError("forbidden", `${JSON.stringify(ref)} is neither this session nor a child of it`, {
    hint: SESSION_HINT,
  });
  if (queries.byName(name) ?? queries.get(ref as SessionId)) throw outside;
  const byPrefix = ref === "" ? [] : own.filter((record) => record.id.startsWith(ref));
  if (byPrefix.length === 1 && byPrefix[0]) return byPrefix[0];
  const code = byPrefix.length > 1 ? "session_ambiguous" : "session_not_found";
  throw new HoldfastError(
    code,
    `${byPrefix.length > 1 ? "several" : "none"} of this session and its children have the name, id or id prefix ${JSON.stringify(ref)}`,
    {
      hint: "list them with: holdfast ls --all",
      candidates: (byPrefix.length > 1 ? byPrefix : own).map((record) => record.name),
    },
  );
}
