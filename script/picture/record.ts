/**
 * Records the session of the picture: three real agents on the scripted model, driven by keys in a real terminal. Each terminal is one
 * asciicast; the first one is closed while the agents run. Only the model's answers are scripted.
 */
import { execFileSync } from "node:child_process";
import { createReadStream, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually, HOLDFAST, ROOT, TestHome } from "../../tests/home.ts";
import { type AgentName, setUp } from "../../tests/real/agents.ts";
import { ModelNetwork } from "../../tests/real/network.ts";
import { Terminal } from "../../tests/terminal.ts";
import { installAgent } from "../real-agents.mjs";
import type { Cast } from "./cast.ts";

const COLUMNS = 92;
const ROWS = 24;
const KEY_MS = 20;
const READ_MS = 1500;
const PATIENCE_MS = 100_000;

const TASKS = [
  { agent: "claude", name: "fix-login", prompt: "Fix the login bug" },
  { agent: "codex", name: "docs", prompt: "Document the API" },
  { agent: "gemini", name: "search", prompt: "Add a search box" },
] as const;

/** The model's answers. The first and second keep working after their last words; Claude Code shows a text once a tool follows it. */
function playsIn(project: string): Record<string, string> {
  const file = JSON.stringify({ file_path: path.join(project, "src/session.js") });
  return {
    "Fix the login bug":
      "say I found it: the session cookie has no SameSite. I run the tests first.; wait 300ms; tool shell npm test; " +
      `wait 300ms; say All 3 tests pass. Now I set SameSite in src/session.js.; tool Read ${file}; wait 10m`,
    "Document the API": "say I read the routes first, then I write one page for each.; wait 10m",
    "Add a search box": "say I added a search box to the header. Press / to focus it.",
  };
}

/** Two terminals, one after the other. */
export async function record(): Promise<[Cast, Cast]> {
  await using home = new TestHome();
  const user = home.env.HOME ?? "";
  const project = path.join(user, "app");
  writeProject(project);
  const plays = path.join(home.root, "plays.json");
  writeFileSync(plays, JSON.stringify(playsIn(project)));
  await using model = await ModelNetwork.open(home.root, plays);
  const env = await environment(home.env, { home: user, project, url: model.url });
  const [program = "", ...args] = [...model.prefix, HOLDFAST, "up"];
  execFileSync(program, args, { cwd: project, env, stdio: "ignore" });
  const open = (name: string) => RecordedTerminal.open({ env, directory: project, fifo: path.join(home.root, name) });

  const first = await open("first");
  try {
    await first.says("Start three agents");
    for (const { agent, name, prompt } of TASKS) await first.types(`holdfast spawn ${agent} '${prompt}' --name ${name}`);
    await first.asksForLine();
    await sleep(READ_MS);
    await first.says("Close the terminal");
  } finally {
    first.close();
  }
  await home.until("fix-login", ({ status }) => status === "waiting");
  await home.until("docs", ({ status }) => status === "working");
  await home.until("search", ({ status, turns }) => status === "idle" && turns === 1);

  const second = await open("second");
  try {
    await second.says("Open a new terminal: they are still there");
    await second.types("holdfast ls");
    await second.asksForLine();
    await sleep(READ_MS);
    await second.says("Jump to the one that needs you");
    await second.types("holdfast next");
    await second.terminal.shows(/❯ 1\. Yes/);
    await sleep(READ_MS);
    await second.says("Approve its permission request");
    await sleep(READ_MS);
    second.terminal.keys("Enter");
    await second.terminal.shows("Now I set SameSite");
    await home.until("fix-login", ({ status }) => status === "working");
    await sleep(READ_MS);
    await second.says("Detach: all of them keep running");
    second.terminal.keys("C-\\");
    await second.types("holdfast ls");
    await second.asksForLine();
    await sleep(READ_MS);
  } finally {
    second.close();
  }
  return [first.cast, second.cast];
}

/** A terminal whose output is recorded as it comes from the programs on it. */
class RecordedTerminal {
  readonly terminal: Terminal;
  readonly cast: Cast = { columns: COLUMNS, rows: ROWS, events: [] };
  readonly #began = performance.now();

  private constructor(terminal: Terminal) {
    this.terminal = terminal;
  }

  static async open(options: { env: Record<string, string>; directory: string; fifo: string }): Promise<RecordedTerminal> {
    const prompt = "\u001b[38;2;127;137;152m~/app\u001b[0m $ ";
    const size = { columns: COLUMNS, rows: ROWS };
    const recorded = new RecordedTerminal(new Terminal({ ...options, ...size, prompt, term: "xterm-256color" }));
    await recorded.asksForLine();
    execFileSync("mkfifo", [options.fifo]);
    // The prompt was there before the pipe.
    recorded.#add("o", prompt);
    createReadStream(options.fifo, { encoding: "utf8" }).on("data", (text) => recorded.#add("o", String(text)));
    recorded.terminal.tmux("pipe-pane", "-t", "terminal", `cat > ${options.fifo}`);
    return recorded;
  }

  /** A caption for the next part. */
  async says(caption: string): Promise<void> {
    this.#add("m", caption);
    await sleep(READ_MS / 2);
  }

  /** As a person types. */
  async types(line: string): Promise<void> {
    await this.asksForLine();
    for (const key of line) {
      this.terminal.tmux("send-keys", "-t", "terminal", "-l", key);
      await sleep(KEY_MS);
    }
    await sleep(READ_MS / 5);
    this.terminal.keys("Enter");
  }

  async asksForLine(): Promise<void> {
    await eventually(() => this.terminal.asksForLine(), PATIENCE_MS);
  }

  close(): void {
    this.terminal[Symbol.dispose]();
  }

  #add(kind: "o" | "m", text: string): void {
    this.cast.events.push([(performance.now() - this.#began) / 1000, kind, text]);
  }
}

/** One home and one project for all three agents, as a user has them. */
async function environment(base: Record<string, string>, place: { home: string; project: string; url: string }) {
  const folders: string[] = [path.join(ROOT, "bin")];
  let env = base;
  for (const agent of ["claude", "codex", "gemini"] satisfies AgentName[]) {
    folders.push(path.dirname(await installAgent(agent)));
    env = { ...env, ...setUp(agent, place).env };
  }
  folders.push(path.dirname(process.execPath), base.PATH ?? "/usr/bin:/bin");
  return { ...env, PATH: folders.join(path.delimiter), COLORTERM: "truecolor" };
}

function writeProject(project: string): void {
  const files = {
    "package.json": '{ "name": "app", "type": "module", "scripts": { "test": "node --test" } }\n',
    "src/session.js": 'export const cookie = (id) => "sid=" + id + "; HttpOnly; SameSite=Lax";\n',
    "test/login.test.js": `import assert from "node:assert";
import { test } from "node:test";
import { cookie } from "../src/session.js";
for (const name of ["log in", "stay logged in", "log out"]) test(name, () => assert.match(cookie("1"), /SameSite/));
`,
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
    writeFileSync(path.join(project, name), text);
  }
}
