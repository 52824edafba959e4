import { type Benchmark, compared, inTurns } from "./harness.ts";
import { BenchHome } from "./rig/home.ts";
import { PlainTmux } from "./rig/plain-tmux.ts";

const COUNT = 100;
const PROGRAM = ["sleep", "1000000"];

const NOT_TMUX =
  "tmux takes as long as for the script; as much again go into the request and its reply, four files that outlive the run, two facts in the journal and the watch over the run's directory. Where very many files were deleted lately, ext4 takes half a millisecond for each new one, and this makes seven of them.";

export const spawn: Benchmark = {
  name: "spawn-100",
  measures: "Starting 100 sessions one after the other over one SDK connection, each answered when its program has a pid.",
  baseline:
    "the same launch files written and the same tmux commands (program, title, recorder, pid) issued by a bare script over one control client",
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
