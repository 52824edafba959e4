import { mkdirSync, mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openHome } from "@holdfast/platform";
import { expect, test, vi } from "vitest";
import { conditionOf } from "./condition.ts";
import { openDatabase } from "./database.ts";
import { MIGRATIONS } from "./migrations.ts";

test.each([true, false])("a small database is checked in full exactly once, whether or not it is in doubt (%s)", (doubted) => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const home = openHome({ HOLDFAST_HOME: join(directory.path, "home") });
  mkdirSync(home.sessions, { recursive: true });
  openDatabase(home.database).close();
  using prepare = vi.spyOn(DatabaseSync.prototype, "prepare");
  const condition = conditionOf(home, { doubted, canRebuild: () => false });
  expect(condition).toMatchObject({ state: "good", version: MIGRATIONS.length });
  expect(prepare.mock.calls.filter(([sql]) => sql.includes("_check"))).toHaveLength(1);
});
