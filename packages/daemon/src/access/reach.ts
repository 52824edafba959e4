import { HoldfastError, type SessionId } from "@holdfast/contract";
import type { SessionQueries, SessionRecord } from "../projection/session-queries.ts";
import { SESSION_HINT } from "./identity.ts";

/**
 * Resolves a reference by a session: to itself, a descendant, or one of `others`. Names of other sessions are not revealed, not even as candidates;
 * only that a name exists is, because a taken name must be distinguishable from a mistyped one.
 */
export function resolveWithin(queries: SessionQueries, root: SessionId, ref: string, others: readonly SessionId[] = []): SessionRecord {
  const own = [...queries.descendants(root), ...others].flatMap((id) => queries.get(id) ?? []);
  const name = ref.normalize("NFC");
  const exact = own.find((record) => record.name === name) ?? own.find((record) => record.id === ref);
  if (exact) return exact;
  const outside =
    others.length === 0
      ? new HoldfastError("forbidden", `${JSON.stringify(ref)} is neither this session nor a child of it`, { hint: SESSION_HINT })
      : new HoldfastError("forbidden", `${JSON.stringify(ref)} is neither this session, a child, its parent nor a peer in a group`, {
          hint: `it can send messages to: ${own.map(({ name }) => name).join(", ")}`,
        });
  if (queries.named(ref)) throw outside;
  const byPrefix = ref === "" ? [] : own.filter((record) => record.id.startsWith(ref));
  if (byPrefix.length === 1 && byPrefix[0]) return byPrefix[0];
  const code = byPrefix.length > 1 ? "session_ambiguous" : "session_not_found";
  throw new HoldfastError(
    code,
    `${byPrefix.length > 1 ? "several" : "none"} of this session and its children match the name, id or id prefix ${JSON.stringify(ref)}`,
    {
      hint: "list sessions: holdfast ls --all",
      candidates: (byPrefix.length > 1 ? byPrefix : own).map((record) => record.name),
    },
  );
}
