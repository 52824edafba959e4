import { globSync } from "node:fs";
import { dirname, join } from "node:path";
import { permissionHook } from "../approvals.ts";
import { textAt } from "../hooks/hook-rules.ts";
import { readLowestSettings } from "../hooks/lowest-settings.ts";
import type { Memory } from "../line-memory.ts";
import { loginIn } from "../login-files.ts";
import { mcpServersJson } from "../mcp.ts";
import type { Profile } from "../profile.ts";
import { FoundFiles, type Outcome, type Prompt } from "../transcript.ts";
import { type Call, type Conversing, count, less, usageInLines } from "../usage-source.ts";
import { copyQwenConversation, findQwenConversation, qwenProjects } from "./qwen-store.ts";

const MAC_SETTINGS = "/Library/Application Support/QwenCode/settings.json";

/**
 * Qwen Code waits at most 60 seconds for a hook, whatever its configured time-out, and then ignores its output. So the hook is ended earlier, and
 * Qwen's own prompt shows. Its channel `--json-file` would wait forever, but it copies every word of the model into an ever-growing file and takes no
 * reason. PreToolUse is no alternative: after the same time the tool runs.
 */
const ASK_S = 55;

const QWEN_EVENTS = ["SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop", "StopFailure", "Notification"];

/** Lines appended to this file are taken like typed prompts; a person's draft stays. */
const INPUT = "input.jsonl";

/** Qwen Code uses the system's language: its confirmation line, its allow-once choice and its placeholder, in every language it has. */
const CONFIRMS = new RegExp(
  [
    "Waiting for user confirmation",
    "Esperant la confirmació de l'usuari",
    "Warten auf Benutzerbestätigung",
    "En attente de la confirmation de l'utilisateur",
    "ユーザーの確認を待っています",
    "Aguardando confirmação do usuário",
    "Ожидание подтверждения от пользователя",
    "等待用户确认",
    "等待用戶確認",
  ].join("|"),
);
const ALLOWS_ONCE = new RegExp(
  `› 1\\. (${[
    "Yes, allow once",
    "Sí, permetre una vegada",
    "Ja, einmal erlauben",
    "Oui, autoriser une fois",
    "はい\\(今回のみ許可\\)",
    "Sim, permitir uma vez",
    "Да, разрешить один раз",
    "是，允许一次",
    "是，允許一次",
  ].join("|")})$`,
);
const PLACEHOLDER = new RegExp(
  `^(${[
    "Type your message or @path/to/file",
    "Escriviu el vostre missatge o @camí/al/fitxer",
    "Nachricht eingeben oder @Pfad/zur/Datei",
    "Tapez votre message ou @chemin/vers/fichier",
    "メッセージを入力、@パス/ファイルでファイルを添付\\(D&D対応\\)",
    "Digite sua mensagem ou @caminho/do/arquivo",
    "Введите сообщение или @путь/к/файлу",
    "输入您的消息或 @ 文件路径",
    "輸入您的消息或 @ 檔案路徑",
  ].join("|")})$`,
);

export const qwen: Profile = {
  name: "qwen",
  description: "Qwen Code",
  kind: "terminal",
  command: ["qwen"],
  version: ["--version"],
  setup: {
    install: "npm install -g @qwen-code/qwen-code",
    login: {
      command: "qwen, then /auth",
      isThere: (home) =>
        loginIn(home, [
          ".qwen/oauth_creds.json",
          [".qwen/settings.json", "security.auth.selectedType"],
          [".qwen/settings.json", "selectedAuthType"],
        ]),
    },
  },
  modelFlag: "--model",
  prompt: ["-i", "{prompt}"],
  arguments: {
    positional: true,
    prompts: /^(-p|--prompt|-i|--prompt-interactive)$/,
    bare: /^(-[cdsy]|--(bare|chat-recording|continue|debug|experimental-lsp|fork-session|include-partial-messages|insecure|openai-logging|safe-mode|sandbox|screen-reader|telemetry|telemetry-log-prompts|yolo))$/,
    values: /^--(append-system-prompt|json-schema|output-style|system-prompt)$/,
    lists:
      /^(-e|--(add-dir|allowed-mcp-server-names|allowed-tools|core-tools|disabled-slash-commands|exclude-tools|extensions|include-directories|mcp-config))$/,
  },
  conversation: {
    begin: ["--session-id", "{id}"],
    resume: ["--resume", "{id}"],
    fork: { copy: copyQwenConversation },
    find: findQwenConversation,
    flags: /^(--session-id|--resume|--continue|--fork-session)(=|$)|^-[rc]$/,
  },
  urgent: /(?<!\d)429(?!\d)|rate.?limit|quota/i,
  screen: [
    { name: "trust dialog", foot: /^\s*╰─/, line: /Do you trust this folder\?/, within: 12, waits: "trust" },
    { name: "authentication dialog", foot: /^\s*└─/, line: /Terms of Services and Privacy Notice/, within: 8, waits: "login" },
    {
      name: "question",
      foot: CONFIRMS,
      line: /↑\/↓ ?: .+ \| /,
      within: 4,
      waits: "question",
      turn: "working",
    },
    { name: "permission prompt", foot: CONFIRMS, line: /[?？]$/, within: 12, waits: "approval", turn: "working" },
    {
      name: "rate limit",
      // Directly above the spinner, and only while Qwen waits; an earlier turn leaves only the words. Excludes the countdown.
      block:
        /^ {2}✕ (?=(?:.|\n {4})*?(?:\b429\b|rate.?limit|quota|too\s+many\s+requests))((?:(?!\(Retrying )(?:.|\n {4}))*)(?:.|\n {4})*\n {2}↻ (?:.|\n {4})*\n {1,2}[⠀-⣿]/im,
      waits: "rate_limit",
      turn: "working",
    },
    { name: "spinner", line: /^\s*[⠀-⣿] .*esc to cancel\)/, within: 8, turn: "working", calm: true },
    { name: "spinner in the title", title: /^[◐◓◑◒]/, turn: "working", calm: true },
    { name: "composer, and a shell runs", foot: /· \d+ shells?\b/, line: /^[>*] /, within: 6, turn: "idle", calm: true, background: true },
    {
      name: "composer, and an agent runs",
      block: /^[>*] .*(?:\n.*)*· \d+ local agents?\b/m,
      within: 8,
      turn: "idle",
      calm: true,
      background: true,
    },
    // A menu of commands may be below. A star marks yolo mode, an exclamation mark shell mode.
    { name: "composer", line: /^[>*!] /, within: 16, turn: "idle", calm: true, background: false },
  ],
  leavesUntold: true,
  composer: {
    mark: /^[>*] /,
    above: /^─{10}/,
    below: /^─{10}/,
    cursor: "shown",
    // Its default theme, in 256 colours and in true colour.
    ghost: ["103", "#6c7086"],
    placeholder: PLACEHOLDER,
  },
  hooks: {
    conversation: "session_id",
    turn: "prompt_id",
    subagent: "agent_id",
    tool: { name: "tool_name", input: "tool_input" },
    rules: [
      { event: "SessionStart", when: { source: /^startup$/ }, opens: "first" },
      { event: "SessionStart", opens: true },
      { event: "UserPromptSubmit", when: { submitted_prompt: /./ }, turn: "working", calm: true, prompt: "submitted_prompt" },
      // Also fires for each tool result, without a prompt.
      { event: "UserPromptSubmit", turn: "working", calm: true },
      { event: "PermissionRequest", when: { tool_name: /^ask_user_question$/ }, turn: "working", waits: "question" },
      { event: "PermissionRequest", turn: "working", waits: "approval" },
      { event: "PostToolUse", turn: "working", calm: true },
      { event: "PostToolUseFailure", turn: "working", calm: true },
      { event: "Stop", turn: "idle", calm: true, reply: "last_assistant_message" },
      { event: "StopFailure", turn: "idle", calm: true, failure: "error_details" },
      // The only signal of a turn that Esc has ended.
      { event: "Notification", when: { notification_type: /^idle_prompt$/ }, turn: "idle", calm: true },
    ],
    inject: ({ directory, tell, ask, env, args }) => {
      // The lowest layer: it overrides no setting of the user or the machine.
      const system = env.QWEN_CODE_SYSTEM_SETTINGS_PATH || (process.platform === "darwin" ? MAC_SETTINGS : "/etc/qwen-code/settings.json");
      const settings = readLowestSettings(env.QWEN_CODE_SYSTEM_DEFAULTS_PATH || `${dirname(system)}/system-defaults.json`);
      // Qwen expands variables in the file.
      if (!settings || tell.includes("$")) return {};
      const hook = { type: "command", name: "holdfast" };
      const file = JSON.stringify(
        settings.withHooks(QWEN_EVENTS, { ...hook, command: tell }, { PermissionRequest: { ...hook, command: ask, timeout: 60_000 } }),
      );
      const injected = { env: { QWEN_CODE_SYSTEM_DEFAULTS_PATH: `${directory}/settings.json` }, files: { "settings.json": file } };
      if (args.some((word) => /^--input-file(=|$)/.test(word))) return injected;
      return { ...injected, args: ["--input-file", `${directory}/${INPUT}`], files: { ...injected.files, [INPUT]: "" } };
    },
  },
  approvals: {
    hook: permissionHook({ timeoutS: ASK_S, otherwise: "it asks on its own screen" }),
    screen: {
      from: /^\s*\? \S.* ←$/,
      to: /^\s*\d\. .+[(（]esc[)）]$/i,
      hidden: /\blines? hidden\b|ctrl\+[a-z] to /i,
      keys: {
        marked: /^\s*› \d\. /,
        allows: ALLOWS_ONCE,
        allow: ["Enter"],
        deny: ["Escape"],
        // The dialog of a plan.
        others: [{ shows: /^\s*› 1\. Yes, restore previous mode \(default\)$/m, allow: ["Enter"] }],
      },
    },
    dialogs: [
      {
        for: "trust",
        from: /│ Do you trust this folder\?/,
        to: /^\s*╰─/,
        choices: { allow: /^\d\. Trust folder \(/, deny: /^\d\. Don't trust/ },
      },
      {
        for: "login",
        from: /│ Connect a Provider/,
        to: /^\s*└─/,
        offers: /^(Alibaba ModelStudio|Third-party Providers|Custom Provider)$/,
      },
    ],
  },
  transcript: {
    path: ({ conversation, env }) => chatOf(conversation, env),
    reply: replyIn,
    prompt: promptIn,
    uncounted: true,
    elsewhere: true,
    outcome: outcomeIn,
    named: true,
    owes: owesIn,
  },
  usage: usageInLines({ files: transcriptsOf, call: callIn }),
  channel: { name: "input file", file: INPUT, line: ({ id, text }) => JSON.stringify({ type: "submit", text, id }) },
  mcp: ({ servers, file }) => ({ args: [`--mcp-config=${file}`], content: mcpServersJson(servers) }),
  structured: ["qwen", "--acp"],
  interrupt: ["Escape"],
  interruptHarder: ["C-c"],
  enterAfterMs: 400,
};

function chatOf(conversation: string, env: Readonly<Record<string, string>>): string | undefined {
  const projects = qwenProjects(env);
  return chats.find(`${projects} ${conversation}`, () => {
    const [path] = globSync(`*/chats/${conversation}.jsonl`, { cwd: projects });
    return path === undefined ? undefined : join(projects, path);
  });
}

const chats = new FoundFiles();

function partsOf(entry: unknown): unknown[] {
  const { parts } = (entry as { message?: { parts?: unknown } }).message ?? {};
  return Array.isArray(parts) ? parts : [];
}

/** Skips thoughts, which are marked. */
function wordsIn(entry: unknown): string {
  const said = partsOf(entry).filter((part) => textAt(part, "thought") !== "true");
  return said.map((part) => textAt(part, "text") ?? "").join("");
}

function promptIn(entry: unknown): Prompt | undefined {
  const id = textAt(entry, "uuid");
  if (textAt(entry, "type") !== "user" || id === undefined) return undefined;
  const by = textAt(entry, "provenance");
  const text = wordsIn(entry);
  if ((by !== undefined && by !== "real_user") || text === "") return undefined;
  return { id, text, joins: textAt(entry, "subtype") === "mid_turn_user_message", at: textAt(entry, "timestamp") ?? null };
}

function replyIn(entry: unknown): { text: string; at: string | null; more: boolean } | undefined {
  if (textAt(entry, "type") !== "assistant") return undefined;
  return { text: wordsIn(entry), at: textAt(entry, "timestamp") ?? null, more: callsTools(entry) };
}

/**
 * Qwen notes an `api_response` before a complete answer, but not before an interrupted one. A failed call may be retried. Its subagents' calls are
 * noted in the same file. A turn that was interrupted leaves no other trace than the next prompt.
 */
function outcomeIn(entry: unknown, memory: Memory): Outcome | undefined {
  const prompt = promptIn(entry);
  if (prompt) return prompt.joins ? undefined : endedBefore(prompt.id, memory);
  const noted = noteIn(entry);
  if (noted?.["event.name"] === "qwen-code.api_response") memory.answered = true;
  const { asked } = memory;
  if (asked === undefined) return undefined;
  if (noted?.["event.name"] === "qwen-code.api_error") {
    memory.failed = textAt(noted, "error_message") ?? "its model gave no answer";
    return { turn: asked, failure: memory.failed };
  }
  if (textAt(entry, "type") !== "assistant") return undefined;
  const isWhole = memory.answered === true || textAt(entry, "usageMetadata") !== undefined;
  memory.answered = false;
  memory.failed = undefined;
  if (callsTools(entry) || !isWhole) return { turn: asked, reply: null };
  memory.asked = undefined;
  return { turn: asked, ends: true, reply: wordsIn(entry) || null };
}

function endedBefore(id: string, memory: Memory): Outcome | undefined {
  const { asked: turn, failed: failure } = memory;
  Object.assign(memory, { asked: id, failed: undefined, answered: false });
  if (turn === undefined) return undefined;
  return failure === undefined ? { turn, ends: true, interrupted: true } : { turn, ends: true, failure };
}

/** After a partial answer, a failed call or a cancelled tool, only the screen shows whether Qwen goes on. */
function owesIn(entry: unknown): string | false | null | undefined {
  if (promptIn(entry)) return textAt(entry, "timestamp") ?? "";
  const noted = noteIn(entry);
  if (noted?.["event.name"] === "qwen-code.api_error" || noted?.status === "cancelled") return null;
  if (textAt(entry, "type") !== "assistant" || callsTools(entry)) return undefined;
  return textAt(entry, "usageMetadata") === undefined ? null : false;
}

function callsTools(entry: unknown): boolean {
  return partsOf(entry).some((part) => Object.hasOwn(Object(part), "functionCall"));
}

/** The note on a model call of the turn itself. Other calls have a prompt id of another form. */
function noteIn(entry: unknown): Record<string, unknown> | undefined {
  if (textAt(entry, "subtype") !== "ui_telemetry") return undefined;
  const { uiEvent } = (entry as { systemPayload?: { uiEvent?: Record<string, unknown> } }).systemPayload ?? {};
  const isOwn = /########\d+$/.test(String(uiEvent?.prompt_id)) && uiEvent?.subagent_name === undefined;
  return isOwn ? uiEvent : undefined;
}

/** The agent's own transcript and those of its subagents. */
function transcriptsOf({ conversation, env }: Conversing): string[] {
  const projects = qwenProjects(env);
  return globSync([`*/chats/${conversation}.jsonl`, `*/subagents/${conversation}/agent-*.jsonl`], { cwd: projects })
    .sort()
    .map((path) => join(projects, path));
}

/** Only some providers count thoughts as part of the answer, so the output is the total minus the prompt. */
function callIn(entry: unknown): Call | undefined {
  const { usageMetadata: usage, contextWindowSize } = (entry ?? {}) as {
    usageMetadata?: Record<string, unknown>;
    contextWindowSize?: unknown;
  };
  if (textAt(entry, "type") !== "assistant" || !usage) return undefined;
  const prompt = count(usage.promptTokenCount);
  const cached = count(usage.cachedContentTokenCount ?? 0);
  const size = count(contextWindowSize);
  return {
    id: textAt(entry, "uuid") ?? "",
    at: textAt(entry, "timestamp") ?? null,
    model: textAt(entry, "model") ?? null,
    input: less(prompt, cached),
    output: less(count(usage.totalTokenCount), prompt) ?? count(usage.candidatesTokenCount),
    cacheRead: cached,
    cacheWrite: 0,
    cost: null,
    context: prompt !== null && size !== null ? { used: prompt, size } : null,
  };
}
