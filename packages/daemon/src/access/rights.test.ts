import type { Principal, SessionId } from "@holdfast/contract";
import { expect, test } from "vitest";
import type { SessionQueries } from "../projection/session-queries.ts";
import { Rights } from "./rights.ts";

const PARENT = "aaaaaaaaaa" as SessionId;
const CHILD = "bbbbbbbbbb" as SessionId;

/** Whether the parent and the user may type into the child while it waits for this. */
function mayType(waitsFor: string | null): Record<"parent" | "user", boolean> {
  const record = { status: "idle", standing: waitsFor === null ? null : { attention: { for: waitsFor } } };
  const sessions = { descendants: () => [PARENT, CHILD], get: () => record } as unknown as SessionQueries;
  const rights = new Rights({ sessions, tokens: { find: () => ({ scope: "driver" }) } });
  const asked = (principal: string) => rights.mayType(principal as Principal, CHILD);
  return { parent: asked(`session:${PARENT}`), user: asked("token:laptop") };
}

test("a session cannot type into a permission request or a trust dialog of its child (mend 2)", () => {
  expect(mayType(null)).toEqual({ parent: true, user: true });
  expect(mayType("question")).toEqual({ parent: true, user: true });
  for (const dialog of ["approval", "trust"]) {
    expect(mayType(dialog), dialog).toEqual({ parent: false, user: true });
  }
});

test("a malformed session principal sees no session", () => {
  const rights = new Rights({ sessions: { descendants: () => [] } as unknown as SessionQueries, tokens: { find: () => undefined } });
  expect(rights.maySee("session:" as Principal, "aaaaaaaaaa" as SessionId)).toBe(false);
});
