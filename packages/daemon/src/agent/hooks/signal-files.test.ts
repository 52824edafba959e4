import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempDisposableSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HoldfastError } from "@holdfast/contract";
import { expect, test, vi } from "vitest";
import { Profiles } from "../profiles/index.ts";
import { injectHooks } from "./injection.ts";
import { readSignals, type SignalFile, takeSignals, unreadSignals } from "./signal-files.ts";

test("signals are read oldest first, and none has a time in the future", () => {
  using run = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  const now = Date.now();
  const write = (name: string, seconds: number) => {
    const path = join(run.path, "signals", name);
    writeFileSync(path, JSON.stringify({ name }));
    utimesSync(path, seconds, seconds);
  };
  mkdirSync(join(run.path, "signals"));
  write("9", now / 1000 + 3600);
  write("8", now / 1000 - 60);
  write("7.ask", now / 1000 - 30);
  write(".half", now / 1000 - 90);
  const signals = [...readSignals(run.path)];
  expect(signals).toMatchObject([{ payload: { name: "8" } }, { payload: { name: "7.ask" }, ask: "7.ask" }, { payload: { name: "9" } }]);
  expect(signals.every(({ at }) => Date.parse(at) <= Date.now())).toBe(true);
});

/** The signal files of one run, and a reader that takes them. */
function tray(names: readonly string[]) {
  const run = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  mkdirSync(join(run.path, "signals"));
  names.forEach((name, i) => {
    const path = join(run.path, "signals", name);
    writeFileSync(path, name.includes("garbage") ? "no JSON" : JSON.stringify({ name }));
    utimesSync(path, 1000 + i, 1000 + i);
  });
  const taken: unknown[] = [];
  const aside: SignalFile[] = [];
  const failures = new Map<string, number>();
  const takeAll = (refuse: (name: string) => void = () => {}) =>
    takeSignals(run.path, {
      take: ({ payload }) => {
        const { name } = payload as { name: string };
        refuse(name);
        taken.push(name);
      },
      failures,
      onAside: (file) => aside.push(file),
    });
  const left = () => readdirSync(join(run.path, "signals"));
  return { taken, aside, takeAll, left, path: run.path, [Symbol.dispose]: () => run.remove() };
}

test("a signal that always fails is retried a few times and set aside; later signals are taken at once", () => {
  using box = tray(["1", "2.ask", "3", "4.garbage"]);
  const refuse = (name: string) => {
    if (name === "2.ask") throw new RangeError("Maximum call stack size exceeded");
  };
  box.takeAll(refuse);
  expect(box.taken).toEqual(["1", "3"]);
  expect(box.left()).toEqual(["2.ask"]);
  expect(box.aside).toMatchObject([{ ask: undefined }]);
  box.takeAll(refuse);
  box.takeAll(refuse);
  expect(box.left()).toEqual([]);
  // The callback names the hook that waits for an answer.
  expect(box.aside).toMatchObject([{}, { ask: "2.ask" }]);
  expect(unreadSignals(box.path)).toEqual(["2.ask", "4.garbage"].map((name) => join(box.path, "unread", name)));
});

test("if the journal cannot be written, all signals stay", () => {
  using box = tray(["1", "2"]);
  for (let tried = 0; tried < 5; tried++) {
    const full = () => {
      throw new HoldfastError("disk_full", "the disk is full");
    };
    expect(() => box.takeAll(full)).toThrow("full");
  }
  box.takeAll();
  expect(box.taken).toEqual(["1", "2"]);
  expect(unreadSignals(box.path)).toEqual([]);
});

test("a signal that cannot be set aside does not block the others", () => {
  using box = tray(["1.garbage", "2"]);
  writeFileSync(join(box.path, "unread"), "in the way");
  box.takeAll();
  expect(box.taken).toEqual(["2"]);
  expect(box.left()).toEqual(["1.garbage"]);
  rmSync(join(box.path, "unread"));
  box.takeAll();
  expect(unreadSignals(box.path)).toEqual([join(box.path, "unread", "1.garbage")]);
});

test("the incomplete file of a killed hook is set aside when it is old", () => {
  using box = tray([".7"]);
  vi.useFakeTimers({ now: 1_000_000 + 60_000 });
  try {
    box.takeAll();
    expect(box.left()).toEqual([".7"]);
    vi.setSystemTime(1_000_000 + 2 * 3_600_000);
    box.takeAll();
    expect(unreadSignals(box.path)).toEqual([join(box.path, "unread", "7")]);
  } finally {
    vi.useRealTimers();
  }
});

test.each(["tell", "ask"])("on a full disk %s leaves no incomplete file, but a mark of the lost signal", (script) => {
  using box = tray([]);
  injectHooks(new Profiles().get("claude"), { directory: box.path, env: {}, args: [], cwd: "/" });
  // Files must not grow: the kernel refuses every byte, as on a full disk, but not a file name.
  const limited = `trap '' XFSZ; ulimit -f 0; exec sh hooks/${script}`;
  const { stdout, stderr, status } = spawnSync("sh", ["-c", limited], { cwd: box.path, input: '{"a":1}', encoding: "utf8" });
  expect({ stdout, stderr, status }).toEqual({ stdout: "", stderr: "", status: 0 });
  expect(readdirSync(join(box.path, "answers"))).toEqual([]);
  box.takeAll();
  expect(box.left()).toEqual([]);
  expect(box.aside).toMatchObject([{ unreadable: expect.stringContaining("the disk was full") }]);
});
