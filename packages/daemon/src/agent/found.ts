/** Finds the agents installed on this machine, and their versions. */
import type { AgentInfo } from "@holdfast/contract";
import { findProgram, STANDARD_PATH } from "@holdfast/platform";
import type { LaunchContext } from "./command.ts";
import { commandOf, type Profile, structuredCommandOf } from "./profile.ts";
import type { Profiles } from "./profiles/index.ts";
import { newerThanRecorded } from "./recorded.ts";
import { PENDING, versionOf } from "./version.ts";

/** Searches the caller's PATH, as their sessions would. */
export async function findAgents(
  profiles: Profiles,
  options: { path?: string | undefined; home?: string | undefined; versions: boolean; waitMs?: number | undefined; programs: string },
): Promise<{ agents: AgentInfo[] }> {
  const env = { PATH: options.path ?? STANDARD_PATH, HOME: options.home ?? process.env.HOME ?? "/", SHELL: "/bin/sh" };
  const context = { env, node: process.execPath, programs: options.programs };
  const waitMs = options.versions ? (options.waitMs ?? Number.POSITIVE_INFINITY) : undefined;
  return { agents: await Promise.all(profiles.all.map((profile) => agentInfo(profile, context, waitMs))) };
}

async function agentInfo(profile: Profile, context: LaunchContext, waitMs: number | undefined): Promise<AgentInfo> {
  const [program = ""] = commandOf(profile, context);
  const path = findProgram(program, context.env.PATH, "/") ?? null;
  const [structured] = structuredCommandOf(profile, context) ?? [];
  const { env } = context;
  const version = waitMs !== undefined && path && profile.version ? await versionOf(path, { args: profile.version, env, waitMs }) : null;
  return {
    name: profile.name,
    description: profile.description,
    kind: profile.kind,
    path,
    version: version === PENDING ? null : version,
    newer: profile.own || version === PENDING ? null : newerThanRecorded(profile.name, version),
    asking: version === PENDING,
    tested: profile.untested !== true && profile.standIn !== true,
    own: profile.own === true,
    takesPrompt: profile.prompt !== undefined,
    resumes: profile.conversation !== undefined,
    structured: (structured && findProgram(structured, context.env.PATH, "/")) ?? null,
  };
}
