import { execFile } from "node:child_process";
import { request } from "node:http";
import path from "node:path";
import { promisify } from "node:util";
import { openHome } from "@holdfast/platform";
import { connect, query } from "@holdfast/sdk";
import { startModel } from "../agents/src/model/server.ts";
import { installAgent } from "../script/real-agents.mjs";
import { setUp } from "../tests/real/agents.ts";
import { type Benchmark, compared, inTurns, type Row } from "./harness.ts";
import { BenchHome } from "./rig/home.ts";

const run = promisify(execFile);

export const sdkConnect: Benchmark = {
  name: "sdk-connect",
  measures:
    "In a program that runs: from `connect()` until the list of sessions is there, on a connection of its own each time. The daemon runs, with no sessions.",
  baseline: "a request for the same list by node:http on a new connection to the same socket",
  budget: "none",
  async run(scale): Promise<Row[]> {
    await using home = new BenchHome();
    await home.ok(["up"]);
    const { path: place, daemonSocket } = openHome(home.env);
    const { subject, baseline } = await inTurns(scale.rounds(100), {
      subject: () =>
        timed(async () => {
          using holdfast = await connect({ home: place, start: false });
          await holdfast.sessions.list();
        }),
      baseline: () => timed(() => bareRequest(daemonSocket)),
    });
    return [compared({ what: "connect, and the first list", unit: "ms" }, subject, { name: "node:http", values: baseline })];
  },
};

export const sdkQuery: Benchmark = {
  name: "sdk-query",
  measures:
    "One question to Qwen Code by the SDK's `query()`, with a scripted model on loopback: a session is started, answers, is ended and removed, and its result is there.",
  baseline: "`qwen -p` with the same question and model, until it has ended",
  budget: "none",
  async run(scale): Promise<Row[]> {
    await installAgent("qwen");
    await using home = new BenchHome();
    await using model = await startModel();
    await home.ok(["up"]);
    const project = path.join(home.root, "project");
    const { command, env } = setUp("qwen", { home: path.join(home.root, "qwen"), project, url: model.url });
    const [program = ""] = command;
    const prompt = "say hello";
    const { path: place } = openHome(home.env);
    const { subject, baseline } = await inTurns(scale.rounds(5), {
      subject: () =>
        timed(async () => {
          const { text } = await query({ home: place, start: false, agent: "qwen", prompt, cwd: project, env }).result;
          if (!text.includes("hello")) throw new Error(`it answered ${JSON.stringify(text)}`);
        }),
      baseline: () =>
        timed(async () => {
          const { stdout } = await run(program, ["-p", prompt], { cwd: project, env });
          if (!stdout.includes("hello")) throw new Error(`it answered ${JSON.stringify(stdout)}`);
        }),
    });
    return [compared({ what: "question to answer", unit: "ms" }, subject, { name: "qwen -p", values: baseline })];
  },
};

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

function bareRequest(socketPath: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: "/sessions", agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
      });
      response.on("end", () => resolve(JSON.parse(text)));
    });
    asked.on("error", reject).end();
  });
}
