/** The actions of users and the faults. A step that finds nothing to act on is skipped. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { HOSTS, type OwnHost, type Session } from "@holdfast/contract";
import { inspect, openHome } from "@holdfast/platform";
import fc from "fast-check";
import { eventually } from "../home.ts";
import type { Known, Model } from "./model.ts";
import { answered, type World } from "./world.ts";

const MOST_SESSIONS = 5;

/** `on` chooses among the sessions that fit. */
abstract class Step implements fc.AsyncCommand<Model, World> {
  readonly name: string;
  readonly on: number;

  constructor(name: string, on: number) {
    this.name = name;
    this.on = on;
  }

  abstract among(model: Model): readonly Known[];
  abstract act(known: Known, model: Model, world: World): Promise<void>;

  check(model: Readonly<Model>): boolean {
    return this.among(model as Model).length > 0;
  }

  async run(model: Model, world: World): Promise<void> {
    const fitting = this.among(model);
    const known = fitting[this.on % fitting.length];
    if (!known) return;
    await this.act(known, model, world);
    await world.check(model);
  }

  toString(): string {
    return `${this.name} ${this.on}`;
  }
}

function step(name: string, among: (model: Model) => readonly Known[], act: Step["act"]): fc.Arbitrary<Step> {
  const Named = class extends Step {
    among = among;
    act = act;
  };
  return fc.nat({ max: 9 }).map((on) => new Named(name, on));
}

/** A step that needs no session. */
function always(name: string, act: (model: Model, world: World) => Promise<void>, fits: (model: Model) => boolean = () => true) {
  return fc.constant<fc.AsyncCommand<Model, World>>({
    check: (model) => fits(model as Model),
    async run(model, world) {
      await act(model, world);
      await world.check(model);
    },
    toString: () => name,
  });
}

const live = (model: Model) => model.live;
const ended = (model: Model) => model.ended;

export function steps(): fc.Arbitrary<fc.AsyncCommand<Model, World>>[] {
  return [
    ...HOSTS.map((host) => always(`run on ${host}`, (model, world) => start(model, world, host), hasRoom)),
    step("send", live, send),
    step("send again", live, send),
    step("stop", live, stop),
    step("rename", (model) => model.sessions, rename),
    step("remove", ended, remove),
    step("look at", ended, lookAt),
    always("prune", prune),
    always("restart the daemon", restart),
    always("kill -9 the daemon", killDaemon),
    step("kill -9 a program", live, killProgram),
    step("kill -9 a keeper", live, killKeeper),
    step("kill -9 a recorder", (model) => live(model).filter(({ host }) => host === "tmux"), killRecorder),
    ...HOSTS.map((host) => always(`kill -9 the daemon in a start on ${host}`, (model, world) => cutStart(model, world, host), hasRoom)),
    damage("damage the database after a backup", { afterBackup: true }),
    damage("damage the database", { afterBackup: false }),
    step("kill -9 the daemon in a send", live, cutSend),
    step("kill -9 the daemon in a stop", live, cutStop),
  ];
}

function hasRoom(model: Model): boolean {
  return model.sessions.length < MOST_SESSIONS;
}

export async function start(model: Model, world: World, host: OwnHost): Promise<void> {
  await begun(model, world, await world.spawn(model.newWord(), host));
}

async function begun(model: Model, world: World, session: Session): Promise<void> {
  const { id, name, host, pid } = session;
  const known: Known = { id, name, host, pid: pid ?? 0, live: true, is: ["working"], sent: [], hasGap: false, viewed: false };
  model.sessions.push(known);
  await world.ready(known);
}

async function send(known: Known, model: Model, world: World): Promise<void> {
  const text = model.newWord();
  await (await world.client()).call("sendText", { params: { ref: known.id }, body: { text } });
  known.sent.push({ text, sure: true });
}

async function stop(known: Known, model: Model, world: World): Promise<void> {
  await (await world.client()).call("stopSession", { params: { ref: known.id }, body: { graceMs: 2000 } });
  model.end(known, "stopped");
}

async function rename(known: Known, model: Model, world: World): Promise<void> {
  const name = model.newWord();
  await (await world.client()).call("renameSession", { params: { ref: known.name }, body: { name } });
  known.name = name;
}

async function remove(known: Known, model: Model, world: World): Promise<void> {
  await (await world.client()).call("removeSession", { params: { ref: known.id } });
  model.sessions = model.sessions.filter((other) => other !== known);
}

async function lookAt(known: Known, _model: Model, world: World): Promise<void> {
  await (await world.client()).call("viewSession", { params: { ref: known.id }, body: {} });
  known.viewed = true;
}

/** Removes exactly the ended sessions that were viewed. */
async function prune(model: Model, world: World): Promise<void> {
  const { removed } = await (await world.client()).call("prune", { body: { olderThanMs: 0 } });
  const gone = new Set(removed.map(({ id }) => id));
  for (const known of model.sessions) {
    const may = !known.live && known.viewed !== false;
    const must = !known.live && known.viewed === true;
    if (gone.has(known.id) ? !may : must) throw new Error(`${known.name} was ${gone.has(known.id) ? "" : "not "}pruned`);
  }
  model.sessions = model.sessions.filter(({ id }) => !gone.has(id));
}

async function restart(_model: Model, world: World): Promise<void> {
  await world.home.ok(["down"]);
}

async function killDaemon(model: Model, world: World): Promise<void> {
  model.fault("kill -9 of the daemon");
  world.kill(await world.daemonPid());
}

async function killProgram(known: Known, model: Model, world: World): Promise<void> {
  model.fault("kill -9 of a program");
  world.kill(known.pid);
  model.end(known, "failed");
}

/** A killed keeper takes the terminals of its programs with it. The programs end, and no exit status is known. */
async function killKeeper(known: Known, model: Model, world: World): Promise<void> {
  if (known.host === "native") {
    model.fault("kill -9 of a holder");
    world.kill(inspect(known.pid)?.parent ?? 0);
    model.end(known, "lost");
    return;
  }
  model.fault("kill -9 of the tmux server");
  world.kill((await world.tmuxPid()) ?? 0);
  for (const other of model.live) if (other.host === "tmux") model.end(other, "lost");
}

async function killRecorder(known: Known, model: Model, world: World): Promise<void> {
  model.fault("kill -9 of a recorder");
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
function damage(name: string, { afterBackup }: { afterBackup: boolean }): fc.Arbitrary<fc.AsyncCommand<Model, World>> {
  const place = fc.record({ way: fc.constantFrom("overwritten", "cut off", "gone"), at: fc.double({ min: 0, max: 1, noNaN: true }) });
  return place.map(({ way, at }) => ({
    check: () => true,
    async run(model: Model, world: World) {
      model.fault(`the database ${way}${afterBackup ? " after a backup" : ""}`);
      if (afterBackup) await (await world.client()).call("createBackup", { body: {} });
      const pid = await world.daemonPid();
      world.kill(pid);
      await eventually(() => !inspect(pid) || inspect(pid)?.zombie);
      world.damageDatabase(way, at);
      if (!afterBackup) for (const known of model.sessions) forget(known);
      await world.check(model);
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
async function cut<T>(model: Model, world: World, what: string, request: () => Promise<T>): ReturnType<typeof answered<T>> {
  model.fault(`kill -9 of the daemon in a ${what}`);
  const pid = await world.daemonPid();
  const under = answered(request());
  await delay(Math.random() * 12);
  world.kill(pid);
  return under;
}

/** A start without acknowledgement may or may not have happened; a session that exists is complete. */
async function cutStart(model: Model, world: World, host: OwnHost): Promise<void> {
  const name = model.newWord();
  const client = await world.client();
  const body = { agent: "shell", name, host, cwd: "/", env: world.home.env, command: world.program } as const;
  const outcome = await cut(model, world, "start", () => client.call("spawn", { body }));
  const found = await eventually(async () => {
    const session = (await world.list()).find((one) => one.name === name);
    return session?.status === "starting" ? undefined : { session };
  });
  if (outcome && "reply" in outcome && !found.session) throw new Error(`${name} was acknowledged, and is not there`);
  if (!found.session) return;
  if (found.session.status === "working") return begun(model, world, found.session);
  const { id, pid, status } = found.session;
  if (status !== "failed" || outcome) throw new Error(`${name} is ${status}`);
  model.sessions.push({ id, name, host, pid: pid ?? 0, live: false, is: ["failed"], sent: [], hasGap: false, viewed: false });
}

async function cutSend(known: Known, model: Model, world: World): Promise<void> {
  const text = model.newWord();
  const client = await world.client();
  const outcome = await cut(model, world, "send", () => client.call("sendText", { params: { ref: known.id }, body: { text } }));
  known.sent.push({ text, sure: outcome !== undefined && "reply" in outcome });
}

async function cutStop(known: Known, model: Model, world: World): Promise<void> {
  const client = await world.client();
  const outcome = await cut(model, world, "stop", () => client.call("stopSession", { params: { ref: known.id }, body: { graceMs: 2000 } }));
  if (outcome) return model.end(known, "stopped");
  // The stop may have happened in part; a second stop completes it.
  const status = await eventually(async () => {
    const { status, pid } = await world.session(known);
    return status === "working" && !inspect(pid ?? 0) ? undefined : status;
  });
  // The next daemon may be completing the same stop.
  if (status === "working")
    await answered((await world.client()).call("stopSession", { params: { ref: known.id }, body: { graceMs: 2000 } }));
  model.end(known, "stopped", "failed");
}
