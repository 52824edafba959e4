import path from "node:path";
import { Sshd } from "../tests/sshd.ts";
import { type Benchmark, compared, quantile } from "./harness.ts";
import { BenchHome } from "./rig/home.ts";
import { opened } from "./rig/left-over.ts";
import { PlainTmux } from "./rig/plain-tmux.ts";
import { python } from "./rig/python.ts";

export const attachOverSsh: Benchmark = {
  name: "attach-over-ssh",
  measures:
    "Time from a keystroke in the terminal of `holdfast -H machine attach` to its echo (by `cat`) there, through an sshd on loopback. Both clients are attached at once and get input in turns.",
  baseline:
    "`ssh -t machine tmux attach` through the same sshd, to a separate server with tmux's default configuration and the same recorder",
  budget: "1.0× plain ssh and tmux, to one decimal",
  async run(scale) {
    await using home = new BenchHome();
    await home.ok(["run", "--name", "echo", "--", "cat"]);
    await using plain = new PlainTmux();
    const pane = await plain.start(["cat"]);
    const PATH = `${path.dirname(home.program)}:${home.env.PATH}`;
    await using sshd = await Sshd.start(home.env, { PATH, HOME: home.env.HOME ?? "/", HOLDFAST_HOME: home.path });
    const closed = opened(sshd);
    const ssh = sshd.client("far");
    const env = { ...home.env, PATH: `${ssh}:${PATH}` };
    const clients = {
      holdfast: { argv: [home.program, "-H", "far", "attach", "echo"], env },
      tmux: { argv: ["ssh", "-t", "far", plain.attachCommand(pane).join(" ")], env },
    };
    const request = { clients, rounds: scale.rounds(10), keystrokes: scale.samples(100), pauseMs: 3 };
    const { holdfast = [], tmux = [] } = await python<Record<string, number[][]>>("pty_echo.py", request);
    closed();
    const row = (what: string, q: number) => {
      const at = (rounds: number[][]) => rounds.map((round) => quantile(round, q));
      const limit = q === 0.5 ? { limit: { of: "ratio", atMost: 1.05 } as const, whenMissed: SAME } : {};
      return compared({ what, unit: "ms", ...limit }, at(holdfast), { name: "ssh -t, tmux", values: at(tmux) });
    };
    return [row("median", 0.5), row("p99", 0.99)];
  },
};

const SAME = "On both sides a key passes only ssh, sshd and tmux. The daemon, which each recorded echo wakes, may take a core from them.";
