/** The actions of users and the faults. A step that finds nothing to act on is skipped. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { HOSTS, type OwnHost, type Session } from "@holdfast/contract";
import { inspect, openHome } from "@holdfast/platform";
import fc from "fast-check";
import { eventually } from "../home.ts";
import type { Expected, Known } from "./expected.ts";
import { answered, type World } from "./world.ts";

const MOST_SESSIONS = 5;

/** `on` chooses among the sessions that fit. */
abstract class Step implements fc.AsyncCommand<Expected, World> {
  readonly name: string;
  readonly on: number;

  constructor(name: string, on: number) {
    this.name = name;
    this.on = on;
  }

  abstract among(expected: Expected): readonly Known[];
  abstract act(known: Known, expected: Expected, world: World): Promise<void>;

  check(expected: Readonly<Expected>): boolean {
    return this.among(expected as Expected).length > 0;
  }

  async run(expected: Expected, world: World): Promise<void> {
    const fitting = this.among(expected);
    const known = fitting[this.on % fitting.length];
    if (!known) return;
    await this.act(known, expected, world);
    await world.check(expected);
  }

  toString(): string {
    return `${this.name} ${this.on}`;
  }
}

function step(name: string, among: (expected: Expected) => readonly Known[], act: Step["act"]): fc.Arbitrary<Step> {
  const Named = class extends Step {
    among = among;
    act = act;
  };
  return fc.nat({ max: 9 }).map((on) => new Named(name, on));
}

/** A step that needs no session. */
function always(
  name: string,
  act: (expected: Expected, world: World) => Promise<void>,
  fits: (expected: Expected) => boolean = () => true,
) {
  return fc.constant<fc.AsyncCommand<Expected, World>>({
    check: (expected) => fits(expected as Expected),
    async run(expected, world) {
      await act(expected, world);
      await world.check(expected);
    },
    toString: () => name,
  });
}

const live = (expected: Expected) => expected.live;
const ended = (expected: Expected) => expected.ended;

export function steps(): fc.Arbitrary<fc.AsyncCommand<Expected, World>>[] {
  return [
    ...HOSTS.map((host) => always(`run on ${host}`, (expected, world) => start(expected, world, host), hasRoom)),
    step("send", live, send),
    step("send again", live, send),
    step("stop", live, stop),
    step("rename", (expected) => expected.sessions, rename),
    step("remove", ended, remove),
    step("look at", ended, lookAt),
    always("prune", prune),
    always("restart the daemon", restart),
    always("kill -9 the daemon", killDaemon),
    step("kill -9 a program", live, killProgram),
    step("kill -9 a keeper", live, killKeeper),
    step("kill -9 a recorder", (expected) => live(expected).filter(({ host }) => host === "tmux"), killRecorder),
    ...HOSTS.map((host) =>
      always(`kill -9 the daemon in a start on ${host}`, (expected, world) => cutStart(expected, world, host), hasRoom),
    ),
    damage("damage the database after a backup", { afterBackup: true }),
    damage("damage the database", { afterBackup: false }),
    step("kill -9 the daemon in a send", live, cutSend),
    step("kill -9 the daemon in a stop", live, cutStop),
  ];
}

function hasRoom(expected: Expected): boolean {
  return expected.sessions.length < MOST_SESSIONS;
}

export async function start(expected: Expected, world: World, host: OwnHost): Promise<void> {
  await begun(expected, world, await world.spawn(expected.newWord(), host));
}

async function begun(expected: Expected, world: World, session: Session): Promise<void> {
  const { id, name, host, pid } = session;
  const known: Known = { id, name, host, pid: pid ?? 0, live: true, is: ["working"], sent: [], hasGap: false, viewed: false };
  expected.sessions.push(known);
  await world.ready(known);
}

async function send(known: Known, expected: Expected, world: World): Promise<void> {
  const text = expected.newWord();
  await (await world.client()).call("sendText", { params: { ref: known.id }, body: { text } });
  known.sent.push({ text, sure: true });
}

async function stop(known: Known, expected: Expected, world: World): Promise<void> {
  await (await world.client()).call("stopSession", { params: { ref: known.id }, body: { graceMs: 2000 } });
  expected.end(known, "stopped");
}

async function rename(known: Known, expected: Expected, world: World): Promise<void> {
  const name = expected.newWord();
  await (await world.client()).call("renameSession", { params: { ref: known.name }, body: { name } });
  known.name = name;
}

async function remove(known: Known, expected: Expected, world: World): Promise<void> {
  await (await world.client()).call("removeSession", { params: { ref: known.id } });
  expected.sessions = expected.sessions.filter((other) => other !== known);
}

async function lookAt(known: Known, _expected: Expected, world: World): Promise<void> {
  await (await world.client()).call("viewSession", { params: { ref: known.id }, body: {} });
  known.viewed = true;
}

/** Removes exactly the ended sessions that were viewed. */
async function prune(expected: Expected, world: World): Promise<void> {
  const { removed } = await (await world.client()).call("prune", { body: { olderThanMs: 0 } });
  const gone = new Set(removed.map(({ id }) => id));
  for (const known of expected.sessions) {
    const may = !known.live && known.viewed !== false;
    const must = !known.live && known.viewed === true;
    if (gone.has(known.id) ? !may : must) throw new Error(`${known.name} was ${gone.has(known.id) ? "" : "not "}pruned`);
  }
  expected.sessions = expected.sessions.filter(({ id }) => !gone.has(id));
}

async function restart(_expected: Expected, world: World): Promise<void> {
  await world.home.ok(["down"]);
}

async function killDaemon(expected: Expected, world: World): Promise<void> {
  expected.fault("kill -9 of the daemon");
  world.kill(await world.daemonPid());
}

async function killProgram(known: Known, expected: Expected, world: World): Promise<void> {
  expected.fault("kill -9 of a program");
  world.kill(known.pid);
  expected.end(known, "failed");
}

/** A killed keeper takes the terminals of its programs with it. The programs end, and no exit status is known. */
async function killKeeper(known: Known, expected: Expected, world: World): Promise<void> {
  if (known.host === "native") {
    expected.fault("kill -9 of a holder");
    world.kill(inspect(known.pid)?.parent ?? 0);
    expected.end(known, "lost");
    return;
  }
  expected.fault("kill -9 of the tmux server");
  world.kill((await world.tmuxPid()) ?? 0);
  for (const other of expected.live) if (other.host === "tmux") expected.end(other, "lost");
}

async function killRecorder(known: Known, expected: Expected, world: World): Promise<void> {
  expected.fault("kill -9 of a recorder");
  const directory = join(openHome(world.home.env).sessions, known.id, "runs", "1");
  const before = Number(readFileSync(join(directory, "recorder"), "utf8"));
  world.kill(before);
  known.hasGap = true;
  await eventually(async () => {
    const events = await world.events();
    return events.some(({ type, session }) => type === "recording.gap" && session === known.id);
  });
}

/** Kills the daemon, then overwrites a part of its database, truncates it or deletes it. */
function damage(name: string, { afterBackup }: { afterBackup: boolean }): fc.Arbitrary<fc.AsyncCommand<Expected, World>> {
  const place = fc.record({ way: fc.constantFrom("overwritten", "cut off", "gone"), at: fc.double({ min: 0, max: 1, noNaN: true }) });
  return place.map(({ way, at }) => ({
    check: () => true,
    async run(expected: Expected, world: World) {
      expected.fault(`the database ${way}${afterBackup ? " after a backup" : ""}`);
      if (afterBackup) await (await world.client()).call("createBackup", { body: {} });
      const pid = await world.daemonPid();
      world.kill(pid);
      await eventually(() => !inspect(pid) || inspect(pid)?.zombie);
      world.damageDatabase(way, at);
      if (!afterBackup) for (const known of expected.sessions) forget(known);
      await world.check(expected);
    },
    toString: () => `${name} (${way} at ${at})`,
  }));
}

/** Facts that only the journal had may be lost: that a run was stopped, and that a person viewed it. */
function forget(known: Known): void {
  if (known.live) return;
  known.is = ["stopped", "failed", "lost"];
  known.viewed = undefined;
}

/** Kills the daemon within the few milliseconds that a request takes. */
async function cut<T>(expected: Expected, world: World, what: string, request: () => Promise<T>): ReturnType<typeof answered<T>> {
  expected.fault(`kill -9 of the daemon in a ${what}`);
  const pid = await world.daemonPid();
  const under = answered(request());
  await delay(Math.random() * 12);
  world.kill(pid);
  return under;
}

/** A start without acknowledgement may or may not have happened; a session that exists is complete. */
async function cutStart(expected: Expected, world: World, host: OwnHost): Promise<void> {
  const name = expected.newWord();
  const client = await world.client();
  const body = { agent: "shell", name, host, cwd: "/", env: world.home.env, command: world.program } as const;
  const outcome = await cut(expected, world, "start", () => client.call("spawn", { body }));
  const found = await eventually(async () => {
    const session = (await world.list()).find((one) => one.name === name);
    return session?.status === "starting" ? undefined : { session };
  });
  if (outcome && "reply" in outcome && !found.session) throw new Error(`${name} was acknowledged, and is not there`);
  if (!found.session) return;
  if (found.session.status === "working") return begun(expected, world, found.session);
  const { id, pid, status } = found.session;
  if (status !== "failed" || outcome) throw new Error(`${name} is ${status}`);
  expected.sessions.push({ id, name, host, pid: pid ?? 0, live: false, is: ["failed"], sent: [], hasGap: false, viewed: false });
}

async function cutSend(known: Known, expected: Expected, world: World): Promise<void> {
  const text = expected.newWord();
  const client = await world.client();
  const outcome = await cut(expected, world, "send", () => client.call("sendText", { params: { ref: known.id }, body: { text } }));
  known.sent.push({ text, sure: outcome !== undefined && "reply" in outcome });
}

async function cutStop(known: Known, expected: Expected, world: World): Promise<void> {
  const client = await world.client();
  const outcome = await cut(expected, world, "stop", () =>
    client.call("stopSession", { params: { ref: known.id }, body: { graceMs: 2000 } }),
  );
  if (outcome) return expected.end(known, "stopped");
  // The stop may have happened in part; a second stop completes it.
  const status = await eventually(async () => {
    const { status, pid } = await world.session(known);
    return status === "working" && !inspect(pid ?? 0) ? undefined : status;
  });
  // The next daemon may be completing the same stop.
  if (status === "working")
    await answered((await world.client()).call("stopSession", { params: { ref: known.id }, body: { graceMs: 2000 } }));
  expected.end(known, "stopped", "failed");
}
