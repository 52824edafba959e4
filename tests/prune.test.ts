import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { AnyEvent, DiskUse, PruneReply, Session } from "@holdfast/contract";
import { describe, expect, test } from "vitest";
import { eventually, HOLDFAST, TestHome } from "./home.ts";
import { Terminal } from "./terminal.ts";

function configure(home: TestHome, text: string): void {
  const directory = path.join(home.env.HOME ?? "", ".config/holdfast");
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, "config.toml"), text);
}

async function eventsOf(home: TestHome, session: Session): Promise<string[]> {
  const lines = (await home.ok(["events", "--session", session.id])).trim().split("\n");
  return lines.map((line) => (JSON.parse(line) as AnyEvent).type);
}

/** An ended session with output. */
async function ended(home: TestHome, name: string, bytes = 10): Promise<Session> {
  await home.run(`head -c ${bytes} /dev/zero | tr '\\\\0' x`, "--name", name);
  return home.ended(name);
}

describe("views", () => {
  test("a person's logs and show count as a view, once; ls, scripts and agents do not (BG-16 durability)", async () => {
    await using home = new TestHome();
    const one = await ended(home, "one");
    await home.ok(["ls", "--all"]);
    await home.ok(["wait", "one"]);
    using client = home.client();
    await client.call("getSession", { params: { ref: "one" } });
    for (const command of ["logs", "show"]) await home.ok([command, "one"]);
    await home.ok(["export", "one", "--text", "-"]);
    using terminal = new Terminal({ env: home.env });
    await terminal.command(`HOLDFAST_SESSION=${one.id} ${HOLDFAST} logs one; echo as an agent`);
    await terminal.shows(/^as an agent$/m);
    expect(await home.session("one")).toMatchObject({ viewedAt: null });
    await terminal.command(`clear; ${HOLDFAST} logs one && ${HOLDFAST} logs one && echo read twice`);
    await terminal.shows(/^read twice$/m);
    expect((await home.session("one")).viewedAt).toMatch(/^\d{4}-/);
    expect((await eventsOf(home, one)).filter((type) => type === "session.viewed")).toHaveLength(1);
    await ended(home, "two");
    await terminal.command(`clear; ${HOLDFAST} show two`);
    await terminal.shows("not since it ended");
    expect(await home.ok(["show", "two"])).toMatch(/viewed {7}\d{4}-/);
  });

  test("output into a pipe or an exported file counts as viewed by the person on the terminal", async () => {
    await using home = new TestHome();
    await ended(home, "paged");
    await ended(home, "exported");
    using terminal = new Terminal({ env: home.env });
    await terminal.command(`${HOLDFAST} logs paged 2>/dev/null | cat`);
    await home.until("paged", ({ viewedAt }) => viewedAt !== null);
    await terminal.command(`${HOLDFAST} export exported --html ${path.join(home.root, "exported.html")}`);
    await home.until("exported", ({ viewedAt }) => viewedAt !== null);
  });

  test("viewing a running session does not view its end; following it to its end does", async () => {
    await using home = new TestHome();
    const go = path.join(home.root, "go");
    await home.run(`while ! [ -e ${go} ]; do sleep 0.02; done`, "--name", "one");
    using terminal = new Terminal({ env: home.env });
    const commands = ["logs", "show", "screen"].map((verb) => `${HOLDFAST} ${verb} one`);
    await terminal.command(`clear; ${commands.join(" && ")} && echo all done`);
    await terminal.shows(/^all done$/m);
    writeFileSync(go, "");
    expect(await home.ended("one")).toMatchObject({ viewedAt: null });
    await terminal.command(`${HOLDFAST} logs -f one`);
    await home.until("one", ({ viewedAt }) => viewedAt !== null);
  });
});

test("prune removes viewed sessions, reports what stays and why, and removes like rm (BG-16 durability)", async () => {
  await using home = new TestHome();
  const seen = await ended(home, "seen", 5000);
  const unseen = await ended(home, "unseen");
  const running = await home.run("exec sleep 1000", "--name", "running");
  await home.lookAt("seen");
  await home.lookAt("running");

  const text = await home.ok(["prune", "--older-than", "0s", "--dry-run"]);
  expect(text).toContain("1 session (");
  expect(text).toMatch(/^ {2}seen {2}done, ended \d+s ago, \d+ (?:bytes|KB): older than 0s$/m);
  expect(text).toMatch(/1 session \(.*\): running$/m);
  expect(text).toContain("not viewed since it ended (holdfast logs NAME, or holdfast rm NAME): unseen");

  const nobody = await home.cli(["prune", "--older-than", "0s"]);
  expect(nobody).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("--dry-run") });
  const reply = await home.json<PruneReply>(["prune", "--older-than", "0s", "--yes"]);
  expect(reply).toMatchObject({
    dryRun: false,
    policy: { olderThanMs: 0, keepBytes: null },
    removed: [{ id: seen.id, name: "seen", status: "done", why: "age", bytes: expect.any(Number) }],
    kept: [
      { id: running.id, why: "running" },
      { id: unseen.id, why: "unseen" },
    ],
  });
  expect((await home.json<Session[]>(["ls", "--all"])).map(({ name }) => name)).toEqual(["unseen", "running"]);
  expect(existsSync(path.join(home.path, "sessions", seen.id))).toBe(false);
  expect((await eventsOf(home, seen)).at(-1)).toBe("session.removed");
  // The name is free again, and the running session is undisturbed.
  await home.run("exit 0", "--name", "seen");
  expect((await home.session("running")).pid).toBe(running.pid);
});

test("prune on a terminal lists the candidates and asks; only a yes removes them", async () => {
  await using home = new TestHome();
  await ended(home, "one");
  await home.lookAt("one");
  for (const [answer, says, left] of [
    ["n", "Nothing was removed.", 1],
    ["y", /\) removed\./, 0],
  ] as const) {
    using terminal = new Terminal({ env: home.env });
    await terminal.command(`${HOLDFAST} prune --older-than 0s`);
    await terminal.shows("Remove 1 session");
    terminal.line(answer);
    await terminal.shows(says);
    expect(await home.json<Session[]>(["ls", "--all"])).toHaveLength(left);
  }
});

test("the daemon prunes automatically by its policy, and keeps running and unviewed sessions (BG-16 durability)", async () => {
  await using home = new TestHome();
  configure(home, '[prune]\nage = "2s"\nevery = "1s"\n');
  await ended(home, "seen");
  await ended(home, "unseen");
  await home.run("exec sleep 1000", "--name", "running");
  await home.lookAt("seen");
  const removal = await eventually(async () => {
    const lines = (await home.ok(["events", "--type", "session.removed"])).split("\n").filter(Boolean);
    return lines.length > 0 && lines.map((line) => JSON.parse(line) as AnyEvent);
  });
  expect(removal).toMatchObject([{ actor: "daemon", data: { name: "seen", why: "age" } }]);
  // The events of sessions removed that long ago are pruned too.
  const pruned = await eventually(async () => {
    const lines = (await home.ok(["events", "--type", "journal.pruned"])).split("\n").filter(Boolean);
    return lines.map((line) => JSON.parse(line) as AnyEvent).find(({ data }) => Number(data.sessions) > 0);
  });
  expect(pruned.data).toMatchObject({ sessions: 1 });
  await home.killDaemon();
  expect((await home.json<Session[]>(["ls", "--all"])).map(({ name }) => name)).toEqual(["unseen", "running"]);
});

test("pruning by size removes the sessions that ended first, regardless of their age (BG-16 durability)", async () => {
  await using home = new TestHome();
  for (const name of ["first", "second", "third"]) {
    await ended(home, name, 200_000);
    await home.lookAt(name);
  }
  const { removed } = await home.json<PruneReply>(["prune", "--keep-size", "450K", "--dry-run"]);
  expect(removed.map(({ name, why }) => [name, why])).toEqual([["first", "size"]]);
  await home.ok(["prune", "--keep-size", "450K", "--yes"]);
  expect((await home.json<Session[]>(["ls", "--all"])).map(({ name }) => name)).toEqual(["second", "third"]);
});

test("an invalid policy is refused with the file's name, and a disabled policy does nothing", async () => {
  await using home = new TestHome();
  configure(home, '[prune]\nage = "old"\n');
  expect(await home.cli(["up"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('config.toml, line 2: prune.age "old" is not an age'),
  });
  configure(home, '[prune]\nage = "off"\nsize = "off"\n');
  await ended(home, "one");
  await home.lookAt("one");
  expect(await home.json<PruneReply>(["prune", "--yes"])).toMatchObject({ policy: { olderThanMs: null, keepBytes: null }, removed: [] });
});

function bytesBelow(directory: string): number {
  return readdirSync(directory, { withFileTypes: true }).reduce((sum, entry) => {
    const file = path.join(directory, entry.name);
    return sum + (entry.isDirectory() ? bytesBelow(file) : statSync(file).size);
  }, 0);
}

test("du lists disk usage, the largest first, and misses nothing", async () => {
  await using home = new TestHome();
  await ended(home, "small", 1000);
  await ended(home, "large", 300_000);
  mkdirSync(path.join(home.path, "damaged"));
  writeFileSync(path.join(home.path, "damaged/holdfast.db"), "x".repeat(12_345));
  const use = await home.json<DiskUse>(["du"]);
  expect(use.sessions.map(({ name, status }) => [name, status])).toEqual([
    ["large", "done"],
    ["small", "done"],
  ]);
  const [large] = use.sessions;
  expect(large?.totalBytes).toBe(bytesBelow(path.join(home.path, "sessions", large?.id ?? "")));
  expect(large?.recordingBytes).toBeGreaterThanOrEqual(300_000);
  expect(use).toMatchObject({ home: home.path, damagedBytes: 12_345, workspaceBytes: 0 });
  expect(use.journalBytes).toBe(
    readdirSync(home.path)
      .filter((name) => name.startsWith("holdfast.db"))
      .reduce((sum, name) => sum + statSync(path.join(home.path, name)).size, 0),
  );
  const text = await home.ok(["du"]);
  expect(text).toMatch(/^large +done +\d+ KB +0 KB +\d+ KB$/m);
  expect(text).toMatch(/^total +\d+ [KM]B$/m);
});
