/**
 * A STAND-IN for Amazon Q Developer CLI (`q chat`), for tests. It is not Amazon Q: it has no model, and shows only documented behaviour. Its
 * behaviour and the sources:
 *
 * - `q chat [--resume] [--agent NAME] [--trust-all-tools] [--no-interactive] [INPUT]`; --resume continues the previous conversation of the directory:
 *   https://docs.aws.amazon.com/amazonq/latest/qdeveloper-ug/command-line-reference.html
 * - `/quit` and Ctrl+D end it: https://docs.aws.amazon.com/amazonq/latest/qdeveloper-ug/command-line-chat.html
 * - One conversation per directory. --resume of an empty one starts a new one; otherwise, without INPUT, it asks for a summary. The spinner
 *   "Thinking...". Ctrl+C interrupts a turn; pressed twice at the prompt it exits. The text of a permission request and its answers y, n, t; any
 *   other line denies and continues: crates/chat-cli/src/cli/chat/mod.rs of https://github.com/aws/amazon-q-developer-cli
 * - The prompt `[agent] 12% !> `, Ctrl+J for a new line: crates/chat-cli/src/cli/chat/prompt.rs there. Its line editor requests bracketed paste while
 *   it reads: https://docs.rs/rustyline (Config::enable_bracketed_paste)
 * - The display of a tool call: https://github.com/aws/amazon-q-developer-cli/issues/2486
 *
 * Prompts: `run COMMAND` uses a tool; `think 5s` takes that long; anything else is repeated.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LineEditor } from "./line-editor.ts";

const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const FRAME_MS = 80;
const THINKS_MS = 2500;

const words = process.argv.slice(2);
if (words.includes("--version")) {
  process.stdout.write("q 0.0.0 (stand-in)\n");
  process.exit(0);
}
const flags = new Set(words.filter((word) => word.startsWith("-")));
const agent = words[words.indexOf("--agent") + 1];
const input = words.slice(1).find((word, i, all) => !word.startsWith("-") && all[i - 1] !== "--agent");
const folder = join(process.env.HOME ?? "/", ".stand-in-q");
const kept = join(folder, `${createHash("sha256").update(process.cwd()).digest("hex").slice(0, 16)}.json`);
const history: string[] = flags.has("--resume") && existsSync(kept) ? (JSON.parse(readFileSync(kept, "utf8")) as string[]) : [];
const editor = new LineEditor(`${flags.has("--agent") ? `[${agent}] ` : ""}${flags.has("--trust-all-tools") ? "!" : ""}> `);
let interrupt: (() => void) | undefined;
let trusted = flags.has("--trust-all-tools");
process.on("SIGINT", () => interrupt?.());

const print = (text: string) => process.stdout.write(text);

/** False if it was interrupted. */
async function think(ms: number): Promise<boolean> {
  const until = Date.now() + ms;
  const interrupted = new Promise<true>((resolve) => {
    interrupt = () => resolve(true);
  });
  for (let frame = 0; Date.now() < until; frame++) {
    print(`\r${FRAMES[frame % FRAMES.length]} Thinking...`);
    const tick = new Promise<false>((resolve) => setTimeout(() => resolve(false), FRAME_MS));
    if (await Promise.race([tick, interrupted])) {
      print("\r\x1b[2K\n\n");
      return false;
    }
  }
  print("\r\x1b[2K");
  return true;
}

async function turn(prompt: string): Promise<void> {
  const seconds = /^think (\d+)s/.exec(prompt)?.[1];
  history.push(prompt);
  mkdirSync(folder, { recursive: true });
  writeFileSync(kept, JSON.stringify(history));
  if (!(await think(seconds === undefined ? THINKS_MS : Number(seconds) * 1000))) return;
  const command = /^run (.+)/.exec(prompt)?.[1];
  if (command === undefined) {
    print(`> You said: ${prompt}\n\n`);
    return;
  }
  print(`> I'll run it for you.\n\n\n🛠️  Using tool: execute_bash\n ⋮ \n ● I will run the following shell command: ${command}\n ⋮ \n`);
  const answer = trusted ? "y" : await permission();
  trusted ||= answer === "t";
  if (answer === null) return;
  if (answer !== "y" && answer !== "t") {
    if (await think(THINKS_MS)) print(`> I did not run it${answer === "n" ? "" : `: ${answer}`}.\n\n`);
    return;
  }
  print(`\n${execFileSync("/bin/sh", ["-c", command], { encoding: "utf8" })}\n ⋮ \n ● Completed in 0.1s\n\n`);
  if (await think(THINKS_MS)) print("> Done.\n\n");
}

function permission(): Promise<string | null> {
  print("\nAllow this action? Use 't' to trust (always allow) this tool for the session. [y/n/t]:\n\n");
  return editor.read();
}

print(history.length > 0 ? "Picking up where we left off...\n\n" : "Welcome to the stand-in for Amazon Q!\n\n");
const first = input ?? (history.length > 0 ? "In a few words, summarize our conversation so far." : undefined);
for (const said of history) print(`> ${said}\n`);
if (first !== undefined) await turn(first);
for (let armed = false; !flags.has("--no-interactive"); ) {
  const line = await editor.read();
  if (line === "/quit" || (line === null && armed)) break;
  armed = line === null;
  if (line === null) print("\n(To exit the CLI, press Ctrl+C or Ctrl+D again or type /quit)\n\n");
  else if (line.trim() !== "") await turn(line);
}
process.exit(0);
