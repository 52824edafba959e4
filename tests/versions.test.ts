/** A newer Holdfast takes over from an older one, an older one refuses to run, and sessions are not affected. */
import path from "node:path";
import { type AnyEvent, type DaemonStatus, MINIMUM_NODE, VERSION } from "@holdfast/contract";
import { expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";
import { oldNode } from "./old-node.ts";
import { lives } from "./proc.ts";
import { recordingGrows } from "./recorded.ts";
import { Release } from "./release.ts";

const TICKING = "while :; do echo tick; sleep 0.05; done";

test("a newer CLI replaces an older daemon, and sessions do not notice", async () => {
  await using home = new TestHome();
  using newer = new Release("99.0.0");
  const before = await home.run(TICKING, "--name", "ticker");
  const old = await home.json<DaemonStatus>(["status"]);

  const { code, stdout, stderr } = await newer.cli(home, ["ls", "--json"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject([{ name: "ticker", status: "working", pid: before.pid, runs: 1 }]);
  const status = JSON.parse((await newer.cli(home, ["status", "--json"])).stdout) as DaemonStatus;
  expect(status).toMatchObject({ version: "99.0.0", epoch: old.epoch, tmux: { pid: old.tmux?.pid } });
  expect(status.pid).not.toBe(old.pid);
  expect(lives(old.pid)).toBe(false);
  await recordingGrows(before);

  const { stdout: lines } = await newer.cli(home, ["events", "--type", "daemon.started,daemon.stopped"]);
  const events = parse(lines).map(({ type, data }) => [type, data.version ?? data.why]);
  expect(events).toEqual([
    ["daemon.started", VERSION],
    ["daemon.stopped", "replaced"],
    ["daemon.started", "99.0.0"],
  ]);
});

test("a newer CLI inside a run does not replace the daemon, and says how to replace it", async () => {
  await using home = new TestHome();
  using newer = new Release("99.0.0");
  const path = `PATH='${process.execPath.replace(/\/node$/, "")}':$PATH`;
  await home.run(
    `${path}; '${newer.program}' ls; echo code=$?; '${newer.program}' down; echo code=$?; exec sleep 1000`,
    "--name",
    "inside",
  );
  const daemon = await home.daemonPid();
  const said = await eventually(async () => {
    const text = await home.ok(["logs", "inside"]);
    return (text.match(/code=/g)?.length ?? 0) === 2 && text;
  });
  expect(said).toContain("the daemon is older than this holdfast and cannot be replaced from here");
  expect(said).toContain("replace it from your own terminal: holdfast up\ncode=11\n");
  expect(said).toContain("a session may not do this (shutdown)");
  expect(said).toMatch(/code=20\n$/);
  expect(await home.daemonPid()).toBe(daemon);
});

test("ten commands of a newer CLI at once replace the daemon once, and all of them succeed", async () => {
  await using home = new TestHome();
  using newer = new Release("99.0.0");
  await home.run(TICKING, "--name", "ticker");
  const replies = await Promise.all(
    Array.from({ length: 10 }, (_, i) => newer.cli(home, ["run", "--name", `n${i}`, "--", "sleep", "1000"])),
  );
  expect(replies.filter(({ code }) => code !== 0)).toEqual([]);
  const { stdout } = await newer.cli(home, ["ls", "--json"]);
  expect(JSON.parse(stdout)).toHaveLength(11);
  const { stdout: lines } = await newer.cli(home, ["events", "--type", "daemon.started"]);
  expect(parse(lines).map(({ data }) => data.version)).toEqual([VERSION, "99.0.0"]);
});

test("an older CLI gets one clear error line and changes nothing, but can stop the daemon", async () => {
  await using home = new TestHome();
  using older = new Release("0.0.1");
  const before = await home.run(TICKING, "--name", "ticker");
  const daemon = await home.daemonPid();
  for (const args of [["ls"], ["run", "--", "true"], ["stop", "ticker"], ["events", "-f"], ["logs", "-f", "ticker"]]) {
    const { code, stdout, stderr } = await older.cli(home, args);
    expect({ args, code, stdout }).toEqual({ args, code: 11, stdout: "" });
    expect(stderr.split("\n")[0]).toBe(`holdfast: this is holdfast 0.0.1, but the running daemon is the newer version ${VERSION}`);
    expect(stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(2);
  }
  expect(await home.daemonPid()).toBe(daemon);

  expect(await older.cli(home, ["down"])).toMatchObject({ code: 0, stdout: "The daemon has stopped. Sessions keep running.\n" });
  expect(lives(daemon)).toBe(false);
  expect(await home.session("ticker")).toMatchObject({ status: "working", pid: before.pid });
});

test("a follower of the older version ends with a clear error when its daemon is replaced", async () => {
  await using home = new TestHome();
  using newer = new Release("99.0.0");
  await home.ok(["up"]);
  const follower = home.start(["events", "-f"]);
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    follower[name].setEncoding("utf8").on("data", (chunk) => {
      said[name] += chunk;
    });
  }
  const ended = new Promise<number | null>((resolve) => follower.on("close", resolve));
  // The follower runs before the daemon is replaced.
  await eventually(() => said.stdout !== "");
  await newer.cli(home, ["up"]);
  expect(await ended).toBe(11);
  const { stdout, stderr } = said;
  expect(parse(stdout).at(0)).toMatchObject({ seq: 1, type: "daemon.started" });
  expect(stderr).toContain(`this is holdfast ${VERSION}, but the running daemon is the newer version 99.0.0`);
});

test("an old Node gets one line with the required version, and its own exit code", async () => {
  await using home = new TestHome();
  using release = new Release();
  const node = oldNode(path.join(release.root, "old"));
  const { code, stdout, stderr } = await release.cli(home, ["ls"], { PATH: `${path.dirname(node.path)}:/usr/bin:/bin` });
  expect({ code, stdout }).toEqual({ code: 12, stdout: "" });
  expect(stderr.trimEnd().split("\n")).toEqual([
    expect.stringMatching(`^holdfast: needs Node ${MINIMUM_NODE} or newer, this is ${node.version.replaceAll(".", "\\.")} `),
  ]);
});

function parse(lines: string): AnyEvent[] {
  return lines
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as AnyEvent);
}
