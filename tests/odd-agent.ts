/** A program that speaks the Agent Client Protocol badly, each time in the way the test asks for. */
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { TestHome } from "./home.ts";

const PROGRAM = `
import { createInterface } from "node:readline";
const out = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const waiting = new Map();
const update = (update) => out({ method: "session/update", params: { sessionId: "s", update } });
const say = (text) => update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
const ask = (params) => new Promise((resolve) => {
  waiting.set(900, resolve);
  out({ id: 900, method: "session/request_permission", params: { sessionId: "s", ...params } });
});
const [how] = process.argv.slice(2);
const can = { _meta: { "_holdfast/steer": how === "steers" || how === "refuses" } };
let running;
const ends = (id) => (stopReason = "end_turn") => { running = undefined; out({ id, result: { stopReason } }); };
const turns = {
  async asks(end) {
    const toolCall = { toolCallId: 7, title: "push", locations: [{}] };
    const options = [{ optionId: "y", name: "Yes", kind: "allow_once" }, { optionId: "x", name: "Maybe", kind: "perhaps" }];
    say(JSON.stringify(await ask({ toolCall, options })));
    end();
  },
  talks(end) { say(42); update({ sessionUpdate: "plan", entries: [{ content: "a", status: "odd" }] }); say("talked"); end("constructor"); },
  nothing(_, id) { out({ id, result: null }); },
  late(end) { say("in time"); end(); setTimeout(() => say(", too late"), 200); },
  waits() { say("waiting"); },
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (!method) return waiting.get(id)?.(result);
  if (method === "initialize") return void setTimeout(() => out({ id, result: { protocolVersion: 1, agentCapabilities: can } }), how === "steers" ? 500 : 0);
  if (method === "session/new") return out({ id, result: how === "nameless" ? null : { sessionId: "s" } });
  if (method === "session/cancel") return how === "dies" ? process.exit(3) : running?.("cancelled");
  if (method === "_holdfast/steer") {
    if (how === "refuses") { running?.(); return out({ id, error: { code: -32600, message: "no turn runs" } }); }
    out({ id, result: {} });
    say("steered by " + params.text);
    return running?.();
  }
  if (method !== "session/prompt") return;
  running = ends(id);
  const words = params.prompt[0].text;
  if (turns[words]) return turns[words](running, id);
  say("heard " + words);
  running();
});
`;

/** The agent `odd`, and one agent per oddness: `odd-steers` and so on. */
export function bringOdd(home: TestHome): void {
  const program = path.join(home.root, "odd.mjs");
  writeFileSync(program, PROGRAM);
  const directory = path.join(home.env.HOME ?? "", ".config", "holdfast");
  mkdirSync(directory, { recursive: true });
  const command = (how: string) => JSON.stringify([process.execPath, program, how]);
  const agents = ["plain", "steers", "refuses", "dies", "nameless"].map((how) => `[agents.odd-${how}]\nstructured = ${command(how)}\n`);
  writeFileSync(path.join(directory, "config.toml"), agents.join("\n"));
}
