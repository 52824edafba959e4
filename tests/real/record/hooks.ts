/**
 * Gives an agent hooks that write each payload to a file and let everything continue. Configured by flag, by variable or in an extra file, so that
 * the user's own configuration stays untouched.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { AgentName, Place, Started } from "../agents.ts";

/** A file is complete when it has its final name; names sort by time. A separate script, because agents show the command that they run. */
const TAKE = `#!/bin/sh
t=$(date +%s%N).$$
cat > "$HOOKED/.$t" && mv "$HOOKED/.$t" "$HOOKED/$t"
`;

const CLAUDE_EVENTS = [
  "SessionStart UserPromptSubmit PreToolUse PermissionRequest PostToolUse PostToolUseFailure Notification",
  "Stop StopFailure SubagentStart SubagentStop SessionEnd",
]
  .join(" ")
  .split(" ");
const CODEX_EVENTS = "SessionStart UserPromptSubmit PreToolUse PermissionRequest PostToolUse Stop Interrupt SessionEnd".split(" ");
const GEMINI_EVENTS = "SessionStart BeforeAgent BeforeTool AfterTool AfterAgent Notification SessionEnd".split(" ");

export interface Hooked extends Started {
  /** The payloads of the hooks so far, oldest first. */
  told(): unknown[];
  /** Files in which the agent keeps its own state. */
  files(): Record<string, unknown>;
}

export function withHooks(agent: AgentName, started: Started, place: Place): Hooked {
  const directory = path.join(place.home, "hooked");
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(place.home, "take"), TAKE, { mode: 0o755 });
  const { args = [], env = {}, files = () => ({}) } = INJECT[agent](place);
  const told = () =>
    readdirSync(directory)
      .filter((name) => !name.startsWith("."))
      .sort()
      .map((name) => parse(readFileSync(path.join(directory, name), "utf8")));
  return { command: [...started.command, ...args], env: { ...started.env, HOOKED: directory, ...env }, told, files };
}

type Injected = { args?: string[]; env?: Record<string, string>; files?: () => Record<string, unknown> };

const INJECT: Record<AgentName, (place: Place) => Injected> = {
  claude: (place) => ({
    args: ["--settings", json(path.join(place.home, "hooks.json"), { hooks: commands(place, CLAUDE_EVENTS) })],
    files: () => jsonIn(path.join(place.home, ".claude/sessions")),
  }),
  codex: (place) => {
    json(path.join(place.home, ".codex/hooks.json"), { hooks: commands(place, CODEX_EVENTS) });
    return { args: ["--dangerously-bypass-hook-trust"] };
  },
  gemini: (place) => {
    json(path.join(place.project, ".gemini/settings.json"), { hooks: commands(place, GEMINI_EVENTS) });
    return { args: ["--skip-trust"] };
  },
  opencode: ({ home }) => {
    const plugin = path.join(home, "told.js");
    writeFileSync(plugin, PLUGIN);
    const file = path.join(home, "opencode.json");
    json(file, { ...(JSON.parse(readFileSync(file, "utf8")) as object), plugin: [`file://${plugin}`] });
    return {};
  },
  qwen: (place) => ({
    env: { QWEN_CODE_SYSTEM_SETTINGS_PATH: json(path.join(place.home, "hooks.json"), { hooks: commands(place, CLAUDE_EVENTS) }) },
  }),
};

function commands({ home }: Place, events: readonly string[]) {
  const hook = { name: "holdfast", type: "command", command: path.join(home, "take") };
  return Object.fromEntries(events.map((event) => [event, [{ hooks: [hook] }]]));
}

/** opencode has plugin events instead of hooks; the events for each streamed word say nothing about its state. */
const PLUGIN = `import { renameSync, writeFileSync } from "node:fs";
let count = 0;
function tell(payload) {
  const name = String(Date.now()).padStart(15, "0") + String(count++).padStart(6, "0");
  writeFileSync(process.env.HOOKED + "/." + name, JSON.stringify(payload));
  renameSync(process.env.HOOKED + "/." + name, process.env.HOOKED + "/" + name);
}
export const Told = async () => ({
  event: async ({ event }) => {
    if (/^(message\\.part|message\\.updated|file|lsp|server|installation|catalog|plugin|integration|reference|models)/.test(event.type)) return;
    tell(event);
  },
  "tool.execute.before": async (input, output) => tell({ type: "tool.execute.before", input, args: output.args }),
  "tool.execute.after": async (input) => tell({ type: "tool.execute.after", input }),
});
`;

function jsonIn(directory: string): Record<string, unknown> {
  try {
    const names = readdirSync(directory).filter((name) => name.endsWith(".json"));
    return Object.fromEntries(names.map((name) => [name, parse(readFileSync(path.join(directory, name), "utf8"))]));
  } catch {
    return {};
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function json(file: string, value: unknown): string {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(value, null, 2));
  return file;
}
