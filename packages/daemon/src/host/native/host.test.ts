import { mkdirSync, mkdtempDisposableSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as platform from "@holdfast/platform";
import { expect, test, vi } from "vitest";
import { NativeHost } from "./host.ts";

vi.mock("@holdfast/platform", { spy: true });

test("a stale socket of a killed holder causes one scan of all processes, not one per list", async () => {
  using directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const home = platform.openHome({ HOLDFAST_HOME: join(directory.path, "home"), XDG_RUNTIME_DIR: directory.path });
  mkdirSync(home.socketDirectory, { recursive: true });
  await using host = new NativeHost({ home, program: "/nowhere/holder.mjs" });
  const looks = vi.mocked(platform.allProcesses);
  const socket = join(home.socketDirectory, "abcdefghij-1.sock");
  writeFileSync(socket, "");
  for (let look = 0; look < 3; look++) expect(await host.list()).toEqual([]);
  expect(looks).toHaveBeenCalledTimes(1);
  // A changed socket may belong to a new holder.
  utimesSync(socket, 1, 1);
  for (let look = 0; look < 2; look++) await host.list();
  expect(looks).toHaveBeenCalledTimes(2);
  rmSync(socket);
  await host.list();
  expect(looks).toHaveBeenCalledTimes(2);
});
