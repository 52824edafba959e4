/** Refuses what can be refused before anything is recorded, then writes the files of the first run. */
import { randomUUID } from "node:crypto";
import { accessSync, constants, rmSync, type Stats, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import {
  ABSENT,
  type Budget,
  checkName,
  HoldfastError,
  type HostName,
  hasEnded,
  isShortPrompt,
  knownCause,
  newSessionId,
  type Principal,
  requestedOf,
  type SessionId,
  type SessionKind,
  type SessionSpec,
  type SessionStatus,
  type SpawnRequest,
} from "@holdfast/contract";
import { findProgram, type Home, runDirectory, whyUnwritable } from "@holdfast/platform";
import { type Background, backgroundOf, modelWords } from "../../agent/background.ts";
import { firstLineOf } from "../../agent/glance.ts";
import { headed, newNonce } from "../../agent/heading.ts";
import { conversationFor, conversationId, type Forked, newIdFor, promptFor, promptWords } from "../../agent/launch.ts";
import type { RunIdentity } from "../../agent/mcp.ts";
import { commandOf, type Profile, structuredCommandOf } from "../../agent/profile.ts";
import type { Profiles } from "../../agent/profiles/index.ts";
import { splitPrompt } from "../../agent/prompt-arguments.ts";
import { checkToolsVersion } from "../../agent/tool-limits.ts";
import { type ToolRule, toolRule } from "../../agent/tool-rule.ts";
import { beginsCommand, contextPointer } from "../../workspace/context/context.ts";
import { budgetFor } from "./budget.ts";
import { runEnvironment } from "./launch-file.ts";
import { readableName } from "./readable-name.ts";
import { type Spec, writeLaunch, writeSessionFiles } from "./run-files.ts";

export interface Prepared {
  id: SessionId;
  attributes: SessionSpec;
  profile: Profile;
  /** Mode and model of a conversation. */
  chat: NonNullable<Spec["chat"]>;
  /** The tools of its role. */
  rule: ToolRule | undefined;
  /** The first message of a conversation, sent once it runs. */
  prompt: string | null;
  /** True if the first run gets the prompt with its command. */
  prompted: boolean;
  /** `runs/1` of the new session. */
  directory: string;
  /** The id that the agent gets for its own conversation. */
  conversation: string | null;
  /** Identity of the first run; null if it is not started yet. */
  identity: RunIdentity | null;
}

export function prepare(
  request: SpawnRequest,
  context: {
    home: Home;
    profiles: Profiles;
    programs: string;
    host: HostName;
    owner: Principal;
    parent: SessionId | null;
    /** The name of the parent. */
    parentName?: string | undefined;
    isTaken(name: string): boolean;
    holder?: Holder;
    workspace?: Spec["workspace"];
    forkedFrom?: Spec["forkedFrom"];
    /** The configured default. */
    budget?: Budget;
    background?: Background;
    /** Text about its groups for its first prompt. */
    introduce?(to: { name: string; agent: string; kind: SessionKind }): string | null;
  },
): Prepared {
  const profile = context.profiles.get(request.agent);
  const kind = request.chat ? "conversation" : profile.kind;
  const budget = budgetFor({ profile, kind }, request.budget, context.budget);
  const name = nameOf(request, context.isTaken, context.holder);
  const cwd = checkDirectory(request.cwd);
  const env = runEnvironment(request.env);
  const program = programOf(request, { profile, env, programs: context.programs });
  const isChat = request.chat;
  const isBackground = kind !== "shell" && !request.attended;
  const { model } = isBackground ? backgroundOf(profile, context.background ?? {}) : {};
  const args = [...(isChat || request.command ? [] : modelWords(profile, { model, args: request.args })), ...request.args];
  const prompt = firstPrompt(request, {
    cwd,
    parent: context.parentName,
    peers: context.introduce?.({ name, agent: profile.name, kind }) ?? null,
  });
  const command = [...program, ...args, ...(prompt === null || isChat ? [] : promptWords(profile, prompt))];
  const chat = { mode: request.mode ?? null, model: request.model ?? model ?? null };
  const rule = toolRule(request);
  const asked = { program, args, prompt, context: request.context };
  const { forkedFrom } = context;
  const forked = forkedFrom && forkedOf(forkedFrom, cwd);
  const conversation =
    isChat || !request.start ? null : conversationFor(profile, asked, { known: null, forked }, newIdFor(profile, cwd, randomUUID));
  checkProgram(command, { env, cwd, agent: request.command ? undefined : agentOf(request, { profile, env, programs: context.programs }) });
  if (!request.command) checkToolsVersion(profile, { rule, isChat, args, path: findProgram(command[0] ?? "", env.PATH, cwd) });

  const id = request.id ?? newSessionId();
  const directory = runDirectory(context.home, id, 1);
  const reports = context.parent !== null && (request.report ?? kind !== "shell");
  const attributes: SessionSpec = {
    ...ABSENT,
    ...requestedOf(request),
    name,
    kind,
    agent: profile.name,
    objective: request.objective ?? (request.prompt === undefined ? null : firstLineOf(request.prompt)),
    host: context.host,
    cwd,
    command,
    parent: context.parent,
    ...(budget ? { budget } : {}),
    ...(reports ? { report: true } : {}),
  };
  const prepared: Omit<Prepared, "identity"> = {
    id,
    attributes,
    profile,
    chat,
    rule,
    prompt: isChat ? prompt : null,
    prompted: !isChat && (promptFor(prompt, conversation) !== null || splitPrompt(profile, args).said.length > 0),
    directory,
    conversation: conversationId(conversation),
  };
  try {
    const spec: Spec = {
      v: 1,
      id,
      ...attributes,
      ...(isChat ? { chat } : {}),
      ...(rule ? { tools: rule } : {}),
      ...(isBackground ? { background: true } : {}),
      umask: request.umask,
      owner: context.owner,
      createdAt: new Date().toISOString(),
      ...(request.groups?.length ? { groups: request.groups } : {}),
      ...(context.workspace ? { workspace: context.workspace } : {}),
      asked,
      ...(request.instructions === undefined ? {} : { instructions: request.instructions }),
      conversation: prepared.conversation,
      ...(forkedFrom ? { forkedFrom } : {}),
      ...(request.start ? {} : { start: false }),
    };
    writeSessionFiles(context.home, spec, env);
    if (!request.start) return { ...prepared, identity: null };
    const handed = { ...spec, asked: { ...asked, prompt: promptFor(prompt, conversation) } };
    const { identity } = writeLaunch(context.home, { session: id, run: 1 }, { spec: handed, env, profile, conversation });
    return { ...prepared, identity };
  } catch (cause) {
    forget(prepared, context.home);
    throw (
      knownCause(cause) ??
      whyUnwritable(context.home.path) ??
      new HoldfastError("home_unusable", `cannot write the session's files: ${(cause as Error).message}`, {
        hint: `check ${context.home.path}`,
        cause,
      })
    );
  }
}

/** The starting point of a fork's runs while the fork has had no turn of its own. */
export function forkedOf({ conversation, copy }: NonNullable<Spec["forkedFrom"]>, directory: string): Forked {
  return { from: conversation, copy, directory };
}

/** Refuses what would fail anyway, before a worktree is created. */
export function checkStart(request: SpawnRequest, { profiles, programs }: { profiles: Profiles; programs: string }): void {
  if (request.worktree) checkAsked(request, { profiles, programs });
}

/** Checks that apply to every start. */
export function checkAsked(request: SpawnRequest, { profiles, programs }: { profiles: Profiles; programs: string }): void {
  const profile = profiles.get(request.agent);
  budgetFor({ profile, kind: request.chat ? "conversation" : profile.kind }, request.budget);
  const cwd = checkDirectory(request.cwd);
  const env = runEnvironment(request.env);
  const command = programOf(request, { profile, env, programs });
  // A program path inside the worktree exists only once the worktree does.
  if (!request.worktree || !command[0]?.includes("/"))
    checkProgram(command, { env, cwd, agent: request.command ? undefined : agentOf(request, { profile, env, programs }) });
}

function programOf(
  { command, chat, mode, model, host }: SpawnRequest,
  { profile, env, programs }: { profile: Profile; env: Record<string, string>; programs: string },
): string[] {
  const place = { env, node: process.execPath, programs };
  if (!chat && (mode !== undefined || model !== undefined)) {
    throw new HoldfastError("usage", "only a conversation has a mode and a model", { hint: "add --chat" });
  }
  if (!chat && !command && profile.chatOnly)
    throw new HoldfastError("usage", `${profile.name} has no screen: it runs only as a conversation`, {
      hint: `run holdfast chat --agent ${profile.name}, or add --chat`,
    });
  if (!chat) return command ?? commandOf(profile, place);
  if (host === "tmux") throw new HoldfastError("usage", "a conversation has no terminal and does not run on tmux", { hint: "omit --host" });
  const structured = structuredCommandOf(profile, place);
  if (structured) return structured;
  throw new HoldfastError("not_offered", `${profile.name} does not support conversations`, {
    hint: `start it in a terminal: holdfast spawn ${profile.name}`,
  });
}

/** The prompt with notes on its groups and the Working Context; without the notes if the whole would be too long. */
function firstPrompt(
  { prompt, context, instructions, chat }: SpawnRequest,
  { cwd, peers, parent }: { cwd: string; peers: string | null; parent: string | undefined },
): string | null {
  if (prompt === undefined) return null;
  // In a conversation the prompt is a message from the parent, and gets its heading as all messages do.
  const words = chat || parent === undefined ? prompt : headed({ id: null, nonce: newNonce(), name: parent }, prompt);
  const asked = withNotes(words, [beginsCommand(prompt) ? null : peers, context ? contextPointer(cwd, prompt) : null]);
  const told = instructions === undefined ? asked : `${asked}\n\n${roleNote(instructions)}`;
  if (chat || isShortPrompt(told)) return told;
  throw new HoldfastError("usage", "the first prompt and the persona's instructions have more than 120,000 bytes", {
    hint: "shorten the persona, or send the prompt when the agent runs",
  });
}

/** The note that adds a role to the first prompt. */
export function roleNote(instructions: string): string {
  return `[Your role in this conversation, from now on:]\n${instructions}`;
}

function withNotes(prompt: string, notes: readonly (string | null)[]): string {
  const whole = [prompt, ...notes].filter((note) => note !== null).join("\n\n");
  return isShortPrompt(whole) ? whole : prompt;
}

/** Removes the files of a prepared session that is not started after all. */
export function forget({ id }: Pick<Prepared, "id">, home: Home): void {
  try {
    rmSync(join(home.sessions, id), { recursive: true, force: true });
  } catch {
    // Files that cannot be written cannot be removed either; report the first error.
  }
}

export function nameOf(request: SpawnRequest, isTaken: (name: string) => boolean, holder?: Holder): string {
  if (request.name === undefined) return readableName(isTaken);
  const name = checkName(request.name);
  if (isTaken(name)) throw nameTaken(name, holder?.(name)?.status);
  return name;
}

/** Finds the session that has the name. */
type Holder = (name: string) => { status: SessionStatus } | undefined;

export function nameTaken(name: string, status?: SessionStatus): HoldfastError {
  const isOver = status !== undefined && hasEnded(status);
  if (isOver)
    return new HoldfastError("name_taken", `an ended session has the name ${JSON.stringify(name)}`, {
      hint: `continue it: holdfast resume ${name}; remove it: holdfast rm ${name}; rename it: holdfast rename ${name} NEW-NAME`,
    });
  return new HoldfastError("name_taken", `there is a session named ${JSON.stringify(name)} already`, {
    hint: `choose another name, or rename that session: holdfast rename ${name} NEW-NAME`,
  });
}

export function checkDirectory(cwd: string, hint = "choose another directory with --cwd"): string {
  const refuse = (what: string, cause?: unknown) =>
    new HoldfastError("cwd_unusable", `the directory ${JSON.stringify(cwd)} ${what}`, { hint, cause });
  if (!isAbsolute(cwd)) throw refuse("is not an absolute path");
  let stat: Stats | undefined;
  try {
    stat = statSync(cwd, { throwIfNoEntry: false });
  } catch (cause) {
    throw refuse("cannot be reached", cause);
  }
  if (!stat) throw refuse("does not exist");
  if (!stat.isDirectory()) throw refuse("is not a directory");
  try {
    accessSync(cwd, constants.R_OK | constants.X_OK);
  } catch (cause) {
    throw refuse("cannot be read or entered", cause);
  }
  return cwd;
}

/** For a conversation the adapter is needed too, if there is one. */
function installing({ install, adapter, own }: Sought): string {
  if (install === undefined) return "install it, or use a shell that finds it";
  return `install it: ${[install, ...(own !== undefined && adapter !== undefined ? [adapter] : [])].join(" && ")}`;
}

/** `own`: the agent's own program, if its conversations use an adapter. */
interface Sought {
  description: string;
  name: string;
  own: string | undefined;
  /** The commands that install it and its adapter, if known. */
  install: string | undefined;
  adapter: string | undefined;
  /** The persona that named it, or that was requested with it. */
  persona: string | undefined;
}

function agentOf(
  { chat, persona }: SpawnRequest,
  { profile, ...place }: { profile: Profile; env: Record<string, string>; programs: string },
): Sought {
  const own = chat && !profile.chatOnly ? commandOf(profile, { ...place, node: process.execPath })[0] : undefined;
  const { install, adapter } = profile.setup ?? {};
  return { description: profile.description, name: profile.name, own, install, adapter, persona };
}

function missingAdapter({ description, name, adapter }: Sought, program: string): HoldfastError {
  return new HoldfastError(
    "program_not_found",
    `${description} is installed, but its adapter ${JSON.stringify(program)} is not on the PATH`,
    {
      hint: adapter
        ? `conversations need it: ${adapter}; a terminal session works without it: holdfast spawn ${name}`
        : `conversations need it: install it; a terminal session works without it: holdfast spawn ${name}`,
      ...(adapter ? { details: { install: adapter } } : {}),
    },
  );
}

function howToInstall(agent: Sought): string {
  const other =
    agent.persona === undefined
      ? "holdfast agents lists the installed agents"
      : "or choose another agent: --agent NAME; holdfast agents lists them";
  return `${installing(agent)}; ${other}`;
}

function checkProgram(
  command: readonly string[],
  where: { env: Readonly<Record<string, string>>; cwd: string; agent: Sought | undefined },
): void {
  const program = command[0] ?? "";
  if (command.some((argument) => argument.includes("\0"))) throw new HoldfastError("usage", "an argument contains a NUL byte");
  if (findProgram(program, where.env.PATH, where.cwd)) return;
  const own = where.agent?.own;
  if (where.agent && own !== undefined && own !== program && !program.includes("/") && findProgram(own, where.env.PATH, where.cwd))
    throw missingAdapter(where.agent, program);
  if (where.agent !== undefined && !program.includes("/")) {
    throw new HoldfastError(
      "program_not_found",
      `${where.agent.description} is not installed: there is no program ${JSON.stringify(own ?? program)} on the PATH`,
      { hint: howToInstall(where.agent) },
    );
  }
  throw new HoldfastError("program_not_found", `cannot find the program ${JSON.stringify(program)}`, {
    hint: program.includes("/")
      ? "check that the file exists and is executable"
      : `it is not on the session's PATH (${where.env.PATH ?? "not set"})`,
  });
}
