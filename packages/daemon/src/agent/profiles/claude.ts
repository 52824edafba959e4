import { existsSync } from "node:fs";
import { join } from "node:path";
import { answeredQuestions, permissionHook } from "../approvals.ts";
import { textAt } from "../hooks/hook-rules.ts";
import { loginIn } from "../login-files.ts";
import { mcpServersJson } from "../mcp.ts";
import type { Profile } from "../profile.ts";
import { FoundFiles, namesIn, type Outcome, type Prompt } from "../transcript.ts";
import { type Call, count, usageInLines } from "../usage-source.ts";

const REPLY = "last_assistant_message";

/** Claude Code shows its own prompt meanwhile, so a shorter time-out gains nothing. */
const ASK_S = 7 * 86_400;

export const claude: Profile = {
  name: "claude",
  description: "Claude Code",
  kind: "terminal",
  command: ["claude"],
  version: ["--version"],
  setup: {
    install: "npm install -g @anthropic-ai/claude-code",
    adapter: "npm install -g @agentclientprotocol/claude-agent-acp",
    login: {
      command: "claude auth login",
      isThere: (home) =>
        loginIn(home, [
          ".claude/.credentials.json",
          [".claude.json", "oauthAccount"],
          [".claude.json", "primaryApiKey"],
          [".claude/settings.json", "apiKeyHelper"],
          [".claude/settings.json", "env.ANTHROPIC_API_KEY"],
          [".claude/settings.json", "env.ANTHROPIC_AUTH_TOKEN"],
        ]),
    },
  },
  modelFlag: "--model",
  modeFlag: "--permission-mode",
  prompt: ["{prompt}"],
  arguments: {
    positional: true,
    prompts: /^--cloud$/,
    bare: /^--(allow-dangerously-skip-permissions|ax-screen-reader|background|bare|bg|brief|chrome|continue|dangerously-skip-permissions|desktop|disable-slash-commands|exclude-dynamic-system-prompt-sections|fork-session|forward-subagent-text|ide|include-hook-events|include-partial-messages|no-chrome|no-session-persistence|replay-user-messages|restricted|safe-mode|strict-mcp-config|tmux|verbose)$|^-c$/,
    values: /^--(agents?|append-system-prompt|debug|from-pr|json-schema|name|resume|settings|system-prompt|worktree)$|^-[dnrw]$/,
    lists: /^--(add-dir|allowed-tools|allowedTools|betas|disallowed-tools|disallowedTools|file|mcp-config|tools)$/,
    once: /^(-p|--print)$/,
  },
  conversation: {
    begin: ["--session-id", "{id}"],
    resume: ["--resume", "{id}"],
    fork: { words: ["--resume", "{from}", "--fork-session", "--session-id", "{id}"] },
    flags: /^(--session-id|--resume|--continue|--fork-session|--from-pr)(=|$)|^-[rc]$/,
  },
  urgent: /(?<!\d)429(?!\d)|Usage limit/,
  screen: [
    { name: "trust dialog", foot: /Enter to confirm/, line: /Is this a project you created or one you trust\?/, waits: "trust" },
    { name: "bypass permissions warning", foot: /Enter to confirm/, line: /running in (Bypass Permissions mode)/, waits: "trust" },
    { name: "question", foot: /Enter to select .*Esc to cancel/, waits: "question", turn: "working" },
    { name: "permission prompt", foot: /Esc to cancel/, line: /Do you want to .+\?/, waits: "approval", turn: "working" },
    {
      name: "plan",
      foot: /^ {3}ctrl\+g to edit in |^ {6}2\. No$/,
      line: /Would you like to proceed\?|Claude wants to exit plan mode/,
      within: 8,
      waits: "approval",
      turn: "working",
    },
    {
      name: "usage limit",
      line: /⚠ (Usage limit reached .*)/,
      within: 4,
      until: /limit resets ((?:[A-Z]\w+ \d+, )?\S+)/,
      waits: "rate_limit",
      turn: "idle",
    },
    // Between the last answer and the composer, from the third try on.
    {
      name: "rate limit",
      title: /^[◐◓◑◒]/,
      line: /^\S (429 .*?) · Retrying in \d+/,
      within: 8,
      waits: "rate_limit",
      turn: "working",
    },
    // The turn is over, the Stop hook has fired and the composer takes input, but title and state file still say busy.
    {
      name: "background agents",
      // Directly above the composer; an earlier turn leaves the words further above.
      block: /^(✻ Waiting for \d+ background agents?)\b.*(?:\n {2,}.*)*\n─{10}/m,
      within: 16,
      turn: "idle",
      calm: true,
      background: true,
    },
    // A draft hides `esc to interrupt` at the foot, and a list of subagents appears below it.
    { name: "spinner in the title", title: /^[◐◓◑◒]/, turn: "working", calm: true },
    { name: "esc to interrupt", foot: /\besc to interrupt\b/, turn: "working", calm: true },
    { name: "not logged in", line: /Not logged in · Run \/login/, within: 6, waits: "login" },
    { name: "composer, and a shell runs", foot: /· \d+ shells?\b/, line: /^❯/, within: 6, turn: "idle", calm: true, background: true },
    {
      name: "composer",
      foot: /mode on|for shortcuts|bypass permissions|accept edits|paste again to expand/,
      line: /^❯/,
      within: 6,
      turn: "idle",
      calm: true,
    },
    // Dialogs of the first start. Last, because a transcript above a composer may quote their words.
    { name: "theme picker", line: /(Choose the text style that looks best)/, waits: "question" },
    { name: "security notes", foot: /Press Enter to continue/, line: /(Security notes):/, waits: "question" },
  ],
  hooks: {
    conversation: "session_id",
    turn: "prompt_id",
    subagent: "agent_id",
    tool: { name: "tool_name", input: "tool_input" },
    rules: [
      { event: "SessionStart", opens: true },
      { event: "UserPromptSubmit", turn: "working", calm: true, prompt: "prompt" },
      { event: "PermissionRequest", when: { tool_name: /^AskUserQuestion$/ }, turn: "working", waits: "question" },
      { event: "PermissionRequest", turn: "working", waits: "approval" },
      { event: "PostToolUse", turn: "working", calm: true },
      { event: "PostToolUseFailure", turn: "working", calm: true },
      { event: "Stop", when: { background_tasks: /"status":"running"/ }, turn: "idle", calm: true, reply: REPLY, background: true },
      { event: "Stop", when: { background_tasks: /^\[/ }, turn: "idle", calm: true, reply: REPLY, background: false },
      { event: "Stop", turn: "idle", calm: true, reply: REPLY },
      {
        event: "StopFailure",
        when: { error: /^rate_limit$/ },
        turn: "idle",
        waits: "rate_limit",
        text: "last_assistant_message",
        until: "last_assistant_message",
        failure: "error",
      },
      { event: "StopFailure", turn: "idle", calm: true, failure: "error" },
    ],
    inject: ({ directory, tell, ask, args }) => {
      // The user's own --settings win, and Holdfast adds no hooks to a user's file.
      if (args.some((word) => /^--settings(=|$)/.test(word))) return {};
      const events = ["SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop", "StopFailure"];
      const hook = [{ hooks: [{ type: "command", command: tell }] }];
      const asking = [{ hooks: [{ type: "command", command: ask, timeout: ASK_S }] }];
      const hooks = { ...Object.fromEntries(events.map((event) => [event, hook])), PermissionRequest: asking };
      return { args: ["--settings", `${directory}/settings.json`], files: { "settings.json": JSON.stringify({ hooks }) } };
    },
  },
  approvals: {
    hook: permissionHook({
      timeoutS: ASK_S,
      otherwise: "the agent asks only on its own screen",
      promptsToo: true,
      answer: answeredQuestions,
    }),
    screen: {
      from: /^─{10}|^ {3}(Ready to code|Exit plan mode)\?$/,
      to: /^ ?Esc to cancel\b|^ {3}ctrl\+g to edit in |^ {6}2\. No$/,
      keys: {
        marked: /^\s*❯ \d\. /,
        allows: /❯ 1\. Yes(, and switch to default \(ask each time\) for this session)?$/,
        allow: ["Enter"],
        deny: ["Escape"],
        // The first choice allows more than this plan.
        others: [{ shows: /^\s*❯ 1\. Yes, auto-accept edits\n\s*2\. Yes, manually approve edits$/m, allow: ["2"] }],
      },
    },
    dialogs: [
      // Not answerable from the inbox: it concerns everything that the agent will do.
      { for: "trust", from: /^ *WARNING: Claude Code running in Bypass/, to: /^ *Enter to confirm · Esc to cancel/ },
      {
        for: "trust",
        from: /^ ?Accessing workspace:/,
        to: /^ ?Enter to confirm · Esc to cancel/,
        choices: { allow: /^(\d\. )?Yes, (I trust this folder|proceed)$/, deny: /^(\d\. )?No, exit$/ },
      },
    ],
  },
  stateFile: {
    path: ({ pid, env }) => `${env.CLAUDE_CONFIG_DIR || `${env.HOME}/.claude`}/sessions/${pid}.json`,
    since: "statusUpdatedAt",
    conversation: "sessionId",
    says: "status",
    rules: [
      { when: { status: /^waiting$/, waitingFor: /permission/ }, turn: "working", waits: "approval" },
      { when: { status: /^waiting$/, waitingFor: /input/ }, turn: "working", waits: "question" },
      // While one of its shells runs, the status is `shell` instead.
      { when: { status: /^idle$/ }, turn: "idle", calm: true, background: false },
      { when: { status: /^shell$/ }, turn: "idle", calm: true, background: true },
      { when: { status: /^busy$/ }, turn: "working", calm: true },
    ],
  },
  transcript: {
    path: ({ conversation, env }) => transcriptOf(conversation, env),
    reply: replyIn,
    prompt: promptIn,
    uncounted: true,
    outcome: outcomeIn,
  },
  usage: usageInLines({ files: ({ conversation, env }) => transcriptsOf(conversation, env), call: callIn }),
  composer: { mark: /^❯(\s|$)/, above: /^─{10}/, below: /^─{10}/ },
  mcp: ({ servers, file }) => ({ args: [`--mcp-config=${file}`], content: mcpServersJson(servers) }),
  structured: ["claude-agent-acp"],
  tools: {
    terminal: ({ allowed, denied }) => [
      ...(allowed === null ? [] : ["--agents", JSON.stringify(agentsWith(allowed)), "--agent", ROLE]),
      // In one word: the flag takes all words after it.
      ...(denied.length === 0 ? [] : [`--disallowedTools=${denied.join(",")}`]),
    ],
    conversation: ({ allowed, denied }) => ({
      claudeCode: { options: { ...(allowed === null ? {} : { agents: agentsWith(allowed), agent: ROLE }), disallowedTools: denied } },
    }),
    overriddenBy: /^--agents?(=|$)/,
    // Older versions refuse a definition with an empty prompt.
    since: {
      terminal: { program: "claude", version: "2.1.281" },
      conversation: { program: "claude-agent-acp", version: "0.83.0" },
    },
  },
  interrupt: ["Escape"],
  interruptHarder: ["C-c"],
  enterAfterMs: 400,
};

const ROLE = "holdfast-role";

/**
 * An agent definition as Claude Code reads it. The flag `--tools` would leave all tools of MCP servers. Denied tools are not in the definition,
 * because it does not apply to subagents. With an empty prompt Claude Code keeps its own system prompt.
 */
function agentsWith(tools: readonly string[]) {
  return { [ROLE]: { description: "The role of this session", prompt: "", tools } };
}

/** The folder is named after the directory, in a way that differs between versions. */
function transcriptOf(conversation: string, env: Readonly<Record<string, string>>): string | undefined {
  const projects = join(env.CLAUDE_CONFIG_DIR || `${env.HOME}/.claude`, "projects");
  return transcripts.find(`${projects} ${conversation}`, () =>
    namesIn(projects)
      .map((folder) => join(projects, folder, `${conversation}.jsonl`))
      .find((file) => existsSync(file)),
  );
}

const transcripts = new FoundFiles();

/** The agent's own transcript, and those of its subagents, which newer versions keep next to it. */
function transcriptsOf(conversation: string, env: Readonly<Record<string, string>>): string[] {
  const own = transcriptOf(conversation, env);
  if (own === undefined) return [];
  const subagents = join(own.slice(0, -".jsonl".length), "subagents");
  const others = namesIn(subagents).filter((name) => name.endsWith(".jsonl"));
  return [own, ...others.sort().map((name) => join(subagents, name))];
}

/** Each part of a message has a line, with the usage of the whole message so far. */
function callIn(entry: unknown): Call | undefined {
  const { message } = (entry ?? {}) as { message?: { id?: unknown; model?: unknown; usage?: Record<string, unknown> } };
  const { usage, model } = message ?? {};
  // Text that Claude Code itself writes in place of an answer has no model.
  if (textAt(entry, "type") !== "assistant" || !usage || model === "<synthetic>") return undefined;
  return {
    id: `${message?.id} ${textAt(entry, "requestId")}`,
    at: textAt(entry, "timestamp") ?? null,
    model: typeof model === "string" ? model : null,
    input: count(usage.input_tokens),
    output: count(usage.output_tokens),
    cacheRead: count(usage.cache_read_input_tokens ?? 0),
    cacheWrite: count(usage.cache_creation_input_tokens ?? 0),
    cost: null,
    context: null,
  };
}

const INTERRUPTED = "[Request interrupted by user";

/** Excludes tool results, Claude Code's own notes to the model, and its slash commands. News of a background task begins a turn, too. */
function promptIn(entry: unknown): Prompt | undefined {
  const [id, text] = [textAt(entry, "uuid"), userTextIn(entry)];
  const isOther = ["isMeta", "isCompactSummary"].some((key) => textAt(entry, key) === "true");
  if (id === undefined || text === undefined || isOther || text.startsWith(INTERRUPTED)) return undefined;
  if (/^<(command-|local-command-|bash-)/.test(text)) return undefined;
  return { id, text, at: textAt(entry, "timestamp") ?? null };
}

/** Each part of an answer has a line. After a tool call the turn continues. */
function outcomeIn(entry: unknown): Outcome | undefined {
  if (userTextIn(entry)?.startsWith(INTERRUPTED)) return { interrupted: true };
  if (textAt(entry, "type") !== "assistant" || textAt(entry, "isSidechain") === "true") return undefined;
  const { content } = (entry as { message?: { content?: unknown } }).message ?? {};
  const calls = Array.isArray(content) && content.some((part) => textAt(part, "type") === "tool_use");
  const text = replyIn(entry)?.text;
  if (calls || textAt(entry, "isAbortedMidStream") === "true") return { reply: null };
  if (text === undefined) return undefined;
  return textAt(entry, "isApiErrorMessage") === "true" ? { failure: text } : { reply: text };
}

function userTextIn(entry: unknown): string | undefined {
  if (textAt(entry, "type") !== "user" || textAt(entry, "isSidechain") === "true") return undefined;
  const { content } = (entry as { message?: { content?: unknown } }).message ?? {};
  if (typeof content === "string") return content;
  const parts: unknown[] = Array.isArray(content) ? content : [];
  if (parts.some((part) => textAt(part, "type") === "tool_result")) return undefined;
  const texts = parts.flatMap((part) => (textAt(part, "type") === "text" ? [textAt(part, "text") ?? ""] : []));
  return texts.length === 0 ? undefined : texts.join("\n");
}

/** Only the agent's own replies: the file may also contain subagents' conversations. */
function replyIn(entry: unknown): { text: string; at: string | null } | undefined {
  if (textAt(entry, "type") !== "assistant" || textAt(entry, "isSidechain") === "true") return undefined;
  const { content } = (entry as { message?: { content?: unknown } }).message ?? {};
  if (!Array.isArray(content)) return undefined;
  const texts = content.flatMap((part) => (textAt(part, "type") === "text" ? [textAt(part, "text") ?? ""] : []));
  return texts.length === 0 ? undefined : { text: texts.join("\n"), at: textAt(entry, "timestamp") ?? null };
}
