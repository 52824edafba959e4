/**
 * The files that a run is started from. `spec.json` and `env` (0600) belong to the session and stay for its next runs; `launch`, which combines
 * environment and program, belongs to one run.
 */
import { existsSync, globSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ForkedFrom, HoldfastError, type RecordedSpec, type SessionId, unwritable, type WorkspaceId } from "@holdfast/contract";
import { MCP_FILE, TRANSCRIPTS } from "@holdfast/contract/agent/order";
import { type Home, hasScopes, minimalEnvironment, readJsonFile, runDirectory, writeFileAtomic } from "@holdfast/platform";
import { hashFile, newRunToken } from "../../access/run-token.ts";
import { giveServers } from "../../agent/give-servers.ts";
import { injectHooks } from "../../agent/hooks/injection.ts";
import { type Asked, type Conversation, launchWords } from "../../agent/launch.ts";
import type { RunIdentity } from "../../agent/mcp.ts";
import { writeOrder } from "../../agent/own-agent.ts";
import type { Profile } from "../../agent/profile.ts";
import { splitPrompt } from "../../agent/prompt-arguments.ts";
import { toolWords } from "../../agent/tool-limits.ts";
import { type ToolRule, toolRule } from "../../agent/tool-rule.ts";
import { type RunId, runMarker, scopeUnit } from "../../host/host.ts";
import { launchFile } from "./launch-file.ts";

export interface Spec extends RecordedSpec {
  v: 1;
  id: SessionId;
  umask: number;
  /** Needed only after the journal is lost; older files do not have them. */
  owner?: string;
  handover?: { by: string; from: string; note: string | null };
  createdAt?: string;
  /** The groups that it is in. */
  groups?: string[];
  /** The parts of `command`, and the conversation that its agent got; missing in specs of the first versions. */
  asked?: Asked;
  conversation?: string | null;
  /** All conversations that it has had. */
  conversations?: string[];
  /** Set if it was started without a person attached. */
  background?: true;
  /** Set if it was created without being started. */
  start?: false;
  /** The original of a fork, and the copied conversation, if one was made before the start. */
  forkedFrom?: ForkedFrom & { copy: string | null };
  /** The agent's role, sent with its first prompt. */
  instructions?: string;
  /** Options that a conversation starts with. Older specs have the tools of its role here. */
  chat?: { mode: string | null; model: string | null; tools?: string[] };
  /** The tools of its role. */
  tools?: ToolRule;
  /** Its workspace, and the variables about it that its runs get. */
  workspace?: { id: WorkspaceId; env: Record<string, string> } | undefined;
}

export function writeSessionFiles(home: Home, spec: Spec, env: Record<string, string>): void {
  const directory = join(home.sessions, spec.id);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileAtomic(join(directory, "spec.json"), `${JSON.stringify(spec, null, 2)}\n`);
  writeFileAtomic(join(directory, "env"), `${JSON.stringify(env)}\n`);
}

/** Exists in a run's directory until the program is executed: until then the program has not received its first prompt. */
const PENDING = "prompt.pending";

/** True if a run was to get the first prompt, but its program was never executed. */
export function isPromptPending(home: Home, run: RunId): boolean {
  return existsSync(join(runDirectory(home, run.session, run.run), PENDING));
}

/** Creates the run's directory with its launch file and token; returns the directory and the run's identity. */
export function writeLaunch(
  home: Home,
  run: RunId,
  what: { spec: Spec; env: Record<string, string>; profile?: Profile | undefined; conversation?: Conversation },
): { directory: string; identity: RunIdentity } {
  const directory = runDirectory(home, run.session, run.run);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const ours = {
    HOLDFAST_HOME: home.path,
    HOLDFAST_SESSION: run.session,
    HOLDFAST_RUN: runMarker(run),
    HOLDFAST_TOKEN: newRunToken(home, run),
  };
  const minimal = minimalEnvironment(home);
  // An MCP server that finds no daemon starts one in the same way.
  const identity = { ...minimal, ...ours };
  const inherited = Object.keys(minimal);
  const path = join(directory, "launch");
  const { memoryLimitBytes, asked = { program: what.spec.command, args: [], prompt: null } } = what.spec;
  const { command, env: more } =
    what.spec.kind === "conversation" ? inConversation({ ...what, directory }) : onTerminal(asked, { ...what, directory, identity });
  const isPrompted = what.spec.kind !== "conversation" && (asked.prompt !== null || splitPrompt(what.profile, asked.args).said.length > 0);
  const pending = isPrompted ? join(directory, PENDING) : undefined;
  if (pending !== undefined) writeFileAtomic(pending, "");
  const scope = memoryLimitBytes && hasScopes() ? { path, scope: { unit: scopeUnit(run), memoryBytes: memoryLimitBytes } } : undefined;
  writeFileAtomic(
    path,
    launchFile({ ...what.spec, command, pending, inherited, env: { ...what.env, ...more, ...ours, ...what.spec.workspace?.env }, scope }),
  );
  return { directory, identity };
}

/** Hooks, servers, conversation and first prompt are passed on the command line. */
function onTerminal(
  asked: Asked,
  what: {
    spec: Spec;
    env: Record<string, string>;
    profile?: Profile | undefined;
    conversation?: Conversation;
    directory: string;
    identity: RunIdentity;
  },
): { command: string[]; env: Record<string, string> } {
  const { profile, directory, env, spec, conversation = null, identity } = what;
  const hooks = injectHooks(profile, { directory, env, args: asked.args, cwd: spec.cwd });
  const mcp = giveServers(profile, { directory, env: { ...env, ...hooks.env }, identity });
  const tools = toolWords(profile, { rule: ruleIn(spec), args: asked.args });
  const command = launchWords(profile, asked, { injected: [...hooks.args, ...mcp.args, ...tools], conversation });
  return { command, env: { ...hooks.env, ...mcp.env } };
}

/** The protocol carries all of that. An agent of ours gets an order file; earlier dialogue is in the transcripts of the session's runs. */
function inConversation({ spec, profile, directory }: { spec: Spec; profile?: Profile | undefined; directory: string }): {
  command: string[];
  env: Record<string, string>;
} {
  const { command, chat } = spec;
  if (!profile?.ours) return { command, env: {} };
  const order = writeOrder(profile.ours, { directory, asked: { model: chat?.model ?? null, rule: ruleIn(spec) } });
  return { command: [...command, order], env: { [TRANSCRIPTS]: dirname(directory) } };
}

/** The tools of a session's role. */
export function ruleIn({ tools, chat }: Pick<Spec, "tools" | "chat">): ToolRule | undefined {
  return tools ?? toolRule({ tools: chat?.tools });
}

/** Called when the run has ended: its launch files hold secrets, and its token is useless. A read-only home keeps them. */
export function removeLaunch(home: Home, run: RunId): void {
  try {
    rmSync(join(runDirectory(home, run.session, run.run), "launch"), { force: true });
    rmSync(join(runDirectory(home, run.session, run.run), MCP_FILE), { force: true });
    rmSync(hashFile(home, run), { force: true });
    for (const input of globSync("input.*", { cwd: runDirectory(home, run.session, run.run) })) {
      rmSync(join(runDirectory(home, run.session, run.run), input), { force: true });
    }
  } catch (error) {
    if (!unwritable(error)) throw error;
  }
}

/** The files that a session was started with; throws if one is damaged or missing. */
export function readSessionFiles(home: Home, session: SessionId): { spec: Spec; env: Record<string, string> } {
  const directory = join(home.sessions, session);
  const spec = readSpec(home, session);
  const env = readEnvironment(home, session);
  if (!spec || env === undefined) {
    throw new HoldfastError("session_damaged", `the files for a new run of ${session} are damaged or missing`, {
      hint: `check spec.json and env in ${directory}; or start a new session`,
    });
  }
  return { spec, env };
}

/** Undefined if the file is damaged or missing. */
export function readSpec(home: Home, session: SessionId): Spec | undefined {
  const spec = readJsonFile(join(home.sessions, session, "spec.json")) as Spec | undefined;
  const isWhole =
    spec?.v === 1 &&
    spec.id === session &&
    Array.isArray(spec.command) &&
    [spec.name, spec.kind, spec.agent, spec.host, spec.cwd].every((field) => typeof field === "string");
  return isWhole ? spec : undefined;
}

/** Saves what would be needed after the journal is lost. */
export function amendSpec(
  home: Home,
  session: SessionId,
  more: Partial<Pick<Spec, "name" | "conversation" | "owner" | "handover" | "host" | "budget" | "groups">>,
): void {
  const spec = readSpec(home, session);
  if (!spec) return;
  const { conversation = spec.conversation } = more;
  const had = spec.conversations ?? (spec.conversation ? [spec.conversation] : []);
  const conversations = conversation && !had.includes(conversation) ? [...had, conversation] : had;
  writeFileAtomic(join(home.sessions, session, "spec.json"), `${JSON.stringify({ ...spec, ...more, conversations }, null, 2)}\n`);
}

/** Saves a conversation's chosen mode and model for its next runs. */
export function keepChoice(
  home: Home,
  session: SessionId,
  { mode, model }: { mode?: string | undefined; model?: string | undefined },
): void {
  const spec = readSpec(home, session);
  if (!spec) return;
  const chat = { ...spec.chat, mode: mode ?? spec.chat?.mode ?? null, model: model ?? spec.chat?.model ?? null };
  writeFileAtomic(join(home.sessions, session, "spec.json"), `${JSON.stringify({ ...spec, chat }, null, 2)}\n`);
}

/** For the session's next runs. Like the rest of its environment, this is in a file that only the user can read, and never in the journal. */
export function amendEnvironment(home: Home, session: SessionId, more: Readonly<Record<string, string>>): void {
  const { env } = readSessionFiles(home, session);
  writeFileAtomic(join(home.sessions, session, "env"), `${JSON.stringify({ ...env, ...more })}\n`);
}

/** Undefined if the file is damaged or missing. */
export function readEnvironment(home: Home, session: SessionId): Record<string, string> | undefined {
  try {
    const env = JSON.parse(readFileSync(join(home.sessions, session, "env"), "utf8")) as unknown;
    return typeof env === "object" && env !== null && !Array.isArray(env) ? (env as Record<string, string>) : undefined;
  } catch {
    return undefined;
  }
}
