/** Two installed versions: the newer takes over during a flood, the older refuses to run, and files are replaced in place. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { AnyEvent, DaemonStatus, HostName, Screen, Session } from "@holdfast/contract";
import { openHome } from "@holdfast/platform";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, TestHome } from "./home.ts";
import { Installed } from "./installed.ts";
import { lives } from "./proc.ts";
import { expectGapless } from "./subscriber.ts";

const OLD = "1.0.0";
const NEW = "1.1.0";
const LINES = 20_000;

let older: Installed;
let newer: Installed;
beforeAll(async () => {
  older = await Installed.of(OLD);
  newer = await Installed.of(NEW);
});
afterAll(() => {
  older[Symbol.dispose]();
  newer[Symbol.dispose]();
});

describe.each(["tmux", "native"] as const)("on the %s host", (host) => {
  test("a newer version takes over during a flood: every byte is recorded, and the events have no gap", async () => {
    await using home = new TestHome();
    const flood = await Flood.start(home, older, host);
    await flood.goesOn(2 << 20);
    const before = await older.json<DaemonStatus>(home, ["status"]);

    const [seen] = await newer.json<Session[]>(home, ["ls"]);
    expect(seen).toMatchObject({ id: flood.session.id, status: "working", pid: flood.session.pid, runs: 1 });
    const after = await newer.json<DaemonStatus>(home, ["status"]);
    expect([before.version, after.version]).toEqual([OLD, NEW]);
    expect(after.epoch).toBe(before.epoch);
    await flood.goesOn(2 << 20);

    // Sessions of an older keeper can be viewed and typed into.
    expect(await newer.json<Screen>(home, ["screen", flood.session.name])).toMatchObject({ columns: 120 });
    await newer.json(home, ["keys", flood.session.name, "Enter"]);
    const ended = await flood.end(newer);
    expect(ended).toMatchObject({ status: "done", exit: { code: 0, signal: null }, runs: 1 });

    const { stdout: raw } = await newer.cli(home, ["logs", "--raw", flood.session.name]);
    expect(firstDifference(raw.replaceAll("\r\n", "\n").replace(/^\n/, ""), flood.written())).toBeUndefined();
    const events = await eventsOf(newer, home);
    expectGapless(events);
    expect(events.map(({ type }) => type)).toEqual([
      "daemon.started",
      "session.created",
      "session.started",
      "daemon.stopped",
      "daemon.started",
      "session.input_requested",
      "session.ended",
    ]);
  });

  test("an upgrade in place replaces the files of running processes; keepers, daemon and sessions keep running", async () => {
    await using home = new TestHome();
    using installed = await Installed.of(OLD);
    const flood = await Flood.start(home, installed, host);
    await flood.goesOn(1 << 20);
    const { pid } = await installed.json<DaemonStatus>(home, ["status"]);

    await installed.install(NEW);
    // The old daemon still serves requests. No client of its version is on disk any more.
    expect(await ask<DaemonStatus>(home, "GET", "/status")).toMatchObject({ pid, version: OLD });
    expect(await ask<Screen>(home, "GET", `/sessions/${flood.session.id}/screen`)).toMatchObject({ columns: 120 });
    const body = { agent: "shell", command: ["sleep", "1000"], cwd: "/", env: {}, umask: 0o22, host, name: "meanwhile" };
    expect(await ask<Session>(home, "POST", "/sessions", body)).toMatchObject({ name: "meanwhile", status: "working" });

    expect(await installed.json<DaemonStatus>(home, ["status"])).toMatchObject({ version: NEW });
    expect(lives(pid)).toBe(false);
    expect(await installed.json(home, ["stop", "meanwhile"])).toMatchObject([{ status: "stopped" }]);
    await flood.goesOn(1 << 20);
    expect(await flood.end(installed)).toMatchObject({ status: "done" });
    const { stdout: raw } = await installed.cli(home, ["logs", "--raw", flood.session.name]);
    expect(firstDifference(raw.replaceAll("\r\n", "\n"), flood.written())).toBeUndefined();
    expectGapless(await eventsOf(installed, home));
  });

  test("after the package is removed, sessions run to their end, and requests that need its files name the cause", async () => {
    await using home = new TestHome();
    using installed = await Installed.of(OLD);
    const flood = await Flood.start(home, installed, host);
    await flood.goesOn(1 << 20);
    await installed.npm(["uninstall", "--global", "--prefix", installed.prefix, "holdfast"]);
    expect(await ask<Screen>(home, "GET", `/sessions/${flood.session.id}/screen`)).toMatchObject({ columns: 120 });
    const body = { agent: "shell", command: ["sleep", "1000"], cwd: "/", env: {}, umask: 0o22, host: "native" };
    expect(await ask(home, "POST", "/sessions", body)).toMatchObject({
      error: { code: "host_failed", message: expect.stringContaining("holder.mjs"), hint: expect.stringContaining("install Holdfast") },
    });
    await flood.goesOn(1 << 20);

    expect(await flood.end(newer)).toMatchObject({ status: "done", exit: { code: 0, signal: null } });
    const { stdout: raw } = await newer.cli(home, ["logs", "--raw", flood.session.name]);
    expect(firstDifference(raw.replaceAll("\r\n", "\n"), flood.written())).toBeUndefined();
  });
});

test("an older version refuses a newer daemon and a newer journal, names the remedy, and changes nothing", async () => {
  await using home = new TestHome();
  const { pid, name } = await newer.json<Session>(home, ["run", "--", "sleep", "1000"]);
  const refused = await older.cli(home, ["stop", name]);
  expect(refused).toMatchObject({ code: 11, stdout: "" });
  expect(refused.stderr).toBe(
    `holdfast: this is holdfast ${OLD}, but the running daemon is the newer version ${NEW}\n` +
      `  use holdfast ${NEW}, or stop the daemon with it: holdfast down (sessions keep running)\n`,
  );

  await newer.cli(home, ["down"]);
  const schema = schemaOf(home, 1000);
  const unread = await older.cli(home, ["ls"]);
  expect(unread).toMatchObject({ code: 11, stdout: "" });
  expect(unread.stderr).toBe(
    `holdfast: the daemon did not start: the database is from a newer Holdfast (schema 1000; this version knows ${schema})\n` +
      "  install the newer Holdfast; nothing was changed\n",
  );
  expect(lives(pid ?? 0)).toBe(true);
  schemaOf(home, schema);
  expect(await newer.json<Session>(home, ["show", name])).toMatchObject({ status: "working", pid });
  await newer.cli(home, ["down", "--all", "--grace", "1s"]);
});

/** Endless numbered lines, on the terminal and in a file of the test, until told to end. */
class Flood {
  readonly session: Session;
  readonly #home: TestHome;
  readonly #copy: string;
  readonly #enough: string;

  private constructor(home: TestHome, what: { session: Session; copy: string; enough: string }) {
    this.#home = home;
    this.session = what.session;
    this.#copy = what.copy;
    this.#enough = what.enough;
  }

  static async start(home: TestHome, installed: Installed, host: HostName): Promise<Flood> {
    const [copy, enough] = [path.join(home.root, "copy"), path.join(home.root, "enough")];
    const lines = `seq -f 'line %08.0f' $((i * ${LINES} + 1)) $(((i + 1) * ${LINES}))`;
    const script = `stty -echo; i=0; while [ ! -e ${enough} ]; do ${lines}; i=$((i + 1)); sleep 0.01; done | tee ${copy}`;
    const args = [
      "run",
      "--name",
      "flood",
      "--recording-limit",
      "off",
      "--host",
      host,
      "--env",
      "PATH=/usr/bin:/bin",
      "--",
      "sh",
      "-c",
      script,
    ];
    return new Flood(home, { session: await installed.json<Session>(home, args), copy, enough });
  }

  /** Resolves when this many more bytes have been written. */
  async goesOn(bytes: number): Promise<void> {
    const size = () => statSync(this.#copy, { throwIfNoEntry: false })?.size ?? 0;
    const before = size();
    await eventually(() => size() > before + bytes, 60_000);
  }

  written(): string {
    return readFileSync(this.#copy, "utf8");
  }

  async end(installed: Installed): Promise<Session> {
    writeFileSync(this.#enough, "");
    return eventually(async () => {
      const session = await installed.json<Session>(this.#home, ["show", this.session.name]);
      return session.endedAt !== null && session;
    });
  }
}

async function eventsOf(installed: Installed, home: TestHome): Promise<AnyEvent[]> {
  const { stdout } = await installed.cli(home, ["events"]);
  return stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as AnyEvent);
}

/** Calls the running daemon like a program that sends no version. */
function ask<T>(home: TestHome, method: string, url: string, body?: object): Promise<T> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath: openHome(home.env).daemonSocket, method, path: url }, (reply) => {
      let text = "";
      reply.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      reply.on("end", () => resolve(JSON.parse(text) as T));
    });
    call.on("error", reject);
    call.end(body && JSON.stringify(body));
  });
}

/** Sets the version of the database's schema and returns the previous one. */
function schemaOf(home: TestHome, version: number): number {
  const db = new DatabaseSync(openHome(home.env).database);
  const before = Number(db.prepare("PRAGMA user_version").get()?.user_version);
  db.exec(`PRAGMA user_version = ${version}`);
  db.close();
  return before;
}

/** The first difference of two long texts, with an excerpt of each. */
function firstDifference(actual: string, expected: string): object | undefined {
  if (actual === expected) return undefined;
  let at = 0;
  while (actual[at] === expected[at]) at++;
  return { at, of: expected.length, actual: actual.slice(at, at + 60), expected: expected.slice(at, at + 60) };
}
