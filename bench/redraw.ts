import { setTimeout as delay } from "node:timers/promises";
import { type Benchmark, compared, spread } from "./harness.ts";
import { BenchHome, SLEEPER } from "./rig/home.ts";
import { PlainTmux } from "./rig/plain-tmux.ts";
import { coreShare, residentMegabytes } from "./rig/processes.ts";
import { redraw } from "./rig/redraw.ts";

const PROGRAM = ["sleep", "1000000"];
const PER_SECOND = 10;

export const redrawing: Benchmark = {
  name: "redraw-100",
  measures:
    "CPU time while 100 sessions redraw a spinner ten times a second each, in windows of 5 s, and the daemon's resident memory at that time.",
  baseline: "a tmux server with 100 such sessions and recorders, in the windows between",
  budget: "≤ 10 % of one core for Holdfast's own processes (daemon and control client); daemon ≤ 150 MB",
  async run(scale) {
    await using home = new BenchHome();
    await home.ok(["up"]);
    using client = home.client();
    const sessions = await home.spawnMany(client, 100, PROGRAM);
    await using plain = new PlainTmux();
    const panes = await plain.startMany(100, PROGRAM);
    const ours = await home.parts(sessions);
    const theirs = await plain.parts();
    const ourPids = sessions.flatMap(({ pid }) => (pid === null ? [] : [pid]));
    const theirPids = panes.map(({ pid }) => pid);
    const holdfast: Record<keyof typeof ours, number>[] = [];
    const tmux: Record<keyof typeof theirs, number>[] = [];
    for (let round = 0; round < scale.rounds(5); round++) {
      holdfast.push(await during(ourPids, { groups: ours, ms: scale.samples(5000) }));
      tmux.push(await during(theirPids, { groups: theirs, ms: scale.samples(5000) }));
    }
    const [daemon = 0] = ours.daemon;
    const unit = "% of a core";
    const plainly = (name: "server" | "recorders") => ({ name: "tmux", values: tmux.map((window) => window[name]) });
    return [
      {
        what: "daemon and control client",
        unit,
        subject: spread(holdfast.map((window) => window.daemon + window.client)),
        limit: { of: "subject", atMost: 10 },
      },
      { what: "the control client alone", unit, subject: spread(holdfast.map((window) => window.client)) },
      compared(
        { what: "the tmux server", unit },
        holdfast.map((window) => window.server),
        plainly("server"),
      ),
      compared(
        { what: "the recorders", unit },
        holdfast.map((window) => window.recorders),
        plainly("recorders"),
      ),
      { what: "the daemon's memory", unit: "MB", subject: spread([residentMegabytes(daemon)]), limit: { of: "subject", atMost: 150 } },
    ];
  },
};

export const spinning: Benchmark = {
  name: "spinners-100",
  measures:
    "CPU time of the daemon and its control client while 100 agents with screen detection (Claude Code's rules) each redraw a spinner ten times a second, in windows of 5 s. No screen ever comes to rest.",
  baseline: "the same with 100 shells without screen detection, in the windows between",
  budget: "≤ 10 % of one core",
  async run(scale) {
    await using home = new BenchHome();
    await home.ok(["up"]);
    using client = home.client();
    const sessions = {
      agents: await home.spawnMany(client, 100, SLEEPER, { agent: "claude" }),
      shells: await home.spawnMany(client, 100, PROGRAM),
    };
    const { daemon, client: control } = await home.parts(sessions.agents);
    const share = async (which: keyof typeof sessions) => {
      const pids = sessions[which].flatMap(({ pid }) => (pid === null ? [] : [pid]));
      return (await during(pids, { groups: { own: [...daemon, ...control] }, ms: scale.samples(5000) })).own;
    };
    const agents: number[] = [];
    const shells: number[] = [];
    for (let round = 0; round < scale.rounds(5); round++) {
      agents.push(await share("agents"));
      shells.push(await share("shells"));
    }
    const row = { what: "daemon and control client", unit: "% of a core", limit: { of: "subject", atMost: 10 } } as const;
    return [compared(row, agents, { name: "shells", values: shells })];
  },
};

async function during<K extends string>(
  pids: readonly number[],
  window: { groups: Record<K, number[]>; ms: number },
): Promise<Record<K, number>> {
  using spinners = redraw(pids, PER_SECOND);
  await delay(1000);
  const before = spinners.frames();
  const shares = await coreShare(window.groups, window.ms);
  const drawn = spinners.frames() - before;
  const wanted = (pids.length * PER_SECOND * window.ms) / 1000;
  if (drawn < 0.95 * wanted) throw new Error(`only ${drawn} of ${wanted} frames were drawn: the machine is too busy to measure this`);
  return shares;
}
