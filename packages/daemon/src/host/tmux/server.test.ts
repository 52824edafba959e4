import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempDisposableSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allProcesses, argumentsOf, type Home, inspect, isSameProcess, openHome, secureSocketDirectory } from "@holdfast/platform";
import { expect, test, vi } from "vitest";
import type { ControlClient } from "./control.ts";
import { findTmux, TmuxServer, tmuxAtLeast } from "./server.ts";

// These tests use real servers and programs, on machines that may be busy.
vi.setConfig({ testTimeout: 20_000 });

/** A private home and the clients of its tmux server. */
class ServerHome implements AsyncDisposable {
  readonly #directory = mkdtempDisposableSync(join(tmpdir(), "hft-"));
  readonly #clients: ControlClient[] = [];
  readonly home: Home;

  constructor(name = "home") {
    this.home = openHome({ HOLDFAST_HOME: join(this.#directory.path, name) });
    secureSocketDirectory(this.home);
  }

  /** A server object as a freshly started daemon has it. */
  server(detachKey = "C-\\"): TmuxServer {
    const program = findTmux(this.home);
    if (!program) throw new Error("tmux is missing: apt-get install tmux");
    return new TmuxServer({ home: this.home, program, detachKey, nextKey: "C-]", cli: ["holdfast"] });
  }

  async open(server = this.server()): Promise<ControlClient> {
    const client = await server.open({ onEnd: nothing });
    this.#clients.push(client);
    return client;
  }

  async find(server = this.server()): Promise<ControlClient | undefined> {
    const client = await server.find({ onEnd: nothing });
    if (client) this.#clients.push(client);
    return client;
  }

  /** Every tmux server on this home's socket. */
  servers(): number[] {
    return [...allProcesses().values()]
      .filter(({ name, zombie }) => name === "tmux: server" && !zombie)
      .filter(({ pid }) => argumentsOf(pid).includes(this.home.tmuxSocket))
      .map(({ pid }) => pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) await client[Symbol.asyncDispose]();
    const pids = this.servers();
    for (const pid of pids) process.kill(pid, "SIGKILL");
    await vi.waitFor(() => expect(this.servers()).toEqual([]));
    rmSync(this.home.socketDirectory, { recursive: true, force: true });
    this.#directory.remove();
  }
}

function nothing(): void {}

async function pidOf(client: ControlClient): Promise<number> {
  return Number((await client.run("display-message -p '#{pid}'"))[0]?.[0]);
}

test("a server is started once, recorded, and found again by the next daemon", async () => {
  await using home = new ServerHome();
  const first = home.server();
  expect(await home.find(first)).toBeUndefined();
  const pid = await pidOf(await home.open(first));
  expect(first.pid).toBe(pid);
  expect(JSON.parse(readFileSync(home.home.tmuxFile, "utf8"))).toEqual({ pid, start: inspect(pid)?.start });
  const second = home.server();
  expect(await pidOf(await home.open(second))).toBe(pid);
  expect(second.pid).toBe(pid);
  expect(home.servers()).toEqual([pid]);
});

test("the server has the fixed environment, our configuration and only one detach key", async () => {
  await using home = new ServerHome();
  const client = await home.open();
  const [options = [], remain = [], keys = [], environment = []] = await client.run(
    "show-options -g",
    "show-options -gw remain-on-exit",
    "list-keys -T root",
    "show-environment -g",
  );
  expect(remain).toEqual(["remain-on-exit on"]);
  expect(options).toContain("prefix None");
  expect(keys.filter((key) => key.includes("detach-client"))).toHaveLength(1);
  // A click must not kill a program or start another beside it.
  expect(keys.filter((key) => /display-menu|kill-|split-|respawn-|new-|-window|resize-pane|switch-client/.test(key))).toEqual([]);
  expect(environment).toContain(`HOLDFAST_HOME=${home.home.path}`);
  expect(environment.some((entry) => entry.startsWith("VITEST"))).toBe(false);
});

test.each(['it\'s "a" $(touch pwned) `b` [c]*?{d} #{pid} %H; e\\ 漢字 🦭', "-dash"])(
  "a home called %j has a server that accepts its configuration",
  async (name) => {
    await using home = new ServerHome(name);
    const detachKeys = async (client: ControlClient | undefined) =>
      (await client?.run("list-keys -T root"))?.[0]?.filter((key) => key.includes("detach-client")).map((key) => key.split(/\s+/)[3]);
    expect(await detachKeys(await home.open(home.server("F11")))).toEqual(["F11"]);
    // A running server gets the new configuration when the daemon connects.
    expect(await detachKeys(await home.find(home.server("F12")))).toEqual(["F12"]);
  },
);

test("a configuration that tmux refuses does not keep the daemon from its sessions", async () => {
  await using home = new ServerHome();
  const pid = await pidOf(await home.open());
  const complaint = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const client = await home.find(home.server("no-such-key"));
  expect(String(complaint.mock.calls[0]?.[0])).toContain("no-such-key");
  complaint.mockRestore();
  expect(client && (await pidOf(client))).toBe(pid);
});

test("a missing socket is recreated without starting a second server", async () => {
  await using home = new ServerHome();
  const pid = await pidOf(await home.open());
  rmSync(home.home.tmuxSocket);
  expect(await pidOf(await home.open())).toBe(pid);
  expect(existsSync(home.home.tmuxSocket)).toBe(true);
  expect(home.servers()).toEqual([pid]);
});

test("a live server without a file is found by its socket", async () => {
  await using home = new ServerHome();
  const pid = await pidOf(await home.open());
  rmSync(home.home.tmuxFile);
  rmSync(home.home.tmuxSocket);
  expect(await pidOf(await home.open())).toBe(pid);
  expect(home.servers()).toEqual([pid]);
});

test("a socket that disappeared with its directory is recreated", async () => {
  await using home = new ServerHome();
  const pid = await pidOf(await home.open());
  rmSync(home.home.socketDirectory, { recursive: true });
  expect(await pidOf(await home.open())).toBe(pid);
  expect(home.servers()).toEqual([pid]);
});

test("a live server that cannot recreate its socket is an error and starts no second server", async () => {
  await using home = new ServerHome();
  const pid = await pidOf(await home.open());
  rmSync(home.home.tmuxSocket);
  mkdirSync(home.home.tmuxSocket);
  await expect(home.open()).rejects.toMatchObject({ code: "host_failed", message: expect.stringContaining(`pid ${pid}`) });
  expect(home.servers()).toEqual([pid]);
  rmSync(home.home.tmuxSocket, { recursive: true });
  expect(await pidOf(await home.open())).toBe(pid);
});

test("a recorded pid that now belongs to another process is not signalled and not waited for", async () => {
  await using home = new ServerHome();
  const bystander = spawn("sleep", ["60"], { stdio: "ignore" });
  const info = inspect(bystander.pid ?? 0);
  writeFileSync(home.home.tmuxFile, JSON.stringify({ pid: bystander.pid, start: "another-boot-1" }));
  expect(await home.find()).toBeUndefined();
  await home.open();
  expect(info && isSameProcess(info.pid, info.start)).toBe(true);
  bystander.kill();
  expect(await once(bystander, "exit")).toEqual([null, "SIGTERM"]);
});

test("a damaged record counts as no server", async () => {
  await using home = new ServerHome();
  const server = home.server();
  for (const text of ["", "{", "[]", "null", '{"pid":"1","start":1}', '{"pid":-1,"start":""}']) {
    writeFileSync(home.home.tmuxFile, text);
    expect(await home.find(server), text).toBeUndefined();
  }
});

test("a dead server is not found and its pid is no keeper's", async () => {
  await using home = new ServerHome();
  const server = home.server();
  const ended = Promise.withResolvers<void>();
  const client = await server.open({ onEnd: ended.resolve });
  process.kill(await pidOf(client), "SIGKILL");
  await ended.promise;
  await vi.waitFor(() => expect(home.servers()).toEqual([]));
  expect(server.pid).toBeUndefined();
  expect(await home.find(server)).toBeUndefined();
});

test("tmux versions are compared by their numbers", () => {
  expect(["3.3a", "3.3", "next-3.6", "3.10", "4.0", "openbsd-7.1"].map((version) => tmuxAtLeast(version, 3, 3))).toEqual([
    true,
    true,
    true,
    true,
    true,
    true,
  ]);
  expect(["3.2a", "2.9", "master", ""].map((version) => tmuxAtLeast(version, 3, 3))).toEqual([false, false, false, false]);
});
