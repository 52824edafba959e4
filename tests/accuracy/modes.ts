/** Ways to start an agent that change its screen or its permission requests: permission mode, editor mode, colours and language. */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { AgentName } from "../real/agents.ts";

export interface Mode {
  name: string;
  args?: Partial<Record<AgentName, string[]>>;
  env?: Record<string, string>;
  /** Changes to the set-up of the agent's home. */
  configure?: Partial<Record<AgentName, (home: string) => void>>;
  /** Agents without such a mode. */
  without?: readonly AgentName[];
  /** The agent runs tools without asking. */
  allowsAll?: true;
}

export const MODES: readonly Mode[] = [
  { name: "default" },
  {
    name: "yolo",
    allowsAll: true,
    args: {
      claude: ["--dangerously-skip-permissions"],
      codex: ["--dangerously-bypass-approvals-and-sandbox"],
      gemini: ["--yolo"],
      qwen: ["--yolo"],
    },
    configure: {
      claude: (home) => merge(path.join(home, ".claude/settings.json"), { skipDangerousModePermissionPrompt: true }),
      opencode: (home) => merge(path.join(home, "opencode.json"), { permission: { bash: "allow", edit: "allow" } }),
    },
  },
  {
    name: "edits",
    args: {
      claude: ["--permission-mode", "acceptEdits"],
      gemini: ["--approval-mode", "auto_edit"],
      qwen: ["--approval-mode", "auto-edit"],
    },
    without: ["codex", "opencode"],
  },
  {
    name: "plan",
    args: {
      claude: ["--permission-mode", "plan"],
      gemini: ["--approval-mode", "plan"],
      opencode: ["--agent", "plan"],
      qwen: ["--approval-mode", "plan"],
    },
    without: ["codex"],
  },
  {
    name: "vim",
    configure: {
      claude: (home) => merge(path.join(home, ".claude/.claude.json"), { editorMode: "vim" }),
      gemini: (home) => merge(path.join(home, ".gemini/settings.json"), { general: { vimMode: true } }),
      qwen: (home) => merge(path.join(home, ".qwen/settings.json"), { general: { vimMode: true } }),
    },
    without: ["codex", "opencode"],
  },
  {
    name: "light",
    configure: {
      claude: (home) => merge(path.join(home, ".claude/.claude.json"), { theme: "light" }),
      gemini: (home) => merge(path.join(home, ".gemini/settings.json"), { ui: { theme: "Default Light" } }),
      opencode: (home) => merge(path.join(home, "opencode.json"), { theme: "github" }),
      qwen: (home) => merge(path.join(home, ".qwen/settings.json"), { ui: { theme: "Default Light" } }),
    },
  },
  { name: "no-color", env: { NO_COLOR: "1" } },
  { name: "german", env: { LANG: "de_DE.UTF-8", LC_ALL: "de_DE.UTF-8", LANGUAGE: "de" } },
  { name: "chinese", env: { LANG: "zh_CN.UTF-8", LC_ALL: "zh_CN.UTF-8", LANGUAGE: "zh" } },
];

/** Shows the dialog for this mode, because nobody has accepted it yet. */
export const BYPASSING: Mode = { name: "bypassing", args: { claude: ["--dangerously-skip-permissions"] } };

/** Shows the onboarding of a new installation. */
export const FIRST_START: Mode = {
  name: "first start",
  configure: { claude: (home) => merge(path.join(home, ".claude/.claude.json"), { hasCompletedOnboarding: false, theme: undefined }) },
};

export function modeOf(name: string): Mode {
  const mode = MODES.find((each) => each.name === name);
  if (mode === undefined) throw new Error(`there is no mode ${name}; there are ${MODES.map((each) => each.name).join(", ")}`);
  return mode;
}

type Json = Record<string, unknown>;

function merge(file: string, changes: Json): void {
  const before = JSON.parse(readFileSync(file, "utf8")) as Json;
  writeFileSync(file, JSON.stringify(merged(before, changes), null, 2));
}

function merged(before: Json, changes: Json): Json {
  const both = Object.entries(changes).map(([key, value]) => {
    const old = before[key];
    return [key, isObject(old) && isObject(value) ? merged(old, value) : value];
  });
  return { ...before, ...Object.fromEntries(both) };
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
