import { createHash } from "node:crypto";
import { shellQuote } from "@holdfast/platform";
import { permissionHook } from "../approvals.ts";
import { textAt } from "../hooks/hook-rules.ts";
import type { Memory } from "../line-memory.ts";
import { loginIn } from "../login-files.ts";
import type { McpServer } from "../mcp.ts";
import type { Profile } from "../profile.ts";
import { type Outcome, type Prompt, parsed } from "../transcript.ts";
import { type Call, count, less, usageInLines } from "../usage-source.ts";
import { findCodexConversation, rolloutsOf } from "./codex-store.ts";

/** Until this time-out the screen shows only where to answer; then Codex shows its own prompt. */
const ASK_S = 3600;

interface CodexHook {
  event: string;
  /** The tools whose calls are reported. Default: all. */
  matcher?: string;
  /** The hook's time-out in seconds, if it is not Codex's default of 600. */
  timeout?: number;
  /** The hook waits for an answer, and Codex shows this text meanwhile. */
  asks?: string;
}

const CODEX_EVENTS: readonly CodexHook[] = [
  { event: "SessionStart" },
  { event: "UserPromptSubmit" },
  { event: "PreToolUse", matcher: "^request_user_input$" },
  { event: "PermissionRequest", timeout: ASK_S, asks: "waiting for an answer: holdfast approvals" },
  { event: "PostToolUse" },
  { event: "Stop" },
  { event: "Interrupt", timeout: 1 },
];

/** A screen with nothing but the heading, the servers being started, and the composer. */
const STARTING = /(?<![\s\S])(?![\s\S]*^(?:[›■] |• (?!(?:Booting|Starting) MCP))[\s\S]*^› )[\s\S]*(>_ OpenAI Codex)/m;

/** Nothing follows the last turn of a resumed conversation but the composer. */
const STARTING_AGAIN = /^(?: {2}Worked for |■ ).*\n(?:(?![›•■] ).*\n)*› (?![\s\S]*^› )/m;

export const codex: Profile = {
  name: "codex",
  description: "Codex CLI",
  kind: "terminal",
  command: ["codex"],
  version: ["--version"],
  setup: {
    install: "npm install -g @openai/codex",
    adapter: "npm install -g @agentclientprotocol/codex-acp",
    login: { command: "codex login", isThere: (home) => loginIn(home, [".codex/auth.json"]) },
  },
  modelFlag: "--model",
  prompt: ["{prompt}"],
  arguments: {
    positional: true,
    bare: /^--(all|approve-for-me|dangerously-bypass-approvals-and-sandbox|dangerously-bypass-hook-trust|full-auto|last|no-alt-screen|no-daemon|oss|search|strict-config|worktree|yolo)$/,
    values: /^(-c|--config|-C|--cd|--add-dir)$/,
    lists: /^(-i|--image)$/,
    jobs: /^(e|exec|review)$/,
    conversations: { commands: /^(resume|fork)$/, flag: /^--last$/ },
  },
  // Without -C, Codex asks whether to use the original's directory.
  conversation: {
    resume: ["resume", "{id}"],
    fork: { words: ["fork", "{from}", "-C", "{directory}"] },
    flags: /^(resume|fork|exec)$/,
    find: findCodexConversation,
  },
  urgent: /(?<!\d)429(?!\d)|usage limit/i,
  screen: [
    { name: "sign in", foot: /Press enter to continue/, line: /Sign in with ChatGPT/, waits: "login" },
    { name: "trust dialog", foot: /enter continue · esc quit/, line: /Trust this folder\?/, within: 12, waits: "trust" },
    { name: "hooks to be reviewed", foot: /enter confirm · esc skip/, line: /Hooks need review/, within: 14, waits: "trust" },
    { name: "question", foot: /enter to submit answer/, waits: "question", turn: "working" },
    {
      name: "permission prompt",
      foot: /Press enter to confirm or esc to cancel/,
      line: /Would you like to .+\?/,
      waits: "approval",
      turn: "working",
    },
    { name: "action required", title: /Action Required/, waits: "approval", turn: "working" },
    {
      name: "rate limit",
      title: /^[⠀-⣿] /,
      // Below the current activity, followed only by the composer: the error of an earlier turn stays visible above.
      block:
        /(?:Reconnecting|esc to interrupt)(?![\s\S]*(?:Reconnecting|esc to interrupt)).*\n\s*└ ([^›]*?429\s+Too\s+Many\s+Requests).*\n(?:(?!› ).*\n)*› (?![\s\S]*\n› )/,
      waits: "rate_limit",
      turn: "working",
    },
    // A prompt waits in the composer until startup is done, and then begins a turn.
    { name: "waits for its start", foot: /^\s*Waiting for startup\b/, turn: "working", calm: true },
    // Codex shows a composer before it accepts input.
    { name: "loading", block: /(?<![\s\S])\s*>_ OpenAI Codex.*\n\s+loading$/m, within: 60 },
    // No prompt was given yet. Codex starts its MCP servers and already accepts input.
    { name: "starting up", title: /^[⠀-⣿] /, block: STARTING, turn: "idle", calm: true },
    { name: "starting up again", title: /^[⠀-⣿] /, block: STARTING_AGAIN, turn: "idle", calm: true },
    { name: "spinner in the title", title: /^[⠀-⣿] /, turn: "working", calm: true },
    {
      name: "usage limit",
      // Only as the last entry above the composer.
      block: /^■ (You.ve hit your usage limit)[^•›]*\n› [^›]*$/m,
      until: /try again at (.+?)\.(?: |$)/,
      waits: "rate_limit",
      turn: "idle",
    },
    { name: "composer", line: /^› /, within: 12, turn: "idle", calm: true },
  ],
  composer: { mark: /^› /, below: /^$/, cursor: "shown", placeholder: /^Ask Codex to do anything$/ },
  hooks: {
    conversation: "session_id",
    turn: "turn_id",
    subagent: "agent_id",
    tool: { name: "tool_name", input: "tool_input" },
    rules: [
      { event: "SessionStart", opens: true },
      { event: "UserPromptSubmit", turn: "working", calm: true, prompt: "prompt" },
      { event: "PreToolUse", when: { tool_name: /^request_user_input$/ }, turn: "working", waits: "question" },
      { event: "PermissionRequest", turn: "working", waits: "approval" },
      { event: "PostToolUse", turn: "working", calm: true },
      { event: "Stop", turn: "idle", calm: true, reply: "last_assistant_message" },
      { event: "Interrupt", turn: "idle", calm: true },
    ],
    inject: ({ tell, ask, args }) => {
      // Codex would not merge the user's hooks with Holdfast's.
      if (args.some((word) => /^(-c|--config=)?\s*["']?hooks["']?\s*[.=]/.test(word))) return {};
      const hooks = CODEX_EVENTS.map(({ event, matcher, timeout, asks }) => {
        const only = matcher === undefined ? "" : `matcher=${JSON.stringify(matcher)},`;
        const waits = asks === undefined ? "" : `,timeout=${timeout},statusMessage=${JSON.stringify(asks)}`;
        return `hooks.${event}=[{${only}hooks=[{type="command",command=${JSON.stringify(asks ? ask : tell)}${waits}}]}]`;
      });
      const trusted = CODEX_EVENTS.map((hook) => {
        const name = hook.event.replaceAll(/(?<=.)[A-Z]/g, "_$&").toLowerCase();
        const hash = identityOf(hook, { name, command: hook.asks ? ask : tell });
        return `"/<session-flags>/config.toml:${name}:0:0"={trusted_hash="sha256:${hash}"}`;
      });
      return { args: [...hooks, `hooks.state={${trusted.join(",")}}`].flatMap((value) => ["-c", value]) };
    },
  },
  approvals: {
    hook: permissionHook({ timeoutS: ASK_S, otherwise: "it asks on its own screen" }),
    screen: {
      from: /^ {2}Would you like to .+\?/,
      to: /^ {2}Press enter to confirm or esc to cancel/,
      keys: { marked: /^\s*› \d\. /, allows: /^› 1\. Yes, proceed \(y\)$/, allow: ["Enter"], deny: ["Escape"] },
    },
    dialogs: [
      {
        for: "trust",
        from: /^ +Folder access/,
        to: /^ +enter continue · esc quit/,
        choices: { allow: /^\d\. Trust and continue$/, deny: /^\d\. Quit$/ },
      },
      { for: "login", from: /^ *Sign in with ChatGPT to use Codex/, to: /^ *Press enter to continue/, offers: /^\d\. / },
    ],
  },
  transcript: {
    path: (of) => rolloutsOf(of).at(-1),
    reply: replyIn,
    prompt: promptIn,
    uncounted: true,
    // Codex compresses old files, and users archive others.
    elsewhere: true,
    outcome: outcomeIn,
    named: true,
    owes: (entry) => {
      const event = eventIn(entry);
      if (event === "task_started") return textAt(entry, "timestamp") ?? "";
      return event === "task_complete" || event === "turn_aborted" ? false : undefined;
    },
  },
  usage: usageInLines({ files: rolloutsOf, call: callIn }),
  // Through a file of the run, because every user of the machine can read command lines.
  mcp: ({ servers, file }) => ({
    args: servers.flatMap(({ name }) => ["-c", `mcp_servers.${name}={command="sh",args=${JSON.stringify([file, name])}}`]),
    content: `case $1 in\n${servers.map(startServer).join("")}esac\n`,
  }),
  structured: ["codex-acp"],
  leavesUntold: true,
  interrupt: ["Escape"],
  enterAfterMs: 400,
};

function startServer({ name, command, env }: McpServer): string {
  const exports = Object.entries(env).map(([key, value]) => `export ${key}=${shellQuote(value)}; `);
  return `${shellQuote(name)}) ${exports.join("")}exec ${command.map(shellQuote).join(" ")} ;;\n`;
}

/**
 * The hash by which Codex recognizes a trusted hook. Passing it with the hook trusts Holdfast's hooks and no others;
 * `--dangerously-bypass-hook-trust` would also trust a project's hooks. Codex asks about an untrusted hook before it does anything else.
 */
function identityOf({ matcher, timeout = 600, asks }: CodexHook, { name, command }: { name: string; command: string }): string {
  // Codex hashes sorted keys, with defaults filled in.
  const hooks = [{ async: false, command, ...(asks === undefined ? {} : { statusMessage: asks }), timeout, type: "command" }];
  const identity = JSON.stringify({ event_name: name, hooks, ...(matcher === undefined ? {} : { matcher }) });
  return createHash("sha256").update(identity).digest("hex");
}

function eventIn(entry: unknown): string | undefined {
  return textAt(entry, "type") === "event_msg" ? textAt(entry, "payload.type") : undefined;
}

/** A prompt given into a running turn belongs to that turn. */
function promptIn(entry: unknown): Prompt | undefined {
  const [id, turn] = [textAt(entry, "payload.item.id"), textAt(entry, "payload.turn_id")];
  if (eventIn(entry) !== "item_completed" || textAt(entry, "payload.item.type") !== "UserMessage") return undefined;
  if (id === undefined || turn === undefined) return undefined;
  return { id, turn, text: wordsIn(entry), at: textAt(entry, "timestamp") ?? null };
}

function replyIn(entry: unknown): { text: string; at: string | null } | undefined {
  if (eventIn(entry) !== "item_completed" || textAt(entry, "payload.item.type") !== "AgentMessage") return undefined;
  return { text: wordsIn(entry), at: textAt(entry, "timestamp") ?? null };
}

function wordsIn(entry: unknown): string {
  const { content } = (entry as { payload: { item: { content?: unknown } } }).payload.item;
  return (Array.isArray(content) ? content : []).map((part) => textAt(part, "text") ?? "").join("");
}

function outcomeIn(entry: unknown): Outcome | undefined {
  const event = eventIn(entry);
  const turn = textAt(entry, "payload.turn_id");
  if (turn === undefined) return undefined;
  if (event === "turn_aborted") return { turn, ends: true, interrupted: true };
  if (event !== "task_complete") return undefined;
  // The provider's message, which may be JSON.
  const failure = textAt(entry, "payload.error.message");
  if (failure !== undefined) return { turn, ends: true, failure: textAt(parsed(failure), "error.message") ?? failure };
  return { turn, ends: true, reply: textAt(entry, "payload.last_agent_message") ?? null };
}

/** An entry before a turn names the model. An entry after a call has its usage and the total, and may be repeated. */
function callIn(entry: unknown, memory: Memory): Call | undefined {
  if (textAt(entry, "type") === "turn_context") memory.model = textAt(entry, "payload.model") ?? null;
  if (textAt(entry, "payload.type") !== "token_count") return undefined;
  const { info } = (entry as { payload: { info?: TokenCount | null } }).payload;
  const total = count(info?.total_token_usage?.total_tokens);
  const last = info?.last_token_usage;
  if (!last || total === null || total === memory.total) return undefined;
  memory.total = total;
  const [cached, written] = [count(last.cached_input_tokens ?? 0), count(last.cache_write_input_tokens ?? 0)];
  const [used, size] = [count(last.total_tokens), count(info.model_context_window)];
  return {
    id: `${textAt(entry, "timestamp")} ${total}`,
    at: textAt(entry, "timestamp") ?? null,
    model: memory.model ?? null,
    input: less(less(count(last.input_tokens), cached), written),
    output: count(last.output_tokens),
    cacheRead: cached,
    cacheWrite: written,
    cost: null,
    context: used !== null && size !== null ? { used, size } : null,
  };
}

interface TokenCount {
  total_token_usage?: Record<string, unknown>;
  last_token_usage?: Record<string, unknown>;
  model_context_window?: unknown;
}
