import { type ChildProcess, spawn } from "node:child_process";
import type { OwnHost } from "@holdfast/contract";
import { allProcesses } from "@holdfast/platform";
import type { HoldfastClient } from "@holdfast/sdk";
import { eventually } from "../tests/home.ts";
import { type Benchmark, compared, inTurns } from "./harness.ts";
import { BenchHome } from "./rig/home.ts";

const COUNT = 100;
/** Ten shells with nine sleepers each. */
const TREE = "for i in 0 1 2 3 4 5 6 7 8 9; do sh -c 'for j in 1 2 3 4 5 6 7 8 9; do sleep 1000000 & done; wait' & done; wait";

export const stop: Benchmark = {
  name: "stop-100",
  measures: `Time to stop a session with a tree of ${COUNT} processes, from the request until all are gone and the end is in the journal.`,
  baseline: "SIGTERM to the process group of the same tree by a bare script, until all are gone",
  budget: "none",
  async run(scale) {
    await using home = new BenchHome();
    await home.ok(["up"]);
    using client = home.client();
    const times = await inTurns(scale.rounds(8), {
      tmux: () => stopped(home, client, "tmux"),
      native: () => stopped(home, client, "native"),
      script: byScript,
    });
    const baseline = { name: "kill", values: times.script };
    return [
      compared({ what: "on tmux", unit: "ms" }, times.tmux, baseline),
      compared({ what: "on the native host", unit: "ms" }, times.native, baseline),
    ];
  },
};

async function stopped(home: BenchHome, client: HoldfastClient, host: OwnHost): Promise<number> {
  const [session] = await home.spawnMany(client, 1, ["/bin/sh", "-c", TREE], { host });
  if (!session) throw new Error("the tree did not start");
  await eventually(() => below(session.pid ?? 0).length >= COUNT);
  const began = performance.now();
  const { killed } = await client.call("stopSession", { params: { ref: session.id }, body: {} });
  const took = performance.now() - began;
  if (killed.length < COUNT) throw new Error(`only ${killed.length} processes were stopped`);
  return took;
}

async function byScript(): Promise<number> {
  const child: ChildProcess = spawn("/bin/sh", ["-c", TREE], { detached: true, stdio: "ignore" });
  const pid = child.pid ?? 0;
  await eventually(() => below(pid).length >= COUNT);
  const began = performance.now();
  process.kill(-pid, "SIGTERM");
  await eventually(() => inGroup(pid).length === 0);
  return performance.now() - began;
}

function below(root: number): number[] {
  const table = [...allProcesses().values()];
  const found = [root];
  for (const pid of found) found.push(...table.filter((info) => info.parent === pid).map((info) => info.pid));
  return found.slice(1);
}

function inGroup(leader: number): number[] {
  return [...allProcesses().values()].filter((info) => info.session === leader && !info.zombie).map((info) => info.pid);
}
