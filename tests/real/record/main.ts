/**
 * Records real agents in known states, as fixtures for the status rules:
 *
 *   npm run record:agents -- qwen                  recordings 1 and 2 of every state
 *   npm run record:agents -- qwen --recording 3 --state approval --state idle
 *
 *   npm run record:agents -- qwen --version 0.25.0    records another version, which the tests then use too
 *
 *   npm run record:agents -- --relabel             applies the expectations of `states.ts` and the scrubbing to all recordings
 *
 * Each recording is a new start of the agent in a terminal of its size, on the scripted model. The format is in
 * packages/daemon/src/agent/fixtures/README.md. A person must check each recording: `expected` is the intended state, not the recorded one.
 */
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { AGENTS, installAgent } from "../../../script/real-agents.mjs";
import { ROOT } from "../../home.ts";
import { Terminal } from "../../terminal.ts";
import { type AgentName, setUp } from "../agents.ts";
import { RealWorld } from "../world.ts";
import { Driver } from "./driver.ts";
import { withHooks } from "./hooks.ts";
import { Scrubber } from "./scrub.ts";
import { STATES, type State } from "./states.ts";
import { VARIANTS } from "./variant.ts";
import { writeVersion } from "./version.ts";

const FIXTURES = path.join(ROOT, "packages/daemon/src/agent/fixtures");

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    state: { type: "string", multiple: true },
    recording: { type: "string", multiple: true },
    version: { type: "string" },
    relabel: { type: "boolean", default: false },
  },
});

if (values.relabel) relabel();

let stopped = false;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    console.log("stops after this recording");
    stopped = true;
  });
}

const agents = positionals as AgentName[];
const recordings = (values.recording ?? ["1", "2"]).map(Number);
if (values.version !== undefined) take(agents, values.version);
for (const agent of agents) {
  await installAgent(agent);
  for (const recording of recordings) {
    for (const state of STATES) {
      if (stopped || (state.agents !== undefined && !state.agents.includes(agent))) continue;
      if (values.state !== undefined && !values.state.includes(state.name)) continue;
      await record(agent, state, recording).catch((error: unknown) => {
        console.log(`✗ ${agent} ${state.name}.${recording}: ${error instanceof Error ? error.message : error}`);
        process.exitCode = 1;
      });
    }
  }
}

function take([agent, ...others]: readonly AgentName[], version: string): void {
  if (agent === undefined || others.length > 0) throw new Error("--version is that of one agent");
  writeVersion(ROOT, { agent, before: AGENTS[agent].version, version });
  AGENTS[agent].version = version;
}

async function record(agent: AgentName, state: State, recording: number): Promise<void> {
  const variant = VARIANTS[recording - 1];
  if (variant === undefined) throw new Error(`there are ${VARIANTS.length} variants`);
  await using world = await RealWorld.open();
  const place = { home: path.join(world.home.root, "u"), project: path.join(world.home.root, "project"), url: world.model.url };
  const usual = setUp(agent, place, state.setUp);
  state.mode?.configure?.[agent]?.(place.home);
  const started = { command: [...usual.command, ...(state.mode?.args?.[agent] ?? [])], env: { ...usual.env, ...state.mode?.env } };
  // The settings that enable hooks may also make an agent trust the directory.
  const isNew = state.setUp === "untrusted" || state.setUp === "logged-out";
  const hooked = isNew ? { ...started, told: () => [], files: () => ({}) } : withHooks(agent, started, place);

  // The bottom row belongs to Holdfast.
  using terminal = new Terminal({ env: world.home.env, columns: variant.columns, rows: variant.rows + 1 });
  // The agent starts when its terminal has the right size, so that its whole screen has that size.
  const wait = `until [ "$(stty size)" = "${variant.rows} ${variant.columns}" ]; do sleep 0.05; done; exec "$@"`;
  await world.home.ok(["run", "--name", agent, "--", "sh", "-c", wait, "sh", ...hooked.command], { cwd: place.project, env: hooked.env });
  terminal.line(`exec ${path.join(ROOT, "bin/holdfast")} attach ${agent}`);

  const driver = new Driver(world, agent, variant.words);
  for (const prompt of isNew || state.first ? [] : variant.before) {
    await driver.prompt(prompt);
    await driver.settles(prompt.slice("say ".length), (asked) => asked.state === "ended");
  }
  await state.reach(driver);

  const scrubber = new Scrubber([
    [place.home, "/home/dev/home-u".slice(0, place.home.length)],
    [world.home.root, "/home/dev/code"],
    [path.basename(world.home.root), "workspace"],
    [path.dirname(path.dirname(hooked.command[0] ?? "")), "/usr/lib/node_modules"],
  ]);
  const seen = { screen: await world.screen(agent), hooks: hooked.told(), files: hooked.files() };
  write({
    agent,
    version: AGENTS[agent].version,
    state: state.name,
    recording,
    ...labels(agent, state),
    ...(scrubber.value(seen) as object),
  });
  console.log(`✓ ${agent} ${state.name}.${recording}`);
}

function labels(agent: AgentName, { about, expected, differently }: State) {
  return { about, expected: { process: "running", ...expected, ...differently?.[agent] } };
}

type Fixture = { agent: AgentName; state: string; recording: number } & Record<string, unknown>;

function write(fixture: Fixture): void {
  const folder = path.join(FIXTURES, fixture.agent);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, `${fixture.state}.${fixture.recording}.json`), `${JSON.stringify(fixture, null, 2)}\n`);
}

function relabel(): void {
  for (const file of globSync("*/*.json", { cwd: FIXTURES })) {
    const fixture = new Scrubber([]).value(JSON.parse(readFileSync(path.join(FIXTURES, file), "utf8"))) as Fixture;
    const state = STATES.find(({ name }) => name === fixture.state);
    if (state !== undefined) write({ ...fixture, ...labels(fixture.agent, state) });
  }
}
