import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import type { OwnHost } from "@holdfast/contract";
import type { HoldfastClient } from "@holdfast/sdk";
import { eventually } from "../tests/home.ts";
import { type Benchmark, compared, inTurns, quantile, type Row, type Scale } from "./harness.ts";
import { BenchHome } from "./rig/home.ts";
import { PlainTmux } from "./rig/plain-tmux.ts";
import { python } from "./rig/python.ts";

const LINE = "0123456789abcdef".repeat(4).slice(0, 63);
const SEGMENT = 1024 * 1024;

export const flood: Benchmark = {
  name: "flood",
  measures:
    "Rate of a program that writes 100 MB as fast as its terminal accepts it, from its start until all of it is recorded; and keystroke-to-echo time in another session meanwhile.",
  baseline: "a separate tmux server with the same recorder; for the echo, the same session without a flood",
  budget: "≥ 0.8× plain tmux; echo p99 ≤ 2× idle",
  async run(scale) {
    await using home = new BenchHome();
    await home.ok(["run", "--name", "echo", "--", "cat"]);
    using client = home.client();
    await using plain = new PlainTmux();
    return [...(await throughput(scale, { home, client, plain })), ...(await echo(scale, { home, client, plain }))];
  },
};

interface Rig {
  home: BenchHome;
  client: HoldfastClient;
  plain: PlainTmux;
}

async function throughput(scale: Scale, { home, client, plain }: Rig): Promise<Row[]> {
  const bytes = scale.quick ? 32_000_000 : 100_000_000;
  // The terminal adds a carriage return to every line.
  const recorded = bytes + bytes / (LINE.length + 1);
  const program = ["/bin/sh", "-c", `yes ${LINE} | head -c ${bytes}; exec sleep 1000000`];
  const megabytesPerSecond = (began: number) => recorded / 1000 / (performance.now() - began);
  const holdfast = async (host: OwnHost) => {
    const began = performance.now();
    const [session] = await home.spawnMany(client, 1, program, { host });
    if (!session) throw new Error("the flood did not start");
    await eventually(() => recordedBytes(home.runDirectory(session)) >= recorded, 120_000);
    const rate = megabytesPerSecond(began);
    await client.call("stopSession", { params: { ref: session.id }, body: {} });
    await client.call("removeSession", { params: { ref: session.id } });
    return rate;
  };
  const rates = await inTurns(scale.rounds(5), {
    holdfast: () => holdfast("tmux"),
    native: () => holdfast("native"),
    tmux: async () => {
      const began = performance.now();
      const pane = await plain.start(program);
      await eventually(() => recordedBytes(pane.directory) >= recorded, 120_000);
      const rate = megabytesPerSecond(began);
      await plain.kill(pane);
      return rate;
    },
  });
  const what = `${bytes / 1_000_000} MB in one session`;
  const baseline = { name: "tmux", values: rates.tmux };
  return [
    compared({ what, unit: "MB/s", limit: { of: "ratio", atLeast: 0.8 } }, rates.holdfast, baseline),
    compared({ what: "the same on the native host", unit: "MB/s" }, rates.native, baseline),
  ];
}

async function echo(scale: Scale, { home, client, plain }: Rig): Promise<Row[]> {
  const pane = await plain.start(["cat"]);
  const forEver = ["/bin/sh", "-c", `exec yes ${LINE}`];
  const holdfast = { argv: [home.program, "attach", "echo"], env: home.env };
  const tmux = { argv: plain.attachCommand(pane), env: plain.env };
  const p99 = async (of: typeof holdfast) => {
    const request = { clients: { of }, rounds: 1, keystrokes: scale.samples(150), pauseMs: 3 };
    const { of: rounds } = await python<{ of: number[][] }>("pty_echo.py", request);
    return quantile(rounds[0] ?? [], 0.99);
  };
  const times = await inTurns(scale.rounds(4), {
    idle: () => p99(holdfast),
    flooded: async () => {
      const [session] = await home.spawnMany(client, 1, forEver);
      const time = await p99(holdfast);
      await client.call("stopSession", { params: { ref: session?.id ?? "" }, body: {} });
      await client.call("removeSession", { params: { ref: session?.id ?? "" } });
      return time;
    },
    plainIdle: () => p99(tmux),
    plainFlooded: async () => {
      const flooding = await plain.start(forEver);
      const time = await p99(tmux);
      await plain.kill(flooding);
      return time;
    },
  });
  return [
    compared(
      { what: "echo p99 in another session during a flood", unit: "ms", limit: { of: "ratio", atMost: 2 }, whenMissed: ONE_THREAD },
      times.flooded,
      { name: "idle", values: times.idle },
    ),
    compared({ what: "the same in plain tmux", unit: "ms" }, times.plainFlooded, { name: "idle", values: times.plainIdle }),
  ];
}

const ONE_THREAD =
  "One thread of the tmux server serves all sessions, and a read of the flooding one is parsed whole before the next session has its turn; plain tmux, in the row below, is no different. Sessions that must not share a server go on the native host.";

/** All segments except the last are full; segments beyond the recording's limit are deleted meanwhile. */
function recordedBytes(directory: string): number {
  const segments = readdirSync(directory).filter((name) => name.startsWith("output."));
  const last = segments.sort().at(-1);
  return last === undefined ? 0 : Number(last.slice("output.".length)) * SEGMENT + statSync(path.join(directory, last)).size;
}
