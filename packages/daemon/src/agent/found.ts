/** Which agents are on this machine, and in which version. */
import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import type { AgentInfo } from "@holdfast/contract";
import { findProgram, STANDARD_PATH } from "@holdfast/platform";
import { commandOf, type LaunchContext, type Profile } from "./profile.ts";
import type { Profiles } from "./profiles/index.ts";

/** Some take a second and more to start. */
const VERSION_MS = 10_000;

/** By path and time of change: asking costs a start of the program. */
const versions = new Map<string, Promise<string | null>>();

/** Looked for as their sessions would be: on the caller's PATH. */
export async function findAgents(
  profiles: Profiles,
  options: { path?: string | undefined; home?: string | undefined; versions: boolean; programs: string },
): Promise<{ agents: AgentInfo[] }> {
  const env = { PATH: options.path ?? STANDARD_PATH, HOME: options.home ?? process.env.HOME ?? "/", SHELL: "/bin/sh" };
  const context = { env, node: process.execPath, programs: options.programs };
  return { agents: await Promise.all(profiles.all.map((profile) => agentInfo(profile, context, options.versions))) };
}

async function agentInfo(profile: Profile, context: LaunchContext, versions: boolean): Promise<AgentInfo> {
  const [program = ""] = commandOf(profile, context);
  const path = findProgram(program, context.env.PATH, "/") ?? null;
  return {
    name: profile.name,
    description: profile.description,
    kind: profile.kind,
    path,
    version: versions && path && profile.version ? await versionOf(path, profile.version, context) : null,
    tested: profile.untested !== true,
    own: profile.own === true,
    takesPrompt: profile.prompt !== undefined,
    resumes: profile.conversation !== undefined,
    structured: (profile.structured?.[0] && findProgram(profile.structured[0], context.env.PATH, "/")) ?? null,
  };
}

function versionOf(path: string, args: readonly string[], { env }: LaunchContext): Promise<string | null> {
  const key = `${path} ${statSync(path, { throwIfNoEntry: false })?.mtimeMs}`;
  const known = versions.get(key);
  if (known) return known;
  const asked = new Promise<string | null>((resolve) => {
    const options = { env: { ...env }, cwd: "/", timeout: VERSION_MS, maxBuffer: 1 << 20 };
    const child = execFile(path, [...args], options, (error, stdout) => resolve(error ? null : numberIn(stdout)));
    child.stdin?.end();
  });
  versions.set(key, asked);
  return asked;
}

function numberIn(text: string): string | null {
  return /\d+(?:\.\d+)+[^\s)]*/.exec(text)?.[0] ?? null;
}
