import path from "node:path";
import { HOLDFAST } from "../tests/home.ts";
import { type Benchmark, compared } from "./harness.ts";
import { BenchHome } from "./rig/home.ts";
import { python } from "./rig/python.ts";

const SOURCES =
  "In a checkout the shell compares each source with the build before it starts Node, so that no old code runs. An installed package does not.";

export const lsCpu: Benchmark = {
  name: "ls-cpu",
  measures: "User and system CPU time of `holdfast ls` with 100 sessions and its output on a pipe, including the shell that starts it.",
  baseline: "`node -e 0` of the same Node",
  budget: "≤ 1.6×",
  async run(scale) {
    await using home = new BenchHome();
    await home.ok(["up"]);
    using client = home.client();
    await home.spawnMany(client, 100, ["sleep", "1000000"]);
    const command = (...argv: string[]) => ({ argv, env: home.env });
    const commands = {
      node: command(process.execPath, "-e", "0"),
      installed: command(home.program, "ls"),
      checkout: command(HOLDFAST, "ls"),
      json: command(home.program, "ls", "--json"),
      bundle: command(process.execPath, path.join(path.dirname(home.program), "../dist/holdfast.cjs"), "ls"),
    };
    const times = await python<Record<keyof typeof commands, number[]>>("children_cpu.py", { commands, runs: scale.rounds(40) });
    const baseline = { name: "node -e 0", values: times.node };
    const limit = { of: "ratio", atMost: 1.6 } as const;
    return [
      compared({ what: "installed package", unit: "ms", limit }, times.installed, baseline),
      compared({ what: "checkout (checks for newer sources first)", unit: "ms", limit, whenMissed: SOURCES }, times.checkout, baseline),
      compared({ what: "installed package, --json", unit: "ms" }, times.json, baseline),
      compared({ what: "the bundle alone, without the shell", unit: "ms" }, times.bundle, baseline),
    ];
  },
};
