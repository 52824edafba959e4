import type { Session } from "@holdfast/contract";
import { type Benchmark, type Row, spread } from "./harness.ts";
import { BenchHome } from "./rig/home.ts";

export const restart: Benchmark = {
  name: "restart-100",
  measures:
    "`kill -9` of the daemon at 100 sessions; then the wall time of `holdfast ls --json`, which starts a new daemon and lists all sessions, running and with unchanged pids.",
  baseline: "the same command with a running daemon",
  budget: "≤ 1 s, nothing lost",
  async run(scale): Promise<Row[]> {
    await using home = new BenchHome();
    await home.ok(["up"]);
    using client = home.client();
    const before = (await home.spawnMany(client, 100, ["sleep", "1000000"])).map(identity);
    const times: number[] = [];
    const warm: number[] = [];
    for (let round = 0; round < scale.rounds(10); round++) {
      warm.push((await timedList(home)).ms);
      await home.killDaemon();
      const { ms, sessions } = await timedList(home);
      const lost = before.filter((one) => !sessions.map(identity).includes(one));
      if (lost.length > 0) throw new Error(`${lost.length} sessions were lost in the restart`);
      times.push(ms);
    }
    return [
      {
        what: "all 100 listed",
        unit: "ms",
        subject: spread(times),
        baseline: { name: "running", ...spread(warm) },
        limit: { of: "subject", atMost: 1000 },
      },
    ];
  },
};

async function timedList(home: BenchHome): Promise<{ ms: number; sessions: Session[] }> {
  const began = performance.now();
  const sessions = await home.json<Session[]>(["ls"]);
  return { ms: performance.now() - began, sessions };
}

function identity({ id, pid, status }: Session): string {
  return `${id} ${pid} ${status}`;
}
