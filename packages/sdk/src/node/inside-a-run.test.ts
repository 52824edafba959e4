import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";

const RUN = "abcdefghij-1";
const directories: string[] = [];

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

/** A home, with or without the session of RUN. */
function homeWith({ run }: { run: boolean }): string {
  const home = mkdtempSync(join(tmpdir(), "hf-inside-"));
  directories.push(home);
  if (run) mkdirSync(join(home, "sessions", "abcdefghij"), { recursive: true });
  return home;
}

/** The error code of `connect` in a process whose parent has HOLDFAST_RUN, and which does not have it itself. */
function connecting(home: string, env: Record<string, string>, options = ""): string {
  const connect = JSON.stringify(new URL("connect.ts", import.meta.url).href);
  const program = `const { connect } = await import(${connect}); await connect({ home: ${JSON.stringify(home)}, start: false ${options} }).catch((e) => console.log(e.code))`;
  const scrubbed = `env -i ${Object.entries(env).map(([name, value]) => `${name}=${value}`)} "$0" -e "$1"; :`;
  const { stdout } = spawnSync("sh", ["-c", scrubbed, process.execPath, program], { env: { HOLDFAST_RUN: RUN }, encoding: "utf8" });
  return stdout.trim();
}

test("connect fails inside a run of its home without a token, also with a scrubbed environment (mend 7)", () => {
  const home = homeWith({ run: true });
  expect(connecting(home, { HOLDFAST_RUN: RUN })).toBe("unauthenticated");
  if (process.platform === "linux") expect(connecting(home, {})).toBe("unauthenticated");
});

test("connect works inside a run with a token, with HOLDFAST_AS=owner, and inside a run of another home (mend 7)", () => {
  const home = homeWith({ run: true });
  // No daemon runs, so this error means that the check passed.
  expect(connecting(home, { HOLDFAST_TOKEN: "hfs_x" })).toBe("daemon_unreachable");
  expect(connecting(home, { HOLDFAST_AS: "owner" })).toBe("daemon_unreachable");
  expect(connecting(home, {}, ', as: "owner"')).toBe("daemon_unreachable");
  expect(connecting(homeWith({ run: false }), { HOLDFAST_RUN: RUN })).toBe("daemon_unreachable");
});
