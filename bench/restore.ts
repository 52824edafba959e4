import type { RestoreItem } from "@holdfast/contract";
import { eventually } from "../tests/home.ts";
import { pullThePlug } from "../tests/plug.ts";
import { type Benchmark, type Row, spread } from "./harness.ts";
import { BenchHome } from "./rig/home.ts";

const SESSIONS = 100;

export const restore: Benchmark = {
  name: "restore-100",
  measures:
    "All processes of a home with 100 sessions are killed at once. Then the wall time of `holdfast restore --json`, until all sessions are restored from disk: shells, and demo agents that must continue their conversation.",
  baseline: "starting the same number of new sessions over one SDK connection, one after the other",
  budget: "shells ≤ 2.5× starting new ones",
  async run(scale): Promise<Row[]> {
    const shells = await measure({ agent: "shell", count: SESSIONS, rounds: scale.rounds(3) });
    const agents = await measure({ agent: "demo", count: scale.samples(SESSIONS), rounds: 1 });
    const row = (what: string, { restored, started }: Measured): Row => ({
      what,
      unit: "ms",
      subject: spread(restored),
      baseline: { name: "new sessions", ...spread(started) },
      ratio: spread(restored.map((ms, round) => ms / (started[round] ?? Number.NaN))),
    });
    return [{ ...row("100 shells", shells), limit: { of: "ratio", atMost: 2.5 } }, row(`${scale.samples(SESSIONS)} demo agents`, agents)];
  },
};

interface Measured {
  restored: number[];
  started: number[];
}

async function measure({ agent, count, rounds }: { agent: string; count: number; rounds: number }): Promise<Measured> {
  const measured: Measured = { restored: [], started: [] };
  for (let round = 0; round < rounds; round++) {
    await using home = new BenchHome();
    await home.ok(["up"]);
    using client = home.client();
    const body = { agent, cwd: "/", env: home.env, ...(agent === "demo" ? { prompt: "say hello", args: ["--fast"] } : {}) };
    const began = performance.now();
    for (let i = 0; i < count; i++) await client.call("spawn", { body });
    // A new agent is ready when it has answered; a restored one when it accepts a prompt.
    await eventually(
      async () => {
        const { sessions } = await client.call("listSessions", {});
        return sessions.every(({ kind, turns, status }) => kind === "shell" || (turns === 1 && status === "idle"));
      },
      300_000,
      100,
    );
    measured.started.push(performance.now() - began);
    await pullThePlug(home);
    const from = performance.now();
    const { items } = await home.json<{ items: RestoreItem[] }>(["restore"]);
    measured.restored.push(performance.now() - from);
    const back = items.filter(({ outcome }) => outcome === "back");
    if (back.length !== count)
      throw new Error(`${back.length} of ${count} came back: ${items.find(({ outcome }) => outcome !== "back")?.why}`);
  }
  return measured;
}
