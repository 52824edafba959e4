import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempDisposableSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "@holdfast/platform";
import { expect, test, vi } from "vitest";
import { drained, forgetRecorder, recorderGone, recorderOf } from "./drain.ts";

/** A run's directory with a process in place of its recorder: it sleeps, like a recorder with an empty pipe. */
class Recorder implements AsyncDisposable {
  readonly #directory = mkdtempDisposableSync(join(tmpdir(), "hft-"));
  readonly #child: ChildProcess = spawn("split", ["-", "/dev/null"], { stdio: ["pipe", "ignore", "ignore"] });
  readonly directory = this.#directory.path;
  turns = 0;

  register(text = String(this.#child.pid)): void {
    writeFileSync(join(this.directory, "recorder"), text);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async asleep(): Promise<void> {
    await vi.waitFor(() => expect(inspect(this.#child.pid ?? 0)?.sleeping).toBe(true));
  }

  /** True if the drain is done after so many more turns of the server. */
  async isDrainedAfter(turns: number, pipeIsOpen = true): Promise<boolean> {
    const turned = Promise.withResolvers<false>();
    const last = this.turns + turns;
    const turn = async () => {
      if (++this.turns > last) turned.resolve(false);
      return pipeIsOpen;
    };
    return Promise.race([drained(this.directory, turn).then(() => true), turned.promise]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#child.kill("SIGKILL");
      await once(this.#child, "exit");
    }
    this.#directory.remove();
  }
}

test("a sleeping recorder whose files do not grow has everything", async () => {
  await using recorder = new Recorder();
  recorder.register();
  await recorder.asleep();
  expect(await recorder.isDrainedAfter(10)).toBe(true);
  expect(recorder.turns).toBeGreaterThanOrEqual(3);
});

test("the drain waits as long as the files grow", async () => {
  await using recorder = new Recorder();
  recorder.register();
  await recorder.asleep();
  let turns = 0;
  await drained(recorder.directory, async () => {
    if (++turns < 10) appendFileSync(join(recorder.directory, "output.000000"), "x");
    return true;
  });
  expect(turns).toBeGreaterThan(10);
});

test.each([
  ["nothing is written", undefined],
  ["the pid is being written", ""],
])("the drain waits for a recorder that has not written its pid: %s", async (_, said) => {
  await using recorder = new Recorder();
  await recorder.asleep();
  if (said !== undefined) recorder.register(said);
  expect(await recorder.isDrainedAfter(20)).toBe(false);
  recorder.register();
  expect(await recorder.isDrainedAfter(20)).toBe(true);
});

test("without a pipe the drain ends at once", async () => {
  await using recorder = new Recorder();
  expect(await recorder.isDrainedAfter(1, false)).toBe(true);
});

test("the drain does not wait for a dead recorder", async () => {
  await using recorder = new Recorder();
  recorder.register("4194305");
  expect(await recorder.isDrainedAfter(1)).toBe(true);
  forgetRecorder(recorder.directory);
  forgetRecorder(recorder.directory);
  expect(await recorder.isDrainedAfter(5)).toBe(false);
});

test("a pid reused by another process is no recorder", async () => {
  await using recorder = new Recorder();
  recorder.register(String(process.pid));
  expect(recorderOf(recorder.directory)).toBeUndefined();
  expect(await recorder.isDrainedAfter(1)).toBe(true);
});

test("the drain does not wait for a run whose directory is gone", async () => {
  await using recorder = new Recorder();
  rmSync(recorder.directory, { recursive: true });
  expect(await recorder.isDrainedAfter(3)).toBe(true);
});

test("recorderGone waits for the recorder's end and counts a zombie as gone", async () => {
  await using recorder = new Recorder();
  recorder.register();
  const info = recorderOf(recorder.directory);
  expect(info?.name).toBe("split");
  let gone = false;
  const waiting = recorderGone(info).then(() => {
    gone = true;
  });
  await new Promise(setImmediate);
  expect(gone).toBe(false);
  recorder.signal("SIGKILL");
  await waiting;
  await recorderGone(undefined);
});
