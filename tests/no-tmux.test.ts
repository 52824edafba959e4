import { execFileSync, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import type { Session } from "@holdfast/contract";
import { expect, test } from "vitest";
import { type CliResult, HOLDFAST, TestHome } from "./home.ts";

/** Simulates a machine without tmux: in its own mount namespace, a file that cannot be executed covers the program. */
function withoutTmux(home: TestHome, args: readonly string[]): Promise<CliResult> {
  const cover = path.join(home.root, "cover");
  writeFileSync(cover, "", { mode: 0o600 });
  const tmux = execFileSync("sh", ["-c", "command -v tmux"], { encoding: "utf8" }).trim();
  const script = 'mount --bind "$1" "$2" || exit 99; shift 2; exec "$@"';
  const child = spawn("unshare", ["--mount", "sh", "-c", script, "sh", cover, tmux, HOLDFAST, ...args], { env: home.env, cwd: home.root });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, stdout, stderr })));
}

test("without tmux everything works on the native host, and tmux features say how to install it (SYM-12 hosts)", async () => {
  await using home = new TestHome();
  const up = await withoutTmux(home, [
    "run",
    "--json",
    "--name",
    "it",
    "--",
    "sh",
    "-c",
    "stty -echo; echo ready; read -r x; echo got $x; exit 3",
  ]);
  expect(up.stderr).toBe("");
  expect(JSON.parse(up.stdout) as Session).toMatchObject({ host: "native", status: "working" });
  // The daemon lives in that namespace, and commands from outside reach it.
  expect(await home.json(["status"])).toMatchObject({ tmux: null });
  await home.ok(["wait", "it", "--for", "output=ready", "--timeout", "60s"]);
  await home.ok(["send", "it", "hello"]);
  await home.ok(["wait", "it", "--for", "output=got hello", "--timeout", "60s"]);
  expect(await home.ended("it")).toMatchObject({ status: "failed", exit: { code: 3, signal: null } });
  expect(await home.ok(["logs", "it"])).toBe("ready\ngot hello\n");
  await home.ok(["spawn", "demo", "--name", "demo"]);
  expect(await home.ok(["screen", "demo"])).toBeDefined();
  await home.ok(["stop", "demo"]);

  const refused = await home.cli(["run", "--host", "tmux", "--", "true"]);
  expect(refused.code).toBe(8);
  expect(refused.stderr).toMatch(/tmux is not on this machine[\s\S]*apt-get install tmux/);
  expect(await home.ok(["doctor"])).toContain("tmux is not installed: sessions run on the native host");
});
