import type { SessionId } from "@holdfast/contract";
import { type Benchmark, quantile, spread } from "./harness.ts";
import { BenchHome } from "./rig/home.ts";

const LAST_OUTPUT =
  "The kernel delivers a program's last output a little after its end. Six checks in a row, four milliseconds apart, must find tmux, pipe and recorder at rest before the pane is removed and the end is reported. With fewer checks output was lost on a busy machine (docs/adr/0004).";

export const signal: Benchmark = {
  name: "exit-to-event",
  measures:
    "Time from killing a program, with 99 others running, until a subscriber of the event stream has its `session.ended`, with its exit status and after the last byte of its recording.",
  baseline: "none",
  budget: "p99 ≤ 50 ms",
  async run(scale) {
    await using home = new BenchHome();
    await home.ok(["up"]);
    using client = home.client();
    const leaving = new AbortController();
    const seen = new Map<SessionId | null, (at: number) => void>();
    const stream = client.events({ query: { type: ["session.ended"] } }, leaving.signal);
    const reading = (async () => {
      for await (const event of stream) seen.get(event.session)?.(performance.now());
    })().catch((error: unknown) => {
      if (!leaving.signal.aborted) throw error;
    });
    const rounds: number[][] = [];
    for (let round = 0; round < scale.rounds(3); round++) {
      const times: number[] = [];
      for (const { id, pid } of await home.spawnMany(client, 100, ["sleep", "1000000"])) {
        const ended = new Promise<number>((resolve) => seen.set(id, resolve));
        const began = performance.now();
        process.kill(pid ?? 0, "SIGTERM");
        times.push((await ended) - began);
      }
      rounds.push(times);
    }
    leaving.abort();
    await reading;
    return [
      { what: "median of 100", unit: "ms", subject: spread(rounds.map((times) => quantile(times, 0.5))) },
      {
        what: "p99 of 100",
        unit: "ms",
        subject: spread(rounds.map((times) => quantile(times, 0.99))),
        limit: { of: "subject", atMost: 50 },
        whenMissed: LAST_OUTPUT,
      },
    ];
  },
};
