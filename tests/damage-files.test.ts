/** The readers of files that belong to sessions, and of what is read at a start: damaged in every way. Rows of docs/DAMAGE.md. */
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
import { readExitFile } from "@holdfast/daemon/session/exit-file";
import { readSessionFiles, readSpec, type Spec, writeLaunch, writeSessionFiles } from "@holdfast/daemon/session/run-files";
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
    missing: "the other segments are read, each at its offset; what is gone is passed over",
    empty: "the other segments are read; nothing fails",
    torn: "what is left of it is read, and the other segments",
    garbage: "it is read as it is: a recording is whatever bytes a terminal got",
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

/** Everything that is still there, as a reader goes through it. */
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
    missing: "where a recording begins is told by the names of its segments",
    empty: "where a recording begins is told by the names of its segments",
    torn: "where a recording begins is told by the names of its segments",
    garbage: "where a recording begins is told by the names of its segments",
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
    missing: "the whole recording is untimed; samples go on from now",
    empty: "the whole recording is untimed; samples go on from now",
    torn: "whole lines count, the half one is passed over and cut off before the next",
    garbage: "what are no samples is passed over; samples go on from now",
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
    missing: "holes that are events stay known; new ones are written down as ever",
    empty: "holes that are events stay known; new ones are written down as ever",
    torn: "whole lines count, the half one is passed over; new ones are written down as ever",
    garbage: "what are no holes is passed over; new ones are written down as ever",
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
    missing: "the keeper is asked; one that has the run no more leaves it lost",
    empty: "the run has ended, when the file says; how is not known",
    torn: "the run has ended, when the file says; how is not known",
    garbage: "the run has ended, when the file says; how is not known",
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
    missing: "no further run is started; the session and its recordings stay, and a lost journal can rebuild it",
    empty: "no further run is started; the session and its recordings stay, and a lost journal can rebuild it",
    torn: "no further run is started; the session and its recordings stay, and a lost journal can rebuild it",
    garbage: "no further run is started; the session and its recordings stay, and a lost journal can rebuild it",
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
    missing: "written anew for each run",
    empty: "written anew for each run",
    torn: "written anew for each run",
    garbage: "written anew for each run",
  },
  (_how, hurt) => {
    const home = withSession();
    const files = readSessionFiles(home, ID);
    const launch = path.join(writeLaunch(home, { session: ID, run: 2 }, files).directory, "launch");
    // But for the token, which is another each time.
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
    missing: "the run's token opens nothing; its program goes on, and the next run has another",
    empty: "the run's token opens nothing; its program goes on, and the next run has another",
    torn: "the run's token opens nothing; its program goes on, and the next run has another",
    garbage: "the run's token opens nothing; its program goes on, and the next run has another",
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
    missing: "the journal says what is revoked; only a backup of before a revocation would bring that token back",
    empty: "the journal says what is revoked; only a backup of before a revocation would bring that token back",
    torn: "the journal says what is revoked; what can be read of the list is revoked also in a restored backup",
    garbage: "the journal says what is revoked; only a backup of before a revocation would bring that token back",
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
    missing: "the daemon is reached on its Unix socket only, until somebody says an address again",
    empty: "the daemon is reached on its Unix socket only, and its log says why",
    torn: "the daemon is reached on its Unix socket only, and its log says why",
    garbage: "the daemon is reached on its Unix socket only, and its log says why",
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
    missing: "the defaults are taken",
    empty: "the defaults are taken",
    torn: "the daemon does not start, and says which file and line; what runs goes on",
    garbage: "the daemon does not start, and says which file and line; what runs goes on",
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
    missing: "made anew; a second daemon still does not start where daemon.json names a living one",
    empty: "it locks as before, for one at a time: nothing is read from it",
    torn: "emptied, and locks as before, for one at a time",
    garbage: "emptied, and locks as before, for one at a time",
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
