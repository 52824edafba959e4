import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import path from "node:path";
import { findProgram } from "@holdfast/platform";
import { eventually } from "../tests/home.ts";
import { type Benchmark, compared, quantile, type Row } from "./harness.ts";
import { BenchHome } from "./rig/home.ts";
import { PlainTmux } from "./rig/plain-tmux.ts";
import { python } from "./rig/python.ts";

type Clients = Record<string, { argv: string[]; env: Record<string, string> }>;

export const attachEcho: Benchmark = {
  name: "attach-echo",
  measures:
    "Time from a keystroke in the terminal of `holdfast attach` to its echo (by `cat`) there. All clients are attached at once and get input in turns.",
  baseline: "`tmux attach` to a separate server with tmux's default configuration and the same recorder; dtach, where it is installed",
  budget: "on tmux 1.0× plain tmux, to one decimal; on the native host ≤ 1.5× dtach",
  async run(scale) {
    await using home = new BenchHome();
    await home.ok(["run", "--name", "echo", "--", "cat"]);
    await home.ok(["run", "--name", "native", "--host", "native", "--", "cat"]);
    await using plain = new PlainTmux();
    const pane = await plain.start(["cat"]);
    using dtach = await startDtach(plain);
    const clients: Clients = {
      holdfast: { argv: [home.program, "attach", "echo"], env: home.env },
      native: { argv: [home.program, "attach", "native"], env: home.env },
      tmux: { argv: plain.attachCommand(pane), env: plain.env },
      ...(dtach && { dtach: { argv: [dtach.program, "-a", dtach.socket, "-E", "-z"], env: plain.env } }),
    };
    const request = { clients, rounds: scale.rounds(10), keystrokes: scale.samples(100), pauseMs: 3 };
    const times = await python<Record<string, number[][]>>("pty_echo.py", request);
    return rows(times);
  },
};

const WOKEN =
  "The client is tmux itself, and the server does the same work; but each echo is recorded, the record wakes the daemon, and with few cores that may take one from the client.";
const TWO_NODES =
  "A keystroke and its echo each pass two Node event loops, those of the client and the holder. dtach has two small C programs instead.";

function rows({ holdfast = [], native = [], tmux = [], dtach }: Record<string, number[][]>): Row[] {
  const at = (rounds: number[][], q: number) => rounds.map((round) => quantile(round, q));
  const pair = (
    host: string,
    subject: number[][],
    baseline: { name: string; rounds: number[][]; atMost: number; whenMissed: string },
  ): Row[] => {
    const against = (q: number) => ({ name: baseline.name, values: at(baseline.rounds, q) });
    const limit = { of: "ratio", atMost: baseline.atMost } as const;
    return [
      compared({ what: `${host} host, median`, unit: "ms", limit, whenMissed: baseline.whenMissed }, at(subject, 0.5), against(0.5)),
      compared({ what: `${host} host, p99`, unit: "ms" }, at(subject, 0.99), against(0.99)),
    ];
  };
  return [
    ...pair("tmux", holdfast, { name: "tmux", rounds: tmux, atMost: 1.05, whenMissed: WOKEN }),
    ...(dtach ? pair("native", native, { name: "dtach", rounds: dtach, atMost: 1.5, whenMissed: TWO_NODES }) : []),
  ];
}

async function startDtach(plain: PlainTmux): Promise<({ program: string; socket: string } & Disposable) | undefined> {
  const program = findProgram("dtach", plain.env.PATH, "/");
  if (!program) return undefined;
  const socket = path.join(plain.directory, "dtach");
  const child = spawn(program, ["-N", socket, "-E", "-z", "cat"], { env: plain.env, stdio: "ignore" });
  await eventually(() => existsSync(socket));
  return {
    program,
    socket,
    [Symbol.dispose]() {
      child.kill("SIGTERM");
      void once(child, "exit");
    },
  };
}
