/**
 * Retries only errors that another try can fix: a busy model, a crashed agent, a daemon that is being replaced. A wrong key, a used-up
 * budget or a denied request fails the same way again.
 *
 *   AGENT=claude node retry.ts 'summarize CHANGELOG.md in three lines'
 */
import assert from "node:assert/strict";
import {
  AgentCrashed,
  BudgetExceeded,
  connect,
  DaemonUnreachable,
  HoldfastError,
  PermissionRefused,
  RateLimited,
  Timeout,
  ToolFailed,
  Unauthenticated,
} from "holdfast/sdk";

const MOST_TRIES = 3;
const PAUSE_MS = Number(process.env.PAUSE_MS ?? 10_000);

const [prompt = "Summarize CHANGELOG.md in three lines."] = process.argv.slice(2);
const agent = process.env.AGENT ?? "claude";

using holdfast = await connect();

const isPassing = (error: unknown) => [RateLimited, AgentCrashed, DaemonUnreachable, Timeout].some((kind) => error instanceof kind);

function advice(error: unknown): string {
  if (error instanceof Unauthenticated) return "log in with the agent's own program, or set its key";
  if (error instanceof BudgetExceeded) return "pass a larger budget";
  if (error instanceof PermissionRefused) return "allow it: onApproval, or a rule in config.toml";
  if (error instanceof ToolFailed) return "see what the tool said";
  return error instanceof HoldfastError ? (error.hint ?? error.code) : "this is a defect";
}

let tries = 0;
for (;;) {
  tries++;
  try {
    // `strict`: a failed tool ends the query.
    const { text } = await holdfast.query({ agent, prompt, strict: true, timeoutMs: 300_000, budget: { cost: 1 } }).result;
    console.log(text);
    break;
  } catch (error) {
    console.error(`try ${tries}: ${(error as Error).name}: ${(error as Error).message}`);
    if (!isPassing(error) || tries === MOST_TRIES) {
      console.error(advice(error));
      process.exitCode = 1;
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * tries));
  }
}

// No session is left after any number of tries.
assert.ok(tries <= MOST_TRIES);
assert.deepEqual(
  (await holdfast.sessions.list({ all: true })).filter(({ name }) => name.startsWith("query-")),
  [],
);
