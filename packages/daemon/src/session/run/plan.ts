/**
 * Decides from a request and the configuration how a session starts. The check before a start and the start itself use the same plan, so a checked
 * request is refused later only for what has changed since.
 */
import { accessSync, constants, type Stats, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { type Budget, HoldfastError, type SessionKind, type SpawnRequest } from "@holdfast/contract";
import { findProgram } from "@holdfast/platform";
import { type Background, backgroundOf, modelWords } from "../../agent/background.ts";
import { promptWords } from "../../agent/launch.ts";
import { commandOf, type Profile, structuredCommandOf } from "../../agent/profile.ts";
import type { Profiles } from "../../agent/profiles/index.ts";
import { checkToolsVersion } from "../../agent/tool-limits.ts";
import { type ToolRule, toolRule } from "../../agent/tool-rule.ts";
import { budgetFor } from "./budget.ts";
import { runEnvironment } from "./launch-file.ts";
import type { Spec } from "./run-files.ts";

export interface Plan {
  profile: Profile;
  kind: SessionKind;
  budget: Budget | undefined;
  env: Record<string, string>;
  program: string[];
  args: string[];
  /** The agent that the program belongs to; undefined for a command of the caller. */
  agent: Sought | undefined;
  /** Mode and model of a conversation. */
  chat: NonNullable<Spec["chat"]>;
  /** The tools of its role. */
  rule: ToolRule | undefined;
  /** Started without a person attached. */
  isBackground: boolean;
}

/** Throws what the request alone makes impossible; creates nothing and looks at no directory. */
export function planOf(
  request: SpawnRequest,
  configured: { profiles: Profiles; programs: string; budget?: Budget; background?: Background },
): Plan {
  const { profiles, programs, background = {} } = configured;
  const { chat, command, args, mode = null, prompt } = request;
  const profile = profiles.get(request.agent);
  const kind = chat ? "conversation" : profile.kind;
  const budget = budgetFor({ profile, kind }, request.budget, configured.budget);
  const isBackground = kind !== "shell" && !request.attended;
  const { model } = isBackground ? backgroundOf(profile, background) : {};
  const env = runEnvironment(request.env);
  const program = programOf(request, { profile, env, programs });
  if (prompt !== undefined && !chat) promptWords(profile, prompt);
  return {
    profile,
    kind,
    budget,
    env,
    program,
    args: [...(chat || command ? [] : modelWords(profile, { model, args })), ...args],
    agent: command ? undefined : agentOf(request, { profile, env, programs }),
    chat: { mode, model: request.model ?? model ?? null },
    rule: toolRule(request),
    isBackground,
  };
}

/** Refuses a directory or a program that does not exist. */
export function checkPlan(plan: Plan, request: Pick<SpawnRequest, "cwd" | "worktree">): void {
  const cwd = checkDirectory(request.cwd);
  // A program path inside the worktree exists only once the worktree does.
  if (!request.worktree || !plan.program[0]?.includes("/")) checkProgram(plan.program, { ...plan, cwd });
  checkTools(plan, cwd);
}

/** Refuses an agent that is too old for the tools of its role. */
export function checkTools({ profile, kind, rule, args, agent, program, env }: Plan, cwd: string): void {
  const path = agent && findProgram(program[0] ?? "", env.PATH, cwd);
  checkToolsVersion(profile, { rule, isChat: kind === "conversation", args, path });
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

export function checkProgram(command: readonly string[], where: Pick<Plan, "env" | "agent"> & { cwd: string }): void {
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
