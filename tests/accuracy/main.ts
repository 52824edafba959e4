/**
 * Drives the real agents through every state and judges what Holdfast said of each:
 *
 *   npm run accuracy                                              everything; takes the better part of an hour
 *   npm run accuracy -- --agent gemini --host tmux --state working
 *   npm run accuracy -- --mode yolo --columns 40                  each option can be given several times
 *   npm run accuracy -- --times 3 --write                         and writes docs/ACCURACY.md
 */
import { writeFileSync } from "node:fs";
import { freemem, loadavg } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { AGENTS, installAgent } from "../../script/real-agents.mjs";
import { ROOT } from "../home.ts";
import { AGENT_NAMES, type AgentName } from "../real/agents.ts";
import { RealWorld } from "../real/world.ts";
import { type Cell, Drive, HOLD_MS } from "./drive.ts";
import { type Judged, judge } from "./judge.ts";
import { MODES } from "./modes.ts";
import { type Missed, type Result, report } from "./report.ts";
import { BEGINNINGS, STATES, type State } from "./states.ts";
import { isReady } from "./words.ts";

const HOSTS = ["tmux", "native"] as const;
const COLUMNS = [120, 40, 250];

const { values } = parseArgs({
  options: {
    agent: { type: "string", multiple: true },
    host: { type: "string", multiple: true },
    state: { type: "string", multiple: true },
    mode: { type: "string", multiple: true },
    columns: { type: "string", multiple: true },
    times: { type: "string", default: "1" },
    write: { type: "boolean", default: false },
  },
});

const results: Result[] = [];
const missed: Missed[] = [];
let stopped = false;
process.on("SIGINT", () => {
  stopped = true;
});

for (let time = 0; time < Number(values.times); time++) {
  for (const cell of cells()) {
    if (stopped) break;
    await installAgent(cell.agent);
    await drive(cell, statesOf(cell));
    if (cell.mode.name === "default" && cell.columns === 120) await begin(cell);
  }
}

const text = report(results, missed);
console.log(text);
if (values.write) writeFileSync(path.join(ROOT, "docs/ACCURACY.md"), documentOf(text));
process.exitCode = results.some(({ verdict }) => verdict !== "right") || missed.length > 0 ? 1 : 0;

/** Every mode at the usual width, and the usual mode at every width; on both hosts. */
function cells(): Cell[] {
  const asked = (list: string[] | undefined, one: string) => list === undefined || list.includes(one);
  return AGENT_NAMES.filter((agent) => asked(values.agent, agent)).flatMap((agent) =>
    HOSTS.filter((host) => asked(values.host, host)).flatMap((host) =>
      MODES.filter((mode) => asked(values.mode, mode.name) && !mode.without?.includes(agent)).flatMap((mode) =>
        (values.columns?.map(Number) ?? (mode.name === "default" ? COLUMNS : [120])).map((columns) => ({ agent, host, mode, columns })),
      ),
    ),
  );
}

function statesOf({ agent, mode }: Cell): State[] {
  return STATES.filter(
    ({ name, agents, modes }) =>
      (agents === undefined || agents.includes(agent)) &&
      (modes === undefined || modes.includes(mode.name)) &&
      (values.state === undefined || values.state.includes(name)),
  );
}

/** All states in one session; after one that failed, in a new one. */
async function drive(cell: Cell, states: readonly State[]): Promise<void> {
  await using world = await RealWorld.open();
  let left = [...states];
  for (let sessions = 0; left.length > 0 && !stopped; sessions++)
    left = await driveSession(world, { cell, states: left, name: `${cell.agent}-${sessions}` });
}

/** The dialogs with which an agent may begin. */
async function begin(cell: Cell): Promise<void> {
  const { agent, host, columns } = cell;
  for (const { name, agents, unusual, mode = cell.mode, shows, is } of BEGINNINGS) {
    if (stopped || !agents.includes(agent) || (values.state !== undefined && !values.state.includes(name))) continue;
    await using world = await RealWorld.open();
    await using run = await Drive.start(world, { ...cell, mode }, { name: agent, ...(unusual ? { unusual } : {}) });
    const of = { agent, host, mode: mode.name, columns };
    run.state = name;
    try {
      run.is(is, await run.sees(name, ({ lines }) => shows.test(lines.join("\n"))));
      await sleep(2 * HOLD_MS);
      tell(judge(run.truths, (await run.claims()).status, Date.now()), of);
    } catch (error) {
      miss(error, { ...of, state: name });
    }
  }
}

function miss(error: unknown, of: Omit<Missed, "why">): void {
  const why = error instanceof Error ? error.message : String(error);
  console.log(`✗ ${of.agent} ${of.host} ${of.mode} ${of.columns} ${of.state}: ${why}`);
  missed.push({ ...of, why });
}

function tell(judged: readonly Judged[], of: Omit<Missed, "state" | "why">): void {
  for (const one of judged) {
    results.push({ ...one, ...of });
    const isRight = one.verdict === "right";
    const where = `${of.agent} ${of.host} ${of.mode} ${of.columns} ${one.state}`;
    console.log(
      `${isRight ? "✓" : "✗"} ${where}: ${one.is}: ${one.verdict}, ${one.latencyMs ?? "–"} ms${isRight ? "" : ` (said ${one.said})`}`,
    );
  }
}

async function driveSession(
  world: RealWorld,
  { cell, states, name }: { cell: Cell; states: readonly State[]; name: string },
): Promise<State[]> {
  await using run = await Drive.start(world, cell, { name });
  const { agent, host, mode, columns } = cell;
  const of = { agent, host, mode: mode.name, columns };
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
    miss(error, { ...of, state: run.state });
    isMissed = true;
    // Of a session that does not start, none does.
    at = run.state === "start" ? states.length : at + 1;
  }
  const { status, background } = await run.claims();
  const end = Date.now();
  const judged = [
    ...judge(run.truths, status, end),
    ...judge(run.background, background, end).map((one) => ({ ...one, is: one.is === "true" ? "background work" : "no background work" })),
  ].filter(({ state }) => !(state === run.state && isMissed));
  tell([...judged, ...run.checks], of);
  return states.slice(at);
}

function documentOf(text: string): string {
  const versions = AGENT_NAMES.map((agent: AgentName) => `${agent} ${AGENTS[agent].version}`).join(", ");
  return `# How often the status is right

Written by \`npm run accuracy -- --times ${values.times} --write\`, which drives the real agents (${versions}) on a scripted model, and compares what
Holdfast says with what is so. What is so is told by the model's requests, by processes and files, and by the screen in a terminal of its own; not by
Holdfast's status. \`late\` is more than 500 ms. A cell has its slowest latency. Taken with ${Math.round(freemem() / 2 ** 30)} GB free and a load of ${loadavg()[0]?.toFixed(1)}.

${text}
`;
}
