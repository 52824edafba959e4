import { type Benchmark, compared, inTurns } from "./harness.ts";
import { BenchHome } from "./rig/home.ts";
import { PlainTmux } from "./rig/plain-tmux.ts";

const COUNT = 100;
const PROGRAM = ["sleep", "1000000"];

const NOT_TMUX =
  "tmux takes as long as for the script. The request and its reply, four files that outlive the run, two events in the journal and the watch of the run's directory take the same time again. After many deletions ext4 takes half a millisecond per new file, and a start creates seven.";

export const spawn: Benchmark = {
  name: "spawn-100",
  measures: "Time to start 100 sessions one after the other over one SDK connection; each request returns when its program has a pid.",
  baseline:
    "a bare script that writes the same launch files and issues the same tmux commands (program, title, recorder, pid) over one control client",
  budget: "≤ 1.5×",
  async run(scale) {
    const times = await inTurns(scale.rounds(6), { holdfast, tmux });
    return [
      compared({ what: "100 sessions", unit: "ms", limit: { of: "ratio", atMost: 1.5 }, whenMissed: NOT_TMUX }, times.holdfast, {
        name: "tmux",
        values: times.tmux,
      }),
    ];
  },
};

async function holdfast(): Promise<number> {
  await using home = new BenchHome();
  await home.ok(["run", "--", ...PROGRAM]);
  using client = home.client();
  await home.spawnMany(client, 1, PROGRAM);
  const began = performance.now();
  await home.spawnMany(client, COUNT, PROGRAM);
  return performance.now() - began;
}

async function tmux(): Promise<number> {
  await using plain = new PlainTmux();
  await plain.startMany(2, PROGRAM);
  const began = performance.now();
  await plain.startMany(COUNT, PROGRAM);
  return performance.now() - began;
}
