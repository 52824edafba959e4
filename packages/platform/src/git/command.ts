/**
 * The only place that starts git. Git asks nothing (no terminal), takes no optional locks (they would disturb an agent's own git), prints English,
 * and ignores repository variables in the environment. The repository's location is fixed (place.ts), and git sees only the harmless part of its
 * configuration (view.ts): no program or hook that a repository names is run. Filters, drivers and helpers of the user's global configuration are
 * run.
 */
import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import { isMissing } from "../files.ts";
import { findProgram, STANDARD_PATH } from "../program.ts";
import { pipeAmong, pipeAtHand, pipeInTheWay } from "./pipes.ts";
import { type GitPlace, placeAt, placeOf } from "./place.ts";
import { type GitCommand, type GitResult, type Running, runCommand } from "./run.ts";
import { type GitView, viewOf } from "./view.ts";

export type { GitCommand, GitResult } from "./run.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface GitOptions extends Pick<Running, "input" | "encoding" | "signal"> {
  /** Environment of the caller, which provides name, keys and configuration. By default the environment of this process. */
  env?: Environment | undefined;
  /** Additional variables for this command, such as `GIT_INDEX_FILE`. */
  with?: Readonly<Record<string, string>>;
  /**
   * Use the repository's own configuration and list of worktrees instead of a view. Only for commands that neither read files of a working tree nor
   * talk to another repository: those would run programs that the configuration names.
   */
  direct?: boolean;
  /** Run the hooks of the user's global configuration. */
  hooks?: boolean;
}

/** Carries a caller's umask in the environment, so that git creates files with the permissions the caller expects. */
export const UMASK_VARIABLE = "HOLDFAST_UMASK";

const USUAL_UMASK = 0o022;

/**
 * Variables of another repository, as from a hook or a rebase. Variables for identity and transport (`GIT_AUTHOR_NAME`, `GIT_SSH_COMMAND`) are passed
 * on.
 */
const NOT_PASSED =
  /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|PREFIX|CEILING_DIRECTORIES|QUARANTINE_PATH|INTERNAL_.*|TRACE.*|EDITOR|SEQUENCE_EDITOR|LITERAL_PATHSPECS|GLOB_PATHSPECS|NOGLOB_PATHSPECS|ICASE_PATHSPECS|REFLOG_ACTION|OPTIONAL_LOCKS|CONFIG|ATTR_SOURCE|SHALLOW_FILE|GRAFT_FILE|REPLACE_REF_BASE|IMPLICIT_WORK_TREE|EXTERNAL_DIFF|PAGER)$/;

/** Override any configuration: git starts no background process, and none in a submodule, which has its own configuration. */
const SETTINGS = [
  ...["core.fsmonitor=false", "core.alternateRefsCommand=true", "gc.auto=0", "maintenance.auto=false", "receive.autogc=false"],
  ...["submodule.recurse=false", "fetch.recurseSubmodules=false", "push.recurseSubmodules=no"],
].flatMap((setting) => ["-c", setting]);

const NO_HOOKS = ["-c", "core.hooksPath=/dev/null"];

/** Git reads a few short files here, but an included file may be a pipe. */
const TO_READ = { lookMs: 1000, stalledMs: 5000 };

/** Commands that create a repository or need none. */
const WITHOUT_REPOSITORY = /^(clone|init|version)$/;

/** The command to run, or git's refusal of the directory. */
export async function gitCommand(directory: string, args: readonly string[], options: GitOptions = {}): Promise<GitCommand | GitResult> {
  const place = placeFor(directory, options);
  const env = gitEnvironment(options);
  const settings = [...SETTINGS, ...(options.hooks ? [] : NO_HOOKS)];
  const command = (where: Readonly<Record<string, string>>) =>
    underUmask(umaskOf(options, place), {
      program: programIn(env, directory),
      args: [...(args[0] === "version" ? [] : settings), ...args],
      env: { ...env, ...where, ...options.with },
    });
  const verb = args.find((arg, index) => arg !== "-c" && args[index - 1] !== "-c") ?? "";
  if (WITHOUT_REPOSITORY.test(verb)) return command({});
  // Git must not search for a repository itself: it might find another one and trust its configuration.
  if (!place) return command({ GIT_DIR: "/dev/null" });
  const pipe = pipeAtHand(place);
  if (pipe !== undefined) throw pipeInTheWay(pipe);
  const refusal = await whyRefused(directory, place, options);
  if (refusal) return refusal;
  // Also for direct commands: it detects an included pipe, on which git would block.
  const view = await gitView(place, options);
  if (options.direct) return command(environmentOf(place, place.common));
  // Never fall back to the repository's own configuration: whoever breaks the view for a moment could then name any program.
  if ("code" in view) return view;
  const named = pipeAmong(view.reads);
  if (named !== undefined) throw pipeInTheWay(named);
  return command(environmentOf(place, view.common));
}

function placeFor(directory: string, options: GitOptions): GitPlace | undefined {
  return options.with?.GIT_DIR === undefined ? placeOf(directory) : placeAt(options.with.GIT_DIR);
}

/** Keys of the repository's own configuration that are hidden from git. */
export async function settingsLeftOut(directory: string, options: GitOptions = {}): Promise<readonly string[]> {
  const place = placeOf(directory);
  const view = place && (await gitView(place, options));
  return view && "leftOut" in view ? view.leftOut : [];
}

/** Reading the configuration starts no program. If git cannot read it, returns git's error. */
async function gitView(place: GitPlace, { env, signal }: GitOptions): Promise<GitView | GitResult> {
  let refusal: GitResult = { code: 128, stdout: "", stderr: `fatal: not a git repository: '${place.gitDir}'\n` };
  const view = await viewOf(place, async (of) => {
    const where = environmentOf(of, of.common);
    const command = { program: programIn(gitEnvironment({ env }), "/"), args: ["config", "--list", "-z", "--show-scope"] };
    const listed = await run("/", { ...command, env: { ...gitEnvironment({ env }), ...where } }, { signal, place: of, patience: TO_READ });
    if (listed.code === 0) return listed.stdout;
    refusal = { ...listed, stdout: "" };
    return undefined;
  });
  return view ?? refusal;
}

function environmentOf({ gitDir, tree }: GitPlace, common: string): Record<string, string> {
  return { GIT_DIR: gitDir, ...(common === gitDir ? {} : { GIT_COMMON_DIR: common }), ...(tree === null ? {} : { GIT_WORK_TREE: tree }) };
}

/** Git refuses a repository of another user unless it is marked as safe, but not one that is named by its path. So ask git without a path. */
async function whyRefused(directory: string, { gitDir, tree }: GitPlace, options: GitOptions): Promise<GitResult | undefined> {
  const uid = process.getuid?.();
  const isOurs = [gitDir, tree ?? gitDir].every((path) => [undefined, uid].includes(statSync(path, { throwIfNoEntry: false })?.uid));
  if (isOurs) return undefined;
  const env = gitEnvironment(options);
  const asked = await run(directory, { program: programIn(env, directory), args: ["rev-parse", "--git-dir"], env }, options);
  return asked.code === 0 ? undefined : asked;
}

/** For a question whose answer is the exit code. */
export async function runGit(directory: string, args: readonly string[], options: GitOptions = {}): Promise<GitResult> {
  const command = await gitCommand(directory, args, options);
  return "code" in command ? command : run(directory, command, { ...options, place: placeFor(directory, options) });
}

async function run(directory: string, command: GitCommand, running: Running): Promise<GitResult> {
  try {
    return await runCommand(directory, command, running);
  } catch (error) {
    throw isMissing(error) ? missing(directory, error) : error;
  }
}

export function gitEnvironment({ env = process.env, with: more = {} }: GitOptions): Record<string, string> {
  const passed = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[0] !== UMASK_VARIABLE && !NOT_PASSED.test(entry[0]),
  );
  const { PATH = STANDARD_PATH, ...rest } = Object.fromEntries(passed);
  return {
    ...rest,
    // A relative directory would be in the working tree, where an agent may have put a program.
    PATH: PATH.split(":").filter(isAbsolute).join(":"),
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_EDITOR: "true",
    GIT_PAGER: "cat",
    LC_ALL: "C.UTF-8",
    LANGUAGE: "C",
    ...more,
  };
}

function programIn(env: Readonly<Record<string, string>>, directory: string): string {
  const program = findProgram("git", env.PATH, "/");
  if (program === undefined) throw missing(directory);
  return program;
}

/** The caller's umask, else that of the workspace's owner. */
export function umaskOf({ env }: Pick<GitOptions, "env">, place?: Pick<GitPlace, "umask">): number {
  const told = env?.[UMASK_VARIABLE];
  return told !== undefined && /^[0-7]{1,4}$/.test(told) ? Number.parseInt(told, 8) & 0o777 : (place?.umask ?? USUAL_UMASK);
}

/** The umask for files in a directory. */
export function umaskIn(directory: string, env?: Environment): number {
  return umaskOf({ env }, placeOf(directory));
}

/** The environment of a request with the caller's umask, unless it already has one. */
export function withUmask<E extends Environment>(env: E, umask: number | undefined): E {
  return umask === undefined || env[UMASK_VARIABLE] !== undefined ? env : { ...env, [UMASK_VARIABLE]: umask.toString(8) };
}

/** Runs a program under another umask than this process's, which Node does not support directly. */
export function underUmask<C extends GitCommand>(umask: number, command: C): C {
  if (umask === process.umask()) return command;
  const script = 'umask "$1" && shift && exec "$@"';
  return {
    ...command,
    program: "/bin/sh",
    args: ["-c", script, "sh", umask.toString(8).padStart(4, "0"), command.program, ...command.args],
  };
}

/** Node reports a missing program and a missing directory in the same way. */
function missing(directory: string, cause?: unknown): HoldfastError {
  return new HoldfastError("git_failed", `git cannot run in ${directory}: git is not on the PATH, or the directory does not exist`, {
    hint: "install git, and check that the directory exists",
    cause,
  });
}
