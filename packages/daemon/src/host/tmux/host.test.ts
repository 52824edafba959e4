import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempDisposableSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism, uptime as osUptime, tmpdir } from "node:os";
import { join } from "node:path";
import { newSessionId } from "@holdfast/contract";
import {
  allProcesses,
  argumentsOf,
  type Home,
  inspect,
  isSameProcess,
  openHome,
  runDirectory,
  secureSocketDirectory,
  signalProcess,
} from "@holdfast/platform";
import { expect, test, vi } from "vitest";
import type { RunId } from "../host.ts";
import { recorderOf } from "./drain.ts";
import { TmuxHost } from "./host.ts";
import { findTmux, TmuxServer } from "./server.ts";

// These tests use real servers and programs, on machines that may be busy.
vi.setConfig({ testTimeout: 20_000 });

/** A private home with a host. */
class HostHome implements AsyncDisposable {
  readonly #directory = mkdtempDisposableSync(join(tmpdir(), "hft-"));
  readonly home: Home;
  readonly host: TmuxHost;

  constructor(how: { reaper?: undefined } = {}) {
    this.home = openHome({ HOLDFAST_HOME: join(this.#directory.path, "home") });
    secureSocketDirectory(this.home);
    this.host = this.newHost(how);
  }

  /** A host as the next daemon has it. */
  newHost(how: { reaper?: undefined } = {}): TmuxHost {
    const program = findTmux(this.home);
    if (!program) throw new Error("tmux is missing: apt-get install tmux");
    return new TmuxHost({
      home: this.home,
      server: new TmuxServer({ home: this.home, program, detachKey: "C-\\", nextKey: "C-]", cli: ["holdfast"], ...how }),
    });
  }

  /** Creates the files of a run of this script. */
  prepare(script: string): RunId & { directory: string } {
    const run = { session: newSessionId(), run: 1 };
    const directory = runDirectory(this.home, run.session, run.run);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "launch"), script);
    return { ...run, directory };
  }

  async start(script: string): Promise<RunId & { directory: string; pid: number }> {
    const run = this.prepare(script);
    return { ...run, ...(await this.host.start({ ...run, title: "test", columns: 80, rows: 24 })) };
  }

  controlPid(): number {
    const isOurs = (words: string[]) => words.includes("-C") && words.includes(this.home.tmuxSocket);
    return [...allProcesses().keys()].find((pid) => isOurs(argumentsOf(pid))) ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.host.shutdown();
    await this.host[Symbol.asyncDispose]();
    rmSync(this.home.socketDirectory, { recursive: true, force: true });
    this.#directory.remove();
  }
}

/** Keeps this many cores busy. */
class Load implements Disposable {
  readonly #loops: ChildProcess[];

  constructor(count: number) {
    this.#loops = Array.from({ length: count }, () => spawn("/bin/sh", ["-c", "while :; do :; done"], { stdio: "ignore" }));
  }

  [Symbol.dispose](): void {
    for (const loop of this.#loops) loop.kill("SIGKILL");
  }
}

async function exited({ directory }: { directory: string }): Promise<unknown> {
  const path = join(directory, "exit.json");
  await vi.waitFor(() => expect(existsSync(path)).toBe(true), { timeout: 15_000, interval: 2 });
  const { uptime, began, pid, ...how } = JSON.parse(readFileSync(path, "utf8")) as { uptime: string; began?: string; pid?: number };
  // Every host writes seconds since boot: a run's duration must not depend on the wall clock.
  const ago = osUptime() - Number(uptime);
  // Without a reaper tmux reports only the end.
  if (began !== undefined) expect(Number(began)).toBeLessThanOrEqual(Number(uptime));
  if (began !== undefined) expect(pid).toBeGreaterThan(0);
  expect(ago > -0.1 && ago < 30, `it ended ${ago} s ago`).toBe(true);
  return how;
}

function recorded({ directory }: { directory: string }): Buffer {
  const names = readdirSync(directory).filter((name) => name.startsWith("output"));
  return Buffer.concat(names.sort().map((name) => readFileSync(join(directory, name))));
}

test("a run reports its pid, its exit and every byte it wrote, with no listener", async () => {
  await using home = new HostHome();
  const run = await home.start("echo $$; exit 7");
  expect(await exited(run)).toEqual({ status: "7", signal: "" });
  // The reaper keeps the pane open for the last output, until the daemon removes it or for two seconds.
  await vi.waitFor(
    async () =>
      expect(await home.host.list()).toEqual([
        { session: run.session, run: 1, pid: run.pid, dead: true, recording: true, exit: { code: 7, signal: null } },
      ]),
    { timeout: 10_000 },
  );
  await home.host.remove(run);
  expect(String(recorded(run))).toBe(`${run.pid}\r\n`);
  expect(await home.host.list()).toEqual([]);
  await home.host.remove(run);
});

test("the recording has exactly the program's bytes, from the first byte on", async () => {
  await using home = new HostHome();
  const file = join(home.home.path, "bytes");
  writeFileSync(file, randomBytes(3_000_000));
  const run = await home.start(`stty -opost -echo; cat '${file}'`);
  await exited(run);
  await home.host.remove(run);
  expect(recorded(run).equals(readFileSync(file))).toBe(true);
});

test("a program's last output is recorded even if every core is busy", async () => {
  await using home = new HostHome();
  using _load = new Load(availableParallelism() + 1);
  const whole = Array.from({ length: 20_000 }, (_, i) => `${i + 1}\r\n`).join("");
  const short: number[] = [];
  for (let round = 0; round < 8; round++) {
    const runs = await Promise.all(Array.from({ length: 5 }, () => home.start("exec seq 20000")));
    for (const run of runs) {
      await exited(run);
      await home.host.remove(run);
      if (String(recorded(run)) !== whole) short.push(recorded(run).length);
    }
  }
  expect(short).toEqual([]);
});

test("the program leads its process session and has the terminal, as if tmux had started it", async () => {
  const seen: string[] = [];
  for (const how of [{}, { reaper: undefined }]) {
    await using home = new HostHome(how);
    const run = await home.start(
      `set -- $(cat /proc/$$/stat | sed 's/.*) //'); echo $(($5 != 0)) $(($3 == $4)) $(($3 == $6)) $(trap); ps -o pgid=,sid= -p $$ | tr -s ' ' '\\n' | grep -c "^$$$"; : > /dev/tty && echo tty`,
    );
    await exited(run);
    await home.host.remove(run);
    seen.push(String(recorded(run)));
  }
  expect(seen[0]).toBe("1 1 1\r\n2\r\ntty\r\n");
  expect(seen[1]).toBe(seen[0]);
});

test("a stopped program stays stopped", async () => {
  await using home = new HostHome();
  const run = await home.start("exec sleep 60");
  const { start = "" } = inspect(run.pid) ?? {};
  signalProcess(run.pid, start, "SIGSTOP");
  // tmux checks its children whenever one of them stops or ends.
  const other = await home.start("exit 0");
  await exited(other);
  await home.host.remove(other);
  expect(readFileSync(`/proc/${run.pid}/stat`, "utf8")).toMatch(/\) T /);
});

test("without a reaper, tmux itself reports how a program ended", async () => {
  await using home = new HostHome({ reaper: undefined });
  const run = await home.start("echo $$; exit 7");
  expect(await exited(run)).toEqual({ status: "7", signal: "" });
  await home.host.remove(run);
  expect(String(recorded(run))).toBe(`${run.pid}\r\n`);
  expect(await exited(await home.start("kill -9 $$"))).toEqual({ status: "", signal: "9" });
});

test("removing a run waits for output that has not reached the recorder", async () => {
  await using home = new HostHome();
  const file = join(home.home.path, "bytes");
  writeFileSync(file, randomBytes(20_000));
  const run = await home.start(`stty -opost -echo; printf ready; read -r line; cat '${file}'`);
  const recorder = await vi.waitFor(() => {
    const found = recorderOf(run.directory);
    expect(found?.name).toBe("split");
    return found;
  });
  await vi.waitFor(() => expect(String(recorded(run))).toBe("ready"));
  process.kill(recorder?.pid ?? 0, "SIGSTOP");
  await home.host.write(run, Buffer.from("\n"), { paste: false });
  await exited(run);
  let isRemoved = false;
  const removing = home.host.remove(run).then(() => {
    isRemoved = true;
  });
  for (let turn = 0; turn < 20; turn++) await home.host.list();
  expect([isRemoved, recorded(run).length]).toEqual([false, 5]);
  process.kill(recorder?.pid ?? 0, "SIGCONT");
  await removing;
  expect(recorded(run).subarray(5).equals(readFileSync(file))).toBe(true);
});

test("a death by signal is reported by its number", async () => {
  await using home = new HostHome();
  expect(await exited(await home.start("kill -9 $$"))).toEqual({ status: "", signal: "9" });
});

test("a failed start leaves nothing running", async () => {
  await using home = new HostHome();
  const run = home.prepare("exec sleep 60");
  await expect(home.host.start({ ...run, title: "test", columns: 100_000, rows: 24 })).rejects.toMatchObject({ code: "host_failed" });
  expect(await home.host.list()).toEqual([]);
});

test("a dead recorder is replaced, and recording continues under a new prefix", async () => {
  await using home = new HostHome();
  const run = await home.start('stty -echo -opost; echo ready; while read -r line; do echo "$line"; done');
  await vi.waitFor(() => expect(String(recorded(run))).toBe("ready\n"));
  process.kill(Number(readFileSync(join(run.directory, "recorder"), "utf8")), "SIGKILL");
  // tmux notices at the next byte, which is lost.
  await vi.waitFor(async () => {
    await home.host.write(run, Buffer.from("lost\n"), { paste: false });
    expect(await home.host.list()).toMatchObject([{ recording: false, dead: false }]);
  });
  expect(await home.host.reopenRecording(run, "output-001.")).toBe(true);
  await home.host.write(run, Buffer.from("on\n"), { paste: false });
  await vi.waitFor(() => expect(String(readFileSync(join(run.directory, "output-001.000000")))).toContain("on\n"));
});

test("a dead recorder that was not replaced does not delay the end", async () => {
  await using home = new HostHome();
  const run = await home.start("echo ready; read -r line");
  await vi.waitFor(() => expect(String(recorded(run))).toBe("ready\r\n"));
  process.kill(Number(readFileSync(join(run.directory, "recorder"), "utf8")), "SIGKILL");
  await home.host.write(run, Buffer.from("\n"), { paste: false });
  await exited(run);
  await home.host.remove(run);
});

test("the next daemon finds the same runs", async () => {
  await using home = new HostHome();
  const run = await home.start("exec sleep 60");
  await home.host[Symbol.asyncDispose]();
  await using next = home.newHost();
  expect(await next.list()).toMatchObject([{ session: run.session, pid: run.pid, dead: false }]);
  expect(next.keeperPids()).toEqual([next.server.pid]);
  await next.shutdown();
});

test("the server's death is reported once, and no run is listed after it", async () => {
  await using home = new HostHome();
  await home.start("exec sleep 60");
  const lost = Promise.withResolvers<void>();
  home.host.onLost(lost.resolve);
  const [pid = 0] = home.host.keeperPids();
  process.kill(pid, "SIGKILL");
  await lost.promise;
  expect(await home.host.list()).toEqual([]);
  expect(home.host.keeperPids()).toEqual([]);
});

test("a killed control client is replaced, and no run counts as lost", async () => {
  await using home = new HostHome();
  const run = await home.start("exec sleep 60");
  const keepers = home.host.keeperPids();
  const lost = Promise.withResolvers<void>();
  home.host.onLost(lost.resolve);
  process.kill(home.controlPid(), "SIGKILL");
  await lost.promise;
  expect(await home.host.list()).toMatchObject([{ session: run.session, dead: false }]);
  expect(home.host.keeperPids()).toEqual(keepers);
});

test("a start during which the control client dies either fails or succeeds, never both", async () => {
  await using home = new HostHome();
  await home.start("exec sleep 60");
  const [server = 0] = home.host.keeperPids();
  const run = home.prepare("exec sleep 60");
  // The server already has the commands and runs them after the sender is gone.
  process.kill(server, "SIGSTOP");
  const starting = home.host.start({ ...run, title: "test", columns: 80, rows: 24 });
  await new Promise(setImmediate);
  process.kill(home.controlPid(), "SIGKILL");
  process.kill(server, "SIGCONT");
  const started = await starting.then(
    () => true,
    () => false,
  );
  await vi.waitFor(async () => expect((await home.host.list()).map(({ session }) => session).includes(run.session)).toBe(started));
});

test("a server that missed the command to end is ended anyway", async () => {
  await using home = new HostHome();
  await home.start("exec sleep 60");
  const [server = 0] = home.host.keeperPids();
  process.kill(server, "SIGSTOP");
  const ending = home.host.shutdown();
  await new Promise(setImmediate);
  process.kill(home.controlPid(), "SIGKILL");
  process.kill(server, "SIGCONT");
  await ending;
  expect(home.host.keeperPids()).toEqual([]);
});

test("the server is gone when shutdown returns", async () => {
  await using home = new HostHome();
  await home.start("exec sleep 60");
  const [pid = 0] = home.host.keeperPids();
  const start = inspect(pid)?.start ?? "";
  expect(isSameProcess(pid, start)).toBe(true);
  await home.host.shutdown();
  expect(isSameProcess(pid, start)).toBe(false);
});

test("a failed recorder reports why, a killed one ended early, and one that ended with its pane did not", async () => {
  await using home = new HostHome();
  const run = await home.start("while :; do echo x; sleep 0.02; done");
  const recorder = () => Number(/^\d+/.exec(readFileSync(join(run.directory, "recorder"), "utf8"))?.[0]);
  await vi.waitFor(() => expect(recorder()).toBeGreaterThan(0));
  expect(await home.host.recorderEnd(run)).toBeUndefined();
  process.kill(recorder(), "SIGKILL");
  await vi.waitFor(async () => expect(await home.host.recorderEnd(run)).toEqual({ why: null, at: null }));

  // Writes to the first segment fail, as on a full disk.
  symlinkSync("/dev/full", join(run.directory, "output-001.000000"));
  const before = Date.now();
  await home.host.reopenRecording(run, "output-001.");
  await vi.waitFor(async () => expect(await home.host.recorderEnd(run)).toMatchObject({ why: "the disk was full" }));
  expect((await home.host.recorderEnd(run))?.at).toBeGreaterThanOrEqual(before - 1000);

  await home.host.reopenRecording(run, "output-002.");
  await vi.waitFor(() => expect(recorder()).toBeGreaterThan(0));
  process.kill((await home.host.list())[0]?.pid ?? 0, "SIGKILL");
  await exited(run);
  await home.host.remove(run);
  expect(await home.host.recorderEnd(run)).toBeUndefined();
});
