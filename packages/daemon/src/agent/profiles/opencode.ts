import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { readJsonFile } from "@holdfast/platform";
import { ancestors } from "../hooks/ancestors.ts";
import type { InjectionPlace } from "../hooks/injection.ts";
import { loginIn } from "../login-files.ts";
import type { Profile } from "../profile.ts";
import { copyOpencodeConversation } from "./opencode-copy.ts";
import { findOpencodeConversation } from "./opencode-log.ts";
import { OPENCODE_PLUGIN } from "./opencode-plugin.ts";
import { opencodeTranscript } from "./opencode-store.ts";
import { opencodeUsage } from "./opencode-usage.ts";

/** Only the plugin waits for the answer, so a long time-out costs nothing. */
const ASK_S = 7 * 86_400;

export const opencode: Profile = {
  name: "opencode",
  description: "opencode",
  kind: "terminal",
  command: ["opencode"],
  version: ["--version"],
  setup: {
    install: "npm install -g opencode-ai",
    // Some of its models need no login.
    login: { command: "opencode auth login", isThere: (home) => loginIn(home, [".local/share/opencode/auth.json"]) || undefined },
  },
  modelFlag: "--model",
  prompt: ["--prompt", "{prompt}"],
  // A positional argument is a directory.
  arguments: {
    positional: false,
    prompts: /^--prompt$/,
    bare: /^(-c|--(auto|continue|fork|mdns|mini|no-replay|print-logs|pure))$/,
    jobs: /^run$/,
  },
  conversation: {
    dropsPrompt: true,
    resume: ["-s", "{id}"],
    fork: { copy: copyOpencodeConversation },
    find: findOpencodeConversation,
    flags: /^(--session|--continue|--fork)(=|$)|^-[sc]$/,
  },
  urgent: /(?<!\d)429(?!\d)|rate.?limit/i,
  screen: [
    { name: "permission prompt", line: /Allow once +Allow always +Reject/, within: 4, waits: "approval", turn: "working" },
    { name: "question", line: /enter submit +esc dismiss/, within: 4, waits: "question", turn: "working" },
    {
      name: "rate limit",
      line: /^\s*[■⬝]+ ?(.*?\b(?:rate limit|usage limit|quota|too many requests|429)\b.*?)(?:\s*\[retrying.*)?$/i,
      within: 4,
      waits: "rate_limit",
      turn: "working",
    },
    // The bar's length depends on the text next to it.
    { name: "progress bar", line: /^\s*[■⬝]+/, within: 4, turn: "working", calm: true },
    // In a narrow terminal the directory below takes several lines.
    { name: "composer", line: /^\s*╹▀▀▀/, within: 8, turn: "idle", calm: true },
  ],
  // All rows have a frame on the left. The first row is blank; the last two are a blank row and the agent and model.
  composer: {
    mark: /^\s*┃ {0,2}/,
    more: /^\s*┃ {0,2}/,
    // A menu of commands may be directly above, framed on both sides.
    above: /^(?!\s*┃)|\S\s*┃\s*$/,
    below: /^\s*╹▀▀▀/,
    tail: 1,
    cursor: "shown",
    // A narrow terminal wraps the text.
    placeholder: /^Ask anything…\s".+"$/s,
  },
  hooks: {
    conversation: "properties.sessionID",
    tool: { name: "properties.permission", input: "properties.metadata" },
    rules: [
      { event: "session.created", opens: true },
      { event: "session.status", when: { "properties.status.type": /^busy$/ }, opens: true, turn: "working", calm: true, prompt: "prompt" },
      {
        event: "session.status",
        when: { "properties.status.type": /^retry$/, "properties.status.message": /rate.?limit|quota|too many requests|\b429\b/i },
        turn: "working",
        waits: "rate_limit",
        text: "properties.status.message",
        until: "properties.status.next",
      },
      { event: "session.status", when: { "properties.status.type": /^retry$/ }, turn: "working", calm: true },
      { event: "session.status", when: { "properties.status.type": /^idle$/ }, turn: "idle", calm: true, reply: "reply" },
      { event: "session.error", failure: "properties.error.data.message" },
      { event: "permission.asked", turn: "working", waits: "approval" },
      { event: "question.asked", turn: "working", waits: "question", questions: "properties.questions" },
      { event: "permission.replied", turn: "working", calm: true },
      { event: "question.replied", turn: "working", calm: true },
      { event: "question.rejected", turn: "working", calm: true },
    ],
    inject: (place) => {
      const theirs = configurationOf(place.env.OPENCODE_CONFIG_CONTENT);
      if (!theirs || !startsAtOnce(place)) return {};
      const plugin = [...theirs.plugin, pathToFileURL(join(place.directory, "plugin.js")).href];
      return {
        env: { OPENCODE_CONFIG_CONTENT: JSON.stringify({ ...theirs.configuration, plugin }) },
        files: { "plugin.js": OPENCODE_PLUGIN },
      };
    },
  },
  approvals: {
    hook: {
      timeoutS: ASK_S,
      otherwise: "the agent asks only on its own screen",
      promptsToo: true,
      endedByAnswer: true,
      used: [],
      allow: () => ({ reply: "once" }),
      // Without a message the turn ends. A rejected question takes no message.
      deny: ({ for: what }, message) => (what === "question" ? {} : { reply: "reject", message }),
      answer: (_, answer) => ({ answer }),
    },
    // No keys: only colour shows which choice Enter takes.
    screen: { from: /△ Permission required/, to: /Allow once +Allow always +Reject/ },
  },
  mcp: ({ servers, env }) => {
    const theirs = configurationOf(env.OPENCODE_CONFIG_CONTENT)?.configuration as { mcp?: object } | undefined;
    if (!theirs) return {};
    const ours = servers.map(({ name, command, env: environment }) => [name, { type: "local", command, environment, enabled: true }]);
    return { env: { OPENCODE_CONFIG_CONTENT: JSON.stringify({ ...theirs, mcp: { ...Object.fromEntries(ours), ...theirs.mcp } }) } };
  },
  transcript: opencodeTranscript,
  usage: opencodeUsage,
  structured: ["opencode", "acp"],
  leavesUntold: true,
  // A single Escape only asks for confirmation.
  interrupt: ["Escape", "Escape"],
  enterAfterMs: 400,
};

/** The user's configuration from the environment; undefined if it cannot be parsed or extended. */
function configurationOf(content: string | undefined): { configuration: object; plugin: unknown[] } | undefined {
  try {
    const configuration = JSON.parse(content || "{}") as { plugin?: unknown } | unknown[] | null;
    if (typeof configuration !== "object" || configuration === null || Array.isArray(configuration)) return undefined;
    const { plugin = [] } = configuration;
    return Array.isArray(plugin) ? { configuration, plugin } : undefined;
  } catch {
    return undefined;
  }
}

const SDK = "@opencode-ai/plugin";

/**
 * True if opencode starts without waiting for its plugin SDK. At every start it installs the SDK into each of its directories that lacks it. Only
 * with a plugin does it wait for that: more than a minute without a network. The first start has no plugin and leaves the SDK there.
 */
function startsAtOnce({ env, cwd }: InjectionPlace): boolean {
  const configuration = join(env.XDG_CONFIG_HOME || `${env.HOME}/.config`, "opencode");
  const others = [...ancestors(cwd).map((directory) => join(directory, ".opencode")), `${env.HOME}/.opencode`, env.OPENCODE_CONFIG_DIR];
  return [configuration, ...others.filter((directory) => directory && existsSync(directory))].every((directory) => hasSdk(directory ?? ""));
}

function hasSdk(directory: string): boolean {
  const wanted = [SDK, ...dependenciesIn(readJsonFile(join(directory, "package.json")))];
  const lock = readJsonFile(join(directory, "package-lock.json")) as { packages?: Record<string, unknown> } | undefined;
  const locked = dependenciesIn(lock?.packages?.[""]);
  return existsSync(join(directory, "node_modules")) && wanted.every((name) => locked.includes(name));
}

function dependenciesIn(of: unknown): string[] {
  const groups = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];
  return groups.flatMap((group) => Object.keys((of as Record<string, object> | undefined)?.[group] ?? {}));
}
