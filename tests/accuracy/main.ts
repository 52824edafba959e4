/**
 * Drives the real agents through every state and judges what Holdfast said about each:
 *
 *   npm run accuracy                                              one run over everything: about half an hour
 *   npm run accuracy -- --agent gemini --host tmux --state working
 *   npm run accuracy -- --mode yolo --columns 40                  options can be repeated
 *   npm run accuracy -- --times 3 --write                         writes docs/ACCURACY.md
 *   npm run accuracy -- --save FILE                               appends each verdict to FILE as a JSON line
 *   npm run accuracy -- --report FILE --write                     reports what FILE holds, without driving anything
 *   npm run accuracy -- --trace DIRECTORY                         keeps the evidence of each session with a check that is not right
 */
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { installAgent } from "../../script/real-agents.mjs";
import { ROOT } from "../home.ts";
import { AGENT_NAMES } from "../real/agents.ts";
import { RealWorld } from "../real/world.ts";
import { type Cell, Drive, HOLD_MS } from "./drive.ts";
import { judge } from "./judge.ts";
import { MODES } from "./modes.ts";
import { documentOf, type Found, lineOf, type Place, report } from "./report.ts";
import { BEGINNINGS, STATES, type State } from "./states.ts";
import { isReady } from "./words.ts";

const HOSTS = ["tmux", "native"] as const;
const COLUMNS = [120, 40, 250];
/** The host changes how a screen is read, not what the agent draws. So the native host runs only the modes that change what an agent asks. */
const NATIVE_MODES = ["default", "yolo"];

const { values } = parseArgs({
  options: {
    agent: { type: "string", multiple: true },
    host: { type: "string", multiple: true },
    state: { type: "string", multiple: true },
    mode: { type: "string", multiple: true },
    columns: { type: "string", multiple: true },
    times: { type: "string", default: "1" },
    /** Agents that run at once. They wait more than they compute. */
    jobs: { type: "string", default: "3" },
    save: { type: "string" },
    report: { type: "string" },
    trace: { type: "string" },
    write: { type: "boolean", default: false },
  },
});

const found: Found[] = values.report === undefined ? [] : saved(values.report);
let stopped = false;
process.on("SIGINT", () => {
  stopped = true;
});

if (values.report === undefined) {
  for (let run = 1; run <= Number(values.times) && !stopped; run++) await driveAll(run);
}

const text = report(found);
console.log(text);
if (values.write) writeFileSync(path.join(ROOT, "docs/ACCURACY.md"), documentOf(text, found));
process.exitCode = found.length > 0 && found.every(({ verdict }) => verdict === "right") ? 0 : 1;

async function driveAll(run: number): Promise<void> {
  const queue = cells();
  const count = queue.length;
  for (const agent of new Set(queue.map((cell) => cell.agent))) await installAgent(agent);
  const work = async () => {
    for (let cell = queue.shift(); cell !== undefined && !stopped; cell = queue.shift()) {
      const place = { agent: cell.agent, host: cell.host, mode: cell.mode.name, columns: cell.columns, run };
      await drive(cell, place);
      if (cell.mode.name === "default" && cell.columns === 120) await begin(cell, place);
      const seconds = Math.round(process.uptime());
      console.log(`— run ${run}: ${count - queue.length} of ${count} cells begun, ${seconds} s`);
    }
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
}

/** Every mode at the usual width, and the usual mode at every width. The longest cells come first. */
function cells(): Cell[] {
  const asked = (list: string[] | undefined, one: string) => list === undefined || list.includes(one);
  return AGENT_NAMES.filter((agent) => asked(values.agent, agent))
    .flatMap((agent) =>
      HOSTS.filter((host) => asked(values.host, host)).flatMap((host) =>
        MODES.filter(({ name, without }) => !without?.includes(agent) && isAskedMode(host, name)).flatMap((mode) =>
          (values.columns?.map(Number) ?? (mode.name === "default" ? COLUMNS : [120])).map((columns) => ({ agent, host, mode, columns })),
        ),
      ),
    )
    .sort((a, b) => statesOf(b).length - statesOf(a).length);
}

function isAskedMode(host: string, name: string): boolean {
  return values.mode?.includes(name) ?? (host === "tmux" || NATIVE_MODES.includes(name));
}

function statesOf({ agent, mode, columns }: Cell): State[] {
  const isUsual = mode.name === "default" && columns === 120;
  return STATES.filter(
    ({ name, agents, modes, everywhere }) =>
      (agents === undefined || agents.includes(agent)) &&
      (modes === undefined || modes.includes(mode.name)) &&
      (isUsual || everywhere === true) &&
      (values.state === undefined || values.state.includes(name)),
  );
}

/** Drives all states in one session; after a state that could not be reached, the rest run in a new session. */
async function drive(cell: Cell, place: Place): Promise<void> {
  await using world = await RealWorld.open();
  let left = statesOf(cell);
  for (let sessions = 0; left.length > 0 && !stopped; sessions++) left = await driveSession(world, { cell, place, states: left, sessions });
}

/** Drives the dialogs that an agent may start with. */
async function begin(cell: Cell, place: Place): Promise<void> {
  for (const { name, agents, unusual, mode = cell.mode, shows, is } of BEGINNINGS) {
    if (stopped || !agents.includes(cell.agent) || (values.state !== undefined && !values.state.includes(name))) continue;
    await using world = await RealWorld.open();
    await using run = await Drive.start(world, { ...cell, mode }, { name: cell.agent, ...(unusual ? { unusual } : {}) });
    const of = { ...place, mode: mode.name };
    run.state = name;
    try {
      run.is(is, await run.sees(name, ({ lines }) => shows.test(lines.join("\n"))));
      await sleep(2 * HOLD_MS);
      for (const one of judge(run.truths, (await run.claims()).status, Date.now())) tell({ ...of, ...one });
    } catch (error) {
      miss(error, of, name);
    }
  }
}

async function driveSession(
  world: RealWorld,
  { cell, place, states, sessions }: { cell: Cell; place: Place; states: readonly State[]; sessions: number },
): Promise<State[]> {
  const { agent } = cell;
  await using run = await Drive.start(world, cell, { name: `${agent}-${sessions}` });
  let at = 0;
  let isMissed = false;
  try {
    run.state = "start";
    await run.sees("a composer", (picture) => isReady(agent, picture));
    await run.becomesIdle(0);
    for (; at < states.length && !stopped; at++) {
      const state = states[at] as State;
      run.state = state.name;
      await state.drive(run);
    }
  } catch (error) {
    miss(error, place, run.state);
    isMissed = true;
    // If a session does not start, no other will.
    at = run.state === "start" ? states.length : at + 1;
  }
  const { status, background } = await run.claims();
  const end = Date.now();
  const judged = [
    ...judge(run.truths, status, end),
    ...judge(run.background, background, end).map((one) => ({ ...one, is: one.is === "true" ? "background work" : "no background work" })),
  ].filter(({ state }) => !(state === run.state && isMissed));
  for (const one of [...judged, ...run.checks]) tell({ ...place, ...one });
  if ([...judged, ...run.checks].some(({ verdict }) => verdict !== "right")) await trace(run, place);
  return states.slice(at);
}

/** Writes the requests of the agent, the truths, Holdfast's events and its evidence. */
async function trace({ world, session, truths, seen }: Drive, place: Place): Promise<void> {
  if (values.trace === undefined) return;
  const requests = (await world.model.asked()).map(({ prompt, tools, state, status, at, endedAt }) => ({
    at,
    endedAt,
    state,
    status,
    tools: tools.length,
    prompt: prompt.slice(0, 200),
  }));
  const events = (await world.home.ok(["events", "--json"])).trim().split("\n");
  const own = events.map((line) => JSON.parse(line) as { session: string }).filter((event) => event.session === session.id);
  mkdirSync(values.trace, { recursive: true });
  const name = `${[place.agent, place.host, place.mode, place.columns, place.run, session.id].join("-")}.json`;
  writeFileSync(path.join(values.trace, name), JSON.stringify({ place, truths, requests, events: own, screen: seen.last }, null, 1));
}

function miss(error: unknown, place: Place, state: string): void {
  const said = error instanceof Error ? error.message : String(error);
  tell({ ...place, state, is: "reached", verdict: "missed", latencyMs: null, said, at: Date.now() });
}

function tell(one: Found): void {
  found.push(one);
  console.log(lineOf(one));
  if (values.save !== undefined) appendFileSync(values.save, `${JSON.stringify(one)}\n`);
}

function saved(file: string): Found[] {
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Found);
}
