import type { Principal, SessionId, WorkspaceId, WorkspaceSpec } from "@holdfast/contract";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openDatabase } from "../journal/database.ts";
import { type Draft, Journal } from "../journal/journal.ts";
import { pruneEvents } from "../journal/prune.ts";
import { WorkspaceQueries, workspacesProjection } from "./workspaces.ts";

const ACTOR = "user:tester" as Principal;
const COUNT = 4;

const steps = fc.array(
  fc.record({
    verb: fc.constantFrom("create", "set up", "merge", "remove", "recover", "conflicts", "conflicts", "prune"),
    which: fc.nat(COUNT - 1),
    other: fc.nat(COUNT - 1),
    files: fc.array(fc.constantFrom("a", "b"), { maxLength: 2 }),
  }),
  { maxLength: 60, size: "max" },
);

function idOf(index: number): WorkspaceId {
  return `${"abcd"[index]}aaaaaaaaa` as WorkspaceId;
}

function specOf(index: number): WorkspaceSpec {
  const name = `w${index}`;
  const git = { repo: "/repo", branch: `holdfast/${name}`, ownBranch: true, base: "main", baseCommit: "c".repeat(40) };
  return { id: idOf(index), name, kind: "worktree", path: `/trees/${name}`, ...git, portBase: 4000, ports: 10, notes: [] };
}

/** Returns the event, if it is valid in the current state. */
function draftOf(
  queries: WorkspaceQueries,
  { verb, which, other, files }: { verb: string; which: number; other: number; files: string[] },
) {
  const id = idOf(which);
  const record = queries.get(id);
  const fact = (type: Draft["type"], data: object) => ({ type, actor: ACTOR, session: null, data }) as Draft;
  if (verb === "create") return record ? undefined : fact("workspace.created", specOf(which));
  if (!record) return undefined;
  if (verb === "recover") {
    const { name, branch, path } = record;
    return record.removedAt === null ? undefined : fact("workspace.recovered", { id, name, branch, path });
  }
  if (record.removedAt !== null) return undefined;
  if (verb === "remove") return fact("workspace.removed", { id, name: record.name, ref: null, why: "asked" });
  if (verb === "set up") return fact("workspace.setup_started", { id, command: "make" });
  if (verb === "merge") return fact("workspace.merged", { id, into: "main", way: "ff", tip: "t", commit: "c" });
  return fact("workspace.conflicts_changed", { id, conflicts: [{ workspace: idOf(other), files }], base: files });
}

test("workspaces rebuilt from the journal equal the live ones after any pruning; each keeps its last conflicts event", () => {
  let pruned = 0;
  fc.assert(
    fc.property(steps, (list) => {
      const db = openDatabase(":memory:");
      const journal = new Journal({ db, projections: [workspacesProjection], machineName: "box" });
      const queries = new WorkspaceQueries(db);
      const told = () => journal.readAfter(0, 1000, { types: ["workspace.conflicts_changed"] }).map(({ data }) => data.id);
      for (const step of list) {
        const draft = step.verb === "prune" ? undefined : draftOf(queries, step);
        if (draft) journal.append(draft);
        if (step.verb !== "prune") continue;
        const before = told();
        const nothing = { snapshot: () => undefined, isThere: (_: SessionId) => true, forget: () => {} };
        pruneEvents(journal, { before: "9999-01-01T00:00:00.000Z", actor: ACTOR, ...nothing });
        expect(told().toSorted()).toEqual([...new Set(before)].toSorted());
        pruned += before.length - told().length;
      }
      const dump = () => db.prepare("SELECT * FROM workspaces ORDER BY id").all();
      const live = dump();
      journal.rebuild();
      expect(dump()).toEqual(live);
      db.close();
    }),
  );
  expect(pruned).toBeGreaterThan(0);
});

test("recent conflicts stay in the journal for its followers", () => {
  const db = openDatabase(":memory:");
  const journal = new Journal({ db, projections: [workspacesProjection], machineName: "box", clock: () => 0 });
  const data = { id: idOf(0), conflicts: [], base: [] };
  for (let round = 0; round < 3; round++) journal.append({ type: "workspace.conflicts_changed", actor: ACTOR, session: null, data });
  const nothing = { snapshot: () => undefined, isThere: () => true, forget: () => {} };
  pruneEvents(journal, { before: "1970-01-01T00:00:00.000Z", actor: ACTOR, ...nothing });
  expect(journal.readAfter(0, 10).length).toBe(3);
  db.close();
});
