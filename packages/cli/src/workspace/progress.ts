/** Progress while a workspace is created: a checkout or setup may take minutes, and silence looks like a hang. */
import type { AnyEvent } from "@holdfast/contract/events";
import type { Context } from "../command.ts";
import { plain } from "../text/plain.ts";
import { trusting } from "./trusting.ts";

const FIRST_WORD_MS = 1000;
const STILL_MS = 10_000;

/** Asks for trust if the project needs it. Prints nothing to a pipe or a script, except what happens after an interruption. */
export function withProgress<T>(context: Context, work: () => Promise<T>, begins = "creating the worktree"): Promise<T> {
  return trusting(context, () => shown(context, work, begins));
}

async function shown<T>(context: Context, work: () => Promise<T>, begins: string): Promise<T> {
  process.once("SIGINT", interrupted);
  try {
    return await (context.json || !process.stderr.isTTY ? work() : told(context, work, begins));
  } finally {
    process.off("SIGINT", interrupted);
  }
}

/** The daemon continues the work after the command ends. */
function interrupted(): void {
  process.stderr.write("holdfast: the setup continues in the background, and then the session starts\n");
  process.stderr.write("  check it: holdfast workspace; cancel and remove it: holdfast workspace rm NAME --force\n");
  process.exit(130);
}

async function told<T>(context: Context, work: () => Promise<T>, begins: string): Promise<T> {
  const began = performance.now();
  let doing = begins;
  const say = () => process.stderr.write(`${doing} … ${Math.round((performance.now() - began) / 1000)} s\n`);
  const first = setTimeout(say, FIRST_WORD_MS);
  const still = setInterval(say, STILL_MS);
  const stop = new AbortController();
  void follow(context, stop.signal, (event) => {
    const data = event.data as { command?: string };
    if (event.type !== "workspace.setup_started") return;
    doing = `setup (${plain(data.command ?? "")})`;
    say();
  });
  try {
    return await work();
  } finally {
    stop.abort();
    clearTimeout(first);
    clearInterval(still);
  }
}

async function follow(context: Context, signal: AbortSignal, tell: (event: AnyEvent) => void): Promise<void> {
  try {
    const { connectRunning } = await import("../connection/running.ts");
    const { epoch, seq } = await context.client.call("status", {});
    using client = connectRunning(context.home);
    const query = { after: `${epoch}:${seq}`, type: ["workspace.setup_started"] };
    for await (const event of client.events({ query }, signal)) tell(event);
  } catch {
    // Progress is optional.
  }
}
