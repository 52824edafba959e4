import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { readJsonFile } from "@holdfast/platform";
import { ancestors } from "../hooks/ancestors.ts";
import { textAt } from "../hooks/hook-rules.ts";
import { readLowestSettings } from "../hooks/lowest-settings.ts";
import { loginIn } from "../login-files.ts";
import { mcpServersJson } from "../mcp.ts";
import type { Profile } from "../profile.ts";
import { namesIn, type Outcome, type Prompt } from "../transcript.ts";
import { type Call, count, less, usageInLines } from "../usage-source.ts";
import { copyGeminiConversation, findGeminiConversation } from "./gemini-store.ts";

const MAC_SETTINGS = "/Library/Application Support/GeminiCli/settings.json";
const GEMINI_EVENTS = ["SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "Notification"];

export const gemini: Profile = {
  name: "gemini",
  description: "Gemini CLI",
  kind: "terminal",
  command: ["gemini"],
  version: ["--version"],
  setup: {
    install: "npm install -g @google/gemini-cli",
    login: {
      command: "gemini, then /auth",
      isThere: (home) =>
        loginIn(home, [
          ".gemini/oauth_creds.json",
          [".gemini/settings.json", "security.auth.selectedType"],
          [".gemini/settings.json", "selectedAuthType"],
        ]),
    },
  },
  modelFlag: "--model",
  prompt: ["-i", "{prompt}"],
  arguments: {
    positional: true,
    prompts: /^(-p|--prompt|-i|--prompt-interactive)$/,
    bare: /^(-[dsy]|--(accept-raw-output-risk|debug|raw-output|sandbox|screen-reader|skip-trust|yolo))$/,
    lists: /^(-e|--(admin-policy|allowed-mcp-server-names|allowed-tools|extensions|include-directories|policy))$/,
  },
  conversation: {
    begin: ["--session-id", "{id}"],
    resume: ["--resume", "{id}"],
    fork: { copy: copyGeminiConversation },
    find: findGeminiConversation,
    shows: /^✦ /,
    flags: /^(--session-id|--session-file|--resume|--list-sessions)(=|$)|^-r$/,
  },
  urgent: /Usage limit|potential loop/,
  screen: [
    { name: "trust dialog", foot: /^\s*╰─/, line: /\d\. Trust folder/, within: 8, waits: "trust" },
    { name: "authentication dialog", foot: /^\s*╰─/, line: /Terms of Services and Privacy Notice/, within: 8, waits: "login" },
    { name: "question", title: /^✋/, line: /Enter to select /, within: 4, waits: "question", turn: "working" },
    {
      name: "permission prompt",
      title: /^✋/,
      line: /Allow execution of .*\?|Apply this change\?|Do you want to proceed\?/,
      waits: "approval",
      turn: "working",
    },
    { name: "action required", title: /^✋/, waits: "approval", turn: "working" },
    {
      name: "usage limit dialog",
      foot: /^\s*╰─/,
      line: /(Usage limit reached .*?)\s*│/,
      within: 14,
      waits: "rate_limit",
      turn: "working",
    },
    // The title says ready meanwhile.
    {
      name: "loop dialog",
      foot: /^\s*╰─/,
      line: /\?\s+(A potential loop was detected)/,
      within: 12,
      waits: "question",
      turn: "working",
    },
    // The title says ready before Gemini has logged in and drawn its composer.
    { name: "starting", title: /^◇/, block: /^$/ },
    { name: "logging in", title: /^◇/, line: /Waiting for authentication/, within: 4 },
    { name: "working", title: /^✦/, turn: "working", calm: true },
    {
      name: "ready, and a process runs",
      title: /^◇/,
      line: /\d+ Background process/,
      within: 6,
      turn: "idle",
      calm: true,
      background: true,
    },
    { name: "ready", title: /^◇/, turn: "idle", calm: true, background: false },
  ],
  transcript: {
    path: ({ conversation, env }) => transcriptOf(conversation, env),
    files: ({ conversation, env }) => transcriptsOf(conversation, env),
    reply: replyIn,
    prompt: promptIn,
    outcome: outcomeIn,
    // Gemini writes a prompt before it asks the model, and the answer or the failure once it is known.
    owes: (entry) => {
      if (textAt(entry, "id") === undefined) return undefined;
      return textAt(entry, "type") === "user" && !isContext(entry) && (textAt(entry, "timestamp") ?? "");
    },
  },
  usage: usageInLines({ files: ({ conversation, env }) => transcriptsOf(conversation, env), call: callIn }),
  composer: {
    // A star in yolo mode. The mark of shell mode is excluded: typed text would be executed.
    mark: /^ [>*] /,
    // With fewer colours a frame of half blocks replaces the background; without colours, a frame of lines.
    below: /^$|^[▀─]{10}/,
    unfocused: /^─{10}/,
    // In vim mode only INSERT, where typing enters text.
    placeholder: /^(Type your message or @path\/to\/file|Press 'Esc' for NORMAL mode\.)$/,
  },
  hooks: {
    conversation: "session_id",
    tool: { name: "tool_name", input: "tool_input" },
    rules: [
      { event: "SessionStart", when: { source: /^startup$/ }, opens: "first" },
      { event: "SessionStart", opens: true },
      { event: "BeforeAgent", turn: "working", calm: true, prompt: "prompt" },
      {
        event: "Notification",
        when: { notification_type: /^ToolPermission$/, "details.type": /^ask_user$/ },
        turn: "working",
        waits: "question",
        text: "details.title",
      },
      {
        event: "Notification",
        when: { notification_type: /^ToolPermission$/, "details.command": /./ },
        turn: "working",
        waits: "approval",
        text: "details.command",
      },
      {
        event: "Notification",
        when: { notification_type: /^ToolPermission$/, "details.toolDisplayName": /./ },
        turn: "working",
        waits: "approval",
        text: "details.toolDisplayName",
      },
      { event: "Notification", when: { notification_type: /^ToolPermission$/ }, turn: "working", waits: "approval", text: "message" },
      { event: "AfterTool", turn: "working", calm: true },
      { event: "AfterAgent", when: { prompt_response: /^\[no response text\]$/ }, turn: "idle", calm: true, failure: "prompt_response" },
      { event: "AfterAgent", turn: "idle", calm: true, reply: "prompt_response" },
    ],
    inject: ({ directory, tell, env }) => {
      const system =
        env.GEMINI_CLI_SYSTEM_SETTINGS_PATH || (process.platform === "darwin" ? MAC_SETTINGS : "/etc/gemini-cli/settings.json");
      const theirs = env.GEMINI_CLI_SYSTEM_DEFAULTS_PATH || `${dirname(system)}/system-defaults.json`;
      if (!isRootsAlone(dirname(dirname(directory))) || (existsSync(theirs) && !isRootsAlone(theirs))) return {};
      // The lowest layer: it overrides no setting of the user or the machine.
      const settings = readLowestSettings(theirs);
      // Gemini expands variables in the file.
      if (!settings || tell.includes("$")) return {};
      const file = JSON.stringify(settings.withHooks(GEMINI_EVENTS, { type: "command", name: "holdfast", command: tell }));
      return { env: { GEMINI_CLI_SYSTEM_DEFAULTS_PATH: `${directory}/settings.json` }, files: { "settings.json": file } };
    },
  },
  // No hook: it could deny a tool but not allow it, since Gemini's own prompt follows. Without that prompt, a slow hook would let the tool run.
  approvals: {
    screen: {
      from: /^│ \? \S/,
      to: /^│ +\d\. No, suggest changes \(esc\) +│$/,
      // Warnings of the start stay on the screen until something is typed.
      notice: /^(⚠ | {3}\S)/,
      hidden: /\blines? hidden\b|ctrl\+[a-z] to /i,
      keys: { marked: /^│ ● \d\. /, allows: /● 1\. Allow once +│$/, allow: ["Enter"], deny: ["Escape"] },
    },
    dialogs: [
      {
        for: "trust",
        from: /│ Do you trust the files in this folder\?/,
        to: /^\s*╰─/,
        choices: { allow: /^\d\. Trust folder \(/, deny: /^\d\. Don't trust/ },
      },
      { for: "login", from: /│ \? Get started/, to: /^\s*╰─/, offers: /^\d\. / },
    ],
  },
  // Extends the file with the hooks, if there is one. Existing servers of the same name win.
  mcp: ({ servers, file, env }) => {
    const hooks = env.GEMINI_CLI_SYSTEM_DEFAULTS_PATH;
    const settings = hooks?.startsWith(`${dirname(file)}/`) ? readJsonFile(hooks) : undefined;
    const { mcpServers } = JSON.parse(mcpServersJson(servers)) as { mcpServers: object };
    // Gemini expands variables in the file.
    if (typeof settings !== "object" || settings === null || JSON.stringify(mcpServers).includes("$")) return {};
    const theirs = (settings as { mcpServers?: object }).mcpServers;
    return {
      env: { GEMINI_CLI_SYSTEM_DEFAULTS_PATH: file },
      content: JSON.stringify({ ...settings, mcpServers: { ...mcpServers, ...theirs } }),
    };
  },
  takesServersBelow: isRootsAlone,
  structured: ["gemini", "--acp"],
  talk: { keepsByTheMinute: true },
  interrupt: ["Escape"],
  interruptHarder: ["C-c"],
  enterAfterMs: 600,
};

/**
 * Gemini reads such a file only where nobody but root can write, as in a container that runs as root. Elsewhere it gets no hooks: all other places
 * are the user's own files, and its title tells as much.
 */
function isRootsAlone(path: string): boolean {
  return (
    realpathSync(path) === path &&
    ancestors(path).every((one) => {
      const { uid, mode } = statSync(one);
      return uid === 0 && (mode & 0o022) === 0;
    })
  );
}

/**
 * Each project has a folder, and a file's name ends with the beginning of the conversation's id. To continue a conversation Gemini creates another,
 * empty file, but writes into the old one.
 */
function transcriptOf(conversation: string, env: Readonly<Record<string, string>>): string | undefined {
  const writtenAt = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const files = transcriptsOf(conversation, env);
  return files.sort((a, b) => writtenAt(a) - writtenAt(b)).at(-1);
}

function transcriptsOf(conversation: string, env: Readonly<Record<string, string>>): string[] {
  const projects = join(env.GEMINI_CLI_HOME || env.HOME || "", ".gemini/tmp");
  const folders = namesIn(projects).map((name) => join(projects, name, "chats"));
  const files = folders.flatMap((folder) => namesIn(folder).map((name) => join(folder, name)));
  return files.filter((file) => file.endsWith(`-${conversation.slice(0, 8)}.jsonl`)).sort();
}

/** A person's prompt begins a turn. Tool results are also user entries, but begin none. */
function promptIn(entry: unknown): Prompt | undefined {
  const id = textAt(entry, "id");
  if (textAt(entry, "type") !== "user" || id === undefined) return undefined;
  if (isContext(entry)) return undefined;
  const { content, displayContent } = entry as { content?: unknown; displayContent?: unknown };
  const isAnswer = Array.isArray(content) && content.length > 0 && content.every((part) => Object.hasOwn(Object(part), "functionResponse"));
  return isAnswer ? undefined : { id, text: wordsIn(displayContent ?? content), at: textAt(entry, "timestamp") ?? null };
}

/** Gemini starts a conversation with its context, and writes it again when it takes back an interrupted turn. The model owes no answer to it. */
function isContext(entry: unknown): boolean {
  return wordsIn((entry as { content?: unknown }).content).startsWith("<session_context>");
}

function wordsIn(content: unknown): string {
  const parts: unknown[] = Array.isArray(content) ? content : [content];
  return parts.map((part) => (typeof part === "string" ? part : (textAt(part, "text") ?? ""))).join("");
}

function replyIn(entry: unknown): { text: string; at: string | null } | undefined {
  const text = textAt(entry, "content");
  return textAt(entry, "type") === "gemini" && text !== undefined ? { text, at: textAt(entry, "timestamp") ?? null } : undefined;
}

/** Gemini does not write the words of an interrupted turn. After tool calls the turn continues. */
function outcomeIn(entry: unknown): Outcome | undefined {
  const type = textAt(entry, "type");
  const { content, toolCalls } = (entry ?? {}) as { content?: unknown; toolCalls?: unknown };
  const words = wordsIn(content);
  if (type === "info" && words === "Request cancelled.") return { interrupted: true };
  if (type === "error") return { failure: words };
  if (type !== "gemini") return undefined;
  return { reply: (Array.isArray(toolCalls) && toolCalls.length > 0) || words === "" ? null : words };
}

/** A message is written again whenever more of it is known. Thoughts are counted apart from the answer and cost the same. */
function callIn(entry: unknown): Call | undefined {
  const { tokens } = (entry ?? {}) as { tokens?: Record<string, unknown> };
  if (textAt(entry, "type") !== "gemini" || !tokens) return undefined;
  const cached = count(tokens.cached ?? 0);
  const [answer, thoughts] = [count(tokens.output), count(tokens.thoughts ?? 0)];
  return {
    id: textAt(entry, "id") ?? "",
    at: textAt(entry, "timestamp") ?? null,
    model: textAt(entry, "model") ?? null,
    input: less(count(tokens.input), cached),
    output: answer === null || thoughts === null ? null : answer + thoughts,
    cacheRead: cached,
    cacheWrite: 0,
    cost: null,
    context: null,
  };
}
