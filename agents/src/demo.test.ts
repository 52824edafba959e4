import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";

const DEMO = fileURLToPath(new URL("demo.ts", import.meta.url));
const PATIENCE_MS = 20_000;
// A wait must time out before its test does, so that the test still closes the terminal.
vi.setConfig({ testTimeout: 3 * PATIENCE_MS });
const BANNER = "demo agent — a scripted stand-in for a coding agent";

describe("the demo agent on pipes", () => {
  it("shows its name and ends when its input ends", () => {
    expect(onPipes([])).toEqual({ code: 0, lines: [BANNER] });
    expect(onPipes(["--name", "kim"]).lines).toEqual([`kim · ${BANNER}`]);
  });

  it("begins a turn at once if it has a prompt", () => {
    expect(onPipes(["--fast", "fix the login bug"]).lines.slice(1)).toEqual([
      "> fix the login bug",
      "● Read src/login.ts",
      "● Edit src/login.ts (+12 −3)",
      "● Run npm test",
      "Turn 1: “fix the login bug” is done. I changed src/login.ts; the tests pass.",
    ]);
  });

  it("begins a turn without a prompt with --work", () => {
    expect(onPipes(["--fast", "--work"]).lines.at(-1)).toMatch(/^Turn 1: “.+” is done/);
  });

  it("reads each line as a prompt and counts the turns", () => {
    const { lines } = onPipes(["--fast"], "first thing\nsecond thing");
    expect(lines.filter((line) => line.startsWith("Turn"))).toEqual([
      expect.stringContaining("Turn 1: “first thing”"),
      expect.stringContaining("Turn 2: “second thing”"),
    ]);
  });

  it("runs commands", () => {
    const input = ["/env COLOUR", "/env NOTHING", "/flood 3", "/size", "/ask", "y", "/ask", "n", "/dance"].join("\n");
    expect(onPipes([], input, { COLOUR: "green" }).lines.slice(1)).toEqual([
      "green",
      "NOTHING is not set",
      "line 1",
      "line 2",
      "line 3",
      "no terminal",
      "Do you want to run 'touch x'? [y/n]",
      "● Run touch x",
      "Do you want to run 'touch x'? [y/n]",
      "Denied: touch x",
      "Unknown command /dance. /help lists them.",
    ]);
    expect(onPipes([], "/help").lines.length).toBeGreaterThan(10);
  });

  it("ends with the given code", () => {
    expect(onPipes([], "/exit 7\n/env HOME").code).toBe(7);
    expect(onPipes([], "/exit").code).toBe(0);
    expect(onPipes([], "/crash")).toEqual({ code: 1, lines: [BANNER, expect.stringMatching(/^Error: /)] });
    expect(onPipes(["--dance"]).code).toBe(2);
  });

  it("plays the script in its prompt, and reports to its hook like a coding agent", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "demo-"));
    const told = path.join(folder, "told");
    const hook = `said=$(cat); printf '%s\\n' "$said" >> '${told}'`;
    const input = "say hello; tool shell echo hi there\ny\nask Which? | red | blue\n2\nerror 500";
    const { lines } = onPipes(["--hook", hook, "--session-id", "c1", "--log", path.join(folder, "log")], input);
    expect(lines.slice(1)).toEqual([
      "hello",
      "Do you want to run 'echo hi there'? [y/n]",
      "● Run echo hi there",
      "The tool answered: hi there",
      "Which?",
      "1. red",
      "2. blue",
      "Choose 1-2",
      "The tool answered: blue",
      "✕ API error 500",
    ]);
    const prompts = ["say hello; tool shell echo hi there", "ask Which? | red | blue", "error 500"];
    const payloads = jsonLines(told).map((payload) => [payload.session_id, payload] as const);
    expect(payloads.map(([id]) => id)).toEqual(Array(10).fill("c1"));
    // The agent asks on its screen at the same time.
    const question = payloads.findIndex(([, payload]) => payload.tool_name === "AskUserQuestion");
    expect(payloads.splice(question, 1)).toMatchObject([["c1", { hook_event_name: "PermissionRequest", tool_input: { questions: [{}] } }]]);
    expect(payloads.map(([, payload]) => payload)).toMatchObject([
      { hook_event_name: "SessionStart", source: "startup" },
      { hook_event_name: "UserPromptSubmit", prompt: prompts[0] },
      { hook_event_name: "PermissionRequest", tool_name: "Bash", tool_input: { command: "echo hi there" } },
      { hook_event_name: "PostToolUse", tool_name: "Bash", tool_response: "hi there\n" },
      { hook_event_name: "Stop", last_assistant_message: "hello\nThe tool answered: hi there" },
      { hook_event_name: "UserPromptSubmit", prompt: prompts[1] },
      { hook_event_name: "Stop", last_assistant_message: "The tool answered: blue" },
      { hook_event_name: "UserPromptSubmit", prompt: prompts[2] },
      { hook_event_name: "StopFailure", error: "server_error" },
    ]);
    expect(jsonLines(path.join(folder, "log")).map(({ prompt }) => prompt)).toEqual(prompts);
    rmSync(folder, { recursive: true });
  });

  it("prints every line of a flood", () => {
    const { lines } = onPipes([], "/flood 25500");
    expect(lines).toHaveLength(25_501);
    expect(lines.at(-1)).toBe("line 25500");
  });

  it("ends when nobody reads its output any more", async () => {
    const child = spawn(process.execPath, [DEMO, "--fast", "--loop"], { stdio: ["ignore", "pipe", "inherit"] });
    child.stdout.once("data", () => child.stdout.destroy());
    expect(await new Promise((resolve) => child.on("exit", resolve))).toBe(141);
  });

  it.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("works in a loop without input until %s", async (signal, code) => {
    const child = spawn(process.execPath, [DEMO, "--fast", "--loop"], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = new Promise((resolve) => child.on("exit", resolve));
    child.stdout.on("data", (chunk) => {
      if (String(chunk).includes("Turn 3")) child.kill(signal);
    });
    expect(await ended).toBe(code);
  });
});

describe("the demo agent on a terminal", () => {
  it("waits at its composer and edits the line", async () => {
    await using terminal = openTerminal(["--fast"]);
    await terminal.shows(/^>$/m);
    terminal.type("nonsense", "C-u", "fix the logon", "BSpace", "BSpace", "in bug", "Enter");
    await terminal.shows("> fix the login bug\n● Read src/login.ts");
    await terminal.shows(/Turn 1: “fix the login bug”.*\n>$/m);
  });

  it("continues a turn once the awaited file exists", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "demo-"));
    const go = path.join(folder, "go");
    await using terminal = openTerminal([`say begun; until ${go}; say over`]);
    await terminal.shows(/^begun\n. Thinking…/m);
    writeFileSync(go, "");
    await terminal.shows(/^begun\nover\n>$/m);
    rmSync(folder, { recursive: true });
  });

  it("shows a spinner during a turn, which Esc interrupts", async () => {
    await using terminal = openTerminal(["fix the login bug"]);
    const first = await terminal.shows(/^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] Thinking… \d+s \(esc to interrupt\)$/m);
    await terminal.until(() => terminal.screen() !== first, "the spinner to turn");
    terminal.type("Escape");
    await terminal.shows(/^Interrupted\n>$/m);
    expect(terminal.screen()).not.toContain("Thinking");
  });

  it("keeps input typed during a turn for the next turn", async () => {
    await using terminal = openTerminal(["first thing"]);
    await terminal.shows("Thinking…");
    terminal.type("/env TERM", "Enter", "Escape");
    await terminal.shows(/^Interrupted\n> \/env TERM\n\S+\n>$/m);
  });

  it("reads pasted lines as one prompt", async () => {
    await using terminal = openTerminal(["--fast"]);
    await terminal.shows(/^>$/m);
    terminal.paste("first line\nsecond line\nthird line");
    await terminal.shows("> first line ⏎ second line ⏎ third line");
    terminal.type("Enter");
    await terminal.shows("Turn 1: “first line …” (3 lines)");
  });

  it("asks for permission and waits for one key", async () => {
    await using terminal = openTerminal([]);
    await terminal.shows(/^>$/m);
    terminal.type("/ask", "Enter");
    await terminal.shows("Do you want to run 'touch x'? [y/n]");
    terminal.type("x", "y");
    await terminal.shows(/^● Run touch x\n>$/m);
  });

  it("asks its hook and its screen for permission at the same time, and uses the first answer", async () => {
    const decision = (behavior: string) =>
      `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"${behavior}"}}}`;
    const folder = mkdtempSync(path.join(tmpdir(), "demo-"));
    const go = path.join(folder, "go");
    const slow = (until: string) => `cat > /dev/null; ${until}; printf "%s" "${decision("deny").replaceAll('"', '\\"')}"`;
    await using denied = openTerminal(["--ask-hook", slow(`while ! [ -e ${go} ]; do sleep 0.02; done`), "tool shell echo hi"]);
    await using allowed = openTerminal(["--ask-hook", slow("sleep 100"), "tool shell echo hi"]);
    await denied.shows("Do you want to run 'echo hi'? [y/n]");
    writeFileSync(go, "");
    await denied.shows(/^Denied: echo hi$/m);
    await allowed.shows("Do you want to run 'echo hi'? [y/n]");
    allowed.type("Enter");
    await allowed.shows("The tool answered: hi");
    rmSync(folder, { recursive: true });
  });

  it("prints its size again when it changes", async () => {
    await using terminal = openTerminal([]);
    await terminal.shows(/^>$/m);
    terminal.type("/size", "Enter");
    await terminal.shows("80×24");
    terminal.tmux("resize-window", "-x", "70", "-y", "20");
    await terminal.shows("70×20");
  });

  it("sets the title and uses the alternate screen", async () => {
    await using terminal = openTerminal([]);
    await terminal.shows(/^>$/m);
    terminal.type("/title at work", "Enter", "/alt", "Enter");
    await terminal.shows("The alternate screen.");
    expect(terminal.tmux("display", "-p", "#{pane_title} #{alternate_on}")).toBe("at work 1\n");
    terminal.type("Escape");
    await terminal.shows(/^> \/alt\n>$/m);
  });

  it("works turn after turn in a loop until Esc", async () => {
    await using terminal = openTerminal(["--fast"]);
    await terminal.shows(/^>$/m);
    terminal.type("/loop", "Enter");
    await terminal.shows(/Turn \d\d+:/);
    terminal.type("Escape");
    await terminal.shows(/^Interrupted\n>$/m);
  });

  it("ends with 0 on Ctrl+C twice, and on Ctrl+D in an empty line", async () => {
    await using cancelled = openTerminal([]);
    await using closed = openTerminal([]);
    await Promise.all([cancelled.shows(/^>$/m), closed.shows(/^>$/m)]);
    cancelled.type("C-c");
    await cancelled.shows("Press Ctrl+C again to exit");
    cancelled.type("C-c");
    closed.type("x", "C-d", "BSpace", "C-d");
    await cancelled.shows("left with 0");
    await closed.shows("left with 0");
  });

  it("restores the terminal when it is terminated", async () => {
    await using terminal = openTerminal([]);
    await terminal.shows(/^>$/m);
    const shell = terminal.tmux("display", "-p", "#{pane_pid}").trim();
    process.kill(Number(execFileSync("ps", ["-o", "pid=", "--ppid", shell], { encoding: "utf8" })), "SIGTERM");
    await terminal.shows("left with 143");
    await terminal.shows(/ icanon/);
  });
});

function jsonLines(file: string): Record<string, unknown>[] {
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line));
}

function onPipes(args: string[], input = "", env: NodeJS.ProcessEnv = {}): { code: number | null; lines: string[] } {
  const { status, stdout } = spawnSync(process.execPath, [DEMO, ...args], { input, encoding: "utf8", env: { ...process.env, ...env } });
  return { code: status, lines: stdout.split("\n").slice(0, -1) };
}

function openTerminal(args: string[]) {
  const folder = mkdtempSync(path.join(tmpdir(), "demo-"));
  const command = [process.execPath, DEMO, ...args].map((word) => `'${word}'`).join(" ");
  const tmux = (...words: string[]) =>
    execFileSync("tmux", ["-u", "-S", path.join(folder, "tmux"), "-f", "/dev/null", ...words], { encoding: "utf8", stdio: "pipe" });
  const screen = () => tmux("capture-pane", "-p").replaceAll(/ +$/gm, "");
  const until = async (holds: () => boolean, what: string) => {
    const deadline = Date.now() + PATIENCE_MS;
    while (!holds()) {
      if (Date.now() > deadline) throw new Error(`waited for ${what}; the screen is\n${screen()}`);
      await sleep(20);
    }
  };
  tmux("new-session", "-d", "-x", "80", "-y", "24", `${command}; echo left with $?; stty -a; exec cat`);
  return {
    tmux,
    screen,
    until,
    async shows(expected: string | RegExp): Promise<string> {
      let seen = "";
      await until(() => {
        seen = screen();
        return typeof expected === "string" ? seen.includes(expected) : expected.test(seen);
      }, String(expected));
      return seen;
    },
    type: (...keys: string[]) => tmux("send-keys", ...keys),
    paste: (text: string) => tmux("set-buffer", text, ";", "paste-buffer", "-p", "-r", "-d"),
    async [Symbol.asyncDispose]() {
      tmux("kill-server");
      rmSync(folder, { recursive: true });
    },
  };
}
