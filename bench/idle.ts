import { setTimeout as delay } from "node:timers/promises";
import { type Benchmark, type Row, spread } from "./harness.ts";
import { BenchHome } from "./rig/home.ts";
import { PlainTmux } from "./rig/plain-tmux.ts";
import { coreShare, residentMegabytes } from "./rig/processes.ts";

const PROGRAM = ["sleep", "1000000"];

/** A multiple of the daemon's sweep interval, so that every window has the same number of sweeps. */
const WINDOW_MS = 10_000;

export const idle: Benchmark = {
  name: "idle-100",
  measures:
    "CPU time of all Holdfast processes while 100 sessions are silent, in windows of 10 s, and the daemon's resident memory at that time.",
  baseline: "a tmux server with 100 such sessions and recorders, over the same time",
  budget: "< 1 % of one core in total; daemon ≤ 150 MB (120 MB + 0.3 MB per session)",
  async run(scale) {
    await using home = new BenchHome();
    await home.ok(["up"]);
    using client = home.client();
    const sessions = await home.spawnMany(client, 100, PROGRAM);
    await using plain = new PlainTmux();
    await plain.startMany(100, PROGRAM);
    const ours = await home.parts(sessions);
    const theirs = await plain.parts();
    await delay(3000);
    const windows: Record<keyof typeof ours | "tmux", number>[] = [];
    for (let round = 0; round < scale.rounds(3); round++) {
      windows.push(await coreShare({ ...ours, tmux: [...theirs.server, ...theirs.recorders] }, WINDOW_MS));
    }
    const all = windows.map(({ daemon, client, server, recorders }) => daemon + client + server + recorders);
    const [daemon = 0] = ours.daemon;
    const part = (what: string, name: "daemon" | "client" | "server" | "recorders"): Row => ({
      what,
      unit: "% of a core",
      subject: spread(windows.map((window) => window[name])),
    });
    return [
      {
        what: "all Holdfast processes",
        unit: "% of a core",
        subject: spread(all),
        baseline: { name: "tmux", ...spread(windows.map(({ tmux }) => tmux)) },
        limit: { of: "subject", atMost: 1 },
      },
      part("the daemon", "daemon"),
      part("its control client", "client"),
      part("the tmux server", "server"),
      part("the recorders", "recorders"),
      { what: "the daemon's memory", unit: "MB", subject: spread([residentMegabytes(daemon)]), limit: { of: "subject", atMost: 150 } },
    ];
  },
};
