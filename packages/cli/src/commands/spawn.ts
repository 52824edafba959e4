import { HoldfastError } from "@holdfast/contract/errors";
import { shellWord } from "@holdfast/platform/shell";
import { attachIfAsked, checkAttachFlag } from "../attach/attach-after.ts";
import { isPerson } from "../attach/is-person.ts";
import type { Command, Context } from "../command.ts";
import { readInput } from "../console/read-input.ts";
import { printStarted, START_FLAGS, startSession } from "../session/start.ts";

export const command: Command = {
  name: "spawn",
  summary: "start an agent in a new session",
  section: "Start agents and commands",
  onlyPrints: true,
  startsPrograms: true,
  usage:
    "AGENT [TEXT|-] [--attach] [--name NAME] [--worktree [BRANCH]] [--cwd DIR] [--env K=V]… [--role TEXT] [--objective TEXT] [--budget LIMITS] [--group GROUP]… [--best-of N [--agents A,B]] [-- ARGS…]",
  description:
    "AGENT is one of holdfast agents: claude, codex, gemini and others. demo is a scripted agent for trying things out. shell is your login shell.\n\n--best-of starts several agents on one prompt (NAME-1, NAME-2, …). Each has its own worktree from the same commit; see holdfast compare and holdfast keep. The same command again starts the missing ones.",
  flags: {
    prompt: { value: "TEXT", short: "p", summary: "the first prompt, in place of TEXT; - reads standard input", complete: "nothing" },
    attach: { summary: "attach to it as soon as it runs" },
    "best-of": { value: "N", summary: "start N agents on the same prompt, each in its own worktree", complete: "nothing" },
    agents: { value: "A,B", summary: "with --best-of: the agents to use in turn (comma-separated)", multiple: true, complete: "agents" },
    persona: { value: "PERSONA", summary: "role of the agent (see holdfast personas); a persona can name its agent", complete: "personas" },
    agent: { value: "AGENT", summary: "agent, instead of the argument", complete: "agents" },
    chat: { summary: "start a conversation without a terminal: exact status, transcript, approvals; see holdfast chat" },
    model: { value: "MODEL", summary: "with --chat: the model, if the agent offers a choice", complete: "nothing" },
    mode: { value: "MODE", summary: "with --chat: the agent's mode, if it has several", complete: "nothing" },
    "no-report": { summary: "inside a session: send no reports of the new session to this one" },
    "no-context": { summary: "do not mention the Working Context in the first prompt (see holdfast context)" },
    ...START_FLAGS,
  },
  arguments: "agents",
  examples: [
    ["holdfast spawn demo --name demo", "start the demo agent"],
    ["holdfast spawn claude 'fix the login bug'", "start an agent with a prompt"],
    ["holdfast spawn claude 'fix the login bug' --attach", "start it and attach"],
    ["holdfast spawn claude --worktree -p 'add tests'", "start an agent in its own git worktree"],
    [
      "holdfast spawn --best-of 3 --agents claude,codex,gemini --name fix --prompt 'fix it'",
      "start three agents on one prompt; then run holdfast compare fix",
    ],
    ["holdfast spawn --chat --attach claude 'fix it'", "start a conversation and open it on this terminal"],
    ["holdfast spawn --chat claude --prompt 'fix it'", "start a conversation; then run holdfast transcript NAME -f"],
    ["holdfast spawn claude --budget turns=10,cost=2.50 --prompt 'add tests'", "stop the agent when it has used its budget"],
    ["holdfast spawn claude --group team --prompt 'write the tests'", "start a group member; it learns its peers and how to reach them"],
    ["holdfast spawn demo -- --loop", "pass arguments to the agent"],
    ["holdfast spawn shell --cwd ~/app --objective 'try the fix'", "start a shell that outlives this terminal"],
  ],
  takesRest: true,
  instead: { interactive: asTalk, i: asTalk, session: asChat, resume: asChat },
  async run(context) {
    const isTournament = context.flags.text("best-of") !== undefined || context.flags.list("agents").length > 0;
    const persona = context.flags.text("persona");
    const { agent, said } = wordsOf(context, persona !== undefined || isTournament);
    if (agent === undefined && persona === undefined && !isTournament)
      throw new HoldfastError("usage", "expected an agent", { hint: "for example: holdfast spawn demo; list agents: holdfast agents" });
    checkAttachFlag(context);
    if (context.flags.has("attach") && isTournament)
      throw new HoldfastError("usage", "--attach has no effect with --best-of", { hint: "omit --attach" });
    const prompt = said === "-" ? (await readInput()).trimEnd() : said;
    if (prompt?.trim() === "") throw new HoldfastError("usage", "the first prompt is empty", { hint: "pass a text, or omit the prompt" });
    if (isTournament) {
      if (persona !== undefined) throw new HoldfastError("usage", "--persona cannot be used with --best-of", { hint: "omit --best-of" });
      const { startTournament } = await import("../tournament/start.ts");
      return startTournament(context, { agent, prompt });
    }
    const { flags } = context;
    const chat = flags.has("chat");
    const talk = {
      chat,
      attended: (chat && flags.has("attach") && isPerson()) || undefined,
      model: flags.text("model"),
      mode: flags.text("mode"),
    };
    const asked = { agent: agent ?? "", args: [...context.rest], prompt, persona, ...talk };
    const session = await startSession(context, asked).catch((error: unknown) => {
      throw isWordOfPrompt(error, asked) ? promptOfOneWord(error, asked) : error;
    });
    printStarted(session, context.json);
    return attachIfAsked(context, session.name);
  },
};

function asTalk(argv: readonly string[]): string[] {
  const words = argv.filter((word) => word !== "-i" && word !== "--interactive");
  if (words.some((word) => /^--(session|resume)(=|$)/.test(word))) return asChat(words);
  return words.length > 1 ? ["spawn", "--chat", "--attach", ...words] : ["chat", ...words];
}

/** Without the prompt: in a conversation that may exist, it is typed. */
function asChat(argv: readonly string[]): string[] {
  const kept = ["chat"];
  let isAgent = true;
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? "";
    const [name = "", inline] = word.replace(/^--?/, "").split("=", 2);
    if (!word.startsWith("-")) {
      if (isAgent) kept.push(word);
      isAgent = false;
      continue;
    }
    const takesValue = /^(session|resume|p)$/.test(name) || command.flags?.[name]?.value !== undefined;
    const value = takesValue && inline === undefined ? argv.slice(++i, i + 1) : [];
    if (!/^p(rompt)?$/.test(name)) kept.push(word, ...value);
  }
  return kept;
}

interface Asked {
  agent: string;
  persona: string | undefined;
  prompt: string | undefined;
}

function isWordOfPrompt(error: unknown, { persona, prompt }: Asked): error is HoldfastError {
  return error instanceof HoldfastError && error.code === "agent_unknown" && persona !== undefined && prompt === undefined;
}

/** With a persona, a single word can be meant as the agent or as the prompt. */
function promptOfOneWord(error: HoldfastError, { agent, persona = "" }: Asked): HoldfastError {
  const line = ["holdfast", "spawn", "--persona", persona, "-p", agent].map(shellWord).join(" ");
  return new HoldfastError(error.code, error.message, {
    hint: `list agents: holdfast agents; to pass it as the prompt: ${line}`,
    candidates: error.candidates,
    cause: error,
  });
}

/**
 * The agent and its first prompt. If `--agent` or `--persona` can name the agent, an argument with a space is the prompt: no agent has such a
 * name.
 */
function wordsOf({ args, rest, flags }: Context, isOptional: boolean): { agent: string | undefined; said: string | undefined } {
  const named = flags.text("agent");
  const isPromptFirst = (isOptional || named !== undefined) && /\s/.test(args[0] ?? "");
  const [first, text, ...more] = isPromptFirst ? [undefined, ...args] : args;
  const agent = first ?? named;
  if (first !== undefined && named !== undefined)
    throw new HoldfastError("usage", `the agent is named twice: ${JSON.stringify(first)} and --agent ${named}`, {
      hint: `omit one of them; to pass the text as the prompt: -p ${shellWord(args.join(" "))}`,
    });
  if (more.length > 0) {
    const line = [...(agent === undefined ? [] : [agent]), [text, ...more].join(" "), ...(rest.length > 0 ? ["--", ...rest] : [])];
    throw new HoldfastError("usage", "the prompt is more than one argument", {
      hint: `quote it: holdfast spawn ${line.map(shellWord).join(" ")}`,
    });
  }
  const given = flags.text("prompt");
  if (text !== undefined && given !== undefined)
    throw new HoldfastError("usage", "the prompt is given twice: as an argument and with --prompt", { hint: "omit one of them" });
  return { agent, said: text ?? given };
}
