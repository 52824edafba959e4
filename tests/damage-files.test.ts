/** The readers of session files and start-up files, with every kind of damage. Rows of docs/DAMAGE.md. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { SessionId } from "@holdfast/contract";
import { RevokedList } from "@holdfast/daemon/access/revoked-list";
import { isRunToken } from "@holdfast/daemon/access/run-token";
import { TcpDoor } from "@holdfast/daemon/api/tcp";
import { readConfiguration } from "@holdfast/daemon/configuration";
import { takeLock } from "@holdfast/daemon/lock";
import { Recording } from "@holdfast/daemon/record/recording";
import { Times } from "@holdfast/daemon/record/times";
import { readExitFile } from "@holdfast/daemon/session/run/exit-file";
import { readSessionFiles, readSpec, type Spec, writeLaunch, writeSessionFiles } from "@holdfast/daemon/session/run/run-files";
import { appendGap, type Home, openHome, readGaps, SEGMENT_BYTES } from "@holdfast/platform";
import { afterAll, expect } from "vitest";
import { cells, SEED } from "./damaged.ts";

const root = mkdtempSync(path.join(tmpdir(), "hf-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
function directory(): string {
  const made = path.join(root, String(++count));
  mkdirSync(made, { recursive: true });
  return made;
}

/** Three segments of ten bytes each. */
function recorded(): { recording: Recording; segment(number: number): string } {
  const made = directory();
  const segment = (number: number) => path.join(made, `output.00000${number}`);
  for (const number of [0, 1, 2]) writeFileSync(segment(number), String(number).repeat(10));
  return { recording: new Recording(made), segment };
}

cells(
  "output.NNNNNN",
  {
    missing: "the other segments are read, each at its offset; the missing part is skipped",
    empty: "the other segments are read without an error",
    torn: "the rest of it and the other segments are read",
    garbage: "it is read unchanged: a recording may hold any bytes",
  },
  (how, hurt) => {
    const { recording, segment } = recorded();
    hurt(segment(1));
    const text = wholeOf(recording);
    expect(text.length).toBe(20 + { missing: 0, empty: 0, torn: 5, garbage: 64 }[how]);
    expect([text.startsWith("0000000000"), text.endsWith("2222222222")]).toEqual([true, true]);
    if (how === "missing") expect(recording.next(10)).toBe(10 + SEGMENT_BYTES);
    hurt(segment(2));
    expect(wholeOf(recording).startsWith("0000000000")).toBe(true);
  },
);

/** The remaining content, as a reader goes through it. */
function wholeOf(recording: Recording): string {
  let text = "";
  for (let offset = 0; ; ) {
    const bytes = recording.read(offset, 1000);
    text += bytes.toString("latin1");
    const next = recording.next(offset + bytes.length);
    if (bytes.length === 0 && next === offset) return text;
    offset = next;
  }
}

cells(
  "cut",
  {
    missing: "the names of the segments show where the recording begins",
    empty: "the names of the segments show where the recording begins",
    torn: "the names of the segments show where the recording begins",
    garbage: "the names of the segments show where the recording begins",
  },
  (_how, hurt) => {
    const made = directory();
    for (const number of [3, 4]) writeFileSync(path.join(made, `output.00000${number}`), String(number).repeat(10));
    writeFileSync(path.join(made, "cut"), `${3 * SEGMENT_BYTES} output.000003\n`);
    expect(new Recording(made).begins()).toBe(3 * SEGMENT_BYTES);
    hurt(path.join(made, "cut"));
    expect(new Recording(made).begins()).toBe(3 * SEGMENT_BYTES);
    expect(wholeOf(new Recording(made))).toBe("33333333334444444444");
  },
);

cells(
  "times.idx",
  {
    missing: "the existing recording has no timestamps; new samples continue",
    empty: "the existing recording has no timestamps; new samples continue",
    torn: "complete lines are used; the incomplete one is skipped and cut off before the next",
    garbage: "invalid lines are skipped; new samples continue",
  },
  (how, hurt) => {
    const made = directory();
    const times = new Times(made);
    for (let i = 1; i <= 20; i++) times.append({ at: 1000 * i, offset: 10 * i });
    hurt(path.join(made, "times.idx"));
    const left = new Times(made).read();
    expect(left).toEqual(Array.from({ length: left.length }, (_, i) => ({ at: 1000 * (i + 1), offset: 10 * (i + 1) })));
    if (how === "torn") expect(left.length).toBeGreaterThan(5);
    else expect(left).toEqual([]);
    expect(new Times(made).sampled()).toBe(10 * left.length);
    new Times(made).append({ at: 99_000, offset: 500 });
    expect(new Times(made).read()).toEqual([...left, { at: 99_000, offset: 500 }]);
    expect(new Times(made).sampled()).toBe(500);
  },
);

cells(
  "gaps",
  {
    missing: "gaps recorded as events stay known; new gaps are recorded as usual",
    empty: "gaps recorded as events stay known; new gaps are recorded as usual",
    torn: "complete lines are used, the incomplete one is skipped; new gaps are recorded as usual",
    garbage: "invalid lines are skipped; new gaps are recorded as usual",
  },
  (how, hurt) => {
    const made = directory();
    const gap = (i: number) => ({ offset: 10 * i, bytes: i, why: "the disk was full", at: 1000 * i });
    for (let i = 1; i <= 20; i++) appendGap(made, gap(i));
    hurt(path.join(made, "gaps"));
    const left = readGaps(made);
    expect(left).toEqual(Array.from({ length: left.length }, (_, i) => gap(i + 1)));
    if (how === "torn") expect(left.length).toBeGreaterThan(5);
    else expect(left).toEqual([]);
    appendGap(made, gap(99));
    expect(readGaps(made)).toEqual([...left, gap(99)]);
  },
);

const UNKNOWN = { exit: { code: null, signal: null }, endedAt: expect.any(Number) };

cells(
  "exit.json",
  {
    missing: "the keeper is asked; if it no longer has the run, the run is lost",
    empty: "the run has ended at the time of the file; its exit status is unknown",
    torn: "the run has ended at the time of the file; its exit status is unknown",
    garbage: "the run has ended at the time of the file; its exit status is unknown",
  },
  (how, hurt) => {
    const made = directory();
    writeFileSync(path.join(made, "exit.json"), '{"status":"3","signal":""}\n');
    expect(readExitFile(made)?.exit).toEqual({ code: 3, signal: null });
    hurt(path.join(made, "exit.json"));
    expect(readExitFile(made)).toEqual(how === "missing" ? undefined : UNKNOWN);
  },
);

const ID = "aaaaaaaaaa" as SessionId;
const SPEC: Spec = {
  v: 1,
  id: ID,
  name: "one",
  kind: "shell",
  agent: "shell",
  role: null,
  objective: null,
  host: "native",
  cwd: "/",
  command: ["true"],
  umask: 0o022,
};

function withSession(): Home {
  const home = openHome({ HOLDFAST_HOME: path.join(directory(), "home") });
  writeSessionFiles(home, SPEC, { A: "1", B: "2" });
  return home;
}

cells(
  "env",
  {
    missing: "no further run starts; the session and its recordings stay, and can be rebuilt if the journal is lost",
    empty: "no further run starts; the session and its recordings stay, and can be rebuilt if the journal is lost",
    torn: "no further run starts; the session and its recordings stay, and can be rebuilt if the journal is lost",
    garbage: "no further run starts; the session and its recordings stay, and can be rebuilt if the journal is lost",
  },
  (_how, hurt) => {
    const home = withSession();
    hurt(path.join(home.sessions, ID, "env"));
    expect(() => readSessionFiles(home, ID)).toThrow(expect.objectContaining({ code: "session_damaged" }));
    expect(readSpec(home, ID)).toEqual(SPEC);
  },
);

cells(
  "launch",
  {
    missing: "rewritten for each run",
    empty: "rewritten for each run",
    torn: "rewritten for each run",
    garbage: "rewritten for each run",
  },
  (_how, hurt) => {
    const home = withSession();
    const files = readSessionFiles(home, ID);
    const launch = path.join(writeLaunch(home, { session: ID, run: 2 }, files).directory, "launch");
    // Without the token, which differs each time.
    const read = () => readFileSync(launch, "utf8").replace(/hfs_[\w-]+/, "");
    const whole = read();
    hurt(launch);
    writeLaunch(home, { session: ID, run: 2 }, files);
    expect(read()).toBe(whole);
  },
);

cells(
  "token",
  {
    missing: "the run's token is invalid; its program keeps running, and the next run gets a new token",
    empty: "the run's token is invalid; its program keeps running, and the next run gets a new token",
    torn: "the run's token is invalid; its program keeps running, and the next run gets a new token",
    garbage: "the run's token is invalid; its program keeps running, and the next run gets a new token",
  },
  (_how, hurt) => {
    const home = withSession();
    const run = { session: ID, run: 2 };
    const { directory } = writeLaunch(home, run, readSessionFiles(home, ID));
    const [token = ""] = /hfs_[\w-]+/.exec(readFileSync(path.join(directory, "launch"), "utf8")) ?? [];
    expect(isRunToken(home, run, token)).toBe(true);
    hurt(path.join(directory, "token"));
    expect(isRunToken(home, run, token)).toBe(false);
  },
);

cells(
  "revoked-tokens",
  {
    missing: "the journal knows the revoked tokens; only a backup from before the revocation would revive a token",
    empty: "the journal knows the revoked tokens; only a backup from before the revocation would revive a token",
    torn: "the journal knows the revoked tokens; readable entries also hold in a restored backup",
    garbage: "the journal knows the revoked tokens; only a backup from before the revocation would revive a token",
  },
  (how, hurt) => {
    const home = withSession();
    const list = new RevokedList(home);
    for (const id of ["aaaaaaaaaa", "bbbbbbbbbb"]) list.add(id);
    hurt(path.join(home.path, "revoked-tokens"));
    expect(list.read().includes("aaaaaaaaaa")).toBe(how === "torn");
    list.add("cccccccccc");
    expect(list.read()).toContain("cccccccccc");
  },
);

cells(
  "listen.json",
  {
    missing: "the daemon listens on its Unix socket only, until an address is set again",
    empty: "the daemon listens on its Unix socket only, and its log says why",
    torn: "the daemon listens on its Unix socket only, and its log says why",
    garbage: "the daemon listens on its Unix socket only, and its log says why",
  },
  async (_how, hurt) => {
    const home = withSession();
    writeFileSync(path.join(home.path, "listen.json"), '{"v":1,"address":"127.0.0.1:1","insecurePublic":false}\n');
    hurt(path.join(home.path, "listen.json"));
    const serve = () => {
      throw new Error("it opened an address that nobody said");
    };
    await using door = new TcpDoor({ home, journal: undefined as never, serve });
    await door.begin();
    expect(door.listening).toBeNull();
  },
);

cells(
  "config.toml",
  {
    missing: "the defaults apply",
    empty: "the defaults apply",
    torn: "the daemon does not start, and names the file and line; running agents keep running",
    garbage: "the daemon does not start, and names the file and line; running agents keep running",
  },
  (how, hurt) => {
    const made = directory();
    mkdirSync(path.join(made, "holdfast"));
    const file = path.join(made, "holdfast", "config.toml");
    writeFileSync(file, 'detach_key = "F12"\n');
    const read = () => readConfiguration({ XDG_CONFIG_HOME: made });
    expect(read().detachKey).toBe("F12");
    hurt(file);
    if (how === "missing" || how === "empty") expect(read().detachKey).toBe("C-\\");
    else expect(read).toThrow(expect.objectContaining({ code: "usage", message: expect.stringContaining(file) }));
  },
);

cells(
  "lock",
  {
    missing: "created again; a second daemon still does not start if daemon.json names a living one",
    empty: "it still locks for one daemon at a time; its content does not matter",
    torn: "emptied; it still locks for one daemon at a time",
    garbage: "emptied; it still locks for one daemon at a time",
  },
  (_how, hurt) => {
    const file = path.join(directory(), "lock");
    writeFileSync(file, `SQLite format 3\0 ${"and then something else".repeat(SEED % 200)}`);
    hurt(file);
    const lock = takeLock(file);
    expect(lock).toBeDefined();
    expect(takeLock(file)).toBeUndefined();
    lock?.close();
    const next = takeLock(file);
    expect(next).toBeDefined();
    next?.close();
  },
);
