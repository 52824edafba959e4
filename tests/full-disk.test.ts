/** A full or read-only disk: every failure is reported, nothing stops, and everything continues when space is back. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { AnyEvent, Finding, Principal, Session } from "@holdfast/contract";
import { Backups } from "@holdfast/daemon/journal/backups";
import { openDatabase } from "@holdfast/daemon/journal/database";
import { type Draft, Journal } from "@holdfast/daemon/journal/journal";
import { openOrder, orderRestore, restore } from "@holdfast/daemon/journal/restore";
import { argumentsOf, openHome } from "@holdfast/platform";
import { describe, expect, test } from "vitest";
import { eventually, HOLDFAST, ROOT, TestHome } from "./home.ts";
import { lives } from "./proc.ts";
import { SmallDiskHome } from "./small-disk.ts";
import { expectGapless } from "./subscriber.ts";

const FULL = { code: 19, error: "disk_full" };
const READ_ONLY = { code: 19, error: "home_read_only" };

/** Numbered lines, long enough to soon fill the last page of a file. */
const PADDING = "x".repeat(90);
const COUNTING = `stty -echo; i=0; while :; do i=$((i+1)); echo "${PADDING} line $i"; sleep 0.02; done`;
/** The periodic sweep finds output that tmux could not write. */
const NOTICED_MS = 15_000;

describe.each(["tmux", "native"] as const)("on the %s host", (host) => {
  test("a full disk stops no session; when space is back, recording and journal continue, and the gap is an event", async () => {
    await using home = new SmallDiskHome({ megabytes: 8 });
    const session = await home.run(COUNTING, "--name", "counter", "--host", host);
    await eventually(async () => (await lines(home, "counter")).length > 5);
    const daemon = await home.daemonPid();
    const follower = home.start(["logs", "-f", "counter"]);
    let followed = "";
    follower.stdout.on("data", (chunk) => {
      followed += chunk;
    });

    home.fill();
    const filledAt = Date.now();
    const before = await eventually(async () => stopsGrowing(home, "counter"));
    // Commands that only read still work; others say why they cannot write.
    expect(await home.session("counter")).toMatchObject({ status: "working", pid: session.pid });
    expect((await home.ok(["ls"])).split("\n")[1]).toContain("counter");
    expect(await screenShows(home, "counter")).toBeGreaterThan(before);
    await refusal(home, ["run", "--host", host, "--", "true"], FULL);
    await refusal(home, ["rename", "counter", "other"], FULL);
    // On tmux, typed text goes through a file.
    if (host === "tmux") await refusal(home, ["send", "counter", "x"], FULL);
    else await home.ok(["send", "counter", "x"]);
    await home.ok(["keys", "counter", "Enter"]);
    const findings = await home.cli(["doctor", "--json"]);
    expect(findings.code).toBe(1);
    expect(finding(findings.stdout, "disk")).toMatchObject({ level: "problem", what: expect.stringContaining("the disk is full") });

    home.empty();
    const after = await eventually(async () => {
      const all = await lines(home, "counter");
      return (all.at(-1) ?? 0) > before + 100 && all;
    });
    expect(lives(session.pid ?? 0)).toBe(true);
    expect(await home.daemonPid()).toBe(daemon);
    const gaps = await eventually(async () => {
      const found = await events(home, "recording.gap");
      return found.length > 0 && found;
    });
    const missing = missingNumbers(after);
    expect(missing.length).toBeGreaterThan(0);
    expect(gaps).toMatchObject([{ session: session.id, data: { run: 1, offset: expect.any(Number), why: "the disk was full" } }]);
    const [{ offset, bytes, began }] = gaps.map(({ data }) => data) as [{ offset: number; bytes: number | null; began: string }];
    const raw = await home.ok(["logs", "--raw", "counter"]);
    expect(bytes).toBe(host === "tmux" ? null : bytesBetween(raw, offset));
    expect(Math.abs(Date.parse(began) - filledAt)).toBeLessThan(5000);

    // The recording shows the gap at its place.
    const note = /^\[… (?:\d+ KB|output of unknown size) not recorded: the disk was full, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d …\]$/;
    const expectHole = (text: string) => {
      const all = text.split("\n");
      const at = all.findIndex((line) => note.test(line));
      expect({ at, notes: all.filter((line) => line.includes("not recorded")) }).toEqual({ at: expect.any(Number), notes: [all[at]] });
      const first = (lines: string[]) => lines.flatMap((line) => /line (\d+)$/.exec(line)?.[1] ?? []).map(Number)[0] ?? Number.NaN;
      expect(first(all.slice(0, at).reverse())).toBeLessThan(missing[0] ?? 0);
      expect(first(all.slice(at))).toBeGreaterThan(missing.at(-1) ?? 0);
    };
    expectHole(await home.ok(["logs", "counter"]));
    expectHole(await home.ok(["logs", "--tail", "100000", "counter"]));
    expectHole(await home.ok(["export", "counter", "--text", "-"]));
    expectHole((await home.ok(["export", "counter", "--html", "-"])).replace(/<[^>]*>/g, ""));
    expectHole(await eventually(() => numbersIn(followed).some((number) => number > before + 100) && followed));
    follower.kill();
    const gap = { offset, bytes, began, why: "the disk was full" };
    const json = async (...args: string[]) =>
      (await home.ok(args))
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as object);
    expect((await json("logs", "--json", "counter")).filter((line) => "gap" in line)).toEqual([{ gap }]);
    expect(await home.json(["show", "counter"])).toMatchObject({ recordingGaps: [gap] });
    expect(await home.ok(["show", "counter"])).toMatch(/^not recorded (?:\d+ KB|output of unknown size): the disk was full, /m);
    const cast = await json("export", "counter", "--asciicast", "-");
    expect(cast.filter((line) => Array.isArray(line) && line[1] === "m" && line[2].includes("not recorded"))).toHaveLength(1);
    const steps = (await json("replay", "--json", "counter")) as { kind: string; base64: string }[];
    expect(steps.filter(({ kind }) => kind === "gap")).toEqual([{ kind: "gap", at: expect.any(Number), ...gap }]);
    const played = (some: typeof steps) => some.map(({ base64 }) => Buffer.from(base64 ?? "", "base64").length).reduce((a, b) => a + b, 0);
    expect(
      played(
        steps.slice(
          0,
          steps.findIndex(({ kind }) => kind === "gap"),
        ),
      ),
    ).toBe(offset);

    // The journal continues without a gap of its own.
    await home.ok(["rename", "counter", "other"]);
    await home.ok(["run", "--host", host, "--name", "next", "--", "true"]);
    expect(await home.ended("next")).toMatchObject({ status: "done" });
    expectGapless(await events(home));
  });

  test("a program's last output on a full disk is a gap in its recording, and shown as one", async () => {
    await using home = new SmallDiskHome({ megabytes: 8 });
    const go = path.join(home.root, "go");
    const last = `echo first; while [ ! -e ${go} ]; do sleep 0.01; done; i=0; while [ $i -lt 200 ]; do echo "${PADDING}"; i=$((i+1)); done`;
    const { id, pid } = await home.run(last, "--name", "last", "--host", host);
    await eventually(async () => (await home.ok(["logs", "last"])) === "first\n");
    const recorder = host === "tmux" ? readFileSync(path.join(home.path, "sessions", id, "runs/1/recorder"), "utf8") : "0";
    home.fill();
    writeFileSync(go, "");
    await eventually(() => !lives(pid ?? 0));
    // Output that still waits in a pipe would be recorded once space is back.
    if (host === "tmux") await eventually(() => !lives(Number.parseInt(recorder, 10)));
    home.empty();
    await home.ended("last");
    const lines = (await home.ok(["logs", "last"])).trimEnd().split("\n");
    expect(lines[0]).toBe("first");
    // A holder may read the last bytes only when space is back; on tmux they are never recorded.
    const notes = lines.filter((line) => /^\[… .* not recorded: the disk was full, .* …\]$/.test(line));
    expect(notes).toEqual(host === "tmux" ? [lines.at(-1)] : [expect.any(String)]);
    expect(lines.length).toBeLessThan(200);
  });

  test("the exit of a program during a full disk is recorded as soon as space is back", async () => {
    await using home = new SmallDiskHome({ megabytes: 8 });
    const go = path.join(home.root, "go");
    const { pid } = await home.run(`while [ ! -e ${go} ]; do sleep 0.01; done; exit 7`, "--name", "seven", "--host", host);
    const daemon = await home.daemonPid();
    home.fill();
    const toldAt = Date.now();
    writeFileSync(go, "");
    await eventually(() => !lives(pid ?? 0));
    const endedAt = Date.now();
    const typed = await home.cli(["keys", "seven", "Enter"]);
    expect({ code: typed.code, says: typed.stderr.split("\n")[0] }).toEqual({
      code: 6,
      says: "holdfast: the program has ended, and may not have read the typed text",
    });
    await refusal(home, ["rename", "seven", "eight"], FULL);
    home.fill();
    const emptiedAt = Date.now();
    home.empty();
    const session = await home.ended("seven");
    expect(session).toMatchObject({ status: "failed", exit: { code: 7, signal: null } });
    const at = Date.parse(session.endedAt ?? "");
    expect(at).toBeGreaterThanOrEqual(toldAt - 50);
    expect(at).toBeLessThan(host === "tmux" ? endedAt + NOTICED_MS : emptiedAt);
    expect(await home.daemonPid()).toBe(daemon);
  });

  test("the program that fills the disk can be stopped and removed without free space, thanks to Holdfast's reserve", async () => {
    await using home = new SmallDiskHome({ megabytes: 8 });
    const { pid } = await home.run("while :; do head -c 100000 /dev/zero | tr '\\0' x; done", "--name", "flood", "--host", host);
    await eventually(() => home.isFull());
    await refusal(home, ["run", "--", "true"], FULL);
    expect(await home.json<Session[]>(["stop", "flood", "--grace", "1s"])).toMatchObject([{ status: "stopped" }]);
    expect(lives(pid ?? 0)).toBe(false);
    await home.ok(["rm", "flood"]);
    await home.ok(["run", "--", "true"]);
    expectGapless(await events(home));
  });

  test("with no space at all, stop ends the processes, reports that it cannot record this, and records it later", async () => {
    await using home = new SmallDiskHome({ megabytes: 8 });
    const { pid } = await home.run(COUNTING, "--name", "counter", "--host", host);
    home.fill();
    const said = await refusal(home, ["stop", "counter", "--grace", "1s"], FULL);
    expect(said).toMatch(/^the processes of counter are gone, but the disk is full/);
    expect(lives(pid ?? 0)).toBe(false);
    home.empty();
    expect(await home.ended("counter")).toMatchObject({ status: "stopped" });
    expectGapless(await events(home));
  });

  test("a restart due on a full disk happens when space is back", async () => {
    await using home = new SmallDiskHome({ megabytes: 8 });
    const go = path.join(home.root, "go");
    await home.run(`[ -e ${go} ] && exec sleep 1000; exit 1`, "--name", "again", "--host", host, "--restart", "always");
    // The pauses are 1, 2 and 4 seconds: the third leaves time to fill the disk.
    const { restartAt } = await home.until("again", (session) => session.runs === 3 && session.restartAt !== null);
    home.fill();
    writeFileSync(go, "");
    await eventually(() => Date.now() > Date.parse(restartAt ?? "") + 500);
    expect(await home.session("again")).toMatchObject({ runs: 3 });
    home.empty();
    expect(await home.until("again", ({ runs, status }) => runs === 4 && status === "working")).toMatchObject({ runs: 4 });
  });

  test("a home that becomes read-only disturbs no session, and exits are recorded once it is writable again", async () => {
    await using home = new SmallDiskHome({ megabytes: 16 });
    const go = path.join(home.root, "go");
    const ends = await home.run(`while [ ! -e ${go} ]; do sleep 0.01; done; exit 7`, "--name", "ends", "--host", host);
    const stays = await home.run(COUNTING, "--name", "stays", "--host", host);
    home.cover();
    await refusal(home, ["run", "--host", host, "--", "true"], READ_ONLY);
    writeFileSync(go, "");
    await eventually(() => !lives(ends.pid ?? 0));
    expect(finding((await home.cli(["doctor", "--json"])).stdout, "disk")).toMatchObject({
      level: "problem",
      what: expect.stringContaining("the home is read-only"),
    });
    const said = await refusal(home, ["stop", "stays", "--grace", "1s"], READ_ONLY);
    expect(said).toMatch(/^the processes of stays are gone, but the home is read-only/);
    expect(lives(stays.pid ?? 0)).toBe(false);
    home.uncover();
    expect(await home.ended("ends")).toMatchObject({ status: "failed", exit: { code: 7, signal: null } });
    expect(await home.ended("stays")).toMatchObject({ status: "stopped" });
    expect(await home.json<Session>(["run", "--host", host, "--", "true"])).toMatchObject({ runs: 1 });
  });
});

test("no daemon starts on a full disk or a read-only home: reads work without one, other commands name the cause in one line", async () => {
  await using home = new SmallDiskHome({ megabytes: 8 });
  const { pid } = await home.run(COUNTING, "--name", "counter", "--host", "tmux");
  await eventually(async () => (await lines(home, "counter")).length > 5);
  home.fill();
  await home.killDaemon();
  const why = "the daemon did not start: the disk is full: nothing can be written";
  for (const args of [["run", "--", "true"], ["stop", "counter"], ["send", "counter", "x"], ["up"], ["status"], ["backup", "create"]]) {
    expect(await refusal(home, args, FULL)).toBe(why);
  }
  const { stderr } = await home.cli(["up"]);
  expect(stderr.trimEnd().split("\n")).toHaveLength(2);
  await answersWithoutDaemon(home, { why, name: "counter", pid });
  expect(lives(pid ?? 0)).toBe(true);
  home.empty();
  expect(await home.session("counter")).toMatchObject({ status: "working", pid });
  await home.ok(["down", "--all", "--grace", "1s"]);

  await home.remount("ro");
  await answersWithoutDaemon(home, { why: "the home is read-only: nothing can be written", name: "counter", pid });
  for (const args of [["run", "--", "true"], ["stop", "counter"], ["up"]]) {
    expect(await refusal(home, args, READ_ONLY)).toContain("the home is read-only: nothing can be written");
  }
  const missing = { env: { HOLDFAST_HOME: path.join(home.path, "in/here") } };
  expect(JSON.parse((await home.cli(["ls", "--json"], missing)).stderr)).toMatchObject({ error: { code: "home_read_only" } });
  // Commands that need no home work.
  await home.ok(["--help"]);
});

/** Reads answer from the last written state, say so in a line, and leave nothing behind. */
async function answersWithoutDaemon(home: TestHome, { why, name, pid }: { why: string; name: string; pid: number | null }): Promise<void> {
  home.env.TMPDIR = path.join(home.root, "tmp");
  mkdirSync(home.env.TMPDIR, { recursive: true });
  for (const args of [
    ["ls", "--all"],
    ["show", name],
    ["du"],
    ["explain", name],
    ["token", "ls"],
    ["backup", "ls"],
    ["export", name, "--text", "-"],
  ]) {
    const { code, stderr } = await home.cli(args);
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: `holdfast: ${why}; showing the last recorded state\n` });
  }
  expect(await home.json(["ls", "--all"])).toMatchObject([{ name, pid }]);
  expect(numbersIn(await home.ok(["logs", "--raw", name])).length).toBeGreaterThan(5);
  const { code, stdout, stderr } = await home.cli(["doctor", "--json"]);
  expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  expect(finding(stdout, "daemon")).toMatchObject({ level: "problem", what: why });
  expect(finding(stdout, "disk")).toMatchObject({ level: "problem" });
  await eventually(() => home.processes().every(({ pid }) => !argumentsOf(pid).includes("--read")));
  expect(readdirSync(home.env.TMPDIR)).toEqual([]);
}

test("a command that cannot write its own output says so", async () => {
  await using home = new TestHome();
  const { status, stderr } = spawnSync("sh", ["-c", '"$0" version > /dev/full', HOLDFAST], { env: home.env, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 1, stderr: "holdfast: cannot write the output: ENOSPC: no space left on device, write\n" });
});

/** Runs a command that must fail with that code and a hint, with and without --json; returns its message. */
async function refusal(home: TestHome, args: string[], expected: { code: number; error: string }): Promise<string> {
  const [command = "", ...rest] = args;
  const { code, stdout, stderr } = await home.cli([command, "--json", ...rest]);
  // A verb on several sessions prints those that succeeded.
  expect({ args, code, stdout }).toEqual({ args, code: expected.code, stdout: expect.stringMatching(/^(\[\]\n)?$/) });
  const { error } = JSON.parse(stderr) as { error: { code: string; message: string; hint: string } };
  expect(error).toEqual({ code: expected.error, message: expect.any(String), hint: expect.stringMatching(/\w+ \w+/) });
  return error.message;
}

async function events(home: TestHome, type?: string): Promise<AnyEvent[]> {
  const text = await home.ok(["events", ...(type ? ["--type", type] : [])]);
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as AnyEvent);
}

function finding(json: string, id: string): Finding | undefined {
  return (JSON.parse(json) as Finding[]).find((each) => each.id === id);
}

function numbersIn(text: string): number[] {
  return [...text.matchAll(/line (\d+)\r?\n/g)].map(([, number]) => Number(number));
}

/** The recorded numbers. */
async function lines(home: TestHome, name: string): Promise<number[]> {
  return numbersIn(await home.ok(["logs", "--raw", name]));
}

/** Returns the last recorded number once the recording stops growing while the program continues. */
async function stopsGrowing(home: TestHome, name: string): Promise<number | undefined> {
  const before = (await lines(home, name)).at(-1) ?? 0;
  const later = await eventually(async () => {
    const shown = await screenShows(home, name);
    return shown > before + 20 && shown;
  });
  const now = (await lines(home, name)).at(-1) ?? 0;
  return now === before && later > now ? now : undefined;
}

async function screenShows(home: TestHome, name: string): Promise<number> {
  return numbersIn(`${await home.ok(["screen", name])}\n`).at(-1) ?? 0;
}

function missingNumbers(numbers: number[]): number[] {
  const last = numbers.at(-1) ?? 0;
  const there = new Set(numbers);
  return Array.from({ length: last }, (_, i) => i + 1).filter((number) => !there.has(number));
}

/** The bytes of the program's lines that are missing before `offset`. */
function bytesBetween(raw: string, offset: number): number {
  const before = numbersIn(raw.slice(0, offset)).at(-1) ?? 0;
  const rest = raw.slice(offset);
  const cut = raw.slice(0, offset).lastIndexOf("\n") + 1;
  const first = Number(/line (\d+)\r\n/.exec(rest.slice(rest.indexOf("\n") + 1))?.[1]);
  const whole = Array.from({ length: first - before - 1 }, (_, i) => `${PADDING} line ${before + 1 + i}\r\n`).join("").length;
  return whole - (offset - cut) - (rest.indexOf("\n") + 1);
}

test("a conversation whose keeper is killed on a full disk ends its turn as soon as space is back, and nothing is repeated", async () => {
  await using home = new SmallDiskHome({ megabytes: 8 });
  await home.ok(["spawn", "--chat", "demo", "--name", "talk", "--prompt", "say half\nsleep 60000"]);
  await eventually(async () => (await home.ok(["transcript", "talk"])).includes("half"));
  const { pid } = await home.session("talk");
  const [keeper] = home.processes().filter((each) => argumentsOf(each.pid)?.some((word) => word.includes("conversation-holder")));
  home.fill();
  process.kill(keeper?.pid ?? 0, "SIGKILL");
  await eventually(() => !lives(pid ?? 0));
  expect((await home.cli(["send", "talk", "say more", "--no-wait"])).code).not.toBe(0);
  home.empty();
  expect(await home.ended("talk")).toMatchObject({ status: "lost", turns: 1 });
  expect(await events(home, "turn.ended")).toMatchObject([{ data: { reason: "interrupted" } }]);
  expect((await home.ok(["transcript", "talk"])).match(/the turn ended: interrupted/g)).toHaveLength(1);
  expect(await home.json(["messages"])).toMatchObject([{ state: "failed" }]);
});

test("a backup before a migration needs its own size and a little more, and names the remedy if that is not free", async () => {
  await using disk = new SmallDiskHome({ megabytes: 32 });
  const home = openHome(disk.env);
  const backups = new Backups({ home, copier: path.join(ROOT, "packages/daemon/src/journal/backup-copy.ts") });
  const db = openDatabase(home.database);
  db.exec("CREATE TABLE filler (bytes BLOB); INSERT INTO filler VALUES (zeroblob(12 << 20)); PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
  const { bavail, bsize } = statfsSync(home.path);
  const ballast = path.join(home.path, "ballast");
  writeFileSync(ballast, Buffer.alloc(bavail * bsize - (10 << 20)));
  await expect(backups.create("migration")).rejects.toMatchObject({
    code: "backup_failed",
    message: expect.stringMatching(/16\.\d MB of free space are needed, and 10\.\d MB are free/),
    hint: expect.stringContaining(`free space on the disk of ${home.path}`),
  });
  truncateSync(ballast, bavail * bsize - (18 << 20));
  await expect(backups.create("asked")).rejects.toMatchObject({ code: "backup_failed" });
  expect(await backups.create("migration")).toMatchObject({ why: "migration" });
});

test.each([1500, 3000])(
  "a restore with %d kB of free space never installs a partial database, and completes when there is more",
  async (room) => {
    await using disk = new SmallDiskHome({ megabytes: 8 });
    const home = openHome(disk.env);
    mkdirSync(home.sessions, { recursive: true });
    const backups = new Backups({ home, copier: path.join(ROOT, "packages/daemon/src/journal/backup-copy.ts") });
    const db = openDatabase(home.database);
    const journal = new Journal({ db, projections: [], machineName: "box" });
    const fact: Draft = {
      type: "daemon.started",
      actor: "daemon" as Principal,
      session: null,
      data: { pid: 1, version: "0.1.0", node: "x".repeat(200) },
    };
    for (let i = 0; i < 20; i++) journal.append(fact);
    await backups.create("asked");
    for (let i = 0; i < 3000; i++) journal.append(fact);
    db.exec("INSERT INTO meta VALUES ('bad', CAST(x'ff41' AS TEXT))");
    db.close();
    const order = orderRestore(home, { why: "damaged", what: "a row of meta cannot be read", backup: null });
    const { bavail, bsize } = statfsSync(home.path);
    const ballast = path.join(home.path, "ballast");
    writeFileSync(ballast, Buffer.alloc(bavail * bsize - room * 1024));

    expect(() => restore(home, order, { backups, projections: [] })).toThrow("database or disk is full");
    expect([existsSync(home.database), openOrder(home)]).toEqual([false, order]);
    rmSync(ballast);
    restore(home, order, { backups, projections: [] });
    using restored = new DatabaseSync(home.database, { readOnly: true });
    expect(restored.prepare("SELECT count(*) AS n FROM events").get()).toEqual({ n: 3020 });
    expect(restored.prepare("SELECT json_extract(value, '$.recovered') AS n FROM meta WHERE key = 'restore'").get()).toEqual({ n: 3000 });
  },
);
