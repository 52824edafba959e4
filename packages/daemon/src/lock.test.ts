import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { takeLock } from "./lock.ts";

function temporary(): string {
  const directory = mkdtempDisposableSync(join(tmpdir(), "hf-"));
  onTestFinished(() => directory.remove());
  return join(directory.path, "lock");
}

async function holder(path: string): Promise<ChildProcess> {
  const code = `import { takeLock } from ${JSON.stringify(join(import.meta.dirname, "lock.ts"))};
    const lock = takeLock(${JSON.stringify(path)}); console.log(lock ? "held" : "refused"); setInterval(() => lock, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  expect(String(said)).toBe("held\n");
  return child;
}

test("one process at a time holds the lock, and the next can take it after release", () => {
  const path = temporary();
  const first = takeLock(path);
  expect(first).toBeDefined();
  expect(takeLock(path)).toBeUndefined();
  expect(takeLock(path)).toBeUndefined();
  first?.close();
  const second = takeLock(path);
  expect(second).toBeDefined();
  second?.close();
});

test("a killed process releases the lock; a stopped process keeps it", async () => {
  const path = temporary();
  const child = await holder(path);
  expect(takeLock(path)).toBeUndefined();
  child.kill("SIGSTOP");
  expect(takeLock(path)).toBeUndefined();
  child.kill("SIGKILL");
  const lock = await vi.waitFor(() => {
    const taken = takeLock(path);
    expect(taken).toBeDefined();
    return taken;
  });
  lock?.close();
});

test("a lock file that cannot be opened is an error, never a lock", () => {
  expect(() => takeLock("/nowhere/at/all/lock")).toThrow();
});

test.each([
  ["garbage", "this is not a database, but long enough to look like one".repeat(100)],
  ["torn", "SQLite format 3\0torn"],
  ["empty", ""],
])("a lock file that is %s still locks for one at a time", (_, content) => {
  const path = temporary();
  writeFileSync(path, content);
  const lock = takeLock(path);
  expect(lock).toBeDefined();
  expect(takeLock(path)).toBeUndefined();
  lock?.close();
  takeLock(path)?.close();
});
