/** The files beside a worktree, with every kind of damage. Rows of docs/DAMAGE.md. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Principal, WorkspaceId } from "@holdfast/contract";
import { openDatabase } from "@holdfast/daemon/journal/database";
import { Journal } from "@holdfast/daemon/journal/journal";
import { TrustQueries, trustProjection } from "@holdfast/daemon/projection/trust";
import { WorkspaceQueries, workspacesProjection } from "@holdfast/daemon/projection/workspaces";
import { lastCheck, runCheck } from "@holdfast/daemon/workspace/check";
import { writeFiles } from "@holdfast/daemon/workspace/setup/files";
import { setupEnd, startSetup } from "@holdfast/daemon/workspace/setup/set-up";
import { TrustedProjects } from "@holdfast/daemon/workspace/setup/trust";
import { Workspaces } from "@holdfast/daemon/workspace/workspaces";
import { openHome } from "@holdfast/platform";
import { afterAll, expect } from "vitest";
import { cells } from "./damaged.ts";
import { eventually } from "./home.ts";

const root = mkdtempSync(path.join(tmpdir(), "hf-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
function directory(): string {
  const made = path.join(root, String(++count));
  mkdirSync(made, { recursive: true });
  return made;
}

const ID = "abcdefghij" as WorkspaceId;
("the workspace stays as the journal has it; if the journal is lost too, its worktree is left alone and nothing says whose it is");

cells(
  "workspace.json",
  {
    missing: "the workspace stays as recorded in the journal; if the journal is lost too, its worktree is not changed",
    empty: "the workspace stays as recorded in the journal; if the journal is lost too, its worktree is not changed",
    torn: "the workspace stays as recorded in the journal; if the journal is lost too, its worktree is not changed",
    garbage: "the workspace stays as recorded in the journal; if the journal is lost too, its worktree is not changed",
  },
  async (_, hurt) => {
    const home = openHome({ HOLDFAST_HOME: directory() });
    const beside = path.join(home.workspaces, ID);
    const tree = path.join(beside, "app-cave");
    mkdirSync(tree, { recursive: true });
    const none = { repo: "/nowhere", branch: "holdfast/cave", ownBranch: true, base: "main", baseCommit: "0".repeat(40) };
    const spec = { id: ID, name: "cave", kind: "worktree" as const, path: tree, ...none, portBase: 21_000, ports: 10, notes: [] };
    const owner = "user:tester" as Principal;
    writeFiles(beside, { ...spec, owner, createdAt: new Date().toISOString(), making: false });
    const start = async (known: boolean) => {
      const db = openDatabase(":memory:");
      const journal = new Journal({ db, projections: [workspacesProjection, trustProjection], machineName: "box" });
      const queries = new WorkspaceQueries(db);
      if (known) journal.append({ type: "workspace.created", actor: owner, session: null, data: spec });
      using workspaces = new Workspaces({
        home,
        journal,
        queries,
        trusted: new TrustedProjects({ journal, queries: new TrustQueries(db) }),
      });
      await workspaces.begin({ restored: !known });
      return queries.list().map(({ name }) => name);
    };
    expect(await start(false)).toEqual(["cave"]);
    hurt(path.join(beside, "workspace.json"));
    expect(await start(true)).toEqual(["cave"]);
    expect(await start(false)).toEqual([]);
    expect(existsSync(tree)).toBe(true);
  },
);

cells(
  "setup.exit",
  {
    missing: "the set-up counts as interrupted, unless its process still runs",
    empty: "the set-up counts as interrupted",
    torn: "the set-up counts as interrupted, or as ended with the remaining content",
    garbage: "the set-up counts as interrupted",
  },
  async (how, hurt) => {
    const made = directory();
    startSetup(made, { tree: made, command: "exit 3", umask: 0o022, env: { PATH: process.env.PATH ?? "" } });
    expect(await setupEnd(made)).toEqual({ state: "failed", exitCode: 3 });
    hurt(path.join(made, "setup.exit"));
    const expected = how === "torn" ? { state: "failed", exitCode: 3 } : { state: "interrupted", exitCode: null };
    expect(await setupEnd(made)).toEqual(expected);
  },
);

cells(
  "setup.pid",
  {
    missing: "a set-up that still runs counts as interrupted; its output is kept",
    empty: "a set-up that still runs counts as interrupted; its output is kept",
    torn: "a set-up that still runs counts as interrupted; its output is kept",
    garbage: "a set-up that still runs counts as interrupted; its output is kept",
  },
  async (_, hurt) => {
    const made = directory();
    startSetup(made, {
      tree: made,
      command: "while ! [ -e go ]; do sleep 0.02; done; touch went",
      umask: 0o022,
      env: { PATH: process.env.PATH ?? "" },
    });
    hurt(path.join(made, "setup.pid"));
    expect(await setupEnd(made)).toEqual({ state: "interrupted", exitCode: null });
    mkdirSync(path.join(made, "go"));
    await eventually(() => existsSync(path.join(made, "setup.exit")));
    expect(await setupEnd(made)).toEqual({ state: "done", exitCode: 0 });
  },
);

cells(
  "check.json",
  {
    missing: "the workspace has no known check; the output of the last one is kept",
    empty: "the workspace has no known check; the output of the last one is kept",
    torn: "the workspace has no known check; the output of the last one is kept",
    garbage: "the workspace has no known check; the output of the last one is kept",
  },
  async (_, hurt) => {
    const made = directory();
    const env = { PATH: process.env.PATH ?? "" };
    await runCheck({ directory: made, tree: made, command: "echo said; exit 3", env, umask: 0o022 }, new AbortController().signal);
    expect(lastCheck(made)).toMatchObject({ state: "failed", exitCode: 3 });
    hurt(path.join(made, "check.json"));
    expect(lastCheck(made)).toBeNull();
    expect(readFileSync(path.join(made, "check.log"), "utf8")).toBe("said\n");
  },
);
