/** Everything that can be refused is refused here, before anything is recorded; then the files of the first run are written. */
import { accessSync, constants, mkdirSync, rmSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { checkName, HoldfastError, type HostName, newSessionId, type SessionId, type SpawnRequest } from "@holdfast/contract";
import { findProgram, type Home, minimalEnvironment, runDirectory, writeFileAtomic } from "@holdfast/platform";
import type { Profile } from "../agent/profile.ts";
import { profileOf } from "../agent/profiles/index.ts";
import { runMarker } from "../host/host.ts";
import { launchFile, runEnvironment } from "./launch-file.ts";
import { readableName } from "./readable-name.ts";

export interface Prepared {
  id: SessionId;
  name: string;
  profile: Profile;
  command: string[];
  cwd: string;
  host: HostName;
  /** `runs/1` of the new session. */
  directory: string;
}

export function prepare(
  request: SpawnRequest,
  context: { home: Home; programs: string; host: HostName; isTaken(name: string): boolean },
): Prepared {
  const profile = profileOf(request.agent);
  const name = nameOf(request, context.isTaken);
  const cwd = checkDirectory(request.cwd);
  const env = runEnvironment(request.env);
  const command = [...(request.command ?? profile.command({ env, node: process.execPath, programs: context.programs })), ...request.args];
  checkProgram(command, { env, cwd });

  const id = newSessionId();
  const directory = runDirectory(context.home, id, 1);
  const prepared: Prepared = { id, name, profile, command, cwd, host: context.host, directory };
  try {
    writeRun(prepared, request, { home: context.home, env });
  } catch (cause) {
    rmSync(join(context.home.sessions, id), { recursive: true, force: true });
    throw new HoldfastError("home_unusable", `cannot write the session's files: ${(cause as Error).message}`, {
      hint: `check ${context.home.path}`,
      cause,
    });
  }
  return prepared;
}

function nameOf(request: SpawnRequest, isTaken: (name: string) => boolean): string {
  if (request.name === undefined) return readableName(isTaken);
  const name = checkName(request.name);
  if (isTaken(name)) throw nameTaken(name);
  return name;
}

export function nameTaken(name: string): HoldfastError {
  return new HoldfastError("name_taken", `there is a session named ${JSON.stringify(name)} already`, {
    hint: `choose another name, or rename or remove that one: holdfast rm ${name}`,
  });
}

function checkDirectory(cwd: string): string {
  const refuse = (what: string, cause?: unknown) =>
    new HoldfastError("cwd_unusable", `the directory ${JSON.stringify(cwd)} ${what}`, { hint: "choose another with --cwd", cause });
  if (!isAbsolute(cwd)) throw refuse("is not an absolute path");
  const stat = statSync(cwd, { throwIfNoEntry: false });
  if (!stat) throw refuse("does not exist");
  if (!stat.isDirectory()) throw refuse("is not a directory");
  try {
    accessSync(cwd, constants.R_OK | constants.X_OK);
  } catch (cause) {
    throw refuse("cannot be read or entered", cause);
  }
  return cwd;
}

function checkProgram(command: readonly string[], where: { env: Readonly<Record<string, string>>; cwd: string }): void {
  const program = command[0] ?? "";
  if (command.some((argument) => argument.includes("\0"))) throw new HoldfastError("usage", "an argument contains a NUL byte");
  if (findProgram(program, where.env.PATH, where.cwd)) return;
  throw new HoldfastError("program_not_found", `cannot find the program ${JSON.stringify(program)}`, {
    hint: program.includes("/")
      ? "check that the file exists and is executable"
      : `it is not on the session's PATH (${where.env.PATH ?? "not set"})`,
  });
}

/** spec.json and env stay for later runs; launch is for this run only. */
function writeRun(prepared: Prepared, request: SpawnRequest, context: { home: Home; env: Record<string, string> }): void {
  const { id, directory, command, cwd, name, profile, host } = prepared;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const session = join(context.home.sessions, id);
  const spec = {
    v: 1,
    id,
    name,
    kind: profile.kind,
    agent: profile.name,
    role: request.role ?? null,
    objective: request.objective ?? null,
    host,
    cwd,
    command,
    umask: request.umask,
  };
  writeFileAtomic(join(session, "spec.json"), `${JSON.stringify(spec, null, 2)}\n`);
  writeFileAtomic(join(session, "env"), `${JSON.stringify(context.env)}\n`);
  const ours = { HOLDFAST_HOME: context.home.path, HOLDFAST_SESSION: id, HOLDFAST_RUN: runMarker({ session: id, run: 1 }) };
  const inherited = Object.keys(minimalEnvironment(context.home));
  writeFileAtomic(
    join(directory, "launch"),
    launchFile({ cwd, command, inherited, umask: request.umask, env: { ...context.env, ...ours } }),
  );
}
