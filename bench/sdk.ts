import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { openHome } from "@holdfast/platform";
import { connect, Holdfast, HoldfastClient, unixTransport } from "@holdfast/sdk";
import { startModel } from "../agents/src/model/server.ts";
import { installAgent } from "../script/real-agents.mjs";
import { ROOT } from "../tests/home.ts";
import { setUp } from "../tests/real/agents.ts";
import { talk } from "./conversation.ts";
import { type Benchmark, compared, inTurns, type Row, spread } from "./harness.ts";
import { BenchHome } from "./rig/home.ts";

const run = promisify(execFile);

const PROMPT = "say hello from the model";

export const query: Benchmark = {
  name: "query",
  measures:
    "Time of one question to Qwen Code on a local model, by `query()` on an open connection: from the call until the result is there and the session is removed.",
  baseline: "Qwen Code's own headless mode, `qwen -p`, with the same configuration, until it exits",
  budget: "≤ 1.5×",
  async run(scale): Promise<Row[]> {
    await installAgent("qwen");
    await using home = new BenchHome();
    await using model = await startModel();
    const project = path.join(home.root, "project");
    mkdirSync(project);
    const { command, env } = setUp("qwen", { home: path.join(home.root, "qwen"), project, url: model.url });
    const [program = "", ...args] = command;
    Object.assign(home.env, env);
    await home.ok(["up"]);
    using holdfast = sdkOf(home);
    const timed = async (work: () => Promise<string>) => {
      const began = performance.now();
      const text = await work();
      if (!text.includes("hello from the model")) throw new Error(`it said: ${text}`);
      return performance.now() - began;
    };
    const { subject, baseline } = await inTurns(scale.rounds(10), {
      subject: () => timed(async () => (await holdfast.query({ agent: "qwen", prompt: PROMPT, cwd: project }).result).text),
      baseline: () =>
        timed(async () => (await run(program, [...args, "-p", PROMPT], { cwd: project, env: { ...home.env, ...env } })).stdout),
    });
    const limit = { of: "ratio", atMost: 1.5 } as const;
    return [compared({ what: "question to answer", unit: "ms", limit }, subject, { name: "qwen -p", values: baseline })];
  },
};

export const sdkConnect: Benchmark = {
  name: "sdk-connect",
  measures:
    "Time of `connect()` to a running daemon and one message to an existing conversation until its reply, in a process that has loaded the SDK.",
  baseline: "the same message and reply on an open connection",
  budget: "+ 5 ms, median",
  async run(scale): Promise<Row[]> {
    await using home = new BenchHome();
    await home.ok(["up"]);
    using there = sdkOf(home);
    const session = await talk(home, there.client);
    const reply = async (holdfast: Holdfast) => {
      const { reply: said } = await holdfast.messages.send(session.id, "say hello", { until: "replied" });
      if (said !== "hello") throw new Error(`it said: ${said}`);
    };
    const timed = async (work: () => Promise<void>) => {
      const began = performance.now();
      await work();
      return performance.now() - began;
    };
    const { subject, baseline } = await inTurns(scale.rounds(50), {
      subject: () =>
        timed(async () => {
          using holdfast = await connect({ home: home.path, start: false });
          await reply(holdfast);
        }),
      baseline: () => timed(() => reply(there)),
    });
    const more = subject.map((value, round) => value - (baseline[round] ?? Number.NaN));
    return [
      compared({ what: "connect to first reply", unit: "ms" }, subject, { name: "connected", values: baseline }),
      { what: "difference", unit: "ms", subject: spread(more), limit: { of: "subject", atMost: 5 } },
    ];
  },
};

function sdkOf(home: BenchHome): Holdfast {
  const client = new HoldfastClient(unixTransport(openHome(home.env).daemonSocket, { token: undefined }));
  return new Holdfast(client, { cwd: () => ROOT, env: () => home.env });
}
