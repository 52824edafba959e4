/**
 * Asks an agent one question: prints its words and actions as they come, then the result. Ctrl+C cancels and leaves nothing running.
 *
 *   AGENT=claude node ask.ts 'what does this project do?'
 */
import assert from "node:assert/strict";
import { AbortError, query } from "holdfast/sdk";

const [prompt = "What does this project do?"] = process.argv.slice(2);
const agent = process.env.AGENT ?? "claude";

const interrupted = new AbortController();
process.once("SIGINT", () => interrupted.abort("Ctrl+C"));

// Starts immediately, in this directory and environment. Nobody can answer permission requests, so they are denied.
const asked = query({ agent, prompt, signal: interrupted.signal, timeoutMs: 600_000, onApproval: () => "deny" });

let said = "";
try {
  for await (const event of asked) {
    if (event.type === "text") {
      said += event.text;
      process.stdout.write(event.text);
    }
    if (event.type === "tool_started") console.log(`\n[${event.kind}] ${event.title}`);
  }
} catch (error) {
  if (!(error instanceof AbortError)) throw error;
  console.log("\ncancelled; nothing of it is left");
  process.exit(130);
}

const { text, stopReason, usage, cost, files, durationMs } = await asked.result;
const spent = usage ? `${usage.input} tokens in, ${usage.output} out` : "tokens unknown";
console.log(`\n${stopReason} in ${durationMs} ms; ${spent}; ${cost === null ? "cost unknown" : `$${cost.toFixed(4)}`}`);
if (files.length > 0) console.log(`changed: ${files.join(", ")}`);

// The streamed pieces are the answer.
assert.equal(text.replace(/\s/g, ""), said.replace(/\s/g, ""));
